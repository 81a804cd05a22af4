// SPDX-License-Identifier: BSD-2-Clause
// The socket layer, as src/instance.c and its own files see it: it finds the sock behind a handle and leads each call
// to the layer that owns that kind. Switches on the kind stand in socket.c, option.c and message.c only.
#ifndef SOCKET_SOCKET_H
#define SOCKET_SOCKET_H

#include "instance.h"

enum { SOCKET_DATAGRAMS = WEIR_CFG_UDP };

// A macro, so that it is constant false where datagrams are not built: a compiler that does not optimise looks into no
// function, and would leave the call of what is not there.
#define sock_is_datagram(sock) (SOCKET_DATAGRAMS && (sock)->kind >= SOCK_UDP)

static inline struct tcp_conn *sock_conn(struct sock *sock) { return (struct tcp_conn *)(void *)sock; }
static inline struct tcp_listener *sock_listener(struct sock *sock) { return (struct tcp_listener *)(void *)sock; }
static inline struct datagram *sock_datagram(struct sock *sock) { return (struct datagram *)(void *)sock; }

// The stream socket of the last call is rather that of the next one, too.
#if WEIR_CFG_FAST_PATH
static inline bool socket_conn_is_recent(const struct weir *weir, weir_socket socket)
{
    return socket == weir->handles.recent && socket;
}
static inline struct tcp_conn *socket_conn_recent(const struct weir *weir) { return weir->handles.recent_conn; }
static inline void socket_conn_remember(struct weir *weir, weir_socket socket, struct tcp_conn *conn)
{
    weir->handles.recent = socket;
    weir->handles.recent_conn = conn;
}
#else
static inline bool socket_conn_is_recent(const struct weir *weir, weir_socket socket)
{
    return (void)weir, (void)socket, false;
}
static inline struct tcp_conn *socket_conn_recent(const struct weir *weir) { return (void)weir, NULL; }
static inline void socket_conn_remember(struct weir *weir, weir_socket socket, struct tcp_conn *conn)
{
    (void)weir, (void)socket, (void)conn;
}
#endif

// The connection behind a handle in *conn, or why there is none: WEIR_BAD_SOCKET, WEIR_LISTENING, WEIR_NOT_SUPPORTED.
int socket_conn_find(struct weir *weir, weir_socket socket, struct tcp_conn **conn);
static inline int socket_conn(struct weir *weir, weir_socket socket, struct tcp_conn **conn)
{
    if (!LIKELY(socket_conn_is_recent(weir, socket)))
        return socket_conn_find(weir, socket, conn);
    *conn = socket_conn_recent(weir);
    return WEIR_OK;
}

// The datagram socket behind a handle, or why there is none: WEIR_BAD_SOCKET, WEIR_NOT_SUPPORTED.
int handle_datagram(const struct weir *weir, weir_socket socket, struct datagram **datagram);

// The sock in a slot of the handle table (index below weir->handles.slots); NULL: the slot is free.
struct sock *handle_at(const struct weir *weir, uint32_t index);

// --- family.c --------------------------------------------------------------------------------------------------------
#if WEIR_CFG_IP6
// 0, 4 or 6; WEIR_INVALID: none of these, or the socket has a name
int socket_family_set(struct sock *sock, int32_t family);
int32_t socket_family(const struct sock *sock);
// Whether a socket may be bound to the address; `any` becomes 0.0.0.0 for one of IPv4.
int socket_family_bind(const struct sock *sock, struct weir_addr *wanted);
#else
static inline int socket_family_bind(const struct sock *sock, struct weir_addr *wanted)
{
    return (void)sock, (void)wanted, WEIR_OK;
}
#endif

// Ends every handle with an abort (weir_destroy).
void sockets_abort_all(struct weir *weir);

#endif
