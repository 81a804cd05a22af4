// SPDX-License-Identifier: BSD-2-Clause
// also without IPv4
// needs IPv6
// The state machine of DPLPMTUD (RFC 8899 §5.2), without a socket: each edge of its figure, what a packet-too-big may
// change, and the sizes that are tried.
#include "fixture.h"
#include "udp/mtu_search.h"

#define MIN 548u
#define BASE 1200u
#define LIMIT 1472u
#define START_MS 0xffff0000u  // the clock wraps in the tests

struct world {
    struct mtu_search s;
    uint32_t now_ms;
};

static void open_with(struct world *w, const struct weir_dplpmtud_settings *given, uint16_t limit)
{
    struct weir_dplpmtud_settings settings;
    *w = (struct world){.now_ms = START_MS};
    assert_true(mtu_search_settings(given, MIN, &settings));
    mtu_search_start(&w->s, &settings, limit);
}

static void open_search(struct world *w) { open_with(w, &(struct weir_dplpmtud_settings){0}, LIMIT); }

static void expect(const struct world *w, enum weir_dplpmtud_state state, uint32_t plpmtu)
{
    assert_int_equal(w->s.state, state);
    assert_int_equal(w->s.plpmtu, plpmtu);
}

// The probe that is due, of so many bytes, leaves.
static void probe(struct world *w, uint32_t bytes)
{
    assert_true(w->s.wanted);
    assert_int_equal(w->s.probed, bytes);
    mtu_search_sent(&w->s, w->now_ms);
    assert_true(w->s.awaited && !w->s.wanted);
}

static void acked(struct world *w, uint32_t bytes)
{
    probe(w, bytes);
    assert_true(mtu_search_event(&w->s, WEIR_DPLPMTUD_ACKED, bytes, w->now_ms));
}

// To the next deadline, which comes after so long; one millisecond before it nothing happens.
static void deadline(struct world *w, uint32_t after_ms)
{
    uint32_t at_ms;
    assert_true(mtu_search_deadline(&w->s, &at_ms));
    assert_int_equal(at_ms - w->now_ms, after_ms);
    const struct mtu_search before = w->s;
    mtu_search_timer(&w->s, at_ms - 1);
    assert_memory_equal(&before, &w->s, sizeof before);
    w->now_ms = at_ms;
    mtu_search_timer(&w->s, at_ms);
}

static void lost(struct world *w, uint32_t bytes)
{
    probe(w, bytes);
    deadline(w, 16000);
}

static void given_up(struct world *w, uint32_t bytes)
{
    for (uint32_t i = 0; i < MTU_SEARCH_PROBES; i++)
        lost(w, bytes);
}

static void search_complete(struct world *w)  // at the limit
{
    acked(w, BASE);
    acked(w, LIMIT);
    expect(w, WEIR_DPLPMTUD_SEARCH_COMPLETE, LIMIT);
}

// A router's word about a datagram of `bytes`.
static bool too_big(struct world *w, uint32_t ptb, uint32_t bytes)
{
    return mtu_search_too_big(&w->s, ptb, bytes, w->now_ms);
}

// --- the edges -------------------------------------------------------------------------------------------------------

static void base_is_confirmed_then_the_longest_is_tried(void **state)
{
    struct world w;
    uint32_t at_ms;
    (void)state;
    open_search(&w);
    expect(&w, WEIR_DPLPMTUD_BASE, BASE);
    assert_false(mtu_search_deadline(&w.s, &at_ms));  // it is the program's turn
    acked(&w, BASE);
    expect(&w, WEIR_DPLPMTUD_SEARCHING, BASE);
    acked(&w, LIMIT);
    expect(&w, WEIR_DPLPMTUD_SEARCH_COMPLETE, LIMIT);
    assert_false(w.s.wanted);
}

static void base_is_probed_three_times_and_ends_in_error(void **state)
{
    struct world w;
    (void)state;
    open_search(&w);
    lost(&w, BASE);
    expect(&w, WEIR_DPLPMTUD_BASE, BASE);
    lost(&w, BASE);
    expect(&w, WEIR_DPLPMTUD_BASE, BASE);
    lost(&w, BASE);
    expect(&w, WEIR_DPLPMTUD_ERROR, MIN);
}

static void error_is_left_when_the_least_size_passes(void **state)
{
    struct world w;
    (void)state;
    open_search(&w);
    given_up(&w, BASE);
    acked(&w, MIN);
    expect(&w, WEIR_DPLPMTUD_SEARCHING, MIN);
    acked(&w, BASE);  // it may have been an outage
    expect(&w, WEIR_DPLPMTUD_SEARCHING, BASE);
    acked(&w, LIMIT);
    expect(&w, WEIR_DPLPMTUD_SEARCH_COMPLETE, LIMIT);
}

