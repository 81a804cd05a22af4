// SPDX-License-Identifier: BSD-2-Clause
// also without IPv4
// profiles: small_apps small6_apps
// Who makes room (apps/clients.h), of eight.
#include "clients.h"

#include "apps/bench.h"
#include "service.h"

#define PLACES 8
#define BEGIN_US 1000000u

static struct client places[PLACES];
static struct clients clients;

// The place that a newcomer from an address of its own gets; −1: none.
static int place_for(struct weir_addr source, uint64_t now_us)
{
    const struct client *place = clients_place(&clients, source, now_us);
    return place != NULL ? (int)(place - places) : -1;
}

static int place(uint64_t now_us) { return place_for(weir_ip4(10, 9, 9, 9), now_us); }

// The place of the handshake that makes room; −1: none.
static int opening_place(uint64_t now_us)
{
    const struct client *place = clients_opening(&clients, now_us);
    return place != NULL ? (int)(place - places) : -1;
}

// All places are taken by clients that are served, each from its own address.
static void fill(void)
{
    memset(places, 0, sizeof places);
    clients_init(&clients, places, PLACES, sizeof places[0]);
    for (uint32_t i = 0; i < PLACES; i++) {
        clients_enter(&clients, &places[i], CLIENT_SERVED, BEGIN_US + i);
        places[i].source = weir_ip4(10, 0, 0, (uint8_t)(1 + i));
    }
}

// Each moves so many bytes a tenth of a second, for ten seconds. Returns the end, at which the last moved.
static uint64_t move(const uint32_t *bytes)
{
    const uint64_t end_us = BEGIN_US + 10000000u;
    for (uint64_t now_us = BEGIN_US; now_us <= end_us; now_us += 100000)
        for (uint32_t i = 0; i < PLACES; i++)
            if (bytes[i])
                client_moved(&places[i], bytes[i], now_us);
    return end_us;
}

static void a_free_place_is_taken_first(void **state)
{
    (void)state;
    memset(places, 0, sizeof places);
    clients_init(&clients, places, PLACES, sizeof places[0]);
    assert_int_equal(place(BEGIN_US), 0);
    fill();
    clients_leave(&clients, &places[5]);
    client_enter(&places[2], CLIENT_RESTING, BEGIN_US);
    assert_int_equal(place(BEGIN_US + 100000000u), 5);
}

// Who makes room may take others with it, which leave between it and the newcomer.
static void others_may_leave_before_a_place_is_taken_again(void **state)
{
    const uint64_t now_us = BEGIN_US + PLACES;
    (void)state;
    fill();
    clients_leave(&clients, &places[2]);
    clients_leave(&clients, &places[5]);
    clients_leave(&clients, &places[6]);
    clients_enter(&clients, &places[2], CLIENT_ASKING, now_us);
    assert_int_equal(clients.used, PLACES);
    assert_int_equal(place(now_us), 6);
    clients_enter(&clients, &places[6], CLIENT_ASKING, now_us);
    assert_int_equal(place(now_us), 5);
    clients_enter(&clients, &places[5], CLIENT_ASKING, now_us);
    assert_int_equal(place(now_us), -1);
    assert_int_equal(clients.used, PLACES);
}

static void the_slowest_makes_room(void **state)
{
    (void)state;
    fill();
    const uint64_t now_us = move((uint32_t[PLACES]){1000, 50, 2000, 20, 90, 1000, 103, 5000});
    assert_int_equal(place(now_us), 3);
    client_enter(&places[3], CLIENT_SERVED, now_us);
    assert_int_equal(place(now_us), 1);
    client_enter(&places[1], CLIENT_SERVED, now_us);
    assert_int_equal(place(now_us), 4);
    client_enter(&places[4], CLIENT_SERVED, now_us);
    assert_int_equal(place(now_us), -1);
}

static void who_moves_data_stays(void **state)
{
    (void)state;
    fill();
    const uint64_t now_us = move((uint32_t[PLACES]){110, 200, 300, 400, 500, 600, 700, 800});
    assert_int_equal(place(now_us), -1);
}

// Nothing moves any more: first those that just came, and then, though it is large, what had moved least.
static void of_the_stalled_goes_who_moved_least(void **state)
{
    (void)state;
    fill();
    const uint64_t now_us = move((uint32_t[PLACES]){9000, 8000, 7000, 6000, 5000, 6000, 7000, 8000});
    client_enter(&places[2], CLIENT_SERVED, now_us);
    client_moved(&places[2], 65536, now_us);
    assert_int_equal(place(now_us + CLIENTS_STALL_US - 1), -1);
    assert_int_equal(place(now_us + CLIENTS_STALL_US), 2);
    client_enter(&places[2], CLIENT_SERVED, now_us + CLIENTS_STALL_US);
    assert_int_equal(place(now_us + CLIENTS_STALL_US), 4);
}

