// SPDX-License-Identifier: BSD-2-Clause
// Classic ECN (RFC 3168), and what both kinds have in common. ecn.h says what each function is for; ecn_offer.c
// negotiates for listeners, accecn.c counts.
#include "tcp/internal.h"

// ATTEND_ECN: there is something to do, or to watch, with each segment.
static void settle(struct tcp_conn *c)
{
    const bool busy = c->ecn == TCP_ECN_ACCURATE || c->ecn_echo || c->ecn_cwr || (c->flow && c->flow->ecn_round);
    tcp_attend(c, ATTEND_ECN, busy);
}

// --- handshake -------------------------------------------------------------------------------------------------------

bool tcp_ecn_begin(struct weir *weir, struct tcp_conn *c, struct tcp_ecn_open open)
{
    c->ecn = open.mode;
    c->ecn_plain = open.plain;
    if (c->ecn < TCP_ECN_CLASSIC) {
        c->ecn = TCP_ECN_OFF;
        return true;
    }
    if (c->ecn == TCP_ECN_ACCURATE && !accecn_begin(weir, c))
        return false;
    // Who sent or got a SYN or SYN-ACK without ECN cannot know what the peer made of it: it echoes, and sends nothing
    // that could be marked (RFC 3168 §6.1.1, RFC 9768 §3.1.5).
    if (!c->ecn_plain)
        c->tos |= TCP_ECT0;
    count(weir, c->ecn == TCP_ECN_ACCURATE ? WEIR_COUNT_TCP_ACCECN : WEIR_COUNT_TCP_ECN);
    settle(c);
    return true;
}

void tcp_ecn_handshake_done(struct weir *weir, struct tcp_conn *c, const struct tcp_segment *ack)
{
    if (c->ecn != TCP_ECN_ACCURATE)
        return;
    accecn_option_heard(weir, c, &ack->options);
    if (!ack->length && !(ack->flags & TCP_FIN) && !ack->options.sack_count)
        accecn_handshake_done(weir, c, ack);
}

// What a SYN-ACK agrees to (RFC 3168 §6.1.1; RFC 9768, Table 2).
static uint8_t agreed(uint32_t asked, uint32_t ace)
{
    static const uint8_t accurate[8] = {
        TCP_ECN_OFF,       // 0: no ECN
        TCP_ECN_CLASSIC,   // ECE alone: RFC 3168
        TCP_ECN_ACCURATE,  // the SYN came as Not-ECT
        TCP_ECN_ACCURATE,  // the SYN came as ECT(1)
        TCP_ECN_ACCURATE,  // the SYN came as ECT(0)
        TCP_ECN_ACCURATE,  // reserved: as if it had come unchanged (§3.1.3)
        TCP_ECN_ACCURATE,  // the SYN came as CE
        TCP_ECN_OFF,       // our own flags: a server that reflects what it does not know
    };
    if (asked == TCP_ECN_ACCURATE)
        return accurate[ace];
    return asked == TCP_ECN_CLASSIC && (ace & (ACE_ECE | ACE_CWR)) == ACE_ECE ? TCP_ECN_CLASSIC : TCP_ECN_OFF;
}

void tcp_ecn_agree(struct weir *weir, struct tcp_conn *c, const struct packet *packet,
                   const struct tcp_segment *segment)
{
    struct tcp_ecn_open open = {.mode = 0};
    if (!(segment->flags & TCP_ACK)) {
        open = tcp_ecn_offered(c->ecn, packet, segment);
        open.plain |= c->ecn_plain;
    } else {
        open.mode = agreed(c->ecn, accecn_ace(segment)) & 3u;
        // Of RFC 9768 a client that sent a plain SYN as well is sure of its server; of RFC 3168 it is not.
        open.plain = open.mode == TCP_ECN_CLASSIC && c->ecn_plain;
    }
    if (!tcp_ecn_begin(weir, c, open)) {
        c->ecn = TCP_ECN_OFF;  // without memory to count in: ACE stays zero, which tells the server (RFC 9768, Table 4)
        return;
    }
    if (c->ecn == TCP_ECN_ACCURATE)
        accecn_agreed(weir, c, packet, segment);
}

void tcp_ecn_established(struct weir *weir, struct tcp_conn *c)
{
    if (c->ecn == TCP_ECN_ACCURATE)
        accecn_established(weir, c);
}

