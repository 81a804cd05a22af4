// SPDX-License-Identifier: BSD-2-Clause
#include "counters.h"

#define ROW(name, text) [WEIR_COUNT_##name] = {#name, text},
const struct counter_row counter_rows[WEIR_COUNT_COUNT] = {WEIR_COUNTERS(ROW)};
#undef ROW
