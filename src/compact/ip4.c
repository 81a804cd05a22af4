// SPDX-License-Identifier: BSD-2-Clause
// IPv4 (RFC 791, 1122 §3.2) for one address, without fragments, ICMP echo, and ARP answers (RFC 826).
#include "base/checksum.h"
#include "compact/compact.h"
#include "compact/udp.h"
#include "wire/arp.h"
#include "wire/ethernet.h"
#include "wire/icmp4.h"
#include "wire/ip4.h"
#include "wire/tcp.h"

#define IP_TTL 64u

LOCAL uint64_t ip_header(const struct weir *weir, uint8_t *head, const struct peer *peer, uint32_t protocol,
                         uint32_t payload_length)
{
    const uint64_t ours = word_put(head + 12, 0, network32(weir_addr_to_v4(weir->netif->address.addr))),
                   addresses = word_put(head + 16, ours, native32(peer->address));
    uint64_t sum = word_put(head, addresses, network32(0x4500u << 16 | (IP4_BYTES + payload_length)));
    // RFC 6864: an atomic datagram needs no identification
    sum = word_put(head + 4, sum, network32(IP4_DONT_FRAGMENT << 13));
    sum = word_put(head + 8, sum, network32(IP_TTL << 24 | protocol << 16));
    checksum_put(head + 10, checksum_fold_words(sum));
    return addresses;
}

// RFC 1122 §3.2.2.6: the data comes back as it was. What is larger than the outbox is not answered.
static COLD void echo_input(struct weir *weir, const struct weir_frame *frame, const struct peer *peer, uint32_t offset,
                            uint32_t length)
{
    const uint8_t *icmp = frame->slices[0].data + offset;
    if (length < ICMP4_BYTES || get16(icmp) != ICMP4_ECHO << 8 || frame_sum(weir, frame, offset, length) != 0xffff)
        return;
    uint8_t *reply = outbox_frame(weir, frame->slices[0].data + 6, ETHERNET_BYTES + IP4_BYTES + length);
    if (!reply)
        return;
    ip_header(weir, reply + ETHERNET_BYTES, peer, IP_ICMP, length);
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

// Requests for our address are answered, also those of a prober, whose own is 0 (RFC 5227 §2.1.1: that is our defence).
static void arp_input(struct weir *weir, const uint8_t *frame, uint32_t length)
{
    static const uint8_t request[8] = {0, 1, 8, 0, 6, 4, 0, ARP_REQUEST};  // Ethernet, IPv4, their lengths
    const uint8_t *arp = frame + ETHERNET_BYTES;
    const uint32_t address = weir_addr_to_v4(weir->netif->address.addr);
    if (length < ETHERNET_BYTES + ARP_BYTES || memcmp(arp, request, sizeof request) != 0 || !address ||
        get32(arp + 24) != address)
        return;
    uint8_t *reply = outbox_frame(weir, frame + 6, ETHERNET_BYTES + ARP_BYTES);
    if (!reply)
        return;
    put16(reply + 12, ETHERTYPE_ARP);
    memcpy(reply += ETHERNET_BYTES, request, sizeof request);
    reply[7] = ARP_REPLY;
    memcpy(reply + 8, weir->netif->mac, 6);
    put32(reply + 14, address);
    memcpy(reply + 18, arp + 8, 10);
}

static void ip4_input(struct weir *weir, const struct weir_frame *frame)
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
        echo_input(weir, frame, &segment.peer, segment.offset, segment.length);
    else if (ip[9] == IP_TCP && (frame->checksum == WEIR_CHECKSUM_VERIFIED ||
                                 checksum_fold_words(addresses + pseudo_word(IP_TCP, segment.length) +
                                                     frame_sum(weir, frame, segment.offset, segment.length)) == 0xffff))
        tcp_input(weir, &segment, ip + header);
    else if (DATAGRAMS && ip[9] == IP_UDP)
        udp_input(weir, &segment, ip + header, addresses);
}

LOCAL void ip_input(struct weir *weir, const struct weir_frame *frame)
{
    const uint8_t *head = frame->slices[0].data;
    const uint32_t type = get16(head + 12);
    if (type == ETHERTYPE_ARP)
        arp_input(weir, head, frame->length);
    // RFC 1122 §3.3.6: what was broadcast is not for one host's address
    else if (type == ETHERTYPE_IP4 && frame_is_ours(weir, head) && !predicted_input(weir, frame))
        ip4_input(weir, frame);
}

int weir_netif_set_address(struct weir_netif *netif, struct weir_addr address, uint8_t prefix_length,
                           enum weir_address_mode mode)
{
    (void)mode;  // who only answers neither probes nor announces
    if (!netif->weir || prefix_length > 32 || weir_addr_to_v4(address) >> 24 >= 224 || weir_addr_is_loopback(address))
        return WEIR_INVALID;
    netif->address.addr = address;
    netif->address.prefix_length = prefix_length;
    netif->address.state = weir_addr_is_any(address) ? WEIR_ADDRESS_NONE : WEIR_ADDRESS_READY;
    return WEIR_OK;
}
