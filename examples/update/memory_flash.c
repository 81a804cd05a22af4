// SPDX-License-Identifier: BSD-2-Clause
#include "examples/update/memory_flash.h"

#include <string.h>

static uint8_t *place(uint32_t slot, uint32_t at)
{
    return (uint8_t *)(uintptr_t)(MEMORY_SLOTS + slot * MEMORY_SLOT_BYTES + at);
}

static int flash_read(void *context, uint32_t slot, uint32_t at, void *out, uint32_t bytes)
{
    (void)context;
    memcpy(out, place(slot, at), bytes);
    return 0;
}

static int flash_erase(void *context, uint32_t slot, uint32_t at)
{
    (void)context;
    memset(place(slot, at), 0xff, MEMORY_SECTOR_BYTES);
    return 0;
}

static int flash_write(void *context, uint32_t slot, uint32_t at, const void *data, uint32_t bytes)
{
    const uint8_t *from = data;
    (void)context;
    for (uint32_t i = 0; i < bytes; i++)
        place(slot, at)[i] &= from[i];
    return memcmp(place(slot, at), data, bytes) == 0 ? 0 : -1;
}

const struct update_flash memory_flash = {.slot_bytes = MEMORY_SLOT_BYTES,
                                          .sector_bytes = MEMORY_SECTOR_BYTES,
                                          .read = flash_read,
                                          .erase = flash_erase,
                                          .write = flash_write};
