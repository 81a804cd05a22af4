// SPDX-License-Identifier: BSD-2-Clause
#include "message.h"

#include <string.h>

#include "bytes.h"
#include "dns/family.h"

#define HEADER_BYTES 12u
#define CLASS_IN 1u
#define OPT_BYTES 11u
#define FORMAT_ERROR 1u
#define NOT_IMPLEMENTED 4u
#define BAD_VERSION 16u

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

bool dns_name_valid(const char *name)
{
    uint32_t label = 0, total = 0;
    for (; *name != '\0'; name++) {
        if (*name == '.') {
            if (label == 0)
                return false;  // empty label
            label = 0;
        } else if (++label > 63 || (uint8_t)*name <= ' ' || (uint8_t)*name > '~') {
            return false;
        }
        if (++total > 254)
            return false;
    }
    return total > 0 && total - (label == 0) <= 253;
}

void dns_name_randomise(char out[DNS_NAME_MAX + 1], const char *name, const uint8_t random[32])
{
    uint32_t i = 0;
    for (; name[i] != '\0' && i < DNS_NAME_MAX - 1; i++) {
        out[i] = name[i];
        if (is_letter(name[i]))
            out[i] = (char)((name[i] | 0x20) ^ ((random[i / 8 % 32] >> i % 8 & 1) << 5));
    }
    if (i > 0 && out[i - 1] == '.')
        i--;
    out[i] = '\0';
}

bool dns_name_equal(const char *a, const char *b)
{
    for (; *a != '\0' && *b != '\0'; a++, b++) {
        if (*a != *b && !(is_letter(*a) && (*a ^ *b) == 0x20))
            return false;
    }
    return *a == *b;
}

// One label's text. A dot or control byte inside a label would make two different names look alike: refused (RFC 9267
// §3).
static bool label_read(const uint8_t *label, uint32_t bytes, char *out, uint32_t *length)
{
    if (*length + bytes + 1 > DNS_NAME_MAX - 1)  // 255 octets on the wire leave 253 characters of text
        return false;
    if (*length > 0)
        out[(*length)++] = '.';
    for (uint32_t i = 0; i < bytes; i++) {
        if (label[i] <= ' ' || label[i] > '~' || label[i] == '.')
            return false;
        out[(*length)++] = (char)label[i];
    }
    return true;
}

bool dns_name_read(const uint8_t *message, uint32_t length, uint32_t at, char out[DNS_NAME_MAX + 1], uint32_t *end)
{
    uint32_t out_length = 0, hops = 0;
    uint32_t limit = at;  // a pointer must lead before this, so each hop goes strictly back
    bool jumped = false;
    for (;;) {
        if (at >= length)
            return false;
        uint32_t octet = message[at];
        if (octet == 0) {
            if (!jumped)
                *end = at + 1;
            out[out_length] = '\0';
            return true;
        }
        if (octet >= 0xc0) {
            if (at + 1 >= length)
                return false;
            uint32_t target = get16(message + at) & 0x3fffu;
            if (target >= limit || target < HEADER_BYTES || ++hops > DNS_HOPS_MAX)
                return false;
            if (!jumped)
                *end = at + 2;
            jumped = true;
            at = limit = target;
            continue;
        }
        if (octet > 63 || octet > length - at - 1 || !label_read(message + at + 1, octet, out, &out_length))
            return false;
        at += 1 + octet;
    }
}

// The pseudo-record of EDNS, version 0, of the root: in place of a class what we take, no flags, no options (RFC 6891
// §6.1.2).
static uint32_t opt_emit(uint8_t *out, uint32_t at)
{
    memset(out + at, 0, OPT_BYTES);
    put16(out + at + 1, DNS_OPT);
    put16(out + at + 3, DNS_EXTENDED_MAX);
    out[11] = 1;  // additional records
    return OPT_BYTES;
}

