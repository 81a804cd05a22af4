// SPDX-License-Identifier: BSD-2-Clause
#include "xinu.h"

#include <string.h>

#include "weir/instance.h"
#include "wire/arp.h"
#include "wire/ethernet.h"
#include "wire/ip4.h"
#include "wire/tcp.h"

#define RTO_FIRST_US 500000u
#define RTO_MOST_US 32000000u
#define PERSIST_MOST_MS 64000u
#define US(n) ((uint64_t)(n)*1000u)  // ns
#define SENT_WINDOW 16384u           // of its own receiving side, which gets nothing

// --- frames ----------------------------------------------------------------------------------------------------------

static void frame_begin(const struct xinu *x, uint8_t *frame, const uint8_t *to, uint16_t type)
{
    memcpy(frame, to, 6);
    memcpy(frame + 6, x->mac, 6);
    put16(frame + 12, type);
}

static void answer_arp(struct xinu *x, const uint8_t *bytes, uint32_t length)
{
    struct arp_packet arp;
    uint8_t frame[ETHERNET_BYTES + ARP_BYTES];
    if (!arp_parse(bytes, length, &arp) || arp.operation != ARP_REQUEST || arp.target != x->address)
        return;
    struct arp_packet reply = {.operation = ARP_REPLY, .sender = x->address, .target = arp.sender};
    memcpy(reply.sender_mac, x->mac, 6);
    memcpy(reply.target_mac, arp.sender_mac, 6);
    frame_begin(x, frame, arp.sender_mac, ETHERTYPE_ARP);
    arp_emit(frame + ETHERNET_BYTES, &reply);
    x->send(x->context, frame, sizeof frame);
}

// The file's byte at a place; so a reader can check what it got.
static uint8_t pattern(uint32_t at) { return (uint8_t)(at * 31 + (at >> 8) * 7 + (at >> 16)); }

static void send_segment(struct xinu *x, uint8_t flags, uint32_t seq, uint32_t bytes)
{
    const struct weir_port none = {0};
    uint8_t frame[ETHERNET_BYTES + 1500];
    uint8_t *ip = frame + ETHERNET_BYTES, *tcp = ip + IP4_BYTES;
    struct tcp_segment segment = {.seq = seq,
                                  .ack = x->irs + 1,
                                  .source = x->port,
                                  .destination = x->peer_port,
                                  .window = SENT_WINDOW,
                                  .flags = flags,
                                  .header_length = TCP_BYTES};
    if (flags & TCP_SYN) {
        segment.options = (struct tcp_options){.seen = TCP_SEEN_MSS, .mss = x->options.mss};
        segment.header_length = (uint8_t)(TCP_BYTES + tcp_options_emit(tcp + TCP_BYTES, &segment.options));
    }
    tcp_emit(tcp, &segment);
    for (uint32_t i = 0; i < bytes; i++)
        tcp[segment.header_length + i] = pattern(seq + i - x->iss - 1);
    const uint32_t length = segment.header_length + bytes;
    const uint16_t sum =
        checksum_add(ip4_pseudo_sum(x->address, x->peer, IP_TCP, length), checksum_sum(&none, tcp, length));
    checksum_put(tcp + 16, sum);
    const struct ip4 header = {.source = x->address,
                               .destination = x->peer,
                               .total_length = (uint16_t)(IP4_BYTES + length),
                               .ttl = 64,
                               .protocol = IP_TCP};
    ip4_emit(ip, &header);
    frame_begin(x, frame, x->peer_mac, ETHERTYPE_IP4);
    x->stats.segments++;
    x->send(x->context, frame, ETHERNET_BYTES + IP4_BYTES + length);
}

// --- sending ---------------------------------------------------------------------------------------------------------

static void arm_rto(struct xinu *x)
{
    uint64_t us = (uint64_t)x->rto_us << min_u32(x->backoff, 16);
    x->rto_ns = x->now_ns + US(us > RTO_MOST_US ? RTO_MOST_US : us);
}

static void send_data(struct xinu *x, uint32_t seq, uint32_t bytes)
{
    const bool again = seq_lt(seq, x->most);
    const bool fin = seq + bytes == x->end;  // whose last number is the FIN's
    send_segment(x, TCP_ACK | (fin ? TCP_FIN : 0), seq, bytes - fin);
    x->stats.retransmits += again;
    if (!again && !x->timing) {
        x->timing = true;
        x->timed_end = seq + bytes;
        x->timed_ns = x->now_ns;
    }
    if (again)
        x->timing = false;  // Karn
    x->most = seq_max(x->most, seq + bytes);
    if (x->rto_ns == XINU_NEVER)
        arm_rto(x);
}

