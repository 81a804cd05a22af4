// SPDX-License-Identifier: BSD-2-Clause
#include "mac.h"

#include <string.h>

#include "lwip/pbuf.h"

#define MAC 0x40028000u
enum { LEN = 0, DATA = 4, SEND = 8 };

static volatile uint32_t *reg(uint32_t offset) { return (volatile uint32_t *)(uintptr_t)(MAC + offset); }

int8_t mac_start(struct netif *netif)
{
    (void)netif;
    return ERR_OK;
}

struct pbuf *mac_receive(void)
{
    const uint32_t length = *reg(LEN);
    struct pbuf *frame = length ? pbuf_alloc(PBUF_RAW, (u16_t)(ETH_PAD_SIZE + length), PBUF_POOL) : NULL;
    if (frame && frame->next) {  // longer than any segment here
        pbuf_free(frame);
        frame = NULL;
    }
    for (uint32_t at = 0; at < length; at += 4) {
        const uint32_t four = *reg(DATA);
        if (frame)
            memcpy((uint8_t *)frame->payload + ETH_PAD_SIZE + at, &four, length - at < 4 ? length - at : 4);
    }
    return frame;
}

int8_t mac_send(struct netif *netif, struct pbuf *frame)
{
    uint32_t four = 0, filled = 0, skip = ETH_PAD_SIZE;
    (void)netif;
    for (const struct pbuf *part = frame; part; part = part->next, skip = 0)
        for (uint32_t at = skip; at < part->len; at++) {
            four |= (uint32_t)((const uint8_t *)part->payload)[at] << 8 * (filled++ & 3);
            if (!(filled & 3)) {
                *reg(DATA) = four;
                four = 0;
            }
        }
    if (filled & 3)
        *reg(DATA) = four;
    *reg(SEND) = filled;
    return ERR_OK;
}
