// SPDX-License-Identifier: BSD-2-Clause
// A TCP client in place of a MAC's driver (client_weir.c; lwip/client_mac.c): it opens a connection, sends
// ECHO_CLIENT_BYTES, waits until they have come back whole, and again, with each acknowledgement riding on the next
// data. Its own time is taken with the CMSDK timer and subtracted; what is left of 200 echoes (after 20 that are not
// counted) is the server's: stack, kernel, API and application. QEMU, mps2-an385, -icount shift=0: an instruction is a
// nanosecond, a tick of the timer 40 of them. Prints "insn N stack M" and ends QEMU.
#include "echo_client.h"

#include <string.h>

#ifdef ECHO_CLIENT_IP6
#include "echo_ip6.h"
#else
#include "echo_ip4.h"
#endif

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
#define HEADERS (14u + IP_BYTES + 20u)
#define FRAME_SHIFT 2u  // so that headers are aligned

enum { FIN = 1, SYN = 2, RST = 4, PSH = 8, ACK = 16 };
static struct {
    uint32_t next, expected;  // sequence numbers: ours, the server's
    uint32_t echoes, arrived;
    uint32_t own_ticks, began;
    uint8_t flags;        // of the segment to send
    bool pending, asked;  // a segment, an answer to the server's question for a link address
    uint8_t data[ECHO_CLIENT_BYTES];
    uint32_t frame[(2 + HEADERS + 4 + ECHO_CLIENT_BYTES + 3) / 4],
        taken[(2 + HEADERS + 40 + ECHO_CLIENT_BYTES + 3) / 4];
    uint8_t mac[6];
} client;

static volatile uint32_t *reg(uint32_t address) { return (volatile uint32_t *)(uintptr_t)address; }
static uint32_t ticks(void) { return ~*reg(TIMER + 4); }  // it counts down

static uint32_t make_frame(uint8_t *frame)
{
    const uint32_t options = client.flags & SYN ? 4 : 0, payload = client.flags & PSH ? ECHO_CLIENT_BYTES : 0;
    const uint32_t tcp_bytes = 20 + options + payload;
    uint8_t *tcp = frame + 14 + IP_BYTES;
    memcpy(frame, client.mac, 6);
    memcpy(frame + 6, client_mac, 6);
    make_ip(frame + 12, tcp_bytes);
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
    put16(tcp + 16, folded(sum16(sum16(6 + tcp_bytes, addresses, sizeof addresses), tcp, tcp_bytes)));
    client.next += payload + (options > 0);
    return 14 + IP_BYTES + tcp_bytes;
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
    client.pending = SERVER_IS_THERE;
}

uint32_t echo_client_clock(void) { return ticks(); }
void echo_client_own(uint32_t began) { client.own_ticks += ticks() - began; }
bool echo_client_waits(void) { return client.pending || client.asked; }

uint32_t echo_client_next(const uint8_t **frame)
{
    uint8_t *made = (uint8_t *)client.frame + FRAME_SHIFT;
    const bool answer = client.asked;
    const uint32_t length = answer ? make_answer(made, client.mac) : make_frame(made);
    if (answer)
        client.asked = false;
    else
        client.pending = false;
    *frame = made;
    return length;
}

static void take(const uint8_t *frame, uint32_t length)
{
    const uint8_t *tcp = frame + 14 + IP_BYTES, *data = tcp + (tcp[12] >> 4) * 4;
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
    if (is_tcp(frame))
        take(frame, length);
    else if (asks(frame))
        client.asked = true;
    else if (is_there_now(frame))
        client.pending = true;
    if (echo_client_waits())
        echo_client_wake();
    echo_client_own(before != client.echoes && client.echoes == WARM ? client.began : began);
}
