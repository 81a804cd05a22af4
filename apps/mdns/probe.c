// SPDX-License-Identifier: BSD-2-Clause
// How a unique name becomes ours: three probes, announcements, and a new name when another host has it (RFC 6762 §8
// and §9).
#include <string.h>

#include "mdns/internal.h"
#include "text.h"

#define PROBES 3u
#define PROBE_US 250000u      // between them, and at most before the first
#define TIE_WAIT_US 1000000u  // the loser's
#define NUMBER_MAX 9999u

// Cuts UTF-8 text at the start of a character.
static uint32_t cut(const char *text, uint32_t length, uint32_t most)
{
    if (length <= most)
        return length;
    while (most > 0 && ((uint8_t)text[most] & 0xc0u) == 0x80u)
        most--;
    return most;
}

static bool has_control(const char *name)
{
    for (; *name != '\0'; name++) {
        if ((uint8_t)*name < 0x20 || *name == 0x7f)
            return true;
    }
    return false;
}

bool mdns_owner_label(struct mdns_owner *owner, const char *name)
{
    char number[16] = "";
    struct text end, whole;
    const uint32_t length = (uint32_t)strlen(name);
    if (length == 0 || length > MDNS_LABEL_MAX || has_control(name))
        return false;
    text_init(&end, number, sizeof number);
    if (owner->number > 1) {
        text_put(&end, owner->service != NULL ? " (" : "-");
        text_u64(&end, owner->number);
        text_put(&end, owner->service != NULL ? ")" : "");
    }
    text_init(&whole, owner->label, sizeof owner->label);
    text_bytes(&whole, name, cut(name, length, MDNS_LABEL_MAX - end.length));
    text_put(&whole, number);
    return true;
}

static const char *given_name(const struct mdns *mdns, const struct mdns_owner *owner)
{
    return owner->service != NULL ? owner->service->name : mdns->config.host;
}

void mdns_owner_rest(struct mdns_owner *owner)
{
    owner->state = MDNS_IDLE;
    owner->due_us = WEIR_NEVER;
    for (uint32_t i = 0; i < MDNS_SLOTS; i++)
        owner->slots[i].due_us = WEIR_NEVER;
}

void mdns_owner_probe(struct mdns *mdns, struct mdns_owner *owner, uint64_t now_us)
{
    mdns_owner_rest(owner);
    mdns->due_us = 0;
    if (!mdns->link || mdns->address_count == 0)
        return;
    owner->state = MDNS_PROBING;
    owner->sent = 0;
    const bool often = mdns->conflicts >= MDNS_CONFLICTS_MAX && now_us - mdns->conflicts_us < MDNS_CONFLICTS_US;
    owner->due_us = now_us + (often ? MDNS_CONFLICT_WAIT_US : mdns_random_us(mdns, 0, PROBE_US));
}

// --- the clock -------------------------------------------------------------------------------------------------------

static void propose(struct mdns *mdns, struct mdns_writer *writer, const struct mdns_owner *owner)
{
    struct mdns_question question = {.type = MDNS_ANY, .rrclass = MDNS_IN | MDNS_UNICAST};
    if (!mdns_owner_name(owner, &question.name) || !mdns_write_question(writer, &question))
        return;
    for (uint32_t slot = 0; slot < MDNS_SLOTS; slot++) {
        if (mdns_slot_unique(owner, slot) && mdns_slot_type(mdns, owner, slot) != MDNS_NSEC)
            (void)mdns_slot_write(mdns, writer, 2, owner, slot, UINT32_MAX, false);
    }
}

static void announce_from(struct mdns_owner *owner, uint64_t now_us)
{
    owner->state = MDNS_ANNOUNCING;
    owner->sent = 0;
    owner->due_us = now_us;
}

// A host's services name it in their SRV records.
void mdns_owner_announce(struct mdns *mdns, struct mdns_owner *owner, uint64_t now_us)
{
    announce_from(owner, now_us);
    for (struct mdns_owner *at = mdns->owners; at != NULL && owner->service == NULL; at = at->next) {
        if (at->service != NULL && mdns_owner_live(at))
            announce_from(at, now_us);
    }
}

static void settle(struct mdns *mdns, struct mdns_owner *owner, uint64_t now_us)
{
    mdns_owner_announce(mdns, owner, now_us);
    const bool told = owner->told == owner->number;
    owner->told = owner->number;
    if (!told && mdns->config.named != NULL)
        mdns->config.named(mdns, owner->service, owner->label, mdns->config.context);
}

