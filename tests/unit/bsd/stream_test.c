// SPDX-License-Identifier: BSD-2-Clause
// not on mips: real time, eventfd and ppoll under emulation
#define _DEFAULT_SOURCE
#include "built.h"
#include "world.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/bsd/internal.h"

static int client, server;

static void open_streams(struct world *w)
{
    world_open(w, false, NULL);
    world_streams(w, w, LOCALHOST, 9000, &client, &server);
}

static void bytes_pass_both_ways(void **state)
{
    struct world w;
    char text[16] = {0};
    (void)state;
    open_streams(&w);
    assert_int_equal(bsd_write(w.bsd, client, "weir", 4), 4);
    assert_int_equal(bsd_read(w.bsd, server, text, 2), 2);
    assert_int_equal(bsd_read(w.bsd, server, text + 2, 10), 2);
    assert_string_equal(text, "weir");
    assert_int_equal(bsd_write(w.bsd, server, "", 0), 0);
    assert_int_equal(bsd_read(w.bsd, server, text, 0), 0);
    assert_errno(bsd_recv(w.bsd, server, text, 1, WEIR_MSG_DONTWAIT), EAGAIN);
    world_close(&w);
}

static void vectors_gather_and_scatter(void **state)
{
    struct world w;
    char a[4] = {0}, b[8] = {0};
    struct weir_iovec out[] = {{"one", 3}, {NULL, 0}, {"two", 3}, {"three", 5}}, in[] = {{a, 4}, {NULL, 0}, {b, 7}};
    struct weir_iovec many[WEIR_IOV_MAX + 1];
    (void)state;
    open_streams(&w);
    assert_int_equal(bsd_writev(w.bsd, client, out, 4), 11);
    assert_int_equal(bsd_readv(w.bsd, server, in, 3), 11);
    assert_memory_equal(a, "onet", 4);
    assert_memory_equal(b, "wothree", 7);
    memset(many, 0, sizeof many);
    assert_errno(bsd_writev(w.bsd, client, many, WEIR_IOV_MAX + 1), EINVAL);
    assert_errno(bsd_writev(w.bsd, client, many, 0), EINVAL);
    assert_errno(bsd_readv(w.bsd, client, many, -1), EINVAL);
    world_close(&w);
}

static void peek_leaves_the_data(void **state)
{
    struct world w;
    char text[8] = {0};
    (void)state;
    open_streams(&w);
    assert_int_equal(bsd_send(w.bsd, client, "abcdef", 6, 0), 6);
    assert_int_equal(bsd_recv(w.bsd, server, text, 3, WEIR_MSG_PEEK | WEIR_MSG_WAITALL), 3);
    assert_memory_equal(text, "abc", 3);
    assert_int_equal(bsd_recv(w.bsd, server, text, 6, WEIR_MSG_PEEK | WEIR_MSG_WAITALL), 6);
    assert_int_equal(bsd_recv(w.bsd, server, text, 4, WEIR_MSG_TRUNC), 4);  // thrown away
    assert_int_equal(bsd_recv(w.bsd, server, text, 8, 0), 2);
    assert_memory_equal(text, "ef", 2);
    world_close(&w);
}

static void waitall_waits_until_the_end_or_the_timeout(void **state)
{
    struct world w;
    char text[16];
    const struct weir_timeval time = {0, 20000};
    (void)state;
    open_streams(&w);
    assert_int_equal(bsd_setsockopt(w.bsd, server, WEIR_SOL_SOCKET, WEIR_SO_RCVTIMEO, &time, sizeof time), 0);
    assert_int_equal(bsd_send(w.bsd, client, "12345", 5, 0), 5);
    assert_int_equal(bsd_recv(w.bsd, server, text, 10, WEIR_MSG_WAITALL), 5);  // the timeout ended it
    assert_errno(bsd_recv(w.bsd, server, text, 10, WEIR_MSG_WAITALL), EAGAIN);
    assert_int_equal(bsd_send(w.bsd, client, "678", 3, 0), 3);
    assert_int_equal(bsd_shutdown(w.bsd, client, WEIR_SHUT_WR), 0);
    assert_int_equal(bsd_recv(w.bsd, server, text, 10, WEIR_MSG_WAITALL), 3);  // the end of the stream did
    assert_int_equal(bsd_recv(w.bsd, server, text, 10, WEIR_MSG_WAITALL), 0);
    world_close(&w);
}

static void *send_late(void *argument)
{
    const struct world *w = argument;
    assert_int_equal(bsd_send(w->bsd, client, "ab", 2, 0), 2);
    usleep(30000);
    assert_int_equal(bsd_send(w->bsd, client, "cd", 2, 0), 2);
    return NULL;
}

