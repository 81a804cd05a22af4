// SPDX-License-Identifier: BSD-2-Clause
#include <string.h>

#include "mqtt/internal.h"

#define DUPLICATE 0x08u
#define ID_UNKNOWN 0x92u  // MQTT 5 2.4

// --- records: packets that wait, or wait for their acknowledgement ---------------------------------------------------

enum { QUEUED, SENT };
// Lies in front of the packet's bytes, at any address: it is copied in and out.
struct record {
    uint32_t length;
    uint16_t id;  // 0: forgotten when it is sent
    uint8_t state, type;
};

static struct record record_get(const struct mqtt *mqtt, uint32_t at)
{
    struct record record;
    memcpy(&record, mqtt->config.out + at, sizeof record);
    return record;
}

static void record_put(struct mqtt *mqtt, uint32_t at, const struct record *record)
{
    memcpy(mqtt->config.out + at, record, sizeof *record);
}

static uint8_t *record_packet(const struct mqtt *mqtt, uint32_t at)
{
    return mqtt->config.out + at + sizeof(struct record);
}

static uint32_t record_next(uint32_t at, const struct record *record)
{
    return at + (uint32_t)sizeof *record + record->length;
}

static uint8_t record_qos(const struct mqtt *mqtt, uint32_t at, const struct record *record)
{
    return record->type == MQTT_PUBLISH ? record_packet(mqtt, at)[0] >> 1 & 3 : 0;
}

// Takes `bytes` out at `at`; what is being written stays so.
static void cut_out(struct mqtt *mqtt, uint32_t at, uint32_t bytes)
{
    uint8_t *const out = mqtt->config.out;
    memmove(out + at, out + at + bytes, mqtt->out_used - at - bytes);
    mqtt->out_used -= bytes;
    if (mqtt->writing_record && mqtt->writing_at > at)
        mqtt->writing_at -= bytes;
}

static void record_remove(struct mqtt *mqtt, uint32_t at)
{
    const struct record record = record_get(mqtt, at);
    cut_out(mqtt, at, record_next(0, &record));
}

// The record with the id; false: none.
static bool record_find(const struct mqtt *mqtt, uint16_t id, uint32_t *at, struct record *record)
{
    for (*at = 0; *at < mqtt->out_used; *at = record_next(*at, record)) {
        *record = record_get(mqtt, *at);
        if (record->id == id)
            return true;
    }
    return false;
}

static uint16_t new_id(struct mqtt *mqtt)
{
    struct record record;
    uint32_t at;
    do
        mqtt->next_id = (uint16_t)(mqtt->next_id == 65535 ? 1 : mqtt->next_id + 1);
    while (record_find(mqtt, mqtt->next_id, &at, &record));
    return mqtt->next_id;
}

// Room for a record whose packet has `length` bytes behind its first octets; the writer is set behind these.
static int record_begin(struct mqtt *mqtt, uint8_t first, uint32_t length, uint16_t id, struct mqtt_writer *writer)
{
    const uint32_t packet = 1 + mqtt_length_bytes(length) + length;
    const struct record record = {packet, id, QUEUED, first >> 4};
    if (length > MQTT_LENGTH_MAX || packet > mqtt->maximum_packet ||
        packet > mqtt->config.out_bytes - (uint32_t)sizeof record)
        return WEIR_TOO_BIG;
    if (packet + sizeof record > mqtt->config.out_bytes - mqtt->out_used)
        return WEIR_AGAIN;
    const uint32_t at = mqtt->out_used;
    record_put(mqtt, at, &record);
    mqtt->out_used = record_next(at, &record);
    *writer = (struct mqtt_writer){.out = record_packet(mqtt, at), .room = packet};
    mqtt_put8(writer, first);
    mqtt_put_length(writer, length);
    return WEIR_OK;
}

