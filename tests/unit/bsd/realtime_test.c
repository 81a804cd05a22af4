// SPDX-License-Identifier: BSD-2-Clause
// not on mips: real time, eventfd and ppoll under emulation
// Frames over BSD sockets: the call waits for a frame, until its deadline and no longer.
#include "world.h"

#include <string.h>

#include "api/bsd/weir_realtime.h"

#define FRAME 100

static int client, server;
static char frame[FRAME];
static struct weir_realtime_frame about;

// Returns when the first frame is due.
static uint64_t open_frames(struct world *w, uint32_t first_ms)
{
    struct weir_realtime settings = {.mode = WEIR_REALTIME_WEIR, .frame_bytes = FRAME, .period_us = 20000};
    world_open(w, false, NULL);
    world_streams(w, w, LOCALHOST, 9000, &client, &server);
    settings.first_us = weir_now_us(w->weir) + first_ms * 1000;
    assert_int_equal(bsd_setsockopt(w->bsd, server, WEIR_IPPROTO_TCP, WEIR_TCP_REALTIME, &settings, sizeof settings),
                     0);
    return settings.first_us;
}

static void a_frame_ends_the_wait_or_its_deadline_does(void **state)
{
    struct world w;
    (void)state;
    const uint64_t first_us = open_frames(&w, 500);
    memset(frame, 7, sizeof frame);
    assert_int_equal(bsd_write(w.bsd, client, frame, FRAME), FRAME);
    memset(frame, 0, sizeof frame);
    assert_int_equal(bsd_recv_frame(w.bsd, server, frame, sizeof frame, 0, &about), FRAME);
    assert_int_equal(frame[FRAME - 1], 7);
    assert_false(about.late);
    assert_errno(bsd_recv_frame(w.bsd, server, frame, sizeof frame, WEIR_MSG_DONTWAIT, NULL), EAGAIN);
    assert_errno(bsd_recv_frame(w.bsd, server, frame, sizeof frame, 0, &about), ETIME);
    assert_in_range(weir_now_us(w.weir), first_us + 20000, first_us + 5000000);
    assert_int_equal(about.number, 1);
    assert_int_equal(about.missing, FRAME);
    world_close(&w);
}

static void the_end_and_the_statistics(void **state)
{
    struct world w;
    struct weir_realtime_stats stats;
    struct weir_realtime settings;
    weir_socklen length = sizeof stats;
    (void)state;
    (void)open_frames(&w, 100000);
    assert_int_equal(bsd_write(w.bsd, client, frame, FRAME), FRAME);
    assert_int_equal(bsd_write(w.bsd, client, frame, FRAME / 2), FRAME / 2);
    assert_int_equal(bsd_shutdown(w.bsd, client, WEIR_SHUT_WR), 0);
    assert_int_equal(bsd_recv_frame(w.bsd, server, frame, sizeof frame, 0, NULL), FRAME);
    assert_int_equal(bsd_recv_frame(w.bsd, server, frame, sizeof frame, 0, NULL), FRAME / 2);
    assert_int_equal(bsd_recv_frame(w.bsd, server, frame, sizeof frame, 0, NULL), 0);
    assert_int_equal(bsd_getsockopt(w.bsd, server, WEIR_IPPROTO_TCP, WEIR_TCP_REALTIME_STATS, &stats, &length), 0);
    assert_int_equal(length, sizeof stats);
    assert_int_equal(stats.met, 2);
    length = sizeof settings;
    assert_int_equal(bsd_getsockopt(w.bsd, server, WEIR_IPPROTO_TCP, WEIR_TCP_REALTIME, &settings, &length), 0);
    assert_int_equal(settings.frame_bytes, FRAME);
    world_close(&w);
}

static void what_it_is_not_for(void **state)
{
    struct world w;
    const struct weir_realtime bad = {.mode = WEIR_REALTIME_WEIR};
    const struct weir_timeval time = {0, 20000};
    (void)state;
    world_open(&w, false, NULL);
    world_streams(&w, &w, LOCALHOST, 9000, &client, &server);
    assert_errno(bsd_recv_frame(w.bsd, server, frame, sizeof frame, 0, NULL), EOPNOTSUPP);
    assert_errno(bsd_recv_frame(w.bsd, 77, frame, sizeof frame, 0, NULL), EBADF);
    assert_errno(bsd_setsockopt(w.bsd, server, WEIR_IPPROTO_TCP, WEIR_TCP_REALTIME, &bad, sizeof bad), EINVAL);
    assert_errno(bsd_setsockopt(w.bsd, server, WEIR_IPPROTO_TCP, WEIR_TCP_REALTIME, &bad, 4), EINVAL);
    const struct weir_realtime endless = {.mode = WEIR_REALTIME_WEIR, .frame_bytes = FRAME};
    assert_int_equal(bsd_setsockopt(w.bsd, server, WEIR_IPPROTO_TCP, WEIR_TCP_REALTIME, &endless, sizeof endless), 0);
    assert_int_equal(bsd_setsockopt(w.bsd, server, WEIR_SOL_SOCKET, WEIR_SO_RCVTIMEO, &time, sizeof time), 0);
    // no deadline: the timeout ends it
    assert_errno(bsd_recv_frame(w.bsd, server, frame, sizeof frame, 0, NULL), EAGAIN);
    world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_frame_ends_the_wait_or_its_deadline_does),
        cmocka_unit_test(the_end_and_the_statistics),
        cmocka_unit_test(what_it_is_not_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