static void low_water_holds_a_reader_back(void **state)
{
    struct world w;
    char text[16];
    const int low = 4;
    const struct weir_timeval time = {0, 20000};
    (void)state;
    open_streams(&w);
    assert_int_equal(bsd_setsockopt(w.bsd, server, WEIR_SOL_SOCKET, WEIR_SO_RCVLOWAT, &low, sizeof low), 0);
    assert_int_equal(bsd_setsockopt(w.bsd, server, WEIR_SOL_SOCKET, WEIR_SO_RCVTIMEO, &time, sizeof time), 0);
    assert_int_equal(bsd_send(w.bsd, client, "123456", 6, 0), 6);
    assert_int_equal(bsd_recv(w.bsd, server, text, 16, 0), 6);
    assert_int_equal(bsd_send(w.bsd, client, "12", 2, 0), 2);
    const uint64_t before = posix_now_us();
    assert_int_equal(bsd_recv(w.bsd, server, text, 16, 0), 2);
    assert_true(posix_now_us() - before >= 20000);
    world_close(&w);
}

// Who waits for fewer than the mark, or has some already, is woken all the same; who asks whether it is worth reading
// is not.
static void low_water_is_about_what_is_wanted(void **state)
{
    struct world w;
    char text[16];
    const int low = 6;
    const struct weir_timeval time = {2, 0};
    (void)state;
    open_streams(&w);
    assert_int_equal(bsd_setsockopt(w.bsd, server, WEIR_SOL_SOCKET, WEIR_SO_RCVLOWAT, &low, sizeof low), 0);
    assert_int_equal(bsd_setsockopt(w.bsd, server, WEIR_SOL_SOCKET, WEIR_SO_RCVTIMEO, &time, sizeof time), 0);
    struct weir_pollfd one = {.fd = server, .events = WEIR_POLLIN};
    assert_int_equal(bsd_send(w.bsd, client, "1234", 4, 0), 4);
    assert_int_equal(bsd_poll(w.bsd, &one, 1, 50), 0);
    assert_int_equal(bsd_recv(w.bsd, server, text, 3, 0), 3);
    assert_int_equal(bsd_recv(w.bsd, server, text, 16, WEIR_MSG_DONTWAIT), 1);
    const uint64_t before = posix_now_us();
    pthread_t late;
    assert_int_equal(pthread_create(&late, NULL, send_late, &w), 0);  // two, and after a while two more
    assert_int_equal(bsd_recv(w.bsd, server, text, 4, 0), 4);
    assert_memory_equal(text, "abcd", 4);
    assert_true(posix_now_us() - before < 1000000);
    assert_int_equal(pthread_join(late, NULL), 0);
    world_close(&w);
}

static void a_full_queue_blocks_the_writer(void **state)
{
    struct world w;
    const int small = 4096;
    const struct weir_timeval time = {0, 20000};
    static char block[1 << 20];
    (void)state;
    open_streams(&w);
    assert_int_equal(bsd_setsockopt(w.bsd, server, WEIR_SOL_SOCKET, WEIR_SO_RCVBUF, &small, sizeof small), 0);
    assert_int_equal(bsd_setsockopt(w.bsd, client, WEIR_SOL_SOCKET, WEIR_SO_SNDBUF, &small, sizeof small), 0);
    assert_int_equal(bsd_fcntl(w.bsd, client, WEIR_F_SETFL, WEIR_O_NONBLOCK), 0);
    size_t sent = 0;
    weir_ssize moved;
    while ((moved = bsd_send(w.bsd, client, block, sizeof block, 0)) > 0) {
        sent += (size_t)moved;
        assert_true(sent < 64u << 20);
        posix_host_poll(&w.host, 0);
    }
    assert_int_equal(errno, EAGAIN);
    assert_int_equal(bsd_fcntl(w.bsd, client, WEIR_F_SETFL, 0), 0);
    assert_int_equal(bsd_setsockopt(w.bsd, client, WEIR_SOL_SOCKET, WEIR_SO_SNDTIMEO, &time, sizeof time), 0);
    assert_errno(bsd_send(w.bsd, client, block, 100, 0), EAGAIN);
    struct weir_pollfd poll = {.fd = client, .events = WEIR_POLLOUT};
    assert_int_equal(bsd_poll(w.bsd, &poll, 1, 0), 0);
    size_t got = 0;
    while (got < sent) {
        moved = bsd_recv(w.bsd, server, block, sizeof block, 0);
        assert_true(moved > 0);
        got += (size_t)moved;
    }
    assert_int_equal(bsd_poll(w.bsd, &poll, 1, 5000), 1);
    assert_int_equal(bsd_send(w.bsd, client, block, 100, 0), 100);
    world_close(&w);
}

