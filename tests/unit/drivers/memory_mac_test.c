// SPDX-License-Identifier: BSD-2-Clause
// not on mips: the model, as the bus it sits on, is little-endian
// The driver of three registers against a model of them.
#include "upper.h"

#include "drivers/memory_mac.h"
#include "drivers/mmio.h"

#define BASE 0x40000000u

static uint32_t came, came_length;  // frames, and the last one's bytes, each of which was as it should be

static void input(struct weir_netif *of, const struct weir_frame *frame)
{
    const uint8_t *const data = frame->slices[0].data;
    assert_ptr_equal(of, &netif);
    assert_int_equal(frame->count, 1);
    assert_int_equal(frame->slices[0].length, frame->length);
    assert_int_equal(((uintptr_t)data + 14) % 4, 0);
    for (uint32_t i = 0; i < frame->length; i++)
        assert_int_equal(data[i], (uint8_t)(i * 7 + frame->length));
    came_length = frame->length;
    came++;
}
static const struct weir_upper above = {.input = input};

static const uint8_t mac[6] = {0x02, 1, 2, 3, 4, 5};
static struct memory_mac device;
static struct {
    uint8_t frame[4][MEMORY_MAC_FRAME + 4096];
    uint32_t length[4], count, read;  // frames that wait; bytes read of the first
    uint8_t sent[2048], written[2048];
    uint32_t sent_length, written_length, sent_count;
} chip;

uint32_t mmio_model_read(uintptr_t address)
{
    uint32_t word;
    if (address == BASE)
        return chip.count ? chip.length[0] : 0;
    assert_int_equal(address, BASE + 4);
    assert_true(chip.count > 0 && chip.read < chip.length[0]);
    memcpy(&word, chip.frame[0] + chip.read, 4);
    chip.read += 4;
    if (chip.read < chip.length[0])
        return word;
    chip.read = 0;  // read to its end it is gone
    chip.count--;
    memmove(chip.frame[0], chip.frame[1], sizeof chip.frame - sizeof chip.frame[0]);
    memmove(chip.length, chip.length + 1, sizeof chip.length - sizeof chip.length[0]);
    return word;
}

void mmio_model_write(uintptr_t address, uint32_t value)
{
    if (address == BASE + 4) {
        assert_true(chip.written_length + 4 <= sizeof chip.written);
        memcpy(chip.written + chip.written_length, &value, 4);
        chip.written_length += 4;
        return;
    }
    assert_int_equal(address, BASE + 8);
    assert_int_equal(chip.written_length, (value + 3) & ~3u);
    memcpy(chip.sent, chip.written, value);
    chip.sent_length = value;
    chip.written_length = 0;
    chip.sent_count++;
}

static void arrive(uint32_t length)
{
    for (uint32_t i = 0; i < length; i++)
        chip.frame[chip.count][i] = (uint8_t)(i * 7 + length);
    chip.length[chip.count++] = length;
}

static int setup(void **state)
{
    (void)state;
    memset(&chip, 0, sizeof chip);
    came = came_length = 0;
    memory_mac_attach(&device, BASE, &netif, mac);
    netif.upper = &above;
    assert_memory_equal(netif.mac, mac, 6);
    return 0;
}

static void frames_of_every_length_come_in(void **state)
{
    (void)state;
    for (uint32_t length = 14; length <= MEMORY_MAC_FRAME;
         length += length < 100 || length + 300 > MEMORY_MAC_FRAME ? 1 : 97) {
        arrive(length);
        assert_int_equal(netif.driver->poll(&netif, 8), 1);
        assert_int_equal(came_length, length);
    }
    assert_int_equal(netif.driver->poll(&netif, 8), 0);
}

// Read to its end all the same, so that the next one is found; the sanitizer sees what is written beyond the buffer.
static void what_is_too_long_is_dropped(void **state)
{
    static const uint32_t lengths[] = {MEMORY_MAC_FRAME + 1, MEMORY_MAC_FRAME + 2, MEMORY_MAC_FRAME + 3,
                                       MEMORY_MAC_FRAME + 4000};
    (void)state;
    for (uint32_t i = 0; i < 4; i++) {
        arrive(lengths[i]);
        arrive(60);
        assert_int_equal(netif.driver->poll(&netif, 8), 2);
        assert_int_equal(netif.stats.rx_dropped, i + 1);
        assert_int_equal(came, i + 1);
        assert_int_equal(came_length, 60);
    }
}

static void no_more_than_the_budget(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 4; i++)
        arrive(60 + i);
    assert_int_equal(netif.driver->poll(&netif, 3), 3);
    assert_int_equal(came_length, 62);
    assert_int_equal(netif.driver->poll(&netif, 3), 1);
    assert_int_equal(came_length, 63);
}

static void frames_in_pieces_go_out(void **state)
{
    uint8_t bytes[1514];
    (void)state;
    for (uint32_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(i * 11 + (i >> 8));
    for (uint32_t length = 54; length <= 1514; length += length < 64 ? 1 : 290)
        for (uint32_t cut = 1; cut < 8; cut++) {
            const struct weir_slice slices[3] = {
                {bytes, cut}, {bytes + cut, 13}, {bytes + cut + 13, length - cut - 13}};
            const struct weir_tx tx = {.slices = slices, .length = length, .count = 3};
            assert_int_equal(netif.driver->tx(&netif, &tx), WEIR_TX_DONE);
            assert_int_equal(chip.sent_length, length);
            assert_memory_equal(chip.sent, bytes, length);
        }
}

static void who_sleeps_looks_each_millisecond(void **state)
{
    (void)state;
    assert_int_equal(memory_mac_look(&netif, 5000), 6000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(frames_of_every_length_come_in, setup),
        cmocka_unit_test_setup(what_is_too_long_is_dropped, setup),
        cmocka_unit_test_setup(no_more_than_the_budget, setup),
        cmocka_unit_test_setup(frames_in_pieces_go_out, setup),
        cmocka_unit_test_setup(who_sleeps_looks_each_millisecond, setup),
    };
    return cmocka_run_group_tests_name("drivers/memory_mac", tests, NULL, NULL);
}
