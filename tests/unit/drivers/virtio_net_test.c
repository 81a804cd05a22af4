// SPDX-License-Identifier: BSD-2-Clause
// The virtio network driver against a model of its device, over both transports. Every test runs twice.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "drivers/virtio_mmio.h"
#include "drivers/virtio_model.h"
#include "drivers/virtio_net.h"
#include "drivers/virtio_pci.h"
#include "weir/error.h"

#define FRAME_BYTES 66000u
static const struct virtio_pci_function function = {model_pci_read, model_pci_write, NULL};
static bool pci;
static struct virtio_mmio mmio_bus;
static struct virtio_pci pci_bus;
static struct virtio_net net;
static struct virtio_net_memory *memory;  // from the heap, so that a byte beyond it is seen
static struct weir_netif netif;
static uint8_t frame[FRAME_BYTES], none[10];

static struct {
    uint8_t last[FRAME_BYTES];
    uint32_t length, count, slices, segments, segment_size, checksum, ready, carriers, completed, ends[64];
    bool aligned, carrier;
} upper;
static void upper_input(struct weir_netif *of, const struct weir_frame *in)
{
    uint32_t length = 0;
    assert_ptr_equal(of, &netif);
    assert_in_range(in->count, 1, WEIR_FRAME_SLICES);
    assert_true(in->slices[0].length >= (in->length < WEIR_FRAME_HEAD ? in->length : WEIR_FRAME_HEAD));
    for (uint32_t i = 0; i < in->count; i++) {
        assert_true(in->slices[i].length && length + in->slices[i].length <= sizeof upper.last);
        memcpy(upper.last + length, in->slices[i].data, in->slices[i].length);
        length += in->slices[i].length;
    }
    assert_int_equal(length, in->length);
    upper.aligned = ((uintptr_t)in->slices[0].data + 14) % 4 == 0;
    upper.length = length;
    upper.slices = in->count;
    upper.segments = in->segments;
    upper.segment_size = in->segment_size;
    upper.checksum = in->checksum;
    upper.count++;
}
static void upper_ready(struct weir_netif *of) { upper.ready += of == &netif; }
static void upper_complete(struct weir_netif *of, void *owner, uint32_t end)
{
    (void)of;
    assert_ptr_equal(owner, &upper);
    upper.ends[upper.completed++ % 64] = end;
}
static void upper_carrier(struct weir_netif *of, bool up)
{
    (void)of;
    upper.carrier = up;
    upper.carriers++;
}
static const struct weir_upper upper_side = {upper_input, upper_ready, upper_complete, upper_carrier};

static bool open_bus(void)
{
    return pci ? virtio_pci_open(&pci_bus, &function, VIRTIO_ID_NET)
               : virtio_mmio_open(&mmio_bus, MODEL_MMIO, VIRTIO_ID_NET);
}
static struct virtio_transport *bus(void) { return pci ? &pci_bus.transport : &mmio_bus.transport; }

static void start_with(uint64_t without, uint16_t queue)
{
    model_start();
    model.offered &= ~without;
    model.queues[0].most = model.queues[1].most = queue;
    memset(&upper, 0, sizeof upper);
    memset(memory, 0xa5, sizeof *memory);
    assert_true(open_bus());
    assert_int_equal(virtio_net_open(&net, bus(), memory), WEIR_OK);
    assert_int_equal(model.status & 4, 0);  // silent until it is attached
    virtio_net_attach(&net, &netif, "eth0");
    assert_int_equal(model.status, 15);
    netif.upper = &upper_side;
    net.look_us = 1;
}
static void start_without(uint64_t without) { start_with(without, 256); }
static int setup(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < FRAME_BYTES; i++)
        frame[i] = (uint8_t)(i * 7 + i / 253);
    memory = aligned_alloc(VIRTIO_NET_ALIGN, sizeof *memory);
    assert_non_null(memory);
    start_without(0);
    return 0;
}
static int teardown(void **state)
{
    (void)state;
    free(memory);
    return 0;
}
static int polled(int budget) { return netif.driver->poll(&netif, budget); }

// --- into use --------------------------------------------------------------------------------------------------------

