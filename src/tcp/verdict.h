// SPDX-License-Identifier: BSD-2-Clause
#ifndef TCP_VERDICT_H
#define TCP_VERDICT_H

// Verdict of a step of tcp_input_segment (RFC 9293 §3.10.7): what its driver does next.
enum tcp_verdict {
    TCP_NEXT,       // go on with the next step
    TCP_DROP,       // done with this segment
    TCP_DROP_ACK,   // done, and acknowledge it: it was unacceptable, or a keepalive
    TCP_CHALLENGE,  // done, and send a challenge ACK, limited (RFC 5961)
    TCP_GONE,       // the connection no longer exists
};

#endif
