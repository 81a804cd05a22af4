// SPDX-License-Identifier: BSD-2-Clause
// not on mips: the model, as the bus it sits on, is little-endian
// The driver for SMC's LAN91C111 against a model of the device, from its data sheet: four banks of registers, four
// packets for both directions, and a PHY on two wires.
#include "upper.h"

#include "drivers/mmio.h"
#include "drivers/smc91c111.h"
#include "weir/error.h"

#define BASE 0x10010000u
#define PACKETS 4
#define PACKET_BYTES 2048u

static const uint8_t mac[6] = {0x02, 1, 2, 3, 4, 5};

static struct {
    uint16_t revision, bank, tcr, rcr, config, control, pointer;
    uint8_t address[6], mask, status, packet, allocated;
    bool link, keep, fail;  // keep: packets that are sent stay taken; fail: they are not sent
    bool wanted;            // a packet was asked for and is not granted
    bool taken[PACKETS];
    uint8_t memory[PACKETS][PACKET_BYTES];
    uint8_t received[PACKETS], received_count;
    uint8_t sent[PACKET_BYTES], failed;
    uint32_t sent_length, sent_count;
    uint64_t mgmt;  // the last bits on the PHY's wires
} chip;
static struct smc91c111 device;

static void grant(void)
{
    for (uint8_t i = 0; chip.wanted && i < PACKETS; i++)
        if (!chip.taken[i]) {
            chip.taken[i] = true;
            chip.wanted = false;
            chip.allocated = i;
            chip.status |= 8;
        }
}

static void give_back(uint8_t packet)
{
    assert_true(packet < PACKETS && chip.taken[packet]);
    chip.taken[packet] = false;
    grant();
}

static void enqueue(void)
{
    const uint8_t *const packet = chip.memory[chip.packet];
    const uint32_t count = packet[2] | (uint32_t)packet[3] << 8;
    assert_true(chip.tcr & 1);
    assert_int_equal(chip.packet, chip.allocated);
    assert_int_equal(count % 2, 0);
    assert_int_equal(packet[0] | packet[1], 0);  // the status is the device's
    if (chip.fail) {
        chip.failed = chip.packet;
        chip.status |= 2;
        chip.tcr = 0;
        return;
    }
    chip.sent_length = count - 6 + (packet[count - 1] & 0x20 ? 1 : 0);
    memcpy(chip.sent, packet + 4, chip.sent_length);
    chip.sent_count++;
    if (!chip.keep)
        give_back(chip.packet);
}

static void command(uint16_t what)
{
    switch (what >> 5) {
    case 1:
        chip.wanted = true;
        chip.status &= 0xf7;
        grant();
        break;
    case 2: memset(chip.taken, 0, sizeof chip.taken); break;
    case 4:
        assert_true(chip.received_count > 0);
        give_back(chip.received[0]);
        memmove(chip.received, chip.received + 1, --chip.received_count);
        break;
    case 5: give_back(chip.packet); break;
    case 6: enqueue(); break;
    default: fail_msg("command %x", what);
    }
}

// The register of a bank, as one number.
static uint32_t place(uintptr_t address) { return chip.bank << 4 | (uint32_t)(address - BASE); }

uint16_t mmio_model_read16(uintptr_t address)
{
    if (address - BASE == 0xe)
        return (uint16_t)(0x3300 | chip.bank);
    switch (place(address)) {
    case 0x02: return chip.link ? 0x4000 : 0;
    case 0x10: return chip.config;
    case 0x20: return 0;  // a command is over at once
    case 0x26: return chip.pointer;
    case 0x3a: return chip.revision;
    default: fail_msg("read of %x", place(address)); return 0;
    }
}

void mmio_model_write16(uintptr_t address, uint16_t value)
{
    if (address - BASE == 0xe) {
        chip.bank = value & 3;
        return;
    }
    switch (place(address)) {
    case 0x00: chip.tcr = value; break;
    case 0x04: chip.rcr = value; break;
    case 0x0a: assert_int_equal(value, 0x0800); break;
    case 0x10: chip.config = value; break;
    case 0x1c: chip.control = value; break;
    case 0x20: command(value); break;
    case 0x26: chip.pointer = value; break;
    case 0x38:
        if (value & 4) {
            assert_true(value & 8);  // driven
            chip.mgmt = chip.mgmt << 1 | (value & 1);
        }
        break;
    default: fail_msg("write of %x", place(address));
    }
}

uint8_t mmio_model_read8(uintptr_t address)
{
    switch (place(address)) {
    case 0x23: return chip.status & 8 ? chip.allocated : 0x80;
    case 0x24: return chip.failed;
    case 0x25: return chip.received_count ? chip.received[0] : 0x80;
    case 0x2c: return (uint8_t)(chip.status | (chip.received_count ? 1 : 0));
    default: fail_msg("read of a byte of %x", place(address)); return 0;
    }
}