// More than all queues hold, one thread, blocking calls in turns: nothing is lost, nothing comes twice.
static void large_writes_come_out_whole(void **state)
{
    enum { BYTES = 200000 };
    struct world w;
    static uint8_t out[BYTES], in[BYTES];
    (void)state;
    open_streams(&w);
    for (int i = 0; i < BYTES; i++)
        out[i] = (uint8_t)(i * 31 >> 3);
    size_t sent = 0, got = 0;
    while (got < BYTES) {
        weir_ssize moved = sent < BYTES ? bsd_send(w.bsd, client, out + sent, BYTES - sent, WEIR_MSG_DONTWAIT) : 0;
        sent += moved > 0 ? (size_t)moved : 0;
        moved = bsd_recv(w.bsd, server, in + got, BYTES - got, 0);
        assert_true(moved > 0);
        got += (size_t)moved;
    }
    assert_memory_equal(in, out, BYTES);
    world_close(&w);
}

static uint32_t pipes;
static void broken_pipe(void *context)
{
    (void)context;
    pipes++;
}

static void writing_to_a_gone_peer(void **state)
{
    struct world w;
    const struct weir_bsd_config config = {.broken_pipe = broken_pipe};
    const struct weir_linger reset = {1, 0};
    char byte;
    (void)state;
    world_open(&w, false, &config);
    world_streams(&w, &w, LOCALHOST, 9000, &client, &server);
    bsd_setsockopt(w.bsd, server, WEIR_SOL_SOCKET, WEIR_SO_LINGER, &reset, sizeof reset);
    assert_int_equal(bsd_close(w.bsd, server), 0);
    posix_host_poll(&w.host, 0);
    assert_errno(bsd_recv(w.bsd, client, &byte, 1, 0), ECONNRESET);
    assert_int_equal(bsd_recv(w.bsd, client, &byte, 1, 0), 0);
    pipes = 0;
    assert_errno(bsd_send(w.bsd, client, "x", 1, WEIR_MSG_NOSIGNAL), EPIPE);
    assert_int_equal(pipes, 0);
    assert_errno(bsd_send(w.bsd, client, "x", 1, 0), EPIPE);
    assert_int_equal(pipes, 1);
    world_close(&w);
}

static void urgent_data_is_apart(void **state)
{
    struct world w;
    char text[16] = {0};
    int mark = -1;
    const int on = 1;
    (void)state;
    open_streams(&w);
    assert_int_equal(bsd_send(w.bsd, client, "before!", 7, WEIR_MSG_OOB), 7);
    assert_int_equal(bsd_send(w.bsd, client, "after", 5, 0), 5);
    struct weir_pollfd poll = {.fd = server, .events = WEIR_POLLPRI};
    assert_int_equal(bsd_poll(w.bsd, &poll, 1, 2000), 1);
    assert_int_equal(poll.revents, WEIR_POLLPRI);
    assert_int_equal(bsd_recv(w.bsd, server, text, 1, WEIR_MSG_OOB | WEIR_MSG_PEEK), 1);
    assert_int_equal(bsd_recv(w.bsd, server, text, 1, WEIR_MSG_OOB), 1);
    assert_int_equal(text[0], '!');
    assert_errno(bsd_recv(w.bsd, server, text, 1, WEIR_MSG_OOB), EINVAL);
    assert_int_equal(bsd_recv(w.bsd, server, text, 16, 0), 6);  // stops at the mark
    assert_memory_equal(text, "before", 6);
    assert_int_equal(bsd_ioctl(w.bsd, server, WEIR_SIOCATMARK, &mark), 0);
    assert_int_equal(mark, 1);
    assert_int_equal(bsd_sockatmark(w.bsd, server), 1);
    assert_int_equal(bsd_recv(w.bsd, server, text, 16, 0), 5);
    assert_memory_equal(text, "after", 5);
    assert_int_equal(bsd_setsockopt(w.bsd, server, WEIR_SOL_SOCKET, WEIR_SO_OOBINLINE, &on, sizeof on), 0);
    assert_int_equal(bsd_send(w.bsd, client, "in", 2, WEIR_MSG_OOB), 2);
    assert_int_equal(bsd_recv(w.bsd, server, text, 2, WEIR_MSG_WAITALL) +
                         bsd_recv(w.bsd, server, text + 1, 1, WEIR_MSG_DONTWAIT),
                     2);
    world_close(&w);
}

static int unsent(struct world *w, int fd)
{
    int bytes = -1;
    assert_int_equal(bsd_ioctl(w->bsd, fd, WEIR_SIOCOUTQNSD, &bytes), 0);
    return bytes;
}

