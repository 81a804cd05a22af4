// SPDX-License-Identifier: BSD-2-Clause
#include "wire/nd.h"

#define TARGET_AT 8u
#define OPTION_UNIT 8u
#define LINK_OPTION_BYTES (2 + ND_LINK_BYTES)
#define LABEL_BYTES_MAX 63u

// RFC 4191 §2.1; the reserved one is told from medium.
#define PREFERENCE_RESERVED INT8_MIN
//@ assigns \nothing; ensures -128 <= \result <= 1;
static int8_t preference_of(uint8_t flags)
{
    static const int8_t meaning[4] = {ND_MEDIUM, ND_HIGH, PREFERENCE_RESERVED, ND_LOW};
    return meaning[flags >> 3 & 3];
}

// --- messages ------------------------------------------------------------------------------------------------------

// The fixed part of each, from type 133 on; 0: not of the five.
/*@ assigns \nothing;
    ensures \result == 0 || 8 <= \result <= 40 && 133 <= type <= 137;
    ensures type == 134 ==> \result == 16;
    ensures 135 <= type <= 136 ==> \result == 24;
    ensures type == 137 ==> \result == 40; */
static uint32_t fixed_bytes(uint8_t type)
{
    static const uint8_t bytes[] = {8, 16, 24, 24, 40};
    const uint32_t index = (uint32_t)type - ICMP6_ROUTER_SOLICITATION;
    return index < sizeof bytes ? bytes[index] : 0;
}

// Steps over the first option. Returns its length; 0: there is none, or not the whole of one (RFC 4861 §4.6: one of
// length 0 is none).
/*@ requires \valid(options) && \valid_read(options->at + (0 .. options->left - 1));
    requires \separated(options, options->at + (0 .. options->left - 1));
    assigns *options;
    ensures \result == 0 || 8 <= \result <= 2040 && \result % 8 == 0;
    ensures \result <= \old(options->left) && options->left == \old(options->left) - \result;
    ensures options->at == \old(options->at) + \result; */
static uint32_t option_pass(struct nd_options *options)
{
    const uint32_t bytes = options->left < OPTION_UNIT ? 0 : options->at[1] * OPTION_UNIT;
    if (bytes > options->left)
        return 0;
    options->at += bytes;
    options->left -= bytes;
    return bytes;
}

// Whether the message ends where an option does: whatever else drops it, wherever it stands.
/*@ requires \valid_read(options.at + (0 .. options.left - 1));
    assigns \nothing; */
static bool options_sound(struct nd_options options)
{
    /*@ loop invariant options.left <= \at(options.left, Pre);
        loop invariant options.at + options.left == \at(options.at + options.left, Pre);
        loop assigns options;
        loop variant options.left; */
    while (option_pass(&options))
        ;
    return !options.left;
}

// Whether there is an option of that type, of whatever length.
/*@ requires \valid_read(options.at + (0 .. options.left - 1));
    assigns \nothing; */
static bool option_present(struct nd_options options, uint8_t type)
{
    /*@ loop invariant options.left <= \at(options.left, Pre);
        loop invariant options.at + options.left == \at(options.at + options.left, Pre);
        loop assigns options;
        loop variant options.left; */
    while (options.left && options.at[0] != type && option_pass(&options))
        ;
    return options.left > 0;
}

/*@ requires \valid_read(bytes + (0 .. 15)) && \valid(out) && \separated(out, bytes + (0 .. 15));
    assigns *out; */
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
/*@ requires \valid_read(nd) && \valid_read(arrival) && \valid_read(arrival->source + (0 .. 15)) &&
             \valid_read(arrival->destination + (0 .. 15));
    requires \valid_read(nd->options.at + (0 .. nd->options.left - 1));
    assigns \nothing; */
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
/*@ requires \valid_read(nd) && \valid_read(arrival) && \valid_read(arrival->source + (0 .. 15)) &&
             \valid_read(arrival->destination + (0 .. 15));
    assigns \nothing; */
static enum nd_verdict check_advertisement(const struct nd *nd, const struct icmp6_arrival *arrival)
{
    if (ip6_is_unspecified(arrival->source))
        return ND_BAD_SOURCE;
    return nd->solicited && ip6_is_multicast(arrival->destination) ? ND_BAD_DESTINATION : ND_OK;
}

// §8.1, but for the first hop.
/*@ requires \valid_read(bytes + (0 .. 39)) && \valid_read(arrival) && \valid_read(arrival->source + (0 .. 15)) &&
             \valid_read(arrival->destination + (0 .. 15));
    assigns \nothing; */
