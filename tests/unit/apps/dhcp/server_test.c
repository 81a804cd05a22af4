// SPDX-License-Identifier: BSD-2-Clause
// profiles: small_apps
// The DHCP server: clients are messages that the test makes, and the server's answers are frames.
#include "apps/bench.h"

#include "dhcp/client.h"
#include "dhcp/server.h"

#define POOL 4u
#define LEASE_S 1000u
#define FIRST weir_ip4(10, 0, 0, 100)
#define OWN weir_ip4(10, 0, 0, 1)

struct world {
    struct bench bench;
    struct dhcp_server server;
    struct dhcp_server_config config;
    struct dhcp_binding bindings[POOL];
    uint32_t frames, changes;
    struct dhcp_message last;
    struct weir_addr last_to;
    const uint8_t *last_bytes;  // of the message's options, which end with 255
};

static struct world w;

static void changed(struct dhcp_server *server, struct weir_addr address, const struct dhcp_binding *binding,
                    void *context)
{
    (void)server, (void)address, (void)binding, (void)context;
    w.changes++;
}

static void open_world(void)
{
    memset(&w, 0, sizeof w);
    bench_open(&w.bench);
    w.config = (struct dhcp_server_config){.netif = &w.bench.f.netif,
                                           .first = FIRST,
                                           .bindings = w.bindings,
                                           .count = POOL,
                                           .lease_s = LEASE_S,
                                           .router = OWN,
                                           .dns = weir_ip4(10, 0, 0, 2),
                                           .domain = "home.arpa",
                                           .changed = changed};
    assert_int_equal(dhcp_server_start(&w.server, &w.bench.loop, &w.config), WEIR_OK);
    bench_run(&w.bench, 10000);
    w.frames = fixture_sent_count(&w.bench.f);
}

static void close_world(void)
{
    dhcp_server_stop(&w.server);
    bench_close(&w.bench);
}

static struct weir_addr of_packet(const uint8_t *at) { return weir_addr_v4(get32(at)); }

// Lets so much time pass. The server's next answer, in w.last; its type, 0: none.
static uint8_t answer_within(uint64_t us)
{
    struct fixture *f = &w.bench.f;
    bench_run(&w.bench, us);
    for (; w.frames < fixture_sent_count(f); w.frames++) {
        uint32_t length;
        const uint8_t *packet = fixture_sent_packet(f, w.frames, &length);
        if (length < 28 || packet[0] != 0x45 || packet[9] != 17 || get16(packet + 22) != DHCP_CLIENT_PORT)
            continue;
        w.frames++;
        assert_true(dhcp_parse(packet + 28, length - 28, &w.last) && length - 28 >= DHCP_MESSAGE_MIN);
        assert_int_equal(w.last.op, 2);
        assert_true(weir_addr_equal(w.last.server_id, OWN));
        w.last_to = of_packet(packet + 16);
        w.last_bytes = packet + 28 + 240;
        return w.last.type;
    }
    return 0;
}

static uint8_t answer(void)
{
    uint8_t type = answer_within(1000);
    for (uint32_t i = 0; i < POOL && type == 0; i++) {
        if (w.bindings[i].state == DHCP_PINGED)
            type = answer_within(DHCP_PING_US);
    }
    return type;
}

static void deliver(struct weir_addr from, const void *bytes, uint32_t length)
{
    uint8_t udp[8 + DHCP_MESSAGE_MAX] = {0, DHCP_CLIENT_PORT, 0, DHCP_SERVER_PORT};  // checksum 0: none
    put16(udp + 4, 8 + length);
    memcpy(udp + 8, bytes, length);
    fixture_input_ip4(&w.bench.f, from, weir_addr_v4(0xffffffffu), 17, udp, 8 + length);
}

// A client with the number `who` sends the message.
static void send_from(uint8_t who, struct dhcp_message message)
{
    uint8_t bytes[DHCP_MESSAGE_MAX];
    message.op = 1;
    message.xid += 0x1000u + who;
    memcpy(message.mac, (const uint8_t[]){2, 0, 0, 0, 0, who}, 6);
    const uint32_t length = dhcp_emit(&message, bytes, sizeof bytes);
    deliver(message.ciaddr, bytes, length);
}

// A client sends the message, and this is the type of the answer to it.
static uint8_t ask(uint8_t who, struct dhcp_message message)
{
    send_from(who, message);
    return answer();
}

static uint8_t discover(uint8_t who) { return ask(who, (struct dhcp_message){.type = DHCP_DISCOVER}); }

