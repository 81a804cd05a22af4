// SPDX-License-Identifier: BSD-2-Clause
// A socket's life: socket, bind, listen, accept, connect, shutdown, close, and its names.
#include "internal.h"

struct kind {
    int type, protocol;  // protocol −1: any
    enum weir_socket_type native;
    int implied;  // the protocol when 0 is asked for
};

static const struct kind kinds[] = {
    {WEIR_SOCK_STREAM, WEIR_IPPROTO_TCP, WEIR_STREAM, WEIR_IPPROTO_TCP},
    {WEIR_SOCK_DGRAM, WEIR_IPPROTO_UDP, WEIR_DATAGRAM, WEIR_IPPROTO_UDP},
    {WEIR_SOCK_DGRAM, WEIR_IPPROTO_ICMP, WEIR_ICMP, -1},
    {WEIR_SOCK_RAW, -1, WEIR_RAW, -1},
};

#if WEIR_CFG_IP6
static const struct kind echo6 = {WEIR_SOCK_DGRAM, WEIR_IPPROTO_ICMPV6, WEIR_ICMP, -1};

static bool family_known(int domain) { return (WEIR_CFG_IP4 && domain == WEIR_AF_INET) || domain == WEIR_AF_INET6; }
// The kind in place of one found: echo sockets have a protocol of their family's.
static const struct kind *kind_in(int domain, const struct kind *found, int type, int protocol)
{
    if (domain != WEIR_AF_INET6)
        return found;
    if (type == WEIR_SOCK_DGRAM && protocol == WEIR_IPPROTO_ICMPV6)
        return &echo6;
    return found && found->native == WEIR_ICMP ? NULL : found;
}
static int family_choose(struct weir_bsd *bsd, weir_socket socket, int domain, enum weir_socket_type type)
{
    const bool ports = type == WEIR_STREAM || type == WEIR_DATAGRAM;
    return weir_socket_set(bsd->weir, socket, WEIR_OPTION_FAMILY, domain == WEIR_AF_INET ? 4 : ports ? 0 : 6);
}
#else
static bool family_known(int domain) { return domain == WEIR_AF_INET; }
static const struct kind *kind_in(int domain, const struct kind *found, int type, int protocol)
{
    return (void)domain, (void)type, (void)protocol, found;
}
static int family_choose(struct weir_bsd *bsd, weir_socket socket, int domain, enum weir_socket_type type)
{
    return (void)bsd, (void)socket, (void)domain, (void)type, WEIR_OK;
}
#endif

static const struct kind *kind_for(int type, int *protocol)
{
    for (size_t index = 0; index < sizeof kinds / sizeof *kinds; index++) {
        const struct kind *kind = &kinds[index];
        if (kind->type != type)
            continue;
        if (*protocol == 0 && kind->implied > 0)
            *protocol = kind->implied;
        if (kind->protocol == *protocol || (kind->protocol < 0 && *protocol > 0 && *protocol < 256))
            return kind;
    }
    return NULL;
}

// A new file for a native socket that exists already; on failure the socket is the caller's.
static int file_for(struct weir_bsd *bsd, weir_socket socket, int domain, enum weir_socket_type type, int protocol,
                    int flags)
{
    struct bsd_file *file;
    const int fd = bsd_file_open(bsd, &file);
    if (fd < 0)
        return fd;
    file->socket = socket;
    file->type = (uint8_t)type;
    file->protocol = (uint8_t)protocol;
    bsd_family_set(file, domain);
    file->flags = flags & WEIR_SOCK_NONBLOCK ? BSD_NONBLOCK : 0;
    weir_socket_set_user(bsd->weir, socket, &file->watch);
    return fd;
}

static int open_socket(struct weir_bsd *bsd, int domain, const struct kind *kind, int protocol, int flags)
{
    const weir_socket socket = weir_socket_open(bsd->weir, kind->native, (uint8_t)protocol);
    if (socket < 0)
        return socket == WEIR_NOT_SUPPORTED ? BSD_NO_PROTOCOL : socket;
    const int error = family_choose(bsd, socket, domain, kind->native);
    const int fd = error ? error : file_for(bsd, socket, domain, kind->native, protocol, flags);
    if (fd < 0)
        weir_socket_close(bsd->weir, socket);
    return fd;
}

