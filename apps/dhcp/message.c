// SPDX-License-Identifier: BSD-2-Clause
#include "message.h"

#include <string.h>

#include "bytes.h"

#define ETHERNET 1u  // hardware type
#define SNAME_AT 44u
#define SNAME_BYTES 64u
#define FILE_AT 108u
#define FILE_BYTES 128u
#define OPTIONS_AT 240u  // behind the magic cookie

static const uint8_t cookie[4] = {99, 130, 83, 99};

enum option {
    OPTION_PAD = 0,
    OPTION_MASK = 1,
    OPTION_ROUTERS = 3,
    OPTION_DNS = 6,
    OPTION_HOST = 12,
    OPTION_DOMAIN = 15,
    OPTION_MTU = 26,
    OPTION_NTP = 42,
    OPTION_REQUESTED = 50,
    OPTION_LEASE = 51,
    OPTION_OVERLOAD = 52,
    OPTION_TYPE = 53,
    OPTION_SERVER_ID = 54,
    OPTION_PARAMETERS = 55,
    OPTION_MESSAGE_SIZE = 57,
    OPTION_RENEW = 58,
    OPTION_REBIND = 59,
    OPTION_CLIENT_ID = 61,
    OPTION_IP6_ONLY = 108,
    OPTION_PORTAL = 114,
    OPTION_END = 255
};

// --- parse -----------------------------------------------------------------------------------------------------------

// One field of options: the message's own, `file` or `sname`.
struct field {
    const uint8_t *bytes;
    uint32_t length;
};

struct piece {
    const uint8_t *data;
    uint8_t code, length;
};

struct options {
    struct field fields[3];
    uint32_t count;
};

static bool parse_addr(const uint8_t *data, uint32_t length, struct weir_addr *out)
{
    if (length == 4)
        *out = weir_addr_v4(get32(data));
    return length == 4;
}

static bool parse_seconds(const uint8_t *data, uint32_t length, uint32_t *out)
{
    if (length == 4)
        *out = get32(data);
    return length == 4;
}

static bool parse_list(const uint8_t *data, uint32_t length, struct dhcp_list *out)
{
    if (length == 0 || length % 4 != 0)
        return false;
    for (uint32_t i = 0; i < length && out->count < DHCP_SERVERS; i += 4)
        out->addresses[out->count++] = weir_addr_v4(get32(data + i));
    return true;
}

// A domain name is shown to people and put into configuration: anything but letters, digits, dots and hyphens is left
// out.
static bool parse_domain(const uint8_t *data, uint32_t length, char out[DHCP_NAME_MAX])
{
    if (length == 0)
        return false;
    if (length >= DHCP_NAME_MAX)
        return true;
    for (uint32_t i = 0; i < length; i++) {
        char c = (char)data[i];
        bool good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
                    (c == '.' && i > 0);
        if (!good && !(c == '\0' && i == length - 1)) {
            memset(out, 0, DHCP_NAME_MAX);
            return true;
        }
        out[i] = c;
    }
    return true;
}

// Two bytes at least (RFC 2132 §9.14).
static bool parse_id(const uint8_t *data, uint32_t length, struct dhcp_message *message)
{
    if (length < 2 || length > DHCP_ID_MAX)
        return false;
    message->id_length = (uint8_t)length;
    memcpy(message->id, data, length);
    return true;
}