static void the_device_is_taken_into_use(void **state)
{
    (void)state;
    assert_memory_equal(netif.mac, model.mac, 6);
    assert_true(netif.capabilities & WEIR_NETIF_TSO4 && netif.capabilities & WEIR_NETIF_TX_CHECKSUM);
    assert_int_equal(model_buffers(), VIRTIO_NET_RX);
    assert_int_equal(model.queues[0].doorbells, 1);
    assert_int_equal(model.accepted >> 33, 0);
    assert_int_equal(netif.mtu, 1500);
}

static void what_is_not_offered_is_not_used(void **state)
{
    (void)state;
    start_without(1u << MODEL_CSUM);
    assert_int_equal(netif.capabilities & (WEIR_NETIF_TSO4 | WEIR_NETIF_TX_CHECKSUM), 0);
    start_without(1u << MODEL_HOST_ECN);
    assert_int_equal(netif.capabilities & (WEIR_NETIF_TSO4 | WEIR_NETIF_TX_CHECKSUM), WEIR_NETIF_TX_CHECKSUM);
    start_without(1u << MODEL_MRG_RXBUF);
    assert_int_equal(model.accepted >> MODEL_GUEST_TSO4 & 1, 0);
    start_without(1u << MODEL_GUEST_CSUM);
    assert_int_equal(model.accepted >> MODEL_GUEST_TSO4 & 1, 0);
    start_without(0);
    model.mtu = 1400;
    virtio_net_attach(&net, &netif, "eth0");
    assert_int_equal(netif.mtu, 1400);
}

static void refused(void)
{
    assert_true(open_bus());
    assert_int_equal(virtio_net_open(&net, bus(), memory), WEIR_NOT_SUPPORTED);
}
static void strangers_are_not_taken(void **state)
{
    (void)state;
    model_start();
    model.offered &= ~(1ull << MODEL_VERSION_1);
    refused();
    assert_true(model.status & 128);
    model_start();
    model.refused = 1u << MODEL_CSUM;
    refused();
    model_start();
    model.queues[1].most = 0;
    refused();
    model_start();
    model.queues[1].most = 32;  // no room for a frame
    refused();
    model_start();
    model.offered &= ~(1ull << MODEL_MAC);
    refused();
    model_start();
    model.stuck = true;
    refused();
}

// --- in --------------------------------------------------------------------------------------------------------------

static void frames_of_many_lengths_come_in(void **state)
{
    (void)state;
    uint32_t count = 0;
    for (uint32_t length = 14; length <= 1514; length++) {
        assert_int_equal(model_receive(none, frame, length), 1);
        assert_int_equal(polled(8), 1);
        assert_int_equal(upper.count, ++count);
        assert_int_equal(upper.length, length);
        assert_memory_equal(upper.last, frame, length);
        assert_true(upper.aligned);
        assert_int_equal(upper.checksum, WEIR_CHECKSUM_NONE);
        assert_int_equal(model_buffers(), VIRTIO_NET_RX);
    }
    assert_int_equal(net.rx_bad, 0);
}

// The header of a merged frame: the transport header begins at 34, of 32 bytes.
static void merged_header(uint8_t *header, uint32_t size)
{
    memcpy(header, (uint8_t[]){1, 1, 66, 0, (uint8_t)size, (uint8_t)(size >> 8), 34, 0, 16, 0}, 10);
    frame[34 + 12] = 0x80;
}

static void large_frames_are_spread(void **state)
{
    static const uint32_t lengths[] = {1515, 4094 - 12, 4094 - 11, 4094, 20000, 65549};
    uint8_t header[10];
    (void)state;
    merged_header(header, 1448);
    for (uint32_t round = 0; round < 200; round++) {
        const uint32_t length = lengths[round % 6];
        const uint32_t buffers = model_receive(header, frame, length);
        assert_int_equal(buffers, (12 + length + 4093) / 4094);
        assert_int_equal(polled(8), 1);
        assert_int_equal(upper.length, length);
        assert_memory_equal(upper.last, frame, length);
        assert_int_equal(upper.slices, buffers);
        assert_int_equal(upper.checksum, WEIR_CHECKSUM_VERIFIED);
        assert_int_equal(upper.segment_size, 1448);
        assert_int_equal(upper.segments, (length - 66 + 1447) / 1448);
        assert_int_equal(model_buffers(), VIRTIO_NET_RX);
    }
}

