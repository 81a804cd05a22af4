// SPDX-License-Identifier: BSD-2-Clause
// not on mips: the model, as the bus it sits on, is little-endian
// The driver for Cadence's GEM against a model of the device, from UG585: rings of descriptors in memory that both see,
// a PHY behind a management register.
#include "upper.h"

#include "drivers/cadence_gem.h"
#include "drivers/mmio.h"

#define BASE 0xe000b000u
#define NWCTRL 0x00u
#define TXSTATUS 0x14u
#define ISR 0x24u
#define STARTTX 0x200u
#define IS_USED (1u << 31)
#define IS_WRAP (1u << 30)
#define IS_LAST (1u << 15)
#define WHOLE (3u << 14)
#define WANTED 0x4e6u  // received, no buffer, sent, not sent (both), overrun

static struct {
    struct cadence_gem gem;
    struct cadence_gem_rings rings;
    uint8_t payload[2048];
} memory;  // all that the device reaches: it knows addresses by their lower 32 bits
static struct cadence_gem_board board;
static struct {
    uint32_t registers[64], mask, phy_busy;
    uint32_t rx, tx;  // the descriptors that are next
    bool link, lost;  // lost: once, since the PHY was read
    bool keep;        // nothing leaves
    uint32_t errors;  // put into the next frame's descriptor
    uint8_t sent[2048];
    uint32_t sent_length, sent_count, cleaned, invalidated;
} chip;

static uint8_t *at(uint32_t address)
{
    const uint32_t offset = address - (uint32_t)(uintptr_t)&memory;
    assert_in_range(offset, 0, sizeof memory - 1);
    return (uint8_t *)&memory + offset;
}

static struct cadence_gem_descriptor *descriptor(uint32_t queue, uint32_t index)
{
    return (struct cadence_gem_descriptor *)(void *)at(chip.registers[queue / 4]) + index;
}

static void transmit(void)
{
    struct cadence_gem_descriptor *first;
    while (!chip.keep && !((first = descriptor(0x1c, chip.tx))->control & IS_USED)) {
        chip.sent_length = 0;
        for (bool last = false; !last;) {
            const struct cadence_gem_descriptor *const one = descriptor(0x1c, chip.tx);
            const uint32_t bytes = one->control & 0x3fff;
            assert_int_not_equal(bytes, 0);
            assert_true(chip.sent_length + bytes <= sizeof chip.sent);
            memcpy(chip.sent + chip.sent_length, at(one->address), bytes);
            chip.sent_length += bytes;
            last = one->control & IS_LAST;
            assert_int_equal(one->control & IS_WRAP, chip.tx == CADENCE_GEM_TX - 1 ? IS_WRAP : 0);
            chip.tx = one->control & IS_WRAP ? 0 : chip.tx + 1;
        }
        first->control |= IS_USED | chip.errors;
        chip.errors = 0;
        chip.sent_count++;
        chip.registers[ISR / 4] |= 0x80;
    }
}

uint32_t mmio_model_read(uintptr_t address)
{
    const uint32_t reg = (uint32_t)(address - BASE);
    assert_in_range(reg, 0, 0xfc);
    if (reg == 0x08)
        return chip.phy_busy ? chip.phy_busy--, 0 : 4;
    if (reg == 0x34) {
        const bool up = chip.link && !chip.lost;
        chip.lost = false;
        return 0x60010000u | (up ? 4 : 0);
    }
    return chip.registers[reg / 4];
}

void mmio_model_write(uintptr_t address, uint32_t value)
{
    const uint32_t reg = (uint32_t)(address - BASE);
    assert_in_range(reg, 0, 0xfc);
    if (reg == 0x28)
        chip.mask |= value;
    else if (reg == 0x2c)
        chip.mask &= ~value;
    else if (reg == ISR || reg == TXSTATUS || reg == 0x20)
        chip.registers[reg / 4] &= ~value;
    else
        chip.registers[reg / 4] = value;
    if (reg == 0x34) {
        assert_int_equal(value >> 16, 0x6000 | 5 << 7 | 1 << 2 | 2);  // a read of the PHY's status
        chip.phy_busy = 3;
    }
    if (reg == NWCTRL && value & STARTTX) {
        assert_int_equal(value & 0x1c, 0x1c);  // both ways, and the management bus
        transmit();
    }
}

