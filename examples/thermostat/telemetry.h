// SPDX-License-Identifier: BSD-2-Clause
// Speaks with a broker, by MQTT over TLS: tells it the temperature, takes set points and firmware from it. Who may
// publish what is the broker's to know. Its will for us makes thermostat/online "no".
#ifndef THERMOSTAT_TELEMETRY_H
#define THERMOSTAT_TELEMETRY_H

#include "examples/thermostat/firmware.h"
#include "examples/thermostat/thermostat.h"
#include "mqtt/mqtt.h"

#define TELEMETRY_TEMPERATURE "thermostat/temperature"
#define TELEMETRY_SET "thermostat/set"
#define TELEMETRY_IMAGE "thermostat/firmware/image"
#define TELEMETRY_FIRMWARE "thermostat/firmware"  // what became of it
#define TELEMETRY_ONLINE "thermostat/online"
#define TELEMETRY_VALUE_MAX 8u           // bytes of a set point
#define TELEMETRY_INTERVAL_US 10000000u  // at least so often; and when it is another tenth of a degree

struct telemetry_config {
    struct weir_endpoint broker;
    int (*secure)(struct weir_stream *stream, void *context);
    void (*connected)(void *context);  // the broker took us; may be NULL
    void *context;
};

struct telemetry {
    struct mqtt mqtt;
    struct thermostat *thermostat;
    struct firmware *firmware;
    struct telemetry_config config;
    char value[TELEMETRY_VALUE_MAX];  // of a set point, as it comes in
    char told[TELEMETRY_VALUE_MAX];   // the temperature that was published last
    uint64_t told_us;
    uint8_t out[1024], in[256];
};

// What `telemetry` points to is set already. An error of mqtt_start.
int telemetry_start(struct telemetry *telemetry, struct loop *loop, const struct telemetry_config *config);
// Publishes the temperature, if it is time.
void telemetry_tell(struct telemetry *telemetry);
static inline bool telemetry_up(const struct telemetry *telemetry) { return telemetry->mqtt.state == MQTT_UP; }

#endif
