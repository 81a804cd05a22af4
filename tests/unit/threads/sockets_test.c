// SPDX-License-Identifier: BSD-2-Clause
// not on mips: threads and real time under emulation
// One socket in the hands of several threads: what DESIGN promises ("Threads"). Run under the thread sanitizer.
#define _DEFAULT_SOURCE
#include "built.h"
#include "world.h"

#include <pthread.h>
#include <string.h>
#include <unistd.h>

struct task {
    struct world *world;
    int fd, other;
    uint32_t bytes;
    uint32_t seed;
    weir_ssize result;
    int error;
    atomic_bool started, ended;
};

static void start(pthread_t *thread, void *(*run)(void *), struct task *task)
{
    assert_int_equal(pthread_create(thread, NULL, run, task), 0);
    while (!atomic_load(&task->started))
        usleep(100);
}

static uint8_t byte_at(uint32_t seed, uint32_t at) { return (uint8_t)((at + seed) * 2654435761u >> 24); }

static void *write_all(void *argument)
{
    struct task *task = argument;
    uint8_t block[7001];
    uint32_t done = 0;
    atomic_store(&task->started, true);
    while (done < task->bytes) {
        const uint32_t want = task->bytes - done < sizeof block ? task->bytes - done : (uint32_t)sizeof block;
        for (uint32_t i = 0; i < want; i++)
            block[i] = byte_at(task->seed, done + i);
        const weir_ssize moved = bsd_send(task->world->bsd, task->fd, block, want, 0);
        if (moved <= 0)
            break;
        done += (uint32_t)moved;
    }
    task->result = done;
    atomic_store(&task->ended, true);
    return NULL;
}

static void *read_all(void *argument)
{
    struct task *task = argument;
    uint8_t block[5003];
    uint32_t done = 0;
    atomic_store(&task->started, true);
    while (done < task->bytes) {
        const weir_ssize moved = bsd_recv(task->world->bsd, task->fd, block, sizeof block, 0);
        if (moved <= 0)
            break;
        for (weir_ssize i = 0; i < moved; i++, done++)
            if (block[i] != byte_at(task->seed, done)) {
                task->error = 1;
                break;
            }
    }
    task->result = done;
    atomic_store(&task->ended, true);
    return NULL;
}

static void both_ways(bool threaded)
{
    enum { BYTES = 1 << 20 };
    struct world a, b;
    int client, server;
    pthread_t threads[4];
    worlds_open(&a, &b, true);
    world_streams(&a, &b, WORLD_B, 7100, &client, &server);
    if (!threaded) {  // from here on whoever waits polls
        posix_host_stop(&a.host);
        posix_host_stop(&b.host);
    }
    struct task tasks[4] = {{&a, .fd = client, .bytes = BYTES, .seed = 1},
                            {&b, .fd = server, .bytes = BYTES, .seed = 1},
                            {&b, .fd = server, .bytes = BYTES, .seed = 2},
                            {&a, .fd = client, .bytes = BYTES, .seed = 2}};
    for (int i = 0; i < 4; i++)
        start(&threads[i], i % 2 ? read_all : write_all, &tasks[i]);
    // A writer leaves when its data is queued: from then on its host needs somebody to poll it.
    while (!threaded && !(atomic_load(&tasks[1].ended) && atomic_load(&tasks[3].ended))) {
        posix_host_poll(&a.host, 1000);
        posix_host_poll(&b.host, 1000);
        usleep(200);
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(tasks[i].error, 0);
        assert_int_equal(tasks[i].result, BYTES);
    }
    worlds_close(&a, &b);
}

static void both_ways_with_poller_threads(void **state)
{
    (void)state;
    both_ways(true);
}

static void both_ways_without(void **state)
{
    (void)state;
    both_ways(false);
}

static void *receive_one(void *argument)
{
    struct task *task = argument;
    char byte;
    atomic_store(&task->started, true);
    task->result = bsd_recv(task->world->bsd, task->fd, &byte, 1, 0);
    task->error = errno;
    return NULL;
}

