// SPDX-License-Identifier: BSD-2-Clause
// Start-up of a Cortex-M: the vector table, memory, main. The board's linker script names the sections and the stack;
// the board's vectors are in its own file (board_vectors, behind the system's sixteen).
#include <stdint.h>
#include <string.h>

extern uint32_t link_data_from[], link_data[], link_data_end[], link_bss[], link_bss_end[], link_stack_top[];
int main(void);

// Nothing here is expected: the loop keeps the machine as it is, for a debugger. A board that prints has its own.
__attribute__((weak, noreturn)) void fault_handler(void)
{
    for (;;)
        ;
}
__attribute__((weak)) void systick_handler(void) {}
__attribute__((weak, alias("fault_handler"), noreturn)) void svc_handler(void);
__attribute__((weak, alias("fault_handler"), noreturn)) void pendsv_handler(void);

__attribute__((noreturn)) void reset_handler(void)
{
    memcpy(link_data, link_data_from, (size_t)((char *)link_data_end - (char *)link_data));
    memset(link_bss, 0, (size_t)((char *)link_bss_end - (char *)link_bss));
    (void)main();
    fault_handler();
}

// A kernel's, where there is one (boards/board.h).
__attribute__((weak)) void board_timer(void) {}
__attribute__((weak)) void board_interrupt(void) {}

typedef void vector(void);
__attribute__((section(".vectors"), used)) static vector *const vectors[16] = {
    [0] = (vector *)(void *)link_stack_top,
    [1] = reset_handler,
    [2] = fault_handler,
    [3] = fault_handler,
    [4] = fault_handler,
    [5] = fault_handler,
    [6] = fault_handler,
    [11] = svc_handler,
    [12] = fault_handler,
    [14] = pendsv_handler,
    [15] = systick_handler,
};
