// SPDX-License-Identifier: BSD-2-Clause
// profiles: small_apps
// Answers of multicast DNS (RFC 6762 §6 and §7, RFC 6763): which, when, to whom, and which not.
#include "apps/mdns/link.h"

#define TYPE "_http._tcp.local"
#define WEB "Web Page._http._tcp.local"
#define HOST "kitchen.local"
#define META "_services._dns-sd._udp.local"

static const uint8_t text[] = {6, 'p', 'a', 't', 'h', '=', '/'};
static const char *const subtypes[] = {"_printer", NULL};
static struct mdns_service web, second;

static void open_all(struct link *link)
{
    link_open_bare(link, "kitchen");
    web = (struct mdns_service){.name = "Web Page",
                                .type = "_http._tcp",
                                .subtypes = subtypes,
                                .txt = text,
                                .txt_length = sizeof text,
                                .port = 80};
    assert_int_equal(mdns_publish(&link->mdns, &web), WEIR_OK);
    second = (struct mdns_service){.name = "Second", .type = "_http._tcp", .port = 81};
    assert_int_equal(mdns_publish(&link->mdns, &second), WEIR_OK);
    bench_run(&link->b, 10 * SECOND);
    link_forget(link);
}

static struct other *question(const char *name, uint16_t type, uint16_t class)
{
    static struct other other;
    other_begin(&other, 0);
    other_ask(&other, name, type, class);
    return &other;
}

// When the first answer to what is asked now leaves, µs from now; UINT64_MAX: none within five seconds.
static uint64_t answered(struct link *link, struct other *other, struct message *m)
{
    const uint64_t now_us = link->b.f.now_us;
    link_forget(link);
    other_send(other, link);
    bench_run(&link->b, 5 * SECOND);
    return link_next(link, m) ? m->sent_us - now_us : UINT64_MAX;
}

static void unique_answers_come_at_once(void **state)
{
    struct link link;
    struct message m;
    struct mdns_record record;
    (void)state;
    open_all(&link);
    assert_true(answered(&link, question("KITCHEN.local", MDNS_A, MDNS_IN), &m) <= 10000);
    assert_int_equal(m.flags, MDNS_RESPONSE);
    assert_true(weir_addr_equal(m.to, GROUP));
    assert_int_equal(m.port, MDNS_PORT);
    assert_int_equal(records_of(&m, 0), 0);
    assert_int_equal(records_in(&m, HOST, MDNS_A, 1, &record), 1);
    assert_int_equal(record.rrclass, MDNS_IN | MDNS_FLUSH);
    assert_int_equal(records_in(&m, HOST, MDNS_NSEC, 3, &record), 1);  // there is no AAAA to add: that is said
    assert_int_equal(record.rrclass, MDNS_IN | MDNS_FLUSH);
    assert_true(answered(&link, question(HOST, MDNS_A, MDNS_ANY), &m) <= 10000);  // any class
    assert_int_equal(records_in(&m, HOST, MDNS_A, 1, NULL), 1);
    assert_true(answered(&link, question(WEB, MDNS_SRV, MDNS_IN), &m) <= 10000);
    assert_int_equal(records_in(&m, WEB, MDNS_SRV, 1, &record), 1);
    assert_int_equal(record.ttl_s, 120);
    assert_int_equal(records_in(&m, HOST, MDNS_A, 3, NULL), 1);
    assert_true(answered(&link, question(WEB, MDNS_TXT, MDNS_IN), &m) <= 10000);
    assert_int_equal(records_in(&m, WEB, MDNS_TXT, 1, &record), 1);
    assert_int_equal(record.data_length, sizeof text);
    assert_memory_equal(m.bytes + record.data, text, sizeof text);
    assert_true(answered(&link, question("Second._http._tcp.local", MDNS_TXT, MDNS_IN), &m) <= 10000);
    assert_int_equal(records_in(&m, "Second._http._tcp.local", MDNS_TXT, 1, &record), 1);
    assert_int_equal(record.data_length, 1);  // a TXT record has at least one byte
    assert_true(answered(&link, question("other.local", MDNS_A, MDNS_IN), &m) == UINT64_MAX);
    assert_true(answered(&link, question(HOST, MDNS_A, 3), &m) == UINT64_MAX);  // another class
    link_close(&link);
}

