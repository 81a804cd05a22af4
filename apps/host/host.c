// SPDX-License-Identifier: BSD-2-Clause
#define _POSIX_C_SOURCE 200809L
#include "host/host.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "host/secure.h"
#include "weir/names.h"
#include "weir/stats.h"

#define DHCP_WAIT_US 60000000u  // a command waits so long for the lease
#define IP6_WAIT_US 10000000u   // a command waits so long for an address out of what routers say
#define FAREWELL_US 3000000u    // at the end, so long for the peers' last acknowledgements
#define RELEASE_US 100000u      // at the end, so long for the lease's release to leave

static bool failed(const char *what, int error)
{
    fprintf(stderr, "weir-host: %s: %s\n", what, weir_error_name(error));
    return false;
}

// --- the link --------------------------------------------------------------------------------------------------------

static bool link_failed(const struct host_options *options, const char *why)
{
    fprintf(stderr, "weir-host: %s: %s\n", options->ifname, why);
    return false;
}

static bool link_open(struct host *host, bool offload)
{
    const struct host_options *o = host->options;
    switch (o->link) {
    case HOST_TAP:
        if (tap_open(&host->link.tap, o->ifname, TAP_UP | (offload ? 0 : TAP_NO_VNET)) < 0)
            return link_failed(o, tap_error(&host->link.tap));
        tap_attach(&host->link.tap, &host->device, "eth0");
        break;
    case HOST_TUN:
        if (tun_open(&host->link.tun, o->ifname, TUN_UP | (offload ? 0 : TUN_NO_VNET)) < 0)
            return link_failed(o, tun_error(&host->link.tun));
        tun_attach(&host->link.tun, &host->device, "tun0");
        break;
    case HOST_XDP:
        if (af_xdp_open(&host->link.xdp, o->ifname, 0, offload ? 0 : AF_XDP_NO_OFFLOAD) < 0)
            return link_failed(o, af_xdp_error(&host->link.xdp));
        af_xdp_attach(&host->link.xdp, &host->device, "eth0");
        break;
    default:
        if (af_packet_open(&host->link.packet, o->ifname, offload ? 0 : AF_PACKET_NO_VNET) < 0)
            return link_failed(o, af_packet_error(&host->link.packet));
        af_packet_attach(&host->link.packet, &host->device, "eth0");
        break;
    }
    host->link_open = true;
    if (o->mtu != 0)
        host->device.mtu = (uint16_t)o->mtu;
    return true;
}

static int link_fd(const struct host *host)
{
    switch (host->options->link) {
    case HOST_TAP: return tap_fd(&host->link.tap);
    case HOST_TUN: return tun_fd(&host->link.tun);
    case HOST_XDP: return af_xdp_fd(&host->link.xdp);
    default: return af_packet_fd(&host->link.packet);
    }
}

static void link_close(struct host *host)
{
    switch (host->options->link) {
    case HOST_TAP: tap_close(&host->link.tap); break;
    case HOST_TUN: tun_close(&host->link.tun); break;
    case HOST_XDP: af_xdp_close(&host->link.xdp); break;
    default: af_packet_close(&host->link.packet); break;
    }
}

// Outwards a frame passes the shaper's queue first, then the lossy link behind it.
static void wrappers_open(struct host *host)
{
    const struct host_options *o = host->options;
    host->netif = &host->device;
    host->impaired =
        o->loss_ppm != 0 || o->reorder_ppm != 0 || o->duplicate_ppm != 0 || o->corrupt_ppm != 0 || o->delay_us != 0;
    if (host->impaired) {
        struct impair_way way = {.loss_ppm = o->loss_ppm,
                                 .duplicate_ppm = o->duplicate_ppm,
                                 .corrupt_ppm = o->corrupt_ppm,
                                 .reorder_ppm = o->reorder_ppm,
                                 .delay_us = o->delay_us};
        const struct impair_config config = {.out = way, .in = way, .seed = o->seed};
        host->netif = impair_wrap(&host->impair, host->netif, &config);
    }
    host->shaped = o->rate_bps != 0;
    if (host->shaped) {
        struct shaper_way way = {.rate_bps = o->rate_bps};
        const struct shaper_config config = {.out = way, .in = way};
        host->netif = shaper_wrap(&host->shaper, host->netif, &config);
    }
}

