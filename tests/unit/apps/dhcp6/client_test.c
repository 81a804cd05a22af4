// SPDX-License-Identifier: BSD-2-Clause
// profiles: small6
// also without IPv4
// needs IPv6
// The DHCPv6 client against a server made of frames, in virtual time.
#include "apps/bench.h"

#include "dhcp6/client.h"
#include "ip/packets6.h"

#define SECOND 1000000ull
#define SERVER6 ip6_of(0xfe800000u, 0, 0, 0x53)
#define LEASED6 ip6_of(0x20010db8u, 0, 0, 0x100)
#define OTHER_LEASED6 ip6_of(0x20010db8u, 0, 0, 0x101)
#define DNS6 ip6_of(0x20010db8u, 0, 0, 0x53)

struct world {
    struct bench bench;
    struct dhcp6 dhcp6;
    uint32_t changes, frames;  // frames: looked at so far
    struct dhcp6_message last;
    uint64_t last_us;
};

static struct world w;

static void changed(struct dhcp6 *dhcp6, void *context)
{
    (void)dhcp6, (void)context;
    w.changes++;
}

static void open_world(enum dhcp6_mode mode)
{
    const struct fixture_options options = {.link = &weir_link_ethernet};
    memset(&w, 0, sizeof w);
    assert_true(fixture_open_with(&w.bench.f, &options));
    loop_init(&w.bench.loop, w.bench.f.weir);
    assert_int_equal(weir_netif_ip6(&w.bench.f.netif, WEIR_IP6_AUTO, NULL), WEIR_OK);
    assert_int_equal(dhcp6_start(&w.dhcp6, &w.bench.loop, &w.bench.f.netif, mode, NULL, changed, NULL), WEIR_OK);
}

static const struct weir_netif_address *leased(struct weir_addr addr)
{
    for (const struct weir_netif_address *a = &w.bench.f.netif.address; a; a = a->next)
        if (a->state != WEIR_ADDRESS_NONE && weir_addr_equal(a->addr, addr) && a->origin == WEIR_ADDRESS_LEASED)
            return a;
    return NULL;
}

static void close_world(void)
{
    dhcp6_stop(&w.dhcp6);
    assert_null(leased(LEASED6));
    bench_close(&w.bench);
}

// Runs until the client sends a message (true), or the time is over.
static bool next_message(uint64_t us)
{
    struct fixture *f = &w.bench.f;
    for (uint64_t passed = 0; passed <= us; passed += 10000) {
        for (; w.frames < fixture_sent_count(f); w.frames++) {
            uint32_t length;
            const uint8_t *packet = fixture_sent_packet(f, w.frames, &length);
            if (length < 48 || packet[0] >> 4 != 6 || packet[6] != 17 || get16(packet + 42) != DHCP6_SERVER_PORT)
                continue;
            assert_addr(packet + 24, ip6_of(0xff020000u, 0, 0, 0x00010002u));
            assert_addr(packet + 8, LINK_LOCAL6);
            assert_true(dhcp6_parse(packet + 48, length - 48, w.dhcp6.iaid, &w.last));
            assert_int_equal(w.last.client.length, 10);
            assert_memory_equal(w.last.client.bytes + 4, f->netif.mac, 6);
            w.frames++;
            w.last_us = f->now_us;
            return true;
        }
        bench_run(&w.bench, 10000);
    }
    return false;
}

static void expect(uint8_t type, uint64_t us)
{
    assert_true(next_message(us));
    assert_int_equal(w.last.type, type);
}

// What a server answers.
struct answer {
    uint8_t type, preference;
    bool rapid_commit, no_ia, wrong_xid, wrong_client, no_server, other_server, to_group;
    uint32_t t1, t2, preferred, valid, sol_max_rt, inf_max_rt, refresh;
    uint16_t ia_status, status;
    struct weir_addr addr;  // any: LEASED6
};

static uint32_t put(uint8_t *at, uint16_t code, const void *data, uint32_t length)
{
    put16(at, code);
    put16(at + 2, (uint16_t)length);
    memcpy(at + 4, data, length);
    return 4 + length;
}

