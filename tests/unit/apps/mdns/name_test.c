// SPDX-License-Identifier: BSD-2-Clause
// How names become ours and stay it (RFC 6762 §8 and §9).
#include "apps/mdns/link.h"

#define WEB "web._http._tcp.local"

static struct mdns_service web;

static void publish(struct link *link, const char *name)
{
    web = (struct mdns_service){.name = name, .type = "_http._tcp", .port = 80};
    assert_int_equal(mdns_publish(&link->mdns, &web), WEIR_OK);
}

static void probes_then_announcements(void **state)
{
    struct link link;
    struct message m;
    struct mdns_record record;
    uint64_t before_us = 0;
    (void)state;
    link_open_bare(&link, "kitchen");
    const uint64_t begun_us = link.b.f.now_us;
    bench_run(&link.b, 10 * SECOND);
    for (int i = 0; i < 3; i++) {
        assert_true(link_next(&link, &m));
        assert_int_equal(m.flags, 0);
        assert_int_equal(m.id, 0);
        assert_true(weir_addr_equal(m.to, GROUP));
        struct mdns_reader reader;
        struct mdns_question question;
        assert_true(mdns_read_begin(&reader, m.bytes, m.length));
        assert_true(mdns_read_question(&reader, &question));
        assert_int_equal(question.type, MDNS_ANY);
        assert_int_equal(question.rrclass, MDNS_IN | MDNS_UNICAST);
        assert_int_equal(records_in(&m, "kitchen.local", MDNS_A, 2, &record), 1);
        assert_int_equal(record.rrclass, MDNS_IN);  // no flush bit in probes
        assert_int_equal(records_of(&m, 2), 1);
        if (i == 0)
            assert_true(m.sent_us - begun_us <= 250000);
        else
            assert_int_equal(m.sent_us - before_us, 250000);
        before_us = m.sent_us;
    }
    static const uint32_t gaps_us[] = {250000, SECOND, 2 * SECOND};
    for (int i = 0; i < 3; i++) {
        assert_true(link_next(&link, &m));
        assert_int_equal(m.flags, MDNS_RESPONSE);
        assert_int_equal(records_of(&m, 0), 0);
        assert_int_equal(records_in(&m, "kitchen.local", MDNS_A, 1, &record), 1);
        assert_int_equal(record.rrclass, MDNS_IN | MDNS_FLUSH);
        assert_int_equal(record.ttl_s, 120);
        assert_int_equal(m.sent_us - before_us, gaps_us[i]);
        before_us = m.sent_us;
    }
    assert_false(link_next(&link, &m));
    assert_int_equal(link.named_count, 1);
    assert_string_equal(link.names[0], "kitchen");
    link_forget(&link);
    bench_run(&link.b, 3600ull * SECOND);  // silence without questions
    assert_false(link_next(&link, &m));
    link_close(&link);
}

static void first_probes_differ(void **state)
{
    uint64_t least = UINT64_MAX, most = 0;
    (void)state;
    for (int i = 0; i < 40; i++) {
        struct link link;
        struct message m;
        link_open_bare(&link, "kitchen");
        uint8_t stir[4] = {(uint8_t)i};
        weir_random_stir(link.b.f.weir, stir, sizeof stir);
        const uint64_t begun_us = link.b.f.now_us;
        bench_run(&link.b, SECOND);
        assert_true(link_next(&link, &m));
        least = m.sent_us - begun_us < least ? m.sent_us - begun_us : least;
        most = m.sent_us - begun_us > most ? m.sent_us - begun_us : most;
        link_close(&link);
    }
    assert_true(least < 60000 && most > 190000 && most <= 250000);
}

