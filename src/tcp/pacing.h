// SPDX-License-Identifier: BSD-2-Clause
// Pacing: a connection with a rate sends a quantum at a time, at moments of a schedule kept in µs. The rate is the
// congestion control's (weir_cc_window.pacing_rate), or TCP's own where the socket or the build asks for pacing, and
// never more than the socket allows. Output looks at `allowed` as it looks at cwnd: what does not fit waits for the
// timer PACE, and is limited by cwnd if half of that is used. Data sent for the first time, sent again, and probes are
// paced; bare ACKs, SYN and a FIN alone are not.
#ifndef TCP_PACING_H
#define TCP_PACING_H

#include "base/bytes.h"
#include "weir/error.h"
#include "weir/options.h"

struct weir;
struct tcp_conn;

#define PACING_OWN_RATE INT32_MAX  // as a socket's limit: none, but TCP's own rate paces

#if WEIR_CFG_TCP_PACING
// Of a flow.
struct tcp_pacing {
    uint32_t rate;     // bytes/s; 0: not paced
    uint32_t next_us;  // when the next quantum may go
    uint32_t granted;  // the quantum of this call of tcp_output
    uint32_t allowed;  // what is left of `granted`; UINT32_MAX: not paced
    bool armed;        // the timer PACE runs, until next_us
    bool held;         // the schedule, nothing else, held the last tcp_output back
};

void tcp_pacing_attach(struct tcp_conn *c);
bool tcp_pacing_asked(const struct tcp_conn *c);  // the socket has a limit
// The rate that applies now, bytes/s; 0: none.
uint32_t tcp_pacing_rate(const struct tcp_conn *c);
bool tcp_pacing_waits(const struct weir *weir, const struct tcp_conn *c);  // the schedule forbids to send now
// Around what tcp_output sends.
void tcp_pacing_open(struct weir *weir, struct tcp_conn *c);
void tcp_pacing_close(struct weir *weir, struct tcp_conn *c);
bool tcp_pacing_armed(const struct tcp_conn *c);
uint32_t tcp_pacing_due(const struct tcp_conn *c);
void tcp_pacing_arm(struct tcp_conn *c, bool armed);
// WEIR_OPTION_MAX_PACING_RATE
int tcp_pacing_set(struct weir *weir, struct tcp_conn *c, uint32_t bytes_per_s);
int32_t tcp_pacing_limit(const struct tcp_conn *c);
#else
static inline void tcp_pacing_attach(struct tcp_conn *c) { (void)c; }
static inline bool tcp_pacing_asked(const struct tcp_conn *c) { return (void)c, false; }
static inline uint32_t tcp_pacing_rate(const struct tcp_conn *c) { return (void)c, 0; }
static inline bool tcp_pacing_waits(const struct weir *weir, const struct tcp_conn *c)
{
    return (void)weir, (void)c, false;
}
static inline void tcp_pacing_open(struct weir *weir, struct tcp_conn *c) { (void)weir, (void)c; }
static inline void tcp_pacing_close(struct weir *weir, struct tcp_conn *c) { (void)weir, (void)c; }
static inline bool tcp_pacing_armed(const struct tcp_conn *c) { return (void)c, false; }
static inline void tcp_pacing_arm(struct tcp_conn *c, bool armed) { (void)c, (void)armed; }
static inline uint32_t tcp_pacing_due(const struct tcp_conn *c) { return (void)c, 0; }
#endif

#endif
