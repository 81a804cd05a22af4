// SPDX-License-Identifier: BSD-2-Clause
// The back end for Mbed TLS 3.6. What a later branch names otherwise, and the few fields of the library that no
// function of it shows, are in engine.c.
#ifndef TLS_MBEDTLS_INTERNAL_H
#define TLS_MBEDTLS_INTERNAL_H

#include <mbedtls/pk.h>
#include <mbedtls/ssl.h>
#include <mbedtls/ssl_ticket.h>
#include <mbedtls/x509_crt.h>

#include "tls/backend.h"

WEIR_BEGIN_DECLS

struct mbed_credentials {
    mbedtls_x509_crt chain, trusted;
    mbedtls_pk_context key;
    bool initialised, owns, trusts;
};

#define MBED_SUITES 9  // at most
struct mbed_config {
    mbedtls_ssl_config ssl;
    mbedtls_ssl_ticket_context tickets;
    const struct weir_tls_options *options;
    struct mbed_credentials *credentials;  // NULL: none
    int suites[MBED_SUITES + 1];
    bool initialised, server;
};

// environment.c
extern const struct tls_services *mbed_services;
int mbed_begin(const struct tls_services *services);
void mbed_end(void);
int mbed_random(void *context, unsigned char *out, size_t bytes);

// credentials.c
int mbed_trust(void *credentials, const void *certificates, size_t bytes);
int mbed_own(void *credentials, const void *chain, size_t chain_bytes, const void *key, size_t key_bytes);
void mbed_credentials_close(void *credentials);

// settings.c
int mbed_config_open(void *config, const struct weir_tls_options *options, void *credentials);
void mbed_config_close(void *config);
// An enum weir_error for the library's error in setting something up.
int mbed_error(int library_error, int otherwise);

WEIR_END_DECLS

#endif