static void clean(const void *from, uint32_t bytes) { chip.cleaned += from != NULL ? bytes : 0; }
static void invalidate(const void *from, uint32_t bytes) { chip.invalidated += from != NULL ? bytes : 0; }

static int setup(void **state)
{
    (void)state;
    memset(&chip, 0, sizeof chip);
    memset(&upper, 0, sizeof upper);
    memset(&memory, 0xee, sizeof memory);
    chip.link = true;
    board = (struct cadence_gem_board){.base = BASE, .rings = &memory.rings, .mac = {2, 1, 2, 3, 4, 5}, .phy = 5};
    cadence_gem_open(&memory.gem, &board);
    assert_int_equal(chip.registers[NWCTRL], 0x10);  // silent
    cadence_gem_attach(&memory.gem, &netif, "eth0");
    netif.upper = &upper_side;
    assert_int_equal(chip.registers[0x88 / 4], 0x03020102);
    assert_int_equal(chip.registers[0x8c / 4], 0x0504);
    assert_int_equal(chip.registers[0x10 / 4] >> 16, CADENCE_GEM_BUFFER_BYTES / 64);
    assert_int_equal(chip.mask, WANTED);
    assert_true(netif.capabilities & WEIR_NETIF_TX_CHECKSUM);
    return 0;
}

// --- in --------------------------------------------------------------------------------------------------------------

static uint8_t bytes[2048];
static void fill(uint32_t seed)
{
    for (uint32_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(i * 7 + seed + (i >> 8));
}

// A frame comes in. false: the driver has given no buffer.
static bool arrive(uint32_t length, uint32_t control)
{
    struct cadence_gem_descriptor *const one = descriptor(0x18, chip.rx);
    if (one->address & 1) {
        chip.registers[ISR / 4] |= 4;
        return false;
    }
    memcpy(at(one->address & ~3u) + 2, bytes, length < 1534 ? length : 1534);
    one->control = length | control;
    chip.rx = one->address & 2 ? 0 : chip.rx + 1;
    one->address |= 1;
    chip.registers[ISR / 4] |= 2;
    return true;
}

static void frames_of_every_length_come_in(void **state)
{
    (void)state;
    uint32_t count = 0;
    for (uint32_t length = 14; length <= 1518; length += length < 70 || length > 1510 ? 1 : 37, count++) {
        fill(length);
        assert_true(arrive(length, WHOLE));
        assert_int_equal(netif.driver->poll(&netif, 8), 1);
        assert_int_equal(upper.length, length);
        assert_memory_equal(upper.last, bytes, length);
        assert_true(upper.aligned);
    }
    assert_true(count > 2 * CADENCE_GEM_RX);
    assert_int_equal(upper.count, count);
}

static uint8_t told;
static void checksum_input(struct weir_netif *of, const struct weir_frame *frame)
{
    told = (of == &netif) + frame->checksum;
}

static void sums_are_believed_where_the_device_saw_a_transport(void **state)
{
    static const struct weir_upper looks = {.input = checksum_input};
    (void)state;
    netif.upper = &looks;
    for (uint32_t sum = 0; sum < 4; sum++) {
        assert_true(arrive(60, WHOLE | sum << 22));
        assert_int_equal(netif.driver->poll(&netif, 8), 1);
        assert_int_equal(told, 1 + (sum >= 2 ? WEIR_CHECKSUM_VERIFIED : WEIR_CHECKSUM_NONE));
    }
}

static void broken_frames_are_dropped(void **state)
{
    (void)state;
    assert_true(arrive(13, WHOLE));
    assert_true(arrive(1519, WHOLE));
    assert_true(arrive(8191, WHOLE));
    assert_true(arrive(60, 1u << 14));  // it does not end here
    assert_true(arrive(60, 1u << 15));  // nor begin
    assert_int_equal(netif.driver->poll(&netif, 8), 5);
    assert_int_equal(memory.gem.rx_bad, 5);
    assert_int_equal(netif.stats.rx_dropped, 5);
    assert_int_equal(upper.count, 0);
    for (uint32_t i = 0; i < CADENCE_GEM_RX; i++)
        assert_true(arrive(60, WHOLE));  // all buffers are the device's again
}

static void a_flood_waits_for_its_turn(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < CADENCE_GEM_RX; i++)
        assert_true(arrive(60, WHOLE));
    assert_false(arrive(60, WHOLE));
    cadence_gem_interrupt(&memory.gem);
    assert_int_equal(chip.mask, 0);
    assert_int_equal(chip.registers[ISR / 4], 0);
    assert_int_equal(memory.gem.overruns, 1);
    assert_int_equal(netif.driver->poll(&netif, CADENCE_GEM_RX - 1), CADENCE_GEM_RX - 1);
    assert_int_equal(chip.mask, 0);  // there may be more
    assert_int_equal(netif.driver->poll(&netif, 8), 1);
    assert_int_equal(chip.mask, WANTED);
    assert_int_equal(upper.count, CADENCE_GEM_RX);
    chip.registers[ISR / 4] = 2;
    cadence_gem_interrupt(&memory.gem);
    assert_int_equal(memory.gem.overruns, 1);  // only a frame
}

