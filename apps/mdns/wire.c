// SPDX-License-Identifier: BSD-2-Clause
#include "mdns/wire.h"

#include <string.h>

#include "bytes.h"

#define POINTER 0xc0u
#define POINTER_MAX 0x3fffu

static uint8_t lower(uint8_t c) { return c >= 'A' && c <= 'Z' ? c | 0x20 : c; }

// --- names -----------------------------------------------------------------------------------------------------------

void mdns_name_root(struct mdns_name *name)
{
    name->length = 1;
    name->bytes[0] = 0;
}

bool mdns_name_label(struct mdns_name *name, const char *label, uint32_t length)
{
    if (length == 0 || length > MDNS_LABEL_MAX || name->length + length + 1 > MDNS_NAME_MAX)
        return false;
    uint8_t *at = name->bytes + name->length - 1;
    *at++ = (uint8_t)length;
    memcpy(at, label, length);
    at[length] = 0;
    name->length = (uint8_t)(name->length + length + 1);
    return true;
}

bool mdns_name_text(struct mdns_name *name, const char *text)
{
    char label[MDNS_LABEL_MAX];
    uint32_t length = 0;
    for (; *text != '\0'; text++) {
        if (*text == '.') {
            if (!mdns_name_label(name, label, length))
                return false;
            length = 0;
            continue;
        }
        if (*text == '\\' && *++text == '\0')
            return false;
        if (length == MDNS_LABEL_MAX)
            return false;
        label[length++] = *text;
    }
    return length == 0 ? name->length > 1 : mdns_name_label(name, label, length);
}

bool mdns_name_append(struct mdns_name *name, const struct mdns_name *end)
{
    if (name->length + end->length - 1 > (int)MDNS_NAME_MAX)
        return false;
    memcpy(name->bytes + name->length - 1, end->bytes, end->length);
    name->length = (uint8_t)(name->length + end->length - 1);
    return true;
}

bool mdns_name_equal(const struct mdns_name *a, const struct mdns_name *b)
{
    if (a->length != b->length)
        return false;
    // Length octets are below 64, and so no letters.
    for (uint32_t i = 0; i < a->length; i++) {
        if (a->bytes[i] != b->bytes[i] && lower(a->bytes[i]) != lower(b->bytes[i]))
            return false;
    }
    return true;
}

bool mdns_name_split(const struct mdns_name *name, char label[MDNS_LABEL_MAX + 1], struct mdns_name *rest)
{
    const uint32_t length = name->bytes[0];
    if (length == 0)
        return false;
    memcpy(label, name->bytes + 1, length);
    label[length] = '\0';
    rest->length = (uint8_t)(name->length - length - 1);
    memmove(rest->bytes, name->bytes + length + 1, rest->length);
    return true;
}

void mdns_name_print(const struct mdns_name *name, char *out, uint32_t room)
{
    uint32_t at = 0;
    for (uint32_t label = 0; name->bytes[label] != 0; label += 1u + name->bytes[label]) {
        if (label > 0 && at + 1 < room)
            out[at++] = '.';
        for (uint32_t i = 0; i < name->bytes[label]; i++) {
            const char c = (char)name->bytes[label + 1 + i];
            if ((c == '.' || c == '\\') && at + 2 < room)
                out[at++] = '\\';
            if (at + 1 < room)
                out[at++] = c;
        }
    }
    out[at] = '\0';
}

// --- reading ---------------------------------------------------------------------------------------------------------

uint16_t mdns_flags(const uint8_t *message) { return get16(message + 2); }

bool mdns_read_name(const uint8_t *message, uint32_t length, uint32_t at, struct mdns_name *name, uint32_t *end)
{
    uint32_t limit = at;  // a pointer must lead before this
    bool jumped = false;
    mdns_name_root(name);
    while (at < length) {
        const uint32_t octet = message[at];
        if (octet == 0) {
            if (!jumped)
                *end = at + 1;
            return true;
        }
        if (octet >= POINTER) {
            if (at + 1 >= length)
                return false;
            const uint32_t target = get16(message + at) & POINTER_MAX;
            if (target >= limit || target < MDNS_HEADER)
                return false;
            if (!jumped)
                *end = at + 2;
            jumped = true;
            at = limit = target;
            continue;
        }
        if (octet > MDNS_LABEL_MAX || octet > length - at - 1 ||
            !mdns_name_label(name, (const char *)message + at + 1, octet))
            return false;
        at += 1 + octet;
    }
    return false;
}

