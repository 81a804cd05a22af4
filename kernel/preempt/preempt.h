// SPDX-License-Identifier: BSD-2-Clause
// A preemptive kernel for one processor: of the threads that are ready the one with the highest priority runs, equals
// in turn for KERNEL_SLICE_US each. Threads come, go and change priority at run time. There is no tick: the board's
// timer is set to the next moment at which something is due, and with nothing to do the processor sleeps.
//
// There is one kernel (and one processor), so it has no context argument. The caller owns all memory: threads, stacks,
// mailboxes. What may block is called by threads only, with interrupts on; a `deadline_us` is a moment of
// board->now_us, KERNEL_NEVER waits for ever, a moment that has passed does not block. What does not block may be
// called from an interrupt too, unless it says otherwise.
#ifndef PREEMPT_PREEMPT_H
#define PREEMPT_PREEMPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "weir/language.h"

WEIR_BEGIN_DECLS

#define KERNEL_NEVER UINT64_MAX
#define KERNEL_SLICE_US 10000u  // a thread's turn while equals wait
// How a wait ended. KERNEL_INTERRUPTED: by a signal (signal.h), which only threads get that have a struct signals.
enum kernel_wait { KERNEL_WOKEN, KERNEL_TIMEOUT, KERNEL_INTERRUPTED };

struct thread;
struct mutex;
struct signals;
struct kernel_board {
    uint64_t (*now_us)(void);
    // kernel_timer shall be called at that moment; a little later is good enough, earlier costs only time. Interrupts
    // are off.
    void (*alarm)(uint64_t at_us);
    // Sleeps until an interrupt, one that waits already included. Interrupts are off, and may be on or off when it
    // returns.
    void (*idle)(void);
    // A thread's stack ran over, as its canary tells; memory below it is lost. Must not return. Interrupts are off.
    void (*overflow)(struct thread *thread);
    void *idle_stack;  // aligned to 8, for a thread that does nothing but `idle`
    size_t idle_stack_bytes;
};
bool kernel_init(const struct kernel_board *board);  // then threads may be created; false: idle's stack is too small
WEIR_NORETURN void kernel_start(void);               // main's stack becomes the interrupts'
void kernel_timer(void);                             // from the timer's interrupt
uint64_t kernel_now_us(void);                        // the board's time

// A function called at a moment, from the timer's interrupt, with interrupts off.
struct timeout {
    uint64_t at_us;  // KERNEL_NEVER: stopped
    struct timeout *next;
    void (*due)(struct timeout *timeout);
};
// `due` is set; it must have been zero, stopped or due before
void timeout_start(struct timeout *timeout, uint64_t at_us);
void timeout_stop(struct timeout *timeout);
uint64_t timeout_next(void);  // when the next is due, or a thread's wait ends; KERNEL_NEVER: there is none

// --- threads ---------------------------------------------------------------------------------------------------------
typedef void thread_entry(void *argument);
struct wait_queue {
    struct thread *first;  // in order of priority, equals in order of coming
};

struct thread {  // the kernel's, but for `user`
    struct timeout deadline;
    void *frame;  // its registers while it does not run
    struct thread *next;
    struct wait_queue *queue;  // stands in this; NULL: in none
    const void *token;         // of the wait; for a mailbox the message
    struct mutex *wants;       // stands in this one's queue
    struct mutex *holds;       // a list
    struct signals *signals;   // NULL: it gets none
    uint32_t *stack;           // lowest word: the canary
    size_t stack_bytes;
    thread_entry *entry;
    void *argument;
    struct wait_queue joining;
    uint32_t turn_us;                // left of its turn when it runs again
    uint8_t priority, own_priority;  // the former inherited, where higher
    uint8_t result;
    bool dead, blocked, firm, suspended;  // firm: no signal ends its wait
    const char *name;
    intptr_t user;  // whatever the thread wants to find again, as its errno
};

