// SPDX-License-Identifier: BSD-2-Clause
#define _POSIX_C_SOURCE 200809L
#include "host/options.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"
#include "weir/cc.h"
#include "weir/socket.h"

static const char usage[] =
    "usage: weir-host --tap NAME | --packet IFNAME | --xdp IFNAME | --tun NAME  [options]\n"
    "\n"
    "Brings up a Weir host on a link of this machine: answers ping, serves echo (7), discard (9), chargen (19), HTTP "
    "with a status\n"
    "page (80) and iperf3 (5201), until interrupted; or runs one command and exits with its status.\n"
    "\n"
    "  --tap NAME           a TAP device, made if it is not there\n"
    "  --packet IFNAME      an Ethernet interface of Linux's, through a packet socket (in a user namespace, too)\n"
    "  --xdp IFNAME         an Ethernet interface's first queue, through AF_XDP (as root)\n"
    "  --tun NAME           a TUN device: a link without Ethernet\n"
    "  --address A.B.C.D/N  the host's address; --gateway A.B.C.D its default route\n"
    "  --dhcp               take both, and name servers, from a DHCP server\n"
    "  --ip6                IPv6: a link-local address, and addresses and routes from the routers of the link\n"
    "  --temporary6         own connections from addresses that change (RFC 8981); --optimistic6 addresses in use at\n"
    "                       once, without delays before they are probed (RFC 4429); --ip6 is implied by both\n"
    "  --address6 X::Y/N    an IPv6 address of its own (--ip6 is implied); --gateway6 X::Y its default route\n"
    "  --autoip             a link-local address (169.254.0.0/16) while there is no other; alone or beside --dhcp\n"
    "  --dhcp6              an IPv6 address by DHCPv6 (--ip6 is implied, which asks as routers say: O, or M)\n"
    "  --dns A.B.C.D        name server; --dns6 X::Y one that is asked over IPv6 (three of both)\n"
    "  --shell PORT         a shell for telnet or nc, without a password: ifconfig, netstat, ping ... "
    "(docs/shell.md);\n"
    "                       --shell-tcpdump: who reaches it also sees what others say to this host\n"
    "  --mdns NAME          NAME.local by multicast DNS, and the HTTP server as a service of that name (docs/mdns.md)\n"
    "  --http PORT          of the HTTP server (80); --http-pcap: who reaches its page can download packets, and so "
    "sees\n"
    "                       what others say to this host\n"
    "  --tls CERTIFICATES,KEY   files (PEM or DER): HTTPS on port 443, too (weir-host-tls: docs/tls.md); --https PORT: "
    "another port\n"
    "  --tls-trust FILE     authorities whose certificates are trusted: of clients, who then must show one; of "
    "servers, by get\n"
    "  --mtu N              of the link, bytes (the device's)\n"
    "  --no-offload         no checksums and no large segments left to Linux\n"
    "  --pcap FILE          capture all frames, for Wireshark\n"
    "  --trace FILE         what the stack does, as JSON for ui.perfetto.dev (docs/seeing.md)\n"
    "  --loss P, --reorder P, --duplicate P, --corrupt P   percent of frames, each way\n"
    "  --delay MS, --rate MBIT   each way (the end takes as long as what is under way, or until Ctrl-C); --seed N  of "
    "the chances\n"
    "  --cc NAME            congestion control: one of those named below\n"
    "  --ecn off|passive|on|accurate   congestion notification: not at all, when the peer asks, asked for, RFC 9768's "
    "asked for\n"
    "  --send-buffer BYTES, --receive-buffer BYTES   limits of a stream's queues\n"
    "  --tick US            the stack's clock moves in steps, as under a kernel with a timer tick\n"
    "  --copy               the iperf3 server reads by copying, not in place\n"
    "  --run 'COMMAND ...'  one of:\n"
    "      ping HOST [-c N] [-i SECONDS] [-s BYTES]\n"
    "      iperf3 -c HOST [-p PORT] [-t S | -n BYTES | -k BLOCKS] [-l BYTES] [-R | --bidir] [-u] [-P N] [-b RATE] [-O "
    "S] [-w BYTES] [-M "
    "MSS] [-N] "
    "[-C CC] [-J]\n"
    "      resolve NAME         sntp HOST         dhcp (with --dhcp)         dhcp6 (with --dhcp6)\n"
    "      browse TYPE [-t SECONDS]\n"
    "      mqtt SERVER[:PORT] [-5] [-S] [-c] [-i ID] [-q QOS] [-s FILTER] [-p TOPIC=TEXT] [-r] [-k S] [-w TOPIC] [-n "
    "N]\n"
    "      tftp HOST[:PORT] get|put FILE [LOCAL] [-b BYTES A BLOCK] [-w BLOCKS A WINDOW]\n"
    "      syslog HOST[:PORT] TEXT ... [-t (TCP)] [-S (TLS)] [-n HOST] [-a APP] [-p PRIORITY]\n"
    "      dhcp-serve FIRST LAST [-l SECONDS] [-r ROUTER] [-d DNS] [-n DOMAIN]\n"
    "      stream FILE PORT [over=realtime|tcp] ... or over=rtp|red|udp to=HOST real-time media: docs/realtime.md\n"
    "      play HOST PORT [over=... frame=BYTES period=MS within=MS frames=N log=FILE out=FILE]\n"
    "      get URL [-o FILE] [-r FIRST-LAST] [-d DATA]  (https: with --tls-trust)\n"
    "      send FILE HOST PORT  receive HOST PORT FILE  listen PORT FILE  serve PORT FILE\n";

