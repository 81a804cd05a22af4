// SPDX-License-Identifier: BSD-2-Clause
// SYN cookies (RFC 4987 §3.6): the state of a half-open connection in the sequence number we choose. 3 bits of MSS
// class, a few bits of time, the rest keyed hash; with timestamps the peer's SACK and window scale ride in the low bits
// of our timestamp.
#ifndef TCP_SYNCOOKIE_H
#define TCP_SYNCOOKIE_H

#include "tcp/conn.h"

#if WEIR_CFG_TCP_SYN_COOKIES
void syncookie_send(struct weir *weir, struct tcp_listener *listener, const struct packet *packet,
                    const struct tcp_segment *segment);
// An ACK for a listener without an entry: a valid cookie makes a connection and handles the segment; what may be later
// data of a peer whose first was lost is ignored. false: not a cookie of ours (or none was sent in the last two
// minutes): the caller answers RST.
bool syncookie_input(struct weir *weir, struct tcp_listener *listener, struct packet *packet,
                     struct tcp_segment *segment);
#else
static inline void syncookie_send(struct weir *weir, struct tcp_listener *listener, const struct packet *packet,
                                  const struct tcp_segment *segment)
{
    (void)weir, (void)listener, (void)packet, (void)segment;
}
static inline bool syncookie_input(struct weir *weir, struct tcp_listener *listener, struct packet *packet,
                                   struct tcp_segment *segment)
{
    (void)weir, (void)listener, (void)packet, (void)segment;
    return false;
}
#endif

#endif
