// SPDX-License-Identifier: BSD-2-Clause
// Initial sequence numbers (RFC 6528), timestamp offsets (RFC 7323 §7.1), ephemeral ports (RFC 6056 §3.3.4).
#ifndef TCP_ISN_H
#define TCP_ISN_H

#include "instance.h"
#include "tcp/conn.h"

#define TCP_PORT_FIRST 32768u  // ephemeral range, as Linux; RFC 6056 §3.2 wants it large
#define TCP_PORT_LAST 60999u

// SipHash-2-4 of the ends of a connection, of which it begins by asking again and again (enum tcp_hash):
//   TUPLE        the 4-tuple. It has two uses that must not tell of each other, and its halves do not: the low one is
//                the place in the tables, which nobody sees, the high one the F of RFC 6528, which every SYN shows.
//   HOSTS        the two addresses, with no ports
//   DESTINATION  all but the local port, by the key of ports
#if WEIR_CFG_FAST_PATH
// Computes it, and remembers it.
uint64_t tcp_ends_hash_new(const struct weir *weir, enum tcp_hash hash, struct weir_addr local, struct weir_addr remote,
                           uint32_t ports);
static inline uint64_t tcp_ends_hash(const struct weir *weir, enum tcp_hash hash, struct weir_addr local,
                                     struct weir_addr remote, uint32_t ports)
{
    const struct tcp_hashed *const last = &weir->tcp.hashed[hash];
    const bool same =
        last->ports == ports && weir_addr_equal(last->remote, remote) && weir_addr_equal(last->local, local);
    return same ? last->hash : tcp_ends_hash_new(weir, hash, local, remote, ports);
}
static inline uint64_t tcp_tuple_hash(const struct weir *weir, struct weir_addr local, uint16_t local_port,
                                      struct weir_addr remote, uint16_t remote_port)
{
    return tcp_ends_hash(weir, TCP_HASH_TUPLE, local, remote, (uint32_t)local_port << 16 | remote_port);
}
#else
static inline uint64_t tcp_tuple_hash(const struct weir *weir, struct weir_addr local, uint16_t local_port,
                                      struct weir_addr remote, uint16_t remote_port)
{
    return addr_ends_hash(&weir->isn_key, local, remote, (uint32_t)local_port << 16 | remote_port);
}
#endif
uint32_t tcp_isn(const struct weir *weir, const struct weir_endpoint *local, const struct weir_endpoint *remote);
// One offset for each pair of addresses: timestamps of successive connections ascend (RFC 6191 needs that), and our
// uptime shows nowhere.
uint32_t tcp_timestamp_offset(const struct weir *weir, struct weir_addr local, struct weir_addr remote);
// A local port that makes (local, port, remote) unique among connections, half-open ones and TIME-WAIT not safely
// reusable; *old: what is in TIME-WAIT and will be taken over, or NULL. 0: none is free.
uint16_t tcp_port_choose(struct weir *weir, struct weir_addr local, const struct weir_endpoint *remote,
                         struct tcp_time_wait **old);

#endif
