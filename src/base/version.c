// SPDX-License-Identifier: BSD-2-Clause
#include "weir/version.h"

const char *weir_version(void) { return WEIR_VERSION_STRING; }
