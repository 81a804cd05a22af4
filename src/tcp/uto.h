// SPDX-License-Identifier: BSD-2-Clause
// The user timeout option (RFC 5482): each end tells how long it lets data stay unacknowledged, and may follow the
// other. Advice, never agreed on and never sent again for its own sake (§3.2): it goes with each SYN, with the first
// segment after it (all that a listener under a flood of SYNs need remember, §3), and with the next segment whenever
// the application chooses anew. A connection that neither tells nor hears has no such block (struct tcp_extra). RFC's
// names: ENABLED is mode != WEIR_UTO_OFF, CHANGEABLE is follows() in uto.c, ADV_UTO is tcp_uto_told_s(), USER_TIMEOUT
// is tcp_conn.user_timeout_s, which all else reads.
#ifndef TCP_UTO_H
#define TCP_UTO_H

#include "weir/error.h"
#include "weir/options.h"
#include "wire/tcp.h"

struct weir;
struct tcp_conn;

#if WEIR_CFG_TCP_REFINEMENTS
struct tcp_uto {
    uint16_t own_s;   // what the application chose; 0: the default
    uint16_t peer_s;  // what the peer told; 0: nothing
    uint8_t mode;     // enum weir_user_timeout_option
    bool owed;        // the next segment tells ours
    bool adopted;     // tcp_conn.user_timeout_s is not what the application chose
};

int tcp_uto_set(struct weir *weir, struct tcp_conn *c, uint32_t mode);  // WEIR_OPTION_USER_TIMEOUT_OPTION
int32_t tcp_uto_get(const struct tcp_conn *c);
void tcp_uto_chosen(struct tcp_conn *c, uint16_t seconds);  // WEIR_OPTION_USER_TIMEOUT_MS
// Ours, where it is due with such a segment. Returns how many bytes of header it takes.
uint32_t tcp_uto_fill(const struct tcp_conn *c, bool syn, struct tcp_options *options);
void tcp_uto_left(struct tcp_conn *c, const struct tcp_segment *segment);  // the link took it
void tcp_uto_heard(struct tcp_conn *c, uint16_t field);
bool tcp_uto_keeps_extra(const struct tcp_conn *c);
bool tcp_uto_adopted(const struct tcp_conn *c);
#else
static inline uint32_t tcp_uto_fill(const struct tcp_conn *c, bool syn, struct tcp_options *options)
{
    return (void)c, (void)syn, (void)options, 0;
}
static inline void tcp_uto_left(struct tcp_conn *c, const struct tcp_segment *segment) { (void)c, (void)segment; }
static inline void tcp_uto_heard(struct tcp_conn *c, uint16_t field) { (void)c, (void)field; }
static inline bool tcp_uto_keeps_extra(const struct tcp_conn *c) { return (void)c, false; }
static inline bool tcp_uto_adopted(const struct tcp_conn *c) { return (void)c, false; }
#endif

#endif
