// SPDX-License-Identifier: BSD-2-Clause
#include <string.h>

#include "bytes.h"
#include "mqtt/internal.h"

#define STEPS 256u  // in one call; the rest has its turn after the stack's

void mqtt_input_begin(struct mqtt *mqtt)
{
    mqtt->reading = MQTT_READ_TYPE;
    mqtt->have = 0;
}

static int wrong(struct mqtt *mqtt)
{
    mqtt->count.protocol_errors++;
    return MQTT_PROTOCOL_ERROR;
}

// --- whole packets ---------------------------------------------------------------------------------------------------

// Properties of a version 5 packet at `at`, to its end or followed by `behind` bytes. Their length; −1: malformed.
static int properties(const struct mqtt *mqtt, uint32_t at, uint32_t behind, struct mqtt_properties *out)
{
    const int taken = mqtt_get_properties(mqtt->config.in + at, mqtt->need - at, mqtt->first >> 4, out);
    return taken < 0 || at + (uint32_t)taken + behind != mqtt->need ? -1 : taken;
}

static int take_connack(struct mqtt *mqtt)
{
    const uint8_t *body = mqtt->config.in;
    struct mqtt_properties said = {.receive_maximum = 65535, .maximum_qos = 2, .maximum_packet = UINT32_MAX};
    if (mqtt->need < 2 || body[0] > 1 || (!mqtt_v5(mqtt) && mqtt->need != 2) ||
        (mqtt_v5(mqtt) && properties(mqtt, 2, 0, &said) < 0))
        return wrong(mqtt);
    if (body[1] != 0) {
        mqtt->count.refused++;
        mqtt->config.event(mqtt, MQTT_REFUSED, body[1], mqtt->config.context);
        return WEIR_REFUSED;
    }
    if (body[0] == 1 && mqtt->config.clean)
        return wrong(mqtt);
    mqtt->receive_maximum = said.receive_maximum;
    mqtt->maximum_qos = said.maximum_qos;
    mqtt->maximum_packet = said.maximum_packet;
    mqtt->keep_alive_s = said.has_keep_alive ? said.server_keep_alive : mqtt->config.keep_alive_s;
    mqtt_greeted(mqtt, body[0] == 1);
    return WEIR_OK;
}

static uint32_t received_find(const struct mqtt *mqtt, uint16_t id)
{
    uint32_t at = 0;
    while (at < mqtt->received_count && mqtt->received[at] != id)
        at++;
    return at;
}

// PUBACK, PUBREC, PUBREL, PUBCOMP: an id, in version 5 a reason and properties, if there is something to say.
static int take_acknowledgement(struct mqtt *mqtt, uint8_t type)
{
    const uint8_t *body = mqtt->config.in;
    if (mqtt->need < 2 || get16(body) == 0 || (!mqtt_v5(mqtt) && mqtt->need != 2) ||
        (mqtt->need > 3 && properties(mqtt, 3, 0, NULL) < 0))
        return wrong(mqtt);
    const uint16_t id = get16(body);
    const uint8_t reason = mqtt->need > 2 ? body[2] : 0;
    if (type == MQTT_PUBREL) {
        const uint32_t at = received_find(mqtt, id);
        if (at < mqtt->received_count)
            mqtt->received[at] = mqtt->received[--mqtt->received_count];
        mqtt_control(mqtt, MQTT_PUBCOMP << 4, id);
        return WEIR_OK;
    }
    // A PUBREC of a message that is forgotten is answered all the same, or it would come again and again.
    if (!mqtt_record_acknowledged(mqtt, type, id, reason) && type == MQTT_PUBREC && reason < 0x80)
        mqtt_control(mqtt, MQTT_PUBREL << 4 | 2, id);
    return WEIR_OK;
}

static int take_suback(struct mqtt *mqtt, uint8_t type)
{
    const uint8_t *body = mqtt->config.in;
    const uint32_t codes = type == MQTT_SUBACK || mqtt_v5(mqtt) ? 1 : 0;  // one filter a packet
    if (mqtt->need < 2 + codes || (mqtt_v5(mqtt) ? properties(mqtt, 2, 1, NULL) < 0 : mqtt->need != 2 + codes))
        return wrong(mqtt);
    if (!mqtt_record_acknowledged(mqtt, type, get16(body), codes > 0 ? body[mqtt->need - 1] : 0))
        return wrong(mqtt);
    return WEIR_OK;
}

