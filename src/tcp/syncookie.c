// SPDX-License-Identifier: BSD-2-Clause
// The cookie, our initial sequence number: 5 bits of time, 3 bits of MSS class, 24 bits of keyed hash over both ends,
// the peer's sequence number, the time and the class. A guess is right once in 2^24, and only while cookies are being
// sent. Our timestamp carries what the peer offered: window scale (4 bits, 15: it does not scale), SACK, classic ECN.
// Accurate ECN needs no bit: the ACE field of the ACK that ends the handshake tells that it was agreed on (RFC 9768
// §5.1); of the counters nothing is lost, since only what comes after the handshake is counted. Without timestamps
// classic ECN is not agreed on.
#include "tcp/syncookie.h"

#include "instance.h"
#include "tcp/halfopen.h"
#include "tcp/ecn.h"
#include "tcp/isn.h"
#include "tcp/label.h"

#define COOKIE_TICK_SHIFT 26u  // a tick of cookie time is 2^26 µs (67 s)
#define COOKIE_TICKS 2u        // a cookie is believed in the tick it was made in and the next: 67 to 134 s
#define COOKIE_HASH_MASK 0xffffffu
#define COOKIE_OPTION_MASK 0x3fu  // low bits of the timestamp
#define COOKIE_ECN 0x20u
#define COOKIE_SACK 0x10u
#define COOKIE_NO_SCALE 15u

// The largest not above the peer's is used. Ethernet, PPPoE, tunnels, the least there may be.
static const uint16_t cookie_mss[8] = {48, 216, 512, 536, 1220, 1360, 1440, 1460};

static uint32_t cookie_tick(const struct weir *weir) { return (uint32_t)(weir->now_us >> COOKIE_TICK_SHIFT); }

static uint32_t cookie_hash(const struct weir *weir, const struct weir_endpoint *local,
                            const struct weir_endpoint *remote, uint32_t irs, uint32_t tick, uint32_t class)
{
    struct {
        struct weir_addr local, remote;
        uint16_t local_port, remote_port;
        uint32_t irs, tick, class;
    } text;
    memset(&text, 0, sizeof text);
    text.local = local->addr;
    text.remote = remote->addr;
    text.local_port = local->port;
    text.remote_port = remote->port;
    text.irs = irs;
    text.tick = tick;
    text.class = class;
    return (uint32_t)siphash(&weir->isn_key, &text, sizeof text) & COOKIE_HASH_MASK;
}

static uint32_t mss_class(uint32_t mss)
{
    uint32_t class = 7;
    while (class && cookie_mss[class] > mss)
        class --;
    return class;
}

// The options to send back; our timestamp is put back by less than 64 ms to carry the peer's.
static void cookie_options(const struct weir *weir, const struct tcp_listener *listener,
                           const struct weir_endpoint *local, const struct weir_endpoint *remote,
                           const struct tcp_options *offer, struct tcp_ecn_open ecn, struct tcp_options *options)
{
    if (!WEIR_CFG_TCP_TIMESTAMPS || !(offer->seen & TCP_SEEN_TIMESTAMPS))
        return;
    uint32_t bits = (ecn.mode == TCP_ECN_CLASSIC ? COOKIE_ECN : 0) | COOKIE_NO_SCALE;
    if (WEIR_CFG_TCP_WINDOW_SCALE && offer->seen & TCP_SEEN_WINDOW_SCALE) {
        bits = (bits & ~COOKIE_NO_SCALE) | min_u32(offer->window_scale, 14);
        options->seen |= TCP_SEEN_WINDOW_SCALE;
        options->window_scale = tcp_scale_for(listener->receive_limit);
    }
    if (WEIR_CFG_TCP_SACK && offer->seen & TCP_SEEN_SACK_PERMITTED) {
        bits |= COOKIE_SACK;
        options->seen |= TCP_SEEN_SACK_PERMITTED;
    }
    const uint32_t clock = tcp_timestamp(weir, tcp_timestamp_offset(weir, local->addr, remote->addr));
    options->seen |= TCP_SEEN_TIMESTAMPS;
    options->ts_value = (clock & ~COOKIE_OPTION_MASK) | bits;
    if (seq_lt(clock, options->ts_value))
        options->ts_value -= COOKIE_OPTION_MASK + 1;
    options->ts_echo = offer->ts_value;
}

