// SPDX-License-Identifier: BSD-2-Clause
// The pure parts of IPv6: header and chain, Neighbour Discovery, Multicast Listener Discovery, addresses as text. No
// byte beyond the length is read, what is told lies in the message, and what was parsed and written again parses to the
// same. Input: which of them, then for the messages how they came (a byte), then the message.
#include "fuzz.h"
#include "base/inet6.h"
#include "wire/mld.h"
#include "wire/nd.h"

// Where a message may come from and go to.
static const uint8_t places[4][16] = {
    {0},
    {0xfe, 0x80, [15] = 1},
    {0xff, 2, [11] = 1, 0xff, 0, 0, 1},
    {0x20, 1, 0x0d, 0xb8, [15] = 1},
};

static struct icmp6_arrival arrival_of(uint8_t how, uint8_t hop_limit)
{
    return (struct icmp6_arrival){.source = places[how & 3],
                                  .destination = places[how >> 2 & 3],
                                  .hop_limit = how & 0x20 ? (uint8_t)(hop_limit - 1) : hop_limit,
                                  .fragmented = (how & 0xc0) == 0xc0,
                                  .router_alert = !(how & 0x10)};
}

static bool inside(const uint8_t *part, uint32_t part_bytes, const uint8_t *bytes, uint32_t length)
{
    return part >= bytes && part_bytes <= length && part <= bytes + length - part_bytes;
}

// --- header and chain ----------------------------------------------------------------------------------------------

static void check_chain(const struct ip6_chain *chain, const uint8_t *bytes, uint32_t room, uint8_t first)
{
    CHECK(chain->headers <= IP6_CHAIN_HEADERS && chain->bytes <= room && chain->bytes % 8 == 0);
    if (chain->next_at == IP6_NEXT_HEADER_AT) {
        CHECK(chain->protocol == first && (!chain->bytes || chain->verdict == IP6_CHAIN_FRAGMENT));
    } else {
        CHECK(chain->next_at >= IP6_BYTES && chain->next_at < IP6_BYTES + room);
        CHECK(bytes[chain->next_at - IP6_BYTES] == chain->protocol);
    }
    if (chain->verdict == IP6_CHAIN_PARAMETER) {
        CHECK(chain->code <= IP6_UNKNOWN_OPTION && chain->pointer < IP6_BYTES + room);
        if (chain->code == IP6_UNKNOWN_OPTION)
            CHECK(bytes[chain->pointer - IP6_BYTES] >> 6 == (chain->answers_multicast ? 2 : 3));
        if (chain->code == IP6_UNKNOWN_NEXT_HEADER)
            CHECK(bytes[chain->pointer - IP6_BYTES] == IP6_HOP_BY_HOP);
        if (chain->code == IP6_ERRONEOUS_FIELD)
            CHECK(bytes[chain->pointer - IP6_BYTES + 1]);
    }
    if (chain->verdict == IP6_CHAIN_FRAGMENT)
        CHECK(chain->fragment.at == IP6_BYTES + chain->bytes - IP6_FRAGMENT_BYTES && chain->fragment.offset % 8 == 0);
}

// The walk does not depend on what is behind the chain.
static void check_without_rest(const struct ip6_chain *chain, const uint8_t *bytes, uint8_t first)
{
    struct ip6_chain again;
    uint8_t *copy = exact_copy(bytes, chain->bytes);
    ip6_chain_walk(copy, chain->bytes, first, &again);
    CHECK(again.verdict == chain->verdict && again.protocol == chain->protocol && again.bytes == chain->bytes);
    free(copy);
}

static void fuzz_ip6(const uint8_t *bytes, uint32_t length)
{
    struct ip6 header;
    const enum ip6_verdict verdict = ip6_parse(bytes, length, &header);
    if (verdict == IP6_BAD_HEADER)
        return;
    uint8_t again[IP6_BYTES];
    ip6_emit(again, &header);
    CHECK(memcmp(again, bytes, IP6_BYTES) == 0);
    if (verdict == IP6_OK)
        CHECK(header.payload_length <= length - IP6_BYTES);
    (void)ip6_addresses_acceptable(header.source, header.destination);
    const uint32_t room = verdict == IP6_OK ? header.payload_length : length - IP6_BYTES;
    uint8_t *payload = exact_copy(bytes + IP6_BYTES, room);
    struct ip6_chain chain;
    ip6_chain_walk(payload, room, header.next_header, &chain);
    check_chain(&chain, payload, room, header.next_header);
    if (chain.verdict == IP6_CHAIN_OK || chain.verdict == IP6_CHAIN_FRAGMENT)
        check_without_rest(&chain, payload, header.next_header);
    for (uint32_t walks = 0; chain.verdict == IP6_CHAIN_FRAGMENT; walks++) {
        CHECK(walks < IP6_CHAIN_HEADERS);
        struct ip6_chain judged = chain;
        ip6_fragment_check(&judged, room);
        CHECK(judged.verdict == IP6_CHAIN_FRAGMENT || judged.pointer < judged.fragment.at + IP6_FRAGMENT_BYTES);
        const bool whole = ip6_first_fragment_whole(payload, room, &chain);
        ip6_chain_continue(payload, room, &chain);
        check_chain(&chain, payload, room, header.next_header);
        CHECK(whole ? chain.verdict != IP6_CHAIN_SHORT : chain.verdict == IP6_CHAIN_SHORT || room - chain.bytes < 20);
    }
    free(payload);
}

// --- Neighbour Discovery -------------------------------------------------------------------------------------------

