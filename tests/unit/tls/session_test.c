// SPDX-License-Identifier: BSD-2-Clause
// not on mips: Mbed TLS is built for this machine
// What a session does between two ends that mean well: versions, names, protocols, certificates both ways, resumption,
// sizes, ends.
#include "tls/tls_pair.h"

#include <string.h>

static void both_versions_carry_bytes(void **state)
{
    (void)state;
    for (EACH_VERSION(version)) {
        for (int unlocked = 0; unlocked < 2; unlocked++) {
            struct tls_pair t;
            const struct tls_setup setup = {.server = {.version_max = version}, .unlocked = unlocked};
            tls_pair_open(&t, &setup);
            assert_int_equal(tls_pair_shake(&t), WEIR_OK);
            assert_int_equal(info_of(&t.client).version, version);
            assert_int_equal(info_of(&t.server).version, version);
            assert_non_null(info_of(&t.client).suite);
            assert_int_equal(info_of(&t.client).verify, 0);
            assert_false(info_of(&t.client).resumed);
            tls_pair_exchange(&t, 200000, 300000);
            tls_pair_close(&t);
        }
    }
}

static void the_first_read_or_write_makes_the_handshake(void **state)
{
    struct tls_pair t;
    uint8_t byte = 0;
    int wrote = WEIR_AGAIN, read = WEIR_AGAIN;
    (void)state;
    tls_pair_open(&t, NULL);
    for (int i = 0; i < 1000 && (wrote != 1 || read != 1); i++) {
        if (wrote != 1)
            wrote = weir_tls_write(t.client.session, "x", 1);
        read = weir_tls_read(t.server.session, &byte, 1);
        pair_run(&t.link, 1000);
    }
    assert_int_equal(wrote, 1);
    assert_int_equal(read, 1);
    assert_int_equal(byte, 'x');
    tls_pair_close(&t);
}

static void rsa_and_chains_are_good(void **state)
{
    const struct tls_setup setups[] = {
        {.chain = rsa_certificate, .key = rsa_key},
        {.chain = rsa_certificate, .key = rsa_key, .server = {.version_max = WEIR_TLS_1_2}},
        {.chain = long_chain, .key = server_key}};
    (void)state;
    for (size_t i = 0; i < sizeof setups / sizeof *setups; i++) {
        struct tls_pair t;
        tls_pair_open(&t, &setups[i]);
        assert_int_equal(tls_pair_shake(&t), WEIR_OK);
        tls_pair_exchange(&t, 1000, 1000);
        tls_pair_close(&t);
    }
}

// --- names and protocols ------------------------------------------------------------------------
struct shelf {
    struct weir_tls_credentials *other;
    char asked[64];
};

static struct weir_tls_credentials *choose(void *context, const char *name, size_t length)
{
    struct shelf *const shelf = context;
    assert_true(length < sizeof shelf->asked);
    memcpy(shelf->asked, name, length);
    shelf->asked[length] = '\0';
    return strcmp(shelf->asked, "other.example") == 0 ? shelf->other : NULL;
}

// The server has two certificates, and shows the one that the client asked for; it refuses a name that is nobody's.
static void the_name_chooses_the_certificate(void **state)
{
    (void)state;
    for (EACH_VERSION(version)) {
        struct shelf shelf = {0};
        struct tls_pair t;
        const struct tls_setup setup = {.server = {.version_max = version, .choose = choose, .choose_context = &shelf},
                                        .no_sessions = true};
        tls_pair_open(&t, &setup);
        shelf.other = weir_tls_credentials_create(t.tls, NULL);
        assert_int_equal(weir_tls_credentials_own(shelf.other, other_certificate, sizeof other_certificate, other_key,
                                                  sizeof other_key),
                         WEIR_OK);
        assert_true(tls_pair_connect(&t, &(struct weir_tls_session_options){.name = "other.example"}));
        assert_int_equal(tls_pair_shake(&t), WEIR_OK);
        assert_string_equal(shelf.asked, "other.example");
        tls_pair_sessions_close(&t);
        assert_true(tls_pair_connect(&t, &(struct weir_tls_session_options){.name = "nobody.example"}));
        assert_int_equal(tls_pair_shake(&t), WEIR_TLS_ALERT);
        assert_int_equal(info_of(&t.client).alert_received, 112);  // unrecognized_name
        tls_pair_sessions_close(&t);
        weir_tls_credentials_release(shelf.other);
        tls_pair_close(&t);
    }
}