// Without the feature no flag counts.
static void flags_count_only_when_agreed(void **state)
{
    static const uint8_t valid[10] = {2};
    (void)state;
    (void)model_receive(valid, frame, 100);
    (void)polled(8);
    assert_int_equal(upper.checksum, WEIR_CHECKSUM_VERIFIED);
    start_without(1u << MODEL_GUEST_CSUM);
    (void)model_receive(valid, frame, 100);
    assert_int_equal(polled(8), 1);
    assert_int_equal(upper.checksum, WEIR_CHECKSUM_NONE);
}

// Headers that contradict their frame; each of their bytes any value: the frame is dropped or delivered, never more
// than it is.
static void headers_that_lie(void **state)
{
    uint8_t header[10];
    uint32_t seed = 1;
    (void)state;
    for (uint32_t round = 0; round < 20000; round++) {
        const uint32_t length = 14 + seed % (round % 8 ? 300 : 9000);
        merged_header(header, 1448);
        for (uint32_t i = 0; i < 3; i++) {
            seed = seed * 1103515245u + 12345;
            header[seed >> 16 & 7] = (uint8_t)(seed >> 24);
        }
        const uint32_t before = upper.count, bad = net.rx_bad;
        assert_true(model_receive(header, frame, length) > 0);
        assert_int_equal(polled(8), 1);
        assert_int_equal(upper.count - before + net.rx_bad - bad, 1);
        if (upper.count != before) {
            assert_int_equal(upper.length, length);
            assert_true(!upper.segment_size || (upper.segments - 1) * upper.segment_size < length);
        }
    }
    assert_true(net.rx_bad > 100 && upper.count > 100);
}

static void number_of_buffers_that_lies(void **state)
{
    static const uint16_t numbers[] = {0, 2, 3, WEIR_FRAME_SLICES, WEIR_FRAME_SLICES + 1, 0x7fff, 0xffff};
    (void)state;
    for (uint32_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        const uint32_t bad = net.rx_bad, count = upper.count;
        assert_int_equal(model_receive(none, frame, 100), 1);
        for (uint32_t buffer = 0; buffer < VIRTIO_NET_RX; buffer++) {  // whichever of them it is
            memory->receive[buffer][2 + 10] = (uint8_t)numbers[i];
            memory->receive[buffer][2 + 11] = (uint8_t)(numbers[i] >> 8);
        }
        assert_int_equal(polled(8), 1);
        assert_int_equal(net.rx_bad, bad + 1);
        assert_int_equal(upper.count, count);
        assert_int_equal(model_buffers(), VIRTIO_NET_RX);
    }
    assert_false(net.rx.broken);
}

// Lengths in the used ring: shorter than a header, or than an Ethernet header, longer than the buffer.
static void lengths_that_lie(void **state)
{
    static const uint32_t lengths[] = {0, 1, 11, 12, 13, 25, 26, 4094, 4095, 0x10000, 0xffffffff};
    (void)state;
    for (uint32_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        start_without(0);
        memset(memory->receive, 0, sizeof memory->receive);
        for (uint32_t buffer = 0; buffer < VIRTIO_NET_RX; buffer++)
            memory->receive[buffer][2 + 10] = 1;
        model_used(0, 0, lengths[i]);
        (void)polled(8);
        assert_int_equal(upper.count, lengths[i] >= 26);
        if (upper.count)
            assert_int_equal(upper.length, (lengths[i] < 4094 ? lengths[i] : 4094) - 12);
    }
}

static void a_flood_waits_for_its_turn(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 20; i++)
        (void)model_receive(none, frame, 60);
    assert_int_equal(model.interrupts, 1);  // the first alone
    virtio_net_interrupt(&net);
    assert_int_equal(model.isr, 0);
    assert_int_equal(polled(8), 8);
    (void)model_receive(none, frame, 60);
    assert_int_equal(polled(8), 8);
    assert_int_equal(model.interrupts, 1);
    assert_int_equal(polled(8), 5);  // found empty: the next one interrupts
    (void)model_receive(none, frame, 60);
    assert_int_equal(model.interrupts, 2);
    start_without(1u << MODEL_EVENT_IDX);
    for (uint32_t i = 0; i < 3; i++)
        (void)model_receive(none, frame, 60);
    assert_int_equal(polled(8), 3);
}

