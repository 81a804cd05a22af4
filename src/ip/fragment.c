// SPDX-License-Identifier: BSD-2-Clause
// Fragmentation and reassembly (RFC 791 §3.2, RFC 815's job with RFC 5722's rule).
//
// A datagram under reassembly is an entry, found by a keyed hash of (source, destination, protocol, identification),
// with a list of the intervals present and a directory of equal chunks, taken as bytes arrive: what a stranger pins
// grows with what he sent, not with the offsets he names. Work per fragment: one hash chain, one binary search, one
// copy; making room removes whole datagrams, oldest first, each paid for when it came.
//
// Refused: any overlap but the exact repetition of bytes at hand (RFC 5722 §4; the whole datagram goes, and what still
// comes of it); totals that contradict each other; more than FRAGMENTS_MAX pieces or INTERVALS_MAX holes; a first
// fragment that hides the transport header (RFC 1858, RFC 3128). Limits: WEIR_CFG_REASSEMBLY_BYTES for all together;
// beyond a quarter of that a source loses its own oldest datagrams first, though it may always have one.
//
// Timer: WEIR_CFG_REASSEMBLY_MS from the first fragment, never extended: 60 s, as RFC 1122 §3.3.2 (60 to 120 s) and RFC
// 8200 §4.5 want it. What waits in vain keeps nobody out meanwhile, since it is the oldest that makes room.
// Identifications wrap in seconds on a fast link, so a lone fragment may meet a stranger's (RFC 4963): the transport's
// checksum, and the total length, catch that.
#include "ip/internal.h"
#include "ip/options.h"

#include "base/intervals.h"

#define DATAGRAMS_MAX (WEIR_CFG_ALLOCATOR ? 64u : 4u)
#define FRAGMENTS_MAX 256u                             // a datagram: 65,535 bytes in pieces of an MTU of 296
#define INTERVALS_MAX (WEIR_CFG_ALLOCATOR ? 64u : 8u)  // 45 pieces of an MTU of 1500 in the worst order make 22
// the network header goes right before the data, in the first chunk
#define HEADER_ROOM (WEIR_CFG_IP6 ? 104u : 64u)
#define CHUNK_BYTES (WEIR_CFG_ALLOCATOR || WEIR_CFG_REASSEMBLY_BYTES >= 65536 ? 2048u : 256u)
#define CHUNKS_WHOLE ((HEADER_ROOM + IP4_PACKET_MAX + CHUNK_BYTES - 1) / CHUNK_BYTES)
#define CHUNKS (CHUNKS_WHOLE < WEIR_FRAME_SLICES ? CHUNKS_WHOLE : WEIR_FRAME_SLICES)
#define FIRST_TRANSPORT_BYTES 8u  // of the first fragment: ports of any protocol
#define FIRST_TCP_BYTES 20u       // of the first fragment of TCP: the flags, too

struct reassembly {
    struct reassembly *next;  // hash chain
    struct reassembly *older, *newer;
    struct fragment
        key;  // of the fragment that came first, of which source, destination, id and protocol are looked for
    uint8_t netif_index;
    uint8_t flags;                    // of the first packet: enum packet_flag
    uint8_t ttl, tos, header_length;  // of the first fragment; header_length 0: it has not come
    uint8_t ecn_seen;                 // a bit for each of the four codepoints
    bool refused;                     // remembered only to refuse what still comes
    uint16_t pieces;
    uint32_t received, total;  // bytes behind the network header; total 0: not known yet
    uint32_t bytes;            // charged
    uint32_t due_ms;
    uint8_t *chunks[CHUNKS];
};

static struct intervals *intervals_of(struct reassembly *r) { return (struct intervals *)(void *)(r + 1); }
static uint32_t entry_bytes(void) { return (uint32_t)sizeof(struct reassembly) + intervals_bytes(INTERVALS_MAX); }

// What is left for pieces when the entries have theirs.
static uint32_t chunk_count(void)
{
    return (WEIR_CFG_REASSEMBLY_BYTES - min_u32(WEIR_CFG_REASSEMBLY_BYTES, DATAGRAMS_MAX * entry_bytes())) /
           CHUNK_BYTES;
}

