// SPDX-License-Identifier: BSD-2-Clause
// A source of real-time streams on a board, without a kernel: at port 5004 a tone, 160 bytes (8 kHz, 8 bits) every 20
// ms, of use for 60 ms; at port 5005 what a camera might send, 2 KB every 250 ms, of use for 500 ms. Each goes to one
// player for a minute, by Weir's sender that knows deadlines (docs/realtime.md); then, or when the player left, the
// next one is waited for.
#include "boards/apps_board.h"
#include "boards/board.h"
#include "rtstream/source.h"
#include "text.h"

struct channel {
    const char *name;
    struct rtstream_options options;
    uint16_t port;
    bool over;  // the player has all, or left
    bool (*media)(void *context, uint32_t number, uint8_t *frame, uint32_t length);
    struct rtstream_source source;
};

static struct apps_board board;
static uint64_t memory[MEMORY_BYTES / 8];

// 400 Hz: the samples of one period.
static bool tone(void *context, uint32_t number, uint8_t *frame, uint32_t length)
{
    static const uint8_t period[20] = {128, 170, 207, 235, 250, 250, 235, 207, 170, 128,
                                       86,  49,  21,  6,   6,   21,  49,  86,  107, 120};
    (void)context;
    for (uint32_t i = 0; i < length; i++)
        frame[i] = period[((uint64_t)number * length + i) % sizeof period];
    return true;
}

// Each frame begins with its number; what follows differs from frame to frame.
static bool picture(void *context, uint32_t number, uint8_t *frame, uint32_t length)
{
    (void)context;
    for (uint32_t i = 0; i < length; i++)
        frame[i] = (uint8_t)(i < 4 ? number >> (24 - 8 * i) : number * 31 + i * 7);
    return true;
}

static struct channel channels[] = {
    {.name = "voice",
     .port = 5004,
     .media = tone,
     .options = {.frame_bytes = 160, .period_us = 20000, .within_us = 60000, .frames = 3000}},
    {.name = "video",
     .port = 5005,
     .media = picture,
     .options = {.frame_bytes = 2048, .period_us = 250000, .within_us = 500000, .frames = 240}},
};

static void done(void *context, const char *error)
{
    struct channel *channel = context;
    char line[120];
    struct text text;
    text_init(&text, line, sizeof line);
    text_put(&text, channel->name);
    text_put(&text, error ? " broke off: " : " ended: ");
    text_u64(&text, channel->source.number);
    text_put(&text, " frames, ");
    text_u64(&text, channel->source.postponed);
    text_put(&text, " waited for room\n");
    board_puts(line);
    channel->over = true;
}

static void wait_for_player(struct channel *channel)
{
    const struct weir_endpoint here = {weir_addr_any(), channel->port};
    channel->over = false;
    channel->source.media = channel->media;
    channel->source.done = done;
    channel->source.context = channel;
    if (rtstream_source_start(&channel->source, &board.loop, &here, &channel->options, false))
        board_puts("weir: cannot listen\n");
}

int main(void)
{
    if (!apps_board_start(&board, memory, sizeof memory))
        return 1;
    for (unsigned i = 0; i < sizeof channels / sizeof channels[0]; i++)
        wait_for_player(&channels[i]);
    board_puts("weir: waiting for players\n");
    for (;;) {
        for (unsigned i = 0; i < sizeof channels / sizeof channels[0]; i++)
            if (channels[i].over)
                wait_for_player(&channels[i]);
        const uint64_t due_us = apps_board_turn(&board);
        if (!channels[0].over && !channels[1].over)
            apps_board_sleep(&board, due_us);
    }
}
