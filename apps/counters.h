// SPDX-License-Identifier: BSD-2-Clause
// The counters' names and what they count, for applications that show them: in every profile, also where the stack has
// no names (WEIR_CFG_COUNTER_NAMES).
#ifndef APPS_COUNTERS_H
#define APPS_COUNTERS_H

#include "weir/linkage/apps.h"
#include "weir/stats.h"

WEIR_BEGIN_DECLS

struct counter_row {
    const char *name, *text;
};

extern const struct counter_row counter_rows[WEIR_COUNT_COUNT];  // by enum weir_counter

WEIR_END_DECLS

#endif