static bool parse_option(uint8_t code, const uint8_t *data, uint32_t length, struct dhcp_message *message)
{
    switch (code) {
    case OPTION_MASK: return parse_addr(data, length, &message->mask);
    case OPTION_ROUTERS: return parse_list(data, length, &message->routers);
    case OPTION_DNS: return parse_list(data, length, &message->dns);
    case OPTION_NTP: return parse_list(data, length, &message->ntp);
    case OPTION_DOMAIN: return parse_domain(data, length, message->domain);
    case OPTION_REQUESTED: return parse_addr(data, length, &message->requested);
    case OPTION_SERVER_ID: return parse_addr(data, length, &message->server_id);
    case OPTION_LEASE: return parse_seconds(data, length, &message->lease_s);
    case OPTION_RENEW: return parse_seconds(data, length, &message->renew_s);
    case OPTION_REBIND: return parse_seconds(data, length, &message->rebind_s);
    case OPTION_IP6_ONLY: message->ip6_only = true; return parse_seconds(data, length, &message->ip6_only_s);
    case OPTION_CLIENT_ID: return parse_id(data, length, message);
    case OPTION_MTU:
        if (length != 2 || get16(data) < 68)
            return false;
        message->mtu = get16(data);
        return true;
    case OPTION_TYPE:
        if (length != 1 || data[0] < DHCP_DISCOVER || data[0] > DHCP_INFORM)
            return false;
        message->type = data[0];
        return true;
    default: return true;  // not ours; its length was checked
    }
}

// Whether an option begins at *at, which padding moves on.
static bool option_begins(const struct field *field, uint32_t *at)
{
    while (*at < field->length && field->bytes[*at] == OPTION_PAD)
        ++*at;
    return *at < field->length && field->bytes[*at] != OPTION_END;
}

// The option at *at, which passes no end; *at is then behind it.
static struct piece option_take(const struct field *field, uint32_t *at)
{
    struct piece option = {field->bytes + *at + 2, field->bytes[*at], field->bytes[*at + 1]};
    *at += 2u + option.length;
    return option;
}

// The option that begins at *at or behind the padding there; *at is then behind it. false: there is none. The field is
// one that field_check found whole.
static bool option_next(const struct field *field, uint32_t *at, struct piece *option)
{
    if (!option_begins(field, at))
        return false;
    *option = option_take(field, at);
    return true;
}

// Whether no option passes the field's end; a missing END is no harm. *overload: what its option 52 says, or as it was.
static bool field_check(const struct field *field, uint8_t *overload)
{
    for (uint32_t at = 0; option_begins(field, &at);) {
        if (field->length - at < 2 || field->bytes[at + 1] > field->length - at - 2)
            return false;
        struct piece option = option_take(field, &at);
        if (option.code != OPTION_OVERLOAD)
            continue;
        if (option.length != 1 || option.data[0] < 1 || option.data[0] > 3)
            return false;
        *overload = option.data[0];
    }
    return true;
}

// RFC 2131 §4.1: `file` is read before `sname`. An overload option inside them means nothing.
static bool options_find(const uint8_t *bytes, uint32_t length, struct options *options)
{
    uint8_t overload = 0, ignored = 0;
    *options = (struct options){.fields = {{bytes + OPTIONS_AT, length - OPTIONS_AT}}, .count = 1};
    bool whole = field_check(&options->fields[0], &overload);
    if (overload & 1)
        options->fields[options->count++] = (struct field){bytes + FILE_AT, FILE_BYTES};
    if (overload & 2)
        options->fields[options->count++] = (struct field){bytes + SNAME_AT, SNAME_BYTES};
    for (uint32_t i = 1; i < options->count; i++)
        whole = whole && field_check(&options->fields[i], &ignored);
    return whole;
}

// RFC 3396 §7: the options with this code are one, in pieces. Its bytes, as far as there is room for what is read of
// any; its length.
static uint32_t options_join(const struct options *options, uint8_t code, uint8_t out[DHCP_ID_MAX])
{
    struct piece option;
    uint32_t length = 0;
    for (uint32_t i = 0; i < options->count; i++) {
        for (uint32_t at = 0; option_next(&options->fields[i], &at, &option);) {
            for (uint32_t byte = 0; option.code == code && byte < option.length; byte++, length++) {
                if (length < DHCP_ID_MAX)
                    out[length] = option.data[byte];
            }
        }
    }
    return length;
}