static uint32_t put_word(uint8_t *at, uint16_t code, uint32_t word)
{
    uint8_t bytes[4];
    put32(bytes, word);
    return word ? put(at, code, bytes, 4) : 0;
}

static uint32_t put_status(uint8_t *at, uint16_t status)
{
    uint8_t bytes[2];
    put16(bytes, status);
    return status ? put(at, 13, bytes, 2) : 0;
}

static uint32_t put_ia(uint8_t *at, const struct answer *answer)
{
    uint8_t ia[12 + 28 + 6], address[24];
    uint32_t length = 12;
    put32(ia, w.dhcp6.iaid);
    put32(ia + 4, answer->t1);
    put32(ia + 8, answer->t2);
    weir_addr_to_v6(weir_addr_is_any(answer->addr) ? LEASED6 : answer->addr, address);
    put32(address + 16, answer->preferred ? answer->preferred : answer->valid);
    put32(address + 20, answer->valid);
    if (answer->valid || !answer->ia_status)
        length += put(ia + length, 5, address, sizeof address);
    length += put_status(ia + length, answer->ia_status);
    return put(at, 3, ia, length);
}

static void say(const struct answer *answer)
{
    uint8_t udp[600], source[16], destination[16], dns[16];
    uint8_t *const m = udp + 8;
    const struct make6 make = {.source = SERVER6,
                               .destination = answer->to_group ? ALL_NODES6 : LINK_LOCAL6,
                               .next_header = 17,
                               .payload = udp};
    struct dhcp6_duid client = w.last.client;
    uint32_t length = 4;
    put32(m, (uint32_t)answer->type << 24 | ((w.last.xid + answer->wrong_xid) & 0xffffff));
    client.bytes[9] ^= answer->wrong_client;
    length += put(m + length, 1, client.bytes, client.length);
    if (!answer->no_server)
        length += put(m + length, 2, answer->other_server ? "\0\3\0\1SERVE2" : "\0\3\0\1SERVER", 10);
    if (!answer->no_ia)
        length += put_ia(m + length, answer);
    if (answer->preference)
        length += put(m + length, 7, &answer->preference, 1);
    if (answer->rapid_commit)
        length += put(m + length, 14, m, 0);
    length += put_status(m + length, answer->status);
    weir_addr_to_v6(DNS6, dns);
    length += put(m + length, 23, dns, 16);
    length += put_word(m + length, 82, answer->sol_max_rt);
    length += put_word(m + length, 83, answer->inf_max_rt);
    length += put_word(m + length, 32, answer->refresh);
    put16(udp, DHCP6_SERVER_PORT);
    put16(udp + 2, DHCP6_CLIENT_PORT);
    put16(udp + 4, (uint16_t)(length + 8));
    put16(udp + 6, 0);
    make6_ends(&make, source, destination);
    const uint16_t sum = checksum_add(ip_pseudo_sum(weir_addr_v6(source), weir_addr_v6(destination), 17, length + 8),
                                      checksum_short(udp, length + 8));
    const uint16_t stored = (uint16_t)~sum;
    memcpy(udp + 6, &stored, 2);
    struct make6 whole = make;
    whole.length = length + 8;
    input6(&w.bench.f, &whole);
    bench_run(&w.bench, 1000);
}

static const struct answer offer = {.type = DHCP6_ADVERTISE, .t1 = 500, .t2 = 800, .preferred = 1000, .valid = 2000};

static struct answer lease_of(uint32_t t1, uint32_t t2, uint32_t preferred, uint32_t valid)
{
    return (struct answer){.type = DHCP6_REPLY, .t1 = t1, .t2 = t2, .preferred = preferred, .valid = valid};
}

static void take_lease(void)
{
    const struct answer reply = lease_of(500, 800, 1000, 2000);
    expect(DHCP6_SOLICIT, 10 * SECOND);
    say(&offer);
    expect(DHCP6_REQUEST, 3 * SECOND);
    say(&reply);
    assert_int_equal(w.dhcp6.state, DHCP6_PROBING);
    bench_run(&w.bench, 3 * SECOND);
    assert_int_equal(w.dhcp6.state, DHCP6_BOUND);
}

