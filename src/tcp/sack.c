// SPDX-License-Identifier: BSD-2-Clause
// SACK, both ways: what we report of out-of-order data (RFC 2018 §4) and duplicates (RFC 2883), and what the peer reports to us.
#include "tcp/sack.h"

#define SACK_BLOCKS 3u  // as many as fit beside timestamps

void tcp_sack_duplicate(struct weir *weir, struct tcp_conn *c, uint32_t left, uint32_t right)
{
    if (c->flags & TCP_USE_SACK && tcp_conn_extra(weir, c))
        c->extra->dsack = (struct tcp_sack_block){left, right};
}

static inline bool sack_duplicate(const struct tcp_extra *extra) { return extra->dsack.left != extra->dsack.right; }

// Adds a block, unless it is among those from `first` on. A FIN that came right behind it belongs to it: often it is the last that was
// sent, and shows the sender what is lost before it.
static uint8_t fill_block(const struct tcp_extra *extra, struct tcp_options *options, uint8_t first, uint8_t filled,
                          const struct interval *item)
{
    for (uint8_t i = first; i < filled; i++)
        if (options->sack[i].left == item->start)
            return filled;
    options->sack[filled] = (struct tcp_sack_block){item->start, item->end + (extra->fin_ahead && extra->fin == item->end)};
    return (uint8_t)(filled + 1);
}

// So many of the latest news are known.
static uint32_t news_known(const struct tcp_extra *extra)
{
    return min_u32(extra->sack_news, WEIR_CFG_ALLOCATOR ? extra->out_of_order->capacity : TCP_NEWS_STATIC);
}

// One of the ACKs before the last of a batch (tcp_sack_acks_before): what came first is told first, and none of what came later, or it
// would seem to have been overtaken. What has been acknowledged since is not told at all.
static uint8_t fill_turn(const struct tcp_extra *extra, struct tcp_options *options, uint8_t first, uint32_t most)
{
    struct intervals *list = extra->out_of_order;
    const uint32_t end = extra->sack_news - extra->sack_turn * SACK_BLOCKS, oldest = extra->sack_news - news_known(extra);
    const uint32_t begin = end - min_u32(SACK_BLOCKS, end - oldest);
    uint8_t filled = first;
    for (uint32_t i = end; i > begin && filled < most; i--) {
        const struct interval *item = intervals_at(list, *tcp_news(list, i - 1));
        filled = item ? fill_block(extra, options, first, filled, item) : filled;
    }
    return filled;
}

bool tcp_sack_turn(struct tcp_conn *c, uint32_t before)
{
    struct tcp_options unsent;
    c->extra->sack_turn = (uint8_t)before;
    return sack_duplicate(c->extra) || fill_turn(c->extra, &unsent, 0, 1);
}

// First a duplicate (RFC 2883 §4), then the block that holds the newest data, then those that were newest before it, so that each is told
// in several ACKs and the loss of some does no harm (RFC 2018 §4), then others, as far as there is room.
void tcp_sack_fill(const struct tcp_conn *c, struct tcp_options *options, uint32_t room)
{
    const uint32_t most = room < 12 ? 0 : min_u32(4, (room - 4) / 8);
    uint8_t filled = 0;
    if (sack_duplicate(c->extra) && filled < most)
        options->sack[filled++] = c->extra->dsack;
    const struct intervals *list = c->extra->out_of_order;
    const uint8_t first = filled;
    if (c->extra->sack_turn) {
        options->sack_count = fill_turn(c->extra, options, first, most);
        return;
    }
    if (list && list->count && filled < most)
        filled = fill_block(c->extra, options, first, filled, &list->item[list->recent]);
    for (uint32_t i = 0; list && i < list->earlier_count && filled < most; i++) {
        const struct interval *item = intervals_at(list, list->earlier[i]);
        filled = item ? fill_block(c->extra, options, first, filled, item) : filled;
    }
    for (uint32_t i = 0; list && i < list->count && filled < most; i++)
        filled = fill_block(c->extra, options, first, filled, &list->item[i]);
    options->sack_count = filled;
}

// ACKs leave after a batch of segments. One that brought more runs than the option has room for is told by several, as it would be if each
// segment were answered (RFC 5681 §4.2): what is never told the sender must take for lost. The first of them tells of a duplicate.
uint32_t tcp_sack_acks_before(const struct tcp_conn *c)
{
    if (!c->extra->sack_news || !c->extra->out_of_order)
        return 0;
    return (news_known(c->extra) - !sack_duplicate(c->extra)) / SACK_BLOCKS;
}

// RFC 2883 §4: a first block below the cumulative ACK, or inside the second, reports a duplicate; it is no news of what arrived.
bool tcp_sack_reports_duplicate(const struct tcp_segment *segment)
{
    if (!segment->options.sack_count)
        return false;
    const struct tcp_sack_block *first = &segment->options.sack[0], *second = &segment->options.sack[1];
    if (seq_lt(first->left, segment->ack))
        return true;
    return segment->options.sack_count > 1 && seq_le(second->left, first->left) && seq_le(first->right, second->right);
}

void tcp_sack_input(struct weir *weir, struct tcp_conn *c, const struct tcp_segment *segment, struct flight_delta *delta)
{
    if (!c->flow)
        return;
    for (uint32_t i = tcp_sack_reports_duplicate(segment); i < segment->options.sack_count; i++) {
        uint32_t left = segment->options.sack[i].left;
        const uint32_t right = segment->options.sack[i].right;
        if (!seq_lt(left, right) || !seq_le(right, c->snd.nxt) || !seq_lt(c->snd.una, right))
            continue;  // CVE-2019-11477 and relatives: no block is believed that lies outside what is outstanding
        left = seq_max(left, c->snd.una);
        flight_sacked(&weir->memory, &c->flow->flight, left, right, delta);
    }
}

bool tcp_sack_loss(struct tcp_conn *c, struct flight_delta *delta)
{
    if (c->flow->flight->sacked)
        flight_detect(c->flow->flight, c->mss, delta);
    return c->flow->flight->lost != 0;
}