// --- the address -----------------------------------------------------------------------------------------------------

static void lease_changed(struct dhcp *dhcp, bool bound, void *context)
{
    struct host *host = context;
    char line[200];
    struct text text;
    text_init(&text, line, sizeof line);
    if (!bound) {
        dns_servers_from(&host->dns, DNS_DHCP, NULL, 0);
        if (!host->closing)
            fputs("weir-host: the DHCP lease is gone\n", stderr);
        return;
    }
    const struct dhcp_lease *lease = &dhcp->lease;
    dns_servers_from(&host->dns, DNS_DHCP, lease->dns.addresses, lease->dns.count);
    text_addr(&text, lease->address);
    text_char(&text, '/');
    text_u64(&text, (uint64_t)dhcp_mask_bits(lease->mask));
    text_put(&text, " from ");
    text_addr(&text, lease->server);
    fprintf(stderr, "weir-host: %s, leased for %lu s\n", line, (unsigned long)lease->lease_s);
    host->addressed = true;
}

static void link_local_changed(struct autoip *autoip, bool bound, void *context)
{
    struct host *host = context;
    char line[64];
    struct text text;
    text_init(&text, line, sizeof line);
    text_addr(&text, autoip->address);
    if (!host->closing)
        fprintf(stderr, "weir-host: %s, link-local, %s\n", line, bound ? "taken" : "left");
    host->addressed |= bound;
}

static void settings6_changed(struct dhcp6 *dhcp6, void *context)
{
    struct host *host = context;
    char line[200];
    struct text text;
    dns_servers_from(&host->dns, DNS_DHCP6, dhcp6->dns, dhcp6->dns_count);
    for (uint32_t i = 0; i < dhcp6->lease.address_count && dhcp6->state == DHCP6_BOUND; i++) {
        text_init(&text, line, sizeof line);
        text_addr(&text, dhcp6->lease.addresses[i].addr);
        fprintf(stderr, "weir-host: %s, leased by DHCPv6 for %lu s\n", line,
                (unsigned long)dhcp6->lease.addresses[i].valid_s);
    }
}

// At most one line in ten seconds for each address (RFC 5227 §2.4).
static void address_event(struct weir_address_watch *self, const struct weir_netif *netif, struct weir_addr address,
                          enum weir_address_event event)
{
    static const char *const ends[] = {[WEIR_ADDRESS_DEFENDED] = ", and defended",
                                       [WEIR_ADDRESS_LOST] = ", and given up until it is free",
                                       [WEIR_ADDRESS_TAKEN] = " is free, and ours",
                                       [WEIR_ADDRESS_DEPRECATED] = " is deprecated",
                                       [WEIR_ADDRESS_EXPIRED] = " is no longer valid, and removed"};
    char line[100];
    struct text text;
    (void)self;
    text_init(&text, line, sizeof line);
    text_addr(&text, address);
    if (event == WEIR_ADDRESS_DEFENDED || event == WEIR_ADDRESS_LOST) {
        text_put(&text, " is claimed by ");
        text_mac(&text, netif->conflict_mac);
    }
    fprintf(stderr, "weir-host: %s%s\n", line, ends[event]);
}

static bool ip6_start(struct host *host)
{
    const struct host_options *o = host->options;
    int error = o->ip6 ? weir_netif_ip6(host->netif, WEIR_IP6_AUTO | o->ip6_how, NULL) : WEIR_OK;
    if (error == WEIR_OK && !weir_addr_is_any(o->address6))
        error = weir_netif_address_add(host->netif, o->address6, o->prefix6_length, WEIR_ADDRESS_PROBE);
    if (error == WEIR_OK && !weir_addr_is_any(o->gateway6))
        error = weir_route_add(host->weir, weir_addr_any(), 0, o->gateway6, host->netif, 0);
    if (error == WEIR_OK && o->ip6)
        error = dhcp6_start(&host->dhcp6, &host->loop, host->netif, o->dhcp6 ? DHCP6_ADDRESSES_TOO : DHCP6_BY_ROUTERS,
                            NULL, settings6_changed, host);
    host->ip6_deadline_us = posix_now_us() + (o->dhcp6 ? DHCP_WAIT_US : IP6_WAIT_US);
    return error == WEIR_OK || failed("IPv6", error);
}

