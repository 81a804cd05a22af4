// SPDX-License-Identifier: BSD-2-Clause
// profiles: small_apps
// The resolver against a name server on the same instance that can be told to misbehave (RFC 5452).
#include "apps/bench.h"

#include "dns/resolver.h"
#include "service.h"

enum behaviour {
    GOOD,
    SILENT,
    WRONG_ID,
    LOWER_CASE,
    TRUNCATED,
    SERVFAIL,
    WRONG_PORT,
    NO_NAME,
    FORMERR,
    FORMERR_BARE,
    BADVERS,
    DROPS_EXTENDED,
    LARGE
};

struct server {
    struct weir_watch udp, tcp, stream;
    struct loop *loop;
    weir_socket socket, listener, other;
    enum behaviour behaviour;
    uint32_t asked, asked_tcp, ports, asked_extended;
    uint16_t last_port;
    uint16_t last_id;
};

struct outcome {
    int result;
    uint32_t calls;
    struct dns_answer answer;
};

static struct server server;

// Answers a query in place; returns its new length.
static uint32_t answer(uint8_t *bytes, uint32_t length, uint32_t ttl_s, bool tcp)
{
    static const uint8_t opt[] = {0, 0, 41, 1232 >> 8, 1232 & 255, 0, 0, 0, 0, 0, 0};
    const bool extended = bytes[11];
    if (extended) {
        length -= (uint32_t)sizeof opt;
        assert_memory_equal(bytes + length, opt, sizeof opt);
        bytes[11] = 0;
        server.asked_extended++;
    }
    bytes[2] = 0x81;
    bytes[3] = 0x80;
    if (extended && server.behaviour == BADVERS) {
        memcpy(bytes + length, opt, sizeof opt);
        bytes[length + 5] = 1;  // 16 is 1 here and 0 in the header
        bytes[11] = 1;
        return length + (uint32_t)sizeof opt;
    }
    if (extended && (server.behaviour == FORMERR || server.behaviour == FORMERR_BARE)) {
        bytes[3] |= 1;
        if (server.behaviour == FORMERR)
            return length;
        bytes[5] = 0;
        return 12;
    }
    if (server.behaviour == TRUNCATED && !tcp) {
        bytes[2] |= 2;
        return length;
    }
    if (server.behaviour == SERVFAIL || server.behaviour == NO_NAME) {
        bytes[3] |= server.behaviour == SERVFAIL ? 2 : 3;
        return length;
    }
    for (uint32_t i = 12; server.behaviour == LOWER_CASE && i < length - 4; i++)
        bytes[i] = bytes[i] >= 'A' && bytes[i] <= 'Z' ? (uint8_t)(bytes[i] | 0x20) : bytes[i];
    const uint8_t record[] = {
        0xc0, 12, 0,  1, 0, 1, (uint8_t)(ttl_s >> 24), (uint8_t)(ttl_s >> 16), (uint8_t)(ttl_s >> 8), (uint8_t)ttl_s,
        0,    4,  10, 9, 8, 7};
    for (uint32_t i = 0; server.behaviour == LARGE && i < 60; i++) {  // of another name
        memcpy(bytes + length, record, sizeof record);
        bytes[length + 1] = 17;
        bytes[7]++;
        length += (uint32_t)sizeof record;
    }
    bytes[7]++;
    memcpy(bytes + length, record, sizeof record);
    length += (uint32_t)sizeof record;
    if (length > (tcp ? 4096u : extended ? 1232u : 512u)) {
        bytes[2] |= 2;
        return 12;
    }
    return length;
}

static void udp_event(struct weir_watch *watch, weir_socket socket, uint32_t events)
{
    struct weir *weir = server.loop->weir;
    struct weir_message message;
    struct weir_slice slice;
    uint8_t bytes[2000];
    (void)watch, (void)events;
    while (weir_socket_peek_message(weir, socket, &message, &slice) >= 0) {
        const struct weir_message reply = {.peer = message.peer, .local = message.local};
        assert_true(slice.length <= DNS_UDP_MAX);
        memcpy(bytes, slice.data, slice.length);
        server.asked++;
        server.ports += message.peer.port != server.last_port;
        server.last_port = message.peer.port;
        uint32_t length = answer(bytes, slice.length, 300, false);
        const struct weir_slice out = {bytes, length};
        for (int i = 0; server.behaviour == WRONG_ID && i < 20; i++) {  // somebody guesses
            bytes[0]++;
            (void)weir_socket_send_message(weir, socket, &reply, &out, 1);
        }
        if (server.behaviour == DROPS_EXTENDED && slice.data[11])
            (void)0;
        else if (server.behaviour == WRONG_PORT)
            (void)weir_socket_send_message(weir, server.other, &reply, &out, 1);
        else if (server.behaviour != SILENT && server.behaviour != WRONG_ID)
            (void)weir_socket_send_message(weir, socket, &reply, &out, 1);
        (void)weir_socket_discard(weir, socket);
    }
}

