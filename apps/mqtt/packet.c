// SPDX-License-Identifier: BSD-2-Clause
#include "mqtt/packet.h"

#include <stddef.h>
#include <string.h>

#include "bytes.h"

// --- writing ---------------------------------------------------------------------------------------------------------

void mqtt_put_bytes(struct mqtt_writer *writer, const void *bytes, uint32_t length)
{
    if (writer->cut || length > writer->room - writer->at) {
        writer->cut = true;
        return;
    }
    if (length > 0)
        memcpy(writer->out + writer->at, bytes, length);
    writer->at += length;
}

void mqtt_put8(struct mqtt_writer *writer, uint8_t value) { mqtt_put_bytes(writer, &value, 1); }

void mqtt_put16(struct mqtt_writer *writer, uint16_t value)
{
    const uint8_t bytes[2] = {(uint8_t)(value >> 8), (uint8_t)value};
    mqtt_put_bytes(writer, bytes, 2);
}

void mqtt_put32(struct mqtt_writer *writer, uint32_t value)
{
    mqtt_put16(writer, (uint16_t)(value >> 16));
    mqtt_put16(writer, (uint16_t)value);
}

void mqtt_put_length(struct mqtt_writer *writer, uint32_t value)
{
    do {
        mqtt_put8(writer, (uint8_t)((value & 127) | (value > 127 ? 128 : 0)));
        value >>= 7;
    } while (value > 0);
}

void mqtt_put_string(struct mqtt_writer *writer, const void *bytes, uint32_t length)
{
    writer->cut = writer->cut || length > 65535;
    mqtt_put16(writer, (uint16_t)length);
    mqtt_put_bytes(writer, bytes, length);
}

uint32_t mqtt_length_bytes(uint32_t value) { return value < 128 ? 1 : value < 16384 ? 2 : value < 2097152 ? 3 : 4; }

// --- text ------------------------------------------------------------------------------------------------------------

// One character; 0: it is none that is allowed.
static uint32_t character(const uint8_t *at, uint32_t left)
{
    static const uint32_t least[5] = {0, 1, 0x80, 0x800, 0x10000};
    const uint32_t bytes = at[0] < 0x80   ? 1
                           : at[0] < 0xc0 ? 0
                           : at[0] < 0xe0 ? 2
                           : at[0] < 0xf0 ? 3
                           : at[0] < 0xf8 ? 4
                                          : 0;
    if (bytes == 0 || bytes > left)
        return 0;
    uint32_t code = bytes == 1 ? at[0] : at[0] & (0x7fu >> bytes);
    for (uint32_t i = 1; i < bytes; i++) {
        if ((at[i] & 0xc0) != 0x80)
            return 0;
        code = code << 6 | (at[i] & 0x3f);
    }
    return code < least[bytes] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000) ? 0 : bytes;
}

bool mqtt_utf8_valid(const uint8_t *bytes, uint32_t length)
{
    while (length > 0) {
        const uint32_t taken = character(bytes, length);
        if (taken == 0)
            return false;
        bytes += taken;
        length -= taken;
    }
    return true;
}

bool mqtt_topic_valid(const uint8_t *bytes, uint32_t length)
{
    return length > 0 && length <= 65535 && mqtt_utf8_valid(bytes, length) && memchr(bytes, '+', length) == NULL &&
           memchr(bytes, '#', length) == NULL;
}

// A wildcard is a whole level, and # the last (MQTT 4.7.1).
bool mqtt_filter_valid(const uint8_t *bytes, uint32_t length)
{
    if (length == 0 || length > 65535 || !mqtt_utf8_valid(bytes, length))
        return false;
    for (uint32_t i = 0; i < length; i++) {
        const bool begins = i == 0 || bytes[i - 1] == '/', ends = i + 1 == length;
        if (bytes[i] == '#' && !(begins && ends))
            return false;
        if (bytes[i] == '+' && !(begins && (ends || bytes[i + 1] == '/')))
            return false;
    }
    return true;
}

