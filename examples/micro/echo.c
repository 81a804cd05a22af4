// SPDX-License-Identifier: BSD-2-Clause
// An application's process: the echo server at port 7.
#include "echo_server.h"
#include "processes.h"

PROCESS_STACK_BYTES(echo_stack, ECHO_STACK_BYTES);
static struct client client;
static struct echo_server server;

void echo_process(void)
{
    static const uint32_t stack = PROCESS_STACK;
    static const char good[] = "weir: echo on port 7\n", bad[] = "weir: no echo\n";
    micro_client_init(&client, &stack, &link_echo_window);
    if (echo_server_open(&server, &client, 7) < 0) {
        (void)micro_print(bad, sizeof bad - 1);
        return;
    }
    (void)micro_print(good, sizeof good - 1);
    while (echo_server_turn(&server) >= 0)
        ;
}
