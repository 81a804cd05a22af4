// SPDX-License-Identifier: BSD-2-Clause
// also without IPv4
#include "cc/abe.h"

#include "path.h"

static struct path_flow f;

// What is left of a hundred segments, all in flight, at this event.
static uint32_t left(const struct weir_cc *cc, enum weir_cc_event event)
{
    flow_avoid(&f, cc, 100);
    flow_event(&f, event, 100 * MSS);
    return f.window.ssthresh / MSS;
}

static void a_mark_costs_less_than_a_loss(void **state)
{
    (void)state;
    assert_int_equal(left(&weir_cc_reno, WEIR_CC_ENTER_RECOVERY), 50);
    assert_int_equal(left(&weir_cc_reno, WEIR_CC_ECN), WEIR_CFG_CC_ABE ? 79 : 50);  // 819 / 1024, rounded down
    assert_in_range(left(&weir_cc_cubic, WEIR_CC_ENTER_RECOVERY), 69, 70);
    assert_in_range(left(&weir_cc_cubic, WEIR_CC_ECN), WEIR_CFG_CC_ABE ? 84 : 69, WEIR_CFG_CC_ABE ? 85 : 70);
}

static void a_timeout_is_no_mark(void **state)
{
    (void)state;
    assert_int_equal(left(&weir_cc_reno, WEIR_CC_RTO), 50);
    assert_int_equal(f.window.cwnd, MSS);
}

static void no_product_overflows(void **state)
{
    (void)state;
    const uint32_t most = 0x40000000;
    assert_int_equal(abe_reduced(WEIR_CC_ECN, most, 1, ABE_RENO), WEIR_CFG_CC_ABE ? most / 1024 * 819 : 1);
    assert_int_equal(abe_reduced(WEIR_CC_ECN, UINT32_MAX, 1, 1024), WEIR_CFG_CC_ABE ? UINT32_MAX : 1);
    // what is below a kilobyte counts, too
    assert_int_equal(abe_reduced(WEIR_CC_ECN, 1023, 1, ABE_CUBIC), WEIR_CFG_CC_ABE ? 869 : 1);
    assert_int_equal(abe_reduced(WEIR_CC_ENTER_RECOVERY, most, 7, ABE_RENO), 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_mark_costs_less_than_a_loss),
        cmocka_unit_test(a_timeout_is_no_mark),
        cmocka_unit_test(no_product_overflows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
