// SPDX-License-Identifier: BSD-2-Clause
// Flash as it is: erased to ones by sectors, written from ones to zeros, and without power in the middle of any step.
#ifndef TESTS_UPDATE_FLASH_H
#define TESTS_UPDATE_FLASH_H

#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "update/update.h"

#define SLOT_BYTES 4096u
#define SECTOR_BYTES 512u
#define BOARD 385u

struct model {
    struct update_flash flash;
    uint8_t bytes[UPDATE_SLOTS][SLOT_BYTES];
    uint32_t steps, cut_at;  // erasures and writes; the power goes in the middle of this one (0: never)
    uint32_t erased;         // sectors
    bool off;
};

static inline int model_read(void *context, uint32_t slot, uint32_t at, void *out, uint32_t bytes)
{
    struct model *model = context;
    assert_true(slot < UPDATE_SLOTS && at <= SLOT_BYTES && bytes <= SLOT_BYTES - at);
    memcpy(out, model->bytes[slot] + at, bytes);
    return 0;
}

// Of `bytes` those that are done before the power goes.
static inline uint32_t model_step(struct model *model, uint32_t bytes)
{
    if (model->off)
        return 0;
    model->off = ++model->steps == model->cut_at;
    return model->off ? bytes / 2 : bytes;
}

static inline int model_erase(void *context, uint32_t slot, uint32_t at)
{
    struct model *model = context;
    assert_true(slot < UPDATE_SLOTS && at % SECTOR_BYTES == 0 && at < SLOT_BYTES);
    memset(model->bytes[slot] + at, 0xff, model_step(model, SECTOR_BYTES));
    model->erased++;
    return model->off ? -1 : 0;
}

static inline int model_write(void *context, uint32_t slot, uint32_t at, const void *data, uint32_t bytes)
{
    struct model *model = context;
    assert_true(slot < UPDATE_SLOTS && at % UPDATE_MARK_BYTES == 0 && bytes % UPDATE_MARK_BYTES == 0);
    assert_true(at <= SLOT_BYTES && bytes <= SLOT_BYTES - at);
    const uint32_t done = model_step(model, bytes);
    for (uint32_t i = 0; i < done; i++) {
        assert_int_equal(model->bytes[slot][at + i], 0xff);  // nothing is written twice
        model->bytes[slot][at + i] &= ((const uint8_t *)data)[i];
    }
    return model->off ? -1 : 0;
}

static inline void model_open(struct model *model)
{
    memset(model, 0, sizeof *model);
    memset(model->bytes, 0xa5, sizeof model->bytes);
    model->flash = (struct update_flash){SLOT_BYTES, SECTOR_BYTES, model_read, model_erase, model_write, model};
}

// An image of `length` bytes with its header. Returns the bytes of both.
static inline uint32_t image_make(uint8_t *out, uint32_t board, uint32_t version, uint32_t length)
{
    for (uint32_t i = 0; i < length; i++)
        out[UPDATE_HEADER_BYTES + i] = (uint8_t)(i * 5 + version);
    const struct update_header header = {board, version, length, update_sum(0, out + UPDATE_HEADER_BYTES, length)};
    update_header_emit(&header, out);
    return UPDATE_HEADER_BYTES + length;
}

// Takes the image in pieces of 100 bytes beside what runs in `running`.
static inline int model_update(struct model *model, uint32_t running, const uint8_t *image, uint32_t bytes)
{
    struct update update;
    update_begin(&update, &model->flash, BOARD, running);
    for (uint32_t at = 0; at < bytes; at += 100) {
        const int error = update_take(&update, image + at, bytes - at < 100 ? bytes - at : 100);
        if (error != 0)
            return error;
    }
    return update_end(&update);
}

#endif
