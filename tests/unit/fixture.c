// SPDX-License-Identifier: BSD-2-Clause
#include "fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/addr.h"
#include "link/ethernet.h"
#include "wire/ethernet.h"
#include "wire/ip4.h"
#include "wire/ip6.h"

#define ALLOCATION_HEAD 16u  // the size, before each allocation; keeps the alignment
#define POLLS_WITHOUT_REST 100000u
#define SETTLE_US 5000000u  // announcements of the address are over

// Memory that nobody has written yet, although it has a pattern: MemorySanitizer then tells of the first read.
#if defined __has_feature
#if __has_feature(memory_sanitizer)
#include <sanitizer/msan_interface.h>
#define unwritten(memory, bytes) __msan_allocated_memory(memory, bytes)
#endif
#endif
#ifndef unwritten
#define unwritten(memory, bytes) ((void)(memory), (void)(bytes))
#endif

static uint32_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return (uint32_t)(*state >> 16);
}

// --- port ------------------------------------------------------------------------------------------------------------

static void *allocate(void *context, size_t bytes)
{
    struct fixture *f = context;
    f->allocations++;
    if (f->fail_at) {
        if (--f->fail_at == 0) {
            f->fail_at = f->fail_onwards;
            faults_tell(f);
            return NULL;
        }
    }
    if (faults_alloc(f))
        return NULL;
    if (f->limit_bytes && f->allocated_bytes + bytes > f->limit_bytes)
        return NULL;
    uint8_t *memory = malloc(ALLOCATION_HEAD + bytes);
    if (!memory)
        abort();
    memcpy(memory, &bytes, sizeof bytes);
    memset(memory + ALLOCATION_HEAD, 0xa5, bytes);  // nobody may rely on zeroes
    unwritten(memory + ALLOCATION_HEAD, bytes);
    f->allocated_bytes += bytes;
    f->allocated_count++;
    return memory + ALLOCATION_HEAD;
}

static void release(void *context, void *memory, size_t bytes)
{
    struct fixture *f = context;
    size_t was;
    assert_non_null(memory);
    memcpy(&was, (uint8_t *)memory - ALLOCATION_HEAD, sizeof was);
    assert_int_equal(was, bytes);  // free must be told the size that was asked for
    memset(memory, 0x5a, bytes);
    f->allocated_bytes -= bytes;
    f->allocated_count--;
    free((uint8_t *)memory - ALLOCATION_HEAD);
}

static void entropy(void *context, void *out, size_t bytes)
{
    struct fixture *f = context;
    for (uint8_t *to = out; bytes--; to++)
        *to = (uint8_t)next_random(&f->entropy);
}

// --- driver ----------------------------------------------------------------------------------------------------------

static void hold(struct fixture *f, const struct weir_tx *tx)
{
    struct fixture_held *held = calloc(1, sizeof *held);
    held->count = tx->count;
    memcpy(held->slices, tx->slices, tx->count * sizeof *tx->slices);
    held->copy = malloc(tx->length);
    uint32_t at = 0;
    for (uint16_t i = 1; i < tx->count; at += tx->slices[i++].length)
        memcpy(held->copy + at, tx->slices[i].data, tx->slices[i].length);
    held->owner = tx->hold_owner;
    held->end = tx->hold_end;
    held->polls = f->held_polls ? f->held_polls : 1 + next_random(&f->random) % 4;
    *f->held_tail = held;
    f->held_tail = &held->next;
}

static void complete_first(struct fixture *f)
{
    struct fixture_held *held = f->held;
    uint32_t at = 0;
    for (uint16_t i = 1; i < held->count; at += held->slices[i++].length)
        // held bytes may not change
        assert_memory_equal(held->copy + at, held->slices[i].data, held->slices[i].length);
    f->held = held->next;
    if (!f->held)
        f->held_tail = &f->held;
    weir_tx_complete(&f->netif, held->owner, held->end);
    free(held->copy);
    free(held);
}

