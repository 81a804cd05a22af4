// SPDX-License-Identifier: BSD-2-Clause
// not on mips: Mbed TLS is built for this machine
// What goes wrong: pieces of a byte, no memory, peers that vanish, crowds, damage, bad credentials.
#include "tls/tls_pair.h"

#include <stdlib.h>
#include <string.h>

#include "api/tls/internal.h"

// A handshake as far as it goes without the peer.
static int go_on(struct weir_tls_session *session)
{
    int status = WEIR_IN_PROGRESS;
    while (status == WEIR_IN_PROGRESS)
        status = weir_tls_handshake(session);
    return status;
}

static bool going(int status) { return status == WEIR_AGAIN || status == WEIR_IN_PROGRESS; }

// --- somebody between the ends ------------------------------------------------------------------
// Two connections, the client's and the server's, and who passes bytes on from one to the other. Its ends are both on
// b.
struct middle {
    weir_socket to_client, to_server;
    uint32_t piece;      // bytes passed on at a time
    uint32_t passed[2];  // to the server, to the client
    uint32_t damage_at;  // this byte to the server is changed; 0: none
};

static void middle_open(struct middle *m, struct tls_pair *t, uint32_t piece)
{
    const struct weir_tls_session_options client = {.name = "weir.example", .locked = 1}, server = {.locked = 1};
    *m = (struct middle){.piece = piece};
    pair_connect(&t->link, 443, &t->client.socket, &m->to_client);
    weir_socket other;
    pair_connect(&t->link, 444, &other, &t->server.socket);
    m->to_server = other;  // on a
    t->client.session = weir_tls_open(t->client.config, t->client.weir, t->client.socket, &client, &t->error);
    t->server.session = weir_tls_open(t->server.config, t->server.weir, t->server.socket, &server, &t->error);
    assert_non_null(t->client.session);
    assert_non_null(t->server.session);
}

static void middle_pass(struct middle *m, struct weir *from, weir_socket in, struct weir *to, weir_socket out, int way)
{
    uint8_t data[2048];
    const int got = weir_socket_read(from, in, data, m->piece < sizeof data ? m->piece : sizeof data);
    if (got <= 0)
        return;
    if (way == 0 && m->damage_at && m->passed[0] < m->damage_at && m->passed[0] + (uint32_t)got >= m->damage_at)
        data[m->damage_at - m->passed[0] - 1] ^= 0x10;
    m->passed[way] += (uint32_t)got;
    assert_int_equal(weir_socket_write(to, out, data, (uint32_t)got), got);
}

static void middle_run(struct middle *m, struct tls_pair *t)
{
    middle_pass(m, t->server.weir, m->to_client, t->client.weir, m->to_server, 0);
    middle_pass(m, t->client.weir, m->to_server, t->server.weir, m->to_client, 1);
    pair_run(&t->link, 100);
}

static void middle_close(struct middle *m, struct tls_pair *t)
{
    (void)weir_socket_abort(t->server.weir, m->to_client);
    (void)weir_socket_abort(t->client.weir, m->to_server);
}

static void a_handshake_in_pieces_of_a_byte_is_one(void **state)
{
    (void)state;
    for (EACH_VERSION(version)) {
        struct tls_pair t;
        struct middle m;
        uint8_t data[16];
        int client = WEIR_AGAIN, server = WEIR_AGAIN, got = WEIR_AGAIN;
        tls_pair_open(&t, &(struct tls_setup){.server = {.version_max = version, .handshake_timeout_ms = 60000},
                                              .client = {.handshake_timeout_ms = 60000},
                                              .no_sessions = true});
        middle_open(&m, &t, 1);
        for (int i = 0; i < 50000 && (going(client) || going(server)); i++) {
            client = weir_tls_handshake(t.client.session);
            server = weir_tls_handshake(t.server.session);
            middle_run(&m, &t);
        }
        assert_int_equal(client, WEIR_OK);
        assert_int_equal(server, WEIR_OK);
        assert_true(m.passed[0] > 200 && m.passed[1] > 700);
        assert_int_equal(weir_tls_write(t.client.session, "in pieces", 9), 9);
        for (int i = 0; i < 500 && got == WEIR_AGAIN; i++) {
            middle_run(&m, &t);
            got = weir_tls_read(t.server.session, data, sizeof data);
        }
        assert_int_equal(got, 9);
        assert_memory_equal(data, "in pieces", 9);
        middle_close(&m, &t);
        tls_pair_close(&t);
    }
}

