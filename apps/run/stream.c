// SPDX-License-Identifier: BSD-2-Clause
// Streams: bytes move between the stack's queues and the server's end of the pair without a buffer in between. A
// listener's pair carries one record for each connection, with the connection's own end by SCM_RIGHTS.
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "run/server.h"

#define SPANS 8
#define CHUNK 262144u  // bytes taken from a program by one call at the most

// --- connections of a listener -----------------------------------------------------------------------
static bool hand_over(const struct run_socket *listener, int end, const struct run_accepted *record)
{
    union run_rights control = RUN_RIGHTS;
    struct iovec iov = {(void *)(uintptr_t)record, sizeof *record};
    const struct msghdr message = {
        .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    memcpy(CMSG_DATA(&control.header), &end, sizeof end);
    return sendmsg(listener->end, &message, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)sizeof *record;
}

bool run_stream_room(const struct run_socket *listener)
{
    struct pollfd end = {.fd = listener->end, .events = POLLOUT};
    return poll(&end, 1, 0) == 1 && end.revents == POLLOUT;
}

// What a connection has of its listener's buffers, its pair has too. Numbers read as twice what was set.
static void inherit(struct run_socket *made, const struct run_socket *listener, int program_end)
{
    const int32_t send = listener->send_buffer / 2, receive = listener->receive_buffer / 2;
    made->send_buffer = listener->send_buffer;
    made->receive_buffer = listener->receive_buffer;
    if (send != 0)
        (void)setsockopt(program_end, SOL_SOCKET, SO_SNDBUF, &send, sizeof send);
    if (receive != 0)
        (void)setsockopt(made->end, SOL_SOCKET, SO_SNDBUF, &receive, sizeof receive);
}

// A connection of the leader's, for one of its group. false: there is none.
static bool accept_one(struct run_socket *leader, struct run_socket *listener)
{
    struct run_server *const server = leader->server;
    struct run_accepted record = {.magic = RUN_MAGIC};
    struct weir_sockaddr_storage name;
    weir_socklen length = RUN_ADDRESS;
    int pair[2];
    const int fd = bsd_accept4(server->bsd, leader->fd, (struct weir_sockaddr *)&name, &length, WEIR_SOCK_NONBLOCK);
    if (fd < 0)
        return false;
    struct run_socket *made = NULL;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0) {
        made = run_socket_make(server, fd, pair[0], listener->domain, SOCK_STREAM);
        if (made == NULL) {
            close(pair[0]);
            close(pair[1]);
        }
    }
    if (made == NULL) {
        (void)bsd_close(server->bsd, fd);
        return true;
    }
    made->connected = true;
    inherit(made, leader, pair[1]);
    record.length = length;
    memcpy(record.address, &name, length < RUN_ADDRESS ? length : RUN_ADDRESS);
    const bool taken = hand_over(listener, pair[1], &record);
    close(pair[1]);
    if (!taken) {
        run_socket_end(made, true);
        return true;
    }
    server->count.accepted++;
    leader->turn = listener;
    run_stream_pump(made);
    return true;
}

static void accept_all(struct run_socket *socket)
{
    struct run_socket *const leader = run_group_leader(socket);
    struct run_socket *listener;
    for (int count = 0; count < 256 && (listener = run_group_listener(leader)) != NULL && accept_one(leader, listener);
         count++)
        ;
}

// --- from the stack to the program -------------------------------------------------------------------
// Takes the connection's error; what is queued in the pair is still read by the program.
static void take_error(struct run_socket *socket)
{
    const int error = run_socket_error(socket);
    socket->reset = true;
    socket->error = error || socket->input_done ? error : ECONNRESET;  // (the program may have been told at a send)
}

// The urgent byte, where it stands in the stream.
static void urgent_to_program(struct run_socket *socket)
{
    struct weir *const weir = socket->server->weir;
    uint8_t byte;
    if (weir_socket_at_mark(weir, socket->handle) != 1 || weir_socket_read_urgent(weir, socket->handle, &byte, 1) != 1)
        return;
    if (send(socket->end, &byte, 1, MSG_OOB | MSG_DONTWAIT | MSG_NOSIGNAL) == 1)
        (void)weir_socket_read_urgent(weir, socket->handle, &byte, 0);
    socket->urgent = false;
}

// One chunk. false: there is nothing, no room, or the end.
static bool to_program(struct run_socket *socket)
{
    struct weir *const weir = socket->server->weir;
    if (socket->urgent)
        urgent_to_program(socket);
    struct weir_slice slices[SPANS];
    struct iovec iov[SPANS];
    const int bytes = weir_socket_peek(weir, socket->handle, 0, slices, SPANS);
    if (bytes == 0) {
        socket->output_done = true;
        (void)shutdown(socket->end, SHUT_WR);
        return false;
    }
    if (bytes < 0) {
        if (bytes != WEIR_AGAIN)
            take_error(socket);
        return false;
    }
    int count = 0;
    for (int left = bytes; left > 0; left -= (int)slices[count++].length)
        iov[count] = (struct iovec){(void *)(uintptr_t)slices[count].data, slices[count].length};
    const struct msghdr message = {.msg_iov = iov, .msg_iovlen = (size_t)count};
    const ssize_t sent = sendmsg(socket->end, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent <= 0)
        return false;
    (void)weir_socket_consume(weir, socket->handle, (uint32_t)sent);
    return true;
}

