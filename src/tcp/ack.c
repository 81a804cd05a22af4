// SPDX-License-Identifier: BSD-2-Clause
// The ACK step of RFC 9293 §3.10.7.4: which ACKs count (RFC 5961 §5), what they acknowledge, what window they bring.
#include "tcp/internal.h"
#include "tcp/sack.h"

// The window is open again. What was in flight was refused while it was closed: it goes again at once.
static void probe_answered(struct weir *weir, struct tcp_conn *c)
{
    if (c->flow && c->snd.una != c->snd.nxt)
        tcp_recovery_again(c);
    tcp_timers_window_opened(weir, c);
}

// RFC 9293 §3.10.7.4, fifth: the send window, from the newest segment only.
static bool window_update(struct weir *weir, struct tcp_conn *c, const struct tcp_segment *segment)
{
    const uint32_t window = (uint32_t)segment->window << tcp_snd_scale(c);
    const bool changed = window != c->snd.wnd;
    // SND.WL2 needs no memory: an ACK beyond una is newer than any before. Of equal ones a larger window is news, and a
    // closed one: any other may have been overtaken.
    const bool repeated = c->snd.wl1 == segment->seq && segment->ack == c->snd.una;
    if (!seq_lt(c->snd.una, segment->ack) && !seq_lt(c->snd.wl1, segment->seq) &&
        !(repeated && (window > c->snd.wnd || !window)))
        return false;
    c->snd.wl1 = segment->seq;
    if (!changed)
        return false;
    c->snd.wnd = window;
    if (segment->window > c->max_snd_wnd)
        c->max_snd_wnd = segment->window;
    if (window && c->attention & ATTEND_PERSIST)
        probe_answered(weir, c);
    if (tcp_send_queued(c))
        tcp_wants_output(weir, c);
    return true;
}

// snd.una moves to `ack`: queue, log and round-trip time follow.
static void advance_una(struct weir *weir, struct tcp_conn *c, uint32_t ack, struct flight_delta *delta)
{
    const uint32_t syn = tcp_syn_unacked(c);
    const uint32_t data = min_u32(ack - c->snd.una - syn, tcp_send_queued(c));
    if (data && c->flow)
        tcp_held_drop(weir, c, c->flow, data);
    else if (data)
        stream_drop(&weir->memory, c->send, data);
    if (c->flow)
        flight_acked(c->flow->flight, ack, delta);
    c->snd.una = ack;
    c->flags |= TCP_SYN_ACKED;
    if (c->flow && seq_lt(c->flow->retransmit_from, ack))
        c->flow->retransmit_from = ack;
    c->progress_ms = weir->now_ms;
    if (data)
        tcp_room_opened(weir, c);
}

static bool reports_duplicate(const struct tcp_conn *c, const struct tcp_segment *segment)
{
    return c->flags & TCP_USE_SACK && tcp_dsack_reported(segment);
}

#define ECHO_SLACK_US 2000u  // two ticks of the timestamps' clock

static void sample_rtt(struct weir *weir, struct tcp_conn *c, const struct tcp_segment *segment,
                       const struct flight_delta *delta, bool advances)
{
    uint32_t rtt_us = 0;
    if (delta->rtt_valid)
        rtt_us = max_u32(weir->now - delta->rtt_sent_us, 1);
    else if (advances)  // RFC 7323 §4.1: not one that only SACKs, whose echo is older
        rtt_us = tcp_timestamps_rtt(weir, c, segment);
    // An echo older than the last transmission of what is acknowledged: an acknowledgement before this one was lost,
    // and the time until the repetition that drew this one is no round trip. Taken as one, timeouts would feed on
    // themselves.
    if (!rtt_us || (!delta->rtt_valid && rtt_us > weir->now - delta->newest_sent_us + ECHO_SLACK_US)) {
        if (advances && reports_duplicate(c, segment))
            tcp_backoff_set(
                c, 0);  // what we repeated was there already, and the path works: only an acknowledgement was lost
        return;
    }
    rtt_sample(&c->rtt, rtt_us);
    tcp_backoff_set(c, 0);  // kept until such a sample (RFC 6298 §5.7, Karn)
    if (tcp_deadline_on(c))
        tcp_deadline_sampled(c);
}

// RFC 5681 §2: the five conditions of a duplicate ACK. A window update is none. (No SYN comes so far: step_syn.)
static bool is_duplicate(const struct tcp_conn *c, const struct tcp_segment *segment, bool window_changed)
{
    return segment->ack == c->snd.una && c->snd.una != c->snd.nxt && !segment->length && !(segment->flags & TCP_FIN) &&
           !window_changed && !(c->attention & ATTEND_PERSIST);
}

