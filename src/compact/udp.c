// SPDX-License-Identifier: BSD-2-Clause
// UDP (RFC 768) for a host that only serves: a socket holds one datagram at a time, which its user takes and answers.
// As with all that the compact stack sends, an answer goes to the link address that the question came from, so a socket
// sends to nobody else than whose datagram it holds or took last. (More exactly: whose datagram its user looked at
// last.)
#include "base/checksum.h"
#include "compact/compact.h"
#include "compact/udp.h"
#include "wire/ethernet.h"
#include "wire/ip4.h"
#include "wire/udp.h"

#define ADDRESSES_BYTES (2u * IP_ADDRESS_BYTES)  // they end the IP header

LOCAL struct datagram *datagram_of(struct weir *weir, weir_socket handle)
{
    const uint32_t at = ((uint32_t)handle & INDEX_MASK) - LISTENERS - CONNS;
    struct datagram *d = weir->datagrams + at;
    return at < DATAGRAMS && d->socket.open && d->socket.handle == handle ? d : NULL;
}

static struct datagram *datagram_at(struct weir *weir, const uint8_t port[2])
{
    for (struct datagram *d = weir->datagrams; d < weir->datagrams + DATAGRAMS; d++)
        if (d->socket.open && native16(d->port) == native16(port))
            return d;
    return NULL;
}

LOCAL int datagram_bind(struct weir *weir, weir_socket handle, const struct weir_endpoint *local)
{
    struct datagram *d = datagram_of(weir, handle);
    uint8_t port[2];
    put16(port, local->port);
    if (!d)
        return WEIR_BAD_SOCKET;
    if (!local->port)
        return WEIR_INVALID;
    if (!weir_addr_is_any(local->addr) && !local_bindable(weir->netif, local->addr))
        return WEIR_NO_ADDRESS;
    if (datagram_at(weir, port))
        return WEIR_IN_USE;
    // nothing is left of who had it before
    memset(d->port, 0, offsetof(struct datagram, data) - offsetof(struct datagram, port));
    memcpy(d->port, port, 2);
    return WEIR_OK;
}

LOCAL int datagram_ready(struct weir *weir, weir_socket handle)
{
    const struct datagram *d = datagram_of(weir, handle);
    return !d ? WEIR_BAD_SOCKET : (d->waiting ? WEIR_READABLE : 0) | (weir->outbox_length ? 0 : WEIR_WRITABLE);
}

// A sum of 0 is none, which IPv6 does not allow (RFC 8200 §8.1).
static bool datagram_good(const struct weir *weir, const struct segment *segment, const uint8_t *udp, uint32_t length,
                          uint64_t sum)
{
    if (!native16(udp + 6))
        return UDP_SUM_OPTIONAL;
    return segment->frame->checksum == WEIR_CHECKSUM_VERIFIED ||
           checksum_fold_words(sum + pseudo_word(IP_UDP, length) +
                               frame_sum(weir, segment->frame, segment->offset, length)) == 0xffff;
}

// What finds no socket, or one whose datagram nobody took, is lost as on the wire.
LOCAL void udp_input(struct weir *weir, const struct segment *segment, const uint8_t *udp, uint64_t sum)
{
    const uint32_t length = segment->length < UDP_BYTES ? 0 : get16(udp + 4);
    if (length < UDP_BYTES || length > segment->length || !datagram_good(weir, segment, udp, length, sum))
        return;
    struct datagram *d = datagram_at(weir, udp + 2);
    if (!d || !native16(udp + 2) || d->waiting || length - UDP_BYTES > DATAGRAM_BYTES) {
        weir->netif->stats.rx_dropped++;
        return;
    }
    peer_copy(&d->from, &segment->peer);
    memcpy(d->from.ports, udp, 4);  // both ports
    memcpy(d->from.mac, segment->frame->slices[0].data + 6, 6);
    d->length = (uint16_t)(length - UDP_BYTES);
    frame_copy(segment->frame, segment->offset + UDP_BYTES, d->data, d->length);
    d->waiting = true;
    d->socket.events |= WEIR_READABLE;
}

// The socket, if it holds a datagram; else why not.
static int holding(struct weir *weir, weir_socket socket, struct datagram **out)
{
    *out = datagram_of(weir, socket);
    return !*out ? WEIR_BAD_SOCKET : (*out)->waiting ? WEIR_OK : WEIR_AGAIN;
}

int weir_socket_peek_message(struct weir *weir, weir_socket socket, struct weir_message *message,
                             struct weir_slice *slice)
{
    struct datagram *d;
    const int error = holding(weir, socket, &d);
    if (error)
        return error;
    d->seen = d->from;
    message->peer.addr = peer_address(&d->from);
    message->peer.port = get16(d->from.ports);
    message->local = local_address(weir->netif, &d->from);
    message->netif_index = 1;
    message->ttl = message->tos = 0;
    message->length = slice->length = d->length;
    slice->data = d->data;
    return d->length;
}

int weir_socket_discard(struct weir *weir, weir_socket socket)
{
    struct datagram *d;
    const int error = holding(weir, socket, &d);
    if (!error)
        d->waiting = false;
    return error;
}

int weir_socket_send_message(struct weir *weir, weir_socket socket, const struct weir_message *message,
                             const struct weir_slice *slices, int count)
{
    struct datagram *d = datagram_of(weir, socket);
    const struct weir_frame payload = {.slices = slices};
    uint32_t length = UDP_BYTES;
    if (!d)
        return WEIR_BAD_SOCKET;
    if (!weir->netif || !message->peer.port || get16(d->seen.ports) != message->peer.port ||
        !weir_addr_equal(peer_address(&d->seen), message->peer.addr) || !local_ready(weir->netif, &d->seen))
        return WEIR_NO_ROUTE;
    while (count-- > 0)
        length += slices[count].length;
    if (length - UDP_BYTES > DATAGRAM_BYTES || length + IP_BYTES > weir->netif->mtu)
        return WEIR_TOO_BIG;
    weir->output_pending = true;
    uint8_t *head = outbox_frame(weir, d->seen.mac, ETHERNET_BYTES + IP_BYTES + length);
    if (!head) {
        // told behind the next poll, which empties the outbox; behind one that cannot, once more
        d->socket.events |= WEIR_WRITABLE;
        return WEIR_AGAIN;
    }
    uint8_t *udp = head + ETHERNET_BYTES + IP_BYTES;
    ip_header(weir, head + ETHERNET_BYTES, &d->seen, IP_UDP, length);
    memcpy(udp, d->port, 2);
    memcpy(udp + 2, d->seen.ports, 2);
    put16(udp + 4, length);
    memset(udp + 6, 0, 2);  // no sum yet
    frame_copy(&payload, 0, udp + UDP_BYTES, length - UDP_BYTES);
    // Both addresses lie just before the header: what else a pseudo-header has is added.
    checksum_put(udp + 6,
                 checksum_fold_words((uint64_t)pseudo_word(IP_UDP, length) +
                                     checksum_sum(weir->port, udp - ADDRESSES_BYTES, ADDRESSES_BYTES + length)));
    if (!native16(udp + 6))
        put16(udp + 6, 0xffff);  // a sum that comes out as 0 is sent as its other form: 0 would say that there is none
    return (int)(length - UDP_BYTES);
}
