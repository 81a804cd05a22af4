// SPDX-License-Identifier: BSD-2-Clause
// Selective acknowledgements (RFC 2018, 6675): what is told of data out of order, and what is taken from what the peer
// tells.
#ifndef TCP_SACK_H
#define TCP_SACK_H

#include "tcp/dsack.h"
#include "tcp/internal.h"

#if WEIR_CFG_TCP_SACK
void tcp_sack_fill(const struct tcp_conn *c, struct tcp_options *options, uint32_t room);
// An ACK left.
static inline void tcp_sack_reported(struct tcp_conn *c)
{
    if (!c->extra)
        return;
    tcp_dsack_sent(c);
    c->extra->pending_sacks = 0;
}
// Data came beyond a hole; `goes_on`: with the run in which data came last.
static inline void tcp_sack_pending_add(struct tcp_conn *c, bool goes_on)
{
    c->extra->pending_sacks += !(goes_on && c->extra->pending_sacks) && c->extra->pending_sacks < UINT8_MAX;
}
void tcp_sack_make_room(struct weir *weir, struct tcp_conn *c, uint32_t runs);  // in the next ACK, for so many more
void tcp_sack_input(struct weir *weir, struct tcp_conn *c, const struct tcp_segment *segment,
                    struct flight_delta *delta);
bool tcp_sack_loss(struct tcp_conn *c, struct flight_delta *delta);  // RFC 6675: whether anything is thought lost now
static inline bool tcp_sack_pending(const struct tcp_conn *c)
{
    return c->extra && c->flags & TCP_USE_SACK && (tcp_dsack_owed(c->extra) || c->extra->out_of_order);
}
#else
static inline void tcp_sack_fill(const struct tcp_conn *c, struct tcp_options *options, uint32_t room)
{
    (void)c, (void)options, (void)room;
}
static inline void tcp_sack_reported(struct tcp_conn *c) { (void)c; }
static inline void tcp_sack_pending_add(struct tcp_conn *c, bool goes_on) { (void)c, (void)goes_on; }
static inline void tcp_sack_make_room(struct weir *weir, struct tcp_conn *c, uint32_t runs)
{
    (void)weir, (void)c, (void)runs;
}
static inline void tcp_sack_input(struct weir *weir, struct tcp_conn *c, const struct tcp_segment *segment,
                                  struct flight_delta *delta)
{
    (void)weir, (void)c, (void)segment, (void)delta;
}
static inline bool tcp_sack_loss(struct tcp_conn *c, struct flight_delta *delta)
{
    (void)c, (void)delta;
    return false;
}
static inline bool tcp_sack_pending(const struct tcp_conn *c)
{
    (void)c;
    return false;
}
#endif

#endif
