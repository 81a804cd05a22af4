// SPDX-License-Identifier: BSD-2-Clause
#include "stack_paint.h"

#include "echo_client.h"

#define PAINT 0xa5a5a5a5u
#define LOOK_BYTES 4096u  // below the stack's top

extern uint32_t link_stack_top[];

void stack_paint(void)
{
    uintptr_t here;
    __asm__ volatile("mov %0, sp" : "=r"(here));
    for (uintptr_t at = (uintptr_t)link_stack_top - LOOK_BYTES; at < here; at += 4)
        *(volatile uint32_t *)at = PAINT;
}

uint32_t echo_client_stack(void)
{
    const uint32_t *deepest = (const uint32_t *)((uintptr_t)link_stack_top - LOOK_BYTES);
    while (*deepest == PAINT)
        deepest++;
    return (uint32_t)((const char *)link_stack_top - (const char *)deepest);
}
