// SPDX-License-Identifier: BSD-2-Clause
// The table of multicast memberships (group.c), for those that report them: IGMP and MLD.
#ifndef IP_GROUP_H
#define IP_GROUP_H

#include "ip/internal.h"
#include "wire/group_record.h"

#if IP_GROUPS
// The memberships that users may have, and the solicited-node group of each IPv6 address.
#define GROUPS_OF_SOCKETS (WEIR_CFG_IGMP ? WEIR_CFG_MULTICAST_GROUPS : 0u)
// (Addresses: the first of each interface, and all further ones.)
#define GROUPS_SOLICITED (WEIR_CFG_IP6 ? WEIR_CFG_NETIFS + WEIR_CFG_ADDRESSES : 0u)
#define GROUPS_MAX (GROUPS_OF_SOCKETS + GROUPS_SOLICITED)

struct group {
    struct weir_netif *netif;  // NULL: free
    struct weir_addr address;
    uint16_t references;  // members; 0: left, which is still to be told (sources.c)
    uint8_t unsolicited;  // reports still to be sent without being asked
    bool pending;         // a report is due at due_ms
    bool reported_last;   // we, not another member, reported last: we tell when we leave
    uint16_t said_ms;     // the time of the last report, its lower half
    uint32_t due_ms;
#if WEIR_CFG_MULTICAST_SOURCES
    uint8_t asked;                  // enum sources_asked: what the answer that is due is about
    uint8_t mode_sends;             // reports that still tell the mode
    bool exclude;                   // the mode, as it is reported
    struct source_filter *filters;  // of those members that have one
    struct sources *sources;        // what is reported of sources; NULL: none
#endif
};

// Whether nobody is a member any more, and that is still to be told (sources.c).
static inline bool group_lingers(const struct group *group) { return WEIR_CFG_MULTICAST_SOURCES && !group->references; }
// netif NULL: any
struct group *group_find(const struct weir *weir, const struct weir_netif *netif, struct weir_addr address);
// A report is to be made within `within_ms`; one due earlier stands (RFC 2236 §3).
void group_schedule(struct weir *weir, struct group *group, uint32_t within_ms);

#define GROUP_ROBUSTNESS 2u  // RFC 9776 §8.1, RFC 9777 §9.1: reports of what is new
// RFC 9776 §8.12, RFC 9777 §9.12: 2 × 125 s and a response of 10 s: so long an older querier is remembered
#define GROUP_OLD_QUERIER_MS 260000u

// A record of a report about a group.
struct group_record {
    enum group_record_type type;
    uint32_t count;
#if WEIR_CFG_MULTICAST_SOURCES
    struct weir_addr sources[WEIR_CFG_MULTICAST_SOURCES];
#endif
};
#define GROUP_RECORDS (WEIR_CFG_MULTICAST_SOURCES ? 3u : 1u)  // a report: what is allowed and blocked, and an answer

// Sends a report with the records, or that we left the group: it has no members any more. An older querier is told what
// its version has.
void igmp_report(struct weir *weir, const struct group *group, const struct group_record *records, uint32_t count);
#if WEIR_CFG_IP6
void mld_report(struct weir *weir, const struct group *group, const struct group_record *records, uint32_t count);
#endif

struct group_query {
    struct weir_netif *netif;
    struct weir_addr group;  // any: of all
    bool v4;
    uint32_t within_ms;
    const uint8_t *sources;  // as on the wire
    uint32_t source_count;   // 0: the whole group is asked for
};
void group_query(struct weir *weir, const struct group_query *query);
// Another member has answered a querier of an older version: our answer is not needed (RFC 2236 §3).
void group_answered(struct weir *weir, const struct weir_netif *netif, struct weir_addr address);
// A querier of the version was heard, which is older than ours. What was to be said in another version is said no more
// (RFC 9776 §7.2.1).
void group_old_querier(struct weir *weir, struct weir_netif *netif, bool v4, uint8_t version);
// The version that is spoken: of an older querier, or `newest`.
uint8_t group_version(const struct weir *weir, struct weir_netif_querier *querier, uint8_t newest);
#endif

#endif
