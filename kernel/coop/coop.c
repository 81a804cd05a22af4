// SPDX-License-Identifier: BSD-2-Clause
// Waking is by token: whoever waits for it looks at its condition again, the highest priority first. So nothing is lost
// between a look and going to sleep, as no task runs there, and there are no queues of waiters. Few tasks: the list is
// walked.
#include "coop.h"

struct coop coop;

static bool nothing_in(void) { return false; }
static uint64_t nothing_out(void) { return COOP_NEVER; }

void coop_start(const struct coop_system *system, const struct coop_server *server)
{
    static const struct coop_server nobody = {nothing_in, nothing_out, 0};
    coop = (struct coop){.system = system, .server = server ? server : &nobody, .now_us = system->now_us()};
}

// Behind those of its priority, so that they take turns.
static void insert(struct coop_task *task)
{
    struct coop_task **at = &coop.tasks;
    while (*at && (*at)->priority >= task->priority)
        at = &(*at)->next;
    task->next = *at;
    *at = task;
}

static void take_out(const struct coop_task *task)
{
    struct coop_task **at = &coop.tasks;
    while (*at != task)
        at = &(*at)->next;
    *at = task->next;
}

void coop_task_start(struct coop_task *task, coop_function *function, void *prm, uint8_t priority)
{
    *task = (struct coop_task){
        .function = function, .prm = prm, .priority = priority, .state = COOP_READY, .deadline_us = COOP_NEVER};
    insert(task);
}

void coop_timeout(const unsigned *timeout_ms)
{
    coop.current->deadline_us = COOP_NEVER;
    if (timeout_ms) {
        coop.current->deadline_us = coop.system->now_us() + *timeout_ms * 1000ull;
        coop.stale = true;
    }
}

bool coop_expired(void) { return coop.now_us >= coop.current->deadline_us; }

BFD coop_block(const void *token)
{
    coop.current->token = token;
    coop.current->state = COOP_BLOCKED;
    return BF_BLOCKED;
}

void coop_wake(const void *token)
{
    for (struct coop_task *task = coop.tasks; task; task = task->next)
        if (task->state == COOP_BLOCKED && task->token == token)
            task->state = COOP_READY;
}

BFD coop_pause(const void *token, bool over) { return over ? BF_DONE : coop_block(token); }

// --- events, semaphores ----------------------------------------------------------------------------------------------

// From an interrupt only the flags are written; the loop finds the waiters.
void coop_event_set(struct coop_event *event)
{
    event->set = true;
    coop.event = true;
    coop.awake = true;
}

static void event_turn(void)
{
    coop.event = false;  // before looking: what is set from here on is seen in the next round
    for (struct coop_task *task = coop.tasks; task; task = task->next)
        if (task->state == COOP_BLOCKED)
            task->state = COOP_READY;
}

static BFD taken(bool there, const void *token, int *res)
{
    if (!there && !coop_expired())
        return coop_block(token);
    *res = there;
    return BF_DONE;
}

BFD coop_event_take(struct coop_event *event, int *res)
{
    const bool set = event->set;
    if (set)
        event->set = false;
    return taken(set, event, res);
}

void coop_semaphore_give(struct coop_semaphore *semaphore)
{
    semaphore->count++;
    coop_wake(semaphore);
}

BFD coop_semaphore_take(struct coop_semaphore *semaphore, int *res)
{
    const bool there = semaphore->count > 0;
    semaphore->count = (uint16_t)(semaphore->count - there);
    return taken(there, semaphore, res);
}

// --- the loop --------------------------------------------------------------------------------------------------------

// Tasks whose deadline has come are ready. Returns the earliest of the others.
static uint64_t tasks_turn(void)
{
    uint64_t due_us = COOP_NEVER;
    for (struct coop_task *task = coop.tasks; task; task = task->next) {
        if (task->state != COOP_BLOCKED || task->deadline_us == COOP_NEVER)
            continue;
        if (task->deadline_us <= coop.now_us)
            task->state = COOP_READY;
        else if (task->deadline_us < due_us)
            due_us = task->deadline_us;
    }
    return due_us;
}

// What has come by now_us, and by interrupts.
static void deadlines(void)
{
    if (coop.event)
        event_turn();
    coop.stale = false;
    const uint64_t timer_us = coop.timers ? coop.timers_turn() : COOP_NEVER, task_us = tasks_turn();
    coop.due_us = timer_us < task_us ? timer_us : task_us;
}

static void look(void)
{
    coop.now_us = coop.system->now_us();
    if (coop.event || coop.stale || coop.now_us >= coop.due_us)
        deadlines();
}

static struct coop_task *first_ready(void)
{
    struct coop_task *task = coop.tasks;
    while (task && task->state != COOP_READY)
        task = task->next;
    return task;
}

bool coop_preferred(void)
{
    look();
    const struct coop_task *task = first_ready();
    return (task && task->priority > coop.current->priority) ||
           (coop.awake && coop.server->priority > coop.current->priority);
}

static void run(struct coop_task *task)
{
    if (task->next && task->next->priority == task->priority) {
        take_out(task);
        insert(task);
    }
    coop.current = task;
    coop.calls = COOP_CALLS;
    if (task->deadline_us != COOP_NEVER)
        coop.stale = true;  // it is met, or another is set
    if (task->function(task->prm) == BF_DONE) {
        take_out(task);
        task->state = COOP_IDLE;
    }
    coop.current = NULL;
}

uint64_t coop_round(void)
{
    const struct coop_server *server = coop.server;
    coop.awake = false;  // before looking: what comes from now on is seen in the next round
    look();
    struct coop_task *task = first_ready();
    if (task && task->priority > server->priority) {
        run(task);
        return coop.now_us;
    }
    const bool more = server->input();
    task = first_ready();
    if (task)
        run(task);
    const uint64_t server_us = server->output();
    if (coop.stale)
        deadlines();
    if (more || first_ready())
        return coop.now_us;
    return coop.due_us < server_us ? coop.due_us : server_us;
}

_Noreturn void coop_run(void)
{
    for (;;) {
        const uint64_t due_us = coop_round();
        if (due_us > coop.now_us)
            coop.system->sleep(due_us, &coop.awake);
    }
}
