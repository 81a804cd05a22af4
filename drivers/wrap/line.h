// SPDX-License-Identifier: BSD-2-Clause
// A delay line: copies of frames that wait for their time, in one direction of a wrapper. Sorted by due time; equal
// times keep their order. Memory is malloc's, bounded by limit_bytes.
#ifndef DRIVERS_WRAP_LINE_H
#define DRIVERS_WRAP_LINE_H

#include <stdbool.h>
#include <stdint.h>

#include "wrap.h"
#include "weir/language.h"
#include "weir/linkage/posix.h"

WEIR_BEGIN_DECLS

// A full driver is asked again after so long, should nobody say that it has room (the stack, to which nothing was
// refused, does not wait for it).
#define LINE_RETRY_US 1000u

struct line_frame;

struct line {
    struct line_frame *first, *last;
    uint64_t bytes, limit_bytes;  // of the frames in it
    uint32_t frames;
    bool blocked;         // the driver said FULL
    uint64_t drained_us;  // when a drain began, or sent something last; 0: there is none
};

// Copies a frame into the line and returns the copy's bytes, which the caller may change; NULL: over the limit, or no
// memory.
uint8_t *line_put_tx(struct line *line, const struct weir_tx *tx, uint64_t due_us);
uint8_t *line_put_rx(struct line *line, const struct weir_frame *frame, uint64_t due_us, enum weir_checksum checksum);
// Whether a frame that comes now must wait behind one that is due.
bool line_busy(const struct line *line, uint64_t now_us);
// Sends (delivers) every frame due by now_us, also when the driver was full before; work bounded by the line's content.
// Returns how many.
int line_run_tx(struct line *line, struct wrap *wrap, uint64_t now_us);
int line_run_rx(struct line *line, struct wrap *wrap, uint64_t now_us);
// When line_run shall be called next; WEIR_NEVER: the line is empty.
uint64_t line_next(const struct line *line, uint64_t now_us);
// After weir_netif_remove: sends what is due by now_us and returns when to call again; WEIR_NEVER: nothing is left. A
// driver that refuses a frame for a second gets no more, and the line is cleared.
uint64_t line_drain(struct line *line, struct wrap *wrap, uint64_t now_us);
void line_clear(struct line *line);

WEIR_END_DECLS

#endif
