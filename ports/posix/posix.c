// SPDX-License-Identifier: BSD-2-Clause
// The poller's role belongs to one thread at a time: the I/O thread while there is one, otherwise whoever waits. The role's holder
// runs `step` with the lock held and gives the lock away only to sleep (`asleep`) or, between two busy steps, to let others in.
// So a kick finds the poller either asleep, and then the kicker sends for it when it unlocks, or about to run another turn.
#define _GNU_SOURCE
#include "posix.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "cpu.h"
#include "weir/socket.h"

#define INPUT_BUDGET 64        // frames an interface delivers in a turn at most (as NAPI's weight)
#define INPUT_BYTES 262144u    // … and about so many bytes: a turn's data is to lie in the CPU's cache when it is read
#define INPUT_AT_ONCE 4        // frames between two looks at the bytes
#define DISPATCH_BUDGET 4096u  // sockets with news handled in a turn
#define INLINE_TURNS 8         // turns a kicking task runs before it leaves the rest to the poller
#define BUSY_STEPS 8           // steps without a look at the descriptors
#define YIELDS 64              // … and as long for a thread at the lock to get it
#define GRANULARITY_US 50
#define KEPT_BYTES ((size_t)WEIR_CFG_QUEUE_CHUNK_BYTES)
#ifdef __SANITIZE_ADDRESS__
#define KEPT_MAX 0u  // so that every use after free is seen
#else
#define KEPT_MAX 256u  // 4 MB: two streams at full speed
#endif

struct posix_block {
    struct posix_block *next;
};

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

uint64_t posix_host_now(const struct posix_host *host)
{
    const uint64_t now_us = posix_now_us();
    return host->options.tick_us ? now_us - now_us % host->options.tick_us : now_us;
}

static struct timespec timespec_of(uint64_t us) { return (struct timespec){(time_t)(us / 1000000u), (long)(us % 1000000u) * 1000}; }

// --- the poller ---------------------------------------------------------------------------------------------------------------
void posix_host_wake(struct posix_host *host)
{
    const uint64_t one = 1;
    if (atomic_exchange(&host->signalled, true))
        return;
    atomic_fetch_add_explicit(&host->signals, 1, memory_order_relaxed);
    if (write(host->wake_fd, &one, sizeof one) < 0)
        return;  // the counter is full: it wakes all the same
}

static uint64_t default_turn(struct posix_host *host, uint64_t now_us)
{
    // Before weir_poll, so that what a watch answers leaves in one frame with the acknowledgement; after it for what time brought.
    uint32_t taken = weir_dispatch(host->weir, DISPATCH_BUDGET);
    const uint64_t deadline_us = weir_poll(host->weir, now_us);
    taken += weir_dispatch(host->weir, DISPATCH_BUDGET);
    return taken >= DISPATCH_BUDGET || weir_output_pending(host->weir) ? now_us : deadline_us;
}

// Drivers with deadlines of their own (wrappers that hold frames back, a watch on the carrier). Returns the earliest.
static uint64_t driver_timers(struct posix_host *host, uint64_t now_us)
{
    uint64_t earliest_us = WEIR_NEVER;
    for (uint32_t index = 0; index < host->netif_count; index++) {
        struct weir_netif *netif = host->netifs[index].netif;
        const uint64_t due_us = netif->driver->timer ? netif->driver->timer(netif, now_us) : WEIR_NEVER;
        earliest_us = due_us < earliest_us ? due_us : earliest_us;
    }
    return earliest_us;
}

// The time stands still since the batch was taken in. What drivers hold back arrives first; what is sent meanwhile may make it due earlier.
static uint64_t turn(struct posix_host *host)
{
    const uint64_t now_us = weir_now_us(host->weir);
    host->turns++;
    atomic_store_explicit(&host->kicked, false, memory_order_relaxed);
    (void)driver_timers(host, now_us);
    const uint64_t due_us = host->options.turn ? host->options.turn(host->options.context, now_us) : default_turn(host, now_us);
    const uint64_t driver_due_us = driver_timers(host, now_us);
    host->missed = false;
    return driver_due_us < due_us ? driver_due_us : due_us;
}