// When posix_now_us was 0, µs since 1970.
static uint64_t epoch_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000u + (uint64_t)now.tv_nsec / 1000u - posix_now_us();
}

static bool address_set(struct host *host)
{
    const struct host_options *o = host->options;
    int error = WEIR_OK;
    dns_start(&host->dns, &host->loop);
    dns_servers(&host->dns, o->dns, o->dns_count);
    if (!ip6_start(host))
        return false;
    if (o->autoip)
        (void)autoip_start(&host->autoip, &host->loop, host->netif, o->dhcp ? AUTOIP_WAIT_S : 0, link_local_changed,
                           host);
    if (o->shell_port != 0 && (error = shell_start(&host->shell, &host->loop, o->shell_port, &host->dns)) != WEIR_OK)
        return failed("--shell", error);
    if (o->shell_port != 0)
        shell_add_iperf(&host->shell, &host->shell_iperf);
    if (o->shell_port != 0 && o->shell_tcpdump)
        shell_add_tcpdump(&host->shell, &host->capture);
    host->shell.file.epoch_us = host->http_offer.file.epoch_us = epoch_us();
    if (o->dhcp) {
        error = dhcp_start(&host->dhcp, &host->loop, host->netif, "weir", lease_changed, host);
        if (error == WEIR_OK && o->ip6)
            dhcp_prefer_ip6(&host->dhcp);
        host->dhcp_deadline_us = o->run != NULL ? posix_now_us() + DHCP_WAIT_US : WEIR_NEVER;
        return error == WEIR_OK || failed("DHCP client", error);
    }
    error = weir_netif_set_address(host->netif, o->address, o->prefix_length, WEIR_ADDRESS_AT_ONCE);
    if (error != WEIR_OK)
        return failed("--address", error);
    bool route = !weir_addr_is_any(o->gateway) || o->link == HOST_TUN;  // on a TUN everything goes to the other end
    if (route)
        error = weir_route_add(host->weir, weir_addr_any(), 0, o->gateway, host->netif, 0);
    host->addressed = !weir_addr_is_any(o->address);
    return error == WEIR_OK || failed("--gateway", error);
}

// Whether something is still to come that this host asks for by itself.
static bool ip6_settled(const struct host *host)
{
    const struct weir_netif_ip6 *const ip6 = &host->netif->ip6;
    if (!weir_family_configured(host->weir, true))
        return false;
    if (host->options->dhcp6 || ip6->managed)
        return dhcp6_bound(&host->dhcp6);
    return !ip6->other || host->dhcp6.state == DHCP6_INFORMED;
}

bool host_ready(struct host *host)
{
    posix_host_lock(&host->posix);
    const bool without_ip4 = !host->options->dhcp || host->dhcp.state == DHCP_IP6_ONLY;
    if (!host->addressed && without_ip4 && host->options->ip6)
        host->addressed = ip6_settled(host) || posix_now_us() >= host->ip6_deadline_us;
    posix_host_unlock(&host->posix);
    return host->addressed;
}

// --- servers ---------------------------------------------------------------------------------------------------------

static void iperf3_log(void *context, const char *line)
{
    (void)context;
    printf("%s\n", line);
    fflush(stdout);
}

static bool servers_start(struct host *host)
{
    struct loop *loop = &host->loop;
    struct weir_netif *netifs[2] = {host->netif, weir_netif_find(host->weir, "lo")};
    int error = echo_start_with(&host->echo, loop, 7, host->echo_places, HOST_ECHO_CONNECTIONS);
    if (error == WEIR_OK)
        error = discard_start(&host->discard, loop, 9);
    if (error == WEIR_OK)
        error = chargen_start(&host->chargen, loop, 19);
    if (error == WEIR_OK)
        error = status_server_start(&host->http, loop, host->options->http_port, netifs, netifs[1] != NULL ? 2 : 1);
    if (error == WEIR_OK && host->options->http_pcap)
        status_server_offer_capture(&host->http, &host->http_offer, &host->http_capture);
    if (error == WEIR_OK)
        error =
            iperf3_server_start(&host->iperf3, loop, IPERF3_PORT, host->options->run == NULL ? iperf3_log : NULL, NULL);
    host->iperf3.test.copies = host->options->copy;
    host->serving = error == WEIR_OK;
    if (error != WEIR_OK)
        return failed("a server could not listen", error);
    return host->options->run != NULL || secure_start(host, netifs, netifs[1] != NULL ? 2 : 1);
}

