// SPDX-License-Identifier: BSD-2-Clause
#include "virtio_pci.h"

#include "mmio.h"
#include "virtio_ring.h"

// PCI Local Bus specification 3.0, §6.1, §6.2.5, §6.7
enum { PCI_ID = 0x00, PCI_COMMAND = 0x04, PCI_BAR = 0x10, PCI_CAPABILITIES = 0x34 };
#define COMMAND_MEMORY_MASTER 6u
#define STATUS_CAPABILITIES (1u << 20)
#define BAR_COUNT 6u
#define CAPABILITY_VENDOR 9u
#define CAPABILITIES_MOST 48u  // so many fit in the configuration space: a list that goes in a circle ends
#define VENDOR 0x1af4u
#define TRANSITIONAL 0x1000u  // a network device is 1000h; the others are not needed
#define MODERN 0x1040u
enum { TYPE_COMMON = 1, TYPE_NOTIFY = 2, TYPE_ISR = 3, TYPE_DEVICE = 4 };
enum {  // §4.1.4.3
    DEVICE_FEATURES_SELECT = 0,
    DEVICE_FEATURES = 4,
    DRIVER_FEATURES_SELECT = 8,
    DRIVER_FEATURES = 12,
    STATUS = 20,
    QUEUE_SELECT = 22,
    QUEUE_SIZE = 24,
    QUEUE_ENABLE = 28,
    QUEUE_NOTIFY_OFF = 30,
    QUEUE_DESCRIPTORS = 32,
    QUEUE_AVAILABLE = 40,
    QUEUE_USED = 48,
    COMMON_BYTES = 56,
};
#define DEVICE_BYTES 12u  // of the configuration: up to the MTU

static struct virtio_pci *of(struct virtio_transport *transport) { return (struct virtio_pci *)transport; }

static uint8_t status(struct virtio_transport *transport) { return mmio_read8(of(transport)->common + STATUS); }
static void set_status(struct virtio_transport *transport, uint8_t value)
{
    mmio_write8(of(transport)->common + STATUS, value);
}

static uint64_t features(struct virtio_transport *transport)
{
    const uintptr_t common = of(transport)->common;
    mmio_write(common + DEVICE_FEATURES_SELECT, 0);
    const uint64_t low = mmio_read(common + DEVICE_FEATURES);
    mmio_write(common + DEVICE_FEATURES_SELECT, 1);
    return (uint64_t)mmio_read(common + DEVICE_FEATURES) << 32 | low;
}

static void accept(struct virtio_transport *transport, uint64_t wanted)
{
    const uintptr_t common = of(transport)->common;
    mmio_write(common + DRIVER_FEATURES_SELECT, 0);
    mmio_write(common + DRIVER_FEATURES, (uint32_t)wanted);
    mmio_write(common + DRIVER_FEATURES_SELECT, 1);
    mmio_write(common + DRIVER_FEATURES, (uint32_t)(wanted >> 32));
}

// A queue whose doorbell would lie outside its structure counts as none.
static uint16_t queue_max(struct virtio_transport *transport, uint16_t queue)
{
    struct virtio_pci *pci = of(transport);
    if (queue >= VIRTIO_PCI_QUEUES)
        return 0;
    mmio_write16(pci->common + QUEUE_SELECT, queue);
    const uint32_t offset = mmio_read16(pci->common + QUEUE_NOTIFY_OFF);
    if ((uint64_t)offset * pci->notify_multiplier + 2 > pci->notify_length)
        return 0;
    pci->doorbell[queue] = pci->notify + offset * pci->notify_multiplier;
    return mmio_read16(pci->common + QUEUE_SIZE);
}

static void write_address(uintptr_t at, const volatile void *memory)
{
    mmio_write(at, (uint32_t)(uintptr_t)memory);
    mmio_write(at + 4, (uint32_t)((uint64_t)(uintptr_t)memory >> 32));
}

static void queue_start(struct virtio_transport *transport, uint16_t queue, uint16_t size,
                        const struct virtio_ring_memory *memory)
{
    const uintptr_t common = of(transport)->common;
    mmio_write16(common + QUEUE_SELECT, queue);
    mmio_write16(common + QUEUE_SIZE, size);
    write_address(common + QUEUE_DESCRIPTORS, memory->descriptors);
    write_address(common + QUEUE_AVAILABLE, &memory->available);
    write_address(common + QUEUE_USED, &memory->used);
    mmio_write16(common + QUEUE_ENABLE, 1);
}

