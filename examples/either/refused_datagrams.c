// SPDX-License-Identifier: BSD-2-Clause
// What comes back of datagrams that nobody takes is told once, and the socket goes on: by poll and SO_ERROR, by what
// receives next, by what sends next.
#include "examples/either/programs.h"
#include "examples/flock/process.h"
#include "api/bsd/process_names.h"

#define HOST 0x0a000001u
#define NOBODY 9001
#define ECHO 9000
#define WAIT_MS 30000

static int connect_to(int fd, uint16_t port)
{
    const struct sockaddr_in peer = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {.s_addr = htonl(HOST)}};
    return connect(fd, (const struct sockaddr *)&peer, sizeof peer);
}

// A datagram goes, and its error comes.
static bool fails(int fd)
{
    struct pollfd one = {.fd = fd};
    return send(fd, "?", 1, 0) == 1 && poll(&one, 1, WAIT_MS) == 1 && one.revents == POLLERR;
}

static int pending(int fd)
{
    int error = -1;
    socklen_t length = sizeof error;
    return getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length) < 0 ? errno : error;
}

static bool told(int result, int error) { return result == -1 && errno == error; }

// 0, or the number of what was not as it should be.
static int steps(int fd)
{
    char byte = 0;
    if (connect_to(fd, NOBODY) < 0)
        return 1;
    if (!fails(fd) || pending(fd) != ECONNREFUSED || pending(fd) != 0)
        return 2;
    if (!fails(fd) || !told((int)recv(fd, &byte, 1, 0), ECONNREFUSED) ||
        !told((int)recv(fd, &byte, 1, MSG_DONTWAIT), EAGAIN))
        return 3;
    if (!fails(fd) || !told((int)send(fd, "?", 1, 0), ECONNREFUSED) || pending(fd) != 0)
        return 4;
    if (connect_to(fd, ECHO) < 0 || send(fd, "!", 1, 0) != 1)
        return 5;
    return recv(fd, &byte, 1, 0) == 1 && byte == '!' ? 0 : 6;
}

int refused_datagrams(void)
{
    const int fd = socket(AF_INET, SOCK_DGRAM, 0);
    if (fd < 0)
        return errno;
    const int failed = steps(fd);
    if (failed)
        print_number("datagrams: step ", (unsigned)failed, " failed\n");
    else
        print("datagrams: refused, told once, answered\n");
    close(fd);
    return failed ? EIO : 0;
}