static void record(struct fixture *f, const struct weir_tx *tx)
{
    if (f->frame_count == f->frame_room) {
        f->frame_room = f->frame_room ? 2 * f->frame_room : 16;
        f->frames = realloc(f->frames, f->frame_room * sizeof *f->frames);
    }
    struct fixture_frame *frame = &f->frames[f->frame_count++];
    *frame = (struct fixture_frame){.data = malloc(tx->length),
                                    .length = tx->length,
                                    .sent_us = f->now_us,
                                    .header_length = tx->header_length,
                                    .checksum_start = tx->checksum_start,
                                    .checksum_offset = tx->checksum_offset,
                                    .segment_size = tx->segment_size,
                                    .gso = tx->gso};
    uint32_t at = 0;
    for (uint16_t i = 0; i < tx->count; at += tx->slices[i++].length)
        memcpy(frame->data + at, tx->slices[i].data, tx->slices[i].length);
}

static void check_contract(const struct fixture *f, const struct weir_tx *tx)
{
    assert_false(f->in_input);  // only weir_poll transmits
    assert_true(f->netif.flags & WEIR_NETIF_UP);
    assert_in_range(tx->count, 1, WEIR_CFG_TX_SLICES);
    uint32_t sum = 0;
    for (uint16_t i = 0; i < tx->count; i++) {
        assert_int_not_equal(tx->slices[i].length, 0);
        sum += tx->slices[i].length;
    }
    assert_int_equal(sum, tx->length);
    assert_in_range(tx->header_length, f->netif.link->header_bytes ? 14 : 1, tx->slices[0].length);
    if (tx->segment_size)
        assert_true(f->netif.capabilities & (WEIR_NETIF_TSO4 | WEIR_NETIF_USO4));
    else
        assert_in_range(tx->length, 1, f->netif.mtu + f->netif.link->header_bytes);
    if (tx->checksum_start)
        assert_true(f->netif.capabilities & WEIR_NETIF_TX_CHECKSUM);
}

static enum weir_tx_verdict driver_tx(struct weir_netif *netif, const struct weir_tx *tx)
{
    struct fixture *f = netif->driver_data;
    check_contract(f, tx);
    if (f->block_tx || (f->mode == FIXTURE_FULL_AT_RANDOM && next_random(&f->random) % 3 == 0)) {
        f->refused = true;
        f->full_count++;
        return WEIR_TX_FULL;
    }
    record(f, tx);
    if (f->places) {
        assert_in_range(++f->placed, 1, f->places);  // said to be full, it is left alone
        f->refused = f->placed == f->places;
        if (f->refused)
            weir_tx_full(netif);
    }
    if (f->mode == FIXTURE_HOLD && tx->holdable) {
        hold(f, tx);
        return WEIR_TX_HELD;
    }
    return WEIR_TX_DONE;
}

static void driver_flush(struct weir_netif *netif) { ((struct fixture *)netif->driver_data)->flushes++; }

static void driver_filter(struct weir_netif *netif, const uint8_t address[6], bool join)
{
    struct fixture *f = netif->driver_data;
    uint32_t i = 0;
    while (i < f->filter_count && memcmp(f->filter[i], address, 6) != 0)
        i++;
    if (join) {
        assert_int_equal(i, f->filter_count);  // joined once
        assert_in_range(i, 0, 63);
        memcpy(f->filter[f->filter_count++], address, 6);
    } else {
        assert_in_range(i + 1, 1, f->filter_count);  // left only after it was joined
        memcpy(f->filter[i], f->filter[--f->filter_count], 6);
    }
}

static const struct weir_driver driver = {
    .name = "fixture", .tx = driver_tx, .flush = driver_flush, .filter = driver_filter};

// --- open and close --------------------------------------------------------------------------------------------------

static enum fixture_mode mode_from_environment(void)
{
    static const char *const names[] = {[FIXTURE_PLAIN] = "plain",
                                        [FIXTURE_SCRIBBLE] = "scribble",
                                        [FIXTURE_FULL_AT_RANDOM] = "full",
                                        [FIXTURE_SLICED] = "sliced",
                                        [FIXTURE_HOLD] = "hold"};
    const char *name = getenv("WEIR_TEST_DRIVER");
    for (int mode = FIXTURE_PLAIN; name && mode <= FIXTURE_HOLD; mode++)
        if (strcmp(name, names[mode]) == 0)
            return (enum fixture_mode)mode;
    if (name) {
        fprintf(stderr, "WEIR_TEST_DRIVER must be plain, scribble, full, sliced or hold\n");
        abort();
    }
    return FIXTURE_PLAIN;
}

