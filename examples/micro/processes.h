// SPDX-License-Identifier: BSD-2-Clause
// The processes of the image for mps2-an385 (boards/mps2-an385-micro): a process is a file, all of whose variables lie
// in its own memory, as link.ld says. Initial values but zero there are none.
#ifndef EXAMPLES_PROCESSES_H
#define EXAMPLES_PROCESSES_H

#include "kernel/micro/table.h"
#include "ports/micro/processes.h"

enum process_number { PROCESS_STACK, PROCESS_DRIVER, PROCESS_ECHO, PROCESS_ROGUE, PROCESS_IDLE, PROCESS_COUNT };

// At the beginning of the process's memory: who runs over it runs out of it.
#define PROCESS_STACK_BYTES(name, bytes) __attribute__((section(".bss.0"))) uint64_t name[(bytes) / 8]
extern uint64_t stack_stack[], driver_stack[], echo_stack[], rogue_stack[], idle_stack[];
#define STACK_STACK_BYTES 8192
#define DRIVER_STACK_BYTES 2048
#define ECHO_STACK_BYTES 2048
#define ROGUE_STACK_BYTES 2048
#define IDLE_STACK_BYTES 128

void stack_process(void), driver_process(void), echo_process(void), rogue_process(void), idle_process(void);

extern const struct micro_service_client stack_clients[];  // the image's
extern const uint32_t stack_client_count;

// Memory between two processes.
extern struct frames link_frames;
extern struct window link_echo_window, link_rogue_window;
#define ECHO_CHANNELS 6u
#define ECHO_RING 4096u
#define ECHO_SOCKETS 6u  // four connections, and two that wait
#define ROGUE_CHANNELS 3u
#define ROGUE_RING 1024u
#define ROGUE_SOCKETS 3u

#endif
