// SPDX-License-Identifier: BSD-2-Clause
// TLS by socket options, as Zephyr has it: one line makes a stream's descriptor speak TLS, and send, recv, poll,
// shutdown and close on it are what they were. Needs WEIR_CFG_BSD_LAYERS.
//
//     weir_tls_sockets_enable(bsd, tls);                                 // once
//     weir_tls_sockets_tag(bsd, 1, credentials);
//     bsd_setsockopt(bsd, fd, WEIR_SOL_TLS, WEIR_TLS_SEC_TAG_LIST, &one, sizeof one);
//     bsd_setsockopt(bsd, fd, WEIR_SOL_TLS, WEIR_TLS_HOSTNAME, "broker.example", 14);
//
// Before connect, or on a listener: what accept returns then speaks TLS, too. connect makes the handshake, on a
// descriptor that does not block the first send or recv; on an accepted one the first send or recv. Errors of TLS are
// ECONNABORTED, a stream that was cut ECONNRESET; WEIR_TLS_ERROR tells more. MSG_PEEK, MSG_TRUNC and MSG_OOB are
// EOPNOTSUPP. A descriptor is readable when something is inside or the socket has bytes, which may be no whole record
// yet. FIONREAD and SO_RCVLOWAT count plaintext: FIONREAD tells what one record still gives (it is decrypted to know),
// 0 during the handshake; recv waits for SO_RCVLOWAT, poll does not look at it.
#ifndef WEIR_TLS_SOCKETS_H
#define WEIR_TLS_SOCKETS_H

#include "weir_tls.h"

WEIR_BEGIN_DECLS

#define WEIR_SOL_TLS 282
enum {                          // socket options; Zephyr's numbers
    WEIR_TLS_SEC_TAG_LIST = 1,  // set: int; the credentials of this tag (one), and: this is TLS
    WEIR_TLS_HOSTNAME = 2,      // set: text, with or without its end; whom a client wants to reach; empty: anybody
    WEIR_TLS_PEER_VERIFY = 5,   // set: int; 0 none, 1 optional, 2 required
    WEIR_TLS_ALPN_LIST = 7,     // set: array of const char *, at most 8, copied
    WEIR_TLS_ERROR = 100,       // get: int; the last error of TLS, enum weir_tls_error; 0
};

// The options work on descriptors of this context from now on. WEIR_NOT_SUPPORTED: not built in; WEIR_IN_USE;
// WEIR_NO_MEMORY.
int weir_tls_sockets_enable(struct weir_bsd *bsd, struct weir_tls *tls);
// No more; when no descriptor with TLS is left.
void weir_tls_sockets_disable(struct weir_bsd *bsd);
// Names credentials by a number, and holds them; NULL forgets the number. WEIR_NO_MEMORY: WEIR_TLS_TAGS are named.
int weir_tls_sockets_tag(struct weir_bsd *bsd, int tag, struct weir_tls_credentials *credentials);
#ifndef WEIR_TLS_TAGS
#define WEIR_TLS_TAGS 8
#endif

WEIR_END_DECLS

#endif
