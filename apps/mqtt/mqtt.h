// SPDX-License-Identifier: BSD-2-Clause
// An MQTT client, versions 3.1.1 and 5, on a stream that is plain or TLS: quality of service 0 to 2, will, keep-alive,
// reconnection with growing waits. Messages that are to be sent, or sent and not yet acknowledged, stay in memory of
// the caller's; messages that arrive are handed on in pieces, however long they are.
//
//     mqtt_start(&mqtt, &loop, &config);
//     mqtt_publish(&mqtt, "home/kitchen/temperature", "21.5", 4, 1, MQTT_RETAIN);   // at any time: it waits
//
// Lock held throughout. Callbacks may call anything here.
#ifndef APPS_MQTT_H
#define APPS_MQTT_H

#include "../loop.h"
#include "packet.h"
#include "../stream.h"
#include "weir/linkage/mqtt.h"

WEIR_BEGIN_DECLS

#define MQTT_PORT 1883u
#define MQTT_PORT_TLS 8883u
#define MQTT_RECEIVED_MAX 20u         // messages of QoS 2 from the server that are under way
#define MQTT_CONTROLS 32u             // acknowledgements that wait to be sent
#define MQTT_CONNECT_US 20000000u     // from the address to CONNACK
#define MQTT_ANSWER_US 10000000u      // for PINGRESP; and to get rid of a packet that was begun
#define MQTT_RETRY_MIN_US 1000000u    // before connecting again, half of it at random; doubled each time
#define MQTT_RETRY_MAX_US 120000000u  // up to this
#define MQTT_STEADY_US 30000000u      // a connection that held so long begins with the least wait again

enum mqtt_event {
    MQTT_CONNECTED,     // `reason` 1: the server still knows the session; 0: subscribe anew
    MQTT_REFUSED,       // by CONNACK: its code is `reason`
    MQTT_DISCONNECTED,  // `reason`: an enum weir_error, or the code of the server's DISCONNECT
};
enum { MQTT_RETAIN = 1 };
// In place of an enum weir_error: what the server did wrong.
#define MQTT_PROTOCOL_ERROR (-1000)

struct mqtt_message {
    const uint8_t *topic;
    uint16_t topic_length;
    uint8_t qos;
    bool retained, duplicate;
    uint32_t length, offset;  // of the payload; of this piece in it
};

struct mqtt;
struct mqtt_config {
    // Where the server is. `locate`, if there is one, is asked before each connection (names change), and answers by
    // mqtt_located, at once or later.
    struct weir_endpoint server;
    void (*locate)(struct mqtt *mqtt, void *context);
    // Makes a session of TLS of the connection (tls_stream_open). WEIR_OK, or an error. NULL: plain.
    int (*secure)(struct weir_stream *stream, void *context);
    uint8_t version;        // 4: 3.1.1 (also 0); 5
    const char *client_id;  // 1 to 23 letters and digits are taken by every server; "" with clean: the server's choice
    const char *user, *password;  // NULL: none
    bool clean;                   // the server forgets what it has of an earlier connection
    uint16_t keep_alive_s;        // 0: none
    uint32_t session_expiry_s;    // version 5: how long the server keeps the session
    const char *will_topic;       // NULL: none. Published by the server when we go without a word
    const void *will;
    uint16_t will_length;
    uint8_t will_qos, will_flags;
    // what waits to be sent or acknowledged; a packet's header, and pieces of payload (128 at least)
    uint8_t *out, *in;
    uint32_t out_bytes, in_bytes;
    void (*event)(struct mqtt *mqtt, enum mqtt_event event, int reason, void *context);
    // A piece of a message; `piece_length` 0 for an empty one. The last has offset + piece_length == length.
    void (*message)(struct mqtt *mqtt, const struct mqtt_message *message, const uint8_t *piece, uint32_t piece_length,
                    void *context);
    // The end of what mqtt_publish (QoS 1 and 2), mqtt_subscribe or mqtt_unsubscribe began: `reason` 0 to 0x7f as the
    // server says (of a subscription: the QoS granted), 0x80 and more: it refuses; an enum weir_error. May be NULL.
    void (*done)(struct mqtt *mqtt, uint16_t id, int reason, void *context);
    void *context;
};

enum mqtt_state { MQTT_STOPPED, MQTT_WAITING, MQTT_LOCATING, MQTT_CONNECTING, MQTT_GREETING, MQTT_UP };
enum mqtt_reading { MQTT_READ_TYPE, MQTT_READ_LENGTH, MQTT_READ_HEAD, MQTT_READ_PAYLOAD, MQTT_READ_BODY };

struct mqtt_counts {
    uint32_t connections, sent, received, delivered, duplicates, refused, protocol_errors, timeouts;
};

struct mqtt {
    struct app app;
    struct weir_watch watch;
    struct loop *loop;
    struct mqtt_config config;
    struct weir_stream stream;
    uint8_t state;
    uint64_t due_us, connected_us, sent_us, answer_due_us, progress_us;
    uint32_t retry_us;
    uint16_t next_id, receive_maximum, keep_alive_s;
    uint8_t maximum_qos;
    uint32_t maximum_packet;
    // out: records one behind the other, and which is being written how far
    uint32_t out_used, writing_at, written, greeting_bytes;
    uint32_t control_count, control_written;
    uint8_t controls[MQTT_CONTROLS][4];
    bool writing_record, awaiting;  // awaiting: PINGRESP
    // in
    uint8_t reading, first, length_bytes[4];
    uint32_t have, need, left;  // in the header; of the packet
    struct mqtt_message arriving;
    uint16_t arriving_id;
    uint16_t received[MQTT_RECEIVED_MAX];
    uint32_t received_count;
    struct mqtt_counts count;
};

// WEIR_INVALID: no client id with `clean` unset, no buffers, a topic that is none, a QoS beyond 2.
int mqtt_start(struct mqtt *mqtt, struct loop *loop, const struct mqtt_config *config);
// Says DISCONNECT, so that the will is not published, and ends. What waits is forgotten.
void mqtt_stop(struct mqtt *mqtt);
// The answer to `locate`: the server's address; any: not found, to be asked for again later.
void mqtt_located(struct mqtt *mqtt, struct weir_endpoint server);
// Takes a copy of the message. Returns its id, as `done` names it (of QoS 0: 0); WEIR_AGAIN: no room now; WEIR_TOO_BIG:
// there never is, or the server takes no such packet; WEIR_INVALID: not a topic, a QoS beyond 2;
// WEIR_NOT_SUPPORTED: a QoS beyond the server's.
int mqtt_publish(struct mqtt *mqtt, const char *topic, const void *payload, uint32_t length, uint8_t qos,
                 unsigned flags);
int mqtt_subscribe(struct mqtt *mqtt, const char *filter, uint8_t qos);
int mqtt_unsubscribe(struct mqtt *mqtt, const char *filter);

WEIR_END_DECLS

#endif
