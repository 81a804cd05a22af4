// SPDX-License-Identifier: BSD-2-Clause
#include "mii.h"

// Registers, and bits of them (IEEE 802.3, 22.2.4 and 28.2.4).
enum { CONTROL = 0, STATUS = 1, OFFERED = 4, PARTNER = 5 };
enum { CONTROL_RESTART = 1 << 9, CONTROL_NEGOTIATE = 1 << 12 };
enum { STATUS_LINK = 1 << 2, STATUS_NEGOTIATED = 1 << 5 };
enum { ABLE_ETHERNET = 1, ABLE_10_FULL = 1 << 6, ABLE_100 = 1 << 7, ABLE_100_FULL = 1 << 8, ABLE_ALL = 15 << 5 };
#define SILENCE 0xffffu

static uint16_t read(const struct mii *mii, uint32_t index) { return mii->read(mii->mac, mii->phy, index); }

bool mii_find(struct mii *mii)
{
    for (mii->phy = 0; mii->phy < MII_NONE; mii->phy++) {
        const uint16_t status = read(mii, STATUS);
        if (status != SILENCE && status != 0)
            return true;
    }
    return false;
}

void mii_negotiate(const struct mii *mii)
{
    if (mii->phy >= MII_NONE || read(mii, CONTROL) & CONTROL_NEGOTIATE)
        return;
    mii->write(mii->mac, mii->phy, OFFERED, ABLE_ETHERNET | ABLE_ALL);
    mii->write(mii->mac, mii->phy, CONTROL, CONTROL_NEGOTIATE | CONTROL_RESTART);
}

struct mii_link mii_look(const struct mii *mii)
{
    if (mii->phy >= MII_NONE)
        return (struct mii_link){true, true, true};
    (void)read(mii, STATUS);  // a loss of the link is latched until it is read: the second reading tells how it is now
    const uint16_t status = read(mii, STATUS);
    if (status == SILENCE || !(status & STATUS_LINK) || !(status & STATUS_NEGOTIATED))
        return (struct mii_link){.up = false};
    const uint16_t both = read(mii, OFFERED) & read(mii, PARTNER);  // the best of what both can
    const bool fast = both & (ABLE_100 | ABLE_100_FULL);
    return (struct mii_link){true, fast, both & (fast ? ABLE_100_FULL : ABLE_10_FULL)};
}