bool mqtt_filter_matches(const char *filter, const uint8_t *topic, uint32_t length)
{
    uint32_t at = 0;
    if (length > 0 && topic[0] == '$' && (*filter == '+' || *filter == '#'))
        return false;  // (MQTT 4.7.2)
    for (; *filter != '\0'; filter++) {
        if (*filter == '#')
            return true;
        if (*filter == '+') {
            while (at < length && topic[at] != '/')
                at++;
        } else if (at == length) {
            return strcmp(filter, "/#") == 0;  // "a/#" is about a, too
        } else if (topic[at++] != (uint8_t)*filter) {
            return false;
        }
    }
    return at == length;
}

// --- reading ---------------------------------------------------------------------------------------------------------

int mqtt_get_length(const uint8_t *bytes, uint32_t length, uint32_t *value)
{
    *value = 0;
    for (uint32_t i = 0; i < 4; i++) {
        if (i == length)
            return 0;
        *value |= (uint32_t)(bytes[i] & 127) << (7 * i);
        if (bytes[i] < 128)
            return (int)i + 1;
    }
    return -1;
}

enum kind { NONE, BYTE, WORD, LONG, VARIABLE, STRING, BINARY, PAIR };
#define IN(type) (1u << (type))
#define ACKS \
    (IN(MQTT_PUBACK) | IN(MQTT_PUBREC) | IN(MQTT_PUBREL) | IN(MQTT_PUBCOMP) | IN(MQTT_SUBACK) | IN(MQTT_UNSUBACK))
// What a server may send, and where (MQTT 5 table 2-4).
static const struct {
    uint8_t kind;
    bool many;
    uint16_t where;
} properties[] = {
    [0x01] = {BYTE, false, IN(MQTT_PUBLISH)},
    [0x02] = {LONG, false, IN(MQTT_PUBLISH)},
    [0x03] = {STRING, false, IN(MQTT_PUBLISH)},
    [0x08] = {STRING, false, IN(MQTT_PUBLISH)},
    [0x09] = {BINARY, false, IN(MQTT_PUBLISH)},
    [0x0b] = {VARIABLE, true, IN(MQTT_PUBLISH)},
    [0x11] = {LONG, false, IN(MQTT_CONNACK)},
    [0x12] = {STRING, false, IN(MQTT_CONNACK)},
    [0x13] = {WORD, false, IN(MQTT_CONNACK)},
    [0x15] = {STRING, false, IN(MQTT_CONNACK) | IN(MQTT_AUTH)},
    [0x16] = {BINARY, false, IN(MQTT_CONNACK) | IN(MQTT_AUTH)},
    [0x1a] = {STRING, false, IN(MQTT_CONNACK)},
    [0x1c] = {STRING, false, IN(MQTT_CONNACK) | IN(MQTT_DISCONNECT)},
    [0x1f] = {STRING, false, IN(MQTT_CONNACK) | IN(MQTT_DISCONNECT) | IN(MQTT_AUTH) | ACKS},
    [0x21] = {WORD, false, IN(MQTT_CONNACK)},
    [0x22] = {WORD, false, IN(MQTT_CONNACK)},
    [0x24] = {BYTE, false, IN(MQTT_CONNACK)},
    [0x25] = {BYTE, false, IN(MQTT_CONNACK)},
    [0x26] = {PAIR, true, IN(MQTT_CONNACK) | IN(MQTT_PUBLISH) | IN(MQTT_DISCONNECT) | IN(MQTT_AUTH) | ACKS},
    [0x27] = {LONG, false, IN(MQTT_CONNACK)},
    [0x28] = {BYTE, false, IN(MQTT_CONNACK)},
    [0x29] = {BYTE, false, IN(MQTT_CONNACK)},
    [0x2a] = {BYTE, false, IN(MQTT_CONNACK)},
};
#define PROPERTIES (sizeof properties / sizeof properties[0])

