// SPDX-License-Identifier: BSD-2-Clause
// not on mips: the model, as the bus it sits on, is little-endian
// The NE2000's driver against a model of the card, written from the DP8390D's data sheet and the board's layout: pages
// of registers, the remote DMA port, the receive ring with its overflow, a transmitter that takes its time. Both forms:
// with a thread of its own and without.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "drivers/ne2k.h"
#include "drivers/port_io.h"
#include "drivers/upper.h"
#include "weir/error.h"
#include "weir/instance.h"
#include "weir/port.h"

#define PORT 0x300u
#define MEMORY 0x10000u
#define SENT 64u

static struct {
    uint8_t memory[MEMORY];  // 0: address PROM; 4000h to 8000h: the buffer
    uint8_t cr, isr, imr, dcr, rcr, tcr, pstart, pstop, bnry, tpsr, tsr, curr, par[6], mar[8];
    uint16_t tbcr, rsar, rbcr;
    uint16_t dma_at, dma_left;
    bool absent, in_reset, slow;  // slow: a frame leaves when the test says so
    bool sending;
    uint32_t lost, sent_count, resets;
    uint16_t sent_length[SENT];
    uint8_t sent[SENT][1600];
} chip;
static struct ne2k *card;  // from the heap, so that a byte beyond it is seen
static struct ne2k_board board;
static bool wide;  // the card is on PCI
static uint32_t kicks, told;
static struct weir *weir;
static uint64_t now_us;

static bool line(void) { return chip.isr & chip.imr & 0x7f; }
static bool stopped(void) { return chip.cr & 1; }

// --- the card --------------------------------------------------------------------------------------------------------

static void leave(void)
{
    assert_true(chip.sending && chip.sent_count < SENT);
    assert_in_range(chip.tbcr, 60, 1518);
    chip.sent_length[chip.sent_count] = chip.tbcr;
    memcpy(chip.sent[chip.sent_count++], chip.memory + chip.tpsr * 256u, chip.tbcr);
    chip.sending = false;
    chip.cr &= (uint8_t)~4;
    chip.tsr = 1;
    chip.isr |= 2;
}

static void command(uint8_t value)
{
    const uint8_t dma = value >> 3 & 7;
    assert_true((value & 3) == 1 || (value & 3) == 2);
    assert_true(dma == 1 || dma == 2 || dma == 4);
    chip.cr = (uint8_t)((value & ~4) | (chip.sending ? 4 : 0));
    if (value & 1)
        chip.isr |= 0x80;
    else
        chip.isr &= 0x7f;
    if (value & 4) {
        assert_false(chip.sending);
        assert_false(stopped());
        assert_int_equal(chip.tcr, 0);
        assert_true(chip.tpsr == 0x40 || chip.tpsr == 0x46);
        chip.sending = true;
        chip.cr |= 4;
        if (!chip.slow)
            leave();
    }
    chip.dma_left = 0;
    if (dma == 1 || dma == 2) {
        assert_true(chip.rbcr && chip.rbcr % 2 == 0 && chip.dcr & 1);
        chip.dma_at = chip.rsar;
        chip.dma_left = chip.rbcr;
    }
}

static void moved(void)
{
    chip.dma_at += 2;
    chip.dma_left -= 2;
    if (!chip.dma_left)
        chip.isr |= 0x40;
}

uint16_t port_model_read16(uint16_t port)
{
    assert_int_equal(port, PORT + 0x10);
    assert_true(chip.dma_left && (chip.cr >> 3 & 7) == 1);
    // the card does not go round by itself
    assert_true(chip.dma_at < 32 || (chip.dma_at >= 0x4c00 && chip.dma_at + 2 <= 0x8000));
    const uint16_t word = (uint16_t)(chip.memory[chip.dma_at] | chip.memory[chip.dma_at + 1] << 8);
    moved();
    return word;
}
void port_model_write16(uint16_t port, uint16_t value)
{
    assert_int_equal(port, PORT + 0x10);
    assert_true(chip.dma_left && (chip.cr >> 3 & 7) == 2);
    assert_true(chip.dma_at >= 0x4000 && chip.dma_at + 2 <= 0x4c00);
    if (chip.sending)  // not the buffer that is leaving
        assert_false(chip.dma_at >= chip.tpsr * 256u && chip.dma_at < chip.tpsr * 256u + 0x600);
    chip.memory[chip.dma_at] = (uint8_t)value;
    chip.memory[chip.dma_at + 1] = (uint8_t)(value >> 8);
    moved();
}

