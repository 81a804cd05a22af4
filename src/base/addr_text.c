// SPDX-License-Identifier: BSD-2-Clause
// Addresses of both families as text: those of IPv4 are read and written as the mapped ones whose text they end.
#include "base/bytes.h"
#include "base/inet6.h"
#include "weir/addr.h"

#define MAPPED_BYTES 7u
#define IP4_TEXT_MAX 15u
#define ZONE_DIGITS 3u

static const char before_mapped[MAPPED_BYTES] = {':', ':', 'f', 'f', 'f', 'f', ':'};

static bool read_ip4(const char *text, uint32_t length, struct weir_addr *out)
{
    char mapped[MAPPED_BYTES + IP4_TEXT_MAX];
    uint8_t bytes[16];
    if (length > IP4_TEXT_MAX)
        return false;
    memcpy(mapped, before_mapped, MAPPED_BYTES);
    memcpy(mapped + MAPPED_BYTES, text, length);
    if (!inet6_parse(mapped, MAPPED_BYTES + length, bytes) || !weir_addr_is_v4(weir_addr_v6(bytes)))
        return false;
    *out = weir_addr_v6(bytes);
    return true;
}

// The index of an interface; 0: not one.
static uint8_t read_zone(const char *text, uint32_t length)
{
    uint32_t zone = 0;
    if (length > ZONE_DIGITS)
        return 0;
    for (uint32_t i = 0; i < length; i++) {
        if (text[i] < '0' || text[i] > '9')
            return 0;
        zone = zone * 10 + (uint32_t)(text[i] - '0');
    }
    return (uint8_t)(zone <= 255 ? zone : 0);
}

bool weir_addr_read(const char *text, uint32_t length, struct weir_addr *out)
{
    uint32_t end = 0;
    uint8_t bytes[16];
    while (end < length && text[end] != '%')
        end++;
    if (end == length && read_ip4(text, length, out))
        return true;
    if (!inet6_parse(text, end, bytes))
        return false;
    const uint8_t zone = end < length ? read_zone(text + end + 1, length - end - 1) : 0;
    if (end < length && !(zone && weir_addr_is_link_local6(weir_addr_v6(bytes))))
        return false;
    *out = weir_addr_with_zone(weir_addr_v6(bytes), zone);
    return true;
}

static uint32_t write_zone(char *at, uint8_t zone)
{
    uint32_t length = 0;
    at[length++] = '%';
    if (zone >= 100)
        at[length++] = (char)('0' + zone / 100);
    if (zone >= 10)
        at[length++] = (char)('0' + zone / 10 % 10);
    at[length++] = (char)('0' + zone % 10);
    at[length] = 0;
    return length;
}

uint32_t weir_addr_write(struct weir_addr addr, char out[WEIR_ADDR_TEXT_BYTES])
{
    uint8_t bytes[16];
    weir_addr_to_v6(addr, bytes);
    const uint32_t length = inet6_format(bytes, out);
    if (weir_addr_is_v4(addr)) {
        for (uint32_t i = 0; i <= length - MAPPED_BYTES; i++)
            out[i] = out[i + MAPPED_BYTES];
        return length - MAPPED_BYTES;
    }
    return weir_addr_zone(addr) ? length + write_zone(out + length, weir_addr_zone(addr)) : length;
}
