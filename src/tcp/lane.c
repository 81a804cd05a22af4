// SPDX-License-Identifier: BSD-2-Clause
// Lanes (lane.h): what is remembered of frames that went the long way, and sending by it. The receiving side is in predict.c.
#include "ip/lane.h"

#include "link/handler.h"
#include "tcp/output.h"

#define LANE_RENEW_MS 1000u  // a frame goes the long way so often, to have the neighbour looked after

void tcp_lanes_init(struct weir *weir)
{
    for (uint32_t i = 0; i < TCP_LANES; i++)
        weir->tcp.lane_at[i] = &weir->tcp.lanes[i];
}

// The lane for a connection, whoever had it before.
static struct tcp_lane *lane_take(struct weir *weir, struct tcp_conn *c)
{
    struct tcp_lane *lane = tcp_lane_at(weir, c->local.port, c->remote.port);
    if (lane->c != c) {
        lane->c = c;
        lane->in.generation = lane->out.generation = 0;
    }
    return lane;
}

void tcp_lane_forget(struct weir *weir, const struct tcp_conn *c)
{
    struct tcp_lane *lane = tcp_lane_at(weir, c->local.port, c->remote.port);
    if (lane->c != c)
        return;
    lane->c = NULL;
    lane->in.generation = 0;
}

// What the checksum covers and each packet has alike: pseudo header, ports, the kind of the option. For the pseudo header's length the
// network header's will be added, hence the latter's own bytes are taken off: a word's complement is what subtracts it.
static uint32_t lane_in_sum(const struct packet *packet)
{
    const uint8_t *tcp = packet->network + IP_LANE_BYTES;
    return (uint32_t)ip_pseudo_sum(packet->source, packet->destination, IP_TCP, 0) + native16(tcp) + native16(tcp + 2) +
           native16(tcp + 20) + native16(tcp + 22) + (uint16_t)~checksum_word(IP_LANE_BYTES);
}

void tcp_lane_learn(struct weir *weir, struct tcp_conn *c, const struct packet *packet)
{
    const uint8_t *const frame = packet->frame->slices[0].data;
    const uint32_t network_at = (uint32_t)(packet->network - frame);
    if (taps_any(weir) || tcp_raw_listening(weir) || packet->flags & PACKET_REASSEMBLED || packet->frame->count != 1 ||
        packet->network_length != IP_LANE_BYTES || packet->length < TCP_LANE_HEADER || network_at != packet->netif->link->untagged_bytes ||
        (network_at && network_at != TCP_LANE_LINK) || !ip_lane_fits(packet->network))
        return;
    struct tcp_lane *lane = lane_take(weir, c);
    if (network_at) {
        lane->in.link[0] = native64(frame);
        lane->in.link[1] = native64(packet->network - 8);
    }
    memcpy(lane->in.head, packet->network, sizeof lane->in.head);
    lane->in.payload_bytes = ip_lane_payload(packet->network);
    lane->in.network_sum = ip_lane_fixed_sum(packet->network);
    lane->in.netif = packet->netif;
    lane->in.generation = weir->ip.generation;
    lane->in.transport_sum = lane_in_sum(packet);
}

// Whether the header is one that the next could be made of: timestamps its only option, its checksum complete.
static bool lane_fits(const struct packet_out *out, const uint8_t *network)
{
    const uint8_t *tcp = network + IP_LANE_BYTES;
    return ip_lane_fits(network) && tcp[12] == TCP_LANE_HEADER << 2 && !get16(tcp + 18) && get32(tcp + 20) == TCP_TIMESTAMPS_ALIGNED &&
           !out->tx.checksum_start;
}

void tcp_lane_keep(struct weir *weir, struct tcp_conn *c, const struct packet_out *out)
{
    const uint32_t length = out->tx.header_length;
    const uint8_t *network = out->head + length - TCP_LANE_HEADER - IP_LANE_BYTES;
    struct tcp_lane *lane = tcp_lane_at(weir, c->local.port, c->remote.port);
    if (taps_any(weir) || length < IP_LANE_BYTES + TCP_LANE_HEADER || length > sizeof lane->out.header || !lane_fits(out, network))
        return;
    if (lane->c && lane->c != c && lane->out.made_ms == weir->now_ms)
        return;  // two that meet in one lane shall not take it from each other all the time
    lane = lane_take(weir, c);
    memcpy(lane->out.header, out->head, length);
    lane->out.network_at = (uint8_t)(length - TCP_LANE_HEADER - IP_LANE_BYTES);
    lane->out.network_sum = ip_lane_sum(network);
    lane->out.payload_bytes = UINT32_MAX;
    lane->out.transport_sum = checksum_word(ip_pseudo_sum(c->local.addr, c->remote.addr, IP_TCP, 0));
    lane->out.transport_sum +=
        (uint32_t)c->local.port + c->remote.port + (TCP_TIMESTAMPS_ALIGNED >> 16) + (TCP_TIMESTAMPS_ALIGNED & 0xffff);
    lane->out.generation = weir->ip.generation;
    lane->out.neighbours = weir->arp.generation;
    lane->out.made_ms = weir->now_ms;
}

