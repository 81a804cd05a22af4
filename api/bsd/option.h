// SPDX-License-Identifier: BSD-2-Clause
// One call of getsockopt or setsockopt, for the files that know the options (option.c, multicast.c).
#ifndef BSD_OPTION_H
#define BSD_OPTION_H

#include "internal.h"
#include "weir_dplpmtud.h"
#include "weir/language.h"
#include "weir/realtime.h"
#include "weir/stats.h"

WEIR_BEGIN_DECLS

// The caller's value, already in our memory, and the answer.
union bsd_value {
    int32_t number;
    struct weir_linger linger;
    struct weir_timeval time;
    struct weir_ip_mreqn group;
    struct weir_ipv6_mreq group6;
#if WEIR_CFG_MULTICAST_SOURCES
    struct weir_group_req joined;
    struct weir_ip_mreq_source source4;
    struct weir_group_source_req source;
    struct weir_ip_msfilter filter4;
    struct weir_group_filter filter;
    uint8_t room[WEIR_GROUP_FILTER_SIZE(WEIR_CFG_MULTICAST_SOURCES)];
#endif
    struct weir_tcp_info info;
    struct weir_realtime realtime;
    struct weir_realtime_stats realtime_stats;
#if WEIR_CFG_DPLPMTUD
    struct weir_dplpmtud_settings dplpmtud;
    struct weir_dplpmtud_info dplpmtud_info;
    struct weir_dplpmtud_report dplpmtud_report;
#endif
#if WEIR_CFG_IP_OPTIONS
    struct weir_ip_options options;
    uint8_t option_bytes[WEIR_IP_OPTIONS_MAX];
    uint8_t control[sizeof(struct weir_cmsghdr) + WEIR_IP_OPTIONS_MAX];
#endif
    char text[16];
};

struct bsd_request {
    struct weir_bsd *bsd;
    struct bsd_file *file;
    int level, name;
    union bsd_value value;
    weir_socklen length;  // bytes of the value
};

static inline bool bsd_whole(const struct bsd_request *r, size_t bytes) { return r->length >= bytes; }
int bsd_number_set(struct bsd_request *r, enum weir_option option, int32_t value);
int bsd_number_get(struct bsd_request *r, enum weir_option option);

// Options of multicast, at either level; BSD_NO_PROTOCOL_OPTION: it is none.
int bsd_multicast_set(struct bsd_request *r);
int bsd_multicast_get(struct bsd_request *r);
#if WEIR_CFG_MULTICAST_SOURCES
// Whether the value of getsockopt says what is asked for: it is copied in, too.
bool bsd_multicast_asks(int level, int name);
#else
static inline bool bsd_multicast_asks(int level, int name) { return (void)level, (void)name, false; }
#endif

WEIR_END_DECLS

#endif
