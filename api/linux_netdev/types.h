// SPDX-License-Identifier: BSD-2-Clause
// Linux 2.0's names for integers of a known size.
#ifndef LINUX_NETDEV_TYPES_H
#define LINUX_NETDEV_TYPES_H

#include <stddef.h>
#include <stdint.h>

typedef int8_t s8, __s8;
typedef uint8_t u8, __u8, u_char, unchar;
typedef int16_t s16, __s16;
typedef uint16_t u16, __u16, u_short, ushort;
typedef int32_t s32, __s32;
typedef uint32_t u32, __u32;
typedef uint64_t u64, __u64;
typedef unsigned u_int, uint;
typedef unsigned long u_long, ulong;
typedef char *caddr_t;

#endif