enum {
    OPTION_TAP = 256,
    OPTION_PACKET,
    OPTION_XDP,
    OPTION_TUN,
    OPTION_ADDRESS,
    OPTION_GATEWAY,
    OPTION_DHCP,
    OPTION_IP6,
    OPTION_TEMPORARY6,
    OPTION_OPTIMISTIC6,
    OPTION_ADDRESS6,
    OPTION_GATEWAY6,
    OPTION_DHCP6,
    OPTION_AUTOIP,
    OPTION_DNS,
    OPTION_MDNS,
    OPTION_SHELL,
    OPTION_SHELL_TCPDUMP,
    OPTION_HTTP_PCAP,
    OPTION_DNS6,
    OPTION_HTTP,
    OPTION_TLS,
    OPTION_TLS_TRUST,
    OPTION_HTTPS,
    OPTION_MTU,
    OPTION_NO_OFFLOAD,
    OPTION_PCAP,
    OPTION_TRACE,
    OPTION_LOSS,
    OPTION_DELAY,
    OPTION_REORDER,
    OPTION_DUPLICATE,
    OPTION_CORRUPT,
    OPTION_RATE,
    OPTION_SEED,
    OPTION_CC,
    OPTION_ECN,
    OPTION_SEND_BUFFER,
    OPTION_RECEIVE_BUFFER,
    OPTION_TICK,
    OPTION_COPY,
    OPTION_RUN
};

static const struct option long_options[] = {{"tap", required_argument, NULL, OPTION_TAP},
                                             {"packet", required_argument, NULL, OPTION_PACKET},
                                             {"xdp", required_argument, NULL, OPTION_XDP},
                                             {"tun", required_argument, NULL, OPTION_TUN},
                                             {"address", required_argument, NULL, OPTION_ADDRESS},
                                             {"gateway", required_argument, NULL, OPTION_GATEWAY},
                                             {"dhcp", no_argument, NULL, OPTION_DHCP},
                                             {"ip6", no_argument, NULL, OPTION_IP6},
                                             {"temporary6", no_argument, NULL, OPTION_TEMPORARY6},
                                             {"optimistic6", no_argument, NULL, OPTION_OPTIMISTIC6},
                                             {"address6", required_argument, NULL, OPTION_ADDRESS6},
                                             {"gateway6", required_argument, NULL, OPTION_GATEWAY6},
                                             {"autoip", no_argument, NULL, OPTION_AUTOIP},
                                             {"dhcp6", no_argument, NULL, OPTION_DHCP6},
                                             {"dns", required_argument, NULL, OPTION_DNS},
                                             {"mdns", required_argument, NULL, OPTION_MDNS},
                                             {"shell", required_argument, NULL, OPTION_SHELL},
                                             {"shell-tcpdump", no_argument, NULL, OPTION_SHELL_TCPDUMP},
                                             {"http-pcap", no_argument, NULL, OPTION_HTTP_PCAP},
                                             {"dns6", required_argument, NULL, OPTION_DNS6},
                                             {"http", required_argument, NULL, OPTION_HTTP},
                                             {"tls", required_argument, NULL, OPTION_TLS},
                                             {"tls-trust", required_argument, NULL, OPTION_TLS_TRUST},
                                             {"https", required_argument, NULL, OPTION_HTTPS},
                                             {"mtu", required_argument, NULL, OPTION_MTU},
                                             {"no-offload", no_argument, NULL, OPTION_NO_OFFLOAD},
                                             {"pcap", required_argument, NULL, OPTION_PCAP},
                                             {"trace", required_argument, NULL, OPTION_TRACE},
                                             {"loss", required_argument, NULL, OPTION_LOSS},
                                             {"delay", required_argument, NULL, OPTION_DELAY},
                                             {"reorder", required_argument, NULL, OPTION_REORDER},
                                             {"duplicate", required_argument, NULL, OPTION_DUPLICATE},
                                             {"corrupt", required_argument, NULL, OPTION_CORRUPT},
                                             {"rate", required_argument, NULL, OPTION_RATE},
                                             {"seed", required_argument, NULL, OPTION_SEED},
                                             {"cc", required_argument, NULL, OPTION_CC},
                                             {"ecn", required_argument, NULL, OPTION_ECN},
                                             {"send-buffer", required_argument, NULL, OPTION_SEND_BUFFER},
                                             {"receive-buffer", required_argument, NULL, OPTION_RECEIVE_BUFFER},
                                             {"tick", required_argument, NULL, OPTION_TICK},
                                             {"copy", no_argument, NULL, OPTION_COPY},
                                             {"run", required_argument, NULL, OPTION_RUN},
                                             {"help", no_argument, NULL, 'h'},
                                             {NULL, 0, NULL, 0}};