void fixture_set_mode(struct fixture *f, enum fixture_mode mode)
{
    f->mode = mode == FIXTURE_FROM_ENVIRONMENT ? mode_from_environment() : mode;
}

static bool create(struct fixture *f, const struct fixture_options *options)
{
    static const struct weir_config defaults;
    const struct weir_config *config = options->config ? options->config : &defaults;
    f->port = (struct weir_port){.context = f, .entropy = entropy};
    if (WEIR_CFG_ALLOCATOR) {
        f->port.alloc = allocate;
        f->port.free = release;
        f->fail_at = options->fail_at;
        f->fail_onwards = options->fail_onwards;
        f->weir = weir_create(NULL, 0, &f->port, config);
    } else {
        const size_t bytes = weir_size(config);
        f->block = malloc(bytes);
        memset(f->block, 0xa5, bytes);
        unwritten(f->block, bytes);
        f->weir = weir_create(f->block, bytes, &f->port, config);
    }
    if (!f->weir) {
        assert_int_equal(f->allocated_count, 0);  // a failed weir_create leaves nothing behind
        free(f->block);
        f->block = NULL;
    }
    return f->weir != NULL;
}

bool fixture_open_with(struct fixture *f, const struct fixture_options *options)
{
    memset(f, 0, sizeof *f);
    f->random = 0x9e3779b97f4a7c15u;
    f->entropy = 0xd1b54a32d192ed03u;
    f->held_tail = &f->held;
    f->now_us = UINT64_C(0x100000000) - SETTLE_US - 6000000u;
    fixture_set_mode(f, FIXTURE_PLAIN);
    if (!create(f, options)) {
        assert_true(options->fail_at);
        return false;
    }
    faults_begin(f);
    fixture_clock(f);
    weir_netif_init(&f->netif, "test0", &driver, options->link ? options->link : &weir_link_ethernet);
    f->netif.driver_data = f;
    f->netif.capabilities |= options->capabilities;
    if (options->mtu)
        f->netif.mtu = options->mtu;
    f->netif.flags |= options->netif_flags;
    if (options->vlan) {
        f->netif.vlan = options->vlan;
        f->netif.flags |= WEIR_NETIF_VLAN;
    }
    if (f->netif.link->header_bytes)
        memcpy(f->netif.mac, options->mac ? options->mac : FIXTURE_MAC, 6);
    faults_expecting = true;
    assert_int_equal(weir_netif_add(f->weir, &f->netif), WEIR_OK);
    if (!weir_addr_is_any(options->address) && !addr_foreign(options->address))
        assert_int_equal(weir_netif_set_address(&f->netif, options->address,
                                                options->prefix_length ? options->prefix_length
                                                                       : weir_addr_bits(options->address) - 8,
                                                WEIR_ADDRESS_AT_ONCE),
                         WEIR_OK);
    faults_expecting = false;
    fixture_poll(f, SETTLE_US);
    fixture_clear(f);
    fixture_set_mode(f, options->mode);
    return true;
}

void fixture_open(struct fixture *f, const struct weir_link *link, struct weir_addr address, uint8_t prefix_length,
                  uint16_t capabilities)
{
    const struct fixture_options options = {
        .link = link, .address = address, .prefix_length = prefix_length, .capabilities = capabilities};
    assert_true(fixture_open_with(f, &options));
}

void fixture_complete(struct fixture *f)
{
    while (f->held)
        complete_first(f);
}

void fixture_close(struct fixture *f)
{
    if (f->faults.ended)
        return;
    faults_end(f);
    f->block_tx = false;
    fixture_complete(f);
    if (f->weir)  // the test may have ended it
        weir_destroy(f->weir);
    f->weir = NULL;
    while (f->held) {  // sent by weir_destroy's last poll: nobody is left to be told
        struct fixture_held *held = f->held;
        f->held = held->next;
        free(held->copy);
        free(held);
    }
    fixture_clear(f);
    free(f->frames);
    free(f->block);
    assert_int_equal(f->allocated_count, 0);
    assert_int_equal(f->allocated_bytes, 0);
    faults_close();
}

