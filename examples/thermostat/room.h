// SPDX-License-Identifier: BSD-2-Clause
// A model of a room with a heater, in place of a sensor and a relay: it goes towards the temperature outside, or so
// much above it as the heater can, two thirds of the way in a minute. Pure.
#ifndef THERMOSTAT_ROOM_H
#define THERMOSTAT_ROOM_H

#include <stdbool.h>
#include <stdint.h>

#define ROOM_OUTSIDE_MC 8000  // thousandths of a degree Celsius
#define ROOM_HEATER_MC 30000  // what the heater adds to it in the end
#define ROOM_START_MC 17000
#define ROOM_TIME_US 60000000  // of the model

struct room {
    int64_t temperature_uc;  // millionths, so that short steps count
    uint64_t at_us;
    bool heating;
};

void room_init(struct room *room, uint64_t now_us);
// Brings the model to this moment, and returns what a sensor there would say, thousandths of a degree.
int32_t room_sense(struct room *room, uint64_t now_us);

#endif
