// SPDX-License-Identifier: BSD-2-Clause
// Timestamps and protection against wrapped sequence numbers (RFC 7323).
#include "tcp/internal.h"
#include "tcp/sack.h"

#define TS_RECENT_OUTDATED_MS (24u * 24 * 3600 * 1000)  // §5.5: after 24 days the clock may have wrapped half round

static bool outdated(const struct weir *weir, const struct tcp_conn *c)
{
    return weir->now_ms - c->last_received_ms > TS_RECENT_OUTDATED_MS;
}

// §5.3, R1 and R2. A segment without the option is dropped (§3.2), except RST.
enum tcp_verdict tcp_paws(struct weir *weir, struct tcp_conn *c, const struct tcp_segment *segment)
{
    if (segment->flags & TCP_RST)
        return TCP_NEXT;
    if (!(segment->options.seen & TCP_SEEN_TIMESTAMPS)) {
        count(weir, WEIR_COUNT_TCP_PAWS);
        return TCP_DROP;
    }
    if (!seq_lt(segment->options.ts_value, c->ts_recent) || outdated(weir, c))
        return TCP_NEXT;
    count(weir, WEIR_COUNT_TCP_PAWS);
    if (segment->length && seq_le(segment->seq + segment->length, c->rcv.nxt))
        tcp_dsack_owe(weir, c, segment->seq, segment->seq + segment->length);
    return segment->length ? TCP_DROP_ACK : TCP_CHALLENGE;
}

// §4.3: only a segment that reaches back to the last ACK sent may move TS.Recent; or any acceptable one, when that says
// nothing any more.
void tcp_timestamps_update(const struct weir *weir, struct tcp_conn *c, const struct tcp_segment *segment)
{
    if (!(c->flags & TCP_USE_TIMESTAMPS) || !(segment->options.seen & TCP_SEEN_TIMESTAMPS) ||
        (seq_lt(c->rcv.acked, segment->seq) && !outdated(weir, c)))
        return;
    c->ts_recent = segment->options.ts_value;
}

// A round trip by the peer's echo, for ACKs of retransmitted data. An echo of something we never sent says nothing.
uint32_t tcp_timestamps_rtt(const struct weir *weir, const struct tcp_conn *c, const struct tcp_segment *segment)
{
    if (!(c->flags & TCP_USE_TIMESTAMPS) || !(segment->options.seen & TCP_SEEN_TIMESTAMPS))
        return 0;
    const uint32_t elapsed_ms = weir->now_ms + c->ts_offset - segment->options.ts_echo;
    if (elapsed_ms > 60000)
        return 0;
    return elapsed_ms ? elapsed_ms * 1000 : 1000;
}
