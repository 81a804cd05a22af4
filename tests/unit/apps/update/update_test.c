// SPDX-License-Identifier: BSD-2-Clause
// profiles: small_apps small6_apps
#include "apps/update/flash.h"

static struct model model;
static uint8_t image[SLOT_BYTES + UPDATE_HEADER_BYTES];

static int update(uint32_t running, uint32_t version, uint32_t length)
{
    return model_update(&model, running, image, image_make(image, BOARD, version, length));
}

// Version 1 runs in slot 0 and is confirmed.
static void installed(void)
{
    model_open(&model);
    assert_int_equal(update(1, 1, 1000), 0);
    assert_int_equal(update_choose(&model.flash, BOARD), 0);
    assert_int_equal(update_confirm(&model.flash, 0), 0);
}

static void an_image_is_taken_tried_and_confirmed(void **state)
{
    (void)state;
    installed();
    assert_int_equal(update_choose(&model.flash, BOARD), 0);
    assert_int_equal(update(0, 2, 3001), 0);
    assert_int_equal(update_slot_read(&model.flash, 1).state, UPDATE_NEW);
    assert_int_equal(update_choose(&model.flash, BOARD), 1);
    assert_int_equal(update_slot_read(&model.flash, 1).state, UPDATE_TRIED);
    assert_int_equal(update_confirm(&model.flash, 1), 0);
    assert_int_equal(update_confirm(&model.flash, 1), 0);
    assert_int_equal(update_choose(&model.flash, BOARD), 1);
    assert_memory_equal(model.bytes[1] + UPDATE_HEADER_BYTES, image + UPDATE_HEADER_BYTES, 3001);
    assert_int_equal(update(1, 3, 7), 0);  // over the first one
    assert_int_equal(update_choose(&model.flash, BOARD), 0);
}

static void an_image_that_never_confirms_is_left(void **state)
{
    (void)state;
    installed();
    assert_int_equal(update(0, 2, 500), 0);
    assert_int_equal(update_choose(&model.flash, BOARD), 1);
    assert_int_equal(update_choose(&model.flash, BOARD), 0);
    assert_int_equal(update_choose(&model.flash, BOARD), 0);
    assert_int_equal(update(0, 2, 500), UPDATE_FAILED_BEFORE);
    assert_int_equal(update(0, 3, 500), 0);
    assert_int_equal(update_choose(&model.flash, BOARD), 1);
}

static void the_only_image_is_started_however_often_it_failed(void **state)
{
    (void)state;
    model_open(&model);
    assert_int_equal(update_choose(&model.flash, BOARD), -1);
    assert_int_equal(update(1, 1, 100), 0);
    for (int i = 0; i < 3; i++)
        assert_int_equal(update_choose(&model.flash, BOARD), 0);
}

static void what_is_not_for_us_is_refused_before_anything_is_erased(void **state)
{
    (void)state;
    installed();
    assert_int_equal(update(0, 2, 100), 0);
    const uint32_t steps = model.steps;
    assert_int_equal(model_update(&model, 0, image, image_make(image, BOARD + 1, 3, 100)), UPDATE_OTHER_BOARD);
    assert_int_equal(update(0, 1, 100), UPDATE_NOT_NEWER);
    assert_int_equal(update(0, 3, SLOT_BYTES - SECTOR_BYTES - UPDATE_HEADER_BYTES + 1), UPDATE_TOO_LARGE);
    assert_int_equal(update(0, 3, 0), UPDATE_MALFORMED);
    for (uint32_t at = 0; at < UPDATE_HEADER_BYTES; at++) {
        const uint32_t bytes = image_make(image, BOARD, 3, 100);
        image[at] ^= 0x10;
        assert_int_equal(model_update(&model, 0, image, bytes), UPDATE_MALFORMED);
        assert_int_equal(model_update(&model, 0, image, at), UPDATE_MALFORMED);
    }
    assert_int_equal(model.steps, steps);
    assert_int_equal(update_slot_read(&model.flash, 1).state, UPDATE_NEW);
}

static void a_damaged_image_is_never_started(void **state)
{
    (void)state;
    installed();
    const uint32_t bytes = image_make(image, BOARD, 2, 300);
    image[100] ^= 1;
    assert_int_equal(model_update(&model, 0, image, bytes), UPDATE_DAMAGED);
    image[100] ^= 1;
    assert_int_equal(model_update(&model, 0, image, bytes - 1), UPDATE_DAMAGED);
    assert_int_equal(model_update(&model, 0, image, bytes + 1), UPDATE_DAMAGED);
    assert_int_equal(update_choose(&model.flash, BOARD), 0);
    assert_int_equal(model_update(&model, 0, image, bytes), 0);
    model.bytes[1][200] ^= 1;  // in the flash itself
    assert_int_equal(update_choose(&model.flash, BOARD), 0);
    assert_int_equal(update_choose(&model.flash, BOARD + 1), -1);
}

