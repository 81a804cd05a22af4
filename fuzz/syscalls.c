// SPDX-License-Identifier: BSD-2-Clause
// The microkernel's system calls: whoever runs makes any call with any registers, faults, exits; time passes and
// interrupts come. The processor is this file, as in tests/unit/micro/kernel_test.c. Two of the processes share memory.
//
// What is checked after each of these, besides the sanitizers: that the kernel has written nowhere but into the message
// or event that a process gave it, which is that process's own; that somebody runs who may; that who is dead stays so.
#include "fuzz.h"
#include "kernel/micro/internal.h"

enum { SERVER, DRIVER, ONE, TWO, IDLE, COUNT };
enum { SHARED = COUNT, DEVICE, CODE, NOBODY, BLOCKS };  // behind the processes' own
#define BLOCK_BYTES 128u
#define OPERATIONS 300u
#define INTERRUPT 13

static uint8_t *blocks[BLOCKS], before[BLOCKS][BLOCK_BYTES];
static uint64_t now_us;
static bool switching;
static struct bytes in;

void cpu_prepare(struct process *process) { (void)process; }
void cpu_result(struct process *process, int32_t result) { (void)process, (void)result; }
void cpu_switch(void) { switching = true; }
void cpu_interrupt(uint32_t interrupt, bool on) { CHECK(interrupt == INTERRUPT && (on || !on)); }
void cpu_start(void) { abort(); }

static uint64_t clock_now(void) { return now_us; }
static void set_alarm(uint64_t at_us) { (void)at_us; }
static void print(const char *text, uint32_t bytes)
{
    uint32_t sum = 0;
    CHECK(bytes <= MICRO_PRINT_BYTES);
    for (uint32_t i = 0; i < bytes; i++)
        sum += (uint8_t)text[i];
    CHECK(sum <= 255 * MICRO_PRINT_BYTES);
}
static uint32_t random_number(void) { return 4; }
static void nothing(void) {}

static struct process_config configs[COUNT];
static struct kernel_table table = {.processes = configs,
                                    .count = COUNT,
                                    .now_us = clock_now,
                                    .alarm = set_alarm,
                                    .print = print,
                                    .random = random_number};

static struct region region_of(uint32_t block, enum region_kind kind)
{
    return (struct region){(uintptr_t)blocks[block], BLOCK_BYTES, (uint8_t)kind};
}

static void start(void)
{
    static const uint8_t priorities[COUNT] = {2, 3, 2, 1, 0};
    for (uint32_t i = 0; i < BLOCKS; i++) {
        blocks[i] = aligned_alloc(BLOCK_BYTES, BLOCK_BYTES);
        CHECK(blocks[i] != NULL);
        memset(blocks[i], 0x40 + (int)i, BLOCK_BYTES);
    }
    table.code = region_of(CODE, REGION_DATA);
    for (uint32_t i = 0; i < COUNT; i++) {
        configs[i] = (struct process_config){
            .name = "fuzz", .entry = nothing, .priority = priorities[i], .heir = SERVER, .interrupt = -1};
        configs[i].reaches = 1u << SERVER | 1u << TWO;
        configs[i].regions[0] = region_of(i, REGION_DATA);
    }
    configs[SERVER].reaches = 1u << ONE | 1u << TWO | 1u << DRIVER;
    configs[DRIVER].interrupt = INTERRUPT;
    configs[DRIVER].regions[1] = region_of(DEVICE, REGION_DEVICE);
    configs[ONE].regions[1] = configs[TWO].regions[3] = region_of(SHARED, REGION_DATA);
    micro_process_init(&table);
    switching = true;
}

// --- what must hold --------------------------------------------------------------------------------------------------

// Where the kernel may write: what the processes that wait gave it, and what the running one gives it now.
static struct {
    uintptr_t at[COUNT + 2];
    bool dead[COUNT];
} allowed;

static void remember(uintptr_t one, uintptr_t two)
{
    for (uint32_t i = 0; i < COUNT; i++) {
        allowed.at[i] = (uintptr_t)micro.process[i].memory;
        allowed.dead[i] = micro.process[i].state == PROCESS_DEAD;
    }
    allowed.at[COUNT] = one;
    allowed.at[COUNT + 1] = two;
    for (uint32_t i = 0; i < BLOCKS; i++)
        memcpy(before[i], blocks[i], BLOCK_BYTES);
}

