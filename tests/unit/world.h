// SPDX-License-Identifier: BSD-2-Clause
// BSD sockets in real time: a POSIX host with loopback (world), or two hosts joined by a cable (a pair of Unix
// sockets).
#ifndef TESTS_WORLD_H
#define TESTS_WORLD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>

#include "api/bsd/weir_bsd.h"
#include "ports/posix/posix.h"

struct world {
    struct posix_host host;
    struct weir *weir;
    struct weir_bsd *bsd;
    struct weir_netif netif;  // with a cable
    int fd;                   // its end; −1: none
};

#define WORLD_A UINT32_C(0x0a000001)
#define WORLD_B UINT32_C(0x0a000002)
#define LOCALHOST WEIR_INADDR_LOOPBACK

// One host that talks to itself. `threaded`: with an I/O thread; otherwise whoever waits polls.
void world_open(struct world *world, bool threaded, const struct weir_bsd_config *config);
void world_close(struct world *world);
// Two hosts, 10.0.0.1 and 10.0.0.2.
void worlds_open(struct world *a, struct world *b, bool threaded);
void worlds_close(struct world *a, struct world *b);

struct weir_sockaddr_in world_address(uint32_t host_order, uint16_t port);
#define ADDRESS(in) ((struct weir_sockaddr *)(void *)&(in)), sizeof(in)
// A listener on `port`; connected streams: *client on `a`, *server on `b` (the same world, or its peer at `address`).
int world_listener(struct world *world, uint16_t port);
void world_streams(struct world *a, struct world *b, uint32_t address, uint16_t port, int *client, int *server);

// The call failed with this errno.
#define assert_errno(call, number) \
    do { \
        errno = 0; \
        assert_int_equal(call, -1); \
        assert_int_equal(errno, number); \
    } while (0)

#endif
