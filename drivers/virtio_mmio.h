// SPDX-License-Identifier: BSD-2-Clause
// A virtio device as registers in memory (Virtual I/O Device specification 1.2, §4.2), version 2 of them. QEMU has them
// with -global virtio-mmio.force-legacy=false.
#ifndef DRIVERS_VIRTIO_MMIO_H
#define DRIVERS_VIRTIO_MMIO_H

#include "virtio.h"
#include "weir/language.h"

WEIR_BEGIN_DECLS

struct virtio_mmio {
    struct virtio_transport transport;
    uintptr_t base;
};

// false: at `base` is no device of that kind (VIRTIO_ID_…), or one of the legacy version.
bool virtio_mmio_open(struct virtio_mmio *mmio, uintptr_t base, uint32_t id);

WEIR_END_DECLS

#endif
