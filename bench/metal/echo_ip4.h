// SPDX-License-Identifier: BSD-2-Clause
// The client of echo_client.c over IPv4: headers, and the answer to the server's ARP request.
#ifndef ECHO_IP4_H
#define ECHO_IP4_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "echo_bytes.h"

#define IP_BYTES 20u
#define ANSWER_BYTES 42u
#define SERVER_IS_THERE true  // from the start

static const uint8_t addresses[8] = {10, 0, 0, 1, 10, 0, 0, 2};  // the client's, the server's
static const uint8_t client_mac[6] = {2, 0, 0, 0, 0, 1};

static inline uint32_t make_answer(uint8_t *frame, const uint8_t *server_mac)
{
    memcpy(frame, server_mac, 6);
    memcpy(frame + 6, client_mac, 6);
    memcpy(frame + 12, "\x08\x06\0\1\x08\0\6\4\0\2", 10);
    memcpy(frame + 22, client_mac, 6);
    memcpy(frame + 28, addresses, 4);
    memcpy(frame + 32, server_mac, 6);
    memcpy(frame + 38, addresses + 4, 4);
    return ANSWER_BYTES;
}

// The ethertype, and the header before so many bytes of TCP.
static inline void make_ip(uint8_t *type, uint32_t tcp_bytes)
{
    uint8_t *ip = type + 2;
    put16(type, 0x800);
    memset(ip, 0, IP_BYTES);
    put16(ip, 0x4500);
    put16(ip + 2, IP_BYTES + tcp_bytes);
    put16(ip + 8, 64 << 8 | 6);
    memcpy(ip + 12, addresses, sizeof addresses);
    put16(ip + 10, folded(sum16(0, ip, IP_BYTES)));
}

static inline bool is_tcp(const uint8_t *frame) { return frame[13] == 0; }
static inline bool asks(const uint8_t *frame)
{
    return frame[13] == 6 && frame[21] == 1 && memcmp(frame + 38, addresses, 4) == 0;
}
static inline bool is_there_now(const uint8_t *frame) { return (void)frame, false; }

#endif
