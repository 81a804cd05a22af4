// SPDX-License-Identifier: BSD-2-Clause
// Each conversation has two sides; what a side knows is only what was delivered to its host. Numbers are 64 bits wide
// and count from the side's SYN (0), so that nothing wraps.
//
// The laws, each checked when a segment is sent:
//   packet     each is lawful by itself (packet.h)
//   sequence   new data follows what was sent before, without a gap; nothing follows a FIN; nothing wholly acknowledged
//              is sent again
//   window     no byte beyond the right edge that the sender was told (but one, at the edge: the probe of a closed
//              window)
//   ack        never of what was not delivered, never backwards
//   SACK       only of what was delivered
//   edge       the right edge of the offered window never moves left (but for what the scale rounds off)
//   size       no more payload than the peer's MSS option allows
// And one that is looked at now and then:
//   silence    what comes next to be acknowledged is sent again, or acknowledged, before SILENCE_NS are over, or given
//              up
#include "family6.h"

#include <stdlib.h>
#include <string.h>

#include "packet.h"
#include "segment.h"

#define BUCKETS 4096u
// The longest timeout (RTO_MAX, 120 s) may run out while a link is down, and once more.
#define SILENCE_NS SIM_S(260)
#define LOOK_NS SIM_S(20)
#define ASKS_NS SIM_S(60)  // a host that asks for its router goes on doing so

struct range {
    uint64_t from, to;
};

struct side {
    uint32_t host;
    struct sim_address address;
    uint16_t port, mss;
    uint8_t scale;
    bool syn_sent, scaled, fin_sent;
    bool gone;         // sent or got RST, or its user says so: no more is expected of it
    bool left;         // its user closed it
    bool outstanding;  // as counted for its host
    uint32_t isn;
    uint64_t sent;          // end of the highest sent
    uint64_t fin;           // its number
    uint64_t acked;         // highest acknowledgement delivered to it
    uint64_t surely_acked;  // the highest in a segment that it had to accept
    uint64_t allowed;       // right edge delivered to it
    uint64_t tried_ns;      // when what follows `acked` was last sent, or `acked` moved
    uint64_t told;          // highest acknowledgement it has sent
    uint64_t edge;          // highest right edge it has offered
    uint64_t got;           // of the other's stream: delivered without a gap
    struct range *beyond;   // delivered beyond a gap, sorted, apart
    uint32_t beyond_count, beyond_room;
};

struct talk {
    struct side sides[2];
    uint32_t next;  // of the bucket: index, 0 ends
    uint32_t incarnation;
    bool unclear;  // the same names for two conversations at once: nothing is said
};

struct check {
    struct sim *sim;
    struct talk **talks;  // [1 … count]
    uint32_t count, room;
    uint32_t *outstanding;  // by host
    uint32_t hosts;
    uint64_t look_ns;  // the next look for silence
    uint32_t buckets[BUCKETS];
};

struct check *check_open(struct sim *sim)
{
    struct check *check = calloc(1, sizeof *check);
    if (!check)
        abort();
    check->sim = sim;
    return check;
}

void check_close(struct check *check)
{
    for (uint32_t index = 1; index <= check->count; index++) {
        free(check->talks[index]->sides[0].beyond);
        free(check->talks[index]->sides[1].beyond);
        free(check->talks[index]);
    }
    free(check->talks);
    free(check->outstanding);
    free(check);
}

// --- conversations ---------------------------------------------------------------------------------------------------

static uint32_t folded(struct sim_address a)
{
    const uint64_t both = a.high ^ a.low;
    return (uint32_t)(both ^ both >> 32);
}

static uint32_t bucket_of(struct sim_address from, uint16_t a_port, struct sim_address to, uint16_t b_port)
{
    const uint32_t a = folded(from), b = folded(to);
    const uint64_t sum = (uint64_t)(a ^ b) << 32 ^ (uint64_t)(a + b) * 31 ^ (uint32_t)(a_port * b_port) ^
                         (uint64_t)(a_port + b_port) << 20;
    return (uint32_t)(sum * UINT64_C(0x9e3779b97f4a7c15) >> 52);
}

static bool is(const struct side *side, struct sim_address address, uint16_t port)
{
    return side->port == port && sim_address_equal(side->address, address);
}

