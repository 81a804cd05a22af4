// SPDX-License-Identifier: BSD-2-Clause
// RFC 6298 in integers: SRTT is kept times 8 and RTTVAR times 4, so that the gains 1/8 and 1/4 are shifts and no
// fraction of a sample is lost (Jacobson 1988, appendix A).
#include "tcp/rtt.h"

#define RTO_MIN_US (WEIR_CFG_TCP_RTO_MIN_MS * 1000u)
#define RTO_MAX_US (WEIR_CFG_TCP_RTO_MAX_MS * 1000u)
#define RTT_SAMPLE_MAX_US 0x0fffffffu  // 268 s, beyond any RTO: keeps all sums below 2^32

#define TICK_LEAST_US 1000u  // what is finer is no tick to speak of

void rtt_init(struct rtt *rtt, uint32_t granularity_us)
{
    *rtt = (struct rtt){
        .rttvar4_us = RTO_INITIAL_US, .floor_us = rtt_floor(RTO_MIN_US, granularity_us), .min_us = UINT32_MAX};
}

// Never finer than the clock (RFC 6298 §2.3). A timer fires at the first tick after its deadline: half a tick less
// makes of that the nearest, and a timeout that is the same whatever the tick; otherwise, with the round trip that
// comes to it, it would be a whole tick more. Of a floor of two ticks one whole tick is left at the least, as with any
// timer that counts them.
uint32_t rtt_floor(uint32_t floor_us, uint32_t granularity_us)
{
    if (granularity_us < TICK_LEAST_US || floor_us / 2 < granularity_us)
        return max_u32(floor_us, granularity_us);
    return floor_us - granularity_us / 2;
}

void rtt_no_sample(struct rtt *rtt)
{
    if (!rtt->srtt8_us)
        rtt->rttvar4_us = RTO_AFTER_SYN_US;
}

void rtt_sample(struct rtt *rtt, uint32_t sample_us)
{
    // A sample of 0 means "less than a tick"; srtt8_us 0 must keep meaning "no sample yet".
    sample_us = max_u32(1, min_u32(sample_us, RTT_SAMPLE_MAX_US));
    if (sample_us < rtt->min_us)
        rtt->min_us = sample_us;
    if (!LIKELY(rtt->srtt8_us)) {  // §2.2
        rtt->srtt8_us = sample_us << 3;
        rtt->rttvar4_us = sample_us << 1;
    } else {  // §2.3: RTTVAR first, with the SRTT before this sample
        const uint32_t srtt = rtt->srtt8_us >> 3;
        const int32_t error = (int32_t)(sample_us - srtt);
        rtt->rttvar4_us += (uint32_t)(error < 0 ? -error : error) - (rtt->rttvar4_us >> 2);
        rtt->srtt8_us += (uint32_t)error;
    }
}

// RTO = SRTT + max(G, 4 RTTVAR). The variation is also held above the smallest RTO, not only the sum: otherwise a
// steady path of just that RTT would time out each time the peer delays an acknowledgement.
uint32_t rtt_timeout(const struct rtt *rtt, uint8_t backoff)
{
    uint32_t timeout_us = (rtt->srtt8_us >> 3) + max_u32(rtt->rttvar4_us, rtt->floor_us);
    while (backoff-- && timeout_us < RTO_MAX_US)  // §5.5; at most as often as RTO_MAX / RTO_FLOOR_LEAST has bits
        timeout_us <<= 1;
    return min_u32(timeout_us, RTO_MAX_US);
}
