// SPDX-License-Identifier: BSD-2-Clause
#include "boards/start.h"

#include "boards/board.h"

// What an image wants besides, as initialisers of weir_config (bench/metal/settings).
#ifdef BOARD_CONFIG
#define BOARD_CONFIGURED 1
#else
#define BOARD_CONFIG .sockets_max = 0
#define BOARD_CONFIGURED WEIR_CFG_ALLOCATOR
#endif

const struct port_board board_port = {
    .now_us = board_now_us,
    .granularity_us = 1,
    .entropy = board_entropy,
#if WEIR_CFG_ALLOCATOR
    .alloc = board_alloc,
    .free = board_free,
#endif
};

struct weir *board_start(struct port_core *core, struct weir_netif *netif, void *memory, size_t bytes)
{
    const struct weir_config config = {.memory_budget_bytes = memory ? 0 : bytes, BOARD_CONFIG};
    struct weir *weir = weir_create(memory, bytes, &core->port, BOARD_CONFIGURED ? &config : NULL);
    if (!weir)
        return NULL;
    port_attach(core, weir);
    const bool good = weir_netif_add(weir, netif) >= 0 && port_add(core, netif) &&
                      weir_netif_set_address(netif, weir_ip4(BOARD_ADDRESS), BOARD_PREFIX, WEIR_ADDRESS_AT_ONCE) >= 0;
    return good ? weir : NULL;
}
