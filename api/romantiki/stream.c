// SPDX-License-Identifier: BSD-2-Clause
// Streams. The functions that may block keep nothing of their own: what is done so far stands in *received, *sent and
// the socket.
#include "ports/coop/coop_port.h"
#include "internal.h"

static void event(struct weir_watch *watch, weir_socket handle, uint32_t events)
{
    struct romantiki_socket *socket = (struct romantiki_socket *)(void *)watch;  // its first member
    (void)handle, (void)events;
    coop_wake(socket);
    if (socket->selected)
        coop_wake(&romantiki_select_token);
}

void romantiki_socket_init(struct romantiki_socket *socket, uint8_t mode, uint32_t limit)
{
    *socket = (struct romantiki_socket){
        .watch = {event}, .mode = mode, .limit = (uint16_t)(limit < UINT16_MAX ? limit : UINT16_MAX)};
}

// The compact stack splits by a build option, for all its sockets.
static bool splits(const struct romantiki_socket *socket) { return !WEIR_CFG_COMPACT && socket->mode & SOCK_SPLIT; }

void romantiki_take(struct romantiki_socket *socket, weir_socket handle)
{
    socket->handle = handle;
    (void)weir_socket_set_user(coop_port_weir(), handle, &socket->watch);
    if (splits(socket))
        // the second half shall not wait for the first's ACK
        (void)weir_socket_set(coop_port_weir(), handle, WEIR_OPTION_NO_DELAY, 1);
}

// A stream: what its peer may send unread is no more than its buffer, in the build where queues have limits of their
// own.
void romantiki_take_stream(struct romantiki_socket *socket, weir_socket handle)
{
    romantiki_take(socket, handle);
    if (!WEIR_CFG_COMPACT && socket->limit)
        (void)weir_socket_set(coop_port_weir(), handle, WEIR_OPTION_RECEIVE_BUFFER, socket->limit);
}

int socket_close(struct romantiki_socket *socket)
{
    const weir_socket handle = socket->handle;
    socket->handle = 0;
    return handle && weir_socket_close(coop_port_weir(), handle) < 0 ? WEIR_BAD_SOCKET : EOK;
}

BFD romantiki_wait(struct romantiki_socket *socket, int result, int *res)
{
    if (result != WEIR_AGAIN || socket->mode & SOCK_NONBLOCKING) {
        *res = result < 0 ? result : EOK;
        return BF_DONE;
    }
    if (coop_expired()) {
        *res = ETIMEOUT;
        return BF_DONE;
    }
    return coop_block(socket);
}

int socket_listen(struct romantiki_socket *socket, uint16_t port, uint32_t address)
{
    struct weir *weir = coop_port_weir();
    const struct weir_endpoint local = {address ? weir_addr_v4(address) : weir_addr_any(), port};
    const weir_socket handle = weir_socket_open(weir, WEIR_STREAM, 0);
    if (handle < 0)
        return handle;
    romantiki_take(socket, handle);
    int result = weir_socket_bind(weir, handle, &local);
    if (result == WEIR_OK)
        result = weir_socket_listen(weir, handle, socket->limit ? socket->limit : WEIR_CFG_LISTEN_BACKLOG_MAX);
    if (result == WEIR_OK)
        return EOK;
    (void)socket_close(socket);
    return result;
}

BFD romantiki_accept(struct romantiki_socket *listener, struct romantiki_socket *stream, int *res)
{
    const weir_socket handle = weir_socket_accept(coop_port_weir(), listener->handle);
    if (handle > 0)
        romantiki_take_stream(stream, handle);
    return romantiki_wait(listener, handle, res);
}

BFD romantiki_recv(struct romantiki_socket *socket, void *data, unsigned bytes, unsigned *received, int *res)
{
    if (coop_gives_way())
        return BF_BLOCKED;
    const int got = weir_socket_read(coop_port_weir(), socket->handle, data, bytes);
    *received = got > 0 ? (unsigned)got : 0;
    if (got > 0) {
        *res = EOK;
        return BF_DONE;
    }
    if (got == WEIR_AGAIN && socket->mode & SOCK_ACK_WAITING)
        (void)weir_socket_acknowledge(coop_port_weir(), socket->handle);
    return romantiki_wait(socket, got, res);
}

BFD romantiki_send(struct romantiki_socket *socket, const void *data, unsigned bytes, unsigned *sent, int *res)
{
    if (coop_gives_way())
        return BF_BLOCKED;
    const bool half = splits(socket) && !*sent && bytes > 1;
    const unsigned end = half ? (bytes + 1) / 2 : bytes;
    // Until it is refused: only a refusal is followed by news of room.
    int put;
    do {
        put = weir_socket_write(coop_port_weir(), socket->handle, (const uint8_t *)data + *sent, end - *sent);
        if (put <= 0)
            return romantiki_wait(socket, put, res);
        *sent += (unsigned)put;
    } while (*sent < end);
    *res = EOK;
    return half ? BF_BLOCKED : BF_DONE;  // half: though ready, so that the stack sends this before the task goes on
}
