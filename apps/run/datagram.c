// SPDX-License-Identifier: BSD-2-Clause
// Datagrams, echo and raw sockets: the pair keeps their boundaries, and each has its addresses and ancillary data in
// front of it.
#define _GNU_SOURCE
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "run/server.h"

#define AT_ONCE 64  // datagrams moved in a turn, each way

// Whether the program's end took it.
static bool put(const struct run_socket *socket, struct run_datagram *header, const void *control, const void *data,
                size_t bytes)
{
    const struct iovec iov[3] = {
        {header, sizeof *header}, {(void *)(uintptr_t)control, header->control}, {(void *)(uintptr_t)data, bytes}};
    const struct msghdr message = {.msg_iov = (struct iovec *)(uintptr_t)iov, .msg_iovlen = 3};
    header->magic = RUN_MAGIC;
    return sendmsg(socket->end, &message, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0;
}

static bool to_program(struct run_socket *socket)
{
    struct run_server *const server = socket->server;
    struct run_datagram header = {.magic = RUN_MAGIC};
    union {
        size_t aligned;
        uint8_t bytes[RUN_CONTROL];
    } control;
    struct weir_iovec iov = {server->buffer, RUN_DATA};
    struct weir_msghdr message = {.msg_name = header.address,
                                  .msg_namelen = RUN_ADDRESS,
                                  .msg_iov = &iov,
                                  .msg_iovlen = 1,
                                  .msg_control = control.bytes,
                                  .msg_controllen = sizeof control};
    const weir_ssize got = bsd_recvmsg(server->bsd, socket->fd, &message, WEIR_MSG_PEEK | WEIR_MSG_DONTWAIT);
    if (got < 0 && errno == EAGAIN)
        return false;
    if (got < 0) {
        header.error = errno;  // the peek has taken it
        return put(socket, &header, NULL, NULL, 0);
    }
    header.flags = message.msg_flags;
    header.length = message.msg_namelen;
    header.control = (uint32_t)message.msg_controllen;
    struct run_socket *const receiver =
        socket->members == NULL ? socket : run_group_receiver(socket, header.address, header.length);
    if (!put(receiver, &header, control.bytes, server->buffer, (size_t)got) && receiver == socket)
        return false;  // (a member without room loses it, as it would with a queue of its own)
    iov.iov_len = 0;
    message = (struct weir_msghdr){.msg_iov = &iov, .msg_iovlen = 1};
    (void)bsd_recvmsg(server->bsd, socket->fd, &message, WEIR_MSG_DONTWAIT);
    return true;
}

int run_datagram_send(struct run_socket *socket, const uint8_t *data, uint32_t bytes)
{
    struct run_server *const server = socket->server;
    struct run_datagram header;
    if (bytes < sizeof header)
        return -EINVAL;
    memcpy(&header, data, sizeof header);
    const uint32_t left = bytes - (uint32_t)sizeof header;
    if (header.magic != RUN_MAGIC || header.control > left || header.control > RUN_CONTROL ||
        header.length > RUN_ADDRESS)
        return -EINVAL;
    union {
        size_t aligned;
        uint8_t bytes[RUN_CONTROL];
    } control;
    memcpy(control.bytes, data + sizeof header, header.control);
    struct weir_iovec iov = {(void *)(uintptr_t)(data + sizeof header + header.control), left - header.control};
    const struct weir_msghdr message = {.msg_name = header.length ? header.address : NULL,
                                        .msg_namelen = header.length,
                                        .msg_iov = &iov,
                                        .msg_iovlen = 1,
                                        .msg_control = header.control ? control.bytes : NULL,
                                        .msg_controllen = header.control};
    const int flags = header.flags & (WEIR_MSG_EOR | WEIR_MSG_MORE);
    const weir_ssize sent = bsd_sendmsg(server->bsd, run_group_leader(socket)->fd, &message, flags | WEIR_MSG_DONTWAIT);
    return sent < 0 ? -errno : (int)sent;
}

// One datagram. false: there is none, no room, or the end.
static bool to_stack(struct run_socket *socket)
{
    struct run_server *const server = socket->server;
    uint8_t *const data = socket->held ? socket->held : server->buffer;
    if (socket->held == NULL) {
        const ssize_t got = recv(socket->end, data, sizeof server->buffer, MSG_DONTWAIT);
        if (got <= 0) {
            socket->hung = socket->hung || got == 0;
            return false;
        }
        socket->held_bytes = (uint32_t)got;
    }
    const int sent = run_datagram_send(socket, data, socket->held_bytes);
    if (sent == -EAGAIN) {
        if (socket->held == NULL && (socket->held = malloc(socket->held_bytes)) != NULL)
            memcpy(socket->held, data, socket->held_bytes);
        return false;
    }
    free(socket->held);
    socket->held = NULL;
    if (sent < 0) {
        struct run_datagram header = {.error = -sent};
        (void)put(socket, &header, NULL, NULL, 0);
    }
    return true;
}

static void pump(struct run_socket *socket)
{
    for (int count = 0; count < AT_ONCE && !socket->hung && to_program(socket); count++)
        ;
    while (to_stack(socket))
        ;
    if (socket->hung && socket->held == NULL)
        run_socket_end(socket, false);
}

void run_datagram_event(struct run_source *source, uint32_t events)
{
    struct run_socket *const socket = (struct run_socket *)source;
    if (events & (EPOLLHUP | EPOLLERR))
        socket->hung = true;
    pump(socket);
}

void run_datagram_news(struct weir_watch *watch, weir_socket handle, uint32_t events)
{
    (void)handle, (void)events;
    pump((struct run_socket *)(void *)((uint8_t *)watch - offsetof(struct run_socket, watch)));
}
