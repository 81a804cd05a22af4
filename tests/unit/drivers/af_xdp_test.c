// SPDX-License-Identifier: BSD-2-Clause
// The AF_XDP driver over rings in plain memory, without a kernel behind them: the test is the kernel. What Linux does:
// tests/interop/test_drivers.py.
#define _GNU_SOURCE
#include "drivers/link_ends.h"

#include <linux/if_xdp.h>
#include <sys/socket.h>
#include <unistd.h>

#include "drivers/af_xdp.h"
#include "weir/error.h"

#define FRAME 2048u
#define CONTINUED 1u  // XDP_PKT_CONTD
#define METADATA 2u   // XDP_TX_METADATA

static struct af_xdp xdp;
static struct {
    uint32_t producer, consumer, flags;
} shared[4];
static struct xdp_desc rx_entries[XSK_RING], tx_entries[XSK_RING];
static uint64_t fill_entries[XSK_RING], completion_entries[XSK_RING];
static uint8_t memory[XSK_FRAMES * FRAME];

static struct xsk_ring ring_of(int index, void *entries)
{
    memset(&shared[index], 0, sizeof shared[index]);
    return (struct xsk_ring){.producer = &shared[index].producer,
                             .consumer = &shared[index].consumer,
                             .flags = &shared[index].flags,
                             .entries = entries};
}

static void open_rings(bool many)
{
    int pair[2];
    ends_open();
    memset(&xdp, 0, sizeof xdp);
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);  // a kick fails there, and so does nothing
    close(pair[1]);
    xdp.socket = (struct xsk){.fd = pair[0], .map = -1, .program = -1, .link = -1, .frame_bytes = FRAME, .many = many};
    xdp.socket.checksum = true;
    xdp.socket.rx = ring_of(0, rx_entries);
    xdp.socket.tx = ring_of(1, tx_entries);
    xdp.socket.fill = ring_of(2, fill_entries);
    xdp.socket.completion = ring_of(3, completion_entries);
    xdp.socket.memory = memory;
    xdp.membership = -1;
    while (xdp.free_count < XSK_RING) {
        xdp.free[xdp.free_count] = (uint16_t)(XSK_RING + xdp.free_count);
        xdp.free_count++;
    }
    assert_int_equal(carrier_open(&xdp.carrier, "no-such-if"), 0);
    af_xdp_attach(&xdp, &ends.netif, "eth0");
    ends_attach(&ends.netif);
}

static void close_rings(void)
{
    xdp.socket.memory = NULL;  // not mapped
    af_xdp_close(&xdp);
    assert_int_equal(af_xdp_fd(&xdp), -1);
}

// A piece of a packet arrives at `address`.
static void arrive(uint64_t address, uint32_t length, uint32_t options)
{
    rx_entries[shared[0].producer++ % XSK_RING] = (struct xdp_desc){address, length, options};
}

static int receive(int budget) { return ends.netif.driver->poll(&ends.netif, budget); }

static void test_received_frames_go_back_to_be_filled(void **state)
{
    (void)state;
    open_rings(false);
    for (uint32_t i = 0; i < 3; i++) {
        memory[i * FRAME + 258] = (uint8_t)(10 + i);
        arrive(i * FRAME + 258, 60 + i, 0);
    }
    assert_int_equal(receive(2), 2);  // the budget bounds it
    assert_int_equal(receive(64), 1);
    assert_int_equal(receive(64), 0);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(ends.received[i].length, 60 + i);
        assert_int_equal(ends.received[i].bytes[0], 10 + i);
        assert_int_equal(ends.received[i].checksum, WEIR_CHECKSUM_NONE);
        assert_int_equal(fill_entries[i], i * FRAME);  // the frame's begin, wherever the packet lay in it
    }
    assert_int_equal(shared[0].consumer, 3);
    assert_int_equal(shared[2].producer, 3);
    close_rings();
}

