// SPDX-License-Identifier: BSD-2-Clause
#include "drivers/link_ends.h"

#include <linux/virtio_net.h>

#include "drivers/vnet.h"

#define ETHERNET 14u
#define TCP_AT (ETHERNET + 20u)
#define HEADERS (TCP_AT + 20u)

static uint8_t bytes[VNET_FRAME_BYTES];

static struct weir_netif *receiver(void)
{
    ends_open();
    ends.netif.upper = &ends_upper;
    return &ends.netif;
}

// An Ethernet, IPv4 and TCP or UDP header before `payload` bytes that count up.
static uint32_t make(uint8_t protocol, uint32_t payload)
{
    uint32_t headers = protocol == 6 ? HEADERS : TCP_AT + 8u;
    memset(bytes, 0, headers);
    bytes[12] = 8;
    uint32_t total = headers - ETHERNET + payload;
    uint8_t *ip = bytes + ETHERNET;
    ip[0] = 0x45;
    ip[2] = (uint8_t)(total >> 8);
    ip[3] = (uint8_t)total;
    ip[4] = 0x12;
    ip[5] = 0xff;
    ip[8] = 64;
    ip[9] = protocol;
    ip[12] = 10;
    ip[16] = 10;
    if (protocol == 6) {
        bytes[TCP_AT + 12] = 5 << 4;
        bytes[TCP_AT + 13] = 0x10;
    }
    for (uint32_t i = 0; i < payload; i++)
        bytes[headers + i] = (uint8_t)(i + i / 251);
    return headers + payload;
}

static struct virtio_net_hdr merged(uint8_t type, uint16_t size)
{
    return (struct virtio_net_hdr){.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM,
                                   .gso_type = type,
                                   .gso_size = size,
                                   .csum_start = TCP_AT,
                                   .csum_offset = 16};
}

static void test_plain_frame_is_to_be_verified(void **state)
{
    (void)state;
    struct virtio_net_hdr header = {0};
    assert_int_equal(vnet_deliver(receiver(), &header, bytes, make(6, 100)), 1);
    assert_int_equal(ends.received[0].checksum, WEIR_CHECKSUM_NONE);
    assert_int_equal(ends.received[0].segments, 0);
    assert_int_equal(ends.received[0].length, HEADERS + 100);
}

static void test_partial_or_valid_checksum_is_verified(void **state)
{
    (void)state;
    struct virtio_net_hdr header = {.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM, .csum_start = TCP_AT, .csum_offset = 16};
    assert_int_equal(vnet_deliver(receiver(), &header, bytes, make(6, 100)), 1);
    header = (struct virtio_net_hdr){.flags = VIRTIO_NET_HDR_F_DATA_VALID};
    assert_int_equal(vnet_deliver(&ends.netif, &header, bytes, make(6, 100)), 1);
    assert_int_equal(ends.received[0].checksum, WEIR_CHECKSUM_VERIFIED);
    assert_int_equal(ends.received[1].checksum, WEIR_CHECKSUM_VERIFIED);
}

static void test_merged_tcp_counts_its_segments(void **state)
{
    (void)state;
    static const struct {
        uint32_t payload, segments;
    } rows[] = {{1448, 1}, {1449, 2}, {2896, 2}, {64000, 45}, {65495, 46}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct virtio_net_hdr header = merged(VIRTIO_NET_HDR_GSO_TCPV4 | VIRTIO_NET_HDR_GSO_ECN, 1448);
        assert_int_equal(vnet_deliver(receiver(), &header, bytes, make(6, rows[i].payload)), 1);
        assert_int_equal(ends.received[0].segments, rows[i].segments);
        assert_int_equal(ends.received[0].segment_size, 1448);
        assert_int_equal(ends.received[0].checksum, WEIR_CHECKSUM_VERIFIED);
    }
}

static void test_options_are_not_counted_as_payload(void **state)
{
    (void)state;
    uint32_t length = make(6, 12 + 2000);
    bytes[TCP_AT + 12] = 8 << 4;  // 12 bytes of options
    struct virtio_net_hdr header = merged(VIRTIO_NET_HDR_GSO_TCPV4, 1000);
    assert_int_equal(vnet_deliver(receiver(), &header, bytes, length), 1);
    assert_int_equal(ends.received[0].segments, 2);
}

static void test_headers_that_lie_are_refused(void **state)
{
    (void)state;
    uint32_t length = make(6, 100);
    struct virtio_net_hdr header = merged(VIRTIO_NET_HDR_GSO_TCPV4, 0);  // no size
    assert_int_equal(vnet_deliver(receiver(), &header, bytes, length), 0);
    header = merged(VIRTIO_NET_HDR_GSO_TCPV4, 50);
    header.csum_start = (uint16_t)(length - 10);  // no room for a TCP header
    assert_int_equal(vnet_deliver(&ends.netif, &header, bytes, length), 0);
    header.csum_start = (uint16_t)length;
    assert_int_equal(vnet_deliver(&ends.netif, &header, bytes, length), 0);
    header = merged(VIRTIO_NET_HDR_GSO_TCPV4, 50);
    header.flags = 0;
    assert_int_equal(vnet_deliver(&ends.netif, &header, bytes, length), 0);
    header = merged(VIRTIO_NET_HDR_GSO_UDP, 50);  // fragments
    assert_int_equal(vnet_deliver(&ends.netif, &header, bytes, length), 0);
    header = merged(77, 50);
    assert_int_equal(vnet_deliver(&ends.netif, &header, bytes, length), 0);
    length = make(6, 4);
    bytes[TCP_AT + 12] = 15 << 4;  // 60 bytes of header in 24
    header = merged(VIRTIO_NET_HDR_GSO_TCPV4, 50);
    assert_int_equal(vnet_deliver(&ends.netif, &header, bytes, length), 0);
    length = make(17, 100);
    bytes[ETHERNET] = 0x46;  // another header length than csum_start says
    header = merged(VIRTIO_NET_HDR_GSO_UDP_L4, 50);
    assert_int_equal(vnet_deliver(&ends.netif, &header, bytes, length), 0);
    assert_int_equal(ends.received_count, 0);
}

