// SPDX-License-Identifier: BSD-2-Clause
// The table of multicast memberships (group.c), for those that report them: IGMP and MLD.
#ifndef IP_GROUP_H
#define IP_GROUP_H

#include "ip/internal.h"

#if WEIR_CFG_IGMP
// The memberships that users may have, and the solicited-node group of each IPv6 address.
#define GROUPS_MAX (WEIR_CFG_MULTICAST_GROUPS + (WEIR_CFG_IP6 ? WEIR_CFG_ADDRESSES : 0u))

struct group {
    struct weir_netif *netif;  // NULL: free
    struct weir_addr address;
    uint16_t references;
    uint8_t version;      // of the querier
    uint8_t unsolicited;  // reports still to be sent without being asked
    bool pending;         // a report is due at due_ms
    bool reported_last;   // we, not another member, reported last: we tell when we leave
    uint32_t due_ms;
    uint32_t version_until_ms;  // version 1 is believed so long
};

// netif NULL: any
struct group *group_find(const struct weir *weir, const struct weir_netif *netif, struct weir_addr address);
// A report is to be made within `within_ms`; one due earlier stands (RFC 2236 §3).
void group_schedule(struct weir *weir, struct group *group, uint32_t within_ms);

#define GROUP_ROBUSTNESS 2u  // RFC 2236 §8.1, RFC 9777 §9.1: reports of what is new

// Sends a report of the group as it stands; and that we left it.
void igmp_report(struct weir *weir, const struct group *group);
void igmp_left(struct weir *weir, const struct group *group);
#if WEIR_CFG_IP6
void mld_report(struct weir *weir, const struct group *group);
void mld_left(struct weir *weir, const struct group *group);
#endif
#endif

#endif
