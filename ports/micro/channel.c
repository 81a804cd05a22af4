// SPDX-License-Identifier: BSD-2-Clause
// Data between a client's rings and its socket.
#include "server.h"

struct window_channel *micro_channel_window(const struct micro_channel *channel)
{
    return &channel->session->window->channel[channel - channel->session->channel];
}

static uint8_t *ring(const struct micro_channel *channel, uint32_t receive)
{
    const struct micro_session *session = channel->session;
    return window_ring(session->window, session->channels, session->ring_bytes, (uint32_t)(channel - session->channel),
                       receive);
}

static struct weir *weir_of(const struct micro_channel *channel) { return channel->session->server->weir; }

// How far the client has filled the send ring. What it fills after it closed or shut down does not count.
static uint32_t filled(const struct micro_channel *channel)
{
    const uint32_t end = channel->flags & (CHANNEL_SHUT | CHANNEL_CLOSING)
                             ? channel->last
                             : atomic_load(&micro_channel_window(channel)->sent);
    return ring_filled(end, channel->accepted, channel->session->ring_bytes);
}

static void end_sending(struct micro_channel *channel, int error)
{
    channel->flags |= CHANNEL_SEND_ENDED;
    atomic_store(&micro_channel_window(channel)->send_end, (uint32_t)error);
}

static void end_reading(struct micro_channel *channel, int how)
{
    channel->flags |= CHANNEL_READ_ENDED;
    atomic_store(&micro_channel_window(channel)->read_end, (uint32_t)how);
}

// --- streams ---------------------------------------------------------------------------------------------------------
static void send_stream(struct micro_channel *channel)
{
    const uint32_t size = channel->session->ring_bytes, before = channel->accepted;
    for (uint32_t left = filled(channel); left;) {
        struct weir_span spans[2];
        const int lent = weir_socket_reserve(weir_of(channel), channel->socket, left, spans, 2);
        if (lent < 0 && lent != WEIR_AGAIN)
            end_sending(channel, lent);
        if (lent <= 0)
            break;
        uint32_t done = 0;
        for (uint32_t i = 0; done < (uint32_t)lent; done += spans[i++].length)
            ring_get(ring(channel, 0), size, channel->accepted + done, spans[i].data, spans[i].length);
        (void)weir_socket_commit(weir_of(channel), channel->socket, done);
        channel->accepted += done;
        left -= done;
    }
    if (channel->accepted != before)
        atomic_store(&micro_channel_window(channel)->accepted, channel->accepted);
}

static void receive_stream(struct micro_channel *channel)
{
    struct window_channel *shared = micro_channel_window(channel);
    const uint32_t size = channel->session->ring_bytes, before = channel->received;
    uint32_t room = ring_room(atomic_load(&shared->taken), channel->received, size);
    while (room) {
        struct weir_slice slices[2];
        const int lent = weir_socket_peek(weir_of(channel), channel->socket, 0, slices, 2);
        if (lent == 0 || (lent < 0 && lent != WEIR_AGAIN))
            end_reading(channel, lent == 0 ? 1 : lent);
        if (lent < 0 && lent != WEIR_AGAIN)
            end_sending(channel, lent);
        if (lent <= 0)
            break;
        uint32_t done = 0;
        for (uint32_t i = 0; done < (uint32_t)lent && room; i++) {
            const uint32_t now = slices[i].length < room ? slices[i].length : room;
            ring_put(ring(channel, 1), size, channel->received + done, slices[i].data, now);
            done += now;
            room -= now;
        }
        (void)weir_socket_consume(weir_of(channel), channel->socket, done);
        channel->received += done;
    }
    if (channel->received != before)
        atomic_store(&shared->received, channel->received);
    atomic_store(&shared->state, WINDOW_CONNECTED | (room ? 0 : WINDOW_STALLED));
}

// --- datagrams -------------------------------------------------------------------------------------------------------
static void pass_error(struct micro_channel *channel, int error)
{
    atomic_store(&micro_channel_window(channel)->passing, (uint32_t)error);
}