// A byte changed on the way, anywhere: whoever sees it says so and gives nothing out; nobody hangs.
static void a_damaged_handshake_fails(void **state)
{
    (void)state;
    for (EACH_VERSION(version)) {
        for (uint32_t at = 1; at < 700; at += 23) {
            struct tls_pair t;
            struct middle m;
            int client = WEIR_AGAIN, server = WEIR_AGAIN;
            tls_pair_open(&t, &(struct tls_setup){.server = {.version_max = version}, .no_sessions = true});
            middle_open(&m, &t, 2048);
            m.damage_at = at;
            for (int i = 0; i < 200000 && (going(client) || going(server)); i++) {
                client = weir_tls_handshake(t.client.session);
                server = weir_tls_handshake(t.server.session);
                middle_run(&m, &t);
                if (!going(client) && client != WEIR_OK && going(server) && i > 100)
                    break;
            }
            assert_true(m.passed[0] < at || client != WEIR_OK || server != WEIR_OK);
            middle_close(&m, &t);
            tls_pair_close(&t);
        }
    }
}

static void a_damaged_record_gives_no_plaintext(void **state)
{
    (void)state;
    for (EACH_VERSION(version)) {
        struct tls_pair t;
        struct middle m;
        uint8_t data[4000] = {0};
        int client = WEIR_AGAIN, server = WEIR_AGAIN, got = WEIR_AGAIN;
        tls_pair_open(&t, &(struct tls_setup){.server = {.version_max = version},
                                              .client = {.record_bytes = 4000},
                                              .no_sessions = true});
        middle_open(&m, &t, 2048);
        for (int i = 0; i < 50000 && (going(client) || going(server)); i++) {
            client = weir_tls_handshake(t.client.session);
            server = weir_tls_handshake(t.server.session);
            middle_run(&m, &t);
        }
        m.damage_at = m.passed[0] + 3900;
        assert_int_equal(weir_tls_write(t.client.session, data, sizeof data), sizeof data);
        for (int i = 0; i < 500 && got == WEIR_AGAIN; i++) {
            middle_run(&m, &t);
            got = weir_tls_read(t.server.session, data, sizeof data);
        }
        assert_int_equal(got, WEIR_TLS_PROTOCOL);
        assert_int_equal(weir_tls_read(t.server.session, data, sizeof data), WEIR_TLS_PROTOCOL);
        weir_tls_abort(t.server.session);  // its RST does not overtake the reason
        t.server.session = NULL;
        for (int i = 0; i < 100; i++)
            middle_run(&m, &t);
        assert_int_equal(weir_tls_read(t.client.session, data, sizeof data), WEIR_TLS_ALERT);
        assert_int_equal(info_of(&t.client).alert_received, 20);  // bad_record_mac
        middle_close(&m, &t);
        tls_pair_close(&t);
    }
}

// --- memory -------------------------------------------------------------------------------------
// Every allocation fails once, of a whole connection; what fails says so, and everything goes back (tls_pair_close
// looks).
#define SOME 211u  // of 6,000; WEIR_TEST_EACH=1 in the environment: every one, which takes minutes

static void each_allocation_may_fail(void **state)
{
    (void)state;
    for (EACH_VERSION(version)) {
        const bool each = getenv("WEIR_TEST_EACH") != NULL;
        uint32_t allocations = UINT32_MAX;
        for (uint32_t fail_at = 1; fail_at <= allocations; fail_at += fail_at < 30 || each ? 1 : SOME) {
            struct tls_pair t;
            tls_pair_open(&t,
                          &(struct tls_setup){.server = {.version_max = version, .verify = WEIR_TLS_VERIFY_REQUIRED},
                                              .client_chain = client_certificate,
                                              .client_key = client_key,
                                              .no_sessions = true});
            const uint32_t before = t.allocations;
            t.fail_at = fail_at;
            const bool opened = tls_pair_connect(&t, NULL);
            const int status = opened ? tls_pair_shake(&t) : t.error;
            if (t.fail_at) {  // it was not reached
                assert_int_equal(status, WEIR_OK);
                allocations = 0;
            } else {
                // A ticket that is not sent does no harm.
                const bool unharmed = status == WEIR_OK && (info_of(&t.client).open && info_of(&t.server).open);
                assert_true(unharmed || status == WEIR_NO_MEMORY || status == WEIR_TLS_ALERT ||
                            status == WEIR_TLS_PROTOCOL);
                allocations = t.allocations - before > fail_at ? UINT32_MAX : fail_at + SOME;
            }
            if (!opened && !t.client.session)
                (void)weir_socket_close(t.client.weir, t.client.socket);
            if (!opened)
                (void)weir_socket_close(t.server.weir, t.server.socket);
            tls_pair_close(&t);
        }
    }
}

static void setting_up_may_fail(void **state)
{
    static const char *const alpn[] = {"http/1.1", NULL};
    (void)state;
    for (uint32_t fail_at = 1, reached = 1; reached; fail_at++) {
        struct tls_pair t;
        int error = WEIR_OK;
        tls_pair_open(&t, &(struct tls_setup){.no_sessions = true});
        t.fail_at = fail_at;
        struct weir_tls_credentials *const own = weir_tls_credentials_create(t.tls, &error);
        if (own)
            error = weir_tls_credentials_own(own, long_chain, sizeof long_chain, server_key, sizeof server_key);
        if (!error)
            error = weir_tls_credentials_trust(own, ca_certificate, sizeof ca_certificate);
        struct weir_tls_config *config = NULL;
        if (!error)
            config = weir_tls_config_create(
                t.tls, &(struct weir_tls_options){.role = WEIR_TLS_SERVER, .credentials = own, .alpn = alpn}, &error);
        reached = t.fail_at == 0;
        assert_int_equal(error, reached ? WEIR_NO_MEMORY : WEIR_OK);
        t.fail_at = 0;
        weir_tls_config_release(config);
        weir_tls_credentials_release(own);
        tls_pair_close(&t);
    }
}