static int input_from(struct posix_netif *entry, int budget)
{
    const struct weir_driver *driver = entry->netif->driver;
    const uint64_t enough = entry->netif->stats.rx_bytes + INPUT_BYTES;
    int frames = 0;
    entry->readable = true;
    while (entry->readable && frames < budget && entry->netif->stats.rx_bytes < enough) {
        const int most = budget - frames < INPUT_AT_ONCE ? budget - frames : INPUT_AT_ONCE;
        const int now = driver->poll(entry->netif, most);
        frames += now;
        entry->readable = now >= most;
    }
    return frames;
}

// Takes in a batch from every interface; *more tells whether one may have more. Returns whether there was any. The first batch after a
// sleep is one frame, and each one that was used up doubles the next: a single request is answered before the interface is found
// empty, and what the answer brought at once (Linux's acknowledgements are there when write returns) is found without another sleep.
static bool input(struct posix_host *host, bool *more)
{
    bool any = false;
    *more = false;
    for (uint32_t index = 0; index < host->netif_count; index++) {
        struct posix_netif *entry = &host->netifs[index];
        if (!entry->netif->driver->poll || (!entry->readable && entry->fd >= 0))
            continue;
        any |= input_from(entry, host->budget) > 0;
        *more |= entry->readable;
    }
    if (any) {
        const uint64_t now_us = weir_now_us(host->weir);
        host->close_frames = now_us - host->last_work_us < POSIX_SPIN_US;
        host->last_work_us = now_us;
    }
    if (*more && host->budget < INPUT_BUDGET)
        host->budget *= 2;
    return any;
}

static int descriptors(const struct posix_host *host, struct pollfd *fds)
{
    int count = 0;
    fds[count++] = (struct pollfd){.fd = host->wake_fd, .events = POLLIN};
    for (uint32_t index = 0; index < host->netif_count; index++) {
        const struct posix_netif *entry = &host->netifs[index];
        const short out = entry->netif->flags & WEIR_NETIF_TX_BLOCKED ? POLLOUT : 0;
        fds[count++] = (struct pollfd){.fd = entry->fd, .events = (short)(POLLIN | out)};
    }
    return count;
}

static void descriptors_seen(struct posix_host *host, const struct pollfd *fds, uint32_t version)
{
    uint64_t counter;
    if (fds[0].revents) {
        // Read first: a wake between the two is swallowed, and served by the turn that follows; the other way round the counter could
        // be empty with `signalled` set, and no wake would ever be written again.
        if (read(host->wake_fd, &counter, sizeof counter) < 0)
            counter = 0;
        atomic_exchange(&host->signalled, false);
    }
    for (uint32_t index = 0; index < host->netif_count && version == host->netif_version; index++) {
        struct posix_netif *entry = &host->netifs[index];
        const short seen = fds[index + 1].revents;
        if (seen & (POLLIN | POLLERR | POLLHUP))
            entry->readable = true;
        if (seen & POLLOUT)
            weir_tx_ready(entry->netif);
    }
}

// Looks at the descriptors until `until_us` (0: only looks), without the lock. Returns 0, or EINTR.
static int look(struct posix_host *host, uint64_t until_us)
{
    struct pollfd fds[POSIX_NETIFS + 1];
    const int count = descriptors(host, fds);
    const uint32_t version = host->netif_version;
    const uint64_t now_us = posix_now_us(), tick_us = host->options.tick_us;
    if (tick_us && until_us % tick_us && until_us != WEIR_NEVER)
        until_us += tick_us - until_us % tick_us;  // before the tick it will not be due
    const struct timespec timeout = timespec_of(until_us > now_us ? until_us - now_us : 0);
    const bool sleeps = until_us > now_us;
    host->sleeping_until_us = until_us;
    if (sleeps) {
        host->sleeps++;
        host->budget = 1;
        atomic_store(&host->asleep, true);
    }
    pthread_mutex_unlock(&host->mutex);
    const int found = ppoll(fds, (nfds_t)count, until_us == WEIR_NEVER ? NULL : &timeout, NULL);
    const int error = found < 0 ? errno : 0;
    posix_host_lock(host);
    atomic_store(&host->asleep, false);
    if (found > 0)
        descriptors_seen(host, fds, version);
    return error;
}

