// SPDX-License-Identifier: BSD-2-Clause
// What lwIP wants to know of the compiler, and of a library without files, printing and a process to end.
#ifndef LWIP_ARCH_CC_H
#define LWIP_ARCH_CC_H

#include <stdint.h>

#define LWIP_NO_INTTYPES_H 1
#define X8_F "x"
#define U16_F "u"
#define S16_F "d"
#define X16_F "x"
#define U32_F "u"
#define S32_F "d"
#define X32_F "x"
#define SZT_F "u"
#define LWIP_NO_CTYPE_H 1
#define LWIP_NO_UNISTD_H 1
#define LWIP_PLATFORM_DIAG(x)
#define LWIP_PLATFORM_ASSERT(x)
#define LWIP_RAND() 4u  // of what is built here nothing asks for it

#endif