static void shared_answers_wait_at_random(void **state)
{
    struct link link;
    struct message m;
    struct mdns_record record;
    uint64_t least = UINT64_MAX, most = 0;
    uint32_t early = 0;
    (void)state;
    open_all(&link);
    for (int i = 0; i < 60; i++) {
        const uint64_t delay = answered(&link, question(TYPE, MDNS_PTR, MDNS_IN), &m);
        assert_true(delay >= 20000 && delay <= 120000);
        least = delay < least ? delay : least;
        most = delay > most ? delay : most;
        early += delay < 70000;
        assert_int_equal(records_in(&m, TYPE, MDNS_PTR, 1, &record), 2);
        assert_int_equal(record.rrclass, MDNS_IN);  // shared: no flush bit
        assert_int_equal(record.ttl_s, 4500);
        // what the asker needs next, each once (RFC 6763 §12.1)
        assert_int_equal(records_in(&m, WEB, MDNS_SRV, 3, NULL), 1);
        assert_int_equal(records_in(&m, WEB, MDNS_TXT, 3, NULL), 1);
        assert_int_equal(records_in(&m, HOST, MDNS_A, 3, NULL), 1);
        assert_false(link_next(&link, &m));
    }
    assert_true(least < 30000 && most > 110000 && early >= 20 && early <= 40);
    link_close(&link);
}

static void types_and_subtypes_are_told(void **state)
{
    struct link link;
    struct message m;
    (void)state;
    open_all(&link);
    assert_true(answered(&link, question(META, MDNS_PTR, MDNS_IN), &m) >= 20000);
    assert_int_equal(records_in(&m, META, MDNS_PTR, 1, NULL), 1);  // once, for two services
    assert_true(answered(&link, question("_printer._sub._http._tcp.local", MDNS_PTR, MDNS_IN), &m) >= 20000);
    assert_int_equal(records_in(&m, "_printer._sub._http._tcp.local", MDNS_PTR, 1, NULL), 1);
    assert_int_equal(records_in(&m, WEB, MDNS_SRV, 3, NULL), 1);
    link_close(&link);
}

static void several_questions_have_one_answer(void **state)
{
    struct link link;
    struct message m;
    (void)state;
    open_all(&link);
    struct other *other = question(TYPE, MDNS_PTR, MDNS_IN);
    other_ask(other, WEB, MDNS_ANY, MDNS_IN);
    other_ask(other, WEB, MDNS_SRV, MDNS_IN);
    other_ask(other, HOST, MDNS_A, MDNS_IN);
    assert_true(answered(&link, other, &m) >= 20000);
    assert_int_equal(records_in(&m, WEB, MDNS_SRV, 0, NULL), 1);  // nothing twice, in no section
    assert_int_equal(records_in(&m, WEB, MDNS_TXT, 0, NULL), 1);
    assert_int_equal(records_in(&m, HOST, MDNS_A, 0, NULL), 1);
    assert_int_equal(records_in(&m, TYPE, MDNS_PTR, 0, NULL), 2);
    assert_false(link_next(&link, &m));
    link_close(&link);
}

// Two ask for different records: the answer that waits takes the other along, and what is due at once waits for none.
static void answers_that_wait_go_together(void **state)
{
    struct link link;
    struct message m;
    (void)state;
    open_all(&link);
    uint32_t together = 0;
    for (int i = 0; i < 20; i++) {
        bench_run(&link.b, 2 * SECOND);
        link_forget(&link);
        const uint64_t now_us = link.b.f.now_us;
        other_send(question(TYPE, MDNS_PTR, MDNS_IN), &link);
        bench_run(&link.b, 5000);
        struct other *const other = question(META, MDNS_PTR, MDNS_IN);
        other->from = THIRD;
        other_send(other, &link);
        bench_run(&link.b, 5000);
        other_send(question(HOST, MDNS_A, MDNS_IN), &link);
        bench_run(&link.b, SECOND);
        assert_true(link_next(&link, &m) && m.sent_us - now_us <= 15000);
        assert_int_equal(records_in(&m, HOST, MDNS_A, 1, NULL), 1);
        assert_int_equal(records_in(&m, TYPE, MDNS_PTR, 0, NULL), 0);
        assert_true(link_next(&link, &m) && m.sent_us - now_us <= 120000);
        assert_int_equal(records_in(&m, TYPE, MDNS_PTR, 1, NULL), 2);
        together += records_in(&m, META, MDNS_PTR, 1, NULL);
    }
    assert_true(together >= 15);  // all but those whose first answer left within 20 ms of the second question
    link_close(&link);
}

