// SPDX-License-Identifier: BSD-2-Clause
// The client of echo_client.c, for a file that stands in for a MAC's driver and knows how its stack wants frames.
// Whoever calls takes the clock first and gives back what it showed when all that is not the server's work is done.
#ifndef ECHO_CLIENT_H
#define ECHO_CLIENT_H

#include <stdbool.h>
#include <stdint.h>

void echo_client_start(const uint8_t mac[6]);            // `mac`: the server's. The first frame waits from here on
bool echo_client_waits(void);                            // a frame for the server
uint32_t echo_client_next(const uint8_t **frame);        // that frame, and its bytes
uint8_t *echo_client_room(uint32_t length);              // where a frame of the server's is to be copied
void echo_client_take(uint32_t length, uint32_t began);  // the server's frame is there now
uint32_t echo_client_clock(void);
void echo_client_own(uint32_t began);  // time since then was not the server's

// By that file: a frame waits, as an interrupt would say; bytes of stack used at the most (stack_paint.c), 0 where it
// is not known.
void echo_client_wake(void);
uint32_t echo_client_stack(void);

#endif
