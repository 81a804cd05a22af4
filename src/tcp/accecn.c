// SPDX-License-Identifier: BSD-2-Clause
// Accurate ECN feedback (RFC 9768): counting what comes marked, telling it, and reading what the peer tells. Nothing
// found wrong here ever ends a connection: it sends without ECT from then on, or believes the option, or the feedback,
// no more.
#include "tcp/internal.h"
#include "tcp/sack.h"

#define ACCECN_STRIKES 3u     // §3.2.3.2.5: bytes marked and no packets, so often in a row: the flags are mangled
#define ACCECN_ALL_MARKED 4u  // §3.2.2.3: every packet of so many rounds marked: something marks all
#define ACCECN_TESTED 255u
#define ACCECN_LOST_OPTIONS 3u  // §3.2.3.2.2: so many of our ACKs with an option, one after another, did not arrive
#define ACCECN_ACE_WRAP 8u

bool accecn_begin(struct weir *weir, struct tcp_conn *c)
{
    if (!tcp_conn_extra(weir, c))
        return false;
    struct accecn *a = &c->extra->accecn;
    memset(a, 0, sizeof *a);
    a->r.e0b = a->s.e0b = a->told.e0b = ACCECN_E0B_FIRST;
    a->r.e1b = a->s.e1b = a->told.e1b = ACCECN_E1B_FIRST;
    a->first_data = true;
    return true;
}

// Something on the path, or the peer, spoils the field: nothing of ours is sent as ECT any more (§3.2.2.3). What comes
// is counted as before.
static void mangled(struct weir *weir, struct tcp_conn *c)
{
    count_add(weir, WEIR_COUNT_TCP_ECN_MANGLED, (c->tos & TCP_ECN_BITS) != 0);
    c->tos &= (uint8_t)~TCP_ECN_BITS;
}

// What the peer says of marks is not believed any more.
static void go_deaf(struct weir *weir, struct tcp_conn *c)
{
    mangled(weir, c);
    c->extra->accecn.deaf = true;
}

// --- handshake -------------------------------------------------------------------------------------------------------

// What our SYN or SYN-ACK, which went as Not-ECT, came as. Anything else is an invalid change; of CE, congestion all
// the same.
static bool judge_codepoint(struct weir *weir, struct tcp_conn *c, uint32_t ace)
{
    if (ace == accecn_shake(TCP_ECT1) || ace == accecn_shake(TCP_ECT0) || ace == accecn_shake(TCP_CE))
        mangled(weir, c);
    return ace == accecn_shake(TCP_CE);
}

// Table 4.
void accecn_handshake_done(struct weir *weir, struct tcp_conn *c, const struct tcp_segment *ack)
{
    const uint32_t ace = accecn_ace(ack);
    if (!ace) {
        go_deaf(weir, c);
    } else if (judge_codepoint(weir, c, ace)) {
        c->extra->ce_delivered = 1;
        if (tcp_conn_attach(weir, c))
            tcp_ecn_react(weir, c, 0);
    }
}

void accecn_agreed(struct weir *weir, struct tcp_conn *c, const struct packet *packet,
                   const struct tcp_segment *segment)
{
    struct accecn *a = &c->extra->accecn;
    a->last_codepoint = packet->tos & TCP_ECN_BITS;
    if (!(segment->flags & TCP_ACK))
        return;
    a->syn_marked = judge_codepoint(weir, c, accecn_ace(segment));  // answered when the connection has its window
    a->shake = (uint8_t)accecn_shake(packet->tos);
    accecn_option_heard(weir, c, &segment->options);
}

void accecn_established(struct weir *weir, struct tcp_conn *c)
{
    if (c->extra->accecn.syn_marked)
        tcp_ecn_react(weir, c, 0);
}

void accecn_syn_ack_again(struct tcp_conn *c, const struct packet *packet)
{
    c->extra->accecn.shake = (uint8_t)accecn_shake(packet->tos);
}

bool accecn_shake_due(const struct tcp_conn *c) { return c->extra->accecn.shake && !tcp_sack_pending(c); }

// §3.2.3.2.4: counters that do not begin with zero come as zeros: something cleared them.
void accecn_option_heard(struct weir *weir, struct tcp_conn *c, const struct tcp_options *options)
{
    const struct tcp_accecn_option *o = &options->accecn;
    if (!(options->seen & TCP_SEEN_ACCECN) ||
        !((tcp_accecn_has_ect0(o) && !o->ect0) || (tcp_accecn_has_ect1(o) && !o->ect1)))
        return;
    c->extra->accecn.options_ignored = true;
    count(weir, WEIR_COUNT_TCP_ACCECN_OPTION_BAD);
}

// --- telling ---------------------------------------------------------------------------------------------------------

uint32_t accecn_next_ace(const struct tcp_conn *c) { return (ACCECN_CEP_FIRST + c->extra->ce_received) & 7; }