void mmio_model_write8(uintptr_t address, uint8_t value)
{
    const uint32_t at = place(address);
    if (at >= 0x14 && at < 0x1a) {
        chip.address[at - 0x14] = value;
        return;
    }
    switch (at) {
    case 0x22: chip.packet = value; break;
    case 0x2c: chip.status &= (uint8_t)~value; break;
    case 0x2d: chip.mask = value; break;
    default: fail_msg("write of a byte of %x", at);
    }
}

// The window of the packet that the pointer names, four bytes further with each access.
static uint8_t *window(bool read)
{
    const bool received = chip.pointer & 0x8000;
    const uint8_t packet = received ? chip.received[0] : chip.packet;
    const uint32_t at = chip.pointer & 0x7ff;
    assert_int_equal(chip.bank, 2);
    assert_int_equal((chip.pointer & 0x2000) != 0, read);
    assert_true(chip.pointer & 0x4000 && at + 4 <= PACKET_BYTES && packet < PACKETS);
    chip.pointer = (uint16_t)((chip.pointer & 0xf800) | (at + 4));
    return chip.memory[packet] + at;
}

uint32_t mmio_model_read(uintptr_t address)
{
    uint32_t word;
    assert_int_equal(address - BASE, 8);
    memcpy(&word, window(true), 4);
    return word;
}

void mmio_model_write(uintptr_t address, uint32_t value)
{
    assert_int_equal(address - BASE, 8);
    memcpy(window(false), &value, 4);
}

static int setup(void **state)
{
    (void)state;
    memset(&chip, 0, sizeof chip);
    memset(&upper, 0, sizeof upper);
    chip.revision = 0x3391;
    chip.link = true;
    assert_int_equal(smc91c111_open(&device, BASE, mac), WEIR_OK);
    assert_int_equal((uint32_t)chip.mgmt, 0x50021200);  // the PHY is told to negotiate
    smc91c111_attach(&device, &netif, "eth0");
    netif.upper = &upper_side;
    assert_memory_equal(chip.address, mac, 6);
    assert_true(chip.control & 0x0800);
    assert_int_equal(chip.rcr, 0x0304);
    return 0;
}

// A frame comes in. false: the device has no packet for it.
static bool arrive(const uint8_t *frame, uint32_t length, uint16_t status)
{
    uint8_t packet = 0;
    while (packet < PACKETS && chip.taken[packet])
        packet++;
    if (packet == PACKETS) {
        chip.status |= 0x10;
        return false;
    }
    const uint32_t even = length & ~1u, count = even + 6;
    uint8_t *const to = chip.memory[packet];
    memset(to, 0xee, PACKET_BYTES);
    to[0] = (uint8_t)status;
    to[1] = (uint8_t)(status >> 8);
    to[2] = (uint8_t)count;
    to[3] = (uint8_t)(count >> 8);
    memcpy(to + 4, frame, length);
    to[count - 1] = length % 2 ? 0x60 : 0x40;
    chip.taken[packet] = true;
    chip.received[chip.received_count++] = packet;
    return true;
}

