// SPDX-License-Identifier: BSD-2-Clause
// Source filters of multicast groups: those of all members merged, what changed since the last report, and answers to
// queries about sources (RFC 9776 §3.2, §5).
#ifndef IP_SOURCES_H
#define IP_SOURCES_H

#include "ip/group.h"

#if IP_GROUPS
#if WEIR_CFG_MULTICAST_SOURCES
int sources_init(struct weir *weir);
size_t sources_bytes(void);
void sources_free(struct weir *weir);
// The records of the report that is due, at most GROUP_RECORDS; 0: there is nothing to say. Counts the changes that are
// reported, and begins to count those that are new.
uint32_t sources_records(struct weir *weir, struct group *group, struct group_record *records);
// Notes what a query is about, until the group's next report.
void sources_asked(struct weir *weir, struct group *group, const struct group_query *query);
void sources_renew(struct group *group);   // the whole filter is to be told
void sources_cancel(struct group *group);  // nothing was asked
// A member came or went: what is wanted may be another now.
void sources_members_changed(struct weir *weir, struct group *group);
void sources_removed(struct weir *weir, struct group *group);  // the group goes
#else
static inline int sources_init(struct weir *weir) { return (void)weir, WEIR_OK; }
static inline size_t sources_bytes(void) { return 0; }
static inline void sources_free(struct weir *weir) { (void)weir; }
// One: every member hears all sources.
static inline uint32_t sources_records(struct weir *weir, struct group *group, struct group_record *records)
{
    (void)weir;
    records->type = group->unsolicited ? GROUP_TO_EXCLUDE : GROUP_IS_EXCLUDE;
    records->count = 0;
    return 1;
}
static inline void sources_asked(struct weir *weir, struct group *group, const struct group_query *query)
{
    (void)weir, (void)group, (void)query;
}
static inline void sources_renew(struct group *group) { (void)group; }
static inline void sources_cancel(struct group *group) { (void)group; }
static inline void sources_members_changed(struct weir *weir, struct group *group) { (void)weir, (void)group; }
static inline void sources_removed(struct weir *weir, struct group *group) { (void)weir, (void)group; }
#endif
#endif

#endif
