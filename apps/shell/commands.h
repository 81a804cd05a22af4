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
// Adds a command, of which there may be SHELL_ADDED.
void shell_add(struct shell *shell, const struct shell_command *command);

// For commands that ask other hosts. Looks the name, a word of the line, up: the command waits, and `done` begins by
// asking shell_resolved, which has said why when it is false.
void shell_resolve(struct shell *shell, const char *name, void (*done)(void *context, struct dns_both *both));
bool shell_resolved(struct shell *shell, const struct dns_both *both);
// What such a command wants cannot begin: says why, and ends it.
void shell_failed(struct shell *shell, int error);
// The command that waits ends with this text.
void shell_finish(struct shell *shell, const char *what);
// HOST [COUNT]: false where that is not what the words are.
bool shell_take_count(int argc, char **argv, uint64_t most, uint64_t *count);
// Calls the command's next step, when something has come of what it waits for.
void shell_turn(struct shell *shell);

#endif