static uint32_t least(uint32_t a, uint32_t b, uint32_t c) { return min_u32(min_u32(a, b), c); }

// As much as the windows allow. A short segment goes when it is the file's last, or all the peer's window has room for.
static void push(struct xinu *x)
{
    while (x->open && !x->probing && seq_lt(x->nxt, x->end)) {
        const uint32_t used = x->nxt - x->una, window = x->window > used ? x->window - used : 0;
        const uint32_t room = x->cwnd > used ? x->cwnd - used : 0;
        const uint32_t bytes = least(x->end - x->nxt, window, x->options.mss);
        if (!bytes || room < bytes)
            break;
        send_data(x, x->nxt, bytes);
        x->nxt += bytes;
    }
    if (x->open && !x->window && x->una == x->most && seq_lt(x->una, x->end) && !x->probing) {
        x->probing = true;
        x->persist_us = x->options.persist_ms * 1000;
        x->persist_ns = x->now_ns + US(x->persist_us);
    }
}

static void persist_fired(struct xinu *x)
{
    x->stats.probes++;
    x->persist_us = min_u32(x->persist_us * 2, PERSIST_MOST_MS * 1000);
    x->persist_ns = x->now_ns + US(x->persist_us);
    send_segment(x, TCP_ACK, x->una, min_u32(x->end - 1 - x->una, x->options.mss));
}

static void rto_fired(struct xinu *x)
{
    x->rto_ns = XINU_NEVER;
    if (x->una == x->most)
        return;
    x->stats.timeouts++;
    x->ssthresh = max_u32((x->most - x->una) / 2, 2u * x->options.mss);
    x->cwnd = x->options.mss;
    x->recovering = false;
    x->duplicates = 0;
    x->nxt = x->una;
    x->backoff++;
    x->timing = false;
    arm_rto(x);
    if (x->window) {
        push(x);
    } else {  // the window closed over what was sent: it is the receiver's to open, but what is lost must come again
        send_data(x, x->una, min_u32(x->most - x->una, x->options.mss));
        x->nxt = x->una;
    }
}

// --- ACKs ------------------------------------------------------------------------------------------------------------

static void sample_rtt(struct xinu *x, uint32_t ack)
{
    if (!x->timing || !seq_le(x->timed_end, ack))
        return;
    const uint32_t us = (uint32_t)((x->now_ns - x->timed_ns) / 1000) + 1;
    x->timing = false;
    if (!x->srtt8) {
        x->srtt8 = us * 8;
        x->rttvar4 = us * 2;
    } else {
        const uint32_t srtt = x->srtt8 >> 3, error = us > srtt ? us - srtt : srtt - us;
        x->rttvar4 += error - (x->rttvar4 >> 2);
        x->srtt8 += us - srtt;
    }
    x->rto_us = max_u32((x->srtt8 >> 3) + x->rttvar4, x->options.rto_least_ms * 1000);
}

static void resend_first(struct xinu *x) { send_data(x, x->una, min_u32(x->most - x->una, x->options.mss)); }

static void advanced(struct xinu *x, uint32_t ack)
{
    const uint32_t acked = ack - x->una;
    sample_rtt(x, ack);
    x->backoff = 0;  // Xinu's: not as RFC 6298 §5.7 has it
    x->una = ack;
    x->nxt = seq_max(x->nxt, ack);
    x->duplicates = 0;
    if (x->recovering) {
        x->recovering = false;
        x->cwnd = x->ssthresh;
    } else if (x->cwnd < x->ssthresh) {
        x->cwnd += min_u32(acked, x->options.mss);
    } else {
        x->cwnd += max_u32((uint32_t)x->options.mss * x->options.mss / x->cwnd, 1);
    }
    x->cwnd = min_u32(x->cwnd, 65535);
    if (x->una == x->most)
        x->rto_ns = XINU_NEVER;
    else
        arm_rto(x);
}

