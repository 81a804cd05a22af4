// SPDX-License-Identifier: BSD-2-Clause
// A name server on the bench's instance, over both families: "both.example" has 10.9.8.7 and 2001:db8::7,
// "four.example" and "six.example" one of them, "alias.example" is a CNAME of six.example, all others do not exist.
#ifndef TESTS_APPS_DNS_NAMES_H
#define TESTS_APPS_DNS_NAMES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "dns/resolver.h"
#include "fixture.h"
#include "service.h"

struct name_server {
    struct weir_watch watch;
    struct weir *weir;
    weir_socket socket;
    uint16_t silent_type;  // questions of which it does not answer; 0: none
    uint32_t asked;
    struct weir_addr asked_by;
};

static struct name_server name_server;

static inline uint32_t name_answer(uint8_t *bytes, uint32_t length)
{
    static const uint8_t a[] = {0xc0, 12, 0, 1, 0, 1, 0, 0, 1, 44, 0, 4, 10, 9, 8, 7};
    static const uint8_t aaaa[] = {0xc0, 12,   0, 28, 0, 1, 0, 0, 1, 44, 0, 16, 0x20, 1,
                                   0x0d, 0xb8, 0, 0,  0, 0, 0, 0, 0, 0,  0, 0,  0,    7};
    static const uint8_t cname[] = {0xc0, 12,  0,   5, 0,   1,   0,   0,   1,   44,  0,   13, 3,
                                    's',  'i', 'x', 7, 'e', 'x', 'a', 'm', 'p', 'l', 'e', 0};
    uint32_t end = 12;
    bytes[11] = 0;  // EDNS is not known, which is no error
    bytes[2] = 0x81;
    bytes[3] = 0x80;
    while (bytes[end])
        end += bytes[end] + 1u;
    const uint16_t type = (uint16_t)(bytes[end + 1] << 8 | bytes[end + 2]);
    const char first = (char)(bytes[13] | 0x20);
    length = end + 5;
    if (type == name_server.silent_type)
        return 0;
    if (first == 'a' && type == DNS_AAAA) {
        memcpy(bytes + length, cname, sizeof cname);
        memcpy(bytes + length + sizeof cname, aaaa, sizeof aaaa);
        bytes[length + sizeof cname + 1] = (uint8_t)(length + 12);  // the name in the CNAME's data
        bytes[7] = 2;
        return length + (uint32_t)(sizeof cname + sizeof aaaa);
    }
    if ((first == 'b' || first == 's') && type == DNS_AAAA) {
        memcpy(bytes + length, aaaa, sizeof aaaa);
        bytes[7] = 1;
        return length + (uint32_t)sizeof aaaa;
    }
    if ((first == 'b' || first == 'f') && type == DNS_A) {
        memcpy(bytes + length, a, sizeof a);
        bytes[7] = 1;
        return length + (uint32_t)sizeof a;
    }
    bytes[3] |= first == 'x' ? 3 : 0;
    return length;
}

static inline void name_event(struct weir_watch *watch, weir_socket socket, uint32_t events)
{
    struct weir_message message;
    struct weir_slice slice;
    uint8_t bytes[700];
    (void)watch, (void)events;
    while (weir_socket_peek_message(name_server.weir, socket, &message, &slice) >= 0) {
        const struct weir_message reply = {.peer = message.peer, .local = message.local};
        memcpy(bytes, slice.data, slice.length);
        name_server.asked++;
        name_server.asked_by = message.peer.addr;
        const struct weir_slice out = {bytes, name_answer(bytes, slice.length)};
        if (out.length)
            (void)weir_socket_send_message(name_server.weir, socket, &reply, &out, 1);
        (void)weir_socket_discard(name_server.weir, socket);
    }
}

static inline void name_server_open(struct loop *loop)
{
    name_server = (struct name_server){.watch = {name_event}, .weir = loop->weir};
    name_server.socket = service_bind(loop, DNS_PORT, &name_server.watch);
    assert_true(name_server.socket > 0);
}

static inline void name_server_close(struct loop *loop) { service_close(loop, &name_server.socket); }

#define NAME_FOUR weir_ip4(10, 9, 8, 7)

#endif
