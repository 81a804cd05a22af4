// SPDX-License-Identifier: BSD-2-Clause
// profiles: tiny
// The compact stack with its shortcut (FAST_PATH) does what it does without: all of tcp_test.c over a stack built with
// the option.
#define WEIR_CFG_FAST_PATH 1
#include "serving.c"
#include "compact/predict.c"

#include "tcp_test.c"