static void duplicate(struct xinu *x)
{
    if (x->options.no_fast_retransmit)
        return;
    if (x->recovering) {
        x->cwnd += x->options.mss;
    } else if (++x->duplicates == 3) {
        x->stats.fast_retransmits++;
        x->ssthresh = max_u32((x->most - x->una) / 2, 2u * x->options.mss);
        x->cwnd = x->ssthresh + 3u * x->options.mss;
        x->recovering = true;
        resend_first(x);
        arm_rto(x);
    }
}

static void window_update(struct xinu *x, const struct tcp_segment *segment)
{
    if (!(seq_lt(x->window_seq, segment->seq) ||
          (x->window_seq == segment->seq && seq_le(x->window_ack, segment->ack))))
        return;
    const uint32_t old_end = x->window_ack + x->window;
    x->window = segment->window;
    x->window_seq = segment->seq;
    x->window_ack = segment->ack;
    if (seq_lt(old_end, segment->ack + segment->window)) {
        x->probing = false;
        x->persist_ns = XINU_NEVER;
    }
}

static void take_ack(struct xinu *x, const struct tcp_segment *segment)
{
    const uint32_t before = x->window;
    if (seq_lt(x->most, segment->ack)) {
        x->stats.unsent_acks++;
        if (x->probing && seq_le(segment->ack, x->una + x->options.mss)) {
            // what a probe carried was taken after all
        } else if (x->options.silent) {
            return;
        } else {
            window_update(x, segment);
            send_segment(x, TCP_ACK, x->most, 0);
            push(x);
            return;
        }
        x->most = segment->ack;
    }
    window_update(x, segment);
    if (seq_lt(x->una, segment->ack))
        advanced(x, segment->ack);
    else if (segment->ack == x->una && x->una != x->most && before == segment->window)
        duplicate(x);
    push(x);
}

static void take_syn(struct xinu *x, const struct tcp_segment *segment, uint32_t peer)
{
    if (x->peer && (x->peer != peer || x->peer_port != segment->source))
        return;
    x->peer = peer;
    x->peer_port = segment->source;
    x->irs = segment->seq;
    if (segment->options.seen & TCP_SEEN_MSS && segment->options.mss < x->options.mss)
        x->options.mss = segment->options.mss;
    x->una = x->nxt = x->most = x->iss + 1;
    x->end = x->una + x->options.bytes + 1;
    x->window = segment->window;
    x->window_seq = segment->seq;
    x->window_ack = x->una;
    x->cwnd = 2u * x->options.mss;
    x->ssthresh = 65535;
    x->rto_us = RTO_FIRST_US;
    send_segment(x, TCP_SYN | TCP_ACK, x->iss, 0);
}

void xinu_input(struct xinu *x, uint64_t now_ns, const uint8_t *frame, uint32_t length)
{
    struct ethernet link;
    struct ip4 ip;
    struct tcp_segment segment = {0};
    x->now_ns = now_ns;
    const uint32_t header = ethernet_parse(frame, length, &link);
    if (header && link.type == ETHERTYPE_ARP)
        answer_arp(x, frame + header, length - header);
    if (!header || link.type != ETHERTYPE_IP4 || ip4_parse(frame + header, length - header, false, &ip) != IP4_OK ||
        ip.destination != x->address || ip.protocol != IP_TCP)
        return;
    if (!tcp_parse(frame + header + ip.header_length, ip.total_length - ip.header_length, &segment) ||
        segment.destination != x->port)
        return;
    memcpy(x->peer_mac, link.source, 6);
    if (segment.flags & TCP_SYN) {
        take_syn(x, &segment, ip.source);
    } else if (x->peer == ip.source && segment.flags & TCP_ACK) {
        x->open = true;
        take_ack(x, &segment);
    }
}

void xinu_poll(struct xinu *x, uint64_t now_ns)
{
    x->now_ns = now_ns;
    if (x->rto_ns <= now_ns)
        rto_fired(x);
    if (x->persist_ns <= now_ns)
        persist_fired(x);
}

void xinu_open(struct xinu *x, uint32_t address, uint16_t port, uint32_t iss, const struct xinu_options *options,
               void (*send)(void *context, const uint8_t *frame, uint32_t length), void *context)
{
    memset(x, 0, sizeof *x);
    x->send = send;
    x->context = context;
    x->options = *options;
    x->address = address;
    x->port = port;
    x->iss = iss;
    x->rto_ns = x->persist_ns = XINU_NEVER;
    x->mac[0] = 2;
    put32(x->mac + 2, address);
}
