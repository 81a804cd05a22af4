// SPDX-License-Identifier: BSD-2-Clause
// The 16550's driver against a model of the part: queues of sixteen bytes both ways, its interrupt, overruns.
#include "drivers/ns16550.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define PORT 0x2f8u

static struct {
    uint8_t in[16], out[16], ier, lcr, fcr, mcr, line[100000];
    uint16_t divisor;
    uint32_t in_count, out_count, line_length, off, edges;
    bool overrun, was_up, surprise;  // a byte comes just when the handler has looked for the last time
} part;

static bool line(void)
{
    return part.mcr & 8 && ((part.ier & 1 && part.in_count > 0) || (part.ier & 2 && part.out_count == 0));
}

static void look(void)
{
    part.edges += line() && !part.was_up;
    part.was_up = line();
}

static void comes(uint8_t byte)
{
    if (part.in_count == 16)
        part.overrun = true;
    else
        part.in[part.in_count++] = byte;
    look();
}

static uint8_t port_in(uint32_t port)
{
    uint8_t value = 0;
    assert_int_equal(part.lcr & 0x80, 0);
    switch (port - PORT) {
    case 0:
        assert_true(part.in_count > 0);
        value = part.in[0];
        memmove(part.in, part.in + 1, 15);
        part.in_count--;
        look();
        return value;
    case 5:
        value = (uint8_t)((part.in_count ? 1 : 0) | (part.overrun ? 2 : 0) | (part.out_count ? 0 : 0x60));
        part.overrun = false;
        if (part.surprise && !(value & 1)) {
            part.surprise = false;
            comes(0x77);
        }
        return value;
    default: fail_msg("register %u is read", port - PORT); return 0;
    }
}

static void port_out(uint32_t port, uint8_t value)
{
    switch (port - PORT) {
    case 0:
        if (part.lcr & 0x80) {
            part.divisor = (uint16_t)((part.divisor & 0xff00) | value);
        } else {
            assert_true(part.out_count < (part.fcr & 1 ? 16u : 1u));
            part.out[part.out_count++] = value;
        }
        break;
    case 1:
        if (part.lcr & 0x80)
            part.divisor = (uint16_t)((part.divisor & 0xff) | value << 8);
        else
            part.ier = value;
        break;
    case 2: part.fcr = value; break;
    case 3: part.lcr = value; break;
    case 4: part.mcr = value; break;
    default: fail_msg("register %u is written", port - PORT);
    }
}
static uint32_t interrupts_off(void) { return part.off++; }
static void interrupts_restore(uint32_t state) { part.off = state; }

static const struct ns16550_board board = {port_in, port_out, PORT, 12, interrupts_off, interrupts_restore};
static struct ns16550 uart;

static int setup(void **state)
{
    (void)state;
    memset(&part, 0, sizeof part);
    part.divisor = 0xffff;
    memset(&uart, 0x5c, sizeof uart);
    ns16550_open(&uart, &board);
    assert_int_equal(part.divisor, 12);
    assert_int_equal(part.lcr, 3);
    assert_int_equal(part.fcr & 1, 1);
    assert_false(line());
    return 0;
}

static void leaves(void)
{
    memcpy(part.line + part.line_length, part.out, part.out_count);
    part.line_length += part.out_count;
    part.out_count = 0;
    look();
}

static void bytes_come_in(void **state)
{
    uint8_t got[64];
    uint32_t taken = 0;
    (void)state;
    for (uint32_t i = 0; i < 3 * NS16550_IN; i++) {
        comes((uint8_t)(i * 7));
        if (i % 11 != 10)
            continue;
        assert_true(line());
        assert_true(ns16550_interrupt(&uart));
        assert_false(line());
        for (uint32_t n; (n = ns16550_read(&uart, got, 1 + i % 64)) > 0;)
            for (uint32_t k = 0; k < n; k++, taken++)
                assert_int_equal(got[k], (uint8_t)(taken * 7));
    }
    assert_in_range(taken, 3 * NS16550_IN - 11, 3 * NS16550_IN);
    assert_int_equal(uart.overruns, 0);
}

// The controller may see edges only.
static void what_comes_behind_the_last_look_raises_the_line_anew(void **state)
{
    uint8_t got[8];
    (void)state;
    comes(1);
    assert_int_equal(part.edges, 1);
    part.surprise = true;
    assert_true(ns16550_interrupt(&uart));
    assert_true(line());
    assert_int_equal(part.edges, 2);
    assert_true(ns16550_interrupt(&uart));
    assert_false(line());
    assert_int_equal(ns16550_read(&uart, got, 8), 2);
    assert_int_equal(got[1], 0x77);
}

