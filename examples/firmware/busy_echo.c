// SPDX-License-Identifier: BSD-2-Clause
// small_echo with a thread of the lowest priority that computes all the time, and a report on port 9: for
// tests/firmware.
#define BUSY 1
#include "small_echo.c"
