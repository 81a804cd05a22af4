// SPDX-License-Identifier: BSD-2-Clause
// BSD's calls of a client process, but for those that wait for several sockets (process_poll.c).
#include <stdarg.h>

#include "process_sockets.h"
#include "weir/error.h"
#include "weir/port.h"

#define FLAGS_DATA (WEIR_MSG_DONTWAIT | WEIR_MSG_NOSIGNAL)

int process_errno(void) { return micro_process_self()->error; }

// A call waits as its socket does.
static int begin(struct micro_call *call, int fd, bool now)
{
    const int error = micro_call_begin(call, fd, WEIR_NEVER);
    if (!error && (now || call->descriptor->nonblocking))
        call->client->timeout_us = 0;
    return error;
}

static int end(const struct micro_call *call, int result) { return bsd_result(&call->process->bsd, result); }

static int name_in(const struct micro_call *call, const struct weir_sockaddr *address, weir_socklen length,
                   struct weir_endpoint *out)
{
    struct bsd_name name;
    const int error = bsd_address_in(&call->process->bsd, address, length, &name);
    *out = name.endpoint;
    return error ? error : name.family == WEIR_AF_INET ? WEIR_OK : BSD_NO_FAMILY;
}

static int name_out(const struct micro_call *call, const struct weir_endpoint *endpoint, struct weir_sockaddr *address,
                    weir_socklen *length)
{
    return bsd_address_out(&call->process->bsd, WEIR_AF_INET, endpoint, address, length);
}

// --- sockets ---------------------------------------------------------------------------------------------------------
int weir_posix_socket(int domain, int type, int protocol)
{
    struct micro_process *process = micro_process_self();
    const int kind = type & ~(WEIR_SOCK_NONBLOCK | WEIR_SOCK_CLOEXEC);
    const int own = kind == WEIR_SOCK_STREAM ? WEIR_IPPROTO_TCP : WEIR_IPPROTO_UDP;
    if (domain != WEIR_AF_INET)
        return bsd_fail(&process->bsd, BSD_NO_FAMILY);
    if ((kind != WEIR_SOCK_STREAM && kind != WEIR_SOCK_DGRAM) || (protocol && protocol != own))
        return bsd_fail(&process->bsd, BSD_NO_PROTOCOL);
    const int fd = micro_descriptor_open(process, kind == WEIR_SOCK_STREAM ? WEIR_STREAM : WEIR_DATAGRAM);
    if (fd >= 0)
        process->descriptors[fd].nonblocking = type & WEIR_SOCK_NONBLOCK;
    return bsd_result(&process->bsd, fd);
}

int weir_posix_close(int fd)
{
    struct micro_call call;
    const int error = begin(&call, fd, false);
    return end(&call, error ? error : micro_descriptor_close(call.process, call.descriptor));
}

int weir_posix_bind(int fd, const struct weir_sockaddr *address, weir_socklen length)
{
    struct micro_call call;
    struct weir_endpoint local;
    int result = begin(&call, fd, false);
    if (!result)
        result = name_in(&call, address, length, &local);
    return end(&call, result ? result : client_bind(call.client, call.channel, &local));
}

int weir_posix_listen(int fd, int backlog)
{
    struct micro_call call;
    const int error = begin(&call, fd, false);
    return end(&call, error ? error : client_listen(call.client, call.channel, backlog > 1 ? (uint32_t)backlog : 1));
}

int weir_posix_accept4(int fd, struct weir_sockaddr *address, weir_socklen *length, int flags)
{
    struct micro_call call;
    struct weir_endpoint peer;
    int result = begin(&call, fd, false);
    if (!result)
        result = client_accept(call.client, call.channel, &peer);
    if (result < 0)
        return end(&call, result);
    const int error = name_out(&call, &peer, address, length);
    if (error) {
        (void)client_close(call.client, result);
        return end(&call, error);
    }
    const int accepted = micro_descriptor_put(call.process, result, WEIR_STREAM);
    call.process->descriptors[accepted].nonblocking = flags & WEIR_SOCK_NONBLOCK;
    return accepted;
}
int weir_posix_accept(int fd, struct weir_sockaddr *address, weir_socklen *length)
{
    return weir_posix_accept4(fd, address, length, 0);
}

