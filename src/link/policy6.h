// SPDX-License-Identifier: BSD-2-Clause
// What RFC 6724 knows of an address: its scope, and its row of the policy table (§2.1).
#ifndef LINK_POLICY6_H
#define LINK_POLICY6_H

#include "link/address.h"

struct policy {
    uint8_t label, precedence;
};
struct policy policy_of(struct weir_addr a);
// §3.1, §3.2; of unicast addresses, as of groups, link-local is 2 and all else global.
uint8_t policy_scope(struct weir_addr a);
// Bits that both begin with, `most` at the most.
uint32_t policy_common_bits(struct weir_addr a, struct weir_addr b, uint32_t most);

#endif
