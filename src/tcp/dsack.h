// SPDX-License-Identifier: BSD-2-Clause
// Duplicate SACK (RFC 2883): what came twice is told to the peer with the next ACK, once; and what the peer tells of
// its own. recovery.c undoes with it what was for nothing (undo.c), RACK waits longer for what is late (rack.c).
#ifndef TCP_DSACK_H
#define TCP_DSACK_H

#include "tcp/conn.h"

// Whether a block is not empty, and no longer than a window can be: what else a peer may write was never received.
/*@ requires \valid_read(block);
    assigns \nothing;
    ensures \result <==> 1 <= seq_off(block->left, block->right) <= 1073741824; */
static inline bool tcp_sack_sane(const struct tcp_sack_block *block)
{
    return seq_in(block->right, block->left + 1, block->left + TCP_WINDOW_MOST + 1);
}

#if WEIR_CFG_TCP_DSACK
// [left, right) came again.
void tcp_dsack_owe(struct weir *weir, struct tcp_conn *c, uint32_t left, uint32_t right);
static inline bool tcp_dsack_owed(const struct tcp_extra *extra) { return extra->dsack.left != extra->dsack.right; }
static inline void tcp_dsack_sent(struct tcp_conn *c)
{
    c->extra->dsack.left = c->extra->dsack.right;
    tcp_attend(c, ATTEND_DSACK, false);
}
uint8_t tcp_dsack_fill(const struct tcp_extra *extra, struct tcp_sack_block *first);  // how many blocks: 1, or 0
bool tcp_dsack_reported(const struct tcp_segment *segment);                           // by its first block
#else
static inline void tcp_dsack_owe(struct weir *weir, struct tcp_conn *c, uint32_t left, uint32_t right)
{
    (void)weir, (void)c, (void)left, (void)right;
}
static inline bool tcp_dsack_owed(const struct tcp_extra *extra) { return (void)extra, false; }
static inline void tcp_dsack_sent(struct tcp_conn *c) { (void)c; }
static inline uint8_t tcp_dsack_fill(const struct tcp_extra *extra, struct tcp_sack_block *first)
{
    return (void)extra, (void)first, 0;
}
static inline bool tcp_dsack_reported(const struct tcp_segment *segment) { return (void)segment, false; }
#endif

#endif
