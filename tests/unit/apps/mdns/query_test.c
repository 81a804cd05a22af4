// SPDX-License-Identifier: BSD-2-Clause
// profiles: small_apps
// Asking by multicast (RFC 6762 §5 and §10, RFC 6763 §4): when it is asked, what is believed, for how long.
#include "apps/mdns/link.h"

#define TYPE "_ipp._tcp.local"
#define INSTANCE "Dr\\. X's printer._ipp._tcp.local"
#define HOST "printer.local"

static struct mdns_browse browse;
static struct mdns_resolve resolve;
static struct mdns_lookup lookup;
static struct {
    uint32_t added, removed, changed;
    char last[256];
    bool stop;
} heard;

static void found(struct mdns_browse *self, const struct mdns_name *instance, bool added, void *context)
{
    (void)context;
    mdns_name_print(instance, heard.last, sizeof heard.last);
    heard.added += added;
    heard.removed += !added;
    if (heard.stop)
        mdns_browse_stop(self);
}

static void changed(struct mdns_resolve *self, void *context)
{
    (void)self, (void)context;
    heard.changed++;
}

static void addressed(struct mdns_lookup *self, void *context)
{
    (void)self, (void)context;
    heard.changed++;
}

static void open_browsing(struct link *link)
{
    memset(&heard, 0, sizeof heard);
    link_open(link, NULL);
    assert_int_equal(mdns_browse_start(&link->mdns, &browse, "_ipp._tcp", found, NULL), WEIR_OK);
}

static void announce(struct link *link, uint32_t ttl_s)
{
    static const uint8_t text[] = {4, 'r', 'p', '=', 'q', 5, 'C', 'o', 'l', 'o', 'r'};
    struct other other;
    other_begin(&other, MDNS_RESPONSE);
    other_ptr(&other, 1, TYPE, ttl_s, INSTANCE);
    other_a(&other, 3, HOST, MDNS_IN | MDNS_FLUSH, ttl_s, 2);  // before what leads to it
    other_srv(&other, 3, INSTANCE, MDNS_IN | MDNS_FLUSH, ttl_s, 631, HOST);
    other_record(&other, 3, INSTANCE, MDNS_TXT, MDNS_IN | MDNS_FLUSH, ttl_s, text, sizeof text);
    other_send(&other, link);
}

static uint32_t questions_in(const struct message *m, const char *text, uint16_t type, uint16_t class)
{
    const struct mdns_name name = text_name(text);
    struct mdns_reader reader;
    struct mdns_question question;
    uint32_t count = 0;
    assert_true(mdns_read_begin(&reader, m->bytes, m->length));
    while (mdns_read_question(&reader, &question))
        count += question.type == type && question.rrclass == class && mdns_name_equal(&question.name, &name);
    return count;
}

static void questions_grow_rare(void **state)
{
    struct link link;
    struct message m;
    uint64_t before_us = 0, gap_s = 1;
    uint32_t count = 0;
    (void)state;
    open_browsing(&link);
    const uint64_t begun_us = link.b.f.now_us;
    bench_run(&link.b, 30000ull * SECOND);
    while (link_next(&link, &m)) {
        assert_int_equal(m.flags, 0);
        assert_int_equal(m.id, 0);
        assert_true(weir_addr_equal(m.to, GROUP));
        assert_int_equal(questions_in(&m, TYPE, MDNS_PTR, count == 0 ? MDNS_IN | MDNS_UNICAST : MDNS_IN), 1);
        if (count == 0) {
            assert_true(m.sent_us - begun_us >= 20000 && m.sent_us - begun_us <= 120000);
        } else {
            assert_int_equal(m.sent_us - before_us, gap_s * SECOND);
            gap_s = gap_s >= 1800 ? 3600 : gap_s * 2;
        }
        before_us = m.sent_us;
        count++;
    }
    assert_true(count > 15);
    link_close(&link);
}

