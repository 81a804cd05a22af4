// SPDX-License-Identifier: BSD-2-Clause
// The thread in which a kernel's port drives the stack: it takes frames in, runs weir_poll and wakes who waits, then
// sleeps until the next deadline, an interrupt or a kick. Should there always be more, it steps back to the priority of
// other work, so that a flood of frames cannot keep that from running.
#ifndef PORT_IO_THREAD_H
#define PORT_IO_THREAD_H

#include "ports/common/core.h"
#include "weir/language.h"

WEIR_BEGIN_DECLS

#define PORT_BUSY_TURNS 32  // in a row, before the thread steps back

// What the thread asks of its kernel. Locking is the contract's.
struct port_io_calls {
    // or until the port's interrupt or kick, also one before the call
    void (*sleep)(struct port_core *core, uint64_t until_us);
    void (*step)(struct port_core *core, bool back);  // back, or to its own priority again
    uint64_t (*turn)(struct port_core *core);         // port_turn, or one of its own
};
WEIR_NORETURN void port_io_run(struct port_core *core, const struct port_io_calls *calls);

WEIR_END_DECLS

#endif
