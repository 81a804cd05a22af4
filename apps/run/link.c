// SPDX-License-Identifier: BSD-2-Clause
#define _GNU_SOURCE
#include "run/link.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "run/veth.h"

static bool failed(const char *what, const char *why)
{
    fprintf(stderr, "weir-run: %s: %s\n", what, why);
    return false;
}

// --- a namespace of its own --------------------------------------------------------------------------
static bool write_file(const char *name, const char *text)
{
    const int fd = open(name, O_WRONLY | O_CLOEXEC);
    const bool good = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    if (fd >= 0)
        close(fd);
    return good;
}

// The namespace is the server's alone: the program stays where it was, and so does the socket that it calls.
static bool namespace_make(void)
{
    const unsigned uid = geteuid(), gid = getegid();
    char map[64];
    if (uid == 0 && unshare(CLONE_NEWNET) == 0)
        return true;
    if (unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0)
        return failed("no right to make a network namespace (give --tap NAME of yours, or --loopback)",
                      strerror(errno));
    (void)write_file("/proc/self/setgroups", "deny");
    (void)snprintf(map, sizeof map, "0 %u 1", uid);
    const bool users = write_file("/proc/self/uid_map", map);
    (void)snprintf(map, sizeof map, "0 %u 1", gid);
    return (users && write_file("/proc/self/gid_map", map)) || failed("the namespace's user", strerror(errno));
}

static void linux_address(const char *ifname, struct weir_addr address, uint8_t bits)
{
    struct ifreq request = {0};
    struct sockaddr_in *const name = (struct sockaddr_in *)(void *)&request.ifr_addr;
    const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    (void)snprintf(request.ifr_name, sizeof request.ifr_name, "%s", ifname);
    name->sin_family = AF_INET;
    name->sin_addr.s_addr = htonl(weir_addr_to_v4(address));
    (void)ioctl(fd, SIOCSIFADDR, &request);
    name->sin_addr.s_addr = htonl(bits ? UINT32_MAX << (32 - bits) : 0);
    (void)ioctl(fd, SIOCSIFNETMASK, &request);
    (void)snprintf(request.ifr_name, sizeof request.ifr_name, "lo");
    request.ifr_flags = IFF_UP | IFF_RUNNING;
    (void)ioctl(fd, SIOCSIFFLAGS, &request);
    close(fd);
}

// --- the link ----------------------------------------------------------------------------------------
static void link_event(struct run_source *source, uint32_t events)
{
    struct run_server *const server =
        (struct run_server *)(void *)((uint8_t *)source - offsetof(struct run_server, link_source));
    if (events & (EPOLLIN | EPOLLERR | EPOLLHUP))
        server->link_readable = true;
    if (events & EPOLLOUT)
        weir_tx_ready(server->netif);
}

static bool packet_open(struct run_network *network, const char *ifname, unsigned flags)
{
    if (af_packet_open(&network->link.packet, ifname, flags) < 0)
        return failed(ifname, af_packet_error(&network->link.packet));
    af_packet_attach(&network->link.packet, &network->device, "eth0");
    network->server->link_fd = af_packet_fd(&network->link.packet);
    network->driver = RUN_LINK_PACKET;
    network->open = true;
    return true;
}

static bool xdp_open(struct run_network *network, const char *ifname, unsigned flags)
{
    if (af_xdp_open(&network->link.xdp, ifname, 0, flags) < 0)
        return failed(ifname, af_xdp_error(&network->link.xdp));
    af_xdp_attach(&network->link.xdp, &network->device, "eth0");
    network->server->link_fd = af_xdp_fd(&network->link.xdp);
    network->driver = RUN_LINK_XDP;
    network->open = true;
    return true;
}

static bool tap_open_it(struct run_network *network, unsigned flags)
{
    const struct run_options *const o = network->options;
    if (tap_open(&network->link.tap, o->ifname, flags) < 0) {
        // An own namespace may have a pair of Ethernet interfaces in place of the TAP.
        if (o->link != RUN_LINK_OWN || run_veth_make(o->ifname, "weir1") != 0)
            return failed(o->ifname, tap_error(&network->link.tap));
        return packet_open(network, "weir1", flags & TAP_NO_VNET ? AF_PACKET_NO_VNET : 0);
    }
    tap_attach(&network->link.tap, &network->device, "eth0");
    network->server->link_fd = tap_fd(&network->link.tap);
    network->driver = RUN_LINK_TAP;
    network->open = true;
    return true;
}

static bool device_open(struct run_network *network)
{
    const struct run_options *const o = network->options;
    const bool single = o->no_offload || o->loss_ppm != 0;  // a loss is to lose one segment
    bool opened;
    switch (o->link) {
    case RUN_LINK_PACKET: opened = packet_open(network, o->ifname, single ? AF_PACKET_NO_VNET : 0); break;
    case RUN_LINK_XDP: opened = xdp_open(network, o->ifname, single ? AF_XDP_NO_OFFLOAD : 0); break;
    default: opened = tap_open_it(network, TAP_UP | (single ? TAP_NO_VNET : 0)); break;
    }
    if (!opened)
        return false;
    if (o->mtu != 0)
        network->device.mtu = (uint16_t)o->mtu;
    if (o->link == RUN_LINK_OWN && !o->dhcp)
        linux_address(o->ifname,
                      weir_addr_is_any(o->gateway) ? weir_addr_v4(weir_addr_to_v4(o->address) ^ 3u) : o->gateway,
                      o->prefix_length);
    return true;
}

