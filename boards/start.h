// SPDX-License-Identifier: BSD-2-Clause
// How a program on a board begins, whatever its port: an instance, with the board's interface up at BOARD_ADDRESS.
#ifndef BOARD_START_H
#define BOARD_START_H

#include <stddef.h>

#include "ports/common/core.h"
#include "weir/language.h"

WEIR_BEGIN_DECLS

extern const struct port_board board_port;  // the board, with its own memory where the build has an allocator
// `netif` comes from board_ethernet or its like; the port is ready but for its thread. NULL: no memory, or no
// interface. Without `memory` all comes from the allocator, and `bytes` is the budget; 0: the profile's.
struct weir *board_start(struct port_core *core, struct weir_netif *netif, void *memory, size_t bytes);

WEIR_END_DECLS

#endif
