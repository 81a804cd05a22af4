// SPDX-License-Identifier: BSD-2-Clause
// What the files of this folder share. mdns.c has the socket and the clock, records.c what is in an owner's slots,
// probe.c how a name becomes ours and stays it, respond.c answers, query.c asks and remembers.
#ifndef APPS_MDNS_INTERNAL_H
#define APPS_MDNS_INTERNAL_H

#include "mdns/family.h"
#include "mdns/mdns.h"

#define MDNS_SECOND_US 1000000u
#define MDNS_DIRECT_US 2000000u  // after a question that allows answers by unicast, these are taken (RFC 6762 §6)

// A message that came in, and whose it is. Everything in it is well formed (mdns_valid).
struct mdns_packet {
    const uint8_t *bytes;
    uint32_t length;
    uint64_t now_us;
    struct weir_message from;
    bool ours;    // from an address of this interface: looped back
    bool legacy;  // from another port than 5353
};

// --- mdns.c
// To `to`, or by multicast over the families that the interface has an address of (NULL). false: none of it left.
bool mdns_send(struct mdns *mdns, struct mdns_writer *writer, const struct weir_message *to);
uint64_t mdns_random_us(struct mdns *mdns, uint64_t from_us, uint64_t to_us);
void mdns_begin(struct mdns *mdns, struct mdns_writer *writer, uint16_t flags);  // into mdns->out

// --- records.c
// Storage of a record's data, which `data` leads to.
struct mdns_slot_data {
    struct mdns_data data;
    struct mdns_name name;
    uint8_t bytes[16];
};
bool mdns_owner_name(const struct mdns_owner *owner, struct mdns_name *name);  // the unique one
// false: the owner has no such slot, or it is empty (no address of the family).
bool mdns_slot_name(const struct mdns *mdns, const struct mdns_owner *owner, uint32_t slot, struct mdns_name *name);
uint16_t mdns_slot_type(const struct mdns *mdns, const struct mdns_owner *owner, uint32_t slot);  // 0: no such slot
bool mdns_slot_unique(const struct mdns_owner *owner, uint32_t slot);
uint32_t mdns_slot_ttl_s(const struct mdns_owner *owner, uint32_t slot);
// The data of the slot's record `index`; false: it has no more.
bool mdns_slot_data(const struct mdns *mdns, const struct mdns_owner *owner, uint32_t slot, uint32_t index,
                    struct mdns_slot_data *out);
// Which record of the slot has this one's data; −1: none. Names and types are the caller's to compare.
int mdns_slot_index(const struct mdns *mdns, const struct mdns_owner *owner, uint32_t slot,
                    const struct mdns_packet *packet, const struct mdns_record *record);
uint32_t mdns_slot_count(const struct mdns *mdns, const struct mdns_owner *owner, uint32_t slot);
// Writes all of the slot's records, or none (no room). TTLs are cut to `ttl_max_s`; the flush bit is set where it is
// wished for and the record is unique.
bool mdns_slot_write(const struct mdns *mdns, struct mdns_writer *writer, uint32_t section,
                     const struct mdns_owner *owner, uint32_t slot, uint32_t ttl_max_s, bool flush);
// An earlier owner sends the very same record now (two services of a type, and the type's name).
bool mdns_slot_repeated(const struct mdns *mdns, const struct mdns_owner *owner, uint32_t slot);
static inline bool mdns_slot_recent(const struct mdns_slot *slot, uint64_t now_us, uint64_t within_us)
{
    return slot->sent_us != 0 && now_us - slot->sent_us < within_us;
}
static inline bool mdns_owner_live(const struct mdns_owner *owner) { return owner->state >= MDNS_ANNOUNCING; }

// --- probe.c
bool mdns_owner_label(struct mdns_owner *owner, const char *name);  // makes the label out of name and number
void mdns_owner_probe(struct mdns *mdns, struct mdns_owner *owner, uint64_t now_us);
void mdns_owner_announce(struct mdns *mdns, struct mdns_owner *owner, uint64_t now_us);  // the name is ours
void mdns_owner_rest(struct mdns_owner *owner);                                          // idle: no answers
uint64_t mdns_probe_poll(struct mdns *mdns, uint64_t now_us);
// Another host probes for a name that we probe for, too: the greater data wins (RFC 6762 §8.2).
void mdns_probe_compare(struct mdns *mdns, const struct mdns_packet *packet);
// A response holds a record with an owner's unique name.
void mdns_probe_conflict(struct mdns *mdns, const struct mdns_packet *packet, const struct mdns_record *record);
// The host took another name, and its services name it: each is probed for with its new data. A second copy of such a
// device, which had the old data for the same service's name, may contradict the new ones.
void mdns_probe_services(struct mdns *mdns, uint64_t now_us);

// --- respond.c
void mdns_respond_query(struct mdns *mdns, const struct mdns_packet *packet);
void mdns_respond_heard(struct mdns *mdns, const struct mdns_packet *packet, const struct mdns_record *record);
uint64_t mdns_respond_poll(struct mdns *mdns, uint64_t now_us);
void mdns_goodbye(struct mdns *mdns, struct mdns_owner *only);  // NULL: of all

// --- query.c
void mdns_cache_take(struct mdns *mdns, const struct mdns_packet *packet);
void mdns_query_heard(struct mdns *mdns, const struct mdns_packet *packet);  // another host's questions
void mdns_query_again(struct mdns *mdns, uint64_t now_us);                   // the link came
uint64_t mdns_query_poll(struct mdns *mdns, uint64_t now_us);

#endif
