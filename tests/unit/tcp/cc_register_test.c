// SPDX-License-Identifier: BSD-2-Clause
// also without IPv4
// Congestion controls registered at run time: by their names the socket option finds them, and they carry flows like
// those built in.
#include <stdio.h>
#include <string.h>

#include "../pair.h"
#include "weir/cc.h"
#include "weir/socket.h"

#define BYTES 300000u

static struct {
    uint32_t begun, dirty, acks, moved;
} told;

// Its window is 20 segments, whatever happens; its state must be zero when it begins, and what it wrote there
// afterwards.
static void own_ack(void *state, const struct weir_cc_sample *sample, struct weir_cc_window *window)
{
    uint64_t *words = state;
    told.acks++;
    told.moved += words[WEIR_CC_STATE_MAX / 8 - 1]++ != told.acks - 1;
    window->cwnd = 20 * sample->mss;
}

static void own_event(void *state, enum weir_cc_event event, const struct weir_cc_sample *sample,
                      struct weir_cc_window *window)
{
    const uint8_t *bytes = state;
    if (event == WEIR_CC_INIT) {
        told.begun++;
        for (uint32_t i = 0; i < WEIR_CC_STATE_MAX; i++)
            told.dirty += bytes[i] != 0;
    }
    window->cwnd = 20 * sample->mss;
    window->ssthresh = WEIR_CC_UNLIMITED;
}

static const struct weir_cc own = {.name = "own", .state_bytes = WEIR_CC_STATE_MAX, .ack = own_ack, .event = own_event};

static struct pair p;
static weir_socket client, server;
static uint32_t sent, received;

static int open_pair(void **state)
{
    (void)state;
    memset(&told, 0, sizeof told);
    sent = received = 0;
    pair_open(&p, &(struct pair_options){.link = {.delay_us = 5000}, .seed = 3});
    return 0;
}

static int close_pair(void **state)
{
    (void)state;
    pair_close(&p);
    return 0;
}

static bool carry(void *context)
{
    static uint8_t buffer[16384];
    int bytes;
    (void)context;
    while (sent < BYTES && (bytes = weir_socket_write(p.a.weir, client, buffer, sizeof buffer)) > 0)
        sent += (uint32_t)bytes;
    while ((bytes = weir_socket_read(p.b.weir, server, buffer, sizeof buffer)) > 0)
        received += (uint32_t)bytes;
    return received >= BYTES;
}

static void a_socket_finds_it_by_name_and_it_carries_the_flow(void **state)
{
    (void)state;
    struct weir_tcp_info info;
    assert_int_equal(weir_cc_register(p.a.weir, &own), WEIR_OK);
    pair_connect(&p, 7, &client, &server);
    assert_int_equal(weir_socket_set_congestion(p.a.weir, client, "own"), WEIR_OK);
    assert_string_equal(weir_socket_congestion(p.a.weir, client), "own");
    assert_true(pair_run_until(&p, carry, NULL, 10000000));
    assert_int_equal(told.begun, 1);
    assert_int_equal(told.dirty, 0);
    assert_int_equal(told.moved, 0);
    assert_true(told.acks >= 10);
    assert_int_equal(weir_socket_tcp_info(p.a.weir, client, &info), WEIR_OK);
    assert_int_equal(info.cwnd, 20 * info.snd_mss);
}

static void a_running_flow_changes_to_it_and_back(void **state)
{
    (void)state;
    assert_int_equal(weir_cc_register(p.a.weir, &own), WEIR_OK);
    pair_connect(&p, 7, &client, &server);
    carry(NULL);
    pair_run(&p, 50000);
    assert_int_equal(weir_socket_set_congestion(p.a.weir, client, "own"), WEIR_OK);
    carry(NULL);
    pair_run(&p, 50000);
    const uint32_t acks = told.acks;
    assert_true(acks > 0);
    assert_int_equal(told.dirty, 0);
    assert_int_equal(weir_socket_set_congestion(p.a.weir, client, weir_cc_list[0]->name), WEIR_OK);
    assert_true(pair_run_until(&p, carry, NULL, 10000000));
    assert_int_equal(told.acks, acks);
}