static void below_base_the_search_goes_on_too(void **state)
{
    struct world w;
    (void)state;
    open_search(&w);
    given_up(&w, BASE);
    acked(&w, MIN);
    given_up(&w, BASE);
    while (w.s.state == WEIR_DPLPMTUD_SEARCHING) {
        if (w.s.probed <= 900)
            acked(&w, w.s.probed);
        else
            given_up(&w, w.s.probed);
    }
    assert_int_equal(w.s.state, WEIR_DPLPMTUD_SEARCH_COMPLETE);
    assert_in_range(w.s.plpmtu, 900 - MTU_SEARCH_STEP, 900);
}

static void where_nothing_passes_it_is_disabled(void **state)
{
    struct world w;
    uint32_t at_ms;
    (void)state;
    open_search(&w);
    given_up(&w, BASE);
    lost(&w, MIN);
    lost(&w, MIN);
    expect(&w, WEIR_DPLPMTUD_ERROR, MIN);
    lost(&w, MIN);
    expect(&w, WEIR_DPLPMTUD_DISABLED, 0);
    assert_false(w.s.wanted || w.s.awaited);
    assert_false(mtu_search_deadline(&w.s, &at_ms));
}

static void searching_ends_when_a_size_is_given_up_and_none_is_left(void **state)
{
    struct world w;
    (void)state;
    open_with(&w, &(struct weir_dplpmtud_settings){.max_plpmtu = BASE + MTU_SEARCH_STEP}, LIMIT);
    acked(&w, BASE);
    lost(&w, BASE + MTU_SEARCH_STEP);
    lost(&w, BASE + MTU_SEARCH_STEP);
    expect(&w, WEIR_DPLPMTUD_SEARCHING, BASE);
    lost(&w, BASE + MTU_SEARCH_STEP);
    expect(&w, WEIR_DPLPMTUD_SEARCH_COMPLETE, BASE);
}

static void every_size_is_found(void **state)
{
    (void)state;
    for (uint32_t path = BASE; path <= LIMIT; path++) {
        struct world w;
        open_search(&w);
        acked(&w, BASE);
        uint32_t probes = 0;
        for (; w.s.state == WEIR_DPLPMTUD_SEARCHING; probes++) {
            if (w.s.probed <= path)
                acked(&w, w.s.probed);
            else
                given_up(&w, w.s.probed);
            assert_in_range(w.s.plpmtu, BASE, path);  // never longer than what has passed
        }
        assert_in_range(w.s.plpmtu, path - min_u32(path - BASE, MTU_SEARCH_STEP), path);
        assert_in_range(probes, 1, 7);
    }
}

static void one_lost_probe_is_no_verdict(void **state)
{
    struct world w;
    (void)state;
    open_search(&w);
    acked(&w, BASE);
    lost(&w, LIMIT);
    lost(&w, LIMIT);
    acked(&w, LIMIT);
    expect(&w, WEIR_DPLPMTUD_SEARCH_COMPLETE, LIMIT);
}

static void the_search_is_repeated_after_ten_minutes(void **state)
{
    struct world w;
    (void)state;
    open_search(&w);
    acked(&w, BASE);
    while (w.s.state == WEIR_DPLPMTUD_SEARCHING)
        w.s.probed <= 1400 ? acked(&w, w.s.probed) : given_up(&w, w.s.probed);
    const uint16_t found = w.s.plpmtu;
    deadline(&w, 600000);
    expect(&w, WEIR_DPLPMTUD_SEARCHING, found);
    acked(&w, LIMIT);  // the path is as long as it was
    expect(&w, WEIR_DPLPMTUD_SEARCH_COMPLETE, LIMIT);
    w.s.news = false;
    deadline(&w, 600000);
    expect(&w, WEIR_DPLPMTUD_SEARCH_COMPLETE, LIMIT);  // there is nothing to search for
    assert_false(w.s.wanted || w.s.news);
    deadline(&w, 600000);
}

