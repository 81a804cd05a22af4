// SPDX-License-Identifier: BSD-2-Clause
// Bare segments: a SYN, a FIN or an ACK of a connection that has nothing to send and nothing to read. Most of what a sender keeps is for
// data: of a SYN or FIN that is alone on its way, and left once, the sequence numbers tell all but when. So it needs no flow: the time
// stands where its deadline would, and the deadline is worked out only when somebody asks (as with TCP_WAIT_LAZY). Whoever wants to know
// more than that it was acknowledged has the flow made from it (tcp_conn_attach); so whatever happens to it, all goes on as if it had been
// there from the start.
#ifndef TCP_BARE_H
#define TCP_BARE_H

#include "tcp/internal.h"

#if WEIR_CFG_FAST_PATH
// A SYN's options, where all of them are built in: MSS, SACK permitted and timestamps, window scale.
#define TCP_BARE_SYN (WEIR_CFG_TCP_TIMESTAMPS && WEIR_CFG_TCP_SACK && WEIR_CFG_TCP_WINDOW_SCALE)
#define TCP_BARE_SYN_BYTES (TCP_BYTES + TCP_SYN_USUAL_BYTES)
// A SYN, or SYN-ACK, with these and nothing else.
static inline bool tcp_bare_syn(const struct tcp_segment *segment)
{
    return TCP_BARE_SYN && segment->flags & TCP_SYN && segment->options.seen == TCP_SEEN_USUAL_SYN && !segment->accurate;
}
void tcp_bare_write_syn(uint8_t *bytes, const struct weir_endpoint *local, const struct weir_endpoint *remote,
                        const struct tcp_segment *syn);
// A SYN or FIN is on its way that has no flow. (Nothing else can be without one.)
static inline bool tcp_bare(const struct tcp_conn *c) { return !c->flow && c->snd.una != c->snd.nxt; }
// Its round trip when it is acknowledged now, with the resolution of a flight log.
static inline uint32_t tcp_bare_rtt(const struct weir *weir, const struct tcp_conn *c)
{
    return max_u32(weir->now - flight_time(c->deadline[TCP_TIMER_SEND]), 1);
}
// A turn on the output list with nothing but such to send, all of it sent. false: it is not such a turn, nothing was done.
bool tcp_bare_turn(struct weir *weir, struct tcp_conn *c, enum weir_tx_verdict *verdict);
// The segment acknowledges it and says nothing else. false: it is not such a segment, nothing was done.
bool tcp_bare_acked(struct weir *weir, struct tcp_conn *c, const struct tcp_segment *segment);
// An ACK or FIN without data, next in order, that a connection without data expects: what the steps of input.c come to for it. false: it is
// not such a segment, nothing was done.
bool tcp_bare_input(struct weir *weir, struct tcp_conn *c, const struct packet *packet, const struct tcp_segment *segment);
enum tcp_verdict tcp_bare_ack(struct weir *weir, struct tcp_conn *c, const struct tcp_segment *segment);  // ack.c: its ACK and window
#else
#define TCP_BARE_SYN_BYTES 0u
static inline bool tcp_bare_syn(const struct tcp_segment *segment) { return (void)segment, false; }
static inline void tcp_bare_write_syn(uint8_t *bytes, const struct weir_endpoint *local, const struct weir_endpoint *remote,
                                      const struct tcp_segment *syn)
{
    (void)bytes, (void)local, (void)remote, (void)syn;
}
static inline bool tcp_bare(const struct tcp_conn *c) { return (void)c, false; }
static inline uint32_t tcp_bare_rtt(const struct weir *weir, const struct tcp_conn *c) { return (void)weir, (void)c, 1; }
static inline bool tcp_bare_turn(struct weir *weir, struct tcp_conn *c, enum weir_tx_verdict *verdict)
{
    return (void)weir, (void)c, (void)verdict, false;
}
static inline bool tcp_bare_acked(struct weir *weir, struct tcp_conn *c, const struct tcp_segment *segment)
{
    return (void)weir, (void)c, (void)segment, false;
}
static inline bool tcp_bare_input(struct weir *weir, struct tcp_conn *c, const struct packet *packet, const struct tcp_segment *segment)
{
    return (void)weir, (void)c, (void)packet, (void)segment, false;
}
#endif

#endif
