// SPDX-License-Identifier: BSD-2-Clause
// Both ends of a driver without a stack: a receiver (weir_upper) that records what a driver delivers, and a bottom
// driver that records what is sent and answers as told. Time is ends.now_us.
#ifndef TESTS_LINK_ENDS_H
#define TESTS_LINK_ENDS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "weir/instance.h"
#include "weir/netif.h"

#define ENDS_FRAMES 4096

struct ends_frame {
    uint8_t bytes[256];  // the first of them
    uint32_t length;
    uint64_t at_us;
    uint16_t segments, segment_size, checksum_start;
    uint8_t checksum;
};

struct ends {
    struct weir *weir;  // for its clock alone
    uint64_t now_us;
    struct weir_netif netif;  // of the bottom driver, or of the driver under test
    struct ends_frame received[ENDS_FRAMES], sent[ENDS_FRAMES];
    uint32_t received_count, sent_count;
    uint32_t ready_count, carrier_count, complete_count, flush_count;
    void *completed_owner;
    bool carrier;
    bool full;  // the bottom driver answers FULL
    bool slow;  // it does after each frame that it takes
    bool hold;  // the bottom driver answers HELD, where it may
};

static struct ends ends;

static void *ends_alloc(void *context, size_t bytes)
{
    (void)context;
    return malloc(bytes);
}
static void ends_free(void *context, void *memory, size_t bytes)
{
    (void)context, (void)bytes;
    free(memory);
}
static void ends_entropy(void *context, void *out, size_t bytes)
{
    (void)context;
    memset(out, 0x5a, bytes);
}
static const struct weir_port ends_port = {.alloc = ends_alloc, .free = ends_free, .entropy = ends_entropy};

static inline void ends_clock(uint64_t now_us)
{
    ends.now_us = now_us;
    weir_clock(ends.weir, now_us);
}

static void ends_record(struct ends_frame *to, const struct weir_slice *slices, uint16_t count, uint32_t length)
{
    uint32_t at = 0;
    for (uint16_t i = 0; i < count; i++) {
        uint32_t room = at < sizeof to->bytes ? (uint32_t)sizeof to->bytes - at : 0;
        memcpy(to->bytes + (room ? at : 0), slices[i].data, slices[i].length < room ? slices[i].length : room);
        at += slices[i].length;
    }
    assert_int_equal(at, length);
    to->length = length;
    to->at_us = ends.now_us;
}

static void ends_input(struct weir_netif *netif, const struct weir_frame *frame)
{
    (void)netif;
    assert_true(ends.received_count < ENDS_FRAMES);
    struct ends_frame *to = &ends.received[ends.received_count++];
    ends_record(to, frame->slices, frame->count, frame->length);
    to->segments = frame->segments;
    to->segment_size = frame->segment_size;
    to->checksum = frame->checksum;
}
static void ends_ready(struct weir_netif *netif)
{
    (void)netif;
    ends.ready_count++;
}
static void ends_complete(struct weir_netif *netif, void *owner, uint32_t end)
{
    (void)netif, (void)end;
    ends.complete_count++;
    ends.completed_owner = owner;
}
static void ends_carrier(struct weir_netif *netif, bool up)
{
    (void)netif;
    ends.carrier_count++;
    ends.carrier = up;
}
static const struct weir_upper ends_upper = {ends_input, ends_ready, ends_complete, ends_carrier};

static enum weir_tx_verdict ends_tx(struct weir_netif *netif, const struct weir_tx *tx)
{
    (void)netif;
    if (ends.full)
        return WEIR_TX_FULL;
    assert_true(ends.sent_count < ENDS_FRAMES);
    struct ends_frame *to = &ends.sent[ends.sent_count++];
    ends_record(to, tx->slices, tx->count, tx->length);
    to->checksum_start = tx->checksum_start;
    to->segment_size = tx->segment_size;
    ends.full = ends.slow;
    return ends.hold && tx->holdable ? WEIR_TX_HELD : WEIR_TX_DONE;
}
static void ends_flush(struct weir_netif *netif)
{
    (void)netif;
    ends.flush_count++;
}
static const struct weir_driver ends_driver = {.name = "ends", .tx = ends_tx, .flush = ends_flush};

// Everything forgotten; time is one second; ends.netif is the bottom driver's.
static inline void ends_open(void)
{
    if (ends.weir)
        weir_destroy(ends.weir);
    memset(&ends, 0, sizeof ends);
    ends.weir = weir_create(NULL, 0, &ends_port, NULL);
    assert_non_null(ends.weir);
    ends_clock(1000000);
    weir_netif_init(&ends.netif, "end0", &ends_driver, &weir_link_ethernet);
    ends.netif.capabilities |= WEIR_NETIF_TX_CHECKSUM | WEIR_NETIF_TSO4;
}

// Puts the recorder on top of `outer`, as the stack would be.
static inline void ends_attach(struct weir_netif *outer)
{
    outer->weir = ends.weir;
    outer->upper = &ends_upper;
}

// A frame of `length` bytes that carries `number`, sent from above through `outer` in two slices.
static inline enum weir_tx_verdict ends_send(struct weir_netif *outer, uint32_t number, uint32_t length)
{
    uint8_t bytes[4096] = {0};
    memcpy(bytes, &number, sizeof number);
    struct weir_slice slices[2] = {{bytes, 54}, {bytes + 54, length - 54}};
    struct weir_tx tx = {.slices = slices,
                         .length = length,
                         .count = 2,
                         .header_length = 54,
                         .holdable = true,
                         .hold_owner = (void *)slices};
    enum weir_tx_verdict verdict = outer->driver->tx(outer, &tx);
    memset(bytes, 0xee, sizeof bytes);  // lent for the call only
    return verdict;
}

// Ends the last world.
static inline int ends_end(void **state)
{
    (void)state;
    if (ends.weir)
        weir_destroy(ends.weir);
    ends.weir = NULL;
    return 0;
}

// A frame arrives from the bottom driver.
static inline void ends_arrive(uint32_t number, uint32_t length)
{
    uint8_t bytes[2048] = {0};
    memcpy(bytes, &number, sizeof number);
    struct weir_slice slice = {bytes, length};
    struct weir_frame frame = {.slices = &slice, .length = length, .count = 1, .checksum = WEIR_CHECKSUM_VERIFIED};
    weir_netif_deliver(&ends.netif, &frame);
    memset(bytes, 0xee, sizeof bytes);
}

static inline uint32_t ends_number(const struct ends_frame *frame)
{
    uint32_t number;
    memcpy(&number, frame->bytes, sizeof number);
    return number;
}

// Lets time pass to `until_us`, calling the timer at each deadline as a poller does.
static inline void ends_run(struct weir_netif *outer, uint64_t until_us)
{
    for (;;) {
        uint64_t due_us = outer->driver->timer(outer, ends.now_us);
        if (due_us <= ends.now_us)
            continue;
        if (due_us > until_us)
            break;
        ends_clock(due_us);
    }
    ends_clock(until_us);
}

#endif
