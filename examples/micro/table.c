// SPDX-License-Identifier: BSD-2-Clause
// Who runs on mps2-an385, and what each may touch.
#include "boot.h"
#include "processes.h"

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
extern uint8_t link_stack[], link_driver[], link_echo[], link_rogue[], link_idle[];
_Static_assert(sizeof(struct frames) <= BYTES_frames, "the frames' memory");
_Static_assert(sizeof(struct window) + ECHO_CHANNELS * (sizeof(struct window_channel) + 2 * ECHO_RING) <=
                   BYTES_echo_window,
               "echo's window");
_Static_assert(sizeof(struct window) + ROGUE_CHANNELS * (sizeof(struct window_channel) + 2 * ROGUE_RING) <=
                   BYTES_rogue_window,
               "rogue's window");

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
                        {MEMORY(driver), SHARED(frames), ETHERNET_REGION}},
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

// Together as many sockets as the stack has (tools/micro.mk), so that neither can take what is the other's.
static const struct micro_quota echo_quota = {.sockets = ECHO_SOCKETS, .calls = WEIR_CFG_MICRO_CALLS},
                                rogue_quota = {.sockets = ROGUE_SOCKETS, .calls = WEIR_CFG_MICRO_CALLS};
WEIR_STATIC_ASSERT(ECHO_SOCKETS + ROGUE_SOCKETS <= WEIR_CFG_SOCKETS, "the sockets of all clients");
const struct micro_service_client stack_clients[] = {
    {PROCESS_ECHO, &link_echo_window, ECHO_CHANNELS, ECHO_RING, &echo_quota},
    {PROCESS_ROGUE, &link_rogue_window, ROGUE_CHANNELS, ROGUE_RING, &rogue_quota}};
const uint32_t stack_client_count = 2;

const struct kernel_table kernel_table = KERNEL_TABLE(processes, PROCESS_COUNT);
