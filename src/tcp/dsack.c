// SPDX-License-Identifier: BSD-2-Clause
#include "tcp/dsack.h"

#include "tcp/sack.h"

// With what is held of it a duplicate takes two blocks.
void tcp_dsack_owe(struct weir *weir, struct tcp_conn *c, uint32_t left, uint32_t right)
{
    if (!(c->flags & TCP_USE_SACK))
        return;
    tcp_sack_make_room(weir, c, 2);
    if (!tcp_conn_extra(weir, c))
        return;
    c->extra->dsack = (struct tcp_sack_block){left, right};
    tcp_attend(c, ATTEND_DSACK, left != right);
}

uint8_t tcp_dsack_fill(const struct tcp_extra *extra, struct tcp_sack_block *first)
{
    if (!tcp_dsack_owed(extra))
        return 0;
    *first = extra->dsack;
    return 1;
}

// §4: a first block below the cumulative ACK, or inside the second; it is no news of what arrived.
/*@ requires \valid_read(segment) && segment->options.sack_count <= 4;
    assigns \nothing;
    ensures \result ==> segment->options.sack_count > 0 &&
      1 <= seq_off(segment->options.sack[0].left, segment->options.sack[0].right) <= 1073741824; */
bool tcp_dsack_reported(const struct tcp_segment *segment)
{
    if (!segment->options.sack_count)
        return false;
    const struct tcp_sack_block *first = &segment->options.sack[0], *second = &segment->options.sack[1];
    if (!tcp_sack_sane(first))
        return false;
    if (seq_in(first->left, segment->ack - TCP_WINDOW_MOST, segment->ack))
        return true;
    return segment->options.sack_count > 1 && tcp_sack_sane(second) &&
           seq_in(first->left, second->left, second->right) &&
           seq_in(first->right, second->left + 1, second->right + 1);
}
