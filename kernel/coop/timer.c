// SPDX-License-Identifier: BSD-2-Clause
// Timers. The loop knows them only by the pointer that coop_timer_start sets, so a program without timers has none of
// this.
#include "coop.h"

// A timer that is late keeps its beat: what it missed fires once.
static uint64_t timers_turn(void)
{
    uint64_t due_us = COOP_NEVER;
    for (struct coop_timer **at = &coop.timers, *timer; (timer = *at);) {
        if (timer->due_us <= coop.now_us) {
            timer->fired = true;
            coop_wake(timer);
            if (!timer->period_us) {
                timer->running = false;
                *at = timer->next;
                continue;
            }
            while (timer->due_us <= coop.now_us)
                timer->due_us += timer->period_us;
        }
        due_us = timer->due_us < due_us ? timer->due_us : due_us;
        at = &timer->next;
    }
    return due_us;
}

void coop_timer_stop(struct coop_timer *timer)
{
    for (struct coop_timer **at = &coop.timers; *at; at = &(*at)->next)
        if (*at == timer) {
            *at = timer->next;
            break;
        }
    timer->running = timer->fired = false;
    coop.stale = true;
}

void coop_timer_start(struct coop_timer *timer, uint32_t first_us, uint32_t period_us)
{
    coop_timer_stop(timer);
    *timer = (struct coop_timer){
        .next = coop.timers, .due_us = coop.system->now_us() + first_us, .period_us = period_us, .running = true};
    coop.timers = timer;
    coop.timers_turn = timers_turn;
}

BFD coop_timer_take(struct coop_timer *timer)
{
    if (!timer->fired)
        return coop_block(timer);
    timer->fired = false;
    return BF_DONE;
}
