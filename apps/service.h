// SPDX-License-Identifier: BSD-2-Clause
// What every server begins with: a listening or a bound socket whose events go to a watch. Lock held.
#ifndef APPS_SERVICE_H
#define APPS_SERVICE_H

#include "loop.h"
#include "weir/linkage/loop.h"

WEIR_BEGIN_DECLS

// clamped to WEIR_CFG_LISTEN_BACKLOG_MAX: a crowd that comes at once waits, and is not sent away
#define SERVICE_BACKLOG 1024u
#define SERVICE_KEEPALIVE_S 60  // a peer that vanished frees its socket after about three times this
// UDP services do not answer lower ports: two of them would answer each other for ever
#define SERVICE_UNPRIVILEGED 1024u

// Listens on `port` of every address. A socket, or an enum weir_error.
weir_socket service_listen(struct loop *loop, uint16_t port, struct weir_watch *watch);
// Binds a datagram socket to `port` of every address. A socket, or an enum weir_error.
weir_socket service_bind(struct loop *loop, uint16_t port, struct weir_watch *watch);
// Takes the next connection of a listener and gives it `watch` and keepalive. WEIR_AGAIN: none waits.
weir_socket service_accept(struct loop *loop, weir_socket listener, struct weir_watch *watch);
// Peeks at the next datagram. An error that the socket has to tell first, of an ICMP error or a failure to send, goes
// to *error (NULL: it is of no use) and does not hide the datagrams behind it. false: none is there.
bool service_peek(struct loop *loop, weir_socket socket, struct weir_message *message, struct weir_slice *slice,
                  int *error);
// Whether a datagram service may answer: not a well-known port, not sent to a broadcast or multicast address.
bool service_may_answer(const struct weir_message *message);
void service_close(struct loop *loop, weir_socket *socket);

WEIR_END_DECLS

#endif
