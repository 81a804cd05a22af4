// SPDX-License-Identifier: BSD-2-Clause
// The PCnet-PCI II's driver against the model of its registers and descriptors, with caches.
#include "drivers/pcnet.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "drivers/pcnet_model.h"
#include "upper.h"

#define BASE 0xb0000000u
#define RDP 0x10u
#define CSR0 chip.csr[0]
enum { IENA = 1 << 6, TXON = 1 << 4, RXON = 1 << 5 };

static struct pcnet_model chip;
static struct pcnet device;
static struct pcnet_shared shared;
static uint8_t queue[8192];  // a socket's send queue
static uint32_t cleaned;

// The device may look at its ring at any moment.
static void clean_and_look(const void *memory, uint32_t bytes)
{
    cleaned++;
    pcnet_model_clean(memory, bytes);
    if (chip.tx_count)
        (void)pcnet_model_transmit(&chip, 1000, PCNET_MODEL_OK);
}

static struct pcnet_board board = {.base = BASE,
                                   .shared = &shared,
                                   .mac = {0x02, 1, 2, 3, 4, 5},
                                   .bus_address = pcnet_model_address,
                                   .clean = pcnet_model_clean,
                                   .invalidate = pcnet_model_invalidate};

static void open_device(void)
{
    pcnet_model_share(&device, sizeof device, true);
    pcnet_model_share(&shared, sizeof shared, false);
    pcnet_model_share(queue, sizeof queue, true);
    pcnet_open(&device, &board);
    pcnet_attach(&device, &netif, "eth0");
    netif.upper = &upper_side;
}

static int setup(void **state)
{
    (void)state;
    pcnet_model_close();
    pcnet_model_open(&chip, BASE);
    memset(&device, 0x5c, sizeof device);
    memset(&shared, 0xff, sizeof shared);  // all descriptors the device's, as memory may be
    memset(&upper, 0, sizeof upper);
    board.clean = pcnet_model_clean;
    cleaned = 0;
    open_device();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    pcnet_model_close();
    return 0;
}

static const uint8_t *make(uint32_t seed)
{
    static uint8_t frame[4000];
    for (uint32_t i = 0; i < sizeof frame; i++)
        frame[i] = (uint8_t)(i * 7 + i / 251 + seed * 31);
    memcpy(frame, netif.mac, 6);
    return frame;
}

static int poll(int budget) { return netif.driver->poll(&netif, budget); }
static enum pcnet_model_verdict arrives(uint32_t seed, uint32_t length)
{
    return pcnet_model_receive(&chip, make(seed), length, PCNET_MODEL_GOOD);
}
static void received(uint32_t seed, uint32_t length)
{
    assert_int_equal(upper.length, length);
    assert_memory_equal(upper.last, make(seed), length);
    assert_true(upper.aligned);
}

// --- start -----------------------------------------------------------------------------------------------------------

static void the_device_is_silent_until_it_is_attached(void **state)
{
    (void)state;
    pcnet_model_close();
    pcnet_model_open(&chip, BASE);
    pcnet_model_share(&device, sizeof device, true);
    pcnet_model_share(&shared, sizeof shared, false);
    pcnet_open(&device, &board);
    assert_int_equal(chip.resets, 1);
    assert_int_equal(CSR0 & (TXON | RXON | IENA), 0);
    assert_int_equal(chip.inits, 0);
    pcnet_attach(&device, &netif, "eth0");
    assert_int_equal(CSR0 & (TXON | RXON | IENA), TXON | RXON | IENA);
    assert_int_equal(chip.inits, 1);
    assert_int_equal(chip.rx_count, PCNET_RX);
    assert_int_equal(chip.tx_count, PCNET_TX);
    assert_int_equal(pcnet_model_owned(&chip, false), PCNET_RX);
    assert_int_equal(pcnet_model_owned(&chip, true), 0);
    assert_memory_equal(chip.address, board.mac, 6);
    assert_memory_equal(netif.mac, board.mac, 6);
    assert_false(pcnet_model_line(&chip));  // the end of the initialisation is not news
}

static void either_layout_and_either_reset(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 4; i++) {
        pcnet_model_close();
        pcnet_model_open(&chip, BASE);
        chip.double_words = i & 1;  // as a boot loader left it
        chip.rap = 20;
        chip.reset_to_words = i & 2;
        open_device();
        assert_int_equal(chip.resets, 1);
        assert_int_equal(arrives(i, 100), PCNET_MODEL_STORED);
        assert_int_equal(poll(8), 1);
        received(i, 100);
    }
}

