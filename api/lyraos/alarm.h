// SPDX-License-Identifier: BSD-2-Clause
// alarm, over the preemptive kernel's signals (kernel/preempt/signal.h): the calling thread gets SIGALRM when so many
// seconds have passed. A call it then waits in ends with EINTR, interruptible_sleep_on returns, and the handler, set
// with signal_set, is called by signal_deliver.
#ifndef LYRAOS_ALARM_H
#define LYRAOS_ALARM_H

#include "kernel/preempt/signal.h"
#include "weir/language.h"

WEIR_BEGIN_DECLS

#define SIGALRM SIGNAL_ALARM
#define send_signal signal_send
#ifndef LYRAOS_PLAIN
#define alarm lyraos_alarm
#endif
// Instead of an alarm that was set before; 0: none. Returns how many seconds that one had left, begun ones counted; 0
// also for a thread without signals (signals_init), which gets none. After lyraos_use, whose port's clock it is.
int alarm(int seconds);

WEIR_END_DECLS

#endif
