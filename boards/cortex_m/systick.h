// SPDX-License-Identifier: BSD-2-Clause
// Time and sleep on a Cortex-M by its SysTick alone: a 24-bit counter, whose period is stretched while the CPU sleeps
// (tickless).
#ifndef CORTEX_M_SYSTICK_H
#define CORTEX_M_SYSTICK_H

#include <stdbool.h>
#include <stdint.h>

#include "weir/language.h"

WEIR_BEGIN_DECLS

void systick_start(uint32_t cycles_per_us);
uint64_t systick_now_us(void);
void systick_sleep(uint64_t until_us, const volatile bool *awake);  // as board_sleep

WEIR_END_DECLS

#endif