static void instances_are_found_and_resolved(void **state)
{
    struct link link;
    uint32_t length;
    (void)state;
    open_browsing(&link);
    bench_run(&link.b, 200000);
    announce(&link, 120);
    assert_int_equal(heard.added, 1);
    assert_string_equal(heard.last, "Dr\\. X's printer._ipp._tcp.local");
    link_forget(&link);
    // All of it came along: there is nothing to ask, and it is told at once.
    const struct mdns_name instance = text_name(heard.last);
    mdns_resolve_start(&link.mdns, &resolve, &instance, changed, NULL);
    bench_run(&link.b, 0);
    assert_int_equal(resolve.port, 631);
    assert_int_equal(resolve.lookup.count, 1);
    assert_true(weir_addr_equal(resolve.lookup.addresses[0], OTHER));
    const uint8_t *value = mdns_txt_value(resolve.text, resolve.text_length, "RP", &length);
    assert_non_null(value);
    assert_int_equal(length, 1);
    assert_int_equal(value[0], 'q');
    assert_non_null(mdns_txt_value(resolve.text, resolve.text_length, "color", &length));
    assert_int_equal(length, 0);
    assert_null(mdns_txt_value(resolve.text, resolve.text_length, "colo", &length));
    announce(&link, 120);
    assert_int_equal(heard.added, 1);  // nothing new
    announce(&link, 0);                // goodbye: within a second
    bench_run(&link.b, 900000);
    assert_int_equal(heard.removed, 0);
    bench_run(&link.b, 200000);
    assert_int_equal(heard.removed, 1);
    assert_int_equal(resolve.port, 0);
    assert_int_equal(resolve.lookup.count, 0);
    assert_int_equal(link.mdns.cache_used, 0);
    mdns_resolve_stop(&resolve);
    mdns_browse_stop(&browse);
    link_close(&link);
}

// To the first question, which allows it, for two seconds; from this link alone (§6, §11).
static void answers_come_by_unicast_too(void **state)
{
    struct link link;
    struct other other;
    (void)state;
    open_browsing(&link);
    other_begin(&other, MDNS_RESPONSE);
    other_ptr(&other, 1, TYPE, 4500, INSTANCE);
    other.to = weir_ip4(10, 0, 0, 1);
    other_send(&other, &link);
    assert_int_equal(heard.added, 0);  // nothing has been asked yet
    bench_run(&link.b, 200000);
    other.from = weir_ip4(192, 0, 2, 1);
    other_send(&other, &link);
    assert_int_equal(heard.added, 0);  // from afar
    other.from = OTHER;
    other_send(&other, &link);
    assert_int_equal(heard.added, 1);
    bench_run(&link.b, 2 * SECOND);  // asked again, and by multicast
    const uint32_t ignored = link.mdns.count.ignored;
    other_begin(&other, MDNS_RESPONSE);
    other_ptr(&other, 1, TYPE, 4500, "late." TYPE);
    other.to = weir_ip4(10, 0, 0, 1);
    other_send(&other, &link);
    assert_int_equal(heard.added, 1);
    assert_int_equal(link.mdns.count.ignored, ignored + 1);
    link_close(&link);
}

// A question on another link is a new one: asked soon, for an answer by unicast, and then ever more rarely.
static void a_new_link_is_asked_anew(void **state)
{
    struct link link;
    struct message m;
    (void)state;
    open_browsing(&link);
    bench_run(&link.b, 5000ull * SECOND);
    weir_link_change(&link.b.f.netif, false);
    link_forget(&link);
    bench_run(&link.b, 5000ull * SECOND);
    assert_false(link_next(&link, &m));  // silence where there is no link
    weir_link_change(&link.b.f.netif, true);
    const uint64_t up_us = link.b.f.now_us;
    bench_run(&link.b, 2 * SECOND);
    assert_true(link_next(&link, &m));
    assert_true(m.sent_us - up_us >= 20000 && m.sent_us - up_us <= 120000);
    assert_int_equal(questions_in(&m, TYPE, MDNS_PTR, MDNS_IN | MDNS_UNICAST), 1);
    const uint64_t first_us = m.sent_us;
    assert_true(link_next(&link, &m));
    assert_int_equal(m.sent_us - first_us, SECOND);
    link_close(&link);
}

// Nobody is there for the answer: records are left to expire, and no question is asked (§5.2).
static void nobody_asks_for_what_nobody_wants(void **state)
{
    struct link link;
    struct message m;
    (void)state;
    open_browsing(&link);
    bench_run(&link.b, 200000);
    announce(&link, 120);
    assert_true(link.mdns.cache_used > 0);
    mdns_browse_stop(&browse);
    link_forget(&link);
    bench_run(&link.b, 119 * SECOND);
    assert_true(link.mdns.cache_used > 0);
    bench_run(&link.b, 2 * SECOND);
    assert_int_equal(link.mdns.cache_used, 0);
    assert_false(link_next(&link, &m));
    link_close(&link);
}

