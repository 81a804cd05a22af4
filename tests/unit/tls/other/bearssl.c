// SPDX-License-Identifier: BSD-2-Clause
// The contract over a second library, and two libraries in one program that speak with each other:
// build/host/tls-bearssl (tools/tls.mk), which tests/interop/test_tls.py runs.
#include <string.h>

#include "tls/tls_pair.h"

static const struct {
    const struct weir_tls_backend *client, *server;
} pairs[] = {{&weir_tls_bearssl, &weir_tls_bearssl},
             {&weir_tls_bearssl, &weir_tls_mbedtls},
             {&weir_tls_mbedtls, &weir_tls_bearssl}};

#define EACH_PAIR(i) \
    size_t i = 0; \
    i < sizeof pairs / sizeof *pairs; \
    i++

static struct tls_setup setup_of(size_t pair, struct tls_setup setup)
{
    setup.client_backend = pairs[pair].client;
    setup.server_backend = pairs[pair].server;
    return setup;
}

static void bytes_go_both_ways(void **state)
{
    (void)state;
    for (EACH_PAIR(i)) {
        struct tls_pair t;
        const struct tls_setup setup = setup_of(i, (struct tls_setup){.unlocked = i == 1});
        tls_pair_open(&t, &setup);
        assert_int_equal(tls_pair_shake(&t), WEIR_OK);
        assert_int_equal(info_of(&t.client).version, WEIR_TLS_1_2);
        assert_string_equal(info_of(&t.client).suite, info_of(&t.server).suite);
        tls_pair_exchange(&t, 200000, 300000);
        tls_pair_close(&t);
    }
}

static void rsa_chains_and_protocols(void **state)
{
    static const char *const alpn[] = {"http/1.1", NULL}, *const other[] = {"mqtt", NULL};
    (void)state;
    for (EACH_PAIR(i)) {
        struct tls_pair t;
        struct tls_setup setup = setup_of(
            i, (struct tls_setup){
                   .chain = rsa_certificate, .key = rsa_key, .client = {.alpn = alpn}, .server = {.alpn = alpn}});
        tls_pair_open(&t, &setup);
        assert_int_equal(tls_pair_shake(&t), WEIR_OK);
        assert_string_equal(info_of(&t.client).alpn, "http/1.1");
        tls_pair_close(&t);
        setup = setup_of(
            i, (struct tls_setup){
                   .chain = long_chain, .key = server_key, .client = {.alpn = other}, .server = {.alpn = alpn}});
        tls_pair_open(&t, &setup);
        assert_int_not_equal(tls_pair_shake(&t), WEIR_OK);
        tls_pair_close(&t);
    }
}

static void bad_certificates_are_refused(void **state)
{
    const struct {
        struct tls_setup setup;
        uint16_t reason;
    } cases[] = {{{.trust = other_ca_certificate}, WEIR_TLS_VERIFY_UNTRUSTED},
                 {{.chain = self_signed}, WEIR_TLS_VERIFY_UNTRUSTED},
                 {{.session = {.name = "weir.example.org"}}, WEIR_TLS_VERIFY_NAME},
                 {{.time = 1500000000}, WEIR_TLS_VERIFY_NOT_YET},
                 {{.time = 2500000000}, WEIR_TLS_VERIFY_EXPIRED}};
    (void)state;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        for (EACH_PAIR(i)) {
            struct tls_pair t;
            const struct tls_setup setup = setup_of(i, cases[c].setup);
            tls_pair_open(&t, &setup);
            assert_int_equal(tls_pair_shake(&t), WEIR_TLS_CERTIFICATE);
            assert_int_equal(info_of(&t.client).verify & cases[c].reason, cases[c].reason);
            tls_pair_close(&t);
        }
    }
}

static void both_ends_show_certificates(void **state)
{
    (void)state;
    for (EACH_PAIR(i)) {
        struct tls_pair t;
        struct tls_setup setup = setup_of(i, (struct tls_setup){.server = {.verify = WEIR_TLS_VERIFY_REQUIRED},
                                                                .client_chain = client_certificate,
                                                                .client_key = client_key});
        tls_pair_open(&t, &setup);
        assert_int_equal(tls_pair_shake(&t), WEIR_OK);
        tls_pair_exchange(&t, 1000, 1000);
        tls_pair_close(&t);
        setup.client_chain = NULL;
        tls_pair_open(&t, &setup);
        assert_int_not_equal(tls_pair_shake(&t), WEIR_OK);
        tls_pair_close(&t);
    }
}