static void a_name_in_use_is_left(void **state)
{
    struct link link;
    struct other other;
    struct message m;
    (void)state;
    link_open_bare(&link, "kitchen");
    publish(&link, "web");
    bench_run(&link.b, 600000);
    other_begin(&other, MDNS_RESPONSE);
    other_a(&other, 1, "KITCHEN.local", MDNS_IN | MDNS_FLUSH, 120, 2);
    other_srv(&other, 1, WEB, MDNS_IN | MDNS_FLUSH, 120, 81, "other.local");
    other_send(&other, &link);
    link_forget(&link);
    bench_run(&link.b, 10 * SECOND);
    assert_int_equal(link.named_count, 2);
    assert_true(strcmp(link.names[0], "kitchen-2") == 0 || strcmp(link.names[1], "kitchen-2") == 0);
    assert_true(strcmp(link.names[0], "web (2)") == 0 || strcmp(link.names[1], "web (2)") == 0);
    struct mdns_record record;
    bool led = false;
    while (link_next(&link, &m)) {
        assert_int_equal(records_in(&m, "kitchen.local", MDNS_A, 0, NULL), 0);
        led = led || records_in(&m, "web (2)._http._tcp.local", MDNS_SRV, 1, &record) > 0;
    }
    assert_true(led);
    link_close(&link);
}

// Another name that is too long for a number behind it is cut, at a character.
static void long_names_are_cut(void **state)
{
    struct link link;
    struct other other;
    char text[64] = "", whole[128];
    (void)state;
    for (int i = 0; i < 31; i++)
        strcat(text, "\xc3\xa4");
    strcat(text, "x");  // 63 octets
    assert_int_equal(strlen(text), 63);
    link_open_bare(&link, "kitchen");
    publish(&link, text);
    bench_run(&link.b, 600000);
    strcpy(whole, text);
    strcat(whole, "._http._tcp.local");
    other_begin(&other, MDNS_RESPONSE);
    other_srv(&other, 1, whole, MDNS_IN, 120, 81, "other.local");
    other_send(&other, &link);
    bench_run(&link.b, 10 * SECOND);
    const char *label = web.owner.label;
    assert_int_equal(strlen(label), 62);  // 29 characters of two octets, and " (2)"
    assert_string_equal(label + 58, " (2)");
    link_close(&link);
}

// What could not be sent has asked nobody: three probes are to leave before the name is ours.
static void what_did_not_leave_is_no_probe(void **state)
{
    struct link link;
    struct message m;
    uint32_t probes = 0;
    (void)state;
    link_open_bare(&link, "kitchen");
    link_block(&link);
    bench_run(&link.b, 2 * SECOND);
    assert_false(link_next(&link, &m));
    assert_true(link.mdns.count.send_failed > 3);
    assert_int_equal(link.named_count, 0);
    bench_run(&link.b, 8 * SECOND);
    while (link_next(&link, &m))
        probes += m.flags == 0;
    assert_int_equal(probes, 3);
    assert_int_equal(link.named_count, 1);
    link_close(&link);
}

// A device with a service, for some time alone on its link.
static void open_kitchen(struct link *link, uint32_t us)
{
    link_open_bare(link, "kitchen");
    publish(link, "web");
    bench_run(&link->b, us);
}

static void claim_kitchen(struct link *link)
{
    struct other other;
    other_begin(&other, MDNS_RESPONSE);
    other_a(&other, 1, "kitchen.local", MDNS_IN | MDNS_FLUSH, 120, 2);
    other_send(&other, link);
}

// The host took another name. Its service, which kept its own, was probed three times with that.
static void assert_service_was_probed_again(struct link *link)
{
    struct message m;
    uint32_t probes = 0;
    while (link_next(link, &m))
        probes += records_in(&m, WEB, MDNS_SRV, 2, NULL);
    assert_int_equal(probes, 3);
    assert_string_equal(link->mdns.host.label, "kitchen-2");
    assert_string_equal(web.owner.label, "web");
}

// A host of the same name is found out while its service is probed: the service names another host now, and what nobody
// contradicted were other data. It is probed three times more (RFC 6762 §8.1).
static void a_service_whose_host_has_a_new_name_is_probed_again(void **state)
{
    struct link link;
    (void)state;
    open_kitchen(&link, 600000);
    assert_int_equal(web.owner.state, MDNS_PROBING);
    assert_true(web.owner.sent >= 2);
    link_forget(&link);
    claim_kitchen(&link);
    bench_run(&link.b, 5 * SECOND);
    assert_service_was_probed_again(&link);
    link_close(&link);
}

// So is one that was announced long ago, when its host loses its name to another.
static void a_service_of_a_host_that_loses_its_name_is_probed_again(void **state)
{
    struct link link;
    (void)state;
    open_kitchen(&link, 5 * SECOND);
    assert_int_equal(web.owner.state, MDNS_READY);
    link_forget(&link);
    claim_kitchen(&link);  // its name is probed for
    bench_run(&link.b, 300000);
    claim_kitchen(&link);  // and is lost
    bench_run(&link.b, 5 * SECOND);
    assert_service_was_probed_again(&link);
    link_close(&link);
}