// What is not ours yet, and names that others may have, too: no answer, and no denial.
static void only_what_is_ours_is_answered(void **state)
{
    struct link link;
    struct message m;
    (void)state;
    link_open_bare(&link, "kitchen");
    bench_run(&link.b, 300000);
    assert_int_equal(link.mdns.host.state, MDNS_PROBING);
    other_send(question(HOST, MDNS_A, MDNS_IN), &link);
    other_send(question(HOST, MDNS_AAAA, MDNS_IN), &link);
    bench_run(&link.b, 100000);
    while (link_next(&link, &m))
        assert_int_equal(m.flags, 0);  // probes
    link_close(&link);
    open_all(&link);
    assert_true(answered(&link, question(TYPE, MDNS_A, MDNS_IN), &m) == UINT64_MAX);
    assert_true(answered(&link, question("_printer._sub._http._tcp.local", MDNS_SRV, MDNS_IN), &m) == UINT64_MAX);
    link_close(&link);
}

static void missing_types_are_denied(void **state)
{
    struct link link;
    struct message m;
    struct mdns_record record;
    (void)state;
    open_all(&link);
    assert_true(answered(&link, question(HOST, MDNS_AAAA, MDNS_IN), &m) <= 10000);
    assert_int_equal(records_in(&m, HOST, MDNS_NSEC, 1, &record), 1);
    const uint8_t *map = m.bytes + record.data + record.data_length - 6;
    assert_memory_equal(map, "\0\4\x40\0\0\0", 6);  // A alone
    assert_true(answered(&link, question(WEB, MDNS_A, MDNS_IN), &m) <= 10000);
    assert_int_equal(records_in(&m, WEB, MDNS_NSEC, 1, &record), 1);
    map = m.bytes + record.data + record.data_length - 7;
    assert_memory_equal(map, "\0\5\0\0\x80\0\x40", 7);  // TXT and SRV
    link_close(&link);
}

// --- what is not said ------------------------------------------------------------------------------------------------

static void a_record_goes_out_once_a_second(void **state)
{
    struct link link;
    struct message m;
    (void)state;
    open_all(&link);
    uint64_t before_us = 0;
    uint32_t count = 0;
    for (int i = 0; i < 50; i++) {
        other_send(question(HOST, MDNS_A, MDNS_IN), &link);
        bench_run(&link.b, 100000);
    }
    while (link_next(&link, &m)) {
        assert_true(count == 0 || m.sent_us - before_us >= SECOND);
        before_us = m.sent_us;
        count++;
    }
    assert_true(count >= 4 && count <= 5);
    // To defend it against a probe: every 250 ms.
    bench_run(&link.b, 2 * SECOND);
    link_forget(&link);
    for (int i = 0; i < 2; i++) {
        struct other *other = question(HOST, MDNS_ANY, MDNS_IN | MDNS_UNICAST);
        other_a(other, 2, HOST, MDNS_IN, 120, 9);
        other_send(other, &link);
        bench_run(&link.b, 260000);
        assert_true(link_next(&link, &m));
        assert_true(weir_addr_equal(m.to, GROUP));
        assert_false(link_next(&link, &m));
    }
    link_close(&link);
}

// A probe that comes sooner than 250 ms after the last answer is answered then, not passed over.
static void a_defence_waits_for_its_limit(void **state)
{
    struct link link;
    struct message m;
    uint64_t before_us = 0;
    (void)state;
    open_all(&link);
    for (int i = 0; i < 3; i++) {
        struct other *other = question(HOST, MDNS_ANY, MDNS_IN | MDNS_UNICAST);
        other_a(other, 2, HOST, MDNS_IN, 120, 9);
        other_send(other, &link);
        bench_run(&link.b, 100000);
    }
    bench_run(&link.b, SECOND);
    for (int i = 0; i < 2; i++) {
        assert_true(link_next(&link, &m));
        assert_int_equal(records_in(&m, HOST, MDNS_A, 1, NULL), 1);
        assert_true(i == 0 || m.sent_us - before_us == 250000);
        before_us = m.sent_us;
    }
    assert_false(link_next(&link, &m));
    link_close(&link);
}

