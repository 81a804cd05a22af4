// SPDX-License-Identifier: BSD-2-Clause
// What every board offers a program: its start-up code has run when main begins. A board is a folder with its start-up,
// its linker script, this header's functions, and a row in tools/boards.mk.
#ifndef BOARD_H
#define BOARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "weir/language.h"
#include "weir/netif.h"

WEIR_BEGIN_DECLS

#ifndef BOARD_ADDRESS
#define BOARD_ADDRESS 10, 0, 0, 2  // as `make run` and `make test` expect it
#endif
#ifndef BOARD_ADDRESS6
#define BOARD_ADDRESS6 0x20, 0x01, 0x0d, 0xb8, [15] = 2  // 2001:db8::2, where one is given by hand
#endif
#define BOARD_PREFIX 24
#define BOARD_GATEWAY 10, 0, 0, 1  // for programs that speak with hosts beyond

void board_init(void);                       // clocks, console, timer; interrupts are on afterwards
uint64_t board_now_us(void);                 // since board_init
extern const uint32_t board_granularity_us;  // of board_now_us and board_sleep
// Sleeps until the moment (WEIR_NEVER: for ever) or an interrupt, unless *awake is true; the look and the sleep are one
// step to interrupts.
void board_sleep(uint64_t until_us, const volatile bool *awake);
// For kernels. The program defines what it needs of the two that are called by interrupts.
void board_alarm(uint64_t at_us);  // board_timer shall be called at that moment; an earlier call may come, too
void board_idle(void);             // with interrupts off: sleeps until one waits
void board_timer(void);
void board_interrupt(void);  // behind every interrupt of the Ethernet interface
// Where the interface's driver can be a thread of its own. The program may define both: the former makes a thread that
// calls `turn` again and again, next at the moment it returned or after board_driver_wake, which interrupts call too.
// false: it makes none.
bool board_driver_thread(uint64_t (*turn)(uint64_t now_us));
void board_driver_wake(void);
void board_entropy(void *out, size_t bytes);     // each board's file says how good it is
extern const char link_text[], link_text_end[];  // the image's code and constants
// Memory, on boards whose programs have an allocator (WEIR_CFG_ALLOCATOR).
void *board_alloc(size_t bytes);
void board_free(void *memory);
void board_puts(const char *text);  // on the console, at once
// Prepares the board's Ethernet interface (drivers/) as `netif`, ready for weir_netif_add. *wake becomes true with
// every interrupt of it. On a board with several (malta) each call prepares the next one.
void board_ethernet(struct weir_netif *netif, volatile bool *wake);
// The same for IP over the board's second serial line (drivers/slip.h): malta.
void board_slip(struct weir_netif *netif, volatile bool *wake);

WEIR_END_DECLS

#endif