// --- input -----------------------------------------------------------------------------------------------------------

// Each slice gets memory of exactly its length, so that the address sanitizer sees any step beyond it.
void fixture_input_now(struct fixture *f, const struct weir_frame *frame)
{
    struct weir_slice lent[WEIR_FRAME_SLICES];
    uint8_t *memory[WEIR_FRAME_SLICES];
    assert_in_range(frame->count, 1, WEIR_FRAME_SLICES);
    assert_in_range(frame->slices[0].length, frame->length < WEIR_FRAME_HEAD ? frame->length : WEIR_FRAME_HEAD,
                    frame->length);
    for (uint16_t i = 0; i < frame->count; i++) {
        memory[i] = malloc(frame->slices[i].length ? frame->slices[i].length : 1);
        memcpy(memory[i], frame->slices[i].data, frame->slices[i].length);
        lent[i] = (struct weir_slice){memory[i], frame->slices[i].length};
    }
    struct weir_frame copy = *frame;
    copy.slices = lent;
    fixture_clock(f);
    f->in_input = true;
    weir_input(&f->netif, &copy);
    f->in_input = false;
    for (uint16_t i = 0; i < frame->count; i++) {
        assert_memory_equal(memory[i], frame->slices[i].data, frame->slices[i].length);  // received bytes are const
        memset(memory[i], 0xdb, frame->slices[i].length);
        free(memory[i]);
    }
}

void fixture_input_frame(struct fixture *f, const struct weir_frame *frame)
{
    if (!faults_take(f, frame))
        fixture_input_now(f, frame);
}

void fixture_input_slices(struct fixture *f, const struct weir_slice *slices, uint16_t count)
{
    struct weir_frame frame = {.slices = slices, .count = count};
    for (uint16_t i = 0; i < count; i++)
        frame.length += slices[i].length;
    fixture_input_frame(f, &frame);
}

// The slices a frame is delivered in: one, or in SLICED mode as many as there may be.
static uint16_t slice_up(const struct fixture *f, const uint8_t *bytes, uint32_t length,
                         struct weir_slice slices[WEIR_FRAME_SLICES])
{
    slices[0] = (struct weir_slice){bytes, length};
    if (f->mode != FIXTURE_SLICED || length <= WEIR_FRAME_HEAD)
        return 1;
    slices[0].length = WEIR_FRAME_HEAD;
    const uint32_t rest = length - WEIR_FRAME_HEAD;
    const uint32_t pieces = rest < WEIR_FRAME_SLICES - 1 ? rest : WEIR_FRAME_SLICES - 1;
    uint32_t at = WEIR_FRAME_HEAD;
    for (uint32_t i = 0; i < pieces; i++) {
        const uint32_t piece = rest / pieces + (i < rest % pieces);
        slices[1 + i] = (struct weir_slice){bytes + at, piece};
        at += piece;
    }
    return (uint16_t)(1 + pieces);
}

void fixture_input(struct fixture *f, const void *bytes, uint32_t length)
{
    struct weir_slice slices[WEIR_FRAME_SLICES];
    const uint16_t count = slice_up(f, bytes, length, slices);
    fixture_input_slices(f, slices, count);
}

#define INPUT_ROOM (ETHERNET_BYTES + VLAN_BYTES + IP6_BYTES)  // of headers

// `bytes` has INPUT_ROOM, then the payload; `head` of it is the network header.
static void input_linked(struct fixture *f, uint8_t *bytes, uint8_t *head, uint16_t type, uint32_t length)
{
    if (f->netif.link->header_bytes) {
        const struct ethernet link = {.destination = FIXTURE_MAC,
                                      .source = FIXTURE_PEER_MAC,
                                      .type = type,
                                      .vlan = f->netif.vlan,
                                      .tagged = f->netif.flags & WEIR_NETIF_VLAN};
        head = ethernet_emit(head, &link);
    }
    fixture_input(f, head, (uint32_t)(bytes + INPUT_ROOM + length - head));
    free(bytes);
}

