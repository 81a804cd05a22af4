// SPDX-License-Identifier: BSD-2-Clause
// Explicit congestion notification: a router marks a packet in place of dropping it, the receiver tells the sender, the
// sender slows down. Classic feedback (RFC 3168) is one bit, ECE, in every ACK until the sender answers with CWR: it
// tells of one mark a round trip. Accurate feedback (RFC 9768, accecn.h) is a counter. Here is what the rest of TCP
// asks of both.
//
// Only new data goes as ECT(0): neither SYN, nor ACKs, nor probes, nor what is sent again (RFC 3168 §6.1.4 to 6.1.6).
// The low bits of a connection's tos are what new data gets. A mark is answered as a loss without a loss: WEIR_CC_ECN,
// once for all that was outstanding then, and never beside a reduction for a loss in the same window.
#ifndef TCP_ECN_H
#define TCP_ECN_H

#include "tcp/listen.h"

// A SYN without an answer goes once more with the flags; the third, and what follows, goes without (RFC 9768 §3.1.4.1:
// a network that drops it for the flags is rarer than one that drops it for want of room). Likewise the SYN-ACK
// (§3.2.3.2.2).
#define ECN_TRIES 2u

#define ACE_ECE 1u  // flags as a number: accecn_ace
#define ACE_CWR 2u

#if WEIR_CFG_TCP_ECN
// --- handshake ---
// What a listener that wants `asked` agrees on with a first SYN.
struct tcp_ecn_open tcp_ecn_offered(uint8_t asked, const struct packet *packet, const struct tcp_segment *syn);
// Another SYN for the same. false: it contradicts the first, the connection is to be reset (RFC 9768 §3.1.5).
bool tcp_ecn_offered_again(struct tcp_ecn_open *open, uint8_t asked, const struct packet *packet,
                           const struct tcp_segment *syn);
// Flags of the SYN-ACK, and an option in the first one; or of a bare ACK before the handshake is done. `unanswered`:
// SYN-ACKs that timed out.
void tcp_ecn_answer(struct tcp_ecn_open *open, uint32_t unanswered, bool first, struct tcp_segment *segment);
// A connection begins with what was agreed; false: no memory. Then comes the ACK that ended the handshake.
bool tcp_ecn_begin(struct weir *weir, struct tcp_conn *c, struct tcp_ecn_open open);
void tcp_ecn_handshake_done(struct weir *weir, struct tcp_conn *c, const struct tcp_segment *ack);
// Active open: the peer's SYN-ACK or (simultaneous open) SYN; and when the connection stands.
void tcp_ecn_agree(struct weir *weir, struct tcp_conn *c, const struct packet *packet,
                   const struct tcp_segment *segment);
void tcp_ecn_established(struct weir *weir, struct tcp_conn *c);
// A SYN-ACK again, for a connection that had it: its ACK tells what codepoint this one had.
void tcp_ecn_syn_ack_again(struct tcp_conn *c, const struct packet *packet, const struct tcp_segment *segment);
// The bare ACK of a SYN cookie tells by its ACE field that accurate feedback was agreed on (RFC 9768 §5.1).
static inline bool tcp_ecn_cookie_accurate(const struct tcp_segment *ack) { return accecn_ace(ack) >= 2; }
// Of a SYN-ACK in SYN-RECEIVED: its ECN flags belong to the handshake, what follows shall not read them.
static inline void tcp_ecn_forget_flags(struct tcp_segment *segment)
{
    segment->flags &= (uint8_t) ~(TCP_ECE | TCP_CWR);
    segment->accurate = false;
}
static inline uint8_t tcp_ecn_wants(const struct tcp_listener *listener) { return listener->ecn; }
static inline void tcp_ecn_bequeath(const struct tcp_conn *c, struct tcp_listener *listener) { listener->ecn = c->ecn; }
static inline bool tcp_ecn_accurate(const struct tcp_conn *c) { return c->ecn == TCP_ECN_ACCURATE; }
// nothing was agreed on, or asked for
static inline bool tcp_ecn_silent(const struct tcp_conn *c) { return c->ecn < TCP_ECN_CLASSIC; }
static inline bool tcp_ecn_agreed(const struct tcp_conn *c)
{
    return c->state >= WEIR_TCP_ESTABLISHED && c->ecn >= TCP_ECN_CLASSIC;
}
int tcp_ecn_set(struct sock *sock, int32_t value);  // WEIR_OPTION_ECN
int tcp_ecn_get(const struct sock *sock, int32_t *value);
void tcp_ecn_default(const struct weir *weir, struct tcp_conn *c);
// What sockets of an instance want: enum weir_ecn, 0 what is built in.
static inline uint8_t tcp_ecn_wanted(uint8_t asked)
{
    const uint32_t most = WEIR_CFG_TCP_ACCECN ? TCP_ECN_ACCURATE : TCP_ECN_CLASSIC;
    return (uint8_t)min_u32((asked ? asked : WEIR_CFG_TCP_ECN_MODE) - 1u, most);
}

