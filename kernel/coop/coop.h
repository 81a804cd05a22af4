// SPDX-License-Identifier: BSD-2-Clause
// A cooperative kernel whose tasks share one stack, as Romantiki's: blocking functions (bf.h) with priorities, event
// objects, timers, semaphores. A task runs until it blocks or yields. One server, the network stack, has its own place
// among the priorities: tasks above it run before it looks at a frame; for those below, each round of the loop is input
// in a budget, one run of the first ready task, output. So a task above the server waits at the longest for one run of
// another task, or one budget of frames and one output; tests/unit/kernel holds the kernel to that.
//
// All of it runs in one context. Interrupt handlers call coop_event_set and coop_interrupt, and nothing else.
#ifndef COOP_H
#define COOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/coop/bf.h"
#include "weir/language.h"

WEIR_BEGIN_DECLS

#define COOP_NEVER UINT64_MAX

// What the kernel needs of the machine.
struct coop_system {
    uint64_t (*now_us)(void);
    // Sleeps until the moment or an interrupt, unless *awake is true already: the look and the sleep are one step to
    // interrupts.
    void (*sleep)(uint64_t until_us, const volatile bool *awake);
};

// What is served between tasks: bounded work each.
struct coop_server {
    bool (*input)(void);       // true: more waits
    uint64_t (*output)(void);  // the next deadline, µs; not after now when work is left
    uint8_t priority;
};

typedef BFD coop_function(void *prm);
enum coop_state { COOP_IDLE, COOP_READY, COOP_BLOCKED };

struct coop_task {
    struct coop_task *next;  // in order of priority, the highest first
    coop_function *function;
    void *prm;
    const void *token;  // what it waits for
    uint64_t deadline_us;
    uint8_t priority;  // higher numbers run first
    uint8_t state;     // enum coop_state
};

struct coop_event {
    volatile bool set;
};
struct coop_semaphore {
    uint16_t count;
};
struct coop_timer {
    struct coop_timer *next;
    uint64_t due_us;
    uint32_t period_us;  // 0: once
    bool running, fired;
};

struct coop {
    const struct coop_system *system;
    const struct coop_server *server;
    struct coop_task *tasks, *current;
    struct coop_timer *timers;
    uint64_t (*timers_turn)(void);  // timer.c
    uint64_t due_us;                // of tasks and timers, unless it is stale
    uint64_t now_us;                // of this round
    uint8_t calls;                  // that need not block, left in this run
    volatile bool awake, event;     // an interrupt came; it set an event
    bool stale;                     // a deadline or a timer has changed since
};
extern struct coop coop;

// Begins anew, without tasks. `server` may be NULL.
void coop_start(const struct coop_system *system, const struct coop_server *server);
void coop_task_start(struct coop_task *task, coop_function *function, void *prm, uint8_t priority);
// One round, without sleeping; the moment the next is due, µs: not after now when work is left.
uint64_t coop_round(void);
WEIR_NORETURN void coop_run(void);

// --- for blocking functions ------------------------------------------------------------------------------------------
// Sets the running task's deadline for the blocking call that begins; NULL: none.
void coop_timeout(const unsigned *timeout_ms);
static inline void coop_timeout_in(unsigned milliseconds) { coop_timeout(&milliseconds); }
bool coop_expired(void);  // it has passed
// The running task waits for coop_wake(token) or its deadline: return its result at once. It may be woken without need:
// look again, and do not wait again once coop_expired.
BFD coop_block(const void *token);
void coop_wake(const void *token);
// A blocking call that would not have to wait, and gives way to others all the same: BF_BLOCKED, and it is called
// again. After COOP_CALLS calls in one run, so that a task whose peer is never late does not keep the CPU.
#ifndef COOP_CALLS
#define COOP_CALLS 8
#endif
static inline bool coop_gives_way(void) { return coop.calls-- == 0; }
bool coop_preferred(void);  // what has a higher priority than the running task is ready
BFD coop_pause(const void *token, bool over);

// Lets higher priorities run; the task goes on when they block. Without any it costs a look.
#define YIELD \
    do { \
        if (coop_preferred()) { \
            bf_line = __LINE__; \
            return BF_BLOCKED; \
        } \
        __attribute__((fallthrough)); \
    case __LINE__:; \
    } while (0)
// Waits for `milliseconds`.
#define SLEEP_MS(milliseconds) \
    do { \
        coop_timeout_in(milliseconds); \
        BF_CALL(coop_pause(&coop, coop_expired())); \
    } while (0)

// --- events: a flag that stays set until a waiter took it ------------------------------------------------------------
void coop_event_set(struct coop_event *event);  // also from interrupts
// *res: 1 taken, 0 the time is over. timeout_ms NULL: for ever.
BFD coop_event_take(struct coop_event *event, int *res);
#define EVENT_WAIT(event, timeout_ms, res) \
    do { \
        coop_timeout(timeout_ms); \
        BF_CALL(coop_event_take(event, res)); \
    } while (0)

// --- semaphores: counting; the waiter of the highest priority takes first --------------------------------------------
void coop_semaphore_give(struct coop_semaphore *semaphore);
BFD coop_semaphore_take(struct coop_semaphore *semaphore, int *res);
#define SEM_WAIT(semaphore, timeout_ms, res) \
    do { \
        coop_timeout(timeout_ms); \
        BF_CALL(coop_semaphore_take(semaphore, res)); \
    } while (0)

// --- timers ----------------------------------------------------------------------------------------------------------
void coop_timer_start(struct coop_timer *timer, uint32_t first_us, uint32_t period_us);
void coop_timer_stop(struct coop_timer *timer);
BFD coop_timer_take(struct coop_timer *timer);
// Waits until it fires, or returns at once when it has since the last wait.
#define TIMER_WAIT(timer) \
    do { \
        coop_timeout(NULL); \
        BF_CALL(coop_timer_take(timer)); \
    } while (0)

// From an interrupt handler: the loop shall look again.
static inline void coop_interrupt(void) { coop.awake = true; }

WEIR_END_DECLS

#endif
