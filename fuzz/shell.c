// SPDX-License-Identifier: BSD-2-Clause
// The shell: what somebody types, in pieces behind an octet of their length, the highest bit of which lets a second
// pass.
#include "apps/bench.h"
#include "fuzz.h"
#include "shell/shell.h"

#define PORT 2323u
#define SECOND 1000000u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct bench b;
    static struct shell shell;
    static struct dns dns;
    static char got[65536];
    struct bytes in = {data, (uint32_t)size};
    bench_open(&b);
    dns_start(&dns, &b.loop);
    CHECK(shell_start(&shell, &b.loop, PORT, &dns) == WEIR_OK);
    const weir_socket peer = bench_connect(&b, PORT);
    while (in.left > 0) {
        const uint8_t first = take8(&in);
        uint32_t length = first & 0x7f;
        const uint8_t *const piece = take(&in, &length);
        if (length > 0 && weir_socket_write(b.f.weir, peer, piece, length) < 0)
            break;
        bench_run(&b, first & 0x80 ? SECOND : 1000);
        CHECK(shell.line_bytes < SHELL_LINE_BYTES && shell.ahead_bytes <= SHELL_AHEAD_BYTES);
        (void)bench_read(&b, peer, got, sizeof got, NULL);
    }
    (void)weir_socket_close(b.f.weir, peer);
    shell_stop(&shell);
    dns_stop(&dns);
    bench_close(&b);
    return 0;
}