// What was sent reaches the other host some milliseconds later, each for itself.
struct flight {
    struct message message;
    uint32_t due;
    bool used;
};

static void carry(struct link *from, struct link *to, struct flight flights[32], uint32_t now, uint32_t *seed)
{
    struct message message;
    const struct weir_addr source = from->b.f.netif.address.addr;
    while (link_next(from, &message)) {
        uint32_t at = 0;
        while (flights[at].used)
            at++;
        assert_true(at < 32);
        *seed = *seed * 1664525u + 1013904223u;
        flights[at] = (struct flight){message, now + 1 + (*seed >> 16) % 4, true};
    }
    for (uint32_t at = 0; at < 32; at++)
        if (flights[at].used && flights[at].due <= now) {
            link_input(to, flights[at].message.bytes, flights[at].message.length, source, GROUP, MDNS_PORT);
            flights[at].used = false;
        }
}

// A newcomer with the names and the data of one that is there, over a link whose delay varies: it takes neither name,
// whenever its two probes fall, though a host need not defend a name more often than each 250 ms.
static void a_newcomer_takes_no_name(void **state)
{
    static struct link old, new;
    (void)state;
    for (uint32_t turn = 0; turn < 60; turn++) {
        struct flight there[32] = {0}, back[32] = {0};
        struct mdns_service theirs = {.name = "web", .type = "_http._tcp", .port = 80};
        uint32_t seed = turn;
        link_open(&old, "kitchen");
        publish(&old, "web");
        bench_run(&old.b, 10 * SECOND);
        link_forget(&old);
        link_open_bare(&new, "kitchen");
        assert_int_equal(weir_netif_set_address(&new.b.f.netif, OTHER, 24, WEIR_ADDRESS_AT_ONCE), WEIR_OK);
        const uint8_t stir[4] = {(uint8_t)turn, 1};
        weir_random_stir(new.b.f.weir, stir, sizeof stir);
        assert_int_equal(mdns_publish(&new.mdns, &theirs), WEIR_OK);
        for (uint32_t ms = 0; ms < 3000; ms++) {
            bench_run(&old.b, 1000);
            bench_run(&new.b, 1000);
            carry(&new, &old, there, ms, &seed);
            carry(&old, &new, back, ms, &seed);
        }
        assert_string_equal(old.mdns.host.label, "kitchen");
        assert_string_equal(web.owner.label, "web");
        assert_string_equal(new.mdns.host.label, "kitchen-2");
        assert_string_equal(theirs.owner.label, "web (2)");
        link_close(&new);
        link_close(&old);
    }
}

// A claim to both of our names, of several records.
static void claim(struct other *other)
{
    static const uint8_t text[] = {3, 'a', '=', 'b'};
    other_begin(other, MDNS_RESPONSE);
    other_a(other, 1, "kitchen.local", MDNS_IN | MDNS_FLUSH, 120, 2);
    other_a(other, 1, "kitchen.local", MDNS_IN | MDNS_FLUSH, 120, 3);
    other_srv(other, 1, WEB, MDNS_IN | MDNS_FLUSH, 120, 81, "other.local");
    other_record(other, 1, WEB, MDNS_TXT, MDNS_IN | MDNS_FLUSH, 4500, text, sizeof text);
}

// Who claims what is ours makes us probe again (RFC 6762 §9); only if he answers the probe is the name his. All records
// of his message are one claim, and so is a copy of it, as it comes over the other family.
static void a_late_claim_is_probed(void **state)
{
    struct link link;
    struct other other;
    struct message m;
    (void)state;
    link_open(&link, "kitchen");
    publish(&link, "web");
    bench_run(&link.b, 10 * SECOND);
    link_forget(&link);
    claim(&other);
    other_send(&other, &link);
    other_send(&other, &link);
    assert_int_equal(link.mdns.host.state, MDNS_PROBING);
    assert_int_equal(web.owner.state, MDNS_PROBING);
    bench_run(&link.b, 10 * SECOND);
    assert_true(link_next(&link, &m) && m.flags == 0);
    assert_string_equal(link.mdns.host.label, "kitchen");
    assert_string_equal(web.owner.label, "web");
    other_send(&other, &link);
    bench_run(&link.b, SECOND / 4 + 1000);  // both have been probed once
    other_send(&other, &link);              // he has them
    bench_run(&link.b, 10 * SECOND);
    assert_string_equal(link.mdns.host.label, "kitchen-2");
    assert_string_equal(web.owner.label, "web (2)");
    link_close(&link);
}

