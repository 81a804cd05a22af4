// SPDX-License-Identifier: BSD-2-Clause
// urgent.c (RFC 6093).
#ifndef TCP_URGENT_H
#define TCP_URGENT_H

#include "tcp/conn.h"

#if WEIR_CFG_TCP_URGENT
void tcp_urgent_input(struct weir *weir, struct tcp_conn *c, const struct tcp_segment *segment);
void tcp_urgent_queued(struct weir *weir, struct tcp_conn *c);  // the last byte queued is urgent
uint16_t tcp_urgent_pointer(struct tcp_conn *c, uint32_t seq, uint8_t *flags);
// how far a peek may reach
uint32_t tcp_urgent_limit(struct weir *weir, struct tcp_conn *c, uint32_t skip, uint32_t length);
bool tcp_urgent_pending(const struct tcp_conn *c);  // for the reader
bool tcp_urgent_to_send(const struct tcp_conn *c);  // Nagle must not hold it
#else
static inline void tcp_urgent_input(struct weir *weir, struct tcp_conn *c, const struct tcp_segment *segment)
{
    (void)weir, (void)c, (void)segment;
}
static inline void tcp_urgent_queued(struct weir *weir, struct tcp_conn *c) { (void)weir, (void)c; }
static inline uint16_t tcp_urgent_pointer(struct tcp_conn *c, uint32_t seq, uint8_t *flags)
{
    (void)c, (void)seq, (void)flags;
    return 0;
}
static inline uint32_t tcp_urgent_limit(struct weir *weir, struct tcp_conn *c, uint32_t skip, uint32_t length)
{
    (void)weir, (void)c, (void)skip;
    return length;
}
static inline bool tcp_urgent_pending(const struct tcp_conn *c)
{
    (void)c;
    return false;
}
static inline bool tcp_urgent_to_send(const struct tcp_conn *c)
{
    (void)c;
    return false;
}
#endif

#endif
