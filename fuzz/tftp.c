// SPDX-License-Identifier: BSD-2-Clause
// The TFTP client: what a server sends. The first byte chooses get or put, and what is asked for; each packet stands
// behind an octet of its length, the highest bit of which lets time pass.
#include "apps/tftp/server.h"
#include "fuzz.h"

static struct play play;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bytes in = {data, (uint32_t)size};
    const uint8_t how = take8(&in);
    play_open(&play);
    play.config.put = how & 1;
    play.config.block_bytes = how & 2 ? 64 : 0;
    play.config.window = how & 4 ? 4 : 0;
    play.config.size = PLAY_FILE_MAX;
    play.length = play.config.put ? PLAY_FILE_MAX : 0;
    play_start(&play);
    while (in.left > 0 && play.tftp.state != TFTP_STOPPED) {
        const uint8_t first = take8(&in);
        uint32_t length = first & 0x7f;
        const uint8_t *packet = take(&in, &length);
        if (length > 0)
            play_send(&play, play.speaks, packet, length);
        if (first & 0x80)
            bench_run(&play.b, 2 * SECOND);
        CHECK(play.dones <= 1 && play.tftp.block_bytes >= TFTP_BLOCK_MIN && play.tftp.unacked <= play.tftp.window);
        CHECK(play.length <= PLAY_FILE_MAX && memchr(play.tftp.text, 0, sizeof play.tftp.text) != NULL);
        while (play_take(&play, play.listens) > 0 || play_take(&play, play.speaks) > 0)
            continue;
    }
    play_close(&play);
    return 0;
}
