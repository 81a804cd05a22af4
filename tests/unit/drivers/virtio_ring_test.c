// SPDX-License-Identifier: BSD-2-Clause
// The split virtqueue against a device's side that is played by hand: bytes in the memory that both share.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "drivers/virtio_ring.h"

#define SIZE 8u
static struct virtio_ring_memory memory;
static struct virtio_ring ring;
static uint8_t bytes[64];

static uint16_t get16(const volatile void *at)
{
    return (uint16_t)(((const volatile uint8_t *)at)[0] | ((const volatile uint8_t *)at)[1] << 8);
}
static uint32_t get32(const volatile void *at)
{
    return get16(at) | (uint32_t)get16((const volatile uint8_t *)at + 2) << 16;
}
static void set16(volatile void *at, uint32_t value)
{
    ((volatile uint8_t *)at)[0] = (uint8_t)value;
    ((volatile uint8_t *)at)[1] = (uint8_t)(value >> 8);
}
static void set32(volatile void *at, uint32_t value)
{
    set16(at, value);
    set16((volatile uint8_t *)at + 2, value >> 16);
}
static uint16_t used_index;
static void used(uint32_t id, uint32_t length)
{
    set32(&memory.used.ring[used_index % SIZE].id, id);
    set32(&memory.used.ring[used_index % SIZE].length, length);
    set16(&memory.used.index, ++used_index);
}
static void device_wants(uint16_t after) { set16(&memory.used.ring[SIZE], after); }
static uint16_t driver_wants(void) { return get16(&memory.available.ring[SIZE]); }

static uint16_t chain(uint32_t count, bool writes)
{
    for (uint32_t i = 0; i < count; i++)
        virtio_ring_put(&ring, bytes + i, 10 + i, writes);
    return virtio_ring_end(&ring);
}

static int setup(void **state)
{
    (void)state;
    memset(&memory, 0xa5, sizeof memory);
    virtio_ring_init(&ring, &memory, SIZE, true);
    used_index = 0;
    return 0;
}

static void a_chain_lies_as_the_device_expects_it(void **state)
{
    (void)state;
    const uint16_t head = chain(3, false);
    assert_int_equal(get16(&memory.available.index), 1);
    assert_int_equal(get16(&memory.available.ring[0]), head);
    uint16_t at = head;
    for (uint32_t i = 0; i < 3; i++) {
        const struct virtio_descriptor *descriptor = &memory.descriptors[at];
        assert_int_equal(get32(&descriptor->length), 10 + i);
        assert_int_equal(get32(&descriptor->address), (uint32_t)(uintptr_t)(bytes + i));
        assert_int_equal(get16(&descriptor->flags), i < 2 ? 1 : 0);
        at = get16(&descriptor->next);
    }
    assert_int_equal(ring.free_count, SIZE - 3);
}

// Given back in any order, for ever: no descriptor is lost, none is in two chains.
static void descriptors_come_back(void **state)
{
    (void)state;
    uint16_t heads[2], head;
    uint32_t length;
    for (uint32_t round = 0; round < 100000; round++) {
        const uint32_t first = 1 + round % 4;
        heads[0] = chain(first, false);
        heads[1] = chain(SIZE - first, false);
        assert_int_equal(ring.free_count, 0);
        for (uint32_t i = 0; i < 2; i++) {
            used(heads[(i + round) % 2], 0);
            assert_true(virtio_ring_take(&ring, &head, &length));
            assert_int_equal(head, heads[(i + round) % 2]);
        }
        assert_false(virtio_ring_take(&ring, &head, &length));
        assert_int_equal(ring.free_count, SIZE);
    }
    assert_false(ring.broken);
}

static void the_device_is_notified_when_it_asked(void **state)
{
    (void)state;
    assert_false(virtio_ring_kick(&ring));
    (void)chain(1, false);
    assert_true(virtio_ring_kick(&ring));  // it wants the first
    (void)chain(1, false);
    assert_false(virtio_ring_kick(&ring));  // still
    device_wants(3);
    (void)chain(1, false);
    assert_false(virtio_ring_kick(&ring));
    (void)chain(1, false);
    assert_true(virtio_ring_kick(&ring));
    assert_false(virtio_ring_kick(&ring));
    // Without the event index a flag says it.
    virtio_ring_init(&ring, &memory, SIZE, false);
    assert_int_equal(get16(&memory.available.flags), 1);
    (void)chain(1, false);
    set16(&memory.used.flags, 1);
    assert_false(virtio_ring_kick(&ring));
    (void)chain(1, false);
    set16(&memory.used.flags, 0);
    assert_true(virtio_ring_kick(&ring));
}

