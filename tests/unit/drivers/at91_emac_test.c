// SPDX-License-Identifier: BSD-2-Clause
// profiles: tiny tiny6 small small6
// The driver of the AT91RM9200's Ethernet MAC against the model of its registers, caches on: what the driver forgets to
// clean or to invalidate is not there.
#include "drivers/at91_emac.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "drivers/at91_emac_model.h"

#define BASE 0xfffbc000u
#define IER 0x28u
#define CFG_SPD 1u
#define CFG_FD 2u

static const uint8_t mac[6] = {0x02, 1, 2, 3, 4, 5};
static struct at91_emac_model chip;
static struct at91_emac device;
static struct at91_emac_ring ring;
static struct weir_netif netif;
static uint64_t look_us;               // when the driver wants to look at the PHY next
static uint32_t cleaned, invalidated;  // times that the hooks were called

static void count_clean(const void *memory, uint32_t bytes)
{
    cleaned++;
    at91_emac_model_clean(memory, bytes);
}
static void count_invalidate(const void *memory, uint32_t bytes)
{
    invalidated++;
    at91_emac_model_invalidate(memory, bytes);
}

static struct at91_emac_board board = {.base = BASE,
                                       .ring = &ring,
                                       .mac = {0x02, 1, 2, 3, 4, 5},
                                       .device_address = at91_emac_model_address,
                                       .clean = count_clean,
                                       .invalidate = count_invalidate};

// The upper side: a wrapper that keeps what it was given.
static struct {
    uint8_t last[2000];
    uint32_t length, count, ready, ups, downs;
    const uint8_t *arrives;  // a frame that arrives while one is being handed up
} upper;

static void upper_input(struct weir_netif *of, const struct weir_frame *frame)
{
    assert_ptr_equal(of, &netif);
    assert_int_equal(frame->count, 1);
    assert_int_equal(frame->slices[0].length, frame->length);
    assert_true(frame->length <= sizeof upper.last);
    memcpy(upper.last, frame->slices[0].data, frame->length);
    upper.length = frame->length;
    upper.count++;
    if (upper.arrives)
        assert_int_equal(at91_emac_model_receive(&chip, upper.arrives, 60), AT91_EMAC_MODEL_STORED);
    upper.arrives = NULL;
}
static void upper_ready(struct weir_netif *of) { upper.ready += of == &netif; }
static void upper_complete(struct weir_netif *of, void *owner, uint32_t end) { (void)of, (void)owner, (void)end; }
static void upper_carrier(struct weir_netif *of, bool up) { (void)of, *(up ? &upper.ups : &upper.downs) += 1; }
static const struct weir_upper upper_side = {upper_input, upper_ready, upper_complete, upper_carrier};

static int setup(void **state)
{
    (void)state;
    at91_emac_model_close();
    at91_emac_model_open(&chip, BASE);
    memset(&device, 0x5c, sizeof device);
    memset(&upper, 0, sizeof upper);
    cleaned = invalidated = 0;
    look_us = 1;
    memset(&ring, 0x5c, sizeof ring);
    at91_emac_model_share(&device, sizeof device, true);
    at91_emac_model_share(&ring, sizeof ring, false);
    at91_emac_open(&device, &board);
    assert_int_equal(chip.imr, 0xfff);  // silent until it is attached
    assert_int_equal(chip.ctl & 0xc, 0);
    at91_emac_attach(&device, &netif, "eth0");
    assert_memory_equal(netif.mac, mac, 6);
    assert_int_equal(chip.ctl & 0xc, 0xc);
    assert_int_equal(~chip.imr & AT91_EMAC_MODEL_RCOM, AT91_EMAC_MODEL_RCOM);
    netif.upper = &upper_side;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    at91_emac_model_close();
    return 0;
}

// A frame for us; each has other bytes.
static const uint8_t *make(uint32_t seed)
{
    static uint8_t frame[1600];
    for (uint32_t i = 0; i < sizeof frame; i++)
        frame[i] = (uint8_t)(i * 7 + i / 251 + seed * 31);
    memcpy(frame, mac, 6);
    return frame;
}

