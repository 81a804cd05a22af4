// SPDX-License-Identifier: BSD-2-Clause
// System calls where no trap separates programs from the kernel: the same table, by a plain call.
#include "kernel/preempt/arch.h"

intptr_t arch_system_call(uint32_t number, intptr_t arguments[]) { return system_call(number, arguments); }
void arch_drop_privileges(void) {}