uint32_t dns_query_emit(const struct dns_question *question, uint8_t *out, uint32_t room)
{
    if (!dns_name_valid(question->name))
        return 0;
    uint32_t name_length = (uint32_t)strlen(question->name);
    if (question->name[name_length - 1] == '.')
        name_length--;
    if (HEADER_BYTES + name_length + 2 + 4 + (question->extended ? OPT_BYTES : 0) > room)
        return 0;
    memset(out, 0, HEADER_BYTES);
    put16(out, question->id);
    out[2] = 1;  // recursion desired
    put16(out + 4, 1);
    uint32_t at = HEADER_BYTES, label = at++;
    out[label] = 0;
    for (uint32_t i = 0; i < name_length; i++) {
        if (question->name[i] == '.') {
            label = at++;
            out[label] = 0;
        } else {
            out[at++] = (uint8_t)question->name[i];
            out[label]++;
        }
    }
    out[at++] = 0;
    put16(out + at, question->type);
    put16(out + at + 2, CLASS_IN);
    return at + 4 + (question->extended ? opt_emit(out, at + 4) : 0);
}

struct record {
    char name[DNS_NAME_MAX + 1];
    uint16_t type, class;
    uint32_t ttl_s, data, data_length;  // `data`: its offset
};

// Reads the record at *at and moves behind it. Its data lies within the message.
static bool record_read(const uint8_t *message, uint32_t length, uint32_t *at, struct record *record)
{
    uint32_t end;
    if (!dns_name_read(message, length, *at, record->name, &end) || length - end < 10)
        return false;
    record->type = get16(message + end);
    record->class = get16(message + end + 2);
    record->ttl_s = get32(message + end + 4);
    record->data_length = get16(message + end + 8);
    record->data = end + 10;
    if (record->data_length > length - record->data)
        return false;
    if (record->ttl_s > 0x7fffffffu)
        record->ttl_s = 0;  // RFC 2181 §8
    *at = record->data + record->data_length;
    return true;
}

// The name that is a CNAME record's data: it must fill the data exactly (Ripple20, CVE-2020-11901).
static bool record_target(const uint8_t *message, uint32_t length, const struct record *record,
                          char out[DNS_NAME_MAX + 1])
{
    uint32_t end;
    return dns_name_read(message, length, record->data, out, &end) && end == record->data + record->data_length;
}

static uint32_t min_u32(uint32_t a, uint32_t b) { return a < b ? a : b; }

// One walk over the answers for records of `name`: takes addresses of the type, or says in `name` where a CNAME leads
// (*moved).
static bool answers_walk(const uint8_t *message, uint32_t length, uint32_t at, uint32_t count, uint16_t type,
                         char *name, struct dns_answer *answer, bool *moved)
{
    struct record record;
    struct weir_addr addr;
    char target[DNS_NAME_MAX + 1];
    *moved = false;
    for (uint32_t i = 0; i < count; i++) {
        if (!record_read(message, length, &at, &record))
            return false;
        if (record.class != CLASS_IN)
            continue;
        bool ours = dns_name_equal(record.name, name);
        if (dns_record_bytes(record.type)) {
            if (record.data_length != dns_record_bytes(record.type))
                return false;
            if (ours && record.type == type && answer->count < DNS_ADDRESSES &&
                dns_record_address(message + record.data, type, &addr))
                answer->addresses[answer->count++] = addr;
        } else if (record.type == DNS_CNAME) {
            if (!record_target(message, length, &record, target))
                return false;
            if (ours && !*moved) {
                *moved = true;
                memcpy(name, target, sizeof target);
                answer->ttl_s = min_u32(answer->ttl_s, record.ttl_s);
                continue;
            }
        }
        if (ours && record.type == type)
            answer->ttl_s = min_u32(answer->ttl_s, record.ttl_s);
    }
    return true;
}

// RFC 2308 §5: a negative answer may be kept for the smaller of the SOA record's TTL and its MINIMUM. Malformed: 0.
static uint32_t negative_ttl(const uint8_t *message, uint32_t length, uint32_t at, uint32_t answers,
                             uint32_t authorities)
{
    struct record record;
    char name[DNS_NAME_MAX + 1];
    for (uint32_t i = 0; i < answers + authorities; i++) {
        if (!record_read(message, length, &at, &record))
            return 0;
        if (i < answers || record.type != DNS_SOA || record.class != CLASS_IN)
            continue;
        uint32_t end;
        if (!dns_name_read(message, length, record.data, name, &end) ||
            !dns_name_read(message, length, end, name, &end))
            return 0;
        if (end + 20 != record.data + record.data_length)
            return 0;
        return min_u32(min_u32(record.ttl_s, get32(message + end + 16)), DNS_TTL_MAX_S);
    }
    return 0;
}