static enum at91_emac_model_verdict arrives(uint32_t seed, uint32_t length)
{
    return at91_emac_model_receive(&chip, make(seed), length);
}

static int poll(int budget) { return netif.driver->poll(&netif, budget); }

static void received(uint32_t seed, uint32_t length)
{
    assert_int_equal(upper.length, length);
    assert_memory_equal(upper.last, make(seed), length);
}

static void frames_of_every_length_come_in(void **state)
{
    (void)state;
    for (uint32_t length = 60; length <= 1518; length++) {
        assert_int_equal(arrives(length, length), AT91_EMAC_MODEL_STORED);
        assert_int_equal(poll(8), 1);
        received(length, length);
    }
    assert_int_equal(upper.count, 1518 - 60 + 1);
    assert_int_equal(device.counters.rx_bad, 0);
    assert_true(invalidated >= upper.count);
}

// The part's pointer goes round by the wrap bit, the driver with it, and only what was given back is used again.
static void the_ring_wraps_and_buffers_are_given_back(void **state)
{
    uint32_t seed = 0, expected = 0;
    (void)state;
    for (uint32_t round = 0; round < 5 * AT91_EMAC_BUFFERS; round++) {
        const uint32_t waiting = 1 + round % AT91_EMAC_BUFFERS;
        for (uint32_t i = 0; i < waiting; i++, seed++)
            assert_int_equal(arrives(seed, 60 + seed % 1400), AT91_EMAC_MODEL_STORED);
        for (uint32_t i = 0; i < waiting; i++, expected++) {
            assert_int_equal(poll(1), 1);
            received(expected, 60 + expected % 1400);
        }
        assert_int_equal(poll(1), 0);
    }
    assert_int_equal(device.counters.no_buffer, 0);
}

static void too_many_frames(void)
{
    for (uint32_t i = 0; i < AT91_EMAC_BUFFERS; i++)
        assert_int_equal(arrives(i, 100 + i), AT91_EMAC_MODEL_STORED);
    assert_int_equal(arrives(99, 100), AT91_EMAC_MODEL_NO_BUFFER);
    assert_true(at91_emac_model_line(&chip));
    at91_emac_interrupt(&device);
    for (uint32_t i = 0; i < AT91_EMAC_BUFFERS; i++) {
        assert_int_equal(poll(1), 1);
        received(i, 100 + i);
    }
    assert_int_equal(poll(1), 0);
    assert_int_equal(device.counters.no_buffer, 1);
    // It goes on where it stopped, with an interrupt.
    assert_int_equal(arrives(1000, 200), AT91_EMAC_MODEL_STORED);
    assert_true(at91_emac_model_line(&chip));
    at91_emac_interrupt(&device);
    assert_int_equal(poll(8), 1);
    received(1000, 200);
}

static void without_a_buffer_a_frame_is_lost_and_counted(void **state)
{
    (void)state;
    too_many_frames();
    assert_int_equal(chip.drfc, 1);
}

static void erratum_11_does_not_stop_reception(void **state)
{
    (void)state;
    chip.quirks.stuck_without_buffer = true;
    too_many_frames();
}

// The same when the interrupt alone tells of it: every event while masked is lost.
static void without_a_buffer_and_with_lost_events(void **state)
{
    (void)state;
    chip.quirks.stuck_without_buffer = chip.quirks.masked_events_lost = true;
    too_many_frames();
}

static void an_overrun_loses_one_frame(void **state)
{
    (void)state;
    assert_int_equal(arrives(1, 300), AT91_EMAC_MODEL_STORED);
    assert_int_equal(at91_emac_model_receive_late(&chip, make(2), 1000), AT91_EMAC_MODEL_OVERRUN);
    assert_int_equal(arrives(3, 70), AT91_EMAC_MODEL_STORED);
    at91_emac_interrupt(&device);
    assert_int_equal(poll(1), 1);
    received(1, 300);
    assert_int_equal(poll(8), 1);
    received(3, 70);
    assert_int_equal(device.counters.overruns, 1);
    // An overrun alone interrupts too, and does not leave the line up.
    assert_int_equal(at91_emac_model_receive_late(&chip, make(2), 60), AT91_EMAC_MODEL_OVERRUN);
    assert_true(at91_emac_model_line(&chip));
    at91_emac_interrupt(&device);
    assert_false(at91_emac_model_line(&chip));
    assert_int_equal(poll(8), 0);
    assert_int_equal(device.counters.overruns, 2);
}

