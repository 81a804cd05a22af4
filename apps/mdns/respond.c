// SPDX-License-Identifier: BSD-2-Clause
// Answers (RFC 6762 §6 and §7): to whom, when, what not; and goodbyes.
#include "mdns/internal.h"

#define SHARED_LEAST_US 20000u  // at random, so that not all answer at once
#define SHARED_MOST_US 120000u
#define SHARED_US SHARED_LEAST_US, SHARED_MOST_US
#define TRUNCATED_US 400000u, 500000u  // known answers are still to come
#define LIMIT_US 1000000u              // a record is sent by multicast no more often
#define LIMIT_PROBE_US 250000u         // to defend it
#define REPEAT_US 100000u              // what did not leave is tried again
#define BIT(slot) (uint16_t)(1u << (slot))

// Who asked, so that what he says he knows already is not sent to him.
static uint32_t asker(const struct mdns_packet *packet)
{
    return (weir_addr_to_v4(packet->from.peer.addr) * 2654435761u) | 1;
}

static void masks_clear(struct mdns *mdns)
{
    for (struct mdns_owner *owner = mdns->owners; owner != NULL; owner = owner->next) {
        owner->asked = owner->direct = owner->added = 0;
        for (uint32_t slot = 0; slot < MDNS_SLOTS; slot++)
            owner->known[slot] = 0;
    }
}

// --- what is asked ---------------------------------------------------------------------------------------------------

// The owner's slots that answer the question; where it has the name and not the type, the one that says so.
static uint16_t matches(const struct mdns *mdns, const struct mdns_owner *owner, const struct mdns_question *question)
{
    struct mdns_name name;
    uint16_t mask = 0, nsec = 0;
    const uint16_t class = question->rrclass & (uint16_t)~MDNS_UNICAST;
    if (!mdns_owner_live(owner) || (class != MDNS_IN && class != MDNS_ANY))
        return 0;
    for (uint32_t slot = 0; slot < MDNS_SLOTS; slot++) {
        if (!mdns_slot_name(mdns, owner, slot, &name) || !mdns_name_equal(&name, &question->name))
            continue;
        const uint16_t type = mdns_slot_type(mdns, owner, slot);
        if (type == MDNS_NSEC)
            nsec = BIT(slot);
        if (type == question->type || (question->type == MDNS_ANY && type != MDNS_NSEC))
            mask |= BIT(slot);
    }
    return mask != 0 ? mask : nsec;
}

struct asked {
    uint32_t questions;
    bool shared;  // others may answer, too
    bool any;     // something of it is ours
};

static void questions_take(struct mdns *mdns, const struct mdns_packet *packet, bool probe, struct asked *asked)
{
    struct mdns_reader reader;
    struct mdns_question question;
    const bool direct = packet->legacy || !weir_addr_is_multicast(packet->from.local);
    *asked = (struct asked){0};
    (void)mdns_read_begin(&reader, packet->bytes, packet->length);
    while (mdns_read_question(&reader, &question)) {
        asked->questions++;
        for (struct mdns_owner *owner = mdns->owners; owner != NULL; owner = owner->next) {
            const uint16_t mask = matches(mdns, owner, &question);
            asked->any = asked->any || mask != 0;
            // A name is defended before everybody: whoever probes may be new on the link, and have an address that
            // another host had until now.
            if (direct || ((question.rrclass & MDNS_UNICAST) != 0 && !probe))
                owner->direct |= mask;
            else
                owner->asked |= mask;
            for (uint32_t slot = 0; slot < MDNS_SLOTS; slot++)
                asked->shared = asked->shared || ((mask & BIT(slot)) != 0 && !mdns_slot_unique(owner, slot));
        }
    }
}

// --- what the asker knows --------------------------------------------------------------------------------------------

