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
    const struct micro_service_config config = {.driver = PROCESS_DRIVER,
                                                .frames = &link_frames,
                                                .clients = stack_clients,
                                                .client_count = stack_client_count,
                                                .address = weir_ip4(BOARD_ADDRESS),
                                                .prefix_length = BOARD_PREFIX,
                                                .gateway = weir_ip4(BOARD_GATEWAY),
                                                .sum = memory_sum,
                                                .memory = memory,
                                                .memory_bytes = sizeof memory};
    micro_serve(&service, &config);
}
