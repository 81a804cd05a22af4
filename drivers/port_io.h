// SPDX-License-Identifier: BSD-2-Clause
// Access to a device's input and output ports, of a PC. On a machine with an operating system there are none: there a
// test's model of the device answers, and sees every access in order.
#ifndef DRIVERS_PORT_IO_H
#define DRIVERS_PORT_IO_H

#include <stdint.h>

#include "weir/language.h"

WEIR_BEGIN_DECLS

#if defined(__unix__) || defined(__linux__)
uint8_t port_model_read8(uint16_t port);
void port_model_write8(uint16_t port, uint8_t value);
uint16_t port_model_read16(uint16_t port);
void port_model_write16(uint16_t port, uint16_t value);
uint32_t port_model_read32(uint16_t port);
void port_model_write32(uint16_t port, uint32_t value);
static inline uint8_t port_read8(uint16_t port) { return port_model_read8(port); }
static inline void port_write8(uint16_t port, uint8_t value) { port_model_write8(port, value); }
static inline uint16_t port_read16(uint16_t port) { return port_model_read16(port); }
static inline void port_write16(uint16_t port, uint16_t value) { port_model_write16(port, value); }
static inline uint32_t port_read32(uint16_t port) { return port_model_read32(port); }
static inline void port_write32(uint16_t port, uint32_t value) { port_model_write32(port, value); }
#else
static inline uint8_t port_read8(uint16_t port)
{
    uint8_t value;
    __asm__ volatile("inb %1, %0" : "=a"(value) : "Nd"(port));
    return value;
}
static inline void port_write8(uint16_t port, uint8_t value)
{
    __asm__ volatile("outb %0, %1" ::"a"(value), "Nd"(port));
}
static inline uint16_t port_read16(uint16_t port)
{
    uint16_t value;
    __asm__ volatile("inw %1, %0" : "=a"(value) : "Nd"(port));
    return value;
}
static inline void port_write16(uint16_t port, uint16_t value)
{
    __asm__ volatile("outw %0, %1" ::"a"(value), "Nd"(port));
}
static inline uint32_t port_read32(uint16_t port)
{
    uint32_t value;
    __asm__ volatile("inl %1, %0" : "=a"(value) : "Nd"(port));
    return value;
}
static inline void port_write32(uint16_t port, uint32_t value)
{
    __asm__ volatile("outl %0, %1" ::"a"(value), "Nd"(port));
}
#endif

WEIR_END_DECLS

#endif
