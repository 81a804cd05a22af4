// SPDX-License-Identifier: BSD-2-Clause
// exec with an environment of the program's own making: the library goes along, so that sockets which are inherited
// stay what they are. (A child of vfork may come here: no memory is taken.)
#define _GNU_SOURCE
#include <alloca.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "run/preload/preload.h"

bool run_confined;

// Filters name the calls of the program that they are for (sshd's: read, write, poll; sendto kills it).
EXPORT int prctl(int option, ...)
{
    unsigned long words[4];
    va_list arguments;
    va_start(arguments, option);
    for (size_t i = 0; i < 4; i++)
        words[i] = va_arg(arguments, unsigned long);
    va_end(arguments);
    if (option == PR_SET_SECCOMP)
        run_confined = true;
    return (int)syscall(SYS_prctl, option, words[0], words[1], words[2], words[3]);
}

static char preload_text[4096], token_text[sizeof RUN_ENVIRONMENT + 2 * RUN_TOKEN + 1];

__attribute__((constructor)) static void remember(void)
{
    const char *const libraries = getenv("LD_PRELOAD"), *const token = getenv(RUN_ENVIRONMENT);
    if (libraries == NULL || token == NULL)
        return;
    (void)snprintf(preload_text, sizeof preload_text, "LD_PRELOAD=%s", libraries);
    (void)snprintf(token_text, sizeof token_text, "%s=%s", RUN_ENVIRONMENT, token);
}

static bool has(char *const *environment, const char *entry)
{
    const size_t length = strcspn(entry, "=") + 1;
    for (; environment != NULL && *environment != NULL; environment++)
        if (strncmp(*environment, entry, length) == 0)
            return true;
    return false;
}

static size_t entries(char *const *environment)
{
    size_t count = 0;
    while (environment != NULL && environment[count] != NULL)
        count++;
    return count;
}

// Room for one more than entries() and two.
static char **complete(char *const *environment, char **room)
{
    const size_t count = entries(environment);
    size_t at = count;
    memcpy(room, environment != NULL ? environment : (char *const *)room, count * sizeof *room);
    if (token_text[0] != '\0' && !has(environment, preload_text))
        room[at++] = preload_text;
    if (token_text[0] != '\0' && !has(environment, token_text))
        room[at++] = token_text;
    room[at] = NULL;
    return room;
}

#define WITH_LIBRARY(environment) complete(environment, alloca((entries(environment) + 3) * sizeof(char *)))

EXPORT int execve(const char *path, char *const argv[], char *const environment[])
{
    return run_libc()->execve(path, argv, WITH_LIBRARY(environment));
}

EXPORT int execvpe(const char *file, char *const argv[], char *const environment[])
{
    return run_libc()->execvpe(file, argv, WITH_LIBRARY(environment));
}

EXPORT int posix_spawn(pid_t *restrict pid, const char *restrict path,
                       const posix_spawn_file_actions_t *restrict actions, const posix_spawnattr_t *restrict attributes,
                       char *const argv[restrict], char *const environment[restrict])
{
    return run_libc()->posix_spawn(pid, path, actions, attributes, argv, WITH_LIBRARY(environment));
}

EXPORT int posix_spawnp(pid_t *restrict pid, const char *restrict file,
                        const posix_spawn_file_actions_t *restrict actions,
                        const posix_spawnattr_t *restrict attributes, char *const argv[restrict],
                        char *const environment[restrict])
{
    return run_libc()->posix_spawnp(pid, file, actions, attributes, argv, WITH_LIBRARY(environment));
}