size_t fragment_bytes(void)
{
    return pool_carve_bytes(entry_bytes(), DATAGRAMS_MAX) + pool_carve_bytes(CHUNK_BYTES, chunk_count());
}

int fragment_init(struct weir *weir)
{
    struct fragments *f = &weir->ip.fragments;
    pool_init(&f->entries, entry_bytes(), 0);
    pool_init(&f->chunks, CHUNK_BYTES, 0);
    random_bytes(&weir->random, f->ids, sizeof f->ids);
    if (WEIR_CFG_ALLOCATOR)
        return WEIR_OK;
    const int error = pool_carve(&f->entries, &weir->memory, DATAGRAMS_MAX);
    return error ? error : pool_carve(&f->chunks, &weir->memory, chunk_count());
}

// --- entries ---------------------------------------------------------------------------------------------------------

static struct reassembly **bucket_of(struct weir *weir, const struct fragment *fragment)
{
    return &weir->ip.fragments.bucket[fragment_hash(&weir->hash_key, fragment) % FRAGMENT_BUCKETS];
}

static struct reassembly *entry_find(struct weir *weir, const struct fragment *fragment)
{
    for (struct reassembly *r = *bucket_of(weir, fragment); r; r = r->next)
        if (r->key.id == fragment->id && weir_addr_equal(r->key.source, fragment->source) &&
            weir_addr_equal(r->key.destination, fragment->destination) && r->key.protocol == fragment->protocol)
            return r;
    return NULL;
}

static void release_chunks(struct weir *weir, struct reassembly *r)
{
    for (uint32_t i = 0; i < CHUNKS; i++) {
        if (!r->chunks[i])
            continue;
        pool_put(&weir->ip.fragments.chunks, &weir->memory, r->chunks[i]);
        r->chunks[i] = NULL;
        r->bytes -= CHUNK_BYTES;
        weir->ip.fragments.bytes -= CHUNK_BYTES;
    }
}

// Takes the entry out of sight: no fragment finds it any more.
static void entry_unlink(struct weir *weir, struct reassembly *r)
{
    struct fragments *f = &weir->ip.fragments;
    struct reassembly **link = bucket_of(weir, &r->key);
    while (*link != r)
        link = &(*link)->next;
    *link = r->next;
    *(r->newer ? &r->newer->older : &f->newest) = r->older;
    *(r->older ? &r->older->newer : &f->oldest) = r->newer;
    f->count--;
}

static void entry_free(struct weir *weir, struct reassembly *r)
{
    release_chunks(weir, r);
    weir->ip.fragments.bytes -= r->bytes;
    pool_put(&weir->ip.fragments.entries, &weir->memory, r);
}

static void entry_drop(struct weir *weir, struct reassembly *r)
{
    entry_unlink(weir, r);
    entry_free(weir, r);
}

// RFC 5722 §4: the datagram and all of it that still comes is dropped. The entry stays, without its memory, until its
// time is over.
static void entry_refuse(struct weir *weir, struct reassembly *r, enum weir_counter why)
{
    count(weir, why);
    release_chunks(weir, r);
    r->refused = true;
}

void fragment_free(struct weir *weir)
{
    struct fragments *f = &weir->ip.fragments;
    while (f->oldest)
        entry_drop(weir, f->oldest);
    if (weir->carved_all)
        return;
    pool_drain(&f->chunks, &weir->memory);
    pool_drain(&f->entries, &weir->memory);
}

// --- memory ----------------------------------------------------------------------------------------------------------

// Drops the oldest datagram but `keep`; with a source, the oldest from there. false: there is none.
static bool evict(struct weir *weir, const struct reassembly *keep, const struct weir_addr *source)
{
    struct reassembly *r = weir->ip.fragments.oldest;
    while (r && (r == keep || (source && !weir_addr_equal(r->key.source, *source))))
        r = r->newer;
    if (!r)
        return false;
    count(weir, WEIR_COUNT_FRAGMENT_LIMIT);
    entry_drop(weir, r);
    return true;
}

static uint32_t source_bytes(const struct weir *weir, const struct weir_addr *source)
{
    uint32_t bytes = 0;
    for (const struct reassembly *r = weir->ip.fragments.oldest; r; r = r->newer)
        bytes += weir_addr_equal(r->key.source, *source) ? r->bytes : 0;
    return bytes;
}

