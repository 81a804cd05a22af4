// SPDX-License-Identifier: BSD-2-Clause
// Socket addresses, and addresses as text.
#include "internal.h"

// An address family that is not AF_INET is an error, except AF_UNSPEC, which is the address any with port 0 (connect uses it to
// dissolve a datagram socket's association).
int bsd_address_in(struct weir_bsd *bsd, const struct weir_sockaddr *address, weir_socklen length, struct weir_endpoint *out)
{
    struct weir_sockaddr_in in = {0};
    if (!address || length < sizeof in.sin_family)
        return WEIR_INVALID;
    const size_t bytes = length < sizeof in ? length : sizeof in;
    if (bsd_copy_in(bsd, &in, address, bytes))
        return WEIR_FAULT;
    *out = (struct weir_endpoint){0};
    if (in.sin_family == WEIR_AF_UNSPEC)
        return WEIR_OK;
    if (in.sin_family != WEIR_AF_INET)
        return BSD_NO_FAMILY;
    if (bytes < sizeof in)
        return WEIR_INVALID;
    out->addr = weir_addr_v4(weir_ntohl(in.sin_addr.s_addr));
    out->port = weir_ntohs(in.sin_port);
    return WEIR_OK;
}

int bsd_address_out(struct weir_bsd *bsd, const struct weir_endpoint *endpoint, struct weir_sockaddr *address, weir_socklen *length)
{
    if (!address)
        return WEIR_OK;
    weir_socklen room;
    const weir_socklen whole = sizeof(struct weir_sockaddr_in);
    if (!length || bsd_copy_in(bsd, &room, length, sizeof room))
        return WEIR_FAULT;
    const struct weir_sockaddr_in in = {
        .sin_family = WEIR_AF_INET, .sin_port = weir_htons(endpoint->port), .sin_addr = {weir_htonl(weir_addr_to_v4(endpoint->addr))}};
    if (bsd_copy_out(bsd, address, &in, room < whole ? room : whole) || bsd_copy_out(bsd, length, &whole, sizeof whole))
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

int weir_inet_pton(int family, const char *text, void *out)
{
    uint8_t bytes[4];
    if (family != WEIR_AF_INET)
        return -1;
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
        return NULL;
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
