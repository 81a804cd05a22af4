// SPDX-License-Identifier: BSD-2-Clause
// IPv4 (RFC 791, 1122 §3.2) for one address, without fragments, and ICMP echo.
#include "base/checksum.h"
#include "compact/compact.h"
#include "wire/ethernet.h"
#include "wire/icmp4.h"
#include "wire/ip4.h"
#include "wire/tcp.h"

#define IP_TTL 64u

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

LOCAL uint16_t frame_sum(const struct weir *weir, const struct weir_frame *frame, uint32_t offset, uint32_t length)
{
    if (offset + length > frame->slices[0].length)
        return checksum_slices(weir->port, frame->slices, frame->count, offset, length);
    return checksum_sum(weir->port, frame->slices[0].data + offset, length);
}

LOCAL uint64_t ip_header(const struct weir *weir, uint8_t *head, const uint8_t address[4], uint32_t protocol,
                         uint32_t payload_length)
{
    const uint64_t addresses = word_put(
        head + 16, word_put(head + 12, 0, network32(weir_addr_to_v4(weir->netif->address.addr))), native32(address));
    uint64_t sum = word_put(head, addresses, network32(0x4500u << 16 | (IP4_BYTES + payload_length)));
    // RFC 6864: an atomic datagram needs no identification
    sum = word_put(head + 4, sum, network32(IP4_DONT_FRAGMENT << 13));
    sum = word_put(head + 8, sum, network32(IP_TTL << 24 | protocol << 16));
    checksum_put(head + 10, checksum_fold_words(sum));
    return addresses;
}

// RFC 1122 §3.2.2.6: the data comes back as it was. What is larger than the outbox is not answered.
static COLD void echo_input(struct weir *weir, const struct weir_frame *frame, const uint8_t *ip, uint32_t offset,
                            uint32_t length)
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
    return source[0] && source[0] != 127 && source[0] < 224 &&
           get32(source) != weir_addr_to_v4(weir->netif->address.addr);
}

// `segment` holds what IP knows: the whole of the TCP segment as its payload. `sum`: the pseudo-header's.
static void tcp_parse_input(struct weir *weir, struct segment *segment, const uint8_t *tcp, uint64_t sum)
{
    const uint32_t header = segment->length < TCP_BYTES ? 0 : (uint32_t)(tcp[12] >> 4) * 4;
    if (header < TCP_BYTES || header > segment->length ||
        (segment->frame->checksum != WEIR_CHECKSUM_VERIFIED &&
         checksum_fold_words(sum + frame_sum(weir, segment->frame, segment->offset, segment->length)) != 0xffff))
        return;
    segment->offset += header;
    segment->length -= header;
    memcpy(segment->peer.ports, tcp, 4);  // both ports
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
    if (ip[0] - 0x45u > 10 || total < header || total > at_hand)  // version 4 and 5 to 15 words
        return;
    const uint64_t addresses = (uint64_t)native32(ip + 12) + native32(ip + 16);
    uint64_t sum = addresses + native32(ip) + native32(ip + 4) + native32(ip + 8);
    for (uint32_t at = IP4_BYTES; at < header; at += 4)
        sum += native32(ip + at);
    if (checksum_fold_words(sum) != 0xffff || get16(ip + 6) & 0x3fff ||
        get32(ip + 16) != weir_addr_to_v4(weir->netif->address.addr) || !source_acceptable(weir, ip + 12))
        return;              // damaged, a fragment, or not from one host to us
    struct segment segment;  // filled in step by step: it is not small
    segment.frame = frame;
    memcpy(segment.peer.address, ip + 12, 4);
    segment.length = total - header;
    segment.offset = ETHERNET_BYTES + header;
    if (ip[9] == IP_ICMP)
        echo_input(weir, frame, ip, segment.offset, segment.length);
    else if (ip[9] == IP_TCP)
        tcp_parse_input(weir, &segment, ip + header, addresses + pseudo_word(IP_TCP, segment.length));
    else if (DATAGRAMS && ip[9] == IP_UDP)
        udp_input(weir, &segment, ip + header, addresses);
}