// Makes room for `bytes` more from `source`, on behalf of `keep`. Asked once for an entry and once a chunk, not for
// each fragment.
static bool make_room(struct weir *weir, const struct reassembly *keep, const struct weir_addr *source, uint32_t bytes)
{
    while (source_bytes(weir, source) + bytes > WEIR_CFG_REASSEMBLY_BYTES / 4 && evict(weir, keep, source)) {}
    while (weir->ip.fragments.bytes + bytes > WEIR_CFG_REASSEMBLY_BYTES)
        if (!evict(weir, keep, NULL))
            return false;
    return true;
}

// An object of the pool, at the price of older datagrams if need be.
static void *take(struct weir *weir, struct pool *pool, const struct reassembly *keep, const struct weir_addr *source)
{
    if (!make_room(weir, keep, source, pool->object_bytes))
        return NULL;
    void *object = pool_get(pool, &weir->memory);
    while (!object && evict(weir, keep, NULL))
        object = pool_get(pool, &weir->memory);
    return object;
}

static struct reassembly *entry_new(struct weir *weir, const struct packet *packet, const struct fragment *fragment)
{
    struct fragments *f = &weir->ip.fragments;
    if (f->count == DATAGRAMS_MAX)
        evict(weir, NULL, NULL);
    struct reassembly *r = take(weir, &f->entries, NULL, &fragment->source);
    if (!r)
        return NULL;
    struct reassembly **bucket = bucket_of(weir, fragment);
    *r = (struct reassembly){.next = *bucket,
                             .older = f->newest,
                             .key = *fragment,
                             .netif_index = packet->netif->index,
                             .flags = packet->flags,
                             .bytes = entry_bytes(),
                             .due_ms = weir->now_ms + WEIR_CFG_REASSEMBLY_MS};
    intervals_init(intervals_of(r), INTERVALS_MAX);
    *bucket = r;
    *(f->newest ? &f->newest->newer : &f->oldest) = r;
    f->newest = r;
    f->count++;
    f->bytes += r->bytes;
    slow_due(weir, weir->now_us + ip_wait_us(weir, f->oldest->due_ms));
    return r;
}

static bool chunks_ensure(struct weir *weir, struct reassembly *r, uint32_t at, uint32_t length)
{
    for (uint32_t i = (HEADER_ROOM + at) / CHUNK_BYTES; i <= (HEADER_ROOM + at + length - 1) / CHUNK_BYTES; i++) {
        if (i >= CHUNKS)
            return false;
        if (r->chunks[i])
            continue;
        r->chunks[i] = take(weir, &weir->ip.fragments.chunks, r, &r->key.source);
        if (!r->chunks[i])
            return false;
        r->bytes += CHUNK_BYTES;
        weir->ip.fragments.bytes += CHUNK_BYTES;
    }
    return true;
}

// Bytes of the datagram at `at`, as far as they lie in one piece.
static uint8_t *bytes_at(const struct reassembly *r, uint32_t at, uint32_t length, uint32_t *contiguous)
{
    const uint32_t position = HEADER_ROOM + at;
    *contiguous = min_u32(length, CHUNK_BYTES - position % CHUNK_BYTES);
    return r->chunks[position / CHUNK_BYTES] + position % CHUNK_BYTES;
}

// --- input -----------------------------------------------------------------------------------------------------------

// What no honest fragment looks like. *fatal: the datagram it belongs to cannot be honest either.
static bool fragment_possible(const struct packet *packet, const struct fragment *fragment, bool *fatal)
{
    const uint32_t end = fragment->offset + packet->length;
    const uint32_t first_bytes = fragment->next_header == IP_TCP ? FIRST_TCP_BYTES : FIRST_TRANSPORT_BYTES;
    // Of the headers before a first fragment, which IPv6 does not bound, those are kept that HEADER_ROOM holds.
    const bool first_bad = packet->length < first_bytes || packet->network_length > HEADER_ROOM;
    *fatal = end + packet->network_length > IP4_PACKET_MAX || (fragment->offset == 0 && first_bad);
    return !*fatal && packet->length != 0 && (!fragment->more || packet->length % 8 == 0);
}

