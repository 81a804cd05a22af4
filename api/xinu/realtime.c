// SPDX-License-Identifier: BSD-2-Clause
// Real-time TCP as its work had it in Xinu: a read is a deadline, its length a frame, and there is a whole one or none.
#include "api/xinu/internal.h"
#include "weir/realtime.h"

#if WEIR_CFG_REALTIME
int xinu_mode_of_realtime(struct xinu_device *device, intptr_t mode, intptr_t frame_bytes)
{
    const struct weir_realtime settings = {.mode = (enum weir_realtime_mode)mode, .frame_bytes = (uint32_t)frame_bytes};
    const weir_socket socket = bsd_handle(xinu_system->config.bsd, device->fd);
    xinu_lock();
    const int result = weir_realtime_set(xinu_system->config.weir, socket, &settings);
    xinu_unlock();
    if (result != WEIR_OK)
        return SYSERR;
    device->realtime = settings.mode != WEIR_REALTIME_OFF;
    return OK;
}

int xinu_read_frame(struct xinu_device *device, void *buf, unsigned len)
{
    struct weir *weir = xinu_system->config.weir;
    const struct weir_port *port = xinu_system->config.port;
    const weir_socket socket = bsd_handle(xinu_system->config.bsd, device->fd);
    xinu_lock();
    const int got = weir_realtime_read(weir, socket, buf, len, NULL);
    if (port->kick)
        port->kick(port->context);  // what it tells the sender is to go out
    xinu_unlock();
    return got > 0 ? got : got == WEIR_SKIPPED || got == WEIR_AGAIN ? 0 : -1;
}
#else
int xinu_mode_of_realtime(struct xinu_device *device, intptr_t mode, intptr_t frame_bytes)
{
    (void)device, (void)mode, (void)frame_bytes;
    return SYSERR;
}
int xinu_read_frame(struct xinu_device *device, void *buf, unsigned len)
{
    (void)device, (void)buf, (void)len;
    return SYSERR;
}
#endif