// A literal is compared with the certificate's addresses, and is not sent (RFC 6066 §3).
static void an_address_is_compared_and_not_sent(void **state)
{
    (void)state;
    for (EACH_VERSION(version)) {
        struct shelf shelf = {0};
        struct tls_pair t;
        const struct tls_setup setup = {.server = {.version_max = version, .choose = choose, .choose_context = &shelf},
                                        .session = {.name = "10.0.0.2"},
                                        .no_sessions = true};
        tls_pair_open(&t, &setup);
        assert_true(tls_pair_connect(&t, NULL));
        assert_int_equal(tls_pair_shake(&t), WEIR_OK);
        assert_string_equal(shelf.asked, "");
        tls_pair_sessions_close(&t);
        assert_true(tls_pair_connect(&t, &(struct weir_tls_session_options){.name = "10.0.0.3"}));
        assert_int_equal(tls_pair_shake(&t), WEIR_TLS_CERTIFICATE);
        assert_int_equal(info_of(&t.client).verify, WEIR_TLS_VERIFY_NAME);
        tls_pair_close(&t);
    }
}

static void wildcards_are_for_one_label(void **state)
{
    struct tls_pair t;
    (void)state;
    tls_pair_open(&t, &(struct tls_setup){.session = {.name = "one.wild.example"}});
    assert_int_equal(tls_pair_shake(&t), WEIR_OK);
    tls_pair_sessions_close(&t);
    assert_true(tls_pair_connect(&t, &(struct weir_tls_session_options){.name = "one.two.wild.example"}));
    assert_int_equal(tls_pair_shake(&t), WEIR_TLS_CERTIFICATE);
    tls_pair_close(&t);
}

static void a_client_says_whom_it_wants(void **state)
{
    struct tls_pair t;
    int error = 0;
    (void)state;
    tls_pair_open(&t, &(struct tls_setup){.no_sessions = true});
    pair_connect(&t.link, 443, &t.client.socket, &t.server.socket);
    assert_null(weir_tls_open(t.client.config, t.client.weir, t.client.socket, NULL, &error));
    assert_int_equal(error, WEIR_INVALID);
    (void)weir_socket_close(t.client.weir, t.client.socket);  // it is the caller's still
    (void)weir_socket_close(t.server.weir, t.server.socket);
    pair_run(&t.link, 1000000);
    assert_true(tls_pair_connect(&t, &(struct weir_tls_session_options){.name = WEIR_TLS_NO_NAME}));
    assert_int_equal(tls_pair_shake(&t), WEIR_OK);
    tls_pair_close(&t);
}

static void protocols_are_agreed(void **state)
{
    static const char *const client[] = {"h2", "http/1.1", NULL}, *const server[] = {"http/1.1", "http/1.0", NULL},
                             *const other[] = {"mqtt", NULL};
    (void)state;
    for (EACH_VERSION(version)) {
        struct tls_pair t;
        tls_pair_open(
            &t, &(struct tls_setup){.client = {.alpn = client}, .server = {.alpn = server, .version_max = version}});
        assert_int_equal(tls_pair_shake(&t), WEIR_OK);
        assert_string_equal(info_of(&t.client).alpn, "http/1.1");
        assert_string_equal(info_of(&t.server).alpn, "http/1.1");
        tls_pair_close(&t);
        tls_pair_open(
            &t, &(struct tls_setup){.client = {.alpn = other}, .server = {.alpn = server, .version_max = version}});
        assert_int_equal(tls_pair_shake(&t), WEIR_TLS_ALERT);
        assert_int_equal(info_of(&t.client).alert_received, 120);  // no_application_protocol
        tls_pair_close(&t);
        tls_pair_open(&t, &(struct tls_setup){.server = {.alpn = server, .version_max = version}});
        assert_int_equal(tls_pair_shake(&t), WEIR_OK);
        assert_null(info_of(&t.client).alpn);
        tls_pair_close(&t);
    }
}

static void no_common_version_is_told(void **state)
{
    struct tls_pair t;
    (void)state;
    tls_pair_open(
        &t, &(struct tls_setup){.client = {.version_min = WEIR_TLS_1_3}, .server = {.version_max = WEIR_TLS_1_2}});
    assert_int_equal(tls_pair_shake(&t), WEIR_TLS_ALERT);
    // protocol_version; handshake_failure
    assert_true(info_of(&t.client).alert_received == 70 || info_of(&t.client).alert_received == 40);
    assert_int_equal(weir_tls_handshake(t.server.session), WEIR_TLS_PROTOCOL);
    assert_int_not_equal(info_of(&t.server).library_error, 0);
    tls_pair_close(&t);
}