// --- from the program to the stack -------------------------------------------------------------------
static void program_done(struct run_socket *socket)
{
    int error = 0;
    socklen_t length = sizeof error;
    socket->input_done = true;
    if (getsockopt(socket->end, SOL_SOCKET, SO_ERROR, &error, &length) == 0 && error == ECONNRESET)
        socket->unread = true;
    if (!socket->unread && !socket->hung)  // a close says the rest, as SO_LINGER has it
        (void)weir_socket_shutdown(socket->server->weir, socket->handle, WEIR_SHUT_WRITE);
}

// One chunk. false: there is nothing, no room, or the end.
static bool to_stack(struct run_socket *socket)
{
    struct weir *const weir = socket->server->weir;
    struct weir_span spans[SPANS];
    struct iovec iov[SPANS];
    const int lent = weir_socket_reserve(weir, socket->handle, CHUNK, spans, SPANS);
    if (lent < 0) {
        struct weir_slice unread;
        const bool drained = socket->hung || weir_socket_peek(weir, socket->handle, 0, &unread, 1) <= 0;
        if (lent != WEIR_AGAIN && lent != WEIR_SHUT_DOWN) {
            if (drained)
                take_error(socket);
            else  // what has come is still to be read; sending fails at once
                (void)shutdown(socket->end, SHUT_RD);
            socket->input_done = true;
        }
        return false;
    }
    int count = 0;
    for (int left = lent; left > 0; left -= (int)spans[count++].length)
        iov[count] = (struct iovec){spans[count].data, spans[count].length};
    struct msghdr message = {.msg_iov = iov, .msg_iovlen = (size_t)count};
    const ssize_t got = recvmsg(socket->end, &message, MSG_DONTWAIT);
    if (got > 0) {
        (void)weir_socket_commit(weir, socket->handle, (uint32_t)got);
        return got == lent || socket->hung;
    }
    if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
        socket->unread = socket->unread || (got < 0 && errno == ECONNRESET);
        program_done(socket);
    }
    return false;
}

bool run_stream_discard(struct run_socket *socket)
{
    static uint8_t waste[RUN_FILLER];
    while (socket->filler > 0) {
        const ssize_t got = recv(socket->end, waste, socket->filler, MSG_DONTWAIT);
        if (got <= 0)
            return false;
        socket->filler -= (uint32_t)got;
    }
    return true;
}

// Moves what can be moved in the directions that have news.
static void pump(struct run_socket *socket, bool to_the_program, bool to_the_stack)
{
    while (to_the_program && !socket->output_done && !socket->reset && !socket->hung && to_program(socket))
        ;
    while (to_the_stack && !socket->input_done && !socket->reset && to_stack(socket))
        ;
    if (socket->reset || (socket->hung && (socket->input_done || socket->unread))) {
        // The program's own close with data unread, here or in its pair, is a reset, as it is on Linux; what was sent
        // before has left by then.
        if (socket->unread)
            (void)weir_poll(socket->server->weir, weir_now_us(socket->server->weir));
        run_socket_end(socket, socket->unread);
    }
}

void run_stream_pump(struct run_socket *socket) { pump(socket, true, true); }

void run_stream_connected(struct run_socket *socket, int error)
{
    socket->connecting = false;
    socket->connected = error == 0;
    run_call_answer_waiting(socket, error ? -error : RUN_CONNECTED);
    if (error) {
        // Data unread when the end is closed is what makes the program's end report an error, as a refused one does.
        if (socket->filler > 0) {
            socket->error = error;
            run_socket_end(socket, false);
        }
        return;
    }
    (void)run_stream_discard(socket);
    run_stream_pump(socket);
}

void run_stream_event(struct run_source *source, uint32_t events)
{
    struct run_socket *const socket = (struct run_socket *)source;
    if (events & EPOLLERR)
        socket->unread = true;
    if (events & EPOLLHUP)
        socket->hung = true;
    if (!socket->connected) {
        if (events & EPOLLHUP)
            run_socket_end(socket, false);
        else if (socket->listening && events & EPOLLOUT)
            accept_all(socket);
        return;
    }
    pump(socket, events & EPOLLOUT, events & ~(uint32_t)EPOLLOUT);
}

static void connect_news(struct run_socket *socket, uint32_t events)
{
    int error = 0;
    if (!(events & (WEIR_WRITABLE | WEIR_ERROR | WEIR_HANGUP)))
        return;
    error = run_socket_error(socket);
    if (!error && !(weir_socket_ready(socket->server->weir, socket->handle) & WEIR_WRITABLE))
        error = ECONNREFUSED;
    run_stream_connected(socket, error);
}

void run_stream_news(struct weir_watch *watch, weir_socket handle, uint32_t events)
{
    struct run_socket *const socket =
        (struct run_socket *)(void *)((uint8_t *)watch - offsetof(struct run_socket, watch));
    (void)handle;
    socket->urgent = socket->urgent || events & WEIR_URGENT;
    if (socket->listening || socket->members != NULL) {
        accept_all(socket);
    } else if (socket->connecting) {
        connect_news(socket, events);
    } else if (socket->connected) {
        pump(socket, events & ~(uint32_t)WEIR_WRITABLE, events & ~(uint32_t)WEIR_READABLE);
    }
}