// Header and question. Returns DNS_FOUND when the answers at *at may be read.
static enum dns_result question_check(const uint8_t *message, uint32_t length, const struct dns_question *question,
                                      uint32_t *at)
{
    char name[DNS_NAME_MAX + 1];
    if (length < HEADER_BYTES || get16(message) != question->id || (message[2] & 0x80) == 0)
        return DNS_NOT_OURS;
    if ((message[2] & 0x78) != 0 || get16(message + 4) != 1)
        return DNS_NOT_OURS;  // another opcode, or no question echoed (RFC 5452 §9.1)
    if (!dns_name_read(message, length, HEADER_BYTES, name, at) || length - *at < 4)
        return DNS_BAD;
    if (!dns_name_equal(name, question->name) || get16(message + *at) != question->type ||
        get16(message + *at + 2) != CLASS_IN)
        return DNS_NOT_OURS;
    *at += 4;
    return strcmp(name, question->name) == 0 ? DNS_FOUND : DNS_WRONG_CASE;
}

// The eight upper bits of the response code, in the upper half of what would be a TTL (RFC 6891 §6.1.3); 0 when there
// is no OPT record.
static uint32_t code_extension(const uint8_t *message, uint32_t length, uint32_t at, uint32_t records)
{
    struct record record;
    for (uint32_t i = 0; i < records && record_read(message, length, &at, &record); i++) {
        if (record.type == DNS_OPT)
            return message[record.data - 6];
    }
    return 0;
}

// An error that a server may mean our EDNS by. One that does not know it may send back no more than the header; a
// forger gains nothing by that but a question without.
static bool not_extended(const uint8_t *message, uint32_t length, const struct dns_question *question)
{
    return question->extended && length >= HEADER_BYTES && get16(message) == question->id &&
           (message[2] & 0xf8) == 0x80 && get16(message + 4) == 0 && (message[3] & 15) == FORMAT_ERROR;
}

enum dns_result dns_answer_parse(const uint8_t *message, uint32_t length, const struct dns_question *question,
                                 struct dns_answer *answer)
{
    uint32_t at = 0;
    *answer = (struct dns_answer){.ttl_s = DNS_TTL_MAX_S};
    if (not_extended(message, length, question))
        return DNS_NOT_EXTENDED;
    enum dns_result result = question_check(message, length, question, &at);
    if (result != DNS_FOUND)
        return result;
    if (message[2] & 2)
        return DNS_TRUNCATED;
    uint32_t code = message[3] & 15u, answers = get16(message + 6), authorities = get16(message + 8),
             more = get16(message + 10);
    if (question->extended && answers + authorities + more <= DNS_RECORDS_MAX)
        code |= code_extension(message, length, at, answers + authorities + more) << 4;
    if (question->extended && (code == FORMAT_ERROR || code == NOT_IMPLEMENTED || code == BAD_VERSION))
        return DNS_NOT_EXTENDED;
    if (code != 0 && code != 3)
        return DNS_SERVER_FAILED;
    if (answers > DNS_RECORDS_MAX || authorities > DNS_RECORDS_MAX)
        return DNS_BAD;
    char name[DNS_NAME_MAX + 1];
    memcpy(name, question->name, sizeof name);
    bool moved = true;
    for (uint32_t chain = 0; moved && answer->count == 0; chain++) {
        if (chain > DNS_CHAIN_MAX)
            return DNS_BAD;  // too long, or it runs in a circle
        if (!answers_walk(message, length, at, answers, question->type, name, answer, &moved))
            return DNS_BAD;
    }
    if (answer->count > 0)
        return DNS_FOUND;
    answer->ttl_s = negative_ttl(message, length, at, answers, authorities);
    return code == 3 ? DNS_NO_NAME : DNS_NO_DATA;
}