// What has a length of its own is in pieces only when a piece alone has not that length: else it was said again, and
// what was said first counts.
static bool is_sequence(uint8_t code)
{
    return code == OPTION_ROUTERS || code == OPTION_DNS || code == OPTION_NTP || code == OPTION_DOMAIN ||
           code == OPTION_CLIENT_ID;
}

static bool options_parse(const struct options *options, struct dhcp_message *message)
{
    uint8_t seen[32] = {0}, joined[DHCP_ID_MAX];
    struct piece option;
    for (uint32_t i = 0; i < options->count; i++) {
        for (uint32_t at = 0; option_next(&options->fields[i], &at, &option);) {
            const uint8_t bit = (uint8_t)(1u << (option.code & 7));
            if (seen[option.code / 8] & bit)
                continue;
            seen[option.code / 8] |= bit;
            if (!is_sequence(option.code) && parse_option(option.code, option.data, option.length, message))
                continue;
            const uint32_t length = options_join(options, option.code, joined);
            if (!parse_option(option.code, joined, length, message))
                return false;
        }
    }
    return true;
}

bool dhcp_parse(const uint8_t *bytes, uint32_t length, struct dhcp_message *message)
{
    struct options options;
    *message = (struct dhcp_message){0};
    // Hardware type Ethernet, six bytes of address: a longer one would be read past `chaddr` by a careless parser.
    if (length < OPTIONS_AT || bytes[0] < 1 || bytes[0] > 2 || bytes[1] != ETHERNET || bytes[2] != 6)
        return false;
    if (memcmp(bytes + OPTIONS_AT - 4, cookie, sizeof cookie) != 0)
        return false;
    message->op = bytes[0];
    message->xid = get32(bytes + 4);
    message->secs = get16(bytes + 8);
    message->flags = get16(bytes + 10);
    message->ciaddr = weir_addr_v4(get32(bytes + 12));
    message->yiaddr = weir_addr_v4(get32(bytes + 16));
    message->siaddr = weir_addr_v4(get32(bytes + 20));
    message->giaddr = weir_addr_v4(get32(bytes + 24));
    memcpy(message->mac, bytes + 28, 6);
    return options_find(bytes, length, &options) && options_parse(&options, message) && message->type != 0;
}

// --- emit ------------------------------------------------------------------------------------------------------------

struct writer {
    uint8_t *out;
    uint32_t at, room;
    bool full;
};

static void emit_option(struct writer *writer, uint8_t code, const void *data, uint32_t length)
{
    if (writer->full || length > 255 || writer->room - writer->at < length + 3) {  // 1 is kept for END
        writer->full = true;
        return;
    }
    writer->out[writer->at] = code;
    writer->out[writer->at + 1] = (uint8_t)length;
    memcpy(writer->out + writer->at + 2, data, length);
    writer->at += length + 2;
}

static void emit32(struct writer *writer, uint8_t code, uint32_t value)
{
    uint8_t bytes[4];
    put32(bytes, value);
    if (value != 0)
        emit_option(writer, code, bytes, sizeof bytes);
}

static void emit_list(struct writer *writer, uint8_t code, const struct dhcp_list *list)
{
    uint8_t bytes[4 * DHCP_SERVERS];
    for (uint32_t i = 0; i < list->count; i++)
        put32(bytes + 4 * i, weir_addr_to_v4(list->addresses[i]));
    if (list->count != 0)
        emit_option(writer, code, bytes, 4u * list->count);
}

