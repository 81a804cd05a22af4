// SPDX-License-Identifier: BSD-2-Clause
// Programs that block, in virtual time: each runs on a fibre, a stack of its own, and gives the one thread away when a
// call of api/bsd waits. port->wait, wake and kick are made of this.
//
//     static void client(struct sim_host *host, void *context)
//     {
//         struct weir_bsd *bsd = context;
//         … bsd_connect(bsd, …) …
//     }
//     sim_fibre_start(host, client, bsd);
//
// A fibre must return, also when its calls are interrupted (EINTR): at sim_close every sleep ends so.
#ifndef SIM_FIBRE_H
#define SIM_FIBRE_H

#include <stdbool.h>
#include <stdint.h>

struct sim_host;
struct fibre;

typedef void sim_program(struct sim_host *host, void *context);
// Starts at once, that is, as the next event of this moment. Its stack has 256 KiB.
void sim_fibre_start(struct sim_host *host, sim_program *program, void *context);
// On a fibre: sleeps so long. False: interrupted.
bool sim_fibre_sleep(struct sim_host *host, uint64_t ns);
uint32_t sim_fibres(const struct sim_host *host);  // that have not returned yet

// The port's.
int fibre_wait(void *host, const void *token, uint64_t deadline_us);
void fibre_wake(void *host, const void *token);

#endif
