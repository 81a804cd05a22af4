// SPDX-License-Identifier: BSD-2-Clause
// The receiving side of a connection as a real-time policy (src/rt) sees it, and what the policy may have done: RCV.NXT
// moved, ACKs sent, window held back, a call later. Frames are copied out of the queue here, also those behind a hole.
#include "tcp/realtime.h"

#include "rt/rt.h"
#include "tcp/internal.h"

#define HOP_US 1800000000u  // half an hour: within what 32-bit µs can tell apart

// --- what a policy sees ----------------------------------------------------------------------------------------------

static struct rt_line look(const struct weir *weir, const struct tcp_conn *c)
{
    const bool received = c->attention & ATTEND_FIN_RECEIVED, ahead = c->attention & ATTEND_FIN_AHEAD;
    return (struct rt_line){
        .now_us = weir->now,
        .clock_us = weir->now_us,
        .una = c->rcv.nxt - received - tcp_receive_queued(c),
        .nxt = c->rcv.nxt,
        .edge = c->rcv.edge,
        .would = tcp_receive_edge(weir, c),
        .fin = received ? c->rcv.nxt - 1 : c->extra->fin,
        .beyond = c->extra->out_of_order,
        .segment_bytes = c->rcv_mss,
        .limit_bytes = c->receive_limit + c->extra->realtime->held_bytes,
        .srtt_us = rtt_smoothed(&c->rtt),
        .ended = received || ahead,
        .sack = c->flags & TCP_USE_SACK,
    };
}

// A mode that was set before the connection was there begins with its first byte.
static struct rt *begun(struct weir *weir, struct tcp_conn *c)
{
    struct rt *rt = c->extra->realtime;
    if (!rt->policy && (c->state >= WEIR_TCP_ESTABLISHED || (c->attention & ATTEND_FIN_RECEIVED))) {
        const struct rt_line line = look(weir, c);
        const struct weir_realtime settings = rt->settings;
        rt_begin(rt, &settings, &line);
    }
    return rt->policy ? rt : NULL;
}

// --- what it may do --------------------------------------------------------------------------------------------------

// What of the queue lies before the next frame is not wanted any more.
static void release(struct weir *weir, struct tcp_conn *c, const struct rt *rt)
{
    const uint32_t queued = tcp_receive_queued(c), end = c->rcv.nxt - !!(c->attention & ATTEND_FIN_RECEIVED),
                   una = end - queued;
    if (queued && seq_lt(una, rt->frame_seq))
        stream_drop(&weir->memory, c->receive, min_u32(rt->frame_seq - una, queued));
}

static uint32_t missing_bytes(const struct tcp_conn *c, uint32_t start, uint32_t end)
{
    uint32_t bytes = 0, hole, length;
    if (!tcp_disordered(c))
        return end - start;
    while ((length = intervals_hole(c->extra->out_of_order, start, end, &hole)) != 0) {
        bytes += length;
        start = hole + length;
    }
    return bytes;
}

// What is between RCV.NXT and `target`, all of it before the next frame, counts as received, and `release` drops it.
// What lies behind it stays where it is.
static void skip_to(struct weir *weir, struct tcp_conn *c, struct rt *rt, uint32_t target)
{
    uint32_t nxt = target;
    rt->stats.bytes_skipped += missing_bytes(c, c->rcv.nxt, target);
    if (tcp_disordered(c))
        nxt = intervals_advance(c->extra->out_of_order, target);
    if (c->receive)
        stream_skip(&weir->memory, c->receive, target - c->rcv.nxt, nxt - target);
    if (tcp_disordered(c) && !c->extra->out_of_order->count)
        tcp_out_of_order_free(weir, c);
    TCP_INFO_COUNT(c, received_wraps, nxt < c->rcv.nxt);
    c->rcv.nxt = nxt;
    c->rcv.edge = seq_max(c->rcv.edge, nxt);
    if (c->attention & ATTEND_FIN_AHEAD && c->extra->fin == nxt)
        tcp_receive_fin(weir, c, nxt);
}

// The other way: the peer did not take the number for true, nor the window that hung on it.
static void take_back(struct tcp_conn *c, struct rt *rt, uint32_t nxt)
{
    if (tcp_receive_queued(c) || tcp_disordered(c) || c->attention & ATTEND_FIN_RECEIVED)
        return;
    rt->stats.bytes_skipped -= min_u32(rt->stats.bytes_skipped, c->rcv.nxt - nxt);
    c->rcv.edge -= c->rcv.nxt - nxt;
    rt->told_edge = c->rcv.edge;
    c->rcv.nxt = c->rcv.acked = nxt;
}

