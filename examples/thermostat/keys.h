// SPDX-License-Identifier: BSD-2-Clause
// What makes one thermostat another than the next: keys.py makes them once for a build, with an authority of its own,
// and nothing of it is in the tree. A product gets them when it is made.
#ifndef THERMOSTAT_KEYS_H
#define THERMOSTAT_KEYS_H

#include <stdint.h>

extern const uint8_t keys_certificate[], keys_private[], keys_authority[];  // DER
extern const uint32_t keys_certificate_bytes, keys_private_bytes, keys_authority_bytes;
extern const int64_t keys_time;     // when they were made, seconds since 1970: it cannot be earlier
extern const char keys_password[];  // of who changes something (page.h)

#endif
