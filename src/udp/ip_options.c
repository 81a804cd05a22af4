// SPDX-License-Identifier: BSD-2-Clause
// IPv4 options of datagram and raw sockets (RFC 1122 §3.2.1.8, §4.1.3.2): those that are sent with each packet, and
// those that a datagram came with. Source routes are refused both ways (RFC 7126 §4.3).
#include "instance.h"
#include "wire/ip4.h"

int datagram_ip_options_set(struct datagram *d, const uint8_t *bytes, uint32_t length)
{
    if (length > WEIR_IP_OPTIONS_MAX || !ip4_options_acceptable(bytes, length))
        return WEIR_INVALID;
    struct weir_ip_options padded = {.length = (uint8_t)((length + 3) & ~3u)};  // with IP4_OPTION_END
    if (length)
        memcpy(padded.bytes, bytes, length);
    d->ip_options = padded;
    return WEIR_OK;
}

void datagram_ip_options_note(const struct datagram *d, const struct packet *packet, struct weir_message *message)
{
    if (!d->takes_ip_options || !weir_addr_is_v4(packet->source) || packet->network_length <= IP4_BYTES)
        return;
    message->options.length = (uint8_t)min_u32(packet->network_length - IP4_BYTES, WEIR_IP_OPTIONS_MAX);
    memcpy(message->options.bytes, packet->network + IP4_BYTES, message->options.length);
}
