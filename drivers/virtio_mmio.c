// SPDX-License-Identifier: BSD-2-Clause
#include "virtio_mmio.h"

#include "mmio.h"
#include "virtio_ring.h"

enum {  // §4.2.2
    MAGIC = 0x00,
    VERSION = 0x04,
    DEVICE_ID = 0x08,
    DEVICE_FEATURES = 0x10,
    DEVICE_FEATURES_SELECT = 0x14,
    DRIVER_FEATURES = 0x20,
    DRIVER_FEATURES_SELECT = 0x24,
    QUEUE_SELECT = 0x30,
    QUEUE_MAX = 0x34,
    QUEUE_SIZE = 0x38,
    QUEUE_READY = 0x44,
    QUEUE_NOTIFY = 0x50,
    INTERRUPT_STATUS = 0x60,
    INTERRUPT_ACK = 0x64,
    STATUS = 0x70,
    QUEUE_DESCRIPTORS = 0x80,
    QUEUE_AVAILABLE = 0x90,
    QUEUE_USED = 0xa0,
    CONFIG = 0x100,
};
#define MAGIC_VALUE 0x74726976u  // "virt"

static uintptr_t at(const struct virtio_transport *transport, uint32_t offset)
{
    return ((const struct virtio_mmio *)transport)->base + offset;
}

static uint8_t status(struct virtio_transport *transport) { return (uint8_t)mmio_read(at(transport, STATUS)); }
static void set_status(struct virtio_transport *transport, uint8_t value) { mmio_write(at(transport, STATUS), value); }

static uint64_t features(struct virtio_transport *transport)
{
    mmio_write(at(transport, DEVICE_FEATURES_SELECT), 0);
    const uint64_t low = mmio_read(at(transport, DEVICE_FEATURES));
    mmio_write(at(transport, DEVICE_FEATURES_SELECT), 1);
    return (uint64_t)mmio_read(at(transport, DEVICE_FEATURES)) << 32 | low;
}

static void accept(struct virtio_transport *transport, uint64_t wanted)
{
    mmio_write(at(transport, DRIVER_FEATURES_SELECT), 0);
    mmio_write(at(transport, DRIVER_FEATURES), (uint32_t)wanted);
    mmio_write(at(transport, DRIVER_FEATURES_SELECT), 1);
    mmio_write(at(transport, DRIVER_FEATURES), (uint32_t)(wanted >> 32));
}

static uint16_t queue_max(struct virtio_transport *transport, uint16_t queue)
{
    mmio_write(at(transport, QUEUE_SELECT), queue);
    const uint32_t most = mmio_read(at(transport, QUEUE_MAX));
    return (uint16_t)(most < 0x8000 ? most : 0x8000);
}

static void write_address(struct virtio_transport *transport, uint32_t offset, const volatile void *memory)
{
    mmio_write(at(transport, offset), (uint32_t)(uintptr_t)memory);
    mmio_write(at(transport, offset + 4), (uint32_t)((uint64_t)(uintptr_t)memory >> 32));
}

static void queue_start(struct virtio_transport *transport, uint16_t queue, uint16_t size,
                        const struct virtio_ring_memory *memory)
{
    mmio_write(at(transport, QUEUE_SELECT), queue);
    mmio_write(at(transport, QUEUE_SIZE), size);
    write_address(transport, QUEUE_DESCRIPTORS, memory->descriptors);
    write_address(transport, QUEUE_AVAILABLE, &memory->available);
    write_address(transport, QUEUE_USED, &memory->used);
    mmio_write(at(transport, QUEUE_READY), 1);
}

static void notify(struct virtio_transport *transport, uint16_t queue)
{
    mmio_write(at(transport, QUEUE_NOTIFY), queue);
}

static uint8_t interrupt(struct virtio_transport *transport)
{
    const uint32_t cause = mmio_read(at(transport, INTERRUPT_STATUS));
    mmio_write(at(transport, INTERRUPT_ACK), cause);
    return (uint8_t)cause;
}

static uint8_t config8(struct virtio_transport *transport, uint32_t offset)
{
    return mmio_read8(at(transport, CONFIG + offset));
}
static uint16_t config16(struct virtio_transport *transport, uint32_t offset)
{
    return mmio_read16(at(transport, CONFIG + offset));
}

static const struct virtio_transport_calls calls = {status,      set_status, features,  accept,  queue_max,
                                                    queue_start, notify,     interrupt, config8, config16};

bool virtio_mmio_open(struct virtio_mmio *mmio, uintptr_t base, uint32_t id)
{
    *mmio = (struct virtio_mmio){{&calls}, base};
    return mmio_read(base + MAGIC) == MAGIC_VALUE && mmio_read(base + VERSION) == 2 &&
           mmio_read(base + DEVICE_ID) == id;
}
