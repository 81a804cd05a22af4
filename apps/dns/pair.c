// SPDX-License-Identifier: BSD-2-Clause
#include "dns/pair.h"

#include "dns/family.h"

static void side_done(void *context, int result, const struct dns_answer *answer)
{
    struct dns_pair_side *const side = context;
    side->result = result;
    side->pair->told(side->pair, (enum dns_side)(side - side->pair->sides), answer);
}

static void ask(struct dns_pair *pair, const char *name, enum dns_side side, uint16_t type)
{
    struct dns_answer answer;
    const int result = dns_resolve_type(pair->dns, name, type, &answer, side_done, &pair->sides[side]);
    if (result != WEIR_IN_PROGRESS)
        side_done(&pair->sides[side], result, &answer);
}

void dns_pair_ask(struct dns_pair *pair, struct dns *dns, const char *name,
                  void (*told)(struct dns_pair *pair, enum dns_side side, const struct dns_answer *answer))
{
    *pair = (struct dns_pair){.dns = dns, .told = told, .sides = {{pair, WEIR_IN_PROGRESS}, {pair, WEIR_IN_PROGRESS}}};
    const bool a = dns_wants_ip4(dns->loop->weir);
    if (!a)
        pair->sides[DNS_SIDE_A].result = DNS_NO_DATA;
    if (DNS_FAMILIES == 2)
        ask(pair, name, DNS_SIDE_AAAA, DNS_AAAA);
    else
        pair->sides[DNS_SIDE_AAAA].result = DNS_NO_DATA;
    if (a)
        ask(pair, name, DNS_SIDE_A, DNS_A);  // the last: whoever is told may end with it
}

void dns_pair_cancel(struct dns_pair *pair)
{
    dns_cancel(pair->dns, &pair->sides[DNS_SIDE_AAAA]);
    dns_cancel(pair->dns, &pair->sides[DNS_SIDE_A]);
}

bool dns_pair_pending(const struct dns_pair *pair)
{
    return pair->sides[DNS_SIDE_AAAA].result == WEIR_IN_PROGRESS || pair->sides[DNS_SIDE_A].result == WEIR_IN_PROGRESS;
}

int dns_pair_failure(const struct dns_pair *pair)
{
    const int a = pair->sides[DNS_SIDE_A].result, aaaa = pair->sides[DNS_SIDE_AAAA].result;
    if (!WEIR_CFG_IP4)
        return aaaa;  // those of IPv4 have led nowhere
    return DNS_FAMILIES == 1 || (a >= 0 && (aaaa < 0 || a == DNS_NO_DATA)) ? a : aaaa;
}
