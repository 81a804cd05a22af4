// SPDX-License-Identifier: BSD-2-Clause
// A TCP client in place of the memory MAC's driver: it opens a connection, sends ECHO_CLIENT_BYTES, waits until they have come back whole,
// and again, with each acknowledgement riding on the next data. Its own time is taken with the CMSDK timer and subtracted; what is left of
// 200 echoes (after 20 that are not counted) is the server's: stack, kernel, API and application. QEMU, mps2-an385, -icount shift=0: an
// instruction is a nanosecond, a tick of the timer 40 of them. Prints "insn N stack M" and ends QEMU.
#include <stdbool.h>
#include <string.h>

#include "drivers/memory_mac.h"
#include "kernel/coop/coop.h"

#ifndef ECHO_CLIENT_BYTES
#define ECHO_CLIENT_BYTES 1
#endif
#define PORT 5200
#define WARM 20u
#define COUNTED 200u
#define TIMER 0x40000000u
#define UART 0x40004000u
#define NS_A_TICK 40u
#define HEADERS 54u
#define STACK_LOOK 4096u  // bytes below its top

enum { FIN = 1, SYN = 2, RST = 4, PSH = 8, ACK = 16 };
static struct {
    uint32_t next, expected;  // sequence numbers: ours, the server's
    uint32_t echoes, arrived;
    uint32_t own_ticks, began;
    uint8_t flags;  // of the segment to send
    bool pending, listens;
    uint8_t data[ECHO_CLIENT_BYTES];
    uint32_t frame[(2 + HEADERS + 4 + ECHO_CLIENT_BYTES + 3) / 4];
    uint8_t mac[6];
} client;

extern uint32_t link_stack_top[];

static volatile uint32_t *reg(uint32_t address) { return (volatile uint32_t *)(uintptr_t)address; }
static uint32_t ticks(void) { return ~*reg(TIMER + 4); }  // it counts down

static void put16(uint8_t *p, uint32_t value)
{
    p[0] = (uint8_t)(value >> 8);
    p[1] = (uint8_t)value;
}
static void put32(uint8_t *p, uint32_t value)
{
    put16(p, value >> 16);
    put16(p + 2, value);
}
static uint32_t get32(const uint8_t *p) { return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3]; }

static uint32_t sum16(uint32_t sum, const uint8_t *p, uint32_t bytes)
{
    for (; bytes > 1; bytes -= 2, p += 2)
        sum += (uint32_t)p[0] << 8 | p[1];
    return bytes ? sum + ((uint32_t)p[0] << 8) : sum;
}
static uint32_t folded(uint32_t sum)
{
    sum = (sum & 0xffff) + (sum >> 16);
    return ~(sum + (sum >> 16)) & 0xffff;
}

static uint32_t make_frame(uint8_t *frame)
{
    static const uint8_t addresses[8] = {10, 0, 0, 1, 10, 0, 0, 2};
    const uint32_t options = client.flags & SYN ? 4 : 0, payload = client.flags & PSH ? ECHO_CLIENT_BYTES : 0;
    const uint32_t tcp_bytes = 20 + options + payload;
    uint8_t *ip = frame + 14, *tcp = ip + 20;
    memcpy(frame, client.mac, 6);
    memcpy(frame + 6, "\x02\0\0\0\0\1\x08\0", 8);
    memset(ip, 0, 20);
    put16(ip, 0x4500);
    put16(ip + 2, 20 + tcp_bytes);
    put16(ip + 8, 64 << 8 | 6);
    memcpy(ip + 12, addresses, 8);
    put16(ip + 10, folded(sum16(0, ip, 20)));
    put16(tcp, 40000);
    put16(tcp + 2, PORT);
    put32(tcp + 4, client.next);
    put32(tcp + 8, client.expected);
    put16(tcp + 12, (5 + options / 4) << 12 | client.flags);
    put16(tcp + 14, 8000);
    put32(tcp + 16, 0);
    if (options)
        put32(tcp + 20, 0x02040000 | 536);
    memcpy(tcp + 20 + options, client.data, payload);
    put16(tcp + 16, folded(sum16(sum16(6 + tcp_bytes, addresses, 8), tcp, tcp_bytes)));
    client.next += payload + (options > 0);
    return 34 + tcp_bytes;
}

static void say(const char *text)
{
    for (; *text; text++)
        *reg(UART) = (uint8_t)*text;
}
static void say_number(uint32_t number)
{
    char text[12], *at = text + sizeof text - 1;
    for (*at = 0; number || !*at; number /= 10)
        *--at = (char)('0' + number % 10);
    say(at);
}