// --- certificates -------------------------------------------------------------------------------
static void bad_certificates_are_refused_each_for_its_reason(void **state)
{
    const struct {
        struct tls_setup setup;
        uint16_t reason;
    } cases[] = {
        {{.trust = other_ca_certificate}, WEIR_TLS_VERIFY_UNTRUSTED},
        {{.chain = self_signed}, WEIR_TLS_VERIFY_UNTRUSTED},
        {{.chain = leaf_alone}, WEIR_TLS_VERIFY_UNTRUSTED},  // its intermediate is missing
        {{.session = {.name = "weir.example.org"}}, WEIR_TLS_VERIFY_NAME},
        {{.time = 1500000000}, WEIR_TLS_VERIFY_NOT_YET},  // 2017
        {{.time = 2500000000}, WEIR_TLS_VERIFY_EXPIRED},  // 2049
        {{.chain = weak_certificate, .key = weak_key}, WEIR_TLS_VERIFY_WEAK},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (EACH_VERSION(version)) {
            struct tls_setup setup = cases[i].setup;
            struct tls_pair t;
            setup.server.version_max = version;
            tls_pair_open(&t, &setup);
            assert_int_equal(tls_pair_shake(&t), WEIR_TLS_CERTIFICATE);
            assert_int_equal(info_of(&t.client).verify & cases[i].reason, cases[i].reason);
            assert_int_equal(weir_tls_write(t.client.session, "x", 1), WEIR_TLS_CERTIFICATE);  // nothing leaves
            tls_pair_close(&t);
        }
    }
}

static void optional_verification_tells(void **state)
{
    struct tls_pair t;
    (void)state;
    tls_pair_open(&t,
                  &(struct tls_setup){.client = {.verify = WEIR_TLS_VERIFY_OPTIONAL}, .trust = other_ca_certificate});
    assert_int_equal(tls_pair_shake(&t), WEIR_OK);
    assert_int_equal(info_of(&t.client).verify, WEIR_TLS_VERIFY_UNTRUSTED);
    tls_pair_close(&t);
}

// Without time certificates are refused; a client that may go on without it is told, and can look again later.
static void an_unknown_time_refuses_certificates(void **state)
{
    struct tls_pair t;
    (void)state;
    tls_pair_open(&t, &(struct tls_setup){.time = -1});
    assert_int_equal(tls_pair_shake(&t), WEIR_TLS_CERTIFICATE);
    assert_int_equal(info_of(&t.client).verify, WEIR_TLS_VERIFY_NOT_YET | WEIR_TLS_VERIFY_NO_TIME);
    tls_pair_close(&t);
    tls_pair_open(&t, &(struct tls_setup){.time = -1, .client = {.time_optional = 1}});
    assert_int_equal(tls_pair_shake(&t), WEIR_OK);
    assert_int_equal(info_of(&t.client).verify, WEIR_TLS_VERIFY_NO_TIME);
    tls_pair_close(&t);
}

static void both_ends_show_certificates(void **state)
{
    (void)state;
    for (EACH_VERSION(version)) {
        struct tls_pair t;
        const uint8_t *der;
        tls_pair_open(&t, &(struct tls_setup){.server = {.verify = WEIR_TLS_VERIFY_REQUIRED, .version_max = version},
                                              .client_chain = client_certificate,
                                              .client_key = client_key});
        assert_int_equal(tls_pair_shake(&t), WEIR_OK);
        assert_true(weir_tls_peer_certificate(t.server.session, &der) > 100);
        assert_int_equal(der[0], 0x30);
        tls_pair_exchange(&t, 1000, 1000);
        tls_pair_close(&t);
    }
}

// In TLS 1.3 the client has finished when the server refuses it, and learns that when it reads; from Mbed TLS 3.6 under
// the wrong keys, so that it knows only that the session is broken.
static void a_client_without_certificate_is_refused(void **state)
{
    (void)state;
    for (EACH_VERSION(version)) {
        struct tls_pair t;
        uint8_t byte;
        tls_pair_open(&t, &(struct tls_setup){.server = {.verify = WEIR_TLS_VERIFY_REQUIRED, .version_max = version}});
        assert_int_not_equal(tls_pair_shake(&t), WEIR_OK);
        assert_int_equal(weir_tls_handshake(t.server.session), WEIR_TLS_CERTIFICATE);
        assert_int_equal(info_of(&t.server).verify & WEIR_TLS_VERIFY_MISSING, WEIR_TLS_VERIFY_MISSING);
        pair_run(&t.link, 10000);
        const int status = weir_tls_read(t.client.session, &byte, 1);
        assert_true(status == WEIR_TLS_ALERT || (version == WEIR_TLS_1_3 && status == WEIR_TLS_PROTOCOL));
        tls_pair_close(&t);
    }
}

static void a_certificate_is_for_one_use(void **state)
{
    (void)state;
    for (EACH_VERSION(version)) {
        struct tls_pair t;
        tls_pair_open(&t, &(struct tls_setup){.server = {.verify = WEIR_TLS_VERIFY_REQUIRED, .version_max = version},
                                              .client_chain = server_certificate,
                                              .client_key = server_key});
        assert_int_not_equal(tls_pair_shake(&t), WEIR_OK);
        assert_int_equal(weir_tls_handshake(t.server.session), WEIR_TLS_CERTIFICATE);
        assert_int_equal(info_of(&t.server).verify, WEIR_TLS_VERIFY_USAGE);
        tls_pair_close(&t);
    }
}