static void stream_event(struct weir_watch *watch, weir_socket socket, uint32_t events)
{
    struct weir *weir = server.loop->weir;
    uint8_t bytes[600];
    (void)watch, (void)events;
    int got = weir_socket_read(weir, socket, bytes, sizeof bytes - 32);
    if (got == WEIR_AGAIN)
        return;
    if (got < 2) {
        (void)weir_socket_close(weir, socket);
        return;
    }
    server.asked_tcp++;
    uint32_t length = answer(bytes + 2, (uint32_t)got - 2, 300, true);
    bytes[0] = (uint8_t)(length >> 8);
    bytes[1] = (uint8_t)length;
    assert_int_equal(weir_socket_write(weir, socket, bytes, 1), 1);  // in two pieces
    assert_int_equal(weir_socket_write(weir, socket, bytes + 1, length + 1), length + 1);
}

static void tcp_event(struct weir_watch *watch, weir_socket socket, uint32_t events)
{
    weir_socket accepted;
    (void)watch, (void)events;
    while ((accepted = service_accept(server.loop, socket, &server.stream)) > 0)
        stream_event(&server.stream, accepted, WEIR_READABLE);
}

static void open_all(struct bench *bench, struct dns *dns, enum behaviour behaviour)
{
    const struct weir_addr here = weir_ip4(127, 0, 0, 1);
    bench_open(bench);
    server = (struct server){
        .udp = {udp_event}, .tcp = {tcp_event}, .stream = {stream_event}, .loop = &bench->loop, .behaviour = behaviour};
    server.socket = service_bind(&bench->loop, DNS_PORT, &server.udp);
    server.other = service_bind(&bench->loop, 5353, &server.udp);
    server.listener = service_listen(&bench->loop, DNS_PORT, &server.tcp);
    assert_true(server.socket > 0 && server.other > 0 && server.listener > 0);
    dns_start(dns, &bench->loop);
    dns_servers(dns, &here, 1);
}

static void close_all(struct bench *bench, struct dns *dns)
{
    dns_stop(dns);
    service_close(&bench->loop, &server.socket);
    service_close(&bench->loop, &server.other);
    service_close(&bench->loop, &server.listener);
    bench_run(bench, 1000000);
    bench_close(bench);
}

static void done(void *context, int result, const struct dns_answer *got)
{
    struct outcome *outcome = context;
    outcome->result = result;
    outcome->answer = *got;
    outcome->calls++;
}

static int resolve(struct bench *bench, struct dns *dns, const char *name, uint64_t us)
{
    struct outcome outcome = {.result = WEIR_IN_PROGRESS};
    struct dns_answer at_once;
    int result = dns_resolve(dns, name, &at_once, done, &outcome);
    if (result != WEIR_IN_PROGRESS)
        return result;
    bench_run(bench, us);
    assert_true(outcome.calls <= 1);
    if (outcome.result == DNS_FOUND)
        assert_int_equal(weir_addr_to_v4(outcome.answer.addresses[0]), 0x0a090807);
    return outcome.result;
}

static void names_are_found_and_kept(void **state)
{
    struct bench bench;
    static struct dns dns;
    struct dns_answer answer_kept;
    (void)state;
    open_all(&bench, &dns, GOOD);
    assert_int_equal(resolve(&bench, &dns, "weir.example", 100000), DNS_FOUND);
    assert_int_equal(server.asked, 1);
    bench_run(&bench, 100000000);
    assert_int_equal(dns_resolve(&dns, "WEIR.example.", &answer_kept, done, NULL), DNS_FOUND);
    assert_in_range(answer_kept.ttl_s, 198, 200);
    assert_int_equal(server.asked, 1);
    bench_run(&bench, 200000000);  // it has expired
    assert_int_equal(resolve(&bench, &dns, "weir.example", 100000), DNS_FOUND);
    assert_int_equal(server.asked, 2);
    close_all(&bench, &dns);
}