static void the_address_of_the_part_s_own_memory(void **state)
{
    const struct pcnet_board without = {.base = BASE,
                                        .shared = &shared,
                                        .bus_address = pcnet_model_address,
                                        .clean = pcnet_model_clean,
                                        .invalidate = pcnet_model_invalidate};
    (void)state;
    pcnet_open(&device, &without);
    pcnet_attach(&device, &netif, "eth0");
    netif.upper = &upper_side;
    assert_memory_equal(netif.mac, chip.aprom, 6);
    assert_memory_equal(chip.address, chip.aprom, 6);
    assert_int_equal(arrives(1, 60), PCNET_MODEL_STORED);
}

// --- in --------------------------------------------------------------------------------------------------------------

static void frames_of_every_length_come_in(void **state)
{
    (void)state;
    for (uint32_t length = 60; length <= 1518; length++) {
        assert_int_equal(arrives(length, length), PCNET_MODEL_STORED);
        assert_int_equal(poll(8), 1);
        received(length, length);
    }
    assert_int_equal(upper.count, 1518 - 60 + 1);
    assert_int_equal(device.counters.rx_bad, 0);
}

static void the_ring_wraps_and_buffers_are_given_back(void **state)
{
    uint32_t seed = 0, expected = 0;
    (void)state;
    for (uint32_t round = 0; round < 5 * PCNET_RX; round++) {
        const uint32_t waiting = 1 + round % PCNET_RX;
        for (uint32_t i = 0; i < waiting; i++, seed++)
            assert_int_equal(arrives(seed, 60 + seed % 1400), PCNET_MODEL_STORED);
        assert_int_equal(pcnet_model_owned(&chip, false), PCNET_RX - waiting);
        for (uint32_t i = 0; i < waiting; i++, expected++) {
            assert_int_equal(poll(1), 1);
            received(expected, 60 + expected % 1400);
        }
        assert_int_equal(poll(8), 0);
        assert_int_equal(pcnet_model_owned(&chip, false), PCNET_RX);
    }
}

static void without_a_buffer_frames_are_missed_and_counted(void **state)
{
    (void)state;
    for (uint32_t round = 1; round < 4; round++) {
        for (uint32_t i = 0; i < PCNET_RX; i++)
            assert_int_equal(arrives(i, 60), PCNET_MODEL_STORED);
        for (uint32_t i = 0; i < 5; i++)
            assert_int_equal(arrives(100, 60), PCNET_MODEL_MISSED);
        assert_true(pcnet_model_line(&chip));
        assert_int_equal(poll(1000), PCNET_RX);
        received(PCNET_RX - 1, 60);
        assert_int_equal(device.counters.missed, 5 * round);
        assert_int_equal(netif.stats.rx_dropped, 5 * round);
        assert_int_equal(arrives(7, 60), PCNET_MODEL_STORED);
        assert_int_equal(poll(8), 1);
        received(7, 60);
        assert_int_equal(device.counters.missed, 5 * round);
    }
}

// The part's counter has sixteen bits.
static void the_missed_frames_counter_wraps(void **state)
{
    (void)state;
    chip.csr[112] = 0xfffe;
    device.missed_before = 0xfffe;
    for (uint32_t i = 0; i < PCNET_RX; i++)
        assert_int_equal(arrives(i, 60), PCNET_MODEL_STORED);
    for (uint32_t i = 0; i < 5; i++)
        assert_int_equal(arrives(100, 60), PCNET_MODEL_MISSED);
    (void)poll(1000);
    assert_int_equal(chip.csr[112], 3);
    assert_int_equal(device.counters.missed, 5);
}

static void overruns_and_bad_sums_lose_one_frame(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 3 * PCNET_RX; i++) {
        assert_int_equal(pcnet_model_receive(&chip, make(i), 500, i % 2 ? PCNET_MODEL_OVERFLOW : PCNET_MODEL_CRC),
                         PCNET_MODEL_STORED);
        assert_int_equal(arrives(i, 80), PCNET_MODEL_STORED);
        assert_int_equal(poll(8), 2);
        assert_int_equal(upper.count, i + 1);
        received(i, 80);
        assert_int_equal(device.counters.overruns, (i + 1) / 2);
        assert_int_equal(device.counters.rx_bad, i / 2 + 1);
        assert_int_equal(netif.stats.rx_dropped, i + 1);
    }
}

