// SPDX-License-Identifier: BSD-2-Clause
#include "dns/both.h"

#include "dns/family.h"

static void take(struct dns_both *both, const struct dns_answer *answer)
{
    for (uint32_t i = 0; i < answer->count; i++)
        both->addresses[both->count++] = answer->addresses[i];
}

void dns_both_stop(struct dns_both *both)
{
    if (!both->waiting)
        return;
    both->waiting = false;
    loop_remove(both->pair.dns->loop, &both->app);
    dns_pair_cancel(&both->pair);
}

static void finish(struct dns_both *both)
{
    struct dns_answer *const aaaa = &both->answers[DNS_SIDE_AAAA], *const a = &both->answers[DNS_SIDE_A];
    struct weir *const weir = both->pair.dns->loop->weir;
    dns_both_stop(both);
    if (aaaa->count == 0 && dns_synthesise(weir, a, aaaa))
        a->count = 0;
    take(both, aaaa);
    if (WEIR_CFG_IP4)
        take(both, a);
    weir_destinations_sort(weir, both->addresses, both->count);
    both->result = both->count > 0 ? DNS_FOUND : dns_pair_failure(&both->pair);
    both->done(both->context, both);
}

static void told(struct dns_pair *pair, enum dns_side side, const struct dns_answer *answer)
{
    struct dns_both *const both = (struct dns_both *)(void *)((char *)pair - offsetof(struct dns_both, pair));
    const bool found = pair->sides[side].result == DNS_FOUND;
    if (found)
        both->answers[side] = *answer;
    if (!dns_pair_pending(pair))
        finish(both);
    else if (found && answer->count > 0)
        both->due_us = weir_now_us(pair->dns->loop->weir) + DNS_OTHER_US;
}

static uint64_t both_poll(struct app *app, uint64_t now_us)
{
    struct dns_both *const both = (struct dns_both *)app;
    if (now_us < both->due_us)
        return both->due_us;
    finish(both);
    return now_us;  // who was told may have begun something
}

void dns_both_start(struct dns_both *both, struct dns *dns, const char *name,
                    void (*done)(void *context, struct dns_both *both), void *context)
{
    memset(both, 0, sizeof *both);
    both->app.poll = both_poll;
    both->done = done;
    both->context = context;
    both->due_us = WEIR_NEVER;
    both->waiting = true;
    loop_add(dns->loop, &both->app);
    dns_pair_ask(&both->pair, dns, name, told);
}
