// SPDX-License-Identifier: BSD-2-Clause
// The calls of programs: read, checked, answered. What api/bsd does as Linux does is api/bsd's; the rest is here.
#define _GNU_SOURCE
#include <errno.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "run/sockopt.h"
#include "run/server.h"

struct arrival {  // one request
    struct run_call *call;
    struct run_request request;
    const uint8_t *data;
    int fd;  // that came along; -1: none
    struct run_socket *socket;
    struct run_tomb *tomb;
};

#define LATER INT32_MIN  // the answer waits

// --- answers -----------------------------------------------------------------------------------------
void run_call_answer(struct run_call *call, int result, const void *data, uint32_t length)
{
    struct run_answer answer = {.result = result, .length = length};
    struct iovec iov[2] = {{&answer, sizeof answer}, {(void *)(uintptr_t)data, length}};
    const struct msghdr message = {.msg_iov = iov, .msg_iovlen = length ? 2 : 1};
    (void)sendmsg(call->fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    close(call->fd);
    call->fd = -1;
    run_server_bury(call->server, &call->source);
}

void run_call_answer_waiting(struct run_socket *socket, int result)
{
    for (struct run_call *call; (call = socket->calls) != NULL;) {
        socket->calls = call->next;
        run_call_answer(call, result, NULL, 0);
    }
}

static int failed(int result) { return result < 0 ? -errno : result; }

// --- a socket's life ---------------------------------------------------------------------------------
static int do_socket(struct arrival *in)
{
    struct run_server *const server = in->call->server;
    const int type = in->request.b & 0xf;
    if (in->fd < 0)
        return -EINVAL;
    const int fd = bsd_socket(server->bsd, in->request.a, type | WEIR_SOCK_NONBLOCK, in->request.c);
    if (fd < 0)
        return -errno;
    if (run_socket_make(server, fd, in->fd, in->request.a, type) == NULL) {
        (void)bsd_close(server->bsd, fd);
        return -ENOBUFS;
    }
    in->fd = -1;
    return 0;
}

static int do_bind(struct arrival *in)
{
    struct run_socket *const socket = in->socket;
    const struct weir_sockaddr *const name = (const struct weir_sockaddr *)(const void *)in->data;
    // A group comes first: with SO_REUSEADDR beside it the stack would take the name for a second socket.
    if (run_group_join(socket, in->data, in->request.length))
        return 0;
    int result = failed(bsd_bind(socket->server->bsd, socket->fd, name, in->request.length));
    if (result == -EADDRINUSE) {
        run_socket_sweep(socket->server);
        result = failed(bsd_bind(socket->server->bsd, socket->fd, name, in->request.length));
    }
    return result;
}

static int do_listen(struct arrival *in)
{
    struct run_socket *const socket = in->socket;
    if (socket->type != SOCK_STREAM)
        return -EOPNOTSUPP;
    if (socket->connected || socket->connecting)
        return -EINVAL;
    struct run_socket *const leader = run_group_leader(socket);
    int result = failed(bsd_listen(socket->server->bsd, leader->fd, in->request.a));
    if (result == -EADDRINUSE) {
        run_socket_sweep(socket->server);
        result = failed(bsd_listen(socket->server->bsd, leader->fd, in->request.a));
    }
    socket->listening = socket->listening || result == 0;
    if (result == 0)
        leader->watch.event(&leader->watch, leader->handle, WEIR_READABLE);
    return result;
}

static void wait_for_connection(struct arrival *in)
{
    in->call->next = in->socket->calls;
    in->call->socket = in->socket;
    in->socket->calls = in->call;
}

static int do_connect(struct arrival *in)
{
    struct run_socket *const socket = in->socket;
    const struct weir_sockaddr *const name = (const struct weir_sockaddr *)(const void *)in->data;
    const bool stream = socket->type == SOCK_STREAM, waits = in->request.a < 0;
    const uint32_t filler = waits ? 0 : (uint32_t)in->request.a;
    if (filler > RUN_FILLER)
        return -EINVAL;
    const int result = failed(bsd_connect(socket->server->bsd, socket->fd, name, in->request.length));
    socket->filler += filler;
    if (!stream)
        return result;
    if (result == -EINPROGRESS || (result == -EALREADY && waits)) {
        socket->connecting = true;
        if (!waits)
            return -EINPROGRESS;
        wait_for_connection(in);
        return LATER;
    }
    if (result == 0)
        socket->connected = true;
    if (socket->filler > 0 && !socket->connecting)
        run_stream_discard(socket);
    if (result == 0)
        run_stream_pump(socket);
    return result;
}

static int do_shutdown(struct arrival *in)
{
    struct run_socket *const socket = in->socket;
    const int how = in->request.a;
    if (how < 0 || how > 2)
        return -EINVAL;
    if (socket->type != SOCK_STREAM)
        return failed(bsd_shutdown(socket->server->bsd, socket->fd, how));
    if (!socket->connected && !socket->listening && !socket->connecting)
        return -ENOTCONN;
    if (!socket->connected) {
        if (how != SHUT_WR)
            run_socket_end(socket, false);
        return 0;
    }
    // The program may send no more, what it has sent goes first: the end of the pair tells.
    if (how != SHUT_RD)
        (void)shutdown(socket->end, SHUT_RD);
    if (how != SHUT_WR) {
        socket->output_done = true;
        (void)shutdown(socket->end, SHUT_WR);
    }
    if (how == SHUT_RDWR)
        socket->hung = true;
    run_stream_pump(socket);
    return 0;
}

static int do_state(struct arrival *in)
{
    struct run_socket *const socket = in->socket;
    if (socket->connecting && in->request.a == 1) {
        wait_for_connection(in);
        return LATER;
    }
    if (socket->connecting)
        return -EINPROGRESS;
    return socket->connected ? RUN_CONNECTED : socket->listening ? RUN_LISTENING : RUN_IDLE;
}

// --- what was refused --------------------------------------------------------------------------------
static void count_undone(struct run_server *server, const char *name)
{
    for (uint32_t i = 0; i < 64; i++) {
        if (server->undone[i][0] == '\0')
            (void)snprintf(server->undone[i], sizeof server->undone[i], "%s", name);
        if (strcmp(server->undone[i], name) == 0) {
            server->undone_count[i]++;
            return;
        }
    }
}

static void count_option(const struct arrival *in, const char *call)
{
    char name[32];
    (void)snprintf(name, sizeof name, "%s %d %d", call, in->request.a, in->request.b);
    count_undone(in->call->server, name);
}

static int do_undone(struct arrival *in)
{
    char name[32] = {0};
    memcpy(name, in->data, in->request.length < sizeof name ? in->request.length : sizeof name - 1);
    count_undone(in->call->server, name);
    return 0;
}

// --- names and options -------------------------------------------------------------------------------
static int name_answer(struct arrival *in, int result, const void *name, uint32_t length)
{
    if (result < 0)
        return result;
    run_call_answer(in->call, 0, name, length);
    return LATER;
}

static int do_name(struct arrival *in, bool peer)
{
    struct run_socket *const socket = in->socket;
    struct weir_sockaddr_storage name;
    weir_socklen length = sizeof name;
    struct weir_sockaddr *const to = (struct weir_sockaddr *)&name;
    if (peer && socket->type == SOCK_STREAM && !socket->connected)
        return -ENOTCONN;
    const int result = failed(peer ? bsd_getpeername(socket->server->bsd, socket->fd, to, &length)
                                   : bsd_getsockname(socket->server->bsd, run_group_leader(socket)->fd, to, &length));
    return name_answer(in, result, &name, length);
}

static int do_set(struct arrival *in)
{
    struct run_socket *const socket = in->socket;
    if (socket->connected && socket->type == SOCK_STREAM)
        run_stream_pump(socket);  // what was written before it is under the old option
    if (socket->source.event == NULL)
        return 0;
    const int done = run_option_set(socket, in->request.a, in->request.b, in->data, in->request.length);
    if (done == -ENOPROTOOPT)
        count_option(in, "setsockopt");
    return done;
}

static int do_get(struct arrival *in)
{
    struct run_socket *const socket = in->socket;
    union {
        uint8_t bytes[8192];
        uint64_t aligned;
    } value = {0};
    const int32_t room = in->request.c;
    memcpy(value.bytes, in->data, in->request.length < sizeof value ? in->request.length : sizeof value);
    uint32_t length = room < 0 ? 0 : room > (int32_t)sizeof value ? (uint32_t)sizeof value : (uint32_t)room;
    if (room < 0)
        return -EINVAL;
    const int result = run_option_get(socket, in->request.a, in->request.b, value.bytes, &length);
    if (result == -ENOPROTOOPT)
        count_option(in, "getsockopt");
    return name_answer(in, result, value.bytes, length);
}

static int do_urgent(struct arrival *in)
{
    struct run_socket *const socket = in->socket;
    if (socket->type != SOCK_STREAM || !socket->connected)
        return -EOPNOTSUPP;
    run_stream_pump(socket);  // what was written before goes before
    if (socket->source.event == NULL)
        return -EPIPE;
    return failed((int)bsd_send(socket->server->bsd, socket->fd, in->data, in->request.length,
                                WEIR_MSG_OOB | WEIR_MSG_DONTWAIT | WEIR_MSG_NOSIGNAL));
}

static int do_ioctl(struct arrival *in)
{
    struct run_socket *const socket = in->socket;
    int value = 0;
    int result = failed(bsd_ioctl(socket->server->bsd, socket->fd, (uint32_t)in->request.b, &value));
    if (result == 0 && (uint32_t)in->request.b == SIOCOUTQ) {
        int queued = 0;
        if (ioctl(socket->end, FIONREAD, &queued) == 0)
            value += queued;
    }
    return name_answer(in, result, &value, sizeof value);
}

// --- the host ----------------------------------------------------------------------------------------
static uint32_t interface_flags(const struct weir_netif *netif)
{
    uint32_t flags = netif->flags & WEIR_NETIF_UP ? IFF_UP : 0;
    if (netif->flags & WEIR_NETIF_LINK)
        flags |= IFF_RUNNING;
    if (netif->capabilities & WEIR_NETIF_LOOPBACK)
        return flags | IFF_LOOPBACK;
    return flags | (netif->capabilities & WEIR_NETIF_BROADCAST ? (uint32_t)IFF_BROADCAST : 0) |
           (netif->capabilities & WEIR_NETIF_MULTICAST ? (uint32_t)IFF_MULTICAST : 0);
}

static void interface_address(struct run_interface *out, const struct weir_netif_address *address)
{
    out->family = weir_addr_is_v4(address->addr) ? WEIR_AF_INET : WEIR_AF_INET6;
    out->prefix_length = address->prefix_length;
    if (out->family == WEIR_AF_INET) {
        const uint32_t net = weir_htonl(weir_addr_to_v4(address->addr));
        memcpy(out->address, &net, sizeof net);
    } else {
        weir_addr_to_v6(address->addr, out->address);
    }
}

static int do_interfaces(struct arrival *in)
{
    struct run_interface list[64];
    uint32_t count = 0;
    for (uint8_t index = 1; index < UINT8_MAX && count < 64; index++) {
        const struct weir_netif *const netif = weir_netif_at(in->call->server->weir, index);
        if (netif == NULL)
            continue;
        const struct weir_netif_address *address = weir_netif_address_next(netif, NULL);
        do {
            struct run_interface *const out = &list[count++];
            *out = (struct run_interface){.index = index, .flags = interface_flags(netif), .mtu = netif->mtu};
            memcpy(out->name, netif->name, sizeof netif->name);
            memcpy(out->mac, netif->mac, sizeof out->mac);
            if (address != NULL)
                interface_address(out, address);
            address = address != NULL ? weir_netif_address_next(netif, address) : NULL;
        } while (address != NULL && count < 64);
    }
    return name_answer(in, 0, list, count * (uint32_t)sizeof list[0]);
}

static int do_resolve(struct arrival *in)
{
    char name[256];
    if (in->request.length >= sizeof name)
        return -ENOENT;
    memcpy(name, in->data, in->request.length);
    name[in->request.length] = '\0';
    return run_name_resolve(in->call, name, in->request.a) ? LATER : -EAGAIN;
}

// --- arrival -----------------------------------------------------------------------------------------
// A socket that has ended already: its names and its error are still known.
static int ended(struct arrival *in)
{
    struct run_tomb *const tomb = in->tomb;
    const uint32_t call = in->request.call;
    if (call == RUN_LOCAL)
        return name_answer(in, 0, tomb->local, tomb->local_length);
    if (call == RUN_PEER)
        return name_answer(in, tomb->peer_length ? 0 : -ENOTCONN, tomb->peer, tomb->peer_length);
    if (call == RUN_GET && in->request.a == SOL_SOCKET && in->request.c >= (int)sizeof(int)) {
        const int value = in->request.b == SO_ERROR    ? tomb->error
                          : in->request.b == SO_TYPE   ? tomb->type
                          : in->request.b == SO_DOMAIN ? tomb->domain
                                                       : 0;
        if (in->request.b == SO_ERROR)
            tomb->error = 0;
        return name_answer(in, 0, &value, sizeof value);
    }
    return call == RUN_STATE ? RUN_GONE : call == RUN_SET ? 0 : call == RUN_GET ? -EINVAL : -ENOTCONN;
}

static int of_socket(struct arrival *in)
{
    struct run_server *const server = in->call->server;
    in->socket = run_socket_find(server, in->request.socket);
    in->tomb = in->socket == NULL ? run_tomb_find(server, in->request.socket) : NULL;
    if (in->socket == NULL)
        return in->tomb != NULL ? ended(in) : -EBADF;
    switch (in->request.call) {
    case RUN_BIND: return do_bind(in);
    case RUN_LISTEN: return do_listen(in);
    case RUN_CONNECT: return do_connect(in);
    case RUN_LOCAL: return do_name(in, false);
    case RUN_PEER: return do_name(in, true);
    case RUN_SET: return do_set(in);
    case RUN_GET: return do_get(in);
    case RUN_SHUTDOWN: return do_shutdown(in);
    case RUN_STATE: return do_state(in);
    case RUN_SEND:
        return in->socket->type == SOCK_STREAM ? -EOPNOTSUPP
                                               : run_datagram_send(in->socket, in->data, in->request.length);
    case RUN_URGENT: return do_urgent(in);
    case RUN_IOCTL: return do_ioctl(in);
    default: return -ENOSYS;
    }
}

static int dispatch(struct arrival *in)
{
    switch (in->request.call) {
    case RUN_SOCKET: return do_socket(in);
    case RUN_INTERFACES: return do_interfaces(in);
    case RUN_RESOLVE: return do_resolve(in);
    case RUN_UNDONE: return do_undone(in);
    default: return of_socket(in);
    }
}

// The request, and the descriptor that came with it. Bytes, 0: the caller is gone; -1: nothing yet.
static ssize_t receive(struct run_call *call, int *fd)
{
    union run_rights control;
    struct run_server *const server = call->server;
    struct iovec iov = {server->buffer, sizeof server->buffer};
    struct msghdr message = {
        .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    const ssize_t got = recvmsg(call->fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    *fd = -1;
    const struct cmsghdr *const header = got >= 0 ? CMSG_FIRSTHDR(&message) : NULL;
    if (header != NULL && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS)
        memcpy(fd, CMSG_DATA(header), sizeof *fd);
    return got < 0 && errno != EAGAIN ? 0 : got;
}

// false: no request has come yet.
static bool serve(struct run_call *call)
{
    struct run_server *const server = call->server;
    struct arrival in = {.call = call};
    const ssize_t got = receive(call, &in.fd);
    if (got < 0)
        return false;
    int result = -EINVAL;
    if (got >= (ssize_t)sizeof in.request) {
        memcpy(&in.request, server->buffer, sizeof in.request);
        in.data = server->buffer + sizeof in.request;
        if (memcmp(in.request.token, server->token, RUN_TOKEN) != 0)
            result = -EPERM;
        else if (in.request.length == (size_t)got - sizeof in.request)
            result = dispatch(&in);
    }
    server->count.calls++;
    if (result != LATER)
        run_call_answer(call, result, NULL, 0);
    if (in.fd >= 0)
        close(in.fd);
    return true;
}

static void call_leave(struct run_call *call)
{
    run_name_forget(call);
    for (struct run_call **at = call->socket != NULL ? &call->socket->calls : NULL; at != NULL && *at != NULL;
         at = &(*at)->next)
        if (*at == call) {
            *at = call->next;
            break;
        }
}

static void call_event(struct run_source *source, uint32_t events)
{
    struct run_call *const call = (struct run_call *)source;
    if (call->socket != NULL || call->resolves) {  // it waits: only its end is news
        if (events & (EPOLLHUP | EPOLLERR | EPOLLRDHUP)) {
            call_leave(call);
            run_call_answer(call, -EINTR, NULL, 0);
        }
        return;
    }
    (void)serve(call);
}

void run_call_accept(struct run_source *source, uint32_t events)
{
    struct run_server *const server =
        (struct run_server *)(void *)((uint8_t *)source - offsetof(struct run_server, listen_source));
    (void)events;
    for (int count = 0; count < 64; count++) {
        const int fd = accept4(server->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        struct run_call *const call = fd >= 0 ? calloc(1, sizeof *call) : NULL;
        if (call == NULL) {
            if (fd >= 0)
                close(fd);
            return;
        }
        call->source.event = call_event;
        call->server = server;
        call->fd = fd;
        const bool served = serve(call);
        if ((!served || call->fd >= 0) && !run_server_watch(server, fd, EPOLLIN | EPOLLRDHUP, &call->source)) {
            call_leave(call);
            run_call_answer(call, -ENOMEM, NULL, 0);
        }
    }
}
