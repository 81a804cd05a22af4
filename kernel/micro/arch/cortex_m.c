// SPDX-License-Identifier: BSD-2-Clause
// ARMv7-M with its MPU (ARMv7-M Architecture Reference Manual, B3.5). Processes run unprivileged on the process stack;
// the kernel is the handlers, on main's. SVC, faults, the timer and all interrupts have one priority; PendSV, below
// them, switches. The registers of a process that the hardware does not stack are kept in the kernel, not on its stack,
// which may be anywhere.
#include <stddef.h>
#include <string.h>

#include "kernel/micro/internal.h"

#define ICSR 0xe000ed04u
#define VTOR 0xe000ed08u
#define SHPR1 0xe000ed18u
#define SHPR2 0xe000ed1cu
#define SHPR3 0xe000ed20u
#define SHCSR 0xe000ed24u
#define CFSR 0xe000ed28u
#define MMFAR 0xe000ed34u
#define MPU_CTRL 0xe000ed94u
#define MPU_RBAR 0xe000ed9cu  // and RASR, and three aliases of both: four regions in one go
#define MPU_RASR 0xe000eda0u
#define NVIC_ISER 0xe000e100u
#define NVIC_ICER 0xe000e180u
#define NVIC_ICPR 0xe000e280u
#define NVIC_IPR 0xe000e400u
#define PENDSVSET (1u << 28)
#define FAULTS_ON (7u << 16)
#define KERNEL_PRIORITY 0x40404040u
#define THUMB (1u << 24)
#define RBAR_VALID (1u << 4)
#define RASR_ON 1u
#define RASR_NOT_EXECUTED (1u << 28)
#define RASR_ALL_WRITE (3u << 24)
#define RASR_ALL_READ (6u << 24)
#define RASR_NORMAL (6u << 16)  // shareable, write-back as far as there is a cache
#define RASR_DEVICE (5u << 16)

static volatile uint32_t *reg(uint32_t address) { return (volatile uint32_t *)(uintptr_t)address; }

// --- memory ----------------------------------------------------------------------------------------------------------
static uint32_t rasr(const struct region *region)
{
    const uint32_t size = (uint32_t)(31 - __builtin_clz(region->bytes)) - 1;  // of 2^(size + 1) bytes
    return region->kind == REGION_NONE ? 0
                                       : RASR_ON | size << 1 | RASR_NOT_EXECUTED | RASR_ALL_WRITE |
                                             (region->kind == REGION_DEVICE ? RASR_DEVICE : RASR_NORMAL);
}

void cpu_prepare(struct process *process)
{
    const struct process_config *config = process->config;
    for (uint32_t i = 0; i < TABLE_REGIONS; i++) {
        process->mpu[2 * i] = config->regions[i].base | RBAR_VALID | (i + 1);
        process->mpu[2 * i + 1] = rasr(&config->regions[i]);
    }
    uint32_t *frame = (uint32_t *)((uintptr_t)config->stack_end & ~(uintptr_t)7) - 8;  // r0–r3, r12, lr, pc, xPSR
    memset(frame, 0, 32);
    frame[5] = (uint32_t)(uintptr_t)micro_exit;
    frame[6] = (uint32_t)(uintptr_t)config->entry & ~1u;
    frame[7] = THUMB;
    process->stack = frame;
}

// The kernel itself sees all memory (PRIVDEFENA); a process the code, to read and execute, and its regions.
void cpu_start(void)
{
    const struct region *code = &micro.table->code;
    const struct region readable = {code->base, code->bytes, REGION_DATA};
    *reg(MPU_RBAR) = code->base | RBAR_VALID;
    *reg(MPU_RASR) = (rasr(&readable) & ~(RASR_NOT_EXECUTED | RASR_ALL_WRITE)) | RASR_ALL_READ;
    *reg(MPU_CTRL) = 5;
    *reg(SHCSR) |= FAULTS_ON;
    *reg(SHPR1) = *reg(SHPR2) = KERNEL_PRIORITY;
    *reg(SHPR3) = (KERNEL_PRIORITY & 0xff000000u) | 0x00ff0000u;
    for (uint32_t i = 0; i < 8; i++)
        *reg(NVIC_IPR + 4 * i) = KERNEL_PRIORITY;
    for (uint32_t i = 0; i < micro.table->count; i++)
        if (micro.table->processes[i].interrupt >= 0)
            cpu_interrupt((uint32_t)micro.table->processes[i].interrupt, true);
    __asm__ volatile("cpsid i" ::: "memory");
    cpu_switch();
    __asm__ volatile("msr msp, %0\n\tcpsie i\n\tisb" ::"r"(**(uint32_t **)(uintptr_t)VTOR) : "memory");
    for (;;)
        ;
}