static uint8_t *input_bytes(const void *payload, uint32_t length)
{
    uint8_t *bytes = malloc(INPUT_ROOM + length);
    if (length)
        memcpy(bytes + INPUT_ROOM, payload, length);
    return bytes;
}

void fixture_input_ip4(struct fixture *f, struct weir_addr source, struct weir_addr destination, uint8_t protocol,
                       const void *payload, uint32_t length)
{
    uint8_t *bytes = input_bytes(payload, length);
    const struct ip4 ip = {.source = weir_addr_to_v4(source),
                           .destination = weir_addr_to_v4(destination),
                           .total_length = (uint16_t)(IP4_BYTES + length),
                           .tos = f->input_tos,
                           .ttl = 64,
                           .protocol = protocol,
                           .flags = IP4_DONT_FRAGMENT};
    ip4_emit(bytes + INPUT_ROOM - IP4_BYTES, &ip);
    input_linked(f, bytes, bytes + INPUT_ROOM - IP4_BYTES, ETHERTYPE_IP4, length);
}

#if WEIR_CFG_IP6
static void fixture_input_ip6(struct fixture *f, struct weir_addr source, struct weir_addr destination,
                              uint8_t protocol, const void *payload, uint32_t length)
{
    uint8_t *bytes = input_bytes(payload, length), from[IP6_ADDRESS_BYTES], to[IP6_ADDRESS_BYTES];
    weir_addr_to_v6(source, from);
    weir_addr_to_v6(destination, to);
    const struct ip6 ip = {.source = from,
                           .destination = to,
                           .payload_length = (uint16_t)length,
                           .traffic_class = f->input_tos,
                           .next_header = protocol,
                           .hop_limit = 64};
    ip6_emit(bytes + INPUT_ROOM - IP6_BYTES, &ip);
    input_linked(f, bytes, bytes + INPUT_ROOM - IP6_BYTES, ETHERTYPE_IP6, length);
}

void fixture_input_ip(struct fixture *f, struct weir_addr source, struct weir_addr destination, uint8_t protocol,
                      const void *payload, uint32_t length)
{
    if (weir_addr_is_v4(destination))
        fixture_input_ip4(f, source, destination, protocol, payload, length);
    else
        fixture_input_ip6(f, source, destination, protocol, payload, length);
}
#else
void fixture_input_ip(struct fixture *f, struct weir_addr source, struct weir_addr destination, uint8_t protocol,
                      const void *payload, uint32_t length)
{
    fixture_input_ip4(f, source, destination, protocol, payload, length);
}
#endif

void fixture_know_peer(struct fixture *f, struct weir_addr address)
{
#if WEIR_CFG_ARP_CACHE
    faults_expecting = true;
    if (f->netif.link->header_bytes)
        assert_int_equal(weir_neighbour_add_static(f->weir, &f->netif, address, FIXTURE_PEER_MAC), WEIR_OK);
    faults_expecting = false;
#else
    (void)f, (void)address;
#endif
}

// --- time ------------------------------------------------------------------------------------------------------------

void fixture_clock(struct fixture *f) { weir_clock(f->weir, f->now_us + f->faults.ahead_us); }

// By the fixture's clock.
static uint64_t fixture_deadline(const struct fixture *f, uint64_t deadline_us)
{
    if (deadline_us == WEIR_NEVER)
        return deadline_us;
    return deadline_us > f->faults.ahead_us ? deadline_us - f->faults.ahead_us : 0;
}

static void complete_due(struct fixture *f)
{
    for (struct fixture_held *held = f->held; held; held = held->next)
        held->polls -= held->polls > 0;
    while (f->held && f->held->polls == 0)
        complete_first(f);
}

