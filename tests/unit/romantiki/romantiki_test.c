// SPDX-License-Identifier: BSD-2-Clause
// Romantiki's API on the cooperative kernel, in virtual time: client and server are tasks of one instance and meet over
// its loopback. Also the bound on how long a task of high priority waits while echo is saturated.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "api/romantiki/romantiki.h"
#include "coop_machine.h"
#include "weir/stats.h"

#define LOCALHOST 0x7f000001u

static struct weir *weir;
static DEF_TASK(server_task);
static DEF_TASK(client_task);
static DEF_TASK(urgent_task);
static DEF_LST_SOCKET(listener, 2);
static DEF_STRM_SOCKET(accepted);
static DEF_STRM_SOCKET(second);
static DEF_STRM_SOCKET(client);
static DEF_DGRAM_SOCKET(datagrams);
static DEF_DGRAM_SOCKET(asking);

static int setup(void **state)
{
    (void)state;
    clock_us = 1000000;
    weir = coop_port_start(&machine, NULL, 0);
    assert_non_null(weir);
    return 0;
}
static int teardown(void **state)
{
    (void)state;
    weir_destroy(weir);
    return 0;
}

static void run_until(uint64_t until_us)
{
    while (clock_us <= until_us) {
        const uint64_t due_us = coop_round();
        if (due_us > until_us)
            break;
        if (due_us > clock_us)
            machine.system.sleep(due_us, &coop.awake);
    }
}

// --- streams: connect out, accept, echo, close -----------------------------------------------------------------------

static unsigned char moved[512];
static bool stop_echo;

static BFD echo(void *prm)
{
    AUTO unsigned got, sent;
    AUTO int res;
    (void)prm;
    BF_BEGIN
    LST_SOCKET(listener, SOCK_MODE(SOCK_BLOCKING));
    STRM_SOCKET(accepted, SOCK_MODE(SOCK_BLOCKING), NULL, 0);
    socket_listen(&listener, 7, 0);
    while (!stop_echo) {
        socket_accept(&listener, &accepted, &res);
        do {
            socket_recv(&accepted, moved, sizeof moved, &got, &res, NULL);
            socket_send(&accepted, moved, got, &sent, &res, NULL);
        } while (got && got == sent);
    }
    socket_close(&accepted);
    socket_close(&listener);
    BF_END
}

static unsigned char answer[64];
static int connected, ended;
static unsigned answered;

static BFD ask_once(void *prm)
{
    AUTO unsigned sent, got;
    AUTO int res;
    AUTO unsigned timeout;
    (void)prm;
    BF_BEGIN
    timeout = 1000;
    STRM_SOCKET(client, SOCK_MODE(SOCK_BLOCKING), NULL, 0);
    socket_connect(&client, LOCALHOST, 7, &connected, &timeout);
    socket_send(&client, "romantiki", 9, &sent, &res, NULL);
    answered = 0;
    while (answered < 9) {
        socket_recv(&client, answer + answered, 9 - answered, &got, &res, &timeout);
        if (!got)
            break;
        answered += got;
    }
    ended = res;
    stop_echo = true;
    socket_close(&client);
    BF_END
}

static void test_a_client_and_a_server(void **state)
{
    (void)state;
    stop_echo = false;
    TASK_START(server_task, echo, NULL, 1);
    TASK_START(client_task, ask_once, NULL, 1);
    run_until(clock_us + 2000000);
    assert_int_equal(connected, EOK);
    assert_int_equal(ended, EOK);
    assert_int_equal(answered, 9);
    assert_memory_equal(answer, "romantiki", 9);
    assert_int_equal(server_task.state, COOP_IDLE);
}

static void test_connecting_to_nobody_is_refused(void **state)
{
    (void)state;
    TASK_START(client_task, ask_once, NULL, 1);
    run_until(clock_us + 5000000);
    assert_int_equal(connected, WEIR_REFUSED);
    assert_int_equal(client_task.state, COOP_IDLE);
}

