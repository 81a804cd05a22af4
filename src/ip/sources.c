// SPDX-License-Identifier: BSD-2-Clause
// What is reported of a group's sources. Members' filters are merged when a report is due (RFC 9776 §3.2); what differs
// from the last report is told GROUP_ROBUSTNESS times (§5.1). So several changes between two polls are one.
//
// Work: a merge looks at the sources of all members of one group, each against WEIR_CFG_MULTICAST_SOURCES others; a
// query costs no more than that for each group.
#include "ip/sources.h"

#define SOURCES_MAX WEIR_CFG_MULTICAST_SOURCES

struct source {
    struct weir_addr address;
    bool listed;    // in the filter as it is; otherwise it was, and its end is still to be told
    uint8_t sends;  // reports that still tell the change
};
struct sources {
    uint32_t count, asked_count;
    struct source entries[2 * SOURCES_MAX];
    struct weir_addr asked[SOURCES_MAX];
};
enum sources_asked { ASKED_NOTHING, ASKED_SOURCES, ASKED_ALL };

int sources_init(struct weir *weir)
{
    struct ip *ip = &weir->ip;
    pool_init(&ip->source_filters, sizeof(struct source_filter), 0);
    pool_init(&ip->source_states, sizeof(struct sources), 0);
    if (WEIR_CFG_ALLOCATOR)
        return WEIR_OK;
    const int error = pool_carve(&ip->source_filters, &weir->memory, WEIR_CFG_MULTICAST_GROUPS);
    return error ? error : pool_carve(&ip->source_states, &weir->memory, WEIR_CFG_MULTICAST_GROUPS);
}

size_t sources_bytes(void)
{
    return pool_carve_bytes(sizeof(struct source_filter), WEIR_CFG_MULTICAST_GROUPS) +
           pool_carve_bytes(sizeof(struct sources), WEIR_CFG_MULTICAST_GROUPS);
}

void sources_free(struct weir *weir)
{
    for (uint32_t i = 0; i < weir->ip.group_count; i++)
        sources_removed(weir, &weir->ip.groups[i]);
    if (weir->carved_all)
        return;
    pool_drain(&weir->ip.source_filters, &weir->memory);
    pool_drain(&weir->ip.source_states, &weir->memory);
}

struct source_filter *ip_source_filter_new(struct weir *weir)
{
    return pool_get_zeroed(&weir->ip.source_filters, &weir->memory);
}

void ip_source_filter_free(struct weir *weir, struct source_filter *filter)
{
    if (filter)
        pool_put(&weir->ip.source_filters, &weir->memory, filter);
}

static bool state_needed(struct weir *weir, struct group *group)
{
    if (!group->sources)
        group->sources = pool_get_zeroed(&weir->ip.source_states, &weir->memory);
    return group->sources != NULL;
}

// --- lists of addresses ----------------------------------------------------------------------------------------------

static bool has(const struct weir_addr *list, uint32_t count, struct weir_addr address)
{
    for (uint32_t i = 0; i < count; i++)
        if (weir_addr_equal(list[i], address))
            return true;
    return false;
}

// False: there is no room for it.
static bool add(struct weir_addr list[SOURCES_MAX], uint32_t *count, struct weir_addr address)
{
    if (has(list, *count, address))
        return true;
    if (*count == SOURCES_MAX)
        return false;
    list[(*count)++] = address;
    return true;
}

static struct source *find(const struct group *group, struct weir_addr address)
{
    struct sources *const s = group->sources;
    for (uint32_t i = 0; s && i < s->count; i++)
        if (weir_addr_equal(s->entries[i].address, address))
            return &s->entries[i];
    return NULL;
}

// --- members ---------------------------------------------------------------------------------------------------------

// Whether all that include sources include few enough together, if `next` stood in place of `old`.
static bool room_for(const struct group *group, const struct source_filter *old, const struct source_filter *next)
{
    struct weir_addr all[SOURCES_MAX];
    uint32_t count = 0;
    if (next->exclude)
        return true;
    memcpy(all, next->sources, next->count * sizeof *all);
    count = next->count;
    for (const struct source_filter *f = group->filters; f; f = f->next)
        for (uint32_t i = 0; f != old && !f->exclude && i < f->count; i++)
            if (!add(all, &count, f->sources[i]))
                return false;
    return true;
}

