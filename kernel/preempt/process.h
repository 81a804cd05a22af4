// SPDX-License-Identifier: BSD-2-Clause
// Processes: a thread each, without privileges where the processor knows such, that reaches the kernel by system calls
// only (calls.h is what it sees) and has nothing that outlives it. When it ends or is killed a thread of the kernel,
// the reaper, takes all back: its sockets are closed (by `ends`), its stack and what it allocated return to the pool.
// Memory is not protected by the processor, but what a process names in a call is checked (process_owns): its stack,
// what it allocated, and the regions that its config lists are its own.
//
// A process within a system call may hold locks, so it is not stopped there: whatever it waits for ends with
// KERNEL_INTERRUPTED, and it ends when the call does. One that runs its own code ends at once. So does one that does
// what the processor does not allow it.
#ifndef PREEMPT_PROCESS_H
#define PREEMPT_PROCESS_H

#include "calls.h"
#include "kmem.h"
#include "signal.h"
#include "weir/language.h"

WEIR_BEGIN_DECLS

// by the caller, privileged
typedef intptr_t process_call_handler(struct process *self, const intptr_t arguments[PROCESS_ARGUMENTS]);

struct process_system {
    struct kmem *memory;
    process_call_handler *const *calls;  // CALL_FIRST and following; NULL within: no such call
    uint32_t call_count;
    bool (*begins)(struct process *process);  // by who starts it: prepares what its calls need. false: it cannot be
    void (*ends)(struct process *process);    // by the reaper: gives that back
};

// Memory of the image that a process may name in calls, beside its stack and what it allocated.
struct process_region {
    const void *begin, *end;
    bool write;  // a call may write there, too
};

struct process {           // the kernel's, but for `user`
    struct thread thread;  // first
    struct signals signals;
    struct process *next;
    void *blocks;  // it allocated, a list
    const struct process_region *regions;
    int (*program)(void *argument);
    void *argument;
    int id, status;
    bool in_call, ending, ended;
    struct wait_queue waiting;
    void *user;  // of begins and ends, as its sockets
};

struct process_config {
    const char *name;
    int (*program)(void *argument);  // returning is process_exit
    void *argument;
    size_t stack_bytes;
    uint8_t priority;
    // Behind the last stands one whose end is NULL; NULL: none. They stay as long as the process.
    const struct process_region *regions;
};

// Before any process; by a thread. The reaper's stack and priority are those of `reaper`; false: the stack is too
// small.
bool process_init(const struct process_system *system, const struct thread_config *reaper);
// `process` must not be one that has not ended. false: no memory.
bool process_start(struct process *process, const struct process_config *config);
// not from an interrupt. KILL ends it, INT and TERM if it has no handler
void process_signal_send(struct process *process, int signal);
// Until it has ended and all it had is free: KERNEL_WOKEN. Its status is what it exited with, −signal if one ended it.
int process_wait(struct process *process, uint64_t deadline_us, int *status);
struct process *process_find(int id);  // NULL: none that runs
struct process *process_self(void);    // the caller's; NULL: it is a thread of the kernel
// Whether all of the memory is the process's to read, or to write. By the process itself, in a call.
bool process_owns(const struct process *process, const void *memory, size_t bytes, bool write);

WEIR_END_DECLS

#endif
