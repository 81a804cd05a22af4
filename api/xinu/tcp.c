// SPDX-License-Identifier: BSD-2-Clause
// TCP devices: a passive one becomes the connection that comes, as in Xinu, where there is no accept. Several may
// listen at one port.
#include "api/xinu/internal.h"

static struct weir_bsd *bsd(void) { return xinu_system->config.bsd; }

// --- ports that are listened at --------------------------------------------------------------------------------------

static bool same(const struct weir_endpoint *a, const struct weir_endpoint *b)
{
    return weir_addr_equal(a->addr, b->addr) && a->port == b->port;
}

// With the lock. One that others have already, or a free entry (users 0); NULL: none.
static struct xinu_listener *find(const struct weir_endpoint *local)
{
    struct xinu_listener *unused = NULL;
    for (uint32_t i = 0; i < NTCP; i++) {
        struct xinu_listener *listener = &xinu_system->listeners[i];
        if (listener->users > 0 && !listener->broken && same(&listener->local, local))
            return listener;
        if (listener->users == 0)
            unused = listener;
    }
    return unused;
}

// Whoever leaves a listener last closes it.
static void leave_listener(struct xinu_listener *listener)
{
    const struct weir_port *port = xinu_system->config.port;
    int fd = -1;
    xinu_lock();
    if (listener->users == 1 && !listener->broken) {
        fd = listener->fd;
        listener->broken = true;
    }
    xinu_unlock();
    if (fd >= 0)
        (void)bsd_close(bsd(), fd);
    xinu_lock();
    listener->users--;
    if (port->wake)
        port->wake(port->context, listener);
    xinu_unlock();
}

static void leave(struct xinu_device *device)
{
    xinu_lock();
    struct xinu_listener *listener = device->listener;
    device->listener = NULL;
    xinu_unlock();
    if (listener)
        leave_listener(listener);
}

// With the lock, which waiting gives back meanwhile: until nobody is left in a broken listener there, whose socket
// still has the port then.
static void wait_for_broken(const struct weir_endpoint *local)
{
    const struct weir_port *port = xinu_system->config.port;
    for (uint32_t i = 0; i < NTCP; i++)
        while (port->wait && xinu_system->listeners[i].broken && xinu_system->listeners[i].users > 0 &&
               same(&xinu_system->listeners[i].local, local))
            (void)port->wait(port->context, &xinu_system->listeners[i], WEIR_NEVER);
}

// The socket is made before it is known whether it is needed, since nothing of api/bsd is called with the lock held.
static bool join(struct xinu_device *device)
{
    const struct weir_endpoint *local = &device->local;
    int fd = -1;
    for (int tries = 0; tries < 2 && !device->listener; tries++) {
        xinu_lock();
        wait_for_broken(local);
        struct xinu_listener *listener = device->closing ? NULL : find(local);
        if (listener && (listener->users > 0 || fd >= 0)) {
            if (listener->users++ == 0) {
                *listener = (struct xinu_listener){.fd = fd, .users = 1, .local = *local};
                fd = -1;
            }
            device->listener = listener;
        }
        const bool closing = device->closing;
        xinu_unlock();
        if (device->listener || fd >= 0 || closing)
            break;
        fd = xinu_socket(WEIR_SOCK_STREAM, local);
        if (fd >= 0 && bsd_listen(bsd(), fd, NTCP) != 0) {
            (void)bsd_close(bsd(), fd);
            fd = -1;
        }
    }
    if (fd >= 0)
        (void)bsd_close(bsd(), fd);
    return device->listener;
}

static bool wanted(const struct xinu_device *device, const struct weir_endpoint *peer)
{
    return (weir_addr_is_any(device->remote.addr) || weir_addr_equal(device->remote.addr, peer->addr)) &&
           (device->remote.port == 0 || device->remote.port == peer->port);
}

// The next connection for the device; −1: the listener is broken, or the device shall close.
static int next_connection(struct xinu_device *device)
{
    for (;;) {
        struct weir_sockaddr_in address;
        weir_socklen length = sizeof address;
        const int fd = bsd_accept(bsd(), device->listener->fd, (void *)&address, &length);
        if (fd < 0)
            return -1;
        const struct weir_endpoint peer = xinu_endpoint(&address);
        if (wanted(device, &peer)) {
            device->remote = peer;
            return fd;
        }
        (void)bsd_close(bsd(), fd);
    }
}