int ip_group_filter(struct weir *weir, struct weir_netif *netif, struct weir_addr address, struct source_filter *old,
                    struct source_filter *next)
{
    struct group *const group = group_find(weir, netif, address);
    if (!group)
        return WEIR_NO_ADDRESS;
    if (next && (!room_for(group, old, next) || !state_needed(weir, group)))
        return WEIR_NO_MEMORY;
    struct source_filter **at = &group->filters;
    while (*at && *at != old)
        at = &(*at)->next;
    if (old && *at) {
        *at = old->next;
        ip_source_filter_free(weir, old);
    }
    if (next) {
        next->next = group->filters;
        group->filters = next;
    }
    group_schedule(weir, group, 0);
    return WEIR_OK;
}

// Whether all members that exclude sources exclude this one, and no member includes it.
static bool excluded_by_all(const struct group *group, struct weir_addr address)
{
    for (const struct source_filter *f = group->filters; f; f = f->next)
        if (has(f->sources, f->count, address) != f->exclude)
            return false;
    return true;
}

// RFC 9776 §3.2: where a member excludes, what all such exclude and nobody includes; otherwise what any includes.
static void merge(const struct group *group, bool *exclude, struct weir_addr list[SOURCES_MAX], uint32_t *count)
{
    const struct source_filter *first = NULL;
    uint32_t filtered = 0;
    *count = 0;
    for (const struct source_filter *f = group->filters; f; f = f->next, filtered++)
        first = f->exclude ? f : first;
    *exclude = first || filtered < group->references;
    if (*exclude) {
        for (uint32_t i = 0; first && filtered == group->references && i < first->count; i++)
            if (excluded_by_all(group, first->sources[i]))
                (void)add(list, count, first->sources[i]);
        return;
    }
    for (const struct source_filter *f = group->filters; f; f = f->next)
        for (uint32_t i = 0; i < f->count; i++)
            (void)add(list, count, f->sources[i]);  // room_for has seen to it
}

// --- changes ---------------------------------------------------------------------------------------------------------

// A place for one more. Where what ended has them all, one is given up: the whole filter is told then.
static struct source *place(struct group *group)
{
    struct sources *const s = group->sources;
    if (s->count < 2 * SOURCES_MAX)
        return &s->entries[s->count++];
    group->mode_sends = GROUP_ROBUSTNESS;
    for (uint32_t i = 0;; i++)  // at most half of them are listed
        if (!s->entries[i].listed)
            return &s->entries[i];
}

static bool list_changed(struct group *group, const struct weir_addr *list, uint32_t count)
{
    struct sources *const s = group->sources;
    bool changed = false;
    if (!s)  // no member has ever named one
        return false;
    for (uint32_t i = 0; i < s->count; i++) {
        struct source *const entry = &s->entries[i];
        if (!entry->listed || has(list, count, entry->address))
            continue;
        entry->listed = false;
        entry->sends = GROUP_ROBUSTNESS;
        changed = true;
    }
    for (uint32_t i = 0; i < count; i++) {
        struct source *entry = find(group, list[i]);
        if (entry && entry->listed)
            continue;
        entry = entry ? entry : place(group);
        *entry = (struct source){list[i], true, GROUP_ROBUSTNESS};
        changed = true;
    }
    return changed;
}

// What the members want now, against what was reported.
static void update(struct group *group)
{
    struct weir_addr list[SOURCES_MAX];
    uint32_t count;
    bool exclude;
    merge(group, &exclude, list, &count);
    const bool turned = exclude != group->exclude;
    if (turned) {
        group->exclude = exclude;
        group->mode_sends = GROUP_ROBUSTNESS;
        if (group->sources)
            group->sources->count = 0;
    }
    if (list_changed(group, list, count) || turned)
        group->unsolicited = GROUP_ROBUSTNESS;
}

// One more report has told the changes: what is told often enough is forgotten.
static void told(struct group *group)
{
    struct sources *const s = group->sources;
    group->mode_sends -= group->mode_sends > 0;
    for (uint32_t i = s ? s->count : 0; i-- > 0;) {
        struct source *const entry = &s->entries[i];
        entry->sends -= entry->sends > 0;
        if (!entry->listed && !entry->sends)
            *entry = s->entries[--s->count];
    }
}

// --- records ---------------------------------------------------------------------------------------------------------

// The sources in the filter, or of those whose change is told the ones that are now forwarded, or blocked.
enum which { LISTED, FORWARDED, BLOCKED };