// What another asker says that it knows is no answer, and what a probe proposes neither (§7.1, §8.1).
static void only_answers_are_believed(void **state)
{
    struct link link;
    struct other other;
    (void)state;
    open_browsing(&link);
    bench_run(&link.b, 200000);
    other_begin(&other, 0);
    other_ask(&other, TYPE, MDNS_PTR, MDNS_IN);
    other_ptr(&other, 1, TYPE, 4500, INSTANCE);
    other_ptr(&other, 2, TYPE, 4500, INSTANCE);
    other_send(&other, &link);
    assert_int_equal(heard.added, 0);
    assert_int_equal(link.mdns.cache_used, 0);
    link_close(&link);
}

// RFC 6763 §6.4: a string without a key is ignored, and so is a key's second value.
static void keys_have_one_value(void **state)
{
    static const uint8_t text[] = {2,   '=', 'x', 0, 3,   'a', '=', '1', 3,   'A', '=',
                                   '2', 1,   'b', 3, 'b', '=', '3', 2,   'c', '='};
    uint32_t length = 9;
    (void)state;
    assert_null(mdns_txt_value(text, sizeof text, "", &length));
    const uint8_t *value = mdns_txt_value(text, sizeof text, "a", &length);
    assert_true(length == 1 && value[0] == '1');
    assert_non_null(mdns_txt_value(text, sizeof text, "B", &length));
    assert_int_equal(length, 0);
    assert_non_null(mdns_txt_value(text, sizeof text, "c", &length));
    assert_int_equal(length, 0);
    static const uint8_t empty = 0, cut[] = {5, 'a', '=', '1'};
    assert_null(mdns_txt_value(&empty, 1, "a", &length));
    assert_null(mdns_txt_value(&empty, 0, "a", &length));
    assert_null(mdns_txt_value(cut, sizeof cut, "a", &length));
}

static void records_are_asked_for_before_they_expire(void **state)
{
    struct link link;
    struct message m;
    (void)state;
    open_browsing(&link);
    bench_run(&link.b, 5000ull * SECOND);  // the question is asked once an hour by now
    announce(&link, 1000);
    const uint64_t begun_us = link.b.f.now_us;
    link_forget(&link);
    bench_run(&link.b, 999ull * SECOND);
    static const uint32_t parts[] = {80, 85, 90, 95};
    int asked = 0;
    for (; link_next(&link, &m); asked++) {
        const uint64_t at_ms = (m.sent_us - begun_us) / 1000;
        if (asked < 4)
            assert_true(at_ms >= parts[asked] * 10000 && at_ms <= parts[asked] * 10000 + 20000);
        // Less than half of it is left: it is no answer that we know.
        assert_int_equal(records_of(&m, 1), 0);
    }
    assert_true(asked >= 4);
    assert_int_equal(heard.removed, 0);
    bench_run(&link.b, 2 * SECOND);
    assert_int_equal(heard.removed, 1);
    link_close(&link);
}

static void known_answers_go_along(void **state)
{
    struct link link;
    struct message m;
    struct mdns_record record;
    (void)state;
    open_browsing(&link);
    bench_run(&link.b, 200000);
    announce(&link, 100);
    link_forget(&link);
    bench_run(&link.b, 35 * SECOND);
    uint32_t asked = 0;
    for (; link_next(&link, &m); asked++) {
        assert_int_equal(records_in(&m, TYPE, MDNS_PTR, 1, &record), 1);
        assert_int_equal(record.rrclass, MDNS_IN);
        assert_true(record.ttl_s <= 100 && record.ttl_s >= 50);
        assert_int_equal(records_of(&m, 1), 1);  // only what the question is about
    }
    assert_true(asked >= 4);
    link_close(&link);
}

static void many_known_answers_take_several_messages(void **state)
{
    struct link link;
    struct message m;
    struct other other;
    char name[128];
    static uint8_t large[16384];
    (void)state;
    memset(&heard, 0, sizeof heard);
    link_open(&link, NULL);
    link.mdns.config.cache = large;
    link.mdns.config.cache_bytes = sizeof large;
    assert_int_equal(mdns_browse_start(&link.mdns, &browse, "_ipp._tcp", found, NULL), WEIR_OK);
    bench_run(&link.b, 200000);
    for (int i = 0; i < 60; i++) {
        memset(name, 'a' + i % 26, 50);
        strcpy(name + 50, i < 26 ? "1" : i < 52 ? "2" : "3");
        strcat(name, "." TYPE);
        other_begin(&other, MDNS_RESPONSE);
        other_ptr(&other, 1, TYPE, 4500, name);
        other_send(&other, &link);
    }
    assert_int_equal(heard.added, 60);
    link_forget(&link);
    bench_run(&link.b, 1100000);
    uint32_t known = 0, messages = 0, questions = 0;
    bool more = true;
    while (link_next(&link, &m)) {
        assert_true(more);
        more = (m.flags & MDNS_TRUNCATED) != 0;
        known += records_in(&m, TYPE, MDNS_PTR, 1, NULL);
        questions += records_of(&m, 0);
        messages++;
    }
    assert_false(more);
    assert_int_equal(known, 60);
    assert_int_equal(questions, 1);
    assert_true(messages > 1);
    link_close(&link);
}

