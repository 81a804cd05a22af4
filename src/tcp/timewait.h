// SPDX-License-Identifier: BSD-2-Clause
// TIME-WAIT as a record of at most 64 bytes in a bounded first-in first-out table; the oldest is recycled when it is
// full.
#ifndef TCP_TIMEWAIT_H
#define TCP_TIMEWAIT_H

#include "tcp/conn.h"

int time_wait_init(struct weir *weir);
size_t time_wait_bytes(void);
void time_wait_free(struct weir *weir);
// Copies what TIME-WAIT needs out of the connection, which its owner then frees.
void time_wait_enter(struct weir *weir, const struct tcp_conn *c);
struct tcp_time_wait *time_wait_find(struct weir *weir, const struct packet *packet, const struct tcp_segment *segment);
struct tcp_time_wait *time_wait_between(struct weir *weir, const struct weir_endpoint *local,
                                        const struct weir_endpoint *remote);
// A segment for an entry (RFC 9293 §3.10.7.4, RFC 1337: RST ignored unless exact… and then still ignored; RFC 5961).
// Returns true when it is a SYN that may start a new connection now (RFC 6191, timestamps or sequence number beyond the
// old); the entry is gone then, and the caller treats the SYN as new. time_wait_take_over then gives its initial
// sequence number.
bool time_wait_input(struct weir *weir, struct tcp_time_wait *entry, struct packet *packet,
                     struct tcp_segment *segment);
// Whether an active open may take the entry's ends over now: timestamps prove it safe, or it is NULL.
bool time_wait_reusable(const struct weir *weir, const struct tcp_time_wait *entry);
// For an opening connection: ends the TIME-WAIT entry with these ends (NULL: there is none, unless time_wait_input has
// just ended it), and moves the initial sequence number beyond all that it sent (RFC 1122 §4.2.2.13). Returns it.
uint32_t time_wait_take_over(struct weir *weir, struct tcp_time_wait *entry, const struct weir_endpoint *local,
                             const struct weir_endpoint *remote, uint32_t iss);
bool time_wait_uses_port(struct weir *weir, struct weir_addr local, uint16_t port);  // for bind without REUSE_ADDRESS
uint64_t time_wait_poll(struct weir *weir, uint64_t now_us);  // ends what is due; returns the next deadline
// Fills *out with the entry at or after the cursor (0: the first) and returns the cursor of the next; 0: there was
// none, *out is unchanged.
bool time_wait_walk(struct weir *weir, struct table_cursor *cursor, struct weir_socket_info *out);
uint32_t time_wait_count(const struct weir *weir);

#endif
