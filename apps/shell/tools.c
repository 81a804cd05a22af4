// SPDX-License-Identifier: BSD-2-Clause
// Commands that ask other hosts: they wait, and Ctrl-C ends them.
#include "shell/commands.h"

#include <string.h>

#include "weir/error.h"

#define PING_INTERVAL_US 1000000u
#define PING_BYTES 56u

void shell_tools_stop(struct shell *shell)
{
    if (shell->resolving)
        dns_both_stop(&shell->both);
    if (shell->pinging)
        ping_stop(&shell->ping);
    if (shell->stop != NULL)
        shell->stop(shell);
    shell->resolving = shell->pinging = false;
    shell->stop = NULL;
}

static enum shell_step wait_step(struct shell *shell) { return shell->finished ? SHELL_DONE : SHELL_WAIT; }

void shell_finish(struct shell *shell, const char *what)
{
    text_put(&shell->out, what);
    shell->finished = true;
}

bool shell_take_count(int argc, char **argv, uint64_t most, uint64_t *count)
{
    if (argc == 2)
        return true;
    return argc == 3 && text_read_u64(argv[2], text_length(argv[2]), most, count) == text_length(argv[2]) && *count > 0;
}

// --- names -----------------------------------------------------------------------------------------------------------

void shell_resolve(struct shell *shell, const char *name, void (*done)(void *context, struct dns_both *both))
{
    shell->finished = false;
    shell->step = wait_step;
    memcpy(shell->name, name, text_length(name) + 1);  // a word of a line, which is no longer
    if (shell->dns == NULL) {
        shell_finish(shell, "names are not looked up here\n");
        return;
    }
    shell->resolving = true;
    dns_both_start(&shell->both, shell->dns, shell->name, done, shell);
}

bool shell_resolved(struct shell *shell, const struct dns_both *both)
{
    shell->resolving = false;
    if (both->result == DNS_FOUND)
        return true;
    shell_finish(shell, both->result == DNS_NO_NAME || both->result == DNS_NO_DATA ? "no address\n"
                        : shell->dns->server_count == 0                            ? "no name server is known\n"
                                                                                   : "no answer\n");
    shell_turn(shell);
    return false;
}

void shell_failed(struct shell *shell, int error)
{
    shell_finish(shell, error == WEIR_NO_ROUTE ? "no route to it" : weir_error_name(error));
    text_char(&shell->out, '\n');
    shell_turn(shell);
}

static void nslookup_done(void *context, struct dns_both *both)
{
    struct shell *shell = context;
    if (!shell_resolved(shell, both))
        return;
    for (uint32_t i = 0; i < both->count; i++) {
        text_addr(&shell->out, both->addresses[i]);
        text_char(&shell->out, '\n');
    }
    shell->finished = true;
    shell_turn(shell);
}

static void nslookup(struct shell *shell, int argc, char **argv)
{
    if (argc != 2)
        text_put(&shell->out, "nslookup NAME\n");
    else
        shell_resolve(shell, argv[1], nslookup_done);
}

// --- ping ------------------------------------------------------------------------------------------------------------

// What does not fit is not said: a reader that slow has missed the moment anyway.
static void ping_event(struct ping *ping, const struct ping_reply *reply, void *context)
{
    struct shell *shell = context;
    struct text *const out = &shell->out;
    if (reply != NULL) {
        text_u64(out, reply->bytes);
        text_put(out, " bytes from ");
        text_addr(out, reply->from);
        text_put(out, ": seq ");
        text_u64(out, reply->sequence);
        text_put(out, " time ");
        text_fixed(out, reply->rtt_us, 3);
        text_put(out, reply->duplicate ? " ms, again\n" : " ms\n");
    } else {
        shell->pinging = false;
        text_u64(out, ping->sent);
        text_put(out, " sent, ");
        text_u64(out, ping->received);
        shell_finish(shell, " received\n");
    }
    shell_turn(shell);
}

static void ping_found(void *context, struct dns_both *both)
{
    struct shell *shell = context;
    if (!shell_resolved(shell, both))
        return;
    const int error = ping_start(&shell->ping, shell->loop, both->addresses[0], shell->wanted, PING_INTERVAL_US,
                                 PING_BYTES, ping_event, shell);
    shell->pinging = error == WEIR_OK;
    if (error != WEIR_OK)
        shell_failed(shell, error);
}

static void ping(struct shell *shell, int argc, char **argv)
{
    uint64_t count = SHELL_PINGS;
    if (!shell_take_count(argc, argv, SHELL_PINGS_MAX, &count)) {
        text_put(&shell->out, "ping HOST [COUNT]\n");
        return;
    }
    shell->wanted = (uint32_t)count;
    shell_resolve(shell, argv[1], ping_found);
}

const struct shell_command shell_tools[] = {
    {"ping", "HOST [COUNT]: whether it answers, and when", ping},
    {"nslookup", "NAME: its addresses", nslookup},
    {NULL, NULL, NULL},
};