static int32_t limits[2];  // of what was accepted, of what connected

static BFD accepts_one(void *prm)
{
    SOCK_BUF(buffer, 700);
    AUTO int res;
    (void)prm;
    BF_BEGIN
    LST_SOCKET(listener, SOCK_MODE(SOCK_BLOCKING));
    STRM_SOCKET(accepted, SOCK_MODE(SOCK_BLOCKING), buffer, sizeof(buffer));
    socket_listen(&listener, 7, 0);
    socket_accept(&listener, &accepted, &res);
    (void)weir_socket_get(weir, accepted.handle, WEIR_OPTION_RECEIVE_BUFFER, &limits[0]);
    socket_close(&accepted);
    BF_END
}

static BFD connects_one(void *prm)
{
    AUTO unsigned timeout;
    (void)prm;
    BF_BEGIN
    timeout = 1000;
    STRM_SOCKET(client, SOCK_MODE(SOCK_BLOCKING), NULL, 900);
    socket_connect(&client, LOCALHOST, 7, &connected, &timeout);
    (void)weir_socket_get(weir, client.handle, WEIR_OPTION_RECEIVE_BUFFER, &limits[1]);
    socket_close(&client);
    BF_END
}

// A stream's queue is as long as the buffer it was given, and the listener keeps the backlog that it was declared with.
static void test_sockets_have_the_sizes_they_were_given(void **state)
{
    (void)state;
    TASK_START(server_task, accepts_one, NULL, 1);
    TASK_START(client_task, connects_one, NULL, 1);
    run_until(clock_us + 2000000);
    assert_int_equal(connected, EOK);
    assert_int_equal(limits[0], 700);
    assert_int_equal(limits[1], 900);
    assert_int_equal(listener.limit, 2);
    assert_int_equal(socket_close(&listener), EOK);
}

// --- waiting: timeouts, non-blocking, acknowledgements ---------------------------------------------------------------

static uint64_t waited_us;
static int waited_res, at_once_res;

static BFD silent(void *prm)
{
    AUTO unsigned got, timeout;
    AUTO int res;
    AUTO uint64_t began;
    BF_BEGIN
    timeout = 30;
    LST_SOCKET(listener, SOCK_MODE(SOCK_BLOCKING));
    STRM_SOCKET(accepted, SOCK_MODE(*(const int *)prm), NULL, 0);
    socket_listen(&listener, 7, 0);
    socket_accept(&listener, &accepted, &res);
    socket_recv(&accepted, moved, sizeof moved, &got, &res, NULL);
    began = coop.now_us;
    socket_recv(&accepted, moved, sizeof moved, &got, &waited_res, &timeout);
    waited_us = coop.now_us - began;
    accepted.mode |= SOCK_NONBLOCKING;
    socket_recv(&accepted, moved, sizeof moved, &got, &at_once_res, NULL);
    SLEEP_MS(500);
    socket_close(&accepted);
    socket_close(&listener);
    BF_END
}
static BFD says_one_thing(void *prm)
{
    AUTO unsigned sent;
    AUTO int res;
    (void)prm;
    BF_BEGIN
    STRM_SOCKET(client, SOCK_MODE(SOCK_BLOCKING), NULL, 0);
    socket_connect(&client, LOCALHOST, 7, &res, NULL);
    SLEEP_MS(100);  // the first segments of a connection are acknowledged at once anyway
    socket_send(&client, "x", 1, &sent, &res, NULL);
    SLEEP_MS(1000);
    socket_close(&client);
    BF_END
}

static void test_a_wait_has_a_timeout_and_need_not_block(void **state)
{
    static const int mode = SOCK_BLOCKING;
    (void)state;
    TASK_START(server_task, silent, (void *)&mode, 1);
    TASK_START(client_task, says_one_thing, NULL, 1);
    run_until(clock_us + 3000000);
    assert_int_equal(waited_res, ETIMEOUT);
    assert_in_range(waited_us, 30000, 31000);
    assert_int_equal(at_once_res, EWAIT);
    assert_int_equal(server_task.state, COOP_IDLE);
}

