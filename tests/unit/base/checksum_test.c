// SPDX-License-Identifier: BSD-2-Clause
// profiles: tiny tiny6 small
#include "base/checksum.h"

#include "base_test.h"

// RFC 1071 §1, word by word with the carry brought round at once, in native order.
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

static const struct weir_port portable;

static void sums_every_short_length_and_offset(void **state)
{
    (void)state;
    uint8_t data[80], copy[80];
    for (int fill = 0; fill < 3; fill++) {
        test_fill(data, sizeof data);
        if (fill)
            memset(data, fill == 1 ? 0 : 0xff, sizeof data);
        for (size_t offset = 0; offset < 9; offset++) {
            for (size_t bytes = 0; bytes < 70; bytes++) {
                const uint16_t want = naive(data + offset, bytes);
                assert_int_equal(checksum_sum_portable(data + offset, bytes), want);
                memset(copy, 0x5a, sizeof copy);
                assert_int_equal(checksum_copy_sum_portable(copy + 3, data + offset, bytes), want);
                assert_memory_equal(copy + 3, data + offset, bytes);
                assert_int_equal(copy[2], 0x5a);
                assert_int_equal(copy[3 + bytes], 0x5a);
            }
        }
    }
}

static void sums_long_data(void **state)
{
    (void)state;
    const size_t size = 300001;
    uint8_t *data = malloc(size), *copy = malloc(size);
    memset(data, 0xff, size);
    assert_int_equal(checksum_sum(&portable, data, size - 1), 0xffff);
    test_fill(data, size);
    for (int i = 0; i < 20; i++) {
        const size_t offset = test_random(1000), bytes = test_random((uint32_t)(size - offset));
        assert_int_equal(checksum_sum(&portable, data + offset, bytes), naive(data + offset, bytes));
        assert_int_equal(checksum_copy_sum(&portable, copy, data + offset, bytes), naive(data + offset, bytes));
        assert_memory_equal(copy, data + offset, bytes);
    }
    free(data);
    free(copy);
}

// RFC 1071 §3: the words 0001 f203 f4f5 f6f7 sum to ddf2.
static void matches_the_example_of_rfc_1071(void **state)
{
    (void)state;
    const uint8_t data[8] = {0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7};
    assert_int_equal(checksum_sum(&portable, data, 8), checksum_word(0xddf2));
    uint8_t field[2];
    checksum_put(field, checksum_word(0xddf2));
    assert_int_equal(get16(field), 0x220d);
}

static void pieces_add_up_at_odd_offsets(void **state)
{
    (void)state;
    uint8_t data[200];
    for (int i = 0; i < 2000; i++) {
        test_fill(data, sizeof data);
        const uint32_t length = test_random(sizeof data), cut = test_random(length + 1);
        uint16_t sum = checksum_sum(&portable, data, cut);
        sum = checksum_add_at(sum, checksum_sum(&portable, data + cut, length - cut), cut);
        assert_int_equal(sum, naive(data, length));
    }
}

static void folds_and_adds_with_end_around_carry(void **state)
{
    (void)state;
    assert_int_equal(checksum_fold(0), 0);
    assert_int_equal(checksum_fold(0xffff), 0xffff);
    assert_int_equal(checksum_fold(0x10000), 1);
    assert_int_equal(checksum_fold(0xffffffff), 0xffff);
    assert_int_equal(checksum_fold(0xffff0001), 1);
    assert_int_equal(checksum_add(0xffff, 1), 1);
    assert_int_equal(checksum_add(0x8000, 0x8000), 1);
    assert_int_equal(checksum_swap(0x1234), 0x3412);
}

static void slices_sum_as_one(void **state)
{
    (void)state;
    uint8_t data[3000];
    struct weir_slice slices[48];
    for (int i = 0; i < 3000; i++) {
        test_fill(data, 64);
        uint32_t total = 0, count = 1 + test_random(48);
        for (uint32_t k = 0; k < count; k++) {
            slices[k] = (struct weir_slice){data + total, 1 + test_random(test_random(2) ? 60 : 3)};
            total += slices[k].length;
        }
        const uint32_t offset = test_random(total + 1), length = test_random(total - offset + 1);
        assert_int_equal(checksum_slices(&portable, slices, count, offset, length), naive(data + offset, length));
    }
}

static uint16_t other_sum(const void *data, size_t bytes)
{
    (void)data;
    return (uint16_t)bytes;
}
static uint16_t other_copy_sum(void *restrict to, const void *restrict from, size_t bytes)
{
    memcpy(to, from, bytes);
    return (uint16_t)(bytes + 1);
}

static void the_ports_routines_are_preferred(void **state)
{
    (void)state;
    const struct weir_port port = {.sum = other_sum, .copy_sum = other_copy_sum};
    uint8_t data[10] = {1}, copy[10];
    assert_int_equal(checksum_sum(&port, data, 10), 10);
    assert_int_equal(checksum_copy_sum(&port, copy, data, 10), 11);
}

#if WEIR_CFG_FAST_PATH
static void a_payload_of_any_length_sums_and_copies_as_the_portable_routine_does(void **state)
{
    (void)state;
    const struct weir_port port = {0};
    const uint8_t data[] = {0xff, 0xfe, 0x01, 0x80, 0xff, 0xff, 0x7f, 0x33, 0xc4, 0x05, 0xaa, 0x99};
    for (uint32_t bytes = 0; bytes <= sizeof data; bytes++) {
        uint8_t copy[sizeof data + 1];
        memset(copy, 0x5a, sizeof copy);
        const uint16_t expected = checksum_sum_portable(data, bytes);
        assert_int_equal(checksum_fold(checksum_copy_payload(&port, copy, data, bytes)), expected);
        assert_memory_equal(copy, data, bytes);
        assert_int_equal(copy[bytes], 0x5a);
    }
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_every_short_length_and_offset),
        cmocka_unit_test(sums_long_data),
        cmocka_unit_test(matches_the_example_of_rfc_1071),
        cmocka_unit_test(pieces_add_up_at_odd_offsets),
        cmocka_unit_test(folds_and_adds_with_end_around_carry),
        cmocka_unit_test(slices_sum_as_one),
        cmocka_unit_test(the_ports_routines_are_preferred),
#if WEIR_CFG_FAST_PATH
        cmocka_unit_test(a_payload_of_any_length_sums_and_copies_as_the_portable_routine_does),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
