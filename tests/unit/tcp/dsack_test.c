// SPDX-License-Identifier: BSD-2-Clause
// also without IPv4
// Duplicates, told and heard (RFC 2883). (Beside the other runs of a batch: sack_test.c.)
// profiles: small
#include "tcp/tcp_fixture.h"

#include "instance.h"
#include "tcp/internal.h"

#define MSS 1460u

static const struct tcp_fixture_options with_sack = {.sack = true};

static void duplicates_are_reported_once(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &with_sack);
    peer_data(&t, 0, 100);
    peer_drain(&t);
    peer_data(&t, 0, 100);  // RFC 2883: below the cumulative ACK
    peer_expect(&t, TCP_ACK, 0, 100, 0);
    assert_int_equal(t.got.options.sack_count, 1);
    assert_block(&t, 0, 0, 100);
    peer_data(&t, 200, 100);
    peer_expect(&t, TCP_ACK, 0, 100, 0);
    assert_int_equal(t.got.options.sack_count, 1);
    assert_block(&t, 0, 200, 300);
    peer_data(&t, 220, 50);  // within what is held
    peer_expect(&t, TCP_ACK, 0, 100, 0);
    assert_int_equal(t.got.options.sack_count, 2);
    assert_block(&t, 0, 220, 270);
    assert_block(&t, 1, 200, 300);
    tcp_fixture_close(&t);
}

// The interface takes no frames for longer than an idle connection keeps what it does not need: the report is needed.
static void a_duplicate_is_reported_however_late(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &with_sack);
    peer_data(&t, 0, 100);
    peer_drain(&t);
    user_read(&t, 0, 100);
    t.f.block_tx = true;
    peer_data(&t, 0, 100);
    fixture_poll(&t.f, 10000000);
    peer_expect_nothing(&t);
    fixture_unblock(&t.f, 0);
    peer_expect(&t, TCP_ACK, 0, 100, 0);
    assert_int_equal(t.got.options.sack_count, 1);
    assert_block(&t, 0, 0, 100);
    tcp_fixture_close(&t);
}

// However many reports a batch asks for, each an ACK of its own: the last one, which tells what the reader has made
// room for meanwhile, is not overtaken by those before. (An older window after a newer would be a window taken back.)
static void reports_leave_in_order(void **state)
{
    enum { DUPLICATES = WEIR_CFG_ALLOCATOR ? 400 : 10 };
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &with_sack);
    for (uint32_t at = 0; at < 3000; at += 1000)
        peer_data(&t, at, 1000);
    peer_drain(&t);
    batch_begin(&t);
    for (uint32_t i = 0; i < DUPLICATES; i++)
        peer_data(&t, 0, 100 + i);
    user_read(&t, 0, 3000);
    peer_expect_nothing(&t);
    batch_end(&t);
    uint32_t reports = 0;
    for (uint32_t edge = 0; peer_has_more(&t); reports++) {
        peer_expect(&t, TCP_ACK, 0, 3000, 0);
        assert_block(&t, 0, 0, 100 + reports);
        assert_true(t.got.window >= edge);
        edge = t.got.window;
    }
    assert_int_equal(reports, DUPLICATES);
    tcp_fixture_close(&t);
}

// A duplicate's report is no news of what arrived (RFC 2883 §4).
static void a_dsack_acknowledges_nothing(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &with_sack);
    user_write(&t, 0, 4 * MSS);
    peer_drain(&t);
    peer_send(&t, TCP_ACK, 0, MSS);
    peer_sack(&t, MSS, 1, (uint32_t[]){0, MSS});
    assert_int_equal(tcp_fixture_conn(&t)->flow->flight->sacked, 0);
    peer_sack(&t, MSS, 2, (uint32_t[]){2 * MSS, 2 * MSS + 100, 2 * MSS, 3 * MSS});
    assert_int_equal(tcp_fixture_conn(&t)->flow->flight->sacked, MSS);
    tcp_fixture_close(&t);
}

// Nor are three of them three duplicates (RFC 6675 §2): the network, or a timeout, sent twice what came, and what is
// only late is waited for.
static void three_dsacks_are_no_loss(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &with_sack);
    tcp_fixture_conn(&t)->rtt = (struct rtt){.min_us = 20000, .srtt8_us = 160000, .floor_us = 200000};
    user_write(&t, 0, 3 * MSS);
    peer_drain(&t);
    peer_pass(&t, 20000);
    peer_send(&t, TCP_ACK, 0, 3 * MSS);
    user_write(&t, 3 * MSS, 4 * MSS);
    peer_drain(&t);
    peer_pass(&t, 20000);
    for (uint32_t i = 0; i < 3; i++)
        peer_sack(&t, 3 * MSS, 1, (uint32_t[]){i * MSS, (i + 1) * MSS});
    peer_sack(&t, 3 * MSS, 1, (uint32_t[]){4 * MSS, 5 * MSS});
    peer_expect_nothing(&t);
    assert_int_equal(fixture_count(&t.f, WEIR_COUNT_TCP_FAST_RECOVERY), 0);
    tcp_fixture_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(duplicates_are_reported_once), cmocka_unit_test(a_duplicate_is_reported_however_late),
        cmocka_unit_test(reports_leave_in_order),       cmocka_unit_test(a_dsack_acknowledges_nothing),
        cmocka_unit_test(three_dsacks_are_no_loss),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
