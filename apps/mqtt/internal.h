// SPDX-License-Identifier: BSD-2-Clause
// What the files of this folder share: mqtt.c has the connection and the clock, output.c what is sent, input.c what
// comes.
#ifndef APPS_MQTT_INTERNAL_H
#define APPS_MQTT_INTERNAL_H

#include "mqtt/mqtt.h"

static inline bool mqtt_v5(const struct mqtt *mqtt) { return mqtt->config.version == 5; }
// Ends the connection, tells so, and tries again later.
void mqtt_lost(struct mqtt *mqtt, int reason);
void mqtt_wake(struct mqtt *mqtt);

// --- output.c
// Writes what may be written. false: the connection has ended.
bool mqtt_output(struct mqtt *mqtt);
bool mqtt_output_pending(const struct mqtt *mqtt);  // a packet was begun, or an acknowledgement waits
bool mqtt_control_room(const struct mqtt *mqtt);
void mqtt_control(struct mqtt *mqtt, uint8_t first, uint16_t id);  // first octet; without an id (0): of no length
uint32_t mqtt_connect_make(const struct mqtt *mqtt, uint8_t *out, uint32_t room);  // 0: no room
// After CONNACK: what was sent and not acknowledged is to be sent again, or the session is another.
void mqtt_records_again(struct mqtt *mqtt, bool session);
// An acknowledgement of `type` with its reason arrived. false: of a packet that was never sent.
bool mqtt_record_acknowledged(struct mqtt *mqtt, uint8_t type, uint16_t id, uint8_t reason);

// --- input.c
void mqtt_input_begin(struct mqtt *mqtt);
// Reads what is there. false: the connection has ended.
bool mqtt_input(struct mqtt *mqtt);
void mqtt_greeted(struct mqtt *mqtt, bool session);  // mqtt.c: CONNACK was good

#endif
