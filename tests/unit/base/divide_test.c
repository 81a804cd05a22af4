// SPDX-License-Identifier: BSD-2-Clause
// profiles: small
#include "base_test.h"

static void quotients_are_exact(void **state)
{
    (void)state;
    static const uint64_t dividends[] = {
        0, 1, 99, UINT32_MAX, (uint64_t)UINT32_MAX + 1, 0x123456789abcdef0u, UINT64_MAX - 1, UINT64_MAX};
    static const uint32_t divisors[] = {1,         2, 3, 7, 1460, 0x7fffffff, 0x80000000, 0x80000001, UINT32_MAX - 1,
                                        UINT32_MAX};
    for (uint32_t i = 0; i < sizeof dividends / sizeof dividends[0]; i++)
        for (uint32_t j = 0; j < sizeof divisors / sizeof divisors[0]; j++)
            assert_true(divide_u64(dividends[i], divisors[j]) == dividends[i] / divisors[j]);
}

static void quotients_of_many_numbers(void **state)
{
    (void)state;
    uint64_t x = 88172645463325252u;
    for (uint32_t i = 0; i < 20000; i++) {
        x ^= x << 13, x ^= x >> 7, x ^= x << 17;
        const uint64_t dividend = x >> (i % 64);
        const uint32_t divisor = (uint32_t)(x >> 32) >> (i % 31) | 1;
        assert_true(divide_u64(dividend, divisor) == dividend / divisor);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quotients_are_exact),
        cmocka_unit_test(quotients_of_many_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
