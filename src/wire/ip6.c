// SPDX-License-Identifier: BSD-2-Clause
#include "wire/ip6.h"

#define OPTION_PAD1 0u
#define OPTION_PADN 1u
#define OPTION_ROUTER_ALERT 5u
#define ALERT_MLD 0u
// RFC 8200 §4.2: the upper two bits of an option that is not known.
enum option_action { OPTION_SKIP = 0, OPTION_DROP = 1, OPTION_ANSWER = 2, OPTION_ANSWER_UNICAST = 3 };

enum ip6_verdict ip6_parse(const uint8_t *bytes, uint32_t length, struct ip6 *out)
{
    if (length < IP6_BYTES || bytes[0] >> 4 != 6)
        return IP6_BAD_HEADER;
    const uint32_t first = get32(bytes);
    out->traffic_class = (uint8_t)(first >> 20);
    out->flow_label = first & 0xfffff;
    out->payload_length = get16(bytes + IP6_PAYLOAD_LENGTH_AT);
    out->next_header = bytes[IP6_NEXT_HEADER_AT];
    out->hop_limit = bytes[7];
    out->source = bytes + 8;
    out->destination = bytes + 24;
    if (!out->payload_length)
        return IP6_JUMBO;
    return out->payload_length <= length - IP6_BYTES ? IP6_OK : IP6_BAD_LENGTH;
}

void ip6_emit(uint8_t bytes[IP6_BYTES], const struct ip6 *header)
{
    put32(bytes, 6u << 28 | (uint32_t)header->traffic_class << 20 | (header->flow_label & 0xfffff));
    put16(bytes + IP6_PAYLOAD_LENGTH_AT, header->payload_length);
    bytes[IP6_NEXT_HEADER_AT] = header->next_header;
    bytes[7] = header->hop_limit;
    memcpy(bytes + 8, header->source, IP6_ADDRESS_BYTES);
    memcpy(bytes + 24, header->destination, IP6_ADDRESS_BYTES);
}

uint16_t ip6_pseudo_sum(const uint8_t *source, const uint8_t *destination, uint8_t protocol, uint32_t length)
{
    const uint64_t words = (uint64_t)network32(length) + network32(protocol);
    return checksum_fold_words(words + checksum_words(source, 16) + checksum_words(destination, 16));
}

/*@ requires \valid(chain);
    assigns chain->verdict, chain->code, chain->pointer; */
static void chain_answer(struct ip6_chain *chain, enum ip6_parameter_code code, uint32_t pointer)
{
    chain->verdict = IP6_CHAIN_PARAMETER;
    chain->code = (uint8_t)code;
    chain->pointer = (uint16_t)pointer;
}

// Acts on one option that is no padding, and stands at `at`. False: the walk ends.
/*@ requires \valid(chain) && \valid_read(option + (0 .. option[1] + 1));
    assigns chain->verdict, chain->code, chain->pointer, chain->answers_multicast, chain->router_alert; */
static bool chain_option(const uint8_t *option, uint32_t at, struct ip6_chain *chain)
{
    if (chain->protocol == IP6_HOP_BY_HOP && option[0] == OPTION_ROUTER_ALERT) {
        chain->router_alert |= option[1] == 2 && get16(option + 2) == ALERT_MLD;
        return true;
    }
    switch (option[0] >> 6) {
    case OPTION_SKIP: return true;
    case OPTION_DROP: chain->verdict = IP6_CHAIN_DROP; return false;
    default:
        chain_answer(chain, IP6_UNKNOWN_OPTION, at);
        chain->answers_multicast = option[0] >> 6 == OPTION_ANSWER;
        return false;
    }
}

// The options of one header, which stands at `start` of the chain. False: the walk ends.
/*@ requires \valid(chain) && 8 <= length <= 2048 && start <= 65535 && \valid_read(bytes + (0 .. start + length - 1));
    assigns chain->verdict, chain->code, chain->pointer, chain->answers_multicast, chain->router_alert; */
static bool chain_options(const uint8_t *bytes, uint32_t start, uint32_t length, struct ip6_chain *chain)
{
    const uint32_t end = start + length;
    uint32_t options = 0, padding = 0;
    /*@ loop invariant start + 2 <= at <= end && options <= IP6_CHAIN_OPTIONS && padding <= IP6_CHAIN_PADDING;
        loop assigns at, step, options, padding, chain->verdict, chain->code, chain->pointer,
                     chain->answers_multicast, chain->router_alert;
        loop variant end - at; */
    for (uint32_t at = start + 2, step; at < end; at += step) {
        const bool is_padding = bytes[at] <= OPTION_PADN;
        step = bytes[at] == OPTION_PAD1 ? 1 : end - at < 2 ? UINT32_MAX : bytes[at + 1] + 2u;
        chain->verdict = IP6_CHAIN_DROP;
        if (step > end - at)
            return false;
        padding = is_padding ? padding + step : 0;
        options += !is_padding;
        if (padding > IP6_CHAIN_PADDING || options > IP6_CHAIN_OPTIONS)
            return false;
        if (!is_padding && !chain_option(bytes + at, IP6_BYTES + at, chain))
            return false;
    }
    return true;
}