// The receive interrupt stays masked until a poll has found the ring empty: a flood gets its budget and no more.
static void a_flood_waits_for_its_turn(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 5; i++)
        assert_int_equal(arrives(i, 60), AT91_EMAC_MODEL_STORED);
    assert_true(at91_emac_model_line(&chip));
    at91_emac_interrupt(&device);
    assert_false(at91_emac_model_line(&chip));
    for (uint32_t round = 0; round < 50; round++) {  // two go, two come
        assert_int_equal(poll(2), 2);
        assert_int_equal(arrives(round, 60), AT91_EMAC_MODEL_STORED);
        assert_int_equal(arrives(round, 60), AT91_EMAC_MODEL_STORED);
        assert_false(at91_emac_model_line(&chip));
    }
    assert_int_equal(poll(2), 2);
    assert_int_equal(poll(2), 2);
    assert_int_equal(chip.imr & AT91_EMAC_MODEL_RCOM, AT91_EMAC_MODEL_RCOM);
    assert_int_equal(poll(2), 1);
    assert_int_equal(chip.imr & AT91_EMAC_MODEL_RCOM, 0);
    assert_int_equal(upper.count, 105);
    assert_int_equal(poll(2), 0);
}

static bool arrives_at_unmasking;
static void before_unmasking(struct at91_emac_model *model, uint32_t offset, uint32_t value)
{
    if (!arrives_at_unmasking || offset != IER || !(value & AT91_EMAC_MODEL_RCOM))
        return;
    arrives_at_unmasking = false;
    assert_int_equal(at91_emac_model_receive(model, make(2), 60), AT91_EMAC_MODEL_STORED);
}

// A frame that comes after the last look at the ring and before the interrupt is enabled: it is found, or it
// interrupts.
static void a_frame_before_the_interrupt_is_enabled(void **state)
{
    (void)state;
    for (int lost = 0; lost < 2; lost++) {
        chip.quirks.masked_events_lost = lost;
        chip.before_write = before_unmasking;
        upper.count = 0;
        assert_int_equal(arrives(1, 60), AT91_EMAC_MODEL_STORED);
        at91_emac_interrupt(&device);
        arrives_at_unmasking = true;
        (void)poll(8);
        assert_false(arrives_at_unmasking);
        if (at91_emac_model_line(&chip)) {
            at91_emac_interrupt(&device);
            (void)poll(8);
        }
        assert_int_equal(upper.count, 2);
        received(2, 60);
        // And with a budget that ends there, the poll is either full or the line up: the next one has it.
        assert_int_equal(arrives(1, 60), AT91_EMAC_MODEL_STORED);
        at91_emac_interrupt(&device);
        assert_int_equal(poll(1), 1);
        arrives_at_unmasking = true;
        assert_true(poll(1) == 1 || at91_emac_model_line(&chip));
        (void)poll(8);
        assert_int_equal(upper.count, 4);
    }
}

static uint32_t unmasked;
static void report_again(struct at91_emac_model *model, uint32_t offset, uint32_t value)
{
    (void)value;
    if (offset != IER)
        return;
    model->rsr |= 1;
    assert_in_range(++unmasked, 1, 1000);
}

// A receiver that always reports something does not keep the caller, and its interrupt is not forgotten.
static void a_receiver_that_reports_for_ever_is_left(void **state)
{
    (void)state;
    unmasked = 0;
    chip.before_write = report_again;
    assert_int_equal(poll(8), 0);
    assert_in_range(unmasked, 1, 1000);
    chip.before_write = NULL;
    assert_int_equal(arrives(1, 60), AT91_EMAC_MODEL_STORED);
    assert_true(at91_emac_model_line(&chip));
}

