// SPDX-License-Identifier: BSD-2-Clause
#define _GNU_SOURCE
#include "run/shared.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#define DIGITS (2u * RUN_TOKEN)

static bool wrong(const char *path, const char *why)
{
    fprintf(stderr, "weir-run: %s: %s\n", path, why);
    return false;
}

static bool token_read(const char *path, uint8_t token[RUN_TOKEN])
{
    char digits[DIGITS + 1] = "";
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t length = fd >= 0 ? read(fd, digits, DIGITS) : -1;
    if (fd >= 0)
        close(fd);
    return length == (ssize_t)DIGITS && run_token_read(token, digits);
}

// Its server keeps the file locked as long as it lives.
static bool abandoned(const char *path)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const bool unlocked = fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) == 0;
    if (fd >= 0)
        close(fd);
    return unlocked;
}

// Names of sockets belong to a network namespace.
static bool reached(const uint8_t token[RUN_TOKEN])
{
    struct sockaddr_un name;
    const socklen_t length = run_server_name(&name, token);
    const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    const bool answered = fd >= 0 && connect(fd, (const struct sockaddr *)&name, length) == 0;
    if (fd >= 0)
        close(fd);
    return answered;
}

// Another name first: whoever sees the file sees all of it, and what is there is never written over.
bool run_shared_publish(const char *path, const uint8_t token[RUN_TOKEN])
{
    char passing[4096], digits[DIGITS + 2];
    uint8_t old[RUN_TOKEN];
    if (snprintf(passing, sizeof passing, "%s.%ld", path, (long)getpid()) >= (int)sizeof passing)
        return wrong(path, strerror(ENAMETOOLONG));
    run_token_write(digits, token, RUN_TOKEN);
    digits[DIGITS] = '\n';
    if (token_read(path, old) && abandoned(path))
        (void)unlink(path);
    const int fd = open(passing, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return wrong(path, strerror(errno));
    const bool written = flock(fd, LOCK_EX | LOCK_NB) == 0 && write(fd, digits, DIGITS + 1) == (ssize_t)(DIGITS + 1) &&
                         link(passing, path) == 0;
    const int reason = errno;
    (void)unlink(passing);
    if (written)
        return true;  // the descriptor stays open: the lock is what says that we live
    close(fd);
    return wrong(path, strerror(reason));
}

bool run_shared_find(const char *path, uint8_t token[RUN_TOKEN])
{
    if (access(path, R_OK) != 0)
        return wrong(path, strerror(errno));
    if (!token_read(path, token))
        return wrong(path, "names no server of weir-run");
    if (abandoned(path))
        return wrong(path, "its server is gone");
    return reached(token) || wrong(path, "its server was started in another network namespace");
}