static bool wanted(const struct group *group, const struct source *entry, enum which which)
{
    if (which == LISTED)
        return entry->listed;
    return entry->sends && (entry->listed != group->exclude) == (which == FORWARDED);
}

static void fill(const struct group *group, struct group_record *record, enum group_record_type type, enum which which)
{
    const struct sources *const s = group->sources;
    record->type = type;
    record->count = 0;
    for (uint32_t i = 0; s && i < s->count && record->count < SOURCES_MAX; i++)
        if (wanted(group, &s->entries[i], which))
            record->sources[record->count++] = s->entries[i].address;
}

// RFC 9776 §5.1. An empty ALLOW or BLOCK says nothing.
static uint32_t changes(struct group *group, struct group_record *records)
{
    uint32_t count = 0;
    if (group->mode_sends) {
        fill(group, &records[count++], group->exclude ? GROUP_TO_EXCLUDE : GROUP_TO_INCLUDE, LISTED);
    } else {
        fill(group, &records[count], GROUP_ALLOW, FORWARDED);
        count += records[count].count > 0;
        fill(group, &records[count], GROUP_BLOCK, BLOCKED);
        count += records[count].count > 0;
    }
    told(group);
    return count;
}

// RFC 9776 §5.2: asked about sources, we name those that are heard.
static uint32_t answer(const struct group *group, struct group_record *record)
{
    const struct sources *const s = group->sources;
    if (group->asked == ASKED_ALL) {
        fill(group, record, group->exclude ? GROUP_IS_EXCLUDE : GROUP_IS_INCLUDE, LISTED);
        return 1;
    }
    record->type = GROUP_IS_INCLUDE;
    record->count = 0;
    for (uint32_t i = 0; i < s->asked_count; i++) {
        const struct source *const entry = find(group, s->asked[i]);
        if ((entry && entry->listed) != group->exclude)
            record->sources[record->count++] = s->asked[i];
    }
    return record->count > 0;
}

uint32_t sources_records(struct weir *weir, struct group *group, struct group_record *records)
{
    uint32_t count = 0;
    (void)weir;
    update(group);
    if (group->unsolicited)
        count = changes(group, records);
    if (group->asked)
        count += answer(group, &records[count]);
    group->asked = ASKED_NOTHING;
    return count;
}

// --- queries ---------------------------------------------------------------------------------------------------------

#if WEIR_CFG_IP6
static struct weir_addr asked_source(const struct group_query *query, uint32_t i)
{
    return query->v4 ? weir_addr_v4(get32(query->sources + 4 * i))
                     : weir_addr_with_zone(weir_addr_v6(query->sources + 16 * i), query->netif->index);
}
#else
static struct weir_addr asked_source(const struct group_query *query, uint32_t i)
{
    return weir_addr_v4(get32(query->sources + 4 * i));
}
#endif

// RFC 9776 §5.2, rules 3 to 5. Who asks about more than we note gets the whole filter.
void sources_asked(struct weir *weir, struct group *group, const struct group_query *query)
{
    if (!query->source_count || group->asked == ASKED_ALL || !state_needed(weir, group)) {
        group->asked = ASKED_ALL;
        return;
    }
    struct sources *const s = group->sources;
    if (group->asked == ASKED_NOTHING)
        s->asked_count = 0;
    group->asked = query->source_count > SOURCES_MAX ? ASKED_ALL : ASKED_SOURCES;
    for (uint32_t i = 0; group->asked == ASKED_SOURCES && i < query->source_count; i++)
        if (!add(s->asked, &s->asked_count, asked_source(query, i)))
            group->asked = ASKED_ALL;
}

// --- the life of a group ---------------------------------------------------------------------------------------------

void sources_renew(struct group *group) { group->mode_sends = GROUP_ROBUSTNESS; }

void sources_cancel(struct group *group) { group->asked = ASKED_NOTHING; }

void sources_members_changed(struct weir *weir, struct group *group)
{
    if (!group->references)
        group->asked = ASKED_NOTHING;
    if (group->filters || !group->references || !group->exclude)
        group_schedule(weir, group, 0);
}

void sources_removed(struct weir *weir, struct group *group)
{
    if (group->sources)
        pool_put(&weir->ip.source_states, &weir->memory, group->sources);
    group->sources = NULL;
}