// --- what leaves ---
uint8_t tcp_ecn_stamp_marked(struct weir *weir, struct tcp_conn *c, struct tcp_segment *segment, bool again);
static inline uint8_t tcp_ecn_tos_bare(const struct tcp_conn *c) { return c->tos & (uint8_t)~TCP_ECN_BITS; }
// Sets the ECN flags of a segment, otherwise complete, of segment->length bytes of data; returns its tos. `again`: it
// was sent before.
static inline uint8_t tcp_ecn_stamp(struct weir *weir, struct tcp_conn *c, struct tcp_segment *segment, bool again)
{
    segment->accurate = false;
    return c->ecn < TCP_ECN_CLASSIC ? c->tos : tcp_ecn_stamp_marked(weir, c, segment, again);
}
void tcp_ecn_left_marked(struct tcp_conn *c, const struct tcp_segment *segment, bool again);
// The link took it.
static inline void tcp_ecn_left(struct tcp_conn *c, const struct tcp_segment *segment, bool again)
{
    if (c->attention & ATTEND_ECN)
        tcp_ecn_left_marked(c, segment, again);
}
// The next segment has CWR set, which devices that cut large ones put on the first piece alone: it must not be cut.
bool tcp_ecn_no_tso_marked(const struct tcp_conn *c);
static inline bool tcp_ecn_no_tso(const struct tcp_conn *c)
{
    return c->attention & ATTEND_ECN && tcp_ecn_no_tso_marked(c);
}

// The option of accurate feedback. Returns how many bytes of header it takes.
static inline uint32_t tcp_ecn_option(const struct tcp_conn *c, uint32_t payload, bool again,
                                      struct tcp_options *options)
{
    return c->ecn == TCP_ECN_ACCURATE ? accecn_option(c, payload, again, options) : 0;
}
// A bare ACK is due before any data.
static inline bool tcp_ecn_ack_first(const struct tcp_conn *c)
{
    return c->attention & ATTEND_ECN && c->ecn == TCP_ECN_ACCURATE && c->state >= WEIR_TCP_ESTABLISHED &&
           accecn_shake_due(c);
}

// --- what comes ---
void tcp_ecn_input_marked(struct weir *weir, struct tcp_conn *c, const struct packet *packet,
                          const struct tcp_segment *segment);