// Those that rest go before the slow, and those before who has not asked; nobody goes who has only just come.
static void the_order_is_rest_slow_silent(void **state)
{
    (void)state;
    fill();
    const uint64_t now_us = move((uint32_t[PLACES]){1000, 0, 1000, 1000, 1000, 1000, 1000, 1000});
    client_enter(&places[4], CLIENT_RESTING, now_us - CLIENTS_REST_US);
    client_enter(&places[6], CLIENT_ASKING, now_us - CLIENTS_ASK_US);
    assert_int_equal(place(now_us), 4);
    client_enter(&places[4], CLIENT_RESTING, now_us);
    assert_int_equal(place(now_us), 1);
    client_enter(&places[1], CLIENT_SERVED, now_us);
    assert_int_equal(place(now_us), 6);
    client_enter(&places[6], CLIENT_ASKING, now_us);
    assert_int_equal(place(now_us), -1);
}

static void of_equals_the_greediest_address_goes_first(void **state)
{
    (void)state;
    fill();
    places[5].source = places[6].source = places[7].source = weir_ip4(10, 0, 0, 66);
    const uint64_t now_us = move((uint32_t[PLACES]){1, 1, 1, 1, 1, 20, 10, 30});
    assert_int_equal(place(now_us), 6);
    client_enter(&places[6], CLIENT_SERVED, now_us);
    places[6].source = weir_ip4(10, 0, 0, 7);
    assert_int_equal(place(now_us), 5);
}

// All move data. An address that has more than a quarter of the places gives its slowest to one that has fewer, until
// both have as many.
static void who_has_more_than_its_share_gives(void **state)
{
    const struct weir_addr greedy = weir_ip4(10, 0, 0, 66), modest = weir_ip4(10, 0, 0, 77);
    (void)state;
    fill();
    for (uint32_t i = 2; i < PLACES; i++)
        places[i].source = greedy;
    places[0].source = modest;
    uint32_t bytes[PLACES] = {110, 200, 900, 400, 800, 300, 700, 600};
    const uint64_t now_us = move(bytes);
    assert_int_equal(place_for(greedy, now_us), -1);
    assert_int_equal(place_for(modest, now_us), 5);
    places[5].source = modest;
    assert_int_equal(place_for(modest, now_us), 3);
    places[3].source = modest;
    assert_int_equal(place_for(modest, now_us), -1);
    assert_int_equal(place(now_us), 7);
    for (uint32_t i = 2; i < PLACES; i++)
        places[i].source = weir_ip4(10, 0, 1, (uint8_t)(i / 2));  // two each: nobody has more than a quarter
    assert_int_equal(place(now_us), -1);
}

// Where there are more places than are looked at for a newcomer, each looks at others, and none costs more.
static void many_places_are_looked_at_in_turn(void **state)
{
    enum { MANY = 10 * CLIENTS_LOOK };
    static struct client many[MANY];
    (void)state;
    memset(many, 0, sizeof many);
    clients_init(&clients, many, MANY, sizeof many[0]);
    for (uint32_t i = 0; i < MANY; i++) {
        assert_ptr_equal(clients_place(&clients, weir_ip4(10, 0, 0, 1), BEGIN_US), &many[i]);
        clients_enter(&clients, &many[i], CLIENT_SERVED, BEGIN_US);
        many[i].source = weir_ip4(10, 0, 0, 1);
    }
    client_enter(&many[7 * CLIENTS_LOOK + 5], CLIENT_RESTING, BEGIN_US);
    for (uint32_t look = 0; look < 7; look++)
        assert_null(clients_place(&clients, weir_ip4(10, 0, 0, 1), BEGIN_US + CLIENTS_REST_US / 20));
    client_enter(&many[0], CLIENT_RESTING, BEGIN_US);
    for (uint32_t i = 1; i < MANY; i++)
        client_moved(&many[i], 10000, BEGIN_US + CLIENTS_REST_US);
    assert_ptr_equal(clients_place(&clients, weir_ip4(10, 0, 0, 1), BEGIN_US + CLIENTS_REST_US),
                     &many[7 * CLIENTS_LOOK + 5]);
}

