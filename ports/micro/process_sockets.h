// SPDX-License-Identifier: BSD-2-Clause
// A client process with the calls that a process of the preemptive kernel has, so that the same source is linked to
// either (docs/microkernel.md): BSD's by the names of api/bsd/posix_calls.h and the thesis's of api/flock/flock.h, all
// over client.h. A descriptor of one is good for the other. A pointer that is not the process's is refused (EFAULT,
// −1).
//
// AF_INET, streams and datagrams. Not there: MSG_PEEK, MSG_OOB, sendmsg and its like, epoll, timeouts by options.
#ifndef MICRO_PROCESS_SOCKETS_H
#define MICRO_PROCESS_SOCKETS_H

#include "api/bsd/internal.h"
#include "client.h"
#include "weir/language.h"

WEIR_BEGIN_DECLS

#define MICRO_ADDRINFO_BYTES 1024  // of getaddrinfo's answers at once

struct micro_descriptor {
    int8_t channel;  // −1: free
    uint8_t type;    // enum weir_socket_type
    bool nonblocking;
    bool connecting;  // connect was told EINPROGRESS, and nobody its end
    bool failed;      // a connect that failed has used the channel up
};

struct micro_process {
    struct client client;  // the caller's of micro_process_open to make, before
    struct weir_port port;
    struct weir_bsd bsd;  // no instance: what of api/bsd needs none is used by it
    int error;            // errno
    struct micro_descriptor descriptors[CLIENT_CHANNELS];
    uint64_t memory[MICRO_ADDRINFO_BYTES / 8];
};

void micro_process_open(struct micro_process *process);
// The calling process's; each system has its own (processes.c, host_peer.c).
struct micro_process *micro_process_self(void);

// --- between the files -----------------------------------------------------------------------------------------------
struct micro_call {
    struct micro_process *process;
    struct client *client;
    struct micro_descriptor *descriptor;
    int channel;
};
// A call of the calling process on one of its descriptors, which waits so long: WEIR_OK, or WEIR_BAD_SOCKET.
int micro_call_begin(struct micro_call *call, int fd, uint64_t timeout_us);
struct micro_descriptor *micro_descriptor_find(struct micro_process *process, int fd);  // NULL: none of ours
// A free one gets a new socket, or the channel: its number, or an error.
int micro_descriptor_open(struct micro_process *process, enum weir_socket_type type);
int micro_descriptor_put(struct micro_process *process, int channel, enum weir_socket_type type);
int micro_descriptor_close(struct micro_process *process, struct micro_descriptor *descriptor);
// A socket that an attempt has used up: another takes its place, and its local address.
int micro_descriptor_renew(struct micro_process *process, struct micro_descriptor *descriptor);
// How a connect that was told EINPROGRESS ended: WEIR_IN_PROGRESS, WEIR_OK, an error; an end is told once.
int micro_connect_end(struct micro_process *process, struct micro_descriptor *descriptor);
// WEIR_AGAIN at the timeout, µs; the attempt goes on then.
int micro_connect(struct micro_process *process, struct micro_descriptor *descriptor, const struct weir_endpoint *peer,
                  uint64_t timeout_us);

WEIR_END_DECLS

#endif
