// SPDX-License-Identifier: BSD-2-Clause
// profiles: tiny small
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "weir/cc.h"
#include "weir/options.h"

static void every_algorithm_is_whole_and_found_by_name(void **state)
{
    (void)state;
    int found = 0;
    for (const struct weir_cc *const *cc = weir_cc_list; *cc != NULL; cc++, found++) {
        assert_ptr_equal(weir_cc_find((*cc)->name), *cc);
        assert_non_null((*cc)->ack);
        assert_non_null((*cc)->event);
        assert_true((*cc)->state_bytes <= WEIR_CC_STATE_MAX);
    }
    assert_int_equal(found, 1 + WEIR_CFG_CC_CUBIC + WEIR_CFG_CC_BIC + WEIR_CFG_CC_HTCP + WEIR_CFG_CC_VEGAS + WEIR_CFG_CC_WESTWOOD +
                                WEIR_CFG_CC_YEAH + WEIR_CFG_CC_BBR + WEIR_CFG_CC_BBR3);
}

static void names_must_match_wholly(void **state)
{
    (void)state;
    assert_null(weir_cc_find(""));
    assert_null(weir_cc_find("ren"));
    assert_null(weir_cc_find("renoo"));
    assert_null(weir_cc_find("Reno"));
    assert_ptr_equal(weir_cc_find("reno"), &weir_cc_reno);
}

static void the_default_is_the_first(void **state)
{
    (void)state;
    assert_ptr_equal(weir_cc_find(NULL), weir_cc_list[0]);
    assert_string_equal(weir_cc_list[0]->name, WEIR_CFG_CC_CUBIC ? "cubic" : "reno");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_algorithm_is_whole_and_found_by_name),
        cmocka_unit_test(names_must_match_wholly),
        cmocka_unit_test(the_default_is_the_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
