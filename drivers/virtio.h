// SPDX-License-Identifier: BSD-2-Clause
// What a virtio driver asks of the bus its device is on (Virtual I/O Device specification 1.2, §2 and §4): registers in
// memory (virtio_mmio.h) or PCI (virtio_pci.h).
#ifndef DRIVERS_VIRTIO_H
#define DRIVERS_VIRTIO_H

#include <stdbool.h>
#include <stdint.h>

struct virtio_ring_memory;
struct virtio_transport;

struct virtio_transport_calls {
    uint8_t (*status)(struct virtio_transport *transport);
    void (*set_status)(struct virtio_transport *transport, uint8_t status);  // 0 resets; done when `status` says 0
    uint64_t (*features)(struct virtio_transport *transport);
    void (*accept)(struct virtio_transport *transport, uint64_t features);
    // descriptors; 0: there is no such queue
    uint16_t (*queue_max)(struct virtio_transport *transport, uint16_t queue);
    void (*queue_start)(struct virtio_transport *transport, uint16_t queue, uint16_t size,
                        const struct virtio_ring_memory *memory);
    void (*notify)(struct virtio_transport *transport, uint16_t queue);
    uint8_t (*interrupt)(struct virtio_transport *transport);  // reads and ends it: enum virtio_cause
    // A field of one or two bytes of the device's own configuration.
    uint8_t (*config8)(struct virtio_transport *transport, uint32_t offset);
    uint16_t (*config16)(struct virtio_transport *transport, uint32_t offset);
};
struct virtio_transport {
    const struct virtio_transport_calls *calls;
};

enum virtio_cause { VIRTIO_CAUSE_QUEUE = 1, VIRTIO_CAUSE_CONFIG = 2 };
enum virtio_status {  // §2.1
    VIRTIO_ACKNOWLEDGE = 1,
    VIRTIO_DRIVER = 2,
    VIRTIO_DRIVER_OK = 4,
    VIRTIO_FEATURES_OK = 8,
    VIRTIO_NEEDS_RESET = 64,
    VIRTIO_FAILED = 128,
};
#define VIRTIO_F_EVENT_IDX (1ull << 29)
#define VIRTIO_F_VERSION_1 (1ull << 32)
#define VIRTIO_ID_NET 1u

#endif
