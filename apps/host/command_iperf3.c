// SPDX-License-Identifier: BSD-2-Clause
// iperf3 as a client.
#define _POSIX_C_SOURCE 200809L
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "host/command.h"
#include "iperf3/client.h"

static struct iperf3_client client;
static uint16_t port;

static void print(void *context, const char *text)
{
    (void)context;
    fputs(text, stdout);
    fflush(stdout);
}

static void done(void *context, const char *error)
{
    if (error != NULL)
        command_wrong("iperf3", error, "");
    host_done(context, error != NULL);
}

static void interrupt(struct host *host)
{
    (void)host;
    iperf3_client_stop(&client);
}

static void found(struct host *host, struct weir_addr addr)
{
    int error = iperf3_client_start(&client, &host->loop, (struct weir_endpoint){addr, port});
    host->interrupt = interrupt;
    if (error == WEIR_OK)
        return;
    command_wrong("iperf3",
                  error == WEIR_INVALID ? "a value is out of range (streams, length or time)" : weir_error_name(error),
                  "");
    host_done(host, 1);
}

#define BOTH_WAYS 256  // --bidir has no letter

static bool take(int option, const char *value, const char **server)
{
    struct iperf3_parameters *p = &client.test.parameters;
    uint64_t number = 0;
    bool decimal = option == 'b';  // rates in powers of 1000, sizes in powers of 1024
    if (value != NULL && option != 'c' && option != 'C' && option != 'i' &&
        !host_number(value, decimal ? 1000 : 1024, &number))
        return false;
    switch (option) {
    case 'c': *server = value; return true;
    case 'p': port = (uint16_t)number; return number >= 1 && number <= 65535;
    case 't': p->time_s = (uint32_t)number; return number >= 1 && number <= 86400;
    case 'n': p->bytes = number; return number >= 1;
    case 'k': p->blocks = number; return number >= 1 && number <= 1ull << 40;
    case 'l': p->block = (uint32_t)number; return number >= 1 && number <= IPERF3_BLOCK_MAX;
    case 'P': p->parallel = (uint32_t)number; return number >= 1 && number <= IPERF3_STREAMS;
    case 'b': p->rate = number; return true;
    case 'O': p->omit_s = (uint32_t)number; return number <= 600;
    case 'w': p->window = (uint32_t)number; return number <= INT32_MAX;
    case 'M': p->mss = (uint32_t)number; return number >= 64 && number <= 65495;
    case 'C':
        if (value == NULL)
            return false;
        strncpy(p->congestion, value, sizeof p->congestion - 1);
        return true;
    case 'R': p->reverse = true; return true;
    case BOTH_WAYS: p->bidirectional = true; return true;
    case 'u': p->udp = true; return true;
    case 'N': p->no_delay = true; return true;
    case 'J': client.json = true; return true;
    case 'i': return true;  // always every second
    default: return false;
    }
}

bool command_iperf3(struct host *host, int argc, char **argv)
{
    const char *server = NULL;
    bool rate_given = false;
    int option;
    const struct option words[] = {{"bidir", no_argument, NULL, BOTH_WAYS}, {NULL, 0, NULL, 0}};
    memset(&client, 0, sizeof client);
    client.print = print;
    client.done = done;
    client.context = host;
    port = IPERF3_PORT;
    while ((option = getopt_long(argc, argv, "c:p:t:n:k:l:P:b:O:w:M:C:i:RuNJ", words, NULL)) != -1) {
        if (!take(option, optarg, &server))
            return command_wrong("iperf3", "an option or its value is not understood", "");
        rate_given |= option == 'b';
    }
    if (server == NULL || optind != argc)
        return command_wrong("iperf3", "give -c HOST", "");
    if (client.test.parameters.udp && !rate_given)
        client.test.parameters.rate = 1u << 20;  // as iperf3 does
    return command_host(host, server, found);
}
