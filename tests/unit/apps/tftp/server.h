// SPDX-License-Identifier: BSD-2-Clause
// A TFTP client, and a server whose part is played by the test, packet by packet.
#ifndef TESTS_TFTP_SERVER_H
#define TESTS_TFTP_SERVER_H

#include "apps/bench.h"

#include "tftp/tftp.h"

#define SECOND 1000000u
#define PLAY_FILE_MAX 4096u

struct play {
    struct bench b;
    struct tftp tftp;
    struct tftp_config config;
    weir_socket listens, speaks;  // port 69; the port of the transfer
    struct weir_endpoint client;
    uint8_t block[TFTP_HEADER_BYTES + 2048];
    uint8_t file[PLAY_FILE_MAX];  // what came, or is put
    uint32_t length;
    uint8_t packet[4096];  // the client's last, and how long
    uint32_t packet_length;
    uint32_t dones;
    int error, refuse;  // refuse: what `data` and `read` return
    bool stop;          // in `data`
};

static inline int play_data(struct tftp *tftp, const uint8_t *bytes, uint32_t length, void *context)
{
    struct play *play = context;
    if (play->stop) {
        tftp_stop(tftp);  // with which `bytes` go, too
        return WEIR_OK;
    }
    if (play->refuse != 0)
        return play->refuse;
    assert_true(length <= PLAY_FILE_MAX - play->length);
    memcpy(play->file + play->length, bytes, length);
    play->length += length;
    return WEIR_OK;
}

static inline int play_read(struct tftp *tftp, uint64_t offset, uint8_t *out, uint32_t room, void *context)
{
    struct play *play = context;
    (void)tftp;
    if (play->refuse != 0)
        return play->refuse;
    assert_true(offset <= play->length && room <= sizeof play->block - TFTP_HEADER_BYTES);
    const uint32_t left = play->length - (uint32_t)offset, bytes = left < room ? left : room;
    memcpy(out, play->file + offset, bytes);
    return (int)bytes;
}

static inline void play_done(struct tftp *tftp, int error, void *context)
{
    struct play *play = context;
    (void)tftp;
    play->dones++;
    play->error = error;
}

static inline weir_socket play_socket(struct play *play, uint16_t port)
{
    const struct weir_endpoint local = bench_here(port);
    const weir_socket socket = weir_socket_open(play->b.f.weir, WEIR_DATAGRAM, 0);
    assert_int_equal(weir_socket_bind(play->b.f.weir, socket, &local), WEIR_OK);
    return socket;
}

static inline void play_open(struct play *play)
{
    memset(play, 0, sizeof *play);
    bench_open(&play->b);
    play->listens = play_socket(play, TFTP_PORT);
    play->speaks = play_socket(play, 40000);
    play->config = (struct tftp_config){.server = bench_here(0),
                                        .file = "image",
                                        .data = play_data,
                                        .read = play_read,
                                        .block = play->block,
                                        .done = play_done,
                                        .context = play};
}

static inline void play_close(struct play *play)
{
    tftp_stop(&play->tftp);
    assert_int_equal(weir_socket_close(play->b.f.weir, play->listens), WEIR_OK);
    assert_int_equal(weir_socket_close(play->b.f.weir, play->speaks), WEIR_OK);
    bench_close(&play->b);
}

// Takes the client's next packet to a socket into `packet`. Returns its length; 0: there is none.
static inline uint32_t play_take(struct play *play, weir_socket socket)
{
    struct weir_message message;
    struct weir_slice slice;
    play->packet_length = 0;
    if (weir_socket_peek_message(play->b.f.weir, socket, &message, &slice) < 0)
        return 0;
    assert_true(slice.length >= 2 && slice.length <= sizeof play->packet);
    memcpy(play->packet, slice.data, slice.length);
    play->packet_length = slice.length;
    play->client = message.peer;
    assert_int_equal(weir_socket_discard(play->b.f.weir, socket), WEIR_OK);
    return play->packet_length;
}

// Starts the client, and takes its request.
static inline void play_start(struct play *play)
{
    assert_int_equal(tftp_start(&play->tftp, &play->b.loop, &play->config), WEIR_OK);
    bench_run(&play->b, 1000);
    assert_true(play_take(play, play->listens) > 0);
}

static inline void play_send(struct play *play, weir_socket from, const void *bytes, uint32_t length)
{
    const struct weir_message message = {.peer = play->client};
    const struct weir_slice slice = {bytes, length};
    assert_int_equal(weir_socket_send_message(play->b.f.weir, from, &message, &slice, 1), length);
    bench_run(&play->b, 1000);
}

// A block of `length` bytes, all of which are its number.
static inline void play_block(struct play *play, uint32_t number, uint32_t length)
{
    uint8_t bytes[TFTP_HEADER_BYTES + 2048] = {0, TFTP_DATA};
    put16(bytes + 2, number & 0xffff);
    memset(bytes + TFTP_HEADER_BYTES, (int)(number & 0xff), length);
    play_send(play, play->speaks, bytes, TFTP_HEADER_BYTES + length);
}

static inline void play_number(struct play *play, uint8_t opcode, uint32_t number)
{
    uint8_t bytes[TFTP_HEADER_BYTES + 1] = {0, opcode};
    put16(bytes + 2, number & 0xffff);
    play_send(play, play->speaks, bytes, opcode == TFTP_ERROR ? 5 : 4);
}

#endif
