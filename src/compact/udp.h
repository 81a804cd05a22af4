// SPDX-License-Identifier: BSD-2-Clause
// Datagram sockets of the compact stack, as the rest of it sees them (udp.c).
#ifndef COMPACT_UDP_H
#define COMPACT_UDP_H

#include "compact/compact.h"

// `segment` holds what IP knows, and UDP as its payload; `sum`: of both addresses.
#if WEIR_CFG_COMPACT_UDP
LOCAL void udp_input(struct weir *weir, const struct segment *segment, const uint8_t *udp, uint64_t sum);
LOCAL struct datagram *datagram_of(struct weir *weir, weir_socket handle);  // NULL: none of that handle
LOCAL int datagram_bind(struct weir *weir, weir_socket handle, const struct weir_endpoint *local);
LOCAL int datagram_ready(struct weir *weir, weir_socket handle);
static inline struct socket *datagram_socket(struct weir *weir, uint32_t index)
{
    return &weir->datagrams[index].socket;
}
#else
static inline void udp_input(struct weir *weir, const struct segment *segment, const uint8_t *udp, uint64_t sum)
{
    (void)weir, (void)segment, (void)udp, (void)sum;
}
static inline struct datagram *datagram_of(struct weir *weir, weir_socket handle)
{
    return (void)weir, (void)handle, NULL;
}
static inline int datagram_bind(struct weir *weir, weir_socket handle, const struct weir_endpoint *local)
{
    return (void)weir, (void)handle, (void)local, WEIR_BAD_SOCKET;
}
static inline int datagram_ready(struct weir *weir, weir_socket handle)
{
    return (void)weir, (void)handle, WEIR_BAD_SOCKET;
}
static inline struct socket *datagram_socket(struct weir *weir, uint32_t index)
{
    return (void)weir, (void)index, NULL;
}
#endif

#endif
