// SPDX-License-Identifier: BSD-2-Clause
// POSIX threads as the system that Romantiki's tasks ask for: bsd.h. One mutex and one condition serve all of them;
// priorities are left out, as they want privileges.
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <sched.h>
#include <time.h>

#include "bsd.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t news;
static void (*posix_run)(void *task);  // the same for all; under the mutex

static uint64_t posix_now_us(void *context)
{
    struct timespec now;
    (void)context;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static void posix_lock(void *context)
{
    (void)context;
    pthread_mutex_lock(&mutex);
}

static void posix_unlock(void *context)
{
    (void)context;
    pthread_mutex_unlock(&mutex);
}

static int posix_wait(void *context, const void *token, uint64_t deadline_us)
{
    const struct timespec due = {(time_t)(deadline_us / 1000000), (long)(deadline_us % 1000000 * 1000)};
    (void)context, (void)token;
    return deadline_us == WEIR_NEVER ? pthread_cond_wait(&news, &mutex) != 0
                                     : pthread_cond_timedwait(&news, &mutex, &due) != 0;
}

static void posix_wake(void *context, const void *token)
{
    (void)context, (void)token;
    pthread_cond_broadcast(&news);
}

static void *posix_thread(void *task)
{
    posix_lock(NULL);
    void (*const run)(void *) = posix_run;
    posix_unlock(NULL);
    run(task);
    return NULL;
}

static bool posix_start(void (*run)(void *task), void *task, unsigned priority)
{
    pthread_t thread;
    (void)priority;
    posix_lock(NULL);
    posix_run = run;
    posix_unlock(NULL);
    return pthread_create(&thread, NULL, posix_thread, task) == 0 && pthread_detach(thread) == 0;
}

static void *posix_self(void)
{
    static _Thread_local char own;
    return &own;
}

static void posix_yield(void) { sched_yield(); }
static void posix_end(void) { pthread_exit(NULL); }

static void use_posix(void)
{
    static const struct weir_port port = {
        .now_us = posix_now_us, .lock = posix_lock, .unlock = posix_unlock, .wait = posix_wait, .wake = posix_wake};
    static const struct romantiki_system system = {&port, posix_start, posix_self, posix_yield, posix_end};
    pthread_condattr_t clock;
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&news, &clock);
    pthread_condattr_destroy(&clock);
    romantiki_use(&system);
}

int romantiki_main(coop_function *function, unsigned priority)
{
    (void)priority;
    use_posix();
    function(NULL);
    return 0;
}
