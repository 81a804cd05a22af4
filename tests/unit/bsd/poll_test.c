// SPDX-License-Identifier: BSD-2-Clause
// not lean: it has neither poll nor select
// not on mips: real time, eventfd and ppoll under emulation
#include "world.h"

#include <string.h>

static int client, server;

static void open_streams(struct world *w)
{
    world_open(w, false, NULL);
    world_streams(w, w, LOCALHOST, 9200, &client, &server);
}

static void poll_tells_levels(void **state)
{
    struct world w;
    char text[4];
    struct weir_pollfd fds[4];
    (void)state;
    open_streams(&w);
    const int listener = world_listener(&w, 9201);
    memset(fds, 0, sizeof fds);
    fds[0] = (struct weir_pollfd){client, WEIR_POLLIN | WEIR_POLLOUT, -1};
    fds[1] = (struct weir_pollfd){-5, WEIR_POLLIN, -1};
    fds[2] = (struct weir_pollfd){500, WEIR_POLLIN, -1};
    fds[3] = (struct weir_pollfd){listener, WEIR_POLLIN, -1};
    assert_int_equal(bsd_poll(w.bsd, fds, 4, 0), 2);
    assert_int_equal(fds[0].revents, WEIR_POLLOUT);
    assert_int_equal(fds[1].revents, 0);
    assert_int_equal(fds[2].revents, WEIR_POLLNVAL);
    assert_int_equal(fds[3].revents, 0);
    bsd_send(w.bsd, server, "data", 4, 0);
    assert_int_equal(bsd_poll(w.bsd, fds, 1, 1000), 1);
    fds[0].events = WEIR_POLLIN | WEIR_POLLRDNORM;
    assert_int_equal(bsd_poll(w.bsd, fds, 1, 1000), 1);
    assert_int_equal(fds[0].revents, WEIR_POLLIN | WEIR_POLLRDNORM);
    assert_int_equal(bsd_recv(w.bsd, client, text, 4, 0), 4);
    bsd_close(w.bsd, server);
    fds[0].events = WEIR_POLLIN | WEIR_POLLRDHUP;
    assert_int_equal(bsd_poll(w.bsd, fds, 1, 1000), 1);
    assert_true(fds[0].revents & WEIR_POLLRDHUP);
    world_close(&w);
}

static void poll_times_out(void **state)
{
    struct world w;
    (void)state;
    open_streams(&w);
    struct weir_pollfd fd = {client, WEIR_POLLIN, 0};
    const uint64_t before = posix_now_us();
    assert_int_equal(bsd_poll(w.bsd, &fd, 1, 20), 0);
    assert_in_range(posix_now_us() - before, 20000, 2000000);
    assert_int_equal(bsd_poll(w.bsd, NULL, 0, 1), 0);
    world_close(&w);
}

static void many_descriptors(void **state)
{
    enum { COUNT = 100 };
    struct world w;
    struct weir_pollfd fds[COUNT];
    struct weir_sockaddr_in to = world_address(LOCALHOST, 9300);
    (void)state;
    world_open(&w, false, NULL);
    for (int i = 0; i < COUNT; i++) {
        fds[i] = (struct weir_pollfd){bsd_socket(w.bsd, WEIR_AF_INET, WEIR_SOCK_DGRAM, 0), WEIR_POLLIN, 0};
        struct weir_sockaddr_in local = world_address(LOCALHOST, (uint16_t)(9300 + i));
        assert_int_equal(bsd_bind(w.bsd, fds[i].fd, ADDRESS(local)), 0);
    }
    assert_int_equal(bsd_poll(w.bsd, fds, COUNT, 5), 0);
    to.sin_port = weir_htons(9377);
    assert_int_equal(bsd_sendto(w.bsd, fds[3].fd, "x", 1, 0, ADDRESS(to)), 1);
    assert_int_equal(bsd_poll(w.bsd, fds, COUNT, 1000), 1);
    assert_int_equal(fds[77].revents, WEIR_POLLIN);
    world_close(&w);
}

static void select_tells_levels(void **state)
{
    struct world w;
    struct weir_fd_set read, write, except;
    struct weir_timeval zero = {0, 0}, second = {1, 0}, bad = {0, 1000000};
    (void)state;
    open_streams(&w);
    weir_fd_zero(&read);
    weir_fd_zero(&write);
    weir_fd_zero(&except);
    weir_fd_add(client, &read);
    weir_fd_add(server, &read);
    weir_fd_add(client, &write);
    assert_int_equal(bsd_select(w.bsd, 10, &read, &write, &except, &zero), 1);
    assert_false(weir_fd_isset(client, &read));
    assert_true(weir_fd_isset(client, &write));
    weir_fd_zero(&read);
    weir_fd_add(server, &read);
    weir_fd_add(server, &except);
    assert_int_equal(bsd_send(w.bsd, client, "u", 1, WEIR_MSG_OOB), 1);
    assert_int_equal(bsd_select(w.bsd, 10, &read, NULL, &except, &second) > 0, 1);
    assert_true(weir_fd_isset(server, &except));
    weir_fd_zero(&read);
    weir_fd_add(client, &read);
    zero.tv_usec = 10000;
    assert_int_equal(bsd_select(w.bsd, 10, &read, NULL, NULL, &zero), 0);
    assert_false(weir_fd_isset(client, &read));
    bsd_close(w.bsd, server);
    weir_fd_add(client, &read);
    assert_int_equal(bsd_select(w.bsd, 10, &read, NULL, NULL, &second), 1);  // end of stream, or reset
    weir_fd_zero(&read);
    weir_fd_add(700, &read);
    assert_errno(bsd_select(w.bsd, 1024, &read, NULL, NULL, &zero), EBADF);
    assert_errno(bsd_select(w.bsd, 1025, &read, NULL, NULL, &zero), EINVAL);
    assert_errno(bsd_select(w.bsd, 10, NULL, NULL, NULL, &bad), EINVAL);
    world_close(&w);
}

static void fd_sets_stay_in_bounds(void **state)
{
    struct weir_fd_set set;
    (void)state;
    weir_fd_zero(&set);
    weir_fd_add(-1, &set);
    weir_fd_add(WEIR_FD_SETSIZE, &set);
    weir_fd_add(WEIR_FD_SETSIZE - 1, &set);
    assert_true(weir_fd_isset(WEIR_FD_SETSIZE - 1, &set));
    assert_false(weir_fd_isset(-1, &set));
    assert_false(weir_fd_isset(WEIR_FD_SETSIZE, &set));
    weir_fd_clear(WEIR_FD_SETSIZE - 1, &set);
    assert_false(weir_fd_isset(WEIR_FD_SETSIZE - 1, &set));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(poll_tells_levels),      cmocka_unit_test(poll_times_out),
        cmocka_unit_test(many_descriptors),       cmocka_unit_test(select_tells_levels),
        cmocka_unit_test(fd_sets_stay_in_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
