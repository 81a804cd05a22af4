// SPDX-License-Identifier: BSD-2-Clause
#include "dhcp6/message.h"

#include <string.h>

#include "bytes.h"

#if WEIR_CFG_IP6

enum option {
    OPTION_CLIENT_ID = 1,
    OPTION_SERVER_ID = 2,
    OPTION_IA_NA = 3,
    OPTION_ADDRESS = 5,
    OPTION_REQUEST = 6,
    OPTION_PREFERENCE = 7,
    OPTION_ELAPSED = 8,
    OPTION_STATUS = 13,
    OPTION_RAPID_COMMIT = 14,
    OPTION_DNS = 23,
    OPTION_DOMAINS = 24,
    OPTION_REFRESH = 32,
    OPTION_SOL_MAX_RT = 82,
    OPTION_INF_MAX_RT = 83
};

#define HEADER_BYTES 4u
#define IA_BYTES 12u
#define ADDRESS_BYTES 24u
#define MAX_RT_LEAST_S 60u
#define MAX_RT_MOST_S 86400u

// --- parse -----------------------------------------------------------------------------------------------------------

// Options one after another: known to lie in what holds them.
struct reader {
    const uint8_t *at;
    uint32_t left;
};
struct given {
    uint16_t code, length;
    const uint8_t *data;
};

// 1: one was read; 0: there is no more; −1: it passes the end.
static int option_next(struct reader *reader, struct given *option)
{
    if (reader->left == 0)
        return 0;
    if (reader->left < 4 || get16(reader->at + 2) > reader->left - 4)
        return -1;
    *option = (struct given){get16(reader->at), get16(reader->at + 2), reader->at + 4};
    reader->at += 4u + option->length;
    reader->left -= 4u + option->length;
    return 1;
}

static bool take_duid(const struct given *option, struct dhcp6_duid *out)
{
    if (option->length < 3 || option->length > DHCP6_DUID_MAX)
        return false;
    if (out->length == 0) {
        memcpy(out->bytes, option->data, option->length);
        out->length = (uint8_t)option->length;
    }
    return true;
}

static bool take_status(const struct given *option, uint16_t *out)
{
    if (option->length < 2)
        return false;
    if (*out == DHCP6_SUCCESS)
        *out = get16(option->data);
    return true;
}

static bool address_usable(struct weir_addr addr)
{
    return !weir_addr_is_any(addr) && !weir_addr_is_multicast(addr) && !weir_addr_is_loopback(addr) &&
           !weir_addr_is_link_local6(addr) && !weir_addr_is_v4(addr);
}

static bool take_address(const struct given *option, struct dhcp6_message *message)
{
    struct given inner;
    int more;
    if (option->length < ADDRESS_BYTES)
        return false;
    struct dhcp6_address address = {.addr = weir_addr_v6(option->data),
                                    .preferred_s = get32(option->data + 16),
                                    .valid_s = get32(option->data + 20)};
    struct reader reader = {option->data + ADDRESS_BYTES, option->length - ADDRESS_BYTES};
    while ((more = option_next(&reader, &inner)) > 0)
        if (inner.code == OPTION_STATUS && !take_status(&inner, &address.status))
            return false;
    if (more < 0)
        return false;
    if (address.preferred_s <= address.valid_s && address_usable(address.addr) &&
        message->address_count < DHCP6_ADDRESSES)
        message->addresses[message->address_count++] = address;
    return true;
}