static void who_accepts_has_that_of_the_listener(void **state)
{
    (void)state;
    const struct weir_endpoint local = {weir_addr_any(), 9}, there = {PAIR_B, 9};
    assert_int_equal(weir_cc_register(p.b.weir, &own), WEIR_OK);
    const weir_socket listener = weir_socket_open(p.b.weir, WEIR_STREAM, 0);
    assert_int_equal(weir_socket_bind(p.b.weir, listener, &local), WEIR_OK);
    assert_int_equal(weir_socket_set_congestion(p.b.weir, listener, "own"), WEIR_OK);
    assert_int_equal(weir_socket_listen(p.b.weir, listener, 1), WEIR_OK);
    client = weir_socket_open(p.a.weir, WEIR_STREAM, 0);
    assert_int_equal(weir_socket_connect(p.a.weir, client, &there), WEIR_IN_PROGRESS);
    pair_run(&p, 100000);
    server = weir_socket_accept(p.b.weir, listener);
    assert_true(server > 0);
    assert_string_equal(weir_socket_congestion(p.b.weir, server), "own");
    assert_string_equal(weir_socket_congestion(p.b.weir, listener), "own");
}

static void other_instances_do_not_know_it(void **state)
{
    (void)state;
    assert_int_equal(weir_cc_register(p.a.weir, &own), WEIR_OK);
    pair_connect(&p, 7, &client, &server);
    assert_int_equal(weir_socket_set_congestion(p.b.weir, server, "own"), WEIR_INVALID);
    assert_int_equal(weir_socket_set_congestion(p.a.weir, client, "ow"), WEIR_INVALID);
    assert_int_equal(weir_socket_set_congestion(p.a.weir, client, "owner"), WEIR_INVALID);
    assert_null(weir_cc_find("own"));  // which looks among those built in
}

static void what_is_not_whole_or_too_large_is_refused(void **state)
{
    (void)state;
    struct weir_cc cc[] = {own, own, own, own, own};
    cc[0].name = NULL;
    cc[1].name = "";
    cc[2].ack = NULL;
    cc[3].event = NULL;
    cc[4].state_bytes = WEIR_CC_STATE_MAX + 1;
    for (size_t i = 0; i < sizeof cc / sizeof cc[0]; i++)
        assert_int_equal(weir_cc_register(p.a.weir, &cc[i]), WEIR_INVALID);
    pair_connect(&p, 7, &client, &server);
    assert_int_equal(weir_socket_set_congestion(p.a.weir, client, "own"), WEIR_INVALID);
}

static void a_name_is_had_once(void **state)
{
    (void)state;
    struct weir_cc other = own;
    assert_int_equal(weir_cc_register(p.a.weir, &own), WEIR_OK);
    assert_int_equal(weir_cc_register(p.a.weir, &own), WEIR_IN_USE);
    assert_int_equal(weir_cc_register(p.a.weir, &other), WEIR_IN_USE);
    other.name = weir_cc_list[0]->name;
    assert_int_equal(weir_cc_register(p.a.weir, &other), WEIR_IN_USE);
    pair_connect(&p, 7, &client, &server);
    assert_int_equal(weir_socket_set_congestion(p.a.weir, client, other.name), WEIR_OK);
    assert_true(pair_run_until(&p, carry, NULL, 10000000));
    assert_int_equal(told.acks, 0);
}

static void as_many_are_taken_as_there_is_room_for(void **state)
{
    (void)state;
    static struct weir_cc cc[WEIR_CFG_CC_REGISTERED + 1];
    static char name[WEIR_CFG_CC_REGISTERED + 1][16];
    for (int i = 0; i <= WEIR_CFG_CC_REGISTERED; i++) {
        snprintf(name[i], sizeof name[i], "own%d", i);
        cc[i] = own;
        cc[i].name = name[i];
        assert_int_equal(weir_cc_register(p.a.weir, &cc[i]), i < WEIR_CFG_CC_REGISTERED ? WEIR_OK : WEIR_NO_MEMORY);
    }
    pair_connect(&p, 7, &client, &server);
    for (int i = 0; i < WEIR_CFG_CC_REGISTERED; i++) {
        assert_int_equal(weir_socket_set_congestion(p.a.weir, client, name[i]), WEIR_OK);
        assert_ptr_equal(weir_socket_congestion(p.a.weir, client), name[i]);
    }
    for (const struct weir_cc *const *built = weir_cc_list; *built; built++) {
        assert_int_equal(weir_socket_set_congestion(p.a.weir, client, (*built)->name), WEIR_OK);
        assert_ptr_equal(weir_socket_congestion(p.a.weir, client), (*built)->name);
    }
    assert_int_equal(weir_socket_set_congestion(p.a.weir, client, name[WEIR_CFG_CC_REGISTERED]), WEIR_INVALID);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_pair, close_pair)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_socket_finds_it_by_name_and_it_carries_the_flow),
        TEST(a_running_flow_changes_to_it_and_back),
        TEST(who_accepts_has_that_of_the_listener),
        TEST(other_instances_do_not_know_it),
        TEST(what_is_not_whole_or_too_large_is_refused),
        TEST(a_name_is_had_once),
        TEST(as_many_are_taken_as_there_is_room_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
