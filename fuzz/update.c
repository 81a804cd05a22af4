// SPDX-License-Identifier: BSD-2-Clause
// A new image for the other slot, in pieces: the first byte chooses whether its header and its sum are put right, and
// how long a piece is. What runs stays startable.
#include "apps/update/flash.h"
#include "fuzz.h"

static struct model model;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t first[UPDATE_HEADER_BYTES + 64];
    struct bytes in = {data, (uint32_t)size};
    const uint8_t how = take8(&in);
    struct update update;
    int error = 0;
    model_open(&model);
    CHECK(model_update(&model, 1, first, image_make(first, BOARD, 1, 64)) == 0);
    uint8_t *image = exact_copy(in.at, in.left);
    if ((how & 1) && in.left > UPDATE_HEADER_BYTES) {
        struct update_header header;
        (void)update_header_parse(image, &header);
        header.board = BOARD;
        if (how & 2)
            header.length = in.left - UPDATE_HEADER_BYTES;
        header.sum = update_sum(0, image + UPDATE_HEADER_BYTES, in.left - UPDATE_HEADER_BYTES);
        update_header_emit(&header, image);
    }
    update_begin(&update, &model.flash, BOARD, 0);
    const uint32_t piece = 1 + (how >> 2);
    for (uint32_t at = 0; at < in.left && error == 0; at += piece)
        error = update_take(&update, image + at, in.left - at < piece ? in.left - at : piece);
    if (error == 0)
        error = update_end(&update);
    CHECK(error == 0 || update_slot_read(&model.flash, 1).state == UPDATE_EMPTY);
    CHECK(update_choose(&model.flash, BOARD) == (error == 0 ? 1 : 0));
    CHECK(error == 0 || strcmp(update_error_name(error), "unknown") != 0);
    free(image);
    return 0;
}
