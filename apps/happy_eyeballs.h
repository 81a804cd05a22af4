// SPDX-License-Identifier: BSD-2-Clause
// A connection to a name, whichever of its addresses answers first (RFC 8305): both families are asked for at once, and
// addresses are tried one after another, of both in turn, each some time after the one before without giving that up.
// So a family whose way is broken costs a quarter of a second, not a timeout.
#ifndef APPS_HAPPY_EYEBALLS_H
#define APPS_HAPPY_EYEBALLS_H

#include "dns/both.h"
#include "weir/linkage/apps.h"

WEIR_BEGIN_DECLS

#define HAPPY_EYEBALLS_RESOLUTION_US 50000u  // §3: with addresses of IPv4 alone, so long for those of IPv6
#define HAPPY_EYEBALLS_ATTEMPT_US 250000u    // §5: from one attempt to the next
#define HAPPY_EYEBALLS_ATTEMPTS 4u           // at once
#define HAPPY_EYEBALLS_TIMEOUT_US 60000000u  // in all
#define HAPPY_EYEBALLS_ADDRESSES DNS_BOTH_ADDRESSES

struct happy_eyeballs {
    struct app app;
    struct dns_pair pair;
    uint16_t port;
    void (*done)(void *context, struct happy_eyeballs *self);
    void *context;
    struct happy_eyeballs_attempt {
        struct weir_watch watch;
        struct happy_eyeballs *self;
        weir_socket socket;  // 0: none
    } attempts[HAPPY_EYEBALLS_ATTEMPTS];
    struct weir_addr addresses[HAPPY_EYEBALLS_ADDRESSES];  // those before `tried` have been tried
    uint32_t count, tried;
    uint64_t begin_us, next_us, end_us;  // when addresses may be tried; the next attempt; the end of all
    bool running;
    // The outcome. `socket`: connected, and the caller's, who gives it a watch; 0: `result` is why, an enum weir_error,
    // or of a name without addresses DNS_NO_NAME or DNS_NO_DATA.
    weir_socket socket;
    int result;
};

// `done` is called once, never from within this call. The memory is the caller's, and in use until then.
void happy_eyeballs_start(struct happy_eyeballs *self, struct dns *dns, const char *name, uint16_t port,
                          void (*done)(void *context, struct happy_eyeballs *self), void *context);
void happy_eyeballs_stop(struct happy_eyeballs *self);  // `done` is not called any more

WEIR_END_DECLS

#endif