static inline bool lane_open(const struct weir *weir, const struct tcp_conn *c, const struct tcp_lane *lane)
{
    return lane->c == c && (c->flags & (TCP_USE_TIMESTAMPS | TCP_URGENT_SEND | TCP_ECN_BUSY)) == TCP_USE_TIMESTAMPS && tcp_extra_quiet(c) &&
           lane->out.generation == weir->ip.generation && lane->out.neighbours == weir->arp.generation &&
           weir->now_ms - lane->out.made_ms < LANE_RENEW_MS &&
           (c->path.netif->flags & (WEIR_NETIF_UP | WEIR_NETIF_TX_BLOCKED)) == WEIR_NETIF_UP;
}

// A frame as it is handed over.
struct lane_frame {
    struct weir_tx tx;
    struct weir_slice slices[WEIR_CFG_TX_SLICES];
};

// What all segments of a run have alike. Apart from the frame, which the driver sees, so that it can be kept in registers.
struct lane_run {
    struct weir_netif *netif;
    uint8_t *tcp;         // header
    uint64_t sum;         // … of what is alike
    uint32_t edge, sent;  // our window's; segments that left
};

// The network header as it is for another length, or type of service. (Its sum is not taken from it: it holds that of the old byte.)
COLD static void lane_network(struct tcp_lane *lane, uint32_t length, uint8_t tos)
{
    uint8_t *const network = lane->out.header + lane->out.network_at;
    if (network[1] != tos) {
        lane->out.network_sum = checksum_fold(lane->out.network_sum + tos + (uint16_t)~network[1]);
        network[1] = tos;
    }
    lane->out.payload_bytes = length;
    ip_lane_length(network, lane->out.network_sum, IP_LANE_BYTES + TCP_LANE_HEADER + length);
}

// Writes what all segments of `length` bytes that may leave now have alike. Their flags include ACK; the header does not hold them yet.
static inline void lane_begin(const struct weir *weir, struct tcp_conn *c, struct tcp_lane *lane, struct lane_run *run,
                              struct lane_frame *frame, uint32_t length, uint8_t tos, bool holdable)
{
    const uint32_t header = lane->out.network_at + IP_LANE_BYTES + TCP_LANE_HEADER;
    const uint32_t edge = tcp_receive_edge(weir, c), window = min_u32((edge - c->rcv.nxt) >> c->rcv_scale, 65535);
    const uint32_t ts_value = weir->now_ms + c->ts_offset;
    uint8_t *const tcp = lane->out.header + header - TCP_LANE_HEADER;
    if (length != lane->out.payload_bytes || tcp[1 - (int)IP_LANE_BYTES] != tos)
        lane_network(lane, length, tos);
    put32(tcp + 8, c->rcv.nxt);
    put16(tcp + 14, window);
    put32(tcp + 24, ts_value);
    put32(tcp + 28, c->ts_recent);
    run->netif = c->path.netif;
    run->tcp = tcp;
    run->sum = (uint64_t)lane->out.transport_sum + TCP_LANE_HEADER + length + (TCP_LANE_HEADER << 10) + window + c->rcv.nxt + ts_value +
               c->ts_recent;
    run->edge = edge;
    run->sent = 0;
    frame->slices[0] = (struct weir_slice){lane->out.header, header};
    frame->tx = (struct weir_tx){.slices = frame->slices,
                                 .length = header + length,
                                 .count = 1,
                                 .header_length = (uint16_t)header,
                                 .holdable = holdable,
                                 .hold_owner = c};
}

#define LANE_PIECES 0x10000u  // beyond every sum

