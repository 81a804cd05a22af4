// SPDX-License-Identifier: BSD-2-Clause
// A driver's process: weir-driver SOCKET INTERFACE. A TAP device where there is one of that name or one can be made,
// else a packet socket on the interface (--packet). Ends with the server.
#include <stdio.h>
#include <string.h>

#include "drivers/af_packet.h"
#include "drivers/tap.h"
#include "ports/micro/host.h"

int main(int argc, char **argv)
{
    static struct tap tap;
    static struct af_packet packet;
    static struct weir_netif netif;
    struct micro_host host;
    const bool by_packet = argc == 4 && strcmp(argv[3], "--packet") == 0;
    if (argc != 3 && !by_packet) {
        fprintf(stderr, "weir-driver SOCKET INTERFACE [--packet]\n");
        return 2;
    }
    // Without offloads: a slot holds one frame.
    if (by_packet ? af_packet_open(&packet, argv[2], AF_PACKET_NO_VNET | AF_PACKET_UP) < 0
                  : tap_open(&tap, argv[2], TAP_NO_VNET | TAP_UP) < 0) {
        fprintf(stderr, "%s\n", by_packet ? af_packet_error(&packet) : tap_error(&tap));
        return 1;
    }
    if (by_packet)
        af_packet_attach(&packet, &netif, "eth0");
    else
        tap_attach(&tap, &netif, "eth0");
    const int result = micro_host_drive(&host, argv[1], &netif, by_packet ? af_packet_fd(&packet) : tap_fd(&tap));
    fprintf(stderr, "weir-driver: %s\n",
            result == WEIR_CLOSED ? "the server has gone" : "the server refuses: is it there, and without a driver?");
    return result == WEIR_CLOSED ? 0 : 1;
}
