// SPDX-License-Identifier: BSD-2-Clause
// IPv4 (RFC 791, 1122 §3.2) for one address, without fragments, and ICMP echo.
#include "base/checksum.h"
#include "compact/compact.h"
#include "wire/ethernet.h"
#include "wire/icmp4.h"
#include "wire/ip4.h"
#include "wire/tcp.h"

#define IP_TTL 64u

// Headers are short, of whole words, and in one piece.
LOCAL uint16_t header_sum(const uint8_t *header, uint32_t bytes)
{
    uint32_t sum = 0;
    for (const uint8_t *end = header + bytes; header < end; header += 4) {
        const uint32_t word = native32(header);
        sum += word;
        sum += sum < word;  // the carry comes round
    }
    return checksum_fold(sum);
}

LOCAL void frame_copy(const struct weir_frame *frame, uint32_t offset, uint8_t *to, uint32_t length)
{
    for (const struct weir_slice *slice = frame->slices; length; slice++) {
        if (offset >= slice->length) {
            offset -= slice->length;
            continue;
        }
        const uint32_t bytes = min_u32(slice->length - offset, length);
        memcpy(to, slice->data + offset, bytes);
        to += bytes;
        length -= bytes;
        offset = 0;
    }
}

static uint16_t frame_sum(const struct weir *weir, const struct weir_frame *frame, uint32_t offset, uint32_t length)
{
    return checksum_slices(weir->port, frame->slices, frame->count, offset, length);
}

LOCAL uint16_t pseudo_sum(const struct weir *weir, const uint8_t address[4], uint32_t protocol, uint32_t length, uint16_t sum)
{
    const uint32_t own = weir->netif->address.v4, other = get32(address);
    const uint32_t total = (own >> 16) + (own & 0xffff) + (other >> 16) + (other & 0xffff) + protocol + length;
    return checksum_add(checksum_word(checksum_fold(total)), sum);
}

LOCAL void ip_header(const struct weir *weir, uint8_t *head, const uint8_t address[4], uint32_t protocol, uint32_t payload_length)
{
    put16(head, 0x4500);
    put16(head + 2, IP4_BYTES + payload_length);
    put32(head + 4, IP4_DONT_FRAGMENT << 13);  // RFC 6864: an atomic datagram needs no identification
    put32(head + 8, IP_TTL << 24 | protocol << 16);
    put32(head + 12, weir->netif->address.v4);
    memcpy(head + 16, address, 4);
    checksum_put(head + 10, header_sum(head, IP4_BYTES));
}

// RFC 1122 §3.2.2.6: the data comes back as it was. What is larger than the outbox is not answered.
static void echo_input(struct weir *weir, const struct weir_frame *frame, const uint8_t *ip, uint32_t offset, uint32_t length)
{
    const uint8_t *icmp = frame->slices[0].data + offset;
    if (length < ICMP4_BYTES || get16(icmp) != ICMP4_ECHO << 8 || frame_sum(weir, frame, offset, length) != 0xffff)
        return;
    uint8_t *reply = outbox_frame(weir, frame->slices[0].data + 6, ETHERNET_BYTES + IP4_BYTES + length);
    if (!reply)
        return;
    ip_header(weir, reply + ETHERNET_BYTES, ip + 12, IP_ICMP, length);
    reply += ETHERNET_BYTES + IP4_BYTES;
    frame_copy(frame, offset, reply, length);
    put32(reply, ICMP4_ECHO_REPLY << 24);
    checksum_put(reply + 2, checksum_sum(weir->port, reply, length));
}

// A source that is a group, this host itself, or no host at all gets no answer (RFC 1122 §3.2.1.3).
static bool source_acceptable(const struct weir *weir, const uint8_t *source)
{
    return source[0] && source[0] != 127 && source[0] < 224 && get32(source) != weir->netif->address.v4;
}

// `segment` holds what IP knows: the whole of the TCP segment as its payload.
static void tcp_parse_input(struct weir *weir, struct segment *segment, const uint8_t *ip, const uint8_t *tcp)
{
    const uint32_t header = segment->length < TCP_BYTES ? 0 : (uint32_t)(tcp[12] >> 4) * 4;
    if (header < TCP_BYTES || header > segment->length ||
        (segment->frame->checksum != WEIR_CHECKSUM_VERIFIED &&
         pseudo_sum(weir, ip + 12, IP_TCP, segment->length, frame_sum(weir, segment->frame, segment->offset, segment->length)) != 0xffff))
        return;
    segment->offset += header;
    segment->length -= header;
    memcpy(segment->peer.address, ip + 12, 4);
    memcpy(segment->peer.port, tcp, 4);  // both ports
    memcpy(segment->peer.mac, segment->frame->slices[0].data + 6, 6);
    segment->options = tcp + TCP_BYTES;
    segment->sequence = get32(tcp + 4);
    segment->ack = get32(tcp + 8);
    segment->flags = tcp[13];
    segment->window = get16(tcp + 14);
    tcp_input(weir, segment);
}

LOCAL void ip_input(struct weir *weir, const struct weir_frame *frame)
{
    const uint8_t *ip = frame->slices[0].data + ETHERNET_BYTES;
    const uint32_t at_hand = frame->length - ETHERNET_BYTES;
    if (at_hand < IP4_BYTES)
        return;
    const uint32_t header = (ip[0] & 0xfu) * 4, total = get16(ip + 2);
    if (ip[0] >> 4 != 4 || header < IP4_BYTES || total < header || total > at_hand || header_sum(ip, header) != 0xffff)
        return;
    if (get16(ip + 6) & 0x3fff || get32(ip + 16) != weir->netif->address.v4 || !source_acceptable(weir, ip + 12))
        return;              // a fragment, or not from one host to us
    struct segment segment;  // filled in step by step: it is not small
    segment.frame = frame;
    segment.length = total - header;
    segment.offset = ETHERNET_BYTES + header;
    if (ip[9] == IP_ICMP)
        echo_input(weir, frame, ip, segment.offset, segment.length);
    else if (ip[9] == IP_TCP)
        tcp_parse_input(weir, &segment, ip, ip + header);
}
