// SPDX-License-Identifier: BSD-2-Clause
// Frames as they pass, kept in a ring until they are told: the beginning of each, as far as its headers. What finds no
// room is counted. A capture shows what others say to each other: whoever offers one decides who may see it.
#ifndef APPS_CAPTURE_H
#define APPS_CAPTURE_H

#include "text.h"
#include "weir/handler.h"
#include "weir/linkage/apps.h"

WEIR_BEGIN_DECLS

#ifndef CAPTURE_FRAMES
#define CAPTURE_FRAMES 32u
#endif
#define CAPTURE_BYTES 96u  // kept of each: Ethernet with a tag, IPv6, TCP with some options

// What of a frame a line tells, and a filter asks.
struct capture_view {
    const char *protocol;           // "tcp", "udp", "icmp", "arp", "other"
    bool ported;                    // has ports
    struct weir_endpoint from, to;  // zeroed of what is no IP
    const uint8_t *transport;       // behind the IP header, NULL: not there, or not all of it
    uint32_t payload;               // bytes behind the transport header
};

// Zeroed, or NULL: all.
struct capture_filter {
    const char *protocol;
    struct weir_addr host;
    uint16_t port;
    struct weir_endpoint but_local, but_peer;  // the connection that is not shown, of who asks
};

struct capture_frame {
    uint64_t now_us;
    char netif[8];
    bool outgoing, raw_ip;
    uint8_t offload;  // enum weir_tap_offload
    uint8_t bytes;
    uint32_t length;
    uint8_t data[CAPTURE_BYTES];
};

struct capture {
    struct weir_tap tap;
    struct weir *weir;
    struct capture_filter filter;
    uint32_t head, tail;  // next to tell; they only grow, and wrap by themselves
    uint32_t lost;
    struct capture_frame frames[CAPTURE_FRAMES];
};

// Begins, or ends. Lock held.
void capture_start(struct capture *capture, struct weir *weir, const struct capture_filter *filter);
void capture_stop(struct capture *capture);
// The oldest that waits; it stays until capture_drop. NULL: none.
const struct capture_frame *capture_oldest(const struct capture *capture);
void capture_drop(struct capture *capture);
struct capture_view capture_look(const struct capture_frame *frame);
// A line: time, interface, direction, who to whom, and what.
void capture_tell(const struct capture_frame *frame, struct text *out);

WEIR_END_DECLS

#endif
