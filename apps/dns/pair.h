// SPDX-License-Identifier: BSD-2-Clause
// A name asked for in both families at once; each answer is told when it comes. A part of whoever asks.
#ifndef APPS_DNS_PAIR_H
#define APPS_DNS_PAIR_H

#include "resolver.h"
#include "weir/linkage/apps.h"

WEIR_BEGIN_DECLS

enum dns_side { DNS_SIDE_AAAA, DNS_SIDE_A };

struct dns_pair {
    struct dns *dns;
    void (*told)(struct dns_pair *pair, enum dns_side side, const struct dns_answer *answer);
    struct dns_pair_side {
        struct dns_pair *pair;
        int result;  // as dns_done has it; WEIR_IN_PROGRESS: not answered yet
    } sides[2];      // by enum dns_side
};

// `told` is called for each side, perhaps at once: the result stands in `pair`, the answer is there for one of
// DNS_FOUND. In builds of IPv4 alone AAAA is DNS_NO_DATA from the start, and not told; so is A in builds of IPv6
// alone, unless there is a NAT64.
void dns_pair_ask(struct dns_pair *pair, struct dns *dns, const char *name,
                  void (*told)(struct dns_pair *pair, enum dns_side side, const struct dns_answer *answer));
void dns_pair_cancel(struct dns_pair *pair);  // `told` is not called any more
bool dns_pair_pending(const struct dns_pair *pair);
// What is said of a name for which neither side has addresses: that it exists; or that it does not; or why nobody
// knows.
int dns_pair_failure(const struct dns_pair *pair);

WEIR_END_DECLS

#endif
