// SPDX-License-Identifier: BSD-2-Clause
#include <string.h>

#include "mdns/internal.h"

static bool local(struct mdns_name *name) { return mdns_name_label(name, "local", 5); }

static bool owner_label(const struct mdns_owner *owner, struct mdns_name *name)
{
    mdns_name_root(name);
    return mdns_name_label(name, owner->label, (uint32_t)strlen(owner->label));
}

static bool type_name(const struct mdns_service *service, struct mdns_name *name)
{
    mdns_name_root(name);
    return mdns_name_text(name, service->type) && local(name);
}

bool mdns_owner_name(const struct mdns_owner *owner, struct mdns_name *name)
{
    if (!owner_label(owner, name))
        return false;
    return (owner->service == NULL || mdns_name_text(name, owner->service->type)) && local(name);
}

static const char *subtype(const struct mdns_owner *owner, uint32_t slot)
{
    const char *const *at = owner->service->subtypes;
    for (uint32_t i = 0; at != NULL && at[i] != NULL && i < MDNS_SUBTYPES; i++) {
        if (i == slot - MDNS_SERVICE_SUB)
            return at[i];
    }
    return NULL;
}

static bool sub_name(const struct mdns_owner *owner, uint32_t slot, struct mdns_name *name)
{
    const char *sub = subtype(owner, slot);
    mdns_name_root(name);
    return sub != NULL && mdns_name_label(name, sub, (uint32_t)strlen(sub)) && mdns_name_label(name, "_sub", 4) &&
           mdns_name_text(name, owner->service->type) && local(name);
}

bool mdns_slot_name(const struct mdns *mdns, const struct mdns_owner *owner, uint32_t slot, struct mdns_name *name)
{
    if (mdns_slot_type(mdns, owner, slot) == 0)
        return false;
    if (owner->service == NULL)
        return mdns_owner_name(owner, name);
    if (slot == MDNS_SERVICE_PTR)
        return type_name(owner->service, name);
    if (slot >= MDNS_SERVICE_SUB)
        return sub_name(owner, slot, name);
    if (slot != MDNS_SERVICE_META)
        return mdns_owner_name(owner, name);
    mdns_name_root(name);
    return mdns_name_text(name, "_services._dns-sd._udp.local");
}

static bool has_family(const struct mdns *mdns, bool v4)
{
    for (uint32_t i = 0; i < mdns->address_count; i++) {
        if (weir_addr_is_v4(mdns->addresses[i]) == v4)
            return true;
    }
    return false;
}

uint16_t mdns_slot_type(const struct mdns *mdns, const struct mdns_owner *owner, uint32_t slot)
{
    static const uint16_t types[] = {MDNS_PTR, MDNS_PTR, MDNS_SRV, MDNS_TXT, MDNS_NSEC};
    if (owner->service != NULL) {
        if (slot >= MDNS_SERVICE_SUB)
            return subtype(owner, slot) != NULL ? MDNS_PTR : 0;
        return types[slot];
    }
    switch (slot) {
    case MDNS_HOST_A: return has_family(mdns, true) ? MDNS_A : 0;
    case MDNS_HOST_AAAA: return has_family(mdns, false) ? MDNS_AAAA : 0;
    case MDNS_HOST_NSEC: return MDNS_NSEC;
    default: return 0;
    }
}

bool mdns_slot_unique(const struct mdns_owner *owner, uint32_t slot)
{
    return owner->service == NULL || (slot >= MDNS_SERVICE_SRV && slot <= MDNS_SERVICE_NSEC);
}

uint32_t mdns_slot_ttl_s(const struct mdns_owner *owner, uint32_t slot)
{
    return owner->service == NULL || slot == MDNS_SERVICE_SRV || slot == MDNS_SERVICE_NSEC ? MDNS_TTL_S
                                                                                           : MDNS_TTL_LONG_S;
}

static bool address_data(const struct mdns *mdns, bool v4, uint32_t index, struct mdns_slot_data *out)
{
    for (uint32_t i = 0; i < mdns->address_count; i++) {
        if (weir_addr_is_v4(mdns->addresses[i]) != v4 || index-- > 0)
            continue;
        if (v4) {
            const uint32_t bits = weir_addr_to_v4(mdns->addresses[i]);
            for (uint32_t k = 0; k < 4; k++)
                out->bytes[k] = (uint8_t)(bits >> (24 - 8 * k));
        } else {
            mdns_bytes6(mdns->addresses[i], out->bytes);
        }
        out->data.head = out->bytes;
        out->data.head_length = v4 ? 4 : 16;
        return true;
    }
    return false;
}

// A record that says which types the name has (RFC 6762 §6.1): a window of 256 types, its bitmap's octets.
static bool nsec_data(const struct mdns *mdns, const struct mdns_owner *owner, struct mdns_slot_data *out)
{
    uint8_t *const map = out->bytes;
    memset(map, 0, sizeof out->bytes);
    if (owner->service != NULL) {
        map[1] = 5;
        map[2 + MDNS_TXT / 8] = 0x80 >> MDNS_TXT % 8;
        map[2 + MDNS_SRV / 8] = 0x80 >> MDNS_SRV % 8;
    } else {
        map[1] = 4;
        if (has_family(mdns, true))
            map[2 + MDNS_A / 8] |= 0x80 >> MDNS_A % 8;
        if (has_family(mdns, false))
            map[2 + MDNS_AAAA / 8] |= 0x80 >> MDNS_AAAA % 8;
    }
    out->data.name = &out->name;
    out->data.tail = map;
    out->data.tail_length = 2u + map[1];
    return mdns_owner_name(owner, &out->name);
}

