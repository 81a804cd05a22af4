// SPDX-License-Identifier: BSD-2-Clause
// What a client and the server share: messages, and a window of memory with counters and byte rings. A channel is a
// socket of the client's; it has two rings, by which data moves without a message.
//
// The server reads a word of the window once, and takes it for a hint or a counter to be clamped (ring.h): whatever a
// client writes there, and whenever, concerns its own sockets only. The client trusts the server.
#ifndef MICRO_WINDOW_H
#define MICRO_WINDOW_H

#include <stddef.h>

#include "ring.h"
#include "weir/addr.h"
#include "weir/language.h"

WEIR_BEGIN_DECLS

enum window_want { WINDOW_READ = 1, WINDOW_WRITE = 2, WINDOW_FAILED = 4 };  // failed: an error, or both ends

struct window_channel {
    // written by the client
    shared_word sent;   // bytes put into the send ring
    shared_word taken;  // bytes taken from the receive ring
    shared_word wants;  // enum window_want: it waits for this (the server clears it, and notifies)
    // written by the server
    shared_word accepted;    // bytes taken from the send ring
    shared_word received;    // bytes put into the receive ring
    shared_word state;       // enum window_state
    shared_word send_end;    // 0, or a negative enum weir_error: nothing more is taken
    shared_word read_end;    // 0; 1: end of stream; an error. After what has been received
    shared_word generation;  // grows when the channel becomes another socket's
    // written by the server; the client takes it, and leaves 0
    shared_word passing;  // of a datagram socket: an error that passes. The newest; both rings go on behind it
};
enum window_state {
    WINDOW_CONNECTED = 1,   // or a datagram socket
    WINDOW_ACCEPTABLE = 2,  // a listener: a connection can be accepted
    WINDOW_STALLED = 4,     // the receive ring was full and more waits: notify the server when there is room
};

struct window {
    shared_word attention;  // the server sleeps: who finds it set clears it, and notifies the server
    uint32_t channels;      // for the client; the server has its own
    uint32_t ring_bytes;    // of each ring; a power of two
    uint32_t unused;
    __extension__ struct window_channel channel[];
    // behind them: for each channel its send ring and its receive ring
};

static inline size_t window_bytes(uint32_t channels, uint32_t ring_bytes)
{
    return sizeof(struct window) + channels * (sizeof(struct window_channel) + 2 * (size_t)ring_bytes);
}
static inline uint8_t *window_ring(struct window *window, uint32_t channels, uint32_t ring_bytes, uint32_t channel,
                                   uint32_t receive)
{
    return (uint8_t *)&window->channel[channels] + ((size_t)channel * 2 + receive) * ring_bytes;
}

// A datagram in a ring: this, and its bytes, padded to four.
struct window_record {
    uint32_t length;
    struct weir_endpoint peer;
};
static inline uint32_t window_record_bytes(uint32_t length)
{
    return (uint32_t)sizeof(struct window_record) + ((length + 3) & ~3u);
}

// --- messages: a call, and its reply ---------------------------------------------------------------------------------
enum micro_operation {
    MICRO_OPEN,      // argument[0]: enum weir_socket_type                            → channel
    MICRO_BIND,      // endpoint
    MICRO_LISTEN,    // argument[0]: backlog
    MICRO_ACCEPT,    //                                                               → channel, endpoint
    MICRO_CONNECT,   // endpoint                                                      WEIR_IN_PROGRESS: state and
                     // send_end tell the end
    MICRO_SHUTDOWN,  // argument[0]: enum weir_shutdown; after what was put in the ring before
    MICRO_CLOSE,     // likewise
    MICRO_LOCAL,     //                                                               → endpoint
    MICRO_PEER,      //                                                               → endpoint
    MICRO_SET,       // argument[0], [1]: enum weir_option, value
    MICRO_GET,       // argument[0]: enum weir_option                                 → argument[1]
};

struct micro_message {
    int32_t operation;  // enum micro_operation; of a reply: its result, 0 or more, or a negative enum weir_error
    int32_t channel;
    union {  // no operation has both
        int32_t argument[2];
        struct weir_endpoint endpoint;
    };
    uint32_t unused[8 - 2 - sizeof(struct weir_endpoint) / 4];
};
WEIR_STATIC_ASSERT(sizeof(struct micro_message) == 32, "a message is eight words");

WEIR_END_DECLS

#endif
