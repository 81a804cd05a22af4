// SPDX-License-Identifier: BSD-2-Clause
// Active open: from CLOSED through SYN-SENT, also simultaneous (RFC 9293 §3.5, §3.10.7.3).
#include "tcp/internal.h"
#include "tcp/isn.h"
#include "tcp/label.h"
#include "tcp/timewait.h"

// *old: what of an earlier connection between the ends is in TIME-WAIT, and may be taken over.
static int endpoint_choose(struct weir *weir, struct tcp_conn *c, const struct weir_endpoint *peer,
                           struct tcp_time_wait **old)
{
    int error = ip_path_find(weir, &c->path, &c->local.addr, peer->addr, c->sock.netif_bound);
    if (error)
        return error;
    if (!(c->flags & TCP_BOUND)) {
        c->local.port = tcp_port_choose(weir, c->local.addr, peer, old);
        return c->local.port ? WEIR_OK : WEIR_NO_ADDRESS;
    }
    if (tcp_conn_find(weir, c->local.addr, c->local.port, peer->addr, peer->port))
        return WEIR_IN_USE;
    *old = time_wait_between(weir, &c->local.endpoint, peer);
    return time_wait_reusable(weir, *old) ? WEIR_OK : WEIR_IN_USE;
}

int tcp_connect(struct weir *weir, struct tcp_conn *c, const struct weir_endpoint *to)
{
    const struct weir_endpoint completed = {ip_addr_complete(weir, to->addr, c->sock.netif_bound), to->port},
                               *const peer = &completed;
    if (c->state == WEIR_TCP_SYN_SENT || c->state == WEIR_TCP_SYN_RECEIVED)
        return WEIR_IN_PROGRESS;
    if (c->state != WEIR_TCP_CLOSED || c->remote.port)
        return WEIR_CONNECTED;
    if (!peer->port || weir_addr_is_any(peer->addr) || weir_addr_is_multicast(peer->addr) ||
        ip_is_broadcast(weir, peer->addr))
        return WEIR_INVALID;
    if (weir_addr_is_any(c->local.addr) ? !sock_covers(&c->sock, c->local.addr, peer->addr)
                                        : weir_addr_is_v4(c->local.addr) != weir_addr_is_v4(peer->addr))
        return WEIR_NETWORK_UNREACHABLE;
    const struct tcp_end before = c->local;
    struct tcp_time_wait *old;
    const int error = endpoint_choose(weir, c, peer, &old);
    if (error) {
        c->local = before;
        return error;
    }
    c->remote = (struct tcp_end){.addr = peer->addr, .port = peer->port, .mss = ip_family_of(peer->addr)->mss_default};
    tcp_label_open(weir, c);
    tcp_mss_assume(c);
    tcp_conn_unhash(weir, c);
    tcp_conn_hash(weir, c);
    c->iss = time_wait_take_over(weir, old, &c->local.endpoint, peer, tcp_isn(weir, &c->local.endpoint, peer));
    c->snd.una = c->snd.nxt = c->iss;
    c->local.mss = (uint16_t)min_u32(tcp_mss_for_mtu(peer->addr, c->path.netif->mtu), WEIR_CFG_TCP_MSS_MAX);
    if (c->user_mss)
        c->local.mss = (uint16_t)min_u32(c->local.mss, c->user_mss);
    // offered; a limit changed later does not change it
    c->rcv_scale = WEIR_CFG_TCP_WINDOW_SCALE ? tcp_scale_for(c->receive_limit) : 0;
    tcp_timestamps_open(c, 0, tcp_timestamp_offset(weir, c->local.addr, peer->addr));
    c->progress_ms = c->last_received_ms = weir->now_ms;
    tcp_mss_update(c);
    tcp_set_state(weir, c, WEIR_TCP_SYN_SENT);
    tcp_wants_output(weir, c);
    return WEIR_IN_PROGRESS;
}

// What the peer's SYN offers, against what ours did.
static void agree(struct weir *weir, struct tcp_conn *c, const struct packet *packet, const struct tcp_segment *segment)
{
    const struct tcp_options *options = &segment->options;
    c->remote.mss = options->seen & TCP_SEEN_MSS ? (uint16_t)max_u32(options->mss, TCP_MSS_MIN)
                                                 : ip_family_of(packet->source)->mss_default;
    if (WEIR_CFG_TCP_WINDOW_SCALE && options->seen & TCP_SEEN_WINDOW_SCALE) {
        c->flags |= TCP_USE_SCALING;
        c->snd_scale = (uint8_t)min_u32(options->window_scale, 14);
    } else {
        c->rcv_scale = 0;
    }
    if (WEIR_CFG_TCP_SACK && options->seen & TCP_SEEN_SACK_PERMITTED)
        c->flags |= TCP_USE_SACK;
    tcp_info_open(c, segment->seq);
    tcp_ip_options_heard(c, packet);
    c->rcv.nxt = c->rcv.acked = segment->seq + 1;
    c->rcv.edge = c->rcv.nxt + min_u32(c->receive_limit, 65535);
    c->rcv_mss = (uint16_t)min_u32(c->local.mss, ip_family_of(packet->source)->mss_default);
    c->snd.wnd = segment->window;  // never scaled in a SYN
    c->max_snd_wnd = (uint16_t)(segment->window >> tcp_snd_scale(c));
    c->snd.wl1 = segment->seq;
    if (WEIR_CFG_TCP_TIMESTAMPS && options->seen & TCP_SEEN_TIMESTAMPS) {
        c->flags |= TCP_USE_TIMESTAMPS;
        tcp_timestamps_heard(c, options->ts_value);
    }
    tcp_mss_update(c);
    tcp_ecn_agree(weir, c, packet, segment);
}