static void an_address_is_leased_and_probed(void **state)
{
    (void)state;
    open_world(DHCP6_ADDRESSES_TOO);
    expect(DHCP6_SOLICIT, 10 * SECOND);
    assert_true(w.last.rapid_commit);
    assert_int_equal(w.last.elapsed, 0);
    assert_int_equal(w.last.server.length, 0);
    say(&offer);
    assert_int_equal(w.dhcp6.state, DHCP6_SOLICITING);  // §18.2.1: the first RT is for comparing
    expect(DHCP6_REQUEST, 3 * SECOND);
    assert_memory_equal(w.last.server.bytes + 4, "SERVER", 6);
    assert_int_equal(w.last.address_count, 1);
    const struct answer reply = lease_of(500, 800, 1000, 2000);
    say(&reply);
    assert_non_null(leased(LEASED6));
    assert_int_equal(leased(LEASED6)->prefix_length, 128);
    assert_int_equal(w.changes, 0);  // not before the probe
    bench_run(&w.bench, 3 * SECOND);
    assert_int_equal(w.changes, 1);
    assert_true(dhcp6_bound(&w.dhcp6));
    assert_int_equal(leased(LEASED6)->state == WEIR_ADDRESS_READY || leased(LEASED6)->state == WEIR_ADDRESS_ANNOUNCING,
                     1);
    assert_int_equal(w.dhcp6.dns_count, 1);
    assert_true(weir_addr_equal(w.dhcp6.dns[0], DNS6));
    close_world();
}

static void rapid_commit_saves_a_round_trip(void **state)
{
    (void)state;
    open_world(DHCP6_ADDRESSES_TOO);
    expect(DHCP6_SOLICIT, 10 * SECOND);
    struct answer reply = lease_of(500, 800, 1000, 2000);
    say(&reply);
    assert_int_equal(w.dhcp6.state, DHCP6_SOLICITING);  // it does not say that it commits
    reply.rapid_commit = true;
    say(&reply);
    assert_int_equal(w.dhcp6.state, DHCP6_PROBING);
    close_world();
}

static void the_best_server_is_taken(void **state)
{
    struct answer other = offer;
    (void)state;
    open_world(DHCP6_ADDRESSES_TOO);
    expect(DHCP6_SOLICIT, 10 * SECOND);
    say(&offer);
    other.preference = 9;
    other.other_server = true;
    say(&other);
    expect(DHCP6_REQUEST, 3 * SECOND);
    assert_memory_equal(w.last.server.bytes + 4, "SERVE2", 6);
    close_world();
    open_world(DHCP6_ADDRESSES_TOO);
    expect(DHCP6_SOLICIT, 10 * SECOND);
    other.preference = 255;  // nothing to wait for
    say(&other);
    assert_int_equal(w.dhcp6.state, DHCP6_REQUESTING);
    close_world();
}

static void answers_of_strangers_are_no_answers(void **state)
{
    (void)state;
    open_world(DHCP6_ADDRESSES_TOO);
    expect(DHCP6_SOLICIT, 10 * SECOND);
    struct answer bad[5] = {offer, offer, offer, offer, offer};
    bad[0].wrong_xid = bad[1].wrong_client = bad[2].no_server = bad[3].to_group = true;
    bad[4].type = DHCP6_REBIND;
    for (uint32_t i = 0; i < 5; i++) {
        bad[i].preference = 255;
        bad[i].sol_max_rt = 60;
        say(&bad[i]);
        assert_int_equal(w.dhcp6.state, DHCP6_SOLICITING);
        assert_false(w.dhcp6.offered);
    }
    assert_int_equal(w.dhcp6.count.ignored + w.dhcp6.count.malformed, 4);  // nobody listens to the group
    struct answer good = offer;
    good.preference = 255;
    say(&good);
    expect(DHCP6_REQUEST, SECOND);
    struct answer reply = lease_of(500, 800, 1000, 2000);
    reply.other_server = true;
    say(&reply);
    assert_int_equal(w.dhcp6.state, DHCP6_REQUESTING);
    close_world();
}