static void test_packet_of_many_frames_waits_until_it_is_whole(void **state)
{
    (void)state;
    open_rings(true);
    arrive(258, 1700, CONTINUED);
    arrive(FRAME + 258, 1700, CONTINUED);
    assert_int_equal(receive(64), 0);
    assert_int_equal(shared[0].consumer, 0);
    arrive(2 * FRAME + 258, 100, 0);
    assert_int_equal(receive(64), 1);
    assert_int_equal(ends.received[0].length, 3500);
    assert_int_equal(shared[2].producer, 3);
    close_rings();
}

static void test_what_lies_outside_the_memory_is_dropped(void **state)
{
    (void)state;
    open_rings(false);
    arrive((uint64_t)XSK_RING * FRAME + 258, 60, 0);      // a frame to send from
    arrive((uint64_t)XSK_RING * FRAME - 100, 101, 0);     // beyond the end
    arrive(258, 0, 0);                                    // empty
    for (uint32_t i = 0; i < XSK_PACKET_FRAMES + 1; i++)  // too many pieces
        arrive(i * FRAME, 60, i < XSK_PACKET_FRAMES ? CONTINUED : 0);
    arrive(5 * FRAME + 258, 60, 0);
    assert_int_equal(receive(64), 1);
    assert_int_equal(ends.received_count, 1);
    assert_int_equal(xdp.counters.rx_bad, 4);
    assert_int_equal(ends.netif.stats.rx_dropped, 4);
    close_rings();
}

static void test_sent_frame_lies_in_a_frame_of_its_own(void **state)
{
    (void)state;
    open_rings(false);
    assert_int_equal(ends_send(&ends.netif, 0x04030201, 1000), WEIR_TX_DONE);
    assert_int_equal(shared[1].producer, 1);
    assert_int_equal(tx_entries[0].len, 1000);
    assert_int_equal(tx_entries[0].options, 0);
    assert_true(tx_entries[0].addr / FRAME >= XSK_RING && tx_entries[0].addr % FRAME == XSK_TX_AT);
    uint32_t number;
    memcpy(&number, memory + tx_entries[0].addr, sizeof number);
    assert_int_equal(number, 0x04030201);
    close_rings();
}

static void test_checksum_is_asked_for_before_the_frame(void **state)
{
    (void)state;
    struct {
        uint64_t flags;
        uint16_t start, offset;
    } asked;
    open_rings(false);
    assert_true(ends.netif.capabilities & WEIR_NETIF_TX_CHECKSUM);
    uint8_t bytes[60] = {0};
    const struct weir_slice slice = {bytes, sizeof bytes};
    const struct weir_tx tx = {
        .slices = &slice, .length = sizeof bytes, .count = 1, .checksum_start = 34, .checksum_offset = 16};
    assert_int_equal(ends.netif.driver->tx(&ends.netif, &tx), WEIR_TX_DONE);
    assert_int_equal(tx_entries[0].options, METADATA);
    memcpy(&asked, memory + tx_entries[0].addr - 24, sizeof asked);
    assert_int_equal(asked.flags, 2);  // XDP_TXMD_FLAGS_CHECKSUM
    assert_int_equal(asked.start, 34);
    assert_int_equal(asked.offset, 16);
    close_rings();
}

static void test_long_frame_takes_many_where_that_is_allowed(void **state)
{
    (void)state;
    open_rings(true);
    assert_int_equal(ends_send(&ends.netif, 7, 4000), WEIR_TX_DONE);
    assert_int_equal(shared[1].producer, 3);
    assert_int_equal(tx_entries[0].options, CONTINUED);
    assert_int_equal(tx_entries[1].options, CONTINUED);
    assert_int_equal(tx_entries[2].options, 0);
    assert_int_equal(tx_entries[0].len + tx_entries[1].len + tx_entries[2].len, 4000);
    close_rings();
    open_rings(false);
    assert_int_equal(ends_send(&ends.netif, 7, 4000), WEIR_TX_DONE);
    assert_int_equal(shared[1].producer, 0);
    assert_int_equal(xdp.counters.tx_refused, 1);
    close_rings();
}