static void a_black_hole_leads_back_to_base(void **state)
{
    struct world w;
    (void)state;
    open_search(&w);
    assert_false(mtu_search_event(&w.s, WEIR_DPLPMTUD_BLACK_HOLE, 0, w.now_ms));
    search_complete(&w);
    assert_false(mtu_search_event(&w.s, WEIR_DPLPMTUD_BLACK_HOLE, 1, w.now_ms));
    assert_true(mtu_search_event(&w.s, WEIR_DPLPMTUD_BLACK_HOLE, 0, w.now_ms));
    expect(&w, WEIR_DPLPMTUD_BASE, BASE);
    acked(&w, BASE);
    expect(&w, WEIR_DPLPMTUD_SEARCHING, BASE);
    lost(&w, LIMIT);
    assert_true(mtu_search_event(&w.s, WEIR_DPLPMTUD_BLACK_HOLE, 0, w.now_ms));
    expect(&w, WEIR_DPLPMTUD_BASE, BASE);
    given_up(&w, BASE);
    assert_false(mtu_search_event(&w.s, WEIR_DPLPMTUD_BLACK_HOLE, 0, w.now_ms));
    expect(&w, WEIR_DPLPMTUD_ERROR, MIN);
}

static void what_is_not_acknowledged_is_confirmed_by_a_timer(void **state)
{
    struct world w;
    (void)state;
    open_with(&w, &(struct weir_dplpmtud_settings){.confirmation_timer_s = 60}, LIMIT);
    search_complete(&w);
    deadline(&w, 60000);
    acked(&w, LIMIT);
    expect(&w, WEIR_DPLPMTUD_SEARCH_COMPLETE, LIMIT);
    deadline(&w, 60000);
    lost(&w, LIMIT);
    lost(&w, LIMIT);
    expect(&w, WEIR_DPLPMTUD_SEARCH_COMPLETE, LIMIT);
    lost(&w, LIMIT);
    expect(&w, WEIR_DPLPMTUD_BASE, BASE);
}

static void confirmation_does_not_keep_the_search_from_beginning_again(void **state)
{
    struct world w;
    (void)state;
    open_with(&w, &(struct weir_dplpmtud_settings){.confirmation_timer_s = 599, .max_plpmtu = 1300}, LIMIT);
    acked(&w, BASE);
    given_up(&w, 1300);
    while (w.s.state == WEIR_DPLPMTUD_SEARCHING)
        given_up(&w, w.s.probed);
    deadline(&w, 599000);
    probe(&w, BASE);
    deadline(&w, 16000);  // the probe's; meanwhile the ten minutes are over
    expect(&w, WEIR_DPLPMTUD_SEARCH_COMPLETE, BASE);
    mtu_search_timer(&w.s, w.now_ms);
    expect(&w, WEIR_DPLPMTUD_SEARCHING, BASE);
    assert_int_equal(w.s.probed, 1300);
}

static void it_ends_from_every_state(void **state)
{
    (void)state;
    for (uint32_t at = 0; at < 4; at++) {
        struct world w;
        open_search(&w);
        if (at == 1)
            acked(&w, BASE);
        else if (at == 2)
            search_complete(&w);
        else if (at == 3)
            given_up(&w, BASE);
        mtu_search_stop(&w.s);
        expect(&w, WEIR_DPLPMTUD_DISABLED, 0);
        assert_false(w.s.wanted || w.s.awaited);
        for (int event = WEIR_DPLPMTUD_ACKED; event <= WEIR_DPLPMTUD_BLACK_HOLE; event++)
            assert_false(mtu_search_event(&w.s, (enum weir_dplpmtud_event)event, 0, w.now_ms));
        assert_false(too_big(&w, 1300, LIMIT));
    }
}

// --- reports ---------------------------------------------------------------------------------------------------------

static void only_the_probe_that_is_awaited_counts(void **state)
{
    struct world w;
    (void)state;
    open_search(&w);
    assert_false(mtu_search_event(&w.s, WEIR_DPLPMTUD_ACKED, BASE, w.now_ms));  // none has been sent
    probe(&w, BASE);
    assert_false(mtu_search_event(&w.s, WEIR_DPLPMTUD_ACKED, BASE + 1, w.now_ms));
    assert_false(mtu_search_event(&w.s, (enum weir_dplpmtud_event)7, BASE, w.now_ms));
    assert_true(mtu_search_event(&w.s, WEIR_DPLPMTUD_ACKED, BASE, w.now_ms));
    assert_false(mtu_search_event(&w.s, WEIR_DPLPMTUD_ACKED, BASE, w.now_ms));  // twice
    expect(&w, WEIR_DPLPMTUD_SEARCHING, BASE);
    given_up(&w, LIMIT);
    assert_false(mtu_search_event(&w.s, WEIR_DPLPMTUD_ACKED, LIMIT, w.now_ms));  // much too late
    expect(&w, WEIR_DPLPMTUD_SEARCHING, BASE);
}

