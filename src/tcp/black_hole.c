// SPDX-License-Identifier: BSD-2-Clause
// Path MTU black hole detection (RFC 4821 §7.7). Two timeouts in a row with a long segment at the front may mean that
// long ones do not arrive, and that nobody says so. Then the destination's path MTU becomes what nearly every path
// carries, and the connection searches upward from there (§7.3): a probe is a longer segment of data that is in flight
// already, so that its loss costs nothing. The peer's report of the duplicate (RFC 2883) tells that it has arrived.
// What is found, other connections to the destination use, too. After ten minutes (ip/pmtu.c) the search begins anew.
#include "tcp/black_hole.h"

#include "ip/icmp.h"
#include "tcp/plan.h"

#define TIMEOUTS 2u      // in a row
#define BASE_MTU4 1024u  // RFC 4821 §7.2
#define LEAST_MTU4 576u  // RFC 791: what every host takes
#define BASE_MTU6 1280u  // RFC 8200 §5
#define PROBES 3u        // of a size, before it is taken for too long (RFC 8899 §5.1.2: MAX_PROBES)
#define STEP 8u          // bytes; what is less is not worth a probe
#define REORDERING 3u    // segments after a probe that are acknowledged without it: it is lost

// 0: what is in use now is no longer than what every path carries.
static uint16_t shorter(struct weir_addr remote, uint16_t mtu)
{
    if (!weir_addr_is_v4(remote))
        return mtu > BASE_MTU6 ? BASE_MTU6 : 0;
    return mtu > BASE_MTU4 ? BASE_MTU4 : mtu > LEAST_MTU4 ? LEAST_MTU4 : 0;
}

// --- the search ------------------------------------------------------------------------------------------------------

static bool finished(const struct tcp_mtu_search *s) { return s->high < s->low + STEP; }

// A peer without SACK reports no duplicates.
static void search_attend(struct tcp_conn *c)
{
    tcp_attend(c, ATTEND_MTU_SEARCH, !finished(&c->mtu_search) && c->flags & TCP_USE_SACK);
}

// Between sizes that arrive and those that may. The first that is tried is the longest: the path may be as it was.
static void search_between(struct tcp_conn *c, uint16_t low, uint16_t high)
{
    const uint32_t headers = (uint32_t)low - tcp_mss_for_mtu(c->remote.addr, low),
                   peer_takes = headers + (c->user_mss ? min_u32(c->user_mss, c->remote.mss) : c->remote.mss);
    c->mtu_search = (struct tcp_mtu_search){.low = low, .high = (uint16_t)min_u32(high, peer_takes)};
    c->mtu_search.next = c->mtu_search.high;
    search_attend(c);
}

// A probe has told. What is found at the end holds for the destination.
static void search_on(struct weir *weir, struct tcp_conn *c, uint16_t low, uint16_t high)
{
    struct tcp_mtu_search *const s = &c->mtu_search;
    *s = (struct tcp_mtu_search){.low = low, .high = high, .next = (uint16_t)((low + high + 1) / 2), .path = s->path};
    search_attend(c);
    pmtu_raise(weir, c->remote.addr, low);
    if (finished(s) && c->path.mtu > low)
        pmtu_set(weir, c->remote.addr, low);
    if (tcp_path_refresh(weir, c))
        tcp_mss_update(c);
}

uint16_t tcp_mtu_search_path(struct tcp_conn *c, uint16_t mtu)
{
    struct tcp_mtu_search *const s = &c->mtu_search;
    if (!s->low)
        return mtu;
    if (mtu < s->low)  // a router has said so, or another connection found out
        search_between(c, mtu, mtu);
    else if (mtu > s->low && mtu != s->path)  // it is forgotten (ip/pmtu.c), or another has found more
        search_between(c, s->low, mtu);
    s->path = mtu;
    return s->low;
}

// Where nothing else is under way, so that the report can be of nothing else.
uint32_t tcp_mtu_search_due(const struct tcp_conn *c)
{
    const struct tcp_mtu_search *const s = &c->mtu_search;
    if (c->attention != ATTEND_MTU_SEARCH || s->probing || !c->flow)
        return 0;
    const uint32_t bytes = c->mss + (uint32_t)(s->next - s->low);
    return c->snd.nxt - c->snd.una >= bytes ? bytes : 0;
}

void tcp_mtu_search_left(struct tcp_conn *c, const struct tcp_plan *plan)
{
    struct tcp_mtu_search *const s = &c->mtu_search;
    const bool whole = plan->payload == c->mss + (uint32_t)(s->next - s->low);
    s->start = plan->seq;
    s->end = plan->end;
    s->after = c->snd.nxt;
    s->probing = true;
    if (!whole)  // its data lies in too many pieces for the driver
        search_between(c, s->low, s->low);
}

bool tcp_mtu_search_ack(struct weir *weir, struct tcp_conn *c, const struct tcp_segment *segment)
{
    struct tcp_mtu_search *const s = &c->mtu_search;
    const struct tcp_sack_block *const block = &segment->options.sack[0];
    if (!s->probing)
        return false;
    if (segment->options.sack_count && block->left == s->start && block->right == s->end) {
        search_on(weir, c, s->next, s->high);
        return true;
    }
    if (seq_le(s->after + REORDERING * c->mss, segment->ack)) {
        s->probing = false;
        if (++s->failed == PROBES)
            search_on(weir, c, s->low, (uint16_t)(s->next - 1));
    }
    return false;
}

// --- detection -------------------------------------------------------------------------------------------------------

void tcp_black_hole_timeout(struct weir *weir, struct tcp_conn *c)
{
    c->mtu_search.probing = false;
    if (!weir->tcp.black_hole_detection || c->backoff < TIMEOUTS || !tcp_path_refresh(weir, c))
        return;
    const uint16_t used = tcp_mtu_search_path(c, c->path.mtu), mtu = shorter(c->remote.addr, used);
    // One that was short was lost for another reason.
    if (!mtu || min_u32(c->mss, c->snd.nxt - c->snd.una) <= tcp_mss_for_mtu(c->remote.addr, mtu))
        return;
    search_between(c, mtu, used);
    pmtu_set(weir, c->remote.addr, mtu);
    (void)tcp_path_refresh(weir, c);
}
