// SPDX-License-Identifier: BSD-2-Clause
// lwIP with echo (7), discard (9) and chargen (19) on a TAP of Linux, by its raw API: one thread, one frame a system
// call.
//
//     lwip_host TAP|packet:IFNAME ADDRESS      packet: an Ethernet interface, through a packet socket
//     lwip_host … ADDRESS source PEER MS       the client of another one: bytes from its chargen for so long, a JSON
//     line
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "lwip/etharp.h"
#include "lwip/init.h"
#include "lwip/tcp.h"
#include "lwip/timeouts.h"
#include "netif/ethernet.h"

#define FRAME 1514u
#define BATCH 64  // frames taken before the timers are looked at
#define PIECES 64

enum { ECHO = 7, DISCARD = 9, CHARGEN = 19 };

static int fd;
static char block[65536];

static void fail(const char *what)
{
    fprintf(stderr, "lwip_host: %s: %s\n", what, strerror(errno));
    exit(1);
}

u32_t sys_now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (u32_t)(time.tv_sec * 1000 + time.tv_nsec / 1000000);
}

// --- the interface ---------------------------------------------------------------------------------------------------

static err_t transmit(struct netif *netif, struct pbuf *frame)
{
    struct iovec pieces[PIECES];
    int count = 0;
    size_t skip = ETH_PAD_SIZE;
    (void)netif;
    for (; frame && count < PIECES; frame = frame->next, skip = 0)
        pieces[count++] = (struct iovec){(char *)frame->payload + skip, frame->len - skip};
    return writev(fd, pieces, count) < 0 ? ERR_MEM : ERR_OK;
}

// Linux writes the frame where lwIP will keep it. Returns whether there was one.
static int receive(struct netif *netif)
{
    static struct pbuf *frame;  // kept when there was nothing to read
    if (!frame)
        frame = pbuf_alloc(PBUF_RAW, FRAME + ETH_PAD_SIZE, PBUF_POOL);
    if (!frame)
        return 0;
    const ssize_t got = read(fd, (char *)frame->payload + ETH_PAD_SIZE, FRAME);
    if (got <= 0)
        return 0;
    pbuf_realloc(frame, (u16_t)(got + ETH_PAD_SIZE));
    if (netif->input(frame, netif) != ERR_OK)
        pbuf_free(frame);
    frame = NULL;
    return 1;
}

static err_t prepare(struct netif *netif)
{
    netif->name[0] = 't', netif->name[1] = 'p';
    netif->mtu = 1500;
    netif->hwaddr_len = 6;
    memset(netif->hwaddr, 0, 6);
    netif->hwaddr[0] = 2;
    netif->hwaddr[5] = (u8_t)(98 + ip4_addr4(netif_ip4_addr(netif)));
    netif->flags = NETIF_FLAG_BROADCAST | NETIF_FLAG_ETHARP | NETIF_FLAG_ETHERNET | NETIF_FLAG_LINK_UP;
    netif->output = etharp_output;
    netif->linkoutput = transmit;
    return ERR_OK;
}

static struct netif netif;

static void turn(void)
{
    int taken = 0;
    while (taken < BATCH && receive(&netif))
        taken++;
    sys_check_timeouts();
    if (!taken) {
        const u32_t sleep_ms = sys_timeouts_sleeptime();
        struct pollfd wait = {.fd = fd, .events = POLLIN};
        poll(&wait, 1, sleep_ms > 1000 ? 1000 : (int)sleep_ms);
    }
}

// --- the services ----------------------------------------------------------------------------------------------------

static void finish(struct tcp_pcb *pcb)
{
    tcp_recv(pcb, NULL);
    tcp_sent(pcb, NULL);
    if (tcp_close(pcb) != ERR_OK)
        tcp_abort(pcb);
}

// Data that found no room in the send buffer waits with lwIP, which offers it again.
static err_t on_received(void *service, struct tcp_pcb *pcb, struct pbuf *data, err_t error)
{
    if (error != ERR_OK || !data) {
        if (!data)
            finish(pcb);
        return ERR_OK;
    }
    if ((intptr_t)service == ECHO) {
        if (tcp_sndbuf(pcb) < data->tot_len)
            return ERR_MEM;
        for (const struct pbuf *part = data; part; part = part->next)
            if (tcp_write(pcb, part->payload, part->len, TCP_WRITE_FLAG_COPY) != ERR_OK)
                return ERR_MEM;
    }
    tcp_recved(pcb, data->tot_len);
    pbuf_free(data);
    return ERR_OK;
}

static void generate(struct tcp_pcb *pcb)
{
    while (tcp_sndqueuelen(pcb) < TCP_SNDQUEUELOWAT) {
        const tcpwnd_size_t room = tcp_sndbuf(pcb) < 44 * TCP_MSS ? tcp_sndbuf(pcb) / TCP_MSS * TCP_MSS : 44 * TCP_MSS;
        if (!room || tcp_write(pcb, block, (u16_t)room, 0) != ERR_OK)
            return;
    }
}