static void what_cannot_be_set_up_is_refused(void **state)
{
    static const struct weir_tls_options bad[] = {
        {.role = WEIR_TLS_CLIENT, .version_min = 0x0302},
        {.role = WEIR_TLS_CLIENT, .version_max = 0x0305},
        {.role = WEIR_TLS_CLIENT, .version_min = WEIR_TLS_1_3, .version_max = WEIR_TLS_1_2},
        {.role = WEIR_TLS_CLIENT, .max_fragment = 1000},
        {.role = WEIR_TLS_CLIENT, .record_bytes = 16385},
        {.role = (enum weir_tls_role)7},
        {.role = WEIR_TLS_SERVER},  // it has to show who it is
    };
    struct tls_pair t;
    int error;
    (void)state;
    tls_pair_open(&t, &(struct tls_setup){.no_sessions = true});
    assert_null(weir_tls_config_create(t.tls, NULL, &error));
    assert_int_equal(error, WEIR_INVALID);
    for (uint32_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        error = WEIR_OK;
        assert_null(weir_tls_config_create(t.tls, &bad[i], &error));
        assert_int_equal(error, WEIR_INVALID);
    }
    struct weir_tls_options trusting = {.role = WEIR_TLS_SERVER, .credentials = t.client.credentials};
    assert_null(weir_tls_config_create(t.tls, &trusting, &error));  // an authority is nobody's certificate
    assert_int_equal(error, WEIR_INVALID);
    static const uint16_t fragments[] = {512, 1024, 2048, 4096};
    for (uint32_t i = 0; i < 4; i++) {
        struct weir_tls_config *const config = weir_tls_config_create(
            t.tls, &(struct weir_tls_options){.role = WEIR_TLS_CLIENT, .max_fragment = fragments[i]}, &error);
        assert_non_null(config);
        weir_tls_config_release(config);
    }
    // One library serves all, by the same memory, clock and randomness.
    struct weir_tls_system other = t.system;
    other.budget_bytes++;
    assert_null(weir_tls_create(&weir_tls_mbedtls, &t.link.a.port, &other, &error));
    assert_int_equal(error, WEIR_INVALID);
    assert_null(weir_tls_create(&weir_tls_mbedtls, &t.link.b.port, &t.system, &error));
    assert_int_equal(error, WEIR_INVALID);
    assert_null(weir_tls_create(NULL, &t.link.a.port, &t.system, &error));
    assert_int_equal(error, WEIR_INVALID);
    weir_tls_destroy(NULL);
    weir_tls_config_release(NULL);
    tls_pair_close(&t);
}

static void constant(void *context, void *out, size_t bytes) { (void)context, memset(out, 7, bytes); }

// Without randomness, with half an allocator, or in a block that is too small, there is no library.
static void what_the_system_lacks_is_told(void **state)
{
    static uint64_t block[4];
    struct fixture f;
    int error;
    (void)state;
    fixture_open(&f, &weir_link_ethernet, weir_ip4(10, 0, 0, 1), 24, 0);
    struct weir_port port = f.port;
    port.entropy = constant;
    assert_null(weir_tls_create(&weir_tls_mbedtls, &port, NULL, &error));
    assert_int_equal(error, WEIR_TLS_ENTROPY);
    port.entropy = NULL;
    assert_null(weir_tls_create(&weir_tls_mbedtls, &port, NULL, &error));
    assert_int_equal(error, WEIR_TLS_ENTROPY);
    assert_null(weir_tls_create(&weir_tls_mbedtls, NULL, NULL, &error));
    assert_int_equal(error, WEIR_INVALID);
    const struct weir_tls_system small = {.memory = (uint8_t *)block + 1, .memory_bytes = sizeof block - 1};
    assert_null(weir_tls_create(&weir_tls_mbedtls, &f.port, &small, &error));
    assert_int_equal(error, WEIR_NO_MEMORY);
    fixture_close(&f);
}