// The conversation's index, and whether the first name is its side 1; 0: none.
static uint32_t find(const struct check *check, struct sim_address a, uint16_t a_port, struct sim_address b,
                     uint16_t b_port, uint8_t *side)
{
    uint32_t index = check->buckets[bucket_of(a, a_port, b, b_port)];
    for (; index; index = check->talks[index]->next) {
        const struct side *sides = check->talks[index]->sides;
        if (is(&sides[0], a, a_port) && is(&sides[1], b, b_port)) {
            *side = 0;
            return index;
        }
        if (is(&sides[1], a, a_port) && is(&sides[0], b, b_port)) {
            *side = 1;
            return index;
        }
    }
    return 0;
}

static uint32_t host_of(const struct check *check, struct sim_address address)
{
    const struct sim_host *host = host_at(check->sim, address);
    return host ? host->number : UINT32_MAX;
}

static uint32_t add(struct check *check, const struct segment *segment)
{
    if (check->count + 2 > check->room) {
        check->room = check->room ? check->room * 2 : 64;
        check->talks = realloc(check->talks, check->room * sizeof *check->talks);
    }
    struct talk *talk = calloc(1, sizeof *talk);
    if (!check->talks || !talk)
        abort();
    const uint32_t index = ++check->count;
    uint32_t *bucket = &check->buckets[bucket_of(segment->source, segment->source_port, segment->destination,
                                                 segment->destination_port)];
    check->talks[index] = talk;
    talk->next = *bucket;
    *bucket = index;
    talk->sides[0] = (struct side){
        .host = host_of(check, segment->source), .address = segment->source, .port = segment->source_port};
    talk->sides[1] = (struct side){.host = host_of(check, segment->destination),
                                   .address = segment->destination,
                                   .port = segment->destination_port};
    return index;
}

static uint32_t *outstanding_of(struct check *check, uint32_t host)
{
    if (host >= check->hosts) {
        check->outstanding = realloc(check->outstanding, (host + 1) * sizeof *check->outstanding);
        if (!check->outstanding)
            abort();
        memset(check->outstanding + check->hosts, 0, (host + 1 - check->hosts) * sizeof *check->outstanding);
        check->hosts = host + 1;
    }
    return &check->outstanding[host];
}

// A SYN-ACK alone is not counted: a server may give a handshake up.
static void count(struct check *check, struct talk *talk, struct side *side)
{
    const struct side *other = &talk->sides[side == &talk->sides[0]];
    const bool only_answered = side->sent == 1 && other->syn_sent && side->told;
    const bool outstanding = !side->gone && !talk->unclear && side->sent > side->acked && !only_answered;
    if (outstanding == side->outstanding || side->host == UINT32_MAX)
        return;
    if (outstanding)
        side->tried_ns = check->sim->now_ns;
    side->outstanding = outstanding;
    *outstanding_of(check, side->host) += outstanding ? 1 : UINT32_MAX;
}

uint32_t check_outstanding(const struct check *check, uint32_t host)
{
    return host < check->hosts ? check->outstanding[host] : 0;
}

static void side_reset(struct check *check, struct talk *talk, struct side *side)
{
    side->gone = true;
    count(check, talk, side);
    struct side fresh = {.host = side->host,
                         .address = side->address,
                         .port = side->port,
                         .beyond = side->beyond,
                         .beyond_room = side->beyond_room};
    *side = fresh;
}

static struct side *side_named(const struct check *check, struct sim_address address, uint16_t port,
                               struct sim_address peer_address, uint16_t peer_port, struct talk **talk)
{
    uint8_t from;
    const uint32_t index = find(check, address, port, peer_address, peer_port, &from);
    if (!index)
        return NULL;
    *talk = check->talks[index];
    return &(*talk)->sides[from];
}

void check_forget(struct check *check, struct sim_address address, uint16_t port, struct sim_address peer_address,
                  uint16_t peer_port)
{
    struct talk *talk;
    struct side *side = side_named(check, address, port, peer_address, peer_port, &talk);
    if (!side)
        return;
    side->gone = true;
    count(check, talk, side);
}

// Whether the host still has the connection.
static bool lives(const struct check *check, const struct side *side, const struct side *peer)
{
    struct weir *weir = check->sim->hosts[side->host]->weir;
    struct weir_socket_info info;
    uint64_t cursor = 0;
    while ((cursor = weir_socket_next(weir, cursor, &info)) != 0)
        if (info.type == WEIR_STREAM && info.local.port == side->port && info.peer.port == peer->port &&
            sim_address_equal(sim_address_of(info.peer.addr), peer->address))
            return true;
    return false;
}