static uint64_t with_known(uint32_t ttl_s, bool other_data, struct message *m)
{
    struct link link;
    open_all(&link);
    struct other *other = question(TYPE, MDNS_PTR, MDNS_IN);
    other_ptr(other, 1, TYPE, ttl_s, other_data ? "Third._http._tcp.local" : "WEB page._http._tcp.local");
    const uint64_t delay = answered(&link, other, m);
    const uint32_t count = delay == UINT64_MAX ? 0 : records_in(m, TYPE, MDNS_PTR, 1, NULL);
    link_close(&link);
    return count;
}

static void known_answers_are_left_out(void **state)
{
    struct link link;
    struct message m;
    (void)state;
    assert_int_equal(with_known(4500, false, &m), 1);  // the other service remains
    assert_int_equal(with_known(2250, false, &m), 1);
    assert_int_equal(with_known(2249, false, &m), 2);  // less than half is left of it
    assert_int_equal(with_known(4500, true, &m), 2);
    open_all(&link);
    struct other *other = question(HOST, MDNS_A, MDNS_IN);
    other_a(other, 1, HOST, MDNS_IN, 120, 1);
    assert_true(answered(&link, other, &m) == UINT64_MAX);
    other = question(HOST, MDNS_A, MDNS_IN);
    other_a(other, 1, HOST, MDNS_IN, 120, 2);
    assert_true(answered(&link, other, &m) <= 10000);
    link_close(&link);
}

// One message asks for two things, and knows one of them.
static void known_answers_are_left_out_of_several(void **state)
{
    struct link link;
    struct message m;
    (void)state;
    open_all(&link);
    struct other *other = question(WEB, MDNS_SRV, MDNS_IN);
    other_ask(other, WEB, MDNS_TXT, MDNS_IN);
    other_record(other, 1, WEB, MDNS_TXT, MDNS_IN, 4500, text, sizeof text);
    assert_true(answered(&link, other, &m) <= 120000);
    assert_int_equal(records_in(&m, WEB, MDNS_SRV, 1, NULL), 1);
    assert_int_equal(records_in(&m, WEB, MDNS_TXT, 0, NULL), 0);
    assert_false(link_next(&link, &m));
    link_close(&link);
}

// A set whose records carry the flush bit is sent whole, or not at all.
static void half_known_sets_are_sent_whole(void **state)
{
    struct link link;
    struct message m;
    (void)state;
    open_all(&link);
    assert_int_equal(weir_netif_address_add(&link.b.f.netif, weir_ip4(10, 0, 0, 8), 24, WEIR_ADDRESS_AT_ONCE), WEIR_OK);
    bench_run(&link.b, 10 * SECOND);
    struct other *other = question(HOST, MDNS_A, MDNS_IN);
    other_a(other, 1, HOST, MDNS_IN, 120, 8);
    assert_true(answered(&link, other, &m) <= 10000);
    assert_int_equal(records_in(&m, HOST, MDNS_A, 1, NULL), 2);
    other = question(HOST, MDNS_A, MDNS_IN);
    other_a(other, 1, HOST, MDNS_IN, 120, 8);
    other_a(other, 1, HOST, MDNS_IN, 120, 1);
    assert_true(answered(&link, other, &m) == UINT64_MAX);
    link_close(&link);
}

static void more_known_answers_are_waited_for(void **state)
{
    struct link link;
    struct message m;
    struct other rest;
    (void)state;
    open_all(&link);
    struct other *other = question(TYPE, MDNS_PTR, MDNS_IN);
    other->bytes[2] = MDNS_TRUNCATED >> 8;
    const uint64_t delay = answered(&link, other, &m);
    assert_true(delay >= 400000 && delay <= 500000);
    for (int turn = 0; turn < 2; turn++) {  // from him, and from another
        link_forget(&link);
        bench_run(&link.b, 2 * SECOND);
        other_send(other, &link);
        other_begin(&rest, 0);
        other_ptr(&rest, 1, TYPE, 4500, WEB);
        other_ptr(&rest, 1, TYPE, 4500, "Second._http._tcp.local");
        rest.from = turn == 0 ? OTHER : THIRD;
        other_send(&rest, &link);
        bench_run(&link.b, 2 * SECOND);
        assert_int_equal(link_next(&link, &m), turn);
    }
    link_close(&link);
}

