// SPDX-License-Identifier: BSD-2-Clause
#include "wire/tcp.h"

#include "base/checksum.h"

/*@ requires count <= 4 && \valid(out) && \valid_read(blocks + (0 .. 8 * count - 1));
    assigns out->sack_count, out->sack[0 .. 3];
    ensures out->sack_count == count; */
static void tcp_wire_take_sack(const uint8_t *blocks, uint32_t count, struct tcp_options *out)
{
    out->sack_count = (uint8_t)count;
    /*@ loop invariant i <= count && blocks == \at(blocks, Pre) + 8 * i;
        loop assigns i, blocks, out->sack[0 .. 3];
        loop variant count - i; */
    for (uint32_t i = 0; i < count; i++, blocks += 8)
        out->sack[i] = (struct tcp_sack_block){get32(blocks), get32(blocks + 4)};
}

/*@ requires \valid(out) && \valid_read(values + (0 .. 7));
    assigns out->seen, out->ts_value, out->ts_echo; */
static bool tcp_wire_take_timestamps(const uint8_t *values, struct tcp_options *out)
{
    out->seen |= TCP_SEEN_TIMESTAMPS;
    out->ts_value = get32(values);
    out->ts_echo = get32(values + 4);
    return true;
}

#if WEIR_CFG_TCP_ACCECN
// RFC 9768 §3.2.3: any length is right; what goes beyond three whole fields is for the future.
/*@ requires length >= 2 && \valid(out) && \valid_read(option + (0 .. length - 1));
    assigns out->seen, out->accecn; */
static bool tcp_wire_take_accecn(const uint8_t *option, uint32_t length, struct tcp_options *out)
{
    uint32_t field[3] = {0, 0, 0};
    const bool first = option[0] == TCP_OPTION_ACCECN_0;
    const uint32_t count = min_u32((length - 2) / 3, 3);
    if (!first && option[0] != TCP_OPTION_ACCECN_1)
        return false;
    /*@ loop invariant i <= count;
        loop assigns i, field[0 .. 2];
        loop variant count - i; */
    for (uint32_t i = 0; i < count; i++)
        field[i] = get32(option + 1 + 3 * i) & TCP_ACCECN_MASK;
    out->seen |= TCP_SEEN_ACCECN;
    out->accecn = (struct tcp_accecn_option){.kind = option[0],
                                             .fields = (uint8_t)count,
                                             .ect0 = field[first ? 0 : 2],
                                             .ce = field[1],
                                             .ect1 = field[first ? 2 : 0]};
    return true;
}

static uint8_t *tcp_wire_emit_accecn(uint8_t *at, const struct tcp_options *options)
{
    const struct tcp_accecn_option *const o = &options->accecn;
    const bool first = o->kind == TCP_OPTION_ACCECN_0;
    const uint32_t field[3] = {first ? o->ect0 : o->ect1, o->ce, first ? o->ect1 : o->ect0};
    const uint32_t bytes = tcp_accecn_bytes(o->fields);
    memset(at, TCP_OPTION_NOP, bytes);
    uint8_t *option = at + bytes - (2 + 3u * o->fields);
    option[0] = o->kind;
    option[1] = (uint8_t)(2 + 3 * o->fields);
    for (uint32_t i = 0; i < o->fields && i < 3; i++) {
        option[2 + 3 * i] = (uint8_t)(field[i] >> 16);
        put16(option + 3 + 3 * i, field[i] & 0xffff);
    }
    return at + bytes;
}
#else
static bool tcp_wire_take_accecn(const uint8_t *option, uint32_t length, struct tcp_options *out)
{
    return (void)option, (void)length, (void)out, false;
}
static uint8_t *tcp_wire_emit_accecn(uint8_t *at, const struct tcp_options *options) { return (void)options, at; }
#endif

// One option of `length` bytes, all at hand. false: it has a length of its kind it cannot have. An option that is not
// built in is as good as unknown, and unknown ones are skipped (RFC 9293 §3.1).
/*@ requires length >= 2 && \valid(out) && \valid_read(option + (0 .. length - 1));
    requires length <= 40 && out->sack_count <= 4;
    assigns *out;
    ensures out->sack_count <= 4; */
static bool tcp_wire_take_option(const uint8_t *option, uint32_t length, struct tcp_options *out)
{
    const uint8_t kind = option[0];
    if (kind == TCP_OPTION_MSS) {
        if (length != 4)
            return false;
        out->seen |= TCP_SEEN_MSS;
        out->mss = get16(option + 2);
    } else if (WEIR_CFG_TCP_TIMESTAMPS && kind == TCP_OPTION_TIMESTAMPS) {
        return length == 10 && tcp_wire_take_timestamps(option + 2, out);
    } else if (WEIR_CFG_TCP_WINDOW_SCALE && kind == TCP_OPTION_WINDOW_SCALE) {
        if (length != 3)
            return false;
        out->seen |= TCP_SEEN_WINDOW_SCALE;
        out->window_scale = option[2];
    } else if (WEIR_CFG_TCP_SACK && kind == TCP_OPTION_SACK_PERMITTED) {
        if (length != 2)
            return false;
        out->seen |= TCP_SEEN_SACK_PERMITTED;
    } else if (WEIR_CFG_TCP_SACK && kind == TCP_OPTION_SACK) {
        if (length < 10 || length % 8 != 2)
            return false;
        tcp_wire_take_sack(option + 2, length / 8, out);
    } else if (WEIR_CFG_TCP_REFINEMENTS && kind == TCP_OPTION_USER_TIMEOUT) {
        if (length != 4)
            return false;
        out->seen |= TCP_SEEN_USER_TIMEOUT;
        out->user_timeout = get16(option + 2);
    } else if (WEIR_CFG_TCP_ACCECN) {
        tcp_wire_take_accecn(option, length, out);
    }
    return true;
}

