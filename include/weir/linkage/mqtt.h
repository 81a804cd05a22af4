// SPDX-License-Identifier: BSD-2-Clause
// Made by tools/options.py from the public headers: run `make options` after a change of them.
// What libweir-mqtt.a defines begins with weir_ in objects, so that it meets no other library's names there.
// Programs are written with the names of the headers.
#ifndef WEIR_LINKAGE_MQTT_H
#define WEIR_LINKAGE_MQTT_H

#include "weir/language.h"

#ifdef __PRAGMA_REDEFINE_EXTNAME  // gcc and clang: with another compiler the names stay
#pragma redefine_extname mqtt_filter_matches weir_mqtt_filter_matches
#pragma redefine_extname mqtt_filter_valid weir_mqtt_filter_valid
#pragma redefine_extname mqtt_get_length weir_mqtt_get_length
#pragma redefine_extname mqtt_get_properties weir_mqtt_get_properties
#pragma redefine_extname mqtt_length_bytes weir_mqtt_length_bytes
#pragma redefine_extname mqtt_located weir_mqtt_located
#pragma redefine_extname mqtt_publish weir_mqtt_publish
#pragma redefine_extname mqtt_publish_head weir_mqtt_publish_head
#pragma redefine_extname mqtt_put16 weir_mqtt_put16
#pragma redefine_extname mqtt_put32 weir_mqtt_put32
#pragma redefine_extname mqtt_put8 weir_mqtt_put8
#pragma redefine_extname mqtt_put_bytes weir_mqtt_put_bytes
#pragma redefine_extname mqtt_put_length weir_mqtt_put_length
#pragma redefine_extname mqtt_put_string weir_mqtt_put_string
#pragma redefine_extname mqtt_start weir_mqtt_start
#pragma redefine_extname mqtt_stop weir_mqtt_stop
#pragma redefine_extname mqtt_subscribe weir_mqtt_subscribe
#pragma redefine_extname mqtt_topic_valid weir_mqtt_topic_valid
#pragma redefine_extname mqtt_unsubscribe weir_mqtt_unsubscribe
#pragma redefine_extname mqtt_utf8_valid weir_mqtt_utf8_valid
#endif

#endif