// A further message of known answers says that more come: it is waited for those, too, and for nobody else's.
static void still_more_known_answers_are_waited_for(void **state)
{
    struct link link;
    struct message m;
    struct other more;
    (void)state;
    open_all(&link);
    for (int turn = 0; turn < 2; turn++) {  // from him, and from another
        bench_run(&link.b, 2 * SECOND);
        link_forget(&link);
        const uint64_t now_us = link.b.f.now_us;
        struct other *const other = question(TYPE, MDNS_PTR, MDNS_IN);
        other->bytes[2] = MDNS_TRUNCATED >> 8;
        other_send(other, &link);
        bench_run(&link.b, 300000);
        other_begin(&more, 0);
        other_ptr(&more, 1, TYPE, 4500, WEB);
        more.bytes[2] = MDNS_TRUNCATED >> 8;
        more.from = turn == 0 ? OTHER : THIRD;
        other_send(&more, &link);
        bench_run(&link.b, SECOND);
        assert_true(link_next(&link, &m));
        const uint64_t delay = m.sent_us - now_us;
        assert_true(turn == 0 ? delay >= 700000 && delay <= 800000 : delay >= 400000 && delay <= 500000);
    }
    link_close(&link);
}

static void what_another_says_is_not_repeated(void **state)
{
    struct link link;
    struct message m;
    struct other same;
    (void)state;
    open_all(&link);
    static const uint32_t ttls_s[] = {4500, 4499, 60};
    for (int turn = 0; turn < 3; turn++) {  // as long-lived as ours; shorter; soon over
        link_forget(&link);
        bench_run(&link.b, 2 * SECOND);
        other_send(question(TYPE, MDNS_PTR, MDNS_IN), &link);
        other_begin(&same, MDNS_RESPONSE);
        other_ptr(&same, 1, TYPE, ttls_s[turn], WEB);
        same.from = THIRD;
        other_send(&same, &link);
        bench_run(&link.b, 2 * SECOND);
        assert_true(link_next(&link, &m));
        assert_int_equal(records_in(&m, TYPE, MDNS_PTR, 1, NULL), turn == 0 ? 1 : 2);
    }
    link_close(&link);
}

// Of an answer to two questions another host has said one record: that one alone is left out.
static void what_another_says_of_several_is_not_repeated(void **state)
{
    struct link link;
    struct message m;
    struct other same;
    (void)state;
    open_all(&link);
    struct other *const other = question(TYPE, MDNS_PTR, MDNS_IN);
    other_ask(other, META, MDNS_PTR, MDNS_IN);
    other_send(other, &link);
    other_begin(&same, MDNS_RESPONSE);
    other_ptr(&same, 1, META, 4500, TYPE);
    same.from = THIRD;
    other_send(&same, &link);
    bench_run(&link.b, 2 * SECOND);
    assert_true(link_next(&link, &m));
    assert_int_equal(records_in(&m, TYPE, MDNS_PTR, 1, NULL), 2);
    assert_int_equal(records_in(&m, META, MDNS_PTR, 0, NULL), 0);
    assert_false(link_next(&link, &m));
    link_close(&link);
}

// Another host of ours has the same name and data: no conflict. But what it takes back, or lets expire, we say again.
static void the_same_from_another_host(void **state)
{
    struct link link;
    struct message m;
    struct other same;
    (void)state;
    open_all(&link);
    static const uint32_t ttls_s[] = {120, 60, 59, 0};
    for (int turn = 0; turn < 4; turn++) {
        link_forget(&link);
        other_begin(&same, MDNS_RESPONSE);
        other_a(&same, 1, HOST, MDNS_IN | MDNS_FLUSH, ttls_s[turn], 1);
        other_send(&same, &link);
        bench_run(&link.b, 2 * SECOND);
        assert_int_equal(link_next(&link, &m), turn >= 2);
    }
    assert_int_equal(link.mdns.count.conflicts, 0);
    link_close(&link);
}

