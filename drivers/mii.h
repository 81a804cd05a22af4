// SPDX-License-Identifier: BSD-2-Clause
// A PHY on its MAC's management bus (IEEE 802.3, clause 22): where it is, that it negotiates, and what came of it.
//
//     emac->mii = (struct mii){.read = phy_read, .write = phy_write, .mac = emac};
//     if (mii_find(&emac->mii))
//         mii_negotiate(&emac->mii);
//     twice a second: mii_look(&emac->mii)
#ifndef DRIVERS_MII_H
#define DRIVERS_MII_H

#include <stdbool.h>
#include <stdint.h>

#include "weir/language.h"

WEIR_BEGIN_DECLS

#define MII_NONE 32u  // as a PHY's address: there is none

struct mii {
    // A register of the PHY at an address below MII_NONE; 0xffff, as the bus shows where nobody drives it: no answer.
    uint16_t (*read)(void *mac, uint32_t phy, uint32_t index);
    void (*write)(void *mac, uint32_t phy, uint32_t index, uint16_t value);
    void *mac;
    uint32_t phy;
};

struct mii_link {
    bool up, fast, full_duplex;  // fast: 100 Mbit/s
};

// Looks for the PHY at each address. false: none answers.
bool mii_find(struct mii *mii);
// Lets the PHY offer all it can at 10 and 100 Mbit/s, and does not disturb one that negotiates already: a link that the
// boot loader used stays up.
void mii_negotiate(const struct mii *mii);
// The link as it is now. It counts as down while the ends negotiate. Without a PHY (the MAC of a switch, say) it is up,
// fast and full-duplex.
struct mii_link mii_look(const struct mii *mii);

WEIR_END_DECLS

#endif