static int32_t unacknowledged;
static unsigned received_bytes;

static BFD reads(void *prm)
{
    AUTO unsigned got;
    AUTO int res;
    BF_BEGIN
    LST_SOCKET(listener, SOCK_MODE(SOCK_BLOCKING));
    STRM_SOCKET(accepted, SOCK_MODE(*(const uint8_t *)prm), NULL, 0);
    socket_listen(&listener, 7, 0);
    socket_accept(&listener, &accepted, &res);
    do {
        socket_recv(&accepted, moved, sizeof moved, &got, &res, NULL);
        received_bytes += got;
    } while (got);
    socket_close(&accepted);
    socket_close(&listener);
    BF_END
}
static BFD says_many_things(void *prm)
{
    AUTO unsigned sent, i;
    AUTO int res;
    (void)prm;
    BF_BEGIN
    STRM_SOCKET(client, SOCK_MODE(SOCK_BLOCKING), NULL, 0);
    socket_connect(&client, LOCALHOST, 7, &res, NULL);
    for (i = 0; i < 40; i++) {  // the first segments of a connection are acknowledged at once anyway
        SLEEP_MS(100);
        socket_send(&client, "x", 1, &sent, &res, NULL);
    }
    SLEEP_MS(5);
    (void)weir_socket_get(coop_port_weir(), client.handle, WEIR_OPTION_UNACKED_BYTES, &unacknowledged);
    socket_close(&client);
    BF_END
}

static void test_data_is_acknowledged_when_the_task_waits_for_more(void **state)
{
    static uint8_t modes[] = {SOCK_BLOCKING, SOCK_BLOCKING | SOCK_ACK_WAITING};
    (void)state;
    for (int i = 0; i < 2; i++) {
        unacknowledged = -1;
        TASK_START(server_task, reads, &modes[i], 1);
        TASK_START(client_task, says_many_things, NULL, 1);
        run_until(clock_us + 10000000);
        assert_int_equal(unacknowledged, i == 0 ? 1 : 0);  // after 5 ms: the delay still runs; the task waits
        assert_int_equal(server_task.state, COOP_IDLE);
    }
}

// --- splitting -------------------------------------------------------------------------------------------------------

static uint32_t segments;
static unsigned split_sent;

// Speaks to one who only listens, and counts the segments of the last time.
static BFD says_and_waits(void *prm)
{
    AUTO unsigned i;
    AUTO int res;
    AUTO struct weir_tcp_info info;
    static const unsigned char data[100];
    BF_BEGIN
    STRM_SOCKET(client, SOCK_MODE(*(const uint8_t *)prm), NULL, 0);
    socket_connect(&client, LOCALHOST, 7, &res, NULL);
    for (i = 0; i < 20; i++) {  // the first segments of a connection are acknowledged at once anyway
        SLEEP_MS(100);
        (void)weir_socket_tcp_info(coop_port_weir(), client.handle, &info);
        segments = info.segs_out;
        socket_send(&client, data, sizeof data, &split_sent, &res, NULL);
    }
    SLEEP_MS(5);
    (void)weir_socket_tcp_info(coop_port_weir(), client.handle, &info);
    segments = info.segs_out - segments;
    SLEEP_MS(200);
    socket_send(&client, data, 1, &split_sent, &res, NULL);  // cannot be split
    socket_close(&client);
    BF_END
}

static void test_what_is_sent_at_once_leaves_in_two_segments(void **state)
{
    static uint8_t modes[] = {SOCK_BLOCKING, SOCK_BLOCKING | SOCK_SPLIT}, reader = SOCK_BLOCKING;
    (void)state;
    for (uint32_t i = 0; i < 2; i++) {
        received_bytes = 0;
        TASK_START(server_task, reads, &reader, 1);
        TASK_START(client_task, says_and_waits, &modes[i], 1);
        run_until(clock_us + 10000000);
        assert_int_equal(segments, 1 + i);
        assert_int_equal(received_bytes, 20 * 100 + 1);
        assert_int_equal(split_sent, 1);
        assert_int_equal(server_task.state, COOP_IDLE);
    }
}

