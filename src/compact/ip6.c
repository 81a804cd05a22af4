// SPDX-License-Identifier: BSD-2-Clause
// IPv6 (RFC 8200) for two addresses, and ICMPv6 echo. Extension headers are passed over as far as they ask for nothing;
// a packet that is fragmented or routed, or has an option that must be known, is dropped in silence.
#include "base/checksum.h"
#include "compact/compact.h"
#include "compact/nd.h"
#include "compact/udp.h"
#include "wire/ethernet.h"
#include "wire/icmp6.h"
#include "wire/tcp.h"

#define OPTION_PAD1 0u
#define OPTION_MUST_BE_KNOWN 0xc0u  // of an option's type (RFC 8200 §4.2): neither bit is set where it may be skipped

LOCAL uint64_t ip_header(const struct weir *weir, uint8_t *head, const struct peer *peer, uint32_t protocol,
                         uint32_t payload_length)
{
    put32(head, 6u << 28);
    put32(head + 4, payload_length << 16 | protocol << 8 | weir->nd.hop_limit);
    memcpy(head + 8, own_address(weir->netif, peer->local)->addr.words, IP6_ADDRESS_BYTES);
    memcpy(head + 24, peer->address, IP6_ADDRESS_BYTES);
    return plain_addresses(weir->port, head);
}

// RFC 4443 §4.2: the data comes back as it was, also of a request to all. What is larger than the outbox, or than every
// link takes, is not answered.
static COLD void echo_input(struct weir *weir, const struct segment *segment)
{
    const uint32_t length = segment->length;
    if (length > IP6_MTU_MIN - IP6_BYTES || !local_ready(weir->netif, &segment->peer))
        return;
    uint8_t *reply = outbox_frame(weir, segment->frame->slices[0].data + 6, ETHERNET_BYTES + IP6_BYTES + length);
    if (!reply)
        return;
    const uint64_t sum = ip_header(weir, reply + ETHERNET_BYTES, &segment->peer, IP6_ICMP, length);
    reply += ETHERNET_BYTES + IP6_BYTES;
    frame_copy(segment->frame, segment->offset, reply, length);
    put32(reply, (uint32_t)ICMP6_ECHO_REPLY << 24);
    checksum_put(reply + 2,
                 checksum_fold_words(sum + pseudo_word(IP6_ICMP, length) + checksum_sum(weir->port, reply, length)));
}

// The addresses lie just before the payload, unless there are extension headers.
static bool sum_good(const struct weir *weir, const struct segment *segment, uint32_t protocol)
{
    const uint8_t *ip = segment->frame->slices[0].data + ETHERNET_BYTES;
    uint32_t before = 2 * IP6_ADDRESS_BYTES;
    uint64_t sum = pseudo_word(protocol, segment->length);
    if (segment->offset != ETHERNET_BYTES + IP6_BYTES) {
        sum += plain_addresses(weir->port, ip);
        before = 0;
    }
    sum += frame_sum(weir, segment->frame, segment->offset - before, segment->length + before);
    return checksum_fold_words(sum) == 0xffff;
}

static COLD void icmp_input(struct weir *weir, const struct segment *segment)
{
    const uint8_t *frame = segment->frame->slices[0].data, *icmp = frame + segment->offset;
    if (segment->length < ICMP6_BYTES)
        return;
    if (get16(icmp) != ICMP6_ECHO << 8)
        // A solicitation may come from nobody, an echo not. What does not lie in one piece is none of ours.
        nd_input(weir, frame, icmp, min_u32(segment->length, segment->frame->slices[0].length - segment->offset));
    else if (native32(segment->peer.address))
        echo_input(weir, segment);
}

// Whether all options of a header that is `length` bytes long may be skipped (RFC 8200 §4.2).
static bool options_skippable(const uint8_t *header, uint32_t length)
{
    uint32_t at = 2;
    while (at < length)
        if (header[at] == OPTION_PAD1)
            at++;
        else if (header[at] & OPTION_MUST_BE_KNOWN || at + 1 == length)
            return false;
        else
            at += 2u + header[at + 1];
    return at == length;
}

