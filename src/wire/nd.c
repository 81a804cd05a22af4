// SPDX-License-Identifier: BSD-2-Clause
#include "wire/nd.h"

#define TARGET_AT 8u
#define OPTION_UNIT 8u
#define LINK_OPTION_BYTES (2 + ND_LINK_BYTES)
#define LABEL_BYTES_MAX 63u

// RFC 4191 §2.1; the reserved one is told from medium.
#define PREFERENCE_RESERVED INT8_MIN
static int8_t preference_of(uint8_t flags)
{
    static const int8_t meaning[4] = {ND_MEDIUM, ND_HIGH, PREFERENCE_RESERVED, ND_LOW};
    return meaning[flags >> 3 & 3];
}

// --- messages ------------------------------------------------------------------------------------------------------

// The fixed part of each, from type 133 on; 0: not of the five.
static uint32_t fixed_bytes(uint8_t type)
{
    static const uint8_t bytes[] = {8, 16, 24, 24, 40};
    const uint32_t index = (uint32_t)type - ICMP6_ROUTER_SOLICITATION;
    return index < sizeof bytes ? bytes[index] : 0;
}

// Steps over the first option, which is there as a whole. Returns its length.
static uint32_t option_pass(struct nd_options *options)
{
    const uint32_t bytes = options->at[1] * OPTION_UNIT;
    options->at += bytes;
    options->left -= bytes;
    return bytes;
}

// RFC 4861 §4.6: a length of 0 drops the message, wherever the option stands. What is shorter than one drops it, too.
static bool options_sound(struct nd_options options)
{
    while (options.left) {
        const uint32_t bytes = options.left < OPTION_UNIT ? 0 : options.at[1] * OPTION_UNIT;
        if (!bytes || bytes > options.left)
            return false;
        option_pass(&options);
    }
    return true;
}

// Whether there is an option of that type, of whatever length.
static bool option_present(struct nd_options options, uint8_t type)
{
    while (options.left && options.at[0] != type)
        option_pass(&options);
    return options.left > 0;
}

static void router_advertisement(const uint8_t *bytes, struct nd_router *out)
{
    const uint8_t flags = bytes[5];
    out->hop_limit = bytes[4];
    out->managed = flags & 0x80;
    out->other = flags & 0x40;
    out->home_agent = flags & 0x20;
    out->lifetime_s = get16(bytes + 6);
    out->reachable_ms = get32(bytes + 8);
    out->retransmit_ms = get32(bytes + 12);
    // RFC 4191 §2.2: reserved is medium; without a lifetime none is meant.
    out->preference = preference_of(flags);
    if (!out->lifetime_s || out->preference == PREFERENCE_RESERVED)
        out->preference = ND_MEDIUM;
}

// RFC 4861 §6.1.1, §7.1.1, RFC 4862 §5.4.3.
static enum nd_verdict check_solicitation(const struct nd *nd, const struct icmp6_arrival *arrival)
{
    if (!ip6_is_unspecified(arrival->source))
        return ND_OK;
    if (option_present(nd->options, ND_SOURCE_LINK))
        return ND_BAD_SOURCE;
    if (nd->target && !ip6_is_solicited_node(arrival->destination))
        return ND_BAD_DESTINATION;
    return ND_OK;
}

// §7.1.2.
static enum nd_verdict check_advertisement(const struct nd *nd, const struct icmp6_arrival *arrival)
{
    if (ip6_is_unspecified(arrival->source))
        return ND_BAD_SOURCE;
    return nd->solicited && ip6_is_multicast(arrival->destination) ? ND_BAD_DESTINATION : ND_OK;
}

// §8.1, but for the first hop.
static enum nd_verdict check_redirect(const uint8_t *bytes, const struct icmp6_arrival *arrival)
{
    const uint8_t *target = bytes + TARGET_AT, *destination = target + IP6_ADDRESS_BYTES;
    if (!ip6_is_link_local(arrival->source))
        return ND_BAD_SOURCE;
    if (ip6_is_multicast(destination))
        return ND_BAD_TARGET;
    return ip6_is_link_local(target) || ip6_equal(target, destination) ? ND_OK : ND_BAD_TARGET;
}

static enum nd_verdict check_addresses(const uint8_t *bytes, const struct nd *nd, const struct icmp6_arrival *arrival)
{
    if (nd->target && ip6_is_multicast(nd->target))
        return ND_BAD_TARGET;
    switch (nd->type) {
    case ICMP6_ROUTER_ADVERTISEMENT: return ip6_is_link_local(arrival->source) ? ND_OK : ND_BAD_SOURCE;
    case ICMP6_NEIGHBOUR_ADVERTISEMENT: return check_advertisement(nd, arrival);
    case ICMP6_REDIRECT: return check_redirect(bytes, arrival);
    default: return check_solicitation(nd, arrival);
    }
}

