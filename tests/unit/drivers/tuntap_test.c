// SPDX-License-Identifier: BSD-2-Clause
// The tap and tun drivers over a pair of sockets that keep frames apart, not /dev/net/tun: what they do as read and
// write turn out. What Linux does with the frames: tests/interop/test_drivers.py.
#define _GNU_SOURCE
#include "drivers/link_ends.h"

#include <fcntl.h>
#include <linux/virtio_net.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "drivers/tap.h"
#include "drivers/tun.h"
#include "weir/error.h"

static struct tap tap;
static int far_end;

static void open_pair(bool vnet)
{
    int pair[2], small = 8192;
    ends_open();
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, pair), 0);
    setsockopt(pair[0], SOL_SOCKET, SO_SNDBUF, &small, sizeof small);
    memset(&tap, 0, sizeof tap);
    tap.io.fd = pair[0];
    tap.io.vnet = vnet;
    assert_int_equal(carrier_open(&tap.io.carrier, "no-such-if"), 0);
    far_end = pair[1];
    tap_attach(&tap, &ends.netif, "tap0");
    ends_attach(&ends.netif);
}

static void close_pair(void)
{
    tap_close(&tap);
    close(far_end);
    assert_int_equal(tap_fd(&tap), -1);
}

static void arrive(const void *header, size_t header_bytes, size_t length)
{
    static uint8_t frame[70000];
    memcpy(frame, header, header_bytes);
    memset(frame + header_bytes, 0x5a, length);
    int room = 1 << 20;
    setsockopt(far_end, SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
    assert_int_equal(send(far_end, frame, header_bytes + length, 0), (ssize_t)(header_bytes + length));
}

static void test_attach_describes_the_interface(void **state)
{
    (void)state;
    open_pair(true);
    assert_string_equal(ends.netif.name, "tap0");
    assert_int_equal(ends.netif.mac[0] & 3, 2);  // unicast, locally administered
    assert_int_equal(ends.netif.mtu, 1500);
    unsigned wanted = WEIR_NETIF_TX_CHECKSUM | WEIR_NETIF_TSO4 | WEIR_NETIF_TX_CHECKSUM6 | WEIR_NETIF_TSO6 |
                      WEIR_NETIF_BROADCAST | WEIR_NETIF_MULTICAST;
    assert_int_equal(ends.netif.capabilities & wanted, wanted);
    close_pair();
    open_pair(false);
    assert_int_equal(ends.netif.capabilities & (WEIR_NETIF_TX_CHECKSUM | WEIR_NETIF_TSO4 | WEIR_NETIF_USO4), 0);
    close_pair();
}

static void test_frame_leaves_in_one_piece_behind_its_header(void **state)
{
    (void)state;
    for (int vnet = 0; vnet <= 1; vnet++) {
        open_pair(vnet);
        assert_int_equal(ends_send(&ends.netif, 0x04030201, 100), WEIR_TX_DONE);
        uint8_t got[200];
        ssize_t prefix = vnet ? VNET_HEADER_BYTES : 0;
        assert_int_equal(recv(far_end, got, sizeof got, 0), prefix + 100);
        uint32_t number;
        memcpy(&number, got + prefix, sizeof number);
        assert_int_equal(number, 0x04030201);
        assert_int_equal(recv(far_end, got, sizeof got, 0), -1);
        close_pair();
    }
}

static void test_frames_arrive_aligned_and_described(void **state)
{
    (void)state;
    static const struct virtio_net_hdr valid = {.flags = VIRTIO_NET_HDR_F_DATA_VALID};
    open_pair(true);
    arrive(&valid, sizeof valid, 60);
    arrive(&valid, sizeof valid, VNET_FRAME_BYTES);
    assert_int_equal(ends.netif.driver->poll(&ends.netif, 64), 2);
    assert_int_equal(ends.received[0].length, 60);
    assert_int_equal(ends.received[0].checksum, WEIR_CHECKSUM_VERIFIED);
    assert_int_equal(ends.received[1].length, VNET_FRAME_BYTES);
    close_pair();
}

static bool aligned;
static void see_alignment(struct weir_netif *netif, const struct weir_frame *frame)
{
    uintptr_t ip = (uintptr_t)frame->slices[0].data + (netif->link == &weir_link_ethernet ? 14 : 0);
    aligned = ip % 4 == 0;
}

static void test_ip_header_is_aligned(void **state)
{
    (void)state;
    static const struct weir_upper looker = {see_alignment, ends_ready, ends_complete, ends_carrier};
    static const struct virtio_net_hdr none;
    for (int kind = 0; kind < 4; kind++) {
        open_pair(kind & 1);
        if (kind & 2)  // tun is the same descriptor with another link
            tun_attach((struct tun *)&tap, &ends.netif, "tun0");
        ends_attach(&ends.netif);
        ends.netif.upper = &looker;
        arrive(&none, kind & 1 ? sizeof none : 0, 100);
        aligned = false;
        assert_int_equal(ends.netif.driver->poll(&ends.netif, 1), 1);
        assert_true(aligned);
        close_pair();
    }
}

static void test_budget_bounds_a_poll(void **state)
{
    (void)state;
    static const struct virtio_net_hdr none;
    open_pair(true);
    for (int i = 0; i < 5; i++)
        arrive(&none, sizeof none, 60);
    assert_int_equal(ends.netif.driver->poll(&ends.netif, 3), 3);
    assert_int_equal(ends.netif.driver->poll(&ends.netif, 3), 2);
    assert_int_equal(ends.netif.driver->poll(&ends.netif, 3), 0);
    close_pair();
}

static void test_bad_frames_are_counted(void **state)
{
    (void)state;
    static const struct virtio_net_hdr lies = {.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM, .csum_start = 5000}, none;
    open_pair(true);
    arrive(&none, 4, 0);            // shorter than the header
    arrive(&none, sizeof none, 0);  // no frame behind it
    arrive(&lies, sizeof lies, 60);
    arrive(&none, sizeof none, VNET_FRAME_BYTES + 1000);
    arrive(&none, sizeof none, 60);
    assert_int_equal(ends.netif.driver->poll(&ends.netif, 64), 1);
    assert_int_equal(tap.io.counters.rx_bad, 3);
    assert_int_equal(tap.io.counters.rx_too_long, 1);
    assert_int_equal(ends.netif.stats.rx_dropped, 4);
    close_pair();
}

static void test_full_then_ready(void **state)
{
    (void)state;
    open_pair(true);
    assert_int_equal(tap_events(&tap), POLLIN);
    uint32_t sent = 0;
    while (sent < 1000 && ends_send(&ends.netif, sent, 1500) == WEIR_TX_DONE)
        sent++;
    assert_in_range(sent, 1, 999);
    assert_int_equal(tap_events(&tap), POLLIN | POLLOUT);
    ends.netif.driver->poll(&ends.netif, 64);
    assert_int_equal(ends.ready_count, 0);  // still full
    uint8_t got[2000];
    while (recv(far_end, got, sizeof got, 0) > 0)
        continue;
    ends.netif.driver->poll(&ends.netif, 64);
    assert_int_equal(ends.ready_count, 1);
    assert_int_equal(tap_events(&tap), POLLIN);
    assert_int_equal(ends_send(&ends.netif, 1, 1500), WEIR_TX_DONE);
    close_pair();
}

static void test_refused_frame_is_dropped_and_counted(void **state)
{
    (void)state;
    open_pair(false);
    static uint8_t huge[200000];
    struct weir_slice slice = {huge, sizeof huge};
    struct weir_tx tx = {.slices = &slice, .length = sizeof huge, .count = 1, .header_length = 54};
    assert_int_equal(ends.netif.driver->tx(&ends.netif, &tx), WEIR_TX_DONE);  // EMSGSIZE
    assert_int_equal(tap.io.counters.tx_refused, 1);
    assert_int_equal(ends.netif.stats.tx_dropped, 1);
    assert_int_equal(ends_send(&ends.netif, 1, 100), WEIR_TX_DONE);
    assert_int_equal(tap.io.counters.tx_refused, 1);
    close_pair();
}

// With the ring, where this kernel has one.
static void open_batching(bool vnet)
{
    int room = 65536;  // for more than a batch
    open_pair(vnet);
    setsockopt(tap.io.fd, SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
    if (uring_open(&tap.io.ring))
        return;
    close_pair();
    skip();
}

// The number of the next frame at the far end; -1: none is there.
static int64_t far_number(size_t length)
{
    static uint8_t got[70000];
    const size_t prefix = tap.io.vnet ? VNET_HEADER_BYTES : 0;
    const ssize_t bytes = recv(far_end, got, sizeof got, 0);
    uint32_t number;
    if (bytes < 0)
        return -1;
    assert_int_equal(bytes, prefix + length);
    memcpy(&number, got + prefix, sizeof number);
    return number;
}

// Frames of 60 bytes, numbered from `from` to before `to`: sent, or seen to have arrived in this order.
static void send_numbers(uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to; i++)
        assert_int_equal(ends_send(&ends.netif, i, 60), WEIR_TX_DONE);
}

static void far_numbers(uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to; i++)
        assert_int_equal(far_number(60), i);
}

