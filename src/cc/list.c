// SPDX-License-Identifier: BSD-2-Clause
// The algorithms that are built in. The first is the default.
#include <stddef.h>

#include "weir/cc.h"
#include "weir/options.h"

const struct weir_cc *const weir_cc_list[] = {
#if WEIR_CFG_CC_CUBIC
    &weir_cc_cubic,
#endif
#if WEIR_CFG_CC_RENO
    &weir_cc_reno,
#endif
#if WEIR_CFG_CC_BIC
    &weir_cc_bic,
#endif
#if WEIR_CFG_CC_HTCP
    &weir_cc_htcp,
#endif
#if WEIR_CFG_CC_VEGAS
    &weir_cc_vegas,
#endif
#if WEIR_CFG_CC_WESTWOOD
    &weir_cc_westwood,
#endif
#if WEIR_CFG_CC_YEAH
    &weir_cc_yeah,
#endif
#if WEIR_CFG_CC_BBR
    &weir_cc_bbr,
#endif
#if WEIR_CFG_CC_BBR3
    &weir_cc_bbr3,
#endif
    NULL,
};

static bool cc_name_is(const char *a, const char *b)
{
    while (*a && *a == *b)
        a++, b++;
    return *a == *b;
}

const struct weir_cc *weir_cc_find(const char *name)
{
    if (name == NULL)
        return weir_cc_list[0];
    for (const struct weir_cc *const *cc = weir_cc_list; *cc != NULL; cc++)
        if (cc_name_is((*cc)->name, name))
            return *cc;
    return NULL;
}
