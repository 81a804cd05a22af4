// SPDX-License-Identifier: BSD-2-Clause
// A boot loader for firmware in two slots: chooses one (update/slots.h), copies its image to where it is linked to run
// and starts it. On a real board it would also start the watchdog that an image which hangs runs into.
#include <string.h>

#include "boards/board.h"
#include "examples/update/memory_flash.h"
#include "text.h"
#include "update/update.h"

#define SYSTICK_CONTROL 0xe000e010u
#define INTERRUPT_STATE 0xe000ed04u
#define VECTOR_TABLE 0xe000ed08u
#define SYSTICK_CLEAR (1u << 25)

static volatile uint32_t *reg(uint32_t address) { return (volatile uint32_t *)(uintptr_t)address; }

static void say(const char *what, uint32_t slot, uint32_t version)
{
    char line[80];
    struct text text;
    text_init(&text, line, sizeof line);
    text_put(&text, what);
    text_u64(&text, slot);
    text_put(&text, ", version ");
    text_u64(&text, version);
    text_char(&text, '\n');
    board_puts(line);
}

// Takes the image that the board was made with as any other.
static int install(void)
{
    const uint8_t *const factory = (const uint8_t *)(uintptr_t)MEMORY_FACTORY;
    struct update update;
    struct update_header header;
    if (!update_header_parse(factory, &header) || header.length > update_image_max(&memory_flash))
        return -1;
    board_puts("boot: no slot has an image; the one that the board was made with is installed\n");
    update_begin(&update, &memory_flash, MEMORY_BOARD, 1);
    if (update_take(&update, factory, UPDATE_HEADER_BYTES + header.length) != 0 || update_end(&update) != 0)
        return -1;
    return update_choose(&memory_flash, MEMORY_BOARD);
}

// The processor as after a reset, but for where its vectors are.
__attribute__((noreturn)) static void start(void)
{
    const uint32_t *const vectors = (const uint32_t *)(uintptr_t)MEMORY_RUN;
    __asm__ volatile("cpsid i");
    *reg(SYSTICK_CONTROL) = 0;
    *reg(INTERRUPT_STATE) = SYSTICK_CLEAR;
    *reg(VECTOR_TABLE) = MEMORY_RUN;
    __asm__ volatile("dsb\n\tisb\n\tmsr msp, %0\n\tcpsie i\n\tbx %1" ::"r"(vectors[0]), "r"(vectors[1]) : "memory");
    __builtin_unreachable();
}

int main(void)
{
    board_init();
    int slot = update_choose(&memory_flash, MEMORY_BOARD);
    if (slot < 0)
        slot = install();
    if (slot < 0) {
        board_puts("boot: there is nothing to start\n");
        for (;;)
            board_idle();
    }
    const struct update_slot found = update_slot_read(&memory_flash, (uint32_t)slot);
    (void)memory_flash.read(NULL, (uint32_t)slot, UPDATE_HEADER_BYTES, (void *)(uintptr_t)MEMORY_RUN,
                            found.header.length);
    *memory_running() = (uint32_t)slot;
    say("boot: slot ", (uint32_t)slot, found.header.version);
    start();
}