static void errors_have_names(void **state)
{
    static const struct {
        int error;
        const char *name;
    } names[] = {{WEIR_TLS_TRUNCATED, "WEIR_TLS_TRUNCATED"},
                 {WEIR_TLS_ALERT, "WEIR_TLS_ALERT"},
                 {WEIR_TLS_CERTIFICATE, "WEIR_TLS_CERTIFICATE"},
                 {WEIR_TLS_PROTOCOL, "WEIR_TLS_PROTOCOL"},
                 {WEIR_TLS_CREDENTIALS, "WEIR_TLS_CREDENTIALS"},
                 {WEIR_TLS_ENTROPY, "WEIR_TLS_ENTROPY"},
                 {WEIR_TLS_MANY, "WEIR_TLS_MANY"},
                 {WEIR_TLS_ENDED, "WEIR_TLS_ENDED"},
                 {WEIR_TLS_KEY_UPDATE, "WEIR_TLS_KEY_UPDATE"},
                 {WEIR_TLS_KEY_LIMIT, "WEIR_TLS_KEY_LIMIT"},
                 {WEIR_RESET, "WEIR_RESET"}};
    (void)state;
    for (uint32_t i = 0; i < sizeof names / sizeof names[0]; i++)
        assert_string_equal(weir_tls_error_name(names[i].error), names[i].name);
}

// A hundred connections out of a block: it is as whole after the last as after the first.
static void a_block_of_memory_does_not_crumble(void **state)
{
    struct tls_pair t;
    size_t rest = 0, peak = 0;
    (void)state;
    tls_pair_open(&t, &(struct tls_setup){.memory = 300000, .no_sessions = true});
    for (int i = 0; i < 100; i++) {
        assert_true(tls_pair_connect(&t, NULL));
        assert_int_equal(tls_pair_shake(&t), WEIR_OK);
        tls_pair_exchange(&t, 100, 100);
        tls_pair_sessions_close(&t);
        if (i == 1) {
            rest = weir_tls_memory(t.tls);
            peak = weir_tls_memory_peak(t.tls);
        }
    }
    assert_int_equal(weir_tls_memory(t.tls), rest);
    assert_true(weir_tls_memory_peak(t.tls) <= peak + peak / 50);
    tls_pair_close(&t);
}

// A budget that is too small for a second session refuses it, and the first goes on.
static void a_budget_holds(void **state)
{
    struct tls_pair t;
    int error = WEIR_OK;
    (void)state;
    tls_pair_open(&t, &(struct tls_setup){.budget = 150000});
    assert_int_equal(tls_pair_shake(&t), WEIR_OK);
    weir_socket client, server;
    pair_connect(&t.link, 445, &client, &server);
    struct weir_tls_session *second =
        weir_tls_open(t.client.config, t.client.weir, client,
                      &(struct weir_tls_session_options){.name = "weir.example", .locked = 1}, &error);
    struct weir_tls_session *third = NULL;
    if (second)
        third = weir_tls_open(t.server.config, t.server.weir, server, &(struct weir_tls_session_options){.locked = 1},
                              &error);
    assert_true(!second || !third);
    assert_int_equal(error, WEIR_NO_MEMORY);
    tls_pair_exchange(&t, 30000, 30000);
    weir_tls_close(second);
    if (!second)
        (void)weir_socket_close(t.client.weir, client);
    (void)weir_socket_close(t.server.weir, server);
    tls_pair_close(&t);
}

// --- peers --------------------------------------------------------------------------------------
// Either end vanishes after each step of the handshake: with a reset, or with a FIN. The other one fails, and all of it
// goes back.
static void peers_vanish_in_each_step(void **state)
{
    (void)state;
    for (EACH_VERSION(version)) {
        bool whole = false;
        for (int step = 0; !whole; step++) {
            for (int way = 0; way < 4; way++) {
                struct tls_pair t;
                int client = WEIR_AGAIN, server = WEIR_AGAIN;
                tls_pair_open(&t, &(struct tls_setup){.server = {.version_max = version}});
                for (int i = 0; i < step; i++) {
                    client = weir_tls_handshake(t.client.session);
                    server = weir_tls_handshake(t.server.session);
                    pair_run(&t.link, 1000);
                }
                whole = client == WEIR_OK && server == WEIR_OK;
                struct tls_end *const gone = way & 1 ? &t.client : &t.server, *const left =
                                                                                  way & 1 ? &t.server : &t.client;
                if (way & 2)
                    weir_tls_abort(gone->session);
                else
                    weir_tls_close(gone->session);
                gone->session = NULL;
                int status = WEIR_AGAIN;
                uint8_t byte;
                for (int i = 0; i < 500 && going(status); i++) {
                    pair_run(&t.link, 1000);
                    status = weir_tls_read(left->session, &byte, 1);
                }
                assert_true(status == WEIR_RESET || status == WEIR_TLS_TRUNCATED || status == WEIR_TLS_ALERT ||
                            (status == 0 && !(way & 2)));
                tls_pair_close(&t);
            }
        }
    }
}

