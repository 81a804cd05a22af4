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
    assert_int_equal(found, WEIR_CC_COUNT);
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

static void a_list_of_ones_own_is_searched_likewise(void **state)
{
    (void)state;
    static const struct weir_cc first = {.name = "first"}, second = {.name = "second"};
    static const struct weir_cc *const list[] = {&first, &second, NULL};
    assert_ptr_equal(weir_cc_find_in(list, "second"), &second);
    assert_ptr_equal(weir_cc_find_in(list, NULL), &first);
    assert_null(weir_cc_find_in(list, "reno"));
}

// Nobody registers one where the build has no room for it: weir/cc.h says so without a call.
static void a_build_without_room_registers_none(void **state)
{
    (void)state;
    if (!WEIR_CFG_CC_REGISTERED)
        assert_int_equal(weir_cc_register(NULL, &weir_cc_reno), WEIR_NOT_SUPPORTED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_algorithm_is_whole_and_found_by_name),
        cmocka_unit_test(names_must_match_wholly),
        cmocka_unit_test(the_default_is_the_first),
        cmocka_unit_test(a_list_of_ones_own_is_searched_likewise),
        cmocka_unit_test(a_build_without_room_registers_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
