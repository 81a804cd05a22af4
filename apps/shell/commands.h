// SPDX-License-Identifier: BSD-2-Clause
// The commands of the shell.
#ifndef APPS_SHELL_COMMANDS_H
#define APPS_SHELL_COMMANDS_H

#include "shell/shell.h"

struct shell_command {
    const char *name, *about;
    // Begins; the words stay until it returns. Sets `step` where there is more to do than it says at once.
    void (*start)(struct shell *shell, int argc, char **argv);
};

extern const struct shell_command shell_commands[];  // ended by a name that is NULL
extern const struct shell_command shell_tools[];     // which ask other hosts; the same
// Ends a tool that runs.
void shell_tools_stop(struct shell *shell);
// Calls the command's next step, when something has come of what it waits for.
void shell_turn(struct shell *shell);

#endif
