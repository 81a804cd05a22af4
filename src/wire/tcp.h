// SPDX-License-Identifier: BSD-2-Clause
// TCP header and options (RFC 9293 §3.1, §3.2; RFC 7323; RFC 2018; RFC 5482; RFC 9768).
#ifndef WIRE_TCP_H
#define WIRE_TCP_H

#include "base/bytes.h"
#include "weir/options.h"

#define TCP_BYTES 20u
#define TCP_OPTIONS_MAX 40u
enum tcp_flag {
    TCP_FIN = 1,
    TCP_SYN = 2,
    TCP_RST = 4,
    TCP_PSH = 8,
    TCP_ACK = 16,
    TCP_URG = 32,
    TCP_ECE = 64,
    TCP_CWR = 128
};
enum tcp_option_kind {
    TCP_OPTION_END = 0,
    TCP_OPTION_NOP = 1,
    TCP_OPTION_MSS = 2,
    TCP_OPTION_WINDOW_SCALE = 3,
    TCP_OPTION_SACK_PERMITTED = 4,
    TCP_OPTION_SACK = 5,
    TCP_OPTION_TIMESTAMPS = 8,
    TCP_OPTION_USER_TIMEOUT = 28,
    TCP_OPTION_ACCECN_0 = 172,  // the counters in the order ECT(0), CE, ECT(1)
    TCP_OPTION_ACCECN_1 = 174   // the counters in the order ECT(1), CE, ECT(0)
};
enum tcp_option_seen {
    TCP_SEEN_MSS = 1,
    TCP_SEEN_WINDOW_SCALE = 2,
    TCP_SEEN_SACK_PERMITTED = 4,
    TCP_SEEN_TIMESTAMPS = 8,
    TCP_SEEN_USER_TIMEOUT = 16,
    TCP_SEEN_BAD = 32,
    TCP_SEEN_ACCECN = 64
};

struct tcp_sack_block {
    uint32_t left, right;  // [left, right)
};

// The option of RFC 9768 §3.2.3: how many bytes of payload came with each codepoint of the IP header, modulo 2^24.
struct tcp_accecn_option {
    uint8_t kind;    // TCP_OPTION_ACCECN_0 or _1
    uint8_t fields;  // 0 to 3 of them, in the kind's order; the others are meaningless
    uint32_t ect0, ce, ect1;
};
#define TCP_ACCECN_MASK 0xffffffu
static inline bool tcp_accecn_has_ect0(const struct tcp_accecn_option *o)
{
    return o->fields >= (o->kind == TCP_OPTION_ACCECN_0 ? 1 : 3);
}
static inline bool tcp_accecn_has_ect1(const struct tcp_accecn_option *o)
{
    return o->fields >= (o->kind == TCP_OPTION_ACCECN_0 ? 3 : 1);
}
static inline bool tcp_accecn_has_ce(const struct tcp_accecn_option *o) { return o->fields >= 2; }
// Bytes of header that the option takes with so many fields, padding included.
static inline uint32_t tcp_accecn_bytes(uint32_t fields) { return (2 + 3 * fields + 3) & ~3u; }

// What the options say. `seen` tells which fields are meaningful.
struct tcp_options {
    uint8_t seen;          // enum tcp_option_seen
    uint8_t window_scale;  // as sent; above 14 the caller takes 14 (RFC 7323 §2.3)
    uint8_t sack_count;    // 0 to 4
    uint16_t mss;
    uint16_t user_timeout;  // the option's 16 bits: granularity and value
    uint32_t ts_value, ts_echo;
    struct tcp_sack_block sack[4];
#if WEIR_CFG_TCP_ACCECN
    struct tcp_accecn_option accecn;
#endif
};

#define TCP_TIMESTAMPS_ALIGNED 0x0101080au  // NOP, NOP, timestamps of 10 bytes: RFC 7323 appendix A
#define TCP_TIMESTAMPS_ALIGNED_BYTES 12u
#define TCP_TIMESTAMPED_BYTES (TCP_BYTES + TCP_TIMESTAMPS_ALIGNED_BYTES)  // of a header without another option

// The options of most SYNs, in the order in which we and many others write them: MSS, SACK permitted, timestamps, NOP,
// window scale.
#define TCP_SEEN_SYN_ALIGNED (TCP_SEEN_MSS | TCP_SEEN_SACK_PERMITTED | TCP_SEEN_WINDOW_SCALE | TCP_SEEN_TIMESTAMPS)
#define TCP_SYN_ALIGNED_BYTES 20u
#define TCP_SACK_PERMITTED_ALIGNED \
    ((uint32_t)TCP_OPTION_SACK_PERMITTED << 24 | 2u << 16 | (TCP_TIMESTAMPS_ALIGNED & 0xffffu))

// A segment, in host order. `ack` is meaningless without TCP_ACK.
struct tcp_segment {
    uint32_t seq, ack;
    uint16_t source, destination, window, urgent;
    uint8_t flags, header_length;
    bool accurate;    // the flag AE (RFC 9768), which has no place in `flags`
    uint32_t length;  // payload bytes
    struct tcp_options options;
};
// `length`: bytes at hand from the header on. Fills everything but options (seen = 0, sack_count = 0) unless there are
// any. false: data offset below 5 or beyond the bytes at hand. A malformed option sets TCP_SEEN_BAD and ends the walk;
// what was understood before it stands. A lone aligned timestamp option takes a fast path.
bool tcp_parse(const uint8_t *bytes, uint32_t length, struct tcp_segment *out);
// Writes the fixed header; checksum field zero. header_length must hold the whole length.
void tcp_emit(uint8_t bytes[TCP_BYTES], const struct tcp_segment *segment);
#if WEIR_CFG_FAST_PATH
// A SYN's options are all built in: MSS, SACK permitted and timestamps, window scale.
#define TCP_SYN_ALIGNED (WEIR_CFG_TCP_TIMESTAMPS && WEIR_CFG_TCP_SACK && WEIR_CFG_TCP_WINDOW_SCALE)
#define TCP_SYN_BYTES (TCP_BYTES + TCP_SYN_ALIGNED_BYTES)
// Writes a SYN or SYN-ACK with these options and no others, its checksum too: pseudo_sum is in host order, without the
// length.
void tcp_emit_syn(uint8_t *bytes, const struct tcp_segment *syn, uint32_t pseudo_sum);
#endif
// Writes options for a SYN (MSS, window scale, SACK permitted, timestamps: as `seen` asks) or another segment
// (timestamps, AccECN, SACK blocks), padded with NOPs to a multiple of 4. Returns bytes written, at most 40.
uint32_t tcp_options_emit(uint8_t *bytes, const struct tcp_options *options);

#endif