static void odd_messages_are_ignored(void **state)
{
    struct link link;
    struct message m;
    (void)state;
    open_all(&link);
    struct other *other = question(HOST, MDNS_A, MDNS_IN);
    other->bytes[2] = 0x08;  // another operation
    assert_true(answered(&link, other, &m) == UINT64_MAX);
    other = question(HOST, MDNS_A, MDNS_IN);
    other->bytes[3] = 3;  // an error
    assert_true(answered(&link, other, &m) == UINT64_MAX);
    other = question(HOST, MDNS_A, MDNS_IN);
    other->bytes[2] = 0x84;  // a question in a response
    assert_true(answered(&link, other, &m) == UINT64_MAX);
    other = question(HOST, MDNS_A, MDNS_IN);
    other->bytes[0] = 0x77;  // an id means nothing
    assert_true(answered(&link, other, &m) <= 10000);
    assert_int_equal(m.id, 0);
    other = question(HOST, MDNS_A, MDNS_IN);
    other->bytes[2] = 0x05;  // AA and RD, RA, Z, AD and CD: nothing either
    other->bytes[3] = 0xf0;
    assert_true(answered(&link, other, &m) <= 10000);
    assert_int_equal(m.flags, MDNS_RESPONSE);
    const uint32_t ignored = link.mdns.count.ignored;
    other_begin(other, MDNS_RESPONSE);
    other_a(other, 1, HOST, MDNS_IN | MDNS_FLUSH, 120, 9);
    other->port = 5354;  // not from the port
    other_send(other, &link);
    assert_int_equal(link.mdns.count.conflicts, 0);
    assert_int_equal(link.mdns.count.ignored, ignored + 1);
    for (uint32_t cut = 1; cut < 30; cut++) {
        other = question(HOST, MDNS_A, MDNS_IN);
        link_input(&link, other->bytes, mdns_write_end(&other->writer) - cut, OTHER, GROUP, MDNS_PORT);
    }
    assert_int_equal(link.mdns.count.malformed, 29);
    link_close(&link);
}

// --- to one alone ----------------------------------------------------------------------------------------------------

static void unicast_is_answered_where_all_have_heard(void **state)
{
    struct link link;
    struct message m;
    struct mdns_record record;
    (void)state;
    open_all(&link);
    bench_run(&link.b, 40 * SECOND);  // more than a quarter of two minutes: for everybody
    assert_true(answered(&link, question(HOST, MDNS_A, MDNS_IN | MDNS_UNICAST), &m) <= 10000);
    assert_true(weir_addr_equal(m.to, GROUP));
    assert_true(answered(&link, question(HOST, MDNS_A, MDNS_IN | MDNS_UNICAST), &m) <= 10000);
    assert_true(weir_addr_equal(m.to, OTHER));
    assert_int_equal(m.port, MDNS_PORT);
    assert_int_equal(records_of(&m, 0), 0);
    assert_int_equal(records_in(&m, HOST, MDNS_A, 1, &record), 1);
    assert_int_equal(record.rrclass, MDNS_IN);
    assert_false(link_next(&link, &m));
    // asked by unicast: likewise
    struct other *other = question(HOST, MDNS_A, MDNS_IN);
    other->to = weir_ip4(10, 0, 0, 1);
    assert_true(answered(&link, other, &m) <= 10000);
    assert_true(weir_addr_equal(m.to, OTHER));
    other = question(HOST, MDNS_A, MDNS_IN);
    other->to = weir_ip4(10, 0, 0, 1);
    other->from = weir_ip4(192, 0, 2, 7);  // from afar
    assert_true(answered(&link, other, &m) == UINT64_MAX);
    link_close(&link);
}

static void resolvers_of_old_are_answered(void **state)
{
    struct link link;
    struct message m;
    struct mdns_record record;
    struct mdns_reader reader;
    struct mdns_question asked;
    (void)state;
    open_all(&link);
    static const char *const names[] = {HOST, WEB, TYPE};
    static const uint16_t types[] = {MDNS_A, MDNS_SRV, MDNS_PTR};
    for (int i = 0; i < 3; i++) {
        struct other *other = question(names[i], types[i], MDNS_IN);
        other->bytes[0] = 0x12;
        other->bytes[1] = 0x34;
        other->port = 40000;
        assert_true(answered(&link, other, &m) <= 10000);
        assert_true(weir_addr_equal(m.to, OTHER));
        assert_int_equal(m.port, 40000);
        assert_int_equal(m.id, 0x1234);
        assert_true(mdns_read_begin(&reader, m.bytes, m.length));
        assert_true(mdns_read_question(&reader, &asked));
        const struct mdns_name name = text_name(names[i]);
        assert_true(mdns_name_equal(&asked.name, &name));
        while (mdns_read_record(&reader, &record)) {
            assert_true(record.ttl_s <= 10);
            assert_int_equal(record.rrclass, MDNS_IN);
            assert_int_not_equal(record.type, MDNS_NSEC);
        }
        assert_true(records_in(&m, names[i], types[i], 1, &record) >= 1);
        const struct mdns_name host = text_name(HOST);
        assert_true(types[i] != MDNS_SRV || record.data_length == 6u + host.length);  // not compressed (§18.14)
        assert_false(link_next(&link, &m));
    }
    link_close(&link);
}