// The same when the first piece, lent already, is not all. LANE_PIECES: they lie in too many.
COLD static uint32_t lane_payload_rest(const struct weir *weir, const struct stream *send, struct lane_frame *frame, uint32_t offset,
                                       uint32_t length, uint16_t sum)
{
    for (uint32_t done = frame->slices[1].length; done < length;) {
        if (frame->tx.count == WEIR_CFG_TX_SLICES)
            return LANE_PIECES;
        const struct weir_span span = stream_stretch(send, offset + done, length - done);
        sum = checksum_add_at(sum, checksum_sum(weir->port, span.data, span.length), done);
        frame->slices[frame->tx.count++] = (struct weir_slice){span.data, span.length};
        done += span.length;
    }
    return sum;
}

// Lends `length` bytes of the send queue from `seq` on, and sums them.
static inline uint32_t lane_payload(const struct weir *weir, const struct tcp_conn *c, struct lane_frame *frame, uint32_t seq,
                                    uint32_t length)
{
    const uint32_t offset = seq - c->snd.una + tcp_held_lag(c);  // anew for each: a driver's `tx` may complete what it held
    const struct weir_span span = stream_stretch(c->send, offset, length);
    frame->slices[1] = (struct weir_slice){span.data, span.length};
    frame->tx.count = 2;
    const uint16_t sum = checksum_sum(weir->port, span.data, span.length);
    return span.length == length ? sum : lane_payload_rest(weir, c->send, frame, offset, length, sum);
}

// The next segment of the run; payload_sum is 0 without payload. WEIR_TX_FULL: it did not leave.
static inline enum weir_tx_verdict lane_next(struct tcp_conn *c, struct lane_run *run, struct lane_frame *frame, uint32_t seq, uint32_t end,
                                             uint32_t flags, uint32_t payload_sum)
{
    uint8_t *const tcp = run->tcp;
    struct weir_netif *const netif = run->netif;
    put32(tcp + 4, seq);
    tcp[13] = (uint8_t)flags;
    put16(tcp + 16, (uint16_t)~checksum_fold_words(run->sum + seq + flags + checksum_host((uint16_t)payload_sum)));
    frame->tx.hold_end = end;
    const enum weir_tx_verdict verdict = netif->driver->tx(netif, &frame->tx);
    if (verdict == WEIR_TX_FULL) {
        netif->flags |= WEIR_NETIF_TX_BLOCKED;
        netif->stats.tx_full++;
        return verdict;
    }
    if (verdict == WEIR_TX_HELD)
        tcp_held_begin(c, seq, end);
    run->sent++;
    return verdict;
}

// Those that left, of so many bytes each, are counted.
static inline void lane_end(struct weir *weir, struct tcp_conn *c, const struct lane_run *run, uint32_t bytes)
{
    struct weir_netif_stats *stats = &run->netif->stats;
    c->rcv.edge = run->edge;
    stats->tx_frames += run->sent;
    stats->tx_segments += run->sent;
    stats->tx_bytes += run->sent * bytes;
    count_add(weir, WEIR_COUNT_TCP_SENT, run->sent);
    TCP_INFO_COUNT(c, segs_out, run->sent);
}

bool tcp_lane_send(struct weir *weir, struct tcp_conn *c, const struct tcp_lane_segment *segment, enum weir_tx_verdict *verdict)
{
    struct tcp_lane *const lane = tcp_lane_at(weir, c->local.port, c->remote.port);
    struct lane_run run;
    struct lane_frame frame;
    uint32_t sum = 0;
    if (!lane_open(weir, c, lane))
        return false;
    lane_begin(weir, c, lane, &run, &frame, segment->length, segment->tos, segment->holdable);
    if (segment->length && (sum = lane_payload(weir, c, &frame, segment->seq, segment->length)) == LANE_PIECES)
        return false;
    *verdict = lane_next(c, &run, &frame, segment->seq, segment->seq + segment->length, segment->flags, sum);
    if (run.sent)
        lane_end(weir, c, &run, frame.tx.length);
    return true;
}

enum weir_tx_verdict tcp_lane_ack(struct weir *weir, struct tcp_conn *c, uint32_t seq)
{
    struct tcp_lane *const lane = tcp_lane_at(weir, c->local.port, c->remote.port);
    struct lane_run run;
    struct lane_frame frame;
    if (!lane_open(weir, c, lane))
        return WEIR_TX_UNRESOLVED;
    lane_begin(weir, c, lane, &run, &frame, 0, tcp_ecn_tos_bare(c), false);
    const enum weir_tx_verdict verdict = lane_next(c, &run, &frame, seq, seq, TCP_ACK, 0);
    if (run.sent) {
        lane_end(weir, c, &run, frame.tx.length);
        tcp_ack_left(c);
    }
    return verdict;
}

