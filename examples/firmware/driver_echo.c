// SPDX-License-Identifier: BSD-2-Clause
// busy_echo with the network card's driver as a thread of its own, as LyraOS had it: the thread moves frames between
// the card and two queues, the stack's I/O thread between the queues and the stack. For boards whose driver offers that
// (boards/pc-ne2k).
#define BUSY 1
#include "small_echo.c"

#define DRIVER_PRIORITY 30
#define DRIVER_STACK (4 * STACK_UNIT)
static uint64_t driver_stack[DRIVER_STACK / 8];
static struct thread driver;
static struct semaphore driver_work;
static uint64_t (*driver_turn)(uint64_t now_us);

static void drive(void *unused)
{
    (void)unused;
    for (;;)
        (void)semaphore_take(&driver_work, driver_turn(board_now_us()));
}

bool board_driver_thread(uint64_t (*turn)(uint64_t now_us))
{
    driver_turn = turn;
    driver_work.most = 1;
    return spawn(&driver, "driver", drive, driver_stack, sizeof driver_stack, DRIVER_PRIORITY);
}
void board_driver_wake(void) { semaphore_give(&driver_work); }