static void probe(struct mdns *mdns, struct mdns_owner *owner, uint64_t now_us)
{
    struct mdns_writer writer;
    if (owner->sent == PROBES) {
        settle(mdns, owner, now_us);
        return;
    }
    mdns_begin(mdns, &writer, 0);
    propose(mdns, &writer, owner);
    owner->due_us = now_us + PROBE_US;
    if (!mdns_send(mdns, &writer, NULL))
        return;  // nobody has been asked
    mdns->direct_us = now_us + MDNS_DIRECT_US;
    mdns->count.probes++;
    owner->sent++;
}

// The records themselves are sent with the other answers that are due.
static void announce(struct mdns *mdns, struct mdns_owner *owner, uint64_t now_us)
{
    for (uint32_t slot = 0; slot < MDNS_SLOTS; slot++) {
        // The first always leaves: the data may be new. Later ones are as good as an answer of the last second.
        if (mdns_slot_type(mdns, owner, slot) != 0 &&
            (owner->sent == 0 || !mdns_slot_recent(&owner->slots[slot], now_us, MDNS_SECOND_US))) {
            owner->slots[slot].due_us = now_us;
            owner->slots[slot].asker = 0;
        }
    }
    mdns->count.announcements++;
    owner->due_us = now_us + ((uint64_t)MDNS_SECOND_US << owner->sent++);
    if (owner->sent == MDNS_ANNOUNCEMENTS) {
        owner->state = MDNS_READY;
        owner->due_us = WEIR_NEVER;
    }
}

uint64_t mdns_probe_poll(struct mdns *mdns, uint64_t now_us)
{
    uint64_t due_us = WEIR_NEVER;
    for (struct mdns_owner *owner = mdns->owners; owner != NULL; owner = owner->next) {
        if (owner->state == MDNS_PROBING && now_us >= owner->due_us)
            probe(mdns, owner, now_us);
    }
    for (struct mdns_owner *owner = mdns->owners; owner != NULL; owner = owner->next) {
        if (owner->state == MDNS_ANNOUNCING && now_us >= owner->due_us)
            announce(mdns, owner, now_us);
        due_us = owner->due_us < due_us ? owner->due_us : due_us;
    }
    return due_us;
}

// --- who else wants it -----------------------------------------------------------------------------------------------

// A record as it is compared: RFC 6762 §8.2.
struct proposal {
    uint16_t rrclass, type;
    uint32_t length;
    const uint8_t *data;
    uint8_t room[MDNS_DATA_ROOM];
};

static int order(const struct proposal *a, const struct proposal *b)
{
    if (a->rrclass != b->rrclass)
        return a->rrclass < b->rrclass ? -1 : 1;
    if (a->type != b->type)
        return a->type < b->type ? -1 : 1;
    const uint32_t length = a->length < b->length ? a->length : b->length;
    const int bytes = length > 0 ? memcmp(a->data, b->data, length) : 0;
    if (bytes != 0 || a->length == b->length)
        return bytes;
    return a->length < b->length ? -1 : 1;
}

// The least proposal for the name that is greater than `after` (NULL: the least of all). In order a message's records
// come out of it without an array of them.
static bool next_proposal(const uint8_t *message, uint32_t length, const struct mdns_name *name,
                          const struct proposal *after, struct proposal *least)
{
    struct mdns_reader reader;
    struct mdns_record record;
    struct proposal at;
    bool found = false;
    if (!mdns_read_begin(&reader, message, length))
        return false;
    while (mdns_read_record(&reader, &record)) {
        if (record.section != 2 || !mdns_name_equal(&record.name, name))
            continue;
        at.rrclass = record.rrclass & (uint16_t)~MDNS_FLUSH;
        at.type = record.type;
        at.data = mdns_read_data(message, length, &record, at.room, &at.length);
        if (at.data == NULL || (after != NULL && order(&at, after) <= 0) || (found && order(&at, least) >= 0))
            continue;
        *least = at;
        if (at.data == at.room)
            least->data = least->room;
        found = true;
    }
    return found;
}

// Our proposals against the packet's, in order: whose first difference is greater, or who has more.
static int compare(struct mdns *mdns, const struct mdns_packet *packet, const struct mdns_owner *owner,
                   const struct mdns_name *name)
{
    struct mdns_writer writer;
    struct proposal ours[2], theirs[2];
    mdns_begin(mdns, &writer, 0);
    propose(mdns, &writer, owner);
    const uint32_t length = mdns_write_end(&writer);
    for (uint32_t i = 0;; i++) {
        struct proposal *const our = &ours[i % 2], *const their = &theirs[i % 2];
        const bool more_ours = next_proposal(mdns->out, length, name, i > 0 ? &ours[1 - i % 2] : NULL, our);
        const bool more_theirs =
            next_proposal(packet->bytes, packet->length, name, i > 0 ? &theirs[1 - i % 2] : NULL, their);
        if (!more_ours || !more_theirs)
            return more_ours - more_theirs;
        const int difference = order(our, their);
        if (difference != 0)
            return difference;
    }
}

