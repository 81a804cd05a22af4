// SPDX-License-Identifier: BSD-2-Clause
// also without IPv4
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <errno.h>

#include "api/bsd/weir_bsd.h"

static void every_error_has_an_errno(void **state)
{
    (void)state;
    for (int error = -1; error >= WEIR_SKIPPED; error--)
        assert_true(weir_bsd_errno(error) > 0);
    assert_int_equal(weir_bsd_errno(0), 0);
    assert_int_equal(weir_bsd_errno(17), 0);
    assert_int_equal(weir_bsd_errno(WEIR_AGAIN), EAGAIN);
    assert_int_equal(weir_bsd_errno(WEIR_REFUSED), ECONNREFUSED);
    assert_int_equal(weir_bsd_errno(WEIR_SHUT_DOWN), EPIPE);
    assert_int_equal(weir_bsd_errno(WEIR_CLOSED), EBADF);
    assert_int_equal(weir_bsd_errno(WEIR_TOO_BIG), EMSGSIZE);
    assert_int_equal(weir_bsd_errno(-9999), EIO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_error_has_an_errno)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
