// SPDX-License-Identifier: BSD-2-Clause
#include "boot.h"

#include <string.h>

#include "processes.h"

extern uint8_t link_processes[], link_processes_end[];

uint64_t idle_stack[IDLE_STACK_BYTES / 8] __attribute__((section(".bss.idle")));
void idle_process(void)
{
    for (;;)
        __asm__ volatile("wfi");
}

void boot_print(const char *text, uint32_t bytes)
{
    for (; bytes; bytes--, text++)
        board_puts((const char[2]){*text, '\0'});
}

uint32_t boot_random(void)
{
    uint32_t word;
    board_entropy(&word, sizeof word);
    return word;
}

void board_timer(void) { micro_timer(); }
void board_interrupt(void) { micro_interrupt(ETHERNET_IRQ); }

int main(void)
{
    board_init();
    memset(link_processes, 0, (size_t)(link_processes_end - link_processes));
    micro_run(&kernel_table);
}