int mqtt_publish(struct mqtt *mqtt, const char *topic, const void *payload, uint32_t length, uint8_t qos,
                 unsigned flags)
{
    struct mqtt_writer writer;
    const uint32_t topic_length = (uint32_t)strlen(topic);
    if (mqtt->state == MQTT_STOPPED || qos > 2 || !mqtt_topic_valid((const uint8_t *)topic, topic_length))
        return WEIR_INVALID;
    if (qos > mqtt->maximum_qos)
        return WEIR_NOT_SUPPORTED;
    if (length > MQTT_LENGTH_MAX - 65540u - 5u)
        return WEIR_TOO_BIG;
    const uint16_t id = qos > 0 ? new_id(mqtt) : 0;
    const uint32_t head = 2 + topic_length + (qos > 0 ? 2 : 0) + mqtt_v5(mqtt);
    const uint8_t first = (uint8_t)(MQTT_PUBLISH << 4 | qos << 1 | (flags & MQTT_RETAIN));
    const int error = record_begin(mqtt, first, head + length, id, &writer);
    if (error != WEIR_OK)
        return error;
    mqtt_put_string(&writer, topic, topic_length);
    if (qos > 0)
        mqtt_put16(&writer, id);
    if (mqtt_v5(mqtt))
        mqtt_put_length(&writer, 0);  // no properties
    mqtt_put_bytes(&writer, payload, length);
    mqtt_wake(mqtt);
    return id;
}

// SUBSCRIBE with the QoS wished for, or (qos −1) UNSUBSCRIBE.
static int subscription(struct mqtt *mqtt, const char *filter, int qos)
{
    struct mqtt_writer writer;
    const uint32_t length = (uint32_t)strlen(filter);
    if (mqtt->state == MQTT_STOPPED || qos > 2 || !mqtt_filter_valid((const uint8_t *)filter, length))
        return WEIR_INVALID;
    const uint16_t id = new_id(mqtt);
    const uint8_t first = (uint8_t)((qos < 0 ? MQTT_UNSUBSCRIBE : MQTT_SUBSCRIBE) << 4 | 2);
    const int error = record_begin(mqtt, first, 2 + mqtt_v5(mqtt) + 2 + length + (qos >= 0), id, &writer);
    if (error != WEIR_OK)
        return error;
    mqtt_put16(&writer, id);
    if (mqtt_v5(mqtt))
        mqtt_put_length(&writer, 0);
    mqtt_put_string(&writer, filter, length);
    if (qos >= 0)
        mqtt_put8(&writer, (uint8_t)qos);
    mqtt_wake(mqtt);
    return id;
}

int mqtt_subscribe(struct mqtt *mqtt, const char *filter, uint8_t qos) { return subscription(mqtt, filter, qos); }
int mqtt_unsubscribe(struct mqtt *mqtt, const char *filter) { return subscription(mqtt, filter, -1); }

static void done(struct mqtt *mqtt, uint16_t id, int reason)
{
    if (mqtt->config.done != NULL)
        mqtt->config.done(mqtt, id, reason, mqtt->config.context);
}

// A message of QoS 2 has arrived there: what is left of it is its PUBREL.
static void record_release(struct mqtt *mqtt, uint32_t at, struct record *record)
{
    const uint32_t spare = record->length - 4;
    uint8_t *packet = record_packet(mqtt, at);
    packet[0] = MQTT_PUBREL << 4 | 2;
    packet[1] = 2;
    packet[2] = (uint8_t)(record->id >> 8);
    packet[3] = (uint8_t)record->id;
    cut_out(mqtt, at + (uint32_t)sizeof *record + 4, spare);
    record->length = 4;
    record->type = MQTT_PUBREL;
    record->state = QUEUED;
    record_put(mqtt, at, record);
}

