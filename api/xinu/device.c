// SPDX-License-Identifier: BSD-2-Clause
// The device calls: which kind of device a number names, and whether it is open.
#include "api/xinu/internal.h"

#include <string.h>

struct xinu *xinu_system;

void xinu_lock(void)
{
    const struct weir_port *port = xinu_system->config.port;
    if (port->lock)
        port->lock(port->context);
}
void xinu_unlock(void)
{
    const struct weir_port *port = xinu_system->config.port;
    if (port->unlock)
        port->unlock(port->context);
}

void xinu_use(struct xinu *xinu, const struct xinu_config *config)
{
    memset(xinu, 0, sizeof *xinu);
    xinu->config = *config;
    for (uint32_t i = 0; i < NDEVS; i++)
        xinu->devices[i].fd = -1;
    xinu_system = xinu;
}

static struct xinu_device *device_of(int descrp)
{
    return descrp >= 0 && descrp < NDEVS ? &xinu_system->devices[descrp] : NULL;
}
static const struct xinu_operations *operations_of(int descrp)
{
    return descrp < TCP0 ? &xinu_ether : descrp < UDP0 ? &xinu_tcp : &xinu_udp;
}

static struct xinu_device *opened(int descrp)
{
    struct xinu_device *device = device_of(descrp);
    return device && device->state == XINU_OPEN ? device : NULL;
}

// From one of the states `from` (bits) to `to`: who comes second is refused.
static bool enter(struct xinu_device *device, uint32_t from, enum xinu_state to)
{
    xinu_lock();
    const bool may = from >> device->state & 1;
    if (may)
        device->state = (uint8_t)to;
    xinu_unlock();
    return may;
}

static int finish(int descrp)
{
    const int result = operations_of(descrp)->close(device_of(descrp));
    (void)enter(device_of(descrp), 1u << XINU_CLOSING, XINU_FREE);
    return result;
}

devcall open(int descrp, ...)
{
    struct xinu_device *device = device_of(descrp);
    va_list arguments;
    if (!device || !enter(device, 1u << XINU_FREE | 1u << XINU_ALLOC, XINU_OPENING))
        return SYSERR;
    device->closing = device->some = device->realtime = false;
    device->flags = 0;
    device->received = device->sent = 0;
    va_start(arguments, descrp);
    const int result = operations_of(descrp)->open(device, &arguments);
    va_end(arguments);
    xinu_lock();
    const bool open = result == OK && !device->closing;  // close may have come in between
    device->state = open ? XINU_OPEN : result == OK ? XINU_CLOSING : XINU_FREE;
    xinu_unlock();
    if (result == OK && !open)
        (void)finish(descrp);
    return open ? OK : SYSERR;
}

// Of a device that another thread waits in open for: that call ends with SYSERR.
devcall close(int descrp)
{
    struct xinu_device *device = device_of(descrp);
    if (!device)
        return SYSERR;
    if (enter(device, 1u << XINU_ALLOC, XINU_FREE))
        return OK;
    if (enter(device, 1u << XINU_OPEN, XINU_CLOSING))
        return finish(descrp);
    xinu_lock();
    const bool opening = device->state == XINU_OPENING && !device->closing;
    device->closing |= opening;
    xinu_unlock();
    if (opening && operations_of(descrp)->interrupt)
        operations_of(descrp)->interrupt(device);
    return opening ? OK : SYSERR;
}

devcall read(int descrp, void *buf, unsigned len)
{
    struct xinu_device *device = opened(descrp);
    return device && operations_of(descrp)->read ? operations_of(descrp)->read(device, buf, len) : SYSERR;
}

devcall write(int descrp, const void *buf, unsigned len)
{
    struct xinu_device *device = opened(descrp);
    return device && operations_of(descrp)->write ? operations_of(descrp)->write(device, buf, len) : SYSERR;
}

devcall control(int descrp, int func, intptr_t arg1, intptr_t arg2)
{
    struct xinu_device *device = opened(descrp);
    return device ? operations_of(descrp)->control(device, func, arg1, arg2) : SYSERR;
}

devcall getc(int descrp)
{
    unsigned char byte;
    return read(descrp, &byte, 1) == 1 ? byte : SYSERR;
}

devcall putc(int descrp, char ch) { return write(descrp, &ch, 1) == 1 ? (unsigned char)ch : SYSERR; }

static int allocate(int first, int count)
{
    for (int i = first; i < first + count; i++)
        if (enter(&xinu_system->devices[i], 1u << XINU_FREE, XINU_ALLOC))
            return i;
    return SYSERR;
}
int tcpAlloc(void) { return allocate(TCP0, NTCP); }
int udpAlloc(void) { return allocate(UDP0, NUDP); }

// --- what TCP and UDP share ------------------------------------------------------------------------------------------

bool xinu_address(const struct netaddr *from, struct weir_addr *out)
{
    *out = weir_addr_any();
    if (!from || from->type == 0)
        return true;
    *out = weir_ip4(from->addr[0], from->addr[1], from->addr[2], from->addr[3]);
    return from->type == NETADDR_IPv4 && from->len == 4;
}

void xinu_netaddr(struct weir_addr from, struct netaddr *out)
{
    (void)netaddr4(out, weir_addr_to_v4(from) >> 24, weir_addr_to_v4(from) >> 16, weir_addr_to_v4(from) >> 8,
                   weir_addr_to_v4(from));
}

struct weir_sockaddr_in xinu_sockaddr(const struct weir_endpoint *endpoint)
{
    return (struct weir_sockaddr_in){.sin_family = WEIR_AF_INET,
                                     .sin_port = weir_htons(endpoint->port),
                                     .sin_addr = {weir_htonl(weir_addr_to_v4(endpoint->addr))}};
}
struct weir_endpoint xinu_endpoint(const struct weir_sockaddr_in *address)
{
    return (struct weir_endpoint){weir_addr_v4(weir_ntohl(address->sin_addr.s_addr)), weir_ntohs(address->sin_port)};
}

int xinu_socket(int type, const struct weir_endpoint *local)
{
    struct weir_bsd *bsd = xinu_system->config.bsd;
    const struct weir_sockaddr_in address = xinu_sockaddr(local);
    const int one = 1, fd = bsd_socket(bsd, WEIR_AF_INET, type, 0);
    if (fd < 0)
        return -1;
    // A port is free again as soon as nobody listens at it; what is left of its last connections does not count.
    if (type == WEIR_SOCK_STREAM)
        (void)bsd_setsockopt(bsd, fd, WEIR_SOL_SOCKET, WEIR_SO_REUSEADDR, &one, sizeof one);
    if ((weir_addr_is_any(local->addr) && local->port == 0) ||
        bsd_bind(bsd, fd, (const void *)&address, sizeof address) == 0)
        return fd;
    (void)bsd_close(bsd, fd);
    return -1;
}

bool xinu_ends(struct xinu_device *device, va_list *arguments)
{
    const struct netaddr *local = va_arg(*arguments, const struct netaddr *),
                         *remote = va_arg(*arguments, const struct netaddr *);
    device->local.port = (uint16_t)va_arg(*arguments, unsigned);
    device->remote.port = (uint16_t)va_arg(*arguments, unsigned);
    return xinu_address(local, &device->local.addr) && xinu_address(remote, &device->remote.addr);
}
