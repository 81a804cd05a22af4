// SPDX-License-Identifier: BSD-2-Clause
#ifndef LINUX_NETDEV_PROCESSOR_H
#define LINUX_NETDEV_PROCESSOR_H

#include "weir/language.h"

WEIR_BEGIN_DECLS

extern char x86;      // the processor's family: 5, a Pentium or newer
extern int EISA_bus;  // 0: there is none

WEIR_END_DECLS

#endif
