// SPDX-License-Identifier: BSD-2-Clause
// Half-open connections: SYN-RECEIVED as a record of at most 64 bytes (80 with 64-bit pointers is allowed if needed;
// assert what it is) in a bounded table, never a socket (RFC 4987). Retransmits its SYN-ACK 1, 2, 4, 8 and 16 s after
// the last (5 times), waits 32 s more, then goes.
#ifndef TCP_HALFOPEN_H
#define TCP_HALFOPEN_H

#include "tcp/conn.h"

int half_open_init(struct weir *weir);
size_t half_open_bytes(void);
void half_open_free(struct weir *weir);
struct tcp_half_open *half_open_find(struct weir *weir, const struct packet *packet, const struct tcp_segment *segment);
bool half_open_uses(const struct weir *weir, const struct weir_endpoint *local, const struct weir_endpoint *remote);
// A SYN for a listener: makes an entry and queues a SYN-ACK; with the table or the listener's budget full, a SYN
// cookie; without cookies in the profile the SYN is dropped and counted. The SYN's data, if any, is not taken (the peer
// sends it again).
void half_open_syn(struct weir *weir, struct tcp_listener *listener, struct packet *packet,
                   struct tcp_segment *segment);
// A segment for an entry: repeated SYN → SYN-ACK again; RST by RFC 5961 (exact sequence number only); unacceptable →
// ACK, limited; a good ACK → tcp_conn_passive and tcp_input_segment with the same segment. When the accept queue is
// full the ACK is ignored (the entry stays, the client will repeat). DEFER_ACCEPT: a bare ACK is ignored until data
// comes or the time is over.
void half_open_input(struct weir *weir, struct tcp_half_open *entry, struct packet *packet,
                     struct tcp_segment *segment);
// input.c: the ACK that just completed a passive connection's handshake
void tcp_input_segment(struct weir *weir, struct tcp_conn *c, struct packet *packet, struct tcp_segment *segment);
// The listener closes: its entries go.
void half_open_forget(struct weir *weir, struct tcp_listener *listener);
// The MSS to announce to a peer of the listener's over an interface with this MTU (RFC 6691).
uint16_t half_open_mss(const struct tcp_listener *listener, struct weir_addr remote, uint16_t mtu);
uint64_t half_open_poll(struct weir *weir, uint64_t now_us);  // retransmissions; returns the next deadline
// Fills *out with the entry at or after the cursor (0: the first) and returns the cursor of the next; 0: there was
// none, *out is unchanged.
bool half_open_walk(struct weir *weir, struct table_cursor *cursor, struct weir_socket_info *out);
uint32_t half_open_count(const struct weir *weir);

#endif