// While a frame is handed up the next one arrives: its descriptor shares a cache line with the one that is then given
// back.
static void a_frame_arrives_while_one_is_handed_up(void **state)
{
    uint8_t other[60];
    (void)state;
    for (uint32_t i = 0; i < 3 * AT91_EMAC_BUFFERS; i++) {
        memcpy(other, make(1000 + i), sizeof other);
        assert_int_equal(arrives(i, 80), AT91_EMAC_MODEL_STORED);
        upper.arrives = other;
        assert_int_equal(poll(1), 1);
        received(i, 80);
        assert_int_equal(poll(8), 1);
        received(1000 + i, 60);
    }
    assert_int_equal(device.counters.no_buffer, 0);
}

// A length that cannot be is counted; the ring goes on.
static void impossible_lengths_are_dropped(void **state)
{
    static const uint32_t lengths[] = {0, 3, 4, 17, 1523, 0x7ff};
    (void)state;
    for (uint32_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        at91_emac_model_receive_status(&chip, 0x04000000u | lengths[i]);
        assert_int_equal(arrives(i, 90), AT91_EMAC_MODEL_STORED);
        (void)poll(8);
        assert_int_equal(upper.count, i + 1);
        received(i, 90);
        assert_int_equal(device.counters.rx_bad, i + 1);
        assert_int_equal(netif.stats.rx_dropped, i + 1);
    }
}

// Ours, to all, and multicast (the driver has no filter: all of it) pass; others do not, and runts and giants are the
// part's business.
static void the_part_filters(void **state)
{
    static const uint8_t to_all[6] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, group[6] = {1, 0, 0x5e, 0, 0, 251},
                         other[6] = {2, 1, 2, 3, 4, 6};
    uint8_t frame[1600];
    (void)state;
    memcpy(frame, make(7), sizeof frame);
    assert_int_equal(at91_emac_model_receive(&chip, frame, 60), AT91_EMAC_MODEL_STORED);
    memcpy(frame, to_all, 6);
    assert_int_equal(at91_emac_model_receive(&chip, frame, 60), AT91_EMAC_MODEL_STORED);
    memcpy(frame, other, 6);
    assert_int_equal(at91_emac_model_receive(&chip, frame, 60), AT91_EMAC_MODEL_FILTERED);
    assert_true(netif.capabilities & WEIR_NETIF_MULTICAST);
    memcpy(frame, group, 6);
    for (uint32_t i = 0; i < 256; i++) {
        frame[5] = (uint8_t)i;
        if (netif.driver->filter)
            netif.driver->filter(&netif, frame, true);
        assert_int_equal(at91_emac_model_receive(&chip, frame, 60), AT91_EMAC_MODEL_STORED);
        assert_true(poll(8) > 0);
    }
    assert_int_equal(upper.count, 258);
    memcpy(frame, mac, 6);
    assert_int_equal(at91_emac_model_receive(&chip, frame, 59), AT91_EMAC_MODEL_BAD_LENGTH);
    assert_int_equal(at91_emac_model_receive(&chip, frame, 1519), AT91_EMAC_MODEL_BAD_LENGTH);
}

static enum weir_tx_verdict send(const uint8_t *bytes, uint32_t length, const uint32_t *pieces)
{
    struct weir_slice slices[8];
    struct weir_tx tx = {.slices = slices, .length = length};
    for (uint32_t at = 0; at < length; at += slices[tx.count++].length)
        slices[tx.count] = (struct weir_slice){
            bytes + at, pieces[tx.count] && at + pieces[tx.count] < length ? pieces[tx.count] : length - at};
    return netif.driver->tx(&netif, &tx);
}
static const uint32_t whole[8];

// Slices of odd lengths come out as one frame, at least 60 bytes long, with zeroes at its end and nothing of the frame
// before it.
static void frames_of_every_length_go_out(void **state)
{
    static const uint32_t cuts[][8] = {{0}, {54}, {14, 1, 1, 3}, {17, 2, 41, 5}};
    static const uint8_t zeroes[60];
    (void)state;
    for (uint32_t length = 14; length <= 1518; length++) {
        const uint8_t *frame = make(length);
        assert_int_equal(send(frame, length, cuts[length % 4]), WEIR_TX_DONE);
        assert_int_equal(chip.sending.length, length < 60 ? 60 : length);  // filled up by the driver: see the model
        assert_true(at91_emac_model_sent(&chip, AT91_EMAC_MODEL_OK));
        assert_int_equal(chip.wire_length, length < 60 ? 60 : length);
        assert_memory_equal(chip.wire, frame, length);
        if (length < 60)
            assert_memory_equal(chip.wire + length, zeroes, 60 - length);
        assert_true(at91_emac_model_line(&chip));
        at91_emac_interrupt(&device);
        (void)poll(8);
    }
    assert_int_equal(device.counters.tx_errors, 0);
    assert_true(cleaned >= 1505);
}

