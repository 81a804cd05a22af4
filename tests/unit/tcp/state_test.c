// SPDX-License-Identifier: BSD-2-Clause
// also without IPv4
// The states of a connection: what may follow what (RFC 9293 §3.3.2, figure 5), and what a state asks for besides.
// profiles: small
#include <string.h>

#include "tcp/tcp_fixture.h"

#include "tcp/internal.h"

// The figure, read along its arrows; a reset, an abort or a timeout leads from anywhere to CLOSED. (A socket that
// listens is a tcp_listener, whose connections begin as SYN-RECEIVED or, out of a half-open record, as ESTABLISHED.)
static const struct {
    enum weir_tcp_state state;
    const char *name, *followers;
} figure[] = {
    {WEIR_TCP_CLOSED, "CLOSED", "CLOSED LISTEN SYN-SENT SYN-RECEIVED ESTABLISHED"},
    {WEIR_TCP_LISTEN, "LISTEN", "CLOSED"},
    {WEIR_TCP_SYN_SENT, "SYN-SENT", "CLOSED SYN-RECEIVED ESTABLISHED"},
    {WEIR_TCP_SYN_RECEIVED, "SYN-RECEIVED", "CLOSED ESTABLISHED FIN-WAIT-1 CLOSE-WAIT"},
    {WEIR_TCP_ESTABLISHED, "ESTABLISHED", "CLOSED FIN-WAIT-1 CLOSE-WAIT"},
    {WEIR_TCP_FIN_WAIT_1, "FIN-WAIT-1", "CLOSED FIN-WAIT-2 CLOSING TIME-WAIT"},
    {WEIR_TCP_FIN_WAIT_2, "FIN-WAIT-2", "CLOSED TIME-WAIT"},
    {WEIR_TCP_CLOSE_WAIT, "CLOSE-WAIT", "CLOSED LAST-ACK"},
    {WEIR_TCP_CLOSING, "CLOSING", "CLOSED TIME-WAIT"},
    {WEIR_TCP_LAST_ACK, "LAST-ACK", "CLOSED"},
    {WEIR_TCP_TIME_WAIT, "TIME-WAIT", "CLOSED"},
};
#define STATES (sizeof figure / sizeof figure[0])

// Whether the name stands in the list as a word of its own.
static bool listed(const char *list, const char *name)
{
    const size_t length = strlen(name);
    for (const char *at = list; (at = strstr(at, name)) != NULL; at += length)
        if ((at == list || at[-1] == ' ') && (at[length] == ' ' || !at[length]))
            return true;
    return false;
}

struct change {
    struct tcp_fixture t;
    struct tcp_conn *c;
    uint32_t attention;
};

static void change_open(struct change *change)
{
    static const struct tcp_fixture_options plain;
    tcp_fixture_bring(&change->t, WEIR_TCP_ESTABLISHED, &plain);
    change->c = tcp_fixture_conn(&change->t);
    change->attention = change->c->attention;
}

static void change_put(struct change *change, enum weir_tcp_state state)
{
    tcp_timers_off(change->t.weir, change->c);
    change->c->state = (uint8_t)state;
    change->c->attention = change->attention | (state == WEIR_TCP_ESTABLISHED ? 0 : ATTEND_STATE);
}

static void change_close(struct change *change)
{
    change_put(change, WEIR_TCP_ESTABLISHED);
    tcp_fixture_close(&change->t);
}

static void each_state_is_entered_along_the_figures_arrows_only(void **state)
{
    struct change change;
    (void)state;
    change_open(&change);
    assert_int_equal(STATES, WEIR_TCP_STATE_COUNT);
    for (size_t from = 0; from < STATES; from++)
        for (size_t to = 0; to < STATES; to++) {
            const bool may = listed(figure[from].followers, figure[to].name);
            change_put(&change, figure[from].state);
            tcp_set_state(change.t.weir, change.c, figure[to].state);
            if (change.c->state != (may ? figure[to].state : figure[from].state))
                fail_msg("from %s to %s: now %s", figure[from].name, figure[to].name,
                         weir_tcp_state_name(change.c->state));
        }
    change_close(&change);
}

static void only_an_established_connection_needs_no_attention(void **state)
{
    struct change change;
    (void)state;
    change_open(&change);
    for (size_t from = 0; from < STATES; from++)
        for (size_t to = 0; to < STATES; to++) {
            change_put(&change, figure[from].state);
            tcp_set_state(change.t.weir, change.c, figure[to].state);
            assert_int_equal((change.c->attention & ATTEND_STATE) != 0, change.c->state != WEIR_TCP_ESTABLISHED);
        }
    change_close(&change);
}

// A change that may not be is none: neither a timer nor the attention word knows of it.
static void a_change_that_may_not_be_touches_nothing(void **state)
{
    struct change change;
    (void)state;
    change_open(&change);
    for (size_t from = 0; from < STATES; from++)
        for (size_t to = 0; to < STATES; to++) {
            if (listed(figure[from].followers, figure[to].name))
                continue;
            change_put(&change, figure[from].state);
            const uint32_t attention = change.c->attention, armed = change.c->armed;
            tcp_set_state(change.t.weir, change.c, figure[to].state);
            assert_int_equal(change.c->attention, attention);
            assert_int_equal(change.c->armed, armed);
        }
    change_close(&change);
}

// FIN-WAIT-2 is left in time by itself when the user is gone: its deadline begins with the state.
static void fin_wait_2_has_a_deadline(void **state)
{
    struct change change;
    (void)state;
    change_open(&change);
    change_put(&change, WEIR_TCP_FIN_WAIT_1);
    change.c->attention |= ATTEND_CLOSED_BY_USER;
    tcp_set_state(change.t.weir, change.c, WEIR_TCP_FIN_WAIT_2);
    assert_true(change.c->armed >> TCP_TIMER_LONG & 1);
    change_close(&change);
}

static void every_state_has_its_name_and_nothing_else_has_one(void **state)
{
    (void)state;
    for (size_t i = 0; i < STATES; i++)
        assert_string_equal(weir_tcp_state_name(figure[i].state), figure[i].name);
    assert_string_equal(weir_tcp_state_name(WEIR_TCP_STATE_COUNT), "?");
    assert_string_equal(weir_tcp_state_name((enum weir_tcp_state)UINT32_MAX), "?");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_state_is_entered_along_the_figures_arrows_only),
        cmocka_unit_test(only_an_established_connection_needs_no_attention),
        cmocka_unit_test(a_change_that_may_not_be_touches_nothing),
        cmocka_unit_test(fin_wait_2_has_a_deadline),
        cmocka_unit_test(every_state_has_its_name_and_nothing_else_has_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
