// SPDX-License-Identifier: BSD-2-Clause
// Path MTU black hole detection (RFC 4821 §7.7). Two timeouts in a row with a long segment at the front may mean that
// long ones do not arrive, and that nobody says so. Then the destination's path MTU becomes what nearly every path
// carries; after ten minutes (ip/pmtu.c) the path is tried in full again. Where the network was only down, the price is
// ten minutes of shorter segments.
#include "tcp/black_hole.h"

#include "ip/icmp.h"
#include "tcp/internal.h"

#define TIMEOUTS 2u      // in a row
#define BASE_MTU4 1024u  // RFC 4821 §7.2
#define LEAST_MTU4 576u  // RFC 791: what every host takes
#define BASE_MTU6 1280u  // RFC 8200 §5

// 0: what is in use now is no longer than what every path carries.
static uint16_t shorter(struct weir_addr remote, uint16_t mtu)
{
    if (!weir_addr_is_v4(remote))
        return mtu > BASE_MTU6 ? BASE_MTU6 : 0;
    return mtu > BASE_MTU4 ? BASE_MTU4 : mtu > LEAST_MTU4 ? LEAST_MTU4 : 0;
}

void tcp_black_hole_timeout(struct weir *weir, struct tcp_conn *c)
{
    if (!weir->tcp.black_hole_detection || c->backoff < TIMEOUTS || !tcp_path_refresh(weir, c))
        return;
    const uint16_t mtu = shorter(c->remote.addr, c->path.mtu);
    // One that was short was lost for another reason.
    if (!mtu || min_u32(c->mss, c->snd.nxt - c->snd.una) <= tcp_mss_for_mtu(c->remote.addr, mtu))
        return;
    pmtu_set(weir, c->remote.addr, mtu);
    (void)tcp_path_refresh(weir, c);
}
