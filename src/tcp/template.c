// SPDX-License-Identifier: BSD-2-Clause
#include "tcp/template.h"

#include "ip/flow.h"
#include "tcp/label.h"
#include "tcp/output.h"

_Static_assert(FLOW_HEADER_BYTES >=
                   FLOW_LINK_BYTES + (WEIR_CFG_IP6 ? 40 : IP4_BYTES) + IP_TRANSPORT_HEADER_MAX + SMALL_COPY_MAX,
               "a flow has room for a header");

// --- the header ------------------------------------------------------------------------------------------------------

// Writes what all segments of `payload` bytes that may leave now have alike, up to the window's edge. Returns its sum,
// the pseudo-header's included.
static SPEED_INLINE uint64_t write_alike(const struct weir *weir, const struct tcp_conn *c, const struct flow *flow,
                                         uint8_t *tcp, uint32_t payload, uint32_t edge)
{
    const uint32_t ports = (uint32_t)c->local.port << 16 | c->remote.port, ack = c->rcv.nxt,
                   ts_value = weir->now_ms + c->ts_offset;
    const uint32_t window = min_u32((edge - ack) >> c->rcv_scale, 65535);
    put32(tcp, ports);
    put32(tcp + 8, ack);
    tcp[12] = TCP_TIMESTAMPED_BYTES << 2;
    put16(tcp + 14, window);
    put32(tcp + 16, 0);
    put32(tcp + 20, TCP_TIMESTAMPS_ALIGNED);
    put32(tcp + 24, ts_value);
    put32(tcp + 28, c->ts_recent);
    return (uint64_t)flow->template.pseudo_sum + TCP_TIMESTAMPED_BYTES + payload + ports + ack +
           (TCP_TIMESTAMPED_BYTES << 26) + window + TCP_TIMESTAMPS_ALIGNED + ts_value + c->ts_recent;
}

// Writes what a segment has of its own; payload_sum is in native order.
static SPEED_INLINE void write_own(uint8_t *tcp, uint64_t sum, uint32_t seq, uint32_t flags, uint32_t payload_sum)
{
    put32(tcp + 4, seq);
    tcp[13] = (uint8_t)flags;
    put16(tcp + 16, (uint16_t)~checksum_fold_words(sum + seq + (flags << 16) + checksum_host(payload_sum)));
}

// --- the payload -----------------------------------------------------------------------------------------------------

#define TOO_MANY_PIECES UINT32_MAX  // beyond every sum

// Where in the send queue the byte with this number is. Not for long: a driver's `tx` may complete what it held.
static inline uint32_t queue_offset(const struct tcp_conn *c, uint32_t seq)
{
    return seq - c->snd.una + tcp_flow_lag(c->flow);
}

// Lends what does not lie together, piece by piece. Returns its sum, or TOO_MANY_PIECES.
static uint32_t lend_pieces(const struct weir *weir, const struct tcp_conn *c, struct flow_template *t, uint32_t seq,
                            uint32_t length)
{
    const uint32_t offset = queue_offset(c, seq);
    uint16_t sum = 0;
    t->tx.count = 1;
    for (uint32_t done = 0; done < length;) {
        if (t->tx.count == FLOW_SLICES)
            return TOO_MANY_PIECES;
        const struct weir_span span = stream_stretch(c->send, offset + done, length - done);
        sum = checksum_add_at(sum, checksum_sum(weir->port, span.data, span.length), done);
        t->slices[t->tx.count++] = (struct weir_slice){span.data, span.length};
        done += span.length;
    }
    return sum;
}

// Lends `length` bytes of the send queue from `seq` on, and returns their sum. A few are copied behind the header,
// where they lie in one piece: a slice more would cost the driver more. `piece` is what is known to lie together from
// `seq` on: a byte does not move while it is queued.
static SPEED_INLINE uint32_t lend(const struct weir *weir, const struct tcp_conn *c, struct flow_template *t,
                                  uint8_t *behind, uint32_t seq, uint32_t length, struct weir_span *piece)
{
    uint8_t *place;
    if (length <= SMALL_COPY_MAX && stream_contiguous(c->send, queue_offset(c, seq), length, &place)) {
        t->slices[0].length = t->tx.length;
        return checksum_copy_small(behind, place, length);
    }
    t->tx.hold_end = seq + length;
    if (piece->length < length) {
        const uint32_t offset = queue_offset(c, seq);
        *piece = stream_stretch(c->send, offset, stream_length(c->send) - offset);
        if (piece->length < length)
            return lend_pieces(weir, c, t, seq, length);
    }
    t->slices[1] = (struct weir_slice){piece->data, length};
    t->tx.count = 2;
    piece->data += length;
    piece->length -= length;
    return checksum_sum(weir->port, t->slices[1].data, length);
}

// --- sending ---------------------------------------------------------------------------------------------------------