uint32_t check_given_up(struct check *check, uint32_t host, uint32_t most)
{
    uint32_t found = 0;
    for (uint32_t index = 1; index <= check->count; index++)
        for (uint32_t end = 0; end < 2 && found < most; end++) {
            struct side *sides = check->talks[index]->sides, *side = &sides[end];
            if (side->host != host || !side->outstanding || !side->left || lives(check, side, &sides[!end]))
                continue;
            side->gone = true;
            count(check, check->talks[index], side);
            found++;
        }
    return found;
}

// Who has something unacknowledged tries again. That holds for each connection, whatever other timers its host has.
void check_silence(struct check *check)
{
    const uint64_t now_ns = check->sim->now_ns;
    if (now_ns < check->look_ns)
        return;
    check->look_ns = now_ns + LOOK_NS;
    for (uint32_t index = 1; index <= check->count; index++)
        for (uint32_t end = 0; end < 2; end++) {
            struct side *side = &check->talks[index]->sides[end];
            if (!side->outstanding || now_ns - side->tried_ns < SILENCE_NS)
                continue;
            const struct port *port = check->sim->hosts[side->host]->node.ports;
            const bool asks = check->sim->hosts[side->host]->asked_ns + ASKS_NS > now_ns;
            if (port && (port->link->cut || asks)) {  // it knows, and waits for the link, or for its router
                side->tried_ns = now_ns;
                continue;
            }
            host_unseen_ends(check->sim->hosts[side->host]);
            if (side->outstanding)
                sim_fail(
                    check->sim,
                    "%s:%u has not tried for %llu s to send what is not acknowledged (acknowledged %llu, sent %llu)",
                    check->sim->hosts[side->host]->node.name, side->port,
                    (unsigned long long)((now_ns - side->tried_ns) / SIM_S(1)), (unsigned long long)side->acked,
                    (unsigned long long)side->sent);
        }
}

void check_left(struct check *check, struct sim_address address, uint16_t port, struct sim_address peer_address,
                uint16_t peer_port)
{
    struct talk *talk;
    struct side *side = side_named(check, address, port, peer_address, peer_port, &talk);
    if (side)
        side->left = true;
}

bool check_next(const struct check *check, struct sim_address address, uint16_t port, struct sim_address peer_address,
                uint16_t peer_port, uint32_t *seq)
{
    struct talk *talk;
    const struct side *side = side_named(check, address, port, peer_address, peer_port, &talk);
    if (!side || !side->acked || talk->unclear)
        return false;
    *seq = side->isn + (uint32_t)side->sent;
    return true;
}

// --- what was delivered ----------------------------------------------------------------------------------------------

static bool was_delivered(const struct side *side, uint64_t from, uint64_t to)
{
    if (to <= side->got)
        return true;
    for (uint32_t index = 0; index < side->beyond_count; index++)
        if (side->beyond[index].from <= from && to <= side->beyond[index].to)
            return true;
    return false;
}

static void deliver(struct side *side, uint64_t from, uint64_t to)
{
    uint32_t first = 0, last;
    if (to <= side->got)
        return;
    if (from <= side->got) {  // the usual case; then what lay beyond may follow
        side->got = to;
        while (first < side->beyond_count && side->beyond[first].from <= side->got) {
            side->got = side->beyond[first].to > side->got ? side->beyond[first].to : side->got;
            first++;
        }
        side->beyond_count -= first;
        if (first)
            memmove(side->beyond, side->beyond + first, side->beyond_count * sizeof *side->beyond);
        return;
    }
    while (first < side->beyond_count && side->beyond[first].to < from)
        first++;
    for (last = first; last < side->beyond_count && side->beyond[last].from <= to; last++) {
        from = side->beyond[last].from < from ? side->beyond[last].from : from;
        to = side->beyond[last].to > to ? side->beyond[last].to : to;
    }
    if (side->beyond_count + 1 > side->beyond_room) {
        side->beyond_room = side->beyond_room ? side->beyond_room * 2 : 16;
        side->beyond = realloc(side->beyond, side->beyond_room * sizeof *side->beyond);
        if (!side->beyond)
            abort();
    }
    memmove(side->beyond + first + 1, side->beyond + last, (side->beyond_count - last) * sizeof *side->beyond);
    side->beyond[first] = (struct range){from, to};
    side->beyond_count += 1 - (last - first);
}

// A host of IPv6 takes nothing for an address that it probes, as it does when its link was down (RFC 4862 §5.4).
static bool takes(const struct check *check, const struct side *side)
{
    return sim_address_is_v4(side->address) || host6_takes(check->sim->hosts[side->host], side->address);
}

