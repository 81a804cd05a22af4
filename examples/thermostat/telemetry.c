// SPDX-License-Identifier: BSD-2-Clause
#include "examples/thermostat/telemetry.h"

#include <string.h>

#include "weir/instance.h"

static void event(struct mqtt *mqtt, enum mqtt_event event, int reason, void *context)
{
    struct telemetry *const telemetry = context;
    if (event != MQTT_CONNECTED)
        return;
    if (reason == 0) {  // a broker that knows nothing of us
        (void)mqtt_subscribe(mqtt, TELEMETRY_SET, 1);
        (void)mqtt_subscribe(mqtt, TELEMETRY_IMAGE, 1);
    }
    (void)mqtt_publish(mqtt, TELEMETRY_ONLINE, "yes", 3, 1, MQTT_RETAIN);
    telemetry->told_us = 0;
    telemetry_tell(telemetry);
    if (telemetry->config.connected)
        telemetry->config.connected(telemetry->config.context);
}

// A set point may come in pieces; one that is too long is none.
static void set_take(struct telemetry *telemetry, const struct mqtt_message *message, const uint8_t *piece,
                     uint32_t bytes)
{
    if (message->length > sizeof telemetry->value)
        return;
    memcpy(telemetry->value + message->offset, piece, bytes);
    if (message->offset + bytes == message->length)
        (void)thermostat_set(telemetry->thermostat, telemetry->value, message->length);
}

static void image_take(struct telemetry *telemetry, const struct mqtt_message *message, const uint8_t *piece,
                       uint32_t bytes)
{
    const uint64_t now_us = weir_now_us(telemetry->mqtt.loop->weir);
    const int result = firmware_take(telemetry->firmware, message->offset, message->length, piece, bytes, now_us);
    const char *const became = result == FIRMWARE_WHOLE ? "taken" : update_error_name(result);
    if (result != 0)
        (void)mqtt_publish(&telemetry->mqtt, TELEMETRY_FIRMWARE, became, text_length(became), 1, 0);
}

static void message(struct mqtt *mqtt, const struct mqtt_message *message, const uint8_t *piece, uint32_t bytes,
                    void *context)
{
    const char *const topic = (const char *)message->topic;
    (void)mqtt;
    if (text_equal(topic, message->topic_length, TELEMETRY_SET))
        set_take(context, message, piece, bytes);
    else if (text_equal(topic, message->topic_length, TELEMETRY_IMAGE))
        image_take(context, message, piece, bytes);
}

static int secure(struct weir_stream *stream, void *context)
{
    struct telemetry *const telemetry = context;
    return telemetry->config.secure(stream, telemetry->config.context);
}

void telemetry_tell(struct telemetry *telemetry)
{
    char value[TELEMETRY_VALUE_MAX];
    struct text text;
    const uint64_t now_us = weir_now_us(telemetry->mqtt.loop->weir);
    text_init(&text, value, sizeof value);
    thermostat_text(&text, telemetry->thermostat->temperature_mc);
    const bool due = telemetry->told_us == 0 || now_us - telemetry->told_us >= TELEMETRY_INTERVAL_US;
    // What was measured without a connection is out of date when there is one.
    if (!telemetry_up(telemetry) || (!due && text_equal(value, text.length, telemetry->told)) ||
        mqtt_publish(&telemetry->mqtt, TELEMETRY_TEMPERATURE, value, text.length, 1, MQTT_RETAIN) < 0)
        return;
    memcpy(telemetry->told, value, sizeof value);
    telemetry->told_us = now_us;
}

int telemetry_start(struct telemetry *telemetry, struct loop *loop, const struct telemetry_config *config)
{
    telemetry->config = *config;
    return mqtt_start(&telemetry->mqtt, loop,
                      &(struct mqtt_config){.server = config->broker,
                                            .secure = config->secure ? secure : NULL,
                                            .client_id = "thermostat",
                                            .clean = true,
                                            .keep_alive_s = 30,
                                            .will_topic = TELEMETRY_ONLINE,
                                            .will = "no",
                                            .will_length = 2,
                                            .will_qos = 1,
                                            .will_flags = MQTT_RETAIN,
                                            .out = telemetry->out,
                                            .out_bytes = sizeof telemetry->out,
                                            .in = telemetry->in,
                                            .in_bytes = sizeof telemetry->in,
                                            .event = event,
                                            .message = message,
                                            .context = telemetry});
}