// What the acknowledgement of our SYN or FIN means for the state.
static enum tcp_verdict acked_control(struct weir *weir, struct tcp_conn *c)
{
    if (tcp_syn_received(c)) {
        tcp_set_state(weir, c, c->attention & ATTEND_FIN_RECEIVED ? WEIR_TCP_CLOSE_WAIT : WEIR_TCP_ESTABLISHED);
        count(weir, WEIR_COUNT_TCP_CONNECTED);
        sock_event(&weir->socks, &c->sock, WEIR_WRITABLE);
        tcp_wants_output(weir, c);
    }
    if (!tcp_fin_acked(c))
        return TCP_NEXT;
    if (c->state == WEIR_TCP_FIN_WAIT_1)
        tcp_set_state(weir, c, WEIR_TCP_FIN_WAIT_2);
    if (c->state == WEIR_TCP_CLOSING) {
        tcp_enter_time_wait(weir, c);
        return TCP_GONE;
    }
    if (c->state == WEIR_TCP_LAST_ACK) {
        tcp_conn_drop(weir, c, WEIR_OK);
        return TCP_GONE;
    }
    return TCP_NEXT;
}

// A SYN or FIN that left without a flow is acknowledged, and the segment says nothing else.
static bool is_control_acked(const struct tcp_conn *c, const struct tcp_segment *segment)
{
    return tcp_control_out(c) && segment->ack == c->snd.nxt && !segment->options.sack_count && !c->extra &&
           tcp_ecn_silent(c);
}

static enum tcp_verdict control_acked(struct weir *weir, struct tcp_conn *c, uint32_t ack)
{
    rtt_sample(&c->rtt, tcp_control_rtt(weir, c));
    tcp_backoff_set(c, 0);
    c->snd.una = ack;
    c->flags |= TCP_SYN_ACKED;
    c->progress_ms = weir->now_ms;
    tcp_timers_acked(weir, c, 0);
    return acked_control(weir, c);
}

enum tcp_verdict tcp_input_ack(struct weir *weir, struct tcp_conn *c, const struct tcp_segment *segment)
{
    if (tcp_syn_received(c) && segment->ack != c->snd.nxt) {
        count(weir, WEIR_COUNT_TCP_BAD_ACK);
        tcp_reply_reset_for(weir, c, segment);
        return TCP_DROP;
    }
    // Of something never sent, or too old to be anything but a guess (RFC 5961 §5).
    if (!seq_in(segment->ack, c->snd.una - tcp_max_window(c), c->snd.nxt + 1)) {
        count(weir, WEIR_COUNT_TCP_BAD_ACK);
        return TCP_CHALLENGE;
    }
    if (!seq_in(segment->ack, c->snd.una, c->snd.nxt + 1))
        return TCP_NEXT;  // overtaken: neither its window nor its SACK blocks are news
    const bool window_changed = window_update(weir, c, segment);
    if (is_control_acked(c, segment))
        return control_acked(weir, c, segment->ack);
    const bool duplicate = is_duplicate(c, segment, window_changed);
    const bool advances = segment->ack != c->snd.una;
    if (!advances && !duplicate && !segment->options.sack_count)
        return TCP_NEXT;
    tcp_timers_resolve_deadline(weir, c);
    struct flight_delta delta = {0};
    const struct tcp_ack_info news = {
        .segment = segment,
        .acked = advances ? segment->ack - c->snd.una : 0,
        .prior_inflight = tcp_recovery_pipe(c),
        .duplicate = duplicate,
        .reports_duplicate = !tcp_mtu_search_ack(weir, c, segment) && reports_duplicate(c, segment),
    };
    const bool mended = tcp_deadline_on(c) && tcp_deadline_loss_repaired(c, segment);
    tcp_rack_begin(weir, c, segment, &delta);
    if (advances)
        advance_una(weir, c, segment->ack, &delta);
    if (segment->options.sack_count && (c->flags & TCP_USE_SACK)) {
        tcp_sack_input(weir, c, segment, &delta);
        if (delta.delivered)
            tcp_room_opened(weir, c);  // what is SACKED no longer counts (transfer.c)
    }
    if (c->flow && !flight_sound(c->flow->flight, c->snd.una, c->snd.nxt)) {
        tcp_conn_insane(weir, c);
        return TCP_GONE;
    }
    if (tcp_deadline_on(c))
        tcp_deadline_acked(c, &delta);
    sample_rtt(weir, c, segment, &delta, advances);
    const bool marked = tcp_ecn_ack(weir, c, segment, &delta);
    if (c->flow)
        tcp_recovery_ack(weir, c, &delta, &news);
    if (mended)
        tcp_deadline_tell(weir, c);
    if (marked)
        tcp_ecn_react(weir, c, news.prior_inflight);
    if (!advances) {
        if (delta.delivered)
            tcp_timers_sacked(weir, c);
        return TCP_NEXT;
    }
    tcp_timers_acked(weir, c, news.acked);
    if (c->snd.una == c->snd.nxt || tcp_syn_received(c))
        return acked_control(weir, c);
    return TCP_NEXT;
}
