// SPDX-License-Identifier: BSD-2-Clause
// A player of real-time streams on a board, without a kernel: waits at port 5004 for a source of frames of 160 bytes
// every 20 ms (8 kHz, G.711) and shows its deadlines on the console: each second how many milliseconds before its own
// each frame was there (negative: late; -: it was passed over) and how many were in time so far; and that once more at
// the end. Then it waits for the next one. At port 5005, another, of 2 KB every 250 ms. tools/plot_deadlines.py makes a
// plot of what the console showed.
#include "boards/apps_board.h"
#include "boards/board.h"
#include "rtstream/player.h"
#include "text.h"

struct channel {
    const char *name;
    struct rtstream_options options;
    uint16_t port;
    bool over;  // the stream is
    struct rtstream_player player;
    struct text spare;  // this second's frames
    char line[400];
};

static struct apps_board board;
static uint64_t memory[MEMORY_BYTES / 8];
static struct channel channels[] = {
    {.name = "voice",
     .port = 5004,
     .options = {.frame_bytes = 160, .period_us = 20000, .within_us = 60000, .buffer_bytes = 4096}},
    {.name = "video",
     .port = 5005,
     .options = {.frame_bytes = 2048, .period_us = 250000, .within_us = 250000, .buffer_bytes = 8192}},
};

static void say(const struct channel *channel, const char *what)
{
    static const char *const names[] = {" in time, ", " late, ", " skipped"};
    char line[120];
    struct text text;
    text_init(&text, line, sizeof line);
    text_put(&text, channel->name);
    text_put(&text, what);
    for (int i = RTSTREAM_MET; i <= RTSTREAM_SKIPPED; i++) {
        text_u64(&text, channel->player.counts[i]);
        text_put(&text, names[i]);
    }
    text_char(&text, '\n');
    board_puts(line);
}

static void show(struct channel *channel)
{
    if (channel->spare.length) {
        text_char(&channel->spare, '\n');
        board_puts(channel->line);
    }
    text_init(&channel->spare, channel->line, sizeof channel->line);
}

static void told(void *context, const struct rtstream_frame *frame)
{
    struct channel *channel = context;
    if (!channel->spare.length) {
        text_put(&channel->spare, channel->name);
        text_put(&channel->spare, ", ms to spare from frame ");
        text_u64(&channel->spare, frame->number);
        text_char(&channel->spare, ':');
    }
    text_char(&channel->spare, ' ');
    if (frame->verdict == RTSTREAM_SKIPPED)
        text_char(&channel->spare, '-');
    else
        text_i64(&channel->spare, (int64_t)(frame->deadline_us - frame->now_us) / 1000);
    if ((frame->number + 1) * (uint64_t)channel->options.period_us % 1000000 == 0) {
        show(channel);
        say(channel, ": ");
    }
}

static void done(void *context, const char *error)
{
    struct channel *channel = context;
    show(channel);
    say(channel, error ? " broke: " : " ended: ");
    channel->over = true;
}

static void wait_for_source(struct channel *channel)
{
    const struct weir_endpoint here = {weir_addr_any(), channel->port};
    channel->over = false;
    text_init(&channel->spare, channel->line, sizeof channel->line);
    channel->player.told = told;
    channel->player.done = done;
    channel->player.context = channel;
    if (rtstream_player_start(&channel->player, &board.loop, &here, &channel->options))
        board_puts("weir: cannot listen\n");
}

int main(void)
{
    if (!apps_board_start(&board, memory, sizeof memory))
        return 1;
    for (unsigned i = 0; i < sizeof channels / sizeof channels[0]; i++)
        wait_for_source(&channels[i]);
    board_puts("weir: waiting for sources\n");
    for (;;) {
        for (unsigned i = 0; i < sizeof channels / sizeof channels[0]; i++)
            if (channels[i].over)
                wait_for_source(&channels[i]);
        const uint64_t due_us = apps_board_turn(&board);
        if (!channels[0].over && !channels[1].over)
            apps_board_sleep(&board, due_us);
    }
}