static void *accept_one(void *argument)
{
    struct task *task = argument;
    atomic_store(&task->started, true);
    task->result = bsd_accept(task->world->bsd, task->fd, NULL, NULL);
    task->error = errno;
    return NULL;
}

static void *connect_one(void *argument)
{
    struct task *task = argument;
    struct weir_sockaddr_in to = world_address(0x0a000063, 80);  // nobody there
    atomic_store(&task->started, true);
    task->result = bsd_connect(task->world->bsd, task->fd, ADDRESS(to));
    task->error = errno;
    return NULL;
}

static void *write_until_stopped(void *argument)
{
    struct task *task = argument;
    static const char block[60000];
    atomic_store(&task->started, true);
    while ((task->result = bsd_send(task->world->bsd, task->fd, block, sizeof block, 0)) >= 0)
        continue;
    task->error = errno;
    return NULL;
}

static void *poll_one(void *argument)
{
    struct task *task = argument;
    struct weir_pollfd poll = {task->fd, WEIR_POLLIN, 0};
    atomic_store(&task->started, true);
    task->result = bsd_poll(task->world->bsd, &poll, 1, 20000);
    task->error = poll.revents;
    return NULL;
}

static void *wait_one(void *argument)
{
    struct task *task = argument;
    struct weir_epoll_event event;
    atomic_store(&task->started, true);
    task->result = bsd_epoll_wait(task->world->bsd, task->fd, &event, 1, 20000);
    task->error = errno;
    return NULL;
}

// A call sleeps; another thread closes; the call ends with EBADF at once.
static void close_ends(struct world *world, int fd, void *(*run)(void *), int error)
{
    struct task task = {world, .fd = fd};
    pthread_t thread;
    start(&thread, run, &task);
    usleep(20000);
    assert_int_equal(bsd_close(world->bsd, fd), 0);
    pthread_join(thread, NULL);
    assert_int_equal(task.result, -1);
    assert_int_equal(task.error, error);
}

static void closing_ends_every_call(void **state)
{
    struct world a, b;
    int client, server;
    (void)state;
    worlds_open(&a, &b, true);
    world_streams(&a, &b, WORLD_B, 7101, &client, &server);
    close_ends(&a, client, receive_one, EBADF);
    bsd_close(b.bsd, server);
    close_ends(&a, world_listener(&a, 7102), accept_one, EBADF);
    close_ends(&a, bsd_socket(a.bsd, WEIR_AF_INET, WEIR_SOCK_STREAM, 0), connect_one, EBADF);
    close_ends(&a, bsd_socket(a.bsd, WEIR_AF_INET, WEIR_SOCK_DGRAM, 0), receive_one, EBADF);
    close_ends(&a, bsd_epoll_create(a.bsd), wait_one, EBADF);
    world_streams(&a, &b, WORLD_B, 7103, &client, &server);
    close_ends(&a, client, write_until_stopped, EBADF);
    worlds_close(&a, &b);
}

static void closing_ends_a_poll(void **state)
{
    struct world a, b;
    int client, server;
    pthread_t thread;
    (void)state;
    worlds_open(&a, &b, true);
    world_streams(&a, &b, WORLD_B, 7104, &client, &server);
    struct task task = {&a, .fd = client};
    start(&thread, poll_one, &task);
    usleep(20000);
    assert_int_equal(bsd_close(a.bsd, client), 0);
    pthread_join(thread, NULL);
    assert_int_equal(task.result, 1);
    assert_int_equal(task.error, WEIR_POLLNVAL);
    worlds_close(&a, &b);
}

static void shutdown_wakes_a_reader(void **state)
{
    struct world a, b;
    int client, server;
    pthread_t thread;
    (void)state;
    worlds_open(&a, &b, true);
    world_streams(&a, &b, WORLD_B, 7105, &client, &server);
    struct task task = {&a, .fd = client};
    start(&thread, receive_one, &task);
    usleep(20000);
    assert_int_equal(bsd_shutdown(a.bsd, client, WEIR_SHUT_RD), 0);
    pthread_join(thread, NULL);
    assert_int_equal(task.result, 0);
    worlds_close(&a, &b);
}

