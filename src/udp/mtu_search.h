// SPDX-License-Identifier: BSD-2-Clause
// The state machine of DPLPMTUD (RFC 8899 §5): plain numbers and times, without a socket. All sizes are bytes of UDP's
// payload.
#ifndef UDP_MTU_SEARCH_H
#define UDP_MTU_SEARCH_H

#include "base/bytes.h"
#include "weir/dplpmtud.h"

#if WEIR_CFG_DPLPMTUD
#define MTU_SEARCH_PROBES 3u  // MAX_PROBES
#define MTU_SEARCH_STEP 8u    // bytes; what is less is not worth a probe

struct mtu_search {
    struct weir_dplpmtud_settings settings;  // complete
    uint32_t due_ms;                         // PROBE_TIMER, or, in SEARCH_COMPLETE, CONFIRMATION_TIMER
    uint32_t raise_ms;                       // PMTU_RAISE_TIMER, in SEARCH_COMPLETE
    uint16_t limit;                          // what the interface and the path are known to carry
    uint16_t plpmtu, probed;
    uint16_t high;  // no longer size is tried in this search
    uint8_t state, count;
    bool halving;  // `high` is a size that was lost, less one: the next one is in the middle
    bool wanted;   // a probe is due
    bool awaited;  // a probe is on its way
    bool news;     // state or plpmtu changed since somebody looked
};

// The settings with their defaults, `min` that of the family. False: they contradict each other.
bool mtu_search_settings(const struct weir_dplpmtud_settings *given, uint16_t min, struct weir_dplpmtud_settings *out);
void mtu_search_start(struct mtu_search *s, const struct weir_dplpmtud_settings *settings, uint16_t limit);
void mtu_search_stop(struct mtu_search *s);
void mtu_search_sent(struct mtu_search *s, uint32_t now_ms);
// False: it is not what is awaited, or cannot be in this state.
bool mtu_search_event(struct mtu_search *s, enum weir_dplpmtud_event event, uint32_t bytes, uint32_t now_ms);
// A router says that a datagram of `bytes` is longer than `ptb` (PL_PTB_SIZE). False: it is no news, or not to be
// believed.
bool mtu_search_too_big(struct mtu_search *s, uint32_t ptb, uint32_t bytes, uint32_t now_ms);
void mtu_search_limit(struct mtu_search *s, uint16_t limit, uint32_t now_ms);  // the path may have changed
void mtu_search_timer(struct mtu_search *s, uint32_t now_ms);
bool mtu_search_deadline(const struct mtu_search *s, uint32_t *at_ms);  // false: it waits for none
#endif

#endif