struct thread_config {
    const char *name;
    thread_entry *entry;  // returning is thread_exit
    void *argument;
    void *stack;  // aligned to 8
    size_t stack_bytes;
    uint8_t priority;  // 1 (least urgent) to 255
};

// Runs at once if it is the most urgent. false: the stack is too small, or the priority 0.
bool thread_create(struct thread *thread, const struct thread_config *config);
// Ends a thread, also oneself: what it waited for it no longer gets, mutexes it holds are unlocked. Its memory may be
// used again when thread_join has returned, or at once if it was another thread. Not from an interrupt.
void thread_delete(struct thread *thread);
WEIR_NORETURN void thread_exit(void);
int thread_join(struct thread *thread, uint64_t deadline_us);  // until it has ended
void thread_set_priority(struct thread *thread, uint8_t priority);
uint8_t thread_priority(const struct thread *thread);  // with what it inherited
void thread_yield(void);                               // to equals
int thread_sleep_until(uint64_t moment_us);            // KERNEL_TIMEOUT: it came; KERNEL_WOKEN: thread_wakeup
void thread_wakeup(struct thread *thread);             // ends its sleep, if it sleeps
// It does not run until thread_resume; whatever it waited for then ends with KERNEL_TIMEOUT. false: it has ended, does
// not wait (resume).
bool thread_suspend(struct thread *thread);
bool thread_resume(struct thread *thread);
struct thread *thread_self(void);
size_t thread_stack_unused(const struct thread *thread);  // bytes never touched

// --- waiting ---------------------------------------------------------------------------------------------------------
// A queue of threads that sleep until woken; zero: empty. Sleepers may give a token, and are woken by it; wake with
// NULL wakes all. With a mutex: it is released in one step with falling asleep, and held again on return.
int wait_queue_sleep(struct wait_queue *queue, struct mutex *mutex, const void *token, uint64_t deadline_us);
void wait_queue_wake(struct wait_queue *queue, const void *token);
bool wait_queue_wake_one(struct wait_queue *queue);      // the most urgent; false: there is none
void wait_queue_sleep_firmly(struct wait_queue *queue);  // whatever signals come
// (sleep_on, interruptible_sleep_on and wake_up, as Unix kernels name them, are in api/lyraos.)

// A lock whose holder inherits the priority of who waits for it, also along a chain; zero: free. Not recursive, not for
// interrupts.
struct mutex {
    struct thread *holder;
    struct mutex *next;  // of the holder's
    struct wait_queue waiting;
    uint8_t hurry;  // priority that its holder has at the least, as if somebody waited
};
void mutex_lock(struct mutex *mutex);
int mutex_lock_until(struct mutex *mutex, uint64_t deadline_us);  // KERNEL_WOKEN: it is held
bool mutex_try(struct mutex *mutex);
void mutex_unlock(struct mutex *mutex);
void mutex_unlock_off(struct mutex *mutex);  // mutex_unlock, with interrupts off (arch.h)
// The running thread, also one that is interrupted, holds it, and has at the least that priority until it unlocks.
void mutex_hurry(struct mutex *mutex, uint8_t priority);

struct semaphore {
    uint32_t count, most;  // most 0: no limit
    struct wait_queue waiting;
};
int semaphore_take(struct semaphore *semaphore, uint64_t deadline_us);
void semaphore_give(struct semaphore *semaphore);  // beyond `most`: nothing

// Pointers from threads (or interrupts) to threads, in order; `room` of them lie in the caller's array, which may be
// none: then sender and receiver meet.
struct mailbox {
    const void **messages;
    uint32_t room, count, head;
    struct wait_queue senders, receivers;
};
// from an interrupt with deadline 0
int mailbox_send(struct mailbox *mailbox, const void *message, uint64_t deadline_us);
int mailbox_receive(struct mailbox *mailbox, const void **message, uint64_t deadline_us);

WEIR_END_DECLS

#endif
