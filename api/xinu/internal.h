// SPDX-License-Identifier: BSD-2-Clause
// Between the files of this API.
#ifndef XINU_INTERNAL_H
#define XINU_INTERNAL_H

#include <stdarg.h>

#include "api/xinu/system.h"
#include "weir/language.h"

WEIR_BEGIN_DECLS

extern struct xinu *xinu_system;

struct xinu_operations {  // of a kind of device
    int (*open)(struct xinu_device *device, va_list *arguments);
    int (*close)(struct xinu_device *device);
    int (*read)(struct xinu_device *device, void *buf, unsigned len);
    int (*write)(struct xinu_device *device, const void *buf, unsigned len);
    int (*control)(struct xinu_device *device, int func, intptr_t arg1, intptr_t arg2);
    void (*interrupt)(struct xinu_device *device);  // ends its open, which another thread is in
};
extern const struct xinu_operations xinu_ether, xinu_tcp, xinu_udp;

void xinu_lock(void);
void xinu_unlock(void);
// A socket bound to `local` (with neither address nor port: to nothing yet); −1.
int xinu_socket(int type, const struct weir_endpoint *local);
struct weir_sockaddr_in xinu_sockaddr(const struct weir_endpoint *endpoint);
struct weir_endpoint xinu_endpoint(const struct weir_sockaddr_in *address);
bool xinu_address(const struct netaddr *from, struct weir_addr *out);  // NULL: any; false: not IPv4
void xinu_netaddr(struct weir_addr from, struct netaddr *out);
// The four arguments that opens of TCP and UDP have in common.
bool xinu_ends(struct xinu_device *device, va_list *arguments);
int xinu_mode_of_realtime(struct xinu_device *device, intptr_t mode, const struct tcpRealtime *asked);
// The next frame's length; 0: it did not come in time; SYSERR: the end, or an error.
int xinu_read_frame(struct xinu_device *device, void *buf, unsigned len);

WEIR_END_DECLS

#endif