// On PCI the port is twice as wide.
uint32_t port_model_read32(uint16_t port)
{
    assert_true(board.wide);
    const uint32_t low = port_model_read16(port);
    return low | (uint32_t)port_model_read16(port) << 16;
}
void port_model_write32(uint16_t port, uint32_t value)
{
    assert_true(board.wide);
    port_model_write16(port, (uint16_t)value);
    port_model_write16(port, (uint16_t)(value >> 16));
}

uint8_t port_model_read8(uint16_t port)
{
    const uint32_t at = port - PORT;
    if (chip.absent)
        return 0xff;
    if (at == 0)
        return chip.cr;
    if (at == 0x1f) {
        chip.in_reset = true;
        return 0;
    }
    if (chip.cr >> 6 == 1) {
        assert_int_equal(at, 7);
        return chip.curr;
    }
    assert_int_equal(chip.cr >> 6, 0);
    switch (at) {
    case 3: return chip.bnry;
    case 4: return chip.tsr;
    case 7: return chip.isr;
    default: fail_msg("read of %x", (unsigned)at); return 0;
    }
}

static void page_1(uint32_t at, uint8_t value)
{
    if (at < 7)
        chip.par[at - 1] = value;
    else if (at == 7)
        chip.curr = value;
    else
        chip.mar[at - 8] = value;
}

void port_model_write8(uint16_t port, uint8_t value)
{
    const uint32_t at = port - PORT;
    if (at == 0x1f) {
        assert_true(chip.in_reset);
        chip.in_reset = false;
        chip.isr = 0x80;
        chip.imr = 0;
        chip.cr = 0x21;
        chip.sending = false;
        chip.resets++;
        return;
    }
    if (at == 0) {
        command(value);
        return;
    }
    if (chip.cr >> 6 == 1) {
        page_1(at, value);
        return;
    }
    switch (at) {
    case 1: chip.pstart = value; break;
    case 2: chip.pstop = value; break;
    case 3:
        assert_true(value >= 0x4c && value < 0x80);
        chip.bnry = value;
        break;
    case 4: chip.tpsr = value; break;
    case 5: chip.tbcr = (uint16_t)((chip.tbcr & 0xff00) | value); break;
    case 6: chip.tbcr = (uint16_t)((chip.tbcr & 0xff) | value << 8); break;
    case 7: chip.isr &= (uint8_t) ~(value & 0x7f); break;
    case 8: chip.rsar = (uint16_t)((chip.rsar & 0xff00) | value); break;
    case 9: chip.rsar = (uint16_t)((chip.rsar & 0xff) | value << 8); break;
    case 10: chip.rbcr = (uint16_t)((chip.rbcr & 0xff00) | value); break;
    case 11: chip.rbcr = (uint16_t)((chip.rbcr & 0xff) | value << 8); break;
    case 12: chip.rcr = value; break;
    case 13: chip.tcr = value; break;
    case 14: chip.dcr = value; break;
    case 15: chip.imr = value; break;
    default: fail_msg("write of %x", (unsigned)at);
    }
}

// A frame of the wire: into the ring behind a header, if there is room before the boundary page; otherwise the ring ran
// over.
static bool arrives_as(const uint8_t *frame, uint32_t length, uint8_t status)
{
    const uint32_t ring = chip.pstop - chip.pstart, pages = (length + 4 + 255) / 256, stored = length + 4;
    const uint32_t room = (chip.bnry + ring - chip.curr) % ring;
    if (stopped() || chip.tcr || chip.rcr & 0x20)
        return false;
    if (pages > room) {
        chip.isr |= 0x10;
        chip.lost++;
        return false;
    }
    uint32_t next = chip.curr + pages;
    next = next >= chip.pstop ? next - ring : next;
    uint8_t *const header = chip.memory + chip.curr * 256;
    header[0] = status;
    header[1] = (uint8_t)next;
    header[2] = (uint8_t)stored;
    header[3] = (uint8_t)(stored >> 8);
    for (uint32_t i = 0, at = chip.curr * 256u + 4; i < length; i++, at++) {
        at = at == chip.pstop * 256u ? chip.pstart * 256u : at;
        chip.memory[at] = frame[i];
    }
    chip.curr = (uint8_t)next;
    chip.isr |= 1;
    return true;
}
static bool arrives(const uint8_t *frame, uint32_t length) { return arrives_as(frame, length, 1); }

