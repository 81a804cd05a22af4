// SPDX-License-Identifier: BSD-2-Clause
// Unicorn calls it before each instruction (UC_HOOK_CODE): how many there were is the machine's clock (clocks.py).
#include <stdint.h>

void count_instruction(void *machine, uint64_t address, uint32_t size, void *count)
{
    (void)machine;
    (void)address;
    (void)size;
    ++*(uint64_t *)count;
}