// --- out -------------------------------------------------------------------------------------------------------------

// Two slices: headers of 54 bytes, and the rest of what lies in memory.payload.
static enum weir_tx_verdict send(uint32_t length, bool holdable)
{
    const struct weir_slice slices[2] = {{bytes, 54}, {memory.payload, length - 54}};
    const struct weir_tx tx = {.slices = slices,
                               .length = length,
                               .count = length > 54 ? 2 : 1,
                               .checksum_start = 34,
                               .checksum_offset = 16,
                               .holdable = holdable,
                               .hold_owner = &chip,
                               .hold_end = length};
    return netif.driver->tx(&netif, &tx);
}

static void assert_sent(uint32_t length)
{
    assert_int_equal(chip.sent_length, length);
    for (uint32_t i = 0; i < length; i++)
        assert_int_equal(chip.sent[i], i == 50 || i == 51 ? 0 : i < 54 ? bytes[i] : memory.payload[i - 54]);
}

static void frames_go_out_with_an_empty_sum(void **state)
{
    (void)state;
    fill(3);
    memcpy(memory.payload, bytes + 100, 1500);
    for (uint32_t i = 0; i < 3 * CADENCE_GEM_TX; i++) {
        const uint32_t length = 54 + i * 53 % 1461;
        assert_int_equal(send(length, false), WEIR_TX_DONE);
        assert_int_equal(chip.sent_count, i);  // nothing leaves before the flush
        netif.driver->flush(&netif);
        assert_sent(length);
    }
    assert_int_equal(upper.completed, 0);
}

static void lent_payload_is_given_back_when_it_left(void **state)
{
    (void)state;
    fill(5);
    memcpy(memory.payload, bytes + 100, 1500);
    chip.keep = true;
    assert_int_equal(send(1000, true), WEIR_TX_HELD);
    assert_int_equal(send(54, true), WEIR_TX_DONE);  // headers alone are copied
    netif.driver->flush(&netif);
    (void)netif.driver->poll(&netif, 8);
    assert_int_equal(upper.completed, 0);
    memory.payload[7] ^= 0xff;  // it is the queue's own memory that is sent
    chip.keep = false;
    chip.errors = 1u << 28;
    transmit();
    assert_int_equal(chip.sent_count, 2);
    (void)netif.driver->poll(&netif, 8);
    assert_int_equal(upper.completed, 1);
    assert_ptr_equal(upper.owner, &chip);
    assert_int_equal(upper.end, 1000);
    assert_int_equal(memory.gem.tx_errors, 1);
    assert_int_equal(memory.gem.held, 1);
    assert_int_equal(send(1000, true), WEIR_TX_HELD);
    netif.driver->flush(&netif);
    assert_sent(1000);
    for (uint32_t i = 0; i < CADENCE_GEM_TX; i++) {  // around the ring, in frames of two descriptors
        assert_int_equal(send(500, true), WEIR_TX_HELD);
        netif.driver->flush(&netif);
        assert_sent(500);
    }
    (void)netif.driver->poll(&netif, 8);
    assert_int_equal(upper.completed, 2 + CADENCE_GEM_TX);
    assert_int_equal(memory.gem.tx_used, 0);
    for (uint32_t i = 0; i < CADENCE_GEM_TX; i++)  // and nothing is left for the device to send again
        assert_true(memory.rings.tx[i].control & IS_USED);
}

