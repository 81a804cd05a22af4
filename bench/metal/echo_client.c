// SPDX-License-Identifier: BSD-2-Clause
// A TCP client in place of a MAC's driver (client_weir.c; lwip/client_mac.c): it opens a connection, sends
// ECHO_CLIENT_BYTES, waits until they have come back whole, and again, with each acknowledgement riding on the next
// data. Its own time is taken with the CMSDK timer and subtracted; what is left of 200 echoes (after 20 that are not
// counted) is the server's: stack, kernel, API and application. QEMU, mps2-an385, -icount shift=0: an instruction is a
// nanosecond, a tick of the timer 40 of them. Prints "insn N stack M" and ends QEMU.
#include "echo_client.h"

#include <string.h>

#ifndef ECHO_CLIENT_BYTES
#define ECHO_CLIENT_BYTES 1
#endif
#ifndef ECHO_CLIENT_PORT
#define ECHO_CLIENT_PORT 5200
#endif
#define WARM 20u
#define COUNTED 200u
#define TIMER 0x40000000u
#define UART 0x40004000u
#define NS_A_TICK 40u
#define HEADERS 54u
#define ARP_FRAME 42u
#define FRAME_SHIFT 2u  // so that headers are aligned

enum { FIN = 1, SYN = 2, RST = 4, PSH = 8, ACK = 16 };
static struct {
    uint32_t next, expected;  // sequence numbers: ours, the server's
    uint32_t echoes, arrived;
    uint32_t own_ticks, began;
    uint8_t flags;        // of the segment to send
    bool pending, asked;  // a segment, an answer to the server's ARP request
    uint8_t data[ECHO_CLIENT_BYTES];
    uint32_t frame[(2 + HEADERS + 4 + ECHO_CLIENT_BYTES + 3) / 4],
        taken[(2 + HEADERS + 40 + ECHO_CLIENT_BYTES + 3) / 4];
    uint8_t mac[6];
} client;

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
static uint32_t get32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

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

static const uint8_t addresses[8] = {10, 0, 0, 1, 10, 0, 0, 2};  // the client's, the server's
static const uint8_t client_mac[6] = {2, 0, 0, 0, 0, 1};

static uint32_t make_arp_reply(uint8_t *frame)
{
    memcpy(frame, client.mac, 6);
    memcpy(frame + 6, client_mac, 6);
    memcpy(frame + 12, "\x08\x06\0\1\x08\0\6\4\0\2", 10);
    memcpy(frame + 22, client_mac, 6);
    memcpy(frame + 28, addresses, 4);
    memcpy(frame + 32, client.mac, 6);
    memcpy(frame + 38, addresses + 4, 4);
    return ARP_FRAME;
}

static uint32_t make_frame(uint8_t *frame)
{
    const uint32_t options = client.flags & SYN ? 4 : 0, payload = client.flags & PSH ? ECHO_CLIENT_BYTES : 0;
    const uint32_t tcp_bytes = 20 + options + payload;
    uint8_t *ip = frame + 14, *tcp = ip + 20;
    memcpy(frame, client.mac, 6);
    memcpy(frame + 6, client_mac, 6);
    put16(frame + 12, 0x800);
    memset(ip, 0, 20);
    put16(ip, 0x4500);
    put16(ip + 2, 20 + tcp_bytes);
    put16(ip + 8, 64 << 8 | 6);
    memcpy(ip + 12, addresses, 8);
    put16(ip + 10, folded(sum16(0, ip, 20)));
    put16(tcp, 40000);
    put16(tcp + 2, ECHO_CLIENT_PORT);
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
        say_number(echo_client_stack());
        say("\n");
        leave(0);
    }
    for (uint32_t i = 0; i < ECHO_CLIENT_BYTES; i++)
        client.data[i] = (uint8_t)(i * 7 + client.echoes);
}

void echo_client_start(const uint8_t mac[6])
{
    *reg(UART + 0x10) = 16;
    *reg(UART + 8) = 1;
    *reg(TIMER + 4) = *reg(TIMER + 8) = 0xffffffffu;
    *reg(TIMER) = 1;
    memcpy(client.mac, mac, 6);
    client.flags = SYN;
    client.next = 1;
    client.pending = true;
}

uint32_t echo_client_clock(void) { return ticks(); }
void echo_client_own(uint32_t began) { client.own_ticks += ticks() - began; }
bool echo_client_waits(void) { return client.pending || client.asked; }

uint32_t echo_client_next(const uint8_t **frame)
{
    uint8_t *made = (uint8_t *)client.frame + FRAME_SHIFT;
    const bool arp = client.asked;
    const uint32_t length = arp ? make_arp_reply(made) : make_frame(made);
    if (arp)
        client.asked = false;
    else
        client.pending = false;
    *frame = made;
    return length;
}

static void take(const uint8_t *frame, uint32_t length)
{
    const uint8_t *tcp = frame + 34, *data = tcp + (tcp[12] >> 4) * 4;
    const uint32_t bytes = length - (uint32_t)(data - frame);
    if (tcp[13] & (FIN | RST))
        fail("the connection ended");
    if (tcp[13] & SYN) {
        client.expected = get32(tcp + 4) + 1;
        client.flags = ACK | PSH;
        client.pending = true;
        return;
    }
    if (!bytes)
        return;
    if (get32(tcp + 4) != client.expected)
        fail("another sequence number");
    if (client.arrived + bytes > ECHO_CLIENT_BYTES || memcmp(client.data + client.arrived, data, bytes) != 0)
        fail("other bytes came back");
    client.arrived += bytes;
    client.expected += bytes;
    if (client.arrived == ECHO_CLIENT_BYTES) {
        client.pending = true;
        echoed();
    }
}

uint8_t *echo_client_room(uint32_t length)
{
    if (length > sizeof client.taken - FRAME_SHIFT)
        fail("a frame larger than the echo");
    return (uint8_t *)client.taken + FRAME_SHIFT;
}

void echo_client_take(uint32_t length, uint32_t began)
{
    const uint8_t *frame = (const uint8_t *)client.taken + FRAME_SHIFT;
    const uint32_t before = client.echoes;
    if (frame[13] == 6)
        client.asked = frame[21] == 1 && memcmp(frame + 38, addresses, 4) == 0;
    else
        take(frame, length);
    if (echo_client_waits())
        echo_client_wake();
    echo_client_own(before != client.echoes && client.echoes == WARM ? client.began : began);
}