// Under a client that shakes hands, and under one that waits for data: neither waits for ever, and nothing is left.
static void an_interface_goes_in_each_step(void **state)
{
    (void)state;
    bool whole = false;
    for (int step = 0; !whole; step++) {
        struct tls_pair t;
        int client = WEIR_AGAIN;
        tls_pair_open(&t, NULL);
        for (int i = 0; i < step; i++) {
            client = weir_tls_handshake(t.client.session);
            (void)weir_tls_handshake(t.server.session);
            pair_run(&t.link, 1000);
        }
        whole = client == WEIR_OK;
        assert_int_equal(weir_netif_set_up(&t.link.a.netif, false), WEIR_OK);
        for (int i = 0; i < 2000 && going(client); i++) {
            pair_run(&t.link, 10000);
            client = weir_tls_handshake(t.client.session);
        }
        assert_true(client == WEIR_TIMED_OUT || (client == WEIR_OK && step > 1));  // open: by what had arrived
        assert_int_equal(weir_netif_set_up(&t.link.a.netif, true), WEIR_OK);
        if (whole)
            tls_pair_exchange(&t, 1000, 1000);  // what was open is open
        tls_pair_close(&t);
    }
    assert_true(whole);
}

// One end's instance is destroyed right behind its session, closed or aborted, before the stack has had a turn. Its
// memory is back at once (tls_pair_close looks), and the other end is told by what the instance sends last: neither
// waits for its timeout.
static void an_instance_goes_in_each_step(void **state)
{
    (void)state;
    for (int way = 0; way < 4; way++) {
        bool whole = false;
        for (int step = 0; !whole; step++) {
            struct tls_pair t;
            int client = WEIR_AGAIN, server = WEIR_AGAIN;
            tls_pair_open(&t, NULL);
            for (int i = 0; i < step; i++) {
                client = weir_tls_handshake(t.client.session);
                server = weir_tls_handshake(t.server.session);
                pair_run(&t.link, 1000);
            }
            whole = client == WEIR_OK && server == WEIR_OK;
            struct tls_end *const gone = way & 1 ? &t.server : &t.client, *const left = way & 1 ? &t.client : &t.server;
            (way & 2 ? weir_tls_abort : weir_tls_close)(gone->session);
            gone->session = NULL;
            assert_int_equal(weir_tls_sessions(t.tls), 1);
            tls_pair_instance_end(&t, way & 1);
            uint8_t byte;
            int status = WEIR_IN_PROGRESS;
            while (status == WEIR_IN_PROGRESS)
                status = weir_tls_read(left->session, &byte, 1);
            assert_true(status == WEIR_RESET || status == WEIR_TLS_TRUNCATED || (status == 0 && !(way & 2)));
            tls_pair_close(&t);
        }
    }
}

// However often it fails, and whichever way: memory comes back, and a place among the handshakes.
static void many_failed_handshakes_leave_nothing(void **state)
{
    static const char *const names[] = {"weir.example.org", "other", "10.9.9.9"};
    struct tls_pair t;
    size_t rest = 0;
    (void)state;
    tls_pair_open(&t, &(struct tls_setup){.server = {.handshakes = 1}, .no_sessions = true});
    for (int i = 0; i < 1000; i++) {
        assert_true(weir_tls_may_accept(t.server.config));
        assert_true(tls_pair_connect(&t, &(struct weir_tls_session_options){.name = names[i % 3]}));
        if (i % 4 != 3)  // otherwise: given up before a word
            (void)go_on(t.client.session);
        if (i % 8 == 0)
            assert_int_equal(tls_pair_shake(&t), WEIR_TLS_CERTIFICATE);
        weir_tls_abort(t.client.session);
        t.client.session = NULL;
        pair_run(&t.link, 1000);
        assert_true(go_on(t.server.session) < 0);
        weir_tls_close(t.server.session);
        t.server.session = NULL;
        pair_run(&t.link, 1000);
        rest = i == 7 ? weir_tls_memory(t.tls) : rest;
    }
    assert_int_equal(weir_tls_memory(t.tls), rest);
    assert_true(tls_pair_connect(&t, NULL));
    assert_int_equal(tls_pair_shake(&t), WEIR_OK);
    tls_pair_close(&t);
}

static bool block_holds(const struct tls_pair *t, const void *what, size_t bytes)
{
    const uint8_t *const block = t->block;
    for (size_t at = 0; at + bytes <= t->setup->memory; at++)
        if (!memcmp(block + at, what, bytes))
            return true;
    return false;
}

// What waits to be read lies in the library's buffer. Behind a session there is nothing of it; tls_pair_close looks at
// all of the block, keys and credentials.
static void secrets_are_wiped(void **state)
{
    static const char secret[] = "what nobody else is to read";
    (void)state;
    for (EACH_VERSION(version)) {
        struct tls_pair t;
        char got[4];
        tls_pair_open(&t, &(struct tls_setup){.memory = 300000, .server = {.version_max = version}});
        assert_int_equal(tls_pair_shake(&t), WEIR_OK);
        assert_int_equal(weir_tls_write(t.client.session, secret, sizeof secret), sizeof secret);
        for (int i = 0; i < 10; i++)
            tls_pair_run(&t, 1000);
        assert_int_equal(weir_tls_read(t.server.session, got, sizeof got), sizeof got);
        assert_true(block_holds(&t, secret + sizeof got, sizeof secret - sizeof got));
        tls_pair_sessions_close(&t);
        assert_false(block_holds(&t, secret + sizeof got, 16));
        tls_pair_close(&t);
    }
}

