// SPDX-License-Identifier: BSD-2-Clause
// The MQTT client's reading: what a server sends, in pieces. The first byte chooses the version, whether CONNACK comes
// first, and what the client has under way; each further piece stands behind an octet of its length.
#include "apps/mqtt/broker.h"
#include "fuzz.h"

static struct play play;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bytes in = {data, (uint32_t)size};
    const uint8_t how = take8(&in);
    uint8_t packet[1024];
    play_open(&play, how & 1 ? 5 : 4);
    play_start(&play);
    if (how & 2)
        play_up(&play, how & 4);
    if (how & 8) {
        (void)mqtt_publish(&play.mqtt, "a", "1", 1, 1, 0);
        (void)mqtt_publish(&play.mqtt, "a", "2", 1, 2, 0);
        (void)mqtt_subscribe(&play.mqtt, "#", 2);
        play_run(&play, 1000);
    }
    while (in.left > 0 && play.peer > 0) {
        uint32_t length = take8(&in);
        const uint8_t *piece = take(&in, &length);
        if (length > 0 && weir_socket_write(play.b.f.weir, play.peer, piece, length) < 0)
            break;
        play_run(&play, 1000);
        CHECK(play.mqtt.control_count <= MQTT_CONTROLS && play.mqtt.received_count <= MQTT_RECEIVED_MAX);
        CHECK(play.mqtt.out_used <= sizeof play.out);
        while (play_packet(&play, packet) > 0)
            continue;
    }
    play_run(&play, 3 * SECOND);
    play_close(&play);
    return 0;
}
