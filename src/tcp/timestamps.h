// SPDX-License-Identifier: BSD-2-Clause
// timestamps.c (RFC 7323).
#ifndef TCP_TIMESTAMPS_H
#define TCP_TIMESTAMPS_H

#include "instance.h"
#include "tcp/conn.h"
#include "tcp/verdict.h"

#if WEIR_CFG_TCP_TIMESTAMPS
enum tcp_verdict tcp_paws(struct weir *weir, struct tcp_conn *c, const struct tcp_segment *segment);
void tcp_timestamps_update(const struct weir *weir, struct tcp_conn *c, const struct tcp_segment *segment);
// µs; 0: none
uint32_t tcp_timestamps_rtt(const struct weir *weir, const struct tcp_conn *c, const struct tcp_segment *segment);
static inline void tcp_timestamps_fill(const struct weir *weir, const struct tcp_conn *c, struct tcp_options *options)
{
    options->ts_value = weir->now_ms + c->ts_offset;
    options->ts_echo = c->ts_recent;
}
static inline void tcp_timestamps_heard(struct tcp_conn *c, uint32_t ts_recent) { c->ts_recent = ts_recent; }
// When what is echoed was sent, as weir->now_ms was then.
static inline uint32_t tcp_timestamps_echo_ms(const struct tcp_conn *c, const struct tcp_segment *segment)
{
    return segment->options.ts_echo - c->ts_offset;
}
static inline bool tcp_timestamp_old(const struct tcp_conn *c, uint32_t ts_value)
{
    return seq_lt(ts_value, c->ts_recent);
}
static inline bool tcp_timestamp_newer(const struct tcp_conn *c, uint32_t ts_value)
{
    return seq_lt(c->ts_recent, ts_value);
}
static inline void tcp_timestamps_open(struct tcp_conn *c, uint32_t ts_recent, uint32_t ts_offset)
{
    c->ts_recent = ts_recent;
    c->ts_offset = ts_offset;
}
#else
static inline enum tcp_verdict tcp_paws(struct weir *weir, struct tcp_conn *c, const struct tcp_segment *segment)
{
    (void)weir, (void)c, (void)segment;
    return TCP_NEXT;
}
static inline void tcp_timestamps_update(const struct weir *weir, struct tcp_conn *c, const struct tcp_segment *segment)
{
    (void)weir, (void)c, (void)segment;
}
static inline uint32_t tcp_timestamps_rtt(const struct weir *weir, const struct tcp_conn *c,
                                          const struct tcp_segment *segment)
{
    (void)weir, (void)c, (void)segment;
    return 0;
}
static inline void tcp_timestamps_fill(const struct weir *weir, const struct tcp_conn *c, struct tcp_options *options)
{
    (void)weir, (void)c, (void)options;
}
static inline void tcp_timestamps_heard(struct tcp_conn *c, uint32_t ts_recent) { (void)c, (void)ts_recent; }
static inline uint32_t tcp_timestamps_echo_ms(const struct tcp_conn *c, const struct tcp_segment *segment)
{
    return (void)c, (void)segment, 0;
}
static inline bool tcp_timestamp_old(const struct tcp_conn *c, uint32_t ts_value)
{
    return (void)c, (void)ts_value, false;
}
static inline bool tcp_timestamp_newer(const struct tcp_conn *c, uint32_t ts_value)
{
    return (void)c, (void)ts_value, false;
}
static inline void tcp_timestamps_open(struct tcp_conn *c, uint32_t ts_recent, uint32_t ts_offset)
{
    (void)c, (void)ts_recent, (void)ts_offset;
}
#endif

#endif