// --- around the driver -----------------------------------------------------------------------------------------------

static uint8_t frame[1600];
static void kick(void *context) { kicks += context == &board; }
static void news(void *context) { told += context == &board; }

static void *allocate(void *context, size_t bytes) { return (void)context, malloc(bytes); }
static void release(void *context, void *memory, size_t bytes) { (void)context, (void)bytes, free(memory); }
static void entropy(void *context, void *out, size_t bytes) { (void)context, memset(out, 0x5a, bytes); }
static const struct weir_port port = {.alloc = allocate, .free = release, .entropy = entropy};

static void power_up(void)
{
    static const uint8_t mac[6] = {0x52, 0x54, 0, 9, 8, 7};
    memset(&chip, 0, sizeof chip);
    chip.cr = 0x21;
    for (uint32_t i = 0; i < 16; i++)
        chip.memory[2 * i] = chip.memory[2 * i + 1] = i < 6 ? mac[i] : i >= 14 ? 0x57 : 0;
}

static void start(bool thread)
{
    static const struct weir_config config;
    power_up();
    memset(&upper, 0, sizeof upper);
    kicks = told = 0;
    now_us = 1000000;
    board = (struct ne2k_board){.port = PORT, .wide = wide, .context = &board};
    if (thread) {
        board.kick = kick;
        board.news = news;
    }
    assert_int_equal(ne2k_open(card, &board), WEIR_OK);
    assert_int_equal(chip.imr, 0);  // silent until it is attached
    assert_true(chip.rcr & 0x20 || stopped());
    ne2k_attach(card, &netif, "eth0");
    weir = weir_create(NULL, 0, &port, &config);
    weir_clock(weir, now_us);
    netif.weir = weir;
    netif.upper = &upper_side;
}
static void stop(void) { weir_destroy(weir); }
static int setup(void **state)
{
    (void)state;
    card = malloc(sizeof *card);
    for (uint32_t i = 0; i < sizeof frame; i++)
        frame[i] = (uint8_t)(i * 5 + i / 256);
    start(false);
    return 0;
}
static int teardown(void **state)
{
    (void)state;
    stop();
    free(card);
    return 0;
}

static int polled(void)
{
    weir_clock(weir, now_us);
    return netif.driver->poll(&netif, 8);
}
static void later(uint32_t us)
{
    now_us += us;
    weir_clock(weir, now_us);
    (void)netif.driver->timer(&netif, now_us);
}

// --- tests -----------------------------------------------------------------------------------------------------------

static void the_card_is_taken_into_use(void **state)
{
    (void)state;
    assert_memory_equal(netif.mac, ((uint8_t[]){0x52, 0x54, 0, 9, 8, 7}), 6);
    assert_memory_equal(chip.par, netif.mac, 6);
    for (uint32_t i = 0; i < 8; i++)
        assert_int_equal(chip.mar[i], 0xff);
    assert_int_equal(chip.rcr, 0x0c);
    assert_int_equal(chip.dcr & 3, 1);  // words, little-endian
    assert_int_equal(chip.tcr, 0);
    assert_int_equal(chip.imr, 0x1f);
    assert_true(chip.pstart == 0x4c && chip.pstop == 0x80 && chip.curr == chip.bnry + 1);
    power_up();
    chip.memory[28] = 0;
    assert_int_equal(ne2k_open(card, &board), WEIR_NOT_SUPPORTED);
    chip.absent = true;
    assert_int_equal(ne2k_open(card, &board), WEIR_NOT_SUPPORTED);
}

static void frames_of_every_length_come_in(void **state)
{
    (void)state;
    for (uint32_t length = 60; length <= 1518; length++) {
        assert_true(arrives(frame, length));
        assert_true(line());
        ne2k_interrupt(card);
        assert_false(line());
        assert_int_equal(polled(), 1);
        assert_int_equal(upper.length, length);
        assert_memory_equal(upper.last, frame, length);
        assert_true(upper.aligned);
        assert_int_equal(chip.imr, 0x1f);
    }
    assert_int_equal(card->rx_bad + card->resets, 0);
}