// --- resumption ---------------------------------------------------------------------------------
static uint8_t saved[4096];

// A first session, from which something can be resumed; bytes of it.
static int first_session(struct tls_pair *t)
{
    int bytes = WEIR_AGAIN;
    assert_int_equal(tls_pair_shake(t), WEIR_OK);
    assert_false(info_of(&t->client).resumed);
    tls_pair_exchange(t, 100, 100);
    for (int i = 0; i < 100 && bytes == WEIR_AGAIN; i++) {
        (void)weir_tls_ready(t->client.session);
        bytes = weir_tls_save(t->client.session, saved, sizeof saved);
        pair_run(&t->link, 1000);
    }
    tls_pair_sessions_close(t);
    return bytes;
}

static bool resumes(struct tls_pair *t, const char *name, size_t bytes)
{
    assert_true(
        tls_pair_connect(t, &(struct weir_tls_session_options){.name = name, .resume = saved, .resume_bytes = bytes}));
    assert_int_equal(tls_pair_shake(t), WEIR_OK);
    const bool resumed = info_of(&t->client).resumed;
    assert_int_equal(resumed, info_of(&t->server).resumed);
    tls_pair_exchange(t, 1000, 1000);
    tls_pair_sessions_close(t);
    return resumed;
}

static void sessions_are_resumed_with_whom_they_were(void **state)
{
    (void)state;
    for (EACH_VERSION(version)) {
        struct tls_pair t;
        tls_pair_open(&t, &(struct tls_setup){.server = {.version_max = version}});
        const int bytes = first_session(&t);
        assert_true(bytes > 0);
        assert_true(resumes(&t, "weir.example", (size_t)bytes));
        assert_false(resumes(&t, "one.wild.example", (size_t)bytes));
        assert_false(resumes(&t, "weir.example", (size_t)bytes / 2));
        saved[bytes - 20] ^= 1;  // the server does not know this one
        assert_false(resumes(&t, "weir.example", (size_t)bytes) && version == WEIR_TLS_1_2);
        tls_pair_close(&t);
    }
}

// After a restart the server's keys for tickets are others: a full handshake.
static void a_ticket_of_before_the_restart_is_no_error(void **state)
{
    (void)state;
    for (EACH_VERSION(version)) {
        struct tls_pair t;
        tls_pair_open(&t, &(struct tls_setup){.server = {.version_max = version}});
        const int bytes = first_session(&t);
        tls_pair_close(&t);
        tls_pair_open(&t, &(struct tls_setup){.server = {.version_max = version}, .no_sessions = true});
        assert_false(resumes(&t, "weir.example", (size_t)bytes));
        tls_pair_close(&t);
    }
}

static void resumption_can_be_off(void **state)
{
    struct tls_pair t;
    (void)state;
    tls_pair_open(&t, &(struct tls_setup){.server = {.no_resumption = 1}});
    assert_int_equal(first_session(&t), WEIR_AGAIN);
    tls_pair_close(&t);
    tls_pair_open(&t, &(struct tls_setup){.client = {.no_resumption = 1}});
    assert_int_equal(first_session(&t), WEIR_AGAIN);
    tls_pair_close(&t);
}

static void a_short_buffer_for_the_saved_session_is_told(void **state)
{
    struct tls_pair t;
    (void)state;
    tls_pair_open(&t, NULL);
    assert_int_equal(tls_pair_shake(&t), WEIR_OK);
    tls_pair_exchange(&t, 100, 100);
    assert_int_equal(weir_tls_save(t.client.session, saved, 8), WEIR_TOO_BIG);
    assert_int_equal(weir_tls_save(t.client.session, saved, 20), WEIR_TOO_BIG);
    assert_true(weir_tls_save(t.client.session, saved, sizeof saved) > 20);
    assert_int_equal(weir_tls_save(t.server.session, saved, sizeof saved), WEIR_AGAIN);
    tls_pair_close(&t);
}

// --- sizes --------------------------------------------------------------------------------------
static void short_fragments_are_agreed(void **state)
{
    struct tls_pair t;
    (void)state;
    tls_pair_open(&t, &(struct tls_setup){.client = {.max_fragment = 512}});
    assert_int_equal(tls_pair_shake(&t), WEIR_OK);
    assert_int_equal(info_of(&t.client).version, WEIR_TLS_1_2);
    assert_int_equal(info_of(&t.client).record_in, 512);
    assert_int_equal(info_of(&t.client).record_out, 512);
    assert_int_equal(info_of(&t.server).record_out, 512);
    tls_pair_exchange(&t, 50000, 50000);
    tls_pair_close(&t);
}

