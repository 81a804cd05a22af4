// SPDX-License-Identifier: BSD-2-Clause
// Whether TCP's state agrees with itself (WEIR_CFG_SELF_CHECK): the attention word, each bit of which that follows from
// other state is computed anew; the flight log, which covers [una, nxt) and counts what is SACKED and LOST; what memory
// beyond a gap costs; and the tables' bounds.
#include "tcp/halfopen.h"
#include "tcp/internal.h"
#include "tcp/timewait.h"

#define CHECKED_RECORDS 256u  // of a longer log only the sums are looked at

// What hangs in struct tcp_extra.
static uint32_t extra_bits(const struct tcp_conn *c)
{
    if (!c->extra)
        return 0;
    return (c->extra->out_of_order ? ATTEND_OUT_OF_ORDER : 0) | (tcp_dsack_owed(c->extra) ? ATTEND_DSACK : 0) |
           (tcp_uto_owed(c) ? ATTEND_USER_TIMEOUT : 0) | (tcp_realtime_on(c) ? ATTEND_REALTIME : 0) |
           (tcp_deadline_on(c) ? ATTEND_DEADLINE : 0) | (tcp_low_water_on(c) ? ATTEND_LOW_WATER : 0) |
           (tcp_ip_options_on(c) ? ATTEND_IP_OPTIONS : 0);
}

static bool attention_is_right(const struct tcp_conn *c)
{
    const uint32_t derived = (c->state == WEIR_TCP_ESTABLISHED ? 0 : ATTEND_STATE) | (c->backoff ? ATTEND_BACKOFF : 0) |
                             (c->flow && !flight_plain(c->flow->flight) ? ATTEND_SCOREBOARD : 0) | extra_bits(c);
    return (c->attention & ATTEND_DERIVED) == derived && (c->flow || !(c->attention & ATTEND_FLOW));
}

#if WEIR_CFG_TCP_SACK
// The bytes of the records with a flag make the sum that stands in the log, and none has two flags that exclude each
// other.
static bool sums_are_right(struct flight *log)
{
    uint32_t sacked = 0, lost = 0, resent = 0, start = log->start;
    for (uint32_t i = 0; i < log->count; i++) {
        const struct flight_record *const r = flight_at(log, i);
        if (!seq_lt(start, r->end) || (r->sent & FLIGHT_SACKED && r->sent & FLIGHT_LOST))
            return false;
        sacked += r->sent & FLIGHT_SACKED ? r->end - start : 0;
        lost += r->sent & FLIGHT_LOST ? r->end - start : 0;
        resent += r->sent & FLIGHT_RETRANSMITTED ? 1 : 0;
        start = r->end;
    }
    return sacked == log->sacked && lost == log->lost && resent == log->retransmitted;
}
static bool log_is_short(const struct flight *log) { return log->count <= CHECKED_RECORDS; }
#else
static bool sums_are_right(const struct flight *log) { return (void)log, true; }
static bool log_is_short(const struct flight *log) { return (void)log, true; }
#endif

static bool log_is_right(const struct tcp_conn *c)
{
    struct flight *const log = c->flow ? c->flow->flight : NULL;
    return !log || (flight_sound(log, c->snd.una, c->snd.nxt) && (!log_is_short(log) || sums_are_right(log)));
}

// Out-of-order data lies beyond rcv.nxt, and its memory goes by what the peer sent.
static bool ahead_is_right(const struct tcp_conn *c)
{
    const struct intervals *const list = tcp_disordered(c) ? c->extra->out_of_order : NULL;
    if (!list)
        return !c->receive || !stream_ahead_bytes(c->receive);
    uint32_t total = 0;
    for (uint32_t i = 0; i < list->count; i++) {
        if (!seq_lt(i ? list->item[i - 1].end : c->rcv.nxt, list->item[i].start) ||
            !seq_lt(list->item[i].start, list->item[i].end))
            return false;
        total += list->item[i].end - list->item[i].start;
    }
    return list->count <= list->capacity && (!WEIR_CFG_ALLOCATOR || total == list->total) &&
           (!c->receive || !stream_ahead_dear(c->receive, total));
}

void tcp_self_check(struct weir *weir)
{
    const struct table *const connections = &weir->tcp.connections;
    if (half_open_count(weir) > WEIR_CFG_TCP_HALF_OPEN || time_wait_count(weir) > WEIR_CFG_TCP_TIME_WAIT)
        __builtin_trap();
    if (connections->count > TCP_CHECKED_MOST)
        return;
    for (uint32_t bucket = 0; bucket < table_buckets(connections); bucket++)
        for (struct table_node *node = table_chain(connections, bucket); node; node = node->next) {
            const struct tcp_conn *const c = container_of(node, struct tcp_conn, node);
            if (!attention_is_right(c) || !log_is_right(c) || !ahead_is_right(c))
                __builtin_trap();
        }
}
