// SPDX-License-Identifier: BSD-2-Clause
#define _GNU_SOURCE
#include "run/server.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#define EVENTS 256
#define INPUT_BUDGET 64  // frames taken in in a turn
#define INPUT_AT_ONCE 4  // of these between two looks at the bytes
#define INPUT_BYTES 262144u
#define CALLS_AT_ONCE 1024  // that may wait to be accepted

// --- names -------------------------------------------------------------------------------------------
int run_server_listen(struct run_server *server)
{
    struct sockaddr_un name;
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &limit);
    }
    if (getrandom(server->token, sizeof server->token, 0) != (ssize_t)sizeof server->token)
        return EIO;
    const socklen_t length = run_server_name(&name, server->token);
    server->listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (server->listener < 0 || bind(server->listener, (struct sockaddr *)&name, length) != 0 ||
        listen(server->listener, CALLS_AT_ONCE) != 0)
        return errno;
    return 0;
}

static bool end_name(const struct run_server *server, int end, uint64_t id)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    struct run_end told;
    memcpy(told.server, server->token, sizeof told.server);
    memcpy(told.socket, &id, sizeof told.socket);
    memcpy(name.sun_path + 1, RUN_END, 4);
    memcpy(name.sun_path + 5, &told, sizeof told);
    return bind(end, (struct sockaddr *)&name, RUN_END_LENGTH) == 0;
}

// --- life --------------------------------------------------------------------------------------------
static void no_lock(void *context) { (void)context; }

bool run_server_open(struct run_server *server, const struct weir_config *config)
{
    const struct weir_bsd_config bsd = {.descriptors = 65536};
    if (posix_host_init(&server->posix, NULL) != 0) {
        perror("weir-run: the POSIX port");
        return false;
    }
    server->port = server->posix.port;
    server->port.lock = server->port.unlock = server->port.kick = no_lock;
    server->port.wait = NULL;
    server->port.wake = NULL;
    server->weir = weir_create(NULL, 0, &server->port, config);
    server->bsd = server->weir != NULL ? bsd_create(server->weir, &bsd) : NULL;
    server->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (server->bsd == NULL || server->epoll < 0) {
        fputs("weir-run: no memory for the stack\n", stderr);
        return false;
    }
    weir_clock(server->weir, posix_now_us());
    loop_init(&server->loop, server->weir);
    server->listen_source.event = run_call_accept;
    return run_server_watch(server, server->listener, EPOLLIN, &server->listen_source);
}

static void free_dead(struct run_server *server)
{
    for (struct run_source *dead; (dead = server->dead) != NULL;) {
        server->dead = dead->next_dead;
        free(dead);
    }
}

void run_server_close(struct run_server *server)
{
    while (server->open != NULL)
        run_socket_end(server->open, false);
    free_dead(server);
    bsd_destroy(server->bsd);
    weir_destroy(server->weir);
    posix_host_close(&server->posix);
    close(server->epoll);
    close(server->listener);
}

bool run_server_watch(struct run_server *server, int fd, uint32_t events, struct run_source *source)
{
    struct epoll_event event = {.events = events, .data.ptr = source};
    return epoll_ctl(server->epoll, EPOLL_CTL_ADD, fd, &event) == 0;
}

void run_server_bury(struct run_server *server, struct run_source *source)
{
    source->event = NULL;
    source->next_dead = server->dead;
    server->dead = source;
}

// The link is watched for room only while the driver is full.
static void watch_room(struct run_server *server)
{
    const struct weir_netif *const netif = server->netif;
    const bool blocked = netif != NULL && weir_tx_waits(netif);
    struct epoll_event event = {.events = EPOLLIN | (blocked ? (uint32_t)EPOLLOUT : 0),
                                .data.ptr = &server->link_source};
    if (netif != NULL && blocked != server->link_blocked &&
        epoll_ctl(server->epoll, EPOLL_CTL_MOD, server->link_fd, &event) == 0)
        server->link_blocked = blocked;
}

static void input(struct run_server *server)
{
    const struct weir_netif *const netif = server->netif;
    if (netif == NULL)
        return;
    // A turn's data is to lie in the CPU's cache when programs read it.
    const uint64_t enough = netif->stats.rx_bytes + INPUT_BYTES;
    for (int frames = 0; server->link_readable && frames < INPUT_BUDGET && netif->stats.rx_bytes < enough;
         frames += INPUT_AT_ONCE)
        server->link_readable = netif->driver->poll(server->netif, INPUT_AT_ONCE) >= INPUT_AT_ONCE;
}

static uint64_t driver_timer(struct run_server *server, uint64_t now_us)
{
    struct weir_netif *const netif = server->netif;
    return netif != NULL && netif->driver->timer ? netif->driver->timer(netif, now_us) : WEIR_NEVER;
}

static void sleep_until(struct run_server *server, uint64_t until_us)
{
    struct epoll_event events[EVENTS];
    const uint64_t now_us = posix_now_us(), wait_us = until_us > now_us ? until_us - now_us : 0;
    const struct timespec wait = {.tv_sec = (time_t)(wait_us / 1000000u), .tv_nsec = (long)(wait_us % 1000000u) * 1000};
    const int count = epoll_pwait2(server->epoll, events, EVENTS, until_us == WEIR_NEVER ? NULL : &wait, NULL);
    weir_clock(server->weir, posix_now_us());
    // Calls come last, and what programs did before is done before, over loopback to its end: a socket that was closed
    // is closed for the call.
    bool calls = false;
    for (int i = 0; i < count; i++) {
        struct run_source *const source = events[i].data.ptr;
        calls = calls || source == &server->listen_source;
        if (source != &server->listen_source && source->event != NULL)
            source->event(source, events[i].events);
    }
    if (calls) {
        (void)loop_run(&server->loop, weir_now_us(server->weir));
        run_call_accept(&server->listen_source, EPOLLIN);
    }
    free_dead(server);
}