// The first of a kind counts.
static void take_link_and_nonce(struct nd *nd)
{
    const bool of_target = nd->type == ICMP6_NEIGHBOUR_ADVERTISEMENT || nd->type == ICMP6_REDIRECT;
    struct nd_option option;
    for (struct nd_options options = nd->options; nd_option_next(&options, &option);) {
        if (option.type == (of_target ? ND_TARGET_LINK : ND_SOURCE_LINK) && !nd->link_address)
            nd->link_address = option.data;
        if (option.type == ND_NONCE && !nd->nonce) {
            nd->nonce = option.data;
            nd->nonce_bytes = option.bytes;
        }
    }
}

enum nd_verdict nd_parse(const uint8_t *bytes, uint32_t length, const struct icmp6_arrival *arrival, struct nd *out)
{
    const uint32_t fixed = length ? fixed_bytes(bytes[0]) : 0;
    if (!fixed)
        return ND_BAD_TYPE;
    if (arrival->hop_limit != ICMP6_HOP_LIMIT_ON_LINK)
        return ND_BAD_HOP_LIMIT;
    if (arrival->fragmented)
        return ND_FRAGMENTED;
    if (length < fixed)
        return ND_BAD_LENGTH;
    if (bytes[1])
        return ND_BAD_CODE;
    *out = (struct nd){.type = bytes[0], .options = {bytes + fixed, length - fixed}};
    if (!options_sound(out->options))
        return ND_BAD_OPTION;
    if (out->type >= ICMP6_NEIGHBOUR_SOLICITATION)
        out->target = bytes + TARGET_AT;
    if (out->type == ICMP6_REDIRECT)
        out->destination = bytes + TARGET_AT + IP6_ADDRESS_BYTES;
    if (out->type == ICMP6_NEIGHBOUR_ADVERTISEMENT) {
        out->router = bytes[4] & ND_ROUTER;
        out->solicited = bytes[4] & ND_SOLICITED;
        out->override = bytes[4] & ND_OVERRIDE;
    }
    if (out->type == ICMP6_ROUTER_ADVERTISEMENT)
        router_advertisement(bytes, &out->advertised);
    take_link_and_nonce(out);
    return check_addresses(bytes, out, arrival);
}

// --- options -------------------------------------------------------------------------------------------------------

// Copies `bytes` of a prefix, and clears what lies behind its length. False: it says nothing about where packets go.
static bool take_prefix(struct nd_option *out, const uint8_t *prefix, uint32_t bytes, uint32_t bits)
{
    if (bits > bytes * 8)
        return false;
    memset(out->prefix, 0, sizeof out->prefix);
    memcpy(out->prefix, prefix, (bits + 7) / 8);
    if (bits % 8)
        out->prefix[bits / 8] &= (uint8_t)(0xff00u >> bits % 8);
    out->prefix_bits = (uint8_t)bits;
    return !ip6_is_multicast(out->prefix) && !ip6_is_link_local(out->prefix);
}

static bool take_link(const uint8_t *at, uint32_t bytes, struct nd_option *out)
{
    out->data = at + 2;
    out->bytes = ND_LINK_BYTES;
    return bytes == LINK_OPTION_BYTES && !(at[2] & 1);
}

// RFC 4861 §4.6.2. RFC 4862 §5.5.3 (c): preferred beyond valid makes no address; the prefix may be on-link all the
// same.
static bool take_prefix_information(const uint8_t *at, uint32_t bytes, struct nd_option *out)
{
    if (bytes != 32 || !take_prefix(out, at + 16, 16, at[2]))
        return false;
    out->lifetime_s = get32(at + 4);
    out->preferred_s = get32(at + 8);
    out->on_link = at[3] & 0x80;
    out->autonomous = at[3] & 0x40 && out->preferred_s <= out->lifetime_s;
    out->router_address = at[3] & 0x20;
    out->delegated = at[3] & 0x10;
    return true;
}

// RFC 4191 §2.3: of 1, 2 or 3 units, which hold 0, 64 or 128 bits.
static bool take_route(const uint8_t *at, uint32_t bytes, struct nd_option *out)
{
    out->preference = preference_of(at[3]);
    out->lifetime_s = get32(at + 4);
    return bytes <= 24 && out->preference != PREFERENCE_RESERVED && take_prefix(out, at + 8, bytes - 8, at[2]);
}

static bool take_data(const uint8_t *at, uint32_t header, uint32_t bytes, struct nd_option *out)
{
    out->data = at + header;
    out->bytes = bytes - header;
    return true;
}

// RFC 8106 §5.3.1: of 3 units or more, in an odd number.
static bool take_servers(const uint8_t *at, uint32_t bytes, struct nd_option *out)
{
    out->lifetime_s = get32(at + 4);
    return bytes >= 24 && (bytes - 8) % IP6_ADDRESS_BYTES == 0 && take_data(at, 8, bytes, out);
}

