// SPDX-License-Identifier: BSD-2-Clause
// What the network layer is to those above and below it, whatever the family: its life, the way up to a packet's
// protocol, and the way down to its family's header.
#include "ip/flow.h"
#include "ip/internal.h"
#include "ip/options.h"
#include "ip/router.h"
#include "link/handler.h"

size_t ip_bytes(void)
{
    return records_carve_bytes(WEIR_CFG_OUTBOX_BYTES) + fragment_bytes() + icmp_limit_bytes() + pmtu_bytes() +
           group_bytes();
}

int ip_init(struct weir *weir)
{
    paths_changed(weir);
    int error = outbox_init(weir);
    if (!error)
        error = fragment_init(weir);
    if (!error)
        error = icmp_limit_init(weir);
    if (!error)
        error = pmtu_init(weir);
    if (!error)
        error = group_init(weir);
    return error;
}

void ip_free(struct weir *weir)
{
    group_free(weir);
    pmtu_free(weir);
    icmp_limit_free(weir);
    fragment_free(weir);
    records_clear(&weir->ip.outbox, &weir->memory);
}

// The outbox comes last: it sends what the others made due. Bounded by what each of them bounds.
uint64_t ip_poll(struct weir *weir, uint64_t now_us)
{
    uint64_t due_us = fragment_poll(weir, now_us);
    uint64_t next_us = group_poll(weir, now_us);
    due_us = next_us < due_us ? next_us : due_us;
    next_us = router_poll(weir, now_us);
    due_us = next_us < due_us ? next_us : due_us;
    next_us = pmtu_poll(weir, now_us);
    due_us = next_us < due_us ? next_us : due_us;
    next_us = outbox_poll(weir, now_us);
    return next_us < due_us ? next_us : due_us;
}

// --- up --------------------------------------------------------------------------------------------------------------

// ICMP and IGMP are IPv4's, ICMPv6 is IPv6's: with the other they are protocols that nobody has.
static bool protocol_of(const struct ip_protocol *protocol, const struct packet *packet)
{
    return !WEIR_CFG_IP6 || protocol->versions & (weir_addr_is_v4(packet->destination) ? IP_VERSION_4 : IP_VERSION_6);
}

void ip_deliver(struct weir *weir, struct packet *packet)
{
    const bool taken = raw_input(weir, packet);
    for (const struct ip_protocol *protocol = weir->protocols; protocol->number; protocol++) {
        if (protocol->number == packet->protocol && protocol_of(protocol, packet)) {
            protocol->input(weir, packet);
            return;
        }
    }
    if (handler_protocol(weir, packet) || taken)
        return;
    count(weir, WEIR_COUNT_IP_NO_PROTOCOL);
    ip_error_send(weir, packet, ICMP_ERROR_PROTOCOL);
}

// --- down ------------------------------------------------------------------------------------------------------------

enum weir_tx_verdict ip_output(struct weir *weir, struct path *path, const struct ip_out *ip, struct packet_out *out,
                               struct sock *waiter)
{
    if (!ip_path_valid(weir, path)) {
        count(weir, WEIR_COUNT_IP_NO_ROUTE);
        return WEIR_TX_DONE;
    }
    const uint32_t transport_bytes = (uint32_t)(out->room + PACKET_HEADROOM - out->head);
    out->tx.header_length = 0;  // and stays so where nothing leaves
    const enum weir_tx_verdict verdict = ip_family_of(ip->destination)->transmit(weir, path, ip, out, waiter);
    if (WEIR_CFG_FAST_PATH && ip->protocol == IP_TCP && verdict < WEIR_TX_FULL && out->tx.header_length &&
        !ip4_options_bytes(ip))
        flow_learn_template(weir, path, ip, out, transport_bytes);
    return verdict;
}

#if !WEIR_CFG_FRAGMENTS
enum weir_tx_verdict ip_output_datagram(struct weir *weir, struct path *path, const struct ip_out *ip,
                                        const uint8_t *header, uint32_t header_length, const uint8_t *payload,
                                        uint32_t payload_length, uint32_t *progress, struct sock *waiter, int *error)
{
    (void)progress;
    if (ip_header_bytes(ip->destination) + ip4_options_bytes(ip) + header_length + payload_length > path->mtu) {
        *error = WEIR_TOO_BIG;
        return WEIR_TX_DONE;
    }
    struct packet_out out;
    packet_out_init(&out);
    if (header_length)
        memcpy(packet_out_header(&out, header_length), header, header_length);
    if (payload_length)
        packet_out_payload(&out, payload, payload_length);
    return ip_output(weir, path, ip, &out, waiter);
}
#endif