static void servers_stop(struct host *host)
{
    iperf3_server_stop(&host->iperf3);
    secure_stop(host);
    status_server_stop(&host->http);
    chargen_stop(&host->chargen);
    discard_stop(&host->discard);
    echo_stop(&host->echo);
}

// --- life ------------------------------------------------------------------------------------------------------------

static uint64_t host_turn(void *context, uint64_t now_us) { return loop_run(&((struct host *)context)->loop, now_us); }

static bool instance_open(struct host *host)
{
    const struct host_options *o = host->options;
    const struct weir_config config = {.congestion_control = o->congestion,
                                       .tcp_ecn = o->ecn,
                                       .memory_budget_bytes = posix_memory_budget(),
                                       .tcp_send_buffer_bytes = o->send_buffer,
                                       .tcp_receive_buffer_bytes = o->receive_buffer};
    const struct posix_options posix = {.turn = host_turn, .context = host, .tick_us = o->tick_us};
    if (posix_host_init(&host->posix, &posix) != 0) {
        perror("weir-host: the POSIX port");
        return false;
    }
    host->weir = weir_create(NULL, 0, &host->posix.port, &config);
    if (host->weir == NULL) {
        fputs("weir-host: no memory for the instance\n", stderr);
        posix_host_close(&host->posix);
        return false;
    }
    posix_host_attach(&host->posix, host->weir);
    weir_clock(host->weir, posix_host_now(&host->posix));
    loop_init(&host->loop, host->weir);
    return true;
}

static bool trace_start(struct host *host)
{
    const char *const path = host->options->trace;
    if (path == NULL)
        return true;
    if (trace_open(&host->trace_file, path) != 0) {
        perror(path);
        return false;
    }
    trace_source_init(&host->trace, &host->trace_file, "weir-host", weir_now_us(host->weir));
    return weir_trace_set(host->weir, &host->trace.tracer) == WEIR_OK || failed("--trace", WEIR_NOT_SUPPORTED);
}

static bool netif_open(struct host *host)
{
    const struct host_options *o = host->options;
    // A loss is to lose one segment, not 64 KB of them at once.
    bool single =
        o->loss_ppm != 0 || o->reorder_ppm != 0 || o->duplicate_ppm != 0 || o->corrupt_ppm != 0 || o->rate_bps != 0;
    if (!link_open(host, !o->no_offload && !single))
        return false;
    wrappers_open(host);
    if (o->pcap != NULL) {
        if (pcap_open(&host->pcap_file, o->pcap, 0, 0) < 0) {
            fprintf(stderr, "weir-host: --pcap %s: %s\n", o->pcap, host->pcap_file.pcapng.error);
            return false;
        }
        pcap_listen(&host->pcap, host->weir, &host->pcap_file);
        host->captured = true;
    }
    int error = weir_netif_add(host->weir, host->netif);
    if (error != WEIR_OK)
        return failed(o->ifname, error);
    host->added = true;
    host->address_watch.event = address_event;
    weir_address_watch_add(host->weir, &host->address_watch);
    return posix_host_add(&host->posix, host->netif, link_fd(host)) == 0 || failed(o->ifname, WEIR_NO_MEMORY);
}

bool host_open(struct host *host, const struct host_options *options)
{
    memset(host, 0, sizeof *host);
    host->options = options;
    host->dhcp_deadline_us = WEIR_NEVER;
    if (!instance_open(host))
        return false;
    posix_host_lock(&host->posix);
    bool good =
        trace_start(host) && netif_open(host) && servers_start(host) && address_set(host) && host_mdns_start(host);
    posix_host_unlock(&host->posix);
    if (!good)
        host_close(host);
    return good;
}

