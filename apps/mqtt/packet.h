// SPDX-License-Identifier: BSD-2-Clause
// MQTT control packets, versions 3.1.1 and 5, pure: bytes in, values out.
#ifndef APPS_MQTT_PACKET_H
#define APPS_MQTT_PACKET_H

#include "weir/linkage/mqtt.h"

#include <stdbool.h>
#include <stdint.h>

WEIR_BEGIN_DECLS

enum mqtt_type {
    MQTT_CONNECT = 1,
    MQTT_CONNACK,
    MQTT_PUBLISH,
    MQTT_PUBACK,
    MQTT_PUBREC,
    MQTT_PUBREL,
    MQTT_PUBCOMP,
    MQTT_SUBSCRIBE,
    MQTT_SUBACK,
    MQTT_UNSUBSCRIBE,
    MQTT_UNSUBACK,
    MQTT_PINGREQ,
    MQTT_PINGRESP,
    MQTT_DISCONNECT,
    MQTT_AUTH
};
#define MQTT_LENGTH_MAX 268435455u  // of a packet, without its type and length: four octets of seven bits

// What is written: never past the end of its room.
struct mqtt_writer {
    uint8_t *out;
    uint32_t room, at;
    bool cut;  // something did not fit
};
void mqtt_put8(struct mqtt_writer *writer, uint8_t value);
void mqtt_put16(struct mqtt_writer *writer, uint16_t value);
void mqtt_put32(struct mqtt_writer *writer, uint32_t value);
void mqtt_put_length(struct mqtt_writer *writer, uint32_t value);  // 1 to 4 octets
void mqtt_put_bytes(struct mqtt_writer *writer, const void *bytes, uint32_t length);
void mqtt_put_string(struct mqtt_writer *writer, const void *bytes, uint32_t length);  // behind two octets of length
uint32_t mqtt_length_bytes(uint32_t value);                                            // 1 to 4

// UTF-8 without U+0000, surrogates and longer forms than needed (MQTT 1.5.4).
bool mqtt_utf8_valid(const uint8_t *bytes, uint32_t length);
bool mqtt_topic_valid(const uint8_t *bytes, uint32_t length);   // to publish to: no wildcards
bool mqtt_filter_valid(const uint8_t *bytes, uint32_t length);  // to subscribe to
bool mqtt_filter_matches(const char *filter, const uint8_t *topic, uint32_t length);

// Reads a length of 1 to 4 octets. Returns how many it took; 0: not all there; −1: longer than four.
int mqtt_get_length(const uint8_t *bytes, uint32_t length, uint32_t *value);

// What the properties of a packet from the server say (MQTT 5 2.2.2). What it does not give keeps its default.
struct mqtt_properties {
    uint16_t receive_maximum;  // 65535
    uint16_t server_keep_alive;
    bool has_keep_alive;
    uint8_t maximum_qos;        // 2
    uint32_t maximum_packet;    // UINT32_MAX
    uint32_t session_expiry_s;  // UINT32_MAX: not given
    const uint8_t *client_id;   // NULL: none was assigned
    uint16_t client_id_length;
};
// Reads the length of properties and them, of a packet of `type`. Returns the bytes taken; −1: malformed, one that is
// not allowed there, or one twice. `out` may be NULL.
int mqtt_get_properties(const uint8_t *bytes, uint32_t length, uint8_t type, struct mqtt_properties *out);

// How many bytes of a PUBLISH's variable header there are, as far as can be told from its first `have` bytes: not more
// than that is left to be read when it is `have`. −1: malformed. `length` is the packet's remaining length.
int mqtt_publish_head(const uint8_t *head, uint32_t have, uint32_t length, uint8_t qos, bool v5);

WEIR_END_DECLS

#endif