static void a_full_ring_is_told_and_has_room_again(void **state)
{
    (void)state;
    uint32_t sent = 0;
    chip.keep = true;
    while (send(100, false) == WEIR_TX_DONE)
        assert_in_range(++sent, 1, CADENCE_GEM_TX);
    assert_int_equal(sent, CADENCE_GEM_TX - WEIR_CFG_TX_SLICES);
    netif.driver->flush(&netif);
    (void)netif.driver->poll(&netif, 8);
    assert_int_equal(upper.ready, 0);
    chip.keep = false;
    transmit();
    (void)netif.driver->poll(&netif, 8);
    (void)netif.driver->poll(&netif, 8);
    assert_int_equal(upper.ready, 1);  // told once
    assert_int_equal(send(100, false), WEIR_TX_DONE);
    chip.keep = true;
    while (send(100, true) == WEIR_TX_HELD)
        ;
    chip.keep = false;
    transmit();
    assert_int_equal(send(100, false), WEIR_TX_DONE);  // what left makes room without a poll, too
}

static void a_frame_beyond_the_buffer_is_dropped(void **state)
{
    (void)state;
    assert_int_equal(send(CADENCE_GEM_BUFFER_BYTES + 1, false), WEIR_TX_DONE);
    netif.driver->flush(&netif);
    assert_int_equal(chip.sent_count, 0);
    assert_int_equal(netif.stats.tx_dropped, 1);
}

static void caches_are_told(void **state)
{
    (void)state;
    board.clean = clean;
    board.invalidate = invalidate;
    cadence_gem_open(&memory.gem, &board);
    assert_int_equal(chip.invalidated, sizeof memory.gem.receive);
    cadence_gem_attach(&memory.gem, &netif, "eth0");
    netif.upper = &upper_side;
    assert_true(arrive(60, WHOLE));
    (void)netif.driver->poll(&netif, 8);
    assert_int_equal(chip.invalidated, sizeof memory.gem.receive + 62);
    assert_int_equal(send(1000, true), WEIR_TX_HELD);
    assert_int_equal(chip.cleaned, 1000);
}

static void the_cable_is_looked_at(void **state)
{
    (void)state;
    const uint64_t next_us = netif.driver->timer(&netif, 1000000);
    assert_int_equal(next_us, 1500000);
    assert_int_equal(upper.carriers, 0);
    chip.lost = true;  // and back since: the PHY's latch alone tells of it
    assert_int_equal(netif.driver->timer(&netif, next_us), next_us + 500000);
    assert_int_equal(upper.carriers, 0);
    chip.link = false;
    assert_int_equal(netif.driver->timer(&netif, next_us + 499999), next_us + 500000);
    assert_int_equal(upper.carriers, 0);
    (void)netif.driver->timer(&netif, next_us + 500000);
    assert_int_equal(upper.carriers, 1);
    assert_false(upper.carrier);
    chip.link = true;
    (void)netif.driver->timer(&netif, next_us + 1000000);
    assert_true(upper.carrier);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(frames_of_every_length_come_in, setup),
        cmocka_unit_test_setup(sums_are_believed_where_the_device_saw_a_transport, setup),
        cmocka_unit_test_setup(broken_frames_are_dropped, setup),
        cmocka_unit_test_setup(a_flood_waits_for_its_turn, setup),
        cmocka_unit_test_setup(frames_go_out_with_an_empty_sum, setup),
        cmocka_unit_test_setup(lent_payload_is_given_back_when_it_left, setup),
        cmocka_unit_test_setup(a_full_ring_is_told_and_has_room_again, setup),
        cmocka_unit_test_setup(a_frame_beyond_the_buffer_is_dropped, setup),
        cmocka_unit_test_setup(caches_are_told, setup),
        cmocka_unit_test_setup(the_cable_is_looked_at, setup),
    };
    return cmocka_run_group_tests_name("drivers/cadence_gem", tests, NULL, NULL);
}
