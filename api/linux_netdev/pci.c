// SPDX-License-Identifier: BSD-2-Clause
#include "api/linux_netdev/pci.h"

#include "api/linux_netdev/internal.h"

#define FUNCTIONS 256u
#define NONE 0xffffffffu
#define STATUS_KEPT 0xffffu   // the status beside the command is cleared by ones
#define MANY_FUNCTIONS 0x80u  // in a device's header type

int pcibios_present(void) { return linux_board->pci_read != NULL; }

static uint32_t read_config(unsigned char function, unsigned char where)
{
    return linux_board->pci_read(function, where & 0xfcu) >> 8 * (where & 3u);
}

// A device of one function may answer for all eight.
static bool is_there(uint32_t function)
{
    const unsigned char first = (unsigned char)(function & ~7u);
    if (linux_board->pci_read(function, 0) == NONE)
        return false;
    return function == first || (read_config(first, PCI_HEADER_TYPE) & MANY_FUNCTIONS) != 0;
}

// The index-th whose word at `where` is `value`, but for its lowest `shift` bits.
static int find(unsigned where, uint32_t value, uint32_t shift, unsigned short index, unsigned char *bus,
                unsigned char *function)
{
    for (uint32_t at = 0; pcibios_present() && at < FUNCTIONS; at++)
        if (is_there(at) && linux_board->pci_read(at, where) >> shift == value && !index--) {
            *bus = 0;
            *function = (unsigned char)at;
            return PCIBIOS_SUCCESSFUL;
        }
    return PCIBIOS_DEVICE_NOT_FOUND;
}

int pcibios_find_device(unsigned short vendor, unsigned short device, unsigned short index, unsigned char *bus,
                        unsigned char *function)
{
    return find(PCI_VENDOR_ID, (uint32_t)device << 16 | vendor, 0, index, bus, function);
}

int pcibios_find_class(unsigned kind, unsigned short index, unsigned char *bus, unsigned char *function)
{
    return find(PCI_CLASS_REVISION, kind, 8, index, bus, function);
}

const char *pcibios_strerror(int error)
{
    return error == PCIBIOS_SUCCESSFUL         ? "SUCCESSFUL"
           : error == PCIBIOS_DEVICE_NOT_FOUND ? "DEVICE_NOT_FOUND"
                                               : "UNKNOWN RETURN CODE";
}

static int write_config(unsigned char function, unsigned char where, uint32_t mask, uint32_t value)
{
    const uint32_t shift = 8 * (where & 3u), kept = (where & 0xfcu) == PCI_COMMAND ? STATUS_KEPT : UINT32_MAX;
    const uint32_t rest = linux_board->pci_read(function, where & 0xfcu) & kept & ~(mask << shift);
    linux_board->pci_write(function, where & 0xfcu, rest | value << shift);
    return PCIBIOS_SUCCESSFUL;
}

int pcibios_read_config_byte(unsigned char bus, unsigned char function, unsigned char where, unsigned char *value)
{
    *value = (unsigned char)read_config(function, where);
    return (void)bus, PCIBIOS_SUCCESSFUL;
}
int pcibios_read_config_word(unsigned char bus, unsigned char function, unsigned char where, unsigned short *value)
{
    *value = (unsigned short)read_config(function, where);
    return (void)bus, PCIBIOS_SUCCESSFUL;
}
int pcibios_read_config_dword(unsigned char bus, unsigned char function, unsigned char where, unsigned int *value)
{
    *value = read_config(function, where);
    return (void)bus, PCIBIOS_SUCCESSFUL;
}
int pcibios_write_config_byte(unsigned char bus, unsigned char function, unsigned char where, unsigned char value)
{
    return (void)bus, write_config(function, where, 0xff, value);
}
int pcibios_write_config_word(unsigned char bus, unsigned char function, unsigned char where, unsigned short value)
{
    return (void)bus, write_config(function, where, 0xffff, value);
}
int pcibios_write_config_dword(unsigned char bus, unsigned char function, unsigned char where, unsigned int value)
{
    return (void)bus, write_config(function, where, UINT32_MAX, value);
}
