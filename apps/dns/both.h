// SPDX-License-Identifier: BSD-2-Clause
// All addresses of a name, of both families, in the order in which to try them (RFC 6724): two questions at once. When
// one is answered with addresses the other is waited for DNS_OTHER_US and no longer, so that a server that never
// answers one kind of question costs little (RFC 8305 §3).
#ifndef APPS_DNS_BOTH_H
#define APPS_DNS_BOTH_H

#include "pair.h"
#include "weir/linkage/apps.h"

WEIR_BEGIN_DECLS

#define DNS_OTHER_US 500000u
#define DNS_BOTH_ADDRESSES (2 * DNS_ADDRESSES)

struct dns_both {
    struct app app;
    struct dns_pair pair;
    void (*done)(void *context, struct dns_both *both);
    void *context;
    struct dns_answer answers[2];  // by enum dns_side
    uint64_t due_us;
    bool waiting;
    int result;  // enum dns_result FOUND, NO_NAME, NO_DATA, or a negative enum weir_error
    struct weir_addr addresses[DNS_BOTH_ADDRESSES];
    uint32_t count;
};

// `done` is called once, perhaps at once; `both` is the caller's until then. The result stands in `both`.
void dns_both_start(struct dns_both *both, struct dns *dns, const char *name,
                    void (*done)(void *context, struct dns_both *both), void *context);
void dns_both_stop(struct dns_both *both);  // `done` is not called any more

WEIR_END_DECLS

#endif
