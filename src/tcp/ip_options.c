// SPDX-License-Identifier: BSD-2-Clause
#include "tcp/ip_options.h"

#include "tcp/internal.h"

int tcp_ip_options_set(struct weir *weir, struct sock *sock, const struct weir_ip_options *options)
{
    struct tcp_conn *const c = (struct tcp_conn *)sock;
    if (sock->kind == SOCK_LISTENER) {
        ((struct tcp_listener *)sock)->ip_options = *options;
        return WEIR_OK;
    }
    if (!c->extra && !options->length)
        return WEIR_OK;
    struct tcp_extra *const extra = tcp_conn_extra(weir, c);
    if (!extra)
        return WEIR_NO_MEMORY;
    extra->ip_options.sent = *options;
    tcp_attend(c, ATTEND_IP_OPTIONS, options->length != 0);
    if (c->path.netif)
        tcp_mss_update(c);
    return WEIR_OK;
}

void tcp_ip_options_get(const struct sock *sock, struct weir_ip_options *options)
{
    const struct tcp_conn *const c = (const struct tcp_conn *)sock;
    options->length = 0;
    if (sock->kind == SOCK_LISTENER)
        *options = ((const struct tcp_listener *)sock)->ip_options;
    else if (c->extra)
        *options = c->extra->ip_options.sent;
}

void tcp_ip_options_received(const struct sock *sock, struct weir_ip_options *options)
{
    const struct tcp_conn *const c = (const struct tcp_conn *)sock;
    options->length = 0;
    if (sock->kind != SOCK_LISTENER && c->extra)
        *options = c->extra->ip_options.received;
}

int tcp_ip_options_receive(struct weir *weir, struct tcp_conn *c, uint32_t on)
{
    if (!c->extra && !on)
        return WEIR_OK;
    struct tcp_extra *const extra = tcp_conn_extra(weir, c);
    if (!extra)
        return WEIR_NO_MEMORY;
    extra->ip_options.takes = on != 0;
    return WEIR_OK;
}

int32_t tcp_ip_options_receives(const struct tcp_conn *c) { return c->extra && c->extra->ip_options.takes; }

void tcp_ip_options_bequeath(const struct tcp_conn *c, struct tcp_listener *listener)
{
    tcp_ip_options_get(&c->sock, &listener->ip_options);
}

// Without memory it goes without.
void tcp_ip_options_inherit(struct weir *weir, struct tcp_conn *c, const struct tcp_listener *listener)
{
    (void)tcp_ip_options_set(weir, &c->sock, &listener->ip_options);
}

void tcp_ip_options_heard(struct tcp_conn *c, const struct packet *packet)
{
    if (tcp_ip_options_receives(c))
        ip4_options_note(&c->extra->ip_options.received, packet);
}

void tcp_ip_options_kept(struct tcp_conn *c, const struct weir_ip_options *received)
{
    if (tcp_ip_options_receives(c))
        c->extra->ip_options.received = *received;
}

bool tcp_ip_options_on(const struct tcp_conn *c) { return c->extra && c->extra->ip_options.sent.length; }

bool tcp_ip_options_keeps_extra(const struct tcp_conn *c)
{
    const struct tcp_ip_options *const own = &c->extra->ip_options;
    return own->sent.length || own->received.length || own->takes;
}

// A segment has room for all options of TCP beside them, whatever it carries.
uint32_t tcp_ip_options_fit(struct tcp_conn *c, uint32_t mss)
{
    if (!tcp_ip_options_on(c))
        return mss;
    struct tcp_ip_options *const own = &c->extra->ip_options;
    own->fit = weir_addr_is_v4(c->remote.addr) && mss >= own->sent.length + TCP_OPTIONS_MAX;
    return own->fit ? mss - own->sent.length : mss;
}

const struct weir_ip_options *tcp_ip_options(const struct tcp_conn *c)
{
    return tcp_ip_options_on(c) && c->extra->ip_options.fit ? &c->extra->ip_options.sent : NULL;
}