// --- the switch ------------------------------------------------------------------------------------------------------
static struct process *running;  // whose registers are in the processor

void cpu_switch(void) { *reg(ICSR) = PENDSVSET; }

// Lays the MPU of the process that is to run; its registers are at the beginning.
__attribute__((used)) struct process *switch_to(void)
{
    struct process *next = micro_process_next();
    if (next != running) {
        const uint32_t *from = next->mpu;
        __asm__ volatile("ldmia %0, {r4-r11}\n\t"
                         "stmia %1, {r4-r11}\n\t"
                         "dsb"
                         :
                         : "r"(from), "r"(MPU_RBAR)
                         : "r4", "r5", "r6", "r8", "r9", "r10", "r11", "memory");
    }
    running = next;
    return next;
}

// Comes from a process, but the first time from main, which never goes on: 0xfffffffd returns to the process stack, and
// CONTROL makes what runs there unprivileged.
__attribute__((naked)) void pendsv_handler(void)
{
    __asm__ volatile("cpsid i\n\t"
                     "ldr   r0, =running\n\t"
                     "ldr   r0, [r0]\n\t"
                     "cbz   r0, 1f\n\t"
                     "stmia r0!, {r4-r11}\n\t"
                     "mrs   r1, psp\n\t"
                     "str   r1, [r0]\n"
                     "1: bl switch_to\n\t"
                     "ldmia r0!, {r4-r11}\n\t"
                     "ldr   r1, [r0]\n\t"
                     "msr   psp, r1\n\t"
                     "movs  r1, #1\n\t"
                     "msr   control, r1\n\t"
                     "cpsie i\n\t"
                     "isb\n\t"
                     "mvn   lr, #2\n\t"
                     "bx    lr");
}

// --- system calls and faults -----------------------------------------------------------------------------------------
// The hardware has stacked r0–r3, r12 … with the process's own rights. Where it could not, the fault ends the process,
// before or after this.
__attribute__((used)) void micro_system_call_from(uint32_t *frame)
{
    struct process *self = micro.current;
    if (self->state != PROCESS_READY || !micro_process_owns(self, (uintptr_t)frame, 32, true))
        return;
    self->stack = frame;
    micro_system_call(frame[4], (uintptr_t *)frame);
}
__attribute__((naked)) void svc_handler(void) { __asm__ volatile("mrs r0, psp\n\tb micro_system_call_from"); }

// A process that waits has its frame at the top of its stack.
void cpu_result(struct process *process, int32_t result)
{
    if (process->stack)
        process->stack[0] = (uint32_t)result;
}

void cpu_interrupt(uint32_t interrupt, bool on)
{
    const uint32_t word = 4 * (interrupt / 32), bit = 1u << interrupt % 32;
    if (on)
        *reg(NVIC_ICPR + word) = bit;  // what it asked for before; a line that is still raised asks again
    *reg((on ? NVIC_ISER : NVIC_ICER) + word) = bit;
    __asm__ volatile("dsb\n\tisb" ::: "memory");
}

static void say(const char *text) { micro.table->print(text, (uint32_t)strlen(text)); }

static void say_hex(uint32_t value)
{
    char digits[8];
    for (uint32_t i = 0; i < 8; i++)
        digits[i] = "0123456789abcdef"[value >> (28 - 4 * i) & 15];
    micro.table->print(digits, sizeof digits);
}

// Bit 2 of the return value tells on which stack it happened: only processes use theirs.
__attribute__((used)) void fault_from(uint32_t return_value)
{
    say("micro: ");
    say(return_value & 4 ? micro.current->config->name : "the kernel");
    say(" did what it may not, status ");
    say_hex(*reg(CFSR));
    say(" address ");
    say_hex(*reg(MMFAR));
    say("\n");
    *reg(CFSR) = *reg(CFSR);
    while (!(return_value & 4))
        ;
    micro.current->stack = NULL;
    micro_process_end(micro.current);
}
__attribute__((naked)) void fault_handler(void) { __asm__ volatile("mov r0, lr\n\tb fault_from"); }
