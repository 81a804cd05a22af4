// SPDX-License-Identifier: BSD-2-Clause
#include "vnet.h"

#include <stdbool.h>
#include <string.h>

#include <linux/virtio_net.h>

_Static_assert(sizeof(struct virtio_net_hdr) == VNET_HEADER_BYTES, "the legacy virtio-net header is 10 bytes");

#define TCP_HEADER_BYTES 20u
#define TCP_DATA_OFFSET 12u  // of the byte whose high half is the header length in words (RFC 9293 §3.1)
#define TCP_FLAGS 13u
#define TCP_CWR 0x80u
#define UDP_HEADER_BYTES 8u
#define IP4_HEADER_BYTES 20u
#define IP6_HEADER_BYTES 40u
#define VNET_HEADERS_MAX (18u + 60u + UDP_HEADER_BYTES)  // of a merged datagram

void vnet_from_tx(struct virtio_net_hdr *header, const struct weir_tx *tx)
{
    memset(header, 0, sizeof *header);
    if (tx->checksum_start == 0)
        return;
    header->flags = VIRTIO_NET_HDR_F_NEEDS_CSUM;
    header->csum_start = tx->checksum_start;
    header->csum_offset = tx->checksum_offset;
    if (tx->segment_size == 0 || tx->length - tx->header_length <= tx->segment_size)
        return;
    header->hdr_len = tx->header_length;
    header->gso_size = tx->segment_size;
    if (tx->gso == WEIR_GSO_UDP4) {
        header->gso_type = VIRTIO_NET_HDR_GSO_UDP_L4;
    } else {
        header->gso_type = tx->gso == WEIR_GSO_TCP6 ? VIRTIO_NET_HDR_GSO_TCPV6 : VIRTIO_NET_HDR_GSO_TCPV4;
        // CWR belongs on the first segment alone (RFC 3168 §6.1.2); Linux must be told that it is there.
        if (tx->slices[0].data[tx->checksum_start + TCP_FLAGS] & TCP_CWR)
            header->gso_type |= VIRTIO_NET_HDR_GSO_ECN;
    }
}

// Bytes of link, network and transport header of a merged frame; 0: they do not fit. hdr_len is only a hint ("how much
// is contiguous" in Linux), so the transport header is found from csum_start, which every merged frame has.
static uint32_t merged_headers(const struct virtio_net_hdr *header, const uint8_t *bytes, uint32_t length, bool tcp)
{
    uint32_t start = header->csum_start;
    if (!(header->flags & VIRTIO_NET_HDR_F_NEEDS_CSUM) || start + (tcp ? TCP_HEADER_BYTES : UDP_HEADER_BYTES) > length)
        return 0;
    uint32_t transport = tcp ? (uint32_t)(bytes[start + TCP_DATA_OFFSET] >> 4) * 4 : UDP_HEADER_BYTES;
    return start + transport > length ? 0 : start + transport;
}

static void deliver(struct weir_netif *netif, const uint8_t *bytes, uint32_t length, uint32_t segments,
                    uint16_t segment_size, enum weir_checksum checksum)
{
    struct weir_slice slice = {bytes, length};
    struct weir_frame frame = {
        .slices = &slice,
        .length = length,
        .count = 1,
        .segments = segments > UINT16_MAX ? UINT16_MAX : (uint16_t)segments,
        .segment_size = segment_size,
        .checksum = (uint8_t)checksum,
    };
    weir_netif_deliver(netif, &frame);
}

static uint16_t get16(const uint8_t *at) { return (uint16_t)(at[0] << 8 | at[1]); }
static void put16(uint8_t *at, uint32_t value)
{
    at[0] = (uint8_t)(value >> 8);
    at[1] = (uint8_t)value;
}