static void a_handshake_has_its_time(void **state)
{
    struct tls_pair t;
    (void)state;
    tls_pair_open(&t, &(struct tls_setup){.server = {.handshake_timeout_ms = 3000}});
    const uint64_t begun_us = pair_now_us(&t.link);
    assert_int_equal(go_on(t.server.session), WEIR_AGAIN);  // the client says nothing
    assert_int_equal(weir_tls_due_us(t.server.session), begun_us + 3000000);
    pair_run(&t.link, 2900000);
    assert_int_equal(weir_tls_ready(t.server.session), 0);
    pair_run(&t.link, 200000);
    assert_int_equal(weir_tls_ready(t.server.session), WEIR_READABLE | WEIR_WRITABLE | WEIR_ERROR);
    assert_int_equal(weir_tls_handshake(t.server.session), WEIR_TIMED_OUT);
    assert_int_equal(weir_tls_due_us(t.server.session), WEIR_NEVER);
    tls_pair_close(&t);
}

// The time is for all of it: a byte now and then does not stretch it.
static void a_trickle_does_not_stretch_it(void **state)
{
    struct tls_pair t;
    struct middle m;
    int server = WEIR_AGAIN;
    (void)state;
    tls_pair_open(&t, &(struct tls_setup){.server = {.handshake_timeout_ms = 5000}, .no_sessions = true});
    middle_open(&m, &t, 1);
    const uint64_t begun_us = pair_now_us(&t.link);
    for (int i = 0; i < 200 && going(server); i++) {
        (void)weir_tls_handshake(t.client.session);
        server = weir_tls_handshake(t.server.session);
        middle_run(&m, &t);
        pair_run(&t.link, 100000);
    }
    assert_int_equal(server, WEIR_TIMED_OUT);
    assert_in_range(pair_now_us(&t.link) - begun_us, 5000000, 5300000);
    middle_close(&m, &t);
    tls_pair_close(&t);
}

#define CROWD 6

// So many handshakes at once as the configuration says; the others are refused before they cost anything, and let in
// when there is room.
static void half_done_handshakes_are_bounded(void **state)
{
    struct tls_pair t;
    weir_socket clients[CROWD], servers[CROWD];
    struct weir_tls_session *sessions[CROWD] = {NULL};
    const struct weir_tls_session_options options = {.locked = 1};
    int error = WEIR_OK, opened = 0;
    (void)state;
    tls_pair_open(&t, &(struct tls_setup){.server = {.handshakes = 2}, .no_sessions = true});
    size_t used = 0;
    for (int i = 0; i < CROWD; i++) {
        pair_connect(&t.link, (uint16_t)(500 + i), &clients[i], &servers[i]);
        assert_int_equal(weir_tls_may_accept(t.server.config), i < 2);
        sessions[i] = weir_tls_open(t.server.config, t.server.weir, servers[i], &options, &error);
        opened += sessions[i] != NULL;
        assert_int_equal(error, i < 2 ? WEIR_OK : WEIR_TLS_MANY);
        if (i == 1)
            used = weir_tls_memory(t.tls);
    }
    assert_int_equal(opened, 2);
    assert_int_equal(weir_tls_memory(t.tls), used);
    pair_run(&t.link, 16000000);
    assert_int_equal(go_on(sessions[0]), WEIR_TIMED_OUT);  // failed: no longer one of them
    sessions[2] = weir_tls_open(t.server.config, t.server.weir, servers[2], &options, &error);
    assert_non_null(sessions[2]);
    assert_false(weir_tls_may_accept(t.server.config));
    weir_tls_close(sessions[1]);
    assert_true(weir_tls_may_accept(t.server.config));
    weir_tls_close(sessions[0]);
    weir_tls_close(sessions[2]);
    for (int i = 0; i < CROWD; i++) {
        (void)weir_socket_close(t.client.weir, clients[i]);
        (void)weir_socket_close(t.server.weir, servers[i]);
    }
    tls_pair_close(&t);
}

// An open session is none of the handshakes.
static void open_sessions_do_not_count(void **state)
{
    struct tls_pair t;
    (void)state;
    tls_pair_open(&t, &(struct tls_setup){.server = {.handshakes = 1}});
    assert_false(weir_tls_may_accept(t.server.config));
    assert_int_equal(tls_pair_shake(&t), WEIR_OK);
    assert_true(weir_tls_may_accept(t.server.config));
    tls_pair_close(&t);
}