static uint8_t bytes[1518];
static void fill(uint32_t seed)
{
    for (uint32_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(i * 7 + seed + (i >> 8));
}

static void another_device_is_refused(void **state)
{
    (void)state;
    chip.revision = 0x3340;
    assert_int_equal(smc91c111_open(&device, BASE, mac), WEIR_NOT_SUPPORTED);
}

static void frames_of_every_length_come_in(void **state)
{
    (void)state;
    for (uint32_t length = 60; length <= 1518; length += length < 70 || length > 1510 ? 1 : 37) {
        fill(length);
        assert_true(arrive(bytes, length, length % 2 ? 0x1000 : 0));
        assert_int_equal(netif.driver->poll(&netif, 8), 1);
        assert_int_equal(upper.length, length);
        assert_memory_equal(upper.last, bytes, length);
        assert_true(upper.aligned);
    }
    assert_true(chip.mask & 1);
}

static void a_flood_waits_for_its_turn(void **state)
{
    (void)state;
    while (arrive(bytes, 60, 0))
        ;
    assert_int_equal(chip.received_count, PACKETS);
    smc91c111_interrupt(&device);
    assert_int_equal(chip.mask, 0);
    assert_int_equal(netif.driver->poll(&netif, 3), 3);
    assert_int_equal(chip.mask, 0);  // there may be more
    assert_int_equal(netif.driver->poll(&netif, 3), 1);
    assert_int_equal(chip.mask, 0x13);
    assert_int_equal(upper.count, PACKETS);
    assert_int_equal(device.overruns, 1);
    assert_false(chip.status & 0x10);
}

static void broken_frames_are_dropped(void **state)
{
    static const uint16_t broken[] = {0x8000, 0x2000, 0x0800, 0x0400};
    (void)state;
    for (uint32_t i = 0; i < 4; i++)
        assert_true(arrive(bytes, 60, broken[i]));
    assert_int_equal(netif.driver->poll(&netif, 8), 4);
    assert_true(arrive(bytes, 60, 0));
    chip.memory[chip.received[0]][3] = 0x07;  // a length that no frame has
    assert_int_equal(netif.driver->poll(&netif, 8), 1);
    assert_int_equal(device.errors, 5);
    assert_int_equal(upper.count, 0);
    assert_int_equal(chip.received_count, 0);
}

static enum weir_tx_verdict send(uint32_t length, const uint32_t *cuts)
{
    struct weir_slice slices[4];
    struct weir_tx tx = {.slices = slices, .length = length};
    for (uint32_t at = 0; at < length; at += slices[tx.count++].length)
        slices[tx.count] = (struct weir_slice){
            bytes + at, tx.count < 3 && cuts[tx.count] && at + cuts[tx.count] < length ? cuts[tx.count] : length - at};
    return netif.driver->tx(&netif, &tx);
}
static const uint32_t whole[3];

static void frames_in_pieces_go_out(void **state)
{
    static const uint32_t cuts[][3] = {{0}, {54}, {14, 1, 3}, {17, 2, 41}};
    (void)state;
    fill(3);
    for (uint32_t cut = 0; cut < 4; cut++)
        for (uint32_t length = 60; length <= 1514; length += length < 70 ? 1 : 361) {
            assert_int_equal(send(length, cuts[cut]), WEIR_TX_DONE);
            assert_int_equal(chip.sent_length, length);
            assert_memory_equal(chip.sent, bytes, length);
        }
}

static void without_a_packet_it_is_full_until_one_is_free(void **state)
{
    (void)state;
    chip.keep = true;
    for (uint32_t i = 0; i < PACKETS; i++)
        assert_int_equal(send(60, whole), WEIR_TX_DONE);
    assert_int_equal(send(61, whole), WEIR_TX_FULL);
    assert_int_equal(send(61, whole), WEIR_TX_FULL);
    assert_true(chip.mask & 8);
    (void)netif.driver->poll(&netif, 8);
    assert_int_equal(upper.ready, 0);
    give_back(2);  // one is on the wire, and granted
    (void)netif.driver->poll(&netif, 8);
    assert_int_equal(upper.ready, 1);
    assert_false(chip.mask & 8);
    assert_int_equal(send(61, whole), WEIR_TX_DONE);
    assert_int_equal(chip.sent_count, PACKETS + 1);
    assert_int_equal(chip.sent_length, 61);
}

static void a_failed_transmission_is_cleared_away(void **state)
{
    (void)state;
    chip.fail = true;
    assert_int_equal(send(60, whole), WEIR_TX_DONE);
    assert_int_equal(chip.tcr, 0);
    chip.fail = false;
    (void)netif.driver->poll(&netif, 8);
    assert_int_equal(device.failures, 1);
    assert_false(chip.taken[chip.failed]);
    assert_false(chip.status & 2);
    assert_int_equal(send(60, whole), WEIR_TX_DONE);
    assert_int_equal(chip.sent_count, 1);
}

// An interrupt may come while another bank is selected.
static void an_interrupt_leaves_the_bank_as_it_was(void **state)
{
    (void)state;
    for (uint16_t bank = 0; bank < 4; bank++) {
        chip.bank = bank;
        chip.mask = 1;
        smc91c111_interrupt(&device);
        assert_int_equal(chip.bank, bank);
        assert_int_equal(chip.mask, 0);
    }
}

static void the_cable_is_looked_at(void **state)
{
    (void)state;
    const uint64_t next_us = netif.driver->timer(&netif, 1000000);
    assert_int_equal(upper.carriers, 0);
    chip.link = false;
    assert_int_equal(netif.driver->timer(&netif, next_us - 1), next_us);
    assert_int_equal(upper.carriers, 0);
    (void)netif.driver->timer(&netif, next_us);
    assert_int_equal(upper.carriers, 1);
    assert_false(upper.carrier);
    chip.link = true;
    (void)netif.driver->timer(&netif, next_us + 500000);
    assert_true(upper.carrier);
    assert_int_equal(chip.bank, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(another_device_is_refused, setup),
        cmocka_unit_test_setup(frames_of_every_length_come_in, setup),
        cmocka_unit_test_setup(a_flood_waits_for_its_turn, setup),
        cmocka_unit_test_setup(broken_frames_are_dropped, setup),
        cmocka_unit_test_setup(frames_in_pieces_go_out, setup),
        cmocka_unit_test_setup(without_a_packet_it_is_full_until_one_is_free, setup),
        cmocka_unit_test_setup(a_failed_transmission_is_cleared_away, setup),
        cmocka_unit_test_setup(an_interrupt_leaves_the_bank_as_it_was, setup),
        cmocka_unit_test_setup(the_cable_is_looked_at, setup),
    };
    return cmocka_run_group_tests_name("drivers/smc91c111", tests, NULL, NULL);
}
