// SPDX-License-Identifier: BSD-2-Clause
// also without IPv4
// profiles: tiny small
// What holds for every algorithm that is built in, whatever samples and events come: the seed of a failure is told.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cc/common.h"
#include "weir/cc.h"

#define GUARD 0xa5
#define SEEDS 60u
#define STEPS 3000u

static struct {
    _Alignas(8) uint8_t state[WEIR_CC_STATE_MAX + 64];
    struct weir_cc_window window;
    uint64_t random;
    uint32_t now_us, mss, delivered, lost;
    bool recovering, may_undo;
} w;

static uint32_t any(uint32_t below)
{
    w.random ^= w.random << 13;
    w.random ^= w.random >> 7;
    w.random ^= w.random << 17;
    return (uint32_t)(w.random >> 20) % below;
}

// Of every size: small ones as likely as large ones.
static uint32_t any_size(uint32_t bits)
{
    return (uint32_t)((UINT64_C(1) << any(bits + 1)) - 1) & (uint32_t)(w.random >> 13);
}

static struct weir_cc_sample any_sample(void)
{
    const uint32_t window = w.window.cwnd ? w.window.cwnd : 1;
    struct weir_cc_sample s = {.mss = w.mss, .min_rtt_us = WEIR_CC_UNLIMITED};
    w.now_us += any(50) ? any_size(16) : any_size(32);
    s.now_us = w.now_us;
    s.prior_inflight = any(4) ? window : any_size(30);
    s.acked = any(8) ? min_u32(s.prior_inflight, (1 + any(20)) * w.mss) : any(2) ? s.prior_inflight : 0;
    s.acked_again = any(6) ? 0 : any(1 + s.acked);
    s.sacked = any(4) ? 0 : any(1 + s.prior_inflight - s.acked);
    s.lost = any(8) ? 0 : any(1 + s.prior_inflight - s.acked - s.sacked);
    s.inflight = s.prior_inflight - s.acked - s.sacked - s.lost;
    s.acked_segments = (uint16_t)min_u32((s.acked + w.mss - 1) / w.mss, UINT16_MAX);
    if (any(10)) {
        s.rtt_us = any(6) ? 1 + any_size(18) : any_size(28);
        s.srtt_us = any(6) ? 1 + any_size(18) : any_size(28);
        s.min_rtt_us = any(6) ? min_u32(s.rtt_us, s.srtt_us) : 0;  // 0: shorter than the clock can tell
    }
    s.cwnd_limited = any(4) != 0;
    s.app_limited = !s.cwnd_limited;
    s.in_recovery = w.recovering;
    s.round_start = any(10) == 0;
    s.delivered = s.acked + s.sacked;
    s.interval_us = any(8) ? any_size(20) : 0;
    s.total_delivered = w.delivered += s.acked + s.sacked;
    s.prior_delivered = w.delivered - s.delivered;
    s.total_lost = w.lost += s.lost;
    s.tx_inflight = s.prior_inflight;
    return s;
}

static void check(const struct weir_cc *cc, uint32_t seed, uint32_t step, const char *after)
{
    if (w.window.cwnd == 0 || w.window.cwnd > CC_WINDOW_MAX || w.window.ssthresh == 0)
        fail_msg("%s, seed %u, step %u, after %s: cwnd %u, ssthresh %u", cc->name, seed, step, after, w.window.cwnd,
                 w.window.ssthresh);
    for (size_t i = cc->state_bytes; i < sizeof w.state; i++)
        if (w.state[i] != GUARD)
            fail_msg("%s, seed %u, step %u, after %s: state written at byte %zu of %u", cc->name, seed, step, after, i,
                     cc->state_bytes);
}

// An event that may come now, with what TCP does to the window beside it.
static enum weir_cc_event any_event(struct weir_cc_sample *s)
{
    const enum weir_cc_event events[] = {WEIR_CC_ENTER_RECOVERY, WEIR_CC_EXIT_RECOVERY, WEIR_CC_RTO,
                                         WEIR_CC_UNDO,           WEIR_CC_IDLE_RESTART,  WEIR_CC_ECN,
                                         WEIR_CC_EXIT_SLOW_START};
    enum weir_cc_event event = events[any(7)];
    if (event == WEIR_CC_EXIT_RECOVERY && !w.recovering)
        event = WEIR_CC_ENTER_RECOVERY;
    if (event == WEIR_CC_ENTER_RECOVERY && w.recovering)
        event = WEIR_CC_EXIT_RECOVERY;
    if (event == WEIR_CC_UNDO && !w.may_undo)
        event = WEIR_CC_ECN;
    s->prior_inflight = s->inflight;
    s->acked = s->sacked = s->lost = s->rtt_us = s->acked_segments = 0;
    return event;
}

