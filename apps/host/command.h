// SPDX-License-Identifier: BSD-2-Clause
// What the commands of --run share.
#ifndef HOST_COMMAND_H
#define HOST_COMMAND_H

#include <stdio.h>

#include "host/host.h"

#define COMMAND_WORDS 32

// A command starts with its words (argv[0] its name) and ends by host_done. false: it was said what is wrong.
typedef bool command_function(struct host *host, int argc, char **argv);
command_function command_ping, command_resolve, command_sntp, command_dhcp, command_dhcp6, command_iperf3, command_get,
    command_send, command_receive, command_listen, command_serve, command_play, command_stream, command_browse,
    command_mqtt, command_tftp, command_syslog, command_dhcp_serve;

// Says what is wrong, and returns false.
bool command_wrong(const char *command, const char *what, const char *why);
// A port out of a word. false: it was said what is wrong.
bool command_port(const char *command, const char *word, uint16_t *port);
// Cuts "HOST:PORT" or "HOST" into both; *port stays where there is none. Two colons: an address of IPv6. false: it was
// said what is wrong.
bool command_server(const char *command, const char *word, char *host, size_t room, uint16_t *port);
// Says why a name has no address, and ends the command.
void command_name_failed(struct host *host, const char *name, int result);
// Calls `found` with the host's address, of either family, now or later; an address needs no name server. When there is
// none it says so and ends the command.
bool command_host(struct host *host, const char *name, void (*found)(struct host *host, struct weir_addr addr));

// A file for what will come: what it holds stays until it has come (command_file_begin). NULL: it cannot be written.
FILE *command_file_open(const char *path);
void command_file_begin(FILE *file);

#endif
