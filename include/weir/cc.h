// SPDX-License-Identifier: BSD-2-Clause
// Congestion control: the narrow contract. An algorithm sees plain numbers, never the connection, and answers with
// plain numbers. It keeps its own state (state_bytes, zeroed before init). Sizes are bytes, times µs, rates bytes/s.
// Integers only; no call may loop over more than a constant. Called by src/tcp with the instance's lock held.
// docs/congestion-control.md tells how to add one.
#ifndef WEIR_CC_H
#define WEIR_CC_H

#include <stdbool.h>
#include <stdint.h>

#include "weir/cc_list.h"
#include "weir/error.h"
#include "weir/language.h"
#include "weir/options.h"

WEIR_BEGIN_DECLS

#define WEIR_CC_UNLIMITED 0xffffffffu

enum weir_cc_event {
    WEIR_CC_INIT,             // connection established, or the algorithm switched to on a live one
    WEIR_CC_ENTER_RECOVERY,   // loss found: fast recovery begins. inflight is FlightSize before it
    WEIR_CC_EXIT_RECOVERY,    // all that was outstanding at entry is acknowledged
    WEIR_CC_RTO,              // retransmission timeout (the first for this data; repeats are not told)
    WEIR_CC_UNDO,             // the last reduction was spurious: restore what was before it
    WEIR_CC_IDLE_RESTART,     // sending again after idling longer than one RTO (RFC 7661, RFC 5681 §4.1)
    WEIR_CC_ECN,              // the peer echoed congestion experienced, at most once a round trip
    WEIR_CC_EXIT_SLOW_START,  // HyStart++ (RFC 9406) says that slow start has found its end: ssthresh = cwnd
};

// What one acknowledgement, or one event, showed. Filled the same way for every algorithm, except the last part, which
// is zero unless the algorithm says `wants_rate`: the delivery-rate sample
// (draft-cheng-iccrg-delivery-rate-estimation). Counters run modulo 2^32: compare them by the sign of their difference.
// Of the last part an event has only total_delivered and total_lost.
struct weir_cc_sample {
    uint32_t now_us;
    uint32_t acked;        // bytes newly cumulatively acknowledged
    uint32_t acked_again;  // of these, bytes that were SACKed before: they left the network then, and are no reason to
                           // grow now
    uint32_t slow_start_held;  // of `acked`, bytes that do not count for the growth of slow start: HyStart++ (RFC 9406)
                               // holds them back
    uint32_t sacked;           // bytes newly SACKed
    uint32_t lost;             // bytes newly marked lost
    uint32_t ce;               // bytes newly reported as marked congestion experienced
    uint32_t inflight;         // bytes outstanding after this acknowledgement (RFC 6675 pipe)
    uint32_t prior_inflight;   // in flight before the acknowledgement
    uint32_t mss;              // bytes of payload in a full segment
    uint32_t rtt_us;           // newest sample; 0: none with this acknowledgement
    uint32_t srtt_us;          // smoothed; 0: none yet
    uint32_t min_rtt_us;  // smallest seen; WEIR_CC_UNLIMITED: none yet. A window of time over rtt_us is the algorithm's
                          // own affair
    uint16_t acked_segments;  // segments covered by `acked` (an acknowledgement may cover many)
    bool app_limited;   // the application, not the network, limits the flow; with wants_rate: limited the rate sample
    bool cwnd_limited;  // cwnd was fully used (under pacing half of it): only then may it grow (RFC 7661)
    bool in_recovery;
    bool clock_coarse;  // round trips are shorter than the clock's tick: rtt_us (a mean) and a rate come once a tick at
                        // the most
    bool round_start;   // a round trip, counted by delivered data, began
    uint32_t delivered;    // bytes delivered over the interval
    uint32_t interval_us;  // max(send interval, ack interval) of the rate sample; 0: this acknowledgement gives no rate
    uint32_t total_delivered;  // counts bytes delivered; what it begins with means nothing
    uint32_t prior_delivered;  // total_delivered when the newest segment of this acknowledgement was sent
    uint32_t total_lost;       // bytes marked lost since the flow began; what is sent again and lost again counts again
    uint32_t tx_inflight;      // bytes in flight when that segment was sent, with it
};

// What the algorithm decides. Kept by TCP between calls; the algorithm changes what it wants changed.
struct weir_cc_window {
    uint32_t cwnd;         // bytes
    uint32_t ssthresh;     // bytes; WEIR_CC_UNLIMITED at first
    uint32_t pacing_rate;  // bytes/s of payload; 0: not paced (or, where the socket asks for pacing, TCP's own rate);
                           // WEIR_CC_UNLIMITED: no limit
    uint16_t burst_segments;  // send quantum when paced, if it is more than TCP's own; 0: TCP's own
};

// Where an algorithm begins, and to what it falls back after a rest: bytes (RFC 6928 §2).
static inline uint32_t weir_cc_initial_window(uint32_t mss)
{
    const uint32_t least = 2 * mss > 14600 ? 2 * mss : 14600;
    return 10 * mss < least ? 10 * mss : least;
}

struct weir_cc {
    const char *name;
    uint16_t state_bytes;
    bool wants_rate;       // fill in the delivery-rate part
    bool owns_recovery;    // cwnd in recovery is the algorithm's (BBR), and lost retransmissions are probed; else PRR
                           // rules, `ack` looks on
    bool owns_slow_start;  // it ends slow start by itself (Vegas, BBR): HyStart++ leaves it alone
    bool only_grows;  // all that `ack` does is to let cwnd grow: before the first reduction it need not hear of one
                      // that may not
    void (*ack)(void *state, const struct weir_cc_sample *sample, struct weir_cc_window *window);
    void (*event)(void *state, enum weir_cc_event event, const struct weir_cc_sample *sample,
                  struct weir_cc_window *window);
};

// NULL-terminated list of what is built in; the first is the default. weir/cc_list.h has the names.
extern const struct weir_cc *const weir_cc_list[];
// The algorithm of that name (NULL: the first) in a NULL-terminated list; NULL: there is none.
const struct weir_cc *weir_cc_find_in(const struct weir_cc *const *list, const char *name);
static inline const struct weir_cc *weir_cc_find(const char *name) { return weir_cc_find_in(weir_cc_list, name); }

// Adds an algorithm of the program's own to an instance: from now on weir_socket_set_congestion knows its name. `cc` is
// kept, not copied, and lasts as long as the instance; its state has at most WEIR_CC_STATE_MAX bytes, aligned for
// uint64_t. Under the instance's lock, as all of weir/instance.h. WEIR_INVALID: no name, no function, or too much
// state; WEIR_IN_USE: there is one of that name; WEIR_NO_MEMORY: WEIR_CFG_CC_REGISTERED are registered;
// WEIR_NOT_SUPPORTED: that is 0 in this build, or `cc` wants rates (wants_rate) and the build samples none.
struct weir;
#if WEIR_CFG_CC_REGISTERED
int weir_cc_register(struct weir *weir, const struct weir_cc *cc);
#else
static inline int weir_cc_register(struct weir *weir, const struct weir_cc *cc)
{
    return (void)weir, (void)cc, WEIR_NOT_SUPPORTED;
}
#endif

WEIR_END_DECLS

#endif