// What is longer than a buffer goes on in the next one, and is one bad frame, not a good one and a half.
static void frames_that_are_too_long_are_dropped_whole(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < PCNET_RX; i++) {
        assert_int_equal(arrives(i, i % 2 ? 1600 : 3900), PCNET_MODEL_STORED);
        assert_int_equal(arrives(i, 200), PCNET_MODEL_STORED);
        (void)poll(100);
        assert_int_equal(upper.count, i + 1);
        received(i, 200);
        assert_int_equal(device.counters.rx_bad, i + 1);
        assert_int_equal(pcnet_model_owned(&chip, false), PCNET_RX);
    }
    assert_int_equal(arrives(1, 1519), PCNET_MODEL_STORED);  // it fits the buffer
    assert_int_equal(poll(8), 1);
    assert_int_equal(upper.count, PCNET_RX);
    // The last buffer was filled, and there is no other.
    for (uint32_t i = 0; i + 1 < PCNET_RX; i++)
        assert_int_equal(arrives(i, 60), PCNET_MODEL_STORED);
    assert_int_equal(arrives(50, 3000), PCNET_MODEL_CUT);
    assert_int_equal(poll(1000), PCNET_RX);
    received(PCNET_RX - 2, 60);
    assert_int_equal(arrives(9, 70), PCNET_MODEL_STORED);
    assert_int_equal(poll(8), 1);
    received(9, 70);
}

static void impossible_lengths_are_dropped(void **state)
{
    static const uint32_t lengths[] = {0, 1, 3, 4, 17, 1523, 1536, 4095};
    (void)state;
    for (uint32_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        pcnet_model_receive_words(&chip, 0x03000000, lengths[i]);
        assert_int_equal(poll(8), 1);
        assert_int_equal(device.counters.rx_bad, i + 1);
    }
    pcnet_model_receive_words(&chip, 0x01000000, 64);  // an end without a beginning
    pcnet_model_receive_words(&chip, 0x02000000, 64);  // a beginning without an end
    assert_int_equal(poll(8), 2);
    assert_int_equal(upper.count, 0);
    assert_int_equal(arrives(1, 60), PCNET_MODEL_STORED);
    assert_int_equal(poll(8), 1);
    received(1, 60);
}

static void groups_and_everyone_are_heard_others_not(void **state)
{
    uint8_t frame[60] = {0x01, 0x00, 0x5e, 1, 2, 3};
    (void)state;
    assert_int_equal(pcnet_model_receive(&chip, frame, 60, PCNET_MODEL_GOOD), PCNET_MODEL_STORED);
    memset(frame, 255, 6);
    assert_int_equal(pcnet_model_receive(&chip, frame, 60, PCNET_MODEL_GOOD), PCNET_MODEL_STORED);
    frame[0] = 2;
    assert_int_equal(pcnet_model_receive(&chip, frame, 60, PCNET_MODEL_GOOD), PCNET_MODEL_FILTERED);
}

// --- interrupts ------------------------------------------------------------------------------------------------------

static void a_flood_waits_for_its_turn(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 6; i++)
        assert_int_equal(arrives(i, 60), PCNET_MODEL_STORED);
    assert_true(pcnet_model_line(&chip));
    assert_true(pcnet_interrupt(&device));
    assert_false(pcnet_model_line(&chip));
    assert_int_equal(poll(4), 4);
    assert_int_equal(arrives(6, 60), PCNET_MODEL_STORED);
    assert_false(pcnet_model_line(&chip));  // masked until it is found empty
    assert_int_equal(poll(4), 3);
    assert_false(pcnet_model_line(&chip));
    assert_int_equal(arrives(7, 60), PCNET_MODEL_STORED);
    assert_true(pcnet_model_line(&chip));
}

static bool surprise;
static void frame_before_unmasking(struct pcnet_model *m, uint32_t offset, bool is_write)
{
    if (!surprise || !is_write || offset != RDP || m->rap != 0 || m->csr[0] & IENA || !upper.count)
        return;
    surprise = false;
    assert_int_equal(arrives(9, 60), PCNET_MODEL_STORED);
}

