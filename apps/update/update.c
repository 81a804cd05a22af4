// SPDX-License-Identifier: BSD-2-Clause
#include "update/update.h"

#include <stddef.h>
#include <string.h>

void update_begin(struct update *update, const struct update_flash *flash, uint32_t board, uint32_t running)
{
    *update = (struct update){.flash = flash, .board = board, .slot = 1 - running};
    update->running_version = update_slot_read(flash, running).header.version;
}

const char *update_error_name(int error)
{
    static const char *const names[] = {"malformed", "for another board", "not newer",    "failed before",
                                        "too large", "damaged",           "flash failed", "not accepted"};
    const int at = error - UPDATE_MALFORMED;
    return at >= 0 && at < (int)(sizeof names / sizeof names[0]) ? names[at] : "unknown";
}

static int erase(const struct update *update, uint32_t at)
{
    return update->flash->erase(update->flash->context, update->slot, at) != 0 ? UPDATE_FLASH : 0;
}

// The header is known: whether the image is wanted. Then the old one is gone with its header; its marks mean nothing
// without one, and go when the new image is whole.
static int header_take(struct update *update)
{
    const struct update_flash *const flash = update->flash;
    const struct update_header *const header = &update->header;
    if (!update_header_parse(update->header_bytes, &update->header) || header->length == 0)
        return UPDATE_MALFORMED;
    if (header->board != update->board)
        return UPDATE_OTHER_BOARD;
    if (header->version <= update->running_version)
        return UPDATE_NOT_NEWER;
    if (header->length > update_image_max(flash))
        return UPDATE_TOO_LARGE;
    const struct update_slot old = update_slot_read(flash, update->slot);
    if (old.state == UPDATE_TRIED && old.header.version == header->version && old.header.sum == header->sum)
        return UPDATE_FAILED_BEFORE;
    return erase(update, 0);
}

// The row that ends at `end` is full, or the last. The header's own place stays empty.
static int row_write(struct update *update, uint32_t end)
{
    const uint32_t at = (end - 1) / UPDATE_MARK_BYTES * UPDATE_MARK_BYTES;
    if (at % update->flash->sector_bytes == 0 && erase(update, at) != 0)
        return UPDATE_FLASH;
    memset(update->row + (end - at), 0xff, UPDATE_MARK_BYTES - (end - at));
    return update->flash->write(update->flash->context, update->slot, at, update->row, UPDATE_MARK_BYTES) != 0
               ? UPDATE_FLASH
               : 0;
}

static int byte_take(struct update *update, uint8_t byte)
{
    if (update->taken < UPDATE_HEADER_BYTES) {
        update->header_bytes[update->taken++] = byte;
        return update->taken == UPDATE_HEADER_BYTES ? header_take(update) : 0;
    }
    if (update->taken - UPDATE_HEADER_BYTES == update->header.length)
        return UPDATE_DAMAGED;
    update->row[update->taken++ % UPDATE_MARK_BYTES] = byte;
    return update->taken % UPDATE_MARK_BYTES == 0 ? row_write(update, update->taken) : 0;
}

int update_take(struct update *update, const void *data, uint32_t bytes)
{
    const uint8_t *at = data;
    for (; bytes > 0; bytes--) {
        const int error = byte_take(update, *at++);
        if (error != 0)
            return error;
    }
    return 0;
}

int update_end(struct update *update)
{
    if (update->taken < UPDATE_HEADER_BYTES)
        return UPDATE_MALFORMED;
    if (update->taken - UPDATE_HEADER_BYTES != update->header.length)
        return UPDATE_DAMAGED;
    if (update->taken % UPDATE_MARK_BYTES != 0 && row_write(update, update->taken) != 0)
        return UPDATE_FLASH;
    // the sum of what lies in the flash, whatever it was on its way there
    if (!update_image_whole(update->flash, update->slot, &update->header))
        return UPDATE_DAMAGED;
    if (update->accept != NULL && !update->accept(update, update->context))
        return UPDATE_NOT_ACCEPTED;
    if (erase(update, update->flash->slot_bytes - update->flash->sector_bytes) != 0)
        return UPDATE_FLASH;
    return update->flash->write(update->flash->context, update->slot, 0, update->header_bytes, UPDATE_HEADER_BYTES) != 0
               ? UPDATE_FLASH
               : 0;
}
