// SPDX-License-Identifier: BSD-2-Clause
#include "lwip_end.h"

#include <string.h>

#include "lwip/etharp.h"
#include "lwip/init.h"
#include "lwip/priv/tcp_priv.h"
#include "lwip/tcp.h"
#include "lwip/timeouts.h"
#include "netif/ethernet.h"

#define QUEUE 256u
#define ACCEPTED 64u

struct connection {
    struct tcp_pcb *pcb;  // NULL: lwIP let go of it
    uint64_t received;
    int established, peer_closed;
};

static const struct lwip_end *peer_end;
static struct netif interface;
static int own_index;
static uint64_t clock_us, frames_sent;
static struct pbuf *queue[QUEUE], *next_frame;
static uint32_t head, tail;
static struct connection *accepted[ACCEPTED];
static uint32_t accepted_head, accepted_tail;
static int copy_out;
static uint8_t block[65536];

u32_t sys_now(void) { return (u32_t)(clock_us / 1000); }

static void address_of(int index, ip4_addr_t *address) { IP4_ADDR(address, 10, 0, 0, index + 1); }

// --- the link --------------------------------------------------------------------------------------------------------

static uint8_t *end_room(uint32_t bytes)
{
    if (tail - head == QUEUE)
        return NULL;
    next_frame = pbuf_alloc(PBUF_RAW, (u16_t)(bytes + ETH_PAD_SIZE), PBUF_POOL);
    return next_frame ? (uint8_t *)next_frame->payload + ETH_PAD_SIZE : NULL;
}

static void end_arrived(void) { queue[tail++ % QUEUE] = next_frame; }
static uint32_t end_waiting(void) { return tail - head; }

static err_t carry(struct netif *netif, struct pbuf *frame)
{
    (void)netif;
    uint8_t *out = peer_end->room(frame->tot_len - (uint32_t)ETH_PAD_SIZE);
    if (!out)
        return ERR_MEM;
    uint32_t skip = ETH_PAD_SIZE;
    for (const struct pbuf *part = frame; part; part = part->next) {
        memcpy(out, (const uint8_t *)part->payload + skip, part->len - skip);
        out += part->len - skip;
        skip = 0;
    }
    peer_end->arrived();
    frames_sent++;
    return ERR_OK;
}

static err_t prepare(struct netif *netif)
{
    netif->name[0] = 'p', netif->name[1] = 'r';
    netif->mtu = 1500;
    netif->hwaddr_len = 6;
    memset(netif->hwaddr, 0, 6);
    netif->hwaddr[0] = 2;
    netif->hwaddr[5] = (u8_t)(own_index + 1);
    netif->flags = NETIF_FLAG_BROADCAST | NETIF_FLAG_ETHARP | NETIF_FLAG_ETHERNET | NETIF_FLAG_LINK_UP;
    netif->output = etharp_output;
    netif->linkoutput = carry;
    return ERR_OK;
}

static void end_open(int index, const struct lwip_end *peer)
{
    ip4_addr_t address, mask, gateway;
    own_index = index;
    peer_end = peer;
    clock_us = 1000000;
    lwip_init();
    address_of(index, &address);
    IP4_ADDR(&mask, 255, 0, 0, 0);
    IP4_ADDR(&gateway, 0, 0, 0, 0);
    netif_add(&interface, &address, &mask, &gateway, NULL, prepare, ethernet_input);
    netif_set_default(&interface);
    netif_set_up(&interface);
}

static void end_turn(uint64_t now_us, uint32_t most)
{
    clock_us = now_us;
    for (; most && head != tail; most--) {
        struct pbuf *frame = queue[head++ % QUEUE];
        if (interface.input(frame, &interface) != ERR_OK)
            pbuf_free(frame);
    }
    sys_check_timeouts();
}

// --- connections -----------------------------------------------------------------------------------------------------

static err_t on_received(void *argument, struct tcp_pcb *pcb, struct pbuf *data, err_t error)
{
    struct connection *connection = argument;
    if (!data || error != ERR_OK) {
        connection->peer_closed = 1;
        return ERR_OK;
    }
    connection->received += data->tot_len;
    if (copy_out)
        pbuf_copy_partial(data, block, data->tot_len, 0);
    tcp_recved(pcb, data->tot_len);
    pbuf_free(data);
    return ERR_OK;
}