// A step of a locked session leaves the stack its turn: no call does more than a part of the handshake.
static void a_locked_handshake_goes_step_by_step(void **state)
{
    struct tls_pair t;
    int steps = 0, server = WEIR_AGAIN, client = WEIR_AGAIN;
    (void)state;
    tls_pair_open(&t, NULL);
    for (int i = 0; i < 1000 && (going(server) || going(client)); i++) {
        client = weir_tls_handshake(t.client.session);
        server = weir_tls_handshake(t.server.session);
        steps += server == WEIR_IN_PROGRESS;
        if (server == WEIR_IN_PROGRESS)
            assert_int_equal(weir_tls_due_us(t.server.session), 0);  // also where the clock goes on while it is asked
        pair_run(&t.link, 100);
    }
    assert_int_equal(server, WEIR_OK);
    assert_true(steps >= 4);
    tls_pair_close(&t);
}

// Configuration and credentials are replaced while a session lives on the old ones.
static void a_session_keeps_what_it_was_made_of(void **state)
{
    struct tls_pair t;
    (void)state;
    tls_pair_open(&t, NULL);
    weir_tls_config_release(t.client.config);
    weir_tls_config_release(t.server.config);
    weir_tls_credentials_release(t.client.credentials);
    weir_tls_credentials_release(t.server.credentials);
    t.client.config = t.server.config = NULL;
    t.client.credentials = t.server.credentials = NULL;
    assert_int_equal(tls_pair_shake(&t), WEIR_OK);
    tls_pair_exchange(&t, 1000, 1000);
    tls_pair_close(&t);
}

// An urgent byte lies in the stream, not beside it.
static void urgent_bytes_stay_in_their_record(void **state)
{
    struct tls_pair t;
    (void)state;
    tls_pair_open(&t, NULL);
    assert_int_equal(tls_pair_shake(&t), WEIR_OK);
    assert_int_equal(weir_tls_write(t.client.session, "record", 6), 6);
    // somebody breaks in: a record that is none
    assert_true(weir_socket_write_urgent(t.client.weir, t.client.socket, "", 1) != 0);
    pair_run(&t.link, 10000);
    uint8_t data[16];
    assert_int_equal(weir_tls_read(t.server.session, data, sizeof data), 6);
    // the byte is the beginning of something
    assert_int_equal(weir_tls_read(t.server.session, data, sizeof data), WEIR_AGAIN);
    tls_pair_close(&t);
}

// One key encrypts only so many records (for AES-GCM 2^24.5, RFC 8446 §5.5). Behind them a write is refused, and takes
// nothing; what was written arrives, the other direction goes on, and the session can end properly.
static void a_key_encrypts_only_so_many_records(void **state)
{
    (void)state;
    for (EACH_VERSION(version)) {
        struct tls_pair t;
        uint8_t data[3 * 1000] = {0}, got[sizeof data];
        tls_pair_open(&t, &(struct tls_setup){.server = {.version_max = version}, .client = {.record_bytes = 1000}});
        assert_int_equal(tls_pair_shake(&t), WEIR_OK);
        tls_pair_exchange(&t, 5000, 100);
        assert_int_equal(t.client.session->records, 5);  // one for each thousand
        t.client.session->records = TLS_RECORDS_MAX - 2;
        assert_int_equal(weir_tls_write(t.client.session, data, sizeof data), 2000);
        assert_int_equal(weir_tls_write(t.client.session, data, 1), WEIR_TLS_KEY_LIMIT);
        assert_int_equal(weir_tls_write(t.client.session, data, 0), 0);
        tls_pair_run(&t, 100000);
        assert_int_equal(weir_tls_read(t.server.session, got, sizeof got), 1000);
        assert_int_equal(weir_tls_read(t.server.session, got, sizeof got), 1000);
        assert_int_equal(weir_tls_write(t.server.session, "on", 2), 2);
        tls_pair_run(&t, 100000);
        assert_int_equal(weir_tls_read(t.client.session, got, sizeof got), 2);
        assert_int_equal(weir_tls_shutdown(t.client.session), WEIR_OK);
        tls_pair_run(&t, 100000);
        assert_int_equal(weir_tls_read(t.server.session, got, sizeof got), 0);  // close_notify
        tls_pair_close(&t);
    }
}

static void nonsense_is_no_handshake(void **state)
{
    static const char *const texts[] = {"GET / HTTP/1.1\r\nHost: a\r\n\r\n", "\x80\x2e\x01\x03\x01",
                                        "\x16\x03\x01\xff\xff\x01\x00", "\x17\x03\x03\x00\x05hello"};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct tls_pair t;
        const struct weir_tls_session_options options = {.locked = 1};
        int status = WEIR_AGAIN;
        tls_pair_open(&t, &(struct tls_setup){.no_sessions = true});
        pair_connect(&t.link, 443, &t.client.socket, &t.server.socket);
        t.server.session = weir_tls_open(t.server.config, t.server.weir, t.server.socket, &options, &t.error);
        assert_true(weir_socket_write(t.client.weir, t.client.socket, texts[i],
                                      i == 0   ? (uint32_t)strlen(texts[i])
                                      : i == 2 ? 7
                                               : 5) > 0);
        for (int n = 0; n < 20000 && going(status); n++) {
            pair_run(&t.link, 1000);
            status = weir_tls_handshake(t.server.session);
        }
        assert_true(status == WEIR_TLS_PROTOCOL || status == WEIR_TIMED_OUT);
        (void)weir_socket_close(t.client.weir, t.client.socket);
        tls_pair_close(&t);
    }
}