// What the part's queue cannot take is lost, and told once.
static void an_overrun_is_counted(void **state)
{
    uint8_t got[64];
    (void)state;
    for (uint32_t i = 0; i < 20; i++)
        comes((uint8_t)i);
    (void)ns16550_interrupt(&uart);
    assert_int_equal(uart.overruns, 1);
    assert_int_equal(ns16550_read(&uart, got, sizeof got), 16);
    assert_int_equal(got[15], 15);
}

// The line never rests, and nobody reads: the other end is asked to wait, then nothing is taken from the part and its
// interrupt is silent.
static void a_flood_waits_in_the_part(void **state)
{
    uint8_t got[NS16550_IN];
    uint8_t sent = 0, expected = 0;
    (void)state;
    for (uint32_t round = 0; round < 3; round++) {
        uint32_t interrupts = 0;
        for (; line(); interrupts++)
            (void)ns16550_interrupt(&uart);
        for (uint32_t taken = 0; taken < 2 * NS16550_IN && part.in_count < 16; taken++) {
            assert_true(part.mcr & 2 || taken >= NS16550_IN / 2 || round);
            comes(sent++);
            if (line())
                (void)ns16550_interrupt(&uart);
        }
        assert_int_equal(part.in_count, 16);
        assert_false(line());
        assert_int_equal(part.mcr & 2, 0);
        assert_int_equal(ns16550_read(&uart, got, 10), 10);  // not enough to go on
        assert_int_equal(part.mcr & 2, 0);
        assert_false(line());
        assert_int_equal(ns16550_read(&uart, got + 10, sizeof got - 10), NS16550_IN - 10);
        for (uint32_t i = 0; i < NS16550_IN; i++)
            assert_int_equal(got[i], expected++);
        assert_int_equal(part.mcr & 2, 2);
        assert_true(line());
    }
    assert_int_equal(uart.overruns, 0);
    assert_int_equal(part.off, 0);
}

static void bytes_go_out(void **state)
{
    uint8_t bytes[1000];
    uint32_t written = 0, turns = 0;
    (void)state;
    for (uint32_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(i * 13);
    while (part.line_length < 50000) {
        const uint32_t at = written % sizeof bytes, want = 1 + turns % 300;
        written += ns16550_write(&uart, bytes + at, want < sizeof bytes - at ? want : (uint32_t)sizeof bytes - at);
        assert_int_equal(part.off, 0);
        assert_true(written - part.line_length <= NS16550_OUT + 16);
        leaves();
        if (line())
            (void)ns16550_interrupt(&uart);
        assert_true(turns++ < 100000);
    }
    for (; part.line_length < written; leaves())
        (void)ns16550_interrupt(&uart);
    assert_int_equal(part.line_length, written);
    for (uint32_t i = 0; i < written; i++)
        assert_int_equal(part.line[i], bytes[i % sizeof bytes]);
    leaves();
    (void)ns16550_interrupt(&uart);
    assert_false(line());  // nothing more to send: it does not ask
}

static void who_was_refused_is_told_once_there_is_room(void **state)
{
    uint8_t bytes[2 * NS16550_OUT] = {0};
    uint32_t told = 0;
    (void)state;
    assert_int_equal(ns16550_write(&uart, bytes, 10), 10);
    leaves();
    assert_false(ns16550_interrupt(&uart));  // nobody was
    const uint32_t taken = ns16550_write(&uart, bytes, sizeof bytes);
    assert_int_equal(taken, NS16550_OUT);
    assert_int_equal(ns16550_write(&uart, bytes, 100), 16);  // what the part has taken
    assert_int_equal(ns16550_write(&uart, bytes, 1), 0);
    for (uint32_t i = 0; i < 100; i++) {
        leaves();
        told += ns16550_interrupt(&uart);
    }
    assert_int_equal(told, 1);
    assert_int_equal(part.line_length, 10 + taken + 16);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup(name, setup)
    const struct CMUnitTest tests[] = {
        TEST(bytes_come_in),         TEST(what_comes_behind_the_last_look_raises_the_line_anew),
        TEST(an_overrun_is_counted), TEST(a_flood_waits_in_the_part),
        TEST(bytes_go_out),          TEST(who_was_refused_is_told_once_there_is_room),
    };
    return cmocka_run_group_tests_name("drivers/ns16550", tests, NULL, NULL);
}
