// SPDX-License-Identifier: BSD-2-Clause
#include "tftp/tftp.h"

#include <string.h>

#include "bytes.h"
#include "service.h"
#include "text.h"

// --- what is sent ----------------------------------------------------------------------------------------------------

static void send_to(struct tftp *tftp, struct weir_endpoint to, const uint8_t *bytes, uint32_t length)
{
    const struct weir_message message = {.peer = to};
    const struct weir_slice slice = {bytes, length};
    // What cannot be sent now was lost: the timer sends it again.
    (void)weir_socket_send_message(tftp->loop->weir, tftp->socket, &message, &slice, 1);
}

static void send_ack(struct tftp *tftp)
{
    uint8_t bytes[TFTP_HEADER_BYTES] = {0, TFTP_ACK};
    put16(bytes + 2, (uint32_t)tftp->block & 0xffff);
    send_to(tftp, tftp->server, bytes, sizeof bytes);
    tftp->unacked = 0;
}

static void send_error(struct tftp *tftp, struct weir_endpoint to, uint8_t code)
{
    const uint8_t bytes[TFTP_HEADER_BYTES + 1] = {0, TFTP_ERROR, 0, code, '\0'};
    send_to(tftp, to, bytes, sizeof bytes);
}

static void send_request(struct tftp *tftp)
{
    uint8_t bytes[TFTP_REQUEST_MAX];
    const struct tftp_config *const config = &tftp->config;
    struct tftp_options options = {.has_size = !config->put || config->size != 0};
    options.size = config->put ? config->size : 0;
    if (tftp->plain)
        options = (struct tftp_options){0};
    else
        options.block_bytes = config->block_bytes, options.window = config->window;
    const uint32_t length = tftp_emit_request(bytes, config->put ? TFTP_WRQ : TFTP_RRQ, config->file, &options);
    send_to(tftp, config->server, bytes, length);
}

// --- the course of a transfer ----------------------------------------------------------------------------------------

static void wait_begin(struct tftp *tftp)
{
    tftp->tries = 0;
    tftp->due_us = weir_now_us(tftp->loop->weir) + TFTP_TIMEOUT_US;
}

// The socket stays for what is still to be sent, and for a server that did not hear the last acknowledgement.
static void end(struct tftp *tftp, int error)
{
    tftp->state = TFTP_LINGERING;
    tftp->due_us = weir_now_us(tftp->loop->weir) + (error == WEIR_OK ? TFTP_LINGER_US : TFTP_TIMEOUT_US);
    tftp->config.done(tftp, error, tftp->config.context);
}

// An error of ours, which the server is told.
static void fail(struct tftp *tftp, uint8_t code, int error)
{
    send_error(tftp, tftp->server, code);
    end(tftp, error);
}

// A request goes out from a port of its own: what answers an earlier one cannot be taken for an answer.
static int ask(struct tftp *tftp, bool plain)
{
    service_close(tftp->loop, &tftp->socket);
    tftp->plain = plain;
    tftp->state = TFTP_ASKING;
    tftp->server = (struct weir_endpoint){tftp->config.server.addr, 0};
    tftp->block_bytes = TFTP_BLOCK_DEFAULT;
    tftp->window = 1;
    tftp->socket = service_bind(tftp->loop, 0, &tftp->watch);
    if (tftp->socket < 0) {
        tftp->socket = 0;
        return WEIR_NO_MEMORY;
    }
    send_request(tftp);
    wait_begin(tftp);
    return WEIR_OK;
}

// Sends the window that follows what is acknowledged. false: the transfer has ended.
static bool send_window(struct tftp *tftp)
{
    const struct tftp_config *const config = &tftp->config;
    uint8_t *const block = config->block;
    tftp->unacked = 0;
    while (tftp->unacked < tftp->window && tftp->block + tftp->unacked < tftp->end) {
        const uint64_t number = tftp->block + tftp->unacked + 1;
        const int got = config->read(tftp, (number - 1) * tftp->block_bytes, block + TFTP_HEADER_BYTES,
                                     tftp->block_bytes, config->context);
        if (tftp->state != TFTP_PUTTING)
            return false;
        if (got < 0 || got > tftp->block_bytes) {
            fail(tftp, TFTP_CODE_OTHER, got < 0 ? got : WEIR_INVALID);
            return false;
        }
        put16(block, TFTP_DATA);
        put16(block + 2, (uint32_t)number & 0xffff);
        send_to(tftp, tftp->server, block, TFTP_HEADER_BYTES + (uint32_t)got);
        // A last block that is full would not be known as the last: an empty one follows.
        if (got < tftp->block_bytes)
            tftp->end = number;
        tftp->unacked++;
    }
    return true;
}

static void get_begin(struct tftp *tftp)
{
    tftp->state = TFTP_GETTING;
    wait_begin(tftp);
}

