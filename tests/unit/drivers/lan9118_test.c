// SPDX-License-Identifier: BSD-2-Clause
// profiles: tiny tiny6 small small6
// not on mips: the model, as the bus it sits on, is little-endian
// The LAN9118's driver against a model of the controller's registers (data sheet, chapters 3.12, 3.13 and 5): FIFOs of
// data and of states, commands before each piece of a frame, the MAC and the PHY behind a command register.
#include "drivers/lan9118.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "drivers/mmio.h"
#include "upper.h"
#include "weir/error.h"

#define BASE 0x40200000u
#define WORDS 3000u
#define STATES 128u
#define TX_BYTES 4608u  // 5 KB of memory less 512 bytes of states
#define MAC_VLAN1 9u

static const uint8_t mac[6] = {0x02, 1, 2, 3, 4, 5};

static struct {
    uint32_t id, sts, en, irq_cfg, fifo_int, rx_cfg, tx_cfg, hw_cfg;
    uint32_t csr[16], csr_data, csr_busy, phy_read;
    bool link, link_latched;
    uint32_t in[WORDS], in_at, in_count, states[STATES], state_at, state_count;
    uint32_t frame_words;  // of the frame whose state was read: what a fast forward skips
    // The transmit side: the command under way, the frame so far, its states.
    uint32_t a, b, buffer_left, offset, expect;  // expect: 0 command A, 1 command B, 2 data
    uint8_t frame[2048];
    uint32_t frame_length, used, sent_count, sent_length, tx_states;
    uint8_t sent[2048];
    bool keep;  // frames stay in the FIFO
    bool lies;  // states come for ever
} chip;

static struct lan9118 device;

static bool line(void) { return (chip.sts & chip.en) != 0 && (chip.irq_cfg & 1u << 8) != 0; }

static void csr_command(uint32_t value)
{
    const uint32_t index = value & 0xff;
    assert_true(value & 1u << 31);
    assert_int_equal(chip.csr_busy, 0);
    assert_in_range(index, 1, 12);
    chip.csr_busy = 2;
    if (value & 1u << 30) {
        chip.csr_data = chip.csr[index];
        return;
    }
    chip.csr[index] = chip.csr_data;
    if (index != 6)
        return;
    assert_int_equal(chip.csr_data >> 11 & 31, 1);  // the internal PHY
    chip.csr[6] &= ~1u;
    chip.csr[7] = 0x7809;
    if ((chip.csr_data >> 6 & 31) == 1) {
        chip.csr[7] |= chip.link && !chip.link_latched ? 4 : 0;
        chip.link_latched = false;
        chip.phy_read++;
    }
}

// A word of the frame, offset at its first.
static void transmit_word(uint32_t word)
{
    const uint32_t skip = chip.offset, here = 4 - skip < chip.buffer_left ? 4 - skip : chip.buffer_left;
    assert_true(chip.frame_length + here <= sizeof chip.frame);
    memcpy(chip.frame + chip.frame_length, (const uint8_t *)&word + skip, here);
    chip.frame_length += here;
    chip.buffer_left -= here;
    chip.offset = 0;
    if (chip.buffer_left)
        return;
    chip.expect = 0;
    if (!(chip.a & 1u << 12))
        return;
    assert_int_equal(chip.frame_length, chip.b & 0x7ff);  // else the device sets TXE
    memcpy(chip.sent, chip.frame, chip.frame_length);
    chip.sent_length = chip.frame_length;
    chip.sent_count++;
    chip.frame_length = 0;
    chip.tx_states++;
    if (!chip.keep)
        chip.used = 0;
}

static void transmit(uint32_t word)
{
    assert_true(chip.tx_cfg & 2);
    chip.used += 4;
    assert_true(chip.used <= TX_BYTES);  // else TDFO: the FIFO is overrun
    if (chip.expect == 2) {
        transmit_word(word);
    } else if (chip.expect == 1) {
        chip.b = word;
        chip.expect = 2;
    } else {
        chip.a = word;
        assert_int_equal((word & 1u << 13) != 0, chip.frame_length == 0);  // the first piece, and no other, says so
        assert_int_equal(word & 0x03008000u, 0);                           // no alignment at its end
        chip.buffer_left = word & 0x7ff;
        chip.offset = word >> 16 & 31;
        assert_true(chip.offset < 4 && chip.buffer_left > 0);
        chip.expect = 1;
    }
}