// A ticket with the client's certificate in it is one message, and so one record: where it is longer than what was
// agreed a strict client would end the session (record_overflow), and so none is sent.
static void a_ticket_keeps_to_short_fragments(void **state)
{
    (void)state;
    for (uint16_t length = 512; length <= 1024; length += 512) {
        struct tls_pair t;
        tls_pair_open(&t, &(struct tls_setup){.client = {.max_fragment = length},
                                              .server = {.verify = WEIR_TLS_VERIFY_OPTIONAL},
                                              .client_chain = rsa_certificate,
                                              .client_key = rsa_key});
        const int bytes = first_session(&t);
        assert_int_equal(bytes > 0 && resumes(&t, "weir.example", (size_t)bytes), length == 1024);
        tls_pair_close(&t);
    }
}

// Queues and windows that hold no whole record: what is there is taken at once, so that the rest can come (RFC 8446
// §5.1: 2^14 bytes).
static void a_window_smaller_than_a_record_is_enough(void **state)
{
    static const uint32_t limits[] = {2048, 4096, 16384, 16413, 16500};
    (void)state;
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        struct weir_config config = {.tcp_send_buffer_bytes = limits[i], .tcp_receive_buffer_bytes = limits[i]};
        const struct pair_options link = {
            .link = {.delay_us = 500}, .a = {.config = &config}, .b = {.config = &config}};
        struct tls_pair t;
        tls_pair_open(&t, &(struct tls_setup){
                              .pair = &link, .client = {.record_bytes = 16384}, .server = {.record_bytes = 16384}});
        assert_int_equal(tls_pair_shake(&t), WEIR_OK);
        tls_pair_exchange(&t, 100000, 100000);
        tls_pair_close(&t);
    }
}

static void a_bad_network_changes_nothing(void **state)
{
    const struct pair_options link = {.link = {.delay_us = 3000,
                                               .loss_ppm = 30000,
                                               .reorder_ppm = 30000,
                                               .duplicate_ppm = 10000,
                                               .corrupt_ppm = 10000},
                                      .seed = 5};
    struct tls_pair t;
    (void)state;
    tls_pair_open(&t, &(struct tls_setup){.pair = &link});
    assert_int_equal(tls_pair_shake(&t), WEIR_OK);
    tls_pair_exchange(&t, 200000, 200000);
    tls_pair_close(&t);
}

static void nothing_written_is_no_record(void **state)
{
    struct tls_pair t;
    (void)state;
    tls_pair_open(&t, NULL);
    assert_int_equal(tls_pair_shake(&t), WEIR_OK);
    pair_run(&t.link, 100000);
    const uint32_t before = t.link.stats[0].sent;
    assert_int_equal(weir_tls_write(t.client.session, "", 0), 0);
    pair_run(&t.link, 100000);
    assert_int_equal(t.link.stats[0].sent, before);
    tls_pair_close(&t);
}

// A header and a body are a record each. The body does not wait for the acknowledgement of the header (Nagle's
// algorithm, which with a delayed acknowledgement would cost 40 ms): both are there after one way.
static void a_second_record_waits_for_no_acknowledgement(void **state)
{
    const struct pair_options link = {.link = {.delay_us = 20000}};
    (void)state;
    for (int server = 0; server < 2; server++) {
        struct tls_pair t;
        uint8_t data[16];
        tls_pair_open(&t, &(struct tls_setup){.pair = &link});
        const struct tls_end *const from = server ? &t.server : &t.client, *const to = server ? &t.client : &t.server;
        assert_int_equal(tls_pair_shake(&t), WEIR_OK);
        tls_pair_exchange(&t, 100, 100);
        pair_run(&t.link, 1000000);
        assert_int_equal(weir_tls_write(from->session, "header", 6), 6);
        pair_run(&t.link, 1000);
        assert_int_equal(weir_tls_write(from->session, "body", 4), 4);
        pair_run(&t.link, 21000);
        assert_int_equal(weir_tls_read(to->session, data, sizeof data), 6);
        assert_int_equal(weir_tls_read(to->session, data, sizeof data), 4);
        assert_memory_equal(data, "body", 4);
        tls_pair_close(&t);
    }
}

