// SPDX-License-Identifier: BSD-2-Clause
// The instance: everything hangs off one struct weir; two in one process do not know of each other. The core is a
// function of (state, input, now): nothing here blocks, reads a clock or starts a thread. The caller holds the
// port's lock around every call (or has only one thread).
//
// A poller's life:  lock; weir_clock(now); driver input …; deadline = weir_poll(now); drain weir_ready_next; unlock;
// sleep until a frame, kick() or the deadline.
#ifndef WEIR_INSTANCE_H
#define WEIR_INSTANCE_H

#include <stddef.h>
#include <stdint.h>

#include "weir/configuration.h"
#include "weir/error.h"
#include "weir/language.h"
#include "weir/port.h"

WEIR_BEGIN_DECLS

struct weir;

// Run-time settings; zero-initialise, then set what differs. 0 always means "the default from weir/options.h".
// In compact builds (WEIR_CFG_COMPACT) the options alone decide, and these have no effect.
struct weir_config {
    uint32_t sockets_max;            // sockets of all kinds at once
    uint32_t tcp_send_buffer_bytes;  // default limit of a stream's send queue
    uint32_t tcp_receive_buffer_bytes;
    uint64_t
        memory_budget_bytes;  // all memory taken from the port (allocator builds; docs/memory.md); UINT64_MAX: no limit
    const char *congestion_control;  // a name of weir_cc_list, as "cubic"; NULL: the first
    uint8_t tcp_ecn;                 // enum weir_ecn (weir/socket.h): what sockets want, until they say otherwise
    // Not 0: segments become shorter after two timeouts in a row, in case a router drops long ones and does not say so;
    // then the longest that passes is searched for.
    // (Only with WEIR_CFG_TCP_BLACK_HOLE.)
    uint8_t tcp_black_hole_detection;
};

// Bytes that weir_create needs for `memory` (static builds; in allocator builds the fixed part only). `make memory`
// tells it when compiling (docs/memory.md).
size_t weir_size(const struct weir_config *config);
// Builds an instance in `memory` (at least weir_size bytes, aligned for any type), or, when memory is NULL, in memory
// from port->alloc. NULL: too small, no allocator, no entropy, or an unknown congestion control. `port` is kept, not
// copied.
struct weir *weir_create(void *memory, size_t bytes, const struct weir_port *port, const struct weir_config *config);
// Why weir_create of these returned NULL. WEIR_INVALID: no entropy, memory that is not aligned, or neither memory nor
// an allocator. WEIR_NO_MEMORY: `bytes` are fewer than weir_size says, or the allocator had none. WEIR_NOT_SUPPORTED:
// the congestion control that `config` names is not built (or, where memory is an allocator's, there was none).
static inline int weir_create_error(const void *memory, size_t bytes, const struct weir_port *port,
                                    const struct weir_config *config)
{
    if (!port->entropy || (uintptr_t)memory % 8 != 0 || (!memory && !(WEIR_CFG_ALLOCATOR && port->alloc)))
        return WEIR_INVALID;
    if (memory && bytes < weir_size(config))
        return WEIR_NO_MEMORY;
    return config && config->congestion_control ? WEIR_NOT_SUPPORTED : WEIR_NO_MEMORY;
}
// Aborts every connection (RST where one is due is sent by one last poll), frees all memory. Interfaces stay the
// caller's.
void weir_destroy(struct weir *weir);

// Sets the instance's time, µs; call before a batch of input or socket calls. Never backwards (an older value is
// ignored).
void weir_clock(struct weir *weir, uint64_t now_us);
// The only place that transmits. Bounded work: at most 16 sockets have a turn, of WEIR_CFG_POLL_QUANTUM frames each and
// 256 together, and 16 timers fire (src/instance.c names them). Returns the next deadline in µs: <= now_us when work is
// left, WEIR_NEVER when nothing is pending.
uint64_t weir_poll(struct weir *weir, uint64_t now_us);

const struct weir_port *weir_port(const struct weir *weir);
uint64_t weir_now_us(const struct weir *weir);
// Fills `out` from the instance's cryptographic generator.
void weir_random_bytes(struct weir *weir, void *out, size_t bytes);
// Mixes `bytes` of outside events into the generator; never lowers its quality.
void weir_random_stir(struct weir *weir, const void *seed, size_t bytes);

WEIR_END_DECLS

#endif
