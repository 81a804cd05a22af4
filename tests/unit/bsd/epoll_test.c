// SPDX-License-Identifier: BSD-2-Clause
// not lean: it has no wait sets
// not on mips: real time, eventfd and ppoll under emulation
#include "world.h"

#include <string.h>

static int client, server, set;

static void open_set(struct world *w)
{
    world_open(w, false, NULL);
    world_streams(w, w, LOCALHOST, 9400, &client, &server);
    set = bsd_epoll_create(w->bsd);
    assert_true(set >= 0);
}

static int control(struct world *w, int operation, int fd, uint32_t events, uint64_t data)
{
    const struct weir_epoll_event event = {events, {.u64 = data}};
    return bsd_epoll_ctl(w->bsd, set, operation, fd, &event);
}

static int wait_for(struct world *w, struct weir_epoll_event *out, int timeout_ms)
{
    return bsd_epoll_wait(w->bsd, set, out, 8, timeout_ms);
}

static void level_triggered_until_read(void **state)
{
    struct world w;
    struct weir_epoll_event events[8];
    char text[8];
    (void)state;
    open_set(&w);
    assert_int_equal(control(&w, WEIR_EPOLL_CTL_ADD, server, WEIR_EPOLLIN, 42), 0);
    assert_int_equal(wait_for(&w, events, 0), 0);
    bsd_send(w.bsd, client, "ab", 2, 0);
    for (int again = 0; again < 3; again++) {
        assert_int_equal(wait_for(&w, events, 1000), 1);
        assert_int_equal(events[0].events, WEIR_EPOLLIN);
        assert_int_equal(events[0].data.u64, 42);
    }
    assert_int_equal(bsd_recv(w.bsd, server, text, 8, 0), 2);
    assert_int_equal(wait_for(&w, events, 5), 0);
    bsd_send(w.bsd, client, "c", 1, 0);
    assert_int_equal(wait_for(&w, events, 1000), 1);
    world_close(&w);
}

static void edge_triggered_once_for_each_arrival(void **state)
{
    struct world w;
    struct weir_epoll_event events[8];
    (void)state;
    open_set(&w);
    bsd_send(w.bsd, client, "0", 1, 0);
    assert_int_equal(control(&w, WEIR_EPOLL_CTL_ADD, server, WEIR_EPOLLIN | WEIR_EPOLLET, 1), 0);
    assert_int_equal(wait_for(&w, events, 1000), 1);  // what was there when it was added
    assert_int_equal(wait_for(&w, events, 5), 0);
    bsd_send(w.bsd, client, "1", 1, 0);
    assert_int_equal(wait_for(&w, events, 1000), 1);
    assert_int_equal(wait_for(&w, events, 5), 0);  // though unread
    world_close(&w);
}

static void one_shot_until_armed_again(void **state)
{
    struct world w;
    struct weir_epoll_event events[8];
    (void)state;
    open_set(&w);
    assert_int_equal(control(&w, WEIR_EPOLL_CTL_ADD, server, WEIR_EPOLLIN | WEIR_EPOLLONESHOT, 1), 0);
    bsd_send(w.bsd, client, "0", 1, 0);
    assert_int_equal(wait_for(&w, events, 1000), 1);
    bsd_send(w.bsd, client, "1", 1, 0);
    assert_int_equal(wait_for(&w, events, 5), 0);
    assert_int_equal(control(&w, WEIR_EPOLL_CTL_MOD, server, WEIR_EPOLLIN | WEIR_EPOLLONESHOT, 2), 0);
    assert_int_equal(wait_for(&w, events, 5), 1);
    assert_int_equal(events[0].data.u64, 2);
    world_close(&w);
}