// §15: RT doubles, ± 10 %, up to SOL_MAX_RT, which also an Advertise without addresses tells.
static void solicits_back_off(void **state)
{
    struct answer none = {.type = DHCP6_ADVERTISE, .ia_status = DHCP6_NO_ADDRS_AVAIL, .sol_max_rt = 60};
    uint64_t before_us, wait_us, expected_us = SECOND;
    (void)state;
    open_world(DHCP6_ADDRESSES_TOO);
    expect(DHCP6_SOLICIT, 10 * SECOND);
    for (uint32_t i = 0; i < 6; i++) {
        before_us = w.last_us;
        expect(DHCP6_SOLICIT, 200 * SECOND);
        wait_us = w.last_us - before_us;
        assert_true(wait_us >= (i == 0 ? SECOND : expected_us * 85 / 100) &&
                    wait_us <= expected_us * 115 / 100 + 20000);
        expected_us = 2 * wait_us;
    }
    assert_true(w.last.elapsed > 3000);
    say(&none);
    assert_int_equal(w.dhcp6.state, DHCP6_SOLICITING);
    for (uint32_t i = 0; i < 4; i++) {
        before_us = w.last_us;
        expect(DHCP6_SOLICIT, 300 * SECOND);
    }
    assert_in_range((w.last_us - before_us) / SECOND, 53, 67);
    close_world();
}

static void ten_requests_and_it_begins_again(void **state)
{
    (void)state;
    open_world(DHCP6_ADDRESSES_TOO);
    expect(DHCP6_SOLICIT, 10 * SECOND);
    say(&offer);
    for (uint32_t i = 0; i < 10; i++)
        expect(DHCP6_REQUEST, 40 * SECOND);
    expect(DHCP6_SOLICIT, 40 * SECOND);
    close_world();
}

static void a_lease_is_renewed_rebound_and_ends(void **state)
{
    (void)state;
    open_world(DHCP6_ADDRESSES_TOO);
    take_lease();
    const uint64_t begun_us = w.dhcp6.lease.taken_us;
    expect(DHCP6_RENEW, 600 * SECOND);
    assert_in_range((w.last_us - begun_us) / SECOND, 500, 500);
    assert_memory_equal(w.last.server.bytes + 4, "SERVER", 6);
    const struct answer reply = lease_of(500, 800, 1000, 2000);
    say(&reply);
    assert_int_equal(w.dhcp6.state, DHCP6_BOUND);
    assert_true(w.dhcp6.lease.taken_us > begun_us);
    assert_int_equal(leased(LEASED6)->valid_until_us, w.dhcp6.lease.taken_us + 2000 * SECOND);
    expect(DHCP6_RENEW, 600 * SECOND);
    do
        assert_true(next_message(400 * SECOND));
    while (w.last.type == DHCP6_RENEW);
    assert_int_equal(w.last.type, DHCP6_REBIND);
    assert_int_equal(w.last.server.length, 0);
    assert_in_range((w.last_us - w.dhcp6.lease.taken_us) / SECOND, 800, 800);
    while (w.last.type == DHCP6_REBIND)
        assert_true(next_message(1300 * SECOND));
    assert_int_equal(w.last.type, DHCP6_SOLICIT);
    assert_null(leased(LEASED6));  // §18.2.5: when its lifetime is over
    close_world();
}

static void times_that_are_left_to_the_client(void **state)
{
    (void)state;
    open_world(DHCP6_ADDRESSES_TOO);
    expect(DHCP6_SOLICIT, 10 * SECOND);
    struct answer reply = lease_of(0, 0, 1000, 2000);
    reply.rapid_commit = true;
    say(&reply);
    assert_int_equal(w.dhcp6.lease.t1_s, 500);
    assert_int_equal(w.dhcp6.lease.t2_s, 800);
    close_world();
    open_world(DHCP6_ADDRESSES_TOO);
    expect(DHCP6_SOLICIT, 10 * SECOND);
    reply = lease_of(0, 0, UINT32_MAX, UINT32_MAX);
    reply.rapid_commit = true;
    say(&reply);
    bench_run(&w.bench, 3 * SECOND);
    assert_int_equal(w.dhcp6.state, DHCP6_BOUND);
    assert_int_equal(w.dhcp6.due_us, WEIR_NEVER);
    close_world();
}

