// SPDX-License-Identifier: BSD-2-Clause
// What of a connection is traced (weir/trace.h).
#ifndef TCP_TRACE_H
#define TCP_TRACE_H

#include "instance.h"
#include "tcp/conn.h"

#if WEIR_CFG_TRACE
static inline bool tracing(const struct weir *weir, enum weir_trace_level level)
{
    return WEIR_CFG_TRACE >= (int)level && weir->tracer && weir->tracer->level >= level;
}
void trace_conn(struct weir *weir, struct tcp_conn *c, enum weir_trace_kind kind, const char *what);
const char *trace_cc_name(enum weir_cc_event event);

static inline void trace_state(struct weir *weir, struct tcp_conn *c)
{
    if (tracing(weir, WEIR_TRACE_EVENTS))
        trace_conn(weir, c, WEIR_TRACE_STATE, weir_tcp_state_name((enum weir_tcp_state)c->state));
}
static inline void trace_congestion(struct weir *weir, struct tcp_conn *c, enum weir_cc_event event)
{
    if (tracing(weir, WEIR_TRACE_EVENTS))
        trace_conn(weir, c, WEIR_TRACE_CONGESTION, trace_cc_name(event));
}
static inline void trace_timer(struct weir *weir, struct tcp_conn *c, const char *what)
{
    if (tracing(weir, WEIR_TRACE_EVENTS))
        trace_conn(weir, c, WEIR_TRACE_TIMER, what);
}
static inline void trace_window(struct weir *weir, struct tcp_conn *c)
{
    if (tracing(weir, WEIR_TRACE_WINDOWS))
        trace_conn(weir, c, WEIR_TRACE_WINDOW, "window");
}
#else
static inline void trace_state(struct weir *weir, struct tcp_conn *c) { (void)weir, (void)c; }
static inline void trace_congestion(struct weir *weir, struct tcp_conn *c, enum weir_cc_event event)
{
    (void)weir, (void)c, (void)event;
}
static inline void trace_timer(struct weir *weir, struct tcp_conn *c, const char *what)
{
    (void)weir, (void)c, (void)what;
}
static inline void trace_window(struct weir *weir, struct tcp_conn *c) { (void)weir, (void)c; }
#endif

#endif
