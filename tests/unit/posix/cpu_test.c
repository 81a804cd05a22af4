// SPDX-License-Identifier: BSD-2-Clause
// Every routine this CPU can run, against RFC 1071 word by word.
#include "ports/posix/cpu.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint16_t naive(const uint8_t *p, size_t bytes)
{
    uint32_t sum = 0;
    for (size_t i = 0; i < bytes; i += 2) {
        const uint8_t pair[2] = {p[i], i + 1 < bytes ? p[i + 1] : 0};
        uint16_t word;
        memcpy(&word, pair, 2);
        sum += word;
        if (sum > 0xffff)
            sum -= 0xffff;
    }
    return (uint16_t)sum;
}

static uint32_t random_state = 88172645u;
static uint32_t random_below(uint32_t bound)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 17;
    random_state ^= random_state << 5;
    return random_state % bound;
}

// The data and the copy lie in blocks of just their size, so that the sanitizer sees a byte too far read or written.
static void check(const struct weir_port *port, const uint8_t *source, size_t bytes, size_t offset)
{
    uint8_t *data = malloc(offset + bytes + 1), *copy = malloc(offset + bytes + 1);
    uint8_t *from = data + 1 + offset, *to = copy + 1 + offset;
    memcpy(from, source, bytes);
    memset(copy, 0x5a, offset + 1 + bytes);
    const uint16_t want = naive(from, bytes);
    assert_int_equal(port->sum(from, bytes), want);
    assert_int_equal(port->copy_sum(to, from, bytes), want);
    assert_memory_equal(to, from, bytes);
    if (port->copy) {
        memset(to, 0x5a, bytes);
        port->copy(to, from, bytes);
        assert_memory_equal(to, from, bytes);
    }
    for (size_t i = 0; i <= offset; i++)
        assert_int_equal(copy[i], 0x5a);
    free(data);
    free(copy);
}

static void check_level(enum posix_cpu_level level)
{
    struct weir_port port = {0};
    if (!posix_cpu_use(&port, level))
        skip();
    const size_t size = 400000;
    uint8_t *source = malloc(size);
    for (int fill = 0; fill < 3; fill++) {
        for (size_t i = 0; i < size; i++)
            source[i] = fill == 0 ? (uint8_t)random_below(256) : fill == 1 ? 0xff : 0;
        for (size_t bytes = 0; bytes < 600; bytes++)
            check(&port, source + bytes, bytes, bytes % 7);
        for (int i = 0; i < 300; i++)
            check(&port, source + random_below(1000), random_below(9000), random_below(33));
        static const size_t edges[] = {1460, 65535, 65536, 65537, 65551, 65552, 131072, 131073, 200015, 399999};
        for (size_t i = 0; i < sizeof edges / sizeof edges[0]; i++)
            check(&port, source, edges[i], i);
    }
    memset(source, 0, 64);  // words of 0x8000 and 0x7fff are where signed arithmetic turns
    for (size_t i = 0; i < 65536; i += 2)
        source[i] = 0, source[i + 1] = 0x80;
    check(&port, source, 65536, 0);
    check(&port, source + 1, 65535, 1);
    for (size_t i = 0; i < 65536; i += 2)
        source[i] = 0xff, source[i + 1] = 0x7f;
    check(&port, source, 65536, 0);
    free(source);
}

static void words(void **state)
{
    (void)state;
    check_level(POSIX_CPU_WORDS);
}
static void sse2(void **state)
{
    (void)state;
    check_level(POSIX_CPU_SSE2);
}
static void avx2(void **state)
{
    (void)state;
    check_level(POSIX_CPU_AVX2);
}

static void selects_the_best_there_is(void **state)
{
    (void)state;
    struct weir_port port = {0}, best = {0};
    posix_cpu_select(&port);
    for (int level = 0; level < POSIX_CPU_LEVELS; level++)
        posix_cpu_use(&best, (enum posix_cpu_level)level);
    assert_non_null(port.sum);
    assert_non_null(port.copy_sum);
    assert_true(port.sum == best.sum && port.copy_sum == best.copy_sum && port.copy == best.copy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words),
        cmocka_unit_test(sse2),
        cmocka_unit_test(avx2),
        cmocka_unit_test(selects_the_best_there_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
