// SPDX-License-Identifier: BSD-2-Clause
// What a connection has in its IP headers. The IPv6 flow label (RFC 6437): one for both ends' addresses and ports, kept
// while it lives, SYN-ACKs and TIME-WAIT included; another after a repeated timeout, since routers that share load by
// it then take another path.
#ifndef TCP_LABEL_H
#define TCP_LABEL_H

#include "instance.h"
#include "tcp/listen.h"

// What else a connection, or a listener's answer to a SYN, has in its IP headers.
#if WEIR_CFG_IP_OPTIONS
static inline void tcp_params_options(const struct tcp_conn *c, struct ip_params *params)
{
    params->options = tcp_ip_options(c);
}
static inline struct ip_params tcp_listener_params(const struct tcp_listener *listener, struct weir_addr remote)
{
    const bool given = listener->ip_options.length && weir_addr_is_v4(remote);
    return (struct ip_params){
        .ttl = listener->ttl, .tos = listener->tos, .options = given ? &listener->ip_options : NULL};
}
#else
static inline void tcp_params_options(const struct tcp_conn *c, struct ip_params *params) { (void)c, (void)params; }
static inline struct ip_params tcp_listener_params(const struct tcp_listener *listener, struct weir_addr remote)
{
    return (void)remote, (struct ip_params){.ttl = listener->ttl, .tos = listener->tos};
}
#endif

#if WEIR_CFG_IP6
#define TCP_LABEL_TIMEOUTS 2u  // in a row, before each of which the label changes
// Of its own key: hashes of the same ends decide what nobody may know (isn.h).
static inline uint32_t tcp_label_of(const struct weir *weir, const struct weir_endpoint *local,
                                    const struct weir_endpoint *remote)
{
    if (weir_addr_is_v4(remote->addr))
        return 0;
    const uint64_t hash =
        addr_ends_hash(&weir->port_key, local->addr, remote->addr, (uint32_t)local->port << 16 | remote->port);
    return (uint32_t)hash & 0xfffff ? (uint32_t)hash & 0xfffff : 1;
}
static inline void tcp_label_open(const struct weir *weir, struct tcp_conn *c)
{
    c->flow_label = tcp_label_of(weir, &c->local.endpoint, &c->remote.endpoint);
}
static inline void tcp_label_timeout(struct weir *weir, struct tcp_conn *c)
{
    if (c->backoff >= TCP_LABEL_TIMEOUTS && c->flow_label)
        c->flow_label = 1 + random_below(&weir->random, 0xfffff);
}
static inline struct ip_params tcp_params(const struct tcp_conn *c, uint8_t tos)
{
    struct ip_params params = {.ttl = c->ttl, .tos = tos, .flow_label = c->flow_label};
    tcp_params_options(c, &params);
    return params;
}
static inline void tcp_params_put(struct ip_out *ip, struct ip_params params)
{
    ip->flow_label = params.flow_label;
    ip4_options_put(ip, params);
}
static inline void tcp_label_complete(const struct weir *weir, struct ip_params *params,
                                      const struct weir_endpoint *local, const struct weir_endpoint *remote)
{
    if (!params->flow_label)
        params->flow_label = tcp_label_of(weir, local, remote);
}
#else
static inline void tcp_label_open(const struct weir *weir, struct tcp_conn *c) { (void)weir, (void)c; }
static inline void tcp_label_timeout(struct weir *weir, struct tcp_conn *c) { (void)weir, (void)c; }
static inline struct ip_params tcp_params(const struct tcp_conn *c, uint8_t tos)
{
    struct ip_params params = {.ttl = c->ttl, .tos = tos};
    tcp_params_options(c, &params);
    return params;
}
static inline void tcp_params_put(struct ip_out *ip, struct ip_params params) { ip4_options_put(ip, params); }
static inline void tcp_label_complete(const struct weir *weir, struct ip_params *params,
                                      const struct weir_endpoint *local, const struct weir_endpoint *remote)
{
    (void)weir, (void)params, (void)local, (void)remote;
}
#endif

#endif
