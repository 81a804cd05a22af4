// SPDX-License-Identifier: BSD-2-Clause
// Every parser of src/wire: no byte beyond the length is read, and what was parsed and emitted again parses to the
// same.
#include "fuzz.h"
#include "wire/arp.h"
#include "wire/ethernet.h"
#include "wire/icmp4.h"
#include "wire/igmp.h"
#include "wire/ip4.h"
#include "wire/tcp.h"
#include "wire/udp.h"

static void fuzz_ethernet(const uint8_t *bytes, uint32_t length)
{
    struct ethernet header;
    uint32_t parsed = ethernet_parse(bytes, length, &header);
    if (!parsed)
        return;
    CHECK(parsed <= length);
    uint8_t again[ETHERNET_BYTES + VLAN_BYTES];
    const uint8_t *start = ethernet_emit(again + sizeof again, &header);
    struct ethernet second;
    CHECK(ethernet_parse(start, (uint32_t)(again + sizeof again - start), &second) == parsed);
    CHECK(second.type == header.type && second.vlan == header.vlan && second.tagged == header.tagged);
    CHECK(memcmp(second.destination, header.destination, 6) == 0 && memcmp(second.source, header.source, 6) == 0);
}

static void fuzz_arp(const uint8_t *bytes, uint32_t length)
{
    struct arp_packet arp, second;
    if (!arp_parse(bytes, length, &arp))
        return;
    uint8_t again[ARP_BYTES];
    arp_emit(again, &arp);
    CHECK(arp_parse(again, sizeof again, &second));
    CHECK(memcmp(again, bytes, sizeof again) == 0);
}

static void fuzz_ip4(const uint8_t *bytes, uint32_t length)
{
    struct ip4 header, second;
    for (int trusted = 0; trusted < 2; trusted++) {
        if (ip4_parse(bytes, length, trusted, &header) != IP4_OK)
            continue;
        CHECK(header.total_length <= length && header.header_length <= header.total_length &&
              header.header_length >= IP4_BYTES);
        (void)ip4_options_acceptable(bytes + IP4_BYTES, header.header_length - IP4_BYTES);
        uint8_t *again = malloc(header.total_length);
        CHECK(again != NULL);
        memset(again, 0, header.total_length);
        ip4_emit(again, &header);
        CHECK(ip4_parse(again, header.total_length, false, &second) == IP4_OK);
        CHECK(second.source == header.source && second.destination == header.destination &&
              second.fragment_offset == header.fragment_offset);
        CHECK(second.total_length == header.total_length && second.flags == header.flags && second.ttl == header.ttl);
        free(again);
    }
}

static void fuzz_icmp4(const uint8_t *bytes, uint32_t length)
{
    struct icmp4 header;
    if (!icmp4_parse(bytes, length, &header))
        return;
    uint8_t again[ICMP4_BYTES];
    icmp4_emit(again, &header);
    CHECK(again[0] == bytes[0] && again[1] == bytes[1] && memcmp(again + 4, bytes + 4, 4) == 0);
}

static void fuzz_igmp(const uint8_t *bytes, uint32_t length)
{
    struct igmp message;
    if (igmp_parse(bytes, length, &message) && message.type == IGMP_QUERY)
        CHECK(message.version >= 1 && message.version <= 3);
}

static void fuzz_udp(const uint8_t *bytes, uint32_t length)
{
    struct udp_header header;
    if (udp_parse(bytes, length, &header))
        CHECK(header.length >= UDP_BYTES && header.length <= length);
}

static void fuzz_tcp(const uint8_t *bytes, uint32_t length)
{
    struct tcp_segment segment, second;
    if (!tcp_parse(bytes, length, &segment))
        return;
    CHECK(segment.header_length >= TCP_BYTES && segment.header_length <= length);
    CHECK(segment.options.sack_count <= 4);
    uint8_t again[TCP_BYTES + TCP_OPTIONS_MAX] = {0};
    struct tcp_options options = segment.options;
    options.seen &= (uint8_t) ~(TCP_SEEN_BAD | TCP_SEEN_USER_TIMEOUT);
    uint32_t written = tcp_options_emit(again + TCP_BYTES, &options);
    CHECK(written <= TCP_OPTIONS_MAX && written % 4 == 0);
    segment.header_length = (uint8_t)(TCP_BYTES + written);
    tcp_emit(again, &segment);
    CHECK(tcp_parse(again, TCP_BYTES + written, &second));
    CHECK(second.seq == segment.seq && second.ack == segment.ack && second.flags == segment.flags &&
          second.window == segment.window);
    CHECK(!(second.options.seen & TCP_SEEN_BAD));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static void (*const parsers[])(const uint8_t *, uint32_t) = {fuzz_ethernet, fuzz_arp, fuzz_ip4, fuzz_icmp4,
                                                                 fuzz_igmp,     fuzz_udp, fuzz_tcp};
    if (!size)
        return 0;
    uint32_t length = (uint32_t)size - 1;
    uint8_t *bytes = exact_copy(data + 1, length);
    parsers[data[0] % (sizeof parsers / sizeof *parsers)](bytes, length);
    free(bytes);
    return 0;
}