static void notify(struct virtio_transport *transport, uint16_t queue)
{
    mmio_write16(of(transport)->doorbell[queue], queue);
}
static uint8_t interrupt(struct virtio_transport *transport) { return mmio_read8(of(transport)->isr); }
static uint8_t config8(struct virtio_transport *transport, uint32_t offset)
{
    return mmio_read8(of(transport)->device + offset);
}
static uint16_t config16(struct virtio_transport *transport, uint32_t offset)
{
    return mmio_read16(of(transport)->device + offset);
}

static const struct virtio_transport_calls calls = {status,      set_status, features,  accept,  queue_max,
                                                    queue_start, notify,     interrupt, config8, config16};

// The address of a structure in a BAR; 0: it is not in memory that this processor reaches.
static uintptr_t place(const struct virtio_pci_function *function, uint32_t bar, uint32_t offset, uint32_t length)
{
    if (bar >= BAR_COUNT)
        return 0;
    const uint32_t low = function->read(function->context, (uint8_t)(PCI_BAR + 4 * bar));
    const bool wide = (low & 6) == 4;
    if (low & 1 || (wide && bar + 1 == BAR_COUNT))
        return 0;
    const uint64_t high = wide ? function->read(function->context, (uint8_t)(PCI_BAR + 4 * bar + 4)) : 0;
    const uint64_t base = high << 32 | (low & ~15u);
    if (!base || base > UINTPTR_MAX - offset || base + offset > UINTPTR_MAX - length)
        return 0;
    return (uintptr_t)(base + offset);
}

// The first structure of each kind is the one to use (§4.1.4.1).
static void take(struct virtio_pci *pci, const struct virtio_pci_function *function, uint8_t at)
{
    const uint32_t type = function->read(function->context, at) >> 24,
                   bar = function->read(function->context, (uint8_t)(at + 4)) & 0xff;
    const uint32_t offset = function->read(function->context, (uint8_t)(at + 8)),
                   length = function->read(function->context, (uint8_t)(at + 12));
    if (type == TYPE_COMMON && !pci->common && length >= COMMON_BYTES)
        pci->common = place(function, bar, offset, length);
    else if (type == TYPE_ISR && !pci->isr && length >= 1)
        pci->isr = place(function, bar, offset, length);
    else if (type == TYPE_DEVICE && !pci->device && length >= DEVICE_BYTES)
        pci->device = place(function, bar, offset, length);
    else if (type == TYPE_NOTIFY && !pci->notify && at <= 0xec) {
        pci->notify = place(function, bar, offset, length);
        pci->notify_length = length;
        pci->notify_multiplier = function->read(function->context, (uint8_t)(at + 16));
    }
}

bool virtio_pci_open(struct virtio_pci *pci, const struct virtio_pci_function *function, uint16_t id)
{
    const uint32_t who = function->read(function->context, PCI_ID),
                   command = function->read(function->context, PCI_COMMAND);
    *pci = (struct virtio_pci){.transport = {&calls}};
    if ((who & 0xffff) != VENDOR || (who >> 16 != MODERN + id && !(who >> 16 == TRANSITIONAL && id == VIRTIO_ID_NET)) ||
        !(command & STATUS_CAPABILITIES))
        return false;
    uint8_t at = (uint8_t)(function->read(function->context, PCI_CAPABILITIES) & 0xfc);
    for (uint32_t i = 0; i < CAPABILITIES_MOST && at >= 0x40; i++) {
        const uint32_t head = function->read(function->context, at);
        if ((head & 0xff) == CAPABILITY_VENDOR && at <= 0xf0)
            take(pci, function, at);
        at = (uint8_t)(head >> 8 & 0xfc);
    }
    if (!pci->common || !pci->isr || !pci->device || !pci->notify)
        return false;
    function->write(function->context, PCI_COMMAND, (command & 0xffff) | COMMAND_MEMORY_MASTER);
    return true;
}
