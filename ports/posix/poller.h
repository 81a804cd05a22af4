// SPDX-License-Identifier: BSD-2-Clause
// The poller's role belongs to one thread at a time: the I/O thread while there is one, otherwise whoever waits. The
// role's holder runs posix_poller_step with the lock held and gives the lock away only to sleep (`asleep`) or, between
// two busy steps, to let others in. So a kick finds the poller either asleep, and then the kicker sends for it when it
// unlocks, or about to run another turn. All with the lock held.
#ifndef POSIX_POLLER_H
#define POSIX_POLLER_H

#include <time.h>

#include "posix.h"
#include "weir/language.h"
#include "weir/linkage/posix.h"

WEIR_BEGIN_DECLS

// What is readable goes in, a turn runs, and when nothing is left the descriptors are waited for, until limit_us at the
// latest; not when *done became true meanwhile. With the role. Returns 0, or EINTR when a signal ended the sleep. *next
// gets the deadline.
int posix_poller_step(struct posix_host *host, uint64_t limit_us, const bool *done, uint64_t *next);
// What is readable goes in, and a turn runs. With the role. Returns the deadline.
uint64_t posix_poller_turn(struct posix_host *host);
// Somebody queued output, or made something due.
void posix_poller_kick(struct posix_host *host);
// Before the lock is given away: what the kicker does itself.
void posix_poller_serve_kick(struct posix_host *host);

static inline struct timespec posix_timespec(uint64_t us)
{
    const struct timespec time = {(time_t)(us / 1000000u), (long)(us % 1000000u) * 1000};
    return time;
}

WEIR_END_DECLS

#endif
