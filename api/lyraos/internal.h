// SPDX-License-Identifier: BSD-2-Clause
#ifndef LYRAOS_INTERNAL_H
#define LYRAOS_INTERNAL_H

#include "api/lyraos/lyraos.h"
#include "weir/language.h"

WEIR_BEGIN_DECLS

extern struct weir_bsd *lyraos_stack;

WEIR_END_DECLS

#endif
