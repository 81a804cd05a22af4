// SPDX-License-Identifier: BSD-2-Clause
// Certificates and keys for BearSSL, PEM or DER.
#include <string.h>

#include "tls/bearssl/internal.h"

const struct tls_services *bear_services;

// --- objects out of PEM or DER ------------------------------------------------------------------
// Gets each object; returns WEIR_OK, or what is wrong with it.
typedef int take_object(void *context, const unsigned char *der, size_t bytes);

struct collected {
    unsigned char *data;
    size_t bytes;
};

static void collect(void *context, const void *data, size_t bytes)
{
    struct collected *const c = context;
    memcpy(c->data + c->bytes, data, bytes);
    c->bytes += bytes;
}

static int pem_walk(const char *text, size_t bytes, struct collected *c, take_object *take, void *context)
{
    br_pem_decoder_context pem;
    int status = WEIR_TLS_CREDENTIALS;
    br_pem_decoder_init(&pem);
    while (bytes > 0) {
        const size_t used = br_pem_decoder_push(&pem, text, bytes);
        text += used;
        bytes -= used;
        switch (br_pem_decoder_event(&pem)) {
        case BR_PEM_BEGIN_OBJ:
            c->bytes = 0;
            br_pem_decoder_setdest(&pem, collect, c);
            break;
        case BR_PEM_END_OBJ:
            status = take(context, c->data, c->bytes);
            if (status)
                return status;
            break;
        case BR_PEM_ERROR: return WEIR_TLS_CREDENTIALS;
        default: break;
        }
    }
    return status;
}

static int walk(const void *data, size_t bytes, take_object *take, void *context)
{
    const char *const text = data;
    if (bytes == 0)
        return WEIR_TLS_CREDENTIALS;
    if (text[0] == 0x30)
        return take(context, data, bytes);
    struct collected c = {.data = bear_services->alloc(bytes + 1)};
    if (!c.data)
        return WEIR_NO_MEMORY;
    const int status = pem_walk(text, bytes, &c, take, context);
    bear_services->free(c.data);
    return status;
}

// --- what is trusted ----------------------------------------------------------------------------
struct name {
    unsigned char data[512];
    size_t bytes;
};

static void name_add(void *context, const void *data, size_t bytes)
{
    struct name *const name = context;
    if (name->bytes + bytes <= sizeof name->data)
        memcpy(name->data + name->bytes, data, bytes);
    name->bytes += bytes;
}

static unsigned char *copied(const unsigned char *data, size_t bytes, bool *good)
{
    unsigned char *const copy = bear_services->alloc(bytes);
    *good = *good && copy;
    return copy ? memcpy(copy, data, bytes) : NULL;
}

static bool key_copy(br_x509_pkey *to, const br_x509_pkey *from)
{
    bool good = true;
    *to = *from;
    if (from->key_type == BR_KEYTYPE_EC) {
        to->key.ec.q = copied(from->key.ec.q, from->key.ec.qlen, &good);
    } else {
        to->key.rsa.n = copied(from->key.rsa.n, from->key.rsa.nlen, &good);
        to->key.rsa.e = copied(from->key.rsa.e, from->key.rsa.elen, &good);
    }
    return good;
}

static void key_free(br_x509_pkey *key)
{
    if (key->key_type == BR_KEYTYPE_EC) {
        bear_services->free(key->key.ec.q);
    } else {
        bear_services->free(key->key.rsa.n);
        bear_services->free(key->key.rsa.e);
    }
}