bool mqtt_record_acknowledged(struct mqtt *mqtt, uint8_t type, uint16_t id, uint8_t reason)
{
    static const uint8_t answers[16] = {
        [MQTT_PUBCOMP] = MQTT_PUBREL, [MQTT_SUBACK] = MQTT_SUBSCRIBE, [MQTT_UNSUBACK] = MQTT_UNSUBSCRIBE};
    struct record record;
    uint32_t at;
    if (id == 0 || !record_find(mqtt, id, &at, &record) || record.state != SENT)
        return false;
    const uint8_t qos = record_qos(mqtt, at, &record);
    if (type == MQTT_PUBREC && record.type == MQTT_PUBREL) {  // once more: so is PUBREL
        record.state = QUEUED;
        record_put(mqtt, at, &record);
        return true;
    }
    if (type == MQTT_PUBREC && qos == 2 && reason < 0x80) {
        record_release(mqtt, at, &record);
        return true;
    }
    const bool ends = (type == MQTT_PUBREC && qos == 2) || (type == MQTT_PUBACK && qos == 1) ||
                      (answers[type] != 0 && answers[type] == record.type);
    if (!ends)
        return false;
    record_remove(mqtt, at);
    // The server took the message by its PUBREC, and has let go of the id since: the PUBCOMP was lost (MQTT 5 3.7.2.1).
    done(mqtt, id, type == MQTT_PUBCOMP && reason == ID_UNKNOWN ? 0 : reason);
    return true;
}

// With its session the server knows what it has acknowledged: the rest is sent again, in order. Without, a PUBREL has
// no meaning, and messages are new ones.
void mqtt_records_again(struct mqtt *mqtt, bool session)
{
    for (uint32_t at = 0; at < mqtt->out_used;) {
        struct record record = record_get(mqtt, at);
        uint8_t *packet = record_packet(mqtt, at);
        if (!session && record.type == MQTT_PUBREL) {
            record_remove(mqtt, at);
            done(mqtt, record.id, WEIR_RESET);
            continue;
        }
        if (record.type == MQTT_PUBLISH && !session)
            packet[0] &= (uint8_t)~DUPLICATE;
        else if (record.type == MQTT_PUBLISH && record.state == SENT)
            packet[0] |= DUPLICATE;
        record.state = QUEUED;
        record_put(mqtt, at, &record);
        at = record_next(at, &record);
    }
}

// --- acknowledgements ------------------------------------------------------------------------------------------------

bool mqtt_control_room(const struct mqtt *mqtt) { return mqtt->control_count < MQTT_CONTROLS; }

void mqtt_control(struct mqtt *mqtt, uint8_t first, uint16_t id)
{
    if (!mqtt_control_room(mqtt))
        return;
    uint8_t *control = mqtt->controls[mqtt->control_count++];
    control[0] = first;
    control[1] = id != 0 ? 2 : 0;
    control[2] = (uint8_t)(id >> 8);
    control[3] = (uint8_t)id;
}

bool mqtt_output_pending(const struct mqtt *mqtt) { return mqtt->writing_record || mqtt->control_count > 0; }

// --- writing ---------------------------------------------------------------------------------------------------------

// Writes on at `*written` of a packet. 1: it is whole; 0: no room now; an error.
static int write_on(struct mqtt *mqtt, const uint8_t *packet, uint32_t length, uint32_t *written)
{
    while (*written < length) {
        const int taken = weir_stream_write(&mqtt->stream, packet + *written, length - *written);
        if (taken == WEIR_AGAIN || taken == 0)
            return 0;
        if (taken < 0)
            return taken;
        *written += (uint32_t)taken;
        mqtt->progress_us = weir_now_us(mqtt->loop->weir);
    }
    *written = 0;
    mqtt->count.sent++;
    mqtt->sent_us = weir_now_us(mqtt->loop->weir);
    return 1;
}

static int write_control(struct mqtt *mqtt)
{
    const uint8_t *control = mqtt->controls[0];
    const bool ping = control[0] == MQTT_PINGREQ << 4;
    const int whole = write_on(mqtt, control, 2u + control[1], &mqtt->control_written);
    if (whole != 1)
        return whole;
    mqtt->control_count--;
    memmove(mqtt->controls[0], mqtt->controls[1], mqtt->control_count * sizeof mqtt->controls[0]);
    if (ping)
        mqtt->answer_due_us = mqtt->sent_us + MQTT_ANSWER_US;  // it counts from the end of the question
    return 1;
}

static int write_record(struct mqtt *mqtt)
{
    const uint32_t at = mqtt->writing_at;
    struct record record = record_get(mqtt, at);
    const int whole = write_on(mqtt, record_packet(mqtt, at), record.length, &mqtt->written);
    if (whole != 1)
        return whole;
    mqtt->writing_record = false;
    record.state = SENT;
    record_put(mqtt, at, &record);
    if (record.id == 0)
        record_remove(mqtt, at);
    return 1;
}