// Whether the bytes of the fragment are those at hand already.
static bool same_bytes(const struct reassembly *r, const struct packet *packet, uint32_t at)
{
    uint32_t contiguous;
    for (uint32_t done = 0; done < packet->length; done += contiguous) {
        uint8_t part[64];
        const uint8_t *have = bytes_at(r, at + done, min_u32(packet->length - done, sizeof part), &contiguous);
        packet_copy(packet, done, part, contiguous);
        if (memcmp(have, part, contiguous) != 0)
            return false;
    }
    return true;
}

enum place { PLACE_NEW, PLACE_DUPLICATE, PLACE_REFUSED };

// Where the fragment belongs among what is at hand. Counts and refuses what contradicts it.
static enum place place_of(struct weir *weir, struct reassembly *r, const struct packet *packet,
                           const struct fragment *fragment)
{
    const struct intervals *list = intervals_of(r);
    const uint32_t at = fragment->offset, end = at + packet->length;
    const uint32_t highest = list->count ? list->item[list->count - 1].end : 0;
    const bool last = !fragment->more;
    uint32_t hole;
    const uint32_t missing = intervals_hole(list, at, end, &hole);
    if (missing == 0 && last == (r->total == end) && same_bytes(r, packet, at))
        return PLACE_DUPLICATE;
    if (missing != packet->length || hole != at) {
        entry_refuse(weir, r, WEIR_COUNT_FRAGMENT_OVERLAP);
        return PLACE_REFUSED;
    }
    if ((last && (r->total || end < highest)) || (r->total && end > r->total)) {
        entry_refuse(weir, r, WEIR_COUNT_FRAGMENT_BAD);
        return PLACE_REFUSED;
    }
    return PLACE_NEW;
}

static void first_keep(struct reassembly *r, const struct packet *packet, const struct fragment *fragment)
{
    uint8_t *const header = r->chunks[0] + HEADER_ROOM - packet->network_length;
    memcpy(header, packet->network, packet->network_length);
    if (WEIR_CFG_IP6 && fragment->next_at)
        header[fragment->next_at] = fragment->next_header;
    r->key.next_header = fragment->next_header;
    r->header_length = (uint8_t)packet->network_length;
    r->ttl = packet->ttl;
    r->tos = packet->tos;
}

static void store(struct reassembly *r, const struct packet *packet, const struct fragment *fragment)
{
    uint32_t contiguous;
    for (uint32_t done = 0; done < packet->length; done += contiguous) {
        uint8_t *to = bytes_at(r, fragment->offset + done, packet->length - done, &contiguous);
        packet_copy(packet, done, to, contiguous);
    }
    if (fragment->offset == 0)
        first_keep(r, packet, fragment);
    if (!fragment->more)
        r->total = fragment->offset + packet->length;
    r->received += packet->length;
    r->pieces++;
    r->ecn_seen |= (uint8_t)(1u << (packet->tos & 3u));
}

// RFC 3168 §5.3: congestion experienced by one fragment was experienced by the datagram; with it, none may say it
// cannot carry marks.
static bool ecn_combine(const struct reassembly *r, uint8_t *tos)
{
    if (r->ecn_seen & 1u << 3)
        *tos |= 3;
    return !(r->ecn_seen & 1u << 3 && r->ecn_seen & 1u << 0);
}

// Makes the header that of a whole packet, and a frame of the chunks; the packet is at its transport header then.
static void assemble(struct reassembly *r, struct weir_slice slices[CHUNKS], struct weir_frame *frame,
                     struct packet *packet)
{
    uint8_t *header = r->chunks[0] + HEADER_ROOM - r->header_length;
    const uint32_t length = r->header_length + r->total;
    ip_family_of(r->key.source)->reassembled(header, r->header_length, length, packet->tos);
    uint32_t contiguous;
    *frame = (struct weir_frame){.slices = slices, .length = length};
    slices[0].length = 0;
    for (uint32_t at = 0; at < r->total; at += contiguous) {
        const uint8_t *bytes = bytes_at(r, at, r->total - at, &contiguous);
        slices[frame->count++] = (struct weir_slice){bytes, contiguous};
    }
    slices[0].data = header;
    slices[0].length += r->header_length;
    packet->frame = frame;
    packet->head = packet->network = header;
    packet->offset = 0;
    packet->length = length;
    packet->network_length = r->header_length;
    packet_skip(packet, r->header_length);
}