static bool srv_data(const struct mdns *mdns, const struct mdns_owner *owner, struct mdns_slot_data *out)
{
    memset(out->bytes, 0, 4);  // priority and weight
    out->bytes[4] = (uint8_t)(owner->service->port >> 8);
    out->bytes[5] = (uint8_t)owner->service->port;
    out->data.head = out->bytes;
    out->data.head_length = 6;
    out->data.name = &out->name;
    return mdns_owner_name(&mdns->host, &out->name);
}

bool mdns_slot_data(const struct mdns *mdns, const struct mdns_owner *owner, uint32_t slot, uint32_t index,
                    struct mdns_slot_data *out)
{
    static const uint8_t empty = 0;  // a TXT record has at least one string (RFC 6763 §6.1)
    memset(&out->data, 0, sizeof out->data);
    if (owner->service == NULL && slot <= MDNS_HOST_AAAA)
        return address_data(mdns, slot == MDNS_HOST_A, index, out);
    if (index > 0 || mdns_slot_type(mdns, owner, slot) == 0)
        return false;
    switch (mdns_slot_type(mdns, owner, slot)) {
    case MDNS_NSEC: return nsec_data(mdns, owner, out);
    case MDNS_SRV: return srv_data(mdns, owner, out);
    case MDNS_TXT:
        out->data.head = owner->service->txt_length > 0 ? owner->service->txt : &empty;
        out->data.head_length = owner->service->txt_length > 0 ? owner->service->txt_length : 1;
        return true;
    default:
        out->data.name = &out->name;
        return slot == MDNS_SERVICE_META ? type_name(owner->service, &out->name) : mdns_owner_name(owner, &out->name);
    }
}

static bool same_name(const uint8_t *wire, const struct mdns_name *name)
{
    struct mdns_name other = {.length = name->length};
    memcpy(other.bytes, wire, name->length);
    return mdns_name_equal(&other, name);
}

int mdns_slot_index(const struct mdns *mdns, const struct mdns_owner *owner, uint32_t slot,
                    const struct mdns_packet *packet, const struct mdns_record *record)
{
    struct mdns_slot_data own;
    uint8_t room[MDNS_DATA_ROOM];
    uint32_t bytes;
    const uint8_t *data = mdns_read_data(packet->bytes, packet->length, record, room, &bytes);
    if (data == NULL || record->type == MDNS_NSEC)  // its name may be compressed, and nobody is asked for its data
        return -1;
    for (uint32_t i = 0; mdns_slot_data(mdns, owner, slot, i, &own); i++) {
        const struct mdns_data *d = &own.data;
        const uint32_t name_length = d->name != NULL ? d->name->length : 0;
        if (d->head_length + name_length == bytes &&
            (d->head_length == 0 || memcmp(data, d->head, d->head_length) == 0) &&
            (name_length == 0 || same_name(data + d->head_length, d->name)))
            return (int)i;
    }
    return -1;
}

uint32_t mdns_slot_count(const struct mdns *mdns, const struct mdns_owner *owner, uint32_t slot)
{
    struct mdns_slot_data data;
    uint32_t count = 0;
    while (mdns_slot_data(mdns, owner, slot, count, &data))
        count++;
    return count;
}

bool mdns_slot_write(const struct mdns *mdns, struct mdns_writer *writer, uint32_t section,
                     const struct mdns_owner *owner, uint32_t slot, uint32_t ttl_max_s, bool flush)
{
    const struct mdns_writer before = *writer;
    struct mdns_name name;
    struct mdns_slot_data data;
    const uint16_t class = MDNS_IN | (flush && mdns_slot_unique(owner, slot) ? MDNS_FLUSH : 0);
    const uint32_t own_s = mdns_slot_ttl_s(owner, slot), ttl_s = own_s < ttl_max_s ? own_s : ttl_max_s;
    if (!mdns_slot_name(mdns, owner, slot, &name))
        return true;
    for (uint32_t i = 0; mdns_slot_data(mdns, owner, slot, i, &data); i++) {
        if (!mdns_write_record(writer, section, &name, mdns_slot_type(mdns, owner, slot), class, ttl_s, &data.data)) {
            *writer = before;
            return false;
        }
    }
    return true;
}

bool mdns_slot_repeated(const struct mdns *mdns, const struct mdns_owner *owner, uint32_t slot)
{
    struct mdns_name type, other;
    if (owner->service == NULL || slot != MDNS_SERVICE_META || !type_name(owner->service, &type))
        return false;
    for (const struct mdns_owner *at = mdns->owners; at != owner; at = at->next) {
        if (at->service != NULL && (at->asked & (1u << slot)) != 0 && type_name(at->service, &other) &&
            mdns_name_equal(&type, &other))
            return true;
    }
    return false;
}
