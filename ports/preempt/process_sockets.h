// SPDX-License-Identifier: BSD-2-Clause
// The sockets of processes (kernel/preempt/process.h): the system calls of the thesis's API (api/flock/flock.h) and of
// BSD's, of which api/flock/trap.c and process_calls.c are the process's side; a descriptor of one is good for the
// other. A process has a table of descriptors of its own, whose numbers no other process's have, so that a call on
// another's socket fails; and when it ends its sockets are closed.
#ifndef PROCESS_SOCKETS_H
#define PROCESS_SOCKETS_H

#include "api/flock/system.h"
#include "kernel/preempt/process.h"
#include "ports/preempt/process_calls.h"
#include "weir/language.h"

WEIR_BEGIN_DECLS

#define PROCESS_DESCRIPTORS 8  // at most, of a process; process n's numbers begin at 8 n

// For struct process_system: the table of calls, and what a process gets and gives back. `weir` is the instance,
// `memory` what the tables are taken from, for builds without an allocator.
extern process_call_handler *const process_socket_calls[PROCESS_SOCKET_CALLS];
// The port's copy_in and copy_out, set before weir_create: what a process names in a call must be its own
// (process_owns), or the call fails with EFAULT. The kernel's own threads may name anything.
void process_memory_guard(struct weir_port *port);
void process_sockets_init(struct weir *weir, struct kmem *memory);
bool process_sockets_begin(struct process *process);
void process_sockets_end(struct process *process);

WEIR_END_DECLS

#endif
