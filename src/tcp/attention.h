// SPDX-License-Identifier: BSD-2-Clause
// What a connection has under way that asks for the steps: one word, in which each bit is set and cleared by its owner
// alone. Zero means the steady state: the connection is established and open both ways, nothing is lost, late, held
// back or to be told. Then header prediction may take the segment that is next in order (predict.c), and all that the
// scheduler has to plan is new data (output.c). A feature that needs to see every segment, or to have a say in what is
// sent, adds a bit here, and both are right by construction.
//
// Builds with WEIR_CFG_SELF_CHECK compute the bits that follow from other state anew after each input and each poll,
// and stop where they differ (self_check.c).
#ifndef TCP_ATTENTION_H
#define TCP_ATTENTION_H

enum tcp_attention {
    ATTEND_STATE = 1 << 0,           // state.c: it is not ESTABLISHED
    ATTEND_FIN_QUEUED = 1 << 1,      // close.c: the user is done sending: FIN follows the last byte
    ATTEND_FIN_SENT = 1 << 2,        // output.c
    ATTEND_FIN_RECEIVED = 1 << 3,    // receive.c: in order: rcv.nxt is past it
    ATTEND_FIN_AHEAD = 1 << 4,       // receive.c: a FIN came beyond a hole (extra->fin)
    ATTEND_READ_SHUT = 1 << 5,       // close.c: the user is done reading
    ATTEND_CLOSED_BY_USER = 1 << 6,  // close.c: no handle any more
    ATTEND_FAST_RECOVERY = 1 << 7,   // recovery.c: until snd.una reaches recover
    ATTEND_RTO_RECOVERY = 1 << 8,    // recovery.c: after a timeout, until snd.una reaches recover
    ATTEND_RETRANSMIT_NOW = 1 << 9,  // recovery.c: the first segment must be sent again, whatever cwnd says
    ATTEND_SCOREBOARD =
        1 << 10,               // recovery.c: of what is in flight something is SACKed, lost, or was sent more than once
    ATTEND_TLP_DUE = 1 << 11,  // tlp.c: a tail-loss probe goes next
    ATTEND_TLP_OUT = 1 << 12,  // tlp.c: it is in flight
    ATTEND_BACKOFF = 1 << 13,  // timers.c: the RTO is doubled, or zero-window probes were sent
    ATTEND_PERSIST = 1 << 14,  // timers.c: the send timer is the zero-window probe's
    ATTEND_PROBE_NOW = 1 << 15,        // timers.c: a zero-window probe must go
    ATTEND_KEEPALIVE_NOW = 1 << 16,    // keepalive.c: a keepalive probe must go
    ATTEND_OUT_OF_ORDER = 1 << 17,     // receive.c: data beyond a hole is held
    ATTEND_DSACK = 1 << 18,            // dsack.c: a duplicate is to be reported
    ATTEND_URGENT_SEND = 1 << 19,      // urgent.c: snd_up is ahead of snd.una
    ATTEND_URGENT_RECEIVED = 1 << 20,  // urgent.c: rcv_up is meaningful
    ATTEND_URGENT_TAKEN = 1 << 21,     // urgent.c: and its byte was read
    ATTEND_ECN = 1 << 22,              // ecn.c: there is something to do, or to watch, with each segment
    ATTEND_USER_TIMEOUT = 1 << 23,     // uto.c: the option is to be sent
    ATTEND_REALTIME = 1 << 24,         // realtime.c: a receiver of frames with deadlines
    ATTEND_DEADLINE = 1 << 25,         // deadline.c: a sender of frames with deadlines
    ATTEND_LOW_WATER = 1 << 26,        // lowwater.c: the reader is not woken by every byte
    ATTEND_RTX_PROBE =
        1 << 27,  // rtx_probe.c: what was sent again may be lost again: not all up to its end is acknowledged
    ATTEND_MTU_SEARCH = 1 << 28,  // black_hole.c: longer segments are tried
    ATTEND_IP_OPTIONS = 1 << 29,  // ip_options.c: the IPv4 header of what is sent has options
};

// Recovery of either kind.
#define ATTEND_RECOVERY (ATTEND_FAST_RECOVERY | ATTEND_RTO_RECOVERY)
#define ATTEND_TLP (ATTEND_TLP_DUE | ATTEND_TLP_OUT)
// What lives in the flow, and ends with it.
#define ATTEND_FLOW (ATTEND_SCOREBOARD | ATTEND_TLP | ATTEND_RTX_PROBE)
// What writes options or fields into a header that no header template has.
#define ATTEND_HEADER \
    (ATTEND_OUT_OF_ORDER | ATTEND_DSACK | ATTEND_FIN_AHEAD | ATTEND_URGENT_SEND | ATTEND_ECN | ATTEND_USER_TIMEOUT | \
     ATTEND_REALTIME | ATTEND_DEADLINE | ATTEND_IP_OPTIONS)
// What opening and closing come to by themselves: a connection without data may have any of it, and still sends and
// gets nothing but control-only segments (tcp_control_only).
#define ATTEND_CONTROL_ONLY \
    (ATTEND_STATE | ATTEND_FIN_QUEUED | ATTEND_FIN_SENT | ATTEND_FIN_RECEIVED | ATTEND_READ_SHUT | \
     ATTEND_CLOSED_BY_USER)
// What follows from other state, and can be computed anew.
#define ATTEND_DERIVED \
    (ATTEND_STATE | ATTEND_SCOREBOARD | ATTEND_BACKOFF | ATTEND_OUT_OF_ORDER | ATTEND_DSACK | ATTEND_USER_TIMEOUT | \
     ATTEND_REALTIME | ATTEND_DEADLINE | ATTEND_LOW_WATER | ATTEND_IP_OPTIONS)

#endif