int weir_posix_connect(int fd, const struct weir_sockaddr *address, weir_socklen length)
{
    struct micro_call call;
    struct weir_endpoint peer;
    int result = begin(&call, fd, false);
    if (!result)
        result = name_in(&call, address, length, &peer);
    if (result)
        return end(&call, result);
    const bool again = call.descriptor->connecting;
    result = micro_connect(call.process, call.descriptor, &peer, call.client->timeout_us);
    return end(&call, result != WEIR_AGAIN ? result : again ? BSD_ALREADY : WEIR_IN_PROGRESS);
}

int weir_posix_shutdown(int fd, int how)
{
    struct micro_call call;
    const int error = begin(&call, fd, false);
    if (error || how < WEIR_SHUT_RD || how > WEIR_SHUT_RDWR)
        return end(&call, error ? error : WEIR_INVALID);
    return end(&call, client_shutdown(call.client, call.channel, (enum weir_shutdown)(how + 1)));
}

static int name_of(int fd, struct weir_sockaddr *address, weir_socklen *length,
                   int (*ask)(struct client *, int, struct weir_endpoint *))
{
    struct micro_call call;
    struct weir_endpoint endpoint;
    int result = begin(&call, fd, false);
    if (!result)
        result = ask(call.client, call.channel, &endpoint);
    return end(&call, result < 0 ? result : name_out(&call, &endpoint, address, length));
}
int weir_posix_getsockname(int fd, struct weir_sockaddr *address, weir_socklen *length)
{
    return name_of(fd, address, length, client_getsockname);
}
int weir_posix_getpeername(int fd, struct weir_sockaddr *address, weir_socklen *length)
{
    return name_of(fd, address, length, client_getpeername);
}

// --- data ------------------------------------------------------------------------------------------------------------
static uint32_t at_most(size_t bytes) { return bytes < INT32_MAX ? (uint32_t)bytes : INT32_MAX; }

// All of it where the call may wait; what there was room for otherwise, or before the connection broke.
static int send_stream(const struct micro_call *call, const void *data, uint32_t bytes)
{
    uint32_t done = 0;
    int some = 0;
    while (done < bytes &&
           (some = client_send(call->client, call->channel, (const uint8_t *)data + done, bytes - done)) > 0)
        done += (uint32_t)some;
    return done ? (int)done : some;
}

weir_ssize weir_posix_sendto(int fd, const void *data, size_t bytes, int flags, const struct weir_sockaddr *address,
                             weir_socklen length)
{
    struct micro_call call;
    struct weir_endpoint peer;
    int result = begin(&call, fd, flags & WEIR_MSG_DONTWAIT);
    if (!result && flags & ~FLAGS_DATA)
        result = WEIR_NOT_SUPPORTED;
    if (!result && address && call.descriptor->type == WEIR_DATAGRAM)
        result = name_in(&call, address, length, &peer);
    if (result)
        return end(&call, result);
    if (call.descriptor->type == WEIR_STREAM)
        return end(&call, send_stream(&call, data, at_most(bytes)));
    return end(&call, client_sendto(call.client, call.channel, data, at_most(bytes), address ? &peer : NULL));
}
weir_ssize weir_posix_send(int fd, const void *data, size_t bytes, int flags)
{
    return weir_posix_sendto(fd, data, bytes, flags, NULL, 0);
}
weir_ssize weir_posix_write(int fd, const void *data, size_t bytes)
{
    return weir_posix_sendto(fd, data, bytes, 0, NULL, 0);
}

weir_ssize weir_posix_recvfrom(int fd, void *data, size_t bytes, int flags, struct weir_sockaddr *address,
                               weir_socklen *length)
{
    struct micro_call call;
    struct weir_endpoint peer;
    int result = begin(&call, fd, flags & WEIR_MSG_DONTWAIT);
    if (!result && flags & ~FLAGS_DATA)
        result = WEIR_NOT_SUPPORTED;
    if (result)
        return end(&call, result);
    if (call.descriptor->type == WEIR_STREAM)
        return end(&call, client_recv(call.client, call.channel, data, at_most(bytes)));
    result = client_recvfrom(call.client, call.channel, data, at_most(bytes), &peer);
    if (result > (int)at_most(bytes))
        result = (int)at_most(bytes);
    const int error = result < 0 ? result : name_out(&call, &peer, address, length);
    return end(&call, error ? error : result);
}
weir_ssize weir_posix_recv(int fd, void *data, size_t bytes, int flags)
{
    return weir_posix_recvfrom(fd, data, bytes, flags, NULL, NULL);
}
weir_ssize weir_posix_read(int fd, void *data, size_t bytes)
{
    return weir_posix_recvfrom(fd, data, bytes, 0, NULL, NULL);
}