// --- select ----------------------------------------------------------------------------------------------------------

static char order[8];
static unsigned none_ready = 99;

static BFD serves_two(void *prm)
{
    AUTO unsigned ready, got, timeout;
    AUTO int res;
    static struct romantiki_socket *const list[] = {&accepted, &second};
    (void)prm;
    BF_BEGIN
    memset(order, 0, sizeof order);
    timeout = 20;
    LST_SOCKET(listener, SOCK_MODE(SOCK_BLOCKING));
    STRM_SOCKET(accepted, SOCK_MODE(SOCK_NONBLOCKING), NULL, 0);
    STRM_SOCKET(second, SOCK_MODE(SOCK_NONBLOCKING), NULL, 0);
    socket_listen(&listener, 7, 0);
    socket_accept(&listener, &accepted, &res);
    socket_accept(&listener, &second, &res);
    socket_select(list, 2, &none_ready, &timeout);
    while (strlen(order) < 3) {
        socket_select(list, 2, &ready, NULL);
        if (ready & 2) {
            socket_recv(&second, moved, 1, &got, &res, NULL);
            strcat(order, "2");
        }
        if (ready & 1) {
            socket_recv(&accepted, moved, 1, &got, &res, NULL);
            strcat(order, "1");
        }
    }
    socket_close(&accepted);
    socket_close(&second);
    socket_close(&listener);
    BF_END
}
static DEF_STRM_SOCKET(other);
static BFD two_clients(void *prm)
{
    AUTO unsigned sent;
    AUTO int res;
    (void)prm;
    BF_BEGIN
    STRM_SOCKET(client, SOCK_MODE(SOCK_BLOCKING), NULL, 0);
    STRM_SOCKET(other, SOCK_MODE(SOCK_BLOCKING), NULL, 0);
    socket_connect(&client, LOCALHOST, 7, &res, NULL);
    socket_connect(&other, LOCALHOST, 7, &res, NULL);
    SLEEP_MS(100);
    socket_send(&other, "x", 1, &sent, &res, NULL);
    SLEEP_MS(100);
    socket_send(&client, "x", 1, &sent, &res, NULL);
    SLEEP_MS(100);
    socket_send(&other, "x", 1, &sent, &res, NULL);
    SLEEP_MS(100);
    socket_close(&client);
    socket_close(&other);
    BF_END
}

static void test_one_task_serves_two_sessions(void **state)
{
    (void)state;
    TASK_START(server_task, serves_two, NULL, 1);
    TASK_START(client_task, two_clients, NULL, 1);
    run_until(clock_us + 3000000);
    assert_int_equal(none_ready, 0);
    assert_string_equal(order, "212");
    assert_int_equal(server_task.state, COOP_IDLE);
}

// --- datagrams -------------------------------------------------------------------------------------------------------

static unsigned datagram_bytes;
static struct weir_endpoint datagram_from;

static BFD answers_datagrams(void *prm)
{
    AUTO unsigned got;
    AUTO int res;
    AUTO struct weir_endpoint from;
    (void)prm;
    BF_BEGIN
    DGRAM_SOCKET(datagrams, SOCK_MODE(SOCK_BLOCKING), NULL, 0);
    socket_bind(&datagrams, 9);
    socket_recvfrom(&datagrams, moved, sizeof moved, &got, &from, &res, NULL);
    socket_sendto(&datagrams, moved, got, &from, &res, NULL);
    socket_close(&datagrams);
    BF_END
}
static BFD asks_by_datagram(void *prm)
{
    static const struct weir_endpoint to = {WEIR_ADDR_V4(LOCALHOST), 9};
    AUTO int res;
    (void)prm;
    BF_BEGIN
    DGRAM_SOCKET(asking, SOCK_MODE(SOCK_BLOCKING), NULL, 0);
    socket_bind(&asking, 1000);
    socket_sendto(&asking, "datagram", 8, &to, &res, NULL);
    socket_recvfrom(&asking, answer, 4, &datagram_bytes, &datagram_from, &res, NULL);  // the rest is cut
    socket_close(&asking);
    BF_END
}