__attribute__((noreturn)) static void leave(int status)
{
    const uint32_t words[2] = {0x20026, (uint32_t)status};  // ADP_Stopped_ApplicationExit
    register uint32_t r0 __asm__("r0") = 0x20;
    register const uint32_t *r1 __asm__("r1") = words;
    __asm__ volatile("bkpt 0xab" ::"r"(r0), "r"(r1) : "memory");
    for (;;)
        ;
}

static void fail(const char *text)
{
    say("failed: ");
    say(text);
    say("\n");
    leave(1);
}

static uint32_t stack_used(void)
{
    const uint32_t *deepest = (const uint32_t *)((uintptr_t)link_stack_top - STACK_LOOK);
    while (*deepest == 0xa5a5a5a5)
        deepest++;
    return (uint32_t)((const char *)link_stack_top - (const char *)deepest);
}

static void echoed(void)
{
    client.echoes++;
    client.arrived = 0;
    if (client.echoes == WARM) {
        client.own_ticks = 0;
        client.began = ticks();
    } else if (client.echoes == WARM + COUNTED) {
        const uint32_t spent = ticks() - client.began - client.own_ticks;
        say("insn ");
        say_number((spent * NS_A_TICK + COUNTED / 2) / COUNTED);
        say(" stack ");
        say_number(stack_used());
        say("\n");
        leave(0);
    }
    for (uint32_t i = 0; i < ECHO_CLIENT_BYTES; i++)
        client.data[i] = (uint8_t)(i * 7 + client.echoes);
}

static int client_poll(struct weir_netif *netif, int budget)
{
    const uint32_t began = ticks();
    (void)budget;
    if (!client.listens) {  // the server's task has its first turn after this
        client.listens = true;
        coop_interrupt();
        return 0;
    }
    if (!client.pending)
        return 0;
    client.pending = false;
    uint8_t *frame = (uint8_t *)client.frame + MEMORY_MAC_SHIFT;
    const struct weir_slice slice = {frame, make_frame(frame)};
    const struct weir_frame lent = {.slices = &slice, .length = slice.length, .count = 1};
    client.own_ticks += ticks() - began;
    weir_input(netif, &lent);
    return 1;
}

static void take(const uint8_t *tcp, const struct weir_tx *tx)
{
    const uint8_t flags = tcp[13];
    if (flags & (FIN | RST))
        fail("the connection ended");
    if (flags & SYN) {
        client.expected = get32(tcp + 4) + 1;
        client.flags = ACK | PSH;
        client.pending = true;
        return;
    }
    if (tx->length == tx->header_length)
        return;
    if (get32(tcp + 4) != client.expected)
        fail("another sequence number");
    for (uint32_t i = 1; i < tx->count; i++) {
        if (client.arrived + tx->slices[i].length > ECHO_CLIENT_BYTES ||
            memcmp(client.data + client.arrived, tx->slices[i].data, tx->slices[i].length) != 0)
            fail("other bytes came back");
        client.arrived += tx->slices[i].length;
        client.expected += tx->slices[i].length;
    }
    if (client.arrived == ECHO_CLIENT_BYTES) {
        client.pending = true;
        echoed();
    }
}

static enum weir_tx_verdict client_tx(struct weir_netif *netif, const struct weir_tx *tx)
{
    const uint32_t began = ticks(), before = client.echoes;
    (void)netif;
    take(tx->slices[0].data + 34, tx);
    if (client.pending)
        coop_interrupt();
    client.own_ticks += ticks() - (before != client.echoes && client.echoes == WARM ? client.began : began);
    return WEIR_TX_DONE;
}

static const struct weir_driver client_driver = {.name = "client", .tx = client_tx, .poll = client_poll};

void memory_mac_attach(struct memory_mac *device, uintptr_t base, struct weir_netif *netif, const uint8_t mac[6])
{
    (void)base;
    *reg(UART + 0x10) = 16;
    *reg(UART + 8) = 1;
    *reg(TIMER + 4) = *reg(TIMER + 8) = 0xffffffffu;
    *reg(TIMER) = 1;
    memcpy(client.mac, mac, 6);
    client.flags = SYN;
    client.next = 1;
    client.pending = true;
    weir_netif_init(netif, "eth0", &client_driver, &weir_link_ethernet);
    netif->driver_data = device;
    memcpy(netif->mac, mac, 6);
    // What lies below the present frame is painted, to see how deep the stack goes.
    uintptr_t here;
    __asm__ volatile("mov %0, sp" : "=r"(here));
    for (uintptr_t at = (uintptr_t)link_stack_top - STACK_LOOK; at < here; at += 4)
        *reg(at) = 0xa5a5a5a5;
}