static void emit_options(struct writer *writer, const struct dhcp_message *message)
{
    static const uint8_t wanted[] = {OPTION_MASK, OPTION_ROUTERS, OPTION_DNS,   OPTION_DOMAIN, OPTION_MTU,
                                     OPTION_NTP,  OPTION_LEASE,   OPTION_RENEW, OPTION_REBIND, OPTION_IP6_ONLY};
    uint8_t size[2];
    put16(size, DHCP_MESSAGE_MAX);
    emit_option(writer, OPTION_TYPE, &message->type, 1);
    if (message->id_length != 0)
        emit_option(writer, OPTION_CLIENT_ID, message->id, message->id_length);
    emit32(writer, OPTION_REQUESTED, weir_addr_to_v4(message->requested));
    emit32(writer, OPTION_SERVER_ID, weir_addr_to_v4(message->server_id));
    if (message->parameters) {
        emit_option(writer, OPTION_MESSAGE_SIZE, size, sizeof size);
        emit_option(writer, OPTION_PARAMETERS, wanted, sizeof wanted - !message->ip6_only);  // the last one
    }
    if (message->host[0] != '\0')
        emit_option(writer, OPTION_HOST, message->host, (uint32_t)strlen(message->host));
    emit32(writer, OPTION_LEASE, message->lease_s);
    emit32(writer, OPTION_RENEW, message->renew_s);
    emit32(writer, OPTION_IP6_ONLY, message->ip6_only_s);
    emit32(writer, OPTION_REBIND, message->rebind_s);
    emit32(writer, OPTION_MASK, weir_addr_to_v4(message->mask));
    emit_list(writer, OPTION_ROUTERS, &message->routers);
    emit_list(writer, OPTION_DNS, &message->dns);
    emit_list(writer, OPTION_NTP, &message->ntp);
    if (message->mtu != 0) {
        put16(size, message->mtu);
        emit_option(writer, OPTION_MTU, size, sizeof size);
    }
    if (message->domain[0] != '\0')
        emit_option(writer, OPTION_DOMAIN, message->domain, (uint32_t)strlen(message->domain));
    if (message->portal != NULL)
        emit_option(writer, OPTION_PORTAL, message->portal, (uint32_t)strlen(message->portal));
}

uint32_t dhcp_emit(const struct dhcp_message *message, uint8_t *out, uint32_t room)
{
    if (room < DHCP_MESSAGE_MIN)
        return 0;
    memset(out, 0, room);
    out[0] = message->op;
    out[1] = ETHERNET;
    out[2] = 6;
    put32(out + 4, message->xid);
    put16(out + 8, message->secs);
    put16(out + 10, message->flags);
    put32(out + 12, weir_addr_to_v4(message->ciaddr));
    put32(out + 16, weir_addr_to_v4(message->yiaddr));
    put32(out + 20, weir_addr_to_v4(message->siaddr));
    put32(out + 24, weir_addr_to_v4(message->giaddr));
    memcpy(out + 28, message->mac, 6);
    memcpy(out + OPTIONS_AT - 4, cookie, sizeof cookie);
    struct writer writer = {out, OPTIONS_AT, room, false};
    emit_options(&writer, message);
    if (writer.full)
        return 0;
    out[writer.at++] = OPTION_END;
    return writer.at < DHCP_MESSAGE_MIN ? DHCP_MESSAGE_MIN : writer.at;
}

// --- clients, addresses ----------------------------------------------------------------------------------------------

uint8_t dhcp_id_of_mac(const uint8_t mac[6], uint8_t id[DHCP_ID_MAX])
{
    id[0] = ETHERNET;
    memcpy(id + 1, mac, 6);
    return 7;
}

int dhcp_mask_bits(struct weir_addr mask)
{
    uint32_t host = ~weir_addr_to_v4(mask);
    if (host & (host + 1))
        return -1;
    int bits = 32;
    for (; host != 0; host >>= 1)
        bits--;
    return bits;
}

bool dhcp_address_usable(struct weir_addr address, struct weir_addr mask)
{
    uint32_t host = weir_addr_to_v4(address) & ~weir_addr_to_v4(mask), first = weir_addr_to_v4(address) >> 24;
    if (first == 0 || first == 127 || first >= 224)
        return false;
    if (~weir_addr_to_v4(mask) <= 1)
        return true;  // /31 and /32 have neither network nor broadcast address (RFC 3021)
    return host != 0 && host != ~weir_addr_to_v4(mask);
}