// What comes when the ring was found empty and the interrupt is not enabled yet raises it then.
static void a_frame_between_the_last_look_and_the_unmasking(void **state)
{
    (void)state;
    assert_int_equal(arrives(1, 60), PCNET_MODEL_STORED);
    assert_true(pcnet_interrupt(&device));
    surprise = true;
    chip.before = frame_before_unmasking;
    assert_int_equal(poll(8), 1);
    assert_false(surprise);
    assert_true(pcnet_model_line(&chip));
    assert_true(pcnet_interrupt(&device));
    assert_int_equal(poll(8), 1);
    received(9, 60);
}

static void a_neighbour_on_the_same_line_is_left_alone(void **state)
{
    (void)state;
    assert_false(pcnet_interrupt(&device));
    assert_int_equal(CSR0 & IENA, IENA);
    assert_int_equal(arrives(1, 60), PCNET_MODEL_STORED);
    assert_true(pcnet_interrupt(&device));
    assert_false(pcnet_interrupt(&device));  // masked: what raised the line again is another
}

static uint32_t interruptions;
static void interrupt_everywhere(struct pcnet_model *m, uint32_t offset, bool is_write)
{
    (void)offset, (void)is_write;
    m->before = NULL;
    (void)pcnet_interrupt(&device);
    interruptions++;
    m->before = interrupt_everywhere;
}

// An access to a register is two: an interrupt between them must not change which.
static void an_interrupt_between_two_accesses(void **state)
{
    (void)state;
    interruptions = 0;
    chip.before = interrupt_everywhere;
    for (uint32_t i = 0; i < 100; i++) {
        const struct weir_slice slice = {make(i), 60};
        const struct weir_tx tx = {.slices = &slice, .length = 60, .count = 1, .header_length = 54};
        assert_int_equal(arrives(i, 60), PCNET_MODEL_STORED);
        assert_int_equal(poll(8), 1);
        received(i, 60);
        assert_int_equal(netif.driver->tx(&netif, &tx), WEIR_TX_DONE);
        netif.driver->flush(&netif);
        assert_int_equal(pcnet_model_transmit(&chip, 10, PCNET_MODEL_OK), 1);
        (void)netif.driver->timer(&netif, i * 500000u);
        (void)poll(8);
    }
    assert_true(interruptions > 500);
    assert_int_equal(upper.carriers, 0);
    assert_int_equal(CSR0 & IENA, IENA);
}

// --- out -------------------------------------------------------------------------------------------------------------

// In so many slices, the first one a header of 54 bytes, the others parts of the queue.
static enum weir_tx_verdict send(uint32_t seed, uint32_t length, uint32_t slices, bool holdable)
{
    struct weir_slice list[WEIR_CFG_TX_SLICES];
    static uint8_t header[54];
    uint32_t at = 0;
    const uint32_t payload = length - 54;
    memcpy(header, make(seed), 54);
    memcpy(queue, make(seed) + 54, payload);
    list[0] = (struct weir_slice){header, 54};
    for (uint32_t i = 1; i < slices; i++) {
        const uint32_t part = i + 1 == slices ? payload - at : payload / (slices - 1);
        list[i] = (struct weir_slice){queue + at, part};
        at += part;
    }
    const struct weir_tx tx = {.slices = list,
                               .length = length,
                               .count = (uint16_t)slices,
                               .header_length = 54,
                               .holdable = holdable,
                               .hold_owner = &queue[seed % 100],
                               .hold_end = seed};
    const enum weir_tx_verdict verdict = netif.driver->tx(&netif, &tx);
    memset(header, 0, sizeof header);  // borrowed for the call only
    return verdict;
}

static void sent(uint32_t seed, uint32_t length)
{
    assert_int_equal(chip.wire_length, length);
    assert_memory_equal(chip.wire, make(seed), length);
}

static void frames_of_every_length_go_out(void **state)
{
    (void)state;
    for (uint32_t length = 60; length <= 1514; length++) {
        const uint32_t slices = length < 100 ? 2 : 2 + length % (WEIR_CFG_TX_SLICES - 1);
        const bool holdable = length % 3 == 0;
        assert_int_equal(send(length, length, slices, holdable), holdable ? WEIR_TX_HELD : WEIR_TX_DONE);
        if (!holdable)
            memset(queue, 0, sizeof queue);  // it was copied
        netif.driver->flush(&netif);
        assert_int_equal(pcnet_model_transmit(&chip, 100, PCNET_MODEL_OK), holdable ? slices : 1);
        sent(length, length);
        assert_true(pcnet_model_line(&chip));
        (void)poll(8);
    }
    assert_int_equal(chip.wire_count, 1514 - 60 + 1);
    assert_int_equal(chip.flushes, chip.wire_count);
    assert_int_equal(device.counters.tx_errors, 0);
}

