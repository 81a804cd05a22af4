// SPDX-License-Identifier: BSD-2-Clause
// The echo client in place of the memory MAC. To find memory for a frame is the server's work, to put the frame there
// is the MAC's.
#include "../echo_client.h"
#include "../stack_paint.h"
#include "lwip/netif.h"
#include "lwip/pbuf.h"
#include "mac.h"

void echo_client_wake(void) {}

int8_t mac_start(struct netif *netif)
{
    echo_client_start(netif->hwaddr);
    stack_paint();
    return ERR_OK;
}

struct pbuf *mac_receive(void)
{
    const uint8_t *data;
    if (!echo_client_waits())
        return NULL;
    uint32_t began = echo_client_clock();
    const uint32_t length = echo_client_next(&data);
    echo_client_own(began);
    struct pbuf *frame = pbuf_alloc(PBUF_RAW, (u16_t)(ETH_PAD_SIZE + length), PBUF_POOL);
    began = echo_client_clock();
    if (frame)
        (void)pbuf_take_at(frame, data, (u16_t)length, ETH_PAD_SIZE);
    echo_client_own(began);
    return frame;
}

int8_t mac_send(struct netif *netif, struct pbuf *frame)
{
    const uint32_t began = echo_client_clock(), length = frame->tot_len - ETH_PAD_SIZE;
    (void)netif;
    (void)pbuf_copy_partial(frame, echo_client_room(length), (u16_t)length, ETH_PAD_SIZE);
    echo_client_take(length, began);
    return ERR_OK;
}
