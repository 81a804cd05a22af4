// SPDX-License-Identifier: BSD-2-Clause
// Datagram packetisation layer path MTU discovery (DPLPMTUD, RFC 8899) for connected UDP sockets, of both families: how
// long datagrams may be on the way to the peer, found by probes, so that it works where routers are silent. The stack
// keeps the state machine, its timers and the check of packet-too-big messages. The program, which is the packetisation
// layer, sends the probes and reports which of them its peer has acknowledged:
//
//     weir_dplpmtud_start(weir, socket, NULL);             // the socket is connected
//
//     weir_dplpmtud_get(weir, socket, &info);              // at WEIR_URGENT, and after each report:
//     if (info.probe)                                      // a probe of so many bytes is due, and
//         weir_dplpmtud_probe(weir, socket, slices, count);    // info.plpmtu is the longest datagram that may be sent
//
//     weir_dplpmtud_report(weir, socket, WEIR_DPLPMTUD_ACKED, bytes);  // when the peer has acknowledged the probe
//
// All sizes are bytes of UDP's payload. While it runs, every datagram to the peer leaves unfragmented (IPv4: with DF),
// and one that is longer than `plpmtu` is refused: WEIR_TOO_BIG. A probe carries what the program likes, best nothing
// that would have to be sent again. Its loss says nothing about congestion.
//
// A program with a discovery of its own sets WEIR_OPTION_DONT_FRAGMENT to 2: what leaves is not fragmented, and may be
// as long as the interface carries, whatever routers said.
#ifndef WEIR_DPLPMTUD_H
#define WEIR_DPLPMTUD_H

#include <stdbool.h>
#include <stdint.h>

#include "weir/language.h"
#include "weir/options.h"
#include "weir/socket.h"

WEIR_BEGIN_DECLS

#if WEIR_CFG_DPLPMTUD
// RFC 8899 §5.2.
enum weir_dplpmtud_state {
    WEIR_DPLPMTUD_DISABLED,   // not begun, or ended: datagrams as without it
    WEIR_DPLPMTUD_BASE,       // BASE_PLPMTU is confirmed; `plpmtu` is that much meanwhile
    WEIR_DPLPMTUD_SEARCHING,  // for longer ones
    WEIR_DPLPMTUD_SEARCH_COMPLETE,
    WEIR_DPLPMTUD_ERROR,  // BASE_PLPMTU does not pass: `plpmtu` is MIN_PLPMTU, which is probed
};
// 0 is the default each.
struct weir_dplpmtud_settings {
    uint16_t min_plpmtu;   // default: what the family's packets of 576 (IPv4) or 1280 bytes (IPv6) carry; 40 at least
    uint16_t base_plpmtu;  // default: 1200, or min_plpmtu where that is more
    uint16_t max_plpmtu;   // default, and at the most: what the interface, and what is known of the path, carries
    uint32_t probe_timer_ms;  // default: 16000; 1000 at least. A probe not acknowledged by then is lost
    uint32_t raise_timer_s;   // default: 600. The search is repeated so long after its end
    // 0: none, for a protocol that acknowledges its data and reports WEIR_DPLPMTUD_BLACK_HOLE. Otherwise `plpmtu` is
    // probed again at this interval, less than raise_timer_s.
    uint32_t confirmation_timer_s;
};
struct weir_dplpmtud_info {
    enum weir_dplpmtud_state state;
    uint16_t plpmtu;   // longest datagram that may be sent now; DISABLED: 0
    uint16_t probe;    // bytes of the probe that is due; 0: none
    uint16_t awaited;  // bytes of the probe whose acknowledgement is awaited; 0: none
    uint8_t probes;    // so many in a row of this size were lost (PROBE_COUNT; of MAX_PROBES, 3)
};
enum weir_dplpmtud_event {
    WEIR_DPLPMTUD_ACKED,       // the probe of `bytes` has arrived
    WEIR_DPLPMTUD_LOST,        // it is lost, as the protocol knows before the timer
    WEIR_DPLPMTUD_BLACK_HOLE,  // datagrams of up to `plpmtu` bytes seem not to arrive, shorter ones do; `bytes` is 0
};

// Begins, or begins anew. WEIR_NOT_CONNECTED; WEIR_INVALID: the settings contradict each other, or the peer is a group
// or a broadcast address; WEIR_NOT_SUPPORTED: no UDP socket; or there is no way to the peer (WEIR_NO_ROUTE and its
// kin). To connect the socket anew ends it.
int weir_dplpmtud_start(struct weir *weir, weir_socket socket, const struct weir_dplpmtud_settings *settings);
// The state becomes DISABLED: the peer is not there any more (RFC 8899 §5.2), or the program has had enough.
int weir_dplpmtud_stop(struct weir *weir, weir_socket socket);
// Also takes back WEIR_URGENT, unless a probe is due.
int weir_dplpmtud_get(struct weir *weir, weir_socket socket, struct weir_dplpmtud_info *out);
// Queues the probe that is due; all slices together have its bytes. Returns their number. WEIR_INVALID: no probe of
// this length is due; otherwise as weir_socket_send_message.
int weir_dplpmtud_probe(struct weir *weir, weir_socket socket, const struct weir_slice *slices, int count);
// WEIR_INVALID: it is not, or no more, the probe that is awaited (of so many bytes); nothing has changed then.
int weir_dplpmtud_report(struct weir *weir, weir_socket socket, enum weir_dplpmtud_event event, uint32_t bytes);
#endif

WEIR_END_DECLS

#endif