static void more_waits_for_the_rest(void **state)
{
    struct world w;
    char text[16] = {0};
    const int on = 1, off = 0;
    (void)state;
    open_streams(&w);
    assert_int_equal(bsd_send(w.bsd, client, "head ", 5, WEIR_MSG_MORE), 5);
    assert_int_equal(bsd_send(w.bsd, client, "and ", 4, WEIR_MSG_MORE), 4);
    assert_int_equal(unsent(&w, client), 9);
    assert_int_equal(bsd_write(w.bsd, client, "body", 4), 4);
    assert_int_equal(bsd_recv(w.bsd, server, text, 13, WEIR_MSG_WAITALL), 13);
    assert_string_equal(text, "head and body");
    assert_int_equal(unsent(&w, client), 0);
    // The user's own cork stays, whenever it was put in.
    assert_int_equal(bsd_setsockopt(w.bsd, client, WEIR_IPPROTO_TCP, WEIR_TCP_CORK, &on, sizeof on), 0);
    assert_int_equal(bsd_send(w.bsd, client, "a", 1, WEIR_MSG_MORE), 1);
    assert_int_equal(bsd_write(w.bsd, client, "b", 1), 1);
    assert_int_equal(unsent(&w, client), 2);
    assert_int_equal(bsd_setsockopt(w.bsd, client, WEIR_IPPROTO_TCP, WEIR_TCP_CORK, &off, sizeof off), 0);
    assert_int_equal(bsd_recv(w.bsd, server, text, 2, WEIR_MSG_WAITALL), 2);
    assert_int_equal(bsd_send(w.bsd, client, "c", 1, WEIR_MSG_MORE), 1);
    assert_int_equal(bsd_setsockopt(w.bsd, client, WEIR_IPPROTO_TCP, WEIR_TCP_CORK, &on, sizeof on), 0);
    assert_int_equal(bsd_write(w.bsd, client, "d", 1), 1);
    assert_int_equal(unsent(&w, client), 2);
    world_close(&w);
}

// Whoever is inside a call, though it sleeps, has the direction to itself: what is there is not taken from under its
// nose.
static void a_busy_direction_is_left_alone(void **state)
{
    struct world w;
    char text[8];
    (void)state;
    open_streams(&w);
    assert_int_equal(bsd_send(w.bsd, server, "data", 4, 0), 4);
    assert_int_equal(bsd_recv(w.bsd, client, text, 8, WEIR_MSG_PEEK), 4);  // it has come
    struct bsd_file *file = bsd_file_find(w.bsd, client);
    file->read.taken = file->read.asleep = true;
    assert_errno(bsd_recv(w.bsd, client, text, 8, WEIR_MSG_DONTWAIT), EAGAIN);
    assert_int_equal(bsd_send(w.bsd, client, "back", 4, WEIR_MSG_DONTWAIT), 4);  // the other direction is free
    file->read.taken = file->read.asleep = false;
    assert_int_equal(bsd_recv(w.bsd, client, text, 8, WEIR_MSG_DONTWAIT), 4);
    file->write.taken = file->write.asleep = true;
    assert_errno(bsd_send(w.bsd, client, "more", 4, WEIR_MSG_DONTWAIT), EAGAIN);
    file->write.taken = file->write.asleep = false;
    assert_int_equal(bsd_recv(w.bsd, server, text, 8, WEIR_MSG_WAITALL | WEIR_MSG_DONTWAIT), 4);
    world_close(&w);
}

// A write that need not end returns what found room, then that there is none; what was taken comes whole.
static void a_write_that_does_not_wait_is_cut(void **state)
{
    static char much[65536];
    struct world w;
    size_t sent = 0, got = 0;
    weir_ssize some;
    (void)state;
    open_streams(&w);
    while ((some = bsd_send(w.bsd, client, much, sizeof much, WEIR_MSG_DONTWAIT)) > 0)
        sent += (size_t)some;
    assert_errno(bsd_send(w.bsd, client, much, 1, WEIR_MSG_DONTWAIT), EAGAIN);
    assert_int_equal(bsd_shutdown(w.bsd, client, WEIR_SHUT_WR), 0);
    while ((some = bsd_recv(w.bsd, server, much, sizeof much, 0)) > 0)
        got += (size_t)some;
    assert_int_equal(some, 0);
    assert_int_equal(got, sent);
    world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_pass_both_ways),
        cmocka_unit_test(vectors_gather_and_scatter),
        cmocka_unit_test(peek_leaves_the_data),
        cmocka_unit_test(waitall_waits_until_the_end_or_the_timeout),
        cmocka_unit_test(low_water_holds_a_reader_back),
        test_with(WEIR_CFG_BSD_POLL, low_water_is_about_what_is_wanted),
        test_with(WEIR_CFG_BSD_POLL, a_full_queue_blocks_the_writer),
        cmocka_unit_test(large_writes_come_out_whole),
        cmocka_unit_test(writing_to_a_gone_peer),
        test_with(WEIR_CFG_BSD_POLL, urgent_data_is_apart),
        cmocka_unit_test(more_waits_for_the_rest),
        cmocka_unit_test(a_busy_direction_is_left_alone),
        cmocka_unit_test(a_write_that_does_not_wait_is_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
