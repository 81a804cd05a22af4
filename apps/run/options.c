// SPDX-License-Identifier: BSD-2-Clause
#define _GNU_SOURCE
#include "run/options.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/bsd/weir_bsd.h"
#include "weir/cc.h"

static const char usage[] =
    "usage: weir-run [options] PROGRAM [ARGS...]\n"
    "       weir-run --server FILE [options]\n"
    "       weir-run --join FILE PROGRAM [ARGS...]\n"
    "Runs PROGRAM with its sockets of AF_INET and AF_INET6 on Weir; all else is the kernel's.\n"
    "\n"
    "  (no link given)        a network namespace and a TAP of its own; Linux is at its other end\n"
    "  --tap NAME             a TAP of this namespace (made if it is not there)\n"
    "  --af-packet IFNAME     an Ethernet interface, by AF_PACKET\n"
    "  --xdp IFNAME           an Ethernet interface's first queue, by AF_XDP (as root)\n"
    "  --loopback             no link: programs of this server reach each other alone\n"
    "  --address A.B.C.D/N    the address (without a link given: 10.96.0.2/24, Linux has 10.96.0.1)\n"
    "  --gateway A.B.C.D      the default route\n"
    "  --dhcp                 address, route and name servers by DHCP\n"
    "  --ip6                  a link-local address, and what routers advertise (SLAAC)\n"
    "  --address6 ADDRESS/N   an IPv6 address; --gateway6 ADDRESS\n"
    "  --dns A.B.C.D          a name server (at most two)\n"
    "  --mtu BYTES            --no-offload\n"
    "  --cc NAME              congestion control\n"
    "  --pcap FILE            captures to a pcapng file\n"
    "  --loss PERCENT         --delay MILLISECONDS: a worse link, each way\n"
    "  --status PORT          serves a page on the stack at this port of its addresses\n"
    "  --server FILE          no program: serves those that join by FILE, until a signal ends it\n"
    "  --join FILE            runs PROGRAM on that server\n"
    "  --report               at the end: calls that were refused, by name and number\n";

enum {
    OPTION_TAP = 256,
    OPTION_PACKET,
    OPTION_XDP,
    OPTION_LOOPBACK,
    OPTION_ADDRESS,
    OPTION_GATEWAY,
    OPTION_DHCP,
    OPTION_IP6,
    OPTION_ADDRESS6,
    OPTION_GATEWAY6,
    OPTION_DNS,
    OPTION_MTU,
    OPTION_NO_OFFLOAD,
    OPTION_CC,
    OPTION_PCAP,
    OPTION_LOSS,
    OPTION_DELAY,
    OPTION_STATUS,
    OPTION_SERVER,
    OPTION_JOIN,
    OPTION_REPORT
};

static const struct option long_options[] = {
    {"help", no_argument, NULL, 'h'},
    {"tap", required_argument, NULL, OPTION_TAP},
    {"af-packet", required_argument, NULL, OPTION_PACKET},
    {"xdp", required_argument, NULL, OPTION_XDP},
    {"loopback", no_argument, NULL, OPTION_LOOPBACK},
    {"address", required_argument, NULL, OPTION_ADDRESS},
    {"gateway", required_argument, NULL, OPTION_GATEWAY},
    {"dhcp", no_argument, NULL, OPTION_DHCP},
    {"ip6", no_argument, NULL, OPTION_IP6},
    {"address6", required_argument, NULL, OPTION_ADDRESS6},
    {"gateway6", required_argument, NULL, OPTION_GATEWAY6},
    {"dns", required_argument, NULL, OPTION_DNS},
    {"mtu", required_argument, NULL, OPTION_MTU},
    {"no-offload", no_argument, NULL, OPTION_NO_OFFLOAD},
    {"cc", required_argument, NULL, OPTION_CC},
    {"pcap", required_argument, NULL, OPTION_PCAP},
    {"loss", required_argument, NULL, OPTION_LOSS},
    {"delay", required_argument, NULL, OPTION_DELAY},
    {"status", required_argument, NULL, OPTION_STATUS},
    {"server", required_argument, NULL, OPTION_SERVER},
    {"join", required_argument, NULL, OPTION_JOIN},
    {"report", no_argument, NULL, OPTION_REPORT},
    {NULL, 0, NULL, 0},
};

static bool wrong(const char *option, const char *value, const char *why)
{
    fprintf(stderr, "weir-run: --%s %s: %s\n", option, value, why);
    return false;
}

// ADDRESS, or ADDRESS/N where `bits` is given.
static bool take_address(const char *option, const char *value, int family, struct weir_addr *addr, uint8_t *bits)
{
    char text[64];
    const char *const slash = strchr(value, '/');
    const size_t length = slash != NULL ? (size_t)(slash - value) : strlen(value);
    const long most = family == WEIR_AF_INET ? 32 : 128;
    struct weir_in6_addr in = {{0}};
    char *end = NULL;
    if (length >= sizeof text || (slash != NULL) != (bits != NULL))
        return wrong(option, value,
                     bits != NULL ? "give an address and a prefix length, as 10.0.0.2/24" : "not an address");
    memcpy(text, value, length);
    text[length] = '\0';
    if (weir_inet_pton(family, text, &in) != 1)
        return wrong(option, value, "not an address");
    *addr = family == WEIR_AF_INET ? weir_ip4(in.s6_bytes[0], in.s6_bytes[1], in.s6_bytes[2], in.s6_bytes[3])
                                   : weir_addr_v6(in.s6_bytes);
    const long number = slash != NULL ? strtol(slash + 1, &end, 10) : 0;
    if (slash != NULL && (*end != '\0' || end == slash + 1 || number < 0 || number > most))
        return wrong(option, value, "the prefix length is out of range");
    if (bits != NULL)
        *bits = (uint8_t)number;
    return true;
}