static void known_mark(struct mdns *mdns, const struct mdns_packet *packet, const struct mdns_record *record)
{
    struct mdns_name name;
    for (struct mdns_owner *owner = mdns->owners; owner != NULL; owner = owner->next) {
        for (uint32_t slot = 0; slot < MDNS_SLOTS; slot++) {
            const bool wanted = ((owner->asked | owner->direct) & BIT(slot)) != 0 ||
                                (owner->slots[slot].due_us != WEIR_NEVER && owner->slots[slot].asker == asker(packet));
            if (!wanted || mdns_slot_type(mdns, owner, slot) != record->type ||
                record->ttl_s < mdns_slot_ttl_s(owner, slot) / 2 || !mdns_slot_name(mdns, owner, slot, &name) ||
                !mdns_name_equal(&name, &record->name))
                continue;
            const int index = mdns_slot_index(mdns, owner, slot, packet, record);
            if (index >= 0)
                owner->known[slot] |= (uint8_t)(1u << index);
        }
    }
}

// A set is left out only when all of it is known: with the flush bit a part would take the rest away (§10.2).
static void known_leave_out(struct mdns *mdns, const struct mdns_packet *packet)
{
    for (struct mdns_owner *owner = mdns->owners; owner != NULL; owner = owner->next) {
        for (uint32_t slot = 0; slot < MDNS_SLOTS; slot++) {
            if (owner->known[slot] == 0 || owner->known[slot] != (1u << mdns_slot_count(mdns, owner, slot)) - 1)
                continue;
            owner->asked &= (uint16_t)~BIT(slot);
            owner->direct &= (uint16_t)~BIT(slot);
            if (owner->slots[slot].asker == asker(packet))
                owner->slots[slot].due_us = WEIR_NEVER;
            mdns->count.suppressed++;
        }
    }
}

static void known_answers(struct mdns *mdns, const struct mdns_packet *packet)
{
    struct mdns_reader reader;
    struct mdns_record record;
    (void)mdns_read_begin(&reader, packet->bytes, packet->length);
    while (reader.left[1] > 0 || reader.left[0] > 0) {
        if (!mdns_read_record(&reader, &record) || record.section != 1)
            break;
        known_mark(mdns, packet, &record);
    }
    known_leave_out(mdns, packet);
}

// --- sending ---------------------------------------------------------------------------------------------------------

// What those who get these answers will ask for next (RFC 6763 §12).
static void additional_choose(struct mdns *mdns)
{
    bool host = false;
    uint16_t addresses = 0;
    for (struct mdns_owner *owner = mdns->owners; owner != NULL; owner = owner->next) {
        if (owner->service == NULL) {
            addresses = owner->asked & (BIT(MDNS_HOST_A) | BIT(MDNS_HOST_AAAA));
            continue;
        }
        const uint16_t pointers = (uint16_t)(BIT(MDNS_SERVICE_PTR) | (0xffffu << MDNS_SERVICE_SUB));
        if ((owner->asked & pointers) != 0)
            owner->added = (BIT(MDNS_SERVICE_SRV) | BIT(MDNS_SERVICE_TXT)) & (uint16_t)~owner->asked;
        host = host || ((owner->asked | owner->added) & BIT(MDNS_SERVICE_SRV)) != 0;
    }
    struct mdns_owner *const owner = &mdns->host;
    if ((host || addresses != 0) && mdns->owners != NULL && mdns_owner_live(owner))
        owner->added = (BIT(MDNS_HOST_A) | BIT(MDNS_HOST_AAAA) | BIT(MDNS_HOST_NSEC)) & (uint16_t)~owner->asked;
}

struct sending {
    struct mdns *mdns;
    const struct mdns_packet *packet;  // answered by unicast; NULL: by multicast
    uint64_t now_us;
    struct mdns_writer writer;
    bool failed;  // a message of it did not leave
};

static void sent(struct sending *sending, struct mdns_slot *slot)
{
    if (sending->packet != NULL)
        return;
    slot->sent_us = sending->now_us;
    slot->due_us = WEIR_NEVER;
}

static void sending_begin(struct sending *sending)
{
    const bool legacy = sending->packet != NULL && sending->packet->legacy;
    struct mdns *mdns = sending->mdns;
    mdns_begin(mdns, &sending->writer, MDNS_RESPONSE);
    if (!legacy)
        return;
    // A resolver of old wants its id and question back (§6.7).
    struct mdns_reader reader;
    struct mdns_question question;
    mdns->out[0] = sending->packet->bytes[0];
    mdns->out[1] = sending->packet->bytes[1];
    sending->writer.plain = true;
    (void)mdns_read_begin(&reader, sending->packet->bytes, sending->packet->length);
    while (mdns_read_question(&reader, &question)) {
        question.rrclass &= (uint16_t)~MDNS_UNICAST;
        if (!mdns_write_question(&sending->writer, &question))
            break;
    }
}