int bsd_socket(struct weir_bsd *bsd, int domain, int type, int protocol)
{
    const int flags = type & (WEIR_SOCK_NONBLOCK | WEIR_SOCK_CLOEXEC);
    const struct kind *kind = kind_for(type & ~flags, &protocol);
    kind = kind_in(domain, kind, type & ~flags, protocol);
    if (!family_known(domain))
        return bsd_fail(bsd, BSD_NO_FAMILY);
    if (!kind)
        return bsd_fail(bsd, BSD_NO_PROTOCOL);
    bsd_enter(bsd);
    const int fd = open_socket(bsd, domain, kind, protocol, flags);
    bsd_leave(bsd);
    return bsd_result(bsd, fd);
}

int bsd_bind(struct weir_bsd *bsd, int fd, const struct weir_sockaddr *address, weir_socklen length)
{
    struct bsd_name local;
    struct bsd_file *file;
    int error = bsd_address_in(bsd, address, length, &local);
    if (error)
        return bsd_fail(bsd, error);
    bsd_enter(bsd);
    error = bsd_socket_pin(bsd, fd, &file);
    if (!error) {
        error = bsd_name_check(file, &local);
        if (!error)
            error = weir_socket_bind(bsd->weir, file->socket, &local.endpoint);
        bsd_file_unpin(file);
    }
    bsd_leave(bsd);
    return bsd_result(bsd, error);
}

int bsd_listen(struct weir_bsd *bsd, int fd, int backlog)
{
    struct bsd_file *file;
    bsd_enter(bsd);
    int error = bsd_socket_pin(bsd, fd, &file);
    if (!error) {
        error = weir_socket_listen(bsd->weir, file->socket, backlog < 0 ? 0 : (uint32_t)backlog);
        bsd_file_unpin(file);
    }
    bsd_leave(bsd);
    return bsd_result(bsd, error);
}

// Inside the listener's gate. The descriptor comes first, so that no connection is lost for want of one.
static int accept_one(struct weir_bsd *bsd, struct bsd_file *listener, int flags, struct weir_endpoint *peer)
{
    struct bsd_file *file;
    const int fd = bsd_file_open(bsd, &file);
    if (fd < 0)
        return fd;
    const weir_socket socket = weir_socket_accept(bsd->weir, listener->socket);
    if (socket < 0) {
        bsd_file_unpin(bsd_file_remove(bsd, fd));
        return socket;
    }
    file->socket = socket;
    file->type = WEIR_STREAM;
    file->protocol = WEIR_IPPROTO_TCP;
    bsd_family_set(file, listener->family);
    file->flags = flags & WEIR_SOCK_NONBLOCK ? BSD_NONBLOCK : 0;
    weir_socket_set_user(bsd->weir, socket, &file->watch);
    if (weir_socket_peer(bsd->weir, socket, peer) != WEIR_OK)  // it ended while it waited; Linux hands it out as well
        *peer = (struct weir_endpoint){0};
    const int error = bsd_layer_of(listener) ? bsd_layer_of(listener)->accepted(listener, file) : WEIR_OK;
    if (error)
        bsd_file_unpin(bsd_file_remove(bsd, fd));
    return error ? error : fd;
}

static int accept_wait(struct weir_bsd *bsd, struct bsd_file *listener, int flags, struct weir_endpoint *peer)
{
    const bool patient = !(listener->flags & BSD_NONBLOCK);
    const uint64_t deadline_us = bsd_deadline(bsd, listener->receive_timeout_us);
    int result = bsd_gate_enter(listener, &listener->read, deadline_us, patient);
    if (result)
        return result;
    while ((result = accept_one(bsd, listener, flags, peer)) == WEIR_AGAIN && patient) {
        const int error = bsd_gate_sleep(listener, &listener->read, deadline_us);
        if (error) {
            result = error;
            break;
        }
    }
    bsd_gate_leave(listener, &listener->read);
    return result;
}

int bsd_accept4(struct weir_bsd *bsd, int fd, struct weir_sockaddr *address, weir_socklen *length, int flags)
{
    struct bsd_file *listener;
    struct weir_endpoint peer;
    uint8_t family = WEIR_AF_INET;
    bsd_enter(bsd);
    int result = bsd_socket_pin(bsd, fd, &listener);
    if (!result) {
        family = bsd_family(listener);
        result = accept_wait(bsd, listener, flags, &peer);
        bsd_file_unpin(listener);
    }
    bsd_leave(bsd);
    if (result >= 0 && bsd_address_out(bsd, family, &peer, address, length)) {
        bsd_close(bsd, result);
        result = WEIR_FAULT;
    }
    return bsd_result(bsd, result);
}