static bool take_number(const char *option, const char *value, double most, double factor, uint32_t *out)
{
    char *end = NULL;
    const double number = strtod(value, &end);
    if (end == value || *end != '\0' || !(number >= 0) || number > most)
        return wrong(option, value, "not a number in range");
    *out = (uint32_t)(number * factor);
    return true;
}

static bool take_link(struct run_options *o, enum run_link link, const char *name)
{
    if (o->link != RUN_LINK_OWN)
        return wrong("tap, --af-packet, --xdp, --loopback", name, "give one link only");
    o->link = link;
    o->ifname = name;
    return true;
}

static bool take_port(const char *option, const char *value, uint16_t *port)
{
    uint32_t number = 0;
    if (!take_number(option, value, 65535, 1, &number))
        return false;
    *port = (uint16_t)number;
    return number > 0 || wrong(option, value, "give a port from 1 to 65535");
}

static bool take(int option, const char *value, struct run_options *o)
{
    switch (option) {
    case OPTION_TAP: return take_link(o, RUN_LINK_TAP, value);
    case OPTION_PACKET: return take_link(o, RUN_LINK_PACKET, value);
    case OPTION_XDP: return take_link(o, RUN_LINK_XDP, value);
    case OPTION_LOOPBACK: return take_link(o, RUN_LINK_NONE, "lo");
    case OPTION_ADDRESS: return take_address("address", value, WEIR_AF_INET, &o->address, &o->prefix_length);
    case OPTION_GATEWAY: return take_address("gateway", value, WEIR_AF_INET, &o->gateway, NULL);
    case OPTION_DHCP: return o->dhcp = true;
    case OPTION_IP6: return o->ip6 = true;
    case OPTION_ADDRESS6: return take_address("address6", value, WEIR_AF_INET6, &o->address6, &o->prefix6_length);
    case OPTION_GATEWAY6: return take_address("gateway6", value, WEIR_AF_INET6, &o->gateway6, NULL);
    case OPTION_DNS:
        if (o->dns_count == 2)
            return wrong("dns", value, "two name servers are enough");
        return take_address("dns", value, WEIR_AF_INET, &o->dns[o->dns_count++], NULL);
    case OPTION_MTU: return take_number("mtu", value, 65535, 1, &o->mtu);
    case OPTION_NO_OFFLOAD: return o->no_offload = true;
    case OPTION_CC: o->congestion = value; return weir_cc_find(value) != NULL || wrong("cc", value, "not built in");
    case OPTION_PCAP: o->pcap = value; return true;
    case OPTION_LOSS: return take_number("loss", value, 100, 10000, &o->loss_ppm);
    case OPTION_DELAY: return take_number("delay", value, 60000, 1000, &o->delay_us);
    case OPTION_STATUS: return take_port("status", value, &o->status_port);
    case OPTION_SERVER: o->server = value; return true;
    case OPTION_JOIN: o->join = value; return true;
    case OPTION_REPORT: return o->report = true;
    default: fputs("weir-run: see weir-run --help\n", stderr); return false;
    }
}

static bool link_consistent(const struct run_options *o)
{
    const bool none = weir_addr_is_any(o->address);
    if (o->dhcp && (!none || o->link == RUN_LINK_NONE))
        fputs("weir-run: --dhcp needs a link, and no --address beside it\n", stderr);
    else if (!o->dhcp && !o->ip6 && none && weir_addr_is_any(o->address6) && o->link != RUN_LINK_OWN &&
             o->link != RUN_LINK_NONE)
        fputs("weir-run: give --address A.B.C.D/N, --dhcp or --ip6\n", stderr);
    else
        return true;
    return false;
}

static bool consistent(const struct run_options *o, int given)
{
    if (o->server != NULL && (o->join != NULL || o->command[0] != NULL))
        fputs("weir-run: --server runs no program; start one by weir-run --join FILE PROGRAM\n", stderr);
    else if (o->server == NULL && o->command[0] == NULL)
        fputs("weir-run: give a PROGRAM to run (weir-run --help tells more)\n", stderr);
    else if (o->join != NULL && given > 1)
        fputs("weir-run: --join takes the server as it is: no options beside it\n", stderr);
    else
        return link_consistent(o);
    return false;
}

int run_options_parse(int argc, char **argv, struct run_options *options)
{
    int option, given = 0;
    *options = (struct run_options){.ifname = "weir0"};
    while ((option = getopt_long(argc, argv, "+h", long_options, NULL)) != -1) {
        if (option == 'h') {
            fputs(usage, stdout);
            return 1;
        }
        if (!take(option, optarg, options))
            return 2;
        given++;
    }
    options->command = argv + optind;
    if (!consistent(options, given))
        return 2;
    if (options->link == RUN_LINK_OWN && weir_addr_is_any(options->address) && !options->dhcp) {
        options->address = weir_ip4(10, 96, 0, 2);
        options->prefix_length = 24;
        if (weir_addr_is_any(options->gateway))
            options->gateway = weir_ip4(10, 96, 0, 1);
    }
    return 0;
}
