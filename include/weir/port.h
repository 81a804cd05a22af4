// SPDX-License-Identifier: BSD-2-Clause
// The port: all that Weir asks of the system below it, on one page. Weir's core (src/) calls only `alloc`, `free`,
// `sum`, `copy_sum`, `copy` and `entropy`, none of which may block. The rest serves api/ and the poller, outside the
// core.
#ifndef WEIR_PORT_H
#define WEIR_PORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "weir/language.h"

WEIR_BEGIN_DECLS

#define WEIR_NEVER UINT64_MAX  // a deadline that does not come

struct weir_port {
    void *context;  // handed back as the first argument of each function

    // --- called by the core; must not block; called with the instance's lock held -----------------------------
    // Memory. Both NULL: everything lives in the block given to weir_create and in static limits.
    // `free` is told the size that was asked for. alloc may fail (NULL): Weir then refuses or drops, and counts.
    void *(*alloc)(void *context, size_t bytes);
    void (*free)(void *context, void *memory, size_t bytes);
    // Fills `bytes` bytes with randomness no other host can guess. Required: RFC 6528, RFC 6056, RFC 5452.
    // A machine without a source says so in its own documentation; Weir mixes arrival times in, and no more.
    void (*entropy)(void *context, void *out, size_t bytes);
    // The CPU's fastest RFC 1071 sum, and copy with sum. NULL: portable C. Both return the 16-bit ones'-complement
    // sum (not its complement), in native byte order, of the bytes as if they began at an even offset. A stack built
    // with -DWEIR_SUM=name calls that function directly, and `sum` is not asked.
    uint16_t (*sum)(const void *data, size_t bytes);
    uint16_t (*copy_sum)(void *WEIR_RESTRICT to, const void *WEIR_RESTRICT from, size_t bytes);
    // The CPU's fastest copy of a long stretch of a stream. NULL: memcpy.
    void (*copy)(void *WEIR_RESTRICT to, const void *WEIR_RESTRICT from, size_t bytes);

    // --- called by api/ and pollers, never by the core ----------------------------------------------------------
    // Time since some fixed moment, µs, never backwards. `granularity_us` states how coarse it and `wait` are.
    uint64_t (*now_us)(void *context);
    uint32_t granularity_us;
    // One lock for one instance; not recursive. NULL both: a single thread of control uses the instance.
    void (*lock)(void *context);
    void (*unlock)(void *context);
    // Blocks the calling task until `wake(token)` or the deadline (µs; WEIR_NEVER). Entered and left with the lock
    // held; releases it atomically while asleep. Returns 0 when woken (also spuriously), 1 at the deadline,
    // 2 when a signal interrupted it. NULL: calls never block and return WEIR_AGAIN.
    int (*wait)(void *context, const void *token, uint64_t deadline_us);
    // Wakes every task that waits on `token`. Callable with the lock held; never blocks.
    void (*wake)(void *context, const void *token);
    // Tells a sleeping poller that there is output or an earlier deadline. Callable with the lock held; idempotent.
    void (*kick)(void *context);
    // Moves bytes between a caller's memory and the stack's; nonzero: the caller's memory faulted (WEIR_FAULT).
    // Never called with the lock held, unless they never wait (caller_owns). NULL: memcpy.
    int (*copy_in)(void *context, void *to, const void *from_caller, size_t bytes);
    int (*copy_out)(void *context, void *to_caller, const void *from, size_t bytes);
    // Where neither ever waits: whether the caller may read these bytes, or write to them. Little is then copied with
    // the lock held, of a stream by the stack itself. NULL: they may wait.
    bool (*caller_owns)(void *context, const void *memory, size_t bytes, bool write);
};

WEIR_END_DECLS

#endif