static void sessions_are_resumed(void **state)
{
    uint8_t saved[4096];
    (void)state;
    for (EACH_PAIR(i)) {
        struct tls_pair t;
        const struct tls_setup setup = setup_of(i, (struct tls_setup){.client = {.version_max = WEIR_TLS_1_2}});
        tls_pair_open(&t, &setup);
        assert_int_equal(tls_pair_shake(&t), WEIR_OK);
        const int bytes = weir_tls_save(t.client.session, saved, sizeof saved);
        tls_pair_sessions_close(&t);
        if (pairs[i].server == &weir_tls_mbedtls) {  // it has tickets, and BearSSL does not know them
            tls_pair_close(&t);
            continue;
        }
        assert_true(bytes > 0);
        assert_true(
            tls_pair_connect(&t, &(struct weir_tls_session_options){.resume = saved, .resume_bytes = (size_t)bytes}));
        assert_int_equal(tls_pair_shake(&t), WEIR_OK);
        assert_true(info_of(&t.client).resumed);
        tls_pair_exchange(&t, 1000, 1000);
        tls_pair_close(&t);
    }
}

static void ends_and_cuts_are_told_apart(void **state)
{
    (void)state;
    for (EACH_PAIR(i)) {
        struct tls_pair t;
        uint8_t data[16];
        const struct tls_setup setup = setup_of(i, (struct tls_setup){.no_sessions = true});
        tls_pair_open(&t, &setup);
        for (int cut = 0; cut < 2; cut++) {
            assert_true(tls_pair_connect(&t, NULL));
            assert_int_equal(tls_pair_shake(&t), WEIR_OK);
            assert_int_equal(weir_tls_write(t.server.session, "last", 4), 4);
            if (cut)
                (void)weir_socket_shutdown(t.server.weir, t.server.socket, WEIR_SHUT_WRITE);
            else
                assert_int_equal(weir_tls_shutdown(t.server.session), WEIR_OK);
            pair_run(&t.link, 10000);
            assert_int_equal(weir_tls_read(t.client.session, data, sizeof data), 4);
            assert_int_equal(weir_tls_read(t.client.session, data, sizeof data), cut ? WEIR_TLS_TRUNCATED : 0);
            tls_pair_sessions_close(&t);
        }
        tls_pair_close(&t);
    }
}

static void short_queues_and_short_records(void **state)
{
    struct weir_config config = {.tcp_send_buffer_bytes = 4096, .tcp_receive_buffer_bytes = 4096};
    const struct pair_options link = {.a = {.config = &config}, .b = {.config = &config}};
    (void)state;
    for (EACH_PAIR(i)) {
        struct tls_pair t;
        struct tls_setup setup = setup_of(
            i, (struct tls_setup){.pair = &link, .client = {.record_bytes = 16384}, .server = {.record_bytes = 16384}});
        tls_pair_open(&t, &setup);
        assert_int_equal(tls_pair_shake(&t), WEIR_OK);
        tls_pair_exchange(&t, 100000, 100000);
        tls_pair_close(&t);
        setup = setup_of(i, (struct tls_setup){.client = {.max_fragment = 1024, .version_max = WEIR_TLS_1_2}});
        tls_pair_open(&t, &setup);
        assert_int_equal(tls_pair_shake(&t), WEIR_OK);
        tls_pair_exchange(&t, 30000, 30000);
        tls_pair_close(&t);
    }
}

static void memory_may_be_refused(void **state)
{
    (void)state;
    for (uint32_t fail_at = 1, reached = 1; reached; fail_at++) {
        struct tls_pair t;
        const struct tls_setup setup = setup_of(0, (struct tls_setup){.no_sessions = true});
        tls_pair_open(&t, &setup);
        t.fail_at = fail_at;
        const bool opened = tls_pair_connect(&t, NULL);
        reached = t.fail_at == 0;
        assert_int_equal(opened, !reached);
        if (!opened)
            assert_int_equal(t.error, WEIR_NO_MEMORY);
        t.fail_at = 0;
        if (!opened && !t.client.session)
            (void)weir_socket_close(t.client.weir, t.client.socket);
        if (!opened)
            (void)weir_socket_close(t.server.weir, t.server.socket);
        tls_pair_close(&t);
    }
}

static void what_it_lacks_it_refuses(void **state)
{
    struct tls_pair t;
    int error = 0;
    const struct tls_setup setup = setup_of(0, (struct tls_setup){.no_sessions = true});
    (void)state;
    tls_pair_open(&t, &setup);
    assert_null(weir_tls_config_create(t.tls, &(struct weir_tls_options){.version_min = WEIR_TLS_1_3}, &error));
    assert_int_equal(error, WEIR_NOT_SUPPORTED);
    assert_null(weir_tls_config_create(t.tls, &(struct weir_tls_options){.verify = WEIR_TLS_VERIFY_NONE}, &error));
    assert_int_equal(error, WEIR_NOT_SUPPORTED);
    tls_pair_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_go_both_ways),
        cmocka_unit_test(rsa_chains_and_protocols),
        cmocka_unit_test(bad_certificates_are_refused),
        cmocka_unit_test(both_ends_show_certificates),
        cmocka_unit_test(sessions_are_resumed),
        cmocka_unit_test(ends_and_cuts_are_told_apart),
        cmocka_unit_test(short_queues_and_short_records),
        cmocka_unit_test(memory_may_be_refused),
        cmocka_unit_test(what_it_lacks_it_refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