static void sending_end(struct sending *sending)
{
    struct mdns *mdns = sending->mdns;
    if (sending->writer.counts[1] == 0)
        return;
    if (!mdns_send(mdns, &sending->writer, sending->packet != NULL ? &sending->packet->from : NULL))
        sending->failed = true;
    mdns->count.answers++;
    mdns->count.unicast += sending->packet != NULL;
}

// Writes the masked slots of all owners. By multicast what does not fit goes into a further message; an answer by
// unicast is one.
static void write_section(struct sending *sending, uint32_t section)
{
    struct mdns *mdns = sending->mdns;
    const bool multicast = sending->packet == NULL;
    const bool legacy = !multicast && sending->packet->legacy;
    const uint32_t ttl_max_s = legacy ? MDNS_TTL_LEGACY_S : UINT32_MAX;
    for (struct mdns_owner *owner = mdns->owners; owner != NULL; owner = owner->next) {
        const uint16_t mask = section == 1 ? owner->asked : owner->added;
        for (uint32_t slot = 0; slot < MDNS_SLOTS; slot++) {
            if ((mask & BIT(slot)) == 0 || (legacy && mdns_slot_type(mdns, owner, slot) == MDNS_NSEC))
                continue;
            bool fits = mdns_slot_repeated(mdns, owner, slot) ||
                        mdns_slot_write(mdns, &sending->writer, section, owner, slot, ttl_max_s, multicast);
            if (!fits && multicast && section == 1) {
                sending_end(sending);
                sending_begin(sending);
                fits = mdns_slot_write(mdns, &sending->writer, section, owner, slot, ttl_max_s, multicast);
            }
            if (fits || section == 1)
                sent(sending, &owner->slots[slot]);
        }
    }
}

// Nobody heard what was to leave by multicast now.
static void repeat_later(struct mdns *mdns, uint64_t now_us)
{
    for (struct mdns_owner *owner = mdns->owners; owner != NULL; owner = owner->next) {
        for (uint32_t i = 0; i < MDNS_SLOTS; i++) {
            struct mdns_slot *slot = &owner->slots[i];
            if (slot->sent_us != now_us)
                continue;
            slot->sent_us = 0;
            slot->due_us = now_us + REPEAT_US;
        }
    }
}

// Sends the slots in `asked`, with what belongs to them. When they are to be sent again.
static uint64_t send_answers(struct mdns *mdns, const struct mdns_packet *packet, uint64_t now_us)
{
    struct sending sending = {.mdns = mdns, .packet = packet, .now_us = now_us};
    additional_choose(mdns);
    if (packet == NULL) {
        for (struct mdns_owner *owner = mdns->owners; owner != NULL; owner = owner->next) {
            for (uint32_t slot = 0; slot < MDNS_SLOTS; slot++) {
                if (mdns_slot_recent(&owner->slots[slot], now_us, LIMIT_US))
                    owner->added &= (uint16_t)~BIT(slot);
            }
        }
    }
    sending_begin(&sending);
    write_section(&sending, 1);
    write_section(&sending, 3);
    sending_end(&sending);
    if (!sending.failed || packet != NULL)
        return WEIR_NEVER;
    repeat_later(mdns, now_us);
    return now_us + REPEAT_US;
}

// --- when ------------------------------------------------------------------------------------------------------------