static bool take_ia(const struct given *option, uint32_t iaid, struct dhcp6_message *message)
{
    struct given inner;
    struct dhcp6_message taken = {.iaid = iaid};
    int more;
    if (option->length < IA_BYTES)
        return false;
    taken.t1_s = get32(option->data + 4);
    taken.t2_s = get32(option->data + 8);
    struct reader reader = {option->data + IA_BYTES, option->length - IA_BYTES};
    while ((more = option_next(&reader, &inner)) > 0)
        if ((inner.code == OPTION_ADDRESS && !take_address(&inner, &taken)) ||
            (inner.code == OPTION_STATUS && !take_status(&inner, &taken.ia_status)))
            return false;
    if (more < 0)
        return false;
    if (message->ia || get32(option->data) != iaid || (taken.t2_s > 0 && taken.t1_s > taken.t2_s))
        return true;
    message->ia = true;
    message->t1_s = taken.t1_s;
    message->t2_s = taken.t2_s;
    message->ia_status = taken.ia_status;
    message->address_count = taken.address_count;
    memcpy(message->addresses, taken.addresses, sizeof taken.addresses);
    return true;
}

// An empty list is what dnsmasq sends where it is told to name no server.
static bool take_servers(const struct given *option, struct dhcp6_message *message)
{
    if (option->length % 16 != 0)
        return false;
    for (uint32_t at = 0; at < option->length && message->dns_count < DHCP6_SERVERS; at += 16)
        message->dns[message->dns_count++] = weir_addr_v6(option->data + at);
    return true;
}

