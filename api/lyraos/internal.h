// SPDX-License-Identifier: BSD-2-Clause
#ifndef LYRAOS_INTERNAL_H
#define LYRAOS_INTERNAL_H

#include "api/lyraos/lyraos.h"

extern struct weir_bsd *lyraos_stack;

#endif
