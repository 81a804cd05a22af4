// SPDX-License-Identifier: BSD-2-Clause
// Records: a bounded first-in first-out queue of byte strings, each in one piece (a record never wraps). Serves
// datagram sockets, the outbox, loopback, and datagrams that wait for a neighbour.
//
// The bytes lie in rings, one in static builds. Where there is an allocator a full ring is followed by one twice as
// large, within the limit, and the old one goes when its last record does. So records never move: what records_push and
// records_front return stays valid until that record is popped or all are cleared.
#ifndef BASE_RECORDS_H
#define BASE_RECORDS_H

#include "base/memory.h"

struct records_ring;
struct records {
    struct records_ring *first, *last;  // oldest, newest; NULL while empty, in allocator builds
    uint32_t limit;                     // bytes the rings may take, 8 for each record included
    uint32_t size;                      // bytes of the rings now
    uint32_t used;                      // bytes of the records, their 8 bytes and padding included
    uint32_t count;                     // records
    uint32_t newest;  // bytes of the record pushed last, for records_unpush; 0: it was taken back or popped
};

void records_init(struct records *records, uint32_t limit);
// Static builds: takes `limit` bytes (and a few words) now, or WEIR_NO_MEMORY. Allocator builds: nothing to do.
int records_carve(struct records *records, struct memory *memory);
size_t records_carve_bytes(uint32_t limit);  // what that takes of the block
// Room for one record of `length` bytes, aligned to 8; NULL: full, or no memory. It is in the queue at once. An empty
// queue takes any record with length + 8, rounded up to 8, within the limit.
void *records_push(struct records *records, struct memory *memory, uint32_t length);
// Takes back the record pushed last, before anyone saw it (its contents proved bad).
void records_unpush(struct records *records);
void *records_front(const struct records *records, uint32_t *length);  // NULL: empty
void records_pop(struct records *records, struct memory *memory);      // nothing if empty
// gives all memory back (static builds keep theirs)
void records_clear(struct records *records, struct memory *memory);
uint32_t records_memory(const struct records *records);  // bytes taken from memory

#endif