// What we sent comes back, by a switch or a reflector: from our own or another's address it is no conflict.
static void own_packets_are_no_conflict(void **state)
{
    struct link link;
    (void)state;
    for (int turn = 0; turn < 2; turn++) {
        link_open_bare(&link, "kitchen");
        publish(&link, "web");
        for (int i = 0; i < 100; i++) {
            struct message m;
            bench_run(&link.b, 100000);
            while (link_next(&link, &m)) {
                uint8_t copy[1500];
                memcpy(copy, m.bytes, m.length);
                link_input(&link, copy, m.length, turn == 0 ? OTHER : weir_ip4(10, 0, 0, 1), GROUP, MDNS_PORT);
            }
        }
        assert_int_equal(link.mdns.count.conflicts, 0);
        assert_int_equal(link.mdns.count.tie_lost, 0);
        assert_string_equal(link.mdns.host.label, "kitchen");
        assert_string_equal(web.owner.label, "web");
        link_close(&link);
    }
}

// An address of our own on another interface, told there, or a reflector's copy of it.
static void own_addresses_are_no_conflict(void **state)
{
    struct link link;
    struct other other;
    (void)state;
    link_open_bare(&link, "kitchen");
    bench_run(&link.b, 600000);
    const uint8_t own[4] = {127, 0, 0, 1}, foreign[4] = {127, 0, 0, 2};
    other_begin(&other, MDNS_RESPONSE);
    other_record(&other, 1, "kitchen.local", MDNS_A, MDNS_IN, 120, own, 4);
    other_send(&other, &link);
    assert_int_equal(link.mdns.count.conflicts, 0);
    other_begin(&other, MDNS_RESPONSE);
    other_record(&other, 1, "kitchen.local", MDNS_A, MDNS_IN, 120, foreign, 4);
    other_send(&other, &link);
    assert_int_equal(link.mdns.count.conflicts, 1);
    link_close(&link);
}

// --- two probe at once -----------------------------------------------------------------------------------------------

static uint32_t lost_against(uint8_t last, bool second, uint16_t class)
{
    struct link link;
    struct other other;
    link_open_bare(&link, "kitchen");
    bench_run(&link.b, 300000);
    other_begin(&other, 0);
    other_ask(&other, "Kitchen.local", MDNS_ANY, MDNS_IN | MDNS_UNICAST);
    if (second)
        other_a(&other, 2, "Kitchen.local", class, 120, 9);
    other_a(&other, 2, "Kitchen.local", class, 120, last);
    other_send(&other, &link);
    const uint32_t lost = link.mdns.count.tie_lost;
    if (lost > 0) {
        link_forget(&link);
        const uint64_t now_us = link.b.f.now_us;
        struct message m;
        bench_run(&link.b, 10 * SECOND);
        assert_true(link_next(&link, &m));  // after a second, the three probes again
        assert_int_equal(m.sent_us - now_us, SECOND);
        assert_int_equal(m.flags, 0);
    } else {
        bench_run(&link.b, 10 * SECOND);
    }
    assert_int_equal(link.named_count, 1);
    assert_string_equal(link.names[0], "kitchen");
    link_close(&link);
    return lost;
}

static void the_greater_data_wins(void **state)
{
    (void)state;
    // ours: 10.0.0.1
    assert_int_equal(lost_against(0, false, MDNS_IN), 0);
    assert_int_equal(lost_against(1, false, MDNS_IN), 0);  // the same: no conflict
    assert_int_equal(lost_against(2, false, MDNS_IN), 1);
    assert_int_equal(lost_against(200, false, MDNS_IN), 1);             // unsigned
    assert_int_equal(lost_against(0, false, MDNS_IN | MDNS_FLUSH), 0);  // the bit is no part of the class
    assert_int_equal(lost_against(1, true, MDNS_IN), 1);                // the same and one more: the longer list
    assert_int_equal(lost_against(0, true, MDNS_IN), 0);                // sorted: 10.0.0.0 comes first, and is less
}

