// SPDX-License-Identifier: BSD-2-Clause
// The thermostat itself: senses each second, heats below the set point and stops above it, and tells who wants to know
// (page.h, telemetry.h). An application of the loop.
#ifndef THERMOSTAT_H
#define THERMOSTAT_H

#include "examples/thermostat/room.h"
#include "loop.h"
#include "text.h"

#define THERMOSTAT_MIN_MC 5000  // of the set point
#define THERMOSTAT_MAX_MC 30000
#define THERMOSTAT_FIRST_MC 20000
#define THERMOSTAT_BAND_MC 200  // on so far below the set point, off so far above
#define THERMOSTAT_INTERVAL_US 1000000u

struct thermostat {
    struct app app;
    struct room room;
    int32_t temperature_mc, set_mc;
    uint64_t due_us;
    // Something was sensed, or the set point is another. May be NULL.
    void (*told)(struct thermostat *thermostat, void *context);
    void *context;
};

void thermostat_start(struct thermostat *thermostat, struct loop *loop);
// The set point as people write it, "21.5", within its limits. false: it is none, and nothing changed.
bool thermostat_set(struct thermostat *thermostat, const char *bytes, uint32_t length);
// Degrees with one decimal.
void thermostat_text(struct text *text, int32_t temperature_mc);

#endif
