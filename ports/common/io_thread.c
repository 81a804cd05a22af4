// SPDX-License-Identifier: BSD-2-Clause
#include "ports/common/io_thread.h"

void port_io_run(struct port_core *core, const struct port_io_calls *calls)
{
    uint32_t busy_turns = 0;
    for (;;) {
        core->port.lock(core);
        const uint64_t due_us = calls->turn(core);
        core->port.unlock(core);
        // the clock of that turn: a moment that has come since ends the sleep at once
        if (due_us <= weir_now_us(core->weir)) {
            if (++busy_turns == PORT_BUSY_TURNS)
                calls->step(core, true);
            continue;
        }
        if (busy_turns >= PORT_BUSY_TURNS)
            calls->step(core, false);
        busy_turns = 0;
        calls->sleep(core, due_us);
    }
}