static bool output_blocked(const struct posix_host *host)
{
    for (uint32_t index = 0; index < host->netif_count; index++)
        if (host->netifs[index].netif->flags & WEIR_NETIF_TX_BLOCKED)
            return true;
    return false;
}

// Lets the threads at the lock in: a mutex alone would give it back to the one that released it last.
static void yield_lock(struct posix_host *host)
{
    if (!atomic_load_explicit(&host->wanting, memory_order_relaxed))
        return;
    pthread_mutex_unlock(&host->mutex);
    for (int tries = 0; tries < YIELDS && atomic_load_explicit(&host->wanting, memory_order_relaxed); tries++)
        sched_yield();
    pthread_mutex_lock(&host->mutex);
}

// A peer that answers at once is met awake: to sleep and be woken takes longer than its answer. Not without room for output, which only a
// sleep learns of. Returns whether there is something to do, or nothing left to wait for.
static bool spin(struct posix_host *host, uint64_t until_us, const bool *done)
{
    const uint32_t asked_us = host->options.spin_us;
    const uint64_t patience_us = host->last_work_us + (asked_us ? asked_us : POSIX_SPIN_US);
    const uint64_t end_us = until_us < patience_us ? until_us : patience_us;
    bool any = false, more;
    if (!(asked_us || host->close_frames) || host->options.sleep_at_once || host->options.tick_us || output_blocked(host) ||
        posix_now_us() >= end_us)
        return false;
    if (!asked_us && host->spin_after) {
        host->spin_after--;
        return false;
    }
    host->budget = 1;
    while (!any && !*done && !host->missed && !atomic_load(&host->signalled) && posix_now_us() < end_us) {
        pthread_mutex_unlock(&host->mutex);
        posix_host_lock(host);
        for (uint32_t index = 0; index < host->netif_count; index++)
            host->netifs[index].readable = true;
        weir_clock(host->weir, posix_host_now(host));
        any = input(host, &more);
    }
    if (any) {
        host->spin_pause = POSIX_SPIN_PAUSE;
    } else if (!host->missed && !*done && until_us >= patience_us) {
        host->spin_after = host->spin_pause;
        host->spin_pause = host->spin_pause < POSIX_SPIN_PAUSE_MAX ? host->spin_pause * 2 : POSIX_SPIN_PAUSE_MAX;
    }
    return any || host->missed || *done;
}

// What is readable goes in, a turn runs, and when nothing is left the descriptors are waited for, until limit_us at the latest; not when
// *done became true meanwhile. With the lock and the role. Returns 0, or EINTR when a signal ended the sleep. *next gets the deadline.
static int step(struct posix_host *host, uint64_t limit_us, const bool *done, uint64_t *next)
{
    weir_clock(host->weir, posix_host_now(host));
    bool more;
    input(host, &more);
    uint64_t deadline_us = turn(host);
    for (int steps = 1; more && steps < BUSY_STEPS && !*done; steps++) {
        yield_lock(host);
        weir_clock(host->weir, posix_host_now(host));
        if (input(host, &more) || host->missed)
            deadline_us = turn(host);
    }
    if (next)
        *next = deadline_us;
    if (*done)
        return 0;
    if (more || deadline_us <= weir_now_us(host->weir)) {
        yield_lock(host);
        return look(host, 0);
    }
    if (!spin(host, deadline_us < limit_us ? deadline_us : limit_us, done))
        return look(host, deadline_us < limit_us ? deadline_us : limit_us);
    deadline_us = turn(host);
    if (next)
        *next = deadline_us;
    return 0;
}

// The kicker's own turns, for a poller that sleeps or is not there.
static void inline_turns(struct posix_host *host)
{
    uint64_t deadline_us = 0;
    weir_clock(host->weir, posix_host_now(host));
    for (int turns = 0; turns < INLINE_TURNS && deadline_us <= weir_now_us(host->weir); turns++) {
        deadline_us = turn(host);
        host->inline_turns++;
    }
    // The sleeper must learn of an earlier deadline, and must watch for room.
    if (atomic_load(&host->asleep) && (deadline_us < host->sleeping_until_us || output_blocked(host)))
        posix_host_wake(host);
}

