// SPDX-License-Identifier: BSD-2-Clause
// The architecture "a process on POSIX": a frame is a ucontext at the upper end of the thread's stack. "Interrupts off"
// is a flag, and taking it back is where a switch happens, as on a processor whose switch is an interrupt of the lowest
// priority.
#define _GNU_SOURCE
#include "host.h"

#include <ucontext.h>

#include "kernel/preempt/arch.h"
#include "kernel/preempt/preempt.h"

#if defined(__SANITIZE_ADDRESS__)
void __sanitizer_start_switch_fiber(void **save, const void *bottom, size_t size);
void __sanitizer_finish_switch_fiber(void *save, const void **bottom, size_t *size);
void __asan_unpoison_memory_region(const volatile void *at, size_t size);
#define RENEW(stack, bytes) __asan_unpoison_memory_region(stack, bytes)
#define SWITCH_BEGINS(save, bottom, size) __sanitizer_start_switch_fiber(save, bottom, size)
#define SWITCH_ENDED(save, bottom, size) __sanitizer_finish_switch_fiber(save, bottom, size)
#else
#define RENEW(stack, bytes) ((void)(stack), (void)(bytes))
#define SWITCH_BEGINS(save, bottom, size) ((void)(save), (void)(bottom), (void)(size))
#define SWITCH_ENDED(save, bottom, size) ((void)(save), (void)(bottom), (void)(size))
#endif
#define LEAST_BYTES 16384u  // for a signal's frame, the C library, a sanitizer

struct frame {
    ucontext_t context;
    void (*begin)(void);
    const void *stack;
    size_t bytes;
    void *shadow;
};

// home: where host_run returns; boot: saved at the first switch, and never used
static struct frame home, boot, *running;
static bool off, pending, finished;

// On the new stack: interrupts come on as they would by returning from the switch.
static void first(void)
{
    SWITCH_ENDED(NULL, home.stack ? NULL : &home.stack, home.bytes ? NULL : &home.bytes);
    off = false;
    running->begin();
}

static void switch_now(void)
{
    struct frame *from = running;
    off = true;
    pending = false;
    running = thread_switch(from);
    if (running != from) {
        struct frame *save = from ? from : &boot;
        SWITCH_BEGINS(&save->shadow, running->stack, running->bytes);
        swapcontext(&save->context, &running->context);
        SWITCH_ENDED(save->shadow, NULL, NULL);
    }
    off = false;
}

uint32_t arch_interrupts_off(void)
{
    const uint32_t before = off;
    off = true;
    return before;
}

void arch_interrupts_restore(uint32_t state)
{
    if (!state)
        arch_interrupts_on();
}

void arch_interrupts_on(void)
{
    off = false;
    while (pending)
        switch_now();
}

void arch_switch(void) { pending = true; }

// Apart, since getcontext returns as setjmp does: what it keeps is not to be changed around it.
static void lay(struct frame *frame, void *stack, size_t bytes, void (*begin)(void))
{
    *frame = (struct frame){.begin = begin, .stack = stack, .bytes = bytes};
    getcontext(&frame->context);
    frame->context.uc_stack.ss_sp = stack;
    frame->context.uc_stack.ss_size = bytes;
    makecontext(&frame->context, first, 0);
}

void *arch_frame(void *stack, size_t bytes, void (*begin)(void))
{
    const size_t above = (sizeof(struct frame) + 63) & ~(size_t)63;
    if (bytes < LEAST_BYTES + above)
        return NULL;
    struct frame *frame = (struct frame *)(((uintptr_t)stack + bytes - above) & ~(uintptr_t)63);
    lay(frame, stack, (size_t)((uint8_t *)frame - (uint8_t *)stack), begin);
    return frame;
}

void arch_call_on(void *end, void (*function)(void *argument), void *argument)
{
    (void)end;
    function(argument);
}

void arch_start(void)
{
    running = NULL;
    arch_interrupts_on();
    __builtin_unreachable();
}

void host_run(void)
{
    finished = pending = false;
    getcontext(&home.context);
    if (finished)
        SWITCH_ENDED(NULL, NULL, NULL);
    else
        kernel_start();
}

void host_finish(void)
{
    finished = true;
    off = false;
    SWITCH_BEGINS(NULL, home.stack, home.bytes);
    setcontext(&home.context);
    __builtin_unreachable();
}

void host_stack_renew(void *stack, size_t bytes) { RENEW(stack, bytes); }
bool host_interrupts_on(void) { return !off; }
void host_interrupt_begins(void) { off = true; }
void host_interrupt_ends(void) { arch_interrupts_on(); }