static int take_disconnect(struct mqtt *mqtt)
{
    const uint8_t *body = mqtt->config.in;
    if (!mqtt_v5(mqtt) || (mqtt->need > 1 && properties(mqtt, 1, 0, NULL) < 0))
        return wrong(mqtt);
    mqtt_lost(mqtt, mqtt->need > 0 ? body[0] : 0);
    return WEIR_OK;
}

static int take_packet(struct mqtt *mqtt)
{
    const uint8_t type = mqtt->first >> 4, flags = mqtt->first & 15;
    mqtt->count.received++;
    mqtt_input_begin(mqtt);
    if (flags != (type == MQTT_PUBREL ? 2 : 0) || (mqtt->state == MQTT_GREETING) != (type == MQTT_CONNACK))
        return wrong(mqtt);  // nothing comes before CONNACK, and that once
    switch (type) {
    case MQTT_CONNACK: return take_connack(mqtt);
    case MQTT_PUBACK:
    case MQTT_PUBREC:
    case MQTT_PUBREL:
    case MQTT_PUBCOMP: return take_acknowledgement(mqtt, type);
    case MQTT_SUBACK:
    case MQTT_UNSUBACK: return take_suback(mqtt, type);
    case MQTT_PINGRESP: mqtt->awaiting = false; return mqtt->need == 0 ? WEIR_OK : wrong(mqtt);
    case MQTT_DISCONNECT: return take_disconnect(mqtt);
    default: return wrong(mqtt);
    }
}

// --- messages --------------------------------------------------------------------------------------------------------

// The header of a message is there: what it says of the rest.
static int message_begin(struct mqtt *mqtt)
{
    const uint8_t *head = mqtt->config.in;
    struct mqtt_message *m = &mqtt->arriving;
    const uint8_t qos = mqtt->first >> 1 & 3;
    const uint32_t at = 2u + get16(head) + (qos > 0 ? 2u : 0);
    *m = (struct mqtt_message){.topic = head + 2,
                               .topic_length = get16(head),
                               .qos = qos,
                               .retained = mqtt->first & 1,
                               .duplicate = mqtt->first >> 3 & 1,
                               .length = mqtt->left};
    mqtt->arriving_id = qos > 0 ? get16(head + at - 2) : 0;
    if (qos == 3 || (qos == 0 && m->duplicate) || (qos > 0 && mqtt->arriving_id == 0) ||
        !mqtt_topic_valid(m->topic, m->topic_length))
        return wrong(mqtt);
    // A topic's alias (0x23) is not among what may come: none was offered.
    if (mqtt_v5(mqtt) && mqtt_get_properties(head + at, mqtt->need - at, MQTT_PUBLISH, NULL) < 0)
        return wrong(mqtt);
    if (qos == 2 && received_find(mqtt, mqtt->arriving_id) == mqtt->received_count &&
        mqtt->received_count == MQTT_RECEIVED_MAX)
        return wrong(mqtt);  // more than it may send before they are released
    mqtt->reading = MQTT_READ_PAYLOAD;
    return WEIR_OK;
}

// It was delivered before, and its PUBREL has not come yet.
static bool known(const struct mqtt *mqtt)
{
    return mqtt->arriving.qos == 2 && received_find(mqtt, mqtt->arriving_id) < mqtt->received_count;
}

static int message_piece(struct mqtt *mqtt, const uint8_t *piece, uint32_t length)
{
    struct mqtt_message *m = &mqtt->arriving;
    const struct mqtt_message said = *m;
    const bool again = known(mqtt), last = m->offset + length == m->length;
    m->offset += length;
    mqtt->left -= length;
    if (last) {
        const uint16_t id = mqtt->arriving_id;
        mqtt->count.received++;
        mqtt_input_begin(mqtt);
        mqtt->count.duplicates += again;
        mqtt->count.delivered += !again;
        if (said.qos == 1)
            mqtt_control(mqtt, MQTT_PUBACK << 4, id);
        if (said.qos == 2)
            mqtt_control(mqtt, MQTT_PUBREC << 4, id);
        if (said.qos == 2 && !again)
            mqtt->received[mqtt->received_count++] = id;
    }
    if (!again)
        mqtt->config.message(mqtt, &said, piece, length, mqtt->config.context);
    return WEIR_OK;
}

