// SPDX-License-Identifier: BSD-2-Clause
// The checksum over a payload, of anything, in memory that ends with it: at each length up to 128, so that each of the
// loop's ways out is met, and at that of a full segment; and over pieces, cut anywhere, from and to anywhere.
#include "frames.h"

#include "base/checksum.h"

#define SHORT 128u
#define FULL 1460u
#define CUT 6u
static uint8_t from[FULL], to[FULL];

static void payload(uint32_t length)
{
    const uint8_t *const data = from + FULL - length;
    uint8_t *const copy = to + FULL - length;
    checksum_sum_portable(data, length);
    checksum_copy_sum_portable(copy, data, length);
}

static void pieces(const struct weir_port *port)
{
    for (uint32_t cut = 0; cut <= CUT; cut++) {
        const struct weir_slice slices[2] = {{from + FULL - cut, cut}, {to + FULL + cut - CUT, CUT - cut}};
        for (uint32_t offset = 0; offset <= CUT; offset++)
            for (uint32_t length = 0; length <= CUT; length++)
                checksum_slices(port, slices, 2, offset, length);
    }
}

int main(void)
{
    static const struct weir_port port;  // without routines of its own
    ANY(from);
    ANY(to);
    for (uint32_t length = 0; length <= SHORT; length++)
        payload(length);
    payload(FULL);
    pieces(&port);
    return 0;
}