void run_server_turn(struct run_server *server, uint64_t until_us)
{
    uint64_t now_us = posix_now_us();
    weir_clock(server->weir, now_us);
    input(server);
    (void)driver_timer(server, now_us);
    uint64_t due_us = loop_run(&server->loop, now_us);
    const uint64_t driver_due_us = driver_timer(server, now_us);
    due_us = driver_due_us < due_us ? driver_due_us : due_us;
    due_us = until_us < due_us ? until_us : due_us;
    watch_room(server);
    sleep_until(server, server->link_readable ? 0 : due_us);
}

// --- sockets -----------------------------------------------------------------------------------------
static struct run_socket **bucket_of(struct run_server *server, uint64_t id)
{
    return &server->buckets[id % RUN_BUCKETS];
}

struct run_socket *run_socket_make(struct run_server *server, int fd, int end, int domain, int type)
{
    struct run_socket *const made = calloc(1, sizeof *made);
    const bool stream = type == SOCK_STREAM;
    if (made == NULL)
        return NULL;
    weir_random_bytes(server->weir, &made->id, sizeof made->id);
    made->server = server;
    made->end = end;
    made->fd = fd;
    made->handle = bsd_handle(server->bsd, fd);
    made->domain = domain;
    made->type = type;
    made->source.event = stream ? run_stream_event : run_datagram_event;
    made->watch.event = stream ? run_stream_news : run_datagram_news;
    if (!end_name(server, end, made->id) ||
        !run_server_watch(server, end, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, &made->source)) {
        free(made);
        return NULL;
    }
    (void)weir_socket_set_user(server->weir, made->handle, &made->watch);
    struct run_socket **const bucket = bucket_of(server, made->id);
    made->next = *bucket;
    made->at = bucket;
    if (made->next != NULL)
        made->next->at = &made->next;
    *bucket = made;
    made->next_open = server->open;
    made->at_open = &server->open;
    if (made->next_open != NULL)
        made->next_open->at_open = &made->next_open;
    server->open = made;
    server->count.sockets++;
    return made;
}

struct run_socket *run_socket_find(struct run_server *server, const uint8_t id[8])
{
    uint64_t wanted;
    memcpy(&wanted, id, sizeof wanted);
    for (struct run_socket *at = *bucket_of(server, wanted); at != NULL; at = at->next)
        if (at->id == wanted)
            return at;
    return NULL;
}

struct run_tomb *run_tomb_find(struct run_server *server, const uint8_t id[8])
{
    uint64_t wanted;
    memcpy(&wanted, id, sizeof wanted);
    for (uint32_t i = 0; i < RUN_TOMBS && wanted != 0; i++) {
        struct run_tomb *const tomb = &server->tombs[(server->next_tomb - 1 - i) % RUN_TOMBS];
        if (tomb->id == wanted)
            return tomb;
    }
    return NULL;
}

static void bury_names(struct run_socket *socket)
{
    struct run_server *const server = socket->server;
    struct run_tomb *const tomb = &server->tombs[server->next_tomb++ % RUN_TOMBS];
    struct weir_sockaddr_storage name;
    *tomb = (struct run_tomb){
        .id = socket->id, .error = socket->error, .domain = socket->domain, .type = (uint8_t)socket->type};
    weir_socklen length = RUN_ADDRESS;
    if (bsd_getsockname(server->bsd, socket->fd, (struct weir_sockaddr *)&name, &length) == 0)
        memcpy(tomb->local, &name, tomb->local_length = (uint8_t)length);
    length = RUN_ADDRESS;
    if (!socket->reset && bsd_getpeername(server->bsd, socket->fd, (struct weir_sockaddr *)&name, &length) == 0)
        memcpy(tomb->peer, &name, tomb->peer_length = (uint8_t)length);
}

void run_socket_end(struct run_socket *socket, bool abort)
{
    struct run_server *const server = socket->server;
    run_group_leave(socket);
    bury_names(socket);
    run_call_answer_waiting(socket, -(socket->error ? socket->error : ECONNABORTED));
    (void)weir_socket_set_user(server->weir, socket->handle, NULL);
    if (abort) {
        const struct weir_linger at_once = {1, 0};
        (void)bsd_setsockopt(server->bsd, socket->fd, WEIR_SOL_SOCKET, WEIR_SO_LINGER, &at_once, sizeof at_once);
    }
    (void)bsd_close(server->bsd, socket->fd);
    close(socket->end);
    *socket->at = socket->next;
    if (socket->next != NULL)
        socket->next->at = socket->at;
    *socket->at_open = socket->next_open;
    if (socket->next_open != NULL)
        socket->next_open->at_open = socket->at_open;
    free(socket->held);
    run_server_bury(server, &socket->source);
}

void run_socket_sweep(struct run_server *server)
{
    struct run_socket *next;
    for (struct run_socket *at = server->open; at != NULL; at = next) {
        char byte;
        next = at->next_open;
        if ((at->listening || at->type != SOCK_STREAM || !at->connected) &&
            recv(at->end, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0)
            run_socket_end(at, false);
    }
}

int run_socket_error(struct run_socket *socket)
{
    int error = socket->error;
    weir_socklen length = sizeof error;
    socket->error = 0;
    if (error == 0)
        (void)bsd_getsockopt(socket->server->bsd, socket->fd, WEIR_SOL_SOCKET, WEIR_SO_ERROR, &error, &length);
    return error;
}
