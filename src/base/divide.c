// SPDX-License-Identifier: BSD-2-Clause
#include "base/bytes.h"

// The upper half by the machine's own division; the rest bit by bit, 32 rounds.
uint64_t divide_u64(uint64_t dividend, uint32_t divisor)
{
    const uint32_t high = (uint32_t)(dividend >> 32) / divisor;
    uint32_t rest = (uint32_t)(dividend >> 32) % divisor, low = (uint32_t)dividend;
    for (uint32_t bit = 0; bit < 32; bit++) {
        const bool carry = rest >> 31;
        rest = rest << 1 | low >> 31;
        low <<= 1;
        if (carry || rest >= divisor) {
            rest -= divisor;
            low |= 1;
        }
    }
    return (uint64_t)high << 32 | low;
}
