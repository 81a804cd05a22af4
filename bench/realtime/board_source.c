// SPDX-License-Identifier: BSD-2-Clause
// The benchmark's sender on a board: the modelled Embedded Xinu (xinu.h) on the board's Ethernet driver, without Weir.
// It is 10.0.0.250 and sends the work's file of 719 KB to the one who connects to port 5000.
#include <string.h>

#include "boards/board.h"
#include "weir/instance.h"
#include "xinu.h"

#define ADDRESS 0x0a0000fau
#define PORT 5000u
#define FILE_BYTES (719u * 1024)
#define FRAME_MOST 1600u
#define BATCH 8

static struct weir_netif netif;
static struct xinu xinu;
static volatile bool awake;

static uint64_t now_ns(void) { return board_now_us() * 1000; }

// The device is never full for so few frames; what it would not take is lost, as on a network.
static void sends(void *context, const uint8_t *frame, uint32_t length)
{
    const struct weir_slice slice = {frame, length};
    const struct weir_tx tx = {
        .slices = &slice, .count = 1, .length = length, .header_length = (uint16_t)(length < 54 ? length : 54)};
    (void)context;
    (void)netif.driver->tx(&netif, &tx);
}

static void hears(struct weir_netif *from, const struct weir_frame *frame)
{
    static uint8_t bytes[FRAME_MOST];
    uint32_t length = 0;
    (void)from;
    for (uint16_t i = 0; i < frame->count && length + frame->slices[i].length <= sizeof bytes; i++) {
        memcpy(bytes + length, frame->slices[i].data, frame->slices[i].length);
        length += frame->slices[i].length;
    }
    xinu_input(&xinu, now_ns(), bytes, length);
}

static void is_ready(struct weir_netif *from) { (void)from; }
static void is_complete(struct weir_netif *from, void *owner, uint32_t end)
{
    (void)from;
    (void)owner;
    (void)end;
}
static void carries(struct weir_netif *from, bool up)
{
    (void)from;
    (void)up;
}

static uint64_t turn(void)
{
    const uint64_t now_us = board_now_us(),
                   driver_us = netif.driver->timer ? netif.driver->timer(&netif, now_us) : WEIR_NEVER;
    const bool more = netif.driver->poll(&netif, BATCH) >= BATCH;
    xinu_poll(&xinu, now_ns());
    if (netif.driver->flush)
        netif.driver->flush(&netif);
    const uint64_t due_us = xinu_due_ns(&xinu) == XINU_NEVER ? WEIR_NEVER : xinu_due_ns(&xinu) / 1000 + 1;
    return more ? 0 : due_us < driver_us ? due_us : driver_us;
}

int main(void)
{
    static const struct weir_upper upper = {
        .input = hears, .ready = is_ready, .complete = is_complete, .carrier = carries};
    static const struct xinu_options options = {
        .bytes = FILE_BYTES, .mss = 1460, .persist_ms = 3000, .rto_least_ms = 200};
    uint32_t iss;
    board_init();
    board_entropy(&iss, sizeof iss);
    xinu_open(&xinu, ADDRESS, PORT, iss, &options, sends, NULL);
    board_ethernet(&netif, &awake);
    netif.upper = &upper;
    netif.flags |= WEIR_NETIF_UP | WEIR_NETIF_LINK;
    memcpy(xinu.mac, netif.mac, sizeof xinu.mac);
    board_puts("source: listening on port 5000\n");
    for (;;) {
        awake = false;  // before looking: what comes from now on is seen in the next turn
        const uint64_t due_us = turn();
        if (due_us > board_now_us())
            board_sleep(due_us, &awake);
    }
}