// A handshake has a second to itself, and only handshakes make room for handshakes; the oldest of the greediest address
// first.
static void a_handshake_has_its_time(void **state)
{
    (void)state;
    fill();
    assert_int_equal(opening_place(BEGIN_US + 50000000u), -1);
    client_enter(&places[2], CLIENT_OPENING, BEGIN_US + 300000u);
    client_enter(&places[4], CLIENT_OPENING, BEGIN_US + 100000u);
    client_enter(&places[6], CLIENT_OPENING, BEGIN_US + 200000u);
    places[2].source = places[6].source;
    assert_int_equal(opening_place(BEGIN_US + 1000000u), -1);
    assert_int_equal(opening_place(BEGIN_US + 1100000u), 4);
    assert_int_equal(opening_place(BEGIN_US + 1250000u), 6);
    assert_int_equal(opening_place(BEGIN_US + 1400000u), 6);
}

static void nobody_accepts(struct weir_watch *watch, weir_socket socket, uint32_t events)
{
    (void)watch, (void)socket, (void)events;
}

static void who_waits_in_vain_is_refused(void **state)
{
    struct bench bench;
    struct weir_watch watch = {.event = nobody_accepts};
    weir_socket got, sockets[2];
    (void)state;
    bench_open(&bench);
    const weir_socket listener = service_listen(&bench.loop, 80, &watch);
    for (uint32_t i = 0; i < 2; i++)
        sockets[i] = bench_connect(&bench, 80);
    fill();
    const uint64_t began_us = weir_now_us(bench.f.weir);
    for (uint32_t i = 0; i < PLACES; i++)
        client_enter(&places[i], CLIENT_SERVED, began_us);
    do {
        for (uint32_t i = 0; i < PLACES; i++)
            client_moved(&places[i], 5000, weir_now_us(bench.f.weir));
        assert_null(clients_accept(&clients, &bench.loop, listener, &got));
        for (uint32_t i = 0; i < 2; i++)
            assert_int_equal(weir_socket_ready(bench.f.weir, sockets[i]) & WEIR_ERROR, 0);
        bench_run(&bench, clients.look_us - weir_now_us(bench.f.weir));
    } while (weir_now_us(bench.f.weir) - began_us < CLIENTS_WAIT_US);
    for (uint32_t i = 0; i < PLACES; i++)
        client_moved(&places[i], 5000, weir_now_us(bench.f.weir));
    assert_null(clients_accept(&clients, &bench.loop, listener, &got));
    bench_run(&bench, 100000);
    for (uint32_t i = 0; i < 2; i++) {
        assert_true(weir_socket_ready(bench.f.weir, sockets[i]) & WEIR_ERROR);
        assert_int_equal(weir_socket_abort(bench.f.weir, sockets[i]), WEIR_OK);
    }
    assert_int_equal(weir_socket_close(bench.f.weir, listener), WEIR_OK);
    bench_run(&bench, 100000);
    bench_close(&bench);
}

static bool may_open;
static bool as_set(struct clients *of) { return of == &clients && may_open; }

// Though places are free nobody takes one while no more handshakes may begin.
static void who_may_not_open_waits(void **state)
{
    struct bench bench;
    struct weir_watch watch = {.event = nobody_accepts};
    weir_socket got = 0;
    (void)state;
    bench_open(&bench);
    const weir_socket listener = service_listen(&bench.loop, 80, &watch);
    const weir_socket socket = bench_connect(&bench, 80);
    memset(places, 0, sizeof places);
    clients_init(&clients, places, PLACES, sizeof places[0]);
    clients.may_open = as_set;
    may_open = false;
    assert_null(clients_accept(&clients, &bench.loop, listener, &got));
    assert_int_equal(clients.look_us, weir_now_us(bench.f.weir) + CLIENTS_ASK_US);
    may_open = true;
    assert_ptr_equal(clients_accept(&clients, &bench.loop, listener, &got), &places[0]);
    assert_true(got > 0);
    assert_int_equal(weir_socket_abort(bench.f.weir, got), WEIR_OK);
    assert_int_equal(weir_socket_abort(bench.f.weir, socket), WEIR_OK);
    assert_int_equal(weir_socket_close(bench.f.weir, listener), WEIR_OK);
    bench_run(&bench, 100000);
    bench_close(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_free_place_is_taken_first),
        cmocka_unit_test(others_may_leave_before_a_place_is_taken_again),
        cmocka_unit_test(the_slowest_makes_room),
        cmocka_unit_test(who_moves_data_stays),
        cmocka_unit_test(of_the_stalled_goes_who_moved_least),
        cmocka_unit_test(the_order_is_rest_slow_silent),
        cmocka_unit_test(of_equals_the_greediest_address_goes_first),
        cmocka_unit_test(who_has_more_than_its_share_gives),
        cmocka_unit_test(many_places_are_looked_at_in_turn),
        cmocka_unit_test(a_handshake_has_its_time),
        cmocka_unit_test(who_waits_in_vain_is_refused),
        cmocka_unit_test(who_may_not_open_waits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