static void on_error(void *argument, err_t error)
{
    (void)error;
    ((struct connection *)argument)->pcb = NULL;
}

static struct connection *adopt(struct tcp_pcb *pcb)
{
    struct connection *connection = calloc(1, sizeof *connection);
    connection->pcb = pcb;
    tcp_arg(pcb, connection);
    tcp_recv(pcb, on_received);
    tcp_err(pcb, on_error);
    tcp_nagle_disable(pcb);
    return connection;
}

static err_t on_accepted(void *argument, struct tcp_pcb *pcb, err_t error)
{
    (void)argument;
    if (error != ERR_OK || accepted_tail - accepted_head == ACCEPTED)
        return ERR_MEM;
    struct connection *connection = adopt(pcb);
    connection->established = 1;
    accepted[accepted_tail++ % ACCEPTED] = connection;
    return ERR_OK;
}

static err_t on_connected(void *argument, struct tcp_pcb *pcb, err_t error)
{
    (void)pcb, (void)error;
    ((struct connection *)argument)->established = 1;
    return ERR_OK;
}

static void end_listen(uint16_t port)
{
    struct tcp_pcb *pcb = tcp_new();
    tcp_bind(pcb, IP_ADDR_ANY, port);
    tcp_accept(tcp_listen_with_backlog(pcb, 255), on_accepted);
}

static void *end_connect(uint16_t port)
{
    ip4_addr_t address;
    address_of(1 - own_index, &address);
    struct connection *connection = adopt(tcp_new());
    if (tcp_connect(connection->pcb, &address, port, on_connected) != ERR_OK)
        abort();
    return connection;
}

static void *end_accept(void) { return accepted_head == accepted_tail ? NULL : accepted[accepted_head++ % ACCEPTED]; }
static int end_established(void *connection) { return ((struct connection *)connection)->established; }

static uint64_t end_fill(void *of, uint64_t most, int copying)
{
    struct tcp_pcb *pcb = ((struct connection *)of)->pcb;
    uint64_t queued = 0;
    while (queued < most && tcp_sndqueuelen(pcb) < TCP_SNDQUEUELOWAT) {
        uint32_t now = tcp_sndbuf(pcb) < 44 * TCP_MSS ? tcp_sndbuf(pcb) / TCP_MSS * TCP_MSS : 44 * TCP_MSS;
        if (now > most - queued)
            now = (uint32_t)(most - queued);
        if (!now || tcp_write(pcb, block, (u16_t)now, copying ? TCP_WRITE_FLAG_COPY : 0) != ERR_OK)
            break;
        queued += now;
    }
    if (queued)
        tcp_output(pcb);
    return queued;
}

static uint64_t end_received(void *connection) { return ((struct connection *)connection)->received; }
static void end_keep(int copying) { copy_out = copying; }

static void end_write_byte(void *connection)
{
    struct tcp_pcb *pcb = ((struct connection *)connection)->pcb;
    tcp_write(pcb, block, 1, TCP_WRITE_FLAG_COPY);
    tcp_output(pcb);
}

static void end_close(void *of)
{
    struct connection *connection = of;
    if (connection->pcb) {
        tcp_arg(connection->pcb, NULL);
        tcp_recv(connection->pcb, NULL);
        tcp_err(connection->pcb, NULL);
        if (tcp_close(connection->pcb) != ERR_OK)
            abort();
    }
    free(connection);
}

static uint64_t end_frames(void) { return frames_sent; }

const struct lwip_end lwip_end = {
    .open = end_open,
    .room = end_room,
    .arrived = end_arrived,
    .waiting = end_waiting,
    .turn = end_turn,
    .listen = end_listen,
    .connect = end_connect,
    .accept = end_accept,
    .established = end_established,
    .fill = end_fill,
    .received = end_received,
    .keep = end_keep,
    .write_byte = end_write_byte,
    .close = end_close,
    .frames = end_frames,
    .connection_bytes = sizeof(struct tcp_pcb),
};
