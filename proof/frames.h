// SPDX-License-Identifier: BSD-2-Clause
// Inputs for Eva: frames of any length with anything in them, and any value of a structure.
#ifndef PROOF_FRAMES_H
#define PROOF_FRAMES_H

#include "__fc_builtin.h"

#include "base/bytes.h"

#define PLACE 64u  // more than any header has
static uint8_t place[PLACE];

// Calls it for every length. The shorter ones end where the memory ends, so that a byte too far is an alarm; of the
// others, up to 4 GB, the first PLACE bytes are there, so that an alarm is whatever looks further than a header goes.
static void for_every_length(void (*call)(const uint8_t *bytes, uint32_t length))
{
    Frama_C_make_unknown((char *)place, PLACE);
    for (uint32_t length = 0; length < PLACE; length++)
        call(place + PLACE - length, length);
    call(place, Frama_C_unsigned_int_interval(PLACE, UINT32_MAX));
}

#define ANY(object) Frama_C_make_unknown((char *)&(object), sizeof(object))
static bool any_bool(void) { return Frama_C_interval(0, 1); }

#endif