static void a_frame_that_is_too_long_is_dropped(void **state)
{
    (void)state;
    assert_int_equal(send(make(1), 1519, whole), WEIR_TX_DONE);
    assert_int_equal(netif.stats.tx_dropped, 1);
    assert_false(at91_emac_model_sent(&chip, AT91_EMAC_MODEL_OK));
}

// The part would take a second frame (BNQ is set), but the driver has one buffer: the model sees it change.
static void a_busy_transmitter_is_full_until_its_interrupt(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(send(make(i), 60, whole), WEIR_TX_DONE);
        assert_int_equal(send(make(50), 60, whole), WEIR_TX_FULL);
        assert_int_equal(send(make(51), 70, whole), WEIR_TX_FULL);
        (void)poll(8);
        assert_int_equal(upper.ready, i);
        assert_false(at91_emac_model_line(&chip));
        assert_true(at91_emac_model_sent(&chip, AT91_EMAC_MODEL_OK));
        assert_memory_equal(chip.wire, make(i), 60);
        assert_true(at91_emac_model_line(&chip));
        at91_emac_interrupt(&device);
        assert_false(at91_emac_model_line(&chip));
        (void)poll(8);
        assert_int_equal(upper.ready, i + 1);
        (void)poll(8);
        assert_int_equal(upper.ready, i + 1);
    }
    assert_int_equal(chip.wire_count, 3);
    assert_int_equal(chip.tsr & 1, 0);  // never written to while it was full
}

// Nobody was told FULL since: nobody is told that there is room.
static void an_idle_stack_is_not_woken(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(send(make(1), 60, whole), WEIR_TX_DONE);
        if (i == 1)
            assert_int_equal(send(make(2), 60, whole), WEIR_TX_FULL);
        assert_true(at91_emac_model_sent(&chip, AT91_EMAC_MODEL_OK));
        at91_emac_interrupt(&device);
        (void)poll(8);
        assert_int_equal(upper.ready, i > 0);
    }
}

static void transmit_errors_are_counted_and_end_the_frame(void **state)
{
    static const enum at91_emac_model_end ends[] = {AT91_EMAC_MODEL_UNDERRUN, AT91_EMAC_MODEL_RETRY_LIMIT};
    (void)state;
    for (uint32_t i = 0; i < 4; i++) {
        chip.quirks.failed_is_not_complete = i >= 2;
        assert_int_equal(send(make(i), 100, whole), WEIR_TX_DONE);
        assert_int_equal(send(make(50), 100, whole), WEIR_TX_FULL);
        assert_true(at91_emac_model_sent(&chip, ends[i % 2]));
        assert_true(at91_emac_model_line(&chip));
        at91_emac_interrupt(&device);
        (void)poll(8);
        assert_int_equal(device.counters.tx_errors, i + 1);
        assert_int_equal(upper.ready, i + 1);
    }
    assert_int_equal(send(make(9), 100, whole), WEIR_TX_DONE);
    assert_true(at91_emac_model_sent(&chip, AT91_EMAC_MODEL_OK));
    assert_memory_equal(chip.wire, make(9), 100);
    at91_emac_interrupt(&device);
    (void)poll(8);
    assert_int_equal(device.counters.tx_errors, 4);
}

// --- the PHY ---------------------------------------------------------------------------------------------------------

static void look(void) { look_us = netif.driver->timer(&netif, look_us); }

static void the_phy_is_found_and_left_negotiating(void **state)
{
    (void)state;
    assert_int_equal(device.mii.phy, 3);
    assert_int_equal(chip.phy[0], 0x3100);  // not begun anew
    look();
    assert_int_equal(chip.cfg & (CFG_SPD | CFG_FD), CFG_SPD | CFG_FD);
    assert_int_equal(upper.ups + upper.downs, 0);
    assert_true(netif.driver->timer(&netif, look_us - 1) == look_us);
}

