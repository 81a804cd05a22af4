// SPDX-License-Identifier: BSD-2-Clause
// Multicast DNS messages (RFC 6762 §18), pure: bytes in, values out. Names are kept as on the wire, without pointers,
// because a label of DNS-SD is any UTF-8 text, dots and blanks included (RFC 6763 §4.1.1). A compression pointer must
// lead strictly back (RFC 9267), so no chain of them can loop.
#ifndef APPS_MDNS_WIRE_H
#define APPS_MDNS_WIRE_H

#include "weir/linkage/mdns.h"

#include <stdbool.h>
#include <stdint.h>

WEIR_BEGIN_DECLS

#define MDNS_NAME_MAX 255u     // octets with the root's
#define MDNS_LABEL_MAX 63u     // octets of a label
#define MDNS_PACKET_MAX 9000u  // longer messages are not read (RFC 6762 §17)
#define MDNS_HEADER 12u
#define MDNS_DATA_ROOM (MDNS_NAME_MAX + 6u)  // data that holds a name, without pointers

enum mdns_type {
    MDNS_A = 1,
    MDNS_CNAME = 5,
    MDNS_PTR = 12,
    MDNS_TXT = 16,
    MDNS_AAAA = 28,
    MDNS_SRV = 33,
    MDNS_NSEC = 47,
    MDNS_ANY = 255
};
enum { MDNS_IN = 1, MDNS_FLUSH = 0x8000, MDNS_UNICAST = 0x8000 };  // with the class of a record, of a question
enum { MDNS_RESPONSE = 0x8400, MDNS_TRUNCATED = 0x0200 };          // flags: response and authoritative; more follows

struct mdns_name {
    uint8_t length;  // with the root's octet
    uint8_t bytes[MDNS_NAME_MAX];
};

void mdns_name_root(struct mdns_name *name);
// Appends a label of any bytes before the root. false: 0 or more than 63 octets, or the name is full.
bool mdns_name_label(struct mdns_name *name, const char *label, uint32_t length);
// Appends the labels of "_http._tcp.local"; a backslash takes the character after it as it is.
bool mdns_name_text(struct mdns_name *name, const char *text);
// Appends the labels of another name.
bool mdns_name_append(struct mdns_name *name, const struct mdns_name *end);
bool mdns_name_equal(const struct mdns_name *a, const struct mdns_name *b);  // letters in either case are the same
// The first label as text, and the name without it. false: it is the root.
bool mdns_name_split(const struct mdns_name *name, char label[MDNS_LABEL_MAX + 1], struct mdns_name *rest);
// The name as text, dots and backslashes within labels escaped; cut at `room`, always ended by a NUL.
void mdns_name_print(const struct mdns_name *name, char *out, uint32_t room);

struct mdns_question {
    struct mdns_name name;
    uint16_t type, rrclass;
};
struct mdns_record {
    struct mdns_name name;
    uint16_t type, rrclass;
    uint32_t ttl_s;
    uint32_t data, data_length;  // `data`: its offset
    uint8_t section;             // 1 answer, 2 authority, 3 additional
};

// Walks through a message: questions first, then records.
struct mdns_reader {
    const uint8_t *message;
    uint32_t length, at;
    uint16_t left[4];  // questions, answers, authority, additional: not yet read
};
uint16_t mdns_flags(const uint8_t *message);
// Whether every question, record and name of a known type's data lies within the message and is well formed. What
// passes can be read without an error.
bool mdns_valid(const uint8_t *message, uint32_t length);
// false: shorter than a header, or longer than MDNS_PACKET_MAX.
bool mdns_read_begin(struct mdns_reader *reader, const uint8_t *message, uint32_t length);
bool mdns_read_question(struct mdns_reader *reader, struct mdns_question *question);  // false: none left, or malformed
bool mdns_read_record(struct mdns_reader *reader, struct mdns_record *record);        // skips questions that are left
// The name at `at`; *end gets the offset behind it. false: malformed.
bool mdns_read_name(const uint8_t *message, uint32_t length, uint32_t at, struct mdns_name *name, uint32_t *end);
// A record's data with the names in it uncompressed, in the message or in `room`. NULL: malformed.
const uint8_t *mdns_read_data(const uint8_t *message, uint32_t length, const struct mdns_record *record,
                              uint8_t room[MDNS_DATA_ROOM], uint32_t *bytes);

// A record's data, as it is written: bytes, a name, bytes; each may be missing.
struct mdns_data {
    const uint8_t *head, *tail;
    uint32_t head_length, tail_length;
    const struct mdns_name *name;
};
#define MDNS_POINTERS 48u  // labels of a message that later names may point at
struct mdns_writer {
    uint8_t *out;
    uint32_t room, at;
    uint16_t counts[4];
    uint16_t labels[MDNS_POINTERS];
    uint32_t label_count;
    bool plain;  // no pointers in data: for resolvers that know RFC 1035 alone (RFC 6762 §18.14)
};
void mdns_write_begin(struct mdns_writer *writer, uint8_t *out, uint32_t room, uint16_t id, uint16_t flags);
// false: no room; nothing was written. Sections in order.
bool mdns_write_question(struct mdns_writer *writer, const struct mdns_question *question);
bool mdns_write_record(struct mdns_writer *writer, uint32_t section, const struct mdns_name *name, uint16_t type,
                       uint16_t rrclass, uint32_t ttl_s, const struct mdns_data *data);
// The message's length; 0: it is empty.
uint32_t mdns_write_end(struct mdns_writer *writer);

WEIR_END_DECLS

#endif