static uint32_t folded_sum(const uint8_t *data, uint32_t length)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < length; i += 2)
        sum += (uint32_t)data[i] << 8 | data[i + 1];
    sum = (sum & 0xffff) + (sum >> 16);
    return (sum & 0xffff) + (sum >> 16);
}

static void test_merged_datagrams_are_cut_again(void **state)
{
    (void)state;
    uint32_t length = make(17, 250), at = 0;
    struct virtio_net_hdr header = merged(VIRTIO_NET_HDR_GSO_UDP_L4, 100);
    assert_int_equal(vnet_deliver(receiver(), &header, bytes, length), 3);
    assert_int_equal(ends.received_count, 3);
    for (uint32_t i = 0; i < 3; i++) {
        const struct ends_frame *frame = &ends.received[i];
        const uint8_t *ip = frame->bytes + ETHERNET;
        uint32_t payload = i < 2 ? 100 : 50;
        assert_int_equal(frame->length, TCP_AT + 8 + payload);
        assert_int_equal(frame->checksum, WEIR_CHECKSUM_VERIFIED);
        assert_int_equal(ip[2] << 8 | ip[3], 28 + payload);
        assert_int_equal(ip[4] << 8 | ip[5], 0x12ff + i);
        assert_int_equal(folded_sum(ip, 20), 0xffff);
        assert_int_equal(frame->bytes[TCP_AT + 5], 8 + payload);
        for (uint32_t j = 0; j < payload; j++, at++)
            assert_int_equal(frame->bytes[TCP_AT + 8 + j], (uint8_t)(at + at / 251));
    }
}

static struct virtio_net_hdr sent_as(struct weir_tx tx, uint32_t length, uint32_t header_length)
{
    static struct weir_slice slices[2];
    slices[0] = (struct weir_slice){bytes, header_length};
    slices[1] = (struct weir_slice){bytes + header_length, length - header_length};
    tx.slices = slices;
    tx.count = 2;
    tx.length = length;
    tx.header_length = (uint16_t)header_length;
    struct virtio_net_hdr header;
    memset(&header, 0xff, sizeof header);
    vnet_from_tx(&header, &tx);
    return header;
}

static void test_complete_frame_asks_for_nothing(void **state)
{
    (void)state;
    static const struct virtio_net_hdr nothing;
    struct virtio_net_hdr header = sent_as((struct weir_tx){0}, make(6, 100), HEADERS);
    assert_memory_equal(&header, &nothing, sizeof header);
}

static void test_checksum_and_cutting_are_asked_for(void **state)
{
    (void)state;
    struct weir_tx tx = {.checksum_start = TCP_AT, .checksum_offset = 16, .segment_size = 1448, .gso = WEIR_GSO_TCP4};
    struct virtio_net_hdr header = sent_as(tx, make(6, 1448), HEADERS);
    assert_int_equal(header.flags, VIRTIO_NET_HDR_F_NEEDS_CSUM);
    assert_int_equal(header.csum_start, TCP_AT);
    assert_int_equal(header.csum_offset, 16);
    assert_int_equal(header.gso_type, VIRTIO_NET_HDR_GSO_NONE);  // one segment is not cut
    header = sent_as(tx, make(6, 1449), HEADERS);
    assert_int_equal(header.gso_type, VIRTIO_NET_HDR_GSO_TCPV4);
    assert_int_equal(header.gso_size, 1448);
    assert_int_equal(header.hdr_len, HEADERS);
    uint32_t length = make(6, 5000);
    bytes[TCP_AT + 13] |= 0x80;  // CWR
    assert_int_equal(sent_as(tx, length, HEADERS).gso_type, VIRTIO_NET_HDR_GSO_TCPV4 | VIRTIO_NET_HDR_GSO_ECN);
    tx.gso = WEIR_GSO_UDP4;
    tx.checksum_offset = 6;
    assert_int_equal(sent_as(tx, make(17, 5000), TCP_AT + 8).gso_type, VIRTIO_NET_HDR_GSO_UDP_L4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain_frame_is_to_be_verified),
        cmocka_unit_test(test_partial_or_valid_checksum_is_verified),
        cmocka_unit_test(test_merged_tcp_counts_its_segments),
        cmocka_unit_test(test_options_are_not_counted_as_payload),
        cmocka_unit_test(test_headers_that_lie_are_refused),
        cmocka_unit_test(test_merged_datagrams_are_cut_again),
        cmocka_unit_test(test_complete_frame_asks_for_nothing),
        cmocka_unit_test(test_checksum_and_cutting_are_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, ends_end);
}
