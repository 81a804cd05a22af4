// SPDX-License-Identifier: BSD-2-Clause
// The states of a connection: which may follow which, and their names.
#include "tcp/internal.h"

// RFC 9293 §3.3.2, figure 5, with the transitions of resets and time-outs: to each state, the states it may be entered
// from.
#define FROM(state) (1u << WEIR_TCP_##state)
static const uint16_t entered_from[WEIR_TCP_STATE_COUNT] = {
    [WEIR_TCP_CLOSED] = 0xffff,
    [WEIR_TCP_LISTEN] = FROM(CLOSED),
    [WEIR_TCP_SYN_SENT] = FROM(CLOSED),
    [WEIR_TCP_SYN_RECEIVED] = FROM(SYN_SENT) | FROM(CLOSED),
    [WEIR_TCP_ESTABLISHED] = FROM(SYN_SENT) | FROM(SYN_RECEIVED) | FROM(CLOSED),
    [WEIR_TCP_FIN_WAIT_1] = FROM(ESTABLISHED) | FROM(SYN_RECEIVED),
    [WEIR_TCP_FIN_WAIT_2] = FROM(FIN_WAIT_1),
    [WEIR_TCP_CLOSE_WAIT] = FROM(ESTABLISHED) | FROM(SYN_RECEIVED),
    [WEIR_TCP_CLOSING] = FROM(FIN_WAIT_1),
    [WEIR_TCP_LAST_ACK] = FROM(CLOSE_WAIT),
    [WEIR_TCP_TIME_WAIT] = FROM(FIN_WAIT_1) | FROM(FIN_WAIT_2) | FROM(CLOSING),
};

void tcp_set_state(struct weir *weir, struct tcp_conn *c, enum weir_tcp_state state)
{
    if (!(entered_from[state] >> c->state & 1))
        return;
    c->state = (uint8_t)state;
    trace_state(weir, c);
    tcp_attend(c, ATTEND_STATE, state != WEIR_TCP_ESTABLISHED);
    tcp_timers_state(weir, c);
}

const char *weir_tcp_state_name(enum weir_tcp_state state)
{
    static const char *const names[WEIR_TCP_STATE_COUNT] = {
        "CLOSED",     "LISTEN",     "SYN-SENT", "SYN-RECEIVED", "ESTABLISHED", "FIN-WAIT-1",
        "FIN-WAIT-2", "CLOSE-WAIT", "CLOSING",  "LAST-ACK",     "TIME-WAIT",
    };
    return (unsigned)state < WEIR_TCP_STATE_COUNT ? names[state] : "?";
}