void check_delivered(struct check *check, uint32_t host, const struct frame *frame)
{
    const struct check_mark *mark = &frame->segment;
    struct talk *talk = check->talks[mark->flow];
    struct side *to = &talk->sides[!mark->from];
    if (mark->incarnation != talk->incarnation || talk->unclear || to->host != host || !takes(check, to))
        return;
    if (mark->flags & RST) {
        to->gone = true;
        count(check, talk, to);
        return;
    }
    const bool acceptable = mark->seq >= to->got || mark->end > to->got;
    deliver(to, mark->seq, mark->end);
    if (!(mark->flags & ACK))
        return;
    if (mark->ack > to->acked) {
        to->acked = mark->ack;
        to->tried_ns = check->sim->now_ns;
    }
    if (acceptable && mark->ack > to->surely_acked)
        to->surely_acked = mark->ack;
    if (mark->edge > to->allowed)
        to->allowed = mark->edge;
    count(check, talk, to);
}

// --- the laws --------------------------------------------------------------------------------------------------------

// A number near `reference` in 64 bits.
static uint64_t widen(uint64_t reference, uint32_t isn, uint32_t number)
{
    const int32_t step = (int32_t)(number - (isn + (uint32_t)reference));
    return step < 0 && reference < (uint64_t) - (int64_t)step ? 0 : reference + (uint64_t)(int64_t)step;
}

static void broken(struct check *check, const struct side *side, const struct check_mark *mark, const char *law)
{
    const struct sim_host *host = side->host < check->sim->host_count ? check->sim->hosts[side->host] : NULL;
    sim_fail(check->sim,
             "%s:%u %s (seq %llu to %llu, ack %llu, edge %llu; had sent %llu, acknowledged %llu, may send to %llu, got "
             "%llu, offered %llu)",
             host ? host->node.name : "?", side->port, law, (unsigned long long)mark->seq,
             (unsigned long long)mark->end, (unsigned long long)mark->ack, (unsigned long long)mark->edge,
             (unsigned long long)side->sent, (unsigned long long)side->surely_acked, (unsigned long long)side->allowed,
             (unsigned long long)side->got, (unsigned long long)side->edge);
}

static void check_sequence(struct check *check, struct side *from, const struct check_mark *mark)
{
    if (mark->seq > from->sent)
        broken(check, from, mark, "leaves a gap");
    if (from->fin_sent && mark->end > from->fin + 1)
        broken(check, from, mark, "sends beyond its FIN");
    if (mark->end > mark->seq && mark->end <= from->surely_acked &&
        !(mark->length <= 1 && mark->end == from->surely_acked))
        // (a keepalive probe may carry the byte before)
        broken(check, from, mark, "sends again what was acknowledged");
    const uint64_t data_end = mark->seq + mark->length;
    if (mark->length && data_end > from->allowed && !(mark->length == 1 && mark->seq == from->allowed))
        broken(check, from, mark, "sends beyond the window");
}

static void check_ack(struct check *check, const struct talk *talk, struct side *from, const struct segment *segment,
                      const struct check_mark *mark)
{
    const struct side *other = &talk->sides[from == &talk->sides[0]];
    if (mark->ack > from->got)
        broken(check, from, mark, "acknowledges what it did not get");
    if (mark->ack < from->told)
        broken(check, from, mark, "acknowledges less than before");
    // In a field that counts in units of the scale a promise that does not end on one may be rounded down (RFC 7323
    // §2.4); and after the FIN, or to who has left, there is nothing to offer room for.
    const uint64_t unit = from->scaled && other->scaled ? UINT64_C(1) << from->scale : 1;
    if (mark->edge + unit <= from->edge && !from->left && !(other->fin_sent && mark->ack > other->fin))
        broken(check, from, mark, "moves its right edge left");
    for (uint32_t index = 0; index < segment->blocks; index++) {
        const uint64_t begin = widen(from->got, other->isn, segment->block[2 * index]);
        const uint64_t end = widen(from->got, other->isn, segment->block[2 * index + 1]);
        if (begin >= end || !was_delivered(from, begin, end))
            broken(check, from, mark, "SACKs what it did not get");
    }
    from->told = mark->ack;
    from->edge = mark->edge > from->edge ? mark->edge : from->edge;
}

static void begin_incarnation(struct check *check, struct talk *talk)
{
    side_reset(check, talk, &talk->sides[0]);
    side_reset(check, talk, &talk->sides[1]);
    talk->incarnation++;
    talk->unclear = false;
}