// The next record to be sent: in order, but with no more messages under way than the server takes (MQTT 5 4.9).
static bool choose_record(struct mqtt *mqtt)
{
    uint32_t flying = 0;
    struct record record;
    for (uint32_t at = 0; at < mqtt->out_used; at = record_next(at, &record)) {
        record = record_get(mqtt, at);
        flying += record.type == MQTT_PUBREL || (record.state == SENT && record_qos(mqtt, at, &record) > 0);
    }
    for (uint32_t at = 0; at < mqtt->out_used; at = record_next(at, &record)) {
        record = record_get(mqtt, at);
        if (record.state != QUEUED || (record_qos(mqtt, at, &record) > 0 && flying >= mqtt->receive_maximum))
            continue;
        mqtt->writing_record = true;
        mqtt->writing_at = at;
        mqtt->written = 0;
        mqtt->progress_us = weir_now_us(mqtt->loop->weir);
        return true;
    }
    return false;
}

bool mqtt_output(struct mqtt *mqtt)
{
    while (mqtt->state == MQTT_UP) {
        int whole;
        // What was begun is finished before anything else.
        if (!mqtt->writing_record && mqtt->control_count > 0)
            whole = write_control(mqtt);
        else if (mqtt->writing_record || choose_record(mqtt))
            whole = write_record(mqtt);
        else
            return true;
        if (whole == 0)
            return true;
        if (whole < 0)
            mqtt_lost(mqtt, whole);
    }
    return false;
}

// --- CONNECT ---------------------------------------------------------------------------------------------------------

static uint32_t string_bytes(const char *text) { return text != NULL ? 2 + (uint32_t)strlen(text) : 0; }

uint32_t mqtt_connect_make(const struct mqtt *mqtt, uint8_t *out, uint32_t room)
{
    const struct mqtt_config *c = &mqtt->config;
    const uint32_t will = c->will_topic != NULL ? mqtt_v5(mqtt) + string_bytes(c->will_topic) + 2 + c->will_length : 0;
    const uint32_t properties = 5 + 3, length = 10 + (mqtt_v5(mqtt) ? 1 + properties : 0) + string_bytes(c->client_id) +
                                                will + string_bytes(c->user) + string_bytes(c->password);
    struct mqtt_writer writer = {.out = out, .room = room};
    uint32_t flags = c->clean ? 2 : 0;
    if (c->will_topic != NULL)
        flags |= 4u | (uint32_t)c->will_qos << 3 | (c->will_flags & MQTT_RETAIN ? 32u : 0);
    flags |= (c->password != NULL ? 64u : 0) | (c->user != NULL ? 128u : 0);
    mqtt_put8(&writer, MQTT_CONNECT << 4);
    mqtt_put_length(&writer, length);
    mqtt_put_string(&writer, "MQTT", 4);
    mqtt_put8(&writer, mqtt_v5(mqtt) ? 5 : 4);
    mqtt_put8(&writer, (uint8_t)flags);
    mqtt_put16(&writer, c->keep_alive_s);
    if (mqtt_v5(mqtt)) {
        mqtt_put_length(&writer, properties);
        mqtt_put8(&writer, 0x11);
        mqtt_put32(&writer, c->session_expiry_s);
        mqtt_put8(&writer, 0x21);
        mqtt_put16(&writer, MQTT_RECEIVED_MAX);
    }
    mqtt_put_string(&writer, c->client_id, (uint32_t)strlen(c->client_id));
    if (c->will_topic != NULL) {
        if (mqtt_v5(mqtt))
            mqtt_put_length(&writer, 0);
        mqtt_put_string(&writer, c->will_topic, (uint32_t)strlen(c->will_topic));
        mqtt_put_string(&writer, c->will, c->will_length);
    }
    if (c->user != NULL)
        mqtt_put_string(&writer, c->user, (uint32_t)strlen(c->user));
    if (c->password != NULL)
        mqtt_put_string(&writer, c->password, (uint32_t)strlen(c->password));
    return writer.cut ? 0 : writer.at;
}
