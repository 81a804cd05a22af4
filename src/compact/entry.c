// SPDX-License-Identifier: BSD-2-Clause
// Handshakes under way and TIME-WAIT: connections that need no queues, as entries of 32 bytes. When all are taken the
// one that would end first makes room (RFC 4987 §3.3 for handshakes).
#include "compact/compact.h"
#include "wire/tcp.h"

#define SYN_ACK_TRIES 5u  // sent again after 1, 2, 4, 8 and 16 s
#define TIME_WAIT_US (2u * WEIR_CFG_TCP_MSL_MS * 1000u)
#define MSS_MIN 48u  // a smaller MSS option is taken as this (CVE-2019-11479)

LOCAL struct listener *listener_find(struct weir *weir, const uint8_t port[2])
{
    for (struct listener *listener = weir->listeners; listener < weir->listeners + LISTENERS; listener++)
        if (listener->socket.state == WEIR_TCP_LISTEN && native16(listener->port) == native16(port))
            return listener;
    return NULL;
}

LOCAL struct entry *entry_find(struct weir *weir, const struct peer *peer)
{
    for (struct entry *entry = weir->entries; entry < weir->entries + HALF_OPENS + TIME_WAITS; entry++)
        if (entry->state && peer_same(&entry->peer, peer))
            return entry;
    return NULL;
}

// A free one of these, or the one that ends first.
static COLD struct entry *entry_take(struct weir *weir, struct entry *table, uint32_t count)
{
    struct entry *best = table;
    weir->entries_live = true;
    for (struct entry *entry = table; entry < table + count; entry++) {
        if (!entry->state)
            return entry;
        if (seq_lt(entry->due - now(weir), best->due - now(weir)))
            best = entry;
    }
    return best;
}

// What the SYN's MSS option says (RFC 9293 §3.2), within reason.
static uint16_t mss_of(const struct weir *weir, const struct segment *segment)
{
    const uint8_t *option = segment->options, *end = segment->frame->slices[0].data + segment->offset;
    uint32_t mss = MSS_DEFAULT;
    while (option < end && *option != TCP_OPTION_END) {
        if (*option == TCP_OPTION_NOP) {
            option++;
            continue;
        }
        if (end - option < 2 || option[1] < 2 || option[1] > end - option)
            break;
        if (option[0] == TCP_OPTION_MSS && option[1] == 4)
            mss = max_u32(get16(option + 2), MSS_MIN);
        option += option[1];
    }
    return (uint16_t)min_u32(mss, min_u32(WEIR_CFG_TCP_MSS_MAX, weir->netif->mtu - (IP_BYTES + TCP_BYTES)));
}

LOCAL bool listener_input(struct weir *weir, const struct segment *segment)
{
    if ((segment->flags & (TCP_RST | TCP_ACK | TCP_SYN)) != TCP_SYN || !listener_find(weir, segment->peer.ports + 2))
        return false;
    struct entry *entry = entry_take(weir, weir->entries, HALF_OPENS);
    entry->peer = segment->peer;
    entry->peer.mss = mss_of(weir, segment);
    entry->sequence = isn(weir, &entry->peer) + 1;
    entry->expected = segment->sequence + 1;
    entry->state = ENTRY_HALF_OPEN;
    entry->tries = 0;
    entry->due = now(weir) + RTO_INITIAL_US;
    entry->send_now = TCP_SYN | TCP_ACK;
    return true;
}

// RFC 9293 §3.10.7.4 for TIME-WAIT; a SYN beyond all that was received may open the pair of ends anew (RFC 1122
// §4.2.2.13, (c)).
static bool time_wait_input(struct weir *weir, struct entry *entry, const struct segment *segment)
{
    if ((segment->flags & (TCP_SYN | TCP_ACK)) == TCP_SYN && seq_lt(entry->expected, segment->sequence)) {
        entry->state = ENTRY_FREE;
        return listener_input(weir, segment);
    }
    const uint32_t space = segment_space(segment);
    if (space)
        entry->send_now = TCP_ACK;
    if (segment->sequence + space == entry->expected)  // its FIN again, our ACK was lost; nothing else keeps the entry
        entry->due = now(weir) + TIME_WAIT_US;
    return true;
}