// An acceptable segment.
static inline void tcp_ecn_input(struct weir *weir, struct tcp_conn *c, const struct packet *packet,
                                 const struct tcp_segment *segment)
{
    if (c->ecn >= TCP_ECN_CLASSIC)
        tcp_ecn_input_marked(weir, c, packet, segment);
}
// A segment that was there already.
static inline void tcp_ecn_duplicate(struct weir *weir, struct tcp_conn *c)
{
    if (c->ecn == TCP_ECN_ACCURATE)
        accecn_duplicate(weir, c);
}
// Whether header prediction must leave the packet alone.
static inline bool tcp_ecn_unusual(const struct tcp_conn *c, const struct packet *packet)
{
    return (packet->tos & TCP_ECN_BITS) == TCP_CE && c->ecn >= TCP_ECN_CLASSIC;
}
bool tcp_ecn_ack_marked(struct weir *weir, struct tcp_conn *c, const struct tcp_segment *segment,
                        struct flight_delta *delta);
// What an ACK that is not overtaken feeds back: delta->ce. true: there was a mark; tcp_ecn_react follows when losses
// were looked for.
static inline bool tcp_ecn_ack(struct weir *weir, struct tcp_conn *c, const struct tcp_segment *segment,
                               struct flight_delta *delta)
{
    return c->ecn >= TCP_ECN_CLASSIC && (c->attention & ATTEND_ECN || segment->flags & TCP_ECE) &&
           tcp_ecn_ack_marked(weir, c, segment, delta);
}

// --- the sender's answer ---
void tcp_ecn_react(struct weir *weir, struct tcp_conn *c, uint32_t prior_inflight);
void tcp_ecn_reduced_now(struct tcp_conn *c);
// The window was reduced for a loss: marks on what is outstanding now ask for no more.
static inline void tcp_ecn_reduced(struct tcp_conn *c)
{
    if (c->ecn >= TCP_ECN_CLASSIC && c->state >= WEIR_TCP_ESTABLISHED)  // before, it is only asked for
        tcp_ecn_reduced_now(c);
}
void tcp_ecn_undone(struct tcp_conn *c);  // the loss that reduced the window was none
// A mark reduced the window, and what was outstanding then is not all acknowledged: a loss in it asks for no more.
static inline bool tcp_ecn_reducing(const struct tcp_conn *c)
{
    return c->attention & ATTEND_ECN && c->flow && c->flow->ecn_round && c->flow->ecn_marked &&
           seq_le(c->snd.una, c->flow->ecn_recover);
}

