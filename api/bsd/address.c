// SPDX-License-Identifier: BSD-2-Clause
// Socket addresses, and addresses as text.
#include "internal.h"

// AF_UNSPEC is the address any with port 0 (connect uses it to dissolve a datagram socket's association).
int bsd_address_in(struct weir_bsd *bsd, const struct weir_sockaddr *address, weir_socklen length, struct bsd_name *out)
{
    union bsd_sockaddr from;
    memset(&from, 0, sizeof from);
    if (!address || length < sizeof from.in.sin_family)
        return WEIR_INVALID;
    const size_t bytes = length < sizeof from ? length : sizeof from;
    if (bsd_copy_in(bsd, &from, address, bytes))
        return WEIR_FAULT;
    *out = (struct bsd_name){.family = (uint8_t)from.in.sin_family};
    if (from.in.sin_family == WEIR_AF_UNSPEC)
        return WEIR_OK;
    if (from.in.sin_family != WEIR_AF_INET)
        return bsd_sockaddr_read(&from, bytes, out);
    if (bytes < sizeof from.in)
        return WEIR_INVALID;
    out->endpoint.addr = weir_addr_v4(weir_ntohl(from.in.sin_addr.s_addr));
    out->endpoint.port = weir_ntohs(from.in.sin_port);
    return WEIR_OK;
}

int bsd_address_out(struct weir_bsd *bsd, uint8_t family, const struct weir_endpoint *endpoint,
                    struct weir_sockaddr *address, weir_socklen *length)
{
    union bsd_sockaddr name;
    if (!address)
        return WEIR_OK;
    weir_socklen room;
    if (!length || bsd_copy_in(bsd, &room, length, sizeof room))
        return WEIR_FAULT;
    const weir_socklen whole = bsd_sockaddr_make(family, endpoint, &name);
    if (bsd_copy_out(bsd, address, &name, room < whole ? room : whole) ||
        bsd_copy_out(bsd, length, &whole, sizeof whole))
        return WEIR_FAULT;
    return WEIR_OK;
}

// One decimal number up to 255 without leading zeros (so that none can be taken for octal); NULL: not one.
static const char *decimal(const char *text, uint8_t *out)
{
    unsigned value = 0;
    const char *at = text;
    while (*at >= '0' && *at <= '9') {
        if (at > text && value == 0)
            return NULL;
        value = value * 10 + (unsigned)(*at++ - '0');
        if (value > 255)
            return NULL;
    }
    *out = (uint8_t)value;
    return at > text ? at : NULL;
}

#if WEIR_CFG_IP6
static int pton6(int family, const char *text, void *out)
{
    struct weir_addr addr;
    uint32_t length = 0;
    bool colon = false;
    if (family != WEIR_AF_INET6)
        return -1;
    for (; text[length]; length++) {
        if (text[length] == '%')  // a zone is none of the 16 bytes
            return 0;
        colon |= text[length] == ':';
    }
    if (!colon || !weir_addr_read(text, length, &addr))
        return 0;
    weir_addr_to_v6(addr, out);
    return 1;
}

static const char *ntop6(int family, const void *address, char *text, weir_socklen bytes)
{
    char out[WEIR_ADDR_TEXT_BYTES + 8] = "::ffff:";
    struct weir_addr addr;
    uint8_t part[16];
    if (family != WEIR_AF_INET6)
        return NULL;
    memcpy(part, address, sizeof part);
    addr = weir_addr_v6(part);
    const uint32_t before = weir_addr_is_v4(addr) ? 7 : 0;
    const uint32_t length = before + weir_addr_write(weir_addr_with_zone(addr, 0), out + before) + 1;
    if (length > bytes)
        return NULL;
    memcpy(text, out, length);
    return text;
}
#else
static int pton6(int family, const char *text, void *out) { return (void)family, (void)text, (void)out, -1; }
static const char *ntop6(int family, const void *address, char *text, weir_socklen bytes)
{
    return (void)family, (void)address, (void)text, (void)bytes, NULL;
}
#endif

int weir_inet_pton(int family, const char *text, void *out)
{
    uint8_t bytes[4];
    if (family != WEIR_AF_INET)
        return pton6(family, text, out);
    for (int index = 0; index < 4; index++) {
        text = decimal(text, &bytes[index]);
        if (!text || *text++ != (index < 3 ? '.' : '\0'))
            return 0;
    }
    memcpy(out, bytes, sizeof bytes);
    return 1;
}

static char *put_decimal(char *at, uint8_t value)
{
    if (value >= 100)
        *at++ = (char)('0' + value / 100);
    if (value >= 10)
        *at++ = (char)('0' + value / 10 % 10);
    *at++ = (char)('0' + value % 10);
    return at;
}

const char *weir_inet_ntop(int family, const void *address, char *text, weir_socklen bytes)
{
    char out[WEIR_INET_ADDRSTRLEN];
    uint8_t part[4];
    if (family != WEIR_AF_INET)
        return ntop6(family, address, text, bytes);
    memcpy(part, address, sizeof part);
    char *at = out;
    for (int index = 0; index < 4; index++) {
        at = put_decimal(at, part[index]);
        *at++ = index < 3 ? '.' : '\0';
    }
    const size_t length = (size_t)(at - out);
    if (length > bytes)
        return NULL;
    memcpy(text, out, length);
    return text;
}

unsigned bsd_if_nametoindex(struct weir_bsd *bsd, const char *name)
{
    bsd_enter(bsd);
    const struct weir_netif *netif = weir_netif_find(bsd->weir, name);
    const unsigned index = netif ? netif->index : 0;
    bsd_leave(bsd);
    return index;
}

char *bsd_if_indextoname(struct weir_bsd *bsd, unsigned index, char *name)
{
    bsd_enter(bsd);
    const struct weir_netif *netif = index && index <= UINT8_MAX ? weir_netif_at(bsd->weir, (uint8_t)index) : NULL;
    for (size_t at = 0; netif && at < WEIR_IF_NAMESIZE; at++) {
        name[at] = at < WEIR_IF_NAMESIZE - 1 ? netif->name[at] : '\0';
        if (!name[at])
            break;
    }
    bsd_leave(bsd);
    return netif ? name : NULL;
}