static void a_server_that_has_no_binding_is_asked_for_one(void **state)
{
    (void)state;
    open_world(DHCP6_ADDRESSES_TOO);
    take_lease();
    expect(DHCP6_RENEW, 600 * SECOND);
    const struct answer none = {.type = DHCP6_REPLY, .ia_status = DHCP6_NO_BINDING};
    say(&none);
    expect(DHCP6_REQUEST, SECOND);
    assert_int_equal(w.last.address_count, 1);
    assert_non_null(leased(LEASED6));
    struct answer other = lease_of(500, 800, 1000, 2000);
    other.addr = OTHER_LEASED6;
    say(&other);
    bench_run(&w.bench, 3 * SECOND);
    assert_non_null(leased(OTHER_LEASED6));
    assert_non_null(leased(LEASED6));  // not named: it stays until its time is over
    assert_int_equal(w.dhcp6.lease.address_count, 2);
    dhcp6_stop(&w.dhcp6);
    assert_null(leased(OTHER_LEASED6));
    close_world();
}

static void another_hosts_address_is_declined(void **state)
{
    uint8_t message[ND_NA_BYTES_MAX], target[16];
    (void)state;
    open_world(DHCP6_ADDRESSES_TOO);
    expect(DHCP6_SOLICIT, 10 * SECOND);
    struct answer reply = lease_of(500, 800, 1000, 2000);
    reply.rapid_commit = true;
    say(&reply);
    weir_addr_to_v6(LEASED6, target);
    const struct make6 make = {.source = LEASED6, .destination = ALL_NODES6, .hop_limit = 255};
    const uint32_t length = nd_na_emit(message, target, ND_OVERRIDE, FIXTURE_PEER_MAC);
    input_icmp6(&w.bench.f, &make, message, length);
    expect(DHCP6_DECLINE, SECOND);
    assert_int_equal(w.last.address_count, 1);
    assert_true(weir_addr_equal(w.last.addresses[0].addr, LEASED6));
    assert_null(leased(LEASED6));
    assert_int_equal(w.dhcp6.count.declined, 1);
    const struct answer done = {.type = DHCP6_REPLY, .no_ia = true};
    say(&done);
    expect(DHCP6_SOLICIT, 12 * SECOND);
    close_world();
}

static void the_link_came_back(void **state)
{
    (void)state;
    open_world(DHCP6_ADDRESSES_TOO);
    take_lease();
    weir_link_change(&w.bench.f.netif, false);
    bench_run(&w.bench, SECOND);
    weir_link_change(&w.bench.f.netif, true);
    expect(DHCP6_CONFIRM, 5 * SECOND);
    assert_int_equal(w.last.address_count, 1);
    assert_int_equal(w.last.server.length, 0);
    while (next_message(12 * SECOND))
        assert_int_equal(w.last.type, DHCP6_CONFIRM);
    assert_int_equal(w.dhcp6.state, DHCP6_BOUND);  // nobody answers: it goes on
    weir_link_change(&w.bench.f.netif, false);
    bench_run(&w.bench, SECOND);
    weir_link_change(&w.bench.f.netif, true);
    expect(DHCP6_CONFIRM, 5 * SECOND);
    const struct answer no = {.type = DHCP6_REPLY, .no_ia = true, .status = DHCP6_NOT_ON_LINK};
    say(&no);
    assert_null(leased(LEASED6));
    expect(DHCP6_SOLICIT, 5 * SECOND);
    close_world();
}

