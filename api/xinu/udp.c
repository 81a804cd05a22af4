// SPDX-License-Identifier: BSD-2-Clause
// UDP devices. A device without a remote end hears everybody; with one only that. A passive device reads and writes
// packets with their pseudo-header and header, so that it can answer.
#include "api/xinu/internal.h"

#include <string.h>

#define HEADERS (UDP_PSEUDO_LEN + UDP_HDR_LEN)
#define PROTOCOL_UDP 17

static struct weir_bsd *bsd(void) { return xinu_system->config.bsd; }
static bool has_remote(const struct xinu_device *device)
{
    return device->remote.port && !weir_addr_is_any(device->remote.addr);
}

static int bind_remote(struct xinu_device *device)
{
    struct weir_sockaddr_in address = xinu_sockaddr(&device->remote);
    if (!has_remote(device))
        address.sin_family = WEIR_AF_UNSPEC;
    return bsd_connect(bsd(), device->fd, (const void *)&address, sizeof address) == 0 ? OK : SYSERR;
}

// Makes the socket for the device's two ends.
static int make(struct xinu_device *device)
{
    struct weir_sockaddr_in address = {.sin_family = WEIR_AF_INET};
    weir_socklen length = sizeof address;
    device->fd = xinu_socket(WEIR_SOCK_DGRAM, &device->local);
    if (device->fd < 0)
        return SYSERR;
    // A port is chosen now, so that answers to what is sent to it come here.
    const struct weir_sockaddr_in local = xinu_sockaddr(&device->local);
    if (device->local.port == 0 && weir_addr_is_any(device->local.addr))
        (void)bsd_bind(bsd(), device->fd, (const void *)&local, sizeof local);
    if (bsd_getsockname(bsd(), device->fd, (void *)&address, &length) == 0)
        device->local.port = weir_ntohs(address.sin_port);
    return has_remote(device) ? bind_remote(device) : OK;
}

static int udp_close(struct xinu_device *device)
{
    const int fd = device->fd;
    device->fd = -1;
    return fd >= 0 && bsd_close(bsd(), fd) == 0 ? OK : SYSERR;
}

static int udp_open(struct xinu_device *device, va_list *arguments)
{
    device->fd = -1;
    if (!xinu_ends(device, arguments))
        return SYSERR;
    if (make(device) == OK)
        return OK;
    (void)udp_close(device);
    return SYSERR;
}

// --- packets with their headers --------------------------------------------------------------------------------------

static void put16(uint8_t *to, uint32_t value)
{
    to[0] = (uint8_t)(value >> 8);
    to[1] = (uint8_t)value;
}
static void put_address(uint8_t *to, struct weir_addr address)
{
    put16(to, weir_addr_to_v4(address) >> 16);
    put16(to + 2, weir_addr_to_v4(address) & 0xffff);
}
static uint32_t get16(const uint8_t *from) { return (uint32_t)from[0] << 8 | from[1]; }
static struct weir_addr get_address(const uint8_t *from) { return weir_addr_v4(get16(from) << 16 | get16(from + 2)); }

// Source, destination, 0, protocol, length; ports, length, checksum (which was good: 0).
static void put_headers(const struct xinu_device *device, uint8_t headers[HEADERS], const struct weir_endpoint *source,
                        uint32_t bytes)
{
    memset(headers, 0, HEADERS);
    put_address(headers, source->addr);
    put_address(headers + 4, device->local.addr);
    headers[9] = PROTOCOL_UDP;
    put16(headers + 10, bytes + UDP_HDR_LEN);
    put16(headers + 12, source->port);
    put16(headers + 14, device->local.port);
    put16(headers + 16, bytes + UDP_HDR_LEN);
}

