// SPDX-License-Identifier: BSD-2-Clause
// also without IPv4
// A source to a player: each frame when it is due, by every way there is.
#include "apps/rtstream/stream.h"

static void each_frame_comes_when_it_is_due(void **state)
{
    static const enum rtstream_over overs[] = {RTSTREAM_REALTIME, RTSTREAM_TCP, RTSTREAM_RTP, RTSTREAM_RTP};
    static struct stream s;
    (void)state;
    for (int i = 0; i < 4; i++) {
        stream_open(&s, 160);
        const struct weir_endpoint here = bench_here(PORT);
        struct rtstream_options options = {
            .over = overs[i], .frame_bytes = 160, .period_us = PERIOD_US, .within_us = 40000};
        options.start_us = s.bench.f.now_us + 100000;
        if (overs[i] == RTSTREAM_RTP)  // there is no end of a stream to see
            options.frames = FRAMES;
        if (overs[i] != RTSTREAM_RTP)
            assert_int_equal(rtstream_source_start(&s.source, &s.bench.loop, &here, &options, false), WEIR_OK);
        assert_int_equal(rtstream_player_start(&s.player, &s.bench.loop, &here, &options), WEIR_OK);
        if (overs[i] == RTSTREAM_RTP)
            assert_int_equal(rtstream_source_start(&s.source, &s.bench.loop, &here, &options, i == 3), WEIR_OK);
        bench_run(&s.bench, 100000 + (FRAMES + 5) * PERIOD_US);
        assert_true(s.source_done);
        assert_null(s.source_error);
        assert_int_equal(s.told, FRAMES);
        assert_int_equal(s.wrong, 0);
        assert_int_equal(s.player.counts[RTSTREAM_MET], FRAMES);
        for (uint32_t n = 0; n < FRAMES; n++)
            assert_in_range(s.told_us[n], options.start_us + n * PERIOD_US, options.start_us + n * PERIOD_US + 2000);
        assert_true(s.player_done);
        assert_null(s.player_error);
        stream_close(&s);
    }
}

// A file is not sent by the clock: the player's buffer is the limit.
static void a_stored_stream_goes_as_fast_as_there_is_room(void **state)
{
    static struct stream s;
    (void)state;
    stream_open(&s, 2048);
    const struct weir_endpoint here = bench_here(PORT);
    const struct rtstream_options options = {
        .frame_bytes = 2048, .period_us = 250000, .within_us = 500000, .buffer_bytes = 4096, .stored = true};
    assert_int_equal(rtstream_source_start(&s.source, &s.bench.loop, &here, &options, false), WEIR_OK);
    assert_int_equal(rtstream_player_start(&s.player, &s.bench.loop, &here, &options), WEIR_OK);
    bench_run(&s.bench, 1000000);
    assert_true(s.told < 5);
    assert_true(s.source.number >= s.told + 2);
    bench_run(&s.bench, (FRAMES + 4) * 250000ull);
    assert_int_equal(s.told, FRAMES);
    assert_int_equal(s.player.counts[RTSTREAM_MET], FRAMES);
    assert_int_equal(s.wrong, 0);
    stream_close(&s);
}

static void a_player_that_goes_ends_the_source(void **state)
{
    static struct stream s;
    (void)state;
    stream_open(&s, 160);
    const struct weir_endpoint here = bench_here(PORT);
    const struct rtstream_options options = {.frame_bytes = 160, .period_us = PERIOD_US, .within_us = 40000};
    assert_int_equal(rtstream_source_start(&s.source, &s.bench.loop, &here, &options, false), WEIR_OK);
    assert_int_equal(rtstream_player_start(&s.player, &s.bench.loop, &here, &options), WEIR_OK);
    bench_run(&s.bench, 5 * PERIOD_US);
    rtstream_player_stop(&s.player);
    bench_run(&s.bench, 20 * PERIOD_US);
    assert_true(s.source_done);
    assert_non_null(s.source_error);
    stream_close(&s);
}

static void what_makes_no_sense_is_refused(void **state)
{
    static struct stream s;
    (void)state;
    stream_open(&s, 160);
    const struct weir_endpoint here = bench_here(PORT);
    struct rtstream_options options = {.frame_bytes = RTSTREAM_FRAME_MOST + 1, .period_us = PERIOD_US};
    assert_int_equal(rtstream_source_start(&s.source, &s.bench.loop, &here, &options, false), WEIR_INVALID);
    assert_int_equal(rtstream_player_start(&s.player, &s.bench.loop, &here, &options), WEIR_INVALID);
    options = (struct rtstream_options){.frame_bytes = 160};
    assert_int_equal(rtstream_source_start(&s.source, &s.bench.loop, &here, &options, false), WEIR_INVALID);
    assert_int_equal(rtstream_player_start(&s.player, &s.bench.loop, &here, &options), WEIR_INVALID);
    stream_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_frame_comes_when_it_is_due),
        cmocka_unit_test(a_stored_stream_goes_as_fast_as_there_is_room),
        cmocka_unit_test(a_player_that_goes_ends_the_source),
        cmocka_unit_test(what_makes_no_sense_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
