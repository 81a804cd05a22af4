// SPDX-License-Identifier: BSD-2-Clause
// The command line of weir-run.
#ifndef RUN_OPTIONS_H
#define RUN_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "weir/addr.h"

enum run_link { RUN_LINK_OWN, RUN_LINK_TAP, RUN_LINK_PACKET, RUN_LINK_XDP, RUN_LINK_NONE };

struct run_options {
    enum run_link link;  // OWN: a namespace and a TAP of its own
    const char *ifname;
    struct weir_addr address, gateway, address6, gateway6;  // any: not given
    uint8_t prefix_length, prefix6_length;
    bool dhcp, ip6, no_offload, report;
    struct weir_addr dns[2];
    uint8_t dns_count;
    uint32_t mtu;
    const char *pcap, *congestion;
    const char *server, *join;  // files that name a server: to be made, and to be joined; NULL: neither
    uint16_t status_port;       // of the status page; 0: none
    uint32_t loss_ppm, delay_us;
    char **command;  // PROGRAM ARGS…; none for a server
};

// 0: go on; 1: everything asked for was printed; 2: wrong, and it was said what.
int run_options_parse(int argc, char **argv, struct run_options *options);

#endif
