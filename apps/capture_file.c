// SPDX-License-Identifier: BSD-2-Clause
#include "capture_file.h"

#include <string.h>

// Block types and option codes, sections 4.1 to 4.6 of the draft.
#define SECTION_HEADER 0x0a0d0d0au
#define INTERFACE_DESCRIPTION 1u
#define INTERFACE_STATISTICS 5u
#define ENHANCED_PACKET 6u
#define BYTE_ORDER_MAGIC 0x1a2b3c4du
#define OPTION_END 0u
#define OPTION_IF_NAME 2u
#define OPTION_EPB_FLAGS 2u
#define OPTION_ISB_IFDROP 5u
#define INBOUND 1u
#define OUTBOUND 2u
#define OFFLOAD_SHIFT 9u  // of enum weir_tap_offload
#define LINK_ETHERNET 1u
#define LINK_RAW_IP 101u

// Numbers are little-endian, whatever the machine: the byte order magic says so.
struct blocks {
    uint8_t *out;
    uint32_t length, begin;  // begin: of the block under way
};

static void put16(struct blocks *blocks, uint32_t value)
{
    blocks->out[blocks->length++] = (uint8_t)value;
    blocks->out[blocks->length++] = (uint8_t)(value >> 8);
}

static void put32(struct blocks *blocks, uint32_t value)
{
    put16(blocks, value & 0xffffu);
    put16(blocks, value >> 16);
}

// With zeros up to a multiple of four.
static void put_bytes(struct blocks *blocks, const void *data, uint32_t length)
{
    const uint32_t padded = (length + 3u) & ~3u;
    memcpy(blocks->out + blocks->length, data, length);
    memset(blocks->out + blocks->length + length, 0, padded - length);
    blocks->length += padded;
}

static void put_time(struct blocks *blocks, const struct capture_file *file, uint64_t now_us)
{
    const uint64_t time_us = file->epoch_us + now_us;  // microseconds are the format's default
    put32(blocks, (uint32_t)(time_us >> 32));
    put32(blocks, (uint32_t)time_us);
}

static void begin(struct blocks *blocks, uint32_t type)
{
    blocks->begin = blocks->length;
    put32(blocks, type);
    put32(blocks, 0);
}

// A block's length stands before and behind its content.
static void end(struct blocks *blocks)
{
    const uint32_t length = blocks->length + 4 - blocks->begin;
    put32(blocks, length);
    struct blocks before = {.out = blocks->out, .length = blocks->begin + 4};
    put32(&before, length);
}

uint32_t capture_file_begin(struct capture_file *file, uint8_t out[CAPTURE_BLOCKS])
{
    struct blocks blocks = {.out = out};
    file->netif_count = file->left_out = 0;
    begin(&blocks, SECTION_HEADER);
    put32(&blocks, BYTE_ORDER_MAGIC);
    put16(&blocks, 1);  // version 1.0
    put16(&blocks, 0);
    put32(&blocks, UINT32_MAX);  // the section's length is not known
    put32(&blocks, UINT32_MAX);
    end(&blocks);
    return blocks.length;
}

// The interface's number; -1: there is no room for it. One that is new is described first.
static int describe(struct capture_file *file, const struct capture_frame *frame, struct blocks *blocks)
{
    uint32_t i = 0;
    while (i < file->netif_count && memcmp(file->netifs[i], frame->netif, sizeof frame->netif) != 0)
        i++;
    if (i < file->netif_count)
        return (int)i;
    if (i == CAPTURE_NETIFS)
        return -1;
    memcpy(file->netifs[file->netif_count++], frame->netif, sizeof frame->netif);
    const char *const nul = memchr(frame->netif, '\0', sizeof frame->netif);
    const uint32_t length = nul != NULL ? (uint32_t)(nul - frame->netif) : (uint32_t)sizeof frame->netif;
    begin(blocks, INTERFACE_DESCRIPTION);
    put16(blocks, frame->raw_ip ? LINK_RAW_IP : LINK_ETHERNET);
    put16(blocks, 0);
    put32(blocks, CAPTURE_BYTES);
    put16(blocks, OPTION_IF_NAME);
    put16(blocks, length);
    put_bytes(blocks, frame->netif, length);
    put32(blocks, OPTION_END);
    end(blocks);
    return (int)i;
}

uint32_t capture_file_frame(struct capture_file *file, const struct capture_frame *frame, uint8_t out[CAPTURE_BLOCKS])
{
    _Static_assert(CAPTURE_BLOCKS >= 28 + sizeof frame->netif + 8 + 28 + CAPTURE_BYTES + 12 + 4,
                   "the longest blocks fit");
    struct blocks blocks = {.out = out};
    const int netif = describe(file, frame, &blocks);
    if (netif < 0) {
        file->left_out++;
        return 0;
    }
    begin(&blocks, ENHANCED_PACKET);
    put32(&blocks, (uint32_t)netif);
    put_time(&blocks, file, frame->now_us);
    put32(&blocks, frame->bytes);
    put32(&blocks, frame->length);
    put_bytes(&blocks, frame->data, frame->bytes);
    put16(&blocks, OPTION_EPB_FLAGS);
    put16(&blocks, 4);
    put32(&blocks, (frame->outgoing ? OUTBOUND : INBOUND) | (uint32_t)frame->offload << OFFLOAD_SHIFT);
    put32(&blocks, OPTION_END);
    end(&blocks);
    return blocks.length;
}

uint32_t capture_file_end(const struct capture_file *file, uint32_t lost, uint64_t now_us, uint8_t out[CAPTURE_BLOCKS])
{
    struct blocks blocks = {.out = out};
    if (file->netif_count == 0)
        return 0;
    begin(&blocks, INTERFACE_STATISTICS);
    put32(&blocks, 0);
    put_time(&blocks, file, now_us);
    put16(&blocks, OPTION_ISB_IFDROP);
    put16(&blocks, 8);
    put32(&blocks, lost + file->left_out);
    put32(&blocks, 0);
    put32(&blocks, OPTION_END);
    end(&blocks);
    return blocks.length;
}