// What a server may say to a renewal: nothing that helps, that the link is another, that the address has ended.
static void a_renewal_may_be_refused(void **state)
{
    static const struct {
        struct answer answer;
        enum dhcp6_state state;
    } cases[] = {
        {{.type = DHCP6_REPLY, .ia_status = DHCP6_UNSPEC_FAIL}, DHCP6_RENEWING},
        {{.type = DHCP6_REPLY, .status = DHCP6_USE_MULTICAST, .no_ia = true}, DHCP6_RENEWING},
        {{.type = DHCP6_REPLY, .no_ia = true}, DHCP6_RENEWING},
        {{.type = DHCP6_REPLY, .ia_status = DHCP6_NOT_ON_LINK}, DHCP6_SOLICITING},
        {{.type = DHCP6_REPLY, .t1 = 500, .t2 = 800}, DHCP6_SOLICITING},  // with a lifetime of 0
    };
    (void)state;
    for (uint32_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        open_world(DHCP6_ADDRESSES_TOO);
        take_lease();
        expect(DHCP6_RENEW, 600 * SECOND);
        say(&cases[i].answer);
        if (w.dhcp6.state != cases[i].state)
            fail_msg("%u: %s", i, dhcp6_state_name(w.dhcp6.state));
        assert_int_equal(w.dhcp6.count.refused, 1);
        assert_int_equal(leased(LEASED6) != NULL, cases[i].state == DHCP6_RENEWING);
        expect(cases[i].state == DHCP6_RENEWING ? DHCP6_RENEW : DHCP6_SOLICIT, 100 * SECOND);
        close_world();
    }
}

static void a_request_may_be_refused(void **state)
{
    (void)state;
    open_world(DHCP6_ADDRESSES_TOO);
    expect(DHCP6_SOLICIT, 10 * SECOND);
    say(&offer);
    expect(DHCP6_REQUEST, 3 * SECOND);
    const uint64_t asked_us = w.bench.f.now_us;
    const struct answer none = {.type = DHCP6_REPLY, .ia_status = DHCP6_NO_ADDRS_AVAIL};
    say(&none);
    expect(DHCP6_SOLICIT, 10 * SECOND);
    assert_true(w.bench.f.now_us - asked_us >= SECOND);  // not more than once a second
    assert_string_equal(dhcp6_state_name(w.dhcp6.state), "SOLICITING");
    close_world();
}

static void a_confirmed_lease_goes_on(void **state)
{
    (void)state;
    open_world(DHCP6_ADDRESSES_TOO);
    take_lease();
    const uint32_t changes = w.changes;
    weir_link_change(&w.bench.f.netif, false);
    bench_run(&w.bench, SECOND);
    weir_link_change(&w.bench.f.netif, true);
    expect(DHCP6_CONFIRM, 5 * SECOND);
    const struct answer unclear = {.type = DHCP6_REPLY, .no_ia = true, .status = DHCP6_UNSPEC_FAIL};
    say(&unclear);
    assert_int_equal(w.dhcp6.state, DHCP6_CONFIRMING);
    const struct answer yes = {.type = DHCP6_REPLY, .no_ia = true};
    say(&yes);
    assert_int_equal(w.dhcp6.state, DHCP6_BOUND);
    assert_non_null(leased(LEASED6));
    assert_true(w.changes >= changes);
    assert_false(next_message(100 * SECOND));
    expect(DHCP6_RENEW, 500 * SECOND);
    close_world();
}

