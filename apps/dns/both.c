// SPDX-License-Identifier: BSD-2-Clause
#include "dns/both.h"

#include "dns/family.h"

enum side { SIDE_AAAA, SIDE_A };

static bool is_pending(const struct dns_side *side) { return side->result == WEIR_IN_PROGRESS; }

static void take(struct dns_both *both, const struct dns_answer *answer)
{
    for (uint32_t i = 0; i < answer->count; i++)
        both->addresses[both->count++] = answer->addresses[i];
}

// What is said of the name: that it has addresses; or that it exists; or why nobody knows.
static int result_of(const struct dns_both *both)
{
    const int a = both->sides[SIDE_A].result, aaaa = both->sides[SIDE_AAAA].result;
    if (both->count > 0)
        return DNS_FOUND;
    return DNS_FAMILIES == 1 || (a >= 0 && (aaaa < 0 || a == DNS_NO_DATA)) ? a : aaaa;
}

static void finish(struct dns_both *both)
{
    struct dns_side *const aaaa = &both->sides[SIDE_AAAA], *const a = &both->sides[SIDE_A];
    both->waiting = false;
    loop_remove(both->dns->loop, &both->app);
    dns_cancel(both->dns, aaaa);
    dns_cancel(both->dns, a);
    if (aaaa->answer.count == 0 && dns_synthesise(both->dns->loop->weir, &a->answer, &aaaa->answer))
        a->answer.count = 0;
    take(both, &aaaa->answer);
    take(both, &a->answer);
    weir_destinations_sort(both->dns->loop->weir, both->addresses, both->count);
    both->result = result_of(both);
    both->done(both->context, both);
}

static void side_told(struct dns_side *side, int result, const struct dns_answer *answer)
{
    side->result = result;
    if (result == DNS_FOUND)
        side->answer = *answer;
}

// Looks at what has been told of both sides.
static void both_look(struct dns_both *both)
{
    const bool pending = is_pending(&both->sides[SIDE_AAAA]) || is_pending(&both->sides[SIDE_A]);
    if (!pending)
        finish(both);
    else if (both->due_us == WEIR_NEVER && both->sides[SIDE_AAAA].answer.count + both->sides[SIDE_A].answer.count > 0)
        both->due_us = weir_now_us(both->dns->loop->weir) + DNS_OTHER_US;
}

static void aaaa_done(void *context, int result, const struct dns_answer *answer)
{
    struct dns_both *const both = (struct dns_both *)(void *)((char *)context - offsetof(struct dns_both, sides));
    side_told(&both->sides[SIDE_AAAA], result, answer);
    both_look(both);
}

static void a_done(void *context, int result, const struct dns_answer *answer)
{
    struct dns_both *const both =
        (struct dns_both *)(void *)((char *)context - offsetof(struct dns_both, sides) - sizeof(struct dns_side));
    side_told(&both->sides[SIDE_A], result, answer);
    both_look(both);
}

static uint64_t both_poll(struct app *app, uint64_t now_us)
{
    struct dns_both *const both = (struct dns_both *)app;
    if (now_us < both->due_us)
        return both->due_us;
    finish(both);
    return now_us;  // who was told may have begun something
}

static void ask(struct dns_both *both, const char *name, enum side number, uint16_t type, dns_done *done)
{
    struct dns_side *const side = &both->sides[number];
    struct dns_answer answer;
    side->result = WEIR_IN_PROGRESS;
    const int result = dns_resolve_type(both->dns, name, type, &answer, done, side);
    if (result != WEIR_IN_PROGRESS)
        side_told(side, result, &answer);
}

void dns_both_start(struct dns_both *both, struct dns *dns, const char *name,
                    void (*done)(void *context, struct dns_both *both), void *context)
{
    memset(both, 0, sizeof *both);
    both->app.poll = both_poll;
    both->dns = dns;
    both->done = done;
    both->context = context;
    both->due_us = WEIR_NEVER;
    both->waiting = true;
    loop_add(dns->loop, &both->app);
    both->sides[SIDE_AAAA].result = DNS_NO_DATA;
    if (DNS_FAMILIES == 2)
        ask(both, name, SIDE_AAAA, DNS_AAAA, aaaa_done);
    ask(both, name, SIDE_A, DNS_A, a_done);
    both_look(both);
}

void dns_both_stop(struct dns_both *both)
{
    if (!both->waiting)
        return;
    both->waiting = false;
    loop_remove(both->dns->loop, &both->app);
    dns_cancel(both->dns, &both->sides[SIDE_AAAA]);
    dns_cancel(both->dns, &both->sides[SIDE_A]);
}
