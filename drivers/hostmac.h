// SPDX-License-Identifier: BSD-2-Clause
// An Ethernet address for an interface that has none of its own.
#ifndef DRIVERS_HOSTMAC_H
#define DRIVERS_HOSTMAC_H

#include <stdint.h>

#include <sys/random.h>

#include "weir/language.h"

WEIR_BEGIN_DECLS

// Random, unicast, locally administered (IEEE 802-2014 §8.4).
static inline void hostmac_random(uint8_t mac[6])
{
    // getrandom of so few bytes neither fails nor returns less, except on kernels without it: a fixed address serves
    // there.
    static const uint8_t fallback[6] = {0x02, 'w', 'e', 'i', 'r', 1};
    if (getrandom(mac, 6, 0) != 6)
        for (int i = 0; i < 6; i++)
            mac[i] = fallback[i];
    mac[0] = (uint8_t)((mac[0] & 0xfc) | 2);
}

WEIR_END_DECLS

#endif