int bsd_accept(struct weir_bsd *bsd, int fd, struct weir_sockaddr *address, weir_socklen *length)
{
    return bsd_accept4(bsd, fd, address, length, 0);
}

int bsd_connect_state(struct weir_bsd *bsd, struct bsd_file *file)
{
    const int level = bsd_file_level(file);
    int32_t error = WEIR_OK;
    if (!(level & (WEIR_WRITABLE | WEIR_ERROR | WEIR_HANGUP)))
        return WEIR_IN_PROGRESS;
    weir_socket_get(bsd->weir, file->socket, WEIR_OPTION_ERROR, &error);
    if (!error && !(level & WEIR_WRITABLE))
        error = WEIR_REFUSED;  // the error was taken by SO_ERROR before
    file->flags &= (uint8_t)~BSD_CONNECTING;
    return error;
}

// The attempt goes on when the wait ends early, as POSIX says for EINTR (and Linux for SO_SNDTIMEO: EINPROGRESS).
static int connect_wait(struct weir_bsd *bsd, struct bsd_file *file)
{
    const uint64_t deadline_us = bsd_deadline(bsd, file->send_timeout_us);
    int error = bsd_gate_enter(file, &file->write, deadline_us, true);
    if (error)
        return error == WEIR_AGAIN ? WEIR_IN_PROGRESS : error;
    while ((error = bsd_connect_state(bsd, file)) == WEIR_IN_PROGRESS) {
        const int slept = bsd_gate_sleep(file, &file->write, deadline_us);
        if (slept) {
            error = slept == WEIR_AGAIN ? WEIR_IN_PROGRESS : slept;
            break;
        }
    }
    bsd_gate_leave(file, &file->write);
    return error;
}

// A group on a link: what is sent to it leaves by the interface that was given with it.
static int connect_native(struct weir_bsd *bsd, struct bsd_file *file, const struct bsd_name *peer)
{
    if (peer->netif_index)
        (void)weir_socket_set(bsd->weir, file->socket, WEIR_OPTION_MULTICAST_NETIF, peer->netif_index);
    return weir_socket_connect(bsd->weir, file->socket, &peer->endpoint);
}

static int connect_file(struct weir_bsd *bsd, struct bsd_file *file, const struct bsd_name *peer)
{
    if (file->flags & BSD_CONNECTING) {
        const int state = bsd_connect_state(bsd, file);
        return state == WEIR_IN_PROGRESS ? BSD_ALREADY : state;
    }
    const int error = connect_native(bsd, file, peer);
    if (error == WEIR_LISTENING)
        return WEIR_CONNECTED;
    if (error != WEIR_IN_PROGRESS)
        return error;
    file->flags |= BSD_CONNECTING;
    if (file->flags & BSD_NONBLOCK)
        return WEIR_IN_PROGRESS;
    const int waited = connect_wait(bsd, file);
    return waited == WEIR_OK && bsd_layer_of(file) ? bsd_layer_of(file)->connected(file) : waited;
}

int bsd_connect_error(struct weir_bsd *bsd, int fd, const struct weir_sockaddr *address, weir_socklen length)
{
    struct bsd_name peer;
    struct bsd_file *file;
    int error = bsd_address_in(bsd, address, length, &peer);
    if (error)
        return error;
    bsd_enter(bsd);
    error = bsd_socket_pin(bsd, fd, &file);
    if (!error) {
        error = bsd_name_peer(file, &peer);
        if (!error)
            error = connect_file(bsd, file, &peer);
        bsd_file_unpin(file);
    }
    bsd_leave(bsd);
    return error;
}

int bsd_connect(struct weir_bsd *bsd, int fd, const struct weir_sockaddr *address, weir_socklen length)
{
    return bsd_result(bsd, bsd_connect_error(bsd, fd, address, length));
}

// Shutting a stream for reading throws its queue away: nobody may be copying out of it. Whoever sleeps in the gate
// copies nothing.
static void reader_out(struct bsd_file *file)
{
    if (bsd_gate_enter(file, &file->read, WEIR_NEVER, false) == WEIR_OK)
        bsd_gate_leave(file, &file->read);
}