static enum nd_verdict check_redirect(const uint8_t *bytes, const struct icmp6_arrival *arrival)
{
    const uint8_t *target = bytes + TARGET_AT, *destination = target + IP6_ADDRESS_BYTES;
    if (!ip6_is_link_local(arrival->source))
        return ND_BAD_SOURCE;
    if (ip6_is_multicast(destination))
        return ND_BAD_TARGET;
    return ip6_is_link_local(target) || ip6_equal(target, destination) ? ND_OK : ND_BAD_TARGET;
}

/*@ requires \valid_read(nd) && \valid_read(nd->options.at + (0 .. nd->options.left - 1));
    requires there: \valid_read(arrival);
    requires from: \valid_read(arrival->source + (0 .. 15));
    requires to: \valid_read(arrival->destination + (0 .. 15));
    requires nd->type == ICMP6_REDIRECT ==> \valid_read(bytes + (0 .. 39));
    assigns \nothing; */
static enum nd_verdict check_addresses(const uint8_t *bytes, const struct nd *nd, const struct icmp6_arrival *arrival)
{
    switch (nd->type) {
    case ICMP6_ROUTER_ADVERTISEMENT: return ip6_is_link_local(arrival->source) ? ND_OK : ND_BAD_SOURCE;
    case ICMP6_NEIGHBOUR_ADVERTISEMENT: return check_advertisement(nd, arrival);
    case ICMP6_REDIRECT: return check_redirect(bytes, arrival);
    default: break;
    }
    return check_solicitation(nd, arrival);
}

// The first of a kind counts.
/*@ requires \valid(nd) && \valid_read(nd->options.at + (0 .. nd->options.left - 1));
    requires \separated(nd, nd->options.at + (0 .. nd->options.left - 1));
    assigns nd->link_address, nd->nonce, nd->nonce_bytes; */
static void take_link_and_nonce(struct nd *nd)
{
    const bool of_target = nd->type == ICMP6_NEIGHBOUR_ADVERTISEMENT || nd->type == ICMP6_REDIRECT;
    struct nd_option option;
    /*@ loop invariant options.left <= nd->options.left;
        loop invariant options.at + options.left == nd->options.at + nd->options.left;
        loop assigns options, option, nd->link_address, nd->nonce, nd->nonce_bytes;
        loop variant options.left; */
    for (struct nd_options options = nd->options; nd_option_next(&options, &option);) {
        if (option.type == (of_target ? ND_TARGET_LINK : ND_SOURCE_LINK) && !nd->link_address)
            nd->link_address = option.data;
        if (option.type == ND_NONCE && !nd->nonce) {
            nd->nonce = option.data;
            nd->nonce_bytes = option.bytes;
        }
    }
}

// All but the options; `fixed` bytes of it.
/*@ requires 8 <= fixed <= length && fixed <= 40 && \valid_read(bytes + (0 .. length - 1)) && \valid(out);
    requires fixed >= 16 || bytes[0] == 133;
    requires bytes[0] >= 135 ==> fixed >= 24;
    requires bytes[0] == 137 ==> fixed == 40;
    requires \separated(out, bytes + (0 .. length - 1));
    assigns *out;
    ensures out->type == \old(bytes[0]) && out->options.at == bytes + fixed && out->options.left == length - fixed;
    ensures \old(bytes[0]) >= 135 ? out->target == bytes + 8 : out->target == \null;
    ensures \old(bytes[0]) == 137 ==> out->destination == bytes + 24; */
static void take_fixed(const uint8_t *bytes, uint32_t fixed, uint32_t length, struct nd *out)
{
    const uint8_t type = bytes[0], flags = bytes[4];
    *out = (struct nd){.type = type, .options = {bytes + fixed, length - fixed}};
    if (type >= ICMP6_NEIGHBOUR_SOLICITATION)
        out->target = bytes + TARGET_AT;
    if (type == ICMP6_REDIRECT)
        out->destination = bytes + TARGET_AT + IP6_ADDRESS_BYTES;
    if (type == ICMP6_NEIGHBOUR_ADVERTISEMENT) {
        out->router = flags & ND_ROUTER;
        out->solicited = flags & ND_SOLICITED;
        out->override = flags & ND_OVERRIDE;
    }
    if (type == ICMP6_ROUTER_ADVERTISEMENT)
        router_advertisement(bytes, &out->advertised);
}