bool tcp_ecn_keeps_extra(const struct tcp_conn *c);
uint32_t tcp_ecn_received_ce(const struct tcp_conn *c);
uint32_t tcp_ecn_delivered_ce(const struct tcp_conn *c);
#else
static inline struct tcp_ecn_open tcp_ecn_offered(uint8_t asked, const struct packet *packet,
                                                  const struct tcp_segment *syn)
{
    (void)asked, (void)packet, (void)syn;
    return (struct tcp_ecn_open){0};
}
static inline bool tcp_ecn_offered_again(struct tcp_ecn_open *open, uint8_t asked, const struct packet *packet,
                                         const struct tcp_segment *syn)
{
    return (void)open, (void)asked, (void)packet, (void)syn, true;
}
static inline void tcp_ecn_answer(struct tcp_ecn_open *open, uint32_t unanswered, bool first,
                                  struct tcp_segment *segment)
{
    (void)open, (void)unanswered, (void)first, (void)segment;
}
static inline bool tcp_ecn_begin(struct weir *weir, struct tcp_conn *c, struct tcp_ecn_open open)
{
    return (void)weir, (void)c, (void)open, true;
}
static inline void tcp_ecn_handshake_done(struct weir *weir, struct tcp_conn *c, const struct tcp_segment *ack)
{
    (void)weir, (void)c, (void)ack;
}
static inline void tcp_ecn_agree(struct weir *weir, struct tcp_conn *c, const struct packet *packet,
                                 const struct tcp_segment *segment)
{
    (void)weir, (void)c, (void)packet, (void)segment;
}
static inline void tcp_ecn_established(struct weir *weir, struct tcp_conn *c) { (void)weir, (void)c; }
static inline void tcp_ecn_syn_ack_again(struct tcp_conn *c, const struct packet *packet,
                                         const struct tcp_segment *segment)
{
    (void)c, (void)packet, (void)segment;
}
static inline void tcp_ecn_forget_flags(struct tcp_segment *segment) { (void)segment; }
static inline bool tcp_ecn_cookie_accurate(const struct tcp_segment *ack) { return (void)ack, false; }
static inline uint8_t tcp_ecn_wants(const struct tcp_listener *listener) { return (void)listener, TCP_ECN_OFF; }
static inline void tcp_ecn_bequeath(const struct tcp_conn *c, struct tcp_listener *listener)
{
    (void)c, (void)listener;
}
static inline bool tcp_ecn_accurate(const struct tcp_conn *c) { return (void)c, false; }
static inline bool tcp_ecn_silent(const struct tcp_conn *c) { return (void)c, true; }
static inline bool tcp_ecn_agreed(const struct tcp_conn *c) { return (void)c, false; }
static inline int tcp_ecn_set(struct sock *sock, int32_t value) { return (void)sock, (void)value, WEIR_NOT_SUPPORTED; }
static inline int tcp_ecn_get(const struct sock *sock, int32_t *value)
{
    return (void)sock, (void)value, WEIR_NOT_SUPPORTED;
}
static inline void tcp_ecn_default(const struct weir *weir, struct tcp_conn *c) { (void)weir, (void)c; }
static inline uint8_t tcp_ecn_wanted(uint8_t asked) { return (void)asked, TCP_ECN_OFF; }
static inline uint32_t tcp_ecn_option(const struct tcp_conn *c, uint32_t payload, bool again,
                                      struct tcp_options *options)
{
    return (void)c, (void)payload, (void)again, (void)options, 0;
}
static inline bool tcp_ecn_ack_first(const struct tcp_conn *c) { return (void)c, false; }
static inline uint8_t tcp_ecn_tos_bare(const struct tcp_conn *c) { return c->tos; }
static inline uint8_t tcp_ecn_stamp(struct weir *weir, struct tcp_conn *c, struct tcp_segment *segment, bool again)
{
    (void)weir, (void)again;
    segment->accurate = false;
    return c->tos;
}
static inline void tcp_ecn_left(struct tcp_conn *c, const struct tcp_segment *segment, bool again)
{
    (void)c, (void)segment, (void)again;
}
static inline bool tcp_ecn_no_tso(const struct tcp_conn *c) { return (void)c, false; }
static inline void tcp_ecn_input(struct weir *weir, struct tcp_conn *c, const struct packet *packet,
                                 const struct tcp_segment *segment)
{
    (void)weir, (void)c, (void)packet, (void)segment;
}
static inline void tcp_ecn_duplicate(struct weir *weir, struct tcp_conn *c) { (void)weir, (void)c; }
static inline bool tcp_ecn_unusual(const struct tcp_conn *c, const struct packet *packet)
{
    return (void)c, (void)packet, false;
}
static inline bool tcp_ecn_ack(struct weir *weir, struct tcp_conn *c, const struct tcp_segment *segment,
                               struct flight_delta *delta)
{
    return (void)weir, (void)c, (void)segment, (void)delta, false;
}
static inline void tcp_ecn_react(struct weir *weir, struct tcp_conn *c, uint32_t prior_inflight)
{
    (void)weir, (void)c, (void)prior_inflight;
}
static inline void tcp_ecn_reduced(struct tcp_conn *c) { (void)c; }
static inline void tcp_ecn_undone(struct tcp_conn *c) { (void)c; }
static inline bool tcp_ecn_reducing(const struct tcp_conn *c) { return (void)c, false; }
static inline bool tcp_ecn_keeps_extra(const struct tcp_conn *c) { return (void)c, false; }
static inline uint32_t tcp_ecn_received_ce(const struct tcp_conn *c) { return (void)c, 0; }
static inline uint32_t tcp_ecn_delivered_ce(const struct tcp_conn *c) { return (void)c, 0; }
#endif

#endif
