// SPDX-License-Identifier: BSD-2-Clause
#include "mqtt/mqtt.h"

#include <string.h>

#include "mqtt/internal.h"

#define IN_LEAST 128u
#define OUT_LEAST 64u

void mqtt_wake(struct mqtt *mqtt)
{
    if (mqtt->state == MQTT_UP)
        mqtt->due_us = 0;
}

static uint64_t now(const struct mqtt *mqtt) { return weir_now_us(mqtt->loop->weir); }

// --- the end of a connection -----------------------------------------------------------------------------------------

static void stream_end(struct mqtt *mqtt)
{
    if (mqtt->stream.socket > 0)
        weir_stream_close(&mqtt->stream, 0);
    mqtt->writing_record = mqtt->awaiting = false;
    mqtt->written = mqtt->control_written = mqtt->control_count = 0;
}

// Half of it at random, so that a thousand devices do not come back at once; a connection that held for a while begins
// with the least again, one that is thrown out at once does not.
static uint64_t retry_wait(struct mqtt *mqtt)
{
    uint32_t bits;
    weir_random_bytes(mqtt->loop->weir, &bits, sizeof bits);
    if (mqtt->connected_us != 0 && now(mqtt) - mqtt->connected_us >= MQTT_STEADY_US)
        mqtt->retry_us = MQTT_RETRY_MIN_US;
    const uint32_t wait_us = mqtt->retry_us / 2 + bits % (mqtt->retry_us / 2 + 1);
    mqtt->retry_us = mqtt->retry_us < MQTT_RETRY_MAX_US / 2 ? mqtt->retry_us * 2 : MQTT_RETRY_MAX_US;
    return wait_us;
}

void mqtt_lost(struct mqtt *mqtt, int reason)
{
    stream_end(mqtt);
    mqtt->state = MQTT_WAITING;
    mqtt->due_us = now(mqtt) + retry_wait(mqtt);
    mqtt->connected_us = 0;
    mqtt->count.timeouts += reason == WEIR_TIMED_OUT;
    mqtt->config.event(mqtt, MQTT_DISCONNECTED, reason, mqtt->config.context);
}

// --- its beginning ---------------------------------------------------------------------------------------------------

static void connect_to(struct mqtt *mqtt, const struct weir_endpoint *server)
{
    struct weir *weir = mqtt->loop->weir;
    const weir_socket socket = weir_socket_open(weir, WEIR_STREAM, 0);
    mqtt->stream = (struct weir_stream){.weir = weir, .socket = socket > 0 ? socket : 0};
    mqtt->state = MQTT_CONNECTING;
    mqtt->due_us = now(mqtt) + MQTT_CONNECT_US;
    if (socket > 0) {
        (void)loop_watch(mqtt->loop, socket, &mqtt->watch);
        (void)weir_socket_set(weir, socket, WEIR_OPTION_NO_DELAY, 1);
    }
    const int error = socket < 0 ? socket : weir_socket_connect(weir, socket, server);
    if (error != WEIR_OK && error != WEIR_IN_PROGRESS)
        mqtt_lost(mqtt, error);
}

void mqtt_located(struct mqtt *mqtt, struct weir_endpoint server)
{
    if (mqtt->state != MQTT_LOCATING)
        return;
    if (weir_addr_is_any(server.addr))
        mqtt_lost(mqtt, WEIR_NO_ADDRESS);
    else
        connect_to(mqtt, &server);
}

static void connection_begin(struct mqtt *mqtt)
{
    mqtt->state = MQTT_LOCATING;
    mqtt->due_us = now(mqtt) + MQTT_CONNECT_US;
    if (mqtt->config.locate != NULL)
        mqtt->config.locate(mqtt, mqtt->config.context);
    else
        mqtt_located(mqtt, mqtt->config.server);
}

// Nothing but CONNECT is sent before CONNACK. It lies where later comes what arrives.
static void greeting_make(struct mqtt *mqtt)
{
    mqtt->state = MQTT_GREETING;
    mqtt->written = 0;
    mqtt->greeting_bytes = mqtt_connect_make(mqtt, mqtt->config.in, mqtt->config.in_bytes);
    mqtt_input_begin(mqtt);
}

