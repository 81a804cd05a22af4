// SPDX-License-Identifier: BSD-2-Clause
#include "packet.h"

#include "family6.h"
#include "segment.h"

#define UDP 17
#define HOP_BY_HOP 0
#define FRAGMENT 44

void packet_check_sums(struct sim_host *host, const struct frame *frame)
{
    const uint8_t *ip = frame->data + frame->head;
    const bool version6 = ip[0] >> 4 == 6;
    const uint32_t header = version6 ? IP6_BYTES : (ip[0] & 15u) * 4;
    const uint32_t length = version6 ? get16(ip + 4) : get16(ip + 2) - header;
    const uint32_t addresses = version6 ? frame_sum(ip + 8, 32) : frame_sum(ip + 12, 8);
    if (!version6 && frame_checksum(frame_sum(ip, header)))
        sim_fail(host->node.sim, "%s sends a wrong IPv4 checksum", host->node.name);
    if (frame_checksum(addresses + TCP + length + frame_sum(ip + header, length)))
        sim_fail(host->node.sim, "%s sends a wrong TCP checksum", host->node.name);
}

// What may come from :: (RFC 4861 §7.2.2, §6.1.1, RFC 9777 §5.2.13): solicitations, and reports of groups.
static bool may_be_nameless(uint8_t type) { return type == 133 || type == 135 || type == 143 || type == 131; }

static void check_icmp6(struct sim_host *host, const uint8_t *ip, const uint8_t *icmp, uint32_t length)
{
    const struct sim_address source = sim_address_read(ip + 8);
    if (icmp[0] == 135 && ip[24] == 0xff && (source.high | source.low))
        host->asked_ns = host->node.sim->now_ns;
    if (length < 8 || ip6_sum(ip, ICMP6, icmp, length))
        sim_fail(host->node.sim, "%s sends a wrong ICMPv6 checksum", host->node.name);
    if (icmp[0] >= 133 && icmp[0] <= 137 && (ip[7] != 255 || ip[6] != ICMP6))
        sim_fail(host->node.sim, "%s sends neighbour discovery with hop limit %u, first header %u", host->node.name,
                 ip[7], ip[6]);
    if (!(source.high | source.low) && !may_be_nameless(icmp[0]))
        sim_fail(host->node.sim, "%s sends ICMPv6 %u from ::", host->node.name, icmp[0]);
}

// The headers between IPv6's and the transport's. Weir sends two kinds: options before MLD, fragments.
static void check_chain(struct sim_host *host, const uint8_t *ip, uint32_t length)
{
    const uint8_t *at = ip + IP6_BYTES;
    uint8_t next = ip[6];
    if (next == HOP_BY_HOP && length >= 8) {
        next = at[0];
        length -= (at[1] + 1u) * 8;
        at += (at[1] + 1u) * 8;
        if (next != ICMP6)
            sim_fail(host->node.sim, "%s sends options before %u", host->node.name, next);
    }
    if (next == FRAGMENT)
        return;
    if (next == ICMP6)
        check_icmp6(host, ip, at, length);
    else if (next != TCP && next != UDP)
        sim_fail(host->node.sim, "%s sends the header %u", host->node.name, next);
}

static void check_packet6(struct sim_host *host, const struct frame *frame)
{
    const uint8_t *ip = frame->data + frame->head;
    const uint32_t length = get16(ip + 4);
    const struct sim_address source = sim_address_read(ip + 8);
    const bool link_local = source.high >> 48 == 0xfe80, nameless = !(source.high | source.low);
    if (frame->length != frame->head + IP6_BYTES + length)
        sim_fail(host->node.sim, "%s sends %u bytes, the header says %u", host->node.name, frame->length - frame->head,
                 IP6_BYTES + length);
    else if (!link_local && !nameless && host_at(host->node.sim, source) != host)
        sim_fail(host->node.sim, "%s sends from an address that it has not", host->node.name);
    else
        check_chain(host, ip, length);
}

void packet_check(struct sim_host *host, struct frame *frame)
{
    const uint8_t *ip = frame_ip(frame);
    const uint32_t mtu = host->netif.mtu;
    if (!ip)
        return;
    if (mtu && frame->length - frame->head > mtu)
        sim_fail(host->node.sim, "%s sends %u bytes, its MTU is %u", host->node.name, frame->length - frame->head, mtu);
    if (ip[0] >> 4 == 6 && frame->length >= frame->head + IP6_BYTES)
        check_packet6(host, frame);
}