static void a_frame_is_the_device_s_all_at_once(void **state)
{
    (void)state;
    board.clean = clean_and_look;
    for (uint32_t i = 0; i < 3 * PCNET_TX; i++) {
        assert_int_equal(send(i, 600, 2 + i % (WEIR_CFG_TX_SLICES - 1), true), WEIR_TX_HELD);
        assert_int_equal(chip.wire_count, i);
        (void)pcnet_model_transmit(&chip, 100, PCNET_MODEL_OK);
        assert_int_equal(chip.wire_count, i + 1);
        sent(i, 600);
        (void)poll(8);
    }
    assert_true(cleaned > 3 * PCNET_TX);
}

static void lent_payload_is_given_back_in_order_and_not_before(void **state)
{
    (void)state;
    for (uint32_t round = 0; round < PCNET_TX; round++) {
        const uint32_t a = 3 * round + 1;
        memset(&upper, 0, sizeof upper);
        assert_int_equal(send(a, 300, 4, true), WEIR_TX_HELD);
        assert_int_equal(send(a + 1, 300, 3, false), WEIR_TX_DONE);
        assert_int_equal(pcnet_model_transmit(&chip, 3, PCNET_MODEL_OK), 3);  // of four
        (void)poll(8);
        assert_int_equal(upper.completed, 0);
        assert_int_equal(pcnet_model_transmit(&chip, 1, PCNET_MODEL_OK), 1);
        (void)poll(8);
        assert_int_equal(upper.completed, 1);
        assert_ptr_equal(upper.owner, &queue[a % 100]);
        assert_int_equal(upper.end, a);
        assert_int_equal(send(a + 2, 300, 5, true), WEIR_TX_HELD);
        assert_int_equal(pcnet_model_transmit(&chip, 100, PCNET_MODEL_OK), 6);
        (void)poll(8);
        assert_int_equal(upper.completed, 2);
        assert_int_equal(upper.end, a + 2);
    }
}

static void a_full_ring_says_so_until_there_is_room(void **state)
{
    uint32_t taken = 0;
    (void)state;
    for (uint32_t round = 0; round < 5; round++) {
        for (taken = 0; send(taken, 100, 2, false) == WEIR_TX_DONE; taken++)
            assert_true(taken < PCNET_TX);
        assert_int_equal(taken, PCNET_TX - WEIR_CFG_TX_SLICES);
        assert_int_equal(pcnet_model_owned(&chip, true), taken);
        (void)poll(8);
        assert_int_equal(upper.ready, round);
        assert_int_equal(pcnet_model_transmit(&chip, 1, PCNET_MODEL_OK), 1);
        assert_true(pcnet_model_line(&chip));
        (void)poll(8);
        assert_int_equal(upper.ready, round + 1);
        assert_int_equal(pcnet_model_transmit(&chip, 1000, PCNET_MODEL_OK), taken - 1);
        (void)poll(8);
        assert_int_equal(upper.ready, round + 1);
    }
}

static void transmit_errors_are_counted_and_stop_nothing(void **state)
{
    static const enum pcnet_model_end ends[] = {PCNET_MODEL_UNDERFLOW, PCNET_MODEL_LOST_CARRIER, PCNET_MODEL_RETRIES};
    (void)state;
    for (uint32_t i = 0; i < 2 * PCNET_TX; i++) {
        assert_int_equal(send(i, 400, 3, true), WEIR_TX_HELD);
        assert_int_equal(pcnet_model_transmit(&chip, 100, ends[i % 3]), 3);
        (void)poll(8);
        assert_int_equal(device.counters.tx_errors, i + 1);
        assert_int_equal(upper.completed, i + 1);
        assert_int_equal(send(i, 400, 3, false), WEIR_TX_DONE);
        assert_int_equal(pcnet_model_transmit(&chip, 100, PCNET_MODEL_OK), 1);
        sent(i, 400);
        (void)poll(8);
    }
    assert_int_equal(device.counters.restarts, 0);
}