// Writers take turns for a whole call: their records never mix. Readers take turns too: each byte goes to one of them.
#define RECORD 64
#define RECORDS 300

static void *write_records(void *argument)
{
    struct task *task = argument;
    char record[RECORD];
    atomic_store(&task->started, true);
    memset(record, (int)task->seed, sizeof record);
    for (int i = 0; i < RECORDS; i++)
        if (bsd_send(task->world->bsd, task->fd, record, sizeof record, 0) != RECORD)
            task->error = 1;
    return NULL;
}

static void *read_records(void *argument)
{
    struct task *task = argument;
    char record[RECORD];
    weir_ssize got;
    atomic_store(&task->started, true);
    while ((got = bsd_recv(task->world->bsd, task->fd, record, RECORD, WEIR_MSG_WAITALL)) == RECORD) {
        for (int i = 1; i < RECORD; i++)
            task->error |= record[i] != record[0];
        task->bytes += RECORD;
    }
    task->error |= got != 0;
    return NULL;
}

static void turns_are_taken(void **state)
{
    struct world a, b;
    int client, server;
    pthread_t threads[6];
    (void)state;
    worlds_open(&a, &b, true);
    world_streams(&a, &b, WORLD_B, 7106, &client, &server);
    struct task tasks[6] = {{&a, .fd = client, .seed = 'a'},
                            {&a, .fd = client, .seed = 'b'},
                            {&a, .fd = client, .seed = 'c'},
                            {&b, .fd = server},
                            {&b, .fd = server},
                            {&b, .fd = server}};
    for (int i = 0; i < 6; i++)
        start(&threads[i], i < 3 ? write_records : read_records, &tasks[i]);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(bsd_shutdown(a.bsd, client, WEIR_SHUT_WR), 0);
    uint32_t bytes = 0;
    for (int i = 3; i < 6; i++) {
        pthread_join(threads[i], NULL);
        bytes += tasks[i].bytes;
    }
    for (int i = 0; i < 6; i++)
        assert_int_equal(tasks[i].error, 0);
    assert_int_equal(bytes, 3 * RECORDS * RECORD);
    worlds_close(&a, &b);
}

// Read, written, selected and closed by four threads at once, again and again.
static void *hammer_read(void *argument)
{
    struct task *task = argument;
    char block[3000];
    atomic_store(&task->started, true);
    while (bsd_recv(task->world->bsd, task->fd, block, sizeof block, 0) > 0)
        continue;
    return NULL;
}

static void *hammer_select(void *argument)
{
    struct task *task = argument;
    atomic_store(&task->started, true);
    for (;;) {
        struct weir_fd_set read, write;
        struct weir_timeval time = {0, 1000};
        weir_fd_zero(&read);
        weir_fd_zero(&write);
        weir_fd_add(task->fd, &read);
        weir_fd_add(task->fd, &write);
        if (bsd_select(task->world->bsd, task->fd + 1, &read, &write, NULL, &time) < 0)
            return NULL;
    }
}

static void everything_at_once(void **state)
{
    struct world a, b;
    (void)state;
    worlds_open(&a, &b, true);
    for (int round = 0; round < 15; round++) {
        int client, server;
        pthread_t threads[6];
        world_streams(&a, &b, WORLD_B, (uint16_t)(7200 + round), &client, &server);
        struct task tasks[6] = {{&a, .fd = client}, {&a, .fd = client}, {&a, .fd = client},
                                {&b, .fd = server}, {&b, .fd = server}, {&b, .fd = server}};
        for (int i = 0; i < 6; i++)
            start(&threads[i], i % 3 == 0 ? hammer_read : i % 3 == 1 ? write_until_stopped : hammer_select, &tasks[i]);
        usleep(3000u * (uint32_t)(round % 4));
        assert_int_equal(bsd_close(round % 2 ? a.bsd : b.bsd, round % 2 ? client : server), 0);
        usleep(2000);
        assert_int_equal(bsd_close(round % 2 ? b.bsd : a.bsd, round % 2 ? server : client), 0);
        for (int i = 0; i < 6; i++)
            pthread_join(threads[i], NULL);
    }
    worlds_close(&a, &b);
}