static void connected(struct mqtt *mqtt)
{
    int error = weir_stream_connected(&mqtt->stream);
    if (error == WEIR_AGAIN)
        return;
    if (error == WEIR_OK && mqtt->config.secure != NULL)
        error = mqtt->config.secure(&mqtt->stream, mqtt->config.context);
    if (error != WEIR_OK)
        mqtt_lost(mqtt, error);
    else
        greeting_make(mqtt);
}

// false: it is not sent yet. The stack has its turn between the steps of a handshake.
static bool greeting_send(struct mqtt *mqtt)
{
    int begun = weir_stream_begin(&mqtt->stream);
    while (begun == WEIR_OK && mqtt->greeting_bytes > 0) {
        begun = weir_stream_write(&mqtt->stream, mqtt->config.in + mqtt->written, mqtt->greeting_bytes);
        if (begun <= 0)
            break;
        mqtt->written += (uint32_t)begun;
        mqtt->greeting_bytes -= (uint32_t)begun;
        begun = WEIR_OK;
    }
    if (begun < 0 && begun != WEIR_AGAIN && begun != WEIR_IN_PROGRESS)
        mqtt_lost(mqtt, begun);
    else if (mqtt->greeting_bytes == 0)
        mqtt->written = 0;
    return begun == WEIR_OK && mqtt->state == MQTT_GREETING && mqtt->greeting_bytes == 0;
}

void mqtt_greeted(struct mqtt *mqtt, bool session)
{
    mqtt->state = MQTT_UP;
    mqtt->count.connections++;
    mqtt->connected_us = mqtt->sent_us = mqtt->progress_us = now(mqtt);
    mqtt->due_us = 0;
    if (!session)
        mqtt->received_count = 0;
    mqtt_records_again(mqtt, session);
    if (mqtt->state == MQTT_UP)
        mqtt->config.event(mqtt, MQTT_CONNECTED, session, mqtt->config.context);
}

// --- turns -----------------------------------------------------------------------------------------------------------

static void pump(struct mqtt *mqtt)
{
    if (mqtt->state == MQTT_CONNECTING)
        connected(mqtt);
    if (mqtt->state == MQTT_GREETING && greeting_send(mqtt))
        (void)mqtt_input(mqtt);
    if (mqtt->state == MQTT_UP && mqtt_output(mqtt) && mqtt_input(mqtt))
        (void)mqtt_output(mqtt);
}

static void socket_event(struct weir_watch *watch, weir_socket socket, uint32_t events)
{
    struct mqtt *mqtt = (struct mqtt *)(void *)((char *)watch - offsetof(struct mqtt, watch));
    (void)events;
    if (socket == mqtt->stream.socket) {
        pump(mqtt);
        mqtt_wake(mqtt);  // deadlines are others now
    }
}

// What the clock asks for while the connection is up. Returns the next deadline.
static uint64_t keep_alive(struct mqtt *mqtt, uint64_t now_us)
{
    uint64_t due_us = WEIR_NEVER;
    if (mqtt_output_pending(mqtt)) {
        due_us = mqtt->progress_us + MQTT_ANSWER_US;
        if (now_us >= due_us) {
            mqtt_lost(mqtt, WEIR_TIMED_OUT);
            return mqtt->due_us;
        }
    }
    if (mqtt->awaiting && mqtt->answer_due_us != WEIR_NEVER) {
        if (now_us >= mqtt->answer_due_us) {
            mqtt_lost(mqtt, WEIR_TIMED_OUT);
            return mqtt->due_us;
        }
        due_us = mqtt->answer_due_us < due_us ? mqtt->answer_due_us : due_us;
    }
    if (mqtt->keep_alive_s > 0 && !mqtt->awaiting) {
        const uint64_t ping_us = mqtt->sent_us + (uint64_t)mqtt->keep_alive_s * 1000000u;
        if (now_us < ping_us)
            return ping_us < due_us ? ping_us : due_us;
        mqtt->awaiting = true;
        mqtt->answer_due_us = WEIR_NEVER;
        mqtt->progress_us = now_us;
        mqtt_control(mqtt, MQTT_PINGREQ << 4, 0);
        return now_us;
    }
    return due_us;
}