static bool is_name_character(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

// The first name of the list as text; one that no host's name can be, or too long, is left out. False: a label passes
// the option's end, or is compressed (§10).
static bool take_domains(const struct given *option, char out[DHCP6_DOMAIN])
{
    uint32_t at = 0, length = 0;
    bool good = out[0] == '\0';
    char text[DHCP6_DOMAIN];
    while (at < option->length && option->data[at] != 0) {
        const uint32_t label = option->data[at++];
        if (label > 63 || label >= option->length - at)
            return false;
        good = good && length + label + 2 <= DHCP6_DOMAIN;
        if (good && length > 0)
            text[length++] = '.';
        for (uint32_t i = 0; i < label && good; i++) {
            text[length++] = (char)option->data[at + i];
            good = is_name_character((char)option->data[at + i]);
        }
        at += label;
    }
    if (good && length > 0) {
        memcpy(out, text, length);
        out[length] = '\0';
    }
    return at < option->length || option->length == 0;
}

static bool take_seconds(const struct given *option, uint32_t least, uint32_t most, uint32_t *out)
{
    if (option->length != 4)
        return false;
    if (*out == 0 && get32(option->data) >= least && get32(option->data) <= most)
        *out = get32(option->data);
    return true;
}

static bool take_option(const struct given *option, uint32_t iaid, struct dhcp6_message *message)
{
    switch (option->code) {
    case OPTION_CLIENT_ID: return take_duid(option, &message->client);
    case OPTION_SERVER_ID: return take_duid(option, &message->server);
    case OPTION_IA_NA: return take_ia(option, iaid, message);
    case OPTION_PREFERENCE: message->preference = option->length == 1 ? option->data[0] : 0; return option->length == 1;
    case OPTION_ELAPSED: message->elapsed = option->length == 2 ? get16(option->data) : 0; return option->length == 2;
    case OPTION_STATUS: return take_status(option, &message->status);
    case OPTION_RAPID_COMMIT: message->rapid_commit = true; return option->length == 0;
    case OPTION_DNS: return take_servers(option, message);
    case OPTION_DOMAINS: return take_domains(option, message->domain);
    case OPTION_REFRESH: return take_seconds(option, 0, UINT32_MAX, &message->refresh_s);
    case OPTION_SOL_MAX_RT: return take_seconds(option, MAX_RT_LEAST_S, MAX_RT_MOST_S, &message->sol_max_rt_s);
    case OPTION_INF_MAX_RT: return take_seconds(option, MAX_RT_LEAST_S, MAX_RT_MOST_S, &message->inf_max_rt_s);
    default: return true;  // not ours; its length was checked
    }
}

bool dhcp6_parse(const uint8_t *bytes, uint32_t length, uint32_t iaid, struct dhcp6_message *message)
{
    struct given option;
    int more;
    memset(message, 0, sizeof *message);
    if (length < HEADER_BYTES || bytes[0] < DHCP6_SOLICIT || bytes[0] > DHCP6_INFORMATION_REQUEST)
        return false;
    message->type = bytes[0];
    message->xid = get32(bytes) & 0xffffffu;
    message->iaid = iaid;
    struct reader reader = {bytes + HEADER_BYTES, length - HEADER_BYTES};
    while ((more = option_next(&reader, &option)) > 0)
        if (!take_option(&option, iaid, message))
            return false;
    return more == 0;
}

// --- emit ------------------------------------------------------------------------------------------------------------

struct writer {
    uint8_t *out;
    uint32_t at, room;
    bool full;
    uint8_t nowhere[DHCP6_DUID_MAX];  // what has no room goes there
};

// Begins an option; what lies in it follows.
static uint8_t *put_option(struct writer *writer, enum option code, uint32_t length)
{
    if (writer->full || writer->room - writer->at < 4 + length) {
        writer->full = true;
        return writer->nowhere;
    }
    put16(writer->out + writer->at, code);
    put16(writer->out + writer->at + 2, length);
    writer->at += 4 + length;
    return writer->out + writer->at - length;
}

static void put_duid(struct writer *writer, enum option code, const struct dhcp6_duid *duid)
{
    if (duid->length > 0)
        memcpy(put_option(writer, code, duid->length), duid->bytes, duid->length);
}

// §18.2.6, §18.2.10: what a client always asks for.
static void put_request(struct writer *writer, uint8_t type)
{
    const bool information = type == DHCP6_INFORMATION_REQUEST;
    if (type == DHCP6_CONFIRM || type == DHCP6_RELEASE || type == DHCP6_DECLINE)
        return;
    uint8_t *const data = put_option(writer, OPTION_REQUEST, information ? 10 : 6);
    put16(data, OPTION_DNS);
    put16(data + 2, OPTION_DOMAINS);
    put16(data + 4, OPTION_SOL_MAX_RT);
    if (information) {
        put16(data + 4, OPTION_REFRESH);
        put16(data + 6, OPTION_INF_MAX_RT);
        put16(data + 8, OPTION_SOL_MAX_RT);
    }
}

static void put_ia(struct writer *writer, const struct dhcp6_message *message)
{
    const uint32_t begin = writer->at;
    uint8_t *const ia = put_option(writer, OPTION_IA_NA, IA_BYTES);
    put32(ia, message->iaid);
    put32(ia + 4, message->t1_s);
    put32(ia + 8, message->t2_s);
    for (uint32_t i = 0; i < message->address_count; i++) {
        uint8_t *const data = put_option(writer, OPTION_ADDRESS, ADDRESS_BYTES);
        weir_addr_to_v6(message->addresses[i].addr, data);
        put32(data + 16, message->addresses[i].preferred_s);
        put32(data + 20, message->addresses[i].valid_s);
    }
    if (!writer->full)
        put16(writer->out + begin + 2, writer->at - begin - 4);
}

uint32_t dhcp6_emit(const struct dhcp6_message *message, uint8_t *out, uint32_t room)
{
    struct writer writer = {.out = out, .at = HEADER_BYTES, .room = room, .full = room < HEADER_BYTES};
    if (writer.full)
        return 0;
    put32(out, (uint32_t)message->type << 24 | (message->xid & 0xffffffu));
    put_duid(&writer, OPTION_CLIENT_ID, &message->client);
    put_duid(&writer, OPTION_SERVER_ID, &message->server);
    put16(put_option(&writer, OPTION_ELAPSED, 2), message->elapsed);
    put_request(&writer, message->type);
    if (message->rapid_commit)
        (void)put_option(&writer, OPTION_RAPID_COMMIT, 0);
    if (message->ia)
        put_ia(&writer, message);
    return writer.full ? 0 : writer.at;
}

#endif