static void tell(const struct weir_cc *cc, uint32_t seed, uint32_t step)
{
    struct weir_cc_sample s = any_sample();
    const enum weir_cc_event event = any_event(&s);
    const struct weir_cc_window before = w.window;
    cc->event(w.state, event, &s, &w.window);
    check(cc, seed, step, "an event");
    const bool reduces = event == WEIR_CC_ENTER_RECOVERY || event == WEIR_CC_RTO || event == WEIR_CC_ECN;
    if (reduces && !cc->owns_recovery && w.window.ssthresh < 2 * w.mss)
        fail_msg("%s, seed %u, step %u: ssthresh %u after a loss, mss %u", cc->name, seed, step, w.window.ssthresh,
                 w.mss);
    if (event == WEIR_CC_RTO && !cc->owns_recovery && w.window.cwnd != w.mss)
        fail_msg("%s, seed %u, step %u: cwnd %u after a timeout, mss %u", cc->name, seed, step, w.window.cwnd, w.mss);
    if (event == WEIR_CC_UNDO && w.window.cwnd < before.cwnd)
        fail_msg("%s, seed %u, step %u: cwnd %u after undo, %u before", cc->name, seed, step, w.window.cwnd,
                 before.cwnd);
    w.recovering =
        event == WEIR_CC_ENTER_RECOVERY || (w.recovering && event != WEIR_CC_EXIT_RECOVERY && event != WEIR_CC_RTO);
    w.may_undo = reduces || (w.may_undo && event != WEIR_CC_UNDO);
}

static void begin(const struct weir_cc *cc)
{
    memset(w.state, GUARD, sizeof w.state);
    memset(w.state, 0, cc->state_bytes);
    struct weir_cc_sample s = any_sample();
    s.acked = s.acked_again = s.sacked = s.lost = s.rtt_us = s.acked_segments = 0;
    cc->event(w.state, WEIR_CC_INIT, &s, &w.window);
}

static void acknowledge(const struct weir_cc *cc, uint32_t seed, uint32_t step)
{
    const struct weir_cc_sample s = any_sample();
    const struct weir_cc_window before = w.window;
    cc->ack(w.state, &s, &w.window);
    check(cc, seed, step, "an acknowledgement");
    if (cc->owns_recovery)
        return;
    if (s.in_recovery && (before.cwnd != w.window.cwnd || before.ssthresh != w.window.ssthresh))
        fail_msg("%s, seed %u, step %u: the window changed in recovery", cc->name, seed, step);
    if (w.window.cwnd > before.cwnd &&
        (!s.cwnd_limited || w.window.cwnd - before.cwnd > s.acked + 4 * w.mss + before.cwnd / 2))
        fail_msg("%s, seed %u, step %u: cwnd %u to %u, %u acknowledged", cc->name, seed, step, before.cwnd,
                 w.window.cwnd, s.acked);
}

static void no_sequence_of_samples_and_events_breaks_an_algorithm(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= SEEDS; seed++) {
        for (const struct weir_cc *const *cc = weir_cc_list; *cc != NULL; cc++) {
            memset(&w, 0, sizeof w);
            w.random = seed * 0x9e3779b97f4a7c15u;
            w.now_us = any_size(32);
            w.mss = any(3) ? 1 + any_size(15) : any(2) ? 65535 : 1;
            begin(*cc);
            for (uint32_t step = 0; step < STEPS; step++) {
                if (any(40))
                    acknowledge(*cc, seed, step);
                else
                    tell(*cc, seed, step);
                if (any(700) == 0)  // the path's MTU changed
                    w.mss = 1 + any_size(15);
                if (any(900) == 0)  // PRR and timeouts set it too
                    w.window.cwnd = w.mss;
            }
        }
    }
}

// From each to each other on a live connection: what the path taught stays, and the new one can go on from there.
static void a_live_switch_takes_the_window_over(void **state)
{
    (void)state;
    for (const struct weir_cc *const *from = weir_cc_list; *from != NULL; from++) {
        for (const struct weir_cc *const *to = weir_cc_list; *to != NULL; to++) {
            memset(&w, 0, sizeof w);
            w.random = 88172645463325252u;
            w.mss = 1448;
            begin(*from);
            for (uint32_t step = 0; step < 500; step++)
                acknowledge(*from, 0, step);
            (*from)->event(w.state, WEIR_CC_ENTER_RECOVERY,
                           &(struct weir_cc_sample){.mss = 1448, .inflight = 100 * 1448}, &w.window);
            (*from)->event(w.state, WEIR_CC_EXIT_RECOVERY,
                           &(struct weir_cc_sample){.mss = 1448, .inflight = 100 * 1448}, &w.window);
            w.window.cwnd = 100 * 1448;
            const struct weir_cc_window before = w.window;
            begin(*to);
            assert_int_equal(w.window.cwnd, before.cwnd);
            if (!(*to)->owns_recovery) {
                assert_int_equal(w.window.ssthresh, before.ssthresh);
                assert_int_equal(w.window.pacing_rate, 0);
            }
            for (uint32_t step = 0; step < 500; step++)
                acknowledge(*to, 0, step);
            assert_true(w.window.cwnd >= 2 * 1448);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_sequence_of_samples_and_events_breaks_an_algorithm),
        cmocka_unit_test(a_live_switch_takes_the_window_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
