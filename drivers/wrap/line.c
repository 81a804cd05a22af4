// SPDX-License-Identifier: BSD-2-Clause
#include "line.h"

#include <stdlib.h>
#include <string.h>

#define DRAIN_US 1000000u

struct line_frame {
    struct line_frame *next, *previous;
    uint64_t due_us;
    struct weir_slice slice;
    union {
        struct weir_tx tx;
        struct weir_frame rx;
    };
    uint8_t room[];
};

// A frame with its bytes in one piece, as aligned as they were: drivers align the IP header.
static struct line_frame *copy(struct line *line, const struct weir_slice *slices, uint16_t count, uint32_t length)
{
    if (line->bytes + length > line->limit_bytes)
        return NULL;
    struct line_frame *frame = malloc(sizeof *frame + length + 3);
    if (frame == NULL)
        return NULL;
    uint8_t *at = frame->room + (((uintptr_t)slices[0].data - (uintptr_t)frame->room) & 3);
    frame->slice = (struct weir_slice){at, length};
    for (uint16_t i = 0; i < count; i++) {
        memcpy(at, slices[i].data, slices[i].length);
        at += slices[i].length;
    }
    return frame;
}

// From the end: nearly every frame is due last.
static void insert(struct line *line, struct line_frame *frame, uint64_t due_us)
{
    struct line_frame *before = line->last;
    while (before != NULL && before->due_us > due_us)
        before = before->previous;
    frame->due_us = due_us;
    frame->previous = before;
    frame->next = before ? before->next : line->first;
    *(frame->next ? &frame->next->previous : &line->last) = frame;
    *(before ? &before->next : &line->first) = frame;
    line->bytes += frame->slice.length;
    line->frames++;
}

static void remove_first(struct line *line)
{
    struct line_frame *frame = line->first;
    line->first = frame->next;
    *(frame->next ? &frame->next->previous : &line->last) = NULL;
    line->bytes -= frame->slice.length;
    line->frames--;
    free(frame);
}

uint8_t *line_put_tx(struct line *line, const struct weir_tx *tx, uint64_t due_us)
{
    struct line_frame *frame = copy(line, tx->slices, tx->count, tx->length);
    if (frame == NULL)
        return NULL;
    frame->tx = *tx;
    frame->tx.slices = &frame->slice;
    frame->tx.count = 1;
    frame->tx.holdable = false;  // the line frees it when tx returns
    insert(line, frame, due_us);
    return (uint8_t *)frame->slice.data;
}

uint8_t *line_put_rx(struct line *line, const struct weir_frame *received, uint64_t due_us, enum weir_checksum checksum)
{
    struct line_frame *frame = copy(line, received->slices, received->count, received->length);
    if (frame == NULL)
        return NULL;
    frame->rx = *received;
    frame->rx.slices = &frame->slice;
    frame->rx.count = 1;
    frame->rx.checksum = (uint8_t)checksum;
    insert(line, frame, due_us);
    return (uint8_t *)frame->slice.data;
}

bool line_busy(const struct line *line, uint64_t now_us)
{
    return line->first != NULL && line->first->due_us <= now_us;
}

int line_run_tx(struct line *line, struct wrap *wrap, uint64_t now_us)
{
    int sent = 0;
    line->blocked = false;
    while (line_busy(line, now_us)) {
        if (wrap_tx(wrap, &line->first->tx) == WEIR_TX_FULL) {
            line->blocked = true;
            break;
        }
        remove_first(line);
        sent++;
    }
    if (sent > 0)
        wrap_flush(wrap);
    return sent;
}

int line_run_rx(struct line *line, struct wrap *wrap, uint64_t now_us)
{
    int delivered = 0;
    for (; line_busy(line, now_us); delivered++) {
        weir_netif_deliver(&wrap->outer, &line->first->rx);
        remove_first(line);
    }
    return delivered;
}

uint64_t line_next(const struct line *line, uint64_t now_us)
{
    if (line->first == NULL)
        return WEIR_NEVER;
    return line->blocked ? now_us + LINE_RETRY_US : line->first->due_us;
}

uint64_t line_drain(struct line *line, struct wrap *wrap, uint64_t now_us)
{
    wrap->outer.weir = NULL;
    wrap->now_us = now_us;
    if (line_run_tx(line, wrap, now_us) > 0 || line->drained_us == 0)
        line->drained_us = now_us;
    if (line->blocked && now_us - line->drained_us >= DRAIN_US)
        line_clear(line);
    return line_next(line, now_us);
}

void line_clear(struct line *line)
{
    while (line->first != NULL)
        remove_first(line);
    line->blocked = false;
}
