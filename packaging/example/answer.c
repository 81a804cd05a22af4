// SPDX-License-Identifier: BSD-2-Clause
// The least program with an instance and a driver: it asks itself by ARP for its address and looks whether the answer
// leaves. Exit status 0: it does. It is C and C++, and compiles with the installed headers or the two files
// (-DTWO_FILES).
#ifdef TWO_FILES
#include "weir.h"
#else
#include <weir/instance.h>
#include <weir/netif.h>
#include <weir/version.h>
#endif
#include <string.h>

static const uint8_t request[60] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0, 0,  2, 0x08, 0x06,
                                    0,    1,    0x08, 0,    6,    4,    0, 1, 2, 0, 0,  0, 0,    2,
                                    10,   0,    0,    2,    0,    0,    0, 0, 0, 0, 10, 0, 0,    1};
static unsigned replies;

static enum weir_tx_verdict transmit(struct weir_netif *netif, const struct weir_tx *tx)
{
    (void)netif;
    const uint8_t *head = tx->slices[0].data;
    replies += tx->slices[0].length >= 42 && head[12] == 0x08 && head[13] == 0x06 && head[21] == 2;
    return WEIR_TX_DONE;
}

static void entropy(void *context, void *out, size_t bytes)
{
    (void)context;
    memset(out, 42, bytes);  // a real port has better
}

int main(void)
{
    static union {
        uint64_t aligned;
        unsigned char bytes[200000];
    } memory;
    static struct weir_port port;
    static struct weir_driver driver;
    static struct weir_netif netif;
    const struct weir_slice slice = {request, sizeof request};
    struct weir_frame frame;
    struct weir *weir;

    port.entropy = entropy;
    driver.tx = transmit;
    weir = weir_create(memory.bytes, sizeof memory, &port, NULL);
    if (!weir)
        return 2;
    weir_netif_init(&netif, "eth0", &driver, &weir_link_ethernet);
    netif.mac[0] = 2, netif.mac[5] = 1;
    if (weir_netif_add(weir, &netif) < 0 ||
        weir_netif_set_address(&netif, weir_ip4(10, 0, 0, 1), 24, WEIR_ADDRESS_AT_ONCE) < 0)
        return 3;
    memset(&frame, 0, sizeof frame);
    frame.slices = &slice;
    frame.length = slice.length;
    frame.count = 1;
    weir_clock(weir, 1000);
    weir_input(&netif, &frame);
    weir_poll(weir, 1000);
    weir_destroy(weir);
    return replies > 0 && !strcmp(weir_version(), WEIR_VERSION_STRING) ? 0 : 1;
}