static bool wrong(const char *option, const char *value, const char *wanted)
{
    fprintf(stderr, "weir-host: --%s %s: %s\n", option, value, wanted);
    return false;
}

// A decimal number from 0 to `max`, scaled; a unit behind it that is `suffix` is allowed.
static bool take_scaled(const char *option, const char *value, double max, double scale, const char *suffix,
                        uint64_t *out, const char *wanted)
{
    char *end;
    double number = strtod(value, &end);
    if (end == value || (*end != '\0' && strcmp(end, suffix) != 0) || !(number >= 0 && number <= max))
        return wrong(option, value, wanted);
    *out = (uint64_t)(number * scale + 0.5);
    return true;
}

static bool take_percent(const char *option, const char *value, uint32_t *ppm)
{
    uint64_t number = 0;
    bool good = take_scaled(option, value, 100, 10000, "%", &number, "give a percentage from 0 to 100");
    *ppm = (uint32_t)number;
    return good;
}

static bool take_integer(const char *option, const char *value, uint64_t min, uint64_t max, uint64_t *out)
{
    uint32_t length = text_length(value);
    if (text_read_u64(value, length, max, out) == length && length > 0 && *out >= min)
        return true;
    fprintf(stderr, "weir-host: --%s %s: give a whole number from %llu to %llu\n", option, value,
            (unsigned long long)min, (unsigned long long)max);
    return false;
}

// What is of IPv4, in a build without it.
static bool take_ip4(const char *option)
{
    if (!WEIR_CFG_IP4)
        fprintf(stderr,
                "weir-host: --%s: this weir-host is built without IPv4; --ip6, --address6 and --dhcp6 are there\n",
                option);
    return WEIR_CFG_IP4;
}

static bool take_ip4_flag(const char *option, bool *flag)
{
    *flag = true;
    return take_ip4(option);
}

static bool take_addr(const char *option, const char *value, struct weir_addr *out)
{
    if (!take_ip4(option))
        return false;
    return text_read_addr(value, text_length(value), out) ||
           wrong(option, value, "give an IPv4 address such as 10.0.0.2");
}

static bool take_prefix(const char *value, struct host_options *options)
{
    const char *slash = strchr(value, '/');
    uint64_t bits = 24;
    if (!take_ip4("address"))
        return false;
    if (slash != NULL && (text_read_u64(slash + 1, text_length(slash + 1), 32, &bits) != text_length(slash + 1) ||
                          slash[1] == '\0' || bits == 0))
        return wrong("address", value, "the prefix length is a number from 1 to 32");
    options->prefix_length = (uint8_t)bits;
    uint32_t length = slash != NULL ? (uint32_t)(slash - value) : text_length(value);
    return text_read_addr(value, length, &options->address) ||
           wrong("address", value, "give an IPv4 address and prefix such as 10.0.0.2/24");
}

static bool take_addr6(const char *option, const char *value, uint32_t length, struct weir_addr *out)
{
    struct weir_addr addr;
    if (!weir_addr_read(value, length, &addr) || weir_addr_is_v4(addr))
        return wrong(option, value, "give an IPv6 address such as 2001:db8::2");
    *out = addr;
    return true;
}

static bool take_ip6_how(struct host_options *options, unsigned how)
{
    options->ip6 = true;
    options->ip6_how |= how;
    return true;
}