static void several_files_in_turn(void **state)
{
    enum { COUNT = 20 };
    struct world w;
    struct weir_epoll_event events[8];
    bool seen[COUNT] = {false};
    (void)state;
    open_set(&w);
    for (int i = 0; i < COUNT; i++) {
        const int fd = bsd_socket(w.bsd, WEIR_AF_INET, WEIR_SOCK_DGRAM, 0);
        assert_int_equal(control(&w, WEIR_EPOLL_CTL_ADD, fd, WEIR_EPOLLOUT, (uint64_t)i), 0);
    }
    for (int left = COUNT, rounds = 0; left; rounds++) {  // level-triggered ones go to the end: all get their turn
        assert_true(rounds < 10);
        const int found = wait_for(&w, events, 0);
        for (int i = 0; i < found; i++) {
            left -= !seen[events[i].data.u64];
            seen[events[i].data.u64] = true;
        }
    }
    world_close(&w);
}

static void wrong_use(void **state)
{
    struct world w;
    struct weir_epoll_event events[8];
    (void)state;
    open_set(&w);
    assert_errno(control(&w, WEIR_EPOLL_CTL_MOD, server, WEIR_EPOLLIN, 0), ENOENT);
    assert_errno(control(&w, WEIR_EPOLL_CTL_DEL, server, 0, 0), ENOENT);
    assert_int_equal(control(&w, WEIR_EPOLL_CTL_ADD, server, WEIR_EPOLLIN, 0), 0);
    assert_errno(control(&w, WEIR_EPOLL_CTL_ADD, server, WEIR_EPOLLIN, 0), EEXIST);
    assert_errno(control(&w, 9, server, WEIR_EPOLLIN, 0), EINVAL);
    assert_errno(control(&w, WEIR_EPOLL_CTL_ADD, 99, WEIR_EPOLLIN, 0), EBADF);
    assert_errno(control(&w, WEIR_EPOLL_CTL_ADD, set, WEIR_EPOLLIN, 0), EINVAL);
    assert_errno(bsd_epoll_wait(w.bsd, client, events, 8, 0), EINVAL);
    assert_errno(bsd_epoll_wait(w.bsd, 99, events, 8, 0), EBADF);
    assert_errno(bsd_epoll_wait(w.bsd, set, events, 0, 0), EINVAL);
    assert_errno(bsd_recv(w.bsd, set, events, 1, 0), ENOTSOCK);
    world_close(&w);
}

static void closing_takes_out(void **state)
{
    struct world w;
    struct weir_epoll_event events[8];
    (void)state;
    open_set(&w);
    assert_int_equal(control(&w, WEIR_EPOLL_CTL_ADD, server, WEIR_EPOLLIN | WEIR_EPOLLOUT, 1), 0);
    assert_int_equal(wait_for(&w, events, 0), 1);
    assert_int_equal(bsd_close(w.bsd, server), 0);
    assert_int_equal(wait_for(&w, events, 5), 0);
    assert_int_equal(control(&w, WEIR_EPOLL_CTL_ADD, client, WEIR_EPOLLOUT, 1), 0);
    assert_int_equal(bsd_close(w.bsd, set), 0);
    assert_errno(wait_for(&w, events, 0), EBADF);
    world_close(&w);
}

static void a_set_can_be_polled(void **state)
{
    struct world w;
    (void)state;
    open_set(&w);
    struct weir_pollfd poll = {set, WEIR_POLLIN, 0};
    assert_int_equal(control(&w, WEIR_EPOLL_CTL_ADD, server, WEIR_EPOLLIN, 1), 0);
    assert_int_equal(bsd_poll(w.bsd, &poll, 1, 0), 0);
    bsd_send(w.bsd, client, "x", 1, 0);
    assert_int_equal(bsd_poll(w.bsd, &poll, 1, 1000), 1);
    assert_int_equal(poll.revents, WEIR_POLLIN);
    world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(level_triggered_until_read),
        cmocka_unit_test(edge_triggered_once_for_each_arrival),
        cmocka_unit_test(one_shot_until_armed_again),
        cmocka_unit_test(several_files_in_turn),
        cmocka_unit_test(wrong_use),
        cmocka_unit_test(closing_takes_out),
        cmocka_unit_test(a_set_can_be_polled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