// --- out -------------------------------------------------------------------------------------------------------------

static enum weir_tx_verdict send(uint32_t head, uint32_t length, uint32_t pieces, bool holdable, uint32_t end)
{
    static struct weir_slice slices[40];
    struct weir_tx tx = {.slices = slices,
                         .length = length,
                         .count = (uint16_t)(1 + pieces),
                         .holdable = holdable,
                         .hold_owner = &upper,
                         .hold_end = end};
    slices[0] = (struct weir_slice){frame, head};
    for (uint32_t i = 0, at = head; i < pieces; at += slices[++i].length)
        slices[i + 1] = (struct weir_slice){frame + at, i + 1 < pieces ? (length - head) / pieces : length - at};
    tx.header_length = (uint16_t)head;
    const enum weir_tx_verdict verdict = netif.driver->tx(&netif, &tx);
    netif.driver->flush(&netif);
    return verdict;
}

static void frames_go_out_copied_or_lent(void **state)
{
    static const struct {
        uint32_t length, pieces, descriptors;
        bool holdable, held;
    } cases[] = {{60, 0, 1, false, false},   {1514, 1, 1, false, false},   {1514, 1, 2, true, true},
                 {300, 1, 1, true, false},   {65549, 3, 33, false, false}, {65549, 23, 24, true, true},
                 {2036, 2, 1, false, false}, {2037, 2, 2, false, false}};
    (void)state;
    for (uint32_t i = 0; i < 8 * 100; i++) {
        const uint32_t head = cases[i % 8].pieces ? 66 : 60;
        model.sent_count = 0;
        assert_int_equal(send(head, cases[i % 8].length, cases[i % 8].pieces, cases[i % 8].holdable, i),
                         cases[i % 8].held ? WEIR_TX_HELD : WEIR_TX_DONE);
        model_transmit();
        assert_int_equal(model.sent_count, 1);
        assert_int_equal(model_sent[0].descriptors, cases[i % 8].descriptors);
        assert_int_equal(model_sent[0].length, 12 + cases[i % 8].length);
        assert_memory_equal(model_sent[0].bytes, (uint8_t[12]){0}, 12);
        assert_memory_equal(model_sent[0].bytes + 12, frame, cases[i % 8].length);
        (void)polled(8);
    }
    assert_int_equal(upper.completed, 200);
    assert_int_equal(net.tx.free_count, VIRTIO_NET_TX);
    assert_int_equal(model.interrupts, 0);  // nobody waits
}

static void offloads_stand_in_the_header(void **state)
{
    struct weir_slice slice = {frame, 5000};
    struct weir_tx tx = {.slices = &slice,
                         .length = 5000,
                         .count = 1,
                         .header_length = 66,
                         .checksum_start = 34,
                         .checksum_offset = 16,
                         .segment_size = 1448,
                         .gso = WEIR_GSO_TCP4};
    (void)state;
    frame[34 + 13] = 0x18;
    (void)netif.driver->tx(&netif, &tx);
    model_transmit();
    assert_memory_equal(model_sent[0].bytes, ((uint8_t[12]){1, 1, 66, 0, 0xa8, 5, 34, 0, 16, 0, 0, 0}), 12);
    frame[34 + 13] |= 0x80;
    (void)netif.driver->tx(&netif, &tx);
    model_transmit();
    assert_int_equal(model_sent[1].bytes[1], 0x81);
    slice.length = tx.length = 66 + 1448;  // one segment
    (void)netif.driver->tx(&netif, &tx);
    model_transmit();
    assert_memory_equal(model_sent[2].bytes, ((uint8_t[12]){1, 0, 0, 0, 0, 0, 34, 0, 16, 0, 0, 0}), 12);
}

// Completions come back in any order; the stack hears of them in the order of sending.
static void lent_memory_comes_back_in_order(void **state)
{
    static const uint32_t order[] = {3, 1, 0, 2, 5, 4};
    static const uint32_t told[] = {0, 0, 2, 4, 4, 6};
    (void)state;
    model.keep = true;
    for (uint32_t i = 0; i < 6; i++)
        assert_int_equal(send(66, 1514, 1, true, 100 + i), WEIR_TX_HELD);
    model_transmit();
    for (uint32_t i = 0; i < 6; i++) {
        model_finish(order[i]);
        (void)polled(8);
        assert_int_equal(upper.completed, told[i]);
    }
    for (uint32_t i = 0; i < 6; i++)
        assert_int_equal(upper.ends[i], 100 + i);
}