/*@ requires \valid_read(bytes + (0 .. length - 1)) && \valid(out) && \valid_read(arrival);
    requires \valid_read(arrival->source + (0 .. 15)) && \valid_read(arrival->destination + (0 .. 15));
    requires \separated(out, arrival, bytes + (0 .. length - 1));
    requires \separated(out, arrival->source + (0 .. 15), arrival->destination + (0 .. 15));
    assigns *out;
    ensures \result == ND_OK ==> out->type == \old(bytes[0]) && 133 <= out->type <= 137;
    ensures \result == ND_OK ==> \old(arrival->hop_limit == 255 && !arrival->fragmented && bytes[1] == 0);
    ensures \result == ND_OK ==> 8 <= length - out->options.left <= 40;
    ensures \result == ND_OK ==> out->options.at == bytes + (length - out->options.left);
    ensures \result == ND_OK && out->type >= 135 ==> out->target == bytes + 8 && length >= 24;
    ensures \result == ND_OK && out->type == 137 ==> out->destination == bytes + 24 && length >= 40; */
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
    take_fixed(bytes, fixed, length, out);
    /*@ assert kept: arrival->source == \at(arrival->source, Pre) &&
                     arrival->destination == \at(arrival->destination, Pre); */
    if (!options_sound(out->options))
        return ND_BAD_OPTION;
    if (out->target && ip6_is_multicast(out->target))
        return ND_BAD_TARGET;
    const enum nd_verdict verdict = check_addresses(bytes, out, arrival);
    if (verdict == ND_OK)
        take_link_and_nonce(out);
    return verdict;
}

// --- options -------------------------------------------------------------------------------------------------------

// Copies a prefix, of at most `bytes`, to where zeros are, and clears what lies behind its length. False: it says
// nothing about where packets go.
/*@ requires bits <= 255 && bytes <= 16 && \valid(out) && \valid_read(prefix + (0 .. bytes - 1));
    requires \separated(out, prefix + (0 .. bytes - 1));
    assigns out->prefix[0 .. 15], out->prefix_bits;
    ensures \result ==> bits <= 8 * bytes && out->prefix_bits == bits; */
static bool take_prefix(struct nd_option *out, const uint8_t *prefix, uint32_t bytes, uint32_t bits)
{
    if (bits > bytes * 8)
        return false;
    /*@ loop invariant i <= 16 && i <= bytes;
        loop assigns i, out->prefix[0 .. 15];
        loop variant 17 - i; */
    for (uint32_t i = 0; i * 8 < bits; i++)
        out->prefix[i] = prefix[i];
    if (bits % 8)
        out->prefix[bits / 8] &= (uint8_t)(0xff00u >> bits % 8);
    out->prefix_bits = (uint8_t)bits;
    return !ip6_is_multicast(out->prefix) && !ip6_is_link_local(out->prefix);
}

/*@ requires 8 <= bytes <= 2040 && bytes % 8 == 0 && \valid(out) && \valid_read(at + (0 .. bytes - 1));
    requires \separated(out, at + (0 .. bytes - 1));
    assigns *out; */
static bool take_link(const uint8_t *at, uint32_t bytes, struct nd_option *out)
{
    out->data = at + 2;
    out->bytes = ND_LINK_BYTES;
    return bytes == LINK_OPTION_BYTES && !(at[2] & 1);
}

// RFC 4861 §4.6.2. RFC 4862 §5.5.3 (c): preferred beyond valid makes no address; the prefix may be on-link all the
// same.
/*@ requires 8 <= bytes <= 2040 && bytes % 8 == 0 && \valid(out) && \valid_read(at + (0 .. bytes - 1));
    requires \separated(out, at + (0 .. bytes - 1));
    assigns *out; */
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
/*@ requires 8 <= bytes <= 2040 && bytes % 8 == 0 && \valid(out) && \valid_read(at + (0 .. bytes - 1));
    requires \separated(out, at + (0 .. bytes - 1));
    assigns *out; */
static bool take_route(const uint8_t *at, uint32_t bytes, struct nd_option *out)
{
    out->preference = preference_of(at[3]);
    out->lifetime_s = get32(at + 4);
    return bytes <= 24 && out->preference != PREFERENCE_RESERVED && take_prefix(out, at + 8, bytes - 8, at[2]);
}

/*@ requires header <= bytes && \valid(out) && \valid_read(at + (0 .. bytes - 1));
    assigns out->data, out->bytes;
    ensures \result && out->data == at + header && out->bytes == bytes - header; */