// --- readiness ----------------------------------------------------------------------------------
// Two records arrive in one segment. After the first has been read, and the socket has nothing more, the session is
// readable all the same.
static void a_record_inside_is_readable(void **state)
{
    struct tls_pair t;
    uint8_t data[8];
    int32_t bytes;
    (void)state;
    tls_pair_open(&t, &(struct tls_setup){.server = {.version_max = WEIR_TLS_1_2}});
    assert_int_equal(tls_pair_shake(&t), WEIR_OK);
    assert_int_equal(weir_tls_ready(t.server.session), WEIR_WRITABLE);
    assert_int_equal(weir_tls_write(t.client.session, "abcd", 4), 4);
    assert_int_equal(weir_tls_write(t.client.session, "efgh", 4), 4);
    pair_run(&t.link, 10000);
    assert_int_equal(weir_tls_ready(t.server.session), WEIR_READABLE | WEIR_WRITABLE);
    assert_int_equal(weir_tls_read(t.server.session, data, 2), 2);
    assert_int_equal(weir_tls_ready(t.server.session), WEIR_READABLE | WEIR_WRITABLE);
    assert_int_equal(weir_tls_read(t.server.session, data, 8), 2);
    assert_int_equal(weir_tls_ready(t.server.session), WEIR_READABLE | WEIR_WRITABLE);
    assert_int_equal(weir_socket_get(t.server.weir, t.server.socket, WEIR_OPTION_READABLE_BYTES, &bytes), WEIR_OK);
    assert_int_equal(bytes, 0);  // the second record is inside
    assert_int_equal(weir_tls_read(t.server.session, data, 8), 4);
    assert_memory_equal(data, "efgh", 4);
    assert_int_equal(weir_tls_read(t.server.session, data, 8), WEIR_AGAIN);
    assert_int_equal(weir_tls_ready(t.server.session), WEIR_WRITABLE);
    tls_pair_close(&t);
}

// Half a record makes the socket readable, and the session not.
static void half_a_record_is_not_readable(void **state)
{
    struct weir_config config = {.tcp_receive_buffer_bytes = 2048};
    const struct pair_options link = {.b = {.config = &config}};
    struct tls_pair t;
    uint8_t data[4000] = {0};
    (void)state;
    tls_pair_open(&t, &(struct tls_setup){.pair = &link, .client = {.record_bytes = 4000}});
    assert_int_equal(tls_pair_shake(&t), WEIR_OK);
    assert_int_equal(weir_tls_write(t.client.session, data, 4000), 4000);
    pair_run(&t.link, 10000);
    assert_true(weir_socket_ready(t.server.weir, t.server.socket) & WEIR_READABLE);
    assert_int_equal(weir_tls_ready(t.server.session), WEIR_WRITABLE);
    pair_run(&t.link, 100000);
    assert_int_equal(weir_tls_ready(t.server.session), WEIR_WRITABLE);
    pair_run(&t.link, 1000000);
    assert_int_equal(weir_tls_ready(t.server.session), WEIR_READABLE | WEIR_WRITABLE);
    tls_pair_close(&t);
}

// Full of what nobody takes, the session is not writable; what it said it took arrives, once.
static void a_full_session_is_not_writable(void **state)
{
    struct tls_pair t;
    uint8_t data[4096];
    uint32_t sent = 0, got = 0;
    (void)state;
    tls_pair_open(&t, NULL);
    assert_int_equal(tls_pair_shake(&t), WEIR_OK);
    for (int took = 1, i = 0; i < 2000 && (took > 0 || i < 1000); i++) {
        for (uint32_t b = 0; b < sizeof data; b++)
            data[b] = tls_pattern(sent + b, true);
        took = weir_tls_write(t.client.session, data, sizeof data);
        sent += took > 0 ? (uint32_t)took : 0;
        pair_run(&t.link, 1000);
    }
    assert_int_equal(weir_tls_ready(t.client.session), 0);
    for (int turn = 0; got < sent; turn++) {
        const int read = weir_tls_read(t.server.session, data, sizeof data);
        assert_true(read > 0 || read == WEIR_AGAIN);
        assert_true(turn < 10000);
        for (int i = 0; i < read; i++)
            assert_int_equal(data[i], tls_pattern(got + (uint32_t)i, true));
        got += read > 0 ? (uint32_t)read : 0;
        (void)weir_tls_ready(t.client.session);
        pair_run(&t.link, 1000);
    }
    assert_int_equal(weir_tls_ready(t.client.session), WEIR_WRITABLE);
    tls_pair_close(&t);
}

// --- ends ---------------------------------------------------------------------------------------
// One direction ends; the other goes on.
static void each_direction_ends_for_itself(void **state)
{
    (void)state;
    for (EACH_VERSION(version)) {
        struct tls_pair t;
        uint8_t data[16];
        tls_pair_open(&t, &(struct tls_setup){.server = {.version_max = version}});
        assert_int_equal(tls_pair_shake(&t), WEIR_OK);
        assert_int_equal(weir_tls_write(t.client.session, "last", 4), 4);
        assert_int_equal(weir_tls_shutdown(t.client.session), WEIR_OK);
        assert_int_equal(weir_tls_write(t.client.session, "more", 4), WEIR_TLS_ENDED);
        pair_run(&t.link, 10000);
        assert_int_equal(weir_tls_read(t.server.session, data, sizeof data), 4);
        assert_int_equal(weir_tls_ready(t.server.session), WEIR_READABLE | WEIR_READ_CLOSED | WEIR_WRITABLE);
        assert_int_equal(weir_tls_read(t.server.session, data, sizeof data), 0);
        assert_int_equal(weir_tls_read(t.server.session, data, sizeof data), 0);
        assert_int_equal(weir_tls_write(t.server.session, "answer", 6), 6);
        assert_int_equal(weir_tls_shutdown(t.server.session), WEIR_OK);
        pair_run(&t.link, 10000);
        assert_int_equal(weir_tls_read(t.client.session, data, sizeof data), 6);
        assert_int_equal(weir_tls_read(t.client.session, data, sizeof data), 0);
        assert_true(weir_tls_ready(t.client.session) & WEIR_HANGUP);
        tls_pair_close(&t);
    }
}