static uint8_t request(uint8_t who, struct weir_addr address)
{
    return ask(who, (struct dhcp_message){.type = DHCP_REQUEST, .server_id = OWN, .requested = address});
}

static struct weir_addr pool(uint32_t place) { return weir_addr_v4(weir_addr_to_v4(FIRST) + place); }

static void lease(uint8_t who, uint32_t place)
{
    assert_int_equal(discover(who), DHCP_OFFER);
    assert_true(weir_addr_equal(w.last.yiaddr, pool(place)));
    assert_int_equal(request(who, pool(place)), DHCP_ACK);
    assert_true(weir_addr_equal(w.last.yiaddr, pool(place)));
}

static void pass(uint32_t seconds) { bench_run(&w.bench, (uint64_t)seconds * 1000000); }

// The echo request that the server sent last, to this address: answers it. false: there is none.
static bool echo_back(struct weir_addr from)
{
    struct fixture *f = &w.bench.f;
    for (uint32_t i = fixture_sent_count(f); i-- > 0;) {
        uint32_t length;
        const uint8_t *packet = fixture_sent_packet(f, i, &length);
        if (length < 28 || packet[0] != 0x45 || packet[9] != 1 || packet[20] != 8 ||
            !weir_addr_equal(of_packet(packet + 16), from))
            continue;
        uint8_t reply[8];
        memcpy(reply, packet + 20, sizeof reply);
        reply[0] = 0;
        const uint32_t sum = get16(reply + 2) + 0x0800u;  // RFC 1624: without the type
        put16(reply + 2, (sum & 0xffff) + (sum >> 16));
        fixture_input_ip4(f, from, OWN, 1, reply, sizeof reply);
        return true;
    }
    return false;
}

// RFC 2131 §3.1: an address that is in use is not offered.
static void an_address_that_answers_rests(void **state)
{
    (void)state;
    open_world();
    fixture_know_peer(&w.bench.f, pool(0));
    fixture_know_peer(&w.bench.f, pool(1));
    send_from(1, (struct dhcp_message){.type = DHCP_DISCOVER});
    assert_int_equal(answer_within(DHCP_PING_US / 2), 0);
    assert_int_equal(w.bindings[0].state, DHCP_PINGED);
    assert_true(echo_back(pool(0)));
    assert_int_equal(answer_within(DHCP_PING_US - 1000), 0);  // the next one has all its time
    assert_int_equal(w.bindings[0].state, DHCP_DECLINED);
    assert_int_equal(w.server.count.in_use, 1);
    assert_int_equal(w.changes, 1);
    assert_int_equal(answer_within(2000), DHCP_OFFER);
    assert_true(weir_addr_equal(w.last.yiaddr, pool(1)));
    assert_int_equal(w.last.xid, 0x1001);
    assert_int_equal(w.last.id_length, 0);
    assert_true(echo_back(pool(1)));  // too late: the client will find out
    assert_int_equal(request(1, pool(1)), DHCP_ACK);
    pass(DHCP_DECLINED_S);
    lease(2, 2);
    lease(3, 3);
    lease(4, 1);  // its time had passed
    lease(5, 0);  // and has rested
    close_world();
}

static void who_asks_again_meanwhile_is_answered_once(void **state)
{
    (void)state;
    open_world();
    const struct dhcp_message asks = {.type = DHCP_DISCOVER, .id_length = 3, .id = {0, 'm', 'e'}};
    struct dhcp_message again = asks;
    again.xid = 0x100;
    send_from(1, asks);
    assert_int_equal(answer_within(DHCP_PING_US / 2), 0);
    assert_int_equal(request(1, FIRST), DHCP_NAK);  // it has no offer yet
    send_from(1, again);
    assert_int_equal(answer_within(DHCP_PING_US / 2 + 1000), DHCP_OFFER);
    assert_int_equal(w.last.xid, 0x1101);
    assert_memory_equal(w.last.id, "\0me", 3);
    assert_int_equal(answer_within(10 * DHCP_PING_US), 0);
    assert_int_equal(w.server.count.offered, 1);
    send_from(1, again);  // it has had this address: no more pings
    assert_int_equal(answer_within(1000), DHCP_OFFER);
    close_world();
}

