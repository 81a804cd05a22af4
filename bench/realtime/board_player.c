// SPDX-License-Identifier: BSD-2-Clause
// The benchmark's player on a board, profile small, over no kernel: connects to the source at 10.0.0.250, reads a frame
// of 2 KB at each beat of 250 ms, as realtime_sim.c's player does, and says at the end how many were there, as a line
// of JSON. The mode comes from the command line that QEMU gives by semihosting: -semihosting-config
// enable=on,arg=player,arg=MODE,arg=FRAMES
#include "boards/board.h"
#include "boards/start.h"
#include "superloop/superloop.h"
#include "text.h"
#include "weir/realtime.h"
#include "weir/socket.h"

#define SOURCE_ADDRESS 10, 0, 0, 250
#define SOURCE_PORT 5000u
#define FRAME 2048u
#define PERIOD_US 250000u
#define BUFFER 4096
#define SEGMENT 1024u
#define SAY_EVERY 20u  // beats

static struct player {
    struct superloop loop;
    struct weir *weir;
    struct weir_netif netif;
    struct weir_watch watch;
    weir_socket socket;
    enum weir_realtime_mode mode;
    uint32_t beats, beat, in_time, got, wrong;
    uint64_t first_us, latest_us;  // how late this board itself was at a beat, at most
    bool playing, over;
    const char *error;
} player;
static uint64_t memory[MEMORY_BYTES / 8];
static uint8_t frame[FRAME];

// --- semihosting (Semihosting for AArch32 and AArch64, Arm IHI 0102)
// ----------------------------------------------------------------------

static int semihost(int operation, void *block)
{
    register int r0 __asm__("r0") = operation;
    register void *r1 __asm__("r1") = block;
    __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
    return r0;
}

#define SYS_GET_CMDLINE 0x15
#define SYS_EXIT 0x18
#define APPLICATION_EXIT ((void *)0x20026)

static bool same(const char *word, uint32_t length, const char *name)
{
    while (length && *word == *name)
        word++, name++, length--;
    return !length && !*name;
}

// The words behind the program's name: a mode, and how many frames. false: there are none such.
static bool settings_read(struct player *p)
{
    static const char *const modes[] = {"regular", "regular_update", "skip", "skip_update", "weir"};
    static char line[80];
    struct {
        char *text;
        int bytes;
    } block = {line, sizeof line};
    if (semihost(SYS_GET_CMDLINE, &block) != 0)
        return false;
    char *at = line;
    while (*at && *at != ' ')
        at++;
    char *const word = *at ? ++at : at;
    while (*at && *at != ' ')
        at++;
    for (unsigned i = 0; i < sizeof modes / sizeof modes[0]; i++)
        if (same(word, (uint32_t)(at - word), modes[i]))
            p->mode = (enum weir_realtime_mode)(WEIR_REALTIME_REGULAR + i);
    for (at += *at == ' '; *at >= '0' && *at <= '9'; at++)
        p->beats = p->beats * 10 + (uint32_t)(*at - '0');
    return p->mode != WEIR_REALTIME_OFF && p->beats;
}

// --- the player
// ---------------------------------------------------------------------------------------------------------------------

static void number(struct text *text, const char *name, uint64_t value)
{
    text_put(text, ", \"");
    text_put(text, name);
    text_put(text, "\": ");
    text_u64(text, value);
}

static void say(struct player *p, const char *what)
{
    struct weir_realtime_stats stats = {0};
    char line[500];
    struct text text;
    (void)weir_realtime_stats(p->weir, p->socket, &stats);
    text_init(&text, line, sizeof line);
    text_put(&text, what);
    text_put(&text, "{\"beats\": ");
    text_u64(&text, p->beat);
    number(&text, "in_time", p->in_time);
    number(&text, "got", p->got);
    number(&text, "wrong", p->wrong);
    number(&text, "late_beat_us", p->latest_us);
    number(&text, "met", stats.met);
    number(&text, "late", stats.late);
    number(&text, "skipped", stats.skipped);
    number(&text, "backtracked", stats.backtracked);
    number(&text, "acks", stats.acks);
    number(&text, "round_trip_us", stats.round_trip_us);
    number(&text, "loss_ppm", stats.loss_ppm);
    text_put(&text, "}\n");
    board_puts(line);
}

