// SPDX-License-Identifier: BSD-2-Clause
#include "api/lyraos/alarm.h"

#include "api/lyraos/internal.h"

#define SECOND_US UINT64_C(1000000)

int alarm(int seconds)
{
    const struct weir_port *port = weir_port(bsd_instance(lyraos_stack));
    struct signals *signals = thread_self()->signals;
    if (!signals)
        return 0;
    const uint64_t now_us = port->now_us(port->context);
    const uint64_t before_us =
        signal_alarm_at(signals, seconds > 0 ? now_us + (uint64_t)seconds * SECOND_US : KERNEL_NEVER);
    return before_us == KERNEL_NEVER || before_us <= now_us ? 0
                                                            : (int)((before_us - now_us + SECOND_US - 1) / SECOND_US);
}
