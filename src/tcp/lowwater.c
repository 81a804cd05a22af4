// SPDX-License-Identifier: BSD-2-Clause
#include "tcp/internal.h"

int tcp_low_water_set(struct weir *weir, struct tcp_conn *c, uint32_t bytes)
{
    if (!c->extra && bytes <= 1)
        return WEIR_OK;
    struct tcp_extra *extra = tcp_conn_extra(weir, c);
    if (!extra)
        return WEIR_NO_MEMORY;
    extra->receive_low_water = bytes > 1 ? bytes : 0;
    tcp_attend(c, ATTEND_LOW_WATER, bytes > 1);
    if (tcp_receive_queued(c) && tcp_low_water_met(weir, c))  // what was too little may be enough now
        sock_event(&weir->socks, &c->sock, WEIR_READABLE);
    return WEIR_OK;
}

int32_t tcp_low_water_get(const struct tcp_conn *c)
{
    return tcp_low_water_on(c) ? (int32_t)c->extra->receive_low_water : 1;
}

bool tcp_low_water_met(const struct weir *weir, const struct tcp_conn *c)
{
    return !tcp_low_water_on(c) || tcp_receive_queued(c) >= c->extra->receive_low_water ||
           c->attention & ATTEND_URGENT_RECEIVED || tcp_receive_edge(weir, c) - c->rcv.nxt < c->rcv_mss;
}

bool tcp_low_water_on(const struct tcp_conn *c) { return c->extra && c->extra->receive_low_water; }
