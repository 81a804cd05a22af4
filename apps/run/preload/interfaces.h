// SPDX-License-Identifier: BSD-2-Clause
// The interfaces that programs see: the server's.
#ifndef PRELOAD_INTERFACES_H
#define PRELOAD_INTERFACES_H

#include <stdbool.h>

bool run_interface_request(unsigned long request);  // an ioctl about interfaces
int run_interface_answer(unsigned long request, void *argument);

#endif
