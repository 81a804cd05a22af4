// SPDX-License-Identifier: BSD-2-Clause
// Captures to a pcapng file, in two ways: pcap_wrap shows what passes one place in a stack of wrappers; pcap_listen
// shows every frame of every interface of an instance (loopback, too). Several of either may write into one file.
//
// As in captures on Linux, frames whose checksum or cutting is left to the device show it undone; their flags say so.
#ifndef DRIVERS_WRAP_PCAP_H
#define DRIVERS_WRAP_PCAP_H

#include "pcapng.h"
#include "weir/handler.h"
#include "weir/language.h"
#include "weir/linkage/posix.h"
#include "wrap.h"

WEIR_BEGIN_DECLS

// One open file and the times in it.
struct pcap_file {
    struct pcapng pcapng;
    bool wall_clock;
    uint64_t epoch_us;  // of the instance's time 0
    bool epoch_known;
};

enum pcap_flag {
    PCAP_WALL_CLOCK = 1,  // time stamps are the system's, in ns; otherwise the instance's (µs, virtual if it is), which
                          // begin at the system's time when the first frame is written
    PCAP_FROM_ZERO = 2,  // the instance's, from 1970-01-01: two equal runs in virtual time make equal files
};

struct pcap {
    struct wrap wrap;
    struct pcap_file *file;
    uint32_t interface;
};

struct pcap_listener {
    struct weir_tap tap;
    struct weir *weir;
    struct pcap_file *file;
    uint16_t interface[UINT8_MAX + 1];  // number in the file + 1, by netif index; 0: not described yet
};

// 0, or negative enum weir_error with a sentence in ->pcapng.error. snap_bytes: of each frame at most; 0: all.
int pcap_open(struct pcap_file *file, const char *path, uint32_t snap_bytes, unsigned flags);
void pcap_close(struct pcap_file *file);

// Wraps `inner`; returns the netif to use in its place.
struct weir_netif *pcap_wrap(struct pcap *pcap, struct weir_netif *inner, struct pcap_file *file);
void pcap_unwrap(struct pcap *pcap);  // after weir_netif_remove; before pcap_close

// Registers with, and takes off, the instance. Lock held.
void pcap_listen(struct pcap_listener *listener, struct weir *weir, struct pcap_file *file);
void pcap_unlisten(struct pcap_listener *listener);

WEIR_END_DECLS

#endif