static uint32_t receive_state(void)
{
    assert_true(chip.state_at < chip.state_count);
    const uint32_t state = chip.states[chip.state_at++], pad = chip.rx_cfg >> 8 & 31;
    assert_int_equal(chip.frame_words, 0);  // the frame before it was read or skipped to its end
    chip.frame_words = ((state >> 16 & 0x3fff) + pad + 3) / 4;
    return state;
}

static uint32_t receive_word(void)
{
    assert_true(chip.frame_words > 0 && chip.in_at < chip.in_count);
    chip.frame_words--;
    return chip.in[chip.in_at++];
}

uint32_t mmio_model_read(uintptr_t address)
{
    switch (address - BASE) {
    case 0x00: return receive_word();
    case 0x40: return receive_state();
    case 0x48:
        assert_true(chip.tx_states > 0);
        chip.tx_states -= !chip.lies;
        return 0;
    case 0x54: return chip.irq_cfg;
    case 0x58: return chip.sts;
    case 0x5c: return chip.en;
    case 0x64: return chip.id;
    case 0x74: return chip.hw_cfg & ~1u;
    case 0x78: return 0;
    case 0x7c: return (chip.state_count - chip.state_at) << 16 | ((chip.in_count - chip.in_at) * 4 & 0xffff);
    case 0x80: return chip.tx_states << 16 | (TX_BYTES - chip.used);
    case 0xa4: return chip.csr_busy && chip.csr_busy-- ? 1u << 31 : 0;
    case 0xa8: assert_int_equal(chip.csr_busy, 0); return chip.csr_data;
    default: fail_msg("read of %lx", (unsigned long)(address - BASE)); return 0;
    }
}

static void fast_forward(uint32_t value)
{
    assert_int_equal(value, 1u << 31);
    assert_true(chip.frame_words >= 4);  // less is read by hand
    chip.in_at += chip.frame_words;
    chip.frame_words = 0;
}

void mmio_model_write(uintptr_t address, uint32_t value)
{
    switch (address - BASE) {
    case 0x20: transmit(value); break;
    case 0x54: chip.irq_cfg = value; break;
    case 0x58: chip.sts &= ~value; break;
    case 0x5c: chip.en = value; break;
    case 0x68: chip.fifo_int = value; break;
    case 0x6c: chip.rx_cfg = value; break;
    case 0x70: chip.tx_cfg = value; break;
    case 0x74: chip.hw_cfg = value; break;
    case 0x78: fast_forward(value); break;
    case 0xa4: csr_command(value); break;
    case 0xa8: chip.csr_data = value; break;
    default: fail_msg("write of %lx", (unsigned long)(address - BASE));
    }
}

static int setup(void **state)
{
    (void)state;
    memset(&chip, 0, sizeof chip);
    memset(&upper, 0, sizeof upper);
    chip.id = 0x87654321;
    chip.link = true;
    chip.csr[MAC_VLAN1] = 0xffff;
    assert_int_equal(lan9118_open(&device, BASE, mac), WEIR_OK);
    assert_int_equal(chip.en, 0);  // silent until it is attached
    lan9118_attach(&device, &netif, "eth0");
    assert_memory_equal(netif.mac, mac, 6);
    assert_int_equal(chip.csr[3], 0x03020102);
    assert_int_equal(chip.csr[2], 0x0504);
    assert_int_equal(chip.csr[1] & 0xc, 0xc);
    netif.upper = &upper_side;
    return 0;
}