// --- credentials, randomness --------------------------------------------------------------------
static void credentials_are_looked_at(void **state)
{
    struct tls_pair t;
    int error = 0;
    (void)state;
    tls_pair_open(&t, &(struct tls_setup){.no_sessions = true});
    struct weir_tls_credentials *c = weir_tls_credentials_create(t.tls, NULL);
    assert_int_equal(
        weir_tls_credentials_own(c, server_certificate, sizeof server_certificate, other_key, sizeof other_key),
        WEIR_TLS_CREDENTIALS);
    assert_int_equal(
        weir_tls_credentials_own(c, server_certificate, sizeof server_certificate, server_key, sizeof server_key),
        WEIR_INVALID);  // once
    assert_int_equal(weir_tls_credentials_trust(c, "nothing", 7), WEIR_TLS_CREDENTIALS);
    assert_int_equal(weir_tls_credentials_trust(c, ca_certificate, 300), WEIR_TLS_CREDENTIALS);
    assert_int_equal(weir_tls_credentials_trust(c, "", 0), WEIR_TLS_CREDENTIALS);
    weir_tls_credentials_release(c);
    // a server without a certificate
    assert_null(weir_tls_config_create(t.tls, &(struct weir_tls_options){.role = WEIR_TLS_SERVER}, &error));
    assert_int_equal(error, WEIR_INVALID);
    assert_null(weir_tls_config_create(
        t.tls, &(struct weir_tls_options){.version_min = WEIR_TLS_1_3, .version_max = WEIR_TLS_1_2}, &error));
    assert_null(weir_tls_config_create(t.tls, &(struct weir_tls_options){.max_fragment = 700}, &error));
    tls_pair_close(&t);
}

static void same_entropy(void *context, void *out, size_t bytes) { (void)context, memset(out, 7, bytes); }

static void without_randomness_there_is_no_tls(void **state)
{
    struct fixture f;
    int error = 0;
    (void)state;
    fixture_open(&f, &weir_link_rawip, weir_ip4(10, 0, 0, 1), 24, 0);
    struct weir_port port = f.port;
    port.entropy = same_entropy;
    assert_null(weir_tls_create(&weir_tls_mbedtls, &port, NULL, &error));
    assert_int_equal(error, WEIR_TLS_ENTROPY);
    port.entropy = NULL;
    assert_null(weir_tls_create(&weir_tls_mbedtls, &port, NULL, &error));
    struct weir_tls *const tls = weir_tls_create(&weir_tls_mbedtls, &f.port, NULL, &error);
    assert_non_null(tls);
    assert_null(weir_tls_create(&weir_tls_mbedtls, &port, NULL, &error));  // another port than the first's
    assert_int_equal(error, WEIR_INVALID);
    struct weir_tls *const second = weir_tls_create(&weir_tls_mbedtls, &f.port, NULL, &error);
    assert_non_null(second);
    weir_tls_destroy(tls);
    weir_tls_destroy(second);
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_handshake_in_pieces_of_a_byte_is_one),
        cmocka_unit_test(a_damaged_handshake_fails),
        cmocka_unit_test(a_damaged_record_gives_no_plaintext),
        cmocka_unit_test(each_allocation_may_fail),
        cmocka_unit_test(setting_up_may_fail),
        cmocka_unit_test(what_cannot_be_set_up_is_refused),
        cmocka_unit_test(what_the_system_lacks_is_told),
        cmocka_unit_test(a_block_of_memory_does_not_crumble),
        cmocka_unit_test(a_budget_holds),
        cmocka_unit_test(peers_vanish_in_each_step),
        cmocka_unit_test(an_interface_goes_in_each_step),
        cmocka_unit_test(an_instance_goes_in_each_step),
        cmocka_unit_test(many_failed_handshakes_leave_nothing),
        cmocka_unit_test(secrets_are_wiped),
        cmocka_unit_test(a_handshake_has_its_time),
        cmocka_unit_test(a_trickle_does_not_stretch_it),
        cmocka_unit_test(half_done_handshakes_are_bounded),
        cmocka_unit_test(open_sessions_do_not_count),
        cmocka_unit_test(a_locked_handshake_goes_step_by_step),
        cmocka_unit_test(a_session_keeps_what_it_was_made_of),
        cmocka_unit_test(urgent_bytes_stay_in_their_record),
        cmocka_unit_test(a_key_encrypts_only_so_many_records),
        cmocka_unit_test(nonsense_is_no_handshake),
        cmocka_unit_test(credentials_are_looked_at),
        cmocka_unit_test(without_randomness_there_is_no_tls),
        cmocka_unit_test(errors_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
