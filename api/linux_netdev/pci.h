// SPDX-License-Identifier: BSD-2-Clause
// PCI as a network driver of Linux 2.0 knows it: the BIOS's calls, for bus 0.
#ifndef LINUX_NETDEV_PCI_H
#define LINUX_NETDEV_PCI_H

#include "weir/language.h"

WEIR_BEGIN_DECLS

enum {
    PCIBIOS_SUCCESSFUL = 0,
    PCIBIOS_FUNC_NOT_SUPPORTED = 0x81,
    PCIBIOS_BAD_VENDOR_ID = 0x83,
    PCIBIOS_DEVICE_NOT_FOUND = 0x86,
    PCIBIOS_BAD_REGISTER_NUMBER = 0x87
};
#define PCI_SLOT(function) ((function) >> 3 & 31)
#define PCI_FUNC(function) ((function)&7)
#define PCI_VENDOR_ID 0x00
#define PCI_DEVICE_ID 0x02
#define PCI_COMMAND 0x04
#define PCI_COMMAND_IO 0x1
#define PCI_COMMAND_MEMORY 0x2
#define PCI_COMMAND_MASTER 0x4
#define PCI_COMMAND_INVALIDATE 0x10
#define PCI_STATUS 0x06
#define PCI_REVISION_ID 0x08
#define PCI_CLASS_REVISION 0x08
#define PCI_CLASS_DEVICE 0x0a
#define PCI_CACHE_LINE_SIZE 0x0c
#define PCI_LATENCY_TIMER 0x0d
#define PCI_HEADER_TYPE 0x0e
#define PCI_BASE_ADDRESS_0 0x10
#define PCI_BASE_ADDRESS_1 0x14
#define PCI_BASE_ADDRESS_2 0x18
#define PCI_BASE_ADDRESS_3 0x1c
#define PCI_BASE_ADDRESS_4 0x20
#define PCI_BASE_ADDRESS_5 0x24
#define PCI_BASE_ADDRESS_SPACE 0x01
#define PCI_BASE_ADDRESS_SPACE_IO 0x01
#define PCI_BASE_ADDRESS_MEM_MASK (~0x0fu)
#define PCI_BASE_ADDRESS_IO_MASK (~0x03u)
#define PCI_ROM_ADDRESS 0x30
#define PCI_ROM_ADDRESS_ENABLE 0x01
#define PCI_INTERRUPT_LINE 0x3c
#define PCI_INTERRUPT_PIN 0x3d
#define PCI_CLASS_NETWORK_ETHERNET 0x0200

// Who makes Ethernet cards, and which.
#define PCI_VENDOR_ID_DEC 0x1011
#define PCI_DEVICE_ID_DEC_TULIP 0x0002
#define PCI_DEVICE_ID_DEC_TULIP_FAST 0x0009
#define PCI_DEVICE_ID_DEC_TULIP_PLUS 0x0014
#define PCI_DEVICE_ID_DEC_21142 0x0019
#define PCI_VENDOR_ID_AMD 0x1022
#define PCI_DEVICE_ID_AMD_LANCE 0x2000
#define PCI_VENDOR_ID_HP 0x103c
#define PCI_DEVICE_ID_HP_J2585A 0x1030
#define PCI_DEVICE_ID_HP_J2585B 0x1031
#define PCI_VENDOR_ID_WINBOND2 0x1050
#define PCI_DEVICE_ID_WINBOND2_89C940 0x0940
#define PCI_VENDOR_ID_OLICOM 0x108d
#define PCI_VENDOR_ID_REALTEK 0x10ec
#define PCI_DEVICE_ID_REALTEK_8029 0x8029
#define PCI_DEVICE_ID_REALTEK_8129 0x8129
#define PCI_DEVICE_ID_REALTEK_8139 0x8139
#define PCI_VENDOR_ID_VIA 0x1106
#define PCI_DEVICE_ID_VIA_82C926 0x0926
#define PCI_VENDOR_ID_COMPAQ 0x0e11
#define PCI_DEVICE_ID_COMPAQ_NETEL100 0xae32
#define PCI_DEVICE_ID_COMPAQ_NETEL10 0xae34
#define PCI_DEVICE_ID_COMPAQ_NETFLEX3I 0xae35
#define PCI_VENDOR_ID_3COM 0x10b7
#define PCI_DEVICE_ID_3COM_3C590 0x5900
#define PCI_DEVICE_ID_3COM_3C595TX 0x5950
#define PCI_DEVICE_ID_3COM_3C595T4 0x5951
#define PCI_DEVICE_ID_3COM_3C595MII 0x5952
#define PCI_DEVICE_ID_3COM_3C900TPO 0x9000
#define PCI_DEVICE_ID_3COM_3C900COMBO 0x9001
#define PCI_DEVICE_ID_3COM_3C905TX 0x9050
#define PCI_VENDOR_ID_COMPEX 0x11f6
#define PCI_DEVICE_ID_COMPEX_ENET100VG4 0x0112
#define PCI_DEVICE_ID_COMPEX_RL2000 0x1401
#define PCI_VENDOR_ID_KTI 0x8e2e
#define PCI_DEVICE_ID_KTI_ET32P2 0x3000
#define PCI_VENDOR_ID_NETVIN 0x4a14
#define PCI_DEVICE_ID_NETVIN_NV5000SC 0x5000
#define PCI_VENDOR_ID_INTEL 0x8086
#define PCI_DEVICE_ID_INTEL_82557 0x1229
#define PCI_DEVICE_ID_INTEL_82596 0x1226

int pcibios_present(void);
// The index-th with this vendor and device, or of this class (24 bits).
int pcibios_find_device(unsigned short vendor, unsigned short device, unsigned short index, unsigned char *bus,
                        unsigned char *function);
int pcibios_find_class(unsigned kind, unsigned short index, unsigned char *bus, unsigned char *function);
int pcibios_read_config_byte(unsigned char bus, unsigned char function, unsigned char where, unsigned char *value);
int pcibios_read_config_word(unsigned char bus, unsigned char function, unsigned char where, unsigned short *value);
int pcibios_read_config_dword(unsigned char bus, unsigned char function, unsigned char where, unsigned int *value);
int pcibios_write_config_byte(unsigned char bus, unsigned char function, unsigned char where, unsigned char value);
int pcibios_write_config_word(unsigned char bus, unsigned char function, unsigned char where, unsigned short value);
int pcibios_write_config_dword(unsigned char bus, unsigned char function, unsigned char where, unsigned int value);
const char *pcibios_strerror(int error);

WEIR_END_DECLS

#endif
