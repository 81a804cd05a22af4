// SPDX-License-Identifier: BSD-2-Clause
// Tracing of frames (weir/trace.h), as the stack calls it. What of connections is traced: tcp/trace.h.
#ifndef LINK_TRACE_H
#define LINK_TRACE_H

#include "weir/netif.h"
#include "weir/trace.h"

#if WEIR_CFG_TRACE >= 3  // WEIR_TRACE_FRAMES
void trace_frame(const struct weir_netif *netif, const char *what, uint32_t bytes);
#else
static inline void trace_frame(const struct weir_netif *netif, const char *what, uint32_t bytes)
{
    (void)netif, (void)what, (void)bytes;
}
#endif

#endif
