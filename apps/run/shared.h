// SPDX-License-Identifier: BSD-2-Clause
// A server that many programs share: the file that names it. Who may read the file may use the server.
#ifndef RUN_SHARED_H
#define RUN_SHARED_H

#include <stdbool.h>
#include <stdint.h>

#include "run/protocol.h"

// Writes the file, whole or not at all, for its owner alone. One that a dead server left is replaced. false: it was
// said what is wrong.
bool run_shared_publish(const char *path, const uint8_t token[RUN_TOKEN]);
// The token of the living server that the file names. false: it was said what is wrong.
bool run_shared_find(const char *path, uint8_t token[RUN_TOKEN]);

#endif
