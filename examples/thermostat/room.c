// SPDX-License-Identifier: BSD-2-Clause
#include "examples/thermostat/room.h"

#define STEP_US 1000000  // at most, so that the model stays close to the exponential that it stands for

void room_init(struct room *room, uint64_t now_us)
{
    *room = (struct room){.temperature_uc = ROOM_START_MC * INT64_C(1000), .at_us = now_us};
}

int32_t room_sense(struct room *room, uint64_t now_us)
{
    const int64_t towards_uc = (ROOM_OUTSIDE_MC + (room->heating ? ROOM_HEATER_MC : 0)) * INT64_C(1000);
    // After ten times ROOM_TIME_US it is there, whatever it was: as many steps bound the loop.
    if (now_us - room->at_us > UINT64_C(10) * ROOM_TIME_US)
        room->at_us = now_us - UINT64_C(10) * ROOM_TIME_US;
    while (room->at_us < now_us) {
        const uint64_t left_us = now_us - room->at_us, step_us = left_us < STEP_US ? left_us : STEP_US;
        room->temperature_uc += (towards_uc - room->temperature_uc) * (int64_t)step_us / ROOM_TIME_US;
        room->at_us += step_us;
    }
    return (int32_t)(room->temperature_uc / 1000);
}