static void an_acknowledgement_after_the_timer_counts(void **state)
{
    struct world w;
    (void)state;
    open_search(&w);
    acked(&w, BASE);
    lost(&w, LIMIT);
    assert_false(mtu_search_event(&w.s, WEIR_DPLPMTUD_LOST, LIMIT, w.now_ms));  // it has been counted
    assert_true(mtu_search_event(&w.s, WEIR_DPLPMTUD_ACKED, LIMIT, w.now_ms));
    expect(&w, WEIR_DPLPMTUD_SEARCH_COMPLETE, LIMIT);
}

static void the_protocol_may_know_of_a_loss_before_the_timer(void **state)
{
    struct world w;
    uint32_t at_ms;
    (void)state;
    open_search(&w);
    acked(&w, BASE);
    for (uint32_t i = 0; i < MTU_SEARCH_PROBES; i++) {
        probe(&w, LIMIT);
        assert_true(mtu_search_event(&w.s, WEIR_DPLPMTUD_LOST, LIMIT, w.now_ms));
    }
    assert_int_equal(w.s.probed, (BASE + LIMIT) / 2);
    assert_false(mtu_search_deadline(&w.s, &at_ms));
}

// --- packet too big, §4.6.2 ------------------------------------------------------------------------------------------

static void a_router_names_the_next_size_to_try(void **state)
{
    struct world w;
    (void)state;
    open_search(&w);
    acked(&w, BASE);
    probe(&w, LIMIT);
    assert_true(too_big(&w, 1400, LIMIT));
    expect(&w, WEIR_DPLPMTUD_SEARCHING, BASE);  // not what a router says, but what passes
    acked(&w, 1400);
    expect(&w, WEIR_DPLPMTUD_SEARCH_COMPLETE, 1400);
}

static void a_router_says_that_nothing_longer_passes(void **state)
{
    struct world w;
    (void)state;
    open_search(&w);
    acked(&w, BASE);
    probe(&w, LIMIT);
    assert_true(too_big(&w, BASE, LIMIT));
    expect(&w, WEIR_DPLPMTUD_SEARCH_COMPLETE, BASE);
}

static void a_router_reports_a_shorter_path(void **state)
{
    struct world w;
    (void)state;
    open_search(&w);
    search_complete(&w);
    assert_true(too_big(&w, 1300, LIMIT));
    expect(&w, WEIR_DPLPMTUD_BASE, BASE);
    acked(&w, BASE);
    acked(&w, 1300);
    expect(&w, WEIR_DPLPMTUD_SEARCH_COMPLETE, 1300);
    assert_true(too_big(&w, 800, 1300));
    expect(&w, WEIR_DPLPMTUD_ERROR, MIN);
    acked(&w, MIN);
    acked(&w, 800);
    expect(&w, WEIR_DPLPMTUD_SEARCH_COMPLETE, 800);
}

static void a_router_may_refuse_base(void **state)
{
    struct world w;
    (void)state;
    open_search(&w);
    probe(&w, BASE);
    assert_true(too_big(&w, 1000, BASE));
    expect(&w, WEIR_DPLPMTUD_ERROR, MIN);
    acked(&w, MIN);
    probe(&w, 1000);
    assert_true(too_big(&w, 900, 1000));  // below BASE, above what passes
    expect(&w, WEIR_DPLPMTUD_SEARCHING, MIN);
    acked(&w, 900);
    expect(&w, WEIR_DPLPMTUD_SEARCH_COMPLETE, 900);
}

static void what_contradicts_itself_is_not_believed(void **state)
{
    struct world w;
    (void)state;
    open_search(&w);
    acked(&w, BASE);
    probe(&w, LIMIT);
    const struct mtu_search before = w.s;
    assert_false(too_big(&w, MIN - 1, LIMIT));    // below MIN_PLPMTU
    assert_false(too_big(&w, 0, LIMIT));          //
    assert_false(too_big(&w, LIMIT, LIMIT));      // it would have passed
    assert_false(too_big(&w, 1400, 1300));        //
    assert_false(too_big(&w, LIMIT, LIMIT + 1));  // nothing as long has been sent
    assert_false(too_big(&w, 1400, 65535));
    assert_memory_equal(&before, &w.s, sizeof before);
    assert_true(mtu_search_event(&w.s, WEIR_DPLPMTUD_ACKED, LIMIT, w.now_ms));
    assert_false(too_big(&w, 60000, 60001));  // never up
    expect(&w, WEIR_DPLPMTUD_SEARCH_COMPLETE, LIMIT);
}

// --- settings and path -----------------------------------------------------------------------------------------------