// A frame comes in: alignment, frame, FCS; its state beside it. `flags` of the state: errors.
static void arrives_with(const uint8_t *frame, uint32_t length, uint32_t flags)
{
    const uint32_t pad = chip.rx_cfg >> 8 & 31, words = (pad + length + 4 + 3) / 4;
    uint8_t *to = (uint8_t *)(chip.in + chip.in_count);
    const bool vlan = length >= 14 && frame[12] == 0x81 && frame[13] == 0 && chip.csr[MAC_VLAN1] == 0x8100;
    assert_true(chip.in_count + words <= WORDS && chip.state_count < STATES);
    memset(to, 0xfc, 4 * words);
    memcpy(to + pad, frame, length);
    chip.in_count += words;
    if (length + 4 > (vlan ? 1522u : 1518u))
        flags |= 1u << 15 | 1u << 7;  // too long, and therefore an error
    chip.states[chip.state_count++] = (length + 4) << 16 | flags;
    chip.sts |= 1u << 3;
}
static void arrives(const uint8_t *frame, uint32_t length) { arrives_with(frame, length, 0); }
static void empty(void) { chip.in_at = chip.in_count = chip.state_at = chip.state_count = 0; }

static void a_stranger_is_not_taken(void **state)
{
    (void)state;
    chip.id = 0x43218765;
    assert_int_equal(lan9118_open(&device, BASE, mac), WEIR_NOT_SUPPORTED);
}

static void frames_of_every_length_come_in(void **state)
{
    uint8_t frame[1518];
    (void)state;
    for (uint32_t i = 0; i < sizeof frame; i++)
        frame[i] = (uint8_t)(i * 7 + i / 251);
    for (uint32_t length = 60; length <= 1518; length++) {
        frame[12] = length > 1514 ? 0x81 : 8;  // the longest have a VLAN tag
        frame[13] = 0;
        arrives(frame, length);
        assert_int_equal(netif.driver->poll(&netif, 8), 1);
        assert_int_equal(upper.length, length);
        assert_memory_equal(upper.last, frame, length);
        assert_true(upper.aligned);
        assert_int_equal(chip.in_at, chip.in_count);
        empty();
    }
    assert_int_equal(device.errors, 0);
}

// The receive interrupt stays masked until a poll has found the FIFO empty: a flood gets its budget and no more.
static void a_flood_waits_for_its_turn(void **state)
{
    const uint8_t frame[60] = {1};
    (void)state;
    for (int i = 0; i < 5; i++)
        arrives(frame, sizeof frame);
    assert_true(line());
    lan9118_interrupt(&device);
    assert_false(line());
    assert_int_equal(netif.driver->poll(&netif, 2), 2);
    arrives(frame, sizeof frame);
    assert_false(line());
    assert_int_equal(netif.driver->poll(&netif, 2), 2);
    assert_int_equal(netif.driver->poll(&netif, 2), 2);
    assert_false(line());
    assert_int_equal(netif.driver->poll(&netif, 2), 0);
    arrives(frame, sizeof frame);
    assert_true(line());
    chip.sts |= 1u << 21;
    assert_int_equal(netif.driver->poll(&netif, 2), 1);
    assert_int_equal(device.overruns, 1);
    assert_false(line());
}

