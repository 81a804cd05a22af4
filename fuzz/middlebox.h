// SPDX-License-Identifier: BSD-2-Clause
// A middlebox that knows the numbers, for the fuzzer hostile.c: what it learns of a conversation from the segments
// that pass, and how it makes and changes segments, with a dictionary of boundary values. It lies about everything
// but payload: see `pattern`.
#ifndef FUZZ_MIDDLEBOX_H
#define FUZZ_MIDDLEBOX_H

#include "base/checksum.h"
#include "fuzz.h"
#include "wire/ip4.h"
#include "wire/tcp.h"

#define PACKET_MAX 1500u

// Every byte of a stream is told by its sequence number, in honest segments as in forged ones, so that no lie about
// numbers makes the check of what arrives void. The pattern repeats after PATTERN_BYTES; no stream is longer than
// STREAM_MAX.
#define PATTERN_BYTES 0x20000u
#define STREAM_MAX 100000u
static uint8_t pattern[2 * PATTERN_BYTES];

static inline void pattern_make(void)
{
    uint32_t random = 0x2545f491;
    for (uint32_t i = 0; i < PATTERN_BYTES; i++) {
        random ^= random << 13;
        random ^= random >> 17;
        random ^= random << 5;
        pattern[i] = pattern[i + PATTERN_BYTES] = (uint8_t)(random >> 11);
    }
}
// At most PATTERN_BYTES of stream `stream`, from sequence number `seq` on.
static inline const uint8_t *pattern_at(uint32_t stream, uint32_t seq)
{
    return pattern + ((seq + stream * 0x3779u) & (PATTERN_BYTES - 1));
}

// What passed of one end's, and what was told to it.
struct known {
    uint32_t iss, nxt, max;   // nxt: after the newest segment it sent, max: after the highest
    uint32_t una;             // the newest ACK that was delivered to it
    uint32_t expected, edge;  // RCV.NXT and the window's right edge, as it last said
    uint32_t ts_value, ts_recent;
    uint32_t sack_left, sack_right;  // the first block it last told
    uint16_t window, mss;
    uint8_t scale;
    bool seen, timestamps, scaling;
};

static inline uint32_t segment_end(const struct tcp_segment *s)
{
    return s->seq + s->length + !!(s->flags & TCP_SYN) + !!(s->flags & TCP_FIN);
}

static inline void learn_sent(struct known *k, const struct tcp_segment *s)
{
    const uint32_t end = segment_end(s);
    if (s->flags & TCP_RST)
        return;
    if (s->flags & TCP_SYN) {
        k->iss = s->seq;
        k->max = end;
        k->scaling = s->options.seen & TCP_SEEN_WINDOW_SCALE;
        k->scale = k->scaling ? s->options.window_scale & 15 : 0;
        k->mss = s->options.seen & TCP_SEEN_MSS ? s->options.mss : 536;
        k->timestamps = s->options.seen & TCP_SEEN_TIMESTAMPS;
        k->seen = true;
    }
    k->nxt = end;
    k->max = seq_max(k->max, end);
    k->window = s->window;
    if (s->flags & TCP_ACK) {
        k->expected = s->ack;
        k->edge = s->ack + ((uint32_t)s->window << (s->flags & TCP_SYN ? 0 : k->scale));
    }
    if (s->options.seen & TCP_SEEN_TIMESTAMPS)
        k->ts_value = s->options.ts_value;
    if (s->options.sack_count) {
        k->sack_left = s->options.sack[0].left;
        k->sack_right = s->options.sack[0].right;
    }
}

static inline void learn_delivered(struct known *k, const struct tcp_segment *s)
{
    if (s->flags & TCP_ACK)
        k->una = s->ack;
    if (s->options.seen & TCP_SEEN_TIMESTAMPS)
        k->ts_recent = s->options.ts_value;
}

