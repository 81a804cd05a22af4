// SPDX-License-Identifier: BSD-2-Clause
#define _GNU_SOURCE
#include "poller.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "cpu.h"
#include "weir/socket.h"

#define GRANULARITY_US 50

struct posix_waiter {
    const void *token;
    struct posix_waiter *next;  // of the bucket
    struct posix_waiter *all_next, **all_at;
    pthread_cond_t condition;
    bool woken;
    bool sleeping;  // on the condition; otherwise it holds the poller's role
};

uint64_t posix_now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000u + (uint64_t)now.tv_nsec / 1000u;
}

bool posix_sleep(uint64_t us)
{
    const struct timespec wait = posix_timespec(us);
    return nanosleep(&wait, NULL) == 0;
}

uint64_t posix_host_now(const struct posix_host *host)
{
    const uint64_t now_us = posix_now_us();
    return host->options.tick_us ? now_us - now_us % host->options.tick_us : now_us;
}

// --- the port's functions --------------------------------------------------------------------------------------------
void posix_host_lock(struct posix_host *host)
{
    if (pthread_mutex_trylock(&host->mutex) == 0)
        return;
    atomic_fetch_add_explicit(&host->wanting, 1, memory_order_relaxed);
    pthread_mutex_lock(&host->mutex);
    atomic_fetch_sub_explicit(&host->wanting, 1, memory_order_relaxed);
}

void posix_host_unlock(struct posix_host *host)
{
    posix_poller_serve_kick(host);
    pthread_mutex_unlock(&host->mutex);
}

static void port_lock(void *context) { posix_host_lock(context); }
static void port_unlock(void *context) { posix_host_unlock(context); }

static void port_kick(void *context) { posix_poller_kick(context); }
static uint64_t port_now_us(void *context) { return posix_host_now(context); }

// Called with the lock held.
static void *port_alloc(void *context, size_t bytes)
{
    struct posix_host *host = context;
    void *memory = bytes == POSIX_POOL_BYTES ? posix_pool_take(&host->pool) : NULL;
    return memory ? memory : malloc(bytes);
}

static void port_free(void *context, void *memory, size_t bytes)
{
    struct posix_host *host = context;
    if (bytes != POSIX_POOL_BYTES || !posix_pool_give(&host->pool, memory))
        free(memory);
}

// The kernel's generator may be interrupted, never short for so few bytes once it is seeded. No randomness: no host.
static void port_entropy(void *context, void *out, size_t bytes)
{
    (void)context;
    uint8_t *at = out;
    while (bytes) {
        const ssize_t got = getrandom(at, bytes, 0);
        if (got < 0 && errno != EINTR)
            abort();
        if (got > 0) {
            at += got;
            bytes -= (size_t)got;
        }
    }
}

static struct posix_waiter **bucket(struct posix_host *host, const void *token)
{
    const uintptr_t mixed = ((uintptr_t)token >> 4) * UINT32_C(0x9e3779b1);
    return &host->buckets[(mixed >> 16) % POSIX_BUCKETS];
}

static void port_wake(void *context, const void *token)
{
    struct posix_host *host = context;
    for (struct posix_waiter *waiter = *bucket(host, token); waiter; waiter = waiter->next) {
        if (waiter->token != token || waiter->woken)
            continue;
        waiter->woken = true;
        if (waiter->sleeping)
            pthread_cond_signal(&waiter->condition);
        else if (atomic_load(&host->asleep))
            posix_host_wake(host);
    }
}

static void waiter_link(struct posix_host *host, struct posix_waiter *waiter)
{
    struct posix_waiter **head = bucket(host, waiter->token);
    waiter->next = *head;
    *head = waiter;
    waiter->all_next = host->waiters;
    waiter->all_at = &host->waiters;
    if (waiter->all_next)
        waiter->all_next->all_at = &waiter->all_next;
    host->waiters = waiter;
}

static void waiter_unlink(struct posix_host *host, struct posix_waiter *waiter)
{
    struct posix_waiter **at = bucket(host, waiter->token);
    while (*at != waiter)
        at = &(*at)->next;
    *at = waiter->next;
    *waiter->all_at = waiter->all_next;
    if (waiter->all_next)
        waiter->all_next->all_at = waiter->all_at;
}

// Nobody has the poller's role now: a kick that the last one did not serve falls to the next unlock, and the next
// sleeper takes the role.
static void role_is_free(struct posix_host *host)
{
    if (host->missed) {
        host->missed = false;
        posix_poller_kick(host);
    }
    if (host->waiters)
        pthread_cond_signal(&host->waiters->condition);
}

// One turn of waiting. 0: look again; 1: the deadline; 2: a signal.
static int wait_once(struct posix_host *host, struct posix_waiter *waiter, uint64_t deadline_us)
{
    if (!host->polling) {
        host->polling = true;
        const int error = posix_poller_step(host, deadline_us, &waiter->woken, NULL);
        host->polling = false;
        if (waiter->woken)
            return 0;
        return error == EINTR ? 2 : posix_now_us() >= deadline_us;
    }
    const struct timespec until = posix_timespec(deadline_us);
    waiter->sleeping = true;
    const int error = deadline_us == WEIR_NEVER ? pthread_cond_wait(&waiter->condition, &host->mutex)
                                                : pthread_cond_timedwait(&waiter->condition, &host->mutex, &until);
    waiter->sleeping = false;
    return error == ETIMEDOUT && !waiter->woken;
}

