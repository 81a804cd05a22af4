// SPDX-License-Identifier: BSD-2-Clause
// SNTP client (RFC 4330, RFC 5905 §14): the time of day, beside the instance's clock, which itself is never set
// (unix_clock.h). The request carries a random number instead of our time, and only an answer that repeats it counts.
// Kiss-o'-death is obeyed. One server is believed; sntp_servers.h has a majority of several. No server's name or
// address is built in.
#ifndef APPS_SNTP_H
#define APPS_SNTP_H

#include "loop.h"
#include "unix_clock.h"
#include "weir/linkage/apps.h"

WEIR_BEGIN_DECLS

#define SNTP_PORT 123u
#define SNTP_PACKET 48u
#define SNTP_TRIES 4u             // for one measurement
#define SNTP_TIMEOUT_US 2000000u  // first wait; doubled each try
#define SNTP_INTERVAL_MIN_S 64u   // RFC 4330 §10: never under 15 s, kinder is better
// RFC 5905: 2^10. Nobody corrects our crystal's rate: 50 ppm are 51 ms in so long, which is no step (unix_clock.h).
#define SNTP_INTERVAL_MAX_S 1024u
#define SNTP_INTERVAL_RATE_S 65536u  // up to which a server's RATE goes
#define SNTP_START_US 5000000u       // the first of many waits up to so long: a thousand devices after a power cut

enum sntp_result {
    SNTP_OK,
    SNTP_IGNORED,    // not the answer to our request: forged or late
    SNTP_UNUSABLE,   // the server is not synchronised, or contradicts itself
    SNTP_KISS_RATE,  // "RATE": ask more rarely
    SNTP_KISS_STOP,  // "DENY", "RSTR" and others: ask this server no more
};

struct sntp_time {
    uint64_t unix_us;  // time of day, µs since 1970, at `now_us` of the instance
    uint64_t now_us;
    uint32_t delay_us;     // round trip without the server's own share
    uint32_t distance_us;  // by which the server itself may be wrong: half its root delay, and its dispersion
    uint8_t stratum;
    uint8_t leap;  // 0, or 1/2: the day's last minute has 61/59 seconds
};

// The packet, pure. `nonce` stands where a client's clock would. Judges `packet` as the answer that arrived at now_us
// to a request of sent_us. Fills *time for SNTP_OK.
void sntp_emit(uint8_t packet[SNTP_PACKET], uint64_t nonce);
enum sntp_result sntp_parse(const uint8_t *packet, uint32_t length, uint64_t nonce, uint64_t sent_us, uint64_t now_us,
                            struct sntp_time *time);

struct sntp {
    struct app app;
    struct weir_watch watch;
    struct loop *loop;
    struct weir_addr server;
    // Called after each measurement: `error` WEIR_OK and the time, or WEIR_TIMED_OUT, WEIR_REFUSED (kiss-o'-death, or
    // port unreachable).
    void (*done)(struct sntp *sntp, int error, const struct sntp_time *time, void *context);
    void *context;
    bool once;
    weir_socket socket;  // 0: none
    uint64_t nonce, sent_us, due_us;
    uint32_t tries;
    uint32_t interval_s, interval_min_s;  // min: grows when the server says RATE
    bool failed;                          // the last measurement
    bool stopped;
    struct sntp_time time;    // newest; unix_us 0: none yet
    struct unix_clock clock;  // what sntp_unix_us tells
    struct unix_clock doubt;  // a time that is a step away from it, and was measured once
    struct {
        uint32_t ignored, unusable, kisses;
    } count;
};

// Measures: `once`, at once; or after a random time, and again after SNTP_INTERVAL_MIN_S and then more rarely, up to
// SNTP_INTERVAL_MAX_S. After a measurement that failed it begins again with the shortest interval.
int sntp_start(struct sntp *sntp, struct loop *loop, struct weir_addr server, bool once,
               void (*done)(struct sntp *, int error, const struct sntp_time *, void *), void *context);
void sntp_stop(struct sntp *sntp);
// Asks another address: a server that is gone (WEIR_TIMED_OUT) may have moved, which its name tells when it is resolved
// again. A measurement that is under way begins again with it; else the next comes after the shortest interval at most,
// which is longer where a server has said RATE. The address that is asked already changes nothing. WEIR_INVALID: no
// host's address.
int sntp_move(struct sntp *sntp, struct weir_addr server);
// Time of day now, µs since 1970; 0: not known. It never goes back, but by a step that two measurements in a row agree
// on: one alone that is UNIX_CLOCK_STEP_US or more away is measured again before it counts.
uint64_t sntp_unix_us(const struct sntp *sntp);

WEIR_END_DECLS

#endif
