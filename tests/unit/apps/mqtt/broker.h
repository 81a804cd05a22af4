// SPDX-License-Identifier: BSD-2-Clause
// A client, and a server whose part is played by the test, byte by byte.
#ifndef TESTS_MQTT_BROKER_H
#define TESTS_MQTT_BROKER_H

#include "apps/bench.h"

#include "mqtt/mqtt.h"

#define SECOND 1000000u

struct play {
    struct bench b;
    struct mqtt mqtt;
    struct mqtt_config config;
    uint8_t out[1024], in[256];
    weir_socket listener, peer;  // peer 0: no connection
    uint8_t got[4096];           // what the client sent and was not looked at
    uint32_t got_length;
    // what the client told
    uint32_t connected, refused, disconnected, messages, dones, pieces;
    int session, reason, done_reason;
    uint16_t done_id;
    char topic[64], payload[4096];
    struct mqtt_message last;
    bool stop_on_message;
};

static inline void play_event(struct mqtt *mqtt, enum mqtt_event event, int reason, void *context)
{
    struct play *play = context;
    (void)mqtt;
    play->connected += event == MQTT_CONNECTED;
    play->refused += event == MQTT_REFUSED;
    play->disconnected += event == MQTT_DISCONNECTED;
    if (event == MQTT_CONNECTED)
        play->session = reason;
    else
        play->reason = reason;
}

static inline void play_message(struct mqtt *mqtt, const struct mqtt_message *message, const uint8_t *piece,
                                uint32_t length, void *context)
{
    struct play *play = context;
    play->pieces++;
    assert_true(message->offset + length <= message->length && message->topic_length < sizeof play->topic);
    memcpy(play->topic, message->topic, message->topic_length);
    play->topic[message->topic_length] = '\0';
    if (message->offset + length < sizeof play->payload) {
        memcpy(play->payload + message->offset, piece, length);
        play->payload[message->offset + length] = '\0';
    }
    play->last = *message;
    play->messages += message->offset + length == message->length;
    if (play->stop_on_message)
        mqtt_stop(mqtt);
}

static inline void play_done(struct mqtt *mqtt, uint16_t id, int reason, void *context)
{
    struct play *play = context;
    (void)mqtt;
    play->dones++;
    play->done_id = id;
    play->done_reason = reason;
}

static inline void play_open(struct play *play, uint8_t version)
{
    memset(play, 0, sizeof *play);
    bench_open(&play->b);
    const struct weir_endpoint local = {weir_addr_any(), MQTT_PORT};
    play->listener = weir_socket_open(play->b.f.weir, WEIR_STREAM, 0);
    assert_int_equal(weir_socket_bind(play->b.f.weir, play->listener, &local), WEIR_OK);
    assert_int_equal(weir_socket_listen(play->b.f.weir, play->listener, 4), WEIR_OK);
    play->config = (struct mqtt_config){.server = bench_here(MQTT_PORT),
                                        .version = version,
                                        .client_id = "weir",
                                        .keep_alive_s = 30,
                                        .out = play->out,
                                        .out_bytes = sizeof play->out,
                                        .in = play->in,
                                        .in_bytes = sizeof play->in,
                                        .event = play_event,
                                        .message = play_message,
                                        .done = play_done,
                                        .context = play};
}

// Takes what the client sent; accepts its connection.
static inline void play_run(struct play *play, uint64_t us)
{
    int got;
    bench_run(&play->b, us);
    const weir_socket next = weir_socket_accept(play->b.f.weir, play->listener);
    if (next > 0) {
        if (play->peer > 0)
            (void)weir_socket_close(play->b.f.weir, play->peer);
        play->peer = next;
        assert_int_equal(weir_socket_set(play->b.f.weir, next, WEIR_OPTION_NO_DELAY, 1), WEIR_OK);
        play->got_length = 0;
        bench_run(&play->b, 1000);
    }
    while (play->peer > 0 && (got = weir_socket_read(play->b.f.weir, play->peer, play->got + play->got_length,
                                                     sizeof play->got - play->got_length)) > 0) {
        play->got_length += (uint32_t)got;
        bench_run(&play->b, 1000);
    }
}

// All of what is sent has arrived and been looked at a millisecond later: no byte waits for another's acknowledgement.
static inline void play_send(struct play *play, const void *bytes, uint32_t length)
{
    assert_int_equal(weir_socket_write(play->b.f.weir, play->peer, bytes, length), length);
    play_run(play, 1000);
}
#define SEND(play, literal) play_send(play, literal, sizeof(literal) - 1)

// Cuts the first packet off what the client sent; its length, and 0: none.
static inline uint32_t play_packet(struct play *play, uint8_t out[1024])
{
    uint32_t length;
    const int head = play->got_length > 1 ? mqtt_get_length(play->got + 1, play->got_length - 1, &length) : 0;
    if (head <= 0 || 1u + (uint32_t)head + length > play->got_length)
        return 0;
    const uint32_t whole = 1 + (uint32_t)head + length;
    assert_true(whole <= 1024);
    memcpy(out, play->got, whole);
    memmove(play->got, play->got + whole, play->got_length - whole);
    play->got_length -= whole;
    return whole;
}

// The next packet is exactly this.
static inline void play_expect(struct play *play, const void *bytes, uint32_t length)
{
    uint8_t packet[1024];
    assert_int_equal(play_packet(play, packet), length);
    assert_memory_equal(packet, bytes, length);
}
#define EXPECT(play, literal) play_expect(play, literal, sizeof(literal) - 1)

static inline void play_start(struct play *play)
{
    uint8_t packet[1024];
    assert_int_equal(mqtt_start(&play->mqtt, &play->b.loop, &play->config), WEIR_OK);
    play_run(play, 1000);
    assert_true(play->peer > 0);
    assert_true(play_packet(play, packet) > 0);
    assert_int_equal(packet[0], 0x10);
}

// Connected, CONNACK with the session flag.
static inline void play_up(struct play *play, bool session)
{
    const uint32_t before = play->connected;
    if (play->config.version == 5)
        play_send(play, session ? "\x20\3\1\0\0" : "\x20\3\0\0\0", 5);
    else
        play_send(play, session ? "\x20\2\1\0" : "\x20\2\0\0", 4);
    assert_int_equal(play->connected, before + 1);
}

// The connection breaks, and comes again.
static inline void play_again(struct play *play, bool session)
{
    uint8_t packet[1024];
    assert_int_equal(weir_socket_abort(play->b.f.weir, play->peer), WEIR_OK);
    play->peer = 0;
    for (int i = 0; i < 200 && play->peer == 0; i++)
        play_run(play, SECOND);
    assert_true(play->peer > 0);
    assert_true(play_packet(play, packet) > 0);
    assert_int_equal(packet[0], 0x10);
    play_up(play, session);
}

static inline void play_close(struct play *play)
{
    mqtt_stop(&play->mqtt);
    if (play->peer > 0)
        (void)weir_socket_abort(play->b.f.weir, play->peer);
    (void)weir_socket_close(play->b.f.weir, play->listener);
    bench_run(&play->b, SECOND);
    bench_close(&play->b);
}

#endif
