// SPDX-License-Identifier: BSD-2-Clause
// A player of real-time streams to Embedded Xinu's calls, on ETH0 at BOARD_ADDRESS. Two TCP devices wait at port 5004,
// each with a thread. A source that connects says first what it will send, in five numbers of four bytes: the mode
// (enum weir_realtime_mode), a frame's bytes, the microseconds from one frame to the next, those until the first
// deadline, and how many frames. It is answered with one byte when the clock runs, and sends its frames, each of which
// begins with its number. At the end the console tells what became of them:
//
//     xinu: weir: 51 played, 9 told as missing, 0 missing untold, 0 out of order, 0 spoilt: the stream ended
//
// In the modes SKIP a read is the deadline itself, so that the program keeps the clock, as Xinu's player did; in the
// mode WEIR a read waits for its frame until the deadline.
#include "apps/text.h"
#include "boards/board.h"
#include "examples/xinu/boot.h"
#include "weir/realtime.h"

#include "api/xinu/xinu.h"

#define PORT 5004u
#define DEVICES 2
#define FRAME_BYTES_MAX 4096u
#define HEADER_NUMBERS 5

struct stream {
    int device;
    enum weir_realtime_mode mode;
    struct tcpRealtime settings;
    uint32_t frames;     // that the source has announced
    uint32_t next, gap;  // behind the frame that was played last; reads without a frame since
    uint32_t played, missing, untold, out_of_order, spoilt;
    unsigned char frame[FRAME_BYTES_MAX];
};

static struct stream streams[DEVICES];

static uint32_t number_at(const unsigned char *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

// The source's header, and the mode set as it says. What must not be lost is read before.
static bool begin(struct stream *stream)
{
    unsigned char header[4 * HEADER_NUMBERS];
    if (read(stream->device, header, sizeof header) != (int)sizeof header)
        return false;
    stream->mode = (enum weir_realtime_mode)number_at(header);
    stream->settings = (struct tcpRealtime){number_at(header + 4), number_at(header + 8), number_at(header + 12)};
    stream->frames = number_at(header + 16);
    stream->next = stream->gap = 0;
    stream->played = stream->missing = stream->untold = stream->out_of_order = stream->spoilt = 0;
    return stream->settings.frame_bytes <= FRAME_BYTES_MAX &&
           control(stream->device, TCP_CTRL_REALTIME, (intptr_t)stream->mode, (intptr_t)&stream->settings) == OK &&
           putc(stream->device, 'g') != SYSERR;
}

// A frame is what the source has made of its number. Those before it that were not played must have been told.
static void take(struct stream *stream)
{
    const uint32_t number = number_at(stream->frame);
    bool spoilt = number >= stream->frames;
    for (unsigned i = 4; i < stream->settings.frame_bytes; i++)
        spoilt |= stream->frame[i] != (unsigned char)(number * 31 + i * 7);
    stream->spoilt += spoilt;
    stream->out_of_order += number < stream->next;
    if (number > stream->next && number - stream->next > stream->gap)
        stream->untold += number - stream->next - stream->gap;
    stream->played++;
    stream->next = number + 1;
    stream->gap = 0;
}

// Whether the stream has ended. Of one whose end was acknowledged away with a frame that was never there nobody tells
// the reader in the modes SKIP (docs/realtime.md): then it is over when the last frame was played, or after twice as
// many reads as it has frames.
static bool play(struct stream *stream)
{
    const bool own_clock = stream->mode == WEIR_REALTIME_SKIP || stream->mode == WEIR_REALTIME_SKIP_UPDATE;
    if (own_clock)
        sleep_ms(stream->settings.first_us / 1000);
    for (uint32_t reads = 0; !own_clock || (reads < 2 * stream->frames && stream->next < stream->frames); reads++) {
        const int got = read(stream->device, stream->frame, sizeof stream->frame);
        if (got == SYSERR)
            return true;
        if (got > 0)
            take(stream);
        else
            stream->missing++, stream->gap++;
        if (own_clock)
            sleep_ms(stream->settings.period_us / 1000);
    }
    return stream->next == stream->frames;
}

static void tell(const struct stream *stream, bool ended)
{
    static const char *const modes[] = {"off", "regular", "regular, update", "skip", "skip, update", "weir"};
    const struct {
        uint32_t count;
        const char *what;
    } counts[] = {{stream->played, " played, "},
                  {stream->missing, " told as missing, "},
                  {stream->untold, " missing untold, "},
                  {stream->out_of_order, " out of order, "},
                  {stream->spoilt, " spoilt: "}};
    char line[160];
    struct text text;
    text_init(&text, line, sizeof line);
    text_put(&text, "xinu: ");
    text_put(&text, modes[stream->mode]);
    text_put(&text, ": ");
    for (unsigned i = 0; i < sizeof counts / sizeof *counts; i++) {
        text_u64(&text, counts[i].count);
        text_put(&text, counts[i].what);
    }
    text_put(&text, ended ? "the stream ended\n" : "the stream did not end\n");
    print(line);
}

static void player(int number)
{
    struct stream *stream = &streams[number];
    stream->device = tcpAlloc();
    for (;;) {
        if (open(stream->device, NULL, NULL, PORT, 0u, TCP_PASSIVE) == SYSERR)
            continue;
        if (begin(stream))
            tell(stream, play(stream));
        else
            print("xinu: no header, or settings that cannot be\n");
        (void)close(stream->device);
    }
}

void xinu_main(void)
{
    struct netaddr ip, mask;
    bool good =
        open(ETH0) == OK && netUp(ETH0, netaddr4(&ip, BOARD_ADDRESS), netaddr4(&mask, 255, 255, 255, 0), NULL) == OK;
    for (int i = 0; good && i < DEVICES; i++)
        good = start_thread(player, i);
    print(good ? "xinu: waiting for sources\n" : "xinu: no interface, or no memory\n");
}