static void schedule(struct mdns *mdns, const struct mdns_packet *packet, uint64_t when_us, bool defence)
{
    const uint64_t limit_us = defence ? LIMIT_PROBE_US : LIMIT_US;
    for (struct mdns_owner *owner = mdns->owners; owner != NULL; owner = owner->next) {
        for (uint32_t i = 0; i < MDNS_SLOTS; i++) {
            struct mdns_slot *slot = &owner->slots[i];
            if ((owner->asked & BIT(i)) == 0)
                continue;
            const bool recent = mdns_slot_recent(slot, packet->now_us, limit_us);
            mdns->count.limited += recent;
            if (recent && !defence)  // the answer of a moment ago is this one, too
                continue;
            // Who probes may not have listened then, or have had other data: he is answered later (§6).
            const uint64_t at_us = recent ? slot->sent_us + limit_us : when_us;
            slot->asker = slot->due_us == WEIR_NEVER || slot->asker == asker(packet) ? asker(packet) : 0;
            slot->due_us = at_us < slot->due_us ? at_us : slot->due_us;
        }
    }
    mdns->due_us = 0;
}

// An answer that may wait joins one that leaves while it may (§6.4); both leave within 120 ms.
static uint64_t shared_time(struct mdns *mdns, uint64_t now_us)
{
    for (const struct mdns_owner *owner = mdns->owners; owner != NULL; owner = owner->next) {
        for (uint32_t i = 0; i < MDNS_SLOTS; i++) {
            const uint64_t due_us = owner->slots[i].due_us;
            if (due_us >= now_us + SHARED_LEAST_US && due_us <= now_us + SHARED_MOST_US)
                return due_us;
        }
    }
    return now_us + mdns_random_us(mdns, SHARED_US);
}

// Still more known answers come from the asker: what waits for them waits on (§7.2).
static void wait_on(struct mdns *mdns, const struct mdns_packet *packet)
{
    const uint64_t when_us = packet->now_us + mdns_random_us(mdns, TRUNCATED_US);
    for (struct mdns_owner *owner = mdns->owners; owner != NULL; owner = owner->next) {
        for (uint32_t i = 0; i < MDNS_SLOTS; i++) {
            struct mdns_slot *slot = &owner->slots[i];
            if (slot->due_us != WEIR_NEVER && slot->asker == asker(packet) && slot->due_us < when_us)
                slot->due_us = when_us;
        }
    }
}

// The asker of old, and who wishes so (QU), get an answer of their own. But once in a quarter of its TTL everybody is
// to hear a record (§5.4).
static void answer_directly(struct mdns *mdns, const struct mdns_packet *packet)
{
    bool any = false;
    for (struct mdns_owner *owner = mdns->owners; owner != NULL; owner = owner->next) {
        const uint16_t later = owner->asked;
        owner->asked = 0;
        for (uint32_t slot = 0; slot < MDNS_SLOTS; slot++) {
            if ((owner->direct & BIT(slot)) == 0)
                continue;
            const uint64_t quarter_us = (uint64_t)mdns_slot_ttl_s(owner, slot) * MDNS_SECOND_US / 4;
            if (packet->legacy || mdns_slot_recent(&owner->slots[slot], packet->now_us, quarter_us))
                owner->asked |= BIT(slot);
        }
        any = any || owner->asked != 0;
        owner->direct = (later | owner->direct) & (uint16_t)~owner->asked;
    }
    if (any)
        (void)send_answers(mdns, packet, packet->now_us);
    for (struct mdns_owner *owner = mdns->owners; owner != NULL; owner = owner->next)
        owner->asked = owner->direct;
}

void mdns_respond_query(struct mdns *mdns, const struct mdns_packet *packet)
{
    struct asked asked;
    struct mdns_reader reader;
    const bool truncated = (mdns_flags(packet->bytes) & MDNS_TRUNCATED) != 0;
    (void)mdns_read_begin(&reader, packet->bytes, packet->length);
    const bool probe = reader.left[2] > 0;
    masks_clear(mdns);
    questions_take(mdns, packet, probe, &asked);
    known_answers(mdns, packet);
    if (truncated && asked.questions == 0)
        wait_on(mdns, packet);
    if (!asked.any)
        return;
    mdns->count.queries++;
    answer_directly(mdns, packet);
    uint64_t when_us = packet->now_us;
    if (truncated)
        when_us += mdns_random_us(mdns, TRUNCATED_US);
    else if ((asked.shared || asked.questions > 1) && !probe)
        when_us = shared_time(mdns, packet->now_us);
    if (!packet->legacy)
        schedule(mdns, packet, when_us, probe);
}