static enum weir_tx_verdict send(uint32_t length, uint32_t cut)
{
    const struct weir_slice slices[2] = {{frame, cut ? cut : length}, {frame + cut, length - cut}};
    const struct weir_tx tx = {.slices = slices, .length = length, .count = cut ? 2 : 1};
    return netif.driver->tx(&netif, &tx);
}

static void frames_go_out(void **state)
{
    (void)state;
    for (uint32_t length = 14; length <= 1518; length++) {
        chip.sent_count = 0;
        assert_int_equal(send(length, length % 3 ? length / 2 : 0), WEIR_TX_DONE);
        netif.driver->flush(&netif);
        assert_int_equal(chip.sent_count, 1);
        assert_int_equal(chip.sent_length[0], length < 60 ? 60 : length);
        assert_memory_equal(chip.sent[0], frame, length);
        for (uint32_t i = length; i < 60; i++)
            assert_int_equal(chip.sent[0][i], 0);  // nothing of an older frame
        (void)polled();
    }
    assert_int_equal(card->tx_errors, 0);
}

static void a_slow_transmitter_fills_the_queue(void **state)
{
    uint32_t accepted = 0;
    (void)state;
    chip.slow = true;
    for (; send(100 + accepted, 0) == WEIR_TX_DONE; accepted++) {
        netif.driver->flush(&netif);
        assert_true(accepted < 100);
    }
    assert_int_equal(accepted, NE2K_QUEUE + 2);  // two are at the card
    (void)polled();
    assert_int_equal(upper.ready, 0);
    leave();
    assert_true(line());
    ne2k_interrupt(card);
    (void)polled();
    assert_int_equal(upper.ready, 1);
    for (uint32_t i = 1; i < accepted; i++) {
        leave();
        (void)polled();
    }
    assert_int_equal(chip.sent_count, accepted);
    for (uint32_t i = 0; i < accepted; i++)
        assert_int_equal(chip.sent_length[i], 100 + i);  // in order
    assert_false(chip.sending);
}

static void a_transmitter_that_never_ends_is_reset(void **state)
{
    (void)state;
    chip.slow = true;
    (void)send(100, 0);
    netif.driver->flush(&netif);
    later(99000);
    assert_int_equal(card->resets, 0);
    later(2000);
    assert_int_equal(card->resets, 1);
    chip.sending = chip.slow = false;
    (void)send(200, 0);
    netif.driver->flush(&netif);
    assert_int_equal(chip.sent_count, 1);
    assert_int_equal(chip.sent_length[0], 200);
}

// The ring runs over: the card is stopped, has its 1.6 ms, and goes on; what was in the ring is not lost, nor the frame
// that was leaving.
static void the_ring_runs_over(void **state)
{
    for (uint32_t finishes = 0; finishes < 2; finishes++) {
        (void)state;
        stop();
        start(false);
        chip.slow = true;
        (void)send(300, 0);
        netif.driver->flush(&netif);
        uint32_t in = 0;
        while (arrives(frame, 1000 + in))
            in++;
        assert_in_range(in, 8, 12);
        (void)polled();
        assert_true(stopped());
        assert_int_equal(chip.imr, 0x1f & chip.imr);
        if (finishes)
            leave();  // just in time
        else
            chip.sending = false, chip.cr &= (uint8_t)~4;  // cut off
        later(1000);
        assert_true(stopped());
        later(700);
        assert_false(stopped());
        assert_int_equal(chip.tcr, 0);
        (void)polled();
        (void)polled();
        assert_int_equal(upper.count, in);
        assert_int_equal(upper.length, 1000 + in - 1);
        assert_int_equal(card->overruns, 1);
        if (!finishes)
            leave();  // again
        assert_int_equal(chip.sent_count, 1);
        assert_int_equal(chip.sent_length[0], 300);
        (void)polled();
        assert_true(arrives(frame, 777));
        assert_true(line());
        assert_int_equal(polled(), 1);
        assert_int_equal(upper.length, 777);
    }
}

