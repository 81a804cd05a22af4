// SPDX-License-Identifier: BSD-2-Clause
// Socket options as Linux has them, over those of api/bsd. Both return 0 or a negative errno; get sets *length.
#ifndef RUN_SOCKOPT_H
#define RUN_SOCKOPT_H

#include "run/server.h"

int run_option_set(struct run_socket *socket, int level, int name, const void *value, uint32_t length);
int run_option_get(struct run_socket *socket, int level, int name, void *value, uint32_t *length);

#endif
