// SPDX-License-Identifier: BSD-2-Clause
// The loopback interface: a netif whose tx copies packets into a bounded queue that weir_poll drains into weir_input.
// 127.0.0.1/8, in builds of IPv6 alone ::1, and every packet to one of our own addresses go through it (src/ip/route.c
// chooses it).
#ifndef LINK_LOOPBACK_H
#define LINK_LOOPBACK_H

#include "base/records.h"
#include "link/link.h"

#define LOOPBACK_INDEX 251u  // beyond every index weir_netif_add gives

// The index of the loopback interface; 0: none is built.
static inline uint8_t netif_loopback_index(const struct weir *weir)
{
    (void)weir;
    return WEIR_CFG_LOOPBACK ? LOOPBACK_INDEX : 0;
}

#if WEIR_CFG_LOOPBACK
struct loopback {
    struct weir_netif netif;
    struct records queue;
};
int loopback_init(struct weir *weir);
size_t loopback_bytes(void);
void loopback_free(struct weir *weir);
// Delivers at most what was queued when it was called (so two ends cannot keep it busy for ever). Returns whether more
// is queued.
bool loopback_poll(struct weir *weir);
bool loopback_pending(const struct weir *weir);
#else
static inline size_t loopback_bytes(void) { return 0; }
static inline int loopback_init(struct weir *weir)
{
    (void)weir;
    return 0;
}
static inline void loopback_free(struct weir *weir) { (void)weir; }
static inline bool loopback_poll(struct weir *weir)
{
    (void)weir;
    return false;
}
static inline bool loopback_pending(const struct weir *weir)
{
    (void)weir;
    return false;
}
#endif

#endif
