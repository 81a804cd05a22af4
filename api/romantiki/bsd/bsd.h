// SPDX-License-Identifier: BSD-2-Clause
// Romantiki's calls over BSD sockets and threads, after the paper's library; a program includes romantiki.h with
// -DROMANTIKI_BSD. Sockets and threads are a host's own (posix.c), or, with -DROMANTIKI_PORT, Weir's sockets over any
// kernel that Weir has a port to (examples/romantiki/kernels). The listing's slips are mended here: socket_rcv and
// socket_recv are one; a stream that is accepted into, or connected, gives back the one it held; an error receives 0
// bytes, not 4 G; what is sent is sent to the end. Blocking functions are plain ones, AUTO variables automatic.
// SOCK_ACK_WAITING has no counterpart; SOCK_SPLIT sends two pieces with Nagle's algorithm off.
#ifndef ROMANTIKI_BSD_H
#define ROMANTIKI_BSD_H

#include <stdbool.h>
#include <stdint.h>

#include "api/bsd/bsd_errno.h"
#include "weir/addr.h"
#include "weir/atomic.h"
#include "weir/language.h"
#include "weir/port.h"

WEIR_BEGIN_DECLS

#define AUTO
// the system has the memory; the name stands for the size
#define SOCK_BUF(name, bytes) typedef unsigned char name[bytes]
#define BFD void
#define BF_BEGIN
#define BF_END
#define BF_RETURN return
#define BF_CALL(call) call
#define TRUE 1
#define FALSE 0
#define EOK TRUE
#define ETIMEOUT (-ETIMEDOUT)
#define EWAIT (-EAGAIN)

enum { SOCK_BLOCKING = 0, SOCK_NONBLOCKING = 1, SOCK_ACK_WAITING = 2, SOCK_SPLIT = 4 };
#define SOCK_MODE(mode) (mode)

struct romantiki_socket {
    int descriptor;  // -1: none
    int mode;
    int limit;  // of a listener its backlog, of a stream the bytes of its receive queue; 0: the system's own
};
#define DEF_LST_SOCKET(name, backlog) struct romantiki_socket name = {-1, 0, (backlog)}
#define DEF_STRM_SOCKET(name) struct romantiki_socket name
#define DEF_DGRAM_SOCKET(name) struct romantiki_socket name
#define LST_SOCKET(name, mode) romantiki_socket_init(&(name), mode, (name).limit)
#define STRM_SOCKET(name, mode, buffer, bytes) romantiki_socket_init(&(name), mode, (int)(bytes))
#define DGRAM_SOCKET(name, mode, buffer, bytes) romantiki_socket_init(&(name), mode, 0)

void romantiki_socket_init(struct romantiki_socket *socket, int mode, int limit);
int socket_listen(struct romantiki_socket *socket, uint16_t port, uint32_t address);
int socket_bind(struct romantiki_socket *socket, uint16_t port);
int socket_close(struct romantiki_socket *socket);
void socket_accept(struct romantiki_socket *listener, struct romantiki_socket *stream, int *res);
void socket_connect(struct romantiki_socket *socket, uint32_t address, uint16_t port, int *res,
                    const unsigned *timeout_ms);
void socket_recv(struct romantiki_socket *socket, void *data, unsigned bytes, unsigned *received, int *res,
                 const unsigned *timeout_ms);
void socket_send(struct romantiki_socket *socket, const void *data, unsigned bytes, unsigned *sent, int *res,
                 const unsigned *timeout_ms);
void socket_select(struct romantiki_socket *const *list, unsigned count, unsigned *ready, const unsigned *timeout_ms);
void socket_recvfrom(struct romantiki_socket *socket, void *data, unsigned bytes, unsigned *received,
                     struct weir_endpoint *from, int *res, const unsigned *timeout_ms);
void socket_sendto(struct romantiki_socket *socket, const void *data, unsigned bytes, const struct weir_endpoint *to,
                   int *res, const unsigned *timeout_ms);
#define socket_rcv socket_recv

// --- tasks are threads -----------------------------------------------------------------------------------------------
// One lock serves all of them, as on the cooperative kernel there is one context. Priorities have no counterpart on a
// host without privileges, and are left out there. Events are not set from interrupts.
typedef BFD coop_function(void *prm);
struct romantiki_task {
    coop_function *function;
    void *prm;
    struct romantiki_task *next;
    WEIR_ATOMIC(void *) thread;  // that it is; NULL: it has ended
    int error;                   // where the system has no errno for each thread
};
struct romantiki_flag {
    unsigned count;
};
struct romantiki_timer {
    uint64_t due_us;
    uint32_t period_us;
};
#define DEF_TASK(name) struct romantiki_task name
#define DEF_EVENT(name) struct romantiki_flag name
#define DEF_SEMAPHORE(name) struct romantiki_flag name
#define DEF_TIMER(name) struct romantiki_timer name
#define TASK_START(task, function, prm, priority) romantiki_task_start(&(task), function, prm, priority)
#define EVENT_SET(event) romantiki_give(event, 1)
#define EVENT_WAIT(event, timeout_ms, res) romantiki_flag_take(event, timeout_ms, res)
#define SEM_POST(semaphore) romantiki_give(semaphore, ~0u)
#define SEM_WAIT(semaphore, timeout_ms, res) romantiki_flag_take(semaphore, timeout_ms, res)
#define TIMER_START(timer, first_ms, period_ms) romantiki_timer_start(timer, (first_ms)*1000u, (period_ms)*1000u)
#define TIMER_WAIT(timer) romantiki_timer_take(timer)
#define SLEEP_MS(milliseconds) romantiki_sleep_us((milliseconds)*1000ull)
#define YIELD romantiki_yield()

// false: there is no memory for it.
bool romantiki_task_start(struct romantiki_task *task, coop_function *function, void *prm, unsigned priority);
void romantiki_give(struct romantiki_flag *flag, unsigned most);  // one more, up to `most`
void romantiki_flag_take(struct romantiki_flag *flag, const unsigned *timeout_ms, int *res);
void romantiki_timer_start(struct romantiki_timer *timer, uint32_t first_us, uint32_t period_us);
void romantiki_timer_take(struct romantiki_timer *timer);
void romantiki_sleep_us(uint64_t microseconds);
void romantiki_yield(void);

// What the layer asks of the system below it: a port's lock, waiting and clock, and a thread.
struct romantiki_system {
    const struct weir_port *port;
    // A thread that calls run(task), which does not return. false: there is no memory for it.
    bool (*start)(void (*run)(void *task), void *task, unsigned priority);
    void *(*self)(void);  // the calling thread
    void (*yield)(void);
    void (*end)(void);  // of the calling thread; does not return
};
void romantiki_use(const struct romantiki_system *system);  // before all other calls; it is kept
// errno of the calling task, over Weir's sockets. The second is for struct weir_bsd_config.
int romantiki_errno(void);
void romantiki_set_errno(void *context, int value);

// The program's beginning: `function` is its first task.
#define ROMANTIKI_MAIN(function, priority) \
    int main(void) { return romantiki_main(function, priority); }
int romantiki_main(coop_function *function, unsigned priority);  // posix.c, examples/romantiki/kernels

WEIR_END_DECLS

#endif
