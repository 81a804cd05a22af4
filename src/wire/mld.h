// SPDX-License-Identifier: BSD-2-Clause
// Multicast Listener Discovery, the listener's side (RFC 9777; version 1, RFC 2710): queries in, reports out.
#ifndef WIRE_MLD_H
#define WIRE_MLD_H

#include "wire/group_record.h"
#include "wire/icmp6.h"

#define MLD_V1_BYTES 24u
#define MLD_HOP_LIMIT 1u
#define MLD_ALERT_BYTES 8u    // of the hop-by-hop header before each message
#define MLD_REPORT_BYTES 8u   // of a report without records
#define MLD_RECORD_BYTES 20u  // of a record without sources

struct mld {
    uint8_t type;              // ICMP6_MLD_QUERY or ICMP6_MLD_REPORT_V1
    uint8_t version;           // of a query: 1 or 2
    uint8_t robustness;        // of version 2, as is what follows; 0: the querier's is above 7
    uint32_t interval_s;       // between queries
    uint32_t max_response_ms;  // of a query of either version
    const uint8_t *group;      // 16 bytes; :: in a general query
    const uint8_t *sources;    // 16 bytes each
    uint32_t source_count;
};
// Takes a query, or a report of version 1 by another listener. False: it is neither, it did not come as the protocol
// has it (from a link-local address, hop limit 1, behind a router alert; RFC 9777 §5.1.14), its length is no
// version's, its sources reach beyond it, or its group is none. The checksum is the caller's.
bool mld_parse(const uint8_t *bytes, uint32_t length, const struct icmp6_arrival *arrival, struct mld *out);
// Whether listening to the group is told at all: not of ff02::1, and of none with scope 0 or 1 (RFC 9777 §6).
bool mld_is_reported(const uint8_t *group);

struct mld_record {
    enum group_record_type type;
    uint16_t source_count;
    const uint8_t *group, *sources;  // 16 bytes, and 16 bytes each
};
// A report of version 2 that is being written.
struct mld_report {
    uint8_t *bytes;
    uint32_t room, length;
    uint16_t records;
};
// Begins a report in `room` bytes, 8 to 65535; checksum field zero.
void mld_report_begin(struct mld_report *report, uint8_t *bytes, uint32_t room);
// Adds a record. False: it does not fit, and nothing changed.
bool mld_report_add(struct mld_report *report, const struct mld_record *record);
// A report or Done of version 1; checksum field zero.
void mld_v1_emit(uint8_t bytes[MLD_V1_BYTES], enum icmp6_type type, const uint8_t *group);
// The hop-by-hop header with a router alert for MLD (RFC 2711), before ICMPv6.
void mld_alert_emit(uint8_t bytes[MLD_ALERT_BYTES]);

#endif