// RFC 8200 §4.4: whose segments are all done is skipped; of the others none is known, type 0 least of all (RFC 5095).
/*@ requires \valid(chain) && start <= 65535 && \valid_read(bytes + (start .. start + 7));
    assigns chain->verdict, chain->code, chain->pointer; */
static bool chain_routing(const uint8_t *bytes, uint32_t start, struct ip6_chain *chain)
{
    if (bytes[start + 3])
        chain_answer(chain, IP6_ERRONEOUS_FIELD, IP6_BYTES + start + 2);
    return !bytes[start + 3];
}

/*@ requires \valid(chain) && start <= 65535 && \valid_read(bytes + (start .. start + 7));
    assigns chain->verdict, chain->fragment; */
static void chain_fragment(const uint8_t *bytes, uint32_t start, struct ip6_chain *chain)
{
    const uint32_t word = get16(bytes + start + 2);
    chain->verdict = IP6_CHAIN_FRAGMENT;
    chain->fragment.at = (uint16_t)(IP6_BYTES + start);
    chain->fragment.next_header = bytes[start];
    chain->fragment.offset = (uint16_t)(word & 0xfff8);
    chain->fragment.more = word & 1;
    chain->fragment.id = get32(bytes + start + 4);
}

//@ assigns \nothing;
static bool chain_is_extension(uint8_t number)
{
    return number == IP6_HOP_BY_HOP || number == IP6_DESTINATION || number == IP6_ROUTING || number == IP6_FRAGMENT;
}

// Where the next header ends, 0 when it is not there as a whole.
/*@ requires start <= room <= 65535 && \valid_read(bytes + (0 .. room - 1));
    assigns \nothing;
    ensures \result == 0 || start + 8 <= \result <= room;
    ensures \result <= start + 2048; */
static uint32_t chain_end(const uint8_t *bytes, uint32_t room, uint32_t start, uint8_t kind)
{
    if (room - start < 8)
        return 0;
    const uint32_t length = kind == IP6_FRAGMENT ? IP6_FRAGMENT_BYTES : (bytes[start + 1] + 1u) * 8;
    return length <= room - start ? start + length : 0;
}

// Takes the header that next_at announces. False: the walk ends, with a verdict.
/*@ requires \valid(chain) && chain->bytes <= room <= 65535 && \valid_read(bytes + (0 .. room - 1));
    requires chain->headers <= IP6_CHAIN_HEADERS;
    assigns *chain;
    ensures chain->bytes <= room && chain->headers <= IP6_CHAIN_HEADERS;
    ensures \result ==> chain->headers == \old(chain->headers) + 1; */
static bool chain_step(const uint8_t *bytes, uint32_t room, struct ip6_chain *chain)
{
    const uint32_t start = chain->bytes;
    const uint8_t kind = chain->protocol;
    chain->verdict = kind == IP6_NONE ? IP6_CHAIN_DROP : IP6_CHAIN_OK;
    if (!chain_is_extension(kind))
        return false;
    // RFC 8200 §4.1: hop-by-hop options anywhere but behind the IPv6 header are a next header that is not known.
    if (kind == IP6_HOP_BY_HOP && start) {
        chain_answer(chain, IP6_UNKNOWN_NEXT_HEADER, chain->next_at);
        return false;
    }
    const uint32_t end = chain_end(bytes, room, start, kind);
    chain->verdict = chain->headers < IP6_CHAIN_HEADERS ? IP6_CHAIN_SHORT : IP6_CHAIN_DROP;
    if (!end || chain->headers == IP6_CHAIN_HEADERS)
        return false;
    chain->headers++;
    if (kind == IP6_ROUTING && !chain_routing(bytes, start, chain))
        return false;
    if ((kind == IP6_HOP_BY_HOP || kind == IP6_DESTINATION) && !chain_options(bytes, start, end - start, chain))
        return false;
    chain->bytes = (uint16_t)end;
    if (kind == IP6_FRAGMENT) {
        chain_fragment(bytes, start, chain);
        return false;
    }
    chain->next_at = (uint16_t)(IP6_BYTES + start);
    chain->protocol = bytes[start];
    return true;
}

/*@ requires \valid(chain) && room <= 65535 && \valid_read(bytes + (0 .. room - 1));
    assigns *chain;
    ensures chain->bytes <= room && chain->headers <= IP6_CHAIN_HEADERS; */
void ip6_chain_walk(const uint8_t *bytes, uint32_t room, uint8_t next_header, struct ip6_chain *chain)
{
    *chain = (struct ip6_chain){.protocol = next_header, .next_at = IP6_NEXT_HEADER_AT};
    /*@ loop invariant chain->bytes <= room && chain->headers <= IP6_CHAIN_HEADERS;
        loop assigns *chain;
        loop variant IP6_CHAIN_HEADERS - chain->headers; */
    while (chain_step(bytes, room, chain))
        ;
}

