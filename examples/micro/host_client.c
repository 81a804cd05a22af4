// SPDX-License-Identifier: BSD-2-Clause
// A client process that connects: weir-client SOCKET ADDRESS PORT BYTES [hold]. Sends so many bytes to an echo server
// and compares what comes back; with `hold` it then sits there with the connection open; with `fill` it only sends,
// until nothing more is taken, and sits there.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ports/micro/client.h"
#include "ports/micro/host.h"
#include "weir/error.h"

#define BLOCK 4096u

static uint8_t pattern(uint32_t at) { return (uint8_t)(at * 31 + (at >> 8) + (at >> 16)); }

// One block there and back.
static bool block(struct client *client, int socket, uint32_t at, uint32_t bytes)
{
    uint8_t data[BLOCK];
    for (uint32_t i = 0; i < bytes; i++)
        data[i] = pattern(at + i);
    if (client_send_all(client, socket, data, bytes) != (int)bytes)
        return false;
    for (uint32_t done = 0; done < bytes;) {
        const int got = client_recv(client, socket, data, bytes - done);
        for (int i = 0; i < got; i++)
            if (data[i] != pattern(at + done + (uint32_t)i))
                return false;
        if (got <= 0)
            return false;
        done += (uint32_t)got;
    }
    return true;
}

static int failed(const char *what, int error)
{
    fprintf(stderr, "weir-client: %s: %s\n", what, weir_error_name(error));
    return 1;
}

int main(int argc, char **argv)
{
    unsigned a, b, c, d;
    struct micro_host host;
    struct client client;
    if (argc < 5 || sscanf(argv[2], "%u.%u.%u.%u", &a, &b, &c, &d) != 4) {
        fprintf(stderr, "weir-client SOCKET A.B.C.D PORT BYTES [hold|fill]\n");
        return 2;
    }
    const struct weir_endpoint peer = {weir_ip4((uint8_t)a, (uint8_t)b, (uint8_t)c, (uint8_t)d),
                                       (uint16_t)atoi(argv[3])};
    const uint32_t bytes = (uint32_t)strtoul(argv[4], NULL, 10);
    const bool fill = argc > 5 && strcmp(argv[5], "fill") == 0;
    int result = micro_host_client(&host, &client, argv[1]);
    if (result < 0)
        return failed("no server", result);
    const int socket = client_socket(&client, WEIR_STREAM);
    result = socket < 0 ? socket : client_connect(&client, socket, &peer);
    if (result < 0)
        return failed("connect", result);
    if (fill)
        client.timeout_us = 500000;
    static const uint8_t zeros[BLOCK];
    while (fill && client_send(&client, socket, zeros, BLOCK) > 0)
        ;
    for (uint32_t at = 0; at < bytes && !fill; at += BLOCK)
        if (!block(&client, socket, at, bytes - at < BLOCK ? bytes - at : BLOCK))
            return failed("other bytes, or none, came back", WEIR_ABORTED);
    printf("done\n");
    fflush(stdout);
    client.timeout_us = WEIR_NEVER;
    if (argc > 5) {
        uint8_t byte;
        result = fill ? client_poll(&client, &(struct client_pollfd){socket, 0, 0}, 1)
                      : client_recv(&client, socket, &byte, 1);
        return failed("it ended", result < 0 ? result : WEIR_RESET);
    }
    return client_close(&client, socket) < 0;
}
