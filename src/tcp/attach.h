// SPDX-License-Identifier: BSD-2-Clause
// Where a flow's log and an interval list live: by need where there is an allocator, within the block they serve otherwise.
#ifndef TCP_ATTACH_H
#define TCP_ATTACH_H

#include "tcp/internal.h"

#if WEIR_CFG_ALLOCATOR

static inline struct flight *attach_flight(struct memory *memory, struct tcp_flow *flow, uint32_t start)
{
    (void)flow;
    return flight_new(memory, start);
}
static inline void detach_flight(struct memory *memory, struct tcp_flow *flow) { flight_free(memory, flow->flight); }
static inline struct intervals *attach_intervals(struct memory *memory, struct tcp_extra *extra, uint32_t capacity)
{
    (void)extra;
    struct intervals *list = memory_get(memory, intervals_bytes(capacity));
    if (list)
        intervals_init(list, (uint16_t)capacity);
    return list;
}
static inline void detach_intervals(struct memory *memory, struct intervals *list) { memory_put(memory, list, intervals_bytes(list->capacity)); }

#else

static inline struct flight *attach_flight(struct memory *memory, struct tcp_flow *flow, uint32_t start)
{
    (void)memory;
    struct flight *flight = (struct flight *)(void *)flow->flight_memory;
    flight_init(flight, WEIR_CFG_TCP_FLIGHT_RECORDS, start);
    return flight;
}
static inline void detach_flight(struct memory *memory, struct tcp_flow *flow) { (void)memory, (void)flow; }
// There is one list, of fixed capacity: it cannot grow.
static inline struct intervals *attach_intervals(struct memory *memory, struct tcp_extra *extra, uint32_t capacity)
{
    (void)memory, (void)capacity;
    if (extra->out_of_order)
        return NULL;
    struct intervals *list = (struct intervals *)(void *)extra->intervals_memory;
    intervals_init(list, WEIR_CFG_TCP_INTERVALS);
    return list;
}
static inline void detach_intervals(struct memory *memory, struct intervals *list) { (void)memory, (void)list; }

#endif

#endif
