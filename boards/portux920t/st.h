// SPDX-License-Identifier: BSD-2-Clause
// The AT91RM9200's System Timer (Atmel data sheet 1768, chapter 24): its real-time counter, of 20 bits, counts the slow
// clock, 32,768 Hz, and raises an interrupt when it comes to a moment.
#ifndef PORTUX920T_ST_H
#define PORTUX920T_ST_H

#include <stdint.h>

#include "weir/language.h"

WEIR_BEGIN_DECLS

#define ST_GRANULARITY_US 31u

void st_start(void);
uint64_t st_now_us(void);       // since st_start
void st_alarm(uint64_t at_us);  // at that moment, or earlier: there is one each 16 s
void st_interrupt(void);        // from the system peripherals' interrupt; calls board_timer when the alarm has come
uint32_t st_count(void);        // the counter as it is

WEIR_END_DECLS

#endif
