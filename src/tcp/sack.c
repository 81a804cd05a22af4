// SPDX-License-Identifier: BSD-2-Clause
// SACK, both ways: what we report of out-of-order data (RFC 2018 §4) and duplicates (RFC 2883), and what the peer reports to us.
#include "tcp/sack.h"

void tcp_sack_duplicate(struct weir *weir, struct tcp_conn *c, uint32_t left, uint32_t right)
{
    if (c->flags & TCP_USE_SACK && tcp_conn_extra(weir, c))
        c->extra->dsack = (struct tcp_sack_block){left, right};
}

// --- news --------------------------------------------------------------------------------------------------------------------------

// An ACK leaves after a batch of segments. What it has no room for is told by more of them, as it would be if each segment were answered
// (RFC 5681 §4.2): what is never told the sender must take for lost. A peer that knows no SACK counts the ACKs themselves.
void tcp_sack_news(struct tcp_conn *c, uint32_t start)
{
    struct tcp_extra *extra = c->extra;
    struct intervals *list = extra->out_of_order;
    const struct interval *run = &list->item[list->recent];
    uint32_t *const end = tcp_news(list) + extra->sack_news;
    if (c->flags & TCP_USE_SACK && extra->sack_news && end[-1] - run->start < run->end - run->start)
        return;  // it will be told with what came just before
    if (extra->sack_news < tcp_news_most(list)) {
        *end = start;
        extra->sack_news++;
    }
}

void tcp_sack_news_move(const struct tcp_conn *c, struct intervals *to)
{
    memcpy(tcp_news(to), tcp_news(c->extra->out_of_order), c->extra->sack_news * sizeof(uint32_t));
}

void tcp_sack_told(struct tcp_conn *c)
{
    struct tcp_extra *extra = c->extra;
    extra->dsack.left = extra->dsack.right;
    extra->sack_told = c->flags & TCP_USE_SACK ? extra->sack_telling : (uint8_t)(extra->sack_told + 1);
    if (extra->sack_told < extra->sack_news)
        c->flags |= TCP_ACK_NOW;
    else
        tcp_news_none(extra);
}

// --- the option --------------------------------------------------------------------------------------------------------------------

// The option as it is filled.
struct blocks {
    struct tcp_extra *extra;
    struct tcp_sack_block *block;
    uint8_t first, count, most;  // a duplicate stands before the first
};

// Adds a run, if there is one, unless there is no room or it is told already. A FIN that came right behind it belongs to it: often it is
// the last that was sent, and shows the sender what is lost before it.
static void tell(struct blocks *b, const struct interval *run)
{
    if (!run || b->count == b->most)
        return;
    for (uint8_t i = b->first; i < b->count; i++)
        if (b->block[i].left == run->start)
            return;
    b->block[b->count++] = (struct tcp_sack_block){run->start, run->end + (b->extra->fin_ahead && b->extra->fin == run->end)};
}

// What came first is told first, and none of what came later with it, or it would seem to have been overtaken; of what one ACK tells, the
// newest is first (RFC 2018 §4). What has been acknowledged since is not told at all.
static void tell_news(struct blocks *b)
{
    struct intervals *list = b->extra->out_of_order;
    uint8_t low = b->count, next = b->extra->sack_told;
    for (; next < b->extra->sack_news; next++) {
        const struct interval *run = intervals_at(list, tcp_news(list)[next]);
        if (run && b->count == b->most)
            break;
        tell(b, run);
    }
    b->extra->sack_telling = next;
    for (uint8_t high = b->count; low + 1 < high; low++) {
        const struct tcp_sack_block block = b->block[--high];
        b->block[high] = b->block[low];
        b->block[low] = block;
    }
}

// What was newest before, so that each block is told in several ACKs and the loss of some does no harm (RFC 2018 §4), then the rest.
static void tell_others(struct blocks *b)
{
    const struct intervals *list = b->extra->out_of_order;
    if (list->count)
        tell(b, &list->item[list->recent]);
    for (uint32_t i = 0; i < list->earlier_count; i++)
        tell(b, intervals_at(list, list->earlier[i]));
    for (uint32_t i = 0; i < list->count && b->count < b->most; i++)
        tell(b, &list->item[i]);
}

// First a duplicate, with what is held of it (RFC 2883 §4), then the news, then others, as far as there is room.
void tcp_sack_fill(const struct tcp_conn *c, struct tcp_options *options, uint32_t room)
{
    struct tcp_extra *extra = c->extra;
    struct blocks b = {.extra = extra, .block = options->sack, .most = (uint8_t)(room < 12 ? 0 : min_u32(4, (room - 4) / 8))};
    if (extra->dsack.left != extra->dsack.right && b.most)
        options->sack[b.count++] = extra->dsack;
    b.first = b.count;
    if (extra->out_of_order) {
        if (b.first)
            tell(&b, intervals_at(extra->out_of_order, extra->dsack.left));
        tell_news(&b);
        if (extra->sack_telling == extra->sack_news)
            tell_others(&b);
    }
    options->sack_count = b.count;
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