// Bytes of the extension headers at `at`, of which `room` are at hand, and what is behind them; IP6_NONE where that is
// not for us. Bounded by the room.
static uint32_t extensions_skip(const uint8_t *at, uint32_t room, uint8_t *next)
{
    uint32_t bytes = 0, length;
    while (*next == IP6_DESTINATION || *next == IP6_ROUTING || (*next == IP6_HOP_BY_HOP && !bytes)) {
        const uint8_t *header = at + bytes;
        length = room - bytes < 8 ? UINT32_MAX : (header[1] + 1u) * 8;
        if (length > room - bytes || (*next == IP6_ROUTING ? header[3] != 0 : !options_skippable(header, length))) {
            *next = IP6_NONE;
            break;
        }
        *next = header[0];
        bytes += length;
    }
    return bytes;
}

// The group that all hosts are in, or that one of our addresses is solicited by.
static bool group_is_ours(const struct weir *weir, const uint8_t *group)
{
    const struct weir_netif_address *a = &weir->netif->address;
    uint8_t ours[IP6_ADDRESS_BYTES];
    group_put(ours, GROUP_ALL_NODES);
    for (; a && !address_same(ours, group); a = a->next)
        group_put(ours, solicited_node(a));
    return address_same(ours, group);
}

// No group, not whom it goes to, and of ::/32, where loopback and IPv4 addresses are, nobody but ::.
static bool source_acceptable(const uint8_t *source)
{
    return native32(source) ? !ip6_is_multicast(source) && !address_same(source, source + IP6_ADDRESS_BYTES)
                            : address_is_none(source);
}

static void ip6_input(struct weir *weir, const struct weir_frame *frame)
{
    const uint8_t *head = frame->slices[0].data, *ip = head + ETHERNET_BYTES;
    const uint32_t at_hand = frame->length - ETHERNET_BYTES, payload = at_hand < IP6_BYTES ? 0 : get16(ip + 4);
    const bool group = head[0] & 1;
    if (!payload || ip[0] >> 4 != 6 || payload > at_hand - IP6_BYTES || !source_acceptable(ip + 8))
        return;
    const uint32_t own = own_of(weir->netif, ip + 24);
    // What a group of stations got is for a group of hosts.
    if (own == OWN_COUNT ? !group_is_ours(weir, ip + 24) : group)
        return;
    struct segment segment;  // filled in step by step: it is not small
    uint8_t next = ip[6];
    const uint32_t in_first = min_u32(payload, frame->slices[0].length - (ETHERNET_BYTES + IP6_BYTES)),
                   skipped = extensions_skip(ip + IP6_BYTES, in_first, &next);
    if (skipped && in_first != payload)
        return;  // a driver cannot know how far such headers reach
    segment.frame = frame;
    memcpy(segment.peer.address, ip + 8, IP6_ADDRESS_BYTES);
    segment.peer.local = (uint8_t)(own == OWN_COUNT ? OWN_LINK : own);
    segment.length = payload - skipped;
    segment.offset = ETHERNET_BYTES + IP6_BYTES + skipped;
    if (DATAGRAMS && next == IP6_UDP) {  // whose sum may cover less than the payload
        if (own != OWN_COUNT && native32(ip + 8))
            udp_input(weir, &segment, head + segment.offset, plain_addresses(weir->port, ip));
    } else if ((next == IP6_TCP && frame->checksum == WEIR_CHECKSUM_VERIFIED) || sum_good(weir, &segment, next)) {
        if (next == IP6_ICMP)
            icmp_input(weir, &segment);
        else if (next == IP6_TCP && own != OWN_COUNT && native32(ip + 8))
            tcp_input(weir, &segment, head + segment.offset);
    }
}

LOCAL void ip_input(struct weir *weir, const struct weir_frame *frame)
{
    const uint8_t *head = frame->slices[0].data;
    const bool ours = frame_is_ours(weir, head);
    if (get16(head + 12) == ETHERTYPE_IP6 && weir->nd.how && (ours || get16(head) == IP6_GROUP_MAC) &&
        !(ours && predicted_input(weir, frame)))
        ip6_input(weir, frame);
}
