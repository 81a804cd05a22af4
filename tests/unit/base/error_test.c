// SPDX-License-Identifier: BSD-2-Clause
// profiles: tiny small
#include "weir/error.h"

#include "base_test.h"

static void every_error_has_its_name(void **state)
{
    (void)state;
    if (!WEIR_CFG_ERROR_NAMES) {
        assert_string_equal(weir_error_name(WEIR_AGAIN), "?");
        return;
    }
#define NAMED(error) assert_string_equal(weir_error_name(error), #error)
    NAMED(WEIR_OK), NAMED(WEIR_AGAIN), NAMED(WEIR_INVALID), NAMED(WEIR_BAD_SOCKET), NAMED(WEIR_NO_MEMORY),
        NAMED(WEIR_IN_USE);
    NAMED(WEIR_NO_ADDRESS), NAMED(WEIR_NO_ROUTE), NAMED(WEIR_NOT_CONNECTED), NAMED(WEIR_CONNECTED),
        NAMED(WEIR_IN_PROGRESS);
    NAMED(WEIR_REFUSED), NAMED(WEIR_RESET), NAMED(WEIR_ABORTED), NAMED(WEIR_TIMED_OUT), NAMED(WEIR_SHUT_DOWN),
        NAMED(WEIR_TOO_BIG);
    NAMED(WEIR_NOT_SUPPORTED), NAMED(WEIR_HOST_UNREACHABLE), NAMED(WEIR_NETWORK_UNREACHABLE), NAMED(WEIR_PERMISSION),
        NAMED(WEIR_FAULT);
    NAMED(WEIR_INTERRUPTED), NAMED(WEIR_CLOSED), NAMED(WEIR_CONFLICT), NAMED(WEIR_NETIF_DOWN), NAMED(WEIR_LISTENING),
        NAMED(WEIR_SKIPPED);
}

static void other_numbers_have_none(void **state)
{
    (void)state;
    assert_string_equal(weir_error_name(1), "?");
    assert_string_equal(weir_error_name(WEIR_SKIPPED - 1), "?");
    assert_string_equal(weir_error_name(-2147483647 - 1), "?");
    assert_string_equal(weir_error_name(2147483647), "?");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_error_has_its_name),
                                       cmocka_unit_test(other_numbers_have_none)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
