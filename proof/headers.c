// SPDX-License-Identifier: BSD-2-Clause
// Every parser of a header on every input, every writer on every value: no read or write beyond what it was given, none
// of memory that was never written, and no other undefined behaviour.
#include "frames.h"

#include "wire/arp.h"
#include "wire/ethernet.h"
#include "wire/icmp4.h"
#include "wire/icmp6.h"
#include "wire/igmp.h"
#include "wire/ip4.h"
#include "wire/mld.h"
#include "wire/tcp.h"
#include "wire/udp.h"

static uint8_t address_a[IP6_ADDRESS_BYTES], address_b[IP6_ADDRESS_BYTES];

// --- parsers -------------------------------------------------------------------------------------------------------

static void ethernet_in(const uint8_t *bytes, uint32_t length)
{
    struct ethernet header;
    const uint32_t used = ethernet_parse(bytes, length, &header);
    //@ check used == 0 || used == ETHERNET_BYTES || used == ETHERNET_BYTES + VLAN_BYTES;
    //@ check used <= length;
}

static void arp_in(const uint8_t *bytes, uint32_t length)
{
    struct arp_packet packet;
    arp_parse(bytes, length, &packet);
}

static void ip6_in(const uint8_t *bytes, uint32_t length)
{
    struct ip6 header;
    ip6_parse(bytes, length, &header);
}

// Word by word of what says how long a header is, since its sum is taken over so many bytes.
static void ip4_in(const uint8_t *bytes, uint32_t length)
{
    struct ip4 header;
    uint8_t *const first = place + (bytes - place);
    for (uint32_t words = 0; words < 16; words++) {
        if (length)
            *first = (uint8_t)(Frama_C_unsigned_char_interval(0, 15) << 4 | words);
        ip4_parse(bytes, length, any_bool(), &header);
        //@ slevel merge;
    }
}

// The walk over its options is proven apart (src/wire/tcp.c); here its contract stands for it.
static void tcp_in(const uint8_t *bytes, uint32_t length)
{
    struct tcp_segment segment;
    tcp_parse(bytes, length, &segment);
}

static void udp_in(const uint8_t *bytes, uint32_t length)
{
    struct udp_header header;
    udp_parse(bytes, length, &header);
}

static void icmp_in(const uint8_t *bytes, uint32_t length)
{
    struct icmp4 four;
    struct icmp6 six;
    icmp4_parse(bytes, length, &four);
    icmp6_parse(bytes, length, &six);
}

static void igmp_in(const uint8_t *bytes, uint32_t length)
{
    struct igmp message;
    igmp_parse(bytes, length, &message);
}

static void mld_in(const uint8_t *bytes, uint32_t length)
{
    struct icmp6_arrival arrival = {.source = address_a, .destination = address_b};
    struct mld message;
    arrival.hop_limit = Frama_C_unsigned_char_interval(0, 255);
    arrival.router_alert = any_bool();
    mld_parse(bytes, length, &arrival, &message);
}

static void addresses(void)
{
    uint8_t group[IP6_ADDRESS_BYTES];
    ip6_solicited_node(address_a, group);
    ip6_addresses_acceptable(address_a, address_b);
    for (uint32_t bits = 0; bits <= 128; bits++)
        ip6_prefix_equal(address_a, address_b, bits);
    mld_is_reported(address_a);
    ip6_pseudo_sum(address_a, address_b, Frama_C_unsigned_char_interval(0, 255),
                   Frama_C_unsigned_int_interval(0, UINT32_MAX));
}

// --- writers: each has as many bytes as it says that it writes, and no more ----------------------------------------

static void link_out(void)
{
    uint8_t frame[ETHERNET_BYTES + VLAN_BYTES], arp[ARP_BYTES];
    struct ethernet header = {.destination = address_a, .source = address_b};
    struct arp_packet packet;
    ANY(packet);
    header.type = Frama_C_unsigned_short_interval(0, UINT16_MAX);
    header.vlan = Frama_C_unsigned_short_interval(0, UINT16_MAX);
    header.tagged = any_bool();
    ethernet_emit(frame + sizeof frame, &header);
    arp_emit(arp, &packet);
    //@ check \initialized(arp + (0 .. 27));
}

static void ip_out(void)
{
    uint8_t four[IP4_BYTES], six[IP6_BYTES];
    struct ip4 header4;
    struct ip6 header6;
    ANY(header4);
    ANY(header6);
    header6.source = address_a;
    header6.destination = address_b;
    ip4_emit(four, &header4);
    ip6_emit(six, &header6);
    //@ check \initialized(four + (0 .. 19)) && \initialized(six + (0 .. 39));
}

static void transport_out(void)
{
    uint8_t udp[UDP_BYTES], tcp[TCP_BYTES], syn[TCP_SYN_BYTES], igmp[IGMP_BYTES], icmp[ICMP6_BYTES], mld[MLD_V1_BYTES],
        alert[MLD_ALERT_BYTES];
    struct udp_header header;
    struct tcp_segment segment;
    struct igmp message;
    struct icmp6 error;
    struct icmp4 error4;
    ANY(header);
    ANY(segment);
    ANY(message);
    ANY(error);
    ANY(error4);
    segment.accurate = any_bool();
    udp_emit(udp, &header);
    tcp_emit(tcp, &segment);
    tcp_emit_syn(syn, &segment, Frama_C_unsigned_int_interval(0, UINT32_MAX));
    igmp_emit(igmp, &message);
    icmp4_emit(icmp, &error4);
    icmp6_emit(icmp, &error);
    mld_v1_emit(mld, ICMP6_MLD_DONE, address_a);
    mld_alert_emit(alert);
    //@ check \initialized(udp + (0 .. 7)) && \initialized(tcp + (0 .. 19)) && \initialized(syn + (0 .. 39));
    //@ check \initialized(igmp + (0 .. 7)) && \initialized(icmp + (0 .. 7)) && \initialized(mld + (0 .. 23));
}

// Every choice of options at once, of as many SACK blocks and counters: 40 bytes are enough.
static void options_out(void)
{
    uint8_t bytes[TCP_OPTIONS_MAX];
    struct tcp_options options;
    ANY(options);
    for (uint32_t choice = 0; choice < 128 * 4 * 5; choice++) {
        options.seen = choice % 128;
        options.accecn.fields = choice / 128 % 4;
        options.sack_count = choice / 512;
        const uint32_t length = tcp_options_emit(bytes, &options);
        //@ slevel merge;
        //@ check length <= TCP_OPTIONS_MAX && length % 4 == 0;
    }
}

int main(void)
{
    ANY(address_a);
    ANY(address_b);
    for_every_length(ethernet_in);
    for_every_length(arp_in);
    for_every_length(ip4_in);
    for_every_length(ip6_in);
    for_every_length(tcp_in);
    for_every_length(udp_in);
    for_every_length(icmp_in);
    for_every_length(igmp_in);
    for_every_length(mld_in);
    addresses();
    link_out();
    ip_out();
    transport_out();
    options_out();
    return 0;
}