static err_t on_sent(void *service, struct tcp_pcb *pcb, u16_t bytes)
{
    (void)service, (void)bytes;
    generate(pcb);
    return ERR_OK;
}

static err_t on_accepted(void *service, struct tcp_pcb *pcb, err_t error)
{
    if (error != ERR_OK || !pcb)
        return ERR_VAL;
    tcp_arg(pcb, service);
    tcp_nagle_disable(pcb);
    tcp_recv(pcb, on_received);
    if ((intptr_t)service == CHARGEN) {
        tcp_sent(pcb, on_sent);
        generate(pcb);
    }
    return ERR_OK;
}

static void serve(int service)
{
    struct tcp_pcb *pcb = tcp_new();
    if (tcp_bind(pcb, IP_ADDR_ANY, (u16_t)service) != ERR_OK)
        fail("bind");
    pcb = tcp_listen_with_backlog(pcb, 255);
    tcp_arg(pcb, (void *)(intptr_t)service);
    tcp_accept(pcb, on_accepted);
}

// --- the client ------------------------------------------------------------------------------------------------------

static unsigned long long taken_bytes;

static err_t on_taken(void *context, struct tcp_pcb *pcb, struct pbuf *data, err_t error)
{
    (void)context;
    if (error != ERR_OK || !data)
        fail("the peer's end");
    taken_bytes += data->tot_len;
    tcp_recved(pcb, data->tot_len);
    pbuf_free(data);
    return ERR_OK;
}

static err_t on_connected(void *context, struct tcp_pcb *pcb, err_t error)
{
    (void)context;
    tcp_recv(pcb, on_taken);
    return error;
}

static void on_error(void *context, err_t error)
{
    (void)context;
    fprintf(stderr, "lwip_host: connection: %d\n", error);
    exit(1);
}

static uint64_t now_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void take_from(const char *address, const char *milliseconds)
{
    ip_addr_t peer;
    if (!ip4addr_aton(address, &peer))
        fail(address);
    struct tcp_pcb *pcb = tcp_new();
    const uint64_t began_ns = now_ns(), until_ns = began_ns + strtoull(milliseconds, NULL, 10) * 1000000;
    tcp_err(pcb, on_error);
    if (tcp_connect(pcb, &peer, CHARGEN, on_connected) != ERR_OK)
        fail("connect");
    while (now_ns() < until_ns)
        turn();
    tcp_err(pcb, NULL);  // it would be told of what follows
    tcp_abort(pcb);
    printf("{\"test\": \"source\", \"count\": %llu, \"ns\": %llu}\n", taken_bytes,
           (unsigned long long)(now_ns() - began_ns));
    exit(0);
}

// --- the program -----------------------------------------------------------------------------------------------------

static int open_tap(const char *name)
{
    struct ifreq request = {.ifr_flags = IFF_TAP | IFF_NO_PI};
    const int tap = open("/dev/net/tun", O_RDWR | O_NONBLOCK);
    strncpy(request.ifr_name, name, sizeof request.ifr_name - 1);
    return tap >= 0 && ioctl(tap, TUNSETIFF, &request) == 0 ? tap : -1;
}

// read and writev are the same there: a frame each.
static int open_packet(const char *name)
{
    struct ifreq request = {0};
    struct sockaddr_ll own = {.sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL)};
    const int packet = socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK, 0);
    strncpy(request.ifr_name, name, sizeof request.ifr_name - 1);
    if (packet < 0 || ioctl(packet, SIOCGIFINDEX, &request) < 0)
        return -1;
    own.sll_ifindex = request.ifr_ifindex;
    return bind(packet, (const struct sockaddr *)&own, sizeof own) == 0 ? packet : -1;
}

int main(int argc, char **argv)
{
    ip4_addr_t address, mask, gateway = {0};
    const bool client = argc == 6 && !strcmp(argv[3], "source");
    if ((argc != 3 && !client) || !ip4addr_aton(argv[2], &address)) {
        fprintf(stderr, "usage: lwip_host TAP|packet:IFNAME ADDRESS [source PEER MS]\n");
        return 2;
    }
    fd = strncmp(argv[1], "packet:", 7) == 0 ? open_packet(argv[1] + 7) : open_tap(argv[1]);
    if (fd < 0)
        fail(argv[1]);
    IP4_ADDR(&mask, 255, 255, 255, 0);
    lwip_init();
    netif_add(&netif, &address, &mask, &gateway, NULL, prepare, ethernet_input);
    netif_set_default(&netif);
    netif_set_up(&netif);
    if (client)
        take_from(argv[4], argv[5]);
    serve(ECHO);
    serve(DISCARD);
    serve(CHARGEN);
    for (;;)
        turn();
}
