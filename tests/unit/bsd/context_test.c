// SPDX-License-Identifier: BSD-2-Clause
// The context on bare ports: without wait, without lock, without allocator, with memory that faults.
#include "built.h"
#include "fixture.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/bsd/weir_bsd.h"

enum { FROM, TO };  // the descriptors of a context with two sockets
#define ADDRESS(in) ((struct weir_sockaddr *)(void *)&(in)), sizeof(in)

static int last_error;
static void set_error(void *context, int value)
{
    (void)context;
    last_error = value;
}

static struct weir_sockaddr_in address(uint16_t port)
{
    return (struct weir_sockaddr_in){
        .sin_family = WEIR_AF_INET, .sin_port = weir_htons(port), .sin_addr = {weir_htonl(0x0a000001)}};
}

static void nothing_blocks_without_wait(void **state)
{
    struct fixture f;
    const struct weir_bsd_config config = {.set_errno = set_error};
    struct weir_sockaddr_in to = address(5000);
    char text[8];
    (void)state;
    fixture_open(&f, &weir_link_rawip, weir_ip4(10, 0, 0, 1), 24, 0);
    f.faults.others = true;
    struct weir_bsd *bsd = bsd_create(f.weir, &config);
    assert_non_null(bsd);
    assert_ptr_equal(bsd_instance(bsd), f.weir);
    const int one = bsd_socket(bsd, WEIR_AF_INET, WEIR_SOCK_DGRAM, 0),
              two = bsd_socket(bsd, WEIR_AF_INET, WEIR_SOCK_DGRAM, 0);
    assert_int_equal(bsd_bind(bsd, two, ADDRESS(to)), 0);
    assert_int_equal(bsd_recv(bsd, two, text, 8, 0), -1);
    assert_int_equal(last_error, EAGAIN);
    struct weir_pollfd poll = {two, WEIR_POLLIN, 0};
    assert_int_equal(bsd_poll(bsd, &poll, 1, -1), 0);  // cannot wait: looks once
    assert_int_equal(bsd_sendto(bsd, one, "round", 5, 0, ADDRESS(to)), 5);
    fixture_poll(&f, 1000);  // through loopback
    bsd_dispatch(bsd);
    assert_int_equal(bsd_poll(bsd, &poll, 1, -1), 1);
    assert_int_equal(bsd_recv(bsd, two, text, 8, 0), 5);
    assert_true(bsd_handle(bsd, two) > 0);
    assert_int_equal(bsd_handle(bsd, 77), WEIR_BAD_SOCKET);
    bsd_destroy(bsd);
    fixture_close(&f);
}

static int faulty_in(void *context, void *to, const void *from, size_t bytes)
{
    (void)context;
    if (from == NULL && bytes)
        return 1;
    memcpy(to, from, bytes);
    return 0;
}

static int faulty_out(void *context, void *to, const void *from, size_t bytes)
{
    (void)context;
    if (to == NULL && bytes)
        return 1;
    memcpy(to, from, bytes);
    return 0;
}

static int always_faulty(void *context, void *to, const void *from, size_t bytes)
{
    return (void)context, (void)to, (void)from, bytes != 0;
}

// A context on a port whose copies are these, with two datagram sockets, the second bound to `to`.
static struct weir_bsd *copying(struct fixture *f, int (*in)(void *, void *, const void *, size_t),
                                int (*out)(void *, void *, const void *, size_t), struct weir_sockaddr_in to)
{
    const struct weir_bsd_config config = {.set_errno = set_error};
    fixture_open(f, &weir_link_rawip, weir_ip4(10, 0, 0, 1), 24, 0);
    f->faults.others = true;
    f->port.copy_in = in;
    f->port.copy_out = out;
    struct weir_bsd *bsd = bsd_create(f->weir, &config);
    assert_non_null(bsd);
    assert_int_equal(bsd_socket(bsd, WEIR_AF_INET, WEIR_SOCK_DGRAM, 0), FROM);
    assert_int_equal(bsd_socket(bsd, WEIR_AF_INET, WEIR_SOCK_DGRAM, 0), TO);
    assert_int_equal(bsd_bind(bsd, TO, ADDRESS(to)), 0);
    last_error = 0;
    return bsd;
}

