// SPDX-License-Identifier: BSD-2-Clause
#include "examples/thermostat/firmware.h"

#include <stddef.h>

void firmware_init(struct firmware *firmware, const struct update_flash *flash, uint32_t board, uint32_t slot)
{
    *firmware = (struct firmware){.flash = flash, .board = board, .slot = slot};
    if (flash != NULL)
        firmware->running = update_slot_read(flash, slot);
}

void firmware_confirm(struct firmware *firmware)
{
    if (firmware->flash != NULL && firmware->running.state != UPDATE_CONFIRMED &&
        update_confirm(firmware->flash, firmware->slot) == 0)
        firmware->running.state = UPDATE_CONFIRMED;
}

int firmware_take(struct firmware *firmware, uint32_t offset, uint32_t length, const uint8_t *piece, uint32_t bytes,
                  uint64_t now_us)
{
    if (firmware->flash == NULL || firmware->restart_us != 0)
        return 0;
    if (offset == 0) {
        update_begin(&firmware->update, firmware->flash, firmware->board, firmware->slot);
        firmware->taking = true;
    }
    if (!firmware->taking || offset != firmware->update.taken)  // the rest of one that another took the place of
        return 0;
    int error = update_take(&firmware->update, piece, bytes);
    if (error == 0 && offset + bytes < length)
        return 0;
    if (error == 0)
        error = update_end(&firmware->update);
    firmware->taking = false;
    if (error != 0)
        return error;
    firmware->restart_us = now_us + FIRMWARE_RESTART_US;
    return FIRMWARE_WHOLE;
}
