// SPDX-License-Identifier: BSD-2-Clause
#define _GNU_SOURCE
#include "poller.h"

#include <errno.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include "weir/socket.h"

#define INPUT_BUDGET 64        // frames an interface delivers in a turn at most (as NAPI's weight)
#define INPUT_BYTES 262144u    // and about so many bytes: a turn's data is to lie in the CPU's cache when it is read
#define INPUT_AT_ONCE 4        // frames between two looks at the bytes
#define DISPATCH_BUDGET 4096u  // sockets with news handled in a turn
#define INLINE_TURNS 8         // turns a kicking task runs before it leaves the rest to the poller
#define BUSY_STEPS 8           // steps without a look at the descriptors
#define YIELDS 64              // yields, at the most, for a thread at the lock to get it

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
    // Before weir_poll, so that what a watch answers leaves in one frame with the acknowledgement; after it for what
    // time brought.
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

// The time stands still since the batch was taken in. What drivers hold back arrives first; what is sent meanwhile may
// make it due earlier.
static uint64_t turn(struct posix_host *host)
{
    const uint64_t now_us = weir_now_us(host->weir);
    host->turns++;
    atomic_store_explicit(&host->kicked, false, memory_order_relaxed);
    (void)driver_timers(host, now_us);
    const uint64_t due_us =
        host->options.turn ? host->options.turn(host->options.context, now_us) : default_turn(host, now_us);
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

// Takes in a batch from every interface; *more tells whether one may have more. Returns whether there was any. The
// first batch after a sleep is one frame, and each one that was used up doubles the next: a single request is answered
// before the interface is found empty, and what the answer brought at once (Linux's acknowledgements are there when
// write returns) is found without another sleep.
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
        const short out = weir_tx_waits(entry->netif) ? POLLOUT : 0;
        fds[count++] = (struct pollfd){.fd = entry->fd, .events = (short)(POLLIN | out)};
    }
    return count;
}

static void descriptors_seen(struct posix_host *host, const struct pollfd *fds, uint32_t version)
{
    uint64_t counter;
    if (fds[0].revents) {
        // Read first: a wake between the two is swallowed, and served by the turn that follows; the other way round the
        // counter could be empty with `signalled` set, and no wake would ever be written again.
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
    const struct timespec timeout = posix_timespec(until_us > now_us ? until_us - now_us : 0);
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
        if (weir_tx_waits(host->netifs[index].netif))
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

// Whether somebody else took this CPU from the poller since the last call.
static bool preempted(struct posix_host *host)
{
    struct rusage usage;
    if (getrusage(RUSAGE_THREAD, &usage) < 0)
        return false;
    const bool known = host->preemptions >= 0 && pthread_equal(host->preempted, pthread_self());
    const long before = host->preemptions;
    host->preemptions = usage.ru_nivcsw;
    host->preempted = pthread_self();
    return known && usage.ru_nivcsw != before;
}

static void spin_less(struct posix_host *host)
{
    host->spin_after = host->spin_pause;
    host->spin_pause = host->spin_pause < POSIX_SPIN_PAUSE_MAX ? host->spin_pause * 2 : POSIX_SPIN_PAUSE_MAX;
}

// Where nothing was asked for: whether frames come closely, it was not in vain lately, and nobody needs this very CPU,
// perhaps the peer itself, which answers the sooner the sooner it gets it.
static bool worth_spinning(struct posix_host *host)
{
    if (!host->close_frames)
        return false;
    if (host->spin_after) {
        if (--host->spin_after == 0)
            (void)preempted(host);  // what was before is no news then
        return false;
    }
    if (!preempted(host))
        return true;
    spin_less(host);
    return false;
}

// A peer that answers at once is met awake: to sleep and be woken takes longer than its answer. Not without room for
// output, which only a sleep learns of. Returns whether there is something to do, or nothing left to wait for.
static bool spin(struct posix_host *host, uint64_t until_us, const bool *done)
{
    const uint32_t asked_us = host->options.spin_us;
    const uint64_t patience_us = host->last_work_us + (asked_us ? asked_us : POSIX_SPIN_US);
    const uint64_t end_us = until_us < patience_us ? until_us : patience_us;
    bool any = false, more;
    if (host->options.sleep_at_once || host->options.tick_us || output_blocked(host) || posix_now_us() >= end_us ||
        !(asked_us || worth_spinning(host)))
        return false;
    host->budget = 1;
    while (!any && !*done && !host->missed && !atomic_load(&host->signalled) && posix_now_us() < end_us) {
        pthread_mutex_unlock(&host->mutex);
        posix_host_lock(host);
        for (uint32_t index = 0; index < host->netif_count; index++)
            host->netifs[index].readable = true;
        weir_clock(host->weir, posix_host_now(host));
        any = input(host, &more);
    }
    if (any)
        host->spin_pause = POSIX_SPIN_PAUSE;
    else if (!host->missed && !*done && until_us >= patience_us)
        spin_less(host);
    return any || host->missed || *done;
}

int posix_poller_step(struct posix_host *host, uint64_t limit_us, const bool *done, uint64_t *next)
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

void posix_poller_serve_kick(struct posix_host *host)
{
    if (atomic_load_explicit(&host->kicked, memory_order_relaxed))
        inline_turns(host);
}

// A poller that is awake runs a turn before it sleeps: nothing to do.
void posix_poller_kick(struct posix_host *host)
{
    if (host->polling && !atomic_load(&host->asleep)) {
        host->missed = true;
        return;
    }
    if (!host->options.hand_over)
        atomic_store_explicit(&host->kicked, true, memory_order_relaxed);
    else if (host->polling)
        posix_host_wake(host);
}

uint64_t posix_poller_turn(struct posix_host *host)
{
    bool more;
    weir_clock(host->weir, posix_host_now(host));
    input(host, &more);
    return turn(host);
}
