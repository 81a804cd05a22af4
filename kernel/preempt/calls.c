// SPDX-License-Identifier: BSD-2-Clause
// The process's side. Nothing here touches the kernel but by a system call.
#include "calls.h"

#include "arch.h"

// The kernel writes a handler that is to be called behind the arguments, and its signal into the first.
intptr_t process_call(uint32_t number, intptr_t a, intptr_t b, intptr_t c, intptr_t d, intptr_t e, intptr_t f)
{
    intptr_t arguments[PROCESS_ARGUMENTS + 1] = {a, b, c, d, e, f, 0};
    const intptr_t result = arch_system_call(number, arguments);
    while (arguments[PROCESS_ARGUMENTS]) {
        void (*const handler)(int) = (void (*)(int))arguments[PROCESS_ARGUMENTS];
        handler((int)arguments[0]);
        (void)arch_system_call(CALL_NONE, arguments);
    }
    return result;
}

static intptr_t call(uint32_t number, intptr_t a, intptr_t b) { return process_call(number, a, b, 0, 0, 0, 0); }

void process_exit(int status)
{
    for (;;)
        (void)call(CALL_EXIT, status, 0);
}
int process_id(void) { return (int)call(CALL_ID, 0, 0); }
void process_yield(void) { (void)call(CALL_YIELD, 0, 0); }
int process_sleep_ms(uint32_t ms) { return (int)call(CALL_SLEEP, (intptr_t)ms, 0); }
int process_pause(void) { return (int)call(CALL_PAUSE, 0, 0); }
uint32_t process_alarm_ms(uint32_t ms) { return (uint32_t)call(CALL_ALARM, (intptr_t)ms, 0); }
int process_handle(int signal, void (*handler)(int)) { return (int)call(CALL_HANDLE, signal, (intptr_t)handler); }
int process_kill(int id, int signal) { return (int)call(CALL_KILL, id, signal); }
void *process_alloc(size_t bytes) { return (void *)call(CALL_ALLOC, (intptr_t)bytes, 0); }
void process_free(void *memory) { (void)call(CALL_FREE, (intptr_t)memory, 0); }
uint32_t process_now_ms(void) { return (uint32_t)call(CALL_NOW, 0, 0); }