// The file's byte at a place, as the sender makes it (xinu.c).
static uint8_t pattern(uint32_t at) { return (uint8_t)(at * 31 + (at >> 8) * 7 + (at >> 16)); }

static void check_frame(struct player *p, const struct weir_realtime_frame *about)
{
    const uint32_t start = about->number * FRAME;
    for (uint32_t i = 0; i < about->bytes; i++)
        if (frame[i] != pattern(start + i)) {
            p->wrong++;
            return;
        }
}

static void begin(struct player *p)
{
    p->first_us = board_now_us() + PERIOD_US;
    const struct weir_realtime settings = {
        .mode = p->mode, .frame_bytes = FRAME, .period_us = PERIOD_US, .first_us = p->first_us, .stored = true};
    weir_clock(p->weir, board_now_us());
    p->playing = weir_realtime_set(p->weir, p->socket, &settings) == WEIR_OK;
    p->error = p->playing ? NULL : "no such mode";
    p->over = !p->playing;
}

static void event(struct weir_watch *watch, weir_socket socket, uint32_t events)
{
    int32_t error = 0;
    (void)watch;
    if (player.playing || player.over)
        return;
    (void)weir_socket_get(player.weir, socket, WEIR_OPTION_ERROR, &error);
    if (error) {
        player.error = weir_error_name(error);
        player.over = true;
    } else if (events & WEIR_WRITABLE) {
        begin(&player);
    }
}

static uint64_t beat_us(const struct player *p) { return p->first_us + (uint64_t)p->beat * PERIOD_US; }

// A frame each period: the next one there is. A beat that this board comes to late is played all the same: what arrived
// meanwhile was let in first, so the frame counts as it would have by the stack's own clock.
static void beat(struct player *p)
{
    struct weir_realtime_frame about;
    const uint64_t now_us = board_now_us(), late_us = now_us - beat_us(p);
    p->latest_us = late_us > p->latest_us ? late_us : p->latest_us;
    weir_clock(p->weir, now_us);
    if (weir_realtime_read(p->weir, p->socket, frame, sizeof frame, &about) > 0) {
        check_frame(p, &about);
        p->got++;
        p->in_time += !about.late;
    }
    p->over = ++p->beat == p->beats;
    if (p->beat % SAY_EVERY == 0 && !p->over)
        say(p, "playing: ");
}

static bool connect_source(struct player *p)
{
    const struct weir_realtime before = {.mode = p->mode, .frame_bytes = FRAME, .segment_bytes = SEGMENT};
    const struct weir_endpoint source = {weir_ip4(SOURCE_ADDRESS), SOURCE_PORT};
    superloop_init(&p->loop, &board_port, board_sleep);
    board_ethernet(&p->netif, &p->loop.awake);
    p->weir = board_start(&p->loop.core, &p->netif, memory, sizeof memory);
    if (!p->weir)
        return false;
    p->watch.event = event;
    p->socket = weir_socket_open(p->weir, WEIR_STREAM, 0);
    return p->socket > 0 && weir_socket_set(p->weir, p->socket, WEIR_OPTION_RECEIVE_BUFFER, BUFFER) == WEIR_OK &&
           weir_socket_set_user(p->weir, p->socket, &p->watch) == WEIR_OK &&
           weir_realtime_set(p->weir, p->socket, &before) == WEIR_OK &&
           weir_socket_connect(p->weir, p->socket, &source) == WEIR_IN_PROGRESS;
}

int main(void)
{
    struct player *const p = &player;
    board_init();
    if (!settings_read(p))
        p->error = "no settings";
    else if (!connect_source(p))
        p->error = "cannot connect";
    while (!p->error && !p->over) {
        uint64_t due_us = superloop_turn(&p->loop);
        if (p->playing && beat_us(p) <= board_now_us()) {
            beat(p);
            continue;
        }
        due_us = p->playing && beat_us(p) < due_us ? beat_us(p) : due_us;
        board_sleep(due_us, &p->loop.awake);
    }
    if (p->error) {
        board_puts("player: ");
        board_puts(p->error);
        board_puts("\n");
    } else {
        say(p, "played: ");
    }
    semihost(SYS_EXIT, APPLICATION_EXIT);
    for (;;)
        board_sleep(WEIR_NEVER, &p->loop.awake);
}