// --- changes ---------------------------------------------------------------------------------------------------------

static void new_data_is_announced(void **state)
{
    static const uint8_t changed[] = {3, 'x', '=', '1'};
    struct link link;
    struct message m;
    struct mdns_record record;
    (void)state;
    open_all(&link);
    for (int i = 0; i < 2; i++) {  // also within a second of the last time
        web.txt = i == 0 ? changed : text;
        web.txt_length = i == 0 ? sizeof changed : sizeof text;
        mdns_update(&link.mdns, &web);
        bench_run(&link.b, i == 0 ? 100000 : 10 * SECOND);
        assert_true(link_next(&link, &m));
        assert_int_equal(records_in(&m, WEB, MDNS_TXT, 1, &record), 1);
        assert_int_equal(record.rrclass, MDNS_IN | MDNS_FLUSH);
        assert_memory_equal(m.bytes + record.data, web.txt, web.txt_length);
    }
    // The flush bit leaves what is younger than a second: a second announcement ends the old data for all.
    assert_true(link_next(&link, &m));
    assert_int_equal(records_in(&m, WEB, MDNS_TXT, 1, &record), 1);
    assert_int_equal(record.data_length, sizeof text);
    link_close(&link);
}

static void goodbye_is_said(void **state)
{
    struct link link;
    struct message m;
    struct mdns_record record;
    (void)state;
    open_all(&link);
    mdns_withdraw(&link.mdns, &second);
    bench_run(&link.b, SECOND);
    assert_true(link_next(&link, &m));
    assert_int_equal(records_in(&m, "Second._http._tcp.local", MDNS_SRV, 1, &record), 1);
    assert_int_equal(record.ttl_s, 0);
    assert_int_equal(records_in(&m, TYPE, MDNS_PTR, 1, &record), 1);
    assert_int_equal(record.ttl_s, 0);
    assert_int_equal(records_in(&m, META, MDNS_PTR, 1, NULL), 0);  // the first has the type still
    assert_int_equal(records_in(&m, HOST, MDNS_A, 0, NULL), 0);
    assert_true(answered(&link, question("Second._http._tcp.local", MDNS_SRV, MDNS_IN), &m) == UINT64_MAX);
    link_forget(&link);
    mdns_stop(&link.mdns);
    bench_run(&link.b, SECOND);
    assert_true(link_next(&link, &m));
    assert_int_equal(records_in(&m, WEB, MDNS_SRV, 1, &record), 1);
    assert_int_equal(record.ttl_s, 0);
    assert_int_equal(records_in(&m, META, MDNS_PTR, 1, &record), 1);
    assert_int_equal(records_in(&m, HOST, MDNS_A, 1, &record), 1);
    assert_int_equal(record.ttl_s, 0);
    link_close(&link);
}

// By hand: the old name goes, and the new one is probed and announced.
static void a_service_is_renamed_by_hand(void **state)
{
    struct link link;
    struct message m;
    struct mdns_record record;
    uint32_t probes = 0, announced = 0;
    (void)state;
    open_all(&link);
    mdns_withdraw(&link.mdns, &web);
    web.name = "New Page";
    assert_int_equal(mdns_publish(&link.mdns, &web), WEIR_OK);
    bench_run(&link.b, 10 * SECOND);
    assert_true(link_next(&link, &m));
    assert_int_equal(records_in(&m, WEB, MDNS_SRV, 1, &record), 1);
    assert_int_equal(record.ttl_s, 0);
    while (link_next(&link, &m)) {
        probes += m.flags == 0 && records_in(&m, "New Page._http._tcp.local", MDNS_SRV, 2, NULL) == 1;
        announced += records_in(&m, "New Page._http._tcp.local", MDNS_SRV, 1, NULL);
        assert_int_equal(records_in(&m, WEB, MDNS_SRV, 0, NULL), 0);
    }
    assert_int_equal(probes, 3);
    assert_true(announced >= 2);
    link_close(&link);
}

