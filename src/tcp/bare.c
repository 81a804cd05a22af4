// SPDX-License-Identifier: BSD-2-Clause
#include "tcp/bare.h"

#include "ip/road.h"
#include "tcp/output.h"

// Nothing is under way but what opening and closing come to.
static inline bool control_only(const struct tcp_conn *c) { return !(c->attention & ~(uint32_t)ATTEND_CONTROL_ONLY); }

// --- sending ---------------------------------------------------------------------------------------------------------------------

#define WITH_TIMESTAMPS (TCP_BYTES + TCP_TIMESTAMPS_ALIGNED_BYTES)

static inline void write_usual(const struct weir *weir, const struct tcp_conn *c, uint8_t *bytes, uint32_t flags, uint32_t window)
{
    struct tcp_options options;
    tcp_timestamps_fill(weir, c, &options);
    const uint32_t ports = (uint32_t)c->local.port << 16 | c->remote.port, seq = tcp_ack_seq(c), ack = c->rcv.nxt;
    const uint32_t rest = WITH_TIMESTAMPS << 26 | flags << 16 | window;
    const uint64_t sum = (uint64_t)ports + seq + ack + rest + TCP_TIMESTAMPS_ALIGNED + options.ts_value + options.ts_echo +
                         ip_lane_pseudo_host(c->local.addr, c->remote.addr, IP_TCP, WITH_TIMESTAMPS);
    put32(bytes, ports);
    put32(bytes + 4, seq);
    put32(bytes + 8, ack);
    put32(bytes + 12, rest);
    put32(bytes + 16, (uint32_t)(uint16_t)~checksum_fold_words(sum) << 16);
    put32(bytes + 20, TCP_TIMESTAMPS_ALIGNED);
    put32(bytes + 24, options.ts_value);
    put32(bytes + 28, options.ts_echo);
}

