// SPDX-License-Identifier: BSD-2-Clause
// The client of echo_client.c over IPv6. It begins when the server asks for routers: its address is ready then.
#ifndef ECHO_IP6_H
#define ECHO_IP6_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "echo_bytes.h"

#define IP_BYTES 40u
#define SERVER_IS_THERE false

static uint8_t addresses[32] = {0xfe, 0x80, [15] = 1};  // the client's; the server's, when it is known
static const uint8_t client_mac[6] = {2, 0, 0, 0, 0, 1};

// A server that only answers asks nobody for a link address.
static inline bool asks(const uint8_t *frame) { return (void)frame, false; }
static inline uint32_t make_answer(uint8_t *frame, const uint8_t *server_mac)
{
    return (void)frame, (void)server_mac, 0;
}

// The ethertype, and the header before so many bytes of TCP.
static inline void make_ip(uint8_t *type, uint32_t tcp_bytes)
{
    uint8_t *ip = type + 2;
    put16(type, 0x86dd);
    put32(ip, 6u << 28);
    put16(ip + 4, tcp_bytes);
    put16(ip + 6, 6 << 8 | 64);
    memcpy(ip + 8, addresses, sizeof addresses);
}

static inline bool is_tcp(const uint8_t *frame) { return frame[20] == 6; }
static inline bool is_there_now(const uint8_t *frame)  // a router solicitation
{
    const bool now = frame[20] == 58 && frame[54] == 133 && !addresses[16];
    if (now)
        memcpy(addresses + 16, frame + 22, 16);
    return now;
}

#endif