static void where_all_answer_nobody_gets_any(void **state)
{
    (void)state;
    open_world();
    for (uint32_t i = 0; i < POOL; i++)
        fixture_know_peer(&w.bench.f, pool(i));
    send_from(1, (struct dhcp_message){.type = DHCP_DISCOVER});
    for (uint32_t i = 0; i < POOL; i++) {
        assert_int_equal(answer_within(1000), 0);
        assert_true(echo_back(pool(i)));
    }
    assert_int_equal(answer_within(2 * DHCP_PING_US), 0);
    assert_int_equal(w.server.count.exhausted, 1);
    assert_int_equal(w.server.count.in_use, POOL);
    close_world();
}

static void a_client_is_offered_and_given_an_address(void **state)
{
    (void)state;
    open_world();
    assert_int_equal(discover(1), DHCP_OFFER);
    assert_true(weir_addr_is_broadcast(w.last_to));
    assert_int_equal(w.last.xid, 0x1001);
    assert_true(weir_addr_equal(w.last.yiaddr, FIRST) && weir_addr_equal(w.last.mask, weir_ip4(255, 255, 255, 0)));
    assert_int_equal(w.last.lease_s, LEASE_S);
    assert_int_equal(w.last.renew_s, LEASE_S / 2);
    assert_int_equal(w.last.rebind_s, LEASE_S - LEASE_S / 8);
    assert_true(weir_addr_equal(w.last.routers.addresses[0], OWN) && w.last.routers.count == 1);
    assert_true(weir_addr_equal(w.last.dns.addresses[0], weir_ip4(10, 0, 0, 2)));
    assert_string_equal(w.last.domain, "home.arpa");
    assert_int_equal(request(1, FIRST), DHCP_ACK);
    assert_int_equal(w.changes, 1);
    lease(2, 1);
    close_world();
}

static void a_client_keeps_its_address(void **state)
{
    (void)state;
    open_world();
    lease(1, 0);
    lease(1, 0);
    pass(LEASE_S + 1);
    lease(2, 1);  // there are some that nobody ever had
    lease(1, 0);
    const struct dhcp_message renewal = {.type = DHCP_REQUEST, .ciaddr = FIRST};
    pass(LEASE_S / 2);
    const uint64_t until_us = w.bindings[0].until_us;
    (void)ask(1, renewal);  // the answer waits for ARP
    assert_int_equal(w.server.count.acknowledged, 5);
    assert_true(w.bindings[0].until_us > until_us);
    close_world();
}

static void clients_are_known_by_their_identifier(void **state)
{
    (void)state;
    open_world();
    const struct dhcp_message asks = {.type = DHCP_DISCOVER, .id_length = 3, .id = {0, 'm', 'e'}};
    assert_int_equal(ask(1, asks), DHCP_OFFER);
    assert_int_equal(w.last.id_length, 3);
    assert_memory_equal(w.last.id, "\0me", 3);
    assert_int_equal(ask(2, asks), DHCP_OFFER);  // another network card
    assert_true(weir_addr_equal(w.last.yiaddr, FIRST));
    assert_int_equal(discover(1), DHCP_OFFER);  // another system on the same card
    assert_true(weir_addr_equal(w.last.yiaddr, pool(1)));
    assert_int_equal(w.last.id_length, 0);
    close_world();
}

static void the_wish_of_a_client_is_heard(void **state)
{
    (void)state;
    open_world();
    assert_int_equal(ask(1, (struct dhcp_message){.type = DHCP_DISCOVER, .requested = pool(2)}), DHCP_OFFER);
    assert_true(weir_addr_equal(w.last.yiaddr, pool(2)));
    assert_int_equal(ask(2, (struct dhcp_message){.type = DHCP_DISCOVER, .requested = pool(2)}), DHCP_OFFER);
    assert_true(weir_addr_equal(w.last.yiaddr, pool(0)));
    assert_int_equal(ask(3, (struct dhcp_message){.type = DHCP_DISCOVER, .requested = OWN}), DHCP_OFFER);
    assert_true(weir_addr_equal(w.last.yiaddr, pool(1)));
    close_world();
}

static void offers_are_forgotten_and_leases_are_not(void **state)
{
    (void)state;
    open_world();
    lease(1, 0);
    for (uint8_t who = 10; who < 10 + POOL - 1; who++)
        assert_int_equal(discover(who), DHCP_OFFER);
    assert_int_equal(discover(20), 0);
    assert_int_equal(w.server.count.exhausted, 1);
    pass(DHCP_OFFER_S);
    lease(20, 1);
    assert_int_equal(request(11, pool(2)), DHCP_NAK);  // too late
    assert_true(weir_addr_is_broadcast(w.last_to));
    // the client takes another server's offer
    assert_int_equal(discover(21), DHCP_OFFER);
    assert_true(weir_addr_equal(w.last.yiaddr, pool(2)));
    const struct dhcp_message other = {
        .type = DHCP_REQUEST, .server_id = weir_ip4(10, 0, 0, 9), .requested = weir_ip4(10, 0, 0, 200)};
    assert_int_equal(ask(21, other), 0);
    assert_true(w.bindings[2].until_us <= w.bench.f.now_us);
    close_world();
}