void tcp_ecn_syn_ack_again(struct tcp_conn *c, const struct packet *packet, const struct tcp_segment *segment)
{
    const bool same = (segment->flags & (TCP_SYN | TCP_ACK)) == (TCP_SYN | TCP_ACK) && segment->ack == c->iss + 1 &&
                      segment->seq + 1 == c->rcv.nxt;
    if (c->ecn == TCP_ECN_ACCURATE && same && accecn_ace(segment))
        accecn_syn_ack_again(c, packet);
}

// --- what leaves -----------------------------------------------------------------------------------------------------

static void stamp_syn(struct weir *weir, struct tcp_conn *c, struct tcp_segment *segment)
{
    if (segment->flags & TCP_ACK) {  // of a simultaneous open
        struct tcp_ecn_open open = {.mode = c->ecn, .plain = c->ecn_plain};
        if (c->ecn == TCP_ECN_ACCURATE)
            accecn_stamp(c, segment);
        else
            tcp_ecn_answer(&open, 0, false, segment);
        return;
    }
    if (c->backoff >= ECN_TRIES) {
        count_add(weir, WEIR_COUNT_TCP_ECN_GIVEN_UP, !c->ecn_plain);
        c->ecn_plain = 1;
        return;
    }
    segment->flags |= TCP_ECE | TCP_CWR;
    segment->accurate = c->ecn == TCP_ECN_ACCURATE;
}

uint8_t tcp_ecn_stamp_marked(struct weir *weir, struct tcp_conn *c, struct tcp_segment *segment, bool again)
{
    const bool fresh = segment->length && !again;
    if (segment->flags & TCP_SYN) {
        stamp_syn(weir, c, segment);
        return tcp_ecn_tos_bare(c);
    }
    if (c->ecn == TCP_ECN_ACCURATE) {
        accecn_stamp(c, segment);
    } else {
        if (c->ecn_echo)
            segment->flags |= TCP_ECE;
        if (c->ecn_cwr && fresh)  // RFC 3168 §6.1.2: the first new data after the reduction
            segment->flags |= TCP_CWR;
    }
    return fresh ? c->tos : tcp_ecn_tos_bare(c);
}

void tcp_ecn_left_marked(struct tcp_conn *c, const struct tcp_segment *segment, bool again)
{
    if (c->ecn == TCP_ECN_ACCURATE) {
        accecn_left(c, segment, again);
    } else if (c->ecn == TCP_ECN_CLASSIC && segment->flags & TCP_CWR) {
        c->ecn_cwr = 0;
        settle(c);
    }
}

bool tcp_ecn_no_tso_marked(const struct tcp_conn *c)
{
    return c->ecn == TCP_ECN_ACCURATE ? (accecn_next_ace(c) & ACE_CWR) != 0 : c->ecn_cwr;
}

// --- what comes ------------------------------------------------------------------------------------------------------

// RFC 3168 §6.1.3: from the first mark on every ACK says ECE, until CWR comes; a packet with both begins anew. Only
// data can be marked.
void tcp_ecn_input_marked(struct weir *weir, struct tcp_conn *c, const struct packet *packet,
                          const struct tcp_segment *segment)
{
    if (c->ecn == TCP_ECN_ACCURATE) {
        accecn_input(weir, c, packet, segment);
        return;
    }
    if (!segment->length)
        return;
    const bool marked = (packet->tos & TCP_ECN_BITS) == TCP_CE, before = c->ecn_echo;
    c->ecn_echo = (c->ecn_echo && !(segment->flags & TCP_CWR)) || marked;
    if (marked) {
        count(weir, WEIR_COUNT_TCP_CE_RECEIVED);
        if (tcp_conn_extra(weir, c))  // without memory only the count is lost
            c->extra->ce_received += max_u32(packet->frame->segments, 1);
    }
    // The sender shall know soon; and one that has just reduced a small window may wait for this very ACK.
    if (before != c->ecn_echo || segment->flags & TCP_CWR) {
        tcp_ack_now(weir, c);
    }
    settle(c);
}

// What was outstanding at the last reduction is acknowledged when something beyond it is: that saw the CWR (RFC 3168
// §6.1.2).
static void round_end(struct tcp_conn *c)
{
    if (!c->flow || !c->flow->ecn_round || !seq_lt(c->flow->ecn_recover, c->snd.una))
        return;
    c->flow->ecn_round = false;
    settle(c);
}

