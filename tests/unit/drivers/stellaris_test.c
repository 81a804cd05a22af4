// SPDX-License-Identifier: BSD-2-Clause
// not on mips: the model, as the part, is little-endian
// The Stellaris driver against a model of the controller's registers: FIFOs, interrupts, the transmitter's busy bit.
#include "drivers/stellaris.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "drivers/mmio.h"
#include "upper.h"

#define BASE 0x40048000u
#define WORDS 1024u

static struct {
    uint32_t ris, im, rctl, tctl, ia0, ia1, frames, tr;
    uint32_t in[WORDS], in_at, in_count;  // receive FIFO
    uint32_t out[WORDS], out_count;       // transmit FIFO
    bool keep_busy;                       // the transmitter holds its frame
    uint8_t sent[2000];
    uint32_t sent_length, sent_count, resets;
} chip;

static struct stellaris device;

// The next word; the frame count falls with the last one of a frame.
static uint32_t receive_word(void)
{
    static uint32_t words;
    assert_true(chip.in_at < chip.in_count);
    if (chip.in_at == 0 || words == 0)
        words = ((chip.in[chip.in_at] & 0xffff) + 3) / 4;
    if (--words == 0)
        chip.frames--;
    return chip.in[chip.in_at++];
}

// What the transmit FIFO holds is a frame: two bytes of payload length, the frame, nothing else.
static void transmit(void)
{
    const uint32_t length = (chip.out[0] & 0xffff) + 14, words = (length + 2 + 3) / 4;
    assert_int_equal(chip.out_count, words);
    chip.sent_length = length;
    chip.sent_count++;
    memcpy(chip.sent, (const uint8_t *)chip.out + 2, length);
    chip.out_count = 0;
    if (!chip.keep_busy) {
        chip.tr = 0;
        chip.ris |= 4;
    }
}

uint32_t mmio_model_read(uintptr_t address)
{
    switch (address - BASE) {
    case 0x00: return chip.ris;
    case 0x04: return chip.im;
    case 0x08: return chip.rctl;
    case 0x0c: return chip.tctl;
    case 0x10: return receive_word();
    case 0x14: return chip.ia0;
    case 0x18: return chip.ia1;
    case 0x34: return chip.frames;
    case 0x38: return chip.tr;
    default: fail_msg("read of %lx", (unsigned long)(address - BASE)); return 0;
    }
}

void mmio_model_write(uintptr_t address, uint32_t value)
{
    switch (address - BASE) {
    case 0x00: chip.ris &= ~value; break;
    case 0x04: chip.im = value; break;
    case 0x08:
        chip.rctl = value & ~16u;
        if (value & 16) {
            chip.frames = chip.in_at = chip.in_count = 0;
            chip.resets++;
        }
        break;
    case 0x0c: chip.tctl = value; break;
    case 0x10:
        assert_true(chip.out_count < WORDS);
        chip.out[chip.out_count++] = value;
        break;
    case 0x14: chip.ia0 = value; break;
    case 0x18: chip.ia1 = value; break;
    case 0x1c: break;
    case 0x38:
        chip.tr = value & 1;
        if (value & 1)
            transmit();
        break;
    default: fail_msg("write of %lx", (unsigned long)(address - BASE));
    }
}

static int setup(void **state)
{
    static const uint8_t mac[6] = {0x02, 1, 2, 3, 4, 5};
    (void)state;
    memset(&chip, 0, sizeof chip);
    memset(&upper, 0, sizeof upper);
    stellaris_open(&device, BASE, mac);
    assert_int_equal(chip.im, 0);  // silent until it is attached
    stellaris_attach(&device, &netif, "eth0");
    assert_memory_equal(netif.mac, mac, 6);
    assert_true(chip.rctl & 1);
    assert_true(chip.tctl & 1);
    netif.upper = &upper_side;
    return 0;
}

// A frame comes in: length with itself and FCS, frame, FCS.
static void arrives(const uint8_t *frame, uint32_t length)
{
    uint8_t bytes[2048] = {0};
    const uint32_t total = length + 2 + 4;
    bytes[0] = (uint8_t)total;
    bytes[1] = (uint8_t)(total >> 8);
    memcpy(bytes + 2, frame, length);
    memset(bytes + 2 + length, 0xfc, 4);
    assert_true(chip.in_count + (total + 3) / 4 <= WORDS);
    memcpy(chip.in + chip.in_count, bytes, (total + 3) / 4 * 4);
    chip.in_count += (total + 3) / 4;
    chip.frames++;
    chip.ris |= 1;
}

