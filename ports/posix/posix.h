// SPDX-License-Identifier: BSD-2-Clause
// The port to a POSIX host (Linux: eventfd, ppoll): lock, sleep and wake for threads, clock, memory, randomness, and
// the poller.
//
// With a thread: posix_host_start makes an I/O thread that sleeps on the drivers' file descriptors, feeds frames in,
// runs weir_poll and wakes who waits. Without: whoever blocks does that work while it waits (one at a time; the others
// sleep), and a program that never blocks calls posix_host_poll. Either way a task that has queued output while the
// poller sleeps sends it itself, when it releases the lock: no hand-over to another thread stands between write and the
// wire.
//
//     posix_host_init(&host, &options);
//     weir = weir_create(NULL, 0, &host.port, NULL);
//     posix_host_attach(&host, weir);
//     weir_netif_add(weir, &netif); posix_host_add(&host, &netif, fd);
//     posix_host_start(&host);                        // or not
//     use sockets
//     posix_host_stop(&host); weir_destroy(weir); posix_host_close(&host);
#ifndef POSIX_POSIX_H
#define POSIX_POSIX_H

#include <poll.h>
#include <pthread.h>
#include <stdbool.h>

#include "pool.h"
#include "weir/atomic.h"
#include "weir/instance.h"
#include "weir/language.h"
#include "weir/linkage/posix.h"
#include "weir/netif.h"

WEIR_BEGIN_DECLS

struct posix_options {  // zero: the defaults
    // One turn of everything that runs on the instance, with the lock held; returns the next deadline, µs (<= now_us:
    // at once). NULL: weir_poll, then weir_dispatch.
    uint64_t (*turn)(void *context, uint64_t now_us);
    void *context;
    uint32_t spin_us;  // look at the drivers for so long after the last frame before sleeping; 0: POSIX_SPIN_US, where
                       // frames come as closely and it is not in vain
    bool sleep_at_once;  // it does not look at all before sleeping
    bool hand_over;      // true: kick wakes the poller instead of letting the caller send
    // The instance's clock moves in steps of so much, as under a kernel with a timer tick; 0: by the microsecond.
    uint32_t tick_us;
};

#define POSIX_NETIFS 32
// What it takes to wake a CPU that sleeps, there and back: a poller that frames reach within less looks for the next
// one so long before it sleeps. Where that was in vain, or the peer or others need this very CPU, it sleeps at once the
// next POSIX_SPIN_PAUSE times, then twice as often, until it is worth it again.
#define POSIX_SPIN_US 100u
#define POSIX_SPIN_PAUSE 16u
#define POSIX_SPIN_PAUSE_MAX 1024u
#define POSIX_BUCKETS 64  // of waiting tasks, by token

struct posix_netif {
    struct weir_netif *netif;
    int fd;         // −1: none, polled at every turn
    bool readable;  // poll it: the descriptor said so, or the last poll used its budget up
};

struct posix_waiter;

struct posix_host {
    struct weir_port port;  // give &host.port to weir_create
    struct weir *weir;
    struct posix_options options;
    pthread_mutex_t mutex;
    pthread_condattr_t clock;
    struct posix_waiter *buckets[POSIX_BUCKETS];
    struct posix_waiter *waiters;  // all of them
    struct posix_netif netifs[POSIX_NETIFS];
    uint32_t netif_count;
    uint32_t netif_version;  // grows when the list changes, also while the poller sleeps
    struct posix_pool pool;
    int wake_fd;
    pthread_t thread;
    bool threaded;  // the I/O thread has the poller's role until posix_host_stop
    bool stopping;
    bool polling;                   // some thread has the poller's role
    WEIR_ATOMIC(bool) asleep;       // that thread sleeps
    WEIR_ATOMIC(bool) kicked;       // output waits for the lock to be released
    WEIR_ATOMIC(bool) signalled;    // wake_fd was written and not yet read
    WEIR_ATOMIC(unsigned) wanting;  // threads at the lock
    uint64_t sleeping_until_us;
    uint64_t last_work_us;
    bool close_frames;                     // the last came within POSIX_SPIN_US of the one before
    bool missed;                           // a poller that is awake was kicked and has not run a turn since
    uint32_t spin_after, spin_pause;       // sleeps before the next attempt; the next pause between two
    long preemptions;                      // of the poller's thread, when it last looked; −1: it has not
    pthread_t preempted;                   // that thread
    int budget;                            // frames the next batch takes from each interface
    uint64_t turns, sleeps, inline_turns;  // for tests and measurements
    WEIR_ATOMIC(unsigned) signals;         // writes to wake_fd
};

// 0, or −1 with errno.
// A quarter of this machine's memory, or what instances have by default (WEIR_CFG_MEMORY_BUDGET_MB) if that is less:
// for weir_config.
uint64_t posix_memory_budget(void);
int posix_host_init(struct posix_host *host, const struct posix_options *options);
void posix_host_attach(struct posix_host *host, struct weir *weir);
// Watches a driver's descriptor: calls driver->poll when it is readable, weir_tx_ready when it is writable after FULL.
// The interface has been added to the instance. With the lock held or before posix_host_start. −1: POSIX_NETIFS are
// there already.
int posix_host_add(struct posix_host *host, struct weir_netif *netif, int fd);
void posix_host_remove(struct posix_host *host, struct weir_netif *netif);
int posix_host_start(struct posix_host *host);
void posix_host_stop(struct posix_host *host);  // waits for the thread's end
// Without thread: one turn, sleeping at most timeout_us (−1: until something happens) when there is nothing to do.
// Returns the next deadline, µs. Without the lock.
uint64_t posix_host_poll(struct posix_host *host, int64_t timeout_us);
// Wakes the poller from any thread, with or without the lock.
void posix_host_wake(struct posix_host *host);
void posix_host_close(struct posix_host *host);
void posix_host_lock(struct posix_host *host);
void posix_host_unlock(struct posix_host *host);
uint64_t posix_now_us(void);
uint64_t posix_host_now(const struct posix_host *host);  // the same in the host's ticks
bool posix_sleep(uint64_t us);                           // false: a signal ended it

WEIR_END_DECLS

#endif
