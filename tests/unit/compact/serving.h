// SPDX-License-Identifier: BSD-2-Clause
// A server on the compact stack, whatever profile the test itself is built for: serving.c holds the whole stack under
// other names. It listens on port 7 and does with each connection what its mode says.
#ifndef TESTS_COMPACT_SERVING_H
#define TESTS_COMPACT_SERVING_H

#include <stdbool.h>
#include <stdint.h>

#define SERVING_PORT 7
#define SERVING_SOURCE_BYTES 20000u

enum serving_mode {
    SERVING_ECHO,    // sends back what comes, closes after the peer
    SERVING_SOURCE,  // sends SERVING_SOURCE_BYTES of serving_pattern and closes first
    SERVING_SLOW,    // an echo that reads only when serving_read_on says so
    SERVING_BOTH,    // a source that also reads, which must be serving_pattern
};

struct serving;
// Where it is built with IPv6 in IPv4's place, `address` says nothing: it makes its own, without random delays.
// Frames go to `tx`; false: the driver is full until serving_tx_ready.
struct serving *serving_open(const uint8_t mac[6], uint32_t address, enum serving_mode mode,
                             bool (*tx)(void *context, const uint8_t *frame, uint32_t length), void *context,
                             uint64_t now_us);
void serving_close(struct serving *serving);
void serving_input(struct serving *serving, const uint8_t *frame, uint32_t length);
void serving_tx_ready(struct serving *serving);
void serving_link_change(struct serving *serving, bool up);
void serving_read_on(struct serving *serving, bool on);
uint64_t serving_turn(struct serving *serving, uint64_t now_us);  // poll, application, poll; the next deadline
uint32_t serving_done(const struct serving *serving);             // connections that came to an orderly end
bool serving_idle(const struct serving *serving);  // nothing is open but the listener; TIME-WAIT and handshakes may be
// What the first connection remembers. false: it is closed.
struct serving_numbers {
    uint32_t una, nxt, max, expected, edge;
    uint32_t queued, room, unread;  // bytes to send, and how many there may be; received in order
};
bool serving_numbers(const struct serving *serving, struct serving_numbers *out);
static inline uint8_t serving_pattern(uint32_t at) { return (uint8_t)(at * 13 + (at >> 8)); }

#endif