static void check_option(const struct nd_option *option, const uint8_t *bytes, uint32_t length)
{
    CHECK(option->prefix_bits <= 128);
    CHECK(!option->data || inside(option->data, option->bytes, bytes, length));
    for (uint32_t bit = option->prefix_bits; bit < 128; bit++)
        CHECK(!(option->prefix[bit / 8] >> (7 - bit % 8) & 1));
    if (option->type == ND_PREFIX && option->autonomous)
        CHECK(option->preferred_s <= option->lifetime_s);
    if (option->type == ND_DNS_SERVERS)
        CHECK(option->bytes && option->bytes % 16 == 0);
    if (option->type == ND_DNS_DOMAINS) {
        uint32_t at = 0;
        for (uint32_t name; (name = nd_domain(option->data + at, option->bytes - at)) > 0;)
            at += name;
        CHECK(at && at == option->bytes);
    }
}

// What it says that we also write is written, and understood again.
static void check_written(const struct nd *nd, const struct icmp6_arrival *arrival)
{
    uint8_t bytes[ND_NS_BYTES_MAX];
    struct nd again;
    uint32_t length = 0;
    const uint32_t flags = nd->router * ND_ROUTER + nd->solicited * ND_SOLICITED + nd->override * ND_OVERRIDE;
    if (nd->type == ICMP6_ROUTER_SOLICITATION)
        length = nd_rs_emit(bytes, nd->link_address);
    else if (nd->type == ICMP6_NEIGHBOUR_SOLICITATION)
        length = nd_ns_emit(bytes, nd->target, nd->link_address, nd->nonce);
    else if (nd->type == ICMP6_NEIGHBOUR_ADVERTISEMENT)
        length = nd_na_emit(bytes, nd->target, flags, nd->link_address);
    if (!length)
        return;
    CHECK(length <= sizeof bytes && nd_parse(bytes, length, arrival, &again) == ND_OK);
    CHECK(again.type == nd->type && again.solicited == nd->solicited && again.router == nd->router);
    CHECK(!nd->target || memcmp(again.target, nd->target, 16) == 0);
    CHECK(!again.link_address == !nd->link_address);
    CHECK(!nd->link_address || memcmp(again.link_address, nd->link_address, ND_LINK_BYTES) == 0);
}

static void fuzz_nd(const uint8_t *bytes, uint32_t length)
{
    if (!length)
        return;
    const struct icmp6_arrival arrival = arrival_of(bytes[0], ICMP6_HOP_LIMIT_ON_LINK);
    uint8_t *message = exact_copy(bytes + 1, --length);
    struct nd nd;
    if (nd_parse(message, length, &arrival, &nd) == ND_OK) {
        CHECK(arrival.hop_limit == 255 && !arrival.fragmented && !message[1]);
        CHECK(inside(nd.options.at, nd.options.left, message, length));
        CHECK(nd.options.at + nd.options.left == message + length);
        CHECK(!nd.target || (inside(nd.target, 16, message, length) && !ip6_is_multicast(nd.target)));
        CHECK(!nd.link_address || inside(nd.link_address, ND_LINK_BYTES, message, length));
        CHECK(!nd.nonce || inside(nd.nonce, nd.nonce_bytes, message, length));
        check_written(&nd, &arrival);
        uint32_t count = 0;
        const uint32_t most = nd.options.left / 8;
        for (struct nd_option option; nd_option_next(&nd.options, &option); count++)
            check_option(&option, message, length);
        CHECK(count <= most);
    }
    free(message);
}

// --- Multicast Listener Discovery ----------------------------------------------------------------------------------

static void fuzz_mld(const uint8_t *bytes, uint32_t length)
{
    if (!length)
        return;
    const struct icmp6_arrival arrival = arrival_of(bytes[0], MLD_HOP_LIMIT);
    uint8_t *message = exact_copy(bytes + 1, --length);
    struct mld mld;
    if (mld_parse(message, length, &arrival, &mld)) {
        CHECK(arrival.hop_limit == 1 && arrival.router_alert && ip6_is_link_local(arrival.source));
        CHECK(inside(mld.group, 16, message, length) && mld.max_response_ms <= 8387584);
        CHECK(!mld.source_count || inside(mld.sources, 16 * mld.source_count, message, length));
        uint8_t *written = malloc(512);
        CHECK(written != NULL);
        struct mld_report report;
        mld_report_begin(&report, written, 512);
        const struct mld_record record = {GROUP_IS_EXCLUDE, (uint16_t)mld.source_count, mld.group, mld.sources};
        while (mld_report_add(&report, &record))
            CHECK(report.length <= 512);
        CHECK(report.length + MLD_RECORD_BYTES + 16 * mld.source_count > 512);
        free(written);
    }
    free(message);
}

// --- text ----------------------------------------------------------------------------------------------------------

static void fuzz_text(const uint8_t *bytes, uint32_t length)
{
    uint8_t address[16], again[16];
    char *text = malloc(INET6_TEXT_BYTES);
    CHECK(text != NULL);
    if (inet6_parse((const char *)bytes, length, address)) {
        const uint32_t written = inet6_format(address, text);
        CHECK(written < INET6_TEXT_BYTES && !text[written] && inet6_parse(text, written, again));
        CHECK(memcmp(again, address, 16) == 0);
    }
    if (length >= 16) {
        const uint32_t written = inet6_format(bytes, text);
        CHECK(inet6_parse(text, written, again) && memcmp(again, bytes, 16) == 0);
    }
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static void (*const parsers[])(const uint8_t *, uint32_t) = {fuzz_ip6, fuzz_nd, fuzz_mld, fuzz_text};
    if (!size)
        return 0;
    const uint32_t length = (uint32_t)size - 1;
    uint8_t *bytes = exact_copy(data + 1, length);
    parsers[data[0] % (sizeof parsers / sizeof *parsers)](bytes, length);
    free(bytes);
    return 0;
}
