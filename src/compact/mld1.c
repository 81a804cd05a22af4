// SPDX-License-Identifier: BSD-2-Clause
// COMPACT_MLD1: version 1 of multicast listener discovery (RFC 2710) while its querier is there (RFC 9777 §8.2.1). A
// message for each group goes to the group itself. Another's report does not replace ours, and no Done is sent: who
// asks finds out.
#include "compact/compact.h"
#include "compact/nd.h"
#include "wire/mld.h"

// RFC 9777 §9.12: robustness times the query interval, and the time for an answer.
#define OLD_QUERIER_US UINT64_C(260000000)

LOCAL void mld1_heard(struct weir *weir, uint32_t query_bytes)
{
    if (query_bytes == MLD_V1_BYTES)
        weir->nd.old_querier_until_us = weir->now_us + OLD_QUERIER_US;
}

// Where the driver takes one frame and no second, the rest goes on where it stopped.
LOCAL bool mld1_report(struct weir *weir)
{
    const struct weir_netif_address *link = &weir->netif->address, *a = link;
    for (uint8_t bit = 1; a; a = a->next, bit = (uint8_t)(bit << 1)) {
        if (!address_live(a) || weir->nd.mld1_told & bit)
            continue;
        uint8_t *alert = weir->outbox + 2 + ETHERNET_BYTES + IP6_BYTES, *icmp = alert + MLD_ALERT_BYTES;
        alert_put(alert);
        put32(icmp, (uint32_t)ICMP6_MLD_REPORT_V1 << 24);
        put32(icmp + 4, 0);
        group_put(icmp + 8, solicited_node(a));
        if (!message_leave(weir, link->state == WEIR_ADDRESS_READY ? link->addr.words : nobody, solicited_node(a),
                           IP6_HOP_BY_HOP << 8 | MLD_HOP_LIMIT, MLD_ALERT_BYTES, MLD_V1_BYTES))
            return false;
        weir->nd.mld1_told |= bit;
    }
    weir->nd.mld1_told = 0;
    return true;
}