static void test_datagrams(void **state)
{
    (void)state;
    memset(answer, 0, sizeof answer);
    TASK_START(server_task, answers_datagrams, NULL, 1);
    TASK_START(client_task, asks_by_datagram, NULL, 1);
    run_until(clock_us + 1000000);
    assert_int_equal(datagram_bytes, 4);
    assert_string_equal((char *)answer, "data");
    assert_int_equal(datagram_from.port, 9);
}

// --- a task of high priority while echo is saturated -----------------------------------------------------------------

#define CALL_US 10u  // what each call costs here
static uint64_t worst_us;
static unsigned beats;
static uint64_t saturated_bytes;
static DEF_TIMER(beat);

static uint64_t costly_now_us(void) { return clock_us += CALL_US; }
static const struct coop_board slow_machine = {{costly_now_us, sleep_until},
                                               {.entropy = entropy, .alloc = allocate, .free = give_back}};

static BFD keeps_time(void *prm)
{
    AUTO uint64_t due;
    (void)prm;
    BF_BEGIN
    due = coop.now_us + 1000;
    TIMER_START(&beat, 1, 1);
    for (beats = 0; beats < 200; beats++) {
        TIMER_WAIT(&beat);
        if (coop.now_us > due && coop.now_us - due > worst_us)
            worst_us = coop.now_us - due;
        due = beat.due_us;
    }
    coop_timer_stop(&beat);
    stop_echo = true;
    BF_END
}
// Sends as fast as it can and reads as fast as it can.
static BFD saturates(void *prm)
{
    AUTO unsigned sent, got;
    AUTO int res;
    static unsigned char data[512];
    (void)prm;
    BF_BEGIN
    STRM_SOCKET(client, SOCK_MODE(SOCK_BLOCKING), NULL, 0);
    socket_connect(&client, LOCALHOST, 7, &res, NULL);
    client.mode = SOCK_NONBLOCKING;
    while (!stop_echo) {
        clock_us += CALL_US;
        socket_send(&client, data, sizeof data, &sent, &res, NULL);
        socket_recv(&client, data, sizeof data, &got, &res, NULL);
        saturated_bytes += got;
    }
    socket_close(&client);
    BF_END
}

static void test_a_task_of_high_priority_waits_no_longer_than_a_run(void **state)
{
    (void)state;
    weir_destroy(weir);
    weir = coop_port_start(&slow_machine, NULL, 0);
    stop_echo = false;
    worst_us = saturated_bytes = 0;
    TASK_START(urgent_task, keeps_time, NULL, 200);
    TASK_START(server_task, echo, NULL, 1);
    TASK_START(client_task, saturates, NULL, 1);
    run_until(clock_us + 5000000);
    assert_int_equal(beats, 200);
    assert_true(saturated_bytes > 100000);                     // it was busy
    assert_in_range(worst_us, 0, CALL_US * (COOP_CALLS + 4));  // a run, and a round's looks at the clock
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_client_and_a_server, setup, teardown),
        cmocka_unit_test_setup_teardown(test_connecting_to_nobody_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(test_sockets_have_the_sizes_they_were_given, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_wait_has_a_timeout_and_need_not_block, setup, teardown),
        cmocka_unit_test_setup_teardown(test_data_is_acknowledged_when_the_task_waits_for_more, setup, teardown),
        cmocka_unit_test_setup_teardown(test_what_is_sent_at_once_leaves_in_two_segments, setup, teardown),
        cmocka_unit_test_setup_teardown(test_one_task_serves_two_sessions, setup, teardown),
        cmocka_unit_test_setup_teardown(test_datagrams, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_task_of_high_priority_waits_no_longer_than_a_run, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
