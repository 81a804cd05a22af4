// SPDX-License-Identifier: BSD-2-Clause
// Firmware in two slots of flash: what lies in them, which of them a boot loader starts, and when it goes back to the
// other. Needs no stack, no memory but its stack's, and no clock.
//
// A slot is a header, the image, and in its last sector two marks. Flash is erased to ones and written once: a header
// is written last, when the image behind it is whole, so a power cut at any moment leaves a slot that is either whole
// or empty. The boot loader sets the first mark before it starts an image that is new; the image sets the second when
// it has found that it works. One that is started a second time without that is passed over for the other slot's.
#ifndef APPS_UPDATE_SLOTS_H
#define APPS_UPDATE_SLOTS_H

#include "weir/linkage/update.h"

#include <stdbool.h>
#include <stdint.h>

WEIR_BEGIN_DECLS

#define UPDATE_SLOTS 2u
#define UPDATE_HEADER_BYTES 32u
#define UPDATE_MARK_BYTES 16u  // each mark's own place: what flash can write at once

// What a slot's flash can do. Offsets and lengths of `write` are multiples of UPDATE_MARK_BYTES. 0, or an error.
struct update_flash {
    uint32_t slot_bytes, sector_bytes;
    int (*read)(void *context, uint32_t slot, uint32_t at, void *out, uint32_t bytes);
    int (*erase)(void *context, uint32_t slot, uint32_t at);  // the sector that begins there
    int (*write)(void *context, uint32_t slot, uint32_t at, const void *data, uint32_t bytes);
    void *context;
};

struct update_header {
    uint32_t board;    // which it is for
    uint32_t version;  // may not fall
    uint32_t length;   // bytes of the image behind the header
    uint32_t sum;      // CRC-32 of them
};

enum update_state {
    UPDATE_EMPTY,      // no image, or not whole
    UPDATE_NEW,        // never started
    UPDATE_TRIED,      // started, and not confirmed
    UPDATE_CONFIRMED,  // known to work
};

struct update_slot {
    enum update_state state;
    struct update_header header;  // unless EMPTY
};

// CRC-32 of IEEE 802.3; begin with 0.
uint32_t update_sum(uint32_t sum, const void *data, uint32_t bytes);
// false: not a header, or a damaged one.
bool update_header_parse(const uint8_t bytes[UPDATE_HEADER_BYTES], struct update_header *header);
void update_header_emit(const struct update_header *header, uint8_t bytes[UPDATE_HEADER_BYTES]);
// The greatest image that a slot has room for.
uint32_t update_image_max(const struct update_flash *flash);
// Whether the image in the slot has the header's sum.
bool update_image_whole(const struct update_flash *flash, uint32_t slot, const struct update_header *header);
// What is in a slot; sums the whole image.
struct update_slot update_slot_read(const struct update_flash *flash, uint32_t slot);
// For the boot loader: which slot to start, now marked as tried; the newest that was never started, or else the newest
// that is confirmed, or else the newest. -1: none can be.
int update_choose(const struct update_flash *flash, uint32_t board);
// For the image, when it knows that it works. 0, or the flash's error.
int update_confirm(const struct update_flash *flash, uint32_t slot);

WEIR_END_DECLS

#endif