static bool may_be_written(const uint8_t *byte)
{
    for (uint32_t i = 0; i < COUNT + 2; i++)
        if (allowed.at[i] && (uintptr_t)byte - allowed.at[i] < sizeof(struct micro_event))
            return true;
    return false;
}

static void check_memory(void)
{
    for (uint32_t i = 0; i < BLOCKS; i++)
        for (uint32_t at = 0; at < BLOCK_BYTES; at++)
            if (before[i][at] != blocks[i][at])
                CHECK(i <= SHARED && may_be_written(blocks[i] + at));
}

static void check_processes(void)
{
    CHECK(micro.current && micro.current->state == PROCESS_READY);
    for (uint32_t i = 0; i < COUNT; i++) {
        const struct process *process = &micro.process[i];
        const bool waits = process->state == PROCESS_CALLING || process->state == PROCESS_AWAITING_REPLY ||
                           process->state == PROCESS_RECEIVING;
        CHECK(!allowed.dead[i] || process->state == PROCESS_DEAD);
        CHECK(process->state <= PROCESS_DEAD);
        CHECK(!waits || micro_process_owns(process, (uintptr_t)process->memory, MICRO_MESSAGE_WORDS * 4, true));
        if (process->state == PROCESS_CALLING || process->state == PROCESS_AWAITING_REPLY)
            CHECK(process->partner < COUNT && process->partner != i &&
                  micro.process[process->partner].state != PROCESS_DEAD);
        CHECK(process->state != PROCESS_READY || process->config->priority <= micro.current->config->priority ||
              process == micro.current);
    }
}

// --- operations ------------------------------------------------------------------------------------------------------

// An address in a block, or not far from it; mostly in the running one's own.
static uintptr_t address(void)
{
    static const uintptr_t odd[4] = {0, UINTPTR_MAX - 3, UINTPTR_MAX - 31, 4};
    const uint8_t choice = take8(&in), offset = take8(&in);
    const uint32_t block = choice & 0x80   ? choice % BLOCKS
                           : choice & 0x40 ? (uint32_t)SHARED
                                           : micro_process_number(micro.current);
    if ((choice & 0xf0) == 0xf0)
        return odd[choice & 3];
    return (uintptr_t)blocks[block] + (offset & 0x80 ? offset * 4u - 0x200 - 64 : offset & 0x7cu) +
           (choice & 0x30 ? 0 : choice & 1);
}

static void system_call(uint8_t number)
{
    uintptr_t registers[4] = {0};
    if (number == RECEIVE || number == PRINT) {
        registers[0] = address();
        registers[1] = number == PRINT ? take8(&in) : 0;
        registers[2] = take8(&in) & 1 ? 0 : 1000000u * take8(&in);
    } else {
        registers[0] = number == CALL || number == REPLY || number == NOTIFY ? take8(&in) : 0;
        registers[0] = registers[0] < 0x80 ? registers[0] % COUNT : registers[0] << 8 | 1;
        registers[1] = number == CALL || number == REPLY ? address() : 0;
    }
    remember(registers[0], number == CALL ? registers[1] : 0);
    micro_system_call(number, registers);
}

static void operate(void)
{
    const uint8_t operation = take8(&in);
    const bool idle = micro.current == &micro.process[IDLE];
    remember(0, 0);
    if ((operation & 15) < 10 && !(idle && (operation & 15) != PRINT)) {  // the idle process neither waits nor ends
        system_call(operation & 15);
    } else if ((operation & 15) < 13 || idle) {
        now_us += 1000u << (operation >> 4);
        micro_timer();
    } else if ((operation & 15) == 13) {
        micro_interrupt(INTERRUPT);
    } else if ((operation & 15) == 14) {
        system_call(take8(&in));  // any number; exit is one
    } else {
        micro_process_end(micro.current);  // it touched what is not its own
    }
    if (switching)
        (void)micro_process_next();
    switching = false;
    check_memory();
    check_processes();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    in = (struct bytes){data, (uint32_t)size};
    now_us = 0;
    memset(&allowed, 0, sizeof allowed);
    start();
    (void)micro_process_next();
    switching = false;
    for (uint32_t n = 0; n < OPERATIONS && in.left; n++)
        operate();
    for (uint32_t i = 0; i < BLOCKS; i++)
        free(blocks[i]);
    return 0;
}