uint32_t nd_domain(const uint8_t *names, uint32_t left)
{
    uint32_t at = 0;
    while (at < min_u32(left, ND_DOMAIN_BYTES) && names[at]) {
        if (names[at] > LABEL_BYTES_MAX)
            return 0;
        at += names[at] + 1u;
    }
    return at && at < min_u32(left, ND_DOMAIN_BYTES) ? at + 1 : 0;
}

// RFC 8106 §5.2: names, then zero bytes alone.
static bool take_domains(const uint8_t *at, uint32_t bytes, struct nd_option *out)
{
    out->lifetime_s = get32(at + 4);
    take_data(at, 8, bytes, out);
    uint32_t end = 0, name;
    while ((name = nd_domain(out->data + end, out->bytes - end)) > 0)
        end += name;
    for (uint32_t i = end; i < out->bytes; i++)
        if (out->data[i])
            return false;
    out->bytes = end;
    return end > 0;
}

// RFC 8781 §4, RFC 6052 §2.2: of 2 units; the byte behind the first 64 bits is 0.
static bool take_pref64(const uint8_t *at, uint32_t bytes, struct nd_option *out)
{
    static const uint8_t lengths[8] = {96, 64, 56, 48, 40, 32};
    const uint32_t word = get16(at + 2), bits = lengths[word & 7];
    out->lifetime_s = word & 0xfff8;
    if (bytes != 16 || !bits || !take_prefix(out, at + 4, 12, bits))
        return false;
    return memcmp(out->prefix, at + 4, 12) == 0 && !out->prefix[8];
}

static bool take_option(const uint8_t *at, uint32_t bytes, struct nd_option *out)
{
    *out = (struct nd_option){.type = at[0]};
    switch (at[0]) {
    case ND_SOURCE_LINK:
    case ND_TARGET_LINK: return take_link(at, bytes, out);
    case ND_PREFIX: return take_prefix_information(at, bytes, out);
    case ND_REDIRECTED: return take_data(at, 8, bytes, out);
    case ND_MTU: return (out->mtu = get32(at + 4)) >= IP6_MTU_MIN && bytes == 8;
    case ND_NONCE: return take_data(at, 2, bytes, out);
    case ND_ROUTE: return take_route(at, bytes, out);
    case ND_DNS_SERVERS: return take_servers(at, bytes, out);
    case ND_DNS_DOMAINS: return take_domains(at, bytes, out);
    case ND_PREF64: return take_pref64(at, bytes, out);
    default: return false;
    }
}

bool nd_option_next(struct nd_options *options, struct nd_option *out)
{
    while (options->left) {
        const uint8_t *at = options->at;
        if (take_option(at, option_pass(options), out))
            return true;
    }
    return false;
}

// --- writing -------------------------------------------------------------------------------------------------------

static uint32_t put_option(uint8_t *bytes, enum nd_option_type type, const uint8_t *data)
{
    if (!data)
        return 0;
    bytes[0] = (uint8_t)type;
    bytes[1] = 1;
    memcpy(bytes + 2, data, ND_LINK_BYTES);
    return OPTION_UNIT;
}

static uint32_t put_start(uint8_t *bytes, enum icmp6_type type, uint32_t flags, const uint8_t *target)
{
    icmp6_emit(bytes, &(struct icmp6){.type = (uint8_t)type, .rest = flags << 24});
    if (!target)
        return ICMP6_BYTES;
    memcpy(bytes + ICMP6_BYTES, target, IP6_ADDRESS_BYTES);
    return ICMP6_BYTES + IP6_ADDRESS_BYTES;
}

uint32_t nd_rs_emit(uint8_t *bytes, const uint8_t *link_address)
{
    const uint32_t at = put_start(bytes, ICMP6_ROUTER_SOLICITATION, 0, NULL);
    return at + put_option(bytes + at, ND_SOURCE_LINK, link_address);
}

uint32_t nd_ns_emit(uint8_t *bytes, const uint8_t *target, const uint8_t *link_address, const uint8_t *nonce)
{
    uint32_t at = put_start(bytes, ICMP6_NEIGHBOUR_SOLICITATION, 0, target);
    at += put_option(bytes + at, ND_SOURCE_LINK, link_address);
    return at + put_option(bytes + at, ND_NONCE, nonce);
}

uint32_t nd_na_emit(uint8_t *bytes, const uint8_t *target, uint32_t flags, const uint8_t *link_address)
{
    const uint32_t at = put_start(bytes, ICMP6_NEIGHBOUR_ADVERTISEMENT, flags, target);
    return at + put_option(bytes + at, ND_TARGET_LINK, link_address);
}