static void hold(struct tcp_conn *c, struct rt *rt, uint32_t bytes)
{
    const uint32_t limit = c->receive_limit + rt->held_bytes;
    rt->held_bytes = min_u32(bytes, limit / 2);
    c->receive_limit = limit - rt->held_bytes;
}

// The deadline passes unnoticed unless the timer tells of it.
static bool awaits_deadline(const struct tcp_conn *c, const struct rt *rt)
{
    return rt->deadline_us && !rt->announced && !rt->late && !rt->lacked && !rt->policy->reads_clock &&
           c->state != WEIR_TCP_CLOSED;
}

static void arm(struct weir *weir, struct tcp_conn *c, struct rt *rt)
{
    rt->armed = rt->wake;
    rt->due_us = rt->wake_us;
    if (awaits_deadline(c, rt)) {
        const uint64_t left = rt->deadline_us > weir->now_us ? rt->deadline_us - weir->now_us : 0;
        const uint32_t due = weir->now + (uint32_t)(left < HOP_US ? left : HOP_US);
        rt->due_us = rt->armed ? seq_min(rt->due_us, due) : due;
        rt->armed = true;
    }
    if (rt->armed)
        tcp_timers_realtime(weir, c, rt->due_us);
}

// Of one segment only: every second is acknowledged (RFC 9293 §3.8.6.3). Nor while congestion marks are to be told.
static void keep_quiet(struct weir *weir, struct tcp_conn *c, struct rt *rt, uint32_t us)
{
    rt->quiet = c->flags & (TCP_ACK_NOW | TCP_ACK_DELAYED) && !(c->attention & ATTEND_ECN) && !tcp_receive_ack_due(c);
    if (!rt->quiet)
        return;
    c->flags = (c->flags & ~(uint32_t)TCP_ACK_NOW) | TCP_ACK_DELAYED;
    tcp_timers_ack_within(weir, c, us);
}

static void apply(struct weir *weir, struct tcp_conn *c, struct rt *rt, const struct rt_order *order)
{
    if (order->move && seq_lt(c->rcv.nxt, order->nxt))
        skip_to(weir, c, rt, order->nxt);
    else if (order->move)
        take_back(c, rt, order->nxt);
    release(weir, c, rt);
    if (rt->held_bytes != order->hold_bytes)
        hold(c, rt, order->hold_bytes);
    if (order->acks && c->state >= WEIR_TCP_ESTABLISHED) {
        rt->stats.updates[order->reason] += order->acks;
        rt->acks_left = order->acks;
        tcp_ack_now(weir, c);
    } else if (order->quiet_us) {
        keep_quiet(weir, c, rt, order->quiet_us);
    }
    const struct rt_line line = look(weir, c);
    if (!rt->announced && rt_readable(rt, &line)) {
        rt->announced = true;
        sock_event(&weir->socks, &c->sock, WEIR_READABLE);
    }
    rt->wake = order->wake;
    rt->wake_us = order->wake_us;
    arm(weir, c, rt);
}

// --- the hooks -------------------------------------------------------------------------------------------------------

void tcp_realtime_heard_on(struct weir *weir, struct tcp_conn *c, const struct tcp_segment *segment)
{
    struct rt *rt = begun(weir, c);
    if (!rt || c->attention & ATTEND_CLOSED_BY_USER)
        return;
    const struct rt_news news = {segment->seq, segment->length, rt->seen, tcp_timestamps_rtt(weir, c, segment)};
    if (news.length)
        rt->seen = seq_max(rt->seen, seq_min(news.seq + news.length, c->rcv.edge));
    const struct rt_line line = look(weir, c);
    struct rt_order order = {.hold_bytes = rt->held_bytes};
    const bool opened = rt->opened;
    if (rt->policy->heard)
        rt->policy->heard(rt, &line, &news, &order);
    if (opened && !rt->opened && ip_path_valid(weir, &c->path) && c->path.netif->link->confirm)
        c->path.netif->link->confirm(c->path.netif,
                                     &c->path);  // the data shows that our update arrived: no need to ask by ARP
    apply(weir, c, rt, &order);
}

