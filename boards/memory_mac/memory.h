// SPDX-License-Identifier: BSD-2-Clause
#ifndef MEMORY_H
#define MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include "weir/language.h"

WEIR_BEGIN_DECLS

typedef uint32_t __attribute__((may_alias, aligned(1))) word;  // the CPU takes single words from any address

uint16_t memory_sum(const void *data, size_t bytes);  // as weir_port.sum

WEIR_END_DECLS

#endif
