// SPDX-License-Identifier: BSD-2-Clause
// Accurate ECN feedback (RFC 9768): what a connection that agreed on it counts, and what src/tcp/ecn.c asks of
// accecn.c. Names are the RFC's but for r.cep and s.cep, the packets marked, which are the CE counters every ECN
// connection has (struct tcp_extra) and 5.
#ifndef TCP_ACCECN_H
#define TCP_ACCECN_H

#include "wire/tcp.h"

struct flight_delta;
struct packet;
struct tcp_conn;
struct weir;

#define ACCECN_CEP_FIRST 5u  // §3.2.1: what the counters begin with
#define ACCECN_E0B_FIRST 1u
#define ACCECN_E1B_FIRST 1u

struct accecn {
    struct {
        uint32_t e0b, ceb, e1b;  // bytes of payload that came as ECT(0), CE and ECT(1)
    } r;
    struct {
        uint32_t e0b, ceb, e1b;  // bytes of ours that came so, as the peer told them, modulo 2^24
    } s;
    struct {
        uint32_t e0b, ceb, e1b;  // r as our last option told it
    } told;
    uint32_t estimated;  // bytes of ours thought marked since the peer's last option
    uint8_t unacked_ce;  // packets marked since our last ACK
    uint8_t strikes;     // ACKs that told of marked bytes and of no packets
    uint8_t
        all_marked;  // rounds at the beginning in which every packet was marked; ACCECN_TESTED: there was one without
    uint8_t lost_options;    // ACKs with an option that seem not to have arrived
    uint8_t last_codepoint;  // of what came last
    uint8_t shake;           // ACE of the ACK that ends the handshake, while it is due; 0: it left
    bool syn_marked;         // our SYN, says the peer, came marked
    bool heard;              // the peer's ACE field was looked at for the first time
    bool deaf;               // what the peer's field says is not to be believed: no reaction
    bool options_ignored;    // the peer's options began with zeros
    bool options_off;        // ours do not get through
    bool option_left;        // our last ACK had one
    bool first_data;         // no data was sent yet: the first has an option
};

// The number in the flags AE, CWR, ECE.
static inline uint32_t accecn_ace(const struct tcp_segment *segment)
{
    return (uint32_t)segment->accurate << 2 | segment->flags >> 6;
}
static inline void accecn_set_ace(struct tcp_segment *segment, uint32_t ace)
{
    segment->flags = (uint8_t)((segment->flags & ~(TCP_ECE | TCP_CWR)) | (ace & 3) << 6);
    segment->accurate = ace >> 2 & 1;
}

#if WEIR_CFG_TCP_ACCECN
// Tables 2 and 3: the ACE that tells the codepoint of a SYN, or of a SYN-ACK.
static inline uint32_t accecn_shake(uint32_t codepoint)
{
    return 0x6432u >> 4 * (codepoint & 3) & 7;  // of Not-ECT, ECT(1), ECT(0), CE: 2, 3, 4, 6
}
// The counters as they begin, for a SYN-ACK.
static inline void accecn_first_option(struct tcp_options *options)
{
    options->seen |= TCP_SEEN_ACCECN;
    options->accecn = (struct tcp_accecn_option){
        .kind = TCP_OPTION_ACCECN_0, .fields = 3, .ect0 = ACCECN_E0B_FIRST, .ect1 = ACCECN_E1B_FIRST};
}
bool accecn_begin(struct weir *weir, struct tcp_conn *c);  // false: no memory
// Server: the bare ACK that ends the handshake (Table 4). Client: the SYN-ACK (Table 2), and when the connection
// stands.
void accecn_handshake_done(struct weir *weir, struct tcp_conn *c, const struct tcp_segment *ack);
void accecn_agreed(struct weir *weir, struct tcp_conn *c, const struct packet *packet,
                   const struct tcp_segment *syn_ack);
void accecn_established(struct weir *weir, struct tcp_conn *c);
void accecn_syn_ack_again(struct tcp_conn *c, const struct packet *packet);
// the first that may have one
void accecn_option_heard(struct weir *weir, struct tcp_conn *c, const struct tcp_options *options);
void accecn_stamp(struct tcp_conn *c, struct tcp_segment *segment);
void accecn_left(struct tcp_conn *c, const struct tcp_segment *segment, bool again);
uint32_t accecn_next_ace(const struct tcp_conn *c);
void accecn_input(struct weir *weir, struct tcp_conn *c, const struct packet *packet,
                  const struct tcp_segment *segment);
void accecn_duplicate(struct weir *weir, struct tcp_conn *c);  // what came was there already: our ACK of it was lost
bool accecn_ack(struct weir *weir, struct tcp_conn *c, const struct tcp_segment *segment, struct flight_delta *delta);
void accecn_reacted(struct weir *weir, struct tcp_conn *c);
bool accecn_shake_due(const struct tcp_conn *c);  // the bare ACK of the SYN-ACK: before any data (§3.2.2.1)
// Adds the option that goes with the next segment, of `payload` bytes. Returns how many bytes of header it takes; 0:
// none does.
uint32_t accecn_option(const struct tcp_conn *c, uint32_t payload, bool again, struct tcp_options *options);
#else
static inline uint32_t accecn_shake(uint32_t codepoint) { return (void)codepoint, 0; }
static inline void accecn_first_option(struct tcp_options *options) { (void)options; }
static inline bool accecn_begin(struct weir *weir, struct tcp_conn *c) { return (void)weir, (void)c, true; }
static inline void accecn_handshake_done(struct weir *weir, struct tcp_conn *c, const struct tcp_segment *ack)
{
    (void)weir, (void)c, (void)ack;
}
static inline void accecn_agreed(struct weir *weir, struct tcp_conn *c, const struct packet *packet,
                                 const struct tcp_segment *syn_ack)
{
    (void)weir, (void)c, (void)packet, (void)syn_ack;
}
static inline void accecn_established(struct weir *weir, struct tcp_conn *c) { (void)weir, (void)c; }
static inline void accecn_syn_ack_again(struct tcp_conn *c, const struct packet *packet) { (void)c, (void)packet; }
static inline void accecn_option_heard(struct weir *weir, struct tcp_conn *c, const struct tcp_options *options)
{
    (void)weir, (void)c, (void)options;
}
static inline void accecn_stamp(struct tcp_conn *c, struct tcp_segment *segment) { (void)c, (void)segment; }
static inline void accecn_left(struct tcp_conn *c, const struct tcp_segment *segment, bool again)
{
    (void)c, (void)segment, (void)again;
}
static inline uint32_t accecn_next_ace(const struct tcp_conn *c) { return (void)c, 0; }
static inline void accecn_input(struct weir *weir, struct tcp_conn *c, const struct packet *packet,
                                const struct tcp_segment *segment)
{
    (void)weir, (void)c, (void)packet, (void)segment;
}
static inline void accecn_duplicate(struct weir *weir, struct tcp_conn *c) { (void)weir, (void)c; }
static inline bool accecn_ack(struct weir *weir, struct tcp_conn *c, const struct tcp_segment *segment,
                              struct flight_delta *delta)
{
    return (void)weir, (void)c, (void)segment, (void)delta, false;
}
static inline void accecn_reacted(struct weir *weir, struct tcp_conn *c) { (void)weir, (void)c; }
static inline bool accecn_shake_due(const struct tcp_conn *c) { return (void)c, false; }
static inline uint32_t accecn_option(const struct tcp_conn *c, uint32_t payload, bool again,
                                     struct tcp_options *options)
{
    return (void)c, (void)payload, (void)again, (void)options, 0;
}
#endif

#endif
