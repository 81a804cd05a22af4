// SPDX-License-Identifier: BSD-2-Clause
// The AT91RM9200's Advanced Interrupt Controller (Atmel data sheet 1768, chapter 22). Interrupts do not nest here.
#ifndef PORTUX920T_AIC_H
#define PORTUX920T_AIC_H

#include <stdint.h>

#include "weir/language.h"

WEIR_BEGIN_DECLS

void aic_start(void);                                     // all sources off, also those that a boot loader left on
void aic_enable(uint32_t source, void (*handler)(void));  // a level, below 32; the handler takes the cause back

WEIR_END_DECLS

#endif
