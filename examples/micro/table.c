// SPDX-License-Identifier: BSD-2-Clause
// Who runs on mps2-an385, and what each may touch.
#include <string.h>

#include "boards/board.h"
#include "processes.h"

#define ETHERNET_IRQ 13
#define MEMORY(name) \
    { \
        (uintptr_t) link_##name, BYTES_##name, REGION_DATA \
    }

// As in link.ld.
enum {
    BYTES_stack = 262144,
    BYTES_driver = 8192,
    BYTES_echo = 16384,
    BYTES_rogue = 4096,
    BYTES_idle = 256,
    BYTES_frames = 65536,
    BYTES_echo_window = 65536,
    BYTES_rogue_window = 8192
};
extern uint8_t link_stack[], link_driver[], link_echo[], link_rogue[], link_idle[], link_processes[],
    link_processes_end[];
_Static_assert(sizeof(struct frames) <= BYTES_frames, "the frames' memory");
_Static_assert(sizeof(struct window) + ECHO_CHANNELS * (sizeof(struct window_channel) + 2 * ECHO_RING) <=
                   BYTES_echo_window,
               "echo's window");
_Static_assert(sizeof(struct window) + ROGUE_CHANNELS * (sizeof(struct window_channel) + 2 * ROGUE_RING) <=
                   BYTES_rogue_window,
               "rogue's window");

#define SHARED(name) \
    { \
        (uintptr_t) & link_##name, BYTES_##name, REGION_DATA \
    }
#define STACK_END(name, bytes) name##_stack + (bytes) / 8

// The driver is more urgent than the stack, so that its FIFO does not run over; the stack is not more urgent than who
// uses it: they give each other work in batches, and a flood of frames leaves the applications their turns.
static const struct process_config processes[PROCESS_COUNT] = {
    [PROCESS_STACK] = {"stack",
                       stack_process,
                       STACK_END(stack, STACK_STACK_BYTES),
                       2,
                       PROCESS_STACK,
                       -1,
                       MICRO_BIT(PROCESS_DRIVER) | MICRO_BIT(PROCESS_ECHO) | MICRO_BIT(PROCESS_ROGUE),
                       {MEMORY(stack), SHARED(frames), SHARED(echo_window), SHARED(rogue_window)}},
    [PROCESS_DRIVER] = {"driver",
                        driver_process,
                        STACK_END(driver, DRIVER_STACK_BYTES),
                        3,
                        PROCESS_STACK,
                        ETHERNET_IRQ,
                        MICRO_BIT(PROCESS_STACK),
                        {MEMORY(driver), SHARED(frames), {0x40200000, 65536, REGION_DEVICE}}},
    [PROCESS_ECHO] = {"echo",
                      echo_process,
                      STACK_END(echo, ECHO_STACK_BYTES),
                      2,
                      PROCESS_STACK,
                      -1,
                      MICRO_BIT(PROCESS_STACK),
                      {MEMORY(echo), SHARED(echo_window)}},
    [PROCESS_ROGUE] = {"rogue",
                       rogue_process,
                       STACK_END(rogue, ROGUE_STACK_BYTES),
                       2,
                       PROCESS_STACK,
                       -1,
                       MICRO_BIT(PROCESS_STACK),
                       {MEMORY(rogue), SHARED(rogue_window)}},
    [PROCESS_IDLE] = {"idle", idle_process, STACK_END(idle, IDLE_STACK_BYTES), 0, PROCESS_IDLE, -1, 0, {MEMORY(idle)}},
};

uint64_t idle_stack[IDLE_STACK_BYTES / 8] __attribute__((section(".bss.idle")));
void idle_process(void)
{
    for (;;)
        __asm__ volatile("wfi");
}

static void print(const char *text, uint32_t bytes)
{
    for (; bytes; bytes--, text++)
        board_puts((const char[2]){*text, '\0'});
}

static uint32_t random_word(void)
{
    uint32_t word;
    board_entropy(&word, sizeof word);
    return word;
}

void board_timer(void) { micro_timer(); }
void board_interrupt(void) { micro_interrupt(ETHERNET_IRQ); }

int main(void)
{
    static const struct kernel_table table = {.processes = processes,
                                              .count = PROCESS_COUNT,
                                              .code = {0, 0x400000, REGION_DATA},
                                              .now_us = board_now_us,
                                              .alarm = board_alarm,
                                              .print = print,
                                              .random = random_word};
    board_init();
    memset(link_processes, 0, (size_t)(link_processes_end - link_processes));
    micro_run(&table);
}