static bool proposed(const struct mdns_packet *packet, const struct mdns_name *name)
{
    struct proposal first;
    return next_proposal(packet->bytes, packet->length, name, NULL, &first);
}

void mdns_probe_compare(struct mdns *mdns, const struct mdns_packet *packet)
{
    struct mdns_name name;
    for (struct mdns_owner *owner = mdns->owners; owner != NULL; owner = owner->next) {
        if (owner->state != MDNS_PROBING || !mdns_owner_name(owner, &name) || !proposed(packet, &name) ||
            compare(mdns, packet, owner, &name) >= 0)
            continue;
        mdns->count.tie_lost++;
        owner->sent = 0;
        owner->due_us = packet->now_us + TIE_WAIT_US;  // should the winner go away the name is ours
        mdns->due_us = 0;
    }
}

// --- who has it already ----------------------------------------------------------------------------------------------

// An address of this host's on another interface, told there or carried over by a reflector, is no conflict.
static bool own_address(const struct mdns *mdns, const struct mdns_packet *packet, const struct mdns_record *record)
{
    const uint8_t *data = packet->bytes + record->data;
    struct weir_addr addr;
    if (record->type == MDNS_A)
        addr = weir_ip4(data[0], data[1], data[2], data[3]);
    else if (record->type == MDNS_AAAA)
        addr = mdns_addr6(data, mdns->netif->index);
    else
        return false;
    for (uint8_t i = 1; i != 0; i++) {
        const struct weir_netif *netif = weir_netif_at(mdns->loop->weir, i);
        const struct weir_netif_address *at = NULL;
        while (netif != NULL && (at = weir_netif_address_next(netif, at)) != NULL) {
            if (weir_addr_equal(at->addr, addr))
                return true;
        }
    }
    return false;
}

// Whether the record contradicts ours. While probing any record of the name does that is not one of ours: the name is
// in use.
static bool contradicts(const struct mdns *mdns, const struct mdns_owner *owner, const struct mdns_packet *packet,
                        const struct mdns_record *record)
{
    bool same_type = false;
    for (uint32_t slot = 0; slot < MDNS_SLOTS; slot++) {
        if (!mdns_slot_unique(owner, slot) || mdns_slot_type(mdns, owner, slot) != record->type)
            continue;
        same_type = record->type != MDNS_NSEC;
        if (mdns_slot_index(mdns, owner, slot, packet, record) >= 0)
            return false;
    }
    return (same_type || (owner->state == MDNS_PROBING && record->type != MDNS_NSEC)) &&
           !own_address(mdns, packet, record);
}

static void conflict(struct mdns *mdns, struct mdns_owner *owner, uint64_t now_us)
{
    mdns->count.conflicts++;
    if (now_us - mdns->conflicts_us >= MDNS_CONFLICTS_US)
        mdns->conflicts = 0;
    mdns->conflicts_us = now_us;
    mdns->conflicts++;
    // Who had it before us answers the probe; who did not loses it to us (§9). Only then is it another's.
    if (owner->state == MDNS_PROBING) {
        owner->number = (uint16_t)(owner->number < NUMBER_MAX ? owner->number + 1 : 2);
        (void)mdns_owner_label(owner, given_name(mdns, owner));
    }
    mdns_owner_probe(mdns, owner, now_us);
}

// What comes before the first probe is no answer to one (§8.1). It may be the rest of the claim that made us probe
// again: further records of it, or its copy over the other family.
static bool answers(const struct mdns_owner *owner)
{
    return owner->state != MDNS_IDLE && (owner->state != MDNS_PROBING || owner->sent > 0);
}

void mdns_probe_conflict(struct mdns *mdns, const struct mdns_packet *packet, const struct mdns_record *record)
{
    struct mdns_name name;
    if (packet->ours || record->ttl_s == 0 || (record->rrclass & (uint16_t)~MDNS_FLUSH) != MDNS_IN)
        return;
    for (struct mdns_owner *owner = mdns->owners; owner != NULL; owner = owner->next) {
        if (answers(owner) && mdns_owner_name(owner, &name) && mdns_name_equal(&name, &record->name) &&
            contradicts(mdns, owner, packet, record))
            conflict(mdns, owner, packet->now_us);
    }
}

void mdns_probe_services(struct mdns *mdns, uint64_t now_us)
{
    for (struct mdns_owner *owner = mdns->owners; owner != NULL; owner = owner->next) {
        if (owner->service != NULL)
            mdns_owner_probe(mdns, owner, now_us);
    }
}
