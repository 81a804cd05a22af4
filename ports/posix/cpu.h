// SPDX-License-Identifier: BSD-2-Clause
// RFC 1071 sums with the vector units of the CPU the program finds itself on.
#ifndef POSIX_CPU_H
#define POSIX_CPU_H

#include <stdbool.h>

#include "weir/language.h"
#include "weir/linkage/posix.h"
#include "weir/port.h"

WEIR_BEGIN_DECLS

enum posix_cpu_level {
    POSIX_CPU_WORDS,  // 64-bit words: any machine, e.g. aarch64
    POSIX_CPU_SSE2,   // every x86-64
    POSIX_CPU_AVX2,
    POSIX_CPU_LEVELS
};

// Sets port->sum, port->copy_sum and port->copy to the best this CPU has.
void posix_cpu_select(struct weir_port *port);
// Sets those of one level; false, changing nothing, when this CPU or build lacks it. For tests and measurements.
bool posix_cpu_use(struct weir_port *port, enum posix_cpu_level level);

WEIR_END_DECLS

#endif