// Polls until nothing is left to do now: work left over, or a driver that said FULL and has room again.
static uint64_t poll_now(struct fixture *f)
{
    for (uint32_t polls = 0; polls < POLLS_WITHOUT_REST; polls++) {
        if (!f->held_polls)
            complete_due(f);
        f->in_poll = true;
        const uint64_t deadline = fixture_deadline(f, weir_poll(f->weir, f->now_us + f->faults.ahead_us));
        f->in_poll = false;
        if (f->refused && !f->block_tx) {
            f->refused = false;
            f->placed = 0;
            weir_tx_ready(&f->netif);
        } else if (f->held && !f->held_polls) {
            continue;
        } else if (deadline > f->now_us) {
            return deadline;
        } else if (f->block_tx) {
            return f->now_us + 1000;
        }
    }
    fail_msg("weir_poll finds work for ever");
    return 0;
}

uint64_t fixture_poll(struct fixture *f, uint64_t advance_us)
{
    const uint64_t target = f->now_us + advance_us;
    uint64_t deadline;
    faults_step(f);
    if (f->held_polls)
        complete_due(f);
    while ((deadline = poll_now(f)) < target)
        f->now_us = deadline;
    f->now_us = target;
    return poll_now(f);
}

void fixture_unblock(struct fixture *f, uint64_t advance_us)
{
    f->block_tx = false;
    weir_tx_ready(&f->netif);
    fixture_poll(f, advance_us);
}

// --- what was sent ---------------------------------------------------------------------------------------------------

uint32_t fixture_sent_count(const struct fixture *f) { return f->frame_count; }

const struct fixture_frame *fixture_sent_frame(const struct fixture *f, uint32_t index)
{
    faults_expecting = true;
    assert_in_range(index + 1, 1, f->frame_count);
    faults_expecting = false;
    return &f->frames[index];
}

const uint8_t *fixture_sent(const struct fixture *f, uint32_t index, uint32_t *length)
{
    const struct fixture_frame *frame = fixture_sent_frame(f, index);
    *length = frame->length;
    return frame->data;
}

const uint8_t *fixture_sent_packet(const struct fixture *f, uint32_t index, uint32_t *length)
{
    const uint8_t *data = fixture_sent(f, index, length);
    struct ethernet link;
    const uint32_t skip = f->netif.link->header_bytes ? ethernet_parse(data, *length, &link) : 0;
    *length -= skip;
    return data + skip;
}

void fixture_clear(struct fixture *f)
{
    for (uint32_t i = 0; i < f->frame_count; i++)
        free(f->frames[i].data);
    f->frame_count = 0;
}

uint32_t fixture_carry(struct fixture *from, struct fixture *to)
{
    const uint32_t count = from->frame_count;
    for (uint32_t i = 0; i < count; i++) {
        const struct fixture_frame *frame = &from->frames[i];
        if (frame->checksum_start == 0 && frame->segment_size == 0) {
            fixture_input(to, frame->data, frame->length);
        } else {
            // A device with offloads on both ends: the frame crosses whole, its checksum never computed.
            struct weir_slice slices[WEIR_FRAME_SLICES];
            const uint32_t payload = frame->length - frame->header_length;
            const struct weir_frame merged = {
                .slices = slices,
                .length = frame->length,
                .count = slice_up(to, frame->data, frame->length, slices),
                .checksum = WEIR_CHECKSUM_VERIFIED,
                .segment_size = frame->segment_size,
                .segments =
                    (uint16_t)(frame->segment_size ? (payload + frame->segment_size - 1) / frame->segment_size : 1)};
            fixture_input_frame(to, &merged);
        }
    }
    fixture_clear(from);
    return count;
}

void fixture_run_pair(struct fixture *a, struct fixture *b, uint64_t advance_us)
{
    const uint64_t target = a->now_us + advance_us;
    assert_int_equal(a->now_us, b->now_us);
    for (;;) {
        uint64_t next_a, next_b;
        uint32_t carried, rounds = 0;
        do {
            next_a = fixture_poll(a, 0);
            carried = fixture_carry(a, b);
            next_b = fixture_poll(b, 0);
            carried += fixture_carry(b, a);
            assert_in_range(++rounds, 1, POLLS_WITHOUT_REST);
        } while (carried);
        const uint64_t next = next_a < next_b ? next_a : next_b;
        if (a->now_us >= target)
            return;
        a->now_us = b->now_us = next < target ? next : target;
    }
}

uint32_t fixture_count(const struct fixture *f, enum weir_counter counter)
{
    return weir_counter_get(f->weir, counter);
}