// Before the segment's number is judged: without data, and below what is expected, it may tell that what was skipped
// was never sent. So does a FIN: what was skipped behind it there never will be, and taken for an old segment it would
// be lost, and the stream without an end.
void tcp_realtime_unsent_on(struct weir *weir, struct tcp_conn *c, const struct tcp_segment *segment)
{
    struct rt *rt = begun(weir, c);
    const uint32_t next = segment->seq + segment->length;  // what comes after it was not sent
    if (!rt || !rt->policy->unsent || c->attention & ATTEND_FIN_RECEIVED || segment->flags & (TCP_SYN | TCP_RST) ||
        (segment->length && !(segment->flags & TCP_FIN)) || !seq_lt(next, c->rcv.nxt))
        return;
    const struct rt_line line = look(weir, c);
    struct rt_order order = {0};
    rt->policy->unsent(rt, &line, next, &order);
    apply(weir, c, rt, &order);
}

void tcp_realtime_fire(struct weir *weir, struct tcp_conn *c)
{
    struct rt *rt = begun(weir, c);
    if (!rt || c->attention & ATTEND_CLOSED_BY_USER) {
        tcp_realtime_disarm(c);
        return;
    }
    const struct rt_line line = look(weir, c);
    struct rt_order order = {.hold_bytes = rt->held_bytes};
    if (rt->policy->time && c->state != WEIR_TCP_CLOSED)
        rt->policy->time(rt, &line, &order);
    apply(weir, c, rt, &order);
}

void tcp_realtime_acked_on(struct weir *weir, struct tcp_conn *c)
{
    struct rt *rt = begun(weir, c);
    if (!rt || c->state == WEIR_TCP_TIME_WAIT)
        return;
    rt->stats.acks++;
    const struct rt_line line = look(weir, c);
    const uint32_t old_edge = rt->told_edge;
    rt->told_edge = c->rcv.edge;
    if (!rt->acks_left)
        rt_answered(rt, &line);
    else if (--rt->acks_left) {
        tcp_ack_now(weir, c);
    }
    if (!rt->policy->told || old_edge == c->rcv.edge || c->attention & ATTEND_CLOSED_BY_USER)
        return;
    rt->policy->told(rt, &line, old_edge);
    tcp_realtime_fire(weir, c);  // when to ask again
}

bool tcp_realtime_bare(const struct tcp_conn *c)
{
    return tcp_realtime_on(c) && !c->extra->realtime->settings.timestamps;
}

bool tcp_realtime_readable(struct weir *weir, struct tcp_conn *c)
{
    struct rt *rt = begun(weir, c);
    if (!rt)
        return false;
    const struct rt_line line = look(weir, c);
    return rt_readable(rt, &line);
}

bool tcp_realtime_armed(const struct tcp_conn *c) { return tcp_realtime_on(c) && c->extra->realtime->armed; }
uint32_t tcp_realtime_due(const struct tcp_conn *c) { return c->extra->realtime->due_us; }
void tcp_realtime_disarm(struct tcp_conn *c) { c->extra->realtime->armed = false; }

// --- the user --------------------------------------------------------------------------------------------------------

// The part [seq, end) of the queue, all of which is there.
static void copy_part(const struct tcp_conn *c, const struct rt_line *line, uint32_t seq, uint32_t end, uint8_t *to)
{
    struct weir_span span;
    for (; seq_lt(seq, end); seq += span.length, to += span.length) {
        span = stream_stretch_ahead(c->receive, seq - line->una, end - seq);
        memcpy(to, span.data, span.length);
    }
}

// What is there of the frame; the rest is zero.
static void copy_frame(const struct tcp_conn *c, const struct rt *rt, const struct rt_line *line, uint32_t bytes,
                       uint8_t *to)
{
    const uint32_t start = rt->frame_seq, end = start + bytes;
    uint32_t at = start, hole, length;
    while (seq_lt(at, end)) {
        if (seq_lt(at, line->nxt)) {
            hole = seq_min(end, line->nxt);
            length = 0;
        } else if (line->beyond) {
            length = intervals_hole(line->beyond, at, end, &hole);
        } else {
            hole = at;
            length = end - at;
        }
        copy_part(c, line, at, hole, to + (at - start));
        memset(to + (hole - start), 0, length);
        at = hole + length;
    }
}

// Nothing more will come: what a reader is told then. WEIR_AGAIN: it will.
static int nothing_more(struct tcp_conn *c)
{
    return c->state == WEIR_TCP_CLOSED || c->attention & ATTEND_READ_SHUT ? tcp_receive_nothing(c) : WEIR_AGAIN;
}

int tcp_realtime_next(struct weir *weir, struct tcp_conn *c, struct weir_realtime_frame *frame)
{
    struct rt *rt = tcp_realtime_on(c) ? begun(weir, c) : NULL;
    memset(frame, 0, sizeof *frame);
    if (!rt)
        return tcp_realtime_on(c) ? nothing_more(c) : WEIR_NOT_SUPPORTED;
    const struct rt_line line = look(weir, c);
    const int verdict = rt_judge(rt, &line, frame), end = verdict < 0 ? nothing_more(c) : WEIR_AGAIN;
    return end == WEIR_AGAIN ? verdict : end;
}