// A number at, beside, or half the number space away from one that means something to the end `k`, whose peer is
// `p`.
static inline uint32_t boundary(struct bytes *in, const struct known *k, const struct known *p)
{
    const uint8_t choice = take8(in);
    const uint32_t bases[16] = {
        k->una,      k->nxt,       k->max,       k->expected,   k->edge, k->iss, p->iss,          k->ts_value,
        p->ts_value, k->ts_recent, k->sack_left, k->sack_right, p->edge, p->max, k->una + k->mss, 0};
    static const uint32_t steps[13] = {0,          1,          UINT32_MAX, 0x80000000, 0x7fffffff,
                                       0x80000001, 0x7ffffffe, 0x40000000, 0xc0000000, 0x10000,
                                       0xffff0000, 2,          0xfffffffe};
    const uint32_t base = bases[choice >> 4];
    switch (choice & 15) {
    case 13: return base + (uint32_t)(int32_t)(int8_t)take8(in);
    case 14: return base + (uint32_t)(int32_t)(int16_t)take16(in);
    case 15: return (uint32_t)take16(in) << 16 | take16(in);
    default: return base + steps[choice & 15];
    }
}

// A segment in the making.
struct craft {
    struct tcp_segment s;
    uint8_t raw[TCP_OPTIONS_MAX];  // options behind those of `s`, as they are
    uint32_t raw_bytes;
    uint8_t tos;
    int8_t offset_lie;  // added to the data offset
    uint8_t cut;        // bytes missing at the end of the packet
    bool bad_sum, twice;
};

// Options as no sender writes them.
static inline void malformed_options(struct bytes *in, struct craft *c)
{
    static const uint8_t odd[16][12] = {{5, 2},
                                        {5, 3, 0},
                                        {5, 9},
                                        {5, 10, 0, 0, 0, 0},
                                        {5, 0x22},
                                        {2, 0},
                                        {2, 4, 0, 0},
                                        {2, 4, 0, 1},
                                        {2, 4, 0xff, 0xff},
                                        {3, 3, 15},
                                        {3, 3, 255},
                                        {3, 2},
                                        {8, 9},
                                        {8, 10, 0, 0, 0},
                                        {172, 11, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff},
                                        {28, 4, 0xff, 0xff}};
    const uint8_t choice = take8(in);
    uint32_t length = 1 + (choice >> 4) % 12;
    const uint8_t *bytes = odd[choice & 15];
    if (choice >= 0xc0) {
        length = take8(in) % (TCP_OPTIONS_MAX + 1);
        bytes = take(in, &length);
    }
    length = min_u32(length, TCP_OPTIONS_MAX - c->raw_bytes);
    if (length)
        memcpy(c->raw + c->raw_bytes, bytes, length);
    c->raw_bytes += length;
}

static inline void sack_blocks(struct bytes *in, struct craft *c, uint32_t count, const struct known *k,
                               const struct known *p)
{
    c->s.options.sack_count = (uint8_t)count;
    for (uint32_t i = 0; i < count; i++) {
        c->s.options.sack[i].left = boundary(in, k, p);
        c->s.options.sack[i].right = boundary(in, k, p);
    }
}

static inline void syn_options(struct bytes *in, struct craft *c, uint8_t how)
{
    static const uint16_t sizes[8] = {0, 1, 47, 48, 64, 536, 1460, 65535};
    c->s.options.seen ^= how & 3 ? TCP_SEEN_MSS : TCP_SEEN_SACK_PERMITTED;
    c->s.options.mss = sizes[how & 7];
    if (how & 8) {
        c->s.options.seen ^= TCP_SEEN_WINDOW_SCALE;
        c->s.options.window_scale = take8(in);
    }
}

