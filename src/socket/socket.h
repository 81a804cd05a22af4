// SPDX-License-Identifier: BSD-2-Clause
// The socket layer, as src/instance.c and its own files see it: it finds the sock behind a handle and leads each call to the
// layer that owns that kind. Switches on the kind stand in socket.c, option.c and message.c only.
#ifndef SOCKET_SOCKET_H
#define SOCKET_SOCKET_H

#include "instance.h"

// Constant false where datagrams are not built, so that every branch on it vanishes.
enum { SOCKET_DATAGRAMS = WEIR_CFG_UDP };

static inline bool sock_is_datagram(const struct sock *sock) { return SOCKET_DATAGRAMS && sock->kind >= SOCK_UDP; }
static inline struct tcp_conn *sock_conn(struct sock *sock) { return (struct tcp_conn *)(void *)sock; }
static inline struct tcp_listener *sock_listener(struct sock *sock) { return (struct tcp_listener *)(void *)sock; }
static inline struct datagram *sock_datagram(struct sock *sock) { return (struct datagram *)(void *)sock; }

// The connection behind a handle in *conn, or why there is none: WEIR_BAD_SOCKET, WEIR_LISTENING, WEIR_NOT_SUPPORTED.
int socket_conn(struct weir *weir, weir_socket socket, struct tcp_conn **conn);

// The sock in a slot of the handle table (index below weir->handles.slots); NULL: the slot is free.
struct sock *handle_at(const struct weir *weir, uint32_t index);

// Ends every handle with an abort (weir_destroy).
void sockets_abort_all(struct weir *weir);

#endif
