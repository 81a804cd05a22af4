// SPDX-License-Identifier: BSD-2-Clause
// dhcp-serve: gives addresses to the hosts of the link until it is interrupted, and says so.
#define _GNU_SOURCE  // getopt that takes options behind words
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "dhcp/server.h"
#include "host/command.h"
#include "text.h"

#define LEASE_S 3600u
#define POOL_MAX 1024u

static struct {
    struct dhcp_server server;
    struct dhcp_server_config config;
    struct dhcp_binding bindings[POOL_MAX];
} d;

static void changed(struct dhcp_server *server, struct weir_addr address, const struct dhcp_binding *binding,
                    void *context)
{
    static const char *const names[] = {"free", "offered", "leased", "declined", "pinged"};
    char line[80];
    struct text text;
    (void)server, (void)context;
    text_init(&text, line, sizeof line);
    text_put(&text, names[binding->state]);
    text_char(&text, ' ');
    text_addr(&text, address);
    text_char(&text, ' ');
    text_mac(&text, binding->mac);
    puts(line);
    fflush(stdout);
}

static void end(struct host *host)
{
    dhcp_server_stop(&d.server);
    host_done(host, 0);
}

static bool take(int option, const char *value)
{
    uint64_t number;
    switch (option) {
    case 'l':
        if (!host_number(value, 1000, &number) || number >= DHCP_FOREVER)
            return false;
        d.config.lease_s = (uint32_t)number;
        return true;
    case 'r': return text_read_addr(value, text_length(value), &d.config.router);
    case 'd': return text_read_addr(value, text_length(value), &d.config.dns);
    case 'n': d.config.domain = value; return true;
    default: return false;
    }
}

bool command_dhcp_serve(struct host *host, int argc, char **argv)
{
    int option;
    struct weir_addr last;
    memset(&d, 0, sizeof d);
    d.config = (struct dhcp_server_config){.netif = host->netif,
                                           .router = weir_addr_any(),
                                           .dns = weir_addr_any(),
                                           .lease_s = LEASE_S,
                                           .bindings = d.bindings,
                                           .changed = changed};
    while ((option = getopt(argc, argv, "l:r:d:n:")) != -1) {
        if (!take(option, optarg))
            return command_wrong("dhcp-serve", optarg != NULL ? optarg : "an option", "not so");
    }
    if (!WEIR_CFG_IP4)
        return command_wrong("dhcp-serve", "this weir-host is built without IPv4", "");
    if (host->options->dhcp || argc - optind != 2 ||
        !text_read_addr(argv[optind], text_length(argv[optind]), &d.config.first) ||
        !text_read_addr(argv[optind + 1], text_length(argv[optind + 1]), &last))
        return command_wrong("dhcp-serve", "give the first and the last address of the pool, and no --dhcp", "");
    d.config.count = weir_addr_to_v4(last) - weir_addr_to_v4(d.config.first) + 1;
    if (d.config.count > POOL_MAX)
        return command_wrong("dhcp-serve", argv[optind + 1], "a pool has 1 to 1024 addresses");
    host->interrupt = end;
    const int error = dhcp_server_start(&d.server, &host->loop, &d.config);
    return error == WEIR_OK || command_wrong("dhcp-serve", "the pool is not of this link", weir_error_name(error));
}
