// SPDX-License-Identifier: BSD-2-Clause
// Two Weir instances on a link in virtual time, and a TLS session at either end of a connection between them.
//
//     struct tls_pair t;
//     tls_pair_open(&t, NULL);                        // a client on a, a server on b, TLS 1.3 and 1.2, one authority
//     assert_int_equal(tls_pair_shake(&t), WEIR_OK);
//     tls_pair_exchange(&t, 100000, 100000);          // both ways, compared
//     tls_pair_close(&t);                             // all memory went back
#ifndef TESTS_TLS_PAIR_H
#define TESTS_TLS_PAIR_H

#include "api/tls/weir_tls.h"
#include "pair.h"
#include "tls/certificates.h"

#define GOOD_TIME 1800000000  // 2027: when the certificates are good

struct tls_setup {                            // zero: the defaults
    struct weir_tls_options client, server;   // roles and credentials are filled in where not given
    struct weir_tls_session_options session;  // the client's; its name is weir.example unless given
    const char *chain, *key;                  // the server's
    const char *client_chain, *client_key;
    const char *trust;  // by the client; ca_certificate
    const struct pair_options *pair;
    bool unlocked;  // sessions take the lock themselves
    int64_t time;   // 0: GOOD_TIME; negative: not known
    size_t memory;  // bytes of a block for TLS; 0: the C library's
    size_t budget;
    bool no_sessions;                                                // the test opens them itself
    const struct weir_tls_backend *client_backend, *server_backend;  // weir_tls_mbedtls
};

struct tls_end {
    struct weir_tls_credentials *credentials;
    struct weir_tls_config *config;
    struct weir_tls_session *session;
    weir_socket socket;
    struct weir *weir;
};

struct tls_pair {
    struct pair link;
    struct weir_tls_system system;
    struct weir_tls *tls, *server_tls;  // the client's, which may be the server's too
    struct tls_end client, server;      // on a, on b
    const struct tls_setup *setup;
    void *block;
    int64_t time;
    uint32_t fail_at;  // this allocation from now fails: 1 is the next; 0 none
    uint32_t allocations;
    int error;  // of what could not be opened
};

void tls_pair_open(struct tls_pair *t, const struct tls_setup *setup);
// A new connection with sessions at its ends; false: t->error says why not.
bool tls_pair_connect(struct tls_pair *t, const struct weir_tls_session_options *options);
// Lets both sessions go on until both are open (WEIR_OK), or either fails (its error, the client's first), or 30 s pass
// (WEIR_TIMED_OUT).
int tls_pair_shake(struct tls_pair *t);
// So many bytes from the client and from the server at the same time; every one is compared.
void tls_pair_exchange(struct tls_pair *t, uint32_t up, uint32_t down);
void tls_pair_run(struct tls_pair *t, uint64_t advance_us);  // with the sockets' events
void tls_pair_sessions_close(struct tls_pair *t);            // and lets the connections end
// weir_destroy of the server's instance or the client's, whose session has ended. What it sends last arrives; time
// passes no more.
void tls_pair_instance_end(struct tls_pair *t, bool server);
void tls_pair_close(struct tls_pair *t);
int64_t tls_pair_time(void *context);
uint8_t tls_pattern(uint32_t at, bool up);

static inline struct weir_tls_info info_of(const struct tls_end *end)
{
    struct weir_tls_info info;
    weir_tls_info(end->session, &info);
    return info;
}

// for (EACH_VERSION(version)) …
#define EACH_VERSION(version) \
    uint16_t version = WEIR_TLS_1_2; \
    version <= WEIR_TLS_1_3; \
    version++

#endif
