// SPDX-License-Identifier: BSD-2-Clause
// Two hosts in virtual time: a blocking echo, with BSD sockets on fibres, over a slow link that loses one frame in
// twenty, and beside it a flow whose bytes the simulator checks. Prints what happened; the same seed prints the same.
//
//     build/host/examples/sim_two_hosts [SEED]
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bsd/weir_bsd.h"
#include "sim/fibre.h"
#include "sim/sim.h"

#define PORT 7
#define ADDRESS(in) ((struct weir_sockaddr *)(void *)&(in)), sizeof(in)

struct program {
    struct sim *sim;
    struct weir_bsd *bsd;
    struct weir_addr server;
};

static struct weir_sockaddr_in address_of(struct weir_addr address)
{
    return (struct weir_sockaddr_in){
        .sin_family = WEIR_AF_INET, .sin_port = weir_htons(PORT), .sin_addr = {weir_htonl(weir_addr_to_v4(address))}};
}

static void echo(struct sim_host *host, void *context)
{
    const struct program *program = context;
    struct weir_sockaddr_in local = address_of(weir_addr_any());
    char text[100];
    weir_ssize got;
    (void)host;
    const int listener = bsd_socket(program->bsd, WEIR_AF_INET, WEIR_SOCK_STREAM, 0);
    if (bsd_bind(program->bsd, listener, ADDRESS(local)) || bsd_listen(program->bsd, listener, 1))
        return;
    const int fd = bsd_accept(program->bsd, listener, NULL, NULL);
    while (fd >= 0 && (got = bsd_read(program->bsd, fd, text, sizeof text)) > 0)
        bsd_write(program->bsd, fd, text, (size_t)got);
    bsd_close(program->bsd, fd);
    bsd_close(program->bsd, listener);
}

static void client(struct sim_host *host, void *context)
{
    const struct program *program = context;
    struct weir_sockaddr_in peer = address_of(program->server);
    char text[32], back[32];
    sim_fibre_sleep(host, SIM_MS(100));  // the server listens by then
    const int fd = bsd_socket(program->bsd, WEIR_AF_INET, WEIR_SOCK_STREAM, 0);
    if (bsd_connect(program->bsd, fd, ADDRESS(peer)))
        return;
    for (int round = 1; round <= 5; round++) {
        const uint64_t began_ns = sim_now(program->sim);
        snprintf(text, sizeof text, "round %d", round);
        bsd_write(program->bsd, fd, text, sizeof text);
        if (bsd_recv(program->bsd, fd, back, sizeof back, WEIR_MSG_WAITALL) != sizeof back || strcmp(text, back) != 0)
            break;
        printf("%8.3f s  \"%s\" came back after %.1f ms\n", (double)sim_now(program->sim) / 1e9, back,
               (double)(sim_now(program->sim) - began_ns) / 1e6);
        sim_fibre_sleep(host, SIM_S(1));
    }
    bsd_close(program->bsd, fd);
}

int main(int argc, char **argv)
{
    struct sim *sim = sim_open(&(struct sim_options){.seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 1});
    struct sim_host *a = sim_host_add(sim, "a", NULL), *b = sim_host_add(sim, "b", NULL);
    const struct sim_way way = {.rate = 2000000, .queue_bytes = 20000, .delay_ns = SIM_MS(30), .loss_ppm = 50000};
    sim_link_add(sim, sim_node_of(a), sim_node_of(b), &(struct sim_link_options){.there = way});
    struct program at_a = {sim, bsd_create(sim_host_weir(a), NULL), sim_host_address(b)};
    struct program at_b = {sim, bsd_create(sim_host_weir(b), NULL), sim_host_address(b)};
    sim_fibre_start(b, echo, &at_b);
    sim_fibre_start(a, client, &at_a);
    struct sim_flow *flow =
        sim_flow_add(sim, a, b, &(struct sim_flow_options){.client = {.bytes = 500000}, .server = {.bytes = 1000}});
    const bool good = sim_run(sim, SIM_S(120));
    const struct sim_flow_stats *stats = sim_flow_stats(flow);
    if (good)
        printf("%8.3f s  the flow ended: %llu and %llu bytes, each in its place\n", (double)stats->finished_ns / 1e9,
               (unsigned long long)stats->received[0], (unsigned long long)stats->received[1]);
    else
        fprintf(stderr, "%s\n", sim_failure(sim));
    bsd_destroy(at_a.bsd);
    bsd_destroy(at_b.bsd);
    sim_close(sim);
    return good ? 0 : 1;
}