static void a_client_that_starts_again_is_told_where_it_is(void **state)
{
    (void)state;
    open_world();
    lease(1, 0);
    const struct dhcp_message right = {.type = DHCP_REQUEST, .requested = FIRST},
                              wrong = {.type = DHCP_REQUEST, .requested = pool(1)},
                              foreign = {.type = DHCP_REQUEST, .requested = weir_ip4(192, 168, 1, 5)};
    assert_int_equal(ask(1, right), DHCP_ACK);
    assert_int_equal(ask(1, wrong), DHCP_NAK);
    assert_int_equal(ask(2, foreign), DHCP_NAK);
    assert_int_equal(ask(2, right), 0);  // another server may know it
    close_world();
}

static void an_address_in_use_is_kept_over_a_restart_of_the_server(void **state)
{
    (void)state;
    open_world();
    fixture_know_peer(&w.bench.f, pool(3));
    assert_int_equal(ask(7, (struct dhcp_message){.type = DHCP_REQUEST, .ciaddr = pool(3)}), DHCP_ACK);
    assert_true(weir_addr_equal(w.last_to, pool(3)));
    assert_int_equal(w.bindings[3].state, DHCP_LEASED);
    assert_int_equal(ask(8, (struct dhcp_message){.type = DHCP_REQUEST, .ciaddr = pool(3)}), DHCP_NAK);
    close_world();
}

static void what_is_declined_or_released_is_the_clients_own(void **state)
{
    (void)state;
    open_world();
    lease(1, 0);
    lease(2, 1);
    (void)ask(2, (struct dhcp_message){.type = DHCP_RELEASE, .ciaddr = pool(0), .server_id = OWN});
    (void)ask(2, (struct dhcp_message){.type = DHCP_DECLINE, .requested = pool(0), .server_id = OWN});
    assert_int_equal(w.bindings[0].state, DHCP_LEASED);
    (void)ask(1, (struct dhcp_message){.type = DHCP_RELEASE, .ciaddr = pool(0), .server_id = OWN});
    assert_int_equal(w.bindings[0].state, DHCP_FREE);
    (void)ask(2, (struct dhcp_message){.type = DHCP_DECLINE, .requested = pool(1), .server_id = OWN});
    assert_int_equal(w.bindings[1].state, DHCP_DECLINED);
    lease(2, 2);  // not the one that it declined
    lease(1, 0);
    lease(3, 3);
    assert_int_equal(discover(4), 0);
    pass(DHCP_DECLINED_S);
    assert_int_equal(discover(4), DHCP_OFFER);
    close_world();
}

static void a_host_with_an_address_is_informed(void **state)
{
    (void)state;
    open_world();
    fixture_know_peer(&w.bench.f, weir_ip4(10, 0, 0, 77));
    assert_int_equal(ask(1, (struct dhcp_message){.type = DHCP_INFORM, .ciaddr = weir_ip4(10, 0, 0, 77)}), DHCP_ACK);
    assert_true(weir_addr_is_any(w.last.yiaddr) && w.last.lease_s == 0 && w.last.routers.count == 1);
    assert_true(weir_addr_equal(w.last_to, weir_ip4(10, 0, 0, 77)));
    assert_int_equal(ask(1, (struct dhcp_message){.type = DHCP_INFORM, .ciaddr = weir_ip4(10, 9, 0, 77)}), 0);
    close_world();
}

static void answers_stay_on_the_link(void **state)
{
    (void)state;
    open_world();
    const struct weir_addr elsewhere = weir_ip4(192, 0, 2, 1);
    assert_int_equal(ask(1, (struct dhcp_message){.type = DHCP_DISCOVER, .ciaddr = elsewhere}), DHCP_OFFER);
    assert_true(weir_addr_is_broadcast(w.last_to));
    const struct dhcp_message takes = {.type = DHCP_REQUEST, .ciaddr = elsewhere, .server_id = OWN, .requested = FIRST};
    assert_int_equal(ask(1, takes), DHCP_ACK);
    assert_true(weir_addr_is_broadcast(w.last_to));
    close_world();
}