static bool take_data(const uint8_t *at, uint32_t header, uint32_t bytes, struct nd_option *out)
{
    out->data = at + header;
    out->bytes = bytes - header;
    return true;
}

// RFC 8106 §5.3.1: of 3 units or more, in an odd number.
/*@ requires 8 <= bytes <= 2040 && bytes % 8 == 0 && \valid(out) && \valid_read(at + (0 .. bytes - 1));
    requires \separated(out, at + (0 .. bytes - 1));
    assigns *out; */
static bool take_servers(const uint8_t *at, uint32_t bytes, struct nd_option *out)
{
    out->lifetime_s = get32(at + 4);
    return bytes >= 24 && (bytes - 8) % IP6_ADDRESS_BYTES == 0 && take_data(at, 8, bytes, out);
}

/*@ requires \valid_read(names + (0 .. left - 1));
    assigns \nothing;
    ensures \result <= left && \result <= ND_DOMAIN_BYTES;
    ensures \result ==> \result >= 2 && names[\result - 1] == 0; */
uint32_t nd_domain(const uint8_t *names, uint32_t left)
{
    uint32_t at = 0;
    /*@ loop invariant at <= 318;
        loop assigns at;
        loop variant 318 - at; */
    while (at < min_u32(left, ND_DOMAIN_BYTES) && names[at]) {
        if (names[at] > LABEL_BYTES_MAX)
            return 0;
        at += names[at] + 1u;
    }
    return at && at < min_u32(left, ND_DOMAIN_BYTES) ? at + 1 : 0;
}

// RFC 8106 §5.2: names, then zero bytes alone.
/*@ requires 8 <= bytes <= 2040 && bytes % 8 == 0 && \valid(out) && \valid_read(at + (0 .. bytes - 1));
    requires \separated(out, at + (0 .. bytes - 1));
    assigns *out;
    ensures \result == 0 || \result == 1; */
static bool take_domains(const uint8_t *at, uint32_t bytes, struct nd_option *out)
{
    out->lifetime_s = get32(at + 4);
    take_data(at, 8, bytes, out);
    uint32_t end = 0, name;
    /*@ loop invariant end <= out->bytes == bytes - 8 && out->data == at + 8;
        loop assigns end, name;
        loop variant out->bytes - end; */
    while ((name = nd_domain(out->data + end, out->bytes - end)) > 0)
        end += name;
    /*@ loop invariant end <= i <= out->bytes;
        loop assigns i;
        loop variant out->bytes - i; */
    for (uint32_t i = end; i < out->bytes; i++)
        if (out->data[i])
            return false;
    out->bytes = end;
    return end > 0;
}

// RFC 8781 §4, RFC 6052 §2.2: of 2 units; the byte behind the first 64 bits is 0.
/*@ requires 8 <= bytes <= 2040 && bytes % 8 == 0 && \valid(out) && \valid_read(at + (0 .. bytes - 1));
    requires \separated(out, at + (0 .. bytes - 1));
    assigns *out; */
static bool take_pref64(const uint8_t *at, uint32_t bytes, struct nd_option *out)
{
    static const uint8_t lengths[8] = {96, 64, 56, 48, 40, 32};
    const uint32_t word = get16(at + 2), bits = lengths[word & 7];
    out->lifetime_s = word & 0xfff8;
    if (bytes != 16 || !bits || !take_prefix(out, at + 4, 12, bits))
        return false;
    return memcmp(out->prefix, at + 4, 12) == 0 && !out->prefix[8];
}

/*@ requires 8 <= bytes <= 2040 && bytes % 8 == 0 && \valid(out) && \valid_read(at + (0 .. bytes - 1));
    requires \separated(out, at + (0 .. bytes - 1));
    assigns *out; */
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

/*@ requires \valid(options) && \valid(out) && \valid_read(options->at + (0 .. options->left - 1));
    requires \separated(options, out, options->at + (0 .. options->left - 1));
    assigns *options, *out;
    ensures options->left <= \old(options->left);
    ensures options->at + options->left == \old(options->at + options->left);
    ensures \result ==> options->left < \old(options->left); */
bool nd_option_next(struct nd_options *options, struct nd_option *out)
{
    const uint8_t *at = options->at;
    /*@ loop invariant at == options->at && options->left <= \at(options->left, Pre);
        loop invariant options->at + options->left == \at(options->at + options->left, Pre);
        loop assigns at, bytes, *options, *out;
        loop variant options->left; */
    for (uint32_t bytes; (bytes = option_pass(options)) > 0; at = options->at)
        if (take_option(at, bytes, out))
            return true;
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
