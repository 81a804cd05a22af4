// SPDX-License-Identifier: BSD-2-Clause
// Errors: every public call that can fail returns a negative enum weir_error. Success is WEIR_OK or a count.
// `weir_error_name(error)` gives the enumerator's name, for logs. api/bsd maps each to one POSIX errno.
#ifndef WEIR_ERROR_H
#define WEIR_ERROR_H

#include "weir/language.h"

WEIR_BEGIN_DECLS

enum weir_error {
    WEIR_OK = 0,
    WEIR_AGAIN = -1,                 // nothing to do now: no data, no room, no connection to accept; wait for readiness
    WEIR_INVALID = -2,               // an argument is out of its documented range
    WEIR_BAD_SOCKET = -3,            // the handle names no open socket (closed, or of an older generation)
    WEIR_NO_MEMORY = -4,             // a pool, a budget or the port's allocator is exhausted; retry later
    WEIR_IN_USE = -5,                // the local address and port are taken; the name is (weir_cc_register)
    WEIR_NO_ADDRESS = -6,            // the local address is not one of ours
    WEIR_NO_ROUTE = -7,              // no interface leads to the destination
    WEIR_NOT_CONNECTED = -8,         // the call needs a connection (or a default destination)
    WEIR_CONNECTED = -9,             // the socket already has a connection
    WEIR_IN_PROGRESS = -10,          // connect was started; readiness tells its end
    WEIR_REFUSED = -11,              // the peer answered with RST, or ICMP port unreachable
    WEIR_RESET = -12,                // the peer reset the connection
    WEIR_ABORTED = -13,              // the connection was aborted here
    WEIR_TIMED_OUT = -14,            // the peer did not answer in time (retransmission, keepalive, user timeout)
    WEIR_SHUT_DOWN = -15,            // sending after shutdown for writing, or the peer will take no more (EPIPE)
    WEIR_TOO_BIG = -16,              // the datagram cannot be sent in one piece (EMSGSIZE)
    WEIR_NOT_SUPPORTED = -17,        // this socket type or this profile lacks the operation
    WEIR_HOST_UNREACHABLE = -18,     // ICMP host unreachable, or ARP found no neighbour
    WEIR_NETWORK_UNREACHABLE = -19,  // ICMP network unreachable
    WEIR_PERMISSION = -20,           // e.g. sending to a broadcast address without the option
    WEIR_FAULT = -21,                // the port's copy_in/copy_out refused the caller's memory
    WEIR_INTERRUPTED = -22,          // a blocking call was woken without its event (api/ only)
    WEIR_CLOSED = -23,               // the socket was closed by another thread during the call (api/ only)
    WEIR_CONFLICT = -24,             // the address is in use by another host on the link (RFC 5227)
    WEIR_NETIF_DOWN = -25,           // the interface is down
    WEIR_LISTENING = -26,            // the socket listens; it has no stream of its own
    WEIR_SKIPPED = -27,              // the frame did not come by its deadline and is passed over (weir/realtime.h)
};

const char *weir_error_name(int error);

WEIR_END_DECLS

#endif