// At most 40 steps: each takes one byte or more. A malformed option is no reason to refuse the segment: true.
/*@ requires length <= 40 && out->sack_count <= 4 && \valid(out) && \valid_read(bytes + (0 .. length - 1));
    assigns *out, \result \from bytes[0 .. length - 1];
    ensures \result == 1 && out->sack_count <= 4; */
static bool tcp_wire_options_parse(const uint8_t *bytes, uint32_t length, struct tcp_options *out)
{
    uint32_t at = 0;
    /*@ loop invariant at <= length && out->sack_count <= 4;
        loop assigns at, *out;
        loop variant length - at; */
    while (at < length && bytes[at] != TCP_OPTION_END) {
        if (bytes[at] == TCP_OPTION_NOP) {
            at++;
            continue;
        }
        const uint32_t size = length - at < 2 ? 0 : bytes[at + 1];
        if (size < 2 || size > length - at || !tcp_wire_take_option(bytes + at, size, out)) {
            out->seen |= TCP_SEEN_BAD;
            break;
        }
        at += size;
    }
    return true;
}

#if WEIR_CFG_TCP_TIMESTAMPS && WEIR_CFG_TCP_SACK && WEIR_CFG_TCP_WINDOW_SCALE && WEIR_CFG_FAST_PATH
/*@ requires \valid(out) && \valid_read(options + (0 .. 19));
    assigns out->seen, out->mss, out->window_scale, out->ts_value, out->ts_echo; */
static bool tcp_wire_aligned_syn(const uint8_t *options, struct tcp_options *out)
{
    const uint32_t first = get32(options), last = get32(options + 16);
    if (first >> 16 != (TCP_OPTION_MSS << 8 | 4u) || get32(options + 4) != TCP_SACK_PERMITTED_ALIGNED ||
        last >> 8 != (TCP_OPTION_NOP << 16 | TCP_OPTION_WINDOW_SCALE << 8 | 3u))
        return false;
    out->seen = TCP_SEEN_MSS | TCP_SEEN_SACK_PERMITTED | TCP_SEEN_WINDOW_SCALE;
    out->mss = (uint16_t)first;
    out->window_scale = (uint8_t)last;
    return tcp_wire_take_timestamps(options + 8, out);
}
#else
static bool tcp_wire_aligned_syn(const uint8_t *options, struct tcp_options *out)
{
    return (void)options, (void)out, false;
}
#endif

bool tcp_parse(const uint8_t *bytes, uint32_t length, struct tcp_segment *out)
{
    if (length < TCP_BYTES)
        return false;
    const uint32_t header_length = (bytes[12] & 0xf0u) >> 2;
    if (header_length < TCP_BYTES || header_length > length)
        return false;
    out->source = get16(bytes);
    out->destination = get16(bytes + 2);
    out->seq = get32(bytes + 4);
    out->ack = get32(bytes + 8);
    out->header_length = (uint8_t)header_length;
    out->flags = bytes[13];
    out->accurate = bytes[12] & 1;
    out->window = get16(bytes + 14);
    out->urgent = get16(bytes + 18);
    out->length = length - header_length;
    out->options.seen = 0;
    out->options.sack_count = 0;
    const uint8_t *options = bytes + TCP_BYTES;
    if (WEIR_CFG_TCP_TIMESTAMPS && header_length == TCP_TIMESTAMPED_BYTES && get32(options) == TCP_TIMESTAMPS_ALIGNED)
        return tcp_wire_take_timestamps(options + 4, &out->options);
    if (header_length == TCP_BYTES + TCP_SYN_ALIGNED_BYTES && tcp_wire_aligned_syn(options, &out->options))
        return true;
    return header_length == TCP_BYTES || tcp_wire_options_parse(options, header_length - TCP_BYTES, &out->options);
}

void tcp_emit(uint8_t bytes[TCP_BYTES], const struct tcp_segment *segment)
{
    put16(bytes, segment->source);
    put16(bytes + 2, segment->destination);
    put32(bytes + 4, segment->seq);
    put32(bytes + 8, segment->ack);
    put16(bytes + 12,
          // bytes / 4 in the top four bits
          (uint32_t)segment->header_length << 10 | (uint32_t)segment->accurate << 8 | segment->flags);
    put16(bytes + 14, segment->window);
    put16(bytes + 16, 0);
    put16(bytes + 18, segment->urgent);
}

