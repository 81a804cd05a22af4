// SPDX-License-Identifier: BSD-2-Clause
// The thesis's calls (api/flock/flock.h) of a client process. On one address one process listens at a time.
#include "api/flock/system.h"
#include "process_sockets.h"
#include "weir/error.h"
#include "weir/port.h"

static int begin(struct micro_call *call, int socket, enum weir_socket_type type, unsigned timeout_ms)
{
    const int error =
        micro_call_begin(call, socket, timeout_ms == FLOCK_FOREVER ? WEIR_NEVER : timeout_ms * UINT64_C(1000));
    return error || call->descriptor->type == type ? error : WEIR_BAD_SOCKET;
}

static int end(int result) { return result >= 0 ? result : result == WEIR_AGAIN ? FLOCK_LATE : -1; }

static int address_in(const struct micro_call *call, const struct sockaddr *address, struct weir_endpoint *out)
{
    struct sockaddr copy;
    if (!address || client_copy_in(call->client, &copy, address, sizeof copy))
        return WEIR_FAULT;
    *out = (struct weir_endpoint){weir_addr_v4(copy.addr), copy.port};
    return WEIR_OK;
}

static int open_socket(enum weir_socket_type type)
{
    const int socket = micro_descriptor_open(micro_process_self(), type);
    return socket < 0 ? -1 : socket;
}

static int close_socket(int socket, enum weir_socket_type type)
{
    struct micro_call call;
    const int error = begin(&call, socket, type, 0);
    return end(error ? error : micro_descriptor_close(call.process, call.descriptor));
}

// --- UDP -------------------------------------------------------------------------------------------------------------
int udpsocket(void) { return open_socket(WEIR_DATAGRAM); }

int udpbind(int socket, const struct sockaddr *src)
{
    struct micro_call call;
    struct weir_endpoint local;
    int result = begin(&call, socket, WEIR_DATAGRAM, 0);
    if (!result)
        result = address_in(&call, src, &local);
    return end(result ? result : client_bind(call.client, call.channel, &local));
}

int udpsendto(int socket, const struct sockaddr *dst, const char *buf, unsigned len)
{
    struct micro_call call;
    struct weir_endpoint peer;
    int result = begin(&call, socket, WEIR_DATAGRAM, FLOCK_FOREVER);
    if (!result)
        result = address_in(&call, dst, &peer);
    return end(result ? result : client_sendto(call.client, call.channel, buf, len, &peer));
}

int udprecvfrom_for(int socket, struct sockaddr *src, char *buf, unsigned len, unsigned timeout_ms)
{
    struct micro_call call;
    struct weir_endpoint peer;
    int result = begin(&call, socket, WEIR_DATAGRAM, timeout_ms);
    if (!result)
        result = client_recvfrom(call.client, call.channel, buf, len, &peer);
    if (result < 0)
        return end(result);
    const struct sockaddr from = {weir_addr_to_v4(peer.addr), peer.port};
    if (src && client_copy_out(call.client, src, &from, sizeof from))
        return -1;
    return (unsigned)result < len ? result : (int)len;
}
int udprecvfrom(int socket, struct sockaddr *src, char *buf, unsigned len)
{
    return udprecvfrom_for(socket, src, buf, len, FLOCK_FOREVER);
}

int udpclose(int socket) { return close_socket(socket, WEIR_DATAGRAM); }

// --- TCP -------------------------------------------------------------------------------------------------------------
int tcpsocket(void) { return open_socket(WEIR_STREAM); }

// Whether another of the process's streams, which does not listen, has the port.
static bool taken(const struct micro_call *call, uint16_t port)
{
    struct weir_endpoint local;
    for (int fd = 0; fd < CLIENT_CHANNELS; fd++) {
        const struct micro_descriptor *other = &call->process->descriptors[fd];
        if (port && other != call->descriptor && other->channel >= 0 && other->type == WEIR_STREAM &&
            client_getsockname(call->client, other->channel, &local) >= 0 && local.port == port)
            return true;
    }
    return false;
}

int tcpbind(int socket, const struct sockaddr *src)
{
    struct micro_call call;
    struct weir_endpoint local;
    int result = begin(&call, socket, WEIR_STREAM, 0);
    if (!result)
        result = address_in(&call, src, &local);
    if (!result && taken(&call, local.port))
        result = WEIR_IN_USE;
    if (!result)
        result = client_setsockopt(call.client, call.channel, WEIR_OPTION_REUSE_ADDRESS, 1);
    return end(result ? result : client_bind(call.client, call.channel, &local));
}

int tcpconnect_for(int socket, const struct sockaddr *dst, unsigned timeout_ms)
{
    struct micro_call call;
    struct weir_endpoint peer;
    int result = begin(&call, socket, WEIR_STREAM, timeout_ms);
    if (!result)
        result = address_in(&call, dst, &peer);
    return end(result ? result : micro_connect(call.process, call.descriptor, &peer, call.client->timeout_us));
}
int tcpconnect(int socket, const struct sockaddr *dst) { return tcpconnect_for(socket, dst, FLOCK_FOREVER); }

// The socket becomes the connection; without one it stays bound, and listens no more.
int tcplisten_for(int socket, unsigned timeout_ms)
{
    struct micro_call call;
    int result = begin(&call, socket, WEIR_STREAM, timeout_ms);
    if (!result)
        result = client_listen(call.client, call.channel, 1);
    if (result < 0)
        return end(result);
    result = client_accept(call.client, call.channel, NULL);
    if (result >= 0) {
        (void)client_close(call.client, call.channel);
        call.descriptor->channel = (int8_t)result;
        return 0;
    }
    const int renewed = micro_descriptor_renew(call.process, call.descriptor);
    return end(renewed < 0 ? renewed : result);
}
int tcplisten(int socket) { return tcplisten_for(socket, FLOCK_FOREVER); }

int tcpsend(int socket, const char *buf, unsigned len)
{
    struct micro_call call;
    unsigned done = 0;
    int some = begin(&call, socket, WEIR_STREAM, FLOCK_FOREVER);
    while (some >= 0 && done < len) {
        some = client_send(call.client, call.channel, buf + done, len - done);
        done += some > 0 ? (unsigned)some : 0;
    }
    return done ? (int)done : end(some);
}

int tcprecv_for(int socket, char *buf, unsigned len, unsigned timeout_ms)
{
    struct micro_call call;
    const int error = begin(&call, socket, WEIR_STREAM, timeout_ms);
    return end(error ? error : client_recv(call.client, call.channel, buf, len));
}
int tcprecv(int socket, char *buf, unsigned len) { return tcprecv_for(socket, buf, len, FLOCK_FOREVER); }

int tcpclose(int socket) { return close_socket(socket, WEIR_STREAM); }