// --- options ---------------------------------------------------------------------------------------------------------
// The error that waits: of an attempt to connect, or of the connection.
static int pending_error(const struct micro_call *call)
{
    if (call->descriptor->connecting) {
        const int connected = micro_connect_end(call->process, call->descriptor);
        return connected == WEIR_IN_PROGRESS ? 0 : weir_bsd_errno(connected);
    }
    return weir_bsd_errno(client_take_error(call->client, call->channel));
}

static int option_of(const struct micro_call *call, int level, int name, int32_t *value)
{
    enum weir_option option;
    if (level == WEIR_SOL_SOCKET && name == WEIR_SO_ERROR)
        *value = pending_error(call);
    else if (level == WEIR_SOL_SOCKET && name == WEIR_SO_TYPE)
        *value = call->descriptor->type == WEIR_STREAM ? WEIR_SOCK_STREAM : WEIR_SOCK_DGRAM;
    else if (!bsd_option_plain(level, name, &option))
        return BSD_NO_PROTOCOL_OPTION;
    else
        return client_getsockopt(call->client, call->channel, option, value);
    return WEIR_OK;
}

int weir_posix_getsockopt(int fd, int level, int name, void *value, weir_socklen *length)
{
    struct micro_call call;
    weir_socklen room;
    int32_t found = 0;
    int result = begin(&call, fd, false);
    if (!result && bsd_copy_in(&call.process->bsd, &room, length, sizeof room))
        result = WEIR_FAULT;
    if (!result)
        result = option_of(&call, level, name, &found);
    if (result < 0)
        return end(&call, result);
    const weir_socklen bytes = room < sizeof found ? room : sizeof found;
    const bool bad = bsd_copy_out(&call.process->bsd, value, &found, bytes) ||
                     bsd_copy_out(&call.process->bsd, length, &bytes, sizeof bytes);
    return end(&call, bad ? WEIR_FAULT : WEIR_OK);
}

int weir_posix_setsockopt(int fd, int level, int name, const void *value, weir_socklen length)
{
    struct micro_call call;
    enum weir_option option;
    int32_t given;
    int result = begin(&call, fd, false);
    if (!result && length < sizeof given)
        result = WEIR_INVALID;
    if (!result && bsd_copy_in(&call.process->bsd, &given, value, sizeof given))
        result = WEIR_FAULT;
    if (!result && !bsd_option_plain(level, name, &option))
        result = BSD_NO_PROTOCOL_OPTION;
    return end(&call, result ? result : client_setsockopt(call.client, call.channel, option, given));
}

int weir_posix_fcntl(int fd, int command, ...)
{
    struct micro_call call;
    va_list rest;
    va_start(rest, command);
    const int value = command == WEIR_F_SETFL || command == WEIR_F_SETFD ? va_arg(rest, int) : 0;
    va_end(rest);
    const int error = begin(&call, fd, false);
    if (error)
        return end(&call, error);
    switch (command) {
    case WEIR_F_GETFL: return WEIR_O_RDWR | (call.descriptor->nonblocking ? WEIR_O_NONBLOCK : 0);
    case WEIR_F_SETFL: call.descriptor->nonblocking = value & WEIR_O_NONBLOCK; return 0;
    case WEIR_F_GETFD:
    case WEIR_F_SETFD: return 0;
    default: return end(&call, WEIR_INVALID);
    }
}

// --- names: numeric ones, and services -------------------------------------------------------------------------------
int weir_posix_getaddrinfo(const char *node, const char *service, const struct weir_addrinfo *hints,
                           struct weir_addrinfo **out)
{
    return bsd_getaddrinfo(&micro_process_self()->bsd, node, service, hints, out);
}
void weir_posix_freeaddrinfo(struct weir_addrinfo *list) { bsd_freeaddrinfo(&micro_process_self()->bsd, list); }
