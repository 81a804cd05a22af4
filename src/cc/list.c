// SPDX-License-Identifier: BSD-2-Clause
// The algorithms that are built in, in the order of config/options.toml. The first is the default.
#include <stddef.h>

#include "weir/cc.h"

const struct weir_cc *const weir_cc_list[] = {WEIR_CC_ROWS NULL};

static bool cc_name_is(const char *a, const char *b)
{
    while (*a && *a == *b)
        a++, b++;
    return *a == *b;
}

const struct weir_cc *weir_cc_find_in(const struct weir_cc *const *list, const char *name)
{
    if (name == NULL)
        return list[0];
    for (const struct weir_cc *const *cc = list; *cc != NULL; cc++)
        if (cc_name_is((*cc)->name, name))
            return *cc;
    return NULL;
}