static void a_full_queue_says_when_there_is_room(void **state)
{
    uint32_t sent = 0;
    (void)state;
    model.keep = true;
    while (send(66, 1514, 5, true, sent) == WEIR_TX_HELD)
        assert_true(++sent < 100);
    assert_int_equal(sent, VIRTIO_NET_TX / 6);
    model_transmit();
    (void)polled(8);
    assert_int_equal(upper.ready, 0);
    const uint32_t part = sent * 3 / 4;
    for (uint32_t i = 0; i < part; i++) {
        assert_int_equal(model.interrupts, 0);
        model_finish(i);
    }
    assert_int_equal(model.interrupts, 1);
    (void)polled(8);
    assert_int_equal(upper.ready, 1);
    assert_int_equal(upper.completed, part);
    assert_int_equal(send(66, 1514, 5, true, 1), WEIR_TX_HELD);
    // And so again, down to the last frame.
    while (send(66, 1514, 5, true, sent) == WEIR_TX_HELD)
        ;
    for (uint32_t i = part; i < sent; i++)
        model_finish(i);
    (void)polled(8);
    assert_int_equal(upper.ready, 2);
}

// Between the look and the asking the device may be done with all: then no interrupt comes, and the driver must see it
// by itself.
static void room_that_came_unnoticed_is_found(void **state)
{
    (void)state;
    while (send(66, 1514, 5, true, 0) == WEIR_TX_HELD)
        ;
    model_transmit();
    (void)polled(8);
    assert_int_equal(upper.ready, 1);
}

static void what_is_lent_comes_back_without_input(void **state)
{
    (void)state;
    (void)send(66, 1514, 1, true, 7);
    assert_int_equal(netif.driver->timer(&netif, 1000), 11000);
    model_transmit();
    (void)polled(8);  // a turn, not an interrupt
    assert_int_equal(upper.completed, 1);
    assert_int_equal(netif.driver->timer(&netif, 2000), 501000);
}

// --- a device that fails ---------------------------------------------------------------------------------------------

static void recovers(uint32_t resets)
{
    const uint64_t now = net.look_us;
    assert_int_equal(upper.carrier, false);
    (void)netif.driver->timer(&netif, now);
    assert_int_equal(net.restarts, 1);
    assert_int_equal(upper.carrier, true);
    assert_int_equal(model.resets, resets + 2);
    assert_int_equal(model.status, 15);
    assert_int_equal(model_receive(none, frame, 77), 1);
    assert_int_equal(polled(8), 1);
    assert_int_equal(upper.length, 77);
    model.sent_count = 0;
    assert_int_equal(send(66, 1514, 1, true, 9), WEIR_TX_HELD);
    model_transmit();
    assert_int_equal(model.sent_count, 1);
}

static void a_device_that_contradicts_itself_is_reset(void **state)
{
    for (uint32_t i = 0; i < 5; i++) {
        (void)state;
        start_without(0);
        const uint32_t resets = model.resets;
        model.keep = true;
        (void)netif.driver->timer(&netif, 1000);
        (void)send(66, 1514, 1, true, 1);
        (void)send(66, 1514, 1, true, 2);
        if (i == 0)
            model_used(0, 300, 60);
        else if (i == 1)
            model_used_index(0, 200);
        else if (i == 2)
            model_used(1, 250, 0);
        else if (i == 3)
            model_used_index(1, 3);
        else
            model.status |= 64;
        (void)polled(8);
        model.isr |= i == 4 ? 2 : 0;
        virtio_net_interrupt(&net);
        (void)netif.driver->timer(&netif, 2000);
        assert_int_equal(upper.completed, 2);  // the device was reset: it no longer reads what was lent
        assert_int_equal(send(66, 1514, 1, true, 3), WEIR_TX_DONE);  // lost, as with the cable pulled
        recovers(resets);
    }
}

