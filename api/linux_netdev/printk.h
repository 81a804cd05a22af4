// SPDX-License-Identifier: BSD-2-Clause
// Messages, and text that is made or read, as drivers of Linux 2.0 call for them.
#ifndef LINUX_NETDEV_PRINTK_H
#define LINUX_NETDEV_PRINTK_H

#include <stdarg.h>

#include "weir/language.h"

WEIR_BEGIN_DECLS

#define KERN_EMERG "<0>"
#define KERN_ALERT "<1>"
#define KERN_CRIT "<2>"
#define KERN_ERR "<3>"
#define KERN_WARNING "<4>"
#define KERN_NOTICE "<5>"
#define KERN_INFO "<6>"
#define KERN_DEBUG "<7>"

// All of C's directives but those of floating point, with flags, width, precision and h, l. A level at the beginning of
// the format is left out. Returns how many letters it wrote.
int printk(const char *format, ...);
// The same into memory, with a 0 behind it. (By a name of their own, beside a C library's.)
int linux_vsprintf(char *to, const char *format, va_list arguments);
int linux_sprintf(char *to, const char *format, ...);
#define vsprintf linux_vsprintf
#define sprintf linux_sprintf
// Says the message on the console, and stops.
WEIR_NORETURN void panic(const char *format, ...);
// A number of that base; 0: 16 behind 0x, 8 behind 0, else 10. *end, unless NULL: what follows it.
unsigned long simple_strtoul(const char *text, char **end, unsigned base);

WEIR_END_DECLS

#endif
