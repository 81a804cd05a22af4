// SPDX-License-Identifier: BSD-2-Clause
// A board of the cooperative kernel in virtual time: the clock goes on when nobody has anything to do.
#pragma once

#include <stdlib.h>
#include <string.h>

#include "ports/coop/coop_port.h"

static uint64_t clock_us;

static uint64_t now_us(void) { return clock_us; }
static void sleep_until(uint64_t until_us, const volatile bool *awake)
{
    if (!*awake)
        clock_us = until_us;
}
static void entropy(void *context, void *out, size_t bytes)
{
    (void)context;
    memset(out, 0x5a, bytes);
}
static void *allocate(void *context, size_t bytes)
{
    (void)context;
    return malloc(bytes);
}
static void give_back(void *context, void *memory, size_t bytes)
{
    (void)context, (void)bytes;
    free(memory);
}
static const struct coop_board machine = {{now_us, sleep_until},
                                          {.entropy = entropy, .alloc = allocate, .free = give_back}};
