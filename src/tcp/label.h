// SPDX-License-Identifier: BSD-2-Clause
// The IPv6 flow label of a connection (RFC 6437): one for both ends' addresses and ports, kept while it lives, SYN-ACKs
// and TIME-WAIT included; another after a repeated timeout, since routers that share load by it then take another path.
#ifndef TCP_LABEL_H
#define TCP_LABEL_H

#include "instance.h"
#include "tcp/conn.h"

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
    c->flow_label = tcp_label_of(weir, &c->local, &c->remote);
}
static inline void tcp_label_timeout(struct weir *weir, struct tcp_conn *c)
{
    if (c->backoff >= TCP_LABEL_TIMEOUTS && c->flow_label)
        c->flow_label = 1 + random_below(&weir->random, 0xfffff);
}
static inline struct ip_params tcp_params(const struct tcp_conn *c, uint8_t tos)
{
    return (struct ip_params){c->ttl, tos, c->flow_label};
}
static inline void tcp_label_put(struct ip_out *ip, struct ip_params params) { ip->flow_label = params.flow_label; }
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
    return (struct ip_params){c->ttl, tos};
}
static inline void tcp_label_put(struct ip_out *ip, struct ip_params params) { (void)ip, (void)params; }
static inline void tcp_label_complete(const struct weir *weir, struct ip_params *params,
                                      const struct weir_endpoint *local, const struct weir_endpoint *remote)
{
    (void)weir, (void)params, (void)local, (void)remote;
}
#endif

#endif