static int udp_read(struct xinu_device *device, void *buf, unsigned len)
{
    const bool passive = device->flags & UDP_FLAG_PASSIVE;
    struct weir_sockaddr_in address;
    weir_socklen length = sizeof address;
    uint8_t headers[HEADERS];
    const unsigned skip = passive ? HEADERS : 0;
    uint8_t *const data = (uint8_t *)buf + (len < skip ? len : skip);
    if (len > INT32_MAX)
        return SYSERR;
    const weir_ssize got =
        bsd_recvfrom(bsd(), device->fd, data, len < skip ? 0 : len - skip,
                     device->flags & UDP_FLAG_NOBLOCK ? WEIR_MSG_DONTWAIT | WEIR_MSG_TRUNC : WEIR_MSG_TRUNC,
                     (void *)&address, &length);
    if (got < 0)
        return device->flags & UDP_FLAG_NOBLOCK && device->fd >= 0 ? 0 : SYSERR;
    const struct weir_endpoint source = xinu_endpoint(&address);
    if (passive) {
        put_headers(device, headers, &source, (uint32_t)got);
        memcpy(buf, headers, len < skip ? len : skip);
    }
    if (device->flags & UDP_FLAG_BINDFIRST && !has_remote(device)) {
        device->remote = source;
        device->flags &= (uint8_t)~UDP_FLAG_BINDFIRST;
        (void)bind_remote(device);
    }
    return (unsigned)got + skip < len ? (int)((unsigned)got + skip) : (int)len;
}

static int write_passive(struct xinu_device *device, const uint8_t *packet, unsigned len)
{
    if (len < HEADERS || len > HEADERS + UDP_MAX_DATALEN || get16(packet + 12) != device->local.port)
        return SYSERR;
    const struct weir_endpoint to = {get_address(packet + 4), (uint16_t)get16(packet + 14)};
    const struct weir_sockaddr_in address = xinu_sockaddr(&to);
    return bsd_sendto(bsd(), device->fd, packet + HEADERS, len - HEADERS, 0, (const void *)&address, sizeof address) < 0
               ? SYSERR
               : (int)len;
}

static int udp_write(struct xinu_device *device, const void *buf, unsigned len)
{
    unsigned done = 0;
    if (device->flags & UDP_FLAG_PASSIVE)
        return write_passive(device, buf, len);
    if (!has_remote(device) || len > INT32_MAX)
        return SYSERR;
    while (done < len) {
        const unsigned part = len - done < UDP_MAX_DATALEN ? len - done : UDP_MAX_DATALEN;
        if (bsd_send(bsd(), device->fd, (const char *)buf + done, part, 0) < 0)
            return done ? (int)done : SYSERR;
        done += part;
    }
    return (int)len;
}

// The other local end is another socket.
static int move_local(struct xinu_device *device, intptr_t port, const struct netaddr *ip)
{
    const struct xinu_device before = *device;
    device->local.port = (uint16_t)port;
    if (ip && xinu_address(ip, &device->local.addr) && make(device) == OK) {
        (void)bsd_close(bsd(), before.fd);
        return OK;
    }
    if (device->fd >= 0 && device->fd != before.fd)
        (void)bsd_close(bsd(), device->fd);
    device->fd = before.fd;
    device->local = before.local;
    return SYSERR;
}

// Where it may not go to the other end stays what it was.
static int move_remote(struct xinu_device *device, intptr_t port, const struct netaddr *ip)
{
    const struct weir_endpoint before = device->remote;
    device->remote.port = (uint16_t)port;
    const bool good = xinu_address(ip, &device->remote.addr);
    if (good && bind_remote(device) == OK)
        return OK;
    device->remote = before;
    if (good)
        (void)bind_remote(device);  // a connect that fails has let go of it
    return SYSERR;
}

static int udp_control(struct xinu_device *device, int func, intptr_t arg1, intptr_t arg2)
{
    const struct netaddr *ip = (const struct netaddr *)arg2;  // NOLINT(performance-no-int-to-ptr): as Xinu passes them
    const uint8_t old = device->flags & (uint8_t)arg1;
    switch (func) {
    case UDP_CTRL_ACCEPT: return move_local(device, arg1, ip);
    case UDP_CTRL_BIND: return move_remote(device, arg1, ip);
    case UDP_CTRL_CLRFLAG: device->flags &= (uint8_t)~arg1; return old;
    case UDP_CTRL_SETFLAG: device->flags |= (uint8_t)arg1; return old;
    default: return SYSERR;
    }
}

const struct xinu_operations xinu_udp = {udp_open, udp_close, udp_read, udp_write, udp_control, NULL};
