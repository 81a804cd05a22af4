// SPDX-License-Identifier: BSD-2-Clause
// The command line of weir-host.
#ifndef HOST_OPTIONS_H
#define HOST_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "weir/addr.h"

enum host_link { HOST_NONE, HOST_TAP, HOST_PACKET, HOST_TUN, HOST_XDP };

struct host_options {
    enum host_link link;
    const char *ifname;
    struct weir_addr address, gateway;  // any: not given
    uint8_t prefix_length;
    bool dhcp, autoip, no_offload;
    bool shell_tcpdump, http_pcap;
    bool ip6;                             // a link-local address, and what routers advertise
    unsigned ip6_how;                     // more of enum weir_ip6
    bool dhcp6;                           // an address by DHCPv6, whatever routers say
    struct weir_addr address6, gateway6;  // any: not given
    uint8_t prefix6_length;
    struct weir_addr dns[3];
    uint8_t dns_count;
    uint16_t shell_port;                                                   // 0: none
    uint16_t http_port;                                                    // 80
    uint16_t https_port;                                                   // 443
    const char *tls, *tls_trust;                                           // NULL: none
    const char *mdns;                                                      // NULL: no name
    uint32_t mtu;                                                          // 0: the device's
    const char *pcap;                                                      // NULL: none
    const char *trace;                                                     // NULL: none
    uint32_t loss_ppm, reorder_ppm, duplicate_ppm, corrupt_ppm, delay_us;  // each way
    uint64_t rate_bps;                                                     // each way; 0: not shaped
    uint64_t seed;
    const char *congestion;                // NULL: the default
    uint8_t ecn;                           // enum weir_ecn
    uint32_t send_buffer, receive_buffer;  // bytes of a stream's queues at most; 0: the default
    uint32_t tick_us;                      // of the instance's clock; 0: 1
    bool copy;                             // the iperf3 server reads by copying
    const char *run;                       // NULL: serve until interrupted
};

// 0: go on; 1: everything asked for was printed (--help); 2: wrong, and it was said what.
int host_options_parse(int argc, char **argv, struct host_options *options);
// "10", "2.5k", "1M", "3G" (decimal or binary multiples). false: not a number.
bool host_number(const char *text, uint64_t kilo, uint64_t *value);

#endif
