// SPDX-License-Identifier: BSD-2-Clause
// Which family a socket is of (WEIR_OPTION_FAMILY): both, unless its local address is 0.0.0.0 or an address of one, or
// it is bound to `any` and marked SOCK_V6ONLY.
#include "socket/socket.h"

#include "tcp/conn.h"

// Where the local address stands, as long as the socket is neither bound nor connected; NULL: it is one of these.
static struct weir_addr *unbound(struct sock *sock)
{
    if (sock_is_datagram(sock)) {
        struct datagram *d = sock_datagram(sock);
        return d->local.port || !weir_addr_is_any(d->local.addr) || datagram_connected(d) ? NULL : &d->local.addr;
    }
    struct tcp_conn *c = sock_conn(sock);
    if (sock->kind != SOCK_TCP || c->state != WEIR_TCP_CLOSED || c->flags & TCP_BOUND || c->remote.port)
        return NULL;
    return &c->local.addr;
}

int socket_family_set(struct sock *sock, int32_t family)
{
    struct weir_addr *local = unbound(sock);
    if (!WEIR_CFG_IP4 && family == 4)
        return WEIR_NOT_SUPPORTED;
    if (!local || (family != 0 && family != 4 && family != 6))
        return WEIR_INVALID;
    *local = family == 4 ? weir_addr_v4(0) : weir_addr_any();
    sock->flags = (uint8_t)(family == 6 ? sock->flags | SOCK_V6ONLY : sock->flags & ~SOCK_V6ONLY);
    return WEIR_OK;
}

int32_t socket_family(const struct sock *sock)
{
    struct weir_endpoint local, peer;
    if (sock_is_datagram(sock))
        local = ((const struct datagram *)(const void *)sock)->local;
    else
        tcp_endpoints(sock, &local, &peer);
    if (sock->flags & SOCK_V6ONLY)
        return 6;
    return weir_addr_is_v4(local.addr) ? 4 : 0;
}

int socket_family_bind(const struct sock *sock, struct weir_addr *wanted)
{
    if (addr_foreign(*wanted))
        return WEIR_NOT_SUPPORTED;
    const int32_t family = socket_family(sock);
    if (family == 4 && weir_addr_is_any(*wanted))
        *wanted = weir_addr_v4(0);
    return family && weir_addr_is_v4(*wanted) != (family == 4) ? WEIR_INVALID : WEIR_OK;
}
