// SPDX-License-Identifier: BSD-2-Clause
// SO_REUSEPORT: sockets of one address are a group over one native socket, which its leader has. Connections go to the
// members that listen in turn, datagrams by the hash of their source. When the leader ends, a member takes the native
// socket over: connections that wait to be accepted are not lost (Linux resets them).
#define _GNU_SOURCE
#include <string.h>
#include <sys/socket.h>

#include "run/server.h"

static bool same_name(const struct run_socket *socket, const void *name, uint32_t length)
{
    struct weir_sockaddr_storage own;
    weir_socklen own_length = sizeof own;
    const uint32_t compared = ((const struct weir_sockaddr *)name)->sa_family == WEIR_AF_INET ? 8 : 24;
    memset(&own, 0, sizeof own);
    return bsd_getsockname(socket->server->bsd, socket->fd, (struct weir_sockaddr *)&own, &own_length) == 0 &&
           length >= compared && memcmp(&own, name, compared) == 0;
}

bool run_group_join(struct run_socket *socket, const void *name, uint32_t length)
{
    if (!socket->reuse_port || length < 8)
        return false;
    for (struct run_socket *at = socket->server->open; at != NULL; at = at->next_open) {
        if (at == socket || at->leader != NULL || !at->reuse_port || at->type != socket->type ||
            at->domain != socket->domain || !same_name(at, name, length))
            continue;
        socket->leader = at;
        socket->next_member = at->members;
        at->members = socket;
        return true;
    }
    return false;
}

struct run_socket *run_group_listener(struct run_socket *leader)
{
    struct run_socket *const after = leader->turn != NULL ? leader->turn : leader;
    struct run_socket *at = after;
    do {
        at = at == leader ? leader->members : at->next_member;
        at = at != NULL ? at : leader;
        if (at->listening && run_stream_room(at))
            return at;
    } while (at != after);
    return NULL;
}

struct run_socket *run_group_receiver(struct run_socket *leader, const void *name, uint32_t length)
{
    uint32_t sum = 2166136261u, count = 1;
    for (uint32_t i = 0; i < length; i++)
        sum = (sum ^ ((const uint8_t *)name)[i]) * 16777619u;
    for (const struct run_socket *at = leader->members; at != NULL; at = at->next_member)
        count++;
    struct run_socket *at = leader;
    for (uint32_t turns = (sum >> 8) % count; turns > 0; turns--)
        at = at == leader ? leader->members : at->next_member;
    return at;
}

static void inherit(struct run_socket *leader, struct run_socket *heir)
{
    struct weir *const weir = leader->server->weir;
    const int fd = heir->fd;
    const weir_socket handle = heir->handle;
    heir->fd = leader->fd;
    heir->handle = leader->handle;
    leader->fd = fd;
    leader->handle = handle;
    heir->leader = NULL;
    heir->members = leader->members;
    leader->members = NULL;
    for (struct run_socket *at = heir->members; at != NULL; at = at->next_member)
        at->leader = heir;
    (void)weir_socket_set_user(weir, heir->handle, &heir->watch);
    (void)weir_socket_set_user(weir, leader->handle, &leader->watch);
    heir->watch.event(&heir->watch, heir->handle, WEIR_READABLE);
}

void run_group_leave(struct run_socket *socket)
{
    struct run_socket *const leader = run_group_leader(socket), *const heir = socket->members;
    for (struct run_socket **at = &leader->members; socket->leader != NULL && *at != NULL; at = &(*at)->next_member)
        if (*at == socket) {
            *at = socket->next_member;
            break;
        }
    if (leader->turn == socket)
        leader->turn = NULL;
    socket->leader = NULL;
    if (heir != NULL) {
        socket->members = heir->next_member;
        heir->next_member = NULL;
        inherit(socket, heir);
    }
}