// The values are in registers: summing them in host order is cheaper than reading the bytes back.
void tcp_bare_write_syn(uint8_t *bytes, const struct weir_endpoint *local, const struct weir_endpoint *remote,
                        const struct tcp_segment *syn)
{
    const struct tcp_options *const options = &syn->options;
    const uint32_t ports = (uint32_t)local->port << 16 | remote->port,
                   rest = TCP_BARE_SYN_BYTES << 26 | (uint32_t)syn->flags << 16 | syn->window;
    const uint32_t mss = (uint32_t)TCP_OPTION_MSS << 24 | 4u << 16 | options->mss;
    const uint32_t scale = (uint32_t)TCP_OPTION_NOP << 24 | TCP_OPTION_WINDOW_SCALE << 16 | 3u << 8 | options->window_scale;
    const uint64_t sum = (uint64_t)ports + syn->seq + syn->ack + rest + mss + TCP_SACK_PERMITTED_ALIGNED + options->ts_value +
                         options->ts_echo + scale + ip_lane_pseudo_host(local->addr, remote->addr, IP_TCP, TCP_BARE_SYN_BYTES);
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

static uint8_t *begin(struct packet_out *out, uint32_t bytes)
{
    packet_out_init(out);
    return packet_out_header(out, bytes);
}

static enum weir_tx_verdict send_long(struct weir *weir, struct tcp_conn *c, struct packet_out *out)
{
    const struct ip_out ip = {
        .source = c->local.addr, .destination = c->remote.addr, .protocol = IP_TCP, .ttl = c->ttl, .tos = c->tos, .dont_fragment = true};
    return ip_road_make(weir, &c->path, &ip, out, &c->sock);
}

static enum weir_tx_verdict send(struct weir *weir, struct tcp_conn *c, uint32_t flags)
{
    struct ip_road *const road = ip_road_find(weir, &c->path, c->local.addr, c->remote.addr, c->ttl, c->tos);
    const uint32_t bytes = flags & TCP_SYN ? TCP_BARE_SYN_BYTES : WITH_TIMESTAMPS;
    struct packet_out out;
    uint8_t *const tcp = road ? ip_road_header(road, bytes) : begin(&out, bytes);
    uint32_t edge = tcp_receive_edge(weir, c);
    if (flags & TCP_SYN) {
        edge = c->rcv.nxt + min_u32(edge - c->rcv.nxt, 65535);  // RFC 7323 §2.2: never scaled in a SYN
        struct tcp_segment syn;
        syn.seq = c->iss;
        syn.ack = 0;
        syn.flags = TCP_SYN;
        syn.window = (uint16_t)(edge - c->rcv.nxt);
        syn.options.ts_value = syn.options.ts_echo = 0;
        tcp_output_syn_options(weir, c, false, &syn.options);
        tcp_bare_write_syn(tcp, &c->local, &c->remote, &syn);
    } else {
        write_usual(weir, c, tcp, flags, min_u32((edge - c->rcv.nxt) >> c->rcv_scale, 65535));
    }
    const enum weir_tx_verdict verdict = road ? netif_hand_over(c->path.netif, &road->tx) : send_long(weir, c, &out);
    if (verdict == WEIR_TX_DONE) {
        c->rcv.edge = edge;
        count(weir, WEIR_COUNT_TCP_SENT);
        TCP_INFO_COUNT(c, segs_out, 1);
    }
    return verdict;
}

// What is due, as flags. 0: nothing.
static uint32_t due(const struct tcp_conn *c)
{
    if (c->state == WEIR_TCP_SYN_SENT)
        return c->snd.nxt == c->iss ? TCP_SYN : 0;
    if ((c->attention & (ATTEND_FIN_QUEUED | ATTEND_FIN_SENT)) == ATTEND_FIN_QUEUED && tcp_may_send_data(c))
        return TCP_FIN | TCP_ACK;
    return c->flags & TCP_ACK_NOW ? TCP_ACK : 0;
}

bool tcp_bare_turn(struct weir *weir, struct tcp_conn *c, enum weir_tx_verdict *verdict)
{
    *verdict = WEIR_TX_DONE;
    if (tcp_attached(c) || !control_only(c) || !tcp_ecn_silent(c) || tcp_syn_received(c) ||
        !(tcp_syn_sent(c) ? TCP_BARE_SYN : (c->flags & TCP_USE_TIMESTAMPS) != 0) || !c->path.netif ||
        c->path.generation != weir->ip.generation)
        return false;
    const uint32_t flags = due(c);
    const bool control = flags & (TCP_SYN | TCP_FIN);
    if (!flags)
        return true;
    if (control && (c->user_timeout_s || tcp_cc(c)->wants_rate))
        return false;  // the deadline is another one, or every byte's stamp counts
    *verdict = send(weir, c, flags);
    if (*verdict != WEIR_TX_DONE)
        return true;
    if (flags & TCP_ACK)
        tcp_ack_left(c);
    if (control) {
        c->snd.nxt++;
        TCP_INFO_COUNT(c, sent_wraps, c->snd.nxt == 0);
        c->attention |= flags & TCP_FIN ? ATTEND_FIN_SENT : 0;
        tcp_timers_sent_bare(weir, c);
    }
    return true;
}

// --- acknowledged ----------------------------------------------------------------------------------------------------------------

static inline void acked(struct weir *weir, struct tcp_conn *c, uint32_t ack)
{
    rtt_sample(&c->rtt, tcp_bare_rtt(weir, c));
    tcp_backoff_set(c, 0);
    c->snd.una = ack;
    c->flags |= TCP_SYN_ACKED;
    c->progress_ms = weir->now_ms;
    c->duplicate_acks = 0;
    tcp_timers_acked(weir, c, 0);
}

bool tcp_bare_acked(struct weir *weir, struct tcp_conn *c, const struct tcp_segment *segment)
{
    if (!tcp_bare(c) || segment->ack != c->snd.nxt || segment->options.sack_count || c->extra || !tcp_ecn_silent(c))
        return false;
    acked(weir, c, segment->ack);
    return true;
}

// Nothing is under way that the steps must see, and the segment is the next in order.
static inline bool expected(const struct tcp_conn *c, uint32_t seq, uint32_t ack, uint32_t flags)
{
    return seq == c->rcv.nxt && ack == c->snd.nxt && (flags & ~(uint32_t)(TCP_PSH | TCP_FIN)) == TCP_ACK &&
           !(c->flow || c->send || c->extra) && control_only(c) && tcp_synchronised(c) && tcp_ecn_silent(c);
}

static inline void take(struct weir *weir, struct tcp_conn *c, const struct tcp_segment *segment)
{
    TCP_INFO_COUNT(c, segs_in, 1);
    if (tcp_bare_ack(weir, c, segment) == TCP_GONE)
        return;
    tcp_timestamps_update(weir, c, segment);
    c->last_received_ms = weir->now_ms;
    c->keepalive_probes = 0;
    if (segment->flags & TCP_FIN)
        tcp_receive_fin(weir, c, segment->seq);
}

bool tcp_bare_input(struct weir *weir, struct tcp_conn *c, const struct packet *packet, const struct tcp_segment *segment)
{
    const bool timestamps = c->flags & TCP_USE_TIMESTAMPS;
    if (segment->length || segment->options.seen != (timestamps ? TCP_SEEN_TIMESTAMPS : 0) || segment->options.sack_count ||
        !expected(c, segment->seq, segment->ack, segment->flags) || (timestamps && tcp_timestamp_old(c, segment->options.ts_value)))
        return false;
    ip_path_heard(&c->path, packet);
    take(weir, c, segment);
    return true;
}

// --- out of the frame ------------------------------------------------------------------------------------------------------------

// A whole segment of such a length, timestamps its only option; reads no further than that.
static inline bool header_usual(const struct weir_frame *frame, const uint8_t *network, const uint8_t *tcp)
{
    return ip_lane_carries(network, IP_TCP, WITH_TIMESTAMPS) && frame->checksum == WEIR_CHECKSUM_NONE && tcp[12] == WITH_TIMESTAMPS << 2 &&
           get32(tcp + 20) == TCP_TIMESTAMPS_ALIGNED;
}

bool tcp_bare_frame(struct weir *weir, const struct weir_frame *frame, const uint8_t *network)
{
    struct tcp_conn *const c = weir->tcp.recent;
    const uint8_t *const tcp = network + IP_LANE_BYTES;
    if (!WEIR_CFG_ARP_CACHE || !c || !header_usual(frame, network, tcp) || !(c->flags & TCP_USE_TIMESTAMPS) ||
        get32(tcp) != ((uint32_t)c->remote.port << 16 | c->local.port) || !ip_lane_between(network, c->remote.addr, c->local.addr) ||
        !expected(c, get32(tcp + 4), get32(tcp + 8), tcp[13]) || tcp_timestamp_old(c, get32(tcp + 24)) || tcp_raw_listening(weir))
        return false;
    const uint64_t sum = checksum_words(tcp, WITH_TIMESTAMPS) + ip_lane_pseudo(network, IP_TCP, WITH_TIMESTAMPS);
    if (!checksum_words_good(sum))
        return false;
    struct tcp_segment segment;
    segment.seq = c->rcv.nxt;
    segment.ack = c->snd.nxt;
    segment.flags = tcp[13];
    segment.window = get16(tcp + 14);
    segment.length = 0;
    segment.options.seen = TCP_SEEN_TIMESTAMPS;
    segment.options.sack_count = 0;
    segment.options.ts_value = get32(tcp + 24);
    segment.options.ts_echo = get32(tcp + 28);
    count(weir, WEIR_COUNT_TCP_RECEIVED);
    take(weir, c, &segment);
    return true;
}
