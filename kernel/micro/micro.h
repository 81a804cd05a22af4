// SPDX-License-Identifier: BSD-2-Clause
// A microkernel for one processor with memory protection: processes without privileges, each in memory of its own;
// messages, notifications, interrupts as notifications, time. All processes are in a table from the start (table.h);
// one that touches what is not its own is ended, and its heir is told.
//
// These are a process's calls, each a system call. A pointer is checked against the memory of the process: MICRO_FAULT,
// and nothing is done.
#ifndef MICRO_MICRO_H
#define MICRO_MICRO_H

#include <stdint.h>

#include "weir/language.h"

WEIR_BEGIN_DECLS

#define MICRO_PROCESSES 8u
#define MICRO_MESSAGE_WORDS 8u
#define MICRO_FOREVER UINT64_MAX

enum micro_result {
    MICRO_OK = 0,
    MICRO_MESSAGE = 1,     // micro_receive: somebody calls, and waits for the reply; bits may be set, too
    MICRO_NOTIFIED = 2,    // micro_receive: only bits were set
    MICRO_TIMEOUT = 3,     // micro_receive: the deadline came
    MICRO_INVALID = -1,    // no such call, process, or interrupt
    MICRO_FAULT = -2,      // the pointer is not the process's, or not aligned
    MICRO_FORBIDDEN = -3,  // the table does not let this process reach that one
    MICRO_DEAD = -4,       // the other process has ended
};

// Bits of notifications: who notified; whose heir we are and who ended; our interrupt. They are collected until
// received.
#define MICRO_BIT(process) (1u << (process))
#define MICRO_BIT_DEATH(process) (1u << (8 + (process)))
#define MICRO_BIT_INTERRUPT (1u << 16)

struct micro_event {
    uint32_t bits;
    uint32_t sender;
    uint32_t message[MICRO_MESSAGE_WORDS];
};

// Sends the message, and waits until the other process has received it and replied: the reply is then in its place.
int32_t micro_call(uint32_t process, uint32_t message[MICRO_MESSAGE_WORDS]);
// Waits for notifications and calls, until the deadline at the latest (0: only looks).
int32_t micro_receive(struct micro_event *event, uint32_t unused, uint64_t deadline_us);
int32_t micro_reply(uint32_t process, const uint32_t message[MICRO_MESSAGE_WORDS]);  // never waits
int32_t micro_notify(uint32_t process);                                              // never waits
uint64_t micro_now_us(void);
int32_t micro_interrupt_on(void);                       // ours, which was silenced when it came
#define MICRO_PRINT_BYTES 64u                           // of one text: interrupts wait while it is printed
int32_t micro_print(const char *text, uint32_t bytes);  // MICRO_INVALID: more than that
uint32_t micro_random(void);                            // as good as the board's
// MICRO_OK when all of the memory is the caller's to read, or to write; MICRO_FAULT.
int32_t micro_owns(const void *memory, uint32_t bytes, uint32_t write);
void *micro_self(void);     // what the table has for this process (process_config.self)
int32_t micro_yield(void);  // to equals
WEIR_NORETURN void micro_exit(void);

WEIR_END_DECLS

#endif