static void the_flush_bit_ends_older_data(void **state)
{
    struct link link;
    struct other other;
    (void)state;
    memset(&heard, 0, sizeof heard);
    link_open(&link, NULL);
    const struct mdns_name host = text_name(HOST);
    mdns_lookup_start(&link.mdns, &lookup, &host, addressed, NULL);
    bench_run(&link.b, 200000);
    other_begin(&other, MDNS_RESPONSE);  // two addresses within a second are both of one set
    other_a(&other, 1, HOST, MDNS_IN | MDNS_FLUSH, 120, 2);
    other_send(&other, &link);
    bench_run(&link.b, 500000);
    other_begin(&other, MDNS_RESPONSE);
    other_a(&other, 1, HOST, MDNS_IN | MDNS_FLUSH, 120, 3);
    other_send(&other, &link);
    bench_run(&link.b, 5 * SECOND);
    assert_int_equal(lookup.count, 2);
    other_begin(&other, MDNS_RESPONSE);
    other_a(&other, 1, HOST, MDNS_IN, 120, 4);  // without: beside them
    other_send(&other, &link);
    bench_run(&link.b, 5 * SECOND);
    assert_int_equal(lookup.count, 3);
    other_begin(&other, MDNS_RESPONSE);
    other_a(&other, 1, HOST, MDNS_IN | MDNS_FLUSH, 120, 5);
    other_send(&other, &link);
    assert_int_equal(lookup.count, 4);
    bench_run(&link.b, 1100000);
    assert_int_equal(lookup.count, 1);
    assert_true(weir_addr_equal(lookup.addresses[0], weir_ip4(10, 0, 0, 5)));
    mdns_lookup_stop(&lookup);
    link_close(&link);
}

static void the_cache_stays_bounded(void **state)
{
    struct link link;
    struct other other;
    char name[64];
    (void)state;
    open_browsing(&link);
    bench_run(&link.b, 200000);
    other_begin(&other, MDNS_RESPONSE);  // nobody asked for these
    for (int i = 0; i < 100; i++)
        other_a(&other, 1, HOST, MDNS_IN, 120, (uint8_t)i);
    other_send(&other, &link);
    assert_int_equal(link.mdns.cache_used, 0);
    for (int i = 0; i < 200; i++) {
        name[0] = (char)('a' + i % 26);
        name[1] = (char)('a' + i / 26);
        strcpy(name + 2, "." TYPE);
        other_begin(&other, MDNS_RESPONSE);
        other_ptr(&other, 1, TYPE, 0x7fffffff, name);
        other_send(&other, &link);
    }
    assert_true(link.mdns.cache_used <= sizeof link.cache);
    assert_true(link.mdns.count.cache_full > 100);
    assert_true(heard.added > 10 && heard.added < 100);
    bench_run(&link.b, 86401ull * SECOND);  // no TTL is longer than a day
    assert_int_equal(heard.removed, heard.added);
    assert_int_equal(link.mdns.cache_used, 0);
    link_close(&link);
}

// A record may expire that another is to be told of, and a question be stopped by what it hears.
static void questions_stop_within_answers(void **state)
{
    struct link link;
    struct mdns_browse twin;
    struct other other;
    (void)state;
    open_browsing(&link);
    assert_int_equal(mdns_browse_start(&link.mdns, &twin, "_ipp._tcp", found, NULL), WEIR_OK);
    bench_run(&link.b, 200000);
    heard.stop = true;
    other_begin(&other, MDNS_RESPONSE);
    other_ptr(&other, 1, TYPE, 10, "a." TYPE);
    other_ptr(&other, 1, TYPE, 10, "b." TYPE);
    other_send(&other, &link);
    assert_int_equal(heard.added, 2);  // each of one record
    assert_null(link.mdns.queries);
    bench_run(&link.b, 20 * SECOND);
    assert_int_equal(heard.removed, 0);
    assert_int_equal(link.mdns.cache_used, 0);
    link_close(&link);
}

