// SPDX-License-Identifier: BSD-2-Clause
// System calls and faults of processes on MIPS32. As on Cortex-M the exception cannot block: it lets the thread return,
// in kernel mode, not behind the syscall but into mips_privileged, with what it was before in a2; ra is still the
// caller's of arch_system_call. (Assembly apart from functions: this compiler has none without a frame.)
#include "kernel/preempt/arch.h"

#define STATUS_USER 0x10u
#define CODE_SYSTEM_CALL 8u
enum { FRAME_EPC = 0, FRAME_A2 = 6, FRAME_STATUS = 26 };

void *mips_process_exception(void *frame, uint32_t code);  // from the board's exception handler
void mips_privileged(void);

void *mips_process_exception(void *frame, uint32_t code)
{
    uint32_t *words = frame;
    const uint32_t user = words[FRAME_STATUS] & STATUS_USER;
    if (code != CODE_SYSTEM_CALL && !user)
        return NULL;
    words[FRAME_A2] = user;
    words[FRAME_STATUS] &= ~STATUS_USER;
    words[FRAME_EPC] =
        code == CODE_SYSTEM_CALL ? (uint32_t)(uintptr_t)mips_privileged : (uint32_t)(uintptr_t)process_fault;
    return frame;
}

// The way out of kernel mode is eret, if Status says so while the exception level is on: $6 has the bit, or not.
__asm__("    .text\n"
        "    .set push\n"
        "    .set noreorder\n"
        "    .globl mips_privileged\n"
        "mips_privileged:\n"
        "    addiu $29, $29, -24\n"
        "    sw    $31, 20($29)\n"
        "    sw    $6, 16($29)\n"
        "    jal   system_call\n"
        "    nop\n"
        "    lw    $6, 16($29)\n"
        "    lw    $31, 20($29)\n"
        "    addiu $29, $29, 24\n"
        "return_by_eret:\n"
        "    di\n"
        "    ehb\n"
        "    mtc0  $31, $14\n"
        "    mfc0  $8, $12\n"
        "    or    $8, $8, $6\n"
        "    ori   $8, $8, 3\n"
        "    mtc0  $8, $12\n"
        "    ehb\n"
        "    eret\n"
        "    .globl arch_drop_privileges\n"
        "arch_drop_privileges:\n"
        "    b     return_by_eret\n"
        "    li    $6, 0x10\n"
        "    .globl arch_system_call\n"
        "arch_system_call:\n"
        "    syscall\n"
        "    jr    $31\n"
        "    nop\n"
        "    .set pop\n");