static bool take_prefix6(const char *value, struct host_options *options)
{
    const char *slash = strchr(value, '/');
    uint64_t bits = 64;
    if (slash != NULL && !take_integer("address6", slash + 1, 1, 128, &bits))
        return false;
    options->ip6 = true;
    options->prefix6_length = (uint8_t)bits;
    return take_addr6("address6", value, slash != NULL ? (uint32_t)(slash - value) : text_length(value),
                      &options->address6);
}

static bool take_link(struct host_options *options, enum host_link link, const char *name)
{
    static const char *const names[] = {
        [HOST_TAP] = "tap", [HOST_PACKET] = "packet", [HOST_TUN] = "tun", [HOST_XDP] = "xdp"};
    if (options->link != HOST_NONE)
        return wrong(names[link], name, "give one link only");
    options->link = link;
    options->ifname = name;
    return true;
}

static bool dns_room(const struct host_options *options, const char *option, const char *value)
{
    return options->dns_count < sizeof options->dns / sizeof options->dns[0] ||
           wrong(option, value, "three name servers are enough");
}

static bool take_congestion(struct host_options *options, const char *value)
{
    options->congestion = value;
    return weir_cc_find(value) != NULL || wrong("cc", value, "not built in (see --help)");
}

static bool take_ecn(struct host_options *options, const char *value)
{
    static const char *const names[] = {
        [WEIR_ECN_OFF] = "off", [WEIR_ECN_PASSIVE] = "passive", [WEIR_ECN_ON] = "on", [WEIR_ECN_ACCURATE] = "accurate"};
    for (uint32_t ecn = WEIR_ECN_OFF; ecn <= WEIR_ECN_ACCURATE; ecn++)
        if (!strcmp(value, names[ecn])) {
            options->ecn = (uint8_t)ecn;
            return true;
        }
    return wrong("ecn", value, "give off, passive, on or accurate");
}

static bool take_port(const char *option, const char *value, uint16_t *out)
{
    uint64_t number = 0;
    const bool good = take_integer(option, value, 1, 65535, &number);
    *out = (uint16_t)number;
    return good;
}

static bool take_u32(const char *option, const char *value, uint32_t min, uint32_t max, uint32_t *out)
{
    uint64_t number = 0;
    const bool good = take_integer(option, value, min, max, &number);
    *out = (uint32_t)number;
    return good;
}

static bool take(int option, const char *value, struct host_options *o)
{
    uint64_t number = 0;
    bool good = true;
    switch (option) {
    case OPTION_TAP: return take_link(o, HOST_TAP, value);
    case OPTION_PACKET: return take_link(o, HOST_PACKET, value);
    case OPTION_XDP: return take_link(o, HOST_XDP, value);
    case OPTION_TUN: return take_link(o, HOST_TUN, value);
    case OPTION_ADDRESS: return take_prefix(value, o);
    case OPTION_GATEWAY: return take_addr("gateway", value, &o->gateway);
    case OPTION_DHCP: return take_ip4_flag("dhcp", &o->dhcp);
    case OPTION_IP6: o->ip6 = true; return true;
    case OPTION_TEMPORARY6: return take_ip6_how(o, WEIR_IP6_TEMPORARY);
    case OPTION_OPTIMISTIC6: return take_ip6_how(o, WEIR_IP6_OPTIMISTIC | WEIR_IP6_PROMPT);
    case OPTION_ADDRESS6: return take_prefix6(value, o);
    case OPTION_GATEWAY6: return take_addr6("gateway6", value, text_length(value), &o->gateway6);
    case OPTION_AUTOIP: return take_ip4_flag("autoip", &o->autoip);
    case OPTION_DHCP6: o->ip6 = o->dhcp6 = true; return true;
    case OPTION_DNS: return dns_room(o, "dns", value) && take_addr("dns", value, &o->dns[o->dns_count++]);
    case OPTION_DNS6:
        return dns_room(o, "dns6", value) && take_addr6("dns6", value, text_length(value), &o->dns[o->dns_count++]);
    case OPTION_MDNS: o->mdns = value; return true;
    case OPTION_HTTP: return take_port("http", value, &o->http_port);
    case OPTION_SHELL_TCPDUMP: o->shell_tcpdump = true; return true;
    case OPTION_HTTP_PCAP: o->http_pcap = true; return true;
    case OPTION_SHELL: return take_port("shell", value, &o->shell_port);
    case OPTION_TLS: o->tls = value; return true;
    case OPTION_TLS_TRUST: o->tls_trust = value; return true;
    case OPTION_HTTPS: return take_port("https", value, &o->https_port);
    case OPTION_MTU: return take_u32("mtu", value, 68, 65535, &o->mtu);
    case OPTION_NO_OFFLOAD: o->no_offload = true; return true;
    case OPTION_PCAP: o->pcap = value; return true;
    case OPTION_TRACE: o->trace = value; return true;
    case OPTION_LOSS: return take_percent("loss", value, &o->loss_ppm);
    case OPTION_REORDER: return take_percent("reorder", value, &o->reorder_ppm);
    case OPTION_DUPLICATE: return take_percent("duplicate", value, &o->duplicate_ppm);
    case OPTION_CORRUPT: return take_percent("corrupt", value, &o->corrupt_ppm);
    case OPTION_DELAY:
        good = take_scaled("delay", value, 60000, 1000, "ms", &number, "give milliseconds from 0 to 60000");
        o->delay_us = (uint32_t)number;
        return good;
    case OPTION_RATE:
        return take_scaled("rate", value, 1e6, 1e6, "M", &o->rate_bps, "give Mbit/s from 0 (no limit) to 1000000");
    case OPTION_SEED: return take_integer("seed", value, 0, UINT64_MAX - 1, &o->seed);
    case OPTION_CC: return take_congestion(o, value);
    case OPTION_ECN: return take_ecn(o, value);
    case OPTION_SEND_BUFFER: return take_u32("send-buffer", value, 1, 1u << 30, &o->send_buffer);
    case OPTION_RECEIVE_BUFFER: return take_u32("receive-buffer", value, 1, 1u << 30, &o->receive_buffer);
    case OPTION_TICK: return take_u32("tick", value, 1, 1000000, &o->tick_us);
    case OPTION_COPY: o->copy = true; return true;
    case OPTION_RUN: o->run = value; return true;
    default: return false;  // getopt_long has said what it does not know
    }
}

