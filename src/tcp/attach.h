// SPDX-License-Identifier: BSD-2-Clause
// Where a flow's log and an interval list live: by need where there is an allocator, within the block they serve
// otherwise.
#ifndef TCP_ATTACH_H
#define TCP_ATTACH_H

#include "tcp/internal.h"

#if WEIR_CFG_ALLOCATOR

static inline struct flight *attach_flight(struct weir *weir, struct tcp_flow *flow, uint32_t start)
{
    struct flight *flight = pool_get(&weir->tcp.flights, &weir->memory);
    (void)flow;
    if (flight)
        flight_begin(flight, start);
    return flight;
}
static inline void detach_flight(struct weir *weir, struct tcp_flow *flow)
{
    const size_t bytes = flight_bytes(flow->flight);
    if (bytes == weir->tcp.flights.object_bytes)
        pool_put(&weir->tcp.flights, &weir->memory, flow->flight);
    else
        memory_put(&weir->memory, flow->flight, bytes);
}
static inline struct intervals *attach_intervals(struct memory *memory, struct tcp_extra *extra, uint32_t capacity)
{
    (void)extra;
    struct intervals *list = memory_get(memory, intervals_bytes(capacity));
    if (list)
        intervals_init(list, (uint16_t)capacity);
    return list;
}
static inline void detach_intervals(struct memory *memory, struct intervals *list)
{
    memory_put(memory, list, intervals_bytes(list->capacity));
}

#else

static inline struct flight *attach_flight(struct weir *weir, struct tcp_flow *flow, uint32_t start)
{
    (void)weir;
    struct flight *flight = (struct flight *)(void *)flow->flight_memory;
    flight_init(flight, WEIR_CFG_TCP_FLIGHT_RECORDS, start);
    return flight;
}
static inline void detach_flight(struct weir *weir, struct tcp_flow *flow) { (void)weir, (void)flow; }
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