static bool netif_add(struct run_network *network)
{
    struct run_server *const server = network->server;
    const struct run_options *const o = network->options;
    struct weir_netif *netif = &network->device;
    if (o->loss_ppm != 0 || o->delay_us != 0) {
        const struct impair_way way = {.loss_ppm = o->loss_ppm, .delay_us = o->delay_us};
        const struct impair_config config = {.out = way, .in = way, .seed = 1};
        netif = impair_wrap(&network->impair, netif, &config);
        network->impaired = true;
    }
    const int error = weir_netif_add(server->weir, netif);
    if (error != WEIR_OK)
        return failed(o->ifname, weir_error_name(error));
    network->added = true;
    server->netif = netif;
    server->link_source.event = link_event;
    server->link_readable = true;
    return run_server_watch(server, server->link_fd, EPOLLIN, &server->link_source) ||
           failed(o->ifname, strerror(errno));
}

// --- addresses ---------------------------------------------------------------------------------------
static void lease_changed(struct dhcp *dhcp, bool bound, void *context)
{
    struct run_network *const network = context;
    network->leased = bound;
    if (bound && network->options->dns_count == 0)
        dns_servers(&network->server->dns, dhcp->lease.dns.addresses, dhcp->lease.dns.count);
}

static bool addresses_set(struct run_network *network)
{
    const struct run_options *const o = network->options;
    struct weir_netif *const netif = network->server->netif;
    struct weir *const weir = network->server->weir;
    int error = o->ip6 || !weir_addr_is_any(o->address6)
                    ? weir_netif_ip6(netif, o->ip6 ? WEIR_IP6_AUTO | WEIR_IP6_LINK_LOCAL : WEIR_IP6_LINK_LOCAL, NULL)
                    : WEIR_OK;
    if (error == WEIR_OK && !weir_addr_is_any(o->address6))
        error = weir_netif_address_add(netif, o->address6, o->prefix6_length, WEIR_ADDRESS_AT_ONCE);
    if (error == WEIR_OK && !weir_addr_is_any(o->gateway6))
        error = weir_route_add(weir, weir_addr_any(), 0, o->gateway6, netif, 0);
    if (error != WEIR_OK)
        return failed("IPv6", weir_error_name(error));
    if (o->dhcp) {
        error = dhcp_start(&network->dhcp, &network->server->loop, netif, "weir", lease_changed, network);
        return error == WEIR_OK || failed("DHCP client", weir_error_name(error));
    }
    if (!weir_addr_is_any(o->address))
        error = weir_netif_set_address(netif, o->address, o->prefix_length, WEIR_ADDRESS_AT_ONCE);
    if (error != WEIR_OK)
        return failed("--address", weir_error_name(error));
    if (!weir_addr_is_any(o->gateway))
        error = weir_route_add(weir, weir_addr_v4(0), 0, o->gateway, netif, 0);
    return error == WEIR_OK || failed("--gateway", weir_error_name(error));
}

bool run_network_open(struct run_network *network, struct run_server *server, const struct run_options *options)
{
    network->options = options;
    network->server = server;
    server->link_fd = -1;
    dns_start(&server->dns, &server->loop);
    dns_servers(&server->dns, options->dns, options->dns_count);
    if (options->pcap != NULL) {
        if (pcap_open(&network->pcap_file, options->pcap, 0, 0) < 0)
            return failed(options->pcap, network->pcap_file.pcapng.error);
        pcap_listen(&network->pcap, server->weir, &network->pcap_file);
        network->captured = true;
    }
    if (options->link == RUN_LINK_NONE)
        return true;
    if (options->link == RUN_LINK_OWN && !namespace_make())
        return false;
    return device_open(network) && netif_add(network) && addresses_set(network);
}

bool run_network_ready(const struct run_network *network)
{
    const struct weir_netif *const netif = network->server->netif;
    if (netif == NULL)
        return true;
    if (network->options->dhcp)
        return network->leased;
    for (const struct weir_netif_address *at = weir_netif_address_next(netif, NULL); at != NULL;
         at = weir_netif_address_next(netif, at)) {
        const bool usable = at->state == WEIR_ADDRESS_READY || at->state == WEIR_ADDRESS_ANNOUNCING;
        if (usable && (!weir_addr_is_link_local6(at->addr) || !network->options->ip6))
            return true;
    }
    return false;
}

void run_network_farewell(struct run_network *network)
{
    if (network->leased)
        dhcp_release(&network->dhcp);
}

void run_network_stop(struct run_network *network)
{
    if (network->added && network->options->dhcp)
        dhcp_stop(&network->dhcp);
}

// What the stack sent last, RSTs among it, may still be held by --delay.
static void impaired_drain(struct run_network *network)
{
    uint64_t now_us = posix_now_us(), next_us;
    while ((next_us = impair_drain(&network->impair, now_us)) != WEIR_NEVER) {
        (void)posix_sleep(next_us > now_us ? next_us - now_us : 0);
        now_us = posix_now_us();
    }
}

void run_network_close(struct run_network *network)
{
    if (network->captured)
        pcap_close(&network->pcap_file);
    if (network->impaired) {
        impaired_drain(network);
        impair_close(&network->impair);
    }
    if (!network->open)
        return;
    switch (network->driver) {
    case RUN_LINK_PACKET: af_packet_close(&network->link.packet); break;
    case RUN_LINK_XDP: af_xdp_close(&network->link.xdp); break;
    default: tap_close(&network->link.tap); break;
    }
}