static void test_a_batch_leaves_at_its_end_or_when_it_is_full(void **state)
{
    (void)state;
    for (int vnet = 0; vnet <= 1; vnet++) {
        open_batching(vnet);
        for (uint32_t i = 0; i < URING_WRITES; i++)
            assert_int_equal(ends_send(&ends.netif, i, 60 + i), WEIR_TX_DONE);
        assert_int_equal(far_number(0), -1);
        assert_int_equal(ends_send(&ends.netif, URING_WRITES, 60), WEIR_TX_DONE);
        for (uint32_t i = 0; i < URING_WRITES; i++)
            assert_int_equal(far_number(60 + i), i);
        assert_int_equal(far_number(0), -1);
        ends.netif.driver->flush(&ends.netif);
        assert_int_equal(far_number(60), URING_WRITES);
        ends.netif.driver->flush(&ends.netif);
        assert_int_equal(far_number(0), -1);
        assert_int_equal(tap.io.counters.tx_batches, 1);  // the last went alone
        close_pair();
    }
}

static void test_a_large_frame_does_not_overtake_a_batch(void **state)
{
    (void)state;
    open_batching(true);
    send_numbers(0, 3);
    assert_int_equal(ends_send(&ends.netif, 3, 3000), WEIR_TX_DONE);
    far_numbers(0, 3);
    assert_int_equal(far_number(3000), 3);
    close_pair();
}

