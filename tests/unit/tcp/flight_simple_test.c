// SPDX-License-Identifier: BSD-2-Clause
// profiles: tiny
// The flight log of builds without SACK, against a model of one entry a byte.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tcp/flight.h"

#if !WEIR_CFG_TCP_SACK
#define MSS 100u
#define SPACE 4096u

static struct flight log_object, *f;

static void start_at(uint32_t start)
{
    f = &log_object;
    flight_init(f, 4, start);
}

static void one_segment_is_timed_at_a_time(void **state)
{
    (void)state;
    start_at(0xffffff80u);
    flight_sent(f, f->start + MSS, 1000);
    flight_sent(f, f->end + MSS, 2000);
    struct flight_delta delta = {0};
    flight_acked(f, f->start + MSS, &delta);
    assert_true(delta.rtt_valid);
    assert_int_equal(delta.rtt_sent_us, 1000);
    assert_int_equal(delta.delivered, MSS);
    flight_sent(f, f->end + MSS, 3000);
    delta = (struct flight_delta){0};
    flight_acked(f, f->end, &delta);
    assert_int_equal(delta.rtt_sent_us, 3000);
    assert_int_equal(flight_outstanding(f), 0);
}

static void karn_no_sample_across_a_retransmission(void **state)
{
    (void)state;
    start_at(0);
    flight_sent(f, MSS, 1000);
    struct flight_delta delta = {0};
    flight_lose_first(NULL, &f, MSS, &delta);
    flight_resent(NULL, &f, 0, MSS, 5000);
    flight_sent(f, 2 * MSS, 6000);
    flight_acked(f, 2 * MSS, &delta);
    assert_false(delta.rtt_valid);
    assert_true(delta.retransmitted_acked);
    delta = (struct flight_delta){0};
    flight_sent(f, 3 * MSS, 7000);
    flight_acked(f, 3 * MSS, &delta);
    assert_true(delta.rtt_valid);
    assert_false(delta.retransmitted_acked);
}

static void newreno_loses_one_segment_at_a_time(void **state)
{
    (void)state;
    start_at(0);
    flight_sent(f, 10 * MSS, 1000);
    struct flight_delta delta = {0};
    flight_lose_first(NULL, &f, MSS, &delta);
    flight_lose_first(NULL, &f, MSS, &delta);
    assert_int_equal(delta.newly_lost, MSS);
    assert_int_equal(flight_pipe(f), 9 * MSS);
    uint32_t start, end;
    assert_true(flight_next_lost(f, 0, &start, &end));
    assert_int_equal(start, 0);
    assert_int_equal(end, MSS);
    flight_resent(NULL, &f, 0, MSS, 2000);
    assert_false(flight_next_lost(f, 0, &start, &end));
    flight_acked(f, 3 * MSS, &delta);
    flight_lose_first(NULL, &f, MSS, &delta);
    assert_true(flight_next_lost(f, 0, &start, &end));
    assert_int_equal(start, 3 * MSS);
}

// Random lives; what is sent again is, as in src/tcp/output.c, the first LOST segment.
static void equals_the_model(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed < 300; seed++) {
        static uint8_t lost[SPACE], resent[SPACE];
        uint32_t una = 0, nxt = 0, random = seed, base = 0u - seed * 97u, now = 0;
        memset(lost, 0, sizeof lost);
        memset(resent, 0, sizeof resent);
        start_at(base);
        for (int i = 0; i < 300; i++) {
            random = random * 1664525u + 1013904223u;
            const uint32_t pick = random >> 8, what = pick % 8;
            struct flight_delta delta = {0};
            now += pick % 1000;
            if (what < 3 && nxt + 200 < SPACE) {
                nxt += 1 + pick / 8 % 200;
                flight_sent(f, base + nxt, now);
            } else if (what < 5) {
                const uint32_t to = una + pick / 8 % (nxt - una + 1);
                bool again = false;
                for (uint32_t b = una; b < to; b++)
                    again |= resent[b];
                flight_acked(f, base + to, &delta);
                assert_int_equal(delta.delivered, to - una);
                assert_int_equal(delta.retransmitted_acked, again);
                assert_false(again && delta.rtt_valid);
                una = to;
            } else if (what == 5) {
                const bool had = una < nxt && lost[una];
                uint32_t last = una;
                for (uint32_t b = una; b < nxt; b++)
                    last = lost[b] ? b + 1 : last;  // one range: what lies between is lost as well
                const uint32_t to = had ? una : max_u32(last, una + min_u32(MSS, nxt - una));
                for (uint32_t b = una; b < to; b++)
                    lost[b] = 1;
                flight_lose_first(NULL, &f, MSS, &delta);
            } else if (what == 6 && pick / 8 % 4 == 0) {
                memset(lost + una, 1, nxt - una);
                flight_lose_all(f);
            } else if (what == 7) {
                uint32_t start, end, first = una;
                while (first < nxt && !lost[first])
                    first++;
                assert_int_equal(flight_next_lost(f, base + una, &start, &end), first < nxt);
                if (first == nxt)
                    continue;
                assert_int_equal(start, base + first);
                end = seq_min(end, start + MSS);
                flight_resent(NULL, &f, start, end, now);
                for (uint32_t b = first; b < end - base; b++) {
                    lost[b] = 0;
                    resent[b] = 1;
                }
                for (uint32_t b = una; b < first; b++)  // all below counts as sent again
                    resent[b] = 1;
            }
            uint32_t bytes = 0;
            for (uint32_t b = una; b < nxt; b++)
                bytes += lost[b];
            assert_int_equal(f->lost, bytes);
            assert_int_equal(flight_end(f), base + nxt);
            assert_int_equal(f->start, base + una);
            assert_int_equal(flight_pipe(f), nxt - una - bytes);
        }
    }
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
#if !WEIR_CFG_TCP_SACK
        cmocka_unit_test(one_segment_is_timed_at_a_time),
        cmocka_unit_test(karn_no_sample_across_a_retransmission),
        cmocka_unit_test(newreno_loses_one_segment_at_a_time),
        cmocka_unit_test(equals_the_model),
#else
        {"only in builds without SACK", NULL, NULL, NULL, NULL},
#endif
    };
    return WEIR_CFG_TCP_SACK ? 0 : cmocka_run_group_tests(tests, NULL, NULL);
}