static void sent_syn(struct check *check, struct talk *talk, uint8_t from, const struct segment *segment)
{
    struct side *side = &talk->sides[from];
    if (side->syn_sent && side->isn != segment->seq) {
        if (segment->flags & ACK) {  // a server that forgot, or never kept, its first answer
            talk->unclear = true;
            count(check, talk, &talk->sides[0]);
            count(check, talk, &talk->sides[1]);
            return;
        }
        begin_incarnation(check, talk);
    } else if (!side->syn_sent && !(segment->flags & ACK) && talk->sides[!from].gone) {
        begin_incarnation(check, talk);
    }
    side->syn_sent = true;
    side->isn = segment->seq;
    side->mss = segment->mss ? segment->mss : sim_address_is_v4(segment->source) ? 536 : 1220;
    side->scaled = segment->has_scale;
    side->scale = segment->scale;
}

static void mark_make(const struct talk *talk, uint8_t from, const struct segment *segment, struct check_mark *mark)
{
    const struct side *side = &talk->sides[from], *other = &talk->sides[!from];
    const bool scaled = side->scaled && other->scaled && !(segment->flags & SYN);
    mark->incarnation = talk->incarnation;
    mark->from = from;
    mark->flags = segment->flags;
    mark->length = segment->length;
    mark->seq = widen(side->sent, side->isn, segment->seq);
    mark->end = mark->seq + segment->length + !!(segment->flags & SYN) + !!(segment->flags & FIN);
    mark->ack = segment->flags & ACK ? widen(side->got, other->isn, segment->ack) : 0;
    mark->edge = mark->ack + ((uint64_t)segment->window << (scaled ? side->scale : 0));
}

static void judge(struct check *check, struct talk *talk, uint8_t from, const struct segment *segment,
                  const struct check_mark *mark)
{
    struct side *side = &talk->sides[from];
    const struct side *other = &talk->sides[!from];
    if (!(segment->flags & SYN))
        check_sequence(check, side, mark);
    if (segment->flags & ACK && other->syn_sent)
        check_ack(check, talk, side, segment, mark);
    if (other->syn_sent && other->mss && segment->length > other->mss)
        broken(check, side, mark, "sends more than the peer's MSS");
    if (mark->end > side->sent)
        side->sent = mark->end;
    if (mark->seq <= side->acked && mark->end > side->surely_acked)
        side->tried_ns = check->sim->now_ns;
    if (segment->flags & FIN) {
        if (side->fin_sent && side->fin != mark->end - 1)
            broken(check, side, mark, "moves its FIN");
        side->fin_sent = true;
        side->fin = mark->end - 1;
    }
    count(check, talk, side);
}

// Whether what this address sends is changed on the way.
static bool lies(const struct check *check, struct sim_address address)
{
    const struct sim_host *host = host_at(check->sim, address);
    return host && host->options.lies;
}

// A SYN-ACK for a SYN that this side has not sent.
static bool answers_forged(const struct side *side, const struct segment *segment)
{
    return (segment->flags & (SYN | ACK)) == (SYN | ACK) && (!side->syn_sent || segment->ack != side->isn + 1);
}

void check_sent(struct check *check, uint32_t host, struct frame *frame)
{
    struct segment segment;
    uint8_t from = 0;
    frame->segment.flow = 0;
    packet_check(check->sim->hosts[host], frame);
    if (!segment_read(frame, &segment))
        return;
    packet_check_sums(check->sim->hosts[host], frame);
    if (lies(check, segment.source) || lies(check, segment.destination))
        return;
    uint32_t index =
        find(check, segment.source, segment.source_port, segment.destination, segment.destination_port, &from);
    if (!index && (!(segment.flags & SYN) || segment.flags & ACK))
        return;  // a reset for nobody, or an answer to a SYN that somebody forged
    if (index && answers_forged(&check->talks[index]->sides[!from], &segment))
        return;
    if (!index)
        index = add(check, &segment);
    struct talk *talk = check->talks[index];
    struct side *side = &talk->sides[from];
    if (segment.flags & SYN)
        sent_syn(check, talk, from, &segment);
    if (talk->unclear || !side->syn_sent || side->host != host)
        return;
    mark_make(talk, from, &segment, &frame->segment);
    frame->segment.flow = index;
    if (segment.flags & RST) {
        side->gone = true;
        count(check, talk, side);
    } else if (!side->gone) {
        judge(check, talk, from, &segment, &frame->segment);
    }
}
