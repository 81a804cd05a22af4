// SPDX-License-Identifier: BSD-2-Clause
// Lanes: short cuts through link and network layer for a connection in full flow. Its frames, in and out, begin with the same bytes again
// and again; a lane remembers those of a frame that went the long way, and the next one like it needs no more than a comparison, or a copy.
//
// What was found true of the remembered frame (it is for us, from whom it says, to that link address) stays true while nothing changes
// that it depends on: generations of paths and of link addresses are part of the key, the sending side is renewed every second, and a
// connection takes its lane along when it leaves the table. Everything that can differ from frame to frame is checked each time.
#ifndef TCP_LANE_H
#define TCP_LANE_H

#include <stdbool.h>
#include <stdint.h>

#include "weir/addr.h"
#include "weir/netif.h"
#include "weir/options.h"

struct tcp_conn;
struct weir;

#define TCP_LANES 16u        // connections are spread over them by their ports; a newcomer takes the lane over
#define TCP_LANE_LINK 14u    // bytes of link header: Ethernet without a tag, or none
#define TCP_LANE_HEAD 24u    // bytes of network header and both ports
#define TCP_LANE_HEADER 32u  // bytes of TCP header: with timestamps, as every modern peer agrees on
#define TCP_LANE_SLICES 8u   // a payload in so many pieces takes the long way

#if WEIR_CFG_FAST_PATH
struct tcp_lane {
    struct tcp_conn *c;  // NULL: free
    struct {
        const struct weir_netif *netif;
        uint16_t generation;  // of paths; 0: nothing remembered
        uint64_t link[2];     // first and last eight bytes of the link header
        // Of the last frame:
        uint8_t head[TCP_LANE_HEAD];          // network header and ports
        uint32_t payload_bytes;               // behind the network header
        uint32_t network_sum, transport_sum;  // of what does not change, in native order
    } in;
    struct {
        uint32_t ways;  // generation of paths and link addresses; 0: nothing remembered
        uint32_t made_ms;
        uint32_t network_sum, transport_sum;  // of what does not change, in host order
        uint32_t payload_bytes;               // for which the network header and tx.length are right as they stand
        struct weir_tx tx;                    // the frame as the driver gets it, its header and the pieces of its payload
        struct weir_slice slices[TCP_LANE_SLICES];
        uint8_t *tcp;        // the transport header in
        uint8_t header[80];  // link, network and transport, and a payload of a few bytes; the next frame is written over the last
    } out;
};
#endif

#endif
