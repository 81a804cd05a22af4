// SPDX-License-Identifier: BSD-2-Clause
#define _GNU_SOURCE  // memfd_create, accept4, ppoll
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "host.h"

#define FRAMES_BUDGET 64
#define PACKETS_BUDGET 8  // of a peer in a turn

uint64_t micro_host_now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000u + (uint64_t)now.tv_nsec / 1000u;
}

// --- the port --------------------------------------------------------------------------------------------------------
static void *port_alloc(void *context, size_t bytes) { return (void)context, malloc(bytes); }
static void port_free(void *context, void *memory, size_t bytes)
{
    (void)context, (void)bytes;
    free(memory);
}
static uint64_t port_now_us(void *context) { return (void)context, micro_host_now_us(); }
static void port_entropy(void *context, void *out, size_t bytes)
{
    (void)context;
    for (uint8_t *at = out; bytes;) {
        const ssize_t got = getrandom(at, bytes, 0);
        if (got < 0 && errno != EINTR)
            abort();
        at += got > 0 ? got : 0;
        bytes -= got > 0 ? (size_t)got : 0;
    }
}

// --- peers -----------------------------------------------------------------------------------------------------------
static void leave(struct micro_host_server *host, struct micro_host_peer *peer)
{
    if (peer->role == HOST_CLIENT)
        micro_server_detach(&host->server, peer->index);
    if (peer->role == HOST_DRIVER && host->netif.frames == peer->memory)
        micro_netif_attach(&host->netif, NULL);
    if (peer->memory)
        munmap(peer->memory, peer->bytes);
    close(peer->socket);
    *peer = (struct micro_host_peer){.socket = -1};
}

// A full socket holds notifications enough; of a peer that went the next turn learns.
static void notify_peer(const struct micro_host_peer *peer)
{
    if (peer->socket >= 0 && send(peer->socket, "!", 1, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
        return;
}

static void notify_client(void *context, uint32_t session)
{
    struct micro_host_server *host = context;
    for (struct micro_host_peer *peer = host->peers; peer < &host->peers[HOST_PEERS]; peer++)
        if (peer->role == HOST_CLIENT && peer->index == session)
            notify_peer(peer);
}

static void reply_client(void *context, uint32_t session, struct micro_message *message)
{
    struct micro_host_server *host = context;
    for (struct micro_host_peer *peer = host->peers; peer < &host->peers[HOST_PEERS]; peer++)
        if (peer->role == HOST_CLIENT && peer->index == session &&
            send(peer->socket, message, sizeof *message, MSG_DONTWAIT | MSG_NOSIGNAL) != (ssize_t)sizeof *message)
            (void)shutdown(peer->socket, SHUT_RDWR);  // it takes no replies: the next turn lets go of it
}

static void notify_driver(void *context)
{
    struct micro_host_server *host = context;
    for (struct micro_host_peer *peer = host->peers; peer < &host->peers[HOST_PEERS]; peer++)
        if (peer->role == HOST_DRIVER)
            notify_peer(peer);
}

// Memory that stays as long as it is, and its descriptor.
static int shared_memory(size_t bytes, void **memory)
{
    const int fd = memfd_create("weir", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0)
        return -1;
    *memory = MAP_FAILED;
    if (ftruncate(fd, (off_t)bytes) == 0 && fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
        *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (*memory != MAP_FAILED)
        return fd;
    *memory = NULL;
    close(fd);
    return -1;
}

static bool give(int socket, int fd, uint64_t bytes)
{
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(sizeof(int))];
    } control = {0};
    struct iovec vector = {&bytes, sizeof bytes};
    struct msghdr packet = {
        .msg_iov = &vector, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control.room};
    control.header.cmsg_len = CMSG_LEN(sizeof(int));
    control.header.cmsg_level = SOL_SOCKET;
    control.header.cmsg_type = SCM_RIGHTS;
    memcpy(CMSG_DATA(&control.header), &fd, sizeof fd);
    return sendmsg(socket, &packet, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)sizeof bytes;
}

// The session that no client has, or MICRO_SESSIONS.
static uint32_t free_session(const struct micro_host_server *host)
{
    uint32_t index = 0;
    while (index < MICRO_SESSIONS && host->server.session[index].window)
        index++;
    return index;
}

// false: there is no place for such a peer.
static bool welcome(struct micro_host_server *host, struct micro_host_peer *peer, uint8_t role)
{
    const uint32_t session = free_session(host);
    if (role == HOST_CLIENT ? session == MICRO_SESSIONS : role != HOST_DRIVER || host->netif.frames)
        return false;
    peer->bytes = role == HOST_CLIENT ? window_bytes(HOST_CHANNELS, HOST_RING) : sizeof(struct frames);
    const int fd = shared_memory(peer->bytes, &peer->memory);
    if (fd < 0)
        return false;
    const bool given = give(peer->socket, fd, peer->bytes);
    close(fd);
    if (!given)
        return false;
    peer->role = role;
    peer->index = session;
    return role == HOST_DRIVER || micro_server_attach(&host->server, session, peer->memory, HOST_CHANNELS, HOST_RING);
}

// The driver's first notification: it has written its address.
static bool driver_there(struct micro_host_server *host, struct frames *frames)
{
    micro_netif_attach(&host->netif, frames);
    if (host->netif.netif.weir)
        return true;
    return weir_netif_add(host->weir, &host->netif.netif) == WEIR_OK &&
           weir_netif_set_address(&host->netif.netif, host->address, host->prefix_length, WEIR_ADDRESS_AT_ONCE) ==
               WEIR_OK;
}

// One packet. false: the peer breaks the rules, or nobody is there.
static bool packet(struct micro_host_server *host, struct micro_host_peer *peer, void *data, size_t bytes)
{
    if (!peer->role)
        return bytes == 1 && welcome(host, peer, *(const uint8_t *)data);
    if (bytes == 1 && peer->role == HOST_CLIENT)
        micro_server_rung(&host->server, peer->index);
    if (bytes == 1)
        return peer->role == HOST_CLIENT || host->netif.frames || driver_there(host, peer->memory);
    if (peer->role != HOST_CLIENT || bytes != sizeof(struct micro_message))
        return false;
    return !micro_server_message(&host->server, peer->index, data) ||
           send(peer->socket, data, bytes, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)bytes;
}

// A client whose call is held is not heard until it is answered.
static bool held(const struct micro_host_server *host, const struct micro_host_peer *peer)
{
    return peer->role == HOST_CLIENT && host->server.held & 1u << peer->index;
}

static void hear(struct micro_host_server *host, struct micro_host_peer *peer)
{
    for (int i = 0; i < PACKETS_BUDGET && !held(host, peer); i++) {
        struct micro_message message;
        uint8_t data[sizeof message + 1];  // one more, to see what is too long
        const ssize_t got = recv(peer->socket, data, sizeof data, MSG_DONTWAIT);
        if (got < 0 && (errno == EAGAIN || errno == EINTR))
            return;
        memcpy(&message, data, sizeof message);
        if (got <= 0 || !packet(host, peer, &message, (size_t)got)) {
            leave(host, peer);
            return;
        }
    }
}

static void greet(struct micro_host_server *host)
{
    const int came = accept4(host->listener, NULL, NULL, SOCK_CLOEXEC);
    for (struct micro_host_peer *peer = host->peers; came >= 0 && peer < &host->peers[HOST_PEERS]; peer++)
        if (peer->socket < 0) {
            *peer = (struct micro_host_peer){.socket = came};
            return;
        }
    if (came >= 0)
        close(came);
}

// --- the server ------------------------------------------------------------------------------------------------------
int micro_host_server_open(struct micro_host_server *host, const char *path, struct weir_addr address,
                           uint8_t prefix_length)
{
    static const struct micro_server_host surroundings = {notify_client, reply_client};
    struct sockaddr_un local = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof local.sun_path)
        return WEIR_INVALID;
    memcpy(local.sun_path, path, strlen(path));
    memset(host, 0, sizeof *host);
    host->port = (struct weir_port){.context = host,
                                    .alloc = port_alloc,
                                    .free = port_free,
                                    .entropy = port_entropy,
                                    .now_us = port_now_us,
                                    .granularity_us = 50};
    host->address = address;
    host->prefix_length = prefix_length;
    for (uint32_t i = 0; i < HOST_PEERS; i++)
        host->peers[i].socket = -1;
    host->listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    (void)unlink(path);
    host->weir = weir_create(NULL, 0, &host->port, NULL);
    if (host->weir && host->listener >= 0 && bind(host->listener, (const struct sockaddr *)&local, sizeof local) == 0 &&
        listen(host->listener, 16) == 0) {
        micro_server_init(&host->server, host->weir, &surroundings, host);
        micro_netif_init(&host->netif, "eth0", notify_driver, host);
        return WEIR_OK;
    }
    micro_host_server_close(host);
    return WEIR_NO_MEMORY;
}

