// SPDX-License-Identifier: BSD-2-Clause
#include "aic.h"

#include "armv4t/cpu.h"
#include "drivers/mmio.h"

#define AIC 0xfffff000u
enum { SMR = 0x000, SVR = 0x080, IVR = 0x100, IECR = 0x120, IDCR = 0x124, ICCR = 0x128, EOICR = 0x130, SPU = 0x134 };
#define SOURCES 32u
#define NESTED_MAX 8u  // levels of its stack of priorities
#define PRIORITY 3u    // of 0 to 7; source type 0: the level is high

static uint32_t vector_of(void (*handler)(void)) { return (uint32_t)(uintptr_t)handler; }
static void spurious(void) {}

void aic_start(void)
{
    mmio_write(AIC + IDCR, 0xffffffff);
    mmio_write(AIC + ICCR, 0xffffffff);
    for (uint32_t i = 0; i < NESTED_MAX; i++)
        mmio_write(AIC + EOICR, 0);
    for (uint32_t i = 0; i < SOURCES; i++)
        mmio_write(AIC + SVR + 4 * i, vector_of(spurious));
    mmio_write(AIC + SPU, vector_of(spurious));
}

void aic_enable(uint32_t source, void (*handler)(void))
{
    mmio_write(AIC + SMR + 4 * source, PRIORITY);
    mmio_write(AIC + SVR + 4 * source, vector_of(handler));
    mmio_write(AIC + ICCR, 1u << source);
    mmio_write(AIC + IECR, 1u << source);
}

// Reading the vector takes the interrupt: the line falls, and no other of this priority raises it until its end is
// told.
void interrupt_handler(void)
{
    ((void (*)(void))(uintptr_t)mmio_read(AIC + IVR))();
    mmio_write(AIC + EOICR, 0);
}