bool mdns_read_begin(struct mdns_reader *reader, const uint8_t *message, uint32_t length)
{
    if (length < MDNS_HEADER || length > MDNS_PACKET_MAX)
        return false;
    *reader = (struct mdns_reader){message, length, MDNS_HEADER, {0}};
    for (uint32_t i = 0; i < 4; i++)
        reader->left[i] = get16(message + 4 + 2 * i);
    return true;
}

bool mdns_read_question(struct mdns_reader *reader, struct mdns_question *question)
{
    uint32_t end;
    if (reader->left[0] == 0)
        return false;
    if (!mdns_read_name(reader->message, reader->length, reader->at, &question->name, &end) || reader->length - end < 4)
        return false;
    question->type = get16(reader->message + end);
    question->rrclass = get16(reader->message + end + 2);
    reader->at = end + 4;
    reader->left[0]--;
    return true;
}

bool mdns_read_record(struct mdns_reader *reader, struct mdns_record *record)
{
    uint32_t end, section = 1;
    struct mdns_question passed;
    while (reader->left[0] > 0) {
        if (!mdns_read_question(reader, &passed))
            return false;
    }
    while (section < 4 && reader->left[section] == 0)
        section++;
    if (section == 4 || !mdns_read_name(reader->message, reader->length, reader->at, &record->name, &end) ||
        reader->length - end < 10)
        return false;
    const uint8_t *fixed = reader->message + end;
    record->type = get16(fixed);
    record->rrclass = get16(fixed + 2);
    record->ttl_s = get32(fixed + 4);
    record->data_length = get16(fixed + 8);
    record->data = end + 10;
    record->section = (uint8_t)section;
    if (record->data_length > reader->length - record->data)
        return false;
    if (record->ttl_s > 0x7fffffffu)
        record->ttl_s = 0;  // RFC 2181 §8
    reader->at = record->data + record->data_length;
    reader->left[section]--;
    return true;
}

// Bytes of a record's data before the name in it; UINT32_MAX: no name is looked for.
static uint32_t before_name(uint16_t type)
{
    switch (type) {
    case MDNS_SRV: return 6;
    case MDNS_PTR:
    case MDNS_CNAME: return 0;
    default: return UINT32_MAX;
    }
}

const uint8_t *mdns_read_data(const uint8_t *message, uint32_t length, const struct mdns_record *record,
                              uint8_t room[MDNS_DATA_ROOM], uint32_t *bytes)
{
    struct mdns_name name;
    uint32_t end, before = before_name(record->type);
    *bytes = record->data_length;
    if (before == UINT32_MAX)
        return message + record->data;
    if (record->data_length <= before || !mdns_read_name(message, length, record->data + before, &name, &end) ||
        end != record->data + record->data_length)  // it fills the data exactly (CVE-2020-11901)
        return NULL;
    memcpy(room, message + record->data, before);
    memcpy(room + before, name.bytes, name.length);
    *bytes = before + name.length;
    return room;
}

static bool data_valid(const uint8_t *message, uint32_t length, const struct mdns_record *record)
{
    uint8_t room[MDNS_DATA_ROOM];
    uint32_t bytes;
    switch (record->type) {
    case MDNS_A: return record->data_length == 4;
    case MDNS_AAAA: return record->data_length == 16;
    default: return mdns_read_data(message, length, record, room, &bytes) != NULL;
    }
}

bool mdns_valid(const uint8_t *message, uint32_t length)
{
    struct mdns_reader reader;
    struct mdns_question question;
    struct mdns_record record;
    if (!mdns_read_begin(&reader, message, length))
        return false;
    while (mdns_read_question(&reader, &question))
        continue;
    if (reader.left[0] > 0)
        return false;
    while (mdns_read_record(&reader, &record)) {
        if (!data_valid(message, length, &record))
            return false;
    }
    return reader.left[1] + reader.left[2] + reader.left[3] == 0;
}

