// SPDX-License-Identifier: BSD-2-Clause
// One end of a pair: one whole lwIP with an Ethernet interface. lwIP lives in globals, so the pair needs it twice:
// lwip_end.c and all of lwIP are linked into one object, of which two copies are made that differ in the name of the
// one symbol they show.
#ifndef LWIP_END_H
#define LWIP_END_H

#include <stdint.h>

struct lwip_end {
    // `index` 0 or 1 gives the address 10.0.0.(index + 1). `peer` receives what this end sends.
    void (*open)(int index, const struct lwip_end *peer);
    // Room for one frame to this end, of memory lwIP will take as it is; NULL: none. The sender copies the frame there,
    // then calls arrived: the one copy on the link.
    uint8_t *(*room)(uint32_t bytes);
    void (*arrived)(void);
    uint32_t (*waiting)(void);                     // frames not yet taken
    void (*turn)(uint64_t now_us, uint32_t most);  // takes at most so many, then runs the timers
    void (*listen)(uint16_t port);
    void *(*connect)(uint16_t port);  // to the peer
    void *(*accept)(void);            // NULL: none yet
    int (*established)(void *connection);
    uint64_t (*fill)(void *connection, uint64_t most, int copying);  // queues what has room; the bytes queued
    uint64_t (*received)(void *connection);                          // bytes received in all
    void (*keep)(int copying);                                       // received bytes are copied out, or only counted
    void (*write_byte)(void *connection);
    void (*close)(void *connection);
    uint64_t (*frames)(void);   // sent in all
    uint32_t connection_bytes;  // size of a connection's control block
};

extern const struct lwip_end lwip_end_0, lwip_end_1;

#endif