static void memory_of_a_device_that_cannot_be_reset_is_kept(void **state)
{
    (void)state;
    (void)send(66, 1514, 1, true, 1);
    model_used(1, 250, 0);
    (void)polled(8);
    model.stuck = true;
    (void)netif.driver->timer(&netif, 2);
    assert_int_equal(upper.completed, 0);
    for (uint64_t now = 2; now < 3000000; now += 100000)
        (void)netif.driver->timer(&netif, now);
    assert_int_equal(upper.completed, 0);
    assert_false(upper.carrier);
}

static void a_refused_frame_goes_on_after_a_restart(void **state)
{
    (void)state;
    model.keep = true;
    while (send(66, 1514, 5, true, 0) == WEIR_TX_HELD)
        ;
    model_used(1, 999, 0);
    (void)polled(8);
    (void)netif.driver->timer(&netif, 2);
    (void)netif.driver->timer(&netif, net.look_us);
    assert_int_equal(net.restarts, 1);
    assert_int_equal(upper.ready, 1);
}

static void the_cable_is_told(void **state)
{
    (void)state;
    assert_int_equal(netif.driver->timer(&netif, 1000), 501000);
    assert_int_equal(upper.carriers, 0);
    model.link = 0;
    (void)netif.driver->timer(&netif, 2000);
    assert_int_equal(upper.carriers, 0);
    model.isr = 2;
    virtio_net_interrupt(&net);
    (void)netif.driver->timer(&netif, 3000);
    assert_int_equal(upper.carriers, 1);
    assert_false(upper.carrier);
    model.link = 0xfffe | 1;
    (void)netif.driver->timer(&netif, 503000);
    assert_true(upper.carrier);
}

// --- PCI -------------------------------------------------------------------------------------------------------------

static void configuration_spaces_that_lie(void **state)
{
    (void)state;
    uint32_t seed = 7, opened = 0;
    pci = true;
    model_start();
    model.pci[0] = 0x10411af4;
    assert_true(open_bus());
    assert_int_equal(model.pci[1] & 6, 6);
    assert_int_equal(pci_bus.common, MODEL_BAR);
    assert_int_equal(pci_bus.notify, MODEL_BAR + 0x400);
    for (uint32_t round = 0; round < 20000; round++) {
        model_start();
        for (uint32_t i = 0; i < 1 + round % 3; i++) {
            seed = seed * 1103515245u + 12345;
            ((uint8_t *)model.pci)[4 + (seed >> 16) % 252] = (uint8_t)(seed >> 8);
        }
        opened += open_bus();
    }
    assert_true(opened > 1000);
    model_start();
    model.pci[0x40 / 4] = 0x01004009;  // a circle
    assert_true(open_bus());
    model_start();
    model.pci[1] = 0;
    assert_false(open_bus());
    model_start();
    model.pci[8] = 0;  // no address given
    assert_false(open_bus());
    model_start();
    model.pci[0x70 / 4 + 3] = 0x10;  // doorbells beyond the structure
    refused();
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_device_is_taken_into_use),
        TEST(what_is_not_offered_is_not_used),
        TEST(strangers_are_not_taken),
        TEST(frames_of_many_lengths_come_in),
        TEST(large_frames_are_spread),
        TEST(flags_count_only_when_agreed),
        TEST(headers_that_lie),
        TEST(number_of_buffers_that_lies),
        TEST(lengths_that_lie),
        TEST(a_flood_waits_for_its_turn),
        TEST(frames_go_out_copied_or_lent),
        TEST(offloads_stand_in_the_header),
        TEST(lent_memory_comes_back_in_order),
        TEST(a_full_queue_says_when_there_is_room),
        TEST(room_that_came_unnoticed_is_found),
        TEST(what_is_lent_comes_back_without_input),
        TEST(a_device_that_contradicts_itself_is_reset),
        TEST(memory_of_a_device_that_cannot_be_reset_is_kept),
        TEST(a_refused_frame_goes_on_after_a_restart),
        TEST(the_cable_is_told),
    };
    const struct CMUnitTest for_pci[] = {TEST(configuration_spaces_that_lie)};
    int failed = cmocka_run_group_tests_name("drivers/virtio_net over registers in memory", tests, NULL, NULL);
    pci = true;
    failed += cmocka_run_group_tests_name("drivers/virtio_net over PCI", tests, NULL, NULL);
    return failed + cmocka_run_group_tests_name("drivers/virtio_pci", for_pci, NULL, NULL);
}
