// SPDX-License-Identifier: BSD-2-Clause
// The server's link: where it comes from, what is wrapped around it, and its addresses.
#ifndef RUN_LINK_H
#define RUN_LINK_H

#include "dhcp/client.h"
#include "drivers/af_packet.h"
#include "drivers/af_xdp.h"
#include "drivers/tap.h"
#include "drivers/wrap/impair.h"
#include "drivers/wrap/pcap.h"
#include "run/options.h"
#include "run/server.h"

struct run_network {
    const struct run_options *options;
    struct run_server *server;
    struct weir_netif device;
    union {
        struct tap tap;
        struct af_packet packet;
        struct af_xdp xdp;
    } link;
    enum run_link driver;  // what is open: TAP, PACKET or XDP
    bool open, impaired, captured, added, leased;
    struct impair impair;
    struct pcap_file pcap_file;
    struct pcap_listener pcap;
    struct dhcp dhcp;
};

// Makes the link, in a namespace of its own where none was given. false: it was said what is wrong.
bool run_network_open(struct run_network *network, struct run_server *server, const struct run_options *options);
// Whether it has an address that programs can use.
bool run_network_ready(const struct run_network *network);
void run_network_farewell(struct run_network *network);  // gives a lease back
void run_network_stop(struct run_network *network);      // before run_server_close
void run_network_close(struct run_network *network);     // after it

#endif
