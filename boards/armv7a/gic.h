// SPDX-License-Identifier: BSD-2-Clause
// The interrupt controller of ARMv7-A systems (ARM Generic Interrupt Controller, architecture version 2), and what
// hangs on interrupts alike on all such boards: sleeping until one.
#ifndef ARMV7A_GIC_H
#define ARMV7A_GIC_H

#include <stdint.h>

#include "weir/language.h"

WEIR_BEGIN_DECLS

void gic_start(uint32_t distributor, uint32_t cpu_interface);
void gic_enable(uint32_t irq, void (*handler)(void));  // below 96; the handler takes the cause back

WEIR_END_DECLS

#endif
