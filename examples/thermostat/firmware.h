// SPDX-License-Identifier: BSD-2-Clause
// New firmware piece by piece into the slot that does not run (docs/update.md), and a restart once it is whole.
#ifndef THERMOSTAT_FIRMWARE_H
#define THERMOSTAT_FIRMWARE_H

#include "update/update.h"

#define FIRMWARE_RESTART_US 1000000u  // after it was said that the image is whole

enum { FIRMWARE_WHOLE = 1 };

struct firmware {
    const struct update_flash *flash;  // NULL: the board has none, and takes no firmware
    uint32_t board, slot;              // slot: the one that runs
    struct update_slot running;
    struct update update;
    bool taking;
    uint64_t restart_us;  // a new image is to be started then; 0: none
};

void firmware_init(struct firmware *firmware, const struct update_flash *flash, uint32_t board, uint32_t slot);
// What runs works: from now on it is what a start goes back to.
void firmware_confirm(struct firmware *firmware);
// A piece of an image of `length` bytes, from its byte `offset` on. 0: go on; FIRMWARE_WHOLE: it is started soon; an
// enum update_error: refused, which is said once.
int firmware_take(struct firmware *firmware, uint32_t offset, uint32_t length, const uint8_t *piece, uint32_t bytes,
                  uint64_t now_us);

#endif