// Bytes that a value of the kind takes of the `left` ones at `at`; −1: they do not hold it.
static int value_bytes(const uint8_t *at, uint32_t left, uint8_t kind)
{
    uint32_t number, bytes = 0;
    int taken;
    switch (kind) {
    case BYTE: bytes = 1; break;
    case WORD: bytes = 2; break;
    case LONG: bytes = 4; break;
    case VARIABLE: taken = mqtt_get_length(at, left, &number); return taken > 0 && number > 0 ? taken : -1;
    case STRING:
    case BINARY:
    case PAIR:
        for (int i = 0; i < (kind == PAIR ? 2 : 1); i++) {
            if (left - bytes < 2 || get16(at + bytes) > left - bytes - 2)
                return -1;
            if (kind != BINARY && !mqtt_utf8_valid(at + bytes + 2, get16(at + bytes)))
                return -1;
            bytes += 2u + get16(at + bytes);
        }
        break;
    default: return -1;
    }
    return bytes <= left ? (int)bytes : -1;
}

// A value that matters, and whether it may be so.
static bool property_take(uint8_t id, const uint8_t *at, struct mqtt_properties *out)
{
    const uint32_t word = get16(at), number = id == 0x11 || id == 0x27 ? word << 16 | get16(at + 2) : 0;
    switch (id) {
    case 0x01:
    case 0x25:
    case 0x28:
    case 0x29:
    case 0x2a: return at[0] <= 1;
    case 0x11: out->session_expiry_s = number; return true;
    case 0x12:
        out->client_id = at + 2;
        out->client_id_length = (uint16_t)word;
        return true;
    case 0x13:
        out->server_keep_alive = (uint16_t)word;
        out->has_keep_alive = true;
        return true;
    case 0x21: out->receive_maximum = (uint16_t)word; return word > 0;
    case 0x24: out->maximum_qos = at[0]; return at[0] <= 1;
    case 0x27: out->maximum_packet = number; return number > 0;
    default: return true;
    }
}

int mqtt_get_properties(const uint8_t *bytes, uint32_t length, uint8_t type, struct mqtt_properties *out)
{
    struct mqtt_properties unused;
    uint64_t seen = 0;
    uint32_t total;
    const int head = mqtt_get_length(bytes, length, &total);
    if (out == NULL)
        out = &unused;
    *out = (struct mqtt_properties){
        .receive_maximum = 65535, .maximum_qos = 2, .maximum_packet = UINT32_MAX, .session_expiry_s = UINT32_MAX};
    if (head <= 0 || total > length - (uint32_t)head)
        return -1;
    const uint8_t *at = bytes + head, *const end = at + total;
    while (at < end) {
        const uint8_t id = *at++;
        if (id >= PROPERTIES || (properties[id].where & IN(type)) == 0 ||
            (!properties[id].many && (seen >> id & 1) != 0))
            return -1;
        seen |= 1ull << id;
        const int taken = value_bytes(at, (uint32_t)(end - at), properties[id].kind);
        if (taken < 0)
            return -1;
        uint8_t value[4] = {0};
        memcpy(value, at, taken < 4 ? (uint32_t)taken : 4);
        if (!property_take(id, properties[id].kind >= VARIABLE ? at : value, out))
            return -1;
        at += taken;
    }
    return head + (int)total;
}

int mqtt_publish_head(const uint8_t *head, uint32_t have, uint32_t length, uint8_t qos, bool v5)
{
    uint32_t need = 2, properties_length;
    if (have >= 2) {
        need = 2u + get16(head) + (qos > 0 ? 2u : 0);
        if (v5 && have <= need) {
            need++;
        } else if (v5) {
            const int taken = mqtt_get_length(head + need, have - need, &properties_length);
            if (taken < 0)
                return -1;
            need += taken > 0 ? (uint32_t)taken + properties_length : have - need + 1;
        }
    }
    return need <= length ? (int)need : -1;
}
