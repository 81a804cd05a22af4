// SPDX-License-Identifier: BSD-2-Clause
// The echo server as a client process: weir-echo SOCKET PORT. Ends with the stack's server.
#include <stdio.h>
#include <stdlib.h>

#include "echo_server.h"
#include "ports/micro/host.h"

int main(int argc, char **argv)
{
    static struct echo_server server;
    struct micro_host host;
    struct client client;
    if (argc != 3) {
        fprintf(stderr, "weir-echo SOCKET PORT\n");
        return 2;
    }
    if (micro_host_client(&host, &client, argv[1]) < 0 ||
        echo_server_open(&server, &client, (uint16_t)atoi(argv[2])) < 0) {
        fprintf(stderr, "weir-echo: no server, or the port is taken\n");
        return 1;
    }
    printf("listening\n");
    fflush(stdout);
    while (echo_server_turn(&server) >= 0)
        ;
    return 0;
}
