// SPDX-License-Identifier: BSD-2-Clause
#include "examples/thermostat/thermostat.h"

static void sense(struct thermostat *thermostat, uint64_t now_us)
{
    thermostat->temperature_mc = room_sense(&thermostat->room, now_us);
    if (thermostat->temperature_mc < thermostat->set_mc - THERMOSTAT_BAND_MC)
        thermostat->room.heating = true;
    else if (thermostat->temperature_mc > thermostat->set_mc + THERMOSTAT_BAND_MC)
        thermostat->room.heating = false;
    if (thermostat->told)
        thermostat->told(thermostat, thermostat->context);
}

static uint64_t poll(struct app *app, uint64_t now_us)
{
    struct thermostat *const thermostat = (struct thermostat *)app;
    if (now_us >= thermostat->due_us) {
        thermostat->due_us = now_us + THERMOSTAT_INTERVAL_US;
        sense(thermostat, now_us);
    }
    return thermostat->due_us;
}

void thermostat_start(struct thermostat *thermostat, struct loop *loop)
{
    const uint64_t now_us = weir_now_us(loop->weir);
    room_init(&thermostat->room, now_us);
    thermostat->app.poll = poll;
    thermostat->set_mc = THERMOSTAT_FIRST_MC;
    thermostat->temperature_mc = ROOM_START_MC;
    thermostat->due_us = now_us;
    loop_add(loop, &thermostat->app);
}

bool thermostat_set(struct thermostat *thermostat, const char *bytes, uint32_t length)
{
    uint64_t whole, tenths = 0;
    const uint32_t digits = text_read_u64(bytes, length, THERMOSTAT_MAX_MC / 1000, &whole);
    const bool decimal = digits > 0 && length == digits + 2 && bytes[digits] == '.';
    if (digits == 0 || (length != digits && (!decimal || text_read_u64(bytes + digits + 1, 1, 9, &tenths) != 1)))
        return false;
    const int32_t set_mc = (int32_t)(whole * 1000 + tenths * 100);
    if (set_mc < THERMOSTAT_MIN_MC || set_mc > THERMOSTAT_MAX_MC)
        return false;
    thermostat->set_mc = set_mc;
    thermostat->due_us = 0;  // what follows of it is decided at the loop's next turn
    return true;
}

void thermostat_text(struct text *text, int32_t temperature_mc)
{
    const int32_t tenths = (temperature_mc + (temperature_mc < 0 ? -50 : 50)) / 100;
    if (tenths < 0)
        text_char(text, '-');
    text_fixed(text, (uint64_t)(tenths < 0 ? -tenths : tenths), 1);
}
