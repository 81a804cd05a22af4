// SPDX-License-Identifier: BSD-2-Clause
// The program to run: found, looked at, started.
#ifndef RUN_PROGRAM_H
#define RUN_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "run/protocol.h"

// The file of a command, as execvp finds it, and whether a library can be preloaded into it: scripts by what interprets
// them. false: it was said what is wrong.
bool run_program_find(const char *name, char *path, size_t bytes);
// The library beside this program, or below its lib. false: it was said that it is not there.
bool run_library_find(char *path, size_t bytes);

// Becomes the program, on the server that has the token. Returns only when that fails: the errno.
int run_program_become(const char *path, char **argv, const char *library, const uint8_t token[RUN_TOKEN]);

struct run_child {
    pid_t pid;
    int go, failed;  // pipes: a byte starts it; an errno says why it did not
};
// A process that waits to be started. false: it was said what is wrong.
bool run_child_make(struct run_child *child, const char *path, char **argv, const char *library,
                    const uint8_t token[RUN_TOKEN]);
// Starts it. 0, or the errno of exec.
int run_child_start(struct run_child *child);
void run_child_drop(struct run_child *child);  // it is not to be started after all

#endif