// Bad frames of every small size are skipped to their end: by hand where the fast forward may not.
static void bad_frames_are_skipped(void **state)
{
    static const uint32_t errors[] = {1u << 15 | 1u << 1, 1u << 15 | 1u << 11, 1u << 15 | 1u << 6};
    uint8_t frame[1600] = {8}, good[100] = {9, 9};
    uint32_t bad = 0;
    (void)state;
    for (uint32_t length = 0; length < 64; length++)
        for (uint32_t i = 0; i < 3; i++, bad++) {
            arrives_with(frame, length, errors[i]);
            arrives(good, sizeof good);
            (void)netif.driver->poll(&netif, 8);
            assert_int_equal(upper.count, bad + 1);
            assert_memory_equal(upper.last, good, sizeof good);
            assert_int_equal(chip.in_at, chip.in_count);
            empty();
        }
    arrives(frame, 1515);  // too long without a tag
    arrives(frame, 1600);
    (void)netif.driver->poll(&netif, 8);
    assert_int_equal(upper.count, bad);
    assert_int_equal(device.errors, bad + 2);
    assert_int_equal(netif.stats.rx_dropped, bad + 2);
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

// Slices of odd lengths at odd addresses come out as one frame.
static void frames_in_pieces_go_out(void **state)
{
    static const uint32_t cuts[][8] = {{0}, {54}, {14, 1, 1, 3}, {17, 2, 41, 5}};
    uint8_t frame[1518 + 4];
    (void)state;
    for (uint32_t i = 0; i < sizeof frame; i++)
        frame[i] = (uint8_t)(i ^ i >> 3);
    for (uint32_t length = 14; length <= 1518; length++) {
        assert_int_equal(send(frame + length % 5 % 4, length, cuts[length % 4]), WEIR_TX_DONE);
        assert_int_equal(chip.sent_length, length);
        assert_memory_equal(chip.sent, frame + length % 5 % 4, length);
        assert_in_range(chip.tx_states, 0, 1);  // states are read away
    }
    assert_int_equal(chip.sent_count, 1505);
}

// A device that always has one more to tell does not keep the caller.
static void states_without_end_are_not_read_for_ever(void **state)
{
    static const uint8_t frame[60] = {2};
    static const uint32_t whole[8];
    (void)state;
    chip.lies = true;
    chip.tx_states = 1;
    assert_int_equal(send(frame, sizeof frame, whole), WEIR_TX_DONE);
    assert_int_equal(chip.sent_count, 1);
}

static void a_full_fifo_is_full_until_its_interrupt(void **state)
{
    static const uint8_t frame[1514] = {2};
    static const uint32_t whole[8];
    (void)state;
    chip.keep = true;
    assert_int_equal(send(frame, sizeof frame, whole), WEIR_TX_DONE);
    assert_int_equal(send(frame, sizeof frame, whole), WEIR_TX_DONE);
    while (send(frame, sizeof frame, whole) == WEIR_TX_DONE)
        assert_true(chip.sent_count < 4);
    const uint32_t sent = chip.sent_count;
    assert_true(chip.en & 1u << 9);
    (void)netif.driver->poll(&netif, 8);
    assert_int_equal(upper.ready, 0);
    assert_true(chip.en & 1u << 9);  // still to be told
    chip.used = 0;                   // it is on the wire
    chip.sts |= 1u << 9;
    assert_true((chip.fifo_int >> 24) * 64 >= sizeof frame);  // the level at which the device tells
    assert_true(line());
    lan9118_interrupt(&device);
    (void)netif.driver->poll(&netif, 8);
    assert_int_equal(upper.ready, 1);
    assert_false(chip.en & 1u << 9);
    assert_int_equal(send(frame, sizeof frame, whole), WEIR_TX_DONE);
    assert_int_equal(chip.sent_count, sent + 1);
}

// Looked at twice a second; the bit that latches a loss is read twice.
static void the_cable_is_looked_at(void **state)
{
    (void)state;
    uint64_t next = netif.driver->timer(&netif, 1000000);
    assert_int_equal(upper.carriers, 0);
    assert_int_equal(next, 1500000);
    assert_int_equal(netif.driver->timer(&netif, 1400000), 1500000);
    assert_int_equal(chip.phy_read, 2);
    chip.link_latched = true;  // it was gone for a moment
    (void)netif.driver->timer(&netif, 1500000);
    assert_int_equal(upper.carriers, 0);
    chip.link = false;
    (void)netif.driver->timer(&netif, 2000000);
    assert_int_equal(upper.carriers, 1);
    assert_false(upper.carrier);
    chip.link = chip.link_latched = true;
    (void)netif.driver->timer(&netif, 2500000);
    assert_int_equal(upper.carriers, 2);
    assert_true(upper.carrier);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_stranger_is_not_taken, setup),
        cmocka_unit_test_setup(frames_of_every_length_come_in, setup),
        cmocka_unit_test_setup(a_flood_waits_for_its_turn, setup),
        cmocka_unit_test_setup(bad_frames_are_skipped, setup),
        cmocka_unit_test_setup(frames_in_pieces_go_out, setup),
        cmocka_unit_test_setup(states_without_end_are_not_read_for_ever, setup),
        cmocka_unit_test_setup(a_full_fifo_is_full_until_its_interrupt, setup),
        cmocka_unit_test_setup(the_cable_is_looked_at, setup),
    };
    return cmocka_run_group_tests_name("drivers/lan9118", tests, NULL, NULL);
}