static int anchor_take(void *context, const unsigned char *der, size_t bytes)
{
    struct bear_credentials *const c = context;
    br_x509_decoder_context decoder;
    struct name name = {.bytes = 0};
    bool good = true;
    br_x509_decoder_init(&decoder, name_add, &name);
    br_x509_decoder_push(&decoder, der, bytes);
    const br_x509_pkey *const key = br_x509_decoder_get_pkey(&decoder);
    if (!key || name.bytes > sizeof name.data || c->anchor_count == BEAR_ANCHORS)
        return WEIR_TLS_CREDENTIALS;
    br_x509_trust_anchor *const anchor = &c->anchors[c->anchor_count++];
    anchor->flags = br_x509_decoder_isCA(&decoder) ? BR_X509_TA_CA : 0;
    anchor->dn.data = copied(name.data, name.bytes, &good);
    anchor->dn.len = name.bytes;
    return key_copy(&anchor->pkey, key) && good ? WEIR_OK : WEIR_NO_MEMORY;
}

int bear_trust(void *credentials, const void *certificates, size_t bytes)
{
    return walk(certificates, bytes, anchor_take, credentials);
}

// --- what is our own ----------------------------------------------------------------------------
static int chain_take(void *context, const unsigned char *der, size_t bytes)
{
    struct bear_credentials *const c = context;
    bool good = true;
    if (c->chain_count == BEAR_CHAIN)
        return WEIR_TLS_CREDENTIALS;
    c->chain[c->chain_count].data = copied(der, bytes, &good);
    c->chain[c->chain_count++].data_len = bytes;
    return good ? WEIR_OK : WEIR_NO_MEMORY;
}

static int key_take(void *context, const unsigned char *der, size_t bytes)
{
    struct bear_credentials *const c = context;
    br_skey_decoder_init(&c->key);
    br_skey_decoder_push(&c->key, der, bytes);
    return br_skey_decoder_last_error(&c->key) == 0 ? WEIR_OK : WEIR_TLS_CREDENTIALS;
}

static bool same_key(const br_x509_pkey *public, const br_skey_decoder_context *key)
{
    unsigned char ours[512];
    if (public->key_type != br_skey_decoder_key_type(key))
        return false;
    if (public->key_type == BR_KEYTYPE_EC) {
        unsigned char point[BR_EC_KBUF_PUB_MAX_SIZE];
        br_ec_public_key made;
        return br_ec_compute_pub(br_ec_get_default(), &made, point, br_skey_decoder_get_ec(key)) ==
                   public->key.ec.qlen &&
               memcmp(point, public->key.ec.q, public->key.ec.qlen) == 0;
    }
    const size_t bytes = br_rsa_compute_modulus_get_default()(NULL, br_skey_decoder_get_rsa(key));
    return bytes <= sizeof ours && bytes == public->key.rsa.nlen &&
           br_rsa_compute_modulus_get_default()(ours, br_skey_decoder_get_rsa(key)) == bytes &&
           memcmp(ours, public->key.rsa.n, bytes) == 0;
}

int bear_own(void *credentials, const void *chain, size_t chain_bytes, const void *key, size_t key_bytes)
{
    struct bear_credentials *const c = credentials;
    br_x509_decoder_context decoder;
    int status = walk(chain, chain_bytes, chain_take, c);
    if (status == WEIR_OK)
        status = walk(key, key_bytes, key_take, c);
    if (status)
        return status;
    br_x509_decoder_init(&decoder, NULL, NULL);
    br_x509_decoder_push(&decoder, c->chain[0].data, c->chain[0].data_len);
    const br_x509_pkey *const public = br_x509_decoder_get_pkey(&decoder);
    c->issuer_key_type = (unsigned)br_x509_decoder_get_signer_key_type(&decoder);
    c->owns = public && same_key(public, &c->key);
    return c->owns ? WEIR_OK : WEIR_TLS_CREDENTIALS;
}

void bear_credentials_close(void *credentials)
{
    struct bear_credentials *const c = credentials;
    for (size_t i = 0; i < c->chain_count; i++)
        bear_services->free(c->chain[i].data);
    for (size_t i = 0; i < c->anchor_count; i++) {
        bear_services->free(c->anchors[i].dn.data);
        key_free(&c->anchors[i].pkey);
    }
}
