// SPDX-License-Identifier: BSD-2-Clause
// A client of an echo server that never blocks but in poll. First it learns that nobody is at another port: of
// datagrams, and by SO_ERROR.
#include <stdint.h>

#include "examples/either/programs.h"
#include "examples/flock/process.h"
#include "api/bsd/process_names.h"

#define HOST "10.0.0.1"
#define BYTES 40000u
#define BLOCK 256u
#define WAIT_MS 30000

static uint8_t pattern(uint32_t at) { return (uint8_t)(at * 31 + (at >> 8)); }

static int ready(int fd, short events)
{
    struct pollfd one = {.fd = fd, .events = events};
    return poll(&one, 1, WAIT_MS) == 1 ? one.revents : 0;
}

// The socket, or the negative of an errno.
static int connect_to(const char *service)
{
    const struct addrinfo hints = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM};
    struct addrinfo *found;
    int error = 0;
    socklen_t length = sizeof error;
    if (getaddrinfo(HOST, service, &hints, &found) != 0)
        return -EIO;
    const int fd = socket(found->ai_family, found->ai_socktype, found->ai_protocol);
    if (fd < 0 || fcntl(fd, F_SETFL, fcntl(fd, F_GETFL, 0) | O_NONBLOCK) < 0)
        error = errno;
    else if (connect(fd, found->ai_addr, found->ai_addrlen) < 0 && errno != EINPROGRESS)
        error = errno;
    else if (!(ready(fd, POLLOUT) & POLLOUT) || getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length) < 0)
        error = error ? error : ETIMEDOUT;
    freeaddrinfo(found);
    if (error)
        close(fd);
    return error ? -error : fd;
}

struct exchange {
    uint32_t sent, got;
};

static int step(int fd, struct exchange *done)
{
    uint8_t data[BLOCK];
    const int may = ready(fd, (short)(POLLIN | (done->sent < BYTES ? POLLOUT : 0)));
    if (may & POLLOUT) {
        uint32_t bytes = BYTES - done->sent < BLOCK ? BYTES - done->sent : BLOCK;
        for (uint32_t i = 0; i < bytes; i++)
            data[i] = pattern(done->sent + i);
        const int some = (int)send(fd, data, bytes, 0);
        if (some < 0 && errno != EAGAIN)
            return errno;
        done->sent += some > 0 ? (uint32_t)some : 0;
    }
    if (may & POLLIN) {
        const int some = (int)recv(fd, data, sizeof data, 0);
        if (some == 0 || (some < 0 && errno != EAGAIN))
            return some ? errno : EPIPE;
        for (int i = 0; i < some; i++)
            if (data[i] != pattern(done->got++))
                return EIO;
    }
    return may ? 0 : ETIMEDOUT;
}

int poll_client(void)
{
    struct exchange done = {0};
    int error = refused_datagrams();
    if (error)
        return error;
    error = connect_to("9001");
    if (error != -ECONNREFUSED) {
        print("poll: nobody is at port 9001, but it was not told so\n");
        return error < 0 ? -error : EIO;
    }
    const int fd = connect_to("9000");
    if (fd < 0)
        return -fd;
    error = 0;
    while (done.got < BYTES && !error)
        error = step(fd, &done);
    close(fd);
    print_number("poll: ", done.got, " bytes came back\n");
    return error;
}