static void a_phy_that_does_not_negotiate_begins(void **state)
{
    (void)state;
    chip.phy[0] = 0x2000;
    chip.phy[4] = 0x0021;
    at91_emac_open(&device, &board);
    assert_int_equal(chip.phy[4], 0x01e1);
    assert_int_equal(chip.phy[0], 0x1200);
}

// The MAC has the speed and duplex of the best that both ends can.
static void speed_and_duplex_are_what_both_can(void **state)
{
    static const struct {
        uint16_t partner, cfg;
    } cases[] = {
        {0x01e1, CFG_SPD | CFG_FD}, {0x00e1, CFG_SPD}, {0x0061, CFG_FD}, {0x0021, 0}, {0x45e1, CFG_SPD | CFG_FD}};
    (void)state;
    for (uint32_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        chip.phy[5] = cases[i].partner;
        look();
        assert_int_equal(chip.cfg & (CFG_SPD | CFG_FD), cases[i].cfg);
    }
    assert_int_equal(chip.cfg >> 10 & 3, 2);  // the management bus's clock, as before
    assert_int_equal(upper.ups + upper.downs, 0);
}

static void a_pulled_cable_is_told(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 3; i++) {
        look();
        assert_int_equal(upper.downs, i);
        chip.phy[1] &= 0xffdb;  // neither link nor negotiation
        look();
        look();
        assert_int_equal(upper.downs, i + 1);
        chip.phy[1] |= 4;  // a link, of which nothing is agreed yet
        look();
        assert_int_equal(upper.ups, i);
        chip.phy[1] |= 0x20;
        look();
        look();
        assert_int_equal(upper.ups, i + 1);
    }
    // A loss between two looks is latched, and over.
    chip.phy[31] = 4;
    chip.phy[1] &= 0xfffb;
    look();
    assert_int_equal(upper.downs, 3);
}

static void without_a_phy_the_link_is_up(void **state)
{
    (void)state;
    chip.phy_address = 32;
    at91_emac_open(&device, &board);
    assert_int_equal(device.mii.phy, MII_NONE);
    look();
    assert_int_equal(chip.cfg & (CFG_SPD | CFG_FD), CFG_SPD | CFG_FD);
    assert_int_equal(upper.ups + upper.downs, 0);
}

static void a_management_bus_that_hangs_keeps_nobody(void **state)
{
    (void)state;
    chip.man_stuck = true;
    look();
    assert_int_equal(upper.downs, 1);
    look();
    assert_int_equal(upper.downs, 1);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(frames_of_every_length_come_in),
        TEST(the_ring_wraps_and_buffers_are_given_back),
        TEST(without_a_buffer_a_frame_is_lost_and_counted),
        TEST(erratum_11_does_not_stop_reception),
        TEST(without_a_buffer_and_with_lost_events),
        TEST(an_overrun_loses_one_frame),
        TEST(a_flood_waits_for_its_turn),
        TEST(a_frame_before_the_interrupt_is_enabled),
        TEST(a_receiver_that_reports_for_ever_is_left),
        TEST(a_frame_arrives_while_one_is_handed_up),
        TEST(impossible_lengths_are_dropped),
        TEST(the_part_filters),
        TEST(frames_of_every_length_go_out),
        TEST(a_frame_that_is_too_long_is_dropped),
        TEST(a_busy_transmitter_is_full_until_its_interrupt),
        TEST(an_idle_stack_is_not_woken),
        TEST(transmit_errors_are_counted_and_end_the_frame),
        TEST(the_phy_is_found_and_left_negotiating),
        TEST(a_phy_that_does_not_negotiate_begins),
        TEST(speed_and_duplex_are_what_both_can),
        TEST(a_pulled_cable_is_told),
        TEST(without_a_phy_the_link_is_up),
        TEST(a_management_bus_that_hangs_keeps_nobody),
    };
    return cmocka_run_group_tests_name("drivers/at91_emac", tests, NULL, NULL);
}
