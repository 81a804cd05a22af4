// SPDX-License-Identifier: BSD-2-Clause
// Romantiki's socket-like API (Glistvain and Aboelaze, "Bringing TCP/IP Networking to Resource Limited Embedded
// Systems") over Weir and the cooperative kernel. The same program compiles over BSD sockets and threads:
// -DROMANTIKI_BSD, bsd/bsd.h. The calls in capitals and those that may block are macros, since a blocking function is
// made of them (kernel/coop/bf.h); in those the arguments are evaluated again whenever the task is resumed, and what
// they point at is AUTO or static.
#ifndef ROMANTIKI_H
#define ROMANTIKI_H

#ifdef ROMANTIKI_BSD
#include "bsd/bsd.h"
#else
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/coop/coop.h"
#include "kernel/coop/frames.h"
#include "weir/language.h"
#include "weir/socket.h"

WEIR_BEGIN_DECLS

#define TRUE 1
#define FALSE 0
#define EOK TRUE  // what *res is when a call did what it says; else a negative enum weir_error
#define ETIMEOUT WEIR_TIMED_OUT
#define EWAIT WEIR_AGAIN  // a socket that does not block, and nothing to do

// What SOCK_MODE takes, or-ed.
enum {
    SOCK_BLOCKING = 0,
    SOCK_NONBLOCKING = 1,
    SOCK_ACK_WAITING = 2,  // what came is acknowledged when the task waits for more or answers; the stack's delay is
                           // then only the limit
    // What is sent at once leaves in two segments, so that a peer that delays acknowledgements answers. For tasks below
    // the stack's priority; on the compact stack a build option of all sockets, WEIR_CFG_TCP_SPLIT.
    SOCK_SPLIT = 4,
};
#define SOCK_MODE(mode) (mode)

struct romantiki_socket {
    struct weir_watch watch;
    weir_socket handle;  // 0: none
    uint8_t mode;
    bool selected;   // a task that waits in socket_select is told, too
    uint16_t limit;  // of a listener its backlog, of a stream the bytes of its receive queue; 0: the stack's own
};

#define DEF_LST_SOCKET(name, backlog) struct romantiki_socket name = {{NULL}, 0, 0, false, (backlog)}
#define DEF_STRM_SOCKET(name) struct romantiki_socket name
#define DEF_DGRAM_SOCKET(name) struct romantiki_socket name
// The buffer that the original gives a socket. Weir's sockets bring the memory of their queues, so the name stands for
// its size only: a stream holds no more than so many bytes that were not read. (The compact stack's queues have the
// size of the build, WEIR_CFG_TCP_RECEIVE_BYTES, and as many connections wait there as it has.)
#define SOCK_BUF(name, bytes) typedef unsigned char name[bytes]
#define LST_SOCKET(name, mode) romantiki_socket_init(&(name), mode, (name).limit)
#define STRM_SOCKET(name, mode, buffer, bytes) romantiki_socket_init(&(name), mode, bytes)
#define DGRAM_SOCKET(name, mode, buffer, bytes) romantiki_socket_init(&(name), mode, 0)

void romantiki_socket_init(struct romantiki_socket *socket, uint8_t mode, uint32_t limit);
// Listens on all addresses (address 0) or one, in host order. EOK or an error.
int socket_listen(struct romantiki_socket *socket, uint16_t port, uint32_t address);
int socket_close(struct romantiki_socket *socket);

BFD romantiki_accept(struct romantiki_socket *listener, struct romantiki_socket *stream, int *res);
BFD romantiki_recv(struct romantiki_socket *socket, void *data, unsigned bytes, unsigned *received, int *res);
BFD romantiki_send(struct romantiki_socket *socket, const void *data, unsigned bytes, unsigned *sent, int *res);

// Takes a connection into `stream`; one that it still holds is closed first.
#define socket_accept(listener, stream, res) \
    do { \
        coop_timeout(NULL); \
        socket_close(stream); \
        BF_CALL(romantiki_accept(listener, stream, res)); \
    } while (0)
