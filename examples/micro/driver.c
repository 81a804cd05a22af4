// SPDX-License-Identifier: BSD-2-Clause
// The driver's process: the only one that reaches the LAN9118.
#include "drivers/lan9118.h"
#include "processes.h"
#include "weir/error.h"

#define ETHERNET 0x40200000u

PROCESS_STACK_BYTES(driver_stack, DRIVER_STACK_BYTES);
static struct lan9118 device;
static struct weir_netif netif;
static struct micro_relay relay;

static void silence(void) { lan9118_interrupt(&device); }

void driver_process(void)
{
    static const uint8_t mac[6] = {0x02, 0x57, 0x65, 0x69, 0x72, 0x02};
    static const uint32_t server = PROCESS_STACK;
    static const char none[] = "weir: no LAN9118\n";
    if (lan9118_open(&device, ETHERNET, mac) != WEIR_OK) {
        (void)micro_print(none, sizeof none - 1);
        micro_exit();
    }
    lan9118_attach(&device, &netif, "eth0");
    micro_drive(&relay, &netif, &link_frames, &server, silence);
}
