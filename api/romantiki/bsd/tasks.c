// SPDX-License-Identifier: BSD-2-Clause
// Romantiki's tasks as threads of whatever system: bsd.h. A task waits by a token and with the port's lock, as calls of
// sockets do.
#include "bsd.h"

static const struct romantiki_system *in_use;
static WEIR_ATOMIC(struct romantiki_task *) started;  // all of them; the list only grows, under the lock

void romantiki_use(const struct romantiki_system *system) { in_use = system; }
void romantiki_yield(void) { in_use->yield(); }

static void lock(void) { in_use->port->lock(in_use->port->context); }
static void unlock(void) { in_use->port->unlock(in_use->port->context); }
static uint64_t now_us(void) { return in_use->port->now_us(in_use->port->context); }

// With the lock. Whether there is time left.
static bool token_wait(const void *token, uint64_t due_us)
{
    return in_use->port->wait(in_use->port->context, token, due_us) != 1;
}

// The calling task; NULL: the thread is none.
static struct romantiki_task *own(void)
{
    const void *thread = in_use->self();
    struct romantiki_task *task = started;
    while (task && task->thread != thread)
        task = task->next;
    return task;
}

int romantiki_errno(void)
{
    const struct romantiki_task *task = own();
    return task ? task->error : 0;
}

void romantiki_set_errno(void *context, int value)
{
    struct romantiki_task *task = own();
    (void)context;
    if (task)
        task->error = value;
}

static void run_task(void *context)
{
    struct romantiki_task *task = context;
    task->thread = in_use->self();
    task->function(task->prm);
    task->thread = NULL;
    in_use->end();
}

bool romantiki_task_start(struct romantiki_task *task, coop_function *function, void *prm, unsigned priority)
{
    const struct romantiki_task *listed;
    task->function = function;
    task->prm = prm;
    lock();
    for (listed = started; listed && listed != task; listed = listed->next)
        ;
    if (!listed) {
        task->next = started;
        started = task;
    }
    unlock();
    return in_use->start(run_task, task, priority);
}

void romantiki_give(struct romantiki_flag *flag, unsigned most)
{
    lock();
    if (flag->count < most)
        flag->count++;
    in_use->port->wake(in_use->port->context, flag);
    unlock();
}

void romantiki_flag_take(struct romantiki_flag *flag, const unsigned *timeout_ms, int *res)
{
    const uint64_t due_us = timeout_ms ? now_us() + *timeout_ms * 1000ull : WEIR_NEVER;
    lock();
    while (!flag->count && token_wait(flag, due_us))
        ;
    *res = flag->count > 0;
    flag->count -= (unsigned)*res;
    unlock();
}

static void sleep_until(uint64_t due_us)
{
    lock();
    while (now_us() < due_us && token_wait(&due_us, due_us))  // nobody wakes that token
        ;
    unlock();
}

void romantiki_sleep_us(uint64_t microseconds) { sleep_until(now_us() + microseconds); }

void romantiki_timer_start(struct romantiki_timer *timer, uint32_t first_us, uint32_t period_us)
{
    *timer = (struct romantiki_timer){now_us() + first_us, period_us};
}

// A timer that does not repeat fires once, and never again.
void romantiki_timer_take(struct romantiki_timer *timer)
{
    sleep_until(timer->due_us);
    const uint64_t now = now_us();
    do
        timer->due_us = timer->period_us ? timer->due_us + timer->period_us : WEIR_NEVER;
    while (timer->due_us <= now);
}