// So many segments left, of as many bytes each. (No tap is to be shown them: with one there are no templates.)
static inline void segments_left(struct weir *weir, struct tcp_conn *c, uint32_t edge, uint32_t sent, uint32_t bytes)
{
    struct weir_netif_stats *const stats = &c->path.netif->stats;
    c->rcv.edge = edge;
    stats->tx_frames += sent;
    stats->tx_segments += sent;
    stats->tx_bytes += sent * bytes;
    count_add(weir, WEIR_COUNT_TCP_SENT, sent);
    TCP_INFO_COUNT(c, segs_out, sent);
}

// A SYN alone, whose window is never scaled (RFC 7323 §2.2).
static enum weir_tx_verdict send_syn(struct weir *weir, struct tcp_conn *c, struct tcp_plan *plan)
{
    const bool fits = TCP_SYN_ALIGNED && plan->flags == TCP_SYN && !plan->payload && !c->extra && tcp_ecn_silent(c);
    struct flow *const flow = fits ? flow_template(weir, &c->path, c->local.addr, c->remote.addr) : NULL;
    if (!flow)
        return WEIR_TX_UNRESOLVED;
    const uint32_t edge = c->rcv.nxt + min_u32(tcp_receive_edge(weir, c) - c->rcv.nxt, 65535);
    struct tcp_segment syn;
    syn.source = c->local.port;
    syn.destination = c->remote.port;
    syn.seq = c->iss;
    syn.ack = 0;
    syn.flags = TCP_SYN;
    syn.window = (uint16_t)(edge - c->rcv.nxt);
    syn.options.ts_value = syn.options.ts_echo = 0;
    tcp_output_syn_options(weir, c, false, &syn.options);
    uint8_t *const tcp = flow_header(flow, tcp_params(c, tcp_ecn_tos_bare(c)), TCP_SYN_BYTES, 0);
    tcp_emit_syn(tcp, &syn, flow->template.pseudo_sum);
    const enum weir_tx_verdict verdict = netif_offer(c->path.netif, &flow->template.tx);
    plan->run = verdict < WEIR_TX_FULL;
    if (plan->run)
        segments_left(weir, c, edge, 1, flow->template.tx.length);
    return verdict;
}

// A run of segments of `length` bytes each.
static HOT_INLINE enum weir_tx_verdict send_run(struct weir *weir, struct tcp_conn *c, struct tcp_plan *plan,
                                                uint32_t length)
{
    const bool fits = c->flags & TCP_USE_TIMESTAMPS && !(c->attention & ATTEND_HEADER) && length <= c->mss;
    struct flow *const flow = fits ? flow_template(weir, &c->path, c->local.addr, c->remote.addr) : NULL;
    if (!flow)
        return WEIR_TX_UNRESOLVED;
    const uint32_t edge = tcp_receive_edge(weir, c), run = length ? plan->run : 1;
    const uint8_t tos = length && !tcp_plan_stale(plan) ? c->tos : tcp_ecn_tos_bare(c);
    uint8_t *const tcp = flow_header(flow, tcp_params(c, tos), TCP_TIMESTAMPED_BYTES, length);
    const uint64_t sum = write_alike(weir, c, flow, tcp, length, edge);
    struct weir_tx *const tx = &flow->template.tx;
    struct weir_span piece = {0};
    uint32_t left = run, seq = plan->seq, payload_sum = 0;
    tx->hold_owner = c;
    tx->holdable = tcp_plan_new(plan) && tcp_worth_holding(length);
    enum weir_tx_verdict verdict = WEIR_TX_UNRESOLVED;
    do {
        if (length && (payload_sum = lend(weir, c, &flow->template, tcp + TCP_TIMESTAMPED_BYTES, seq, length,
                                          &piece)) == TOO_MANY_PIECES)
            break;
        write_own(tcp, sum, seq, left == 1 ? plan->flags : plan->flags & ~TCP_PSH, payload_sum);
        verdict = netif_offer(c->path.netif, tx);
        if (verdict == WEIR_TX_FULL)
            break;
        if (verdict == WEIR_TX_HELD)
            tcp_held_begin(c, seq, seq + length);
        seq += length;
    } while (--left && netif_open(c->path.netif));
    if (verdict == WEIR_TX_UNRESOLVED)
        return verdict;
    plan->run = run - left;
    if (!plan->run)
        return verdict;
    segments_left(weir, c, edge, plan->run, tx->length);
    plan->end -= left * length;
    if (left)
        plan->flags &= (uint8_t)~TCP_PSH;
    return verdict;
}

enum weir_tx_verdict tcp_template_data(struct weir *weir, struct tcp_conn *c, struct tcp_plan *plan)
{
    return send_run(weir, c, plan, plan->payload);
}
enum weir_tx_verdict tcp_template_control(struct weir *weir, struct tcp_conn *c, struct tcp_plan *plan)
{
    return plan->flags & TCP_SYN ? send_syn(weir, c, plan) : send_run(weir, c, plan, 0);
}
