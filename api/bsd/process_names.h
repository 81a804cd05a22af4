// SPDX-License-Identifier: BSD-2-Clause
// The plain POSIX names for a process, whatever system it runs on (docs/microkernel.md): posix_names.h, and errno,
// which can be read only.
#ifndef WEIR_PROCESS_NAMES_H
#define WEIR_PROCESS_NAMES_H

#include "posix_names.h"

#undef errno
#define errno process_errno()

#endif