static bool consistent(const struct host_options *o)
{
    if (o->link == HOST_NONE)
        fputs("weir-host: give a link: --tap NAME, --packet IFNAME, --xdp IFNAME or --tun NAME (--help tells more)\n",
              stderr);
    else if ((o->dhcp || o->autoip) && o->link == HOST_TUN)
        fputs("weir-host: --dhcp and --autoip need a link with Ethernet: --tap, --packet or --xdp\n", stderr);
    else if ((o->dhcp || o->autoip) && !weir_addr_is_any(o->address))
        fputs("weir-host: give either --address, or --dhcp and --autoip\n", stderr);
    else if (!o->dhcp && !o->autoip && !o->ip6 && weir_addr_is_any(o->address))
        fputs(WEIR_CFG_IP4 ? "weir-host: give --address A.B.C.D/N, --dhcp, --autoip or --ip6\n"
                           : "weir-host: give --ip6, --address6 X::Y/N or --dhcp6\n",
              stderr);
    else if (o->ip6 && o->link == HOST_TUN)
        fputs("weir-host: --ip6 needs a link with Ethernet: --tap, --packet or --xdp\n", stderr);
    else
        return true;
    return false;
}

int host_options_parse(int argc, char **argv, struct host_options *options)
{
    int option;
    *options = (struct host_options){.http_port = 80, .https_port = 443, .seed = 1};
    while ((option = getopt_long(argc, argv, "h", long_options, NULL)) != -1) {
        if (option == 'h') {
            fputs(usage, stdout);
            for (const struct weir_cc *const *cc = weir_cc_list; *cc != NULL; cc++)
                printf("%s%s", cc == weir_cc_list ? "\nCongestion controls, the default first: " : ", ", (*cc)->name);
            puts("");
            return 1;
        }
        if (!take(option, optarg, options))
            return 2;
    }
    if (optind < argc) {
        fprintf(stderr, "weir-host: %s: not understood; commands go into --run '...' (--help tells more)\n",
                argv[optind]);
        return 2;
    }
    return consistent(options) ? 0 : 2;
}

bool host_number(const char *text, uint64_t kilo, uint64_t *value)
{
    char *end;
    double number = strtod(text, &end);
    const char *units = "kmgt", *unit = *end != '\0' ? strchr(units, *end | 0x20) : NULL;
    if (end == text || !(number >= 0) || (*end != '\0' && (unit == NULL || end[1] != '\0')))
        return false;
    for (const char *at = units; unit != NULL && at <= unit; at++)
        number *= (double)kilo;
    *value = (uint64_t)number;
    return number < 9e18;
}
