// SPDX-License-Identifier: BSD-2-Clause
// Round-trip time and retransmission timeout (RFC 6298), in µs, integers.
#ifndef TCP_RTT_H
#define TCP_RTT_H

#include "base/bytes.h"
#include "weir/options.h"

#define RTO_INITIAL_US 1000000u    // RFC 6298 §2.1
#define RTO_AFTER_SYN_US 3000000u  // §5.7: the SYN was retransmitted and gave no sample

#define RTO_FLOOR_LEAST_US 1000u    // a socket may ask for no less: a tick of the timestamps' clock
#define RTO_FLOOR_MOST_US 3000000u  // a socket may ask for no more: a timeout that is of no use

struct rtt {
    uint32_t srtt8_us;    // smoothed RTT times 8; 0: no sample yet
    uint32_t rttvar4_us;  // variation times 4; before the first sample the timeout
    uint32_t floor_us;    // the variation counts for at least this: the smallest RTO (WEIR_OPTION_RTO_MIN_US), or the
                          // clock's granularity
    uint32_t min_us;      // smallest sample; UINT32_MAX: none
};

void rtt_init(struct rtt *rtt, uint32_t granularity_us /* the clock's */);
uint32_t rtt_floor(uint32_t wanted_us, uint32_t granularity_us);  // floor_us for a smallest RTO
// The handshake gave no sample: a longer timeout until there is one (§5.7).
void rtt_no_sample(struct rtt *rtt);
// A sample of a segment that was not retransmitted (Karn), or from a timestamp.
void rtt_sample(struct rtt *rtt, uint32_t sample_us);
// The timeout after `backoff` doublings, within [rtt->floor_us, WEIR_CFG_TCP_RTO_MAX_MS].
uint32_t rtt_timeout(const struct rtt *rtt, uint8_t backoff);
static inline uint32_t rtt_smoothed(const struct rtt *rtt) { return rtt->srtt8_us >> 3; }

#endif