// FIN without close_notify is no end: somebody may have cut what was to come.
static void a_cut_is_told_from_an_end(void **state)
{
    (void)state;
    for (EACH_VERSION(version)) {
        struct tls_pair t;
        uint8_t data[16];
        tls_pair_open(&t, &(struct tls_setup){.server = {.version_max = version}});
        assert_int_equal(tls_pair_shake(&t), WEIR_OK);
        assert_int_equal(weir_tls_write(t.server.session, "half", 4), 4);
        (void)weir_socket_shutdown(t.server.weir, t.server.socket, WEIR_SHUT_WRITE);
        pair_run(&t.link, 10000);
        assert_int_equal(weir_tls_read(t.client.session, data, sizeof data), 4);
        assert_int_equal(weir_tls_read(t.client.session, data, sizeof data), WEIR_TLS_TRUNCATED);
        assert_int_equal(weir_tls_read(t.client.session, data, sizeof data), WEIR_TLS_TRUNCATED);
        assert_true(weir_tls_ready(t.client.session) & WEIR_READABLE);
        assert_int_equal(weir_tls_write(t.client.session, "x", 1), 1);  // our direction is not concerned
        tls_pair_close(&t);
    }
}

static void a_reset_is_told(void **state)
{
    struct tls_pair t;
    uint8_t data[16];
    (void)state;
    tls_pair_open(&t, NULL);
    assert_int_equal(tls_pair_shake(&t), WEIR_OK);
    weir_tls_abort(t.server.session);
    t.server.session = NULL;
    pair_run(&t.link, 10000);
    assert_int_equal(weir_tls_read(t.client.session, data, sizeof data), WEIR_RESET);
    assert_true(weir_tls_ready(t.client.session) & WEIR_ERROR);
    assert_int_equal(weir_tls_write(t.client.session, "x", 1), WEIR_RESET);
    tls_pair_close(&t);
}

// The send queue is full when the session is closed: what was taken arrives, and behind it the end, not a cut.
static void close_says_the_end_behind_a_full_queue(void **state)
{
    struct tls_pair t;
    uint8_t data[16384] = {0};
    uint32_t sent = 0, got = 0;
    int moved;
    (void)state;
    tls_pair_open(&t, &(struct tls_setup){.client = {.record_bytes = 16384}});
    assert_int_equal(tls_pair_shake(&t), WEIR_OK);
    while ((moved = weir_tls_write(t.client.session, data, sizeof data)) > 0)
        sent += (uint32_t)moved;
    weir_tls_close(t.client.session);
    t.client.session = NULL;
    assert_int_equal(weir_tls_sessions(t.tls), 2);
    for (int i = 0; i < 100000 && moved != 0; i++) {
        moved = weir_tls_read(t.server.session, data, sizeof data);
        assert_true(moved >= 0 || moved == WEIR_AGAIN);
        got += moved > 0 ? (uint32_t)moved : 0;
        tls_pair_run(&t, 1000);
    }
    assert_int_equal(moved, 0);
    assert_int_equal(got, sent);
    assert_int_equal(weir_tls_sessions(t.tls), 1);
    tls_pair_close(&t);
}

// A peer that takes nothing keeps a closed session for ten seconds.
static void a_closed_session_does_not_wait_for_ever(void **state)
{
    struct weir_config config = {.tcp_send_buffer_bytes = 32768, .tcp_receive_buffer_bytes = 16384};
    const struct pair_options link = {.a = {.config = &config}, .b = {.config = &config}};
    struct tls_pair t;
    uint8_t data[16384] = {0};
    (void)state;
    tls_pair_open(&t, &(struct tls_setup){.pair = &link});
    assert_int_equal(tls_pair_shake(&t), WEIR_OK);
    for (int i = 0; i < 200; i++) {
        (void)weir_tls_write(t.client.session, data, sizeof data);
        pair_run(&t.link, 10000);
    }
    weir_tls_close(t.client.session);
    t.client.session = NULL;
    tls_pair_run(&t, 5000000);
    assert_int_equal(weir_tls_sessions(t.tls), 2);
    for (int i = 0; i < 20; i++)
        tls_pair_run(&t, 1000000);
    assert_int_equal(weir_tls_sessions(t.tls), 1);
    tls_pair_close(&t);
}

