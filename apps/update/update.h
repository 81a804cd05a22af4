// SPDX-License-Identifier: BSD-2-Clause
// Takes a new image for the slot that does not run, piece by piece as it comes (from TFTP, HTTP, a serial line), and
// makes it the one to be started once it is whole. What comes is a header (update_header_emit;
// examples/update/image.py) and the image. A checksum finds accidents, not enemies: where images come over a network
// that is not trusted, give `accept` a check of a signature.
#ifndef APPS_UPDATE_UPDATE_H
#define APPS_UPDATE_UPDATE_H

#include "slots.h"
#include "weir/linkage/update.h"

WEIR_BEGIN_DECLS

enum update_error {  // negative, and none of enum weir_error's
    UPDATE_MALFORMED = -2000,
    UPDATE_OTHER_BOARD,
    UPDATE_NOT_NEWER,  // than what runs
    UPDATE_FAILED_BEFORE,
    UPDATE_TOO_LARGE,
    UPDATE_DAMAGED,  // too short or too long, a wrong checksum
    UPDATE_FLASH,
    UPDATE_NOT_ACCEPTED,
};

struct update {
    const struct update_flash *flash;
    uint32_t board, slot, running_version;
    // Asked when the image is whole in its slot, before it can be started: false refuses it. NULL: not asked.
    bool (*accept)(const struct update *update, void *context);
    void *context;
    struct update_header header;
    uint32_t taken;  // bytes, the header's with them
    uint8_t header_bytes[UPDATE_HEADER_BYTES];
    uint8_t row[UPDATE_MARK_BYTES];  // of the image, not yet written
};

// `running`: the slot that runs, which stays as it is. What the other one holds is erased when the header was taken.
void update_begin(struct update *update, const struct update_flash *flash, uint32_t board, uint32_t running);
// The next piece. 0, or an enum update_error: then it has ended. Of a piece that is no longer than a sector it erases
// one sector at most: flash that stops the processor while it erases does so for one erasure, and packets are taken
// between two pieces.
int update_take(struct update *update, const void *data, uint32_t bytes);
// There is no more. 0: with the next start it is tried. Erases one sector, and reads the whole image.
int update_end(struct update *update);
const char *update_error_name(int error);

WEIR_END_DECLS

#endif