// Several threads in one wait set: each one-shot event goes to one of them.
static atomic_uint counted;

static void await_counted(uint32_t least)
{
    for (int waited_ms = 0; atomic_load(&counted) < least && waited_ms < 60000; waited_ms++)
        usleep(1000);
}

static void *wait_and_count(void *argument)
{
    struct task *task = argument;
    struct weir_epoll_event event;
    char byte[8];
    atomic_store(&task->started, true);
    while (bsd_epoll_wait(task->world->bsd, task->fd, &event, 1, 20000) == 1) {
        const weir_ssize got = bsd_recv(task->world->bsd, event.data.fd, byte, sizeof byte, WEIR_MSG_DONTWAIT);
        if (got == 0)
            return NULL;
        task->bytes += got > 0 ? 1 : 0;
        atomic_fetch_add(&counted, got > 0 ? 1 : 0);
        task->error |= got < 0;
        event.events = WEIR_EPOLLIN | WEIR_EPOLLONESHOT;
        bsd_epoll_ctl(task->world->bsd, task->fd, WEIR_EPOLL_CTL_MOD, event.data.fd, &event);
    }
    return NULL;
}

static void a_wait_set_for_several_threads(void **state)
{
    enum { DATAGRAMS = 100, UNDER_WAY = 8 };
    struct world a, b;
    pthread_t threads[3];
    (void)state;
    worlds_open(&a, &b, true);
    const int sender = bsd_socket(a.bsd, WEIR_AF_INET, WEIR_SOCK_DGRAM, 0),
              receiver = bsd_socket(b.bsd, WEIR_AF_INET, WEIR_SOCK_DGRAM, 0);
    struct weir_sockaddr_in address = world_address(WORLD_B, 7300);
    assert_int_equal(bsd_bind(b.bsd, receiver, ADDRESS(address)), 0);
    const int set = bsd_epoll_create(b.bsd);
    struct weir_epoll_event event = {WEIR_EPOLLIN | WEIR_EPOLLONESHOT, {.fd = receiver}};
    assert_int_equal(bsd_epoll_ctl(b.bsd, set, WEIR_EPOLL_CTL_ADD, receiver, &event), 0);
    struct task tasks[3] = {{&b, .fd = set}, {&b, .fd = set}, {&b, .fd = set}};
    for (int i = 0; i < 3; i++)
        start(&threads[i], wait_and_count, &tasks[i]);
    atomic_store(&counted, 0);
    for (uint32_t i = 0; i < DATAGRAMS; i++) {
        assert_int_equal(bsd_sendto(a.bsd, sender, "d", 1, 0, ADDRESS(address)), 1);
        usleep(500);
        await_counted(i < UNDER_WAY ? 0 : i - UNDER_WAY);  // fewer than the receiver's queue holds
    }
    uint32_t seen = 0;
    await_counted(DATAGRAMS);
    assert_int_equal(bsd_close(b.bsd, set), 0);
    for (int i = 0; i < 3; i++) {
        pthread_join(threads[i], NULL);
        seen += tasks[i].bytes;
        assert_int_equal(tasks[i].error, 0);
    }
    assert_int_equal(seen, DATAGRAMS);
    worlds_close(&a, &b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_ways_with_poller_threads),
        cmocka_unit_test(both_ways_without),
        test_with(WEIR_CFG_BSD_POLL, closing_ends_every_call),
        test_with(WEIR_CFG_BSD_POLL, closing_ends_a_poll),
        cmocka_unit_test(shutdown_wakes_a_reader),
        cmocka_unit_test(turns_are_taken),
        test_with(WEIR_CFG_BSD_POLL, everything_at_once),
        test_with(WEIR_CFG_BSD_POLL, a_wait_set_for_several_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
