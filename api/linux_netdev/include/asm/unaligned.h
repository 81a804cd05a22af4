// SPDX-License-Identifier: BSD-2-Clause
#ifndef LINUX_NETDEV_UNALIGNED_H
#define LINUX_NETDEV_UNALIGNED_H

#include <string.h>

// The compiler makes of these what the processor allows.
#define get_unaligned(from) \
    (((const struct { __typeof__(*(from)) value; } __attribute__((packed, may_alias)) *)(const void *)(from))->value)
#define put_unaligned(value, to) \
    ({ \
        const __typeof__(*(to)) value_ = (value); \
        memcpy((to), &value_, sizeof value_); \
        (void)0; \
    })

#endif