static void test_full_ring_is_told_and_completions_make_room(void **state)
{
    (void)state;
    open_rings(false);
    for (uint32_t i = 0; i < XSK_RING; i++)
        assert_int_equal(ends_send(&ends.netif, i, 60), WEIR_TX_DONE);
    assert_int_equal(ends_send(&ends.netif, 0, 60), WEIR_TX_FULL);
    assert_int_equal(xdp.counters.tx_full, 1);
    assert_int_equal(receive(64), 0);
    assert_int_equal(ends.ready_count, 0);
    shared[1].consumer += XSK_RING;  // taken, but the frames are still in use
    assert_int_equal(receive(64), 0);
    assert_int_equal(ends.ready_count, 0);
    for (uint32_t i = 0; i < XSK_RING / 2; i++)
        completion_entries[shared[3].producer++ % XSK_RING] = tx_entries[i].addr;
    assert_int_equal(receive(64), 0);
    assert_int_equal(ends.ready_count, 1);
    assert_int_equal(xdp.free_count, XSK_RING / 2);
    assert_int_equal(shared[3].consumer, XSK_RING / 2);
    assert_int_equal(ends_send(&ends.netif, 0, 60), WEIR_TX_DONE);
    close_rings();
}

static void test_unsent_frames_are_offered_again_soon(void **state)
{
    (void)state;
    open_rings(false);
    xdp.carrier.due_us = WEIR_NEVER;
    assert_int_equal(ends_send(&ends.netif, 1, 60), WEIR_TX_DONE);
    assert_true(ends.netif.driver->timer(&ends.netif, ends.now_us) <= ends.now_us + 1000);
    shared[1].consumer++;
    assert_true(ends.netif.driver->timer(&ends.netif, ends.now_us) > ends.now_us + 1000);
    close_rings();
}

static void test_nothing_leaves_while_the_interface_is_down(void **state)
{
    (void)state;
    open_rings(false);
    (void)ends.netif.driver->timer(&ends.netif, ends.now_us);  // the carrier looks: there is no such interface
    assert_false(ends.carrier);
    assert_int_equal(ends_send(&ends.netif, 1, 60), WEIR_TX_DONE);
    assert_int_equal(xdp.counters.tx_down, 1);
    assert_int_equal(shared[1].producer, 0);
    close_rings();
}

static void test_open_without_an_interface_says_so(void **state)
{
    (void)state;
    assert_int_equal(af_xdp_open(&xdp, "no-such-if", 0, 0), WEIR_INVALID);
    assert_non_null(strstr(af_xdp_error(&xdp), "no such interface"));
    assert_int_equal(af_xdp_open(&xdp, "a-name-that-is-too-long", 0, 0), WEIR_INVALID);
    assert_int_equal(af_xdp_open(&xdp, "lo", 0, 0), WEIR_INVALID);
    assert_non_null(strstr(af_xdp_error(&xdp), "Ethernet"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_received_frames_go_back_to_be_filled),
        cmocka_unit_test(test_packet_of_many_frames_waits_until_it_is_whole),
        cmocka_unit_test(test_what_lies_outside_the_memory_is_dropped),
        cmocka_unit_test(test_sent_frame_lies_in_a_frame_of_its_own),
        cmocka_unit_test(test_checksum_is_asked_for_before_the_frame),
        cmocka_unit_test(test_long_frame_takes_many_where_that_is_allowed),
        cmocka_unit_test(test_full_ring_is_told_and_completions_make_room),
        cmocka_unit_test(test_unsent_frames_are_offered_again_soon),
        cmocka_unit_test(test_nothing_leaves_while_the_interface_is_down),
        cmocka_unit_test(test_open_without_an_interface_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, ends_end);
}