static void types_are_compared_before_data(void **state)
{
    static const uint8_t high[4] = {255, 255, 255, 255};
    struct link link;
    struct other other;
    (void)state;
    link_open_bare(&link, "kitchen");
    publish(&link, "web");
    bench_run(&link.b, 300000);
    other_begin(&other, 0);
    other_ask(&other, WEB, MDNS_ANY, MDNS_IN);
    other_record(&other, 2, WEB, MDNS_A, MDNS_IN, 120, high, 4);  // type 1 against our TXT, 16
    other_send(&other, &link);
    assert_int_equal(link.mdns.count.tie_lost, 0);
    other_begin(&other, 0);
    other_ask(&other, WEB, MDNS_ANY, MDNS_IN);
    other_srv(&other, 2, WEB, MDNS_IN, 120, 80, "a.local");  // 33 against 16
    other_send(&other, &link);
    assert_int_equal(link.mdns.count.tie_lost, 1);
    link_close(&link);
}

// Names in the data are compared as they are without pointers.
static void names_are_compared_whole(void **state)
{
    static const uint8_t empty = 0;
    struct link link;
    struct other other;
    (void)state;
    for (int turn = 0; turn < 2; turn++) {
        link_open_bare(&link, "kitchen");
        publish(&link, "web");
        bench_run(&link.b, 300000);
        other_begin(&other, 0);
        other_ask(&other, WEB, MDNS_ANY, MDNS_IN);
        other_srv(&other, 2, WEB, MDNS_IN, 120, 80, turn == 0 ? "kitchen.local" : "kitchfn.local");
        other_record(&other, 2, WEB, MDNS_TXT, MDNS_IN, 4500, &empty, 1);
        other_send(&other, &link);
        assert_int_equal(link.mdns.count.tie_lost, turn);
        link_close(&link);
    }
}

static void many_conflicts_slow_down(void **state)
{
    struct link link;
    uint64_t before_us = 0;
    (void)state;
    link_open_bare(&link, "kitchen");
    for (int i = 0; i < 20; i++) {
        struct message m;
        struct other other;
        uint32_t turns = 0;
        char name[64];
        do {
            bench_run(&link.b, 10000);
            assert_true(turns++ < 600);
        } while (!link_next(&link, &m));
        if (i > 0 && i < 15)
            assert_true(m.sent_us - before_us <= 260000);
        else if (i >= 15)  // and so it stays
            assert_true(m.sent_us - before_us >= 5 * SECOND - 10000);
        strcpy(name, link.mdns.host.label);
        strcat(name, ".local");
        other_begin(&other, MDNS_RESPONSE);
        other_a(&other, 1, name, MDNS_IN | MDNS_FLUSH, 120, 2);
        other_send(&other, &link);
        before_us = link.b.f.now_us;
    }
    assert_int_equal(link.mdns.count.conflicts, 20);
    bench_run(&link.b, 20 * SECOND);  // ten quiet seconds: as fast as ever
    link_forget(&link);
    weir_link_change(&link.b.f.netif, false);
    bench_run(&link.b, SECOND);
    weir_link_change(&link.b.f.netif, true);
    const uint64_t up_us = link.b.f.now_us;
    struct message m;
    bench_run(&link.b, SECOND);
    assert_true(link_next(&link, &m) && m.sent_us - up_us <= 250000);
    link_close(&link);
}

// A probe allows an answer by unicast, and a denial may come so.
static void a_denial_by_unicast_is_heard(void **state)
{
    struct link link;
    struct other other;
    (void)state;
    link_open_bare(&link, "kitchen");
    for (int turns = 0; !link.mdns.host.sent; turns++) {
        assert_true(turns < 30);  // the first probe waits up to 250 ms
        bench_run(&link.b, 10000);
    }
    assert_int_equal(link.mdns.host.sent, 1);
    other_begin(&other, MDNS_RESPONSE);
    other_a(&other, 1, "kitchen.local", MDNS_IN, 120, 2);
    other.to = weir_ip4(10, 0, 0, 1);
    other_send(&other, &link);
    bench_run(&link.b, 10 * SECOND);
    assert_string_equal(link.mdns.host.label, "kitchen-2");
    link_close(&link);
}

