// SPDX-License-Identifier: BSD-2-Clause
// The rows of a build with both families (family.h).
#include "ip/families.h"

const struct ip_family ip4_family = IP4_FAMILY_ROW;
const struct ip_family ip6_family = IP6_FAMILY_ROW;
