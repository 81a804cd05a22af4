// SPDX-License-Identifier: BSD-2-Clause
#include "wire/ethernet.h"

#include "weir/options.h"

#define VID_MASK 0x0fffu  // the rest of the tag is priority, which a host has no use for

uint32_t ethernet_parse(const uint8_t *bytes, uint32_t length, struct ethernet *out)
{
    if (length < ETHERNET_BYTES)
        return 0;
    out->destination = bytes;
    out->source = bytes + 6;
    out->type = get16(bytes + 12);
    out->vlan = 0;
    out->tagged = false;
    if (!WEIR_CFG_VLAN || out->type != ETHERTYPE_VLAN)
        return ETHERNET_BYTES;
    if (length < ETHERNET_BYTES + VLAN_BYTES)
        return 0;
    out->vlan = get16(bytes + 14) & VID_MASK;
    out->type = get16(bytes + 16);
    out->tagged = true;
    return ETHERNET_BYTES + VLAN_BYTES;
}

uint8_t *ethernet_emit(uint8_t *end, const struct ethernet *header)
{
    put16(end -= 2, header->type);
    if (WEIR_CFG_VLAN && header->tagged) {
        put16(end -= 2, header->vlan & VID_MASK);
        put16(end -= 2, ETHERTYPE_VLAN);
    }
    memcpy(end -= 6, header->source, 6);
    memcpy(end -= 6, header->destination, 6);
    return end;
}