// Frames of a batch that do not fit wait for the driver's timer, or for room; none is lost, none comes twice, none
// overtakes.
static void test_what_a_batch_cannot_send_waits(void **state)
{
    (void)state;
    open_batching(false);
    uint32_t sent = 0;
    int64_t seen = 0;
    while (sent < 1000 && ends_send(&ends.netif, sent, 500) == WEIR_TX_DONE)
        sent++;
    assert_in_range(sent, URING_WRITES + 1, 999);
    assert_int_equal(tap.io.counters.tx_full, 1);
    assert_int_equal(tap_events(&tap), POLLIN | POLLOUT);
    assert_true(ends.netif.driver->timer(&ends.netif, ends.now_us) <= ends.now_us + 1000);
    assert_int_equal(far_number(500), seen++);
    for (uint32_t round = 0; seen < sent && round < 1000; round++) {
        ends.netif.driver->timer(&ends.netif, ends.now_us);
        for (int64_t number; (number = far_number(500)) >= 0; seen++)
            assert_int_equal(number, seen);
    }
    assert_int_equal(seen, sent);
    assert_int_equal(ends.netif.stats.tx_dropped, 0);
    ends.netif.driver->poll(&ends.netif, 1);
    assert_int_equal(ends.ready_count, 1);
    close_pair();
}

static void test_a_batch_survives_the_ring(void **state)
{
    (void)state;
    open_batching(false);
    send_numbers(0, 3);
    close(tap.io.ring.fd);
    tap.io.ring.fd = dup(far_end);  // no ring
    ends.netif.driver->flush(&ends.netif);
    assert_false(uring_is_open(&tap.io.ring));
    send_numbers(3, 4);
    ends.netif.driver->flush(&ends.netif);
    far_numbers(0, 4);
    send_numbers(4, 5);  // one by one from now on
    far_numbers(4, 5);
    close_pair();
}

static void test_carrier_of_a_missing_interface_goes_down(void **state)
{
    (void)state;
    open_pair(true);
    assert_true(ends.netif.driver->timer(&ends.netif, ends.now_us) == ends.now_us + CARRIER_CHECK_DOWN_US);
    assert_int_equal(ends.carrier_count, 1);
    assert_false(ends.carrier);
    ends.netif.driver->timer(&ends.netif, ends.now_us + CARRIER_CHECK_DOWN_US);
    assert_int_equal(ends.carrier_count, 1);  // told once
    close_pair();
}

static void test_open_says_what_is_wrong(void **state)
{
    (void)state;
    assert_int_equal(tap_open(&tap, "a-name-that-is-too-long", 0), WEIR_INVALID);
    assert_non_null(strstr(tap_error(&tap), "a-name-that-is-too-long"));
    assert_int_equal(tap_fd(&tap), -1);
    tap_close(&tap);  // harmless
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_attach_describes_the_interface),
        cmocka_unit_test(test_frame_leaves_in_one_piece_behind_its_header),
        cmocka_unit_test(test_frames_arrive_aligned_and_described),
        cmocka_unit_test(test_ip_header_is_aligned),
        cmocka_unit_test(test_budget_bounds_a_poll),
        cmocka_unit_test(test_bad_frames_are_counted),
        cmocka_unit_test(test_full_then_ready),
        cmocka_unit_test(test_refused_frame_is_dropped_and_counted),
        cmocka_unit_test(test_a_batch_leaves_at_its_end_or_when_it_is_full),
        cmocka_unit_test(test_a_large_frame_does_not_overtake_a_batch),
        cmocka_unit_test(test_what_a_batch_cannot_send_waits),
        cmocka_unit_test(test_a_batch_survives_the_ring),
        cmocka_unit_test(test_carrier_of_a_missing_interface_goes_down),
        cmocka_unit_test(test_open_says_what_is_wrong),
    };
    return cmocka_run_group_tests(tests, NULL, ends_end);
}