// --- the interface ---------------------------------------------------------------------------------------------------

static void a_new_link_or_address_is_probed(void **state)
{
    struct link link;
    struct message m;
    (void)state;
    link_open(&link, "kitchen");
    publish(&link, "web");
    bench_run(&link.b, 10 * SECOND);
    link_forget(&link);
    weir_link_change(&link.b.f.netif, false);
    bench_run(&link.b, SECOND);
    assert_int_equal(link.mdns.host.state, MDNS_IDLE);
    weir_link_change(&link.b.f.netif, true);
    bench_run(&link.b, 10 * SECOND);
    uint32_t probes = 0, announced = 0;
    while (link_next(&link, &m)) {
        probes += m.flags == 0;
        announced += m.flags != 0 && records_in(&m, WEB, MDNS_SRV, 1, NULL) > 0;
    }
    assert_int_equal(probes, 6);
    assert_true(announced >= 2);
    link_forget(&link);
    assert_int_equal(weir_netif_set_address(&link.b.f.netif, weir_ip4(10, 0, 0, 7), 24, WEIR_ADDRESS_AT_ONCE), WEIR_OK);
    bench_run(&link.b, 10 * SECOND);
    probes = announced = 0;
    struct mdns_record record;
    while (link_next(&link, &m)) {
        probes += m.flags == 0;
        if (records_in(&m, "kitchen.local", MDNS_A, 1, &record) > 0) {
            assert_int_equal(m.bytes[record.data + 3], 7);
            announced++;
        }
    }
    assert_int_equal(probes, 3);
    assert_true(announced >= 2);
    link_close(&link);
}

// A name that is ours stays so when an address is added: it is announced, and defended all the time (RFC 6762 §8.4).
static void an_address_more_is_announced(void **state)
{
    struct link link;
    struct other other;
    struct message m;
    (void)state;
    link_open(&link, "kitchen");
    bench_run(&link.b, 10 * SECOND);
    link_forget(&link);
    assert_int_equal(weir_netif_address_add(&link.b.f.netif, weir_ip4(10, 0, 0, 7), 24, WEIR_ADDRESS_AT_ONCE), WEIR_OK);
    bench_run(&link.b, 300000);
    assert_true(link.mdns.host.state >= MDNS_ANNOUNCING);
    other_begin(&other, 0);  // another host's probe, whose data is greater
    other_ask(&other, "kitchen.local", MDNS_ANY, MDNS_IN);
    other_a(&other, 2, "kitchen.local", MDNS_IN, 120, 99);
    other_send(&other, &link);
    bench_run(&link.b, 10 * SECOND);
    assert_string_equal(link.mdns.host.label, "kitchen");
    uint32_t probes = 0, both = 0;
    while (link_next(&link, &m)) {
        probes += m.flags == 0;
        both += records_in(&m, "kitchen.local", MDNS_A, 1, NULL) == 2;
    }
    assert_int_equal(probes, 0);
    assert_true(both >= 3);  // two announcements, and the answer
    link_close(&link);
}

static bool lets_through(const struct fixture *f, const uint8_t mac[6])
{
    for (uint32_t i = 0; i < f->filter_count; i++) {
        if (memcmp(f->filter[i], mac, 6) == 0)
            return true;
    }
    return false;
}

// The group is joined on the link, told to switches that snoop, and let through by the device (RFC 4541 §2.1.2).
static void the_group_is_joined_and_left(void **state)
{
    static const uint8_t mac[6] = {1, 0, 0x5e, 0, 0, 0xfb};
    struct link link;
    uint32_t reports = 0;
    (void)state;
    link_open_bare(&link, "kitchen");
    struct fixture *const f = &link.b.f;
    assert_true(lets_through(f, mac));
    bench_run(&link.b, 10 * SECOND);
    for (uint32_t i = 0; i < fixture_sent_count(f); i++) {
        uint32_t length;
        const uint8_t *packet = fixture_sent_packet(f, i, &length);
        static const uint8_t group[4] = {224, 0, 0, 251};
        reports += packet[0] >> 4 == 4 && packet[9] == 2 && memcmp(packet + length - 4, group, 4) == 0;
    }
    assert_true(reports >= 1);
    mdns_stop(&link.mdns);
    assert_false(lets_through(f, mac));
    link_close(&link);
}