static void a_part_that_an_error_turned_off_is_started_anew(void **state)
{
    (void)state;
    for (uint32_t round = 0; round < 4; round++) {
        memset(&upper, 0, sizeof upper);
        assert_int_equal(arrives(1, 60), PCNET_MODEL_STORED);
        assert_int_equal(send(5, 500, 4, true), WEIR_TX_HELD);
        assert_int_equal(send(6, 500, 3, true), WEIR_TX_HELD);
        (void)pcnet_model_transmit(&chip, 2, PCNET_MODEL_OK);
        CSR0 &= (uint16_t) ~(round % 2 ? TXON : RXON);
        assert_int_equal(poll(8), 1);  // what had come is not lost
        assert_int_equal(device.counters.restarts, round + 1);
        assert_int_equal(chip.inits, round + 2);
        assert_int_equal(upper.completed, 2);
        assert_int_equal(upper.end, 6);
        assert_int_equal(CSR0 & (TXON | RXON | IENA), TXON | RXON | IENA);
        assert_int_equal(pcnet_model_owned(&chip, false), PCNET_RX);
        assert_int_equal(pcnet_model_owned(&chip, true), 0);
        assert_int_equal(send(7, 90, 2, false), WEIR_TX_DONE);
        assert_int_equal(pcnet_model_transmit(&chip, 10, PCNET_MODEL_OK), 1);
        sent(7, 90);
        assert_int_equal(arrives(8, 60), PCNET_MODEL_STORED);
        assert_int_equal(poll(8), 1);
        received(8, 60);
    }
}

static void a_frame_that_is_too_long_is_dropped(void **state)
{
    (void)state;
    assert_int_equal(send(1, 1519, 2, false), WEIR_TX_DONE);
    assert_int_equal(send(1, 1600, 2, true), WEIR_TX_DONE);
    assert_int_equal(netif.stats.tx_dropped, 2);
    assert_int_equal(pcnet_model_transmit(&chip, 10, PCNET_MODEL_OK), 0);
}

static void the_cable_is_looked_at(void **state)
{
    (void)state;
    assert_int_equal(netif.driver->timer(&netif, 1000000), 1500000);
    assert_int_equal(upper.carriers, 0);
    chip.link = false;
    assert_int_equal(netif.driver->timer(&netif, 1499999), 1500000);
    assert_int_equal(upper.carriers, 0);
    (void)netif.driver->timer(&netif, 1500000);
    assert_int_equal(upper.carriers, 1);
    assert_false(upper.carrier);
    (void)netif.driver->timer(&netif, 2000000);
    assert_int_equal(upper.carriers, 1);
    chip.link = true;
    (void)netif.driver->timer(&netif, 2500000);
    assert_int_equal(upper.carriers, 2);
    assert_true(upper.carrier);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(the_device_is_silent_until_it_is_attached),
        TEST(either_layout_and_either_reset),
        TEST(the_address_of_the_part_s_own_memory),
        TEST(frames_of_every_length_come_in),
        TEST(the_ring_wraps_and_buffers_are_given_back),
        TEST(without_a_buffer_frames_are_missed_and_counted),
        TEST(the_missed_frames_counter_wraps),
        TEST(overruns_and_bad_sums_lose_one_frame),
        TEST(frames_that_are_too_long_are_dropped_whole),
        TEST(impossible_lengths_are_dropped),
        TEST(groups_and_everyone_are_heard_others_not),
        TEST(a_flood_waits_for_its_turn),
        TEST(a_frame_between_the_last_look_and_the_unmasking),
        TEST(a_neighbour_on_the_same_line_is_left_alone),
        TEST(an_interrupt_between_two_accesses),
        TEST(frames_of_every_length_go_out),
        TEST(a_frame_is_the_device_s_all_at_once),
        TEST(lent_payload_is_given_back_in_order_and_not_before),
        TEST(a_full_ring_says_so_until_there_is_room),
        TEST(transmit_errors_are_counted_and_stop_nothing),
        TEST(a_part_that_an_error_turned_off_is_started_anew),
        TEST(a_frame_that_is_too_long_is_dropped),
        TEST(the_cable_is_looked_at),
    };
    return cmocka_run_group_tests_name("drivers/pcnet", tests, NULL, NULL);
}
