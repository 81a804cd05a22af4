// SPDX-License-Identifier: BSD-2-Clause
// IPv4 options that a datagram came with (RFC 1122 §3.2.1.8, §4.1.3.2).
#include "instance.h"
#include "ip/options.h"

void datagram_ip_options_note(const struct datagram *d, const struct packet *packet, struct weir_message *message)
{
    if (d->takes_ip_options)
        ip4_options_note(&message->options, packet);
}
