// SPDX-License-Identifier: BSD-2-Clause
// Real-time streams for BSD sockets. Set the socket option WEIR_TCP_REALTIME (level WEIR_IPPROTO_TCP, a struct
// weir_realtime) before connect, or on what accept returned; then read frames with bsd_recv_frame and nothing else.
// WEIR_TCP_REALTIME_STATS gets a struct weir_realtime_stats. poll and select say that the socket is readable when the
// next frame is whole, and at its deadline.
#ifndef WEIR_BSD_REALTIME_H
#define WEIR_BSD_REALTIME_H

#include "weir/language.h"
#include "weir/realtime.h"
#include "weir_bsd.h"

WEIR_BEGIN_DECLS

// Waits until the next frame is whole, or its deadline (SO_RCVTIMEO too ends it, with EAGAIN). Returns its length; 0 at
// the end of the stream; −1 with errno ETIME: the frame did not come in time, and *frame says what of it is missing.
// EOPNOTSUPP: no mode was set, or WEIR_CFG_REALTIME is 0. EAGAIN: a non-blocking descriptor, or WEIR_MSG_DONTWAIT, and
// there is time left. On every other error *frame is zero. `frame` may be NULL.
weir_ssize bsd_recv_frame(struct weir_bsd *bsd, int fd, void *data, size_t bytes, int flags,
                          struct weir_realtime_frame *frame);

WEIR_END_DECLS

#endif