static void what_is_no_question_is_dropped(void **state)
{
    (void)state;
    open_world();
    assert_int_equal(ask(1, (struct dhcp_message){.type = DHCP_OFFER}), 0);
    assert_int_equal(ask(1, (struct dhcp_message){.type = DHCP_REQUEST}), 0);
    assert_int_equal(ask(1, (struct dhcp_message){.type = DHCP_DISCOVER, .giaddr = weir_ip4(10, 0, 0, 3)}), 0);
    assert_int_equal(w.server.count.ignored, 3);
    deliver(weir_addr_any(), "nonsense", 8);
    assert_int_equal(answer(), 0);
    assert_int_equal(w.server.count.malformed, 1);
    close_world();
}

// What a client says in pieces (RFC 3396), in `file` and `sname`, is what it says.
static void a_client_may_split_its_options(void **state)
{
    uint8_t bytes[DHCP_MESSAGE_MIN] = {1, 1, 6, 0, 0, 0, 0, 9};
    (void)state;
    open_world();
    memcpy(bytes + 28, (const uint8_t[]){2, 0, 0, 0, 0, 1}, 6);
    memcpy(bytes + 236, (const uint8_t[]){99, 130, 83, 99, 53, 1, 1, 52, 1, 3, 61, 2, 0, 'm', 50, 2, 10, 0, 255}, 19);
    memcpy(bytes + 108, (const uint8_t[]){61, 1, 'e', 50, 1, 0, 255}, 7);
    memcpy(bytes + 44, (const uint8_t[]){50, 1, 102, 255}, 4);
    deliver(weir_addr_any(), bytes, sizeof bytes);
    assert_int_equal(answer(), DHCP_OFFER);
    assert_true(weir_addr_equal(w.last.yiaddr, pool(2)));
    assert_int_equal(w.last.id_length, 3);
    assert_memory_equal(w.last.id, "\0me", 3);
    close_world();
}

static const uint8_t *portal(void)
{
    const uint8_t *at = w.last_bytes;
    while (*at != 114 && *at != 255)
        at += *at == 0 ? 1 : 2 + at[1];
    return *at == 114 ? at + 1 : NULL;
}

// A telephone stays in a network without Internet when it is told what that network is (RFC 8910).
static void a_portal_is_told(void **state)
{
    (void)state;
    open_world();
    assert_int_equal(discover(1), DHCP_OFFER);
    assert_null(portal());  // there is none
    dhcp_server_stop(&w.server);
    w.config.portal = DHCP_NO_PORTAL;
    assert_int_equal(dhcp_server_start(&w.server, &w.bench.loop, &w.config), WEIR_OK);
    assert_int_equal(discover(1), DHCP_OFFER);
    assert_non_null(portal());
    assert_int_equal(*portal(), strlen(DHCP_NO_PORTAL));
    assert_memory_equal(portal() + 1, DHCP_NO_PORTAL, strlen(DHCP_NO_PORTAL));
    assert_int_equal(request(1, FIRST), DHCP_ACK);
    assert_non_null(portal());
    assert_int_equal(request(2, FIRST), DHCP_NAK);
    assert_null(portal());
    fixture_know_peer(&w.bench.f, weir_ip4(10, 0, 0, 77));
    assert_int_equal(ask(1, (struct dhcp_message){.type = DHCP_INFORM, .ciaddr = weir_ip4(10, 0, 0, 77)}), DHCP_ACK);
    assert_non_null(portal());
    close_world();
}

// A server beside a client would serve the client's network: whoever comes second is refused.
static void no_server_runs_beside_a_client(void **state)
{
    static struct dhcp client;
    static struct weir_netif other;
    (void)state;
    open_world();
    weir_netif_init(&other, "eth1", w.bench.f.netif.driver, &weir_link_ethernet);
    memcpy(other.mac, (const uint8_t[]){2, 0, 0, 0, 0, 0xee}, 6);
    assert_int_equal(dhcp_start(&client, &w.bench.loop, &w.bench.f.netif, NULL, NULL, NULL), WEIR_IN_USE);
    assert_int_equal(weir_netif_add(w.bench.f.weir, &other), WEIR_OK);
    assert_int_equal(dhcp_start(&client, &w.bench.loop, &other, NULL, NULL, NULL), WEIR_OK);  // of another interface
    dhcp_stop(&client);
    dhcp_server_stop(&w.server);
    assert_int_equal(dhcp_start(&client, &w.bench.loop, &w.bench.f.netif, NULL, NULL, NULL), WEIR_OK);
    (void)weir_netif_set_address(&w.bench.f.netif, OWN, 24, WEIR_ADDRESS_AT_ONCE);
    assert_int_equal(dhcp_server_start(&w.server, &w.bench.loop, &w.config), WEIR_IN_USE);
    dhcp_stop(&client);
    (void)weir_netif_set_address(&w.bench.f.netif, OWN, 24, WEIR_ADDRESS_AT_ONCE);
    assert_int_equal(dhcp_server_start(&w.server, &w.bench.loop, &w.config), WEIR_OK);
    weir_netif_remove(&other);
    close_world();
}

