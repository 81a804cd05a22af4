// SPDX-License-Identifier: BSD-2-Clause
// What lwIP wants to know of the compiler.
#ifndef LWIP_ARCH_CC_H
#define LWIP_ARCH_CC_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define LWIP_RAND() ((uint32_t)random())
#define LWIP_PLATFORM_DIAG(x) \
    do { \
        printf x; \
    } while (0)
#define LWIP_PLATFORM_ASSERT(x) \
    do { \
        fprintf(stderr, "lwIP: %s\n", x); \
        abort(); \
    } while (0)

#endif
