// SPDX-License-Identifier: BSD-2-Clause
// Mbed TLS 3.6 as Weir's back end wants it: MBEDTLS_CONFIG_FILE="api/tls/mbedtls/config.h", for the library and for the
// files here. What is not named is not built: no DTLS, no renegotiation, no CBC, no static RSA, no finite-field
// Diffie-Hellman, nothing below TLS 1.2 (RFC 9325). Your own choice may differ; weir_tls needs what stands under
// "needed". WEIR_TLS_LEAN builds one suite and one curve, for a microcontroller (docs/tls.md has its figures).
#ifndef TLS_MBEDTLS_CONFIG_H
#define TLS_MBEDTLS_CONFIG_H

// --- needed -------------------------------------------------------------------------------------
#define MBEDTLS_PLATFORM_C
#define MBEDTLS_PLATFORM_MEMORY        // memory.c counts
#define MBEDTLS_PLATFORM_GMTIME_R_ALT  // environment.c has a calendar
#define MBEDTLS_ENTROPY_C
#define MBEDTLS_ENTROPY_HARDWARE_ALT  // the port's
#define MBEDTLS_NO_PLATFORM_ENTROPY
#define MBEDTLS_CTR_DRBG_C
#define MBEDTLS_HAVE_TIME
#define MBEDTLS_HAVE_TIME_DATE
#define MBEDTLS_PLATFORM_TIME_ALT     // weir_tls_system.unix_time
#define MBEDTLS_PLATFORM_MS_TIME_ALT  // the port's clock
#define MBEDTLS_PSA_CRYPTO_C
#define MBEDTLS_SSL_TLS_C
#define MBEDTLS_SSL_CLI_C
#define MBEDTLS_SSL_SRV_C
#define MBEDTLS_SSL_TICKET_C
#define MBEDTLS_SSL_SESSION_TICKETS
#define MBEDTLS_SSL_SERVER_NAME_INDICATION
#define MBEDTLS_SSL_ALPN
#define MBEDTLS_SSL_MAX_FRAGMENT_LENGTH
#define MBEDTLS_SSL_KEEP_PEER_CERTIFICATE
#define MBEDTLS_SSL_ENCRYPT_THEN_MAC
#define MBEDTLS_SSL_EXTENDED_MASTER_SECRET
#define MBEDTLS_SSL_ALL_ALERT_MESSAGES
#define MBEDTLS_X509_USE_C
#define MBEDTLS_X509_CRT_PARSE_C
#define MBEDTLS_PK_C
#define MBEDTLS_PK_PARSE_C
#define MBEDTLS_ASN1_PARSE_C
#define MBEDTLS_ASN1_WRITE_C
#define MBEDTLS_OID_C
#define MBEDTLS_MD_C
#define MBEDTLS_CIPHER_C
#define MBEDTLS_BIGNUM_C
#define MBEDTLS_ECP_C
#define MBEDTLS_ECDH_C
#define MBEDTLS_ECDSA_C
#define MBEDTLS_AES_C
#define MBEDTLS_GCM_C
#define MBEDTLS_SHA224_C
#define MBEDTLS_SHA256_C

// --- versions, suites, curves -------------------------------------------------------------------
#define MBEDTLS_SSL_PROTO_TLS1_2
#define MBEDTLS_KEY_EXCHANGE_ECDHE_ECDSA_ENABLED
#define MBEDTLS_ECP_DP_SECP256R1_ENABLED
#define MBEDTLS_ECP_NIST_OPTIM
#define MBEDTLS_ECDSA_DETERMINISTIC
#define MBEDTLS_HMAC_DRBG_C

#ifdef WEIR_TLS_LEAN
#define MBEDTLS_PLATFORM_STD_CALLOC NULL  // a C library's heap is not linked
#define MBEDTLS_PLATFORM_STD_FREE NULL
#define MBEDTLS_PLATFORM_STD_TIME NULL
#define MBEDTLS_AES_ROM_TABLES
#define MBEDTLS_AES_FEWER_TABLES
#define MBEDTLS_AES_ONLY_128_BIT_KEY_LENGTH
#define MBEDTLS_CTR_DRBG_USE_128_BIT_KEY
#define MBEDTLS_ECP_WINDOW_SIZE 2
#define MBEDTLS_MPI_MAX_SIZE 48
#define MBEDTLS_X509_REMOVE_INFO
#ifndef MBEDTLS_SSL_IN_CONTENT_LEN
#define MBEDTLS_SSL_IN_CONTENT_LEN 4096
#endif
#ifndef MBEDTLS_SSL_OUT_CONTENT_LEN
#define MBEDTLS_SSL_OUT_CONTENT_LEN 2048
#endif
#else
#define MBEDTLS_SSL_PROTO_TLS1_3
#define MBEDTLS_SSL_TLS1_3_COMPATIBILITY_MODE
#define MBEDTLS_SSL_TLS1_3_KEY_EXCHANGE_MODE_EPHEMERAL_ENABLED
#define MBEDTLS_SSL_TLS1_3_KEY_EXCHANGE_MODE_PSK_EPHEMERAL_ENABLED
#define MBEDTLS_SSL_RECORD_SIZE_LIMIT
#define MBEDTLS_HKDF_C
#define MBEDTLS_KEY_EXCHANGE_ECDHE_RSA_ENABLED
#define MBEDTLS_RSA_C
#define MBEDTLS_PKCS1_V15
#define MBEDTLS_PKCS1_V21
#define MBEDTLS_X509_RSASSA_PSS_SUPPORT
#define MBEDTLS_ECP_DP_SECP384R1_ENABLED
#define MBEDTLS_ECP_DP_CURVE25519_ENABLED
#define MBEDTLS_SHA384_C
#define MBEDTLS_SHA512_C
#define MBEDTLS_CHACHA20_C
#define MBEDTLS_POLY1305_C
#define MBEDTLS_CHACHAPOLY_C
#define MBEDTLS_PEM_PARSE_C
#define MBEDTLS_BASE64_C
#endif

// --- the machine --------------------------------------------------------------------------------
#if defined(__unix__) && !defined(WEIR_TLS_ONE_TASK)
#define MBEDTLS_THREADING_C
#define MBEDTLS_THREADING_PTHREAD
#endif
#if defined(__x86_64__) || defined(__aarch64__)
#define MBEDTLS_HAVE_ASM
#define MBEDTLS_AESNI_C
#define MBEDTLS_AESCE_C
#define MBEDTLS_GCM_LARGE_TABLE
#elif defined(__arm__)
#define MBEDTLS_HAVE_ASM
#endif

#endif
