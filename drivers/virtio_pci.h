// SPDX-License-Identifier: BSD-2-Clause
// A virtio device on PCI (Virtual I/O Device specification 1.2, §4.1), also a transitional one, by its registers of
// version 1. Whoever set the bus up gave its BARs their addresses; interrupts come by the function's line.
#ifndef DRIVERS_VIRTIO_PCI_H
#define DRIVERS_VIRTIO_PCI_H

#include "virtio.h"
#include "weir/language.h"

WEIR_BEGIN_DECLS

// How to reach the function's configuration space: words at offsets that are multiples of 4.
struct virtio_pci_function {
    uint32_t (*read)(void *context, uint8_t offset);
    void (*write)(void *context, uint8_t offset, uint32_t value);
    void *context;
};

#define VIRTIO_PCI_QUEUES 2u

struct virtio_pci {
    struct virtio_transport transport;
    uintptr_t common, isr, device, notify;
    uint32_t notify_length, notify_multiplier;
    uintptr_t doorbell[VIRTIO_PCI_QUEUES];
};

// Takes the function into use: memory and bus mastering on. false: it is no virtio device of that kind (VIRTIO_ID_…),
// or lacks a structure that version 1 demands, or has it where it cannot be reached.
bool virtio_pci_open(struct virtio_pci *pci, const struct virtio_pci_function *function, uint16_t id);

WEIR_END_DECLS

#endif