#if WEIR_CFG_FAST_PATH
// The values are in registers: summing them in host order is cheaper than reading the bytes back.
void tcp_emit_syn(uint8_t *bytes, const struct tcp_segment *syn, uint32_t pseudo_sum)
{
    const struct tcp_options *const options = &syn->options;
    const uint32_t ports = (uint32_t)syn->source << 16 | syn->destination,
                   rest = TCP_SYN_BYTES << 26 | (uint32_t)syn->flags << 16 | syn->window;
    const uint32_t mss = (uint32_t)TCP_OPTION_MSS << 24 | 4u << 16 | options->mss;
    const uint32_t scale =
        (uint32_t)TCP_OPTION_NOP << 24 | TCP_OPTION_WINDOW_SCALE << 16 | 3u << 8 | options->window_scale;
    const uint64_t sum = (uint64_t)pseudo_sum + TCP_SYN_BYTES + ports + syn->seq + syn->ack + rest + mss +
                         TCP_SACK_PERMITTED_ALIGNED + options->ts_value + options->ts_echo + scale;
    put32(bytes, ports);
    put32(bytes + 4, syn->seq);
    put32(bytes + 8, syn->ack);
    put32(bytes + 12, rest);
    put32(bytes + 16, (uint32_t)(uint16_t)~checksum_fold_words(sum) << 16);
    put32(bytes + 20, mss);
    put32(bytes + 24, TCP_SACK_PERMITTED_ALIGNED);
    put32(bytes + 28, options->ts_value);
    put32(bytes + 32, options->ts_echo);
    put32(bytes + 36, scale);
}
#endif

static uint8_t *tcp_wire_emit_timestamps(uint8_t *at, uint32_t head, const struct tcp_options *options)
{
    put32(at, head);
    put32(at + 4, options->ts_value);
    put32(at + 8, options->ts_echo);
    return at + TCP_TIMESTAMPS_ALIGNED_BYTES;
}

// As many blocks as fit behind what is there already: three with timestamps, four without.
static uint8_t *tcp_wire_emit_sack(uint8_t *at, uint32_t room, const struct tcp_options *options)
{
    const uint32_t count = min_u32(options->sack_count, (room - 4) / 8);
    put32(at, (uint32_t)TCP_OPTION_NOP << 24 | TCP_OPTION_NOP << 16 | TCP_OPTION_SACK << 8 | (2 + 8 * count));
    at += 4;
    for (uint32_t i = 0; i < count; i++, at += 8) {
        put32(at, options->sack[i].left);
        put32(at + 4, options->sack[i].right);
    }
    return at;
}

uint32_t tcp_options_emit(uint8_t *bytes, const struct tcp_options *options)
{
    uint8_t *at = bytes;
    const uint8_t seen = options->seen;
    if (WEIR_CFG_TCP_TIMESTAMPS && seen == TCP_SEEN_TIMESTAMPS && options->sack_count == 0) {
        tcp_wire_emit_timestamps(bytes, TCP_TIMESTAMPS_ALIGNED, options);
        return TCP_TIMESTAMPS_ALIGNED_BYTES;
    }
    if (seen & TCP_SEEN_MSS) {
        put32(at, (uint32_t)TCP_OPTION_MSS << 24 | 4u << 16 | options->mss);
        at += 4;
    }
    const bool sack_permitted = WEIR_CFG_TCP_SACK && seen & TCP_SEEN_SACK_PERMITTED;
    const uint32_t pair =
        sack_permitted ? (uint32_t)TCP_OPTION_SACK_PERMITTED << 24 | 2u << 16 : TCP_TIMESTAMPS_ALIGNED & 0xffff0000u;
    if (WEIR_CFG_TCP_TIMESTAMPS && seen & TCP_SEEN_TIMESTAMPS) {
        at = tcp_wire_emit_timestamps(at, pair | (TCP_TIMESTAMPS_ALIGNED & 0xffffu), options);
    } else if (sack_permitted) {
        put32(at, pair | TCP_OPTION_NOP << 8 | TCP_OPTION_NOP);
        at += 4;
    }
    if (WEIR_CFG_TCP_WINDOW_SCALE && seen & TCP_SEEN_WINDOW_SCALE) {
        put32(at, (uint32_t)TCP_OPTION_NOP << 24 | TCP_OPTION_WINDOW_SCALE << 16 | 3u << 8 | options->window_scale);
        at += 4;
    }
    if (WEIR_CFG_TCP_REFINEMENTS && seen & TCP_SEEN_USER_TIMEOUT) {
        put32(at, (uint32_t)TCP_OPTION_USER_TIMEOUT << 24 | 4u << 16 | options->user_timeout);
        at += 4;
    }
    if (WEIR_CFG_TCP_ACCECN && seen & TCP_SEEN_ACCECN)
        at = tcp_wire_emit_accecn(at, options);
    if (WEIR_CFG_TCP_SACK && options->sack_count)
        at = tcp_wire_emit_sack(at, (uint32_t)(bytes + TCP_OPTIONS_MAX - at), options);
    return (uint32_t)(at - bytes);
}