int tcp_realtime_read(struct weir *weir, struct tcp_conn *c, uint8_t *data, uint32_t bytes,
                      struct weir_realtime_frame *frame)
{
    const int verdict = tcp_realtime_next(weir, c, frame);
    if (verdict <= 0 && verdict != WEIR_SKIPPED)
        return verdict;
    struct rt *rt = c->extra->realtime;
    struct rt_line line = look(weir, c);
    if (frame->bytes > bytes)
        return WEIR_INVALID;
    if (verdict > 0)
        copy_frame(c, rt, &line, frame->bytes, data);
    rt_take(rt, &line, frame, verdict);
    release(weir, c, rt);
    line = look(weir, c);
    struct rt_order order = {.hold_bytes = rt->held_bytes};
    rt->policy->read(rt, &line, !frame->missing, &order);
    apply(weir, c, rt, &order);
    return verdict;
}

int tcp_realtime_deadline(struct weir *weir, struct tcp_conn *c, uint64_t deadline_us)
{
    struct rt *rt = tcp_realtime_on(c) ? c->extra->realtime : NULL;
    if (!rt)
        return WEIR_NOT_SUPPORTED;
    if (!begun(weir, c)) {
        rt->settings.first_us = deadline_us;
        return WEIR_OK;
    }
    rt->deadline_us = deadline_us;
    rt->late = rt->announced = false;
    tcp_realtime_fire(weir, c);
    return WEIR_OK;
}

int tcp_realtime_stats(const struct tcp_conn *c, struct weir_realtime_stats *stats)
{
    if (!tcp_realtime_on(c))
        return WEIR_NOT_SUPPORTED;
    *stats = c->extra->realtime->stats;
    return WEIR_OK;
}

int tcp_realtime_get(const struct tcp_conn *c, struct weir_realtime *settings)
{
    memset(settings, 0, sizeof *settings);
    if (tcp_realtime_on(c))
        *settings = c->extra->realtime->settings;
    return WEIR_OK;
}

// An ordinary stream again, from the next frame on.
static int realtime_off(struct weir *weir, struct tcp_conn *c)
{
    if (!tcp_realtime_on(c))
        return WEIR_OK;
    hold(c, c->extra->realtime, 0);
    tcp_realtime_free(weir, c);
    if (tcp_receive_queued(c))
        sock_event(&weir->socks, &c->sock, WEIR_READABLE);
    tcp_receive_window_opened(weir, c);
    return WEIR_OK;
}

int tcp_realtime_set(struct weir *weir, struct tcp_conn *c, const struct weir_realtime *settings)
{
    if (settings->mode == WEIR_REALTIME_OFF)
        return realtime_off(weir, c);
    struct tcp_extra *extra = tcp_conn_extra(weir, c);
    if (!extra)
        return WEIR_NO_MEMORY;
    if (extra->realtime)
        hold(c, extra->realtime, 0);
    else if (!(extra->realtime = pool_get(&weir->tcp.realtimes, &weir->memory)))
        return WEIR_NO_MEMORY;
    memset(extra->realtime, 0, sizeof *extra->realtime);
    extra->realtime->settings = *settings;
    tcp_attend(c, ATTEND_REALTIME, true);
    if (begun(weir, c))
        tcp_realtime_fire(weir, c);
    return WEIR_OK;
}

// --- memory ----------------------------------------------------------------------------------------------------------

void tcp_realtime_free(struct weir *weir, struct tcp_conn *c)
{
    if (c->extra->realtime)
        pool_put(&weir->tcp.realtimes, &weir->memory, c->extra->realtime);
    c->extra->realtime = NULL;
    tcp_attend(c, ATTEND_REALTIME, false);
}

void tcp_realtime_init(struct weir *weir) { pool_init(&weir->tcp.realtimes, sizeof(struct rt), 1); }
int tcp_realtime_carve(struct weir *weir)
{
    return pool_carve(&weir->tcp.realtimes, &weir->memory, WEIR_CFG_ALLOCATOR ? 0 : WEIR_CFG_REALTIME);
}
size_t tcp_realtime_bytes(void) { return pool_carve_bytes(sizeof(struct rt), WEIR_CFG_REALTIME); }
void tcp_realtime_drain(struct weir *weir) { pool_drain(&weir->tcp.realtimes, &weir->memory); }
