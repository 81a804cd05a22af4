// SPDX-License-Identifier: BSD-2-Clause
// A virtio network device as its specification tells (Virtual I/O Device 1.2: §2.7, §4.1.4, §4.2.2, §5.1), written
// apart from the driver: its registers in memory and behind PCI, its queues. What the driver must not do fails the
// test; how the device misbehaves is in its knobs.
#ifndef TESTS_DRIVERS_VIRTIO_MODEL_H
#define TESTS_DRIVERS_VIRTIO_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#define MODEL_MMIO 0x0a000000u
#define MODEL_BAR 0xfe000000u  // common at 0, ISR at 100h, device at 200h, notify at 400h
#define MODEL_NOTIFY_MULTIPLIER 8u
#define MODEL_SENT_BYTES 70000u
#define MODEL_SENT 64u

enum {
    MODEL_CSUM = 0,
    MODEL_GUEST_CSUM = 1,
    MODEL_MTU = 3,
    MODEL_MAC = 5,
    MODEL_GUEST_TSO4 = 7,
    MODEL_GUEST_ECN = 9,
    MODEL_HOST_TSO4 = 11,
    MODEL_HOST_ECN = 13,
    MODEL_MRG_RXBUF = 15,
    MODEL_STATUS = 16,
    MODEL_EVENT_IDX = 29,
    MODEL_VERSION_1 = 32,
};

struct model_queue {
    uint16_t most, size;
    uint64_t descriptors, available, used;
    bool enabled;
    uint16_t seen, done;  // of the available and the used ring
    uint32_t doorbells;
};

struct model_sent {
    uint16_t chain, descriptors;
    uint32_t length;  // header included
    uint8_t bytes[MODEL_SENT_BYTES];
};

struct virtio_model {
    uint64_t offered, accepted, refused;  // refused: taking one of these features leaves FEATURES_OK unset
    uint32_t features_select, accept_select, queue_select, isr, interrupts, resets, reset_delay;
    uint8_t status, mac[6];
    uint16_t link, mtu;
    struct model_queue queues[2];
    uint32_t pci[64];  // configuration space
    uint32_t sent_count;
    bool keep;   // frames are read but not given back (model_finish)
    bool stuck;  // a reset never ends
};
extern struct virtio_model model;
extern struct model_sent model_sent[MODEL_SENT];

void model_start(void);  // a device as it is after power-up, offering everything
// One frame of the wire comes in with the 10 first bytes of the header as given; spread over buffers. Returns the
// buffers it took; 0: there were not enough, and none was used.
uint32_t model_receive(const uint8_t header[10], const uint8_t *bytes, uint32_t length);
// Reads what the driver made available and puts it into model_sent; with `keep` it stays there.
void model_transmit(void);
void model_finish(uint32_t which);  // gives the chain of model_sent[which] back
uint32_t model_buffers(void);       // receive buffers that the device has
// Writes a used entry as it comes, true or not, and the index after it.
void model_used(uint32_t queue, uint32_t id, uint32_t length);
void model_used_index(uint32_t queue, uint16_t index);
uint32_t model_pci_read(void *context, uint8_t offset);
void model_pci_write(void *context, uint8_t offset, uint32_t value);

#endif