static void settings_that_contradict_each_other_are_refused(void **state)
{
    static const struct weir_dplpmtud_settings bad[] = {
        {.min_plpmtu = 39},
        {.min_plpmtu = 1300, .base_plpmtu = 1200},
        {.base_plpmtu = 547},
        {.max_plpmtu = 1199},
        {.probe_timer_ms = 999},
        {.probe_timer_ms = UINT32_MAX},
        {.raise_timer_s = 1000001},
        {.confirmation_timer_s = 600},
        {.raise_timer_s = 20, .confirmation_timer_s = 20},
    };
    struct weir_dplpmtud_settings out;
    (void)state;
    for (uint32_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(mtu_search_settings(&bad[i], MIN, &out));
    assert_true(mtu_search_settings(&(struct weir_dplpmtud_settings){0}, 1232, &out));
    assert_int_equal(out.min_plpmtu, 1232);
    assert_int_equal(out.base_plpmtu, 1232);  // not below what every link of IPv6 carries
    assert_int_equal(out.probe_timer_ms, 16000);
    assert_int_equal(out.raise_timer_s, 600);
    assert_true(mtu_search_settings(&(struct weir_dplpmtud_settings){.probe_timer_ms = 1000}, MIN, &out));
}

static void an_interface_narrower_than_base_is_the_limit(void **state)
{
    struct world w;
    (void)state;
    open_with(&w, &(struct weir_dplpmtud_settings){0}, 268);
    expect(&w, WEIR_DPLPMTUD_BASE, 268);
    acked(&w, 268);
    expect(&w, WEIR_DPLPMTUD_SEARCH_COMPLETE, 268);
}

static void a_path_that_gets_shorter_is_followed_at_once(void **state)
{
    struct world w;
    (void)state;
    open_search(&w);
    search_complete(&w);
    mtu_search_limit(&w.s, 1300, w.now_ms);
    expect(&w, WEIR_DPLPMTUD_BASE, BASE);
    acked(&w, BASE);
    acked(&w, 1300);
    expect(&w, WEIR_DPLPMTUD_SEARCH_COMPLETE, 1300);
    mtu_search_limit(&w.s, LIMIT, w.now_ms);  // longer again: after the ten minutes
    expect(&w, WEIR_DPLPMTUD_SEARCH_COMPLETE, 1300);
    deadline(&w, 600000);
    probe(&w, LIMIT);
    mtu_search_limit(&w.s, 1350, w.now_ms);  // shorter than what is being tried
    expect(&w, WEIR_DPLPMTUD_SEARCHING, 1300);
    acked(&w, 1350);
    expect(&w, WEIR_DPLPMTUD_SEARCH_COMPLETE, 1350);
    mtu_search_stop(&w.s);
    mtu_search_limit(&w.s, 600, w.now_ms);
    expect(&w, WEIR_DPLPMTUD_DISABLED, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(base_is_confirmed_then_the_longest_is_tried),
        cmocka_unit_test(base_is_probed_three_times_and_ends_in_error),
        cmocka_unit_test(error_is_left_when_the_least_size_passes),
        cmocka_unit_test(below_base_the_search_goes_on_too),
        cmocka_unit_test(where_nothing_passes_it_is_disabled),
        cmocka_unit_test(searching_ends_when_a_size_is_given_up_and_none_is_left),
        cmocka_unit_test(every_size_is_found),
        cmocka_unit_test(one_lost_probe_is_no_verdict),
        cmocka_unit_test(the_search_is_repeated_after_ten_minutes),
        cmocka_unit_test(a_black_hole_leads_back_to_base),
        cmocka_unit_test(what_is_not_acknowledged_is_confirmed_by_a_timer),
        cmocka_unit_test(confirmation_does_not_keep_the_search_from_beginning_again),
        cmocka_unit_test(it_ends_from_every_state),
        cmocka_unit_test(only_the_probe_that_is_awaited_counts),
        cmocka_unit_test(an_acknowledgement_after_the_timer_counts),
        cmocka_unit_test(the_protocol_may_know_of_a_loss_before_the_timer),
        cmocka_unit_test(a_router_names_the_next_size_to_try),
        cmocka_unit_test(a_router_says_that_nothing_longer_passes),
        cmocka_unit_test(a_router_reports_a_shorter_path),
        cmocka_unit_test(a_router_may_refuse_base),
        cmocka_unit_test(what_contradicts_itself_is_not_believed),
        cmocka_unit_test(settings_that_contradict_each_other_are_refused),
        cmocka_unit_test(an_interface_narrower_than_base_is_the_limit),
        cmocka_unit_test(a_path_that_gets_shorter_is_followed_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
