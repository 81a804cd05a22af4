// SPDX-License-Identifier: BSD-2-Clause
#include "pair.h"

#include <stdlib.h>
#include <string.h>

#include "link/ethernet.h"
#include "wire/ip4.h"
#include "wire/ip6.h"

#define REORDER_US 1000u
#define PAIR_FULL_FRAME 1514u
#define ROUNDS_WITHOUT_TIME 100000u

static uint32_t next_random(struct pair *pair)
{
    pair->random ^= pair->random << 13;
    pair->random ^= pair->random >> 7;
    pair->random ^= pair->random << 17;
    return (uint32_t)(pair->random >> 20);
}

static bool happens(struct pair *pair, uint32_t ppm) { return ppm && next_random(pair) % 1000000u < ppm; }

void pair_open(struct pair *pair, const struct pair_options *options)
{
    static const uint8_t mac_b[6] = {0x02, 0x57, 0x45, 0x49, 0x52, 0x42};
    struct fixture_options a = options->a, b = options->b;
    memset(pair, 0, sizeof *pair);
    pair->link[0] = options->link;
    pair->link[1] = options->back ? *options->back : options->link;
    pair->random = options->seed * 0x9e3779b97f4a7c15u + 0x2545f4914f6cdd1du;
    a.address = PAIR_A;
    b.address = PAIR_B;
    b.mac = mac_b;
    assert_true(fixture_open_with(&pair->a, &a));
    assert_true(fixture_open_with(&pair->b, &b));
    pair->b.entropy ^= 0x5555;
}

void pair_close(struct pair *pair)
{
    while (pair->flying) {
        struct pair_frame *frame = pair->flying;
        pair->flying = frame->next;
        free(frame);
    }
    fixture_close(&pair->a);
    fixture_close(&pair->b);
}

static void fly(struct pair *pair, bool to_a, const uint8_t *data, uint32_t length, uint64_t due_us, bool corrupt)
{
    struct pair_frame *frame = malloc(sizeof *frame + length);
    memcpy(frame->data, data, length);
    frame->due_us = due_us;
    frame->order = pair->order++;
    frame->to_a = to_a;
    frame->length = length;
    if (corrupt)
        frame->data[next_random(pair) % length] ^= (uint8_t)(1u << next_random(pair) % 8);
    struct pair_frame **at = &pair->flying;
    while (*at && ((*at)->due_us < due_us || ((*at)->due_us == due_us && (*at)->order < frame->order)))
        at = &(*at)->next;
    frame->next = *at;
    *at = frame;
}

// An IPv6 packet that says it may be marked: marks it, when `mark`.
static void congestion6(struct pair_stats *stats, uint8_t *packet, bool mark)
{
    const uint32_t codepoint = packet[1] >> 4 & 3;
    stats->capable += codepoint != 0;
    if (!codepoint || !mark || codepoint == 3)
        return;
    stats->marked++;
    packet[1] |= 3 << 4;
}

// Likewise a frame with a packet of either family.
static void congestion(struct pair_stats *stats, uint8_t *frame, uint32_t length, bool mark)
{
    // no link address of ours begins so: raw IP
    const uint32_t at = frame[0] >> 4 == 4 || frame[0] >> 4 == 6 ? 0 : ETHERNET_BYTES;
    uint8_t *const packet = frame + at;
    if (length >= at + IP6_BYTES && packet[0] >> 4 == 6 && (!at || get16(frame + 12) == ETHERTYPE_IP6)) {
        congestion6(stats, packet, mark);
        return;
    }
    if (length < at + IP4_BYTES || (at && get16(frame + 12) != ETHERTYPE_IP4) || !(packet[1] & 3))
        return;
    stats->capable++;
    if (!mark || packet[1] % 4 == 3)
        return;
    stats->marked++;
    packet[1] |= 3;
    put16(packet + 10, 0);
    checksum_put(packet + 10, checksum_sum_portable(packet, (packet[0] & 15u) * 4));
}

static void carry(struct pair *pair, bool from_b, uint8_t *data, uint32_t length)
{
    const struct pair_link *link = &pair->link[from_b];
    struct pair_stats *stats = &pair->stats[from_b];
    const uint64_t now_us = pair_now_us(pair);
    stats->sent++;
    // Drawn first, but a frame lost at random has passed the queue and used the rate.
    const bool lost = happens(pair, link->loss_ppm);
    if (pair->filter && !pair->filter(pair->filter_context, from_b, data, length)) {
        stats->lost++;
        return;
    }
    bool mark = happens(pair, link->mark_ppm);
    uint64_t due_us = now_us + link->delay_us;
    if (link->rate) {
        const uint64_t line_us = length * UINT64_C(1000000) / link->rate;
        uint64_t *free_us = &pair->free_us[from_b];
        const uint64_t queue_us = (uint64_t)link->queue_frames * PAIR_FULL_FRAME * 1000000u / link->rate;
        if (link->queue_frames && *free_us > now_us + queue_us) {
            stats->lost++;
            return;
        }
        mark |= link->mark_frames && *free_us > now_us + line_us * link->mark_frames;
        *free_us = (*free_us > now_us ? *free_us : now_us) + line_us;
        due_us = *free_us + link->delay_us;
    }
    if (lost) {
        stats->lost++;
        return;
    }
    congestion(stats, data, length, mark);
    if (happens(pair, link->reorder_ppm)) {
        stats->reordered++;
        due_us += link->reorder_us ? link->reorder_us : REORDER_US;
    }
    const bool corrupt = happens(pair, link->corrupt_ppm);
    stats->corrupted += corrupt;
    fly(pair, from_b, data, length, due_us, corrupt);
    if (happens(pair, link->duplicate_ppm)) {
        stats->duplicated++;
        fly(pair, from_b, data, length, due_us, false);
    }
}

