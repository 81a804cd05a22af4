// SPDX-License-Identifier: BSD-2-Clause
// Certificates and keys, PEM or DER.
#include <string.h>

#include "tls/mbedtls/internal.h"

int mbed_error(int library_error, int otherwise)
{
    switch (library_error) {
    case 0: return WEIR_OK;
    case MBEDTLS_ERR_X509_ALLOC_FAILED:
    case MBEDTLS_ERR_PK_ALLOC_FAILED:
    case MBEDTLS_ERR_SSL_ALLOC_FAILED:
    case MBEDTLS_ERR_MPI_ALLOC_FAILED: return WEIR_NO_MEMORY;
    default: return otherwise;
    }
}

static void initialise(struct mbed_credentials *c)
{
    if (c->initialised)
        return;
    mbedtls_x509_crt_init(&c->chain);
    mbedtls_x509_crt_init(&c->trusted);
    mbedtls_pk_init(&c->key);
    c->initialised = true;
}

// The library takes text only with the zero that ends it. NULL: no memory. Otherwise *bytes counts it.
static const unsigned char *terminated(const void *data, size_t *bytes, void **copy)
{
    static const char mark[] = "-----BEGIN ";
    const unsigned char *const text = data;
    *copy = NULL;
    bool pem = false;
    for (size_t i = 0; !pem && i + sizeof mark - 1 <= *bytes; i++)
        pem = memcmp(text + i, mark, sizeof mark - 1) == 0;
    if (!pem || text[*bytes - 1] == 0)
        return text;
    unsigned char *const made = mbed_services->alloc(*bytes + 1);
    if (made)
        memcpy(made, data, *bytes);
    *bytes += 1;
    *copy = made;
    return made;
}

static int certificates_add(mbedtls_x509_crt *to, const void *data, size_t bytes)
{
    void *copy;
    const uint32_t refused = mbed_services->refused();
    const unsigned char *const text = terminated(data, &bytes, &copy);
    // More than 0: so many of several could not be read.
    const int status = text ? mbedtls_x509_crt_parse(to, text, bytes) : MBEDTLS_ERR_X509_ALLOC_FAILED;
    mbed_services->free(copy);
    if (status == 0)
        return WEIR_OK;
    return refused != mbed_services->refused() ? WEIR_NO_MEMORY : WEIR_TLS_CREDENTIALS;
}

int mbed_trust(void *credentials, const void *certificates, size_t bytes)
{
    struct mbed_credentials *const c = credentials;
    initialise(c);
    const int status = bytes ? certificates_add(&c->trusted, certificates, bytes) : WEIR_TLS_CREDENTIALS;
    c->trusts = c->trusts || status == WEIR_OK;
    return status;
}

static int key_add(struct mbed_credentials *c, const void *data, size_t bytes)
{
    void *copy;
    const uint32_t refused = mbed_services->refused();
    const unsigned char *const text = terminated(data, &bytes, &copy);
    int status =
        text ? mbedtls_pk_parse_key(&c->key, text, bytes, NULL, 0, mbed_random, NULL) : MBEDTLS_ERR_PK_ALLOC_FAILED;
    mbed_services->free(copy);
    if (status == 0)
        status = mbedtls_pk_check_pair(&c->chain.pk, &c->key, mbed_random, NULL);
    if (status == 0)
        return WEIR_OK;
    return refused != mbed_services->refused() ? WEIR_NO_MEMORY : WEIR_TLS_CREDENTIALS;
}

int mbed_own(void *credentials, const void *chain, size_t chain_bytes, const void *key, size_t key_bytes)
{
    struct mbed_credentials *const c = credentials;
    initialise(c);
    if (!chain_bytes || !key_bytes)
        return WEIR_TLS_CREDENTIALS;
    int status = certificates_add(&c->chain, chain, chain_bytes);
    if (status == WEIR_OK)
        status = key_add(c, key, key_bytes);
    c->owns = status == WEIR_OK;
    return status;
}

void mbed_credentials_close(void *credentials)
{
    struct mbed_credentials *const c = credentials;
    if (!c->initialised)
        return;
    mbedtls_x509_crt_free(&c->chain);
    mbedtls_x509_crt_free(&c->trusted);
    mbedtls_pk_free(&c->key);
}