// §3.2.2.1: the bare ACK of the SYN-ACK tells its codepoint; every other segment the counter.
static bool shakes(const struct tcp_conn *c, const struct tcp_segment *segment)
{
    return c->extra->accecn.shake && !segment->length && !(segment->flags & TCP_FIN) && !segment->options.sack_count;
}

void accecn_stamp(struct tcp_conn *c, struct tcp_segment *segment)
{
    if (segment->flags & TCP_SYN)
        accecn_set_ace(segment, accecn_shake(c->extra->accecn.last_codepoint));
    else
        accecn_set_ace(segment, shakes(c, segment) ? c->extra->accecn.shake : accecn_next_ace(c));
}

void accecn_left(struct tcp_conn *c, const struct tcp_segment *segment, bool again)
{
    struct accecn *a = &c->extra->accecn;
    if (segment->flags & TCP_SYN)
        return;
    a->unacked_ce = 0;
    a->option_left = (segment->options.seen & TCP_SEEN_ACCECN) != 0;
    if (shakes(c, segment))
        a->shake = 0;
    a->first_data &= !segment->length || again;
    if (!a->option_left)
        return;
    a->told.e0b = a->r.e0b;
    a->told.ceb = a->r.ceb;
    a->told.e1b = a->r.e1b;
}

// How many fields, in the order of `kind`, hold every counter that is not `but`.
static uint32_t fields_for(uint32_t kind, const struct accecn *a, uint32_t e0b, uint32_t ceb, uint32_t e1b)
{
    const bool first = kind == TCP_OPTION_ACCECN_0 ? a->r.e0b != e0b : a->r.e1b != e1b;
    const bool last = kind == TCP_OPTION_ACCECN_0 ? a->r.e1b != e1b : a->r.e0b != e0b;
    return last ? 3 : a->r.ceb != ceb ? 2 : first;
}

// §3.2.3.3, the simple scheme: an option with every counter that has ever moved, whenever one has moved since the last;
// where room is scarce, at least those that moved since; and where SACK blocks wait, two of them go before it.
uint32_t accecn_option(const struct tcp_conn *c, uint32_t payload, bool again, struct tcp_options *options)
{
    const struct accecn *a = &c->extra->accecn;
    const bool handshake = a->shake || (a->first_data && payload);
    const uint32_t kind =
        a->r.e1b != ACCECN_E1B_FIRST && a->r.e0b == ACCECN_E0B_FIRST ? TCP_OPTION_ACCECN_1 : TCP_OPTION_ACCECN_0;
    const uint32_t news = fields_for(kind, a, a->told.e0b, a->told.ceb, a->told.e1b);
    if (again || a->options_off || !(news || handshake))
        return 0;
    uint32_t room = TCP_OPTIONS_MAX - (c->flags & TCP_USE_TIMESTAMPS ? TCP_TIMESTAMPS_ALIGNED_BYTES : 0) -
                    (tcp_sack_pending(c) ? 20u : 0);
    if (payload)
        room = min_u32(room, c->mss / 4u);  // of the smallest segments, data has the most
    uint32_t fields = handshake ? 3 : fields_for(kind, a, ACCECN_E0B_FIRST, 0, ACCECN_E1B_FIRST);
    while (fields > news && tcp_accecn_bytes(fields) > room)
        fields--;
    if (tcp_accecn_bytes(fields) > room)
        return 0;
    options->seen |= TCP_SEEN_ACCECN;
    options->accecn = (struct tcp_accecn_option){.kind = (uint8_t)kind,
                                                 .fields = (uint8_t)fields,
                                                 .ect0 = a->r.e0b & TCP_ACCECN_MASK,
                                                 .ce = a->r.ceb & TCP_ACCECN_MASK,
                                                 .ect1 = a->r.e1b & TCP_ACCECN_MASK};
    return tcp_accecn_bytes(fields);
}

// --- counting --------------------------------------------------------------------------------------------------------

// §3.2, and when marks are told at once (§3.2.2.5.1): the first after others, and each second, before the counter's
// three bits go round.
void accecn_input(struct weir *weir, struct tcp_conn *c, const struct packet *packet, const struct tcp_segment *segment)
{
    struct accecn *a = &c->extra->accecn;
    const uint32_t codepoint = packet->tos & TCP_ECN_BITS, packets = max_u32(packet->frame->segments, 1);
    const bool begins = codepoint == TCP_CE && a->last_codepoint != TCP_CE;
    a->last_codepoint = (uint8_t)codepoint;
    if (segment->length && segment->seq == c->rcv.nxt)
        a->lost_options = 0;
    if (codepoint == TCP_ECT0)
        a->r.e0b += segment->length;
    if (codepoint == TCP_ECT1)
        a->r.e1b += segment->length;
    if (codepoint != TCP_CE)
        return;
    a->r.ceb += segment->length;
    c->extra->ce_received += packets;
    a->unacked_ce = (uint8_t)min_u32(a->unacked_ce + packets, UINT8_MAX);
    count(weir, WEIR_COUNT_TCP_CE_RECEIVED);
    const bool unacked_data = segment->length || c->rcv.nxt != c->rcv.acked;
    if ((begins && segment->length) || a->unacked_ce >= (unacked_data ? 2u : 3u))
        tcp_ack_now(weir, c);
}

