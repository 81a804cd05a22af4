// SPDX-License-Identifier: BSD-2-Clause
// The stack as a process of its own: weir-server SOCKET ADDRESS. Its clients and its driver are other processes
// (host_echo.c, host_client.c, host_driver.c). Runs until a signal.
#define _POSIX_C_SOURCE 200809L
#include <signal.h>
#include <stdio.h>

#include "ports/micro/host.h"

static struct micro_host_server server;
static volatile sig_atomic_t stopping;

static void stop(int signal)
{
    (void)signal;
    stopping = 1;
}

int main(int argc, char **argv)
{
    unsigned a, b, c, d, prefix;
    if (argc != 3 || sscanf(argv[2], "%u.%u.%u.%u/%u", &a, &b, &c, &d, &prefix) != 5 || prefix > 32) {
        fprintf(stderr, "weir-server SOCKET A.B.C.D/PREFIX\n");
        return 2;
    }
    const struct weir_addr address = weir_ip4((uint8_t)a, (uint8_t)b, (uint8_t)c, (uint8_t)d);
    if (micro_host_server_open(&server, argv[1], address, (uint8_t)prefix) != WEIR_OK) {
        perror(argv[1]);
        return 1;
    }
    const struct sigaction action = {.sa_handler = stop};
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    printf("up\n");
    fflush(stdout);
    while (!stopping)
        micro_host_server_turn(&server);
    micro_host_server_close(&server);
    return 0;
}
