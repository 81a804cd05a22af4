// SPDX-License-Identifier: BSD-2-Clause
// A register-level model of the AT91RM9200's Ethernet MAC, written from the facts of the data sheet (Atmel doc 1768)
// and before the driver was read. What the driver does to registers and to memory has the effects it has on the part;
// what comes and goes on the wire is the test's. Use that the part forbids fails the test: a length written before its
// address, a register that is not there, memory that the device does not reach, a frame that changes while it is being
// sent.
//
//     static struct at91_emac_model chip;
//     at91_emac_model_open(&chip, 0xfffbc000);
//     at91_emac_model_share(&emac, sizeof emac, false);   // .device_address = at91_emac_model_address
//     at91_emac_model_receive(&chip, frame, length);      // a frame comes from the wire
//     at91_emac_model_line(&chip)                         // the interrupt line
//     at91_emac_model_sent(&chip, AT91_EMAC_MODEL_OK)     // what the transmitter holds has left: see chip.wire
//
// Bus addresses are 32 bits wide and a host's are not: memory is shared with the device as regions, each with a bus
// address of its own. A region may be cached: the device then sees RAM, the driver its own copy, and lines of 32 bytes
// (ARM920T) pass between them only by clean and invalidate.
//
// Facts that the data sheet leaves open, or that only other programs for the part tell, are switches (struct
// at91_emac_model_quirks).
#ifndef TESTS_AT91_EMAC_MODEL_H
#define TESTS_AT91_EMAC_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#define AT91_EMAC_MODEL_LINE 32u  // bytes of a cache line

// Bits of ISR, IER, IDR and IMR.
enum {
    AT91_EMAC_MODEL_RCOM = 1 << 1,
    AT91_EMAC_MODEL_RBNA = 1 << 2,
    AT91_EMAC_MODEL_TOVR = 1 << 3,
    AT91_EMAC_MODEL_TUND = 1 << 4,
    AT91_EMAC_MODEL_RTRY = 1 << 5,
    AT91_EMAC_MODEL_TBRE = 1 << 6,
    AT91_EMAC_MODEL_TCOM = 1 << 7,
    AT91_EMAC_MODEL_TIDLE = 1 << 8,
    AT91_EMAC_MODEL_ROVR = 1 << 10,
};

enum at91_emac_model_verdict {
    AT91_EMAC_MODEL_STORED,
    AT91_EMAC_MODEL_OFF,         // the receiver is not enabled
    AT91_EMAC_MODEL_FILTERED,    // no address matched
    AT91_EMAC_MODEL_BAD_LENGTH,  // too short or too long: counted, discarded
    AT91_EMAC_MODEL_NO_BUFFER,   // software owns the next buffer: discarded
    AT91_EMAC_MODEL_OVERRUN,     // the bus was not granted in time: discarded, the buffer recovered
    AT91_EMAC_MODEL_STUCK,       // erratum 11
};

enum at91_emac_model_end { AT91_EMAC_MODEL_OK, AT91_EMAC_MODEL_UNDERRUN, AT91_EMAC_MODEL_RETRY_LIMIT };

struct at91_emac_model_quirks {
    // Is an event that comes while it is masked kept in ISR? The data sheet does not say; of a later core of this
    // family it is told that it is not.
    bool masked_events_lost;
    // TCOM does not come with TUND or RTRY. Drivers for the part say that it does; the data sheet that TCOM is "a frame
    // has been sent".
    bool failed_is_not_complete;
    // Erratum 11, as drivers for the part work around it: after "buffer not available" nothing is received until RE was
    // off and on.
    bool stuck_without_buffer;
};

struct at91_emac_model_queued {
    uint32_t address, length;  // length 0: none
    bool crc;                  // the part adds it
    uint8_t copy[2048];        // what it was when it was queued
};

struct at91_emac_model {
    struct at91_emac_model *next;
    uintptr_t base;
    struct at91_emac_model_quirks quirks;
    uint32_t ctl, cfg, tar, tsr, rbqp, rsr, isr, imr;
    uint32_t descriptor;  // the one in use, counted from rbqp
    uint32_t specific[4][2], hash_low, hash_high;
    uint8_t specific_on;  // bit n: specific address n + 1 is compared
    bool tar_written, stuck;
    struct at91_emac_model_queued sending, queued;  // in the transmitter; behind it
    // The last frame that left, padded, without FCS.
    uint8_t wire[2048];
    uint32_t wire_length, wire_count;
    // The PHY on the management bus, 100 Mbit/s full-duplex with a partner that can the same. An address of 32: none.
    uint16_t phy[32];
    uint32_t phy_address;
    uint32_t man, man_reads;                      // the bus's shift register; looks at SR until it is out
    bool man_stuck;                               // it never is
    uint32_t fra, ok, ecol, tue, elr, usf, drfc;  // statistics registers
    uint32_t transmit_errors;
    // Called as a register is about to be written: other things may happen at that moment.
    void (*before_write)(struct at91_emac_model *model, uint32_t offset, uint32_t value);
};

// Reset values; the part answers at `base` from now on. A second part gets a base of its own.
void at91_emac_model_open(struct at91_emac_model *model, uintptr_t base);
void at91_emac_model_close(void);  // all parts and regions

// The device reaches this memory. Cached: what the CPU wrote so far is not in RAM.
void at91_emac_model_share(void *memory, uint32_t bytes, bool cached);
uint32_t at91_emac_model_address(const void *memory);
void at91_emac_model_clean(const void *memory, uint32_t bytes);
void at91_emac_model_invalidate(const void *memory, uint32_t bytes);

// A frame from the wire, without FCS (the part gets a right one). `bus_late`: the bus is not granted in time.
enum at91_emac_model_verdict at91_emac_model_receive(struct at91_emac_model *model, const uint8_t *frame,
                                                     uint32_t length);
enum at91_emac_model_verdict at91_emac_model_receive_late(struct at91_emac_model *model, const uint8_t *frame,
                                                          uint32_t length);
// A broken part: hands over the next buffer with this status word.
void at91_emac_model_receive_status(struct at91_emac_model *model, uint32_t status);

bool at91_emac_model_line(const struct at91_emac_model *model);
// The frame in the transmitter ends so. False: there is none.
bool at91_emac_model_sent(struct at91_emac_model *model, enum at91_emac_model_end end);

uint32_t at91_emac_model_crc(const uint8_t *bytes, uint32_t length);

#endif