static void what_cannot_be_is_refused(void **state)
{
    (void)state;
    open_world();
    struct dhcp_server server;
    static char name[DHCP_NAME_MAX + 1];
    memset(name, 'a', DHCP_NAME_MAX);
    static char uri[DHCP_PORTAL_MAX + 1];
    memset(uri, 'u', DHCP_PORTAL_MAX);
    struct dhcp_server_config bad[10];
    for (uint32_t i = 0; i < 10; i++)
        bad[i] = w.config;
    bad[0].first = weir_ip4(10, 0, 1, 1);
    bad[1].first = weir_ip4(10, 0, 0, 252);  // to the broadcast address
    bad[2].first = weir_ip4(10, 0, 0, 0);
    bad[3].first = weir_ip4(10, 0, 0, 254);
    bad[4].lease_s = DHCP_SERVER_LEASE_MIN_S - 1;
    bad[5].bindings = NULL;
    bad[6].count = 0;
    bad[7].count = 1u << 20;
    bad[8].domain = name;
    bad[9].portal = uri;
    for (uint32_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(dhcp_server_start(&server, &w.bench.loop, &bad[i]), WEIR_INVALID);
    struct dhcp_server_config own = w.config;
    own.first = weir_ip4(10, 0, 0, 1);  // our own
    assert_int_equal(dhcp_server_start(&server, &w.bench.loop, &own), WEIR_INVALID);
    assert_true(dhcp_server_start(&server, &w.bench.loop, &w.config) < 0);  // the port is another's
    // The server's own address: there is none, one without a subnet, one whose subnet has no room, one at its end.
    static const uint8_t bits[] = {0, 0, 31, 24};
    for (uint32_t i = 0; i < 4; i++) {
        const struct weir_addr address = i == 0   ? weir_addr_any()
                                         : i == 3 ? weir_ip4(10, 0, 0, 102)
                                                  : weir_ip4(10, 0, 0, 1);
        (void)weir_netif_set_address(&w.bench.f.netif, address, bits[i], WEIR_ADDRESS_AT_ONCE);
        assert_int_equal(dhcp_server_start(&server, &w.bench.loop, &w.config), WEIR_INVALID);
    }
    close_world();
    dhcp_server_stop(&w.server);  // it has stopped already
}

static void a_failure_to_send_hides_no_question(void **state)
{
    (void)state;
    open_world();
    bench_fail(&w.bench, w.server.socket);
    assert_int_equal(discover(1), DHCP_OFFER);
    close_world();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_client_is_offered_and_given_an_address),
        cmocka_unit_test(an_address_that_answers_rests),
        cmocka_unit_test(who_asks_again_meanwhile_is_answered_once),
        cmocka_unit_test(where_all_answer_nobody_gets_any),
        cmocka_unit_test(a_client_keeps_its_address),
        cmocka_unit_test(clients_are_known_by_their_identifier),
        cmocka_unit_test(the_wish_of_a_client_is_heard),
        cmocka_unit_test(offers_are_forgotten_and_leases_are_not),
        cmocka_unit_test(a_client_that_starts_again_is_told_where_it_is),
        cmocka_unit_test(an_address_in_use_is_kept_over_a_restart_of_the_server),
        cmocka_unit_test(what_is_declined_or_released_is_the_clients_own),
        cmocka_unit_test(a_host_with_an_address_is_informed),
        cmocka_unit_test(answers_stay_on_the_link),
        cmocka_unit_test(what_is_no_question_is_dropped),
        cmocka_unit_test(a_client_may_split_its_options),
        cmocka_unit_test(a_portal_is_told),
        cmocka_unit_test(no_server_runs_beside_a_client),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(a_failure_to_send_hides_no_question),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