static bool refuse(const struct update *taken, void *context)
{
    *(uint32_t *)context = taken->header.version;
    return false;
}

static void what_is_not_accepted_is_not_started(void **state)
{
    struct update taking;
    uint32_t asked = 0;
    (void)state;
    installed();
    update_begin(&taking, &model.flash, BOARD, 0);
    taking.accept = refuse;
    taking.context = &asked;
    assert_int_equal(update_take(&taking, image, image_make(image, BOARD, 2, 300)), 0);
    assert_int_equal(update_end(&taking), UPDATE_NOT_ACCEPTED);
    assert_int_equal(asked, 2);
    assert_int_equal(update_choose(&model.flash, BOARD), 0);
}

// Whenever the power goes, something whole is started afterwards, and the update can be done again.
static void the_power_may_go_at_every_step(void **state)
{
    (void)state;
    for (uint32_t cut = 1;; cut++) {
        installed();
        model.cut_at = model.steps + cut;
        int chosen = -1;
        if (update(0, 2, 1500) == 0 && (chosen = update_choose(&model.flash, BOARD)) == 1)
            (void)update_confirm(&model.flash, 1);
        const bool finished = !model.off;
        model.off = false;
        chosen = update_choose(&model.flash, BOARD);
        assert_in_range(chosen, 0, 1);
        const struct update_slot slot = update_slot_read(&model.flash, (uint32_t)chosen);
        assert_int_equal(slot.header.version, chosen + 1);
        assert_true(chosen == 1 || slot.state == UPDATE_CONFIRMED);
        if (chosen == 0) {
            assert_int_equal(update(0, 3, 900), 0);
            assert_int_equal(update_choose(&model.flash, BOARD), 1);
        }
        if (finished)
            break;
        assert_true(cut < 1000);
    }
    assert_true(model.steps > 100);
}

// An erasure may stop the processor for longer than a ring of frames lasts, so no step makes two, however large the
// pieces are, up to a sector: whoever calls takes packets between two.
static void no_step_erases_two_sectors(void **state)
{
    (void)state;
    for (uint32_t piece = 1; piece <= SECTOR_BYTES; piece += piece < 64 ? 1 : 64) {
        struct update taking;
        uint32_t sectors = 0;
        installed();
        const uint32_t bytes = image_make(image, BOARD, 2, SLOT_BYTES - SECTOR_BYTES - UPDATE_HEADER_BYTES);
        update_begin(&taking, &model.flash, BOARD, 0);
        for (uint32_t at = 0; at < bytes; at += piece) {
            model.erased = 0;
            assert_int_equal(update_take(&taking, image + at, bytes - at < piece ? bytes - at : piece), 0);
            assert_in_range(model.erased, 0, 1);
            sectors += model.erased;
        }
        model.erased = 0;
        assert_int_equal(update_end(&taking), 0);
        assert_in_range(model.erased, 0, 1);
        assert_int_equal(sectors + model.erased, SLOT_BYTES / SECTOR_BYTES);
        assert_int_equal(update_choose(&model.flash, BOARD), 1);
    }
}

static void sums_are_those_of_ieee_802_3(void **state)
{
    (void)state;
    assert_int_equal(update_sum(0, "123456789", 9), 0xcbf43926);
    assert_int_equal(update_sum(update_sum(0, "1234", 4), "56789", 5), 0xcbf43926);
    assert_string_equal(update_error_name(UPDATE_MALFORMED), "malformed");
    assert_string_equal(update_error_name(UPDATE_NOT_ACCEPTED), "not accepted");
    assert_string_equal(update_error_name(0), "unknown");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_image_is_taken_tried_and_confirmed),
        cmocka_unit_test(an_image_that_never_confirms_is_left),
        cmocka_unit_test(the_only_image_is_started_however_often_it_failed),
        cmocka_unit_test(what_is_not_for_us_is_refused_before_anything_is_erased),
        cmocka_unit_test(a_damaged_image_is_never_started),
        cmocka_unit_test(what_is_not_accepted_is_not_started),
        cmocka_unit_test(the_power_may_go_at_every_step),
        cmocka_unit_test(no_step_erases_two_sectors),
        cmocka_unit_test(sums_are_those_of_ieee_802_3),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
