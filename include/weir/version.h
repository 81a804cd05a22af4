// SPDX-License-Identifier: BSD-2-Clause
// The version, in one place: everything else that tells it (CMake, Meson, pkg-config, packages, releases) reads it
// here. Versions are semantic; docs/packaging.md says what is promised.
#ifndef WEIR_VERSION_H
#define WEIR_VERSION_H

#include "weir/language.h"

WEIR_BEGIN_DECLS

#define WEIR_VERSION_MAJOR 0
#define WEIR_VERSION_MINOR 1
#define WEIR_VERSION_PATCH 0
#define WEIR_VERSION_STRING "0.1.0"
// For comparisons: WEIR_VERSION_NUMBER >= 0x010200 is 1.2.0 or newer.
#define WEIR_VERSION_NUMBER (WEIR_VERSION_MAJOR << 16 | WEIR_VERSION_MINOR << 8 | WEIR_VERSION_PATCH)

// The version of the library that the program is linked with, as "0.1.0"; WEIR_VERSION_STRING is that of the headers it
// was compiled with.
const char *weir_version(void);

WEIR_END_DECLS

#endif
