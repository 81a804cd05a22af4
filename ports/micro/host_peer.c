// SPDX-License-Identifier: BSD-2-Clause
// The other ends of host_server.c: a client's process, a driver's.
#define _GNU_SOURCE  // ppoll
#include <errno.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "host.h"

static bool take(struct micro_host *host)
{
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(sizeof(int))];
    } control;
    uint64_t bytes = 0;
    int fd = -1;
    struct iovec vector = {&bytes, sizeof bytes};
    struct msghdr packet = {
        .msg_iov = &vector, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control.room};
    if (recvmsg(host->socket, &packet, MSG_CMSG_CLOEXEC) != (ssize_t)sizeof bytes ||
        packet.msg_controllen < CMSG_LEN(sizeof fd))
        return false;
    memcpy(&fd, CMSG_DATA(&control.header), sizeof fd);
    host->bytes = (size_t)bytes;
    host->memory = mmap(NULL, host->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    return host->memory != MAP_FAILED;
}

static int meet(struct micro_host *host, const char *path, uint8_t role)
{
    struct sockaddr_un server = {.sun_family = AF_UNIX};
    *host = (struct micro_host){.socket = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)};
    if (host->socket >= 0 && strlen(path) < sizeof server.sun_path) {
        memcpy(server.sun_path, path, strlen(path));
        if (connect(host->socket, (const struct sockaddr *)&server, sizeof server) == 0 &&
            send(host->socket, &role, 1, MSG_NOSIGNAL) == 1 && take(host))
            return WEIR_OK;
    }
    if (host->socket >= 0)
        close(host->socket);
    return WEIR_REFUSED;
}

void micro_host_close(struct micro_host *host)
{
    close(host->socket);
    munmap(host->memory, host->bytes);
}

// --- a client --------------------------------------------------------------------------------------------------------
static int call(void *context, struct micro_message *message)
{
    struct micro_host *host = context;
    if (send(host->socket, message, sizeof *message, MSG_NOSIGNAL) != (ssize_t)sizeof *message)
        return -1;
    for (;;) {
        const ssize_t got = recv(host->socket, message, sizeof *message, 0);
        if (got == (ssize_t)sizeof *message)
            return 0;
        if (got == 1)
            host->noticed = true;
        else if (got >= 0 || errno != EINTR)
            return -1;
    }
}

static void notify(void *context)
{
    const struct micro_host *host = context;
    if (send(host->socket, "!", 1, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
        return;  // full: there are notifications enough; gone: the next call tells
}

// What has come over the socket beside replies. −1: the server is gone.
static int notices(struct micro_host *host)
{
    uint8_t data[sizeof(struct micro_message)];
    for (;;) {
        const ssize_t got = recv(host->socket, data, sizeof data, MSG_DONTWAIT);
        if (got < 0 && errno == EAGAIN)
            return 0;
        if (got == 0 || (got < 0 && errno != EINTR))
            return -1;
        host->noticed |= got == 1;
    }
}

// Sleeps until something comes at one of the two, or the moment.
static void sleep_until(int socket, int fd, short events, uint64_t deadline_us)
{
    struct pollfd fds[2] = {{.fd = socket, .events = POLLIN}, {.fd = fd, .events = events}};
    const uint64_t now_us = micro_host_now_us(), wait_us = deadline_us > now_us ? deadline_us - now_us : 0;
    const struct timespec timeout = {(time_t)(wait_us / 1000000u), (long)(wait_us % 1000000u) * 1000};
    if (ppoll(fds, 2, deadline_us == WEIR_NEVER ? NULL : &timeout, NULL) < 0)
        return;  // a signal: the caller looks again
}

static int wait(void *context, uint64_t deadline_us)
{
    struct micro_host *host = context;
    while (!host->noticed) {
        if (notices(host) < 0)
            return -1;
        if (host->noticed)
            break;
        if (micro_host_now_us() >= deadline_us)
            return 1;
        sleep_until(host->socket, -1, 0, deadline_us);
    }
    host->noticed = false;
    return 0;
}

static uint64_t now(void *context)
{
    (void)context;
    return micro_host_now_us();
}

int micro_host_client(struct micro_host *host, struct client *client, const char *path)
{
    static const struct client_host calls = {.call = call, .notify = notify, .wait = wait, .now_us = now};
    const int result = meet(host, path, HOST_CLIENT);
    if (result == WEIR_OK)
        client_init(client, &calls, host, host->memory);
    return result;
}

// --- a driver --------------------------------------------------------------------------------------------------------
int micro_host_drive(struct micro_host *host, const char *path, struct weir_netif *netif, int fd)
{
    struct micro_relay relay;
    const int result = meet(host, path, HOST_DRIVER);
    if (result != WEIR_OK)
        return result;
    micro_relay_init(&relay, netif, host->memory, notify, host);
    notify(host);
    while (notices(host) >= 0) {
        const uint64_t now_us = micro_host_now_us(), due_us = micro_relay_turn(&relay, now_us);
        if (due_us <= now_us || !micro_relay_rest(&relay))
            continue;
        // With the ring full the device is not looked at: the server notifies when there is room.
        const bool stalled = atomic_load(&relay.frames->stalled);
        const short events = (short)((stalled ? 0 : POLLIN) | (relay.blocked ? POLLOUT : 0));
        sleep_until(host->socket, events ? fd : -1, events, due_us);
    }
    micro_host_close(host);
    return WEIR_CLOSED;
}