// What ICMP or the link said, taken before data moves: the socket would tell it in place of a datagram.
static void take_error(struct micro_channel *channel)
{
    int32_t error = WEIR_OK;
    const int ready = weir_socket_ready(weir_of(channel), channel->socket);
    if (ready > 0 && ready & WEIR_ERROR)
        (void)weir_socket_get(weir_of(channel), channel->socket, WEIR_OPTION_ERROR, &error);
    if (error)
        pass_error(channel, error);
}

// One record: false when it has to wait.
static bool send_record(struct micro_channel *channel, uint32_t left)
{
    const uint32_t size = channel->session->ring_bytes;
    struct window_record record;
    if (left >= sizeof record)
        ring_get(ring(channel, 0), size, channel->accepted, &record, sizeof record);
    if (left < sizeof record || record.length > left - sizeof record || window_record_bytes(record.length) > left) {
        channel->accepted += left;  // no record: what follows has no meaning either
        end_sending(channel, WEIR_INVALID);
        return true;
    }
    const uint32_t begin = (channel->accepted + (uint32_t)sizeof record) & (size - 1);
    const uint32_t first = record.length < size - begin ? record.length : size - begin;
    const struct weir_slice slices[2] = {{ring(channel, 0) + begin, first}, {ring(channel, 0), record.length - first}};
    const struct weir_message message = {.peer = record.peer, .length = record.length};
    const int count = !record.length ? 0 : first == record.length ? 1 : 2;
    const int result = weir_socket_send_message(weir_of(channel), channel->socket, &message, slices, count);
    if (result == WEIR_AGAIN)
        return false;
    if (result < 0)
        pass_error(channel, result);
    channel->accepted += window_record_bytes(record.length);
    return true;
}

static void send_datagrams(struct micro_channel *channel)
{
    const uint32_t before = channel->accepted, all = filled(channel);
    while (channel->accepted - before < all && send_record(channel, all - (channel->accepted - before)))
        ;
    atomic_store(&micro_channel_window(channel)->accepted, channel->accepted);
}

static void receive_datagrams(struct micro_channel *channel)
{
    struct window_channel *shared = micro_channel_window(channel);
    const uint32_t size = channel->session->ring_bytes;
    uint32_t room = ring_room(atomic_load(&shared->taken), channel->received, size);
    bool stalled = false;
    struct weir_message message;
    struct weir_slice slice;
    int got;
    while ((got = weir_socket_peek_message(weir_of(channel), channel->socket, &message, &slice)) >= 0) {
        const uint32_t most = size - (uint32_t)sizeof(struct window_record),
                       length = message.length < slice.length ? message.length : slice.length;
        const struct window_record record = {length < most ? length : most, message.peer};
        stalled = window_record_bytes(record.length) > room;
        if (stalled)
            break;
        ring_put(ring(channel, 1), size, channel->received, &record, sizeof record);
        ring_put(ring(channel, 1), size, channel->received + (uint32_t)sizeof record, slice.data, record.length);
        channel->received += window_record_bytes(record.length);
        room -= window_record_bytes(record.length);
        (void)weir_socket_discard(weir_of(channel), channel->socket);
    }
    atomic_store(&shared->received, channel->received);
    atomic_store(&shared->state, WINDOW_CONNECTED | (stalled ? WINDOW_STALLED : 0));
    if (got == WEIR_SHUT_DOWN)
        end_reading(channel, 1);
}

// --- both ------------------------------------------------------------------------------------------------------------
void micro_channel_look(struct micro_channel *channel)
{
    const int ready = weir_socket_ready(weir_of(channel), channel->socket);
    int32_t error = 0;
    if (ready < 0)
        return;
    if (channel->flags & CHANNEL_LISTENS) {
        atomic_store(&micro_channel_window(channel)->state, ready & WEIR_READABLE ? WINDOW_ACCEPTABLE : 0);
    } else if (ready & WEIR_ERROR) {
        (void)weir_socket_get(weir_of(channel), channel->socket, WEIR_OPTION_ERROR, &error);
        channel->flags &= (uint8_t)~CHANNEL_CONNECTING;
        end_sending(channel, error ? error : WEIR_ABORTED);
        end_reading(channel, error ? error : WEIR_ABORTED);
    } else if (ready & WEIR_WRITABLE) {
        channel->flags = (uint8_t)((channel->flags & ~CHANNEL_CONNECTING) | CHANNEL_CONNECTED);
        atomic_store(&micro_channel_window(channel)->state, WINDOW_CONNECTED);
    }
}