static int open_passive(struct xinu_device *device)
{
    while (join(device)) {
        const int fd = next_connection(device);
        xinu_lock();
        device->fd = fd;
        const bool broken = device->listener->broken;
        xinu_unlock();
        if (fd >= 0)
            return OK;
        leave(device);
        if (!broken)
            return SYSERR;
    }
    return SYSERR;
}

// Whoever takes it closes it.
static bool take_and_close(struct xinu_device *device)
{
    xinu_lock();
    const int fd = device->fd;
    device->fd = -1;
    xinu_unlock();
    return fd >= 0 && bsd_close(bsd(), fd) == 0;
}

static int open_active(struct xinu_device *device)
{
    const struct weir_sockaddr_in remote = xinu_sockaddr(&device->remote);
    const int fd = xinu_socket(WEIR_SOCK_STREAM, &device->local);
    xinu_lock();
    device->fd = fd;  // from here on interrupt_open closes it
    const bool closing = device->closing;
    xinu_unlock();
    if (fd >= 0 && !closing && bsd_connect(bsd(), fd, (const void *)&remote, sizeof remote) == 0)
        return OK;
    (void)take_and_close(device);
    return SYSERR;
}

static int tcp_open(struct xinu_device *device, va_list *arguments)
{
    xinu_lock();
    device->listener = NULL;
    device->fd = -1;
    xinu_unlock();
    if (!xinu_ends(device, arguments))
        return SYSERR;
    switch (va_arg(*arguments, int)) {
    case TCP_ACTIVE: return open_active(device);
    case TCP_PASSIVE: return device->local.port ? open_passive(device) : SYSERR;
    default: return SYSERR;
    }
}

// Closes what the device waits in, so that the wait ends. Others that share it find it broken, and make a new one.
static void interrupt_open(struct xinu_device *device)
{
    xinu_lock();
    struct xinu_listener *listener = device->listener;
    const int fd = listener && !listener->broken ? listener->fd : -1;
    if (listener) {
        listener->broken = true;
        listener->users++;  // until it is closed
    }
    xinu_unlock();
    if (fd >= 0)
        (void)bsd_close(bsd(), fd);
    if (listener)
        leave_listener(listener);
    else
        (void)take_and_close(device);
}

static int tcp_close(struct xinu_device *device)
{
    leave(device);
    return take_and_close(device) ? OK : SYSERR;
}

// --- bytes -----------------------------------------------------------------------------------------------------------

static int tcp_read(struct xinu_device *device, void *buf, unsigned len)
{
    if (len > INT32_MAX)
        return SYSERR;
    const weir_ssize got = device->realtime
                               ? xinu_read_frame(device, buf, len)
                               : bsd_recv(bsd(), device->fd, buf, len, device->some ? 0 : WEIR_MSG_WAITALL);
    if (got < 0 || (got == 0 && len > 0 && !device->realtime))
        return SYSERR;  // the end is no data for ever, as after an error
    device->received += (uint32_t)got;
    return (int)got;
}

static int tcp_write(struct xinu_device *device, const void *buf, unsigned len)
{
    unsigned done = 0;
    if (len > INT32_MAX)
        return SYSERR;
    while (done < len) {
        const weir_ssize sent = bsd_send(bsd(), device->fd, (const char *)buf + done, len - done, WEIR_MSG_NOSIGNAL);
        if (sent < 0)
            return done ? (int)done : SYSERR;
        done += (unsigned)sent;
        device->sent += (uint32_t)sent;
    }
    return (int)done;
}

static int tcp_control(struct xinu_device *device, int func, intptr_t arg1, intptr_t arg2)
{
    switch (func) {
    case TCP_CTRL_RECVBYTES: return (int)device->received;
    case TCP_CTRL_SENTBYTES: return (int)device->sent;
    case TCP_CTRL_READSOME: device->some = arg1 != 0; return OK;
    case TCP_CTRL_REALTIME: return xinu_mode_of_realtime(device, arg1, (const struct tcpRealtime *)arg2);
    default: return SYSERR;
    }
}

const struct xinu_operations xinu_tcp = {tcp_open, tcp_close, tcp_read, tcp_write, tcp_control, interrupt_open};
