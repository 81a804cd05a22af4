// SPDX-License-Identifier: BSD-2-Clause
// Path MTU discovery by probes (weir/dplpmtud.h) for BSD sockets: connected UDP sockets, where WEIR_CFG_DPLPMTUD is
// set. Options of the level WEIR_IPPROTO_UDP: WEIR_UDP_DPLPMTUD, set to a struct weir_dplpmtud_settings, begins it
// (zeros are the defaults), and ends it when set to a value of no bytes; got, it is a struct weir_dplpmtud_info.
// WEIR_UDP_DPLPMTUD_REPORT is set to a struct weir_dplpmtud_report. A probe is what is sent with the flag
// WEIR_MSG_DPLPMTUD_PROBE and has the length that is due (EINVAL: it has not). poll says POLLPRI, select an exceptional
// condition, when there is news; longer datagrams than may be sent get EMSGSIZE.
#ifndef WEIR_BSD_DPLPMTUD_H
#define WEIR_BSD_DPLPMTUD_H

#include "weir/dplpmtud.h"
#include "weir_bsd.h"

#if WEIR_CFG_DPLPMTUD
enum { WEIR_UDP_DPLPMTUD = 1000, WEIR_UDP_DPLPMTUD_REPORT = 1001 };
enum { WEIR_MSG_DPLPMTUD_PROBE = 0x1000000 };
struct weir_dplpmtud_report {
    enum weir_dplpmtud_event event;
    uint32_t bytes;
};
#endif

#endif
