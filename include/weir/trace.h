// SPDX-License-Identifier: BSD-2-Clause
// What the stack does, told as it happens: states of connections, congestion control, timers, windows, frames. A
// function of the program's is called for each event, with the instance's lock held, from within weir_input, weir_poll
// and socket calls; it must not block and must not call into the instance. Built where WEIR_CFG_TRACE is not 0; what is
// above that level costs nothing, not even its text.
#ifndef WEIR_TRACE_H
#define WEIR_TRACE_H

#include "weir/addr.h"
#include "weir/error.h"
#include "weir/language.h"
#include "weir/options.h"

WEIR_BEGIN_DECLS

struct weir;
struct weir_netif;

enum weir_trace_level {
    WEIR_TRACE_NOTHING,
    WEIR_TRACE_EVENTS,   // states, congestion control, timers: what a log would have
    WEIR_TRACE_WINDOWS,  // and the windows after each acknowledgement
    WEIR_TRACE_FRAMES,   // and each frame
};

enum weir_trace_kind {
    WEIR_TRACE_STATE,       // `what`: the state that a connection has now, "ESTABLISHED"
    WEIR_TRACE_CONGESTION,  // `what`: what congestion control was told, "timeout"
    WEIR_TRACE_TIMER,       // `what`: the timer that fired, "zero-window probe"
    WEIR_TRACE_WINDOW,      // an acknowledgement was taken
    WEIR_TRACE_FRAME,       // `what`: "in" or "out"
};

struct weir_trace_event {
    enum weir_trace_kind kind;
    const char *what;                    // lasts as long as the program
    uint64_t now_us;                     // as weir_now_us
    const struct weir_netif *netif;      // of a frame; else NULL
    uint32_t bytes;                      // of a frame
    struct weir_endpoint local, peer;    // of a connection; else zeroed, as what follows
    uint32_t cwnd, ssthresh, in_flight;  // bytes; 0: nothing queued or outstanding. ssthresh UINT32_MAX: none yet
    uint32_t srtt_us;                    // 0: not measured
};

struct weir_tracer {
    void (*event)(struct weir_tracer *self, const struct weir_trace_event *event);
    enum weir_trace_level level;  // no event above it is told
    void *context;
};

// Sets the instance's tracer, which is the caller's and stays until another takes its place; NULL: none. Under the
// lock. WEIR_NOT_SUPPORTED: WEIR_CFG_TRACE is 0.
#if WEIR_CFG_TRACE
int weir_trace_set(struct weir *weir, struct weir_tracer *tracer);
#else
static inline int weir_trace_set(struct weir *weir, struct weir_tracer *tracer)
{
    return (void)weir, (void)tracer, WEIR_NOT_SUPPORTED;
}
#endif

WEIR_END_DECLS

#endif
