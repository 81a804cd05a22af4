// SPDX-License-Identifier: BSD-2-Clause
// A Weir host on a link of this machine: instance, interface, wrappers, servers, resolver, DHCP client, and the command
// that --run asks for. One thread; all callbacks come from host_turn, with the instance's lock held.
#ifndef HOST_HOST_H
#define HOST_HOST_H

#include <signal.h>

#include "chargen.h"
#include "autoip/autoip.h"
#include "dhcp/client.h"
#include "dhcp6/client.h"
#include "discard.h"
#include "dns/both.h"
#include "drivers/af_packet.h"
#include "drivers/af_xdp.h"
#include "drivers/tap.h"
#include "drivers/tun.h"
#include "drivers/wrap/impair.h"
#include "drivers/wrap/pcap.h"
#include "drivers/wrap/shaper.h"
#include "drivers/wrap/trace.h"
#include "echo.h"
#include "host/options.h"
#include "status/capture.h"
#include "status/server.h"
#include "iperf3/client.h"
#include "iperf3/server.h"
#include "loop.h"
#include "mdns/query.h"
#include "capture.h"
#include "shell/shell.h"
#include "ports/posix/posix.h"

#define HOST_ECHO_CONNECTIONS 16384u  // tests hold ten thousand; memory's budget is what bounds them

struct host {
    const struct host_options *options;
    struct posix_host posix;
    struct weir *weir;
    struct loop loop;
    struct weir_netif device;  // the driver's
    struct weir_netif *netif;  // the outermost, which the instance has
    union {
        struct tap tap;
        struct tun tun;
        struct af_packet packet;
        struct af_xdp xdp;
    } link;
    bool link_open, impaired, shaped, captured, added;
    struct impair impair;
    struct shaper shaper;
    struct pcap_file pcap_file;
    struct pcap_listener pcap;
    struct trace_file trace_file;
    struct trace_source trace;
    struct weir_address_watch address_watch;
    struct echo echo;
    struct crowd_place echo_places[HOST_ECHO_CONNECTIONS];
    struct discard discard;
    struct chargen chargen;
    struct status_server http;
    struct iperf3_server iperf3;
    bool serving, closing;
    volatile sig_atomic_t hurried;  // a signal while it ends: nothing is waited for any more
    struct dns dns;
    struct dhcp dhcp;
    struct autoip autoip;
    struct shell shell;
    struct iperf3_client shell_iperf;
    struct capture capture, http_capture;
    struct status_capture http_offer;
    struct mdns mdns;  // socket 0: not started
    struct mdns_service mdns_web;
    uint8_t mdns_cache[16384];
    struct dhcp6 dhcp6;
    bool addressed;             // the host has an address: the command may begin
    uint64_t dhcp_deadline_us;  // WEIR_NEVER: no command waits for the lease
    uint64_t ip6_deadline_us;   // a command that has IPv6 alone waits so long for what routers say
    // Of the command: ended, with which exit status; what to do when interrupted (NULL: nothing).
    bool done;
    int status;
    void (*interrupt)(struct host *host);
    void *command;  // its state
};

// Opens and adds everything. false: it was said what is wrong.
bool host_open(struct host *host, const struct host_options *options);
void host_close(struct host *host);
// Whether the command may begin: there is an address, and of IPv6 what routers and DHCPv6 say.
bool host_ready(struct host *host);
// Ends the command.
void host_done(struct host *host, int status);

// command_mdns.c: takes the name of --mdns, if there is one. false: it was said what is wrong.
bool host_mdns_start(struct host *host);
// command.c: starts the command line `words`. false: it was said what is wrong (exit status 2).
bool command_start(struct host *host, const char *words);

#endif
