// SPDX-License-Identifier: BSD-2-Clause
#include "pcapng.h"

#include <errno.h>
#include <string.h>

#include "weir/error.h"

// Block types and option codes, sections 4.1 to 4.3 of the draft.
#define SECTION_HEADER 0x0a0d0d0au
#define INTERFACE_DESCRIPTION 1u
#define ENHANCED_PACKET 6u
#define BYTE_ORDER_MAGIC 0x1a2b3c4du
#define OPTION_END 0u
#define OPTION_IF_NAME 2u
#define OPTION_IF_MAC 6u
#define OPTION_IF_TSRESOL 9u
#define OPTION_SHB_USERAPPL 4u
#define OPTION_EPB_FLAGS 2u
#define NANOSECONDS 9u  // 10^-9

static uint32_t padded(uint32_t length) { return (length + 3u) & ~3u; }

// A block is put together here, in the machine's own byte order, as the format allows.
struct block {
    uint8_t bytes[256];
    uint32_t length;
};

static void put(struct block *block, const void *data, uint32_t length)
{
    memcpy(block->bytes + block->length, data, length);
    memset(block->bytes + block->length + length, 0, padded(length) - length);
    block->length += padded(length);
}
static void put32(struct block *block, uint32_t value) { put(block, &value, sizeof value); }
static void put16s(struct block *block, uint16_t first, uint16_t second)
{
    uint16_t pair[2] = {first, second};
    put(block, pair, sizeof pair);
}
static void put_option(struct block *block, uint16_t code, const void *data, uint32_t length)
{
    put16s(block, code, (uint16_t)length);
    put(block, data, length);
}

// Writes `head`, the slices cut at `length` bytes, padding, and `tail`. A file that failed once takes no more: its end
// would be unreadable anyway.
static void emit(struct pcapng *pcapng, const struct block *head, const struct weir_slice *slices, uint16_t count,
                 uint32_t length, const struct block *tail)
{
    static const uint8_t zero[4];
    FILE *file = pcapng->file;
    uint32_t left = length;
    if (file == NULL || ferror(file)) {
        pcapng->lost += count > 0;
        return;
    }
    fwrite(head->bytes, 1, head->length, file);
    for (uint16_t i = 0; i < count && left > 0; i++) {
        uint32_t bytes = slices[i].length < left ? slices[i].length : left;
        fwrite(slices[i].data, 1, bytes, file);
        left -= bytes;
    }
    fwrite(zero, 1, padded(length) - length, file);
    fwrite(tail->bytes, 1, tail->length, file);
    pcapng->packets += count > 0;
    if (pcapng->live)
        fflush(file);
}

// A block without packet data: its length stands before and after its content.
static void emit_block(struct pcapng *pcapng, uint32_t type, const struct block *content)
{
    struct block head = {.length = 0}, tail = {.length = 0};
    put32(&head, type);
    put32(&head, content->length + 12);
    memcpy(tail.bytes, content->bytes, content->length);
    tail.length = content->length;
    put32(&tail, content->length + 12);
    emit(pcapng, &head, NULL, 0, 0, &tail);
}

int pcapng_open(struct pcapng *pcapng, const char *path, uint32_t snap_bytes)
{
    memset(pcapng, 0, sizeof *pcapng);
    pcapng->snap_bytes = snap_bytes;
    pcapng->file = strcmp(path, "-") == 0 ? stdout : fopen(path, "wb");
    if (pcapng->file == NULL) {
        snprintf(pcapng->error, sizeof pcapng->error, "capture file %.80s: %s", path, strerror(errno));
        return errno == EACCES || errno == EPERM ? WEIR_PERMISSION : WEIR_INVALID;
    }
    pcapng->live = fseek(pcapng->file, 0, SEEK_CUR) != 0;
    static const uint8_t length_unknown[8] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
    struct block section = {.length = 0};
    put32(&section, BYTE_ORDER_MAGIC);
    put16s(&section, 1, 0);  // version 1.0
    put(&section, length_unknown, sizeof length_unknown);
    put_option(&section, OPTION_SHB_USERAPPL, "Weir", 4);
    put_option(&section, OPTION_END, "", 0);
    emit_block(pcapng, SECTION_HEADER, &section);
    return WEIR_OK;
}

uint32_t pcapng_interface(struct pcapng *pcapng, const char *name, uint16_t linktype, const uint8_t *mac)
{
    static const uint8_t resolution = NANOSECONDS;
    size_t name_bytes = strlen(name);
    struct block description = {.length = 0};
    put16s(&description, linktype, 0);
    put32(&description, pcapng->snap_bytes);
    put_option(&description, OPTION_IF_NAME, name, name_bytes > 64 ? 64 : (uint32_t)name_bytes);
    if (mac != NULL)
        put_option(&description, OPTION_IF_MAC, mac, 6);
    put_option(&description, OPTION_IF_TSRESOL, &resolution, 1);
    put_option(&description, OPTION_END, "", 0);
    emit_block(pcapng, INTERFACE_DESCRIPTION, &description);
    return pcapng->interfaces++;
}

void pcapng_packet(struct pcapng *pcapng, uint32_t interface, uint32_t flags, const struct weir_slice *slices,
                   uint16_t count, uint64_t time_ns)
{
    uint32_t original = 0;
    for (uint16_t i = 0; i < count; i++)
        original += slices[i].length;
    uint32_t captured = pcapng->snap_bytes != 0 && pcapng->snap_bytes < original ? pcapng->snap_bytes : original;
    struct block head = {.length = 0}, tail = {.length = 0};
    put_option(&tail, OPTION_EPB_FLAGS, &flags, sizeof flags);
    put_option(&tail, OPTION_END, "", 0);
    uint32_t total = 28 + padded(captured) + tail.length + 4;
    put32(&tail, total);
    put32(&head, ENHANCED_PACKET);
    put32(&head, total);
    put32(&head, interface);
    put32(&head, (uint32_t)(time_ns >> 32));
    put32(&head, (uint32_t)time_ns);
    put32(&head, captured);
    put32(&head, original);
    emit(pcapng, &head, slices, count, captured, &tail);
}

void pcapng_flush(struct pcapng *pcapng)
{
    if (pcapng->file != NULL)
        fflush(pcapng->file);
}

void pcapng_close(struct pcapng *pcapng)
{
    if (pcapng->file == stdout)
        fflush(stdout);
    else if (pcapng->file != NULL)
        fclose(pcapng->file);
    pcapng->file = NULL;
}