static void faults_are_answers(void **state)
{
    struct fixture f;
    struct weir_sockaddr_in to = address(5000);
    char text[8];
    (void)state;
    struct weir_bsd *bsd = copying(&f, faulty_in, faulty_out, to);
    assert_int_equal(bsd_sendto(bsd, FROM, NULL, 5, 0, ADDRESS(to)), -1);
    assert_int_equal(last_error, EFAULT);
    assert_int_equal(bsd_sendto(bsd, FROM, "whole", 5, 0, ADDRESS(to)), 5);
    fixture_poll(&f, 1000);
    last_error = 0;
    assert_int_equal(bsd_recv(bsd, TO, NULL, 5, 0), -1);
    assert_int_equal(last_error, EFAULT);
    assert_int_equal(bsd_recv(bsd, TO, text, 8, 0), 5);  // the fault lost nothing
    last_error = 0;
    assert_int_equal(bsd_setsockopt(bsd, FROM, WEIR_SOL_SOCKET, WEIR_SO_BROADCAST, NULL, 4), -1);
    assert_int_equal(last_error, EFAULT);
    bsd_destroy(bsd);
    fixture_close(&f);
}

// Without BSD_FAULTS all memory is the program's own: the port's copies are not asked.
static void copies_that_fault_are_not_asked(void **state)
{
    struct fixture f;
    struct weir_sockaddr_in to = address(5000);
    char text[8] = "";
    (void)state;
    struct weir_bsd *bsd = copying(&f, always_faulty, always_faulty, to);
    assert_int_equal(bsd_sendto(bsd, FROM, "whole", 5, 0, ADDRESS(to)), 5);
    fixture_poll(&f, 1000);
    assert_int_equal(bsd_recv(bsd, TO, text, 8, 0), 5);
    assert_memory_equal(text, "whole", 5);
    bsd_destroy(bsd);
    fixture_close(&f);
}

// A smaller block holds descriptors, and none of what else there is memory for; a still smaller one is refused.
static void a_smaller_block_has_no_wait_sets(void **state)
{
    enum { DESCRIPTORS = 6 };
    struct fixture f;
    struct weir_bsd_config config = {.descriptors = DESCRIPTORS, .set_errno = set_error};
    struct weir_bsd *bsd = NULL;
    (void)state;
    fixture_open(&f, &weir_link_rawip, weir_ip4(10, 0, 0, 1), 24, 0);
    f.faults.others = true;
    config.memory = malloc(bsd_memory_bytes(DESCRIPTORS));
    for (config.memory_bytes = 8; !(bsd = bsd_create(f.weir, &config)); config.memory_bytes += 8)
        assert_true(config.memory_bytes < bsd_memory_bytes(DESCRIPTORS));
    assert_true(config.memory_bytes < bsd_memory_bytes(DESCRIPTORS));
    for (int i = 0; i < DESCRIPTORS; i++)
        assert_int_equal(bsd_socket(bsd, WEIR_AF_INET, WEIR_SOCK_DGRAM, 0), i);
    assert_int_equal(bsd_close(bsd, 0), 0);
    assert_int_equal(bsd_epoll_create(bsd), -1);
    assert_int_equal(last_error, ENOMEM);
    bsd_destroy(bsd);
    free(config.memory);
    fixture_close(&f);
}

