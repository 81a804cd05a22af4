// SPDX-License-Identifier: BSD-2-Clause
#ifndef ARMV4T_SUM_H
#define ARMV4T_SUM_H

#include <stddef.h>
#include <stdint.h>

#include "weir/language.h"

WEIR_BEGIN_DECLS

uint16_t armv4t_sum(const void *data, size_t bytes);  // as weir_port.sum; bound by -DWEIR_SUM

WEIR_END_DECLS

#endif
