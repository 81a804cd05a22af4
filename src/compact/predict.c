// SPDX-License-Identifier: BSD-2-Clause
// A shortcut for what most frames are (header prediction; Jacobson 1990): the next segment in order of an open
// connection, with nothing in its headers or in the connection's state that asks for more than to acknowledge and to
// store. It is verified as ip.c does, and what is done with it is what the steps of input.c would do; all else goes
// that way, and nothing depends on this file.
#include "compact/compact.h"
#include "wire/ethernet.h"
#include "wire/ip4.h"
#include "wire/tcp.h"

#define HEAD_BYTES (IP_BYTES + TCP_BYTES)
// What a connection may have to do beside. The other flags are for the steps.
#define PLAIN (CONN_ACK_NOW | CONN_ACK_DELAYED | CONN_TIMER | CONN_TIMING | CONN_WRITE_BLOCKED)

// The connection that expects this segment of `length` bytes; NULL: none does.
static struct conn *expecting(struct weir *weir, const uint8_t *ip, const uint8_t *tcp, uint32_t length)
{
    struct conn *c = conn_find(weir, plain_key(weir->netif, ip));
    if (!c || c->socket.state != WEIR_TCP_ESTABLISHED || c->flags & ~PLAIN || c->nxt != c->max ||
        c->beyond_start != c->beyond_end)
        return NULL;
    const uint32_t acked = get32(tcp + 8) - c->una, window = get16(tcp + 14);
    if (get32(tcp + 4) != c->expected || length > c->edge - c->expected || acked > c->max - c->una ||
        !(acked | length) || !window || window != c->window)
        return NULL;
    return c;
}

LOCAL COLD bool predicted_input(struct weir *weir, const struct weir_frame *frame)
{
    const uint8_t *ip = frame->slices[0].data + ETHERNET_BYTES, *tcp = ip + IP_BYTES;
    const uint32_t at_hand = frame->slices[0].length - ETHERNET_BYTES;
    if (at_hand < HEAD_BYTES)
        return false;
    const uint32_t length = plain_length(ip) - HEAD_BYTES;  // less than none is much
    // No options, no fragment; no flags but ACK and PSH.
    if (!plain_head(ip) || length > at_hand - HEAD_BYTES ||
        (get16(tcp + 12) & ~TCP_PSH) != (TCP_BYTES << 10 | TCP_ACK) || !plain_to_us(weir->netif, ip))
        return false;
    struct conn *c = expecting(weir, ip, tcp, length);
    if (!c)
        return false;
    const uint64_t addresses = plain_addresses(weir->port, ip);
    if (!plain_sum_good(ip, addresses) ||
        (frame->checksum != WEIR_CHECKSUM_VERIFIED &&
         checksum_fold_words(addresses + pseudo_word(IP_TCP, TCP_BYTES + length) +
                             checksum_sum(weir->port, tcp, TCP_BYTES + length)) != 0xffff))
        return false;
    c->update_sequence = c->expected;
    if (length) {
        const uint32_t at = ((uint32_t)c->receive_at + c->receive_length) % RECEIVE_BYTES,
                       first = min_u32(length, RECEIVE_BYTES - at);
        memcpy(c->receive + at, tcp + TCP_BYTES, first);
        if (first != length)
            memcpy(c->receive, tcp + TCP_BYTES + first, length - first);
        conn_received(weir, c, length);
    }
    if (get32(tcp + 8) != c->una)
        conn_acked(weir, c, get32(tcp + 8) - c->una);
    return true;
}