// All memory of the context is the caller's block: descriptors, wait sets and their items come and go in it.
static void a_block_is_enough(void **state)
{
    enum { DESCRIPTORS = 6 };
    struct fixture f;
    struct weir_bsd_config config = {.descriptors = DESCRIPTORS, .set_errno = set_error};
    (void)state;
    fixture_open(&f, &weir_link_rawip, weir_ip4(10, 0, 0, 1), 24, 0);
    f.faults.others = true;
    config.memory_bytes = bsd_memory_bytes(DESCRIPTORS);
    config.memory = malloc(config.memory_bytes);
    const uint32_t before = f.allocated_count;
    struct weir_bsd *bsd = bsd_create(f.weir, &config);
    assert_ptr_equal(bsd, config.memory);
    assert_int_equal(f.allocated_count, before);
    for (int round = 0; round < 50; round++) {
        int fds[DESCRIPTORS - 1];
        const int set = bsd_epoll_create(bsd);
        assert_int_equal(set, 0);
        for (int i = 0; i < DESCRIPTORS - 1; i++) {
            const struct weir_epoll_event event = {WEIR_EPOLLIN, {.fd = i}};
            fds[i] = bsd_socket(bsd, WEIR_AF_INET, WEIR_SOCK_DGRAM, 0);
            assert_int_equal(fds[i], i + 1);
            assert_int_equal(bsd_epoll_ctl(bsd, set, WEIR_EPOLL_CTL_ADD, fds[i], &event), 0);
        }
        assert_int_equal(bsd_socket(bsd, WEIR_AF_INET, WEIR_SOCK_DGRAM, 0), -1);
        assert_int_equal(last_error, EMFILE);
        for (int i = 0; i < DESCRIPTORS - 1; i++)
            assert_int_equal(bsd_close(bsd, fds[i]), 0);
        assert_int_equal(bsd_close(bsd, set), 0);
    }
    bsd_destroy(bsd);
    free(config.memory);
    fixture_close(&f);
}

// The n-th allocation fails: an error, nothing leaks, the next try works.
static void failing_allocations(void **state)
{
    (void)state;
    for (uint32_t nth = 1; nth < 12; nth++) {
        struct fixture f;
        const struct weir_bsd_config config = {.set_errno = set_error, .descriptors = 10};
        const struct weir_epoll_event event = {WEIR_EPOLLIN, {.fd = 0}};
        struct weir_addrinfo *list;
        fixture_open(&f, &weir_link_rawip, weir_ip4(10, 0, 0, 1), 24, 0);
        f.faults.others = true;
        f.fail_at = nth;
        struct weir_bsd *bsd = bsd_create(f.weir, &config);
        if (!bsd)
            bsd = bsd_create(f.weir, &config);
        assert_non_null(bsd);
        int fd = bsd_socket(bsd, WEIR_AF_INET, WEIR_SOCK_STREAM, 0), set = bsd_epoll_create(bsd);
        if (fd < 0)
            fd = bsd_socket(bsd, WEIR_AF_INET, WEIR_SOCK_STREAM, 0);
        if (set < 0)
            set = bsd_epoll_create(bsd);
        assert_true(fd >= 0 && set >= 0);
        if (bsd_epoll_ctl(bsd, set, WEIR_EPOLL_CTL_ADD, fd, &event))
            assert_int_equal(bsd_epoll_ctl(bsd, set, WEIR_EPOLL_CTL_ADD, fd, &event), 0);
        int error = bsd_getaddrinfo(bsd, "1.2.3.4", "80", NULL, &list);
        assert_true(error == 0 || error == WEIR_EAI_MEMORY);
        if (!error)
            bsd_freeaddrinfo(bsd, list);
        bsd_destroy(bsd);
        fixture_close(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {test_with(WEIR_CFG_BSD_POLL, nothing_blocks_without_wait),
                                       test_with(WEIR_CFG_BSD_FAULTS, faults_are_answers),
                                       test_with(!WEIR_CFG_BSD_FAULTS, copies_that_fault_are_not_asked),
                                       test_with(WEIR_CFG_BSD_POLL, a_smaller_block_has_no_wait_sets),
                                       test_with(WEIR_CFG_BSD_POLL, a_block_is_enough),
                                       test_with(WEIR_CFG_BSD_POLL, failing_allocations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