void syncookie_send(struct weir *weir, struct tcp_listener *listener, const struct packet *packet,
                    const struct tcp_segment *segment)
{
    struct path path = {0};
    if (ip_path_reply(weir, &path, packet) != WEIR_OK)
        return;
    const struct weir_endpoint local = {packet->destination, segment->destination},
                               remote = {packet->source, segment->source};
    const uint32_t tick = cookie_tick(weir),
                   class = mss_class(segment->options.seen & TCP_SEEN_MSS ? segment->options.mss
                                                                          : ip_family_of(remote.addr)->mss_default);
    struct tcp_segment answer = {
        .flags = TCP_SYN | TCP_ACK,
        .seq = tick << 27 | class << 24 | cookie_hash(weir, &local, &remote, segment->seq, tick, class),
        .ack = segment->seq + 1,
        .window = (uint16_t)min_u32(listener->receive_limit, 0xffff),
        .options = {.seen = TCP_SEEN_MSS, .mss = half_open_mss(listener, remote.addr, path.netif->mtu)},
    };
    struct tcp_ecn_open ecn = tcp_ecn_offered(tcp_ecn_wants(listener), packet, segment);
    if (ecn.mode == TCP_ECN_CLASSIC && !(segment->options.seen & TCP_SEEN_TIMESTAMPS && WEIR_CFG_TCP_TIMESTAMPS))
        ecn.mode = TCP_ECN_OFF;
    cookie_options(weir, listener, &local, &remote, &segment->options, ecn, &answer.options);
    tcp_ecn_answer(&ecn, 0, true, &answer);
    weir->tcp.cookies_until_us = weir->now_us + ((uint64_t)COOKIE_TICKS << COOKIE_TICK_SHIFT);
    if (tcp_reply(weir, packet, &local, &remote, tcp_listener_params(listener, remote.addr), &answer))
        count(weir, WEIR_COUNT_TCP_SYNCOOKIE_SENT);
}

// Whether `cookie` is one of ours, for these ends and this SYN, of this or the last tick.
static bool cookie_good(const struct weir *weir, const struct weir_endpoint *local, const struct weir_endpoint *remote,
                        uint32_t irs, uint32_t cookie)
{
    const uint32_t age = (cookie_tick(weir) - (cookie >> 27)) & 31, class = cookie >> 24 & 7;
    return age < COOKIE_TICKS &&
           cookie_hash(weir, local, remote, irs, cookie_tick(weir) - age, class) == (cookie & COOKIE_HASH_MASK);
}

// The ACK that would have brought the cookie back, and the first data, may be lost: later data then bears an
// acknowledgement of our time that cannot be verified. A reset would end a connection that the repetition of its first
// data makes good.
static bool may_be_later_data(const struct weir *weir, const struct tcp_segment *segment)
{
    const uint32_t age = (cookie_tick(weir) - ((segment->ack - 1) >> 27)) & 31;
    return age < COOKIE_TICKS && (segment->length || segment->flags & TCP_FIN);
}

// What the echo of our timestamp says.
static void params_from_timestamp(const struct weir *weir, const struct tcp_listener *listener,
                                  const struct tcp_segment *segment, struct tcp_open_params *params)
{
    if (!WEIR_CFG_TCP_TIMESTAMPS || !(segment->options.seen & TCP_SEEN_TIMESTAMPS))
        return;
    const uint32_t bits = segment->options.ts_echo & COOKIE_OPTION_MASK;
    params->timestamps = true;
    params->ts_recent = segment->options.ts_value;
    params->ts_offset = tcp_timestamp_offset(weir, params->local.addr, params->remote.addr);
    params->sack = WEIR_CFG_TCP_SACK && bits & COOKIE_SACK;
    if (bits & COOKIE_ECN && tcp_ecn_wants(listener) != TCP_ECN_OFF)
        params->ecn.mode = TCP_ECN_CLASSIC;
    if (WEIR_CFG_TCP_WINDOW_SCALE && (bits & COOKIE_NO_SCALE) != COOKIE_NO_SCALE) {
        params->scaling = true;
        params->snd_scale = (uint8_t)min_u32(bits & 15, 14);
        params->rcv_scale = tcp_scale_for(listener->receive_limit);
    }
}

bool syncookie_input(struct weir *weir, struct tcp_listener *listener, struct packet *packet,
                     struct tcp_segment *segment)
{
    struct path path = {0};
    if (weir->now_us >= weir->tcp.cookies_until_us || !(segment->flags & TCP_ACK) ||
        segment->flags & (TCP_SYN | TCP_RST))
        return false;
    const struct weir_endpoint local = {packet->destination, segment->destination},
                               remote = {packet->source, segment->source};
    const uint32_t iss = segment->ack - 1, irs = segment->seq - 1;
    if (!cookie_good(weir, &local, &remote, irs, iss)) {
        count(weir, WEIR_COUNT_TCP_SYNCOOKIE_BAD);
        return may_be_later_data(weir, segment);
    }
    if (ip_path_reply(weir, &path, packet) != WEIR_OK)
        return true;
    struct tcp_open_params params = {
        .local = {.addr = local.addr, .port = local.port, .mss = half_open_mss(listener, remote.addr, path.netif->mtu)},
        .remote = {.addr = remote.addr, .port = remote.port, .mss = cookie_mss[iss >> 24 & 7]},
        .iss = iss,
        .irs = irs,
        .window = segment->window,
    };
    params_from_timestamp(weir, listener, segment, &params);
    if (params.ecn.mode == TCP_ECN_OFF && tcp_ecn_wants(listener) == TCP_ECN_ACCURATE &&
        tcp_ecn_cookie_accurate(segment))
        params.ecn.mode = TCP_ECN_ACCURATE;
    struct tcp_conn *c = tcp_conn_passive(weir, listener, &params, packet);
    if (c == NULL) {
        count(weir, WEIR_COUNT_TCP_SYN_DROPPED);  // the peer will repeat itself
        return true;
    }
    count(weir, WEIR_COUNT_TCP_SYNCOOKIE_ACCEPTED);
    tcp_input_segment(weir, c, packet, segment);
    return true;
}
