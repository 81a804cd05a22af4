// SPDX-License-Identifier: BSD-2-Clause
#include "trace_text.h"

#include "weir/netif.h"

static void number(struct text *out, const char *name, uint32_t value)
{
    if (value == 0)
        return;
    text_put(out, name);
    text_u64(out, value);
}

static void frame(struct text *out, const struct weir_trace_event *event)
{
    text_put(out, event->netif->name);
    text_put(out, " frame ");
    text_put(out, event->what);
    number(out, " ", event->bytes);
    text_put(out, " bytes");
}

static void connection(struct text *out, const struct weir_trace_event *event)
{
    static const char *const kinds[] = {[WEIR_TRACE_STATE] = " state ",
                                        [WEIR_TRACE_CONGESTION] = " congestion ",
                                        [WEIR_TRACE_TIMER] = " timer ",
                                        [WEIR_TRACE_WINDOW] = " "};
    text_endpoint(out, &event->local);
    text_put(out, " > ");
    text_endpoint(out, &event->peer);
    text_put(out, kinds[event->kind]);
    text_put(out, event->what);
    number(out, " cwnd ", event->cwnd);
    if (event->kind != WEIR_TRACE_WINDOW)
        return;
    if (event->ssthresh != UINT32_MAX)  // none yet
        number(out, " ssthresh ", event->ssthresh);
    number(out, " in flight ", event->in_flight);
    number(out, " rtt ", event->srtt_us);
    if (event->srtt_us != 0)
        text_put(out, " us");
}

void trace_text(struct text *out, const struct weir_trace_event *event)
{
    text_fixed(out, event->now_us, 6);
    text_char(out, ' ');
    if (event->kind == WEIR_TRACE_FRAME)
        frame(out, event);
    else
        connection(out, event);
}