// An instance that goes takes along the sessions that were closed on it and still say their end; those of another stay.
static void an_instance_that_goes_leaves_no_session(void **state)
{
    struct tls_pair t;
    uint8_t data[16384] = {0};
    (void)state;
    for (int turn = 0; turn < 2; turn++) {
        tls_pair_open(&t, &(struct tls_setup){.client = {.record_bytes = 16384}, .unlocked = turn});
        assert_int_equal(tls_pair_shake(&t), WEIR_OK);
        while (weir_tls_write(t.client.session, data, sizeof data) > 0)
            ;
        while (weir_tls_write(t.server.session, data, sizeof data) > 0)
            ;
        weir_tls_close(t.client.session);
        weir_tls_close(t.server.session);
        t.client.session = t.server.session = NULL;
        assert_int_equal(weir_tls_sessions(t.tls), 2);
        struct weir *const gone = t.link.a.weir;
        tls_pair_instance_end(&t, false);
        weir_tls_forget(t.tls, gone);
        assert_int_equal(weir_tls_sessions(t.tls), 1);
        struct weir *const other = t.link.b.weir;
        tls_pair_instance_end(&t, true);
        weir_tls_forget(t.tls, other);
        assert_int_equal(weir_tls_sessions(t.tls), 0);
        tls_pair_close(&t);  // all memory went back
    }
}

// Data that nobody read when the session is closed do not turn the end into a reset.
static void unread_data_do_not_make_a_reset(void **state)
{
    struct tls_pair t;
    uint8_t data[16];
    (void)state;
    tls_pair_open(&t, NULL);
    assert_int_equal(tls_pair_shake(&t), WEIR_OK);
    assert_int_equal(weir_tls_write(t.client.session, "unread", 6), 6);
    pair_run(&t.link, 10000);
    assert_int_equal(weir_tls_write(t.server.session, "bye", 3), 3);
    weir_tls_close(t.server.session);
    t.server.session = NULL;
    pair_run(&t.link, 100000);
    assert_int_equal(weir_tls_read(t.client.session, data, sizeof data), 3);
    assert_int_equal(weir_tls_read(t.client.session, data, sizeof data), 0);
    tls_pair_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_versions_carry_bytes),
        cmocka_unit_test(the_first_read_or_write_makes_the_handshake),
        cmocka_unit_test(rsa_and_chains_are_good),
        cmocka_unit_test(the_name_chooses_the_certificate),
        cmocka_unit_test(an_address_is_compared_and_not_sent),
        cmocka_unit_test(wildcards_are_for_one_label),
        cmocka_unit_test(a_client_says_whom_it_wants),
        cmocka_unit_test(protocols_are_agreed),
        cmocka_unit_test(no_common_version_is_told),
        cmocka_unit_test(bad_certificates_are_refused_each_for_its_reason),
        cmocka_unit_test(optional_verification_tells),
        cmocka_unit_test(an_unknown_time_refuses_certificates),
        cmocka_unit_test(both_ends_show_certificates),
        cmocka_unit_test(a_client_without_certificate_is_refused),
        cmocka_unit_test(a_certificate_is_for_one_use),
        cmocka_unit_test(sessions_are_resumed_with_whom_they_were),
        cmocka_unit_test(a_ticket_of_before_the_restart_is_no_error),
        cmocka_unit_test(resumption_can_be_off),
        cmocka_unit_test(a_short_buffer_for_the_saved_session_is_told),
        cmocka_unit_test(short_fragments_are_agreed),
        cmocka_unit_test(a_ticket_keeps_to_short_fragments),
        cmocka_unit_test(a_window_smaller_than_a_record_is_enough),
        cmocka_unit_test(a_bad_network_changes_nothing),
        cmocka_unit_test(nothing_written_is_no_record),
        cmocka_unit_test(a_second_record_waits_for_no_acknowledgement),
        cmocka_unit_test(a_record_inside_is_readable),
        cmocka_unit_test(half_a_record_is_not_readable),
        cmocka_unit_test(a_full_session_is_not_writable),
        cmocka_unit_test(each_direction_ends_for_itself),
        cmocka_unit_test(a_cut_is_told_from_an_end),
        cmocka_unit_test(a_reset_is_told),
        cmocka_unit_test(close_says_the_end_behind_a_full_queue),
        cmocka_unit_test(a_closed_session_does_not_wait_for_ever),
        cmocka_unit_test(an_instance_that_goes_leaves_no_session),
        cmocka_unit_test(unread_data_do_not_make_a_reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
