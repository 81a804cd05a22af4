// SPDX-License-Identifier: BSD-2-Clause
// IGMP messages of a host: those of version 2 (RFC 2236), and version 3's queries and reports (RFC 9776).
#ifndef WIRE_IGMP_H
#define WIRE_IGMP_H

#include "base/bytes.h"

#define IGMP_BYTES 8u
enum igmp_type {
    IGMP_QUERY = 0x11,
    IGMP_REPORT_V1 = 0x12,
    IGMP_REPORT_V2 = 0x16,
    IGMP_LEAVE = 0x17,
    IGMP_REPORT_V3 = 0x22
};

struct igmp {
    uint8_t type;
    uint32_t max_response_ms;  // of a query; 0 in a version 1 query
    uint8_t version;           // of a query: 1, 2 or 3
    uint32_t group;
    uint32_t source_count;  // of a version 3 query
};
#define IGMP_QUERY_V3_BYTES 12u                                            // its sources follow, 4 bytes each
#define IGMP_REPORT_V3_BYTES 8u                                            // of a report without records
#define IGMP_RECORD_BYTES 8u                                               // of a record without sources, 4 bytes each
bool igmp_parse(const uint8_t *bytes, uint32_t length, struct igmp *out);  // checksum: the caller's
void igmp_emit(uint8_t bytes[IGMP_BYTES], const struct igmp *message);     // version 2; checksum field zero

#endif