// Corrects the IPv4 header of one datagram cut from many: length, identification (one more than its predecessor's),
// checksum.
static void rewrite_ip4(uint8_t *ip, uint32_t header_bytes, uint32_t total, uint32_t index)
{
    uint32_t sum = 0;
    put16(ip + 2, total);
    put16(ip + 4, get16(ip + 4) + (index ? 1u : 0u));
    put16(ip + 10, 0);
    for (uint32_t i = 0; i < header_bytes; i += 2)
        sum += get16(ip + i);
    sum = (sum & 0xffff) + (sum >> 16);
    put16(ip + 10, ~((sum & 0xffff) + (sum >> 16)));
}

// Whether the network header, of either version, reaches from `link` to `udp`; without IPv6 extension headers.
static bool header_plain(const uint8_t *bytes, uint32_t link, uint32_t udp)
{
    if (udp < link + IP4_HEADER_BYTES)
        return false;
    return bytes[link] >> 4 == 6 ? udp - link == IP6_HEADER_BYTES
                                 : bytes[link] >> 4 == 4 && (uint32_t)(bytes[link] & 15) * 4 == udp - link;
}

// Each datagram is made in place: its headers are copied to just before its payload, over the end of the one delivered
// before it.
static int deliver_datagrams(struct weir_netif *netif, const struct virtio_net_hdr *header, uint8_t *bytes,
                             uint32_t length)
{
    uint32_t headers = merged_headers(header, bytes, length, false);
    uint32_t link = 0, udp = header->csum_start, size = header->gso_size, count = 0;
    if (netif->link == &weir_link_ethernet)
        link = length >= 18 && get16(bytes + 12) == 0x8100 ? 18 : 14;
    if (headers == 0 || size == 0 || !header_plain(bytes, link, udp))
        return 0;
    const bool ip6 = bytes[link] >> 4 == 6;
    uint8_t *datagram = bytes;
    for (uint32_t left = length - headers; left > 0; count++) {
        uint32_t payload = left < size ? left : size;
        if (ip6)
            put16(datagram + link + 4, UDP_HEADER_BYTES + payload);
        else
            rewrite_ip4(datagram + link, udp - link, headers - link + payload, count);
        put16(datagram + udp + 4, UDP_HEADER_BYTES + payload);
        uint8_t copy[VNET_HEADERS_MAX];
        memcpy(copy, datagram, headers);
        deliver(netif, datagram, headers + payload, 0, 0, WEIR_CHECKSUM_VERIFIED);
        left -= payload;
        if (left > 0) {
            datagram += payload;
            memcpy(datagram, copy, headers);
        }
    }
    return (int)count;
}

int vnet_deliver(struct weir_netif *netif, const struct virtio_net_hdr *header, uint8_t *bytes, uint32_t length)
{
    // NEEDS_CSUM: it comes from this machine's own stack, which never summed it; there is nothing to verify.
    bool vouched = header->flags & (VIRTIO_NET_HDR_F_NEEDS_CSUM | VIRTIO_NET_HDR_F_DATA_VALID);
    enum weir_checksum checksum = vouched ? WEIR_CHECKSUM_VERIFIED : WEIR_CHECKSUM_NONE;
    if ((header->flags & VIRTIO_NET_HDR_F_NEEDS_CSUM) && header->csum_start >= length)
        return 0;
    uint32_t headers, payload;
    switch (header->gso_type & ~VIRTIO_NET_HDR_GSO_ECN) {
    case VIRTIO_NET_HDR_GSO_NONE: deliver(netif, bytes, length, 0, 0, checksum); return 1;
    case VIRTIO_NET_HDR_GSO_TCPV4:
    case VIRTIO_NET_HDR_GSO_TCPV6:
        headers = merged_headers(header, bytes, length, true);
        if (headers == 0 || header->gso_size == 0)
            return 0;
        payload = length - headers;
        deliver(netif, bytes, length, (payload + header->gso_size - 1u) / header->gso_size, header->gso_size, checksum);
        return 1;
    case VIRTIO_NET_HDR_GSO_UDP_L4: return deliver_datagrams(netif, header, bytes, length);
    default:  // large UDP fragments: never asked for
        return 0;
    }
}