static void some_names_need_no_server(void **state)
{
    struct bench bench;
    static struct dns dns;
    struct dns_answer at_once;
    (void)state;
    open_all(&bench, &dns, SILENT);
    assert_int_equal(dns_resolve(&dns, "192.0.2.1", &at_once, done, NULL), DNS_FOUND);
    assert_int_equal(weir_addr_to_v4(at_once.addresses[0]), 0xc0000201);
    assert_int_equal(dns_resolve(&dns, "LocalHost", &at_once, done, NULL), DNS_FOUND);
    assert_int_equal(dns_resolve(&dns, "a..b", &at_once, done, NULL), WEIR_INVALID);
    dns_servers(&dns, NULL, 0);
    assert_int_equal(dns_resolve(&dns, "weir.example", &at_once, done, NULL), WEIR_NO_ROUTE);
    assert_int_equal(server.asked, 0);
    close_all(&bench, &dns);
}

static void every_try_comes_from_another_port(void **state)
{
    struct bench bench;
    static struct dns dns;
    (void)state;
    open_all(&bench, &dns, SILENT);
    assert_int_equal(resolve(&bench, &dns, "weir.example", 60000000), WEIR_TIMED_OUT);
    assert_int_equal(server.asked, DNS_TRIES);
    assert_int_equal(server.ports, DNS_TRIES);
    close_all(&bench, &dns);
}

static void guesses_lead_to_tcp(void **state)
{
    struct bench bench;
    static struct dns dns;
    (void)state;
    open_all(&bench, &dns, WRONG_ID);
    assert_int_equal(resolve(&bench, &dns, "weir.example", 1000000), DNS_FOUND);
    assert_int_equal(server.asked_tcp, 1);
    assert_int_equal(dns.count.forged, DNS_FORGED_MAX);
    close_all(&bench, &dns);
}

static void changed_case_and_truncation_lead_to_tcp(void **state)
{
    struct bench bench;
    static struct dns dns;
    (void)state;
    open_all(&bench, &dns, LOWER_CASE);
    assert_int_equal(resolve(&bench, &dns, "a-name-with-many-letters.weir.example", 1000000), DNS_FOUND);
    assert_int_equal(server.asked_tcp, 1);
    close_all(&bench, &dns);
    open_all(&bench, &dns, TRUNCATED);
    assert_int_equal(resolve(&bench, &dns, "weir.example", 1000000), DNS_FOUND);
    assert_int_equal(server.asked_tcp, 1);
    close_all(&bench, &dns);
}

// RFC 6891 §7, in the ways in which servers say that they do not know it.
static void a_server_without_extension_is_asked_without(void **state)
{
    static const enum behaviour ways[] = {FORMERR, FORMERR_BARE, BADVERS};
    struct bench bench;
    static struct dns dns;
    (void)state;
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        open_all(&bench, &dns, ways[i]);
        assert_int_equal(resolve(&bench, &dns, "weir.example", 1000000), DNS_FOUND);
        assert_int_equal(server.asked, 2);
        assert_int_equal(server.asked_extended, 1);
        assert_int_equal(dns.count.not_extended, 1);
        assert_int_equal(server.asked_tcp, 0);
        close_all(&bench, &dns);
    }
}

static void a_way_that_drops_extended_questions(void **state)
{
    struct bench bench;
    static struct dns dns;
    (void)state;
    open_all(&bench, &dns, DROPS_EXTENDED);
    assert_int_equal(resolve(&bench, &dns, "weir.example", 10000000), DNS_FOUND);
    assert_int_equal(server.asked, 2);
    assert_int_equal(server.asked_extended, 1);
    close_all(&bench, &dns);
}

// 60 records of 16 bytes: more than 512, less than 1232.
static void a_large_answer_needs_no_tcp(void **state)
{
    struct bench bench;
    static struct dns dns;
    (void)state;
    open_all(&bench, &dns, LARGE);
    assert_int_equal(resolve(&bench, &dns, "weir.example", 1000000), DNS_FOUND);
    assert_int_equal(server.asked, 1);
    assert_int_equal(server.asked_tcp, 0);
    close_all(&bench, &dns);
}

static void answers_from_another_port_do_not_count(void **state)
{
    struct bench bench;
    static struct dns dns;
    (void)state;
    open_all(&bench, &dns, WRONG_PORT);
    assert_int_equal(resolve(&bench, &dns, "weir.example", 60000000), WEIR_TIMED_OUT);
    close_all(&bench, &dns);
}