static void take(struct pair *pair, struct fixture *from)
{
    for (uint32_t index = 0; index < from->frame_count; index++)
        carry(pair, from == &pair->b, from->frames[index].data, from->frames[index].length);
    fixture_clear(from);
}

static uint32_t deliver(struct pair *pair)
{
    uint32_t count = 0;
    while (pair->flying && pair->flying->due_us <= pair_now_us(pair)) {
        struct pair_frame *frame = pair->flying;
        pair->flying = frame->next;
        pair->stats[frame->to_a].delivered++;
        fixture_input(frame->to_a ? &pair->a : &pair->b, frame->data, frame->length);
        free(frame);
        count++;
    }
    return count;
}

static void set_time(struct pair *pair, uint64_t now_us)
{
    pair->a.now_us = pair->b.now_us = now_us;
    fixture_clock(&pair->a);
    fixture_clock(&pair->b);
}

// Everything that happens at this moment; returns when the next thing does.
static uint64_t settle(struct pair *pair)
{
    uint64_t next_a, next_b;
    uint32_t rounds = 0;
    do {
        deliver(pair);
        next_a = fixture_poll(&pair->a, 0);
        take(pair, &pair->a);
        next_b = fixture_poll(&pair->b, 0);
        take(pair, &pair->b);
        assert_in_range(++rounds, 1, ROUNDS_WITHOUT_TIME);
    } while (pair->flying && pair->flying->due_us <= pair_now_us(pair));
    uint64_t next = next_a < next_b ? next_a : next_b;
    if (pair->flying && pair->flying->due_us < next)
        next = pair->flying->due_us;
    return next;
}

bool pair_run_until(struct pair *pair, bool (*done)(void *context), void *context, uint64_t limit_us)
{
    const uint64_t target = pair_now_us(pair) + limit_us;
    for (;;) {
        uint64_t next = settle(pair);
        if (done && done(context))
            return true;
        if (weir_output_pending(pair->a.weir) || weir_output_pending(pair->b.weir))
            next = settle(pair);  // done() may have queued output
        if (pair_now_us(pair) >= target)
            return false;
        set_time(pair, next < target ? (next > pair_now_us(pair) ? next : pair_now_us(pair) + 1) : target);
    }
}

void pair_run(struct pair *pair, uint64_t advance_us) { pair_run_until(pair, NULL, NULL, advance_us); }

weir_socket pair_listen(struct pair *pair, uint16_t port, uint32_t backlog)
{
    const struct weir_endpoint local = {weir_addr_any(), port};
    const weir_socket listener = weir_socket_open(pair->b.weir, WEIR_STREAM, 0);
    assert_true(listener > 0);
    assert_int_equal(weir_socket_set(pair->b.weir, listener, WEIR_OPTION_REUSE_ADDRESS, 1), WEIR_OK);
    assert_int_equal(weir_socket_bind(pair->b.weir, listener, &local), WEIR_OK);
    assert_int_equal(weir_socket_listen(pair->b.weir, listener, backlog), WEIR_OK);
    return listener;
}

weir_socket pair_ask(struct pair *pair, uint16_t port)
{
    const struct weir_endpoint peer = {PAIR_B, port};
    const weir_socket client = weir_socket_open(pair->a.weir, WEIR_STREAM, 0);
    assert_true(client > 0);
    assert_int_equal(weir_socket_connect(pair->a.weir, client, &peer), WEIR_IN_PROGRESS);
    return client;
}

void pair_connect(struct pair *pair, uint16_t port, weir_socket *client, weir_socket *server)
{
    const weir_socket listener = pair_listen(pair, port, 1);
    *client = pair_ask(pair, port);
    *server = WEIR_AGAIN;
    for (int tries = 0; tries < 100 && *server == WEIR_AGAIN; tries++) {
        pair_run(pair, 100000);
        *server = weir_socket_accept(pair->b.weir, listener);
    }
    assert_true(*server > 0);
    assert_int_equal(weir_socket_close(pair->b.weir, listener), WEIR_OK);
}

bool pair_transfer(void *transfer)
{
    static const uint8_t zeros[4096];
    struct pair_transfer *const t = transfer;
    uint8_t bytes[4096];
    for (int wrote = 1; wrote > 0 && t->sent < t->bytes;) {
        wrote = weir_socket_write(t->pair->a.weir, t->from, zeros, min_u32(sizeof zeros, t->bytes - t->sent));
        t->sent += wrote > 0 ? (uint32_t)wrote : 0;
    }
    for (int got = 1; got > 0;) {
        got = weir_socket_read(t->pair->b.weir, t->to, bytes, sizeof bytes);
        t->received += got > 0 ? (uint32_t)got : 0;
    }
    return t->received >= t->bytes;
}
