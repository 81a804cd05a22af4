// SPDX-License-Identifier: BSD-2-Clause
#include "ping.h"

#include <string.h>

#include "service.h"

#define HEADER_BYTES 8u
#define STAMP_BYTES 8u      // the time of sending, at the front of the data
#define ECHO_REQUEST 8u     // RFC 792; a reply is 0
#define ECHO_REQUEST6 128u  // RFC 4443 §4.1
#define ECHO_REPLY6 129u
#define PING_WAIT_US 2000000u  // for the last replies

static uint8_t pattern(const struct ping *ping, uint32_t at) { return (uint8_t)(ping->key + at); }

static void ping_send(struct ping *ping, uint64_t now_us)
{
    uint8_t packet[HEADER_BYTES + PING_DATA_MAX];
    uint16_t sequence = (uint16_t)(ping->sent + 1);
    memset(packet, 0, HEADER_BYTES);  // identifier and checksum are the stack's to fill in
    packet[0] = ping->request_type;
    packet[6] = (uint8_t)(sequence >> 8);
    packet[7] = (uint8_t)sequence;
    for (uint32_t i = 0; i < ping->data_bytes; i++)
        packet[HEADER_BYTES + i] =
            i < STAMP_BYTES && ping->data_bytes >= STAMP_BYTES ? (uint8_t)(now_us >> (56 - 8 * i)) : pattern(ping, i);
    const struct weir_slice slice = {packet, HEADER_BYTES + ping->data_bytes};
    const struct weir_message message = {.peer.port = 0};
    int sent = weir_socket_send_message(ping->loop->weir, ping->socket, &message, &slice, 1);
    if (sent < 0 && sent != WEIR_AGAIN && sent != WEIR_NO_MEMORY)
        ping->error = sent;
    ping->sent++;
    ping->answered <<= 1;
}

// Takes a reply apart. false: not ours, or its data changed on the way.
static bool reply_read(struct ping *ping, const struct weir_message *message, const struct weir_slice *slice,
                       struct ping_reply *reply)
{
    if (slice->length != HEADER_BYTES + ping->data_bytes || slice->data[0] != ping->reply_type)
        return false;
    const uint8_t *data = slice->data + HEADER_BYTES;
    uint64_t sent_us = 0, now_us = weir_now_us(ping->loop->weir);
    bool stamped = ping->data_bytes >= STAMP_BYTES;
    for (uint32_t i = 0; i < ping->data_bytes; i++) {
        if (stamped && i < STAMP_BYTES)
            sent_us = sent_us << 8 | data[i];
        else if (data[i] != pattern(ping, i))
            return false;
    }
    if (stamped && sent_us > now_us)
        return false;
    *reply = (struct ping_reply){.from = message->peer.addr,
                                 .sequence = (uint16_t)(slice->data[6] << 8 | slice->data[7]),
                                 .ttl = message->ttl,
                                 .bytes = slice->length,
                                 .rtt_us = stamped ? (uint32_t)(now_us - sent_us) : 0};
    return true;
}

static void ping_take(struct ping *ping, const struct weir_message *message, const struct weir_slice *slice)
{
    struct ping_reply reply;
    if (!reply_read(ping, message, slice, &reply)) {
        ping->corrupted++;
        return;
    }
    uint16_t age = (uint16_t)((uint16_t)ping->sent - reply.sequence);
    if (age >= ping->sent) {
        ping->corrupted++;  // a sequence number that was not sent
        return;
    }
    reply.duplicate = age < PING_OUTSTANDING && (ping->answered >> age & 1);
    if (age < PING_OUTSTANDING)
        ping->answered |= 1u << age;
    if (reply.duplicate) {
        ping->duplicates++;
    } else {
        ping->received++;
        ping->rtt_sum_us += reply.rtt_us;
        ping->rtt_min_us = reply.rtt_us < ping->rtt_min_us ? reply.rtt_us : ping->rtt_min_us;
        ping->rtt_max_us = reply.rtt_us > ping->rtt_max_us ? reply.rtt_us : ping->rtt_max_us;
    }
    ping->event(ping, &reply, ping->context);
}

static void ping_event(struct weir_watch *watch, weir_socket socket, uint32_t events)
{
    struct ping *ping = (struct ping *)(void *)((char *)watch - offsetof(struct ping, watch));
    struct weir_message message;
    struct weir_slice slice;
    int error = WEIR_OK;
    (void)events;
    while (ping->socket == socket && service_peek(ping->loop, socket, &message, &slice, &error)) {
        ping_take(ping, &message, &slice);
        (void)weir_socket_discard(ping->loop->weir, socket);  // nothing to do when the handler stopped us
    }
    if (ping->socket == socket && error != WEIR_OK)
        ping->error = error;  // remembered; later requests may still be answered
}

static uint64_t ping_poll(struct app *app, uint64_t now_us)
{
    struct ping *ping = (struct ping *)app;
    bool all_sent = ping->count != 0 && ping->sent >= ping->count;
    if (all_sent && (ping->received >= ping->count || now_us >= ping->next_us)) {
        void (*event)(struct ping *, const struct ping_reply *, void *) = ping->event;
        ping_stop(ping);
        event(ping, NULL, ping->context);
        return WEIR_NEVER;
    }
    if (!all_sent && now_us >= ping->next_us) {
        ping_send(ping, now_us);
        ping->next_us = now_us + (ping->sent == ping->count ? ping->wait_us : ping->interval_us);
    }
    return ping->next_us;
}

int ping_start(struct ping *ping, struct loop *loop, struct weir_addr host, uint32_t count, uint32_t interval_us,
               uint32_t data_bytes, void (*event)(struct ping *, const struct ping_reply *, void *), void *context)
{
    const struct weir_endpoint peer = {host, 0};
    const bool v4 = weir_addr_is_v4(host);
    if (data_bytes > PING_DATA_MAX)
        return WEIR_INVALID;
    *ping = (struct ping){.app = {.poll = ping_poll},
                          .watch = {ping_event},
                          .loop = loop,
                          .event = event,
                          .context = context,
                          .count = count,
                          .interval_us = interval_us,
                          .wait_us = PING_WAIT_US,
                          .data_bytes = data_bytes,
                          .request_type = v4 ? ECHO_REQUEST : ECHO_REQUEST6,
                          .reply_type = v4 ? 0 : ECHO_REPLY6,
                          .rtt_min_us = UINT32_MAX};
    weir_random_bytes(loop->weir, &ping->key, 1);
    ping->next_us = weir_now_us(loop->weir);
    ping->socket = weir_socket_open(loop->weir, WEIR_ICMP, 0);
    if (ping->socket < 0)
        return ping->socket;
    int error = weir_socket_connect(loop->weir, ping->socket, &peer);
    if (error == WEIR_OK)
        error = loop_watch(loop, ping->socket, &ping->watch);
    if (error != WEIR_OK) {
        service_close(loop, &ping->socket);
        return error;
    }
    loop_add(loop, &ping->app);
    return WEIR_OK;
}

void ping_stop(struct ping *ping)
{
    if (ping->socket <= 0)
        return;
    loop_remove(ping->loop, &ping->app);
    service_close(ping->loop, &ping->socket);
}
