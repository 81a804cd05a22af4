// SPDX-License-Identifier: BSD-2-Clause
#include "update/slots.h"

#include <string.h>

#include "bytes.h"

#define MAGIC 0x57494d31u  // "WIM1"
#define MARK 0x4d41524bu   // "MARK"
#define PIECE_BYTES 256u   // summed at once

enum mark { TRIED, CONFIRMED, MARKS };

uint32_t update_sum(uint32_t sum, const void *data, uint32_t bytes)
{
    // of each value of four bits
    static const uint32_t table[16] = {0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4,
                                       0x4db26158, 0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
                                       0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c};
    const uint8_t *at = data;
    sum = ~sum;
    for (; bytes > 0; bytes--) {
        sum ^= *at++;
        sum = sum >> 4 ^ table[sum & 15];
        sum = sum >> 4 ^ table[sum & 15];
    }
    return ~sum;
}

bool update_header_parse(const uint8_t bytes[UPDATE_HEADER_BYTES], struct update_header *header)
{
    *header = (struct update_header){
        .board = get32(bytes + 4), .version = get32(bytes + 8), .length = get32(bytes + 12), .sum = get32(bytes + 16)};
    return get32(bytes) == MAGIC &&
           get32(bytes + UPDATE_HEADER_BYTES - 4) == update_sum(0, bytes, UPDATE_HEADER_BYTES - 4);
}

void update_header_emit(const struct update_header *header, uint8_t bytes[UPDATE_HEADER_BYTES])
{
    memset(bytes, 0, UPDATE_HEADER_BYTES);
    put32(bytes, MAGIC);
    put32(bytes + 4, header->board);
    put32(bytes + 8, header->version);
    put32(bytes + 12, header->length);
    put32(bytes + 16, header->sum);
    put32(bytes + UPDATE_HEADER_BYTES - 4, update_sum(0, bytes, UPDATE_HEADER_BYTES - 4));
}

uint32_t update_image_max(const struct update_flash *flash)
{
    return flash->slot_bytes - flash->sector_bytes - UPDATE_HEADER_BYTES;
}

static uint32_t mark_at(const struct update_flash *flash, enum mark mark)
{
    return flash->slot_bytes - flash->sector_bytes + mark * UPDATE_MARK_BYTES;
}

static bool mark_whole(const uint8_t bytes[UPDATE_MARK_BYTES]) { return get32(bytes) == MARK; }

// A mark that a power cut left half written is none.
static bool mark_erased(const uint8_t bytes[UPDATE_MARK_BYTES])
{
    for (uint32_t i = 0; i < UPDATE_MARK_BYTES; i++) {
        if (bytes[i] != 0xff)
            return false;
    }
    return true;
}

static int mark_set(const struct update_flash *flash, uint32_t slot, enum mark mark)
{
    uint8_t bytes[UPDATE_MARK_BYTES] = {0};
    put32(bytes, MARK);
    return flash->write(flash->context, slot, mark_at(flash, mark), bytes, sizeof bytes);
}

bool update_image_whole(const struct update_flash *flash, uint32_t slot, const struct update_header *header)
{
    uint8_t piece[PIECE_BYTES];
    uint32_t sum = 0, bytes;
    for (uint32_t at = 0; at < header->length; at += bytes) {
        bytes = header->length - at < PIECE_BYTES ? header->length - at : PIECE_BYTES;
        if (flash->read(flash->context, slot, UPDATE_HEADER_BYTES + at, piece, bytes) != 0)
            return false;
        sum = update_sum(sum, piece, bytes);
    }
    return sum == header->sum;
}

struct update_slot update_slot_read(const struct update_flash *flash, uint32_t slot)
{
    struct update_slot found = {.state = UPDATE_EMPTY};
    uint8_t bytes[UPDATE_HEADER_BYTES], marks[MARKS][UPDATE_MARK_BYTES];
    if (flash->read(flash->context, slot, 0, bytes, sizeof bytes) != 0 ||
        flash->read(flash->context, slot, mark_at(flash, TRIED), marks, sizeof marks) != 0 ||
        !update_header_parse(bytes, &found.header) || found.header.length == 0 ||
        found.header.length > update_image_max(flash) || !update_image_whole(flash, slot, &found.header))
        return (struct update_slot){.state = UPDATE_EMPTY};
    // A confirmation counts when it is whole, a trial when it was begun: in doubt the image is not trusted.
    found.state = mark_whole(marks[CONFIRMED]) ? UPDATE_CONFIRMED
                  : mark_erased(marks[TRIED])  ? UPDATE_NEW
                                               : UPDATE_TRIED;
    return found;
}

int update_choose(const struct update_flash *flash, uint32_t board)
{
    static const uint8_t rank[] = {[UPDATE_EMPTY] = 0, [UPDATE_TRIED] = 1, [UPDATE_CONFIRMED] = 2, [UPDATE_NEW] = 3};
    struct update_slot best = {.state = UPDATE_EMPTY};
    int chosen = -1;
    for (uint32_t slot = 0; slot < UPDATE_SLOTS; slot++) {
        const struct update_slot found = update_slot_read(flash, slot);
        if (found.state == UPDATE_EMPTY || found.header.board != board)
            continue;
        if (chosen < 0 || rank[found.state] > rank[best.state] ||
            (found.state == best.state && found.header.version > best.header.version)) {
            best = found;
            chosen = (int)slot;
        }
    }
    // What cannot be marked would be tried for ever.
    if (best.state == UPDATE_NEW && mark_set(flash, (uint32_t)chosen, TRIED) != 0)
        return -1;
    return chosen;
}

int update_confirm(const struct update_flash *flash, uint32_t slot)
{
    return update_slot_read(flash, slot).state == UPDATE_CONFIRMED ? 0 : mark_set(flash, slot, CONFIRMED);
}
