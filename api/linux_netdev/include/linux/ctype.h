// SPDX-License-Identifier: BSD-2-Clause
#ifndef LINUX_NETDEV_CTYPE_H
#define LINUX_NETDEV_CTYPE_H

#include "weir/language.h"

WEIR_BEGIN_DECLS

// By names of their own, beside the compiler's.
static inline int linux_isdigit(int letter) { return letter >= '0' && letter <= '9'; }
static inline int linux_isupper(int letter) { return letter >= 'A' && letter <= 'Z'; }
static inline int linux_islower(int letter) { return letter >= 'a' && letter <= 'z'; }
static inline int linux_toupper(int letter) { return linux_islower(letter) ? letter - 'a' + 'A' : letter; }
static inline int linux_tolower(int letter) { return linux_isupper(letter) ? letter - 'A' + 'a' : letter; }
#define isdigit linux_isdigit
#define isupper linux_isupper
#define islower linux_islower
#define toupper linux_toupper
#define tolower linux_tolower

WEIR_END_DECLS

#endif