// --- writing ---------------------------------------------------------------------------------------------------------

void mdns_write_begin(struct mdns_writer *writer, uint8_t *out, uint32_t room, uint16_t id, uint16_t flags)
{
    *writer = (struct mdns_writer){.out = out, .room = room, .at = MDNS_HEADER};
    memset(out, 0, MDNS_HEADER);
    put16(out, id);
    put16(out + 2, flags);
}

// Whether the name at `at` of the message is exactly `end`, letters' case included: a pointer would change it.
static bool written_at(const struct mdns_writer *writer, uint32_t at, const uint8_t *end)
{
    for (;;) {
        while (writer->out[at] >= POINTER)
            at = get16(writer->out + at) & POINTER_MAX;
        const uint32_t length = writer->out[at];
        if (memcmp(writer->out + at, end, length + 1) != 0)
            return false;
        if (length == 0)
            return true;
        at += 1 + length;
        end += 1 + length;
    }
}

static bool write_bytes(struct mdns_writer *writer, const uint8_t *bytes, uint32_t length)
{
    if (length > writer->room - writer->at)
        return false;
    if (length > 0)
        memcpy(writer->out + writer->at, bytes, length);
    writer->at += length;
    return true;
}

// Writes a name's labels until the rest of it is found where it was written before.
static bool write_name(struct mdns_writer *writer, const struct mdns_name *name, bool pointers)
{
    const uint32_t known = writer->label_count;
    for (const uint8_t *label = name->bytes; *label != 0; label += 1 + *label) {
        for (uint32_t i = 0; pointers && i < known; i++) {
            if (written_at(writer, writer->labels[i], label)) {
                uint8_t pointer[2];
                put16(pointer, POINTER << 8 | writer->labels[i]);
                return write_bytes(writer, pointer, 2);
            }
        }
        if (writer->label_count < MDNS_POINTERS && writer->at <= POINTER_MAX)
            writer->labels[writer->label_count++] = (uint16_t)writer->at;
        if (!write_bytes(writer, label, 1u + *label))
            return false;
    }
    static const uint8_t root = 0;
    return write_bytes(writer, &root, 1);
}

static bool write_undo(struct mdns_writer *writer, uint32_t at, uint32_t label_count)
{
    writer->at = at;
    writer->label_count = label_count;
    return false;
}

bool mdns_write_question(struct mdns_writer *writer, const struct mdns_question *question)
{
    const uint32_t at = writer->at, labels = writer->label_count;
    uint8_t fixed[4];
    put16(fixed, question->type);
    put16(fixed + 2, question->rrclass);
    if (!write_name(writer, &question->name, true) || !write_bytes(writer, fixed, sizeof fixed))
        return write_undo(writer, at, labels);
    writer->counts[0]++;
    return true;
}

bool mdns_write_record(struct mdns_writer *writer, uint32_t section, const struct mdns_name *name, uint16_t type,
                       uint16_t rrclass, uint32_t ttl_s, const struct mdns_data *data)
{
    const uint32_t at = writer->at, labels = writer->label_count;
    uint8_t fixed[10];
    put16(fixed, type);
    put16(fixed + 2, rrclass);
    put32(fixed + 4, ttl_s);
    put16(fixed + 8, 0);
    if (!write_name(writer, name, true) || !write_bytes(writer, fixed, sizeof fixed))
        return write_undo(writer, at, labels);
    const uint32_t begin = writer->at;
    if (!write_bytes(writer, data->head, data->head_length) ||
        (data->name != NULL && !write_name(writer, data->name, !writer->plain)) ||
        !write_bytes(writer, data->tail, data->tail_length))
        return write_undo(writer, at, labels);
    put16(writer->out + begin - 2, writer->at - begin);
    writer->counts[section]++;
    return true;
}

uint32_t mdns_write_end(struct mdns_writer *writer)
{
    for (uint32_t i = 0; i < 4; i++)
        put16(writer->out + 4 + 2 * i, writer->counts[i]);
    return writer->at == MDNS_HEADER ? 0 : writer->at;
}