static void put_begin(struct tftp *tftp)
{
    tftp->state = TFTP_PUTTING;
    if (send_window(tftp))
        wait_begin(tftp);
}

// --- what comes in ---------------------------------------------------------------------------------------------------

// The server's answer to our options: none that was not asked, none greater than asked (RFC 2347, 2348, 7440).
static void oack_take(struct tftp *tftp, const struct tftp_options *options)
{
    const struct tftp_config *const config = &tftp->config;
    if (tftp->plain || options->block_bytes > config->block_bytes || options->window > config->window ||
        (options->has_size && config->put && (config->size == 0 || options->size != config->size))) {
        fail(tftp, TFTP_CODE_OPTION, WEIR_NOT_SUPPORTED);
        return;
    }
    tftp->block_bytes = options->block_bytes != 0 ? options->block_bytes : TFTP_BLOCK_DEFAULT;
    tftp->window = options->window != 0 ? options->window : 1;
    if (config->put) {
        put_begin(tftp);
        return;
    }
    if (config->size != 0 && options->has_size && options->size > config->size) {
        fail(tftp, TFTP_CODE_FULL, WEIR_TOO_BIG);
        return;
    }
    get_begin(tftp);
    send_ack(tftp);
}

// Data out of order. Of what came before only the end of a window is acknowledged again: our acknowledgement was lost.
// A gap is told once, until something comes in order (RFC 7440 §4).
static void misplaced_take(struct tftp *tftp, uint16_t number)
{
    const uint16_t behind = (uint16_t)(tftp->block - number);
    if (behind < 0x8000) {
        tftp->count.duplicates++;
        if (behind == 0 && tftp->unacked == 0)
            send_ack(tftp);
        return;
    }
    tftp->count.gaps++;
    if (!tftp->gap_told)
        send_ack(tftp);
    tftp->gap_told = true;
}

static void data_take(struct tftp *tftp, const struct tftp_packet *packet)
{
    const struct tftp_config *const config = &tftp->config;
    if (packet->length > tftp->block_bytes) {
        tftp->count.malformed++;
        return;
    }
    if (packet->number != ((tftp->block + 1) & 0xffff)) {
        misplaced_take(tftp, packet->number);
        return;
    }
    if (config->size != 0 && packet->length > config->size - tftp->bytes) {
        fail(tftp, TFTP_CODE_FULL, WEIR_TOO_BIG);
        return;
    }
    const int error = packet->length > 0 ? config->data(tftp, packet->data, packet->length, config->context) : WEIR_OK;
    if (tftp->state != TFTP_GETTING)
        return;  // stopped meanwhile
    if (error != WEIR_OK) {
        fail(tftp, TFTP_CODE_OTHER, error);
        return;
    }
    tftp->block++;
    tftp->bytes += packet->length;
    tftp->gap_told = false;
    wait_begin(tftp);
    const bool last = packet->length < tftp->block_bytes;
    if (++tftp->unacked >= tftp->window || last)
        send_ack(tftp);
    if (!last)
        return;
    tftp->end = tftp->block;
    end(tftp, WEIR_OK);
}

// Only an acknowledgement of something new sends anything: two of the same would make two of everything that follows
// (RFC 1123 §4.2.3.1).
static void ack_take(struct tftp *tftp, uint16_t number)
{
    const uint16_t news = (uint16_t)(number - tftp->block);
    if (news == 0 || news > tftp->unacked) {
        tftp->count.duplicates++;
        return;
    }
    tftp->block += news;
    if (tftp->block == tftp->end)
        end(tftp, WEIR_OK);
    else
        put_begin(tftp);
}

static void error_take(struct tftp *tftp, const struct tftp_packet *packet)
{
    if (tftp->state == TFTP_ASKING && packet->number == TFTP_CODE_OPTION && !tftp->plain) {
        if (ask(tftp, true) != WEIR_OK)
            end(tftp, WEIR_NO_MEMORY);
        return;
    }
    tftp->code = packet->number;
    tftp_error_text(packet, tftp->text);
    end(tftp, WEIR_REFUSED);
}

static void packet_take(struct tftp *tftp, const struct tftp_packet *packet)
{
    const bool put = tftp->config.put;
    switch (packet->opcode) {
    case TFTP_ERROR: error_take(tftp, packet); break;
    case TFTP_OACK:
        if (tftp->state == TFTP_ASKING)
            oack_take(tftp, &packet->options);
        else if (!put && tftp->block == 0)
            send_ack(tftp);  // it did not hear the first one
        break;
    case TFTP_DATA:
        if (put)
            break;
        if (tftp->state == TFTP_ASKING)
            get_begin(tftp);  // without options
        data_take(tftp, packet);
        break;
    default:
        if (!put)
            break;
        if (tftp->state == TFTP_ASKING && packet->number == 0)
            put_begin(tftp);
        else if (tftp->state == TFTP_PUTTING)
            ack_take(tftp, packet->number);
    }
}

