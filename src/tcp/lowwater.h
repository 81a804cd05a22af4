// SPDX-License-Identifier: BSD-2-Clause
// WEIR_OPTION_RECEIVE_LOW_WATER on a stream: its reader hears of data only when so much is there, or when no more can
// come: at the end, at an error, at an urgent mark, or when the window has no room for another segment. The mark is in
// struct tcp_extra; a connection with one takes the steps, not the prediction (ATTEND_LOW_WATER).
#ifndef TCP_LOWWATER_H
#define TCP_LOWWATER_H

#include <stdbool.h>
#include <stdint.h>

#include "weir/error.h"
#include "weir/options.h"

struct weir;
struct tcp_conn;

#if WEIR_CFG_TCP_REFINEMENTS
int tcp_low_water_set(struct weir *weir, struct tcp_conn *c, uint32_t bytes);
int32_t tcp_low_water_get(const struct tcp_conn *c);
bool tcp_low_water_met(const struct weir *weir, const struct tcp_conn *c);  // what is queued is worth an event
bool tcp_low_water_on(const struct tcp_conn *c);
#else
static inline int tcp_low_water_set(struct weir *weir, struct tcp_conn *c, uint32_t bytes)
{
    return (void)weir, (void)c, (void)bytes, WEIR_NOT_SUPPORTED;
}
static inline int32_t tcp_low_water_get(const struct tcp_conn *c) { return (void)c, 1; }
static inline bool tcp_low_water_met(const struct weir *weir, const struct tcp_conn *c)
{
    return (void)weir, (void)c, true;
}
static inline bool tcp_low_water_on(const struct tcp_conn *c) { return (void)c, false; }
#endif

#endif