static void serve_kick(struct posix_host *host)
{
    if (atomic_load_explicit(&host->kicked, memory_order_relaxed))
        inline_turns(host);
}

static void *thread_main(void *argument)
{
    struct posix_host *host = argument;
    prctl(PR_SET_TIMERSLACK, 1);
    posix_host_lock(host);
    while (!host->stopping)
        step(host, WEIR_NEVER, &host->stopping, NULL);
    pthread_mutex_unlock(&host->mutex);
    return NULL;
}

// --- the port's functions ---------------------------------------------------------------------------------------------------
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
    serve_kick(host);
    pthread_mutex_unlock(&host->mutex);
}

static void port_lock(void *context) { posix_host_lock(context); }
static void port_unlock(void *context) { posix_host_unlock(context); }

// Called with the lock held. A poller that is awake runs a turn before it sleeps: nothing to do.
static void port_kick(void *context)
{
    struct posix_host *host = context;
    if (host->polling && !atomic_load(&host->asleep)) {
        host->missed = true;
        return;
    }
    if (!host->options.hand_over)
        atomic_store_explicit(&host->kicked, true, memory_order_relaxed);
    else if (host->polling)
        posix_host_wake(host);
}

static uint64_t port_now_us(void *context) { return posix_host_now(context); }

// Chunks of stream queues come and go with every burst. Left to malloc they would be given back to the system and fetched again, a
// page fault for each 4 KB of data: some are kept. Called with the lock held.
static void *port_alloc(void *context, size_t bytes)
{
    struct posix_host *host = context;
    struct posix_block *block = host->kept;
    if (bytes != KEPT_BYTES || !block)
        return malloc(bytes);
    host->kept = block->next;
    host->kept_count--;
    return block;
}

static void port_free(void *context, void *memory, size_t bytes)
{
    struct posix_host *host = context;
    struct posix_block *block = memory;
    if (bytes != KEPT_BYTES || host->kept_count == KEPT_MAX) {
        free(memory);
        return;
    }
    block->next = host->kept;
    host->kept = block;
    host->kept_count++;
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

// Nobody has the poller's role now: a kick that the last one did not serve falls to the next unlock, and the next sleeper takes the role.
static void role_is_free(struct posix_host *host)
{
    if (host->missed) {
        host->missed = false;
        port_kick(host);
    }
    if (host->waiters)
        pthread_cond_signal(&host->waiters->condition);
}

// One turn of waiting. 0: look again; 1: the deadline; 2: a signal.
static int wait_once(struct posix_host *host, struct posix_waiter *waiter, uint64_t deadline_us)
{
    if (!host->polling) {
        host->polling = true;
        const int error = step(host, deadline_us, &waiter->woken, NULL);
        host->polling = false;
        if (waiter->woken)
            return 0;
        return error == EINTR ? 2 : posix_now_us() >= deadline_us;
    }
    const struct timespec until = timespec_of(deadline_us);
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
    serve_kick(host);  // may already bring what is waited for
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

// --- life -----------------------------------------------------------------------------------------------------------------------
int posix_host_init(struct posix_host *host, const struct posix_options *options)
{
    memset(host, 0, sizeof *host);
    if (options)
        host->options = *options;
    host->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (host->wake_fd < 0)
        return -1;
    host->budget = 1;
    host->spin_pause = POSIX_SPIN_PAUSE;
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
        step(host, limit_us, &never, &next_us);
        // What the sleep brought goes in at once, so that one call does one thing.
        weir_clock(host->weir, posix_host_now(host));
        bool more;
        input(host, &more);
        next_us = turn(host);
        host->polling = false;
        role_is_free(host);
    }
    pthread_mutex_unlock(&host->mutex);
    return next_us;
}

void posix_host_close(struct posix_host *host)
{
    while (host->kept) {
        struct posix_block *block = host->kept;
        host->kept = block->next;
        free(block);
    }
    close(host->wake_fd);
    pthread_mutex_destroy(&host->mutex);
    pthread_condattr_destroy(&host->clock);
}
