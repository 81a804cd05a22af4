// SPDX-License-Identifier: BSD-2-Clause
// The records of a report about multicast groups, which IGMP version 3 and MLD version 2 have alike.
#ifndef WIRE_GROUP_RECORD_H
#define WIRE_GROUP_RECORD_H

enum group_record_type {   // RFC 9776 §4.2.12, RFC 9777 §5.2.12
    GROUP_IS_INCLUDE = 1,  // answers to a query: the filter as it is
    GROUP_IS_EXCLUDE = 2,
    GROUP_TO_INCLUDE = 3,  // changes: of the filter's mode; to include nothing is to leave
    GROUP_TO_EXCLUDE = 4,
    GROUP_ALLOW = 5,  // changes: of the filter's sources
    GROUP_BLOCK = 6
};

#endif