// More services than a message holds: several messages, each within the limit, nothing lost.
static void many_services_take_several_messages(void **state)
{
    static struct mdns_service many[40];
    static char names[40][64];
    static uint8_t texts[201] = {200};
    struct link link;
    struct message m;
    uint32_t pointers = 0, messages = 0;
    (void)state;
    link_open(&link, "kitchen");
    for (int i = 0; i < 40; i++) {
        memset(names[i], 'a' + i % 26, 60);
        names[i][0] = (char)('0' + i / 26);
        many[i] = (struct mdns_service){
            .name = names[i], .type = "_x._udp", .port = 1, .txt = texts, .txt_length = sizeof texts};
        assert_int_equal(mdns_publish(&link.mdns, &many[i]), WEIR_OK);
    }
    bench_run(&link.b, 20 * SECOND);
    link_forget(&link);
    other_send(question("_x._udp.local", MDNS_PTR, MDNS_IN), &link);
    bench_run(&link.b, SECOND);
    while (link_next(&link, &m)) {
        assert_true(m.length <= MDNS_MESSAGE_MAX);
        pointers += records_in(&m, "_x._udp.local", MDNS_PTR, 1, NULL);
        messages++;
    }
    assert_int_equal(pointers, 40);
    assert_true(messages > 1);
    link_close(&link);
}

// Two instances on one host and port, as another program of the instance would be (RFC 6762 §15.1).
static void the_port_can_be_shared(void **state)
{
    struct link link;
    struct mdns guest;
    struct message m;
    const struct mdns_config config = {.host = "guest"};
    (void)state;
    link_open(&link, "kitchen");
    assert_int_equal(mdns_start(&guest, &link.b.loop, &link.b.f.netif, &config), WEIR_OK);
    bench_run(&link.b, 10 * SECOND);
    assert_true(answered(&link, question(HOST, MDNS_A, MDNS_IN), &m) <= 10000);
    assert_true(answered(&link, question("guest.local", MDNS_A, MDNS_IN), &m) <= 10000);
    mdns_stop(&guest);
    link_close(&link);
}

static void a_failure_to_send_hides_no_question(void **state)
{
    struct link link;
    struct message m;
    (void)state;
    open_all(&link);
    bench_fail(&link.b, link.mdns.socket);
    assert_true(answered(&link, question("kitchen.local", MDNS_A, MDNS_IN), &m) <= 10000);
    link_close(&link);
}

// An answer that could not be sent is sent when it can be: whoever probes has no other that says so.
static void an_answer_that_did_not_leave_is_sent_later(void **state)
{
    struct link link;
    struct message m;
    (void)state;
    open_all(&link);
    link_block(&link);
    other_send(question(HOST, MDNS_A, MDNS_IN), &link);
    bench_run(&link.b, 2 * SECOND);
    assert_false(link_next(&link, &m));
    bench_run(&link.b, 2 * SECOND);
    assert_true(link_next(&link, &m));
    assert_int_equal(records_in(&m, HOST, MDNS_A, 1, NULL), 1);
    bench_run(&link.b, 10 * SECOND);
    assert_false(link_next(&link, &m));
    link_close(&link);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unique_answers_come_at_once),
        cmocka_unit_test(shared_answers_wait_at_random),
        cmocka_unit_test(types_and_subtypes_are_told),
        cmocka_unit_test(several_questions_have_one_answer),
        cmocka_unit_test(answers_that_wait_go_together),
        cmocka_unit_test(only_what_is_ours_is_answered),
        cmocka_unit_test(missing_types_are_denied),
        cmocka_unit_test(a_record_goes_out_once_a_second),
        cmocka_unit_test(a_defence_waits_for_its_limit),
        cmocka_unit_test(known_answers_are_left_out),
        cmocka_unit_test(known_answers_are_left_out_of_several),
        cmocka_unit_test(half_known_sets_are_sent_whole),
        cmocka_unit_test(more_known_answers_are_waited_for),
        cmocka_unit_test(still_more_known_answers_are_waited_for),
        cmocka_unit_test(what_another_says_is_not_repeated),
        cmocka_unit_test(what_another_says_of_several_is_not_repeated),
        cmocka_unit_test(the_same_from_another_host),
        cmocka_unit_test(odd_messages_are_ignored),
        cmocka_unit_test(unicast_is_answered_where_all_have_heard),
        cmocka_unit_test(resolvers_of_old_are_answered),
        cmocka_unit_test(new_data_is_announced),
        cmocka_unit_test(goodbye_is_said),
        cmocka_unit_test(a_service_is_renamed_by_hand),
        cmocka_unit_test(many_services_take_several_messages),
        cmocka_unit_test(the_port_can_be_shared),
        cmocka_unit_test(a_failure_to_send_hides_no_question),
        cmocka_unit_test(an_answer_that_did_not_leave_is_sent_later),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
