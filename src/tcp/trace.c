// SPDX-License-Identifier: BSD-2-Clause
#include "tcp/trace.h"

#include "tcp/internal.h"

COLD void trace_conn(struct weir *weir, struct tcp_conn *c, enum weir_trace_kind kind, const char *what)
{
    struct weir_trace_event event = {.kind = kind,
                                     .what = what,
                                     .now_us = weir->now_us,
                                     .local = c->local.endpoint,
                                     .peer = c->remote.endpoint,
                                     .srtt_us = rtt_smoothed(&c->rtt)};
    if (c->flow) {
        event.cwnd = c->flow->window.cwnd;
        event.ssthresh = c->flow->window.ssthresh;
        event.in_flight = tcp_recovery_pipe(c);
    }
    weir->tracer->event(weir->tracer, &event);
}

COLD const char *trace_cc_name(enum weir_cc_event event)
{
    static const char *const names[] = {
        [WEIR_CC_INIT] = "begin",
        [WEIR_CC_ENTER_RECOVERY] = "loss",
        [WEIR_CC_EXIT_RECOVERY] = "recovered",
        [WEIR_CC_RTO] = "timeout",
        [WEIR_CC_UNDO] = "undo",
        [WEIR_CC_IDLE_RESTART] = "idle restart",
        [WEIR_CC_ECN] = "ECN",
        [WEIR_CC_EXIT_SLOW_START] = "end of slow start",
    };
    return (unsigned)event < sizeof names / sizeof names[0] ? names[event] : "?";
}