// Whether a connection that was closed here still has data or a FIN to be acknowledged, or a datagram waits for its
// turn.
static bool unsettled(struct host *host)
{
    struct weir_socket_info info;
    uint64_t cursor = 0;
    bool open = false;
    posix_host_lock(&host->posix);
    while (!open && (cursor = weir_socket_next(host->weir, cursor, &info)) != 0) {
        bool closing = info.tcp_state == WEIR_TCP_FIN_WAIT_1 || info.tcp_state == WEIR_TCP_CLOSING ||
                       info.tcp_state == WEIR_TCP_LAST_ACK;
        bool sending = info.send_queue > 0 && info.tcp_state >= WEIR_TCP_ESTABLISHED;
        open = info.type == WEIR_STREAM ? closing || sending : info.send_queue > 0;
    }
    posix_host_unlock(&host->posix);
    return open;
}

// Lets out what the wrappers hold and is due; returns when to do so again.
static uint64_t wrappers_let_out(struct host *host, uint64_t now_us)
{
    uint64_t next_us = host->impaired ? impair_drain(&host->impair, now_us) : WEIR_NEVER;
    if (host->shaped) {  // its frames go on to the lossy link
        const uint64_t shaped_us = shaper_drain(&host->shaper, now_us);
        next_us = host->impaired ? impair_drain(&host->impair, now_us) : WEIR_NEVER;
        next_us = shaped_us < next_us ? shaped_us : next_us;
    }
    return next_us;
}

// What the stack sent last, RSTs among it, may still be held by --delay, --rate or --reorder. A signal ends the wait,
// and spares it where one ended farewell().
static void wrappers_drain(struct host *host)
{
    uint64_t now_us = posix_host_now(&host->posix), next_us;
    while (!host->hurried && (next_us = wrappers_let_out(host, now_us)) != WEIR_NEVER &&
           posix_sleep(next_us > now_us ? next_us - now_us : 0))
        now_us = posix_host_now(&host->posix);
}

static bool releasing6(const struct host *host) { return host->dhcp6.state == DHCP6_RELEASING; }

// The peers of servers and commands, and the DHCP servers, are to hear the end: what is queued is still to be taken,
// FINs may need a retransmission, datagrams and the RELEASE an ARP reply, goodbyes their turn. Over --delay what peers
// have under way is answered, too: a SYN, ACK of a connection that was given up gets its RST. A second Ctrl-C ends the
// wait.
static void farewell(struct host *host, bool released)
{
    const uint64_t round_us = 2u * (uint64_t)host->options->delay_us;
    uint64_t now_us = posix_now_us(), least_us = now_us + round_us + (released ? RELEASE_US : 0),
             most_us = now_us + FAREWELL_US + 2 * round_us;
    while (!host->hurried && (now_us < least_us || (now_us < most_us && (releasing6(host) || unsettled(host))))) {
        (void)posix_host_poll(&host->posix, 10000);
        now_us = posix_now_us();
    }
}

void host_close(struct host *host)
{
    posix_host_lock(&host->posix);
    weir_clock(host->weir, posix_host_now(&host->posix));
    host->closing = true;
    bool leased = host->options->dhcp && host->dhcp.socket > 0;
    if (leased)
        dhcp_release(&host->dhcp);
    const bool told = host->mdns.socket > 0;
    mdns_stop(&host->mdns);
    dhcp6_release(&host->dhcp6);
    if (host->serving)
        servers_stop(host);
    posix_host_unlock(&host->posix);
    if (host->added)
        farewell(host, leased || told);
    posix_host_lock(&host->posix);
    if (leased)
        dhcp_stop(&host->dhcp);
    dhcp6_stop(&host->dhcp6);
    autoip_stop(&host->autoip);
    shell_stop(&host->shell);
    posix_host_unlock(&host->posix);
    posix_host_stop(&host->posix);
    weir_destroy(host->weir);
    secure_close(host);
    if (host->added)
        posix_host_remove(&host->posix, host->netif);
    wrappers_drain(host);
    if (trace_close(&host->trace_file) != 0)
        perror(host->options->trace);
    if (host->captured)
        pcap_close(&host->pcap_file);
    if (host->shaped)
        shaper_close(&host->shaper);
    if (host->impaired)
        impair_close(&host->impair);
    if (host->link_open)
        link_close(host);
    posix_host_close(&host->posix);
}

void host_done(struct host *host, int status)
{
    host->done = true;
    host->status = status;
    host->interrupt = NULL;
    posix_host_wake(&host->posix);
}