static void interrupts_are_asked_for(void **state)
{
    uint16_t head;
    uint32_t length;
    (void)state;
    assert_int_equal(driver_wants(), 0xffff);
    const uint16_t a = chain(1, true), b = chain(1, true);
    assert_false(virtio_ring_await(&ring, 1));
    assert_int_equal(driver_wants(), 0);
    assert_false(virtio_ring_await(&ring, 2));
    assert_int_equal(driver_wants(), 1);
    used(a, 1);
    assert_false(virtio_ring_await(&ring, 2));
    assert_true(virtio_ring_await(&ring, 1));  // it is done already: no interrupt may come
    used(b, 1);
    assert_true(virtio_ring_take(&ring, &head, &length));
    assert_true(virtio_ring_take(&ring, &head, &length));
    virtio_ring_silence(&ring);
    assert_int_equal(driver_wants(), 1);
    virtio_ring_init(&ring, &memory, SIZE, false);
    (void)chain(1, true);
    (void)virtio_ring_await(&ring, 1);
    assert_int_equal(get16(&memory.available.flags), 0);
    virtio_ring_silence(&ring);
    assert_int_equal(get16(&memory.available.flags), 1);
}

static void lengths_are_what_the_device_could_write(void **state)
{
    uint16_t head;
    uint32_t length;
    (void)state;
    virtio_ring_put(&ring, bytes, 12, false);
    virtio_ring_put(&ring, bytes, 20, true);
    virtio_ring_put(&ring, bytes, 3, true);
    used(virtio_ring_end(&ring), 0xffffffff);
    assert_true(virtio_ring_take(&ring, &head, &length));
    assert_int_equal(length, 23);
}

// Whatever stands in the used ring: a chain that is not at the device is never taken, and the ring ends there.
static void lies_break_the_ring(void **state)
{
    static const uint32_t ids[] = {SIZE, SIZE + 1, 0x10000, 0xffffffff, 0x80000000};
    uint16_t head;
    uint32_t length;
    for (uint32_t i = 0; i < sizeof ids / sizeof *ids + 4; i++) {
        setup(state);
        const uint16_t good = chain(2, true);
        switch (i) {
        case 0: used(get16(&memory.descriptors[good].next), 1); break;  // the middle of a chain
        case 1: used(good + 5u, 1); break;                              // a free one
        case 2: set16(&memory.used.index, 2); break;                    // more than there are
        case 3:                                                         // twice the same
            used(good, 1);
            assert_true(virtio_ring_take(&ring, &head, &length));
            (void)chain(1, true);
            (void)chain(3, true);
            used((uint32_t)(ring.size - 1), 1);
            break;
        default: used(ids[i - 4], 1); break;
        }
        assert_false(virtio_ring_take(&ring, &head, &length));
        assert_true(ring.broken);
        set16(&memory.used.index, 0);
        assert_false(virtio_ring_take(&ring, &head, &length));
        assert_int_equal(virtio_ring_ready(&ring), 0);
    }
}

// The device may write the descriptors, too: what it puts there changes nothing for the driver.
static void descriptors_are_not_read_back(void **state)
{
    uint16_t head;
    uint32_t length;
    (void)state;
    const uint16_t first = chain(4, false);
    memset((void *)(uintptr_t)memory.descriptors, 0xff, sizeof memory.descriptors);
    used(first, 0);
    assert_true(virtio_ring_take(&ring, &head, &length));
    assert_int_equal(ring.free_count, SIZE);
    bool seen[SIZE] = {false};
    for (uint32_t i = 0; i < SIZE; i++) {
        assert_true(virtio_ring_next(&ring) < SIZE && !seen[virtio_ring_next(&ring)]);
        seen[virtio_ring_next(&ring)] = true;
        virtio_ring_put(&ring, bytes, 1, false);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_chain_lies_as_the_device_expects_it, setup),
        cmocka_unit_test_setup(descriptors_come_back, setup),
        cmocka_unit_test_setup(the_device_is_notified_when_it_asked, setup),
        cmocka_unit_test_setup(interrupts_are_asked_for, setup),
        cmocka_unit_test_setup(lengths_are_what_the_device_could_write, setup),
        cmocka_unit_test_setup(lies_break_the_ring, setup),
        cmocka_unit_test_setup(descriptors_are_not_read_back, setup),
    };
    return cmocka_run_group_tests_name("drivers/virtio_ring", tests, NULL, NULL);
}
