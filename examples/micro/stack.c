// SPDX-License-Identifier: BSD-2-Clause
// The server's process: the whole stack.
#include "boards/board.h"
#include "boards/memory_mac/memory.h"
#include "processes.h"

PROCESS_STACK_BYTES(stack_stack, STACK_STACK_BYTES);
static struct micro_service service;
static uint64_t memory[MEMORY_BYTES / 8];

void stack_process(void)
{
    // Together as many sockets as the stack has (tools/micro.mk), so that neither can take what is the other's.
    static const struct micro_quota echo = {.sockets = ECHO_SOCKETS, .calls = WEIR_CFG_MICRO_CALLS},
                                    rogue = {.sockets = ROGUE_SOCKETS, .calls = WEIR_CFG_MICRO_CALLS};
    static const struct micro_service_client clients[] = {
        {PROCESS_ECHO, &link_echo_window, ECHO_CHANNELS, ECHO_RING, &echo},
        {PROCESS_ROGUE, &link_rogue_window, ROGUE_CHANNELS, ROGUE_RING, &rogue}};
    WEIR_STATIC_ASSERT(ECHO_SOCKETS + ROGUE_SOCKETS <= WEIR_CFG_SOCKETS, "the sockets of all clients");
    const struct micro_service_config config = {.driver = PROCESS_DRIVER,
                                                .frames = &link_frames,
                                                .clients = clients,
                                                .client_count = 2,
                                                .address = weir_ip4(BOARD_ADDRESS),
                                                .prefix_length = BOARD_PREFIX,
                                                .sum = memory_sum,
                                                .memory = memory,
                                                .memory_bytes = sizeof memory};
    micro_serve(&service, &config);
}