// RFC 9293 §3.10.7.4 for SYN-RECEIVED, RFC 5961 for its RST and SYN.
static bool half_open_input(struct weir *weir, struct entry *entry, struct segment *segment)
{
    const uint32_t ahead = segment->sequence - entry->expected;
    if (segment->flags & TCP_SYN || ahead >= RECEIVE_BYTES) {
        // the same SYN: our answer was lost
        entry->send_now |= TCP_ACK | (ahead == UINT32_MAX ? segment->flags & TCP_SYN : 0);
        return true;
    }
    if (!(segment->flags & TCP_ACK))
        return true;
    if (segment->ack != entry->sequence)
        return false;
    struct listener *listener = listener_find(weir, entry->peer.ports + 2);
    struct conn *c = listener ? conn_new(weir, entry) : NULL;
    if (!c) {  // as if it were lost: the SYN-ACK will be sent again as long as the peer answers it
        entry->tries = 1;
        return true;
    }
    listener->socket.events |= WEIR_READABLE;
    entry->state = ENTRY_FREE;
    c->update_sequence = segment->sequence;
    conn_input(weir, c, segment);
    return true;
}

LOCAL bool entry_input(struct weir *weir, struct entry *entry, struct segment *segment)
{
    if (segment->flags & TCP_RST) {
        if (segment->sequence == entry->expected)
            entry->state = ENTRY_FREE;
        return true;
    }
    return entry->state == ENTRY_TIME_WAIT ? time_wait_input(weir, entry, segment)
                                           : half_open_input(weir, entry, segment);
}

LOCAL void entry_time_wait(struct weir *weir, const struct conn *c)
{
    struct entry *entry = entry_take(weir, weir->entries + HALF_OPENS, TIME_WAITS);
    entry->peer = c->peer;
    entry->sequence = c->max;
    entry->expected = c->expected;
    entry->state = ENTRY_TIME_WAIT;
    entry->send_now = TCP_ACK;  // of its FIN
    entry->due = now(weir) + TIME_WAIT_US;
}

static void entry_send(struct weir *weir, struct entry *entry)
{
    uint8_t *head = weir->outbox + 2;
    const uint32_t sequence = entry->sequence - (entry->send_now & TCP_SYN ? 1 : 0);
    const uint32_t bytes = segment_head(weir, head, &entry->peer, sequence, entry->expected,
                                        CONTROL(entry->send_now, RECEIVE_BYTES), 0, 0);
    const struct weir_slice slice = {head, bytes};
    if (frame_send(weir, &slice, 1, bytes))
        entry->send_now = 0;
}

LOCAL uint32_t entries_turn(struct weir *weir)
{
    uint32_t wait_us = WAIT_FOREVER;
    if (!weir->entries_live)
        return wait_us;
    for (struct entry *entry = weir->entries; entry < weir->entries + HALF_OPENS + TIME_WAITS; entry++) {
        if (entry->state && seq_le(entry->due, now(weir))) {
            if (entry->state == ENTRY_TIME_WAIT || entry->tries == SYN_ACK_TRIES) {
                entry->state = ENTRY_FREE;
            } else {
                entry->send_now = TCP_SYN | TCP_ACK;
                entry->due = now(weir) + (RTO_INITIAL_US << ++entry->tries);
            }
        }
        if (!entry->state)
            continue;
        if (entry->send_now && frame_may_send(weir) && local_ready(weir->netif, &entry->peer))
            entry_send(weir, entry);
        wait_us = min_u32(wait_us, entry->due - now(weir));
    }
    weir->entries_live = wait_us != WAIT_FOREVER;
    return wait_us;
}