bool tcp_ecn_ack_marked(struct weir *weir, struct tcp_conn *c, const struct tcp_segment *segment,
                        struct flight_delta *delta)
{
    settle(c);
    round_end(c);
    if (c->state == WEIR_TCP_SYN_RECEIVED)
        return false;  // RFC 9768 §3.2.2: the flags are a counter only once both ends stand
    if (c->ecn == TCP_ECN_ACCURATE)
        return accecn_ack(weir, c, segment, delta);
    if (!(segment->flags & TCP_ECE))
        return false;
    const uint32_t packets = (delta->delivered + c->mss - 1) / c->mss;
    if (packets && tcp_conn_extra(weir, c))
        c->extra->ce_delivered += packets;  // as many as may have been marked: the flag does not say
    if (!tcp_ecn_reducing(c))
        delta->ce = min_u32(delta->delivered, c->mss);  // one at least
    return true;
}

// --- the sender's answer ---------------------------------------------------------------------------------------------

void tcp_ecn_reduced_now(struct tcp_conn *c)
{
    c->flow->ecn_recover = c->snd.nxt;
    c->flow->ecn_round = true;
    c->flow->ecn_marked = false;
    c->ecn_cwr = c->ecn == TCP_ECN_CLASSIC;
    settle(c);
}

void tcp_ecn_react(struct weir *weir, struct tcp_conn *c, uint32_t prior_inflight)
{
    if (!c->flow)
        return;
    if (c->attention & ATTEND_RECOVERY) {
        tcp_undo_done(c);  // the losses may have been none, but congestion there was
        return;
    }
    if (c->flow->ecn_round)
        return;
    const bool in_use = max_u32(prior_inflight, flight_outstanding(c->flow->flight)) >= c->flow->window.cwnd / 2;
    tcp_cc_event_at(weir, c, WEIR_CC_ECN, prior_inflight);
    if (!in_use)
        tcp_cwv_loss(weir, c, false);
    tcp_ecn_reduced_now(c);
    c->flow->ecn_marked = true;
    tcp_undo_done(c);
    count(weir, WEIR_COUNT_TCP_ECN_REDUCED);
    if (c->ecn == TCP_ECN_ACCURATE)
        accecn_reacted(weir, c);
}

void tcp_ecn_undone(struct tcp_conn *c)
{
    if (c->ecn < TCP_ECN_CLASSIC || !c->flow)
        return;
    c->ecn_cwr = 0;
    c->flow->ecn_round = false;
    settle(c);
}

// --- looking ---------------------------------------------------------------------------------------------------------

bool tcp_ecn_keeps_extra(const struct tcp_conn *c)
{
    return c->ecn == TCP_ECN_ACCURATE || (WEIR_CFG_TCP_INFO && (c->extra->ce_received || c->extra->ce_delivered));
}
uint32_t tcp_ecn_received_ce(const struct tcp_conn *c) { return c->extra ? c->extra->ce_received : 0; }
uint32_t tcp_ecn_delivered_ce(const struct tcp_conn *c) { return c->extra ? c->extra->ce_delivered : 0; }

// --- options ---------------------------------------------------------------------------------------------------------

void tcp_ecn_default(const struct weir *weir, struct tcp_conn *c) { c->ecn = weir->tcp.ecn & 3u; }

// Once a connection is being made it is too late.
int tcp_ecn_set(struct sock *sock, int32_t value)
{
    if (value == WEIR_ECN_ACCURATE && !WEIR_CFG_TCP_ACCECN)
        return WEIR_NOT_SUPPORTED;
    if (sock->kind == SOCK_LISTENER) {
        ((struct tcp_listener *)sock)->ecn = (uint8_t)(value - 1);
        return WEIR_OK;
    }
    struct tcp_conn *c = (struct tcp_conn *)sock;
    if (c->state != WEIR_TCP_CLOSED || c->remote.port)
        return WEIR_CONNECTED;
    c->ecn = (uint32_t)(value - 1) & 3u;
    return WEIR_OK;
}

int tcp_ecn_get(const struct sock *sock, int32_t *value)
{
    *value = 1 + (sock->kind == SOCK_LISTENER ? ((const struct tcp_listener *)sock)->ecn
                                              : ((const struct tcp_conn *)sock)->ecn);
    return WEIR_OK;
}
