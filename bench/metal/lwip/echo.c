// SPDX-License-Identifier: BSD-2-Clause
// The peer of tiny_echo: an echo server on lwIP's raw API, without any operating system, for a Cortex-M3 at 25 MHz with
// the memory MAC.
#include <string.h>

#include "lwip/etharp.h"
#include "lwip/init.h"
#include "lwip/priv/tcp_priv.h"
#include "mac.h"
#include "netif/ethernet.h"

#define PORT 5200
#define CYCLES_PER_MS 25000u
#define SYSTICK 0xe000e010u

static volatile uint32_t time_ms;
static struct netif netif;
static struct pbuf *kept;  // received, and no room yet to send it

void systick_handler(void) { time_ms++; }
u32_t sys_now(void) { return time_ms; }

// As much as there is room for.
static void echo(struct tcp_pcb *connection)
{
    while (kept) {
        struct pbuf *part = kept;
        if (part->len > tcp_sndbuf(connection) ||
            tcp_write(connection, part->payload, part->len, TCP_WRITE_FLAG_COPY) != ERR_OK)
            break;
        kept = part->next;
        if (kept)
            pbuf_ref(kept);
        tcp_recved(connection, part->len);
        pbuf_free(part);
    }
    (void)tcp_output(connection);
}

static err_t sent(void *unused, struct tcp_pcb *connection, u16_t bytes)
{
    (void)unused, (void)bytes;
    if (kept)
        echo(connection);
    return ERR_OK;
}

static void forget(void)
{
    if (kept)
        pbuf_free(kept);
    kept = NULL;
}

static void ended(void *unused, err_t error)
{
    (void)unused, (void)error;
    forget();
}

static err_t received(void *unused, struct tcp_pcb *connection, struct pbuf *data, err_t error)
{
    (void)unused, (void)error;
    if (!data) {
        forget();
        return tcp_close(connection);
    }
    if (kept)
        pbuf_cat(kept, data);
    else
        kept = data;
    echo(connection);
    return ERR_OK;
}

static err_t accepted(void *unused, struct tcp_pcb *connection, err_t error)
{
    (void)unused, (void)error;
    tcp_recv(connection, received);
    tcp_sent(connection, sent);
    tcp_err(connection, ended);
    return ERR_OK;
}

static err_t interface(struct netif *own)
{
    static const uint8_t mac[6] = {0x02, 0x57, 0x65, 0x69, 0x72, 0x03};
    own->name[0] = 'e';
    own->output = etharp_output;
    own->linkoutput = mac_send;
    own->mtu = 576;
    own->flags = NETIF_FLAG_BROADCAST | NETIF_FLAG_ETHARP | NETIF_FLAG_LINK_UP;
    own->hwaddr_len = 6;
    memcpy(own->hwaddr, mac, 6);
    return mac_start(own);
}

static void start(void)
{
    static const ip4_addr_t address = {PP_HTONL(0x0a000002)}, mask = {PP_HTONL(0xffffff00)},
                            gateway = {PP_HTONL(0x0a000001)};
    lwip_init();
    netif_add(&netif, &address, &mask, &gateway, NULL, interface, ethernet_input);
    netif_set_default(&netif);
    netif_set_up(&netif);
    struct tcp_pcb *server = tcp_new();
    tcp_bind(server, IP_ADDR_ANY, PORT);
    tcp_accept(tcp_listen(server), accepted);
}

int main(void)
{
    volatile uint32_t *systick = (volatile uint32_t *)(uintptr_t)SYSTICK;
    uint32_t tcp_ms = 0, arp_ms = 0;
    systick[1] = CYCLES_PER_MS - 1;
    systick[2] = 0;
    systick[0] = 7;  // the processor's clock, interrupt, on
    start();
    for (;;) {
        struct pbuf *frame = mac_receive();
        if (frame) {
            if (netif.input(frame, &netif) != ERR_OK)
                pbuf_free(frame);
            continue;
        }
        if (time_ms - tcp_ms >= TCP_TMR_INTERVAL) {
            tcp_ms = time_ms;
            tcp_tmr();
        }
        if (time_ms - arp_ms >= ARP_TMR_INTERVAL) {
            arp_ms = time_ms;
            etharp_tmr();
        }
        __asm__ volatile("wfi");
    }
}