// --- new data ------------------------------------------------------------------------------------------------------------------

// New data up to `end` left.
static inline void new_data_left(struct weir *weir, struct tcp_conn *c, uint32_t end)
{
    c->flags &= ~(uint32_t)TCP_SEND_SMALL;
    tcp_ack_left(c);
    tcp_pacing_sent(c, end - c->snd.nxt);
    flight_sent(c->flow->flight, end, weir->now);
    tcp_prr_sent(c, end - c->snd.nxt);
    TCP_INFO_COUNT(c, sent_wraps, end < c->snd.nxt);
    c->snd.nxt = end;
    tcp_timers_sent_at_peace(weir, c);
}

// When neither SYN nor FIN is on its way and nothing is LOST, the sequence numbers tell what the log would.
static inline uint32_t cwnd_room_at_peace(const struct tcp_conn *c)
{
    const uint32_t pipe = c->flags & TCP_USE_SACK ? c->snd.nxt - c->snd.una - c->flow->flight->sacked : tcp_recovery_pipe(c);
    return c->flow->window.cwnd > pipe ? tcp_pacing_room(c, c->flow->window.cwnd - pipe) : 0;
}

// Up to `most` segments of `length` bytes from snd.nxt on; one that ends at push_end gets PSH. false: none can be sent by the lane.
static inline bool send_run(struct weir *weir, struct tcp_conn *c, struct tcp_lane *lane, uint32_t length, uint32_t most, uint32_t push_end,
                            enum weir_tx_verdict *verdict)
{
    struct lane_run run;
    struct lane_frame frame;
    uint32_t seq = c->snd.nxt;
    lane_begin(weir, c, lane, &run, &frame, length, c->tos, true);
    do {
        const uint32_t end = seq + length, sum = lane_payload(weir, c, &frame, seq, length);
        if (sum == LANE_PIECES)
            break;
        *verdict = lane_next(c, &run, &frame, seq, end, end == push_end ? TCP_ACK | TCP_PSH : TCP_ACK, sum);
        if (*verdict == WEIR_TX_FULL)
            break;
        seq = end;
    } while (run.sent < most && !(run.netif->flags & WEIR_NETIF_TX_BLOCKED));
    if (run.sent) {
        lane_end(weir, c, &run, frame.tx.length);
        if (run.sent < most && run.netif->flags & WEIR_NETIF_TX_BLOCKED)
            *verdict = WEIR_TX_FULL;
        new_data_left(weir, c, seq);
    }
    return run.sent || *verdict == WEIR_TX_FULL;
}

bool tcp_lane_new_data(struct weir *weir, struct tcp_conn *c, uint32_t *quantum, enum weir_tx_verdict *verdict)
{
    struct tcp_lane *const lane = tcp_lane_at(weir, c->local.port, c->remote.port);
    const uint32_t unusual = TCP_PROBE_NOW | TCP_FIN_QUEUED | TCP_RETRANSMIT_NOW | TCP_PERSIST | TCP_URGENT_SEND, mss = c->mss;
    *verdict = WEIR_TX_DONE;
    if ((c->flags & (unusual | TCP_SYN_ACKED)) != TCP_SYN_ACKED || !tcp_may_send_data(c) || c->flow->flight->lost || tcp_tlp_due(c) ||
        tcp_deadline_on(c) || c->path.netif->capabilities & WEIR_NETIF_TSO4)
        return false;
    while (*quantum) {
        const uint32_t outstanding = c->snd.nxt - c->snd.una, unsent = stream_length(c->send) - tcp_held_lag(c) - outstanding;
        const uint32_t wanted = min_u32(unsent, tcp_window_room(c)), room = cwnd_room_at_peace(c), end = c->snd.nxt + wanted;
        const uint32_t length = min_u32(wanted, mss), from = c->snd.nxt;
        if (room < length)
            c->flags |= TCP_CWND_LIMITED;
        if (!length || room < length || (length < mss && !tcp_small_may_go(c, length, unsent)))
            return true;
        const uint32_t most = length == mss ? min_u32(min_u32(wanted, room) / mss, *quantum) : 1;
        if (!flight_room(&weir->memory, &c->flow->flight, weir->now) || !lane_open(weir, c, lane) ||
            !send_run(weir, c, lane, length, most, from + unsent, verdict))
            return false;
        *quantum -= length == mss ? (c->snd.nxt - from) / mss : 1;
        if (*verdict == WEIR_TX_FULL || c->snd.nxt == end)
            return true;
    }
    return false;
}
