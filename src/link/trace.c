// SPDX-License-Identifier: BSD-2-Clause
#include "link/trace.h"

#include "instance.h"

int weir_trace_set(struct weir *weir, struct weir_tracer *tracer)
{
    weir->tracer = tracer;
    return WEIR_OK;
}

#if WEIR_CFG_TRACE >= 3  // WEIR_TRACE_FRAMES
void trace_frame(const struct weir_netif *netif, const char *what, uint32_t bytes)
{
    const struct weir *const weir = netif->weir;
    struct weir_tracer *const tracer = weir->tracer;
    if (!tracer || tracer->level < WEIR_TRACE_FRAMES)
        return;
    const struct weir_trace_event event = {
        .kind = WEIR_TRACE_FRAME, .what = what, .now_us = weir->now_us, .netif = netif, .bytes = bytes};
    tracer->event(tracer, &event);
}
#endif