static int port_wait(void *context, const void *token, uint64_t deadline_us)
{
    struct posix_host *host = context;
    struct posix_waiter waiter = {.token = token};
    int answer = 0;
    waiter_link(host, &waiter);
    posix_poller_serve_kick(host);  // may already bring what is waited for
    if (!waiter.woken) {
        pthread_cond_init(&waiter.condition, &host->clock);
        while (!waiter.woken && !answer)
            answer = wait_once(host, &waiter, deadline_us);
        pthread_cond_destroy(&waiter.condition);
    }
    waiter_unlink(host, &waiter);
    if (!host->polling)
        role_is_free(host);
    return waiter.woken ? 0 : answer;
}

uint64_t posix_memory_budget(void)
{
    const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    const uint64_t most = WEIR_CFG_MEMORY_BUDGET_MB ? (uint64_t)WEIR_CFG_MEMORY_BUDGET_MB << 20 : UINT64_MAX;
    const uint64_t quarter = pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page / 4 : most;
    return quarter < most ? quarter : most;
}

// --- life ------------------------------------------------------------------------------------------------------------
int posix_host_init(struct posix_host *host, const struct posix_options *options)
{
    memset(host, 0, sizeof *host);
    if (options)
        host->options = *options;
    host->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (host->wake_fd < 0)
        return -1;
    posix_pool_init(&host->pool);
    host->budget = 1;
    host->spin_pause = POSIX_SPIN_PAUSE;
    host->preemptions = -1;
    pthread_mutex_init(&host->mutex, NULL);
    pthread_condattr_init(&host->clock);
    pthread_condattr_setclock(&host->clock, CLOCK_MONOTONIC);
    host->port = (struct weir_port){
        .context = host,
        .alloc = port_alloc,
        .free = port_free,
        .entropy = port_entropy,
        .now_us = port_now_us,
        .granularity_us = host->options.tick_us > GRANULARITY_US ? host->options.tick_us : GRANULARITY_US,
        .lock = port_lock,
        .unlock = port_unlock,
        .wait = port_wait,
        .wake = port_wake,
        .kick = port_kick,
    };
    posix_cpu_select(&host->port);
    return 0;
}

void posix_host_attach(struct posix_host *host, struct weir *weir)
{
    host->weir = weir;
    weir_clock(weir, posix_host_now(host));
}

int posix_host_add(struct posix_host *host, struct weir_netif *netif, int fd)
{
    if (host->netif_count == POSIX_NETIFS)
        return -1;
    host->netifs[host->netif_count++] = (struct posix_netif){netif, fd, true};
    host->netif_version++;
    posix_host_wake(host);
    return 0;
}

void posix_host_remove(struct posix_host *host, struct weir_netif *netif)
{
    for (uint32_t index = 0; index < host->netif_count; index++) {
        if (host->netifs[index].netif == netif) {
            host->netifs[index] = host->netifs[--host->netif_count];
            host->netif_version++;
            posix_host_wake(host);
            return;
        }
    }
}

static void *thread_main(void *argument)
{
    struct posix_host *host = argument;
    prctl(PR_SET_TIMERSLACK, 1);
    posix_host_lock(host);
    while (!host->stopping)
        posix_poller_step(host, WEIR_NEVER, &host->stopping, NULL);
    pthread_mutex_unlock(&host->mutex);
    return NULL;
}

int posix_host_start(struct posix_host *host)
{
    posix_host_lock(host);
    host->stopping = false;
    host->polling = host->threaded = true;
    int error = pthread_create(&host->thread, NULL, thread_main, host);
    if (error) {
        host->polling = host->threaded = false;
        errno = error;
    }
    pthread_mutex_unlock(&host->mutex);
    return error ? -1 : 0;
}

void posix_host_stop(struct posix_host *host)
{
    posix_host_lock(host);
    const bool threaded = host->threaded;
    host->stopping = true;
    posix_host_wake(host);
    pthread_mutex_unlock(&host->mutex);
    if (!threaded)
        return;
    pthread_join(host->thread, NULL);
    posix_host_lock(host);
    host->polling = host->threaded = false;
    role_is_free(host);
    posix_host_unlock(host);
}

uint64_t posix_host_poll(struct posix_host *host, int64_t timeout_us)
{
    static const bool never = false;
    uint64_t next_us = WEIR_NEVER;
    posix_host_lock(host);
    if (!host->polling) {
        const uint64_t limit_us = timeout_us < 0 ? WEIR_NEVER : timeout_us ? posix_now_us() + (uint64_t)timeout_us : 0;
        host->polling = true;
        posix_poller_step(host, limit_us, &never, &next_us);
        // What the sleep brought goes in at once, so that one call does one thing.
        next_us = posix_poller_turn(host);
        host->polling = false;
        role_is_free(host);
    }
    pthread_mutex_unlock(&host->mutex);
    return next_us;
}

void posix_host_close(struct posix_host *host)
{
    posix_pool_close(&host->pool);
    close(host->wake_fd);
    pthread_mutex_destroy(&host->mutex);
    pthread_condattr_destroy(&host->clock);
}