// One change of a segment on its way to the end `k`.
static inline void alter(struct bytes *in, struct craft *c, const struct known *k, const struct known *p)
{
    static const uint16_t windows[16] = {0,    1,      2,      47,     255,    256,    536,    1460,
                                         4096, 0x3fff, 0x4000, 0x7fff, 0x8000, 0xfffe, 0xffff, 0};
    const uint8_t what = take8(in), how = what >> 4;
    struct tcp_options *o = &c->s.options;
    switch (what & 15) {
    case 0: c->s.seq = boundary(in, k, p); break;
    case 1: c->s.ack = boundary(in, k, p); break;
    case 2: c->s.window = how == 15 ? take16(in) : windows[how]; break;
    case 3: c->s.flags ^= how & 8 ? (uint8_t)(1u << (how & 7)) : take8(in); break;
    case 4:
        c->s.flags |= TCP_URG;
        c->s.urgent = (uint16_t)(boundary(in, k, p) - (how & 1 ? c->s.seq : 0));
        break;
    case 5: o->ts_value = boundary(in, k, p); break;
    case 6: o->ts_echo = boundary(in, k, p); break;
    case 7: o->seen ^= TCP_SEEN_TIMESTAMPS; break;
    case 8:
    case 9: sack_blocks(in, c, 1 + (how & 3), k, p); break;
    case 10:  // a duplicate, told in the first block (RFC 2883)
        sack_blocks(in, c, 2, k, p);
        o->sack[1] = (struct tcp_sack_block){o->sack[0].left - (how & 3), o->sack[0].right + (how >> 2)};
        break;
    case 11: syn_options(in, c, how); break;
    case 12: malformed_options(in, c); break;
    case 13:
        c->offset_lie = (int8_t)(how & 1 ? (int8_t)(how >> 1) - 4 : 0);
        c->cut = how & 1 ? 0 : how;
        c->bad_sum = how == 15;
        break;
    case 14: c->s.length = how & 8 ? take16(in) % 1460u : how; break;
    default:
        c->tos = how & 3;
        c->twice = how & 4;
        c->s.accurate = how & 8;
        break;
    }
}

// Writes the packet, its payload as `stream` has it at its number. Returns its length.
static inline uint32_t craft_emit(struct craft *c, uint32_t stream, uint32_t source, uint32_t destination,
                                  uint8_t packet[PACKET_MAX])
{
    struct tcp_segment *s = &c->s;
    uint8_t options[2 * TCP_OPTIONS_MAX] = {0};
    uint32_t bytes = s->options.seen || s->options.sack_count ? tcp_options_emit(options, &s->options) : 0;
    memcpy(options + bytes, c->raw, c->raw_bytes);
    bytes = min_u32((bytes + c->raw_bytes + 3) & ~3u, TCP_OPTIONS_MAX);
    s->header_length = (uint8_t)(TCP_BYTES + bytes);
    s->length = min_u32(s->length, PACKET_MAX - IP4_BYTES - s->header_length);
    const uint32_t length = s->header_length + s->length;
    uint8_t *tcp = packet + IP4_BYTES;
    const struct ip4 ip = {.source = source,
                           .destination = destination,
                           .total_length = (uint16_t)(IP4_BYTES + length - c->cut),
                           .tos = c->tos,
                           .ttl = 64,
                           .protocol = IP_TCP,
                           .flags = IP4_DONT_FRAGMENT};
    ip4_emit(packet, &ip);
    tcp_emit(tcp, s);
    tcp[12] = (uint8_t)(tcp[12] + c->offset_lie * 16);
    memcpy(tcp + TCP_BYTES, options, bytes);
    memset(tcp + s->header_length, 0, s->length);
    const uint32_t begin = (tcp[12] & 0xf0u) >> 2;  // of the payload, as the receiver will have it
    if (begin < length)
        memcpy(tcp + max_u32(begin, TCP_BYTES), pattern_at(stream, s->seq + !!(s->flags & TCP_SYN)),
               length - max_u32(begin, TCP_BYTES));
    const uint32_t whole = length - c->cut;
    checksum_put(tcp + 16,
                 checksum_add(ip4_pseudo_sum(source, destination, IP_TCP, whole), checksum_sum_portable(tcp, whole)));
    tcp[16] ^= c->bad_sum;
    return IP4_BYTES + whole;
}

#endif