static void complete(struct weir *weir, struct reassembly *r, struct packet *packet)
{
    struct weir_slice slices[CHUNKS];
    struct weir_frame frame;
    entry_unlink(weir, r);
    packet->ttl = r->ttl;
    packet->tos = r->tos;
    packet->flags |= PACKET_REASSEMBLED;
    if (r->header_length + r->total > IP4_PACKET_MAX || !ecn_combine(r, &packet->tos)) {
        count(weir, WEIR_COUNT_FRAGMENT_BAD);
    } else {
        assemble(r, slices, &frame, packet);
        count(weir, WEIR_COUNT_FRAGMENT_REASSEMBLED);
        fragment_deliver(weir, packet);
    }
    entry_free(weir, r);
}

void fragment_input(struct weir *weir, struct packet *packet, const struct fragment *fragment)
{
    bool fatal;
    count(weir, WEIR_COUNT_FRAGMENT_RECEIVED);
    struct reassembly *r = entry_find(weir, fragment);
    if (!fragment_possible(packet, fragment, &fatal)) {
        if (fatal && r && !r->refused)
            entry_refuse(weir, r, WEIR_COUNT_FRAGMENT_BAD);
        else
            count(weir, WEIR_COUNT_FRAGMENT_BAD);
        return;
    }
    if (!r)
        r = entry_new(weir, packet, fragment);
    if (!r || r->refused) {
        count(weir, WEIR_COUNT_FRAGMENT_LIMIT);
        return;
    }
    if (place_of(weir, r, packet, fragment) != PLACE_NEW)
        return;
    if (r->pieces == FRAGMENTS_MAX || !chunks_ensure(weir, r, fragment->offset, packet->length) ||
        !intervals_add(intervals_of(r), fragment->offset, fragment->offset + packet->length)) {
        entry_refuse(weir, r, WEIR_COUNT_FRAGMENT_LIMIT);
        return;
    }
    store(r, packet, fragment);
    if (r->received == r->total)
        complete(weir, r, packet);
}

// --- time ------------------------------------------------------------------------------------------------------------

// RFC 1122 §3.3.2: the sender is told, if the first fragment is at hand to tell it by.
static void time_exceeded(struct weir *weir, const struct reassembly *r)
{
    struct weir_netif *netif = netif_by_index(weir, r->netif_index);
    if (!netif || !r->header_length)
        return;
    uint8_t *header = r->chunks[0] + HEADER_ROOM - r->header_length;
    const struct weir_slice slice = {header, r->header_length + FIRST_TRANSPORT_BYTES};
    const struct weir_frame frame = {.slices = &slice, .length = slice.length, .count = 1};
    const struct packet packet = {.netif = netif,
                                  .frame = &frame,
                                  .head = header + r->header_length,
                                  .offset = r->header_length,
                                  .length = FIRST_TRANSPORT_BYTES,
                                  .network = header,
                                  .source = r->key.source,
                                  .destination = r->key.destination,
                                  .network_length = r->header_length,
                                  .protocol = r->key.next_header,
                                  .ttl = r->ttl,
                                  .tos = r->tos,
                                  .flags = r->flags};
    ip_error_send(weir, &packet, ICMP_ERROR_REASSEMBLY_TIME);
}

// All wait equally long: the oldest is due first. Bounded by DATAGRAMS_MAX.
uint64_t fragment_poll(struct weir *weir, uint64_t now_us)
{
    struct fragments *f = &weir->ip.fragments;
    while (f->oldest && seq_le(f->oldest->due_ms, weir->now_ms)) {
        if (!f->oldest->refused) {
            count(weir, WEIR_COUNT_FRAGMENT_TIMEOUT);
            time_exceeded(weir, f->oldest);
        }
        entry_drop(weir, f->oldest);
    }
    return f->oldest ? now_us + ip_wait_us(weir, f->oldest->due_ms) : WEIR_NEVER;
}

// --- output ----------------------------------------------------------------------------------------------------------

