// SPDX-License-Identifier: BSD-2-Clause
#ifndef LINUX_NETDEV_CTYPE_H
#define LINUX_NETDEV_CTYPE_H

static inline int isdigit(int letter) { return letter >= '0' && letter <= '9'; }
static inline int isupper(int letter) { return letter >= 'A' && letter <= 'Z'; }
static inline int islower(int letter) { return letter >= 'a' && letter <= 'z'; }
static inline int toupper(int letter) { return islower(letter) ? letter - 'a' + 'A' : letter; }
static inline int tolower(int letter) { return isupper(letter) ? letter - 'A' + 'a' : letter; }

#endif
