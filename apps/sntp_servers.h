// SPDX-License-Identifier: BSD-2-Clause
// The time of day from several servers (RFC 5905 §11.2.1, in small): it is believed where more than half of those that
// are configured agree within what each can be wrong by, and taken from the best of these. So one of three, or of four,
// that lies or smears a leap second moves nothing, and nobody's time is mixed with another's. Of two both have to
// agree; with one take sntp.h.
#ifndef APPS_SNTP_SERVERS_H
#define APPS_SNTP_SERVERS_H

#include "sntp.h"
#include "weir/linkage/apps.h"

WEIR_BEGIN_DECLS

#define SNTP_DISTANCE_MAX_US 1000000u  // who may be wrong by more has no vote
#define SNTP_DISTANCE_MIN_US 5000u     // what a system's own clock and stack add
#define SNTP_DRIFT_PPM 50u             // of our clock since the measurement

struct sntp_servers {
    struct loop *loop;
    struct sntp *servers;
    uint32_t count;
    // The time is known, or was corrected. May be NULL.
    void (*set)(struct sntp_servers *servers, void *context);
    void *context;
    struct unix_clock clock;
    struct {
        uint32_t set, undecided;  // undecided: an answer after which no majority agrees
    } times;
};

// Asks `count` servers, 2 at least; `servers` are as many structs. Errors as sntp_start's.
int sntp_servers_start(struct sntp_servers *servers, struct loop *loop, struct sntp *structs,
                       const struct weir_addr *addresses, uint32_t count,
                       void (*set)(struct sntp_servers *servers, void *context), void *context);
void sntp_servers_stop(struct sntp_servers *servers);
// Time of day now, µs since 1970; 0: no majority has agreed yet.
uint64_t sntp_servers_unix_us(const struct sntp_servers *servers);

WEIR_END_DECLS

#endif