// A counter for each keyed hash of addresses and protocol. After a pause it skips a random part of the time that
// passed, so that a receiver cannot count what went to others by the same counter in between (as Linux does since
// 2014).
uint16_t ip4_id(struct weir *weir, const struct ip_out *ip)
{
    const uint32_t hash =
        siphash_words(&weir->hash_key, (uint64_t)weir_addr_to_v4(ip->source) << 32 | weir_addr_to_v4(ip->destination),
                      (uint64_t)'I' << 8 | ip->protocol);
    struct fragment_id *id = &weir->ip.fragments.ids[hash % FRAGMENT_IDS];
    const uint16_t elapsed_ms = (uint16_t)(weir->now_ms - id->used_ms);
    id->next = (uint16_t)(id->next + 1 + (elapsed_ms ? random_below(&weir->random, min_u32(elapsed_ms, 1024)) : 0));
    id->used_ms = (uint16_t)weir->now_ms;
    return (uint16_t)(id->next + (hash >> 16));
}

// One datagram on its way out.
struct whole {
    const uint8_t *header, *payload;
    uint32_t header_length, payload_length;
};

// Sends bytes [at, at + length) of the datagram as one packet.
static enum weir_tx_verdict piece_send(struct weir *weir, struct path *path, const struct ip_out *ip,
                                       const struct ip4_piece *piece, const struct whole *whole, uint32_t at,
                                       uint32_t length, struct sock *waiter)
{
    struct packet_out out;
    packet_out_init(&out);
    if (at < whole->header_length) {
        const uint32_t head = min_u32(whole->header_length - at, length);
        memcpy(packet_out_header(&out, head), whole->header + at, head);
        at += head;
        length -= head;
    }
    if (length)
        packet_out_payload(&out, whole->payload + (at - whole->header_length), length);
    return ip_piece(weir, path, ip, piece, &out, waiter);
}

static enum weir_tx_verdict pieces_send(struct weir *weir, struct path *path, const struct ip_out *ip,
                                        const struct whole *whole, uint32_t *progress, struct sock *waiter)
{
    const uint32_t headers = ip_header_bytes(ip->destination) + ip_piece_bytes(ip->destination) + ip4_options_bytes(ip);
    const uint32_t room = (path->mtu - headers) & ~7u;
    const uint32_t total = whole->header_length + whole->payload_length;
    if (*progress == 0)
        *progress = (uint32_t)ip4_id(weir, ip) << 16;
    for (;;) {
        const uint32_t at = *progress & 0xffff, left = total - at;
        const bool last = left <= room;
        const struct ip4_piece piece = {(uint16_t)(*progress >> 16), (uint16_t)at, last ? 0 : IP4_MORE_FRAGMENTS};
        const enum weir_tx_verdict verdict = piece_send(weir, path, ip, &piece, whole, at, last ? left : room, waiter);
        if (verdict == WEIR_TX_FULL || verdict == WEIR_TX_UNRESOLVED)
            return verdict;
        count(weir, WEIR_COUNT_FRAGMENT_SENT);
        if (last)
            return WEIR_TX_DONE;
        *progress += room;
    }
}

enum weir_tx_verdict ip_output_datagram(struct weir *weir, struct path *path, const struct ip_out *ip,
                                        const uint8_t *header, uint32_t header_length, const uint8_t *payload,
                                        uint32_t payload_length, uint32_t *progress, struct sock *waiter, int *error)
{
    const struct whole whole = {header, payload, header_length, payload_length};
    const uint32_t length = header_length + payload_length;
    if (!ip_path_valid(weir, path)) {
        count(weir, WEIR_COUNT_IP_NO_ROUTE);
        return WEIR_TX_DONE;
    }
    // What was begun in pieces is finished in pieces, even if the path has become wider since.
    const uint32_t options = ip4_options_bytes(ip);
    if (*progress || ip_header_bytes(ip->destination) + options + length > path->mtu) {
        if (!ip->dont_fragment && length <= IP4_PACKET_MAX - IP4_BYTES - options && !ip->router_alert)
            return pieces_send(weir, path, ip, &whole, progress, waiter);
        *error = WEIR_TOO_BIG;
        return WEIR_TX_DONE;
    }
    const struct ip4_piece piece = {ip->dont_fragment ? 0 : ip4_id(weir, ip), 0,
                                    ip->dont_fragment ? IP4_DONT_FRAGMENT : 0};
    return piece_send(weir, path, ip, &piece, &whole, 0, length, waiter);
}
