// SPDX-License-Identifier: BSD-2-Clause
// A second back end, BearSSL 0.6 (Debian's libbearssl-dev): TLS 1.2 only. It shows that the contract knows no library,
// and is in no build but its tests' (tools/tls.mk). What it does not do is WEIR_NOT_SUPPORTED: names chosen by servers,
// verification that is not required, time_optional, addresses as names.
#ifndef TLS_BEARSSL_INTERNAL_H
#define TLS_BEARSSL_INTERNAL_H

#include <bearssl.h>

#include "tls/backend.h"

WEIR_BEGIN_DECLS

#define BEAR_CHAIN 4  // certificates of our own, and of those that are trusted, at most
#define BEAR_ANCHORS 4
#define BEAR_CACHE 3200  // bytes: 32 sessions

struct bear_credentials {
    br_x509_certificate chain[BEAR_CHAIN];
    br_x509_trust_anchor anchors[BEAR_ANCHORS];
    br_skey_decoder_context key;
    size_t chain_count, anchor_count;
    unsigned issuer_key_type;
    bool owns;
};

struct bear_config {
    const struct weir_tls_options *options;
    struct bear_credentials *credentials;
    br_ssl_session_cache_lru cache;
    unsigned char *store;
};

extern const struct tls_services *bear_services;
int bear_trust(void *credentials, const void *certificates, size_t bytes);
int bear_own(void *credentials, const void *chain, size_t chain_bytes, const void *key, size_t key_bytes);
void bear_credentials_close(void *credentials);

WEIR_END_DECLS

#endif