void accecn_duplicate(struct weir *weir, struct tcp_conn *c)
{
    struct accecn *a = &c->extra->accecn;
    if (!a->option_left || a->options_off || ++a->lost_options < ACCECN_LOST_OPTIONS)
        return;
    a->options_off = true;
    count(weir, WEIR_COUNT_TCP_ACCECN_OPTION_LOST);
}

// --- reading ---------------------------------------------------------------------------------------------------------

// What the peer's option adds. false: its counters go back, so the ACK was overtaken by a newer one.
static bool take_option(struct accecn *a, const struct tcp_accecn_option *o, uint32_t *marked)
{
    // left out: it has not moved
    const uint32_t gained = tcp_accecn_has_ce(o) ? (o->ce - a->s.ceb) & TCP_ACCECN_MASK : 0;
    if (gained > TCP_ACCECN_MASK / 2)
        return false;
    *marked = gained;
    a->s.ceb = (a->s.ceb + gained) & TCP_ACCECN_MASK;
    if (tcp_accecn_has_ect0(o))
        a->s.e0b = o->ect0;
    if (tcp_accecn_has_ect1(o))
        a->s.e1b = o->ect1;
    return true;
}

// Packets marked since the last ACK, of which the ACE field tells the remainder by eight. What the ACK covers bounds
// them; the bytes that an option tells need so many packets at least; without one, the most there can be (§3.2.2.5.2,
// appendix A.2).
static uint32_t packets_marked(uint32_t told, uint32_t covered, uint32_t needed, bool option)
{
    if (told >= covered || covered < ACCECN_ACE_WRAP)
        return told;
    const uint32_t most = covered - ((covered - told) & (ACCECN_ACE_WRAP - 1));
    if (!option)
        return most;
    const uint32_t least =
        needed > told ? told + ((needed - told + ACCECN_ACE_WRAP - 1) & ~(ACCECN_ACE_WRAP - 1)) : told;
    return min_u32(least, most);
}

// Feedback that cannot be: bytes marked in no packet (§3.2.3.2.5). Bytes alone say little where segments are small,
// hence three strikes.
static void judge_feedback(struct weir *weir, struct tcp_conn *c, uint32_t packets, uint32_t bytes)
{
    struct accecn *a = &c->extra->accecn;
    if (packets)
        a->strikes = 0;
    else if (bytes && ++a->strikes == ACCECN_STRIKES)
        mangled(weir, c);
}

// The bytes that these marks come to; what was estimated before an option came is not told twice.
static uint32_t bytes_marked(struct accecn *a, uint32_t estimate, bool option, uint32_t told)
{
    if (!option) {
        a->estimated += estimate;
        return estimate;
    }
    const uint32_t news = told - min_u32(told, a->estimated);
    a->estimated = 0;
    return news;
}

bool accecn_ack(struct weir *weir, struct tcp_conn *c, const struct tcp_segment *segment, struct flight_delta *delta)
{
    struct accecn *a = &c->extra->accecn;
    const uint32_t ace = accecn_ace(segment);
    const bool newer = c->flags & TCP_USE_TIMESTAMPS && tcp_timestamp_newer(c, segment->options.ts_value);
    if (!delta->delivered && !newer)
        return false;  // it may have been overtaken (appendix A.1); the next that brings something tells the same
    if (!a->heard && !ace)
        go_deaf(weir, c);  // §3.2.2.4
    a->heard = true;
    uint32_t told_bytes = 0;
    const bool option = segment->options.seen & TCP_SEEN_ACCECN && !a->options_ignored;
    if (option && !take_option(a, &segment->options.accecn, &told_bytes))
        return false;
    const uint32_t covered = (delta->delivered + c->mss - 1) / c->mss;
    const uint32_t told = (ace - ACCECN_CEP_FIRST - c->extra->ce_delivered) & (ACCECN_ACE_WRAP - 1);
    const uint32_t packets = packets_marked(told, covered, (told_bytes + c->mss - 1) / c->mss, option);
    c->extra->ce_delivered += packets;
    if (covered < ACCECN_ACE_WRAP)
        judge_feedback(weir, c, packets, told_bytes);
    if (packets < covered)
        a->all_marked = ACCECN_TESTED;
    if (a->deaf)
        return false;
    delta->ce = bytes_marked(a, min_u32(packets * c->mss, delta->delivered), option, told_bytes);
    return packets || told_bytes;
}

// §3.2.2.3: a network whose every packet is marked says nothing by it.
void accecn_reacted(struct weir *weir, struct tcp_conn *c)
{
    struct accecn *a = &c->extra->accecn;
    if (a->all_marked != ACCECN_TESTED && ++a->all_marked == ACCECN_ALL_MARKED)
        go_deaf(weir, c);
}
