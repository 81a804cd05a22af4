// SPDX-License-Identifier: BSD-2-Clause
// Socket options of datagram, raw and ICMP sockets.
#include "instance.h"
#include "udp/dplpmtud.h"

#include "wire/ip4.h"
static int option_flag(struct datagram *d, uint8_t flag, bool on)
{
    d->options = (uint8_t)(on ? d->options | flag : d->options & ~flag);
    return WEIR_OK;
}

// The limit of a ring. In static builds the rings are as large as they were built.
static int limit_set(struct records *records, int32_t value)
{
    if (!WEIR_CFG_ALLOCATOR)
        return WEIR_NOT_SUPPORTED;
    records->limit = max_u32((uint32_t)value, 512);
    return WEIR_OK;
}

#if WEIR_CFG_IP_OPTIONS
static int other_set(struct datagram *d, enum weir_option option, int32_t value)
{
    if (option != WEIR_OPTION_RECEIVE_IP_OPTIONS)
        return WEIR_NOT_SUPPORTED;
    d->takes_ip_options = value != 0;
    return WEIR_OK;
}
static int other_get(const struct datagram *d, enum weir_option option, int32_t *value)
{
    *value = d->takes_ip_options;
    return option == WEIR_OPTION_RECEIVE_IP_OPTIONS ? WEIR_OK : WEIR_NOT_SUPPORTED;
}
#else
static int other_set(struct datagram *d, enum weir_option option, int32_t value)
{
    return (void)d, (void)option, (void)value, WEIR_NOT_SUPPORTED;
}
static int other_get(const struct datagram *d, enum weir_option option, int32_t *value)
{
    return (void)d, (void)option, (void)value, WEIR_NOT_SUPPORTED;
}
#endif

int datagram_set(struct weir *weir, struct datagram *d, enum weir_option option, int32_t value)
{
    (void)weir;
    switch (option) {
    case WEIR_OPTION_SEND_BUFFER: return limit_set(&d->send, value);
    case WEIR_OPTION_RECEIVE_BUFFER: return limit_set(&d->receive, value);
    case WEIR_OPTION_RECEIVE_LOW_WATER:
        d->receive_low_water = (uint16_t)min_u32((uint32_t)value, UINT16_MAX);
        return WEIR_OK;
    case WEIR_OPTION_TTL: d->ttl = (uint8_t)value; return WEIR_OK;
    case WEIR_OPTION_TOS: d->tos = (uint8_t)value; return WEIR_OK;
    case WEIR_OPTION_DONT_FRAGMENT:
        datagram_path_mtu_ignore(d, value == 2);
        return option_flag(d, DATAGRAM_DONT_FRAGMENT, value);
    case WEIR_OPTION_MULTICAST_TTL: d->multicast_ttl = (uint8_t)value; return WEIR_OK;
    case WEIR_OPTION_MULTICAST_LOOP: return option_flag(d, DATAGRAM_NO_MULTICAST_LOOP, !value);
    case WEIR_OPTION_MULTICAST_NETIF: d->multicast_netif = (uint8_t)value; return WEIR_OK;
    case WEIR_OPTION_HEADER_INCLUDED:
        return d->type == WEIR_RAW ? option_flag(d, DATAGRAM_HEADER_INCLUDED, value) : WEIR_NOT_SUPPORTED;
    case WEIR_OPTION_ICMP_FILTER:
        if (d->type != WEIR_RAW || d->protocol != IP_ICMP)
            return WEIR_NOT_SUPPORTED;
        d->icmp_filter = (uint32_t)value;
        return WEIR_OK;
    default: return other_set(d, option, value);
    }
}

static uint32_t next_length(const struct datagram *d)
{
    uint32_t length;
    const struct weir_message *record = records_front(&d->receive, &length);
    return record ? record->length : 0;
}

// The path MTU, looked up anew when what is known has aged.
static int mtu_get(struct weir *weir, struct datagram *d, int32_t *value)
{
    if (!datagram_connected(d))
        return WEIR_NOT_CONNECTED;
    const int error = datagram_path(weir, d, &(struct weir_message){.peer = d->peer});
    *value = (int32_t)datagram_search_mtu(d, d->path.mtu);
    return error;
}

int datagram_get(struct weir *weir, struct datagram *d, enum weir_option option, int32_t *value)
{
    switch (option) {
    case WEIR_OPTION_ERROR: *value = datagram_error_take(d); return WEIR_OK;
    case WEIR_OPTION_SEND_BUFFER: *value = (int32_t)d->send.limit; return WEIR_OK;
    case WEIR_OPTION_RECEIVE_BUFFER: *value = (int32_t)d->receive.limit; return WEIR_OK;
    case WEIR_OPTION_RECEIVE_LOW_WATER: *value = d->receive_low_water; return WEIR_OK;
    case WEIR_OPTION_TTL: *value = d->ttl; return WEIR_OK;
    case WEIR_OPTION_TOS: *value = d->tos; return WEIR_OK;
    case WEIR_OPTION_DONT_FRAGMENT:
        *value = datagram_path_mtu_ignored(d) ? 2 : (d->options & DATAGRAM_DONT_FRAGMENT) != 0;
        return WEIR_OK;
    case WEIR_OPTION_MTU: return mtu_get(weir, d, value);
    case WEIR_OPTION_MULTICAST_TTL: *value = d->multicast_ttl; return WEIR_OK;
    case WEIR_OPTION_MULTICAST_LOOP: *value = !(d->options & DATAGRAM_NO_MULTICAST_LOOP); return WEIR_OK;
    case WEIR_OPTION_MULTICAST_NETIF: *value = d->multicast_netif; return WEIR_OK;
    case WEIR_OPTION_HEADER_INCLUDED: *value = (d->options & DATAGRAM_HEADER_INCLUDED) != 0; return WEIR_OK;
    case WEIR_OPTION_ICMP_FILTER: *value = (int32_t)d->icmp_filter; return WEIR_OK;
    case WEIR_OPTION_READABLE_BYTES: *value = (int32_t)next_length(d); return WEIR_OK;
    case WEIR_OPTION_UNSENT_BYTES:
    case WEIR_OPTION_UNACKED_BYTES: *value = (int32_t)d->send_bytes; return WEIR_OK;
    default: return other_get(d, option, value);
    }
}
