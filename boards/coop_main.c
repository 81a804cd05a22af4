// SPDX-License-Identifier: BSD-2-Clause
// A board's program made of tasks: romantiki_main is called by its main.
#include "boards/board.h"
#include "ports/coop/coop_port.h"
#include "api/romantiki/romantiki.h"

#ifndef MEMORY_BYTES
#define MEMORY_BYTES 8192  // of the instance, all its queues included
#endif

static uint64_t memory[(MEMORY_BYTES + 7) / 8];
static struct weir_netif netif;
static struct coop_task first;

static void entropy(void *context, void *out, size_t bytes)
{
    (void)context;
    board_entropy(out, bytes);
}

#if WEIR_CFG_IP4
static int board_address(struct weir_netif *interface)
{
    return weir_netif_set_address(interface, weir_ip4(BOARD_ADDRESS), BOARD_PREFIX, WEIR_ADDRESS_AT_ONCE);
}
#else
#if WEIR_CFG_COMPACT_ADDRESS
static int address_by_hand(struct weir_netif *interface)
{
    static const uint8_t address[16] = {BOARD_ADDRESS6};
    return weir_netif_set_address(interface, weir_addr_v6(address), 64, WEIR_ADDRESS_PROBE);
}
#else
static int address_by_hand(struct weir_netif *interface) { return (void)interface, WEIR_OK; }
#endif
// A product has a secret in flash, so that its addresses stay (weir_netif_ip6).
static int board_address(struct weir_netif *interface)
{
    const int error = weir_netif_ip6(interface, WEIR_IP6_AUTO, NULL);
    return error < 0 ? error : address_by_hand(interface);
}
#endif

#if WEIR_CFG_ALLOCATOR
static void *allocate(void *context, size_t bytes)
{
    (void)context;
    return board_alloc(bytes);
}
static void give_back(void *context, void *given, size_t bytes)
{
    (void)context, (void)bytes;
    board_free(given);
}
#define ALLOCATOR .alloc = allocate, .free = give_back
#else
#define ALLOCATOR .alloc = NULL
#endif

static const struct coop_board board = {{board_now_us, board_sleep}, {.entropy = entropy, ALLOCATOR}};

int romantiki_main(coop_function *function, uint8_t priority)
{
    board_init();
    struct weir *weir = coop_port_start(&board, memory, sizeof memory);
    if (!weir) {
        board_puts("weir: no memory\n");
        return 1;
    }
    board_ethernet(&netif, &coop.awake);
    if (weir_netif_add(weir, &netif) < 0 || !coop_port_add(&netif) || board_address(&netif) < 0) {
        board_puts("weir: no interface\n");
        return 1;
    }
    coop_task_start(&first, function, NULL, priority);
    board_puts("weir: tasks are running\n");
    coop_run();
}
