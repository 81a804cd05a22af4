// SPDX-License-Identifier: BSD-2-Clause
// The command iperf, of programs that add it.
#include <string.h>

#include "shell/commands.h"
#include "weir/error.h"

// Of the end nothing is said.
static void stop(struct shell *shell)
{
    shell->stop = NULL;
    iperf3_client_stop(shell->iperf);
}

// What does not fit is not said, as for ping.
static void iperf_print(void *context, const char *line)
{
    struct shell *shell = context;
    if (shell->stop == NULL)
        return;
    text_put(&shell->out, line);
    shell_turn(shell);
}

static void iperf_done(void *context, const char *error)
{
    struct shell *shell = context;
    if (shell->stop == NULL)
        return;
    shell->stop = NULL;
    shell_finish(shell, error != NULL ? error : "");
    text_put(&shell->out, error != NULL ? "\n" : "");
    shell_turn(shell);
}

static void iperf_found(void *context, struct dns_both *both)
{
    struct shell *shell = context;
    if (!shell_resolved(shell, both))
        return;
    memset(shell->iperf, 0, sizeof *shell->iperf);
    shell->iperf->print = iperf_print;
    shell->iperf->done = iperf_done;
    shell->iperf->context = shell;
    shell->iperf->test.parameters.time_s = shell->wanted;
    shell->iperf->test.parameters.reverse = shell->reverse;
    shell->stop = stop;
    const int error =
        iperf3_client_start(shell->iperf, shell->loop, (struct weir_endpoint){both->addresses[0], IPERF3_PORT});
    if (error == WEIR_OK)
        return;
    shell->stop = NULL;
    shell_failed(shell, error);
}

static void iperf(struct shell *shell, int argc, char **argv)
{
    uint64_t seconds = SHELL_IPERF_S;
    shell->reverse = argc > 2 && text_equal("-R", 2, argv[argc - 1]);
    argc -= shell->reverse;
    if (!shell_take_count(argc, argv, SHELL_IPERF_S_MAX, &seconds)) {
        text_put(&shell->out, "iperf HOST [SECONDS] [-R]\n");
        return;
    }
    shell->wanted = (uint32_t)seconds;
    shell_resolve(shell, argv[1], iperf_found);
}

void shell_add_iperf(struct shell *shell, struct iperf3_client *client)
{
    static const struct shell_command command = {
        "iperf", "HOST [SECONDS] [-R]: the rate to an iperf3 server, or (-R) from it", iperf};
    shell->iperf = client;
    shell_add(shell, &command);
}