// Whatever stands in a header, or in the page register, nothing beyond the ring is read and nothing too long handed up.
static void headers_that_lie(void **state)
{
    uint32_t seed = 3, bad = 0;
    (void)state;
    for (uint32_t round = 0; round < 20000; round++) {
        const uint32_t at = chip.curr * 256u, length = 60 + round % 1400;
        if (!arrives(frame, length))
            fail();
        for (uint32_t i = 0; i < 1 + round % 2; i++) {
            seed = seed * 1103515245u + 12345;
            if (round % 7 == 0)
                chip.curr = (uint8_t)(seed >> 20);
            else
                chip.memory[at + 1 + (seed >> 16) % 3] = (uint8_t)(seed >> 24);
        }
        const uint32_t count = upper.count;
        (void)polled();
        (void)polled();
        if (upper.count > count)
            assert_in_range(upper.length, 14, 1518);
        if (card->resets == bad) {  // believed: the next one must come in as well
            bad = card->resets;
            card->resets++;
            stop();
            start(false);
        }
        bad = card->resets;
        assert_true(chip.imr == 0x1f && !stopped());
        chip.sent_count = 0;
    }
}

static void bad_frames_are_skipped(void **state)
{
    (void)state;
    assert_true(arrives_as(frame, 100, 0x02));
    assert_true(arrives(frame, 101));
    (void)polled();
    assert_int_equal(upper.count, 1);
    assert_int_equal(upper.length, 101);
    assert_int_equal(card->rx_bad, 1);
    assert_int_equal(card->resets, 0);
}

// --- a thread of its own ---------------------------------------------------------------------------------------------

static void the_thread_fills_the_queue_and_tells(void **state)
{
    (void)state;
    stop();
    start(true);
    for (uint32_t i = 0; i < 5; i++)
        (void)arrives(frame, 60 + i);
    ne2k_interrupt(card);
    assert_int_equal(polled(), 0);  // the interface does not touch the card
    assert_int_equal(ne2k_work(card, now_us), WEIR_NEVER);
    assert_int_equal(told, 1);
    assert_int_equal(chip.imr, 0x1f);
    assert_int_equal(upper.count, 0);  // the thread does not touch the stack
    assert_int_equal(polled(), 5);
    (void)ne2k_work(card, now_us);
    assert_int_equal(told, 1);
    (void)send(99, 0);
    assert_int_equal(chip.sent_count, 0);
    netif.driver->flush(&netif);
    assert_int_equal(kicks, 1);
    (void)ne2k_work(card, now_us);
    assert_int_equal(chip.sent_count, 1);
}

// A flood that nobody takes: the queue is full, the card's ring too, and interrupts stay masked until somebody has
// taken some.
static void a_flood_waits_for_its_turn(void **state)
{
    uint32_t in = 0;
    (void)state;
    stop();
    start(true);
    for (; in < NE2K_QUEUE; in++) {
        assert_true(arrives(frame, 60 + in));
        (void)ne2k_work(card, now_us);
    }
    assert_int_equal(chip.imr, 0x1f);
    while (arrives(frame, 60 + in)) {
        in++;
        ne2k_interrupt(card);
        (void)ne2k_work(card, now_us);
        assert_int_equal(chip.imr, 0);
    }
    assert_int_equal(kicks, 0);
    assert_int_equal(polled(), 8);
    assert_int_equal(kicks, 1);
    for (uint32_t i = 0; i < 20; i++) {
        now_us = ne2k_work(card, now_us) == WEIR_NEVER ? now_us : now_us + 1600;
        (void)polled();
    }
    assert_int_equal(upper.count, in);
    assert_int_equal(upper.length, 60 + in - 1);
    assert_int_equal(chip.imr, 0x1f);
}

static void room_is_told_by_the_thread(void **state)
{
    (void)state;
    stop();
    start(true);
    chip.slow = true;
    while (send(100, 0) == WEIR_TX_DONE)
        ;
    (void)polled();
    assert_int_equal(upper.ready, 0);
    (void)ne2k_work(card, now_us);
    assert_int_equal(told, 1);
    (void)polled();
    assert_int_equal(upper.ready, 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_card_is_taken_into_use),
        TEST(frames_of_every_length_come_in),
        TEST(frames_go_out),
        TEST(a_slow_transmitter_fills_the_queue),
        TEST(a_transmitter_that_never_ends_is_reset),
        TEST(the_ring_runs_over),
        TEST(headers_that_lie),
        TEST(bad_frames_are_skipped),
        TEST(the_thread_fills_the_queue_and_tells),
        TEST(a_flood_waits_for_its_turn),
        TEST(room_is_told_by_the_thread),
    };
    const int failed = cmocka_run_group_tests_name("drivers/ne2k", tests, NULL, NULL);
    wide = true;
    return failed + cmocka_run_group_tests_name("drivers/ne2k, on PCI", tests, NULL, NULL);
}