static void anothers_question_is_ours(void **state)
{
    struct link link;
    struct message m;
    struct other other;
    (void)state;
    open_browsing(&link);
    bench_run(&link.b, 500000);
    link_forget(&link);
    other_begin(&other, 0);
    other_ask(&other, TYPE, MDNS_PTR, MDNS_IN);
    other_send(&other, &link);
    bench_run(&link.b, 1900000);
    assert_false(link_next(&link, &m));  // ours was due after a second
    bench_run(&link.b, 200000);
    assert_true(link_next(&link, &m));
    other_begin(&other, 0);  // with an answer that is known: his question has another meaning
    other_ask(&other, TYPE, MDNS_PTR, MDNS_IN);
    other_ptr(&other, 1, TYPE, 4500, INSTANCE);
    bench_run(&link.b, 3500000);
    other_send(&other, &link);
    bench_run(&link.b, 600000);
    assert_true(link_next(&link, &m));
    link_close(&link);
}

// Two hosts of ours: one publishes, the other finds it, by what they say alone.
static struct mdns_service service;

static void publish_printer(struct link *a)
{
    link_open_bare(a, "printer");
    service = (struct mdns_service){.name = "One", .type = "_ipp._tcp", .port = 631};
    assert_int_equal(mdns_publish(&a->mdns, &service), WEIR_OK);
}

#define ALL UINT32_MAX  // of the first half minute's

// Until b has found it; of a's responses with it the first `lost` do not arrive. How long that took.
static uint64_t meet(struct link *a, struct link *b, uint32_t lost)
{
    struct message m;
    uint64_t passed_us = 0, step_us;
    for (; heard.added == 0; passed_us += step_us) {
        assert_true(passed_us < 2 * 3600ull * SECOND);
        step_us = passed_us < 20 * SECOND ? 10000 : SECOND;
        bench_run(&a->b, step_us);
        bench_run(&b->b, step_us);
        while (link_next(a, &m)) {
            const bool tells = (m.flags & MDNS_RESPONSE) != 0 && records_in(&m, TYPE, MDNS_PTR, 1, NULL) > 0;
            if (!tells || lost == 0 || (lost == ALL && passed_us > 30 * SECOND))
                link_input(b, m.bytes, m.length, OTHER, GROUP, MDNS_PORT);
            else if (lost != ALL)
                lost--;
        }
        while (link_next(b, &m))
            link_input(a, m.bytes, m.length, THIRD, GROUP, MDNS_PORT);
    }
    assert_int_equal(heard.added, 1);
    assert_string_equal(heard.last, "One._ipp._tcp.local");
    link_close(a);
    link_close(b);
    return passed_us;
}

static void two_of_ours_find_each_other(void **state)
{
    struct link a, b;
    (void)state;
    open_browsing(&b);
    publish_printer(&a);
    assert_true(meet(&a, &b, 0) < 5 * SECOND);
}

// Two announcements may be lost where the next question is an hour away: the third does not wait for it. And where all
// are lost there is that question.
static void lost_announcements_are_made_up_for(void **state)
{
    static const uint32_t lost[] = {0, 1, 2, ALL};
    struct link a, b;
    (void)state;
    for (uint32_t i = 0; i < sizeof lost / sizeof lost[0]; i++) {
        open_browsing(&b);
        bench_run(&b.b, 3 * 3600ull * SECOND);
        link_forget(&b);
        publish_printer(&a);
        const uint64_t passed_us = meet(&a, &b, lost[i]);
        assert_int_equal(passed_us < 5 * SECOND, lost[i] != ALL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(questions_grow_rare),           cmocka_unit_test(instances_are_found_and_resolved),
        cmocka_unit_test(answers_come_by_unicast_too),   cmocka_unit_test(records_are_asked_for_before_they_expire),
        cmocka_unit_test(known_answers_go_along),        cmocka_unit_test(many_known_answers_take_several_messages),
        cmocka_unit_test(the_flush_bit_ends_older_data), cmocka_unit_test(the_cache_stays_bounded),
        cmocka_unit_test(questions_stop_within_answers), cmocka_unit_test(anothers_question_is_ours),
        cmocka_unit_test(two_of_ours_find_each_other),   cmocka_unit_test(lost_announcements_are_made_up_for),
        cmocka_unit_test(a_new_link_is_asked_anew),      cmocka_unit_test(nobody_asks_for_what_nobody_wants),
        cmocka_unit_test(only_answers_are_believed),     cmocka_unit_test(keys_have_one_value),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