// Whoever is told that an address is not wanted, or not wanted any more, may be silent: it ends all the same. A link
// that goes meanwhile changes nothing.
static void goodbyes_end_without_an_answer(void **state)
{
    uint8_t message[ND_NA_BYTES_MAX], target[16];
    (void)state;
    open_world(DHCP6_ADDRESSES_TOO);
    take_lease();
    dhcp6_release(&w.dhcp6);
    expect(DHCP6_RELEASE, SECOND);
    weir_link_change(&w.bench.f.netif, false);
    bench_run(&w.bench, SECOND / 10);
    weir_link_change(&w.bench.f.netif, true);
    while (next_message(20 * SECOND))
        assert_int_equal(w.last.type, DHCP6_RELEASE);
    assert_int_equal(w.dhcp6.state, DHCP6_STOPPED);
    dhcp6_release(&w.dhcp6);  // there is nothing more
    assert_false(next_message(5 * SECOND));
    close_world();
    open_world(DHCP6_ADDRESSES_TOO);
    expect(DHCP6_SOLICIT, 10 * SECOND);
    dhcp6_release(&w.dhcp6);  // nor anything yet
    struct answer reply = lease_of(500, 800, 1000, 2000);
    reply.rapid_commit = true;
    expect(DHCP6_SOLICIT, 10 * SECOND);
    say(&reply);
    weir_addr_to_v6(LEASED6, target);
    const struct make6 make = {.source = LEASED6, .destination = ALL_NODES6, .hop_limit = 255};
    input_icmp6(&w.bench.f, &make, message, nd_na_emit(message, target, ND_OVERRIDE, FIXTURE_PEER_MAC));
    uint32_t declines = 0;
    while (next_message(30 * SECOND) && w.last.type == DHCP6_DECLINE)
        declines++;
    assert_true(declines > 1);
    assert_int_equal(w.last.type, DHCP6_SOLICIT);
    close_world();
}

// The link goes and comes before there is a lease: the exchange begins anew.
static void the_link_came_back_without_a_lease(void **state)
{
    (void)state;
    open_world(DHCP6_ADDRESSES_TOO);
    expect(DHCP6_SOLICIT, 10 * SECOND);
    say(&offer);
    expect(DHCP6_REQUEST, 3 * SECOND);
    weir_link_change(&w.bench.f.netif, false);
    bench_run(&w.bench, SECOND);
    assert_int_not_equal(w.dhcp6.state, DHCP6_STOPPED);
    weir_link_change(&w.bench.f.netif, true);
    expect(DHCP6_SOLICIT, 10 * SECOND);
    close_world();
    open_world(DHCP6_INFORMATION);
    expect(DHCP6_INFORMATION_REQUEST, 10 * SECOND);
    weir_link_change(&w.bench.f.netif, false);
    bench_run(&w.bench, SECOND);
    weir_link_change(&w.bench.f.netif, true);
    expect(DHCP6_INFORMATION_REQUEST, 10 * SECOND);
    const struct answer limits = {.type = DHCP6_REPLY, .no_ia = true, .inf_max_rt = 77, .refresh = 5};
    say(&limits);
    assert_int_equal(w.dhcp6.inf_max_rt_s, 77);
    assert_int_equal(w.dhcp6.state, DHCP6_INFORMED);
    assert_false(next_message(599 * SECOND));  // no oftener than that
    expect(DHCP6_INFORMATION_REQUEST, 10 * SECOND);
    close_world();
}

static void what_is_no_message_is_counted(void **state)
{
    uint8_t udp[12] = {0}, source[16], destination[16];
    (void)state;
    open_world(DHCP6_ADDRESSES_TOO);
    expect(DHCP6_SOLICIT, 10 * SECOND);
    const struct make6 make = {
        .source = SERVER6, .destination = LINK_LOCAL6, .next_header = 17, .payload = udp, .length = 11};
    put16(udp, DHCP6_SERVER_PORT);
    put16(udp + 2, DHCP6_CLIENT_PORT);
    put16(udp + 4, 11);
    make6_ends(&make, source, destination);
    const uint16_t stored = (uint16_t)~checksum_add(
        ip_pseudo_sum(weir_addr_v6(source), weir_addr_v6(destination), 17, 11), checksum_short(udp, 11));
    memcpy(udp + 6, &stored, 2);
    input6(&w.bench.f, &make);
    bench_run(&w.bench, 1000);
    assert_int_equal(w.dhcp6.count.malformed, 1);
    struct answer second = offer;  // a server that is liked less, and one whose word is final
    say(&offer);
    second.preference = 255;
    second.other_server = true;
    say(&second);
    assert_int_equal(w.dhcp6.state, DHCP6_REQUESTING);
    assert_memory_equal(w.dhcp6.offer.server.bytes + 4, "SERVE2", 6);
    close_world();
}