void micro_channel_close(struct micro_channel *channel)
{
    struct micro_session *session = channel->session;
    (void)weir_socket_set_user(weir_of(channel), channel->socket, NULL);
    session->used &= ~(1u << (channel - session->channel));
    if (channel->type == WEIR_STREAM && channel->flags & CHANNEL_CONNECTED)
        micro_orphan_leave(session, channel->socket);
    else
        (void)weir_socket_close(weir_of(channel), channel->socket);
    channel->socket = 0;
}

// The client is notified when what it waits for is there: to write, half of the ring, so that it need not come for
// every byte.
static void notice(struct micro_channel *channel)
{
    struct window_channel *shared = micro_channel_window(channel);
    const uint32_t wants = atomic_load(&shared->wants), size = channel->session->ring_bytes;
    struct micro_server *server = channel->session->server;
    if (!wants)
        return;
    const uint32_t state = atomic_load(&shared->state);
    const bool readable = channel->received != atomic_load(&shared->taken) || channel->flags & CHANNEL_READ_ENDED ||
                          state & WINDOW_ACCEPTABLE;
    const bool writable =
        channel->flags & CHANNEL_SEND_ENDED || (channel->flags & CHANNEL_CONNECTED && filled(channel) <= size / 2);
    const bool failed = channel->flags & CHANNEL_READ_ENDED &&
                        (channel->flags & CHANNEL_SEND_ENDED || (int32_t)atomic_load(&shared->read_end) < 0);
    if ((wants & WINDOW_READ && readable) || (wants & WINDOW_WRITE && writable) || (wants & WINDOW_FAILED && failed) ||
        atomic_load(&shared->passing)) {
        atomic_store(&shared->wants, 0);
        server->notices |= 1u << (channel->session - server->session);
    }
}

bool micro_channel_idle(const struct micro_channel *channel)
{
    const struct window_channel *shared = micro_channel_window(channel);
    return atomic_load(&shared->sent) == channel->seen_sent && atomic_load(&shared->taken) == channel->seen_taken;
}

static void ended(struct micro_channel *channel)
{
    if (filled(channel) && !(channel->flags & CHANNEL_SEND_ENDED))
        return;
    if (channel->flags & CHANNEL_CLOSING) {
        micro_channel_close(channel);
    } else if (!(channel->flags & CHANNEL_SEND_ENDED)) {
        (void)weir_socket_shutdown(weir_of(channel), channel->socket, WEIR_SHUT_WRITE);
        end_sending(channel, WEIR_SHUT_DOWN);
    }
}

void micro_channel_turn(struct micro_channel *channel)
{
    const bool stream = channel->type == WEIR_STREAM;
    channel->seen_sent = atomic_load(&micro_channel_window(channel)->sent);
    channel->seen_taken = atomic_load(&micro_channel_window(channel)->taken);
    if (channel->flags & (CHANNEL_LISTENS | CHANNEL_CONNECTING))
        micro_channel_look(channel);
    if (channel->flags & CHANNEL_CONNECTED) {
        if (!stream)
            take_error(channel);
        if (!(channel->flags & CHANNEL_SEND_ENDED))
            (stream ? send_stream : send_datagrams)(channel);
        if (!(channel->flags & (CHANNEL_READ_ENDED | CHANNEL_CLOSING)))
            (stream ? receive_stream : receive_datagrams)(channel);
    }
    if (channel->flags & (CHANNEL_SHUT | CHANNEL_CLOSING))
        ended(channel);
    if (channel->socket)
        notice(channel);
}