#define SYN_ECHO_SLACK_US 2000u  // two ticks of the timestamps' clock

// The round trip of the handshake, if it is known.
static void sample_rtt(struct weir *weir, struct tcp_conn *c, const struct tcp_segment *segment)
{
    struct flight_delta delta = {0};
    flight_acked(c->flow->flight, segment->ack, &delta);
    tcp_scoreboard_changed(c);
    // Of a SYN that was sent again the timestamp that comes back tells which one is answered (RFC 7323 §4.1).
    // Not when that is longer ago than the last: then a SYN-ACK was lost.
    const uint32_t sent_us = weir->now - (delta.rtt_valid ? delta.rtt_sent_us : delta.newest_sent_us);
    const uint32_t rtt_us = delta.rtt_valid ? max_u32(sent_us, 1) : tcp_timestamps_rtt(weir, c, segment);
    if (rtt_us && (delta.rtt_valid || rtt_us <= sent_us + SYN_ECHO_SLACK_US))
        rtt_sample(&c->rtt, rtt_us);
    else
        rtt_no_sample(&c->rtt);
}

// The window begins anew with the true segment size; a lost SYN leaves one segment of it (RFC 5681 §3.1).
static void begin_anew(struct weir *weir, struct tcp_conn *c)
{
    struct tcp_flow *flow = c->flow;
    flow->retransmit_from = c->snd.una;
    flow->recover = c->snd.una - 1;
    tcp_undo_done(c);
    flow->window.ssthresh = WEIR_CC_UNLIMITED;
    flow->window.cwnd = 0;
    memset(flow->cc_state, 0, sizeof flow->cc_state);
    tcp_cc_event(weir, c, WEIR_CC_INIT);
    flow->lost_untold = 0;  // cwnd answers it: the first data has lost nothing
    if (c->backoff)
        flow->window.cwnd = c->mss;
}

static void established(struct weir *weir, struct tcp_conn *c, const struct tcp_segment *segment)
{
    if (tcp_control_out(c))
        rtt_sample(&c->rtt, tcp_control_rtt(weir, c));
    else
        sample_rtt(weir, c, segment);
    c->flags |= TCP_SYN_ACKED;
    c->snd.una = segment->ack;
    c->attention &= ~(uint32_t)(ATTEND_RTO_RECOVERY | ATTEND_RETRANSMIT_NOW);
    if (c->flow)
        begin_anew(weir, c);
    tcp_backoff_set(c, 0);
    tcp_timers_acked(weir, c, 0);
    tcp_ecn_established(weir, c);
    c->error = WEIR_OK;
    c->quick_acks = TCP_QUICK_ACKS;
    tcp_set_state(weir, c, WEIR_TCP_ESTABLISHED);
    count(weir, WEIR_COUNT_TCP_CONNECTED);
    tcp_ack_now(weir, c);
    sock_event(&weir->socks, &c->sock, WEIR_WRITABLE);
}

// RFC 9293 §3.10.7.3, step by step.
enum tcp_verdict tcp_input_syn_sent(struct weir *weir, struct tcp_conn *c, const struct packet *packet,
                                    struct tcp_segment *segment)
{
    const bool ack_good = segment->flags & TCP_ACK && segment->ack == c->iss + 1 && c->snd.nxt == c->iss + 1;
    if (segment->flags & TCP_ACK && !ack_good) {
        tcp_reply_reset_for(weir, c, segment);
        return TCP_DROP;
    }
    if (segment->flags & TCP_RST) {
        if (!ack_good)
            return TCP_DROP;
        count(weir, WEIR_COUNT_TCP_RST_RECEIVED);
        tcp_conn_drop(weir, c, WEIR_REFUSED);
        return TCP_GONE;
    }
    if (!(segment->flags & TCP_SYN))
        return TCP_DROP;
    agree(weir, c, packet, segment);
    segment->seq++;  // what follows sees the data and FIN of the segment, if any
    segment->flags &= (uint8_t)~TCP_SYN;
    if (ack_good) {
        established(weir, c, segment);
        return TCP_NEXT;
    }
    // Simultaneous open: our SYN goes again, now with an ACK.
    tcp_set_state(weir, c, WEIR_TCP_SYN_RECEIVED);
    tcp_timers_resolve_deadline(weir, c);
    if (c->flow && c->snd.nxt != c->iss)
        tcp_recovery_again(c);
    tcp_wants_output(weir, c);
    return TCP_DROP;
}
