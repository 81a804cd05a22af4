// SPDX-License-Identifier: BSD-2-Clause
// SACK, both ways: what we report of out-of-order data (RFC 2018 §4), and what the peer reports to us. Duplicates are
// dsack.c's.
#include "tcp/sack.h"

#include "tcp/output.h"

#define BLOCKS 3u  // as many as fit beside timestamps; of them, what the option of RFC 9768 takes

// ACKs leave after a batch of segments. What the next one has no room for is not told by those after it: one that tells
// of all so far goes before it, as if each segment were answered (RFC 5681 §4.2). What is never told, or after what
// came later, the sender must take for lost. A peer that knows no SACK counts the ACKs themselves.
void tcp_sack_make_room(struct weir *weir, struct tcp_conn *c, uint32_t runs)
{
    const struct tcp_extra *extra = c->extra;
    if (!extra || tcp_realtime_on(c))  // there an ACK may end what comes in (realtime.c)
        return;
    const uint32_t taken = extra->pending_sacks + 2u * tcp_dsack_owed(extra) + tcp_ecn_accurate(c);
    if (c->flags & TCP_USE_SACK ? taken + runs <= BLOCKS : !extra->pending_sacks)
        return;
    tcp_output_ack_before(weir, c);
    c->flags |= TCP_ACK_NOW;
}

// The option as it is filled.
struct blocks {
    const struct tcp_extra *extra;
    struct tcp_sack_block *block;
    uint8_t first, count, most;  // a duplicate stands before the first
    bool fin_ahead;
};

// Adds a run, if there is one, unless there is no room or it is told already. A FIN that came right behind it belongs
// to it: often it is the last that was sent, and shows the sender what is lost before it.
static void tell(struct blocks *b, const struct interval *run)
{
    if (!run || b->count == b->most)
        return;
    for (uint8_t i = b->first; i < b->count; i++)
        if (b->block[i].left == run->start)
            return;
    b->block[b->count++] = (struct tcp_sack_block){run->start, run->end + (b->fin_ahead && b->extra->fin == run->end)};
}

// First a duplicate, with what is held of it (RFC 2883 §4), then the block that holds the newest data, then those that
// were newest before it, so that each is told in several ACKs and the loss of some does no harm (RFC 2018 §4), then
// others, as far as there is room.
void tcp_sack_fill(const struct tcp_conn *c, struct tcp_options *options, uint32_t room)
{
    const struct tcp_extra *extra = c->extra;
    const struct intervals *list = extra->out_of_order;
    struct blocks b = {.extra = extra,
                       .block = options->sack,
                       .fin_ahead = c->attention & ATTEND_FIN_AHEAD,
                       .most = (uint8_t)(room < 12 ? 0 : min_u32(4, (room - 4) / 8))};
    if (b.most)
        b.first = b.count = tcp_dsack_fill(extra, options->sack);
    if (b.first && list)
        tell(&b, intervals_at(list, options->sack[0].left));
    if (list && list->count)
        tell(&b, &list->item[list->recent]);
    for (uint32_t i = 0; list && i < list->earlier_count; i++)
        tell(&b, intervals_at(list, list->earlier[i]));
    for (uint32_t i = 0; list && i < list->count && b.count < b.most; i++)
        tell(&b, &list->item[i]);
    options->sack_count = b.count;
}

void tcp_sack_input(struct weir *weir, struct tcp_conn *c, const struct tcp_segment *segment,
                    struct flight_delta *delta)
{
    if (!c->flow)
        return;
    for (uint32_t i = tcp_dsack_reported(segment); i < segment->options.sack_count; i++) {
        uint32_t left = segment->options.sack[i].left;
        const uint32_t right = segment->options.sack[i].right;
        if (!tcp_sack_sane(&segment->options.sack[i]) || !seq_in(right, c->snd.una + 1, c->snd.nxt + 1))
            continue;  // CVE-2019-11477 and relatives: no block is believed that lies outside what is outstanding
        left = seq_max(left, c->snd.una);
        /*@ assert outstanding: seq_off(c->snd.una, left) < seq_off(c->snd.una, right) <=
              seq_off(c->snd.una, c->snd.nxt); */
        flight_sacked(&weir->memory, &c->flow->flight, left, right, delta);
    }
}

bool tcp_sack_loss(struct tcp_conn *c, struct flight_delta *delta)
{
    if (c->flow->flight->sacked)
        flight_detect(c->flow->flight, c->mss, delta);
    return c->flow->flight->lost != 0;
}
