// SPDX-License-Identifier: BSD-2-Clause
// also without IPv4
// profiles: small
#include "fixture.h"

#include <string.h>

#define MANY 3000u

static void open_one(struct fixture *f)
{
    fixture_open(f, &weir_link_rawip, weir_ip4(10, 0, 0, 1), 24, 0);
    f->faults.others = true;  // what has handles here is no socket: weir_destroy cannot close it
}

static void finds_what_was_put_in(void **state)
{
    struct fixture f;
    struct sock a = {.kind = SOCK_TCP}, b = {.kind = SOCK_TCP};
    (void)state;
    open_one(&f);
    const weir_socket one = handle_new(f.weir, &a), two = handle_new(f.weir, &b);
    assert_true(one > 0 && two > 0 && one != two);
    assert_ptr_equal(handle_sock(f.weir, one), &a);
    assert_ptr_equal(handle_sock(f.weir, two), &b);
    assert_int_equal(a.handle, one);
    assert_true(a.flags & SOCK_HANDLED);
    handle_free(f.weir, &a);
    assert_null(handle_sock(f.weir, one));
    assert_int_equal(a.handle, 0);
    assert_false(a.flags & SOCK_HANDLED);
    handle_free(f.weir, &a);  // has none: nothing happens
    handle_free(f.weir, &b);
    fixture_close(&f);
}

static void nonsense_names_nothing(void **state)
{
    struct fixture f;
    struct sock a = {.kind = SOCK_TCP};
    (void)state;
    open_one(&f);
    assert_null(handle_sock(f.weir, 1));  // before the first segment exists
    const weir_socket one = handle_new(f.weir, &a);
    const weir_socket bad[] = {0,         -1,      WEIR_BAD_SOCKET,  INT32_MIN,
                               INT32_MAX, one + 1, one ^ 0x40000000, one + (1 << WEIR_CFG_SOCKET_INDEX_BITS)};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_null(handle_sock(f.weir, bad[i]));
    handle_free(f.weir, &a);
    fixture_close(&f);
}

// A closed handle stays invalid while its slot is used again and again.
static void old_handles_stay_dead(void **state)
{
    struct fixture f;
    struct sock a = {.kind = SOCK_TCP};
    weir_socket seen[MANY];
    (void)state;
    open_one(&f);
    for (uint32_t i = 0; i < MANY; i++) {
        seen[i] = handle_new(f.weir, &a);
        assert_true(seen[i] > 0);
        for (uint32_t j = i > 50 ? i - 50 : 0; j < i; j++) {
            assert_int_not_equal(seen[j], seen[i]);
            assert_null(handle_sock(f.weir, seen[j]));
        }
        handle_free(f.weir, &a);
    }
    assert_null(handle_sock(f.weir, seen[0]));
    fixture_close(&f);
}

static void replacing_keeps_the_handle(void **state)
{
    struct fixture f;
    struct sock a = {.kind = SOCK_TCP}, b = {.kind = SOCK_LISTENER};
    (void)state;
    open_one(&f);
    const weir_socket one = handle_new(f.weir, &a);
    assert_true(one > 0);
    handle_replace(f.weir, one, &b);
    assert_ptr_equal(handle_sock(f.weir, one), &b);
    assert_int_equal(b.handle, one);
    handle_free(f.weir, &b);
    fixture_close(&f);
}

static void leaves_the_ready_list(void **state)
{
    struct fixture f;
    struct sock a = {.kind = SOCK_TCP};
    uint32_t events;
    (void)state;
    open_one(&f);
    handle_new(f.weir, &a);
    sock_event(&f.weir->socks, &a, WEIR_READABLE);
    handle_free(f.weir, &a);
    assert_int_equal(weir_ready_next(f.weir, &events), 0);
    fixture_close(&f);
}

static void the_limit_holds(void **state)
{
    struct fixture f;
    const struct weir_config config = {.sockets_max = 5};
    const struct fixture_options options = {.link = &weir_link_rawip, .config = &config};
    struct sock socks[6];
    (void)state;
    memset(socks, 0, sizeof socks);
    assert_true(fixture_open_with(&f, &options));
    f.faults.others = true;
    for (uint32_t i = 0; i < 5; i++) {
        assert_true(handle_room(f.weir));
        assert_true(handle_new(f.weir, &socks[i]) > 0);
    }
    assert_false(handle_room(f.weir));
    assert_int_equal(handle_new(f.weir, &socks[5]), WEIR_NO_MEMORY);
    handle_free(f.weir, &socks[3]);
    assert_true(handle_new(f.weir, &socks[5]) > 0);
    for (uint32_t i = 0; i < 6; i++)
        handle_free(f.weir, &socks[i]);
    fixture_close(&f);
}

#if WEIR_CFG_ALLOCATOR
// Grows by segments, through several sizes of the directory; handles stay valid.
static void grows(void **state)
{
    enum { COUNT = 2600 };
    static struct sock socks[COUNT];
    struct fixture f;
    (void)state;
    memset(socks, 0, sizeof socks);
    open_one(&f);
    for (uint32_t i = 0; i < COUNT; i++)
        assert_true(handle_new(f.weir, &socks[i]) > 0);
    for (uint32_t i = 0; i < COUNT; i++)
        assert_ptr_equal(handle_sock(f.weir, socks[i].handle), &socks[i]);
    for (uint32_t i = 0; i < COUNT; i++)
        handle_free(f.weir, &socks[i]);
    fixture_close(&f);
}

static void survives_failing_allocations(void **state)
{
    static struct sock socks[1200];
    struct fixture f;
    (void)state;
    for (uint32_t nth = 1; nth < 8; nth++) {
        uint32_t made = 0;
        memset(socks, 0, sizeof socks);
        open_one(&f);
        f.fail_at = nth;
        for (uint32_t i = 0; i < 1200; i++)
            made += handle_new(f.weir, &socks[i]) > 0;
        assert_true(made >= 1199);  // one attempt may fail when nothing rested; the next succeeds
        for (uint32_t i = 0; i < 1200; i++)
            handle_free(f.weir, &socks[i]);
        fixture_close(&f);
    }
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_what_was_put_in),
        cmocka_unit_test(nonsense_names_nothing),
        cmocka_unit_test(old_handles_stay_dead),
        cmocka_unit_test(replacing_keeps_the_handle),
        cmocka_unit_test(leaves_the_ready_list),
        cmocka_unit_test(the_limit_holds),
#if WEIR_CFG_ALLOCATOR
        cmocka_unit_test(grows),
        cmocka_unit_test(survives_failing_allocations),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