static uint64_t next_us(const struct mqtt *mqtt)
{
    const uint64_t stream_us = mqtt->stream.socket > 0 ? weir_stream_due_us(&mqtt->stream) : WEIR_NEVER;
    return stream_us < mqtt->due_us ? stream_us : mqtt->due_us;
}

static uint64_t mqtt_poll(struct app *app, uint64_t now_us)
{
    struct mqtt *mqtt = (struct mqtt *)app;
    if (now_us < next_us(mqtt))
        return next_us(mqtt);
    if (mqtt->state == MQTT_WAITING && now_us >= mqtt->due_us)
        connection_begin(mqtt);
    else if (mqtt->state >= MQTT_LOCATING && mqtt->state < MQTT_UP && now_us >= mqtt->due_us)
        mqtt_lost(mqtt, WEIR_TIMED_OUT);
    if (mqtt->state == MQTT_UP)
        mqtt->due_us = WEIR_NEVER;  // what follows may want a turn at once
    pump(mqtt);
    if (mqtt->state == MQTT_UP) {
        const uint64_t due_us = keep_alive(mqtt, now_us);
        if (mqtt->state == MQTT_UP && due_us < mqtt->due_us)
            mqtt->due_us = due_us;
    }
    return mqtt->state == MQTT_STOPPED ? WEIR_NEVER : next_us(mqtt);
}

// --- the user's calls ------------------------------------------------------------------------------------------------

static bool config_valid(const struct mqtt_config *c)
{
    const bool will =
        c->will_topic == NULL ||
        (mqtt_topic_valid((const uint8_t *)c->will_topic, (uint32_t)strlen(c->will_topic)) && c->will_qos <= 2);
    return will && (c->version == 0 || c->version == 4 || c->version == 5) && c->client_id != NULL &&
           (c->clean || c->client_id[0] != '\0') && c->out != NULL && c->in != NULL && c->in_bytes >= IN_LEAST &&
           c->out_bytes >= OUT_LEAST && c->event != NULL && c->message != NULL &&
           (c->password == NULL || c->user != NULL || c->version == 5) &&
           mqtt_utf8_valid((const uint8_t *)c->client_id, (uint32_t)strlen(c->client_id));
}

int mqtt_start(struct mqtt *mqtt, struct loop *loop, const struct mqtt_config *config)
{
    memset(mqtt, 0, sizeof *mqtt);
    if (!config_valid(config))
        return WEIR_INVALID;
    mqtt->app.poll = mqtt_poll;
    mqtt->watch.event = socket_event;
    mqtt->loop = loop;
    mqtt->config = *config;
    mqtt->retry_us = MQTT_RETRY_MIN_US;
    mqtt->maximum_qos = 2;
    mqtt->maximum_packet = UINT32_MAX;
    mqtt->receive_maximum = 65535;
    if (mqtt_connect_make(mqtt, config->in, config->in_bytes) == 0)
        return WEIR_INVALID;
    mqtt->state = MQTT_WAITING;
    mqtt->due_us = now(mqtt);
    loop_add(loop, &mqtt->app);
    return WEIR_OK;
}

// Data that nobody has read would turn the end into a reset, and the server would not see the farewell.
static void read_away(struct mqtt *mqtt)
{
    uint8_t away[128];
    for (int i = 0; i < 1024 && weir_stream_read(&mqtt->stream, away, sizeof away) > 0; i++)
        continue;
}

void mqtt_stop(struct mqtt *mqtt)
{
    if (mqtt->state == MQTT_STOPPED)
        return;
    // Only behind whole packets; a server that has half of one publishes the will.
    if (mqtt->state == MQTT_UP && mqtt_output(mqtt) && !mqtt_output_pending(mqtt)) {
        static const uint8_t farewell[2] = {MQTT_DISCONNECT << 4, 0};
        (void)weir_stream_write(&mqtt->stream, farewell, sizeof farewell);
        read_away(mqtt);
    }
    stream_end(mqtt);
    mqtt->state = MQTT_STOPPED;
    mqtt->out_used = 0;
    loop_remove(mqtt->loop, &mqtt->app);
}
