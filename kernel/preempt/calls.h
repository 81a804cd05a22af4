// SPDX-License-Identifier: BSD-2-Clause
// What a process calls: each a system call (arch.h), whose number and arguments the kernel finds in a table. A call
// that a signal interrupted fails, and the signal's handler has run when it returns. The handler is the process's own
// code, and may make calls itself.
#ifndef PREEMPT_CALLS_H
#define PREEMPT_CALLS_H

#include <stddef.h>
#include <stdint.h>

#include "weir/language.h"

WEIR_BEGIN_DECLS

#define PROCESS_ARGUMENTS 6
// The kernel's own calls. From CALL_FIRST on: those of whoever serves processes more, as sockets.
enum {
    CALL_NONE,
    CALL_EXIT,
    CALL_ID,
    CALL_YIELD,
    CALL_SLEEP,
    CALL_PAUSE,
    CALL_ALARM,
    CALL_HANDLE,
    CALL_KILL,
    CALL_ALLOC,
    CALL_FREE,
    CALL_NOW,
    CALL_FIRST = 16
};

// −1 also when there is no such call. Arguments that are not used are 0.
intptr_t process_call(uint32_t number, intptr_t a, intptr_t b, intptr_t c, intptr_t d, intptr_t e, intptr_t f);

WEIR_NORETURN void process_exit(int status);
int process_id(void);
void process_yield(void);
int process_sleep_ms(uint32_t ms);       // 0, −1: interrupted
int process_pause(void);                 // until a signal: −1
uint32_t process_alarm_ms(uint32_t ms);  // SIGNAL_ALARM then, 0: none. What was left of an alarm asked for before
int process_handle(int signal, void (*handler)(int));  // NULL: a signal ends calls, no more (INT, TERM: the process)
int process_kill(int id, int signal);                  // −1: no such process
void *process_alloc(size_t bytes);                     // NULL: none left
void process_free(void *memory);                       // what is not freed is when the process ends
uint32_t process_now_ms(void);                         // of the board's time

WEIR_END_DECLS

#endif