static void work(struct micro_host_server *host)
{
    const uint64_t now_us = micro_host_now_us();
    weir_clock(host->weir, now_us);
    const bool frames = micro_netif_poll(&host->netif, FRAMES_BUDGET) == FRAMES_BUDGET;
    (void)micro_server_turn(&host->server);
    host->due_us = weir_poll(host->weir, now_us);
    const bool more = micro_server_turn(&host->server);
    const uint64_t server_us = micro_server_due(&host->server);
    host->due_us = server_us < host->due_us ? server_us : host->due_us;
    if (more || frames || !micro_server_rest(&host->server) || !micro_netif_rest(&host->netif))
        host->due_us = 0;
}

void micro_host_server_turn(struct micro_host_server *host)
{
    struct pollfd fds[1 + HOST_PEERS];
    const uint64_t now_us = micro_host_now_us(), wait_us = host->due_us > now_us ? host->due_us - now_us : 0;
    const struct timespec timeout = {(time_t)(wait_us / 1000000u), (long)(wait_us % 1000000u) * 1000};
    fds[0] = (struct pollfd){.fd = host->listener, .events = POLLIN};
    for (uint32_t i = 0; i < HOST_PEERS; i++)
        fds[1 + i] = (struct pollfd){.fd = host->peers[i].socket, .events = held(host, &host->peers[i]) ? 0 : POLLIN};
    const int found = ppoll(fds, 1 + HOST_PEERS, host->due_us == WEIR_NEVER ? NULL : &timeout, NULL);
    weir_clock(host->weir, micro_host_now_us());
    for (uint32_t i = 0; i < HOST_PEERS && found > 0; i++)
        if (fds[1 + i].revents & (POLLHUP | POLLERR) && held(host, &host->peers[i]))
            leave(host, &host->peers[i]);
        else if (fds[1 + i].revents)
            hear(host, &host->peers[i]);
    if (found > 0 && fds[0].revents)
        greet(host);
    work(host);
}

void micro_host_server_close(struct micro_host_server *host)
{
    for (uint32_t i = 0; i < HOST_PEERS; i++)
        if (host->peers[i].socket >= 0)
            leave(host, &host->peers[i]);
    if (host->weir) {
        weir_destroy(host->weir);
        host->weir = NULL;
    }
    if (host->listener >= 0)
        close(host->listener);
    host->listener = -1;
}
