// SPDX-License-Identifier: BSD-2-Clause
#include "client_weir.h"

#include <string.h>

#include "weir/instance.h"

int client_poll(struct weir_netif *netif, int budget)
{
    const uint32_t began = echo_client_clock();
    (void)budget;
    if (!echo_client_waits())
        return 0;
    struct weir_slice slice = {0};
    slice.length = echo_client_next(&slice.data);
    const struct weir_frame lent = {.slices = &slice, .length = slice.length, .count = 1};
    echo_client_own(began);
    weir_input(netif, &lent);
    return 1;
}

enum weir_tx_verdict client_tx(struct weir_netif *netif, const struct weir_tx *tx)
{
    const uint32_t began = echo_client_clock();
    uint8_t *frame = echo_client_room(tx->length);
    uint32_t length = 0;
    (void)netif;
    for (uint32_t i = 0; i < tx->count; length += tx->slices[i++].length)
        memcpy(frame + length, tx->slices[i].data, tx->slices[i].length);
    echo_client_take(length, began);
    return WEIR_TX_DONE;
}