static void names_that_cannot_be_told_are_refused(void **state)
{
    static const uint8_t text[] = {5, 'a'};
    static const char *const many[] = {"_a", "_b", "_c", "_d", "_e", NULL};
    struct link link;
    struct mdns other;
    char text64[65];
    (void)state;
    link_open(&link, "kitchen");
    memset(text64, 'a', 64);
    text64[64] = '\0';
    const struct mdns_config long_host = {.host = text64}, empty = {.host = ""};
    assert_int_equal(mdns_start(&other, &link.b.loop, &link.b.f.netif, &long_host), WEIR_INVALID);
    assert_int_equal(mdns_start(&other, &link.b.loop, &link.b.f.netif, &empty), WEIR_INVALID);
    struct mdns_service service = {.name = text64, .type = "_http._tcp", .port = 1};
    assert_int_equal(mdns_publish(&link.mdns, &service), WEIR_INVALID);
    service.name = "ok";
    service.type = "_http..tcp";
    assert_int_equal(mdns_publish(&link.mdns, &service), WEIR_INVALID);
    static const char *const types[] = {
        "http._tcp", "_http._sctp", "_http",     "_http._tcp.local", "_._tcp",
        "_42._tcp",  "_-a._tcp",    "_a-._tcp",  "_a--b._tcp",       "_a_b._tcp",
        "",          "_",           "_a b._tcp", "_\xc3\xa4._udp",   "_abcdefghijklmnop._tcp"};
    for (uint32_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        service.type = types[i];
        assert_int_equal(mdns_publish(&link.mdns, &service), WEIR_INVALID);
    }
    static const char *const good[] = {"_abcdefghijklmno._tcp", "_a-1._udp", "_3D-x._tcp"};
    for (uint32_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        service.type = good[i];
        assert_int_equal(mdns_publish(&link.mdns, &service), WEIR_OK);
        mdns_withdraw(&link.mdns, &service);
    }
    service.type = "_http._tcp";
    static const char *const controls[] = {"a\nb", "\x7f", "\x01"};
    for (uint32_t i = 0; i < sizeof controls / sizeof controls[0]; i++) {
        const struct mdns_config control = {.host = controls[i]};
        assert_int_equal(mdns_start(&other, &link.b.loop, &link.b.f.netif, &control), WEIR_INVALID);
        service.name = controls[i];
        assert_int_equal(mdns_publish(&link.mdns, &service), WEIR_INVALID);
    }
    service.name = "ok";
    service.port = 0;
    assert_int_equal(mdns_publish(&link.mdns, &service), WEIR_INVALID);
    service.port = 1;
    service.txt = text;
    service.txt_length = sizeof text;
    assert_int_equal(mdns_publish(&link.mdns, &service), WEIR_INVALID);
    service.txt = NULL;
    service.txt_length = 0;
    service.subtypes = many;
    assert_int_equal(mdns_publish(&link.mdns, &service), WEIR_INVALID);
    assert_null(link.mdns.owners->next);
    link_close(&link);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_did_not_leave_is_no_probe),
        cmocka_unit_test(probes_then_announcements),
        cmocka_unit_test(first_probes_differ),
        cmocka_unit_test(a_name_in_use_is_left),
        cmocka_unit_test(long_names_are_cut),
        cmocka_unit_test(a_service_whose_host_has_a_new_name_is_probed_again),
        cmocka_unit_test(a_service_of_a_host_that_loses_its_name_is_probed_again),
        cmocka_unit_test(a_newcomer_takes_no_name),
        cmocka_unit_test(a_late_claim_is_probed),
        cmocka_unit_test(own_packets_are_no_conflict),
        cmocka_unit_test(own_addresses_are_no_conflict),
        cmocka_unit_test(the_greater_data_wins),
        cmocka_unit_test(types_are_compared_before_data),
        cmocka_unit_test(names_are_compared_whole),
        cmocka_unit_test(many_conflicts_slow_down),
        cmocka_unit_test(a_denial_by_unicast_is_heard),
        cmocka_unit_test(a_new_link_or_address_is_probed),
        cmocka_unit_test(an_address_more_is_announced),
        cmocka_unit_test(names_that_cannot_be_told_are_refused),
        cmocka_unit_test(the_group_is_joined_and_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