static void frames_of_every_length_come_in(void **state)
{
    uint8_t frame[1514];
    (void)state;
    for (uint32_t i = 0; i < sizeof frame; i++)
        frame[i] = (uint8_t)(i * 7);
    for (uint32_t length = 60; length <= 1514; length += length < 80 ? 1 : 239) {
        arrives(frame, length);
        assert_int_equal(netif.driver->poll(&netif, 8), 1);
        assert_int_equal(upper.length, length);
        assert_memory_equal(upper.last, frame, length);
        assert_true(upper.aligned);
        assert_int_equal(chip.in_at, chip.in_count);
        assert_int_equal(chip.frames, 0);
        chip.in_at = chip.in_count = 0;
    }
}

// The receive interrupt stays masked until a poll has found the FIFO empty: a flood gets its budget and no more.
static void a_flood_waits_for_its_turn(void **state)
{
    const uint8_t frame[60] = {1};
    (void)state;
    for (int i = 0; i < 5; i++)
        arrives(frame, sizeof frame);
    stellaris_interrupt(&device);
    assert_int_equal(chip.im, 0);
    assert_int_equal(netif.driver->poll(&netif, 2), 2);
    assert_int_equal(chip.im, 0);
    assert_int_equal(netif.driver->poll(&netif, 2), 2);
    assert_int_equal(chip.im, 0);
    assert_int_equal(netif.driver->poll(&netif, 2), 1);
    assert_true(chip.im & 1);
    chip.ris |= 8;
    (void)netif.driver->poll(&netif, 2);
    assert_int_equal(device.overruns, 1);
}

static void an_impossible_length_empties_the_fifo(void **state)
{
    (void)state;
    chip.in[0] = 0xffff;
    chip.in_count = 1;
    chip.frames = 1;
    const uint32_t resets = chip.resets;
    assert_int_equal(netif.driver->poll(&netif, 8), 0);
    assert_int_equal(upper.count, 0);
    assert_int_equal(chip.resets, resets + 1);
    assert_true(chip.rctl & 1);
    assert_int_equal(device.bad, 1);
    assert_int_equal(netif.stats.rx_dropped, 1);
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

// Slices of odd lengths come out as one frame.
static void frames_in_pieces_go_out(void **state)
{
    static const uint32_t cuts[][8] = {{0}, {54}, {14, 1, 1, 3}, {17, 2, 41, 5}};
    uint8_t frame[1514];
    (void)state;
    for (uint32_t i = 0; i < sizeof frame; i++)
        frame[i] = (uint8_t)(i ^ i >> 3);
    for (uint32_t cut = 0; cut < 4; cut++)
        for (uint32_t length = 60; length <= 1514; length += length < 70 ? 1 : 481) {
            assert_int_equal(send(frame, length, cuts[cut]), WEIR_TX_DONE);
            assert_int_equal(chip.sent_length, length);
            assert_memory_equal(chip.sent, frame, length);
        }
}

static void a_busy_transmitter_is_full_until_its_interrupt(void **state)
{
    static const uint8_t frame[60] = {2};
    static const uint32_t whole[8];
    (void)state;
    chip.keep_busy = true;
    assert_int_equal(send(frame, 60, whole), WEIR_TX_DONE);
    assert_int_equal(send(frame, 60, whole), WEIR_TX_FULL);
    assert_int_equal(chip.sent_count, 1);
    assert_true(chip.im & 4);
    (void)netif.driver->poll(&netif, 8);
    assert_int_equal(upper.ready, 0);
    assert_true(chip.im & 4);
    chip.tr = 0;  // it is on the wire
    chip.ris |= 4;
    (void)netif.driver->poll(&netif, 8);
    assert_int_equal(upper.ready, 1);
    assert_false(chip.im & 4);
    assert_int_equal(send(frame, 60, whole), WEIR_TX_DONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(frames_of_every_length_come_in, setup),
        cmocka_unit_test_setup(a_flood_waits_for_its_turn, setup),
        cmocka_unit_test_setup(an_impossible_length_empties_the_fifo, setup),
        cmocka_unit_test_setup(frames_in_pieces_go_out, setup),
        cmocka_unit_test_setup(a_busy_transmitter_is_full_until_its_interrupt, setup),
    };
    return cmocka_run_group_tests_name("drivers/stellaris", tests, NULL, NULL);
}
