// SPDX-License-Identifier: BSD-2-Clause
// What a listener agrees on with a SYN, and what its SYN-ACK says of it: no connection is there yet.
#include "tcp/ecn.h"

struct tcp_ecn_open tcp_ecn_offered(uint8_t asked, const struct packet *packet, const struct tcp_segment *syn)
{
    const uint32_t ace = accecn_ace(syn);
    struct tcp_ecn_open open = {.mode = TCP_ECN_OFF, .codepoint = (uint8_t)(packet->tos & TCP_ECN_BITS)};
    if (asked == TCP_ECN_OFF || !ace)
        return open;
    // RFC 9768 §3.1.3: what is neither the request of RFC 3168 nor none is one for accurate feedback, of this version
    // or a later one.
    if (asked == TCP_ECN_ACCURATE && ace != (ACE_ECE | ACE_CWR))
        open.mode = TCP_ECN_ACCURATE;
    // A SYN is never ECN-capable (RFC 3168 §6.1.1): one that comes so went through something that spoils the field, and
    // marks with it.
    else if ((ace & (ACE_ECE | ACE_CWR)) == (ACE_ECE | ACE_CWR) && open.codepoint == TCP_NOT_ECT)
        open.mode = TCP_ECN_CLASSIC;
    return open;
}

bool tcp_ecn_offered_again(struct tcp_ecn_open *open, uint8_t asked, const struct packet *packet,
                           const struct tcp_segment *syn)
{
    const uint32_t ace = accecn_ace(syn);
    open->codepoint = (uint8_t)(packet->tos & TCP_ECN_BITS);
    if (!ace)
        open->plain = 1;
    if (!ace || asked != TCP_ECN_ACCURATE || open->mode == TCP_ECN_OFF)
        return true;
    return (ace == (ACE_ECE | ACE_CWR)) == (open->mode == TCP_ECN_CLASSIC);
}

void tcp_ecn_answer(struct tcp_ecn_open *open, uint32_t unanswered, bool first, struct tcp_segment *segment)
{
    const bool syn = segment->flags & TCP_SYN;
    if (open->mode == TCP_ECN_CLASSIC && syn && !open->plain)
        segment->flags |= TCP_ECE;
    if (open->mode != TCP_ECN_ACCURATE)
        return;
    if (!syn) {
        accecn_set_ace(segment, ACCECN_CEP_FIRST);
        return;
    }
    if (unanswered >= ECN_TRIES) {
        open->plain = 1;
        return;
    }
    accecn_set_ace(segment, accecn_shake(open->codepoint));
    if (first)
        accecn_first_option(&segment->options);
}
