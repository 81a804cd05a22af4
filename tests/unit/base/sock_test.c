// SPDX-License-Identifier: BSD-2-Clause
// profiles: tiny small
#include "base/sock.h"

#include "base_test.h"

static void output_is_first_in_first_out_and_once(void **state)
{
    (void)state;
    struct socks socks;
    struct sock a = {0}, b = {0}, c = {.flags = SOCK_WAITS_NEIGHBOUR};
    socks_init(&socks);
    assert_null(sock_output_pop(&socks));
    sock_output(&socks, &a);
    sock_output(&socks, &b);
    sock_output(&socks, &a);
    sock_output(&socks, &c);
    assert_true(a.flags & SOCK_ON_OUTPUT);
    assert_ptr_equal(sock_output_pop(&socks), &a);
    assert_false(a.flags & SOCK_ON_OUTPUT);
    sock_output(&socks, &a);  // again, behind b
    assert_ptr_equal(sock_output_pop(&socks), &b);
    assert_ptr_equal(sock_output_pop(&socks), &a);
    assert_null(sock_output_pop(&socks));
    assert_int_equal(c.flags, SOCK_WAITS_NEIGHBOUR);
    sock_output(&socks, &b);
    assert_ptr_equal(sock_output_pop(&socks), &b);
}

static void what_had_no_turn_stays_first(void **state)
{
    (void)state;
    struct socks socks;
    struct sock a = {0}, b = {0}, c = {0};
    for (uint32_t meanwhile = 0; meanwhile < 2; meanwhile++) {
        socks_init(&socks);
        sock_output(&socks, &a);
        sock_output(&socks, &b);
        struct sock **const end = socks.output.tail;
        struct sock *first = socks_output_all(&socks);
        first = sock_output_take(first);
        if (meanwhile)
            sock_output(&socks, &a);
        socks_output_before(&socks, first, end);
        sock_output(&socks, &c);
        assert_ptr_equal(sock_output_pop(&socks), &b);
        if (meanwhile)
            assert_ptr_equal(sock_output_pop(&socks), &a);
        assert_ptr_equal(sock_output_pop(&socks), &c);
        assert_null(sock_output_pop(&socks));
    }
}

static void events_gather_and_need_a_handle(void **state)
{
    (void)state;
    struct socks socks;
    struct sock a = {.flags = SOCK_HANDLED}, b = {0}, c = {.flags = SOCK_HANDLED};
    socks_init(&socks);
    sock_event(&socks, &a, WEIR_READABLE);
    sock_event(&socks, &b, WEIR_READABLE);
    sock_event(&socks, &c, WEIR_ERROR);
    sock_event(&socks, &a, WEIR_WRITABLE);
    assert_int_equal(b.events, WEIR_READABLE);
    assert_ptr_equal(sock_ready_pop(&socks), &a);
    assert_int_equal(a.events, WEIR_READABLE | WEIR_WRITABLE);
    assert_ptr_equal(sock_ready_pop(&socks), &c);
    assert_null(sock_ready_pop(&socks));
    assert_false((a.flags | b.flags | c.flags) & SOCK_ON_READY);
}

static void removal_from_any_place(void **state)
{
    (void)state;
    for (int gone = 0; gone < 4; gone++) {
        struct socks socks;
        struct sock sock[4];
        memset(sock, 0, sizeof sock);
        socks_init(&socks);
        for (int i = 0; i < 3; i++) {
            sock[i].flags = SOCK_HANDLED;
            sock_event(&socks, &sock[i], WEIR_READABLE);
        }
        sock[3].flags = SOCK_HANDLED;
        sock_ready_remove(&socks, &sock[gone]);  // gone 3: is not on it
        assert_false(sock[gone].flags & SOCK_ON_READY);
        if (gone < 3)
            sock_event(&socks, &sock[gone], WEIR_READABLE);  // the tail is sound: it goes to the end
        for (int i = 0; i < 3; i++) {
            if (i != gone)
                assert_ptr_equal(sock_ready_pop(&socks), &sock[i]);
        }
        if (gone < 3)
            assert_ptr_equal(sock_ready_pop(&socks), &sock[gone]);
        assert_null(sock_ready_pop(&socks));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(output_is_first_in_first_out_and_once),
        cmocka_unit_test(what_had_no_turn_stays_first),
        cmocka_unit_test(events_gather_and_need_a_handle),
        cmocka_unit_test(removal_from_any_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