uint64_t mdns_respond_poll(struct mdns *mdns, uint64_t now_us)
{
    uint64_t due_us = WEIR_NEVER;
    bool any = false;
    masks_clear(mdns);
    for (struct mdns_owner *owner = mdns->owners; owner != NULL; owner = owner->next) {
        for (uint32_t slot = 0; slot < MDNS_SLOTS; slot++) {
            const uint64_t at_us = owner->slots[slot].due_us;
            if (at_us <= now_us) {
                owner->asked |= BIT(slot);
                any = true;
            } else if (at_us < due_us) {
                due_us = at_us;
            }
        }
    }
    const uint64_t again_us = any ? send_answers(mdns, NULL, now_us) : WEIR_NEVER;
    return again_us < due_us ? again_us : due_us;
}

// Another host sent the very record. As good as ours: ours need not be sent (§7.4). About to be forgotten, or taken
// back: it is sent again (§6.6).
void mdns_respond_heard(struct mdns *mdns, const struct mdns_packet *packet, const struct mdns_record *record)
{
    struct mdns_name name;
    if (packet->ours)
        return;
    for (struct mdns_owner *owner = mdns->owners; owner != NULL; owner = owner->next) {
        for (uint32_t i = 0; mdns_owner_live(owner) && i < MDNS_SLOTS; i++) {
            struct mdns_slot *slot = &owner->slots[i];
            if (mdns_slot_type(mdns, owner, i) != record->type || !mdns_slot_name(mdns, owner, i, &name) ||
                !mdns_name_equal(&name, &record->name) || mdns_slot_index(mdns, owner, i, packet, record) < 0)
                continue;
            if (record->ttl_s < mdns_slot_ttl_s(owner, i) / 2) {
                const uint64_t when_us = slot->sent_us + LIMIT_US;
                if (slot->due_us == WEIR_NEVER)
                    slot->due_us = mdns_slot_recent(slot, packet->now_us, LIMIT_US) ? when_us : packet->now_us;
                mdns->due_us = 0;
            } else if (record->ttl_s >= mdns_slot_ttl_s(owner, i) && slot->due_us != WEIR_NEVER &&
                       owner->state == MDNS_READY && mdns_slot_count(mdns, owner, i) == 1) {
                slot->due_us = WEIR_NEVER;
                mdns->count.suppressed++;
            }
        }
    }
}

// --- the end ---------------------------------------------------------------------------------------------------------

// A record that another service of ours has as well stays.
static bool still_ours(const struct mdns *mdns, const struct mdns_owner *owner, uint32_t slot)
{
    struct mdns_name name, other;
    struct mdns_slot_data data, same;
    if (slot != MDNS_SERVICE_META || !mdns_slot_data(mdns, owner, slot, 0, &data))
        return false;
    name = data.name;
    for (const struct mdns_owner *at = mdns->owners; at != NULL; at = at->next) {
        if (at == owner || at->service == NULL || !mdns_owner_live(at) || !mdns_slot_data(mdns, at, slot, 0, &same))
            continue;
        other = same.name;
        if (mdns_name_equal(&name, &other))
            return true;
    }
    return false;
}

void mdns_goodbye(struct mdns *mdns, struct mdns_owner *only)
{
    struct sending sending = {.mdns = mdns};
    sending_begin(&sending);
    for (struct mdns_owner *owner = mdns->owners; owner != NULL; owner = owner->next) {
        if ((only != NULL && owner != only) || !mdns_owner_live(owner))
            continue;
        for (uint32_t slot = 0; slot < MDNS_SLOTS; slot++) {
            if (mdns_slot_type(mdns, owner, slot) == MDNS_NSEC ||
                (only != NULL && owner->service != NULL && still_ours(mdns, owner, slot)))
                continue;
            if (!mdns_slot_write(mdns, &sending.writer, 1, owner, slot, 0, true)) {
                sending_end(&sending);
                sending_begin(&sending);
                (void)mdns_slot_write(mdns, &sending.writer, 1, owner, slot, 0, true);
            }
        }
    }
    sending_end(&sending);
}