/*@ requires \valid(chain) && chain->bytes <= room <= 65535 && \valid_read(bytes + (0 .. room - 1));
    requires chain->headers <= IP6_CHAIN_HEADERS;
    assigns *chain;
    ensures chain->bytes <= room && chain->headers <= IP6_CHAIN_HEADERS; */
void ip6_chain_continue(const uint8_t *bytes, uint32_t room, struct ip6_chain *chain)
{
    chain->protocol = chain->fragment.next_header;
    chain->next_at = chain->fragment.at;
    /*@ loop invariant chain->bytes <= room && chain->headers <= IP6_CHAIN_HEADERS;
        loop assigns *chain;
        loop variant IP6_CHAIN_HEADERS - chain->headers; */
    while (chain_step(bytes, room, chain))
        ;
}

// RFC 8200 §4.5: the length that a packet would have which ends where this fragment does. Both errors point at a
// field: the payload length, or that of the offset.
void ip6_fragment_check(struct ip6_chain *chain, uint32_t payload_length)
{
    const uint32_t bytes = payload_length - chain->bytes;
    const uint32_t before = chain->bytes - IP6_FRAGMENT_BYTES;
    if (chain->fragment.more && bytes % 8)
        chain_answer(chain, IP6_ERRONEOUS_FIELD, IP6_PAYLOAD_LENGTH_AT);
    else if (before + chain->fragment.offset + bytes > UINT16_MAX)
        chain_answer(chain, IP6_ERRONEOUS_FIELD, chain->fragment.at + 2u);
}

// Of what is not known a byte will do.
//@ assigns \nothing;
static uint32_t upper_header_bytes(uint8_t protocol)
{
    switch (protocol) {
    case IP6_TCP: return 20;
    case IP6_UDP:
    case IP6_ICMP: return 8;
    default: return 1;
    }
}

/*@ requires \valid_read(chain) && chain->bytes <= room <= 65535 && \valid_read(bytes + (0 .. room - 1));
    requires chain->headers <= IP6_CHAIN_HEADERS;
    assigns \nothing; */
bool ip6_first_fragment_whole(const uint8_t *bytes, uint32_t room, const struct ip6_chain *chain)
{
    struct ip6_chain inner = *chain;
    ip6_chain_continue(bytes, room, &inner);
    if (inner.verdict == IP6_CHAIN_SHORT)
        return false;
    return inner.verdict != IP6_CHAIN_OK || room - inner.bytes >= upper_header_bytes(inner.protocol);
}

static bool first_bytes_zero(const uint8_t *address, uint32_t bytes)
{
    for (uint32_t i = 0; i < bytes; i++)
        if (address[i])
            return false;
    return true;
}

bool ip6_is_unspecified(const uint8_t *address) { return first_bytes_zero(address, IP6_ADDRESS_BYTES); }
bool ip6_is_loopback(const uint8_t *address) { return address[15] == 1 && first_bytes_zero(address, 15); }
bool ip6_is_mapped(const uint8_t *address) { return get16(address + 10) == 0xffff && first_bytes_zero(address, 10); }

static const uint8_t solicited[13] = {0xff, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0xff};

bool ip6_is_solicited_node(const uint8_t *address) { return memcmp(address, solicited, sizeof solicited) == 0; }

void ip6_solicited_node(const uint8_t *address, uint8_t group[IP6_ADDRESS_BYTES])
{
    memcpy(group, solicited, sizeof solicited);
    memcpy(group + 13, address + 13, 3);
}

bool ip6_prefix_equal(const uint8_t *a, const uint8_t *b, uint32_t bits)
{
    const uint32_t bytes = bits / 8, rest = bits % 8;
    return memcmp(a, b, bytes) == 0 && (!rest || (a[bytes] ^ b[bytes]) >> (8 - rest) == 0);
}

// RFC 4291 §2.5.6: 54 bits of a link-local address are 0. (Weir keeps an interface's number there, inside the host.)
static bool zone_bits_zero(const uint8_t *address)
{
    return !ip6_is_link_local(address) || (!(address[1] & 0x3f) && first_bytes_zero(address + 2, 6));
}

bool ip6_addresses_acceptable(const uint8_t *source, const uint8_t *destination)
{
    if (ip6_is_multicast(source) || ip6_is_loopback(source) || ip6_is_mapped(source))
        return false;
    if (ip6_is_multicast(destination)) {
        if ((destination[1] & 0x0f) < IP6_SCOPE_LINK)
            return false;
    } else if (ip6_is_unspecified(destination) || ip6_is_loopback(destination) || ip6_is_mapped(destination)) {
        return false;
    }
    return zone_bits_zero(source) && zone_bits_zero(destination);
}