// --- bytes -----------------------------------------------------------------------------------------------------------

static int length_take(struct mqtt *mqtt)
{
    const int taken = mqtt_get_length(mqtt->length_bytes, mqtt->have, &mqtt->left);
    if (taken == 0)
        return WEIR_OK;
    const bool message = mqtt->first >> 4 == MQTT_PUBLISH;
    // What is no message must fit: refused before anything of it is read.
    if (taken < 0 || (!message && mqtt->left > mqtt->config.in_bytes) || (message && mqtt->state != MQTT_UP))
        return wrong(mqtt);
    mqtt->have = 0;
    mqtt->need = message ? 2 : mqtt->left;
    mqtt->reading = message ? MQTT_READ_HEAD : MQTT_READ_BODY;
    if (message && mqtt->left < 2)
        return wrong(mqtt);
    return mqtt->need == 0 ? take_packet(mqtt) : WEIR_OK;
}

static int head_take(struct mqtt *mqtt)
{
    const int need =
        mqtt_publish_head(mqtt->config.in, mqtt->have, mqtt->left + mqtt->have, mqtt->first >> 1 & 3, mqtt_v5(mqtt));
    if (need < 0 || (uint32_t)need >= mqtt->config.in_bytes)  // one byte at least is left for pieces
        return wrong(mqtt);
    mqtt->need = (uint32_t)need;
    if (mqtt->need > mqtt->have)
        return WEIR_OK;
    const int error = message_begin(mqtt);
    return error == WEIR_OK && mqtt->left == 0 ? message_piece(mqtt, mqtt->config.in + mqtt->need, 0) : error;
}

// Where the next bytes go, and how many are wanted.
static uint8_t *wanted(struct mqtt *mqtt, uint32_t *bytes)
{
    const struct mqtt_config *c = &mqtt->config;
    *bytes = 1;
    switch (mqtt->reading) {
    case MQTT_READ_TYPE: return &mqtt->first;
    case MQTT_READ_LENGTH: return mqtt->length_bytes + mqtt->have;
    case MQTT_READ_PAYLOAD:
        *bytes = c->in_bytes - mqtt->need < mqtt->left ? c->in_bytes - mqtt->need : mqtt->left;
        return c->in + mqtt->need;
    default: *bytes = mqtt->need - mqtt->have; return c->in + mqtt->have;
    }
}

static int bytes_take(struct mqtt *mqtt, const uint8_t *bytes, uint32_t length)
{
    switch (mqtt->reading) {
    case MQTT_READ_TYPE: mqtt->reading = MQTT_READ_LENGTH; return WEIR_OK;
    case MQTT_READ_LENGTH: mqtt->have++; return length_take(mqtt);
    case MQTT_READ_HEAD:
        mqtt->have += length;
        mqtt->left -= length;
        return mqtt->have == mqtt->need ? head_take(mqtt) : WEIR_OK;
    case MQTT_READ_PAYLOAD: return message_piece(mqtt, bytes, length);
    default: mqtt->have += length; return mqtt->have == mqtt->need ? take_packet(mqtt) : WEIR_OK;
    }
}

bool mqtt_input(struct mqtt *mqtt)
{
    for (uint32_t step = 0; mqtt->state >= MQTT_GREETING; step++) {
        uint32_t bytes;
        if (!mqtt_control_room(mqtt))
            return true;  // until acknowledgements are written
        if (step == STEPS) {
            mqtt_wake(mqtt);
            return true;
        }
        uint8_t *to = wanted(mqtt, &bytes);
        const int got = weir_stream_read(&mqtt->stream, to, bytes);
        if (got == WEIR_AGAIN)
            return true;
        const uint32_t connection = mqtt->count.connections;
        const int error = got > 0 ? bytes_take(mqtt, to, (uint32_t)got) : got == 0 ? WEIR_RESET : got;
        if (error != WEIR_OK && mqtt->state >= MQTT_GREETING && connection == mqtt->count.connections)
            mqtt_lost(mqtt, error);
    }
    return false;
}
