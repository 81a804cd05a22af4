// SPDX-License-Identifier: BSD-2-Clause
// Writes capture files in the pcapng format (IETF draft-ietf-opsawg-pcapng), which Wireshark and tshark open: section
// header, interface descriptions with names and nanosecond resolution, packets with direction. Knows nothing of Weir
// but slices.
#ifndef DRIVERS_WRAP_PCAPNG_H
#define DRIVERS_WRAP_PCAPNG_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "weir/language.h"
#include "weir/linkage/posix.h"
#include "weir/netif.h"

WEIR_BEGIN_DECLS

#define PCAPNG_ETHERNET 1u  // LINKTYPE_ numbers
#define PCAPNG_RAW_IP 101u

// Packet flags, section 4.3.1 of the draft.
#define PCAPNG_IN 1u
#define PCAPNG_OUT 2u
#define PCAPNG_OFFLOAD_AT 9u  // bit from which on they are enum weir_tap_offload's (weir/handler.h)

struct pcapng {
    FILE *file;              // NULL: closed
    bool live;               // a pipe, whose reader sees each packet at once
    uint32_t interfaces;     // described so far
    uint32_t snap_bytes;     // of each packet written at most; 0: all
    uint64_t packets, lost;  // lost: not written because the disk or pipe failed
    char error[160];
};

// Begins a file at `path`; "-" is standard output. 0, or negative enum weir_error with a sentence in ->error.
int pcapng_open(struct pcapng *pcapng, const char *path, uint32_t snap_bytes);
// Describes an interface; returns its number. `mac` may be NULL.
uint32_t pcapng_interface(struct pcapng *pcapng, const char *name, uint16_t linktype, const uint8_t *mac);
// time_ns: since 1970. At most 65,535 + 18 bytes of a packet. `flags`: PCAPNG_IN or PCAPNG_OUT, with what is left to a
// device from PCAPNG_OFFLOAD_AT on.
void pcapng_packet(struct pcapng *pcapng, uint32_t interface, uint32_t flags, const struct weir_slice *slices,
                   uint16_t count, uint64_t time_ns);
// What is written so far becomes visible to readers.
void pcapng_flush(struct pcapng *pcapng);
void pcapng_close(struct pcapng *pcapng);

WEIR_END_DECLS

#endif
