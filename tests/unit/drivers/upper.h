// SPDX-License-Identifier: BSD-2-Clause
// The upper side of a driver under test: a wrapper that keeps what it was given. One interface, `netif`, is enough for
// each.
#ifndef TESTS_DRIVERS_UPPER_H
#define TESTS_DRIVERS_UPPER_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "weir/netif.h"

static struct weir_netif netif;

static struct {
    uint8_t last[2000];
    uint32_t length, count, ready, carriers;
    bool aligned, carrier;
    void *owner;  // of the last completion
    uint32_t end, completed;
} upper;

static void upper_input(struct weir_netif *of, const struct weir_frame *frame)
{
    assert_ptr_equal(of, &netif);
    assert_int_equal(frame->count, 1);
    assert_int_equal(frame->slices[0].length, frame->length);
    memcpy(upper.last, frame->slices[0].data, frame->length);
    upper.aligned = ((uintptr_t)frame->slices[0].data + 14) % 4 == 0;
    upper.length = frame->length;
    upper.count++;
}
static void upper_ready(struct weir_netif *of) { upper.ready += of == &netif; }
static void upper_complete(struct weir_netif *of, void *owner, uint32_t end)
{
    assert_ptr_equal(of, &netif);
    upper.owner = owner;
    upper.end = end;
    upper.completed++;
}
static void upper_carrier(struct weir_netif *of, bool up)
{
    assert_ptr_equal(of, &netif);
    upper.carrier = up;
    upper.carriers++;
}
static const struct weir_upper upper_side = {upper_input, upper_ready, upper_complete, upper_carrier};

#endif
