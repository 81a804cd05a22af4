// SPDX-License-Identifier: BSD-2-Clause
// Access to a device's registers. On a machine with an operating system there are none: there a test's model of the
// device answers (mmio_model_read, mmio_model_write; for registers of one and two bytes those with the width in their
// name), and sees every access in order.
#ifndef DRIVERS_MMIO_H
#define DRIVERS_MMIO_H

#include <stdint.h>

#include "weir/language.h"

WEIR_BEGIN_DECLS

#if defined(__unix__) || defined(__linux__)
uint32_t mmio_model_read(uintptr_t address);
void mmio_model_write(uintptr_t address, uint32_t value);
uint8_t mmio_model_read8(uintptr_t address);
void mmio_model_write8(uintptr_t address, uint8_t value);
uint16_t mmio_model_read16(uintptr_t address);
void mmio_model_write16(uintptr_t address, uint16_t value);
static inline uint32_t mmio_read(uintptr_t address) { return mmio_model_read(address); }
static inline void mmio_write(uintptr_t address, uint32_t value) { mmio_model_write(address, value); }
static inline uint8_t mmio_read8(uintptr_t address) { return mmio_model_read8(address); }
static inline void mmio_write8(uintptr_t address, uint8_t value) { mmio_model_write8(address, value); }
static inline uint16_t mmio_read16(uintptr_t address) { return mmio_model_read16(address); }
static inline void mmio_write16(uintptr_t address, uint16_t value) { mmio_model_write16(address, value); }
#else
static inline uint32_t mmio_read(uintptr_t address) { return *(volatile uint32_t *)address; }
static inline void mmio_write(uintptr_t address, uint32_t value) { *(volatile uint32_t *)address = value; }
static inline uint8_t mmio_read8(uintptr_t address) { return *(volatile uint8_t *)address; }
static inline void mmio_write8(uintptr_t address, uint8_t value) { *(volatile uint8_t *)address = value; }
static inline uint16_t mmio_read16(uintptr_t address) { return *(volatile uint16_t *)address; }
static inline void mmio_write16(uintptr_t address, uint16_t value) { *(volatile uint16_t *)address = value; }
#endif

WEIR_END_DECLS

#endif
