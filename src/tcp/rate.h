// SPDX-License-Identifier: BSD-2-Clause
// Delivery-rate samples (draft-cheng-iccrg-delivery-rate-estimation-02) for the algorithms that want them. What was
// delivered when a record was sent is kept in the flight log (flight.h, struct flight_stamp); here is what is left for
// the connection as a whole. Delivered are bytes up to snd.una and what is SACKED above it, so that nothing has to be
// counted: the draft's C.delivered is snd.una + sacked.
#ifndef TCP_RATE_H
#define TCP_RATE_H

#include "tcp/flight.h"
#include "weir/cc.h"

struct weir;
struct tcp_conn;
struct weir_tcp_info;

#if WEIR_CFG_TCP_RATE
// Of a flow.
struct tcp_rate {
    uint32_t round_end;  // when so much was delivered before a segment was sent, its delivery begins a new round
    uint32_t idle_end;   // with FLIGHT_APP_LIMITED in the log: delivery of this ends what the last idle bubble limits
    uint32_t lost;       // bytes marked LOST, in all
    uint32_t prior_delivered;         // of the newest segment delivered
    uint32_t delivered, interval_us;  // the newest sample that stands for the network; 0: none
    bool app_limited;                 // the sample was drawn by an idle application all the same: there was none faster
    // A span, under a clock coarser than the round trip:
    bool span_app_limited;             // some of it was
    uint32_t span_us, span_delivered;  // when it began, and what was delivered before
    uint32_t rounds;                   // round trips that began in it; 0: there is no span
    uint32_t round_trip_us;            // the least mean of one; 0: none
};

// A flow begins: its first data is limited by the application until the first acknowledgement.
void tcp_rate_attach(const struct weir *weir, struct tcp_conn *c);
// Samples are wanted from now on, by an algorithm that takes over in flight: what is out counts as if sent now.
void tcp_rate_begin(struct weir *weir, struct tcp_conn *c);
// The application is about to queue data of a flow whose algorithm wants samples. If the network had been waiting for
// it, what is sent from now on measures the application.
void tcp_rate_written(struct weir *weir, struct tcp_conn *c);
// Fills the last part of the sample from what an acknowledgement did.
void tcp_rate_sample(struct weir *weir, struct tcp_conn *c, const struct flight_delta *delta,
                     struct weir_cc_sample *sample);
// What an event has of that part.
void tcp_rate_event(const struct weir *weir, const struct tcp_conn *c, struct weir_cc_sample *sample);
void tcp_rate_info(const struct tcp_conn *c, struct weir_tcp_info *out);
#else
static inline void tcp_rate_attach(const struct weir *weir, struct tcp_conn *c) { (void)weir, (void)c; }
static inline void tcp_rate_begin(struct weir *weir, struct tcp_conn *c) { (void)weir, (void)c; }
static inline void tcp_rate_written(struct weir *weir, struct tcp_conn *c) { (void)weir, (void)c; }
static inline void tcp_rate_sample(struct weir *weir, struct tcp_conn *c, const struct flight_delta *delta,
                                   struct weir_cc_sample *sample)
{
    (void)weir, (void)c, (void)delta, (void)sample;
}
static inline void tcp_rate_event(const struct weir *weir, const struct tcp_conn *c, struct weir_cc_sample *sample)
{
    (void)weir, (void)c, (void)sample;
}
static inline void tcp_rate_info(const struct tcp_conn *c, struct weir_tcp_info *out) { (void)c, (void)out; }
#endif

#endif