static void a_lease_is_released(void **state)
{
    (void)state;
    open_world(DHCP6_ADDRESSES_TOO);
    take_lease();
    dhcp6_release(&w.dhcp6);
    assert_null(leased(LEASED6));
    expect(DHCP6_RELEASE, SECOND);
    assert_true(weir_addr_equal(w.last.addresses[0].addr, LEASED6));
    expect(DHCP6_RELEASE, 3 * SECOND);
    const struct answer done = {.type = DHCP6_REPLY, .no_ia = true};
    say(&done);
    assert_int_equal(w.dhcp6.state, DHCP6_STOPPED);
    assert_false(next_message(10 * SECOND));
    close_world();
}

static void advertise_flags(uint8_t flags)
{
    uint8_t message[16] = {ICMP6_ROUTER_ADVERTISEMENT, 0, 0, 0, 64, flags};  // of a router that is no default router
    const struct make6 make = {.source = ip6_of(0xfe800000u, 0, 0, 0xfe), .destination = ALL_NODES6, .hop_limit = 255};
    input_icmp6(&w.bench.f, &make, message, sizeof message);
}

static void routers_say_whether_to_ask(void **state)
{
    (void)state;
    open_world(DHCP6_BY_ROUTERS);
    assert_false(next_message(10 * SECOND));
    advertise_flags(0x40);
    expect(DHCP6_INFORMATION_REQUEST, 3 * SECOND);
    assert_false(w.last.ia);
    const struct answer settings = {.type = DHCP6_REPLY, .no_ia = true, .refresh = 100};
    say(&settings);
    assert_int_equal(w.dhcp6.state, DHCP6_INFORMED);
    assert_int_equal(w.dhcp6.dns_count, 1);
    assert_int_equal(w.changes, 1);
    const uint64_t told_us = w.bench.f.now_us;
    expect(DHCP6_INFORMATION_REQUEST, 700 * SECOND);
    assert_in_range((w.last_us - told_us) / SECOND, 599, 601);  // IRT_MINIMUM
    say(&settings);
    advertise_flags(0);  // ends nothing
    bench_run(&w.bench, SECOND);
    assert_int_equal(w.dhcp6.state, DHCP6_INFORMED);
    advertise_flags(0x80);
    expect(DHCP6_SOLICIT, 3 * SECOND);
    close_world();
}

static void a_failure_to_send_hides_no_answer(void **state)
{
    const struct answer reply = {.type = DHCP6_REPLY, .rapid_commit = true, .valid = 2000};
    (void)state;
    open_world(DHCP6_ADDRESSES_TOO);
    expect(DHCP6_SOLICIT, 10 * SECOND);
    bench_fail(&w.bench, w.dhcp6.socket);
    say(&reply);
    assert_non_null(leased(LEASED6));
    close_world();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_address_is_leased_and_probed),
        cmocka_unit_test(rapid_commit_saves_a_round_trip),
        cmocka_unit_test(the_best_server_is_taken),
        cmocka_unit_test(answers_of_strangers_are_no_answers),
        cmocka_unit_test(solicits_back_off),
        cmocka_unit_test(ten_requests_and_it_begins_again),
        cmocka_unit_test(a_lease_is_renewed_rebound_and_ends),
        cmocka_unit_test(times_that_are_left_to_the_client),
        cmocka_unit_test(a_server_that_has_no_binding_is_asked_for_one),
        cmocka_unit_test(another_hosts_address_is_declined),
        cmocka_unit_test(the_link_came_back),
        cmocka_unit_test(a_lease_is_released),
        cmocka_unit_test(routers_say_whether_to_ask),
        cmocka_unit_test(a_failure_to_send_hides_no_answer),
        cmocka_unit_test(a_renewal_may_be_refused),
        cmocka_unit_test(a_request_may_be_refused),
        cmocka_unit_test(a_confirmed_lease_goes_on),
        cmocka_unit_test(goodbyes_end_without_an_answer),
        cmocka_unit_test(the_link_came_back_without_a_lease),
        cmocka_unit_test(what_is_no_message_is_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
