// SPDX-License-Identifier: BSD-2-Clause
// A model of the Am79C970A's registers and descriptors, from the facts of its data sheet alone (AMD 19436, chapters on
// the register and ring formats, software style 2): what a driver does to registers and memory has the effects it has
// on the part. Use that the part forbids fails the test. Both registers and memory are little-endian, also where the
// tests run on a big-endian machine.
//
// The CPU's cache is modelled: memory that is shared as cached has lines of 32 bytes, of which the device sees what was
// cleaned, and the CPU what it invalidated.
#ifndef TESTS_PCNET_MODEL_H
#define TESTS_PCNET_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#define PCNET_MODEL_LINE 32u

enum pcnet_model_verdict {
    PCNET_MODEL_STORED,
    PCNET_MODEL_OFF,
    PCNET_MODEL_FILTERED,
    PCNET_MODEL_MISSED,
    PCNET_MODEL_CUT
};
enum pcnet_model_fault { PCNET_MODEL_GOOD, PCNET_MODEL_CRC, PCNET_MODEL_OVERFLOW };
enum pcnet_model_end { PCNET_MODEL_OK, PCNET_MODEL_UNDERFLOW, PCNET_MODEL_LOST_CARRIER, PCNET_MODEL_RETRIES };

struct pcnet_model {
    uintptr_t base;
    uint8_t aprom[16];
    bool double_words;    // the layout of the registers
    bool reset_to_words;  // a reset changes it back (some do, the data sheet says that the software's does not)
    uint32_t rap, resets;
    uint16_t csr[128], bcr[32];
    bool link;
    // From the initialisation block, and where it is in the rings.
    uint8_t address[6], groups[8];
    uint32_t rx_ring, tx_ring, rx_count, tx_count, rx_at, tx_at;
    uint32_t inits, flushes;
    // The last frame that left, without FCS; of one that is not whole yet its first part.
    uint8_t wire[4096], partial[4096];
    uint32_t wire_length, wire_count, partial_length;
    bool in_frame;
    // Called before every access to a register; may do whatever happens at that moment.
    void (*before)(struct pcnet_model *model, uint32_t offset, bool is_write);
};

void pcnet_model_open(struct pcnet_model *model, uintptr_t base);
void pcnet_model_close(void);
// The device reaches this memory, at a bus address that is not the CPU's.
void pcnet_model_share(void *memory, uint32_t bytes, bool cached);
uint32_t pcnet_model_address(const volatile void *memory);
void pcnet_model_clean(const void *memory, uint32_t bytes);
void pcnet_model_invalidate(const void *memory, uint32_t bytes);

// A frame from the wire, without FCS.
enum pcnet_model_verdict pcnet_model_receive(struct pcnet_model *model, const uint8_t *frame, uint32_t length,
                                             enum pcnet_model_fault fault);
// A broken part: releases the next descriptor with these words.
void pcnet_model_receive_words(struct pcnet_model *model, uint32_t status, uint32_t length);
// The transmitter takes at most so many descriptors that are its own; returns how many. Every frame that it comes to
// the end of, ends so.
uint32_t pcnet_model_transmit(struct pcnet_model *model, uint32_t most, enum pcnet_model_end end);
bool pcnet_model_line(const struct pcnet_model *model);                      // the interrupt
uint32_t pcnet_model_owned(const struct pcnet_model *model, bool transmit);  // descriptors that are the device's now

#endif