static void failures_are_told(void **state)
{
    struct bench bench;
    static struct dns dns;
    (void)state;
    open_all(&bench, &dns, SERVFAIL);
    assert_int_equal(resolve(&bench, &dns, "weir.example", 1000000), WEIR_REFUSED);
    assert_int_equal(server.asked, DNS_TRIES);
    close_all(&bench, &dns);
    open_all(&bench, &dns, NO_NAME);
    assert_int_equal(resolve(&bench, &dns, "weir.example", 1000000), DNS_NO_NAME);
    close_all(&bench, &dns);
}

// Where nobody has the port the next server is asked at once, and the question ends when there is none.
static void closed_ports_are_not_waited_for(void **state)
{
    struct bench bench;
    static struct dns dns;
    const struct weir_addr both[2] = {weir_ip4(127, 0, 0, 2), BENCH_LOOPBACK};
    (void)state;
    open_all(&bench, &dns, GOOD);
    service_close(&bench.loop, &server.socket);
    const uint64_t begun_us = bench.f.now_us;
    assert_int_equal(resolve(&bench, &dns, "weir.example", 100000), WEIR_TIMED_OUT);
    assert_true(bench.f.now_us - begun_us < DNS_TIMEOUT_US);
    dns_servers(&dns, both, 2);
    const struct weir_endpoint second = {BENCH_LOOPBACK, 53};
    server.socket = weir_socket_open(bench.f.weir, WEIR_DATAGRAM, 0);
    assert_int_equal(weir_socket_bind(bench.f.weir, server.socket, &second), WEIR_OK);
    assert_int_equal(loop_watch(&bench.loop, server.socket, &server.udp), WEIR_OK);
    assert_int_equal(resolve(&bench, &dns, "weir.example", 100000), DNS_FOUND);
    assert_int_equal(server.asked, 1);
    close_all(&bench, &dns);
}

static void a_name_is_asked_once_at_a_time(void **state)
{
    struct bench bench;
    static struct dns dns;
    struct outcome outcomes[DNS_QUERIES] = {{.calls = 0}};
    struct dns_answer at_once;
    (void)state;
    open_all(&bench, &dns, GOOD);
    for (uint32_t i = 0; i < DNS_QUERIES; i++)
        assert_int_equal(dns_resolve(&dns, i % 2 ? "weir.EXAMPLE" : "weir.example", &at_once, done, &outcomes[i]),
                         WEIR_IN_PROGRESS);
    assert_int_equal(dns_resolve(&dns, "other.example", &at_once, done, NULL), WEIR_NO_MEMORY);
    bench_run(&bench, 1000000);
    assert_int_equal(server.asked, 1);
    for (uint32_t i = 0; i < DNS_QUERIES; i++) {
        assert_int_equal(outcomes[i].calls, 1);
        assert_int_equal(outcomes[i].result, DNS_FOUND);
    }
    close_all(&bench, &dns);
}

static void stopping_ends_what_is_under_way(void **state)
{
    struct bench bench;
    static struct dns dns;
    struct outcome outcome = {.calls = 0};
    struct dns_answer at_once;
    (void)state;
    open_all(&bench, &dns, SILENT);
    assert_int_equal(dns_resolve(&dns, "weir.example", &at_once, done, &outcome), WEIR_IN_PROGRESS);
    close_all(&bench, &dns);
    assert_int_equal(outcome.calls, 1);
    assert_int_equal(outcome.result, WEIR_ABORTED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_found_and_kept),
        cmocka_unit_test(some_names_need_no_server),
        cmocka_unit_test(a_server_without_extension_is_asked_without),
        cmocka_unit_test(a_way_that_drops_extended_questions),
        cmocka_unit_test(a_large_answer_needs_no_tcp),
        cmocka_unit_test(every_try_comes_from_another_port),
        cmocka_unit_test(guesses_lead_to_tcp),
        cmocka_unit_test(changed_case_and_truncation_lead_to_tcp),
        cmocka_unit_test(answers_from_another_port_do_not_count),
        cmocka_unit_test(failures_are_told),
        cmocka_unit_test(closed_ports_are_not_waited_for),
        cmocka_unit_test(a_name_is_asked_once_at_a_time),
        cmocka_unit_test(stopping_ends_what_is_under_way),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