int bsd_shutdown(struct weir_bsd *bsd, int fd, int how)
{
    struct bsd_file *file;
    if (how < WEIR_SHUT_RD || how > WEIR_SHUT_RDWR)
        return bsd_fail(bsd, WEIR_INVALID);
    bsd_enter(bsd);
    int error = bsd_socket_pin(bsd, fd, &file);
    if (!error) {
        if (how != WEIR_SHUT_WR)
            reader_out(file);
        if (how != WEIR_SHUT_RD && bsd_layer_of(file))
            (void)bsd_layer_of(file)->shutdown(file);
        error = file->flags & BSD_DEAD ? WEIR_CLOSED
                                       : weir_socket_shutdown(bsd->weir, file->socket, (enum weir_shutdown)(how + 1));
        if (!error)
            bsd_file_notify(file, WEIR_READABLE | WEIR_WRITABLE);  // who sleeps in it looks again
        bsd_file_unpin(file);
    }
    bsd_leave(bsd);
    return bsd_result(bsd, error);
}

#if WEIR_CFG_SOCKET_OPTIONS
#define LINGER_LOOK_US 50000u  // looks again at least so often: an acknowledged FIN is no readiness event

// SO_LINGER with a time: sends FIN and waits until everything is acknowledged. Whatever is left when the time is over
// goes on in the background, as everywhere.
static void linger(struct weir_bsd *bsd, struct bsd_file *file)
{
    int32_t seconds = -1, bytes = 0;
    if (file->type != WEIR_STREAM || file->flags & BSD_NONBLOCK ||
        weir_socket_get(bsd->weir, file->socket, WEIR_OPTION_LINGER_S, &seconds) || seconds <= 0)
        return;
    if (weir_socket_shutdown(bsd->weir, file->socket, WEIR_SHUT_WRITE) != WEIR_OK)
        return;
    const uint64_t deadline_us = bsd_deadline(bsd, (uint64_t)seconds * 1000000u);
    file->flags |= BSD_LINGERING;
    while (!weir_socket_get(bsd->weir, file->socket, WEIR_OPTION_UNACKED_BYTES, &bytes) && bytes > 0 &&
           weir_now_us(bsd->weir) < deadline_us) {
        const uint64_t look_us = weir_now_us(bsd->weir) + LINGER_LOOK_US;
        if (weir_socket_ready(bsd->weir, file->socket) & (WEIR_ERROR | WEIR_HANGUP))
            break;
        const int slept = bsd_sleep(bsd, file, look_us < deadline_us ? look_us : deadline_us);
        if (slept == WEIR_INTERRUPTED || !bsd->port->wait)
            break;
    }
    file->flags &= (uint8_t)~BSD_LINGERING;
}
#else
static void linger(struct weir_bsd *bsd, struct bsd_file *file) { (void)bsd, (void)file; }
#endif

// What a layer has to say before its descriptor goes.
static void layer_closing(struct weir_bsd *bsd, int fd)
{
    struct bsd_file *const file = bsd_file_find(bsd, fd);
    if (!file || !bsd_layer_of(file))
        return;
    file->pins++;
    bsd_layer_of(file)->closing(file);
    bsd_file_unpin(file);
}

int bsd_close(struct weir_bsd *bsd, int fd)
{
    bsd_enter(bsd);
    layer_closing(bsd, fd);
    struct bsd_file *file = bsd_file_remove(bsd, fd);
    if (file) {
        if (!BSD_IS_SET(file))
            linger(bsd, file);
        bsd_file_unpin(file);
    }
    bsd_leave(bsd);
    return file ? 0 : bsd_fail(bsd, WEIR_BAD_SOCKET);
}

static int name(struct weir_bsd *bsd, int fd, int (*look)(struct weir *, weir_socket, struct weir_endpoint *),
                struct weir_sockaddr *address, weir_socklen *length)
{
    struct weir_endpoint endpoint;
    struct bsd_file *file;
    uint8_t family = WEIR_AF_INET;
    bsd_enter(bsd);
    int error = bsd_socket_pin(bsd, fd, &file);
    if (!error) {
        family = bsd_family(file);
        error = look(bsd->weir, file->socket, &endpoint);
        bsd_file_unpin(file);
    }
    bsd_leave(bsd);
    if (!error)
        error = address ? bsd_address_out(bsd, family, &endpoint, address, length) : WEIR_FAULT;
    return bsd_result(bsd, error);
}

int bsd_getsockname(struct weir_bsd *bsd, int fd, struct weir_sockaddr *address, weir_socklen *length)
{
    return name(bsd, fd, weir_socket_local, address, length);
}

int bsd_getpeername(struct weir_bsd *bsd, int fd, struct weir_sockaddr *address, weir_socklen *length)
{
    return name(bsd, fd, weir_socket_peer, address, length);
}
