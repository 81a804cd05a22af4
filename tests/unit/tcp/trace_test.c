// SPDX-License-Identifier: BSD-2-Clause
// also without IPv4
// Tracing (weir/trace.h): which events a connection's life has, and what levels keep back.
// needs IPv6 (the builds of both families have WEIR_CFG_TRACE)
#include "pair.h"

#include "weir/trace.h"

#define MOST 64u

struct seen {
    struct weir_tracer tracer;  // first
    uint32_t kinds[WEIR_TRACE_FRAME + 1];
    uint32_t frames_out, states, told, timers;
    const char *state[MOST], *congestion[MOST], *timer[MOST];
    struct weir_trace_event window;  // the last
    uint64_t now_us;                 // likewise
};

static void see(struct weir_tracer *tracer, const struct weir_trace_event *event)
{
    struct seen *seen = (struct seen *)(void *)tracer;
    seen->kinds[event->kind]++;
    assert_true(event->now_us >= seen->now_us);
    seen->now_us = event->now_us;
    assert_true((event->kind == WEIR_TRACE_FRAME) == (event->netif != NULL));
    if (event->kind == WEIR_TRACE_FRAME && !strcmp(event->what, "out"))
        seen->frames_out++;
    else if (event->kind == WEIR_TRACE_STATE && seen->states < MOST)
        seen->state[seen->states++] = event->what;
    else if (event->kind == WEIR_TRACE_CONGESTION && seen->told < MOST)
        seen->congestion[seen->told++] = event->what;
    else if (event->kind == WEIR_TRACE_TIMER && seen->timers < MOST)
        seen->timer[seen->timers++] = event->what;
    else if (event->kind == WEIR_TRACE_WINDOW)
        seen->window = *event;
}

static bool has(const char *const *list, uint32_t count, const char *what)
{
    while (count && strcmp(list[count - 1], what) != 0)
        count--;
    return count != 0;
}

static void seen_set(struct seen *seen, struct weir *weir, enum weir_trace_level level)
{
    *seen = (struct seen){.tracer = {.event = see, .level = level}};
    assert_int_equal(weir_trace_set(weir, &seen->tracer), WEIR_OK);
}

static void send_all(struct pair *p, weir_socket from, weir_socket to, uint32_t bytes)
{
    struct pair_transfer data = {.pair = p, .from = from, .to = to, .bytes = bytes};
    assert_true(pair_run_until(p, pair_transfer, &data, 100000000));
}

static void a_life_is_told_in_order(void **state)
{
    static const char *const states[] = {"SYN-SENT", "ESTABLISHED", "FIN-WAIT-1", "FIN-WAIT-2", "TIME-WAIT"};
    struct pair p;
    struct seen seen;
    weir_socket client, server;
    (void)state;
    pair_open(&p, &(struct pair_options){.link = {.delay_us = 5000}, .seed = 1});
    seen_set(&seen, p.a.weir, WEIR_TRACE_FRAMES);
    const uint64_t before = p.a.netif.stats.tx_frames;
    pair_connect(&p, 80, &client, &server);
    send_all(&p, client, server, 100000);
    weir_socket_close(p.a.weir, client);
    pair_run(&p, 100000);
    weir_socket_close(p.b.weir, server);
    pair_run(&p, 100000);
    assert_int_equal(seen.states, sizeof states / sizeof states[0]);
    for (uint32_t i = 0; i < seen.states; i++)
        assert_string_equal(seen.state[i], states[i]);
    assert_true(has(seen.congestion, seen.told, "begin"));
    assert_int_equal(seen.window.peer.port, 80);
    assert_true(weir_addr_equal(seen.window.local.addr, PAIR_A) && weir_addr_equal(seen.window.peer.addr, PAIR_B));
    assert_in_range(seen.window.srtt_us, 10000, 1000000);
    assert_int_not_equal(seen.window.cwnd, 0);
    assert_int_equal(seen.frames_out, p.a.netif.stats.tx_frames - before);
    pair_close(&p);
}

static void losses_and_timers_are_told(void **state)
{
    struct pair p;
    struct seen seen;
    weir_socket client, server;
    (void)state;
    pair_open(&p, &(struct pair_options){.link = {.delay_us = 5000, .loss_ppm = 50000}, .seed = 3});
    pair_connect(&p, 80, &client, &server);
    seen_set(&seen, p.a.weir, WEIR_TRACE_EVENTS);
    send_all(&p, client, server, 400000);
    assert_true(has(seen.congestion, seen.told, "loss") && has(seen.congestion, seen.told, "recovered"));
    assert_int_not_equal(seen.timers, 0);
    assert_int_equal(seen.kinds[WEIR_TRACE_WINDOW] + seen.kinds[WEIR_TRACE_FRAME], 0);  // above the level
    pair_close(&p);
}

// A port whose clock is another for each processor: what the instance is told goes back and forth. No event's time
// does.
static void times_never_go_back(void **state)
{
    struct pair p;
    struct seen seen;
    weir_socket client, server;
    (void)state;
    pair_open(&p, &(struct pair_options){.link = {.delay_us = 5000}, .seed = 1});
    seen_set(&seen, p.a.weir, WEIR_TRACE_FRAMES);
    pair_connect(&p, 80, &client, &server);
    for (uint32_t i = 0; i < 20; i++) {
        const uint64_t told_us = weir_now_us(p.a.weir);
        assert_int_equal(weir_socket_write(p.a.weir, client, "x", 1), 1);
        (void)weir_poll(p.a.weir, told_us - 700 * i);
        assert_true(seen.now_us <= told_us && weir_now_us(p.a.weir) == told_us);
        pair_run(&p, 50000);
        assert_true(seen.now_us > told_us);  // there was something to tell
    }
    pair_close(&p);
}

static void nobody_is_told_without_a_tracer(void **state)
{
    struct pair p;
    struct seen seen;
    weir_socket client, server;
    (void)state;
    pair_open(&p, &(struct pair_options){.seed = 1});
    seen_set(&seen, p.a.weir, WEIR_TRACE_FRAMES);
    assert_int_equal(weir_trace_set(p.a.weir, NULL), WEIR_OK);
    pair_connect(&p, 80, &client, &server);
    for (uint32_t kind = 0; kind <= WEIR_TRACE_FRAME; kind++)
        assert_int_equal(seen.kinds[kind], 0);
    pair_close(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_life_is_told_in_order),
        cmocka_unit_test(losses_and_timers_are_told),
        cmocka_unit_test(times_never_go_back),
        cmocka_unit_test(nobody_is_told_without_a_tracer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