// Whether the packet comes from whom we talk to. The first answer tells the server's port.
static bool from_server(struct tftp *tftp, const struct weir_message *message, const struct tftp_packet *packet)
{
    if (weir_addr_equal(message->peer.addr, tftp->server.addr) &&
        (message->peer.port == tftp->server.port || tftp->server.port == 0)) {
        tftp->server.port = message->peer.port;
        return true;
    }
    // An error is not answered, and a flood not for long.
    if (packet->opcode != TFTP_ERROR && service_may_answer(message) && tftp->strangers < TFTP_STRANGERS) {
        tftp->strangers++;
        send_error(tftp, message->peer, TFTP_CODE_UNKNOWN_PORT);
    }
    return false;
}

// The file is here, but the server may not know: its last block comes again.
static void linger_take(struct tftp *tftp, const struct tftp_packet *packet)
{
    if (packet->opcode == TFTP_DATA && tftp->block == tftp->end && packet->number == (tftp->end & 0xffff))
        send_ack(tftp);
}

static void tftp_event(struct weir_watch *watch, weir_socket socket, uint32_t events)
{
    struct tftp *tftp = (struct tftp *)(void *)((char *)watch - offsetof(struct tftp, watch));
    struct weir *weir = tftp->loop->weir;
    struct weir_message message;
    struct weir_slice slice;
    struct tftp_packet packet;
    (void)events;
    while (tftp->socket == socket && service_peek(tftp->loop, socket, &message, &slice, NULL)) {
        if (!tftp_parse(slice.data, slice.length, &packet))
            tftp->count.malformed++;
        else if (!from_server(tftp, &message, &packet))
            tftp->count.foreign++;
        else if (tftp->state == TFTP_LINGERING)
            linger_take(tftp, &packet);
        else
            packet_take(tftp, &packet);
        (void)weir_socket_discard(weir, socket);  // WEIR_BAD_SOCKET when it is not ours any more
    }
}

// --- time ------------------------------------------------------------------------------------------------------------

static void again(struct tftp *tftp, uint64_t now_us)
{
    tftp->count.timeouts++;
    if (++tftp->tries >= TFTP_TRIES) {
        end(tftp, WEIR_TIMED_OUT);
        return;
    }
    tftp->due_us = now_us + ((uint64_t)TFTP_TIMEOUT_US << tftp->tries);
    tftp->gap_told = false;
    if (tftp->state == TFTP_ASKING)
        send_request(tftp);
    else if (tftp->state == TFTP_GETTING)
        send_ack(tftp);
    else
        (void)send_window(tftp);
}

static uint64_t tftp_poll(struct app *app, uint64_t now_us)
{
    struct tftp *tftp = (struct tftp *)app;
    if (now_us >= tftp->due_us) {
        if (tftp->state == TFTP_LINGERING)
            tftp_stop(tftp);
        else
            again(tftp, now_us);
    }
    return tftp->state == TFTP_STOPPED ? WEIR_NEVER : tftp->due_us;
}

int tftp_start(struct tftp *tftp, struct loop *loop, const struct tftp_config *config)
{
    const uint32_t name = config->file != NULL ? text_length(config->file) : 0;
    const struct weir_addr addr = config->server.addr;
    if (name == 0 || name > TFTP_NAME_MAX || config->done == NULL || weir_addr_is_any(addr) ||
        weir_addr_is_multicast(addr) || weir_addr_is_broadcast(addr))
        return WEIR_INVALID;
    if (config->block_bytes != 0 && (config->block_bytes < TFTP_BLOCK_MIN || config->block_bytes > TFTP_BLOCK_MAX))
        return WEIR_INVALID;
    if (config->window > TFTP_WINDOW_MAX)
        return WEIR_INVALID;
    if (config->put ? config->read == NULL || config->block == NULL : config->data == NULL)
        return WEIR_INVALID;
    *tftp = (struct tftp){
        .app = {.poll = tftp_poll}, .watch = {tftp_event}, .loop = loop, .config = *config, .end = UINT64_MAX};
    if (config->server.port == 0)
        tftp->config.server.port = TFTP_PORT;
    if (ask(tftp, false) != WEIR_OK)
        return WEIR_NO_MEMORY;
    loop_add(loop, &tftp->app);
    return WEIR_OK;
}

void tftp_stop(struct tftp *tftp)
{
    if (tftp->state == TFTP_STOPPED)
        return;
    tftp->state = TFTP_STOPPED;
    loop_remove(tftp->loop, &tftp->app);
    service_close(tftp->loop, &tftp->socket);
}