// Waits for data, at the longest *timeout_ms (NULL: for ever). At the end of the stream *received is 0 and *res EOK.
#define socket_recv(socket, data, bytes, received, res, timeout_ms) \
    do { \
        coop_timeout(timeout_ms); \
        BF_CALL(romantiki_recv(socket, data, bytes, received, res)); \
    } while (0)
#define socket_rcv socket_recv
// Queues all of it, waiting for room; *sent tells how much was.
#define socket_send(socket, data, bytes, sent, res, timeout_ms) \
    do { \
        coop_timeout(timeout_ms); \
        *(sent) = 0; \
        BF_CALL(romantiki_send(socket, data, bytes, sent, res)); \
    } while (0)

// Waits until one of `count` sockets can be read (or accepted from): bit i of *ready for list[i]. None in time: 0.
BFD romantiki_select(struct romantiki_socket *const *list, unsigned count, unsigned *ready);
#define socket_select(list, count, ready, timeout_ms) \
    do { \
        coop_timeout(timeout_ms); \
        BF_CALL(romantiki_select(list, count, ready)); \
    } while (0)

// Connecting out, where the profile can (WEIR_CFG_TCP_CONNECT): the paper's future work.
BFD romantiki_connect(struct romantiki_socket *socket, uint32_t address, uint16_t port, int *res);
#define socket_connect(socket, address, port, res, timeout_ms) \
    do { \
        coop_timeout(timeout_ms); \
        socket_close(socket); \
        BF_CALL(romantiki_connect(socket, address, port, res)); \
    } while (0)

// UDP, where the profile has it (WEIR_CFG_UDP). Addresses in host order.
int socket_bind(struct romantiki_socket *socket, uint16_t port);
BFD romantiki_recvfrom(struct romantiki_socket *socket, void *data, unsigned bytes, unsigned *received,
                       struct weir_endpoint *from, int *res);
BFD romantiki_sendto(struct romantiki_socket *socket, const void *data, unsigned bytes, const struct weir_endpoint *to,
                     int *res);
#define socket_recvfrom(socket, data, bytes, received, from, res, timeout_ms) \
    do { \
        coop_timeout(timeout_ms); \
        BF_CALL(romantiki_recvfrom(socket, data, bytes, received, from, res)); \
    } while (0)
#define socket_sendto(socket, data, bytes, to, res, timeout_ms) \
    do { \
        coop_timeout(timeout_ms); \
        BF_CALL(romantiki_sendto(socket, data, bytes, to, res)); \
    } while (0)

// The common names of the operating system's part; bsd/bsd.h has them over threads.
#ifdef COOP_FRAMES  // how many bytes of AUTO variables a task has of its own (kernel/coop/frames.h)
#define DEF_TASK(name) \
    struct { \
        struct coop_framed framed; \
        unsigned char frames[COOP_FRAMES]; \
    } name
#define TASK_START(task, function, prm, priority) \
    coop_framed_start(&(task).framed, function, prm, priority, (task).frames, sizeof((task).frames))
#else
#define DEF_TASK(name) struct coop_task name
#define TASK_START(task, function, prm, priority) coop_task_start(&(task), function, prm, priority)
#endif
#define DEF_EVENT(name) struct coop_event name
#define DEF_SEMAPHORE(name) struct coop_semaphore name
#define DEF_TIMER(name) struct coop_timer name
#define EVENT_SET(event) coop_event_set(event)
#define SEM_POST(semaphore) coop_semaphore_give(semaphore)
#define TIMER_START(timer, first_ms, period_ms) coop_timer_start(timer, (first_ms)*1000u, (period_ms)*1000u)
// The program's beginning: `function` is its first task.
#define ROMANTIKI_MAIN(function, priority) \
    int main(void) { return romantiki_main(function, priority); }
int romantiki_main(coop_function *function, uint8_t priority);  // boards/coop_main.c

WEIR_END_DECLS

#endif
#endif
