// SPDX-License-Identifier: BSD-2-Clause
// Real-time TCP for Xinu's programs: a read returns a whole frame, or 0 when its deadline has passed without one. In
// the modes SKIP, those of the real-time TCP that was made for Xinu, a read is the deadline itself and never waits. In
// the mode WEIR a read waits for its frame until the deadline that the period sets, in the modes REGULAR without end.
#include "api/bsd/weir_realtime.h"
#include "api/xinu/internal.h"
#include "weir/realtime.h"

#if WEIR_CFG_REALTIME
// Every frame has a deadline from the start: a program that reads before anything has come is told so in time.
static struct weir_realtime settings_of(enum weir_realtime_mode mode, const struct tcpRealtime *asked)
{
    struct weir_realtime settings = {.mode = mode};
    if (mode != WEIR_REALTIME_OFF) {
        settings.frame_bytes = asked->frame_bytes;
        settings.period_us = asked->period_us;
    }
    if (settings.period_us)
        settings.first_us = xinu_system->config.port->now_us(xinu_system->config.port->context) +
                            (asked->first_us ? asked->first_us : asked->period_us);
    return settings;
}

int xinu_mode_of_realtime(struct xinu_device *device, intptr_t mode, const struct tcpRealtime *asked)
{
    if (mode < WEIR_REALTIME_OFF || mode > WEIR_REALTIME_WEIR || (mode != WEIR_REALTIME_OFF && !asked) ||
        (mode == WEIR_REALTIME_WEIR && !asked->period_us))
        return SYSERR;
    const struct weir_realtime settings = settings_of((enum weir_realtime_mode)mode, asked);
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
    struct weir_realtime_frame frame;
    const weir_ssize got = bsd_recv_frame(xinu_system->config.bsd, device->fd, buf, len, 0, &frame);
    return got > 0 ? (int)got : got < 0 && frame.bytes ? 0 : SYSERR;
}
#else
int xinu_mode_of_realtime(struct xinu_device *device, intptr_t mode, const struct tcpRealtime *asked)
{
    (void)device, (void)mode, (void)asked;
    return SYSERR;
}
int xinu_read_frame(struct xinu_device *device, void *buf, unsigned len)
{
    (void)device, (void)buf, (void)len;
    return SYSERR;
}
#endif
