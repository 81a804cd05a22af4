// SPDX-License-Identifier: BSD-2-Clause
// getsockopt, setsockopt. A table maps what is one number in both worlds; the rest are small functions.
#include "bsd_errno.h"
#include "option.h"
#include "weir/realtime.h"
#include "weir/stats.h"

struct mapping {
    uint16_t level, name;
    uint8_t option;  // enum weir_option
    bool flag;       // any value but 0 is 1
};

static const struct mapping mappings[] = {
    {WEIR_SOL_SOCKET, WEIR_SO_REUSEADDR, WEIR_OPTION_REUSE_ADDRESS, true},
    {WEIR_SOL_SOCKET, WEIR_SO_BROADCAST, WEIR_OPTION_BROADCAST, true},
    {WEIR_SOL_SOCKET, WEIR_SO_KEEPALIVE, WEIR_OPTION_KEEPALIVE, true},
    {WEIR_SOL_SOCKET, WEIR_SO_OOBINLINE, WEIR_OPTION_OOB_INLINE, true},
    {WEIR_SOL_SOCKET, WEIR_SO_SNDBUF, WEIR_OPTION_SEND_BUFFER, false},
    {WEIR_SOL_SOCKET, WEIR_SO_RCVBUF, WEIR_OPTION_RECEIVE_BUFFER, false},
    {WEIR_SOL_SOCKET, WEIR_SO_SNDLOWAT, WEIR_OPTION_SEND_LOW_WATER, false},
    {WEIR_SOL_SOCKET, WEIR_SO_RCVLOWAT, WEIR_OPTION_RECEIVE_LOW_WATER, false},
    {WEIR_SOL_SOCKET, WEIR_SO_ACCEPTCONN, WEIR_OPTION_LISTENING, false},
    {WEIR_IPPROTO_TCP, WEIR_TCP_NODELAY, WEIR_OPTION_NO_DELAY, true},
    {WEIR_IPPROTO_TCP, WEIR_TCP_MAXSEG, WEIR_OPTION_MAX_SEGMENT, false},
    {WEIR_IPPROTO_TCP, WEIR_TCP_CORK, WEIR_OPTION_CORK, true},
    {WEIR_IPPROTO_TCP, WEIR_TCP_KEEPIDLE, WEIR_OPTION_KEEPALIVE_IDLE_S, false},
    {WEIR_IPPROTO_TCP, WEIR_TCP_KEEPINTVL, WEIR_OPTION_KEEPALIVE_INTERVAL_S, false},
    {WEIR_IPPROTO_TCP, WEIR_TCP_KEEPCNT, WEIR_OPTION_KEEPALIVE_COUNT, false},
    {WEIR_IPPROTO_TCP, WEIR_TCP_DEFER_ACCEPT, WEIR_OPTION_DEFER_ACCEPT_S, false},
    {WEIR_IPPROTO_TCP, WEIR_TCP_QUICKACK, WEIR_OPTION_QUICK_ACK, true},
    {WEIR_IPPROTO_TCP, WEIR_TCP_USER_TIMEOUT, WEIR_OPTION_USER_TIMEOUT_MS, false},
    {WEIR_IPPROTO_TCP, WEIR_TCP_USER_TIMEOUT_OPTION, WEIR_OPTION_USER_TIMEOUT_OPTION, false},
    {WEIR_IPPROTO_TCP, WEIR_TCP_RTO_MIN_US, WEIR_OPTION_RTO_MIN_US, false},
    {WEIR_IPPROTO_TCP, WEIR_TCP_SEND_DEADLINE_US, WEIR_OPTION_SEND_DEADLINE_US, false},
    {WEIR_IPPROTO_TCP, WEIR_TCP_ECN, WEIR_OPTION_ECN, false},
    {WEIR_IPPROTO_IP, WEIR_IP_TOS, WEIR_OPTION_TOS, false},
    {WEIR_IPPROTO_IP, WEIR_IP_TTL, WEIR_OPTION_TTL, false},
    {WEIR_IPPROTO_IP, WEIR_IP_HDRINCL, WEIR_OPTION_HEADER_INCLUDED, true},
    {WEIR_IPPROTO_IP, WEIR_IP_MTU, WEIR_OPTION_MTU, false},
    {WEIR_IPPROTO_IP, WEIR_IP_MULTICAST_TTL, WEIR_OPTION_MULTICAST_TTL, false},
    {WEIR_IPPROTO_IP, WEIR_IP_MULTICAST_LOOP, WEIR_OPTION_MULTICAST_LOOP, true},
    {WEIR_SOL_RAW, WEIR_ICMP_FILTER, WEIR_OPTION_ICMP_FILTER, false},
#if WEIR_CFG_IP_OPTIONS
    {WEIR_IPPROTO_IP, WEIR_IP_RECVOPTS, WEIR_OPTION_RECEIVE_IP_OPTIONS, true},
#endif
#if WEIR_CFG_IP6
    {WEIR_IPPROTO_IPV6, WEIR_IPV6_UNICAST_HOPS, WEIR_OPTION_TTL, false},
    {WEIR_IPPROTO_IPV6, WEIR_IPV6_MULTICAST_HOPS, WEIR_OPTION_MULTICAST_TTL, false},
    {WEIR_IPPROTO_IPV6, WEIR_IPV6_MULTICAST_LOOP, WEIR_OPTION_MULTICAST_LOOP, true},
    {WEIR_IPPROTO_IPV6, WEIR_IPV6_MULTICAST_IF, WEIR_OPTION_MULTICAST_NETIF, false},
    {WEIR_IPPROTO_IPV6, WEIR_IPV6_MTU, WEIR_OPTION_MTU, false},
    {WEIR_IPPROTO_IPV6, WEIR_IPV6_TCLASS, WEIR_OPTION_TOS, false},
#endif
};

static const struct mapping *mapping_for(int level, int name)
{
    for (size_t index = 0; index < sizeof mappings / sizeof *mappings; index++)
        if (mappings[index].level == level && mappings[index].name == name)
            return &mappings[index];
    return NULL;
}

bool bsd_option_plain(int level, int name, enum weir_option *option)
{
    const struct mapping *mapping = mapping_for(level, name);
    if (mapping)
        *option = (enum weir_option)mapping->option;
    return mapping != NULL;
}

// Numbers of IP (no other level's) may be of one byte, which is also what fewer bytes than an int mean: as on Linux.
static bool short_number(const struct bsd_request *r, weir_socklen length)
{
    return r->level == WEIR_IPPROTO_IP && length > 0 && length < sizeof r->value.number;
}

static bool number_given(const struct bsd_request *r, int32_t *number)
{
    *number = short_number(r, r->length) ? *(const uint8_t *)&r->value : r->value.number;
    return short_number(r, r->length) || bsd_whole(r, sizeof *number);
}

int bsd_number_set(struct bsd_request *r, enum weir_option option, int32_t value)
{
    return weir_socket_set(r->bsd->weir, r->file->socket, option, value);
}

#define SECONDS_MAX 100000000  // longer timeouts are for ever

static int set_timeout(const struct bsd_request *r, uint64_t *timeout_us)
{
    const struct weir_timeval time = r->value.time;
    if (!bsd_whole(r, sizeof time))
        return WEIR_INVALID;
    if (time.tv_usec < 0 || time.tv_usec >= 1000000)
        return BSD_OUT_OF_DOMAIN;
    if (time.tv_sec < 0 || time.tv_sec > SECONDS_MAX)
        *timeout_us = 0;
    else
        *timeout_us = (uint64_t)time.tv_sec * 1000000u + (uint64_t)time.tv_usec;
    return WEIR_OK;
}

static int set_linger(struct bsd_request *r)
{
    if (!bsd_whole(r, sizeof r->value.linger))
        return WEIR_INVALID;
    const int seconds = r->value.linger.l_linger;
    const int32_t native = !r->value.linger.l_onoff ? -1 : seconds < 0 || seconds > 32767 ? 32767 : seconds;
    return bsd_number_set(r, WEIR_OPTION_LINGER_S, native);
}

static int netif_index(struct weir_bsd *bsd, const char *name)
{
    const struct weir_netif *netif = weir_netif_find(bsd->weir, name);
    return netif ? netif->index : BSD_NO_DEVICE;
}

static int set_bind_to_device(struct bsd_request *r)
{
    r->value.text[r->length < sizeof r->value.text ? r->length : sizeof r->value.text - 1] = '\0';
    const int index = r->value.text[0] ? netif_index(r->bsd, r->value.text) : 0;
    return index < 0 ? index : bsd_number_set(r, WEIR_OPTION_BIND_NETIF, index);
}

// 2^32 − 1 is no limit, as on Linux; what the native option cannot say is none either.
static int set_max_pacing_rate(struct bsd_request *r)
{
    uint64_t rate = 0;
    if (!bsd_whole(r, sizeof r->value.number))
        return WEIR_INVALID;
    if (bsd_whole(r, sizeof rate))
        memcpy(&rate, &r->value, sizeof rate);
    else
        rate = (uint32_t)r->value.number;
    return bsd_number_set(r, WEIR_OPTION_MAX_PACING_RATE, rate < INT32_MAX ? (int32_t)rate : 0);
}

static int set_socket(struct bsd_request *r)
{
    switch (r->name) {
    case WEIR_SO_LINGER: return set_linger(r);
    case WEIR_SO_RCVTIMEO: return set_timeout(r, &r->file->receive_timeout_us);
    case WEIR_SO_SNDTIMEO: return set_timeout(r, &r->file->send_timeout_us);
    case WEIR_SO_BINDTODEVICE: return set_bind_to_device(r);
    case WEIR_SO_MAX_PACING_RATE: return set_max_pacing_rate(r);
    default: return BSD_NO_PROTOCOL_OPTION;
    }
}

static int set_file_flag(struct bsd_request *r, uint8_t flag)
{
    int32_t value;
    if (!number_given(r, &value))
        return WEIR_INVALID;
    r->file->flags = (uint8_t)(value ? r->file->flags | flag : r->file->flags & ~flag);
    return WEIR_OK;
}

// A stream discovers its path's MTU always.
static int set_mtu_discover(struct bsd_request *r)
{
    int32_t value;
    if (!number_given(r, &value))
        return WEIR_INVALID;
    if (r->file->type == WEIR_STREAM)
        return value == WEIR_IP_PMTUDISC_DONT ? WEIR_NOT_SUPPORTED : WEIR_OK;
    return bsd_number_set(r, WEIR_OPTION_DONT_FRAGMENT,
                          value == WEIR_IP_PMTUDISC_PROBE ? 2 : value == WEIR_IP_PMTUDISC_DO);
}

#if WEIR_CFG_IP_OPTIONS
static int set_ip_options(struct bsd_request *r)
{
    if (r->length > sizeof r->value.option_bytes)
        return WEIR_INVALID;
    return weir_socket_set_ip_options(r->bsd->weir, r->file->socket, r->value.option_bytes, (int)r->length);
}
static int get_ip_options(struct bsd_request *r)
{
    struct weir_ip_options options;
    const int error = weir_socket_ip_options(r->bsd->weir, r->file->socket, &options);
    if (error)
        return error;
    r->length = options.length;
    memcpy(r->value.option_bytes, options.bytes, options.length);
    return WEIR_OK;
}
// Of a stream, as ancillary data: the options of its peer's SYN, where IP_RECVOPTS asked for them.
static int get_packet_options(struct bsd_request *r)
{
    struct weir_ip_options options;
    struct weir_cmsghdr *const control = (struct weir_cmsghdr *)(void *)r->value.control;
    const int error = weir_socket_received_ip_options(r->bsd->weir, r->file->socket, &options);
    r->length = 0;
    if (error || !options.length)
        return error == WEIR_NOT_SUPPORTED ? BSD_NO_PROTOCOL_OPTION : error;
    *control = (struct weir_cmsghdr){weir_cmsg_len(options.length), WEIR_IPPROTO_IP, WEIR_IP_RECVOPTS};
    memcpy(weir_cmsg_data(control), options.bytes, options.length);
    r->length = (weir_socklen)weir_cmsg_space(options.length);
    return WEIR_OK;
}
#else
static int set_ip_options(struct bsd_request *r) { return (void)r, BSD_NO_PROTOCOL_OPTION; }
static int get_ip_options(struct bsd_request *r) { return (void)r, BSD_NO_PROTOCOL_OPTION; }
static int get_packet_options(struct bsd_request *r) { return (void)r, BSD_NO_PROTOCOL_OPTION; }
#endif

static int set_ip(struct bsd_request *r)
{
    switch (r->name) {
    case WEIR_IP_OPTIONS: return set_ip_options(r);
    case WEIR_IP_MTU_DISCOVER: return set_mtu_discover(r);
    case WEIR_IP_PKTINFO: return set_file_flag(r, BSD_PKTINFO);
    case WEIR_IP_RECVTTL: return set_file_flag(r, BSD_RECVTTL);
    case WEIR_IP_RECVTOS: return set_file_flag(r, BSD_RECVTOS);
    default: return bsd_multicast_set(r);
    }
}

#if WEIR_CFG_IP6
static int set_v6only(struct bsd_request *r)
{
    int32_t value;
    return number_given(r, &value) ? bsd_number_set(r, WEIR_OPTION_FAMILY, value ? 6 : 0) : WEIR_INVALID;
}

// −1 is the default (RFC 3493 §5.1, §5.2; RFC 3542 §6.5); that of a TTL is known below.
static int32_t number6(const struct bsd_request *r, int32_t value)
{
    if (r->level != WEIR_IPPROTO_IPV6 || value != -1)
        return value;
    switch (r->name) {
    case WEIR_IPV6_MULTICAST_HOPS: return 1;
    case WEIR_IPV6_TCLASS: return 0;
    default: return value;
    }
}

static int set_ip6(struct bsd_request *r)
{
    switch (r->name) {
    case WEIR_IPV6_V6ONLY: return set_v6only(r);
    case WEIR_IPV6_MTU_DISCOVER: return set_mtu_discover(r);
    case WEIR_IPV6_RECVPKTINFO: return set_file_flag(r, BSD_PKTINFO);
    case WEIR_IPV6_RECVHOPLIMIT: return set_file_flag(r, BSD_RECVTTL);
    case WEIR_IPV6_RECVTCLASS: return set_file_flag(r, BSD_RECVTOS);
    default: return bsd_multicast_set(r);
    }
}

// Options of IPv6 are those of sockets of AF_INET6.
static bool level_known(const struct bsd_request *r)
{
    return r->level != WEIR_IPPROTO_IPV6 || r->file->family == WEIR_AF_INET6;
}
#else
static int32_t number6(const struct bsd_request *r, int32_t value) { return (void)r, value; }
static int set_ip6(struct bsd_request *r) { return (void)r, BSD_NO_PROTOCOL_OPTION; }
static bool level_known(const struct bsd_request *r) { return (void)r, true; }
#endif

#if WEIR_CFG_REALTIME
static int set_realtime(struct bsd_request *r)
{
    return bsd_whole(r, sizeof r->value.realtime) ? weir_realtime_set(r->bsd->weir, r->file->socket, &r->value.realtime)
                                                  : WEIR_INVALID;
}
static int get_realtime(struct bsd_request *r)
{
    if (r->name == WEIR_TCP_REALTIME) {
        r->length = sizeof r->value.realtime;
        return weir_realtime_get(r->bsd->weir, r->file->socket, &r->value.realtime);
    }
    r->length = sizeof r->value.realtime_stats;
    return weir_realtime_stats(r->bsd->weir, r->file->socket, &r->value.realtime_stats);
}
#else
static int set_realtime(struct bsd_request *r) { return (void)r, BSD_NO_PROTOCOL_OPTION; }
static int get_realtime(struct bsd_request *r) { return (void)r, BSD_NO_PROTOCOL_OPTION; }
#endif

#if WEIR_CFG_DPLPMTUD
static int set_udp(struct bsd_request *r)
{
    struct weir *const weir = r->bsd->weir;
    if (r->name == WEIR_UDP_DPLPMTUD && !r->length)
        return weir_dplpmtud_stop(weir, r->file->socket);
    if (r->name == WEIR_UDP_DPLPMTUD)
        return bsd_whole(r, sizeof r->value.dplpmtud) ? weir_dplpmtud_start(weir, r->file->socket, &r->value.dplpmtud)
                                                      : WEIR_INVALID;
    if (r->name != WEIR_UDP_DPLPMTUD_REPORT)
        return BSD_NO_PROTOCOL_OPTION;
    const struct weir_dplpmtud_report report = r->value.dplpmtud_report;
    return bsd_whole(r, sizeof report) ? weir_dplpmtud_report(weir, r->file->socket, report.event, report.bytes)
                                       : WEIR_INVALID;
}
static int get_udp(struct bsd_request *r)
{
    if (r->name != WEIR_UDP_DPLPMTUD)
        return BSD_NO_PROTOCOL_OPTION;
    r->length = sizeof r->value.dplpmtud_info;
    return weir_dplpmtud_get(r->bsd->weir, r->file->socket, &r->value.dplpmtud_info);
}
#else
static int set_udp(struct bsd_request *r) { return (void)r, BSD_NO_PROTOCOL_OPTION; }
static int get_udp(struct bsd_request *r) { return (void)r, BSD_NO_PROTOCOL_OPTION; }
#endif

static int set_tcp(struct bsd_request *r)
{
    if (r->name == WEIR_TCP_REALTIME)
        return set_realtime(r);
    if (r->name != WEIR_TCP_CONGESTION)
        return BSD_NO_PROTOCOL_OPTION;
    if (!r->length)
        return WEIR_INVALID;
    r->value.text[r->length < sizeof r->value.text ? r->length : sizeof r->value.text - 1] = '\0';
    const int error = weir_socket_set_congestion(r->bsd->weir, r->file->socket, r->value.text);
    return error == WEIR_INVALID ? BSD_NOT_THERE : error;
}

// Blocking reads keep it here; readiness does where the socket knows it.
static int set_low_water(struct bsd_request *r, int32_t value)
{
    const int32_t below = bsd_layer_of(r->file) ? 1 : value;  // what a layer reads are no bytes of its user's
    const int error = value < 1 ? WEIR_INVALID : bsd_number_set(r, WEIR_OPTION_RECEIVE_LOW_WATER, below);
    if (error && error != WEIR_NOT_SUPPORTED)
        return error;
    r->file->receive_low_water = (uint32_t)value;
    return WEIR_OK;
}

static int set_mapped(struct bsd_request *r, const struct mapping *mapping)
{
    int32_t value;
    if (!number_given(r, &value))
        return WEIR_INVALID;
    value = number6(r, value);
    if (mapping->flag)
        value = value != 0;
    if (mapping->option == WEIR_OPTION_SEND_BUFFER || mapping->option == WEIR_OPTION_RECEIVE_BUFFER)
        value = value < 1 ? 1 : value > 0x40000000 ? 0x40000000 : value;
    if (mapping->option == WEIR_OPTION_RECEIVE_LOW_WATER)
        return set_low_water(r, value);
    if (mapping->option == WEIR_OPTION_CORK)
        r->file->flags &= (uint8_t)~BSD_MORE;  // the cork is the user's own from now on
    return bsd_number_set(r, (enum weir_option)mapping->option, value);
}

static int set(struct bsd_request *r)
{
    const struct mapping *mapping = mapping_for(r->level, r->name);
    if (!level_known(r))
        return BSD_NO_PROTOCOL_OPTION;
    if (mapping)
        return set_mapped(r, mapping);
    switch (r->level) {
    case WEIR_SOL_SOCKET: return set_socket(r);
    case WEIR_IPPROTO_IP: return set_ip(r);
    case WEIR_IPPROTO_IPV6: return set_ip6(r);
    case WEIR_IPPROTO_TCP: return set_tcp(r);
    case WEIR_IPPROTO_UDP: return set_udp(r);
    default: return BSD_NO_PROTOCOL_OPTION;
    }
}

// Options of a layer's level have values of their own kinds.
static int layer_option(struct weir_bsd *bsd, int fd, struct bsd_file **file)
{
    bsd_enter(bsd);
    int error = bsd_socket_pin(bsd, fd, file);
    if (!error && (*file)->type != WEIR_STREAM) {
        bsd_file_unpin(*file);
        error = BSD_NO_PROTOCOL_OPTION;
    }
    bsd_leave(bsd);
    return error;
}

static int layer_done(struct weir_bsd *bsd, struct bsd_file *file, int error)
{
    bsd_enter(bsd);
    bsd_file_unpin(file);
    bsd_leave(bsd);
    return bsd_result(bsd, error);
}

static int layer_set(struct weir_bsd *bsd, int fd, int level, int name, const void *value, weir_socklen length)
{
    struct bsd_file *file;
    const struct bsd_layer_kind *const kind = bsd_layers_of(bsd, level);
    const int error = layer_option(bsd, fd, &file);
    return error ? bsd_fail(bsd, error)
                 : layer_done(bsd, file, kind->set(bsd_layers_context(bsd), file, name, value, length));
}

static int layer_get(struct weir_bsd *bsd, int fd, int level, int name, void *value, weir_socklen *length)
{
    struct bsd_file *file;
    const struct bsd_layer_kind *const kind = bsd_layers_of(bsd, level);
    const int error = layer_option(bsd, fd, &file);
    return error ? bsd_fail(bsd, error)
                 : layer_done(bsd, file, kind->get(bsd_layers_context(bsd), file, name, value, length));
}

int bsd_setsockopt(struct weir_bsd *bsd, int fd, int level, int name, const void *value, weir_socklen length)
{
    struct bsd_request r = {.bsd = bsd, .level = level, .name = name, .length = length};
    if (bsd_layers_of(bsd, level))
        return layer_set(bsd, fd, level, name, value, length);
    memset(&r.value, 0, sizeof r.value);
    if (length && bsd_copy_in(bsd, &r.value, value, length < sizeof r.value ? length : sizeof r.value))
        return bsd_fail(bsd, WEIR_FAULT);
    bsd_enter(bsd);
    int error = bsd_socket_pin(bsd, fd, &r.file);
    if (!error) {
        error = set(&r);
        if (error == WEIR_NOT_SUPPORTED)
            error = BSD_NO_PROTOCOL_OPTION;
        if (!error && bsd->port->kick)
            bsd->port->kick(bsd->port->context);  // timers may have been set
        bsd_file_unpin(r.file);
    }
    bsd_leave(bsd);
    return bsd_result(bsd, error);
}

// --- get -------------------------------------------------------------------------------------------------------------
int bsd_number_get(struct bsd_request *r, enum weir_option option)
{
    r->length = sizeof r->value.number;
    return weir_socket_get(r->bsd->weir, r->file->socket, option, &r->value.number);
}

static int get_plain(struct bsd_request *r, int32_t value)
{
    r->value.number = value;
    r->length = sizeof value;
    return WEIR_OK;
}

static int get_timeout(struct bsd_request *r, uint64_t timeout_us)
{
    r->value.time = (struct weir_timeval){(long)(timeout_us / 1000000u), (long)(timeout_us % 1000000u)};
    r->length = sizeof r->value.time;
    return WEIR_OK;
}

static int get_linger(struct bsd_request *r)
{
    const int error = bsd_number_get(r, WEIR_OPTION_LINGER_S);
    const int32_t seconds = r->value.number;
    r->value.linger = (struct weir_linger){seconds >= 0, seconds >= 0 ? seconds : 0};
    r->length = sizeof r->value.linger;
    return error;
}

static int get_text(struct bsd_request *r, const char *text)
{
    size_t length = 0;
    while (text[length] && length < sizeof r->value.text - 1) {
        r->value.text[length] = text[length];
        length++;
    }
    r->value.text[length] = '\0';
    r->length = (weir_socklen)length + 1;
    return WEIR_OK;
}

static int get_device(struct bsd_request *r)
{
    const int error = bsd_number_get(r, WEIR_OPTION_BIND_NETIF);
    if (error)
        return error;
    const struct weir_netif *netif = weir_netif_at(r->bsd->weir, (uint8_t)r->value.number);
    return get_text(r, netif ? netif->name : "");
}

static int get_error(struct bsd_request *r)
{
    const int error = bsd_number_get(r, WEIR_OPTION_ERROR);
    r->value.number = weir_bsd_errno(r->value.number);
    return error;
}

static int get_max_pacing_rate(struct bsd_request *r)
{
    const int error = bsd_number_get(r, WEIR_OPTION_MAX_PACING_RATE);
    if (r->value.number == 0)
        r->value.number = -1;
    return error;
}

static int get_socket(struct bsd_request *r)
{
    static const uint8_t types[] = {[WEIR_STREAM] = WEIR_SOCK_STREAM,
                                    [WEIR_DATAGRAM] = WEIR_SOCK_DGRAM,
                                    [WEIR_RAW] = WEIR_SOCK_RAW,
                                    [WEIR_ICMP] = WEIR_SOCK_DGRAM};
    switch (r->name) {
    case WEIR_SO_ERROR: return get_error(r);
    case WEIR_SO_TYPE: return get_plain(r, types[r->file->type]);
    case WEIR_SO_PROTOCOL: return get_plain(r, r->file->protocol);
    case WEIR_SO_DOMAIN: return get_plain(r, bsd_family(r->file));
    case WEIR_SO_LINGER: return get_linger(r);
    case WEIR_SO_MAX_PACING_RATE: return get_max_pacing_rate(r);
    case WEIR_SO_RCVTIMEO: return get_timeout(r, r->file->receive_timeout_us);
    case WEIR_SO_SNDTIMEO: return get_timeout(r, r->file->send_timeout_us);
    case WEIR_SO_BINDTODEVICE: return get_device(r);
    default: return BSD_NO_PROTOCOL_OPTION;
    }
}

static int get_mtu_discover(struct bsd_request *r)
{
    const int error = bsd_number_get(r, WEIR_OPTION_DONT_FRAGMENT);
    r->value.number = r->value.number == 2 ? WEIR_IP_PMTUDISC_PROBE
                      : r->value.number    ? WEIR_IP_PMTUDISC_DO
                                           : WEIR_IP_PMTUDISC_DONT;
    return error;
}

static int get_ip(struct bsd_request *r)
{
    switch (r->name) {
    case WEIR_IP_OPTIONS: return get_ip_options(r);
    case WEIR_IP_PKTOPTIONS: return get_packet_options(r);
    case WEIR_IP_MTU_DISCOVER: return get_mtu_discover(r);
    case WEIR_IP_PKTINFO: return get_plain(r, (r->file->flags & BSD_PKTINFO) != 0);
    case WEIR_IP_RECVTTL: return get_plain(r, (r->file->flags & BSD_RECVTTL) != 0);
    case WEIR_IP_RECVTOS: return get_plain(r, (r->file->flags & BSD_RECVTOS) != 0);
    default: return bsd_multicast_get(r);
    }
}

#if WEIR_CFG_IP6
static int get_v6only(struct bsd_request *r)
{
    const int error = bsd_number_get(r, WEIR_OPTION_FAMILY);
    r->value.number = r->value.number == 6;
    return error;
}

static int get_ip6(struct bsd_request *r)
{
    switch (r->name) {
    case WEIR_IPV6_V6ONLY: return get_v6only(r);
    case WEIR_IPV6_MTU_DISCOVER: return get_mtu_discover(r);
    case WEIR_IPV6_RECVPKTINFO: return get_plain(r, (r->file->flags & BSD_PKTINFO) != 0);
    case WEIR_IPV6_RECVHOPLIMIT: return get_plain(r, (r->file->flags & BSD_RECVTTL) != 0);
    case WEIR_IPV6_RECVTCLASS: return get_plain(r, (r->file->flags & BSD_RECVTOS) != 0);
    default: return bsd_multicast_get(r);
    }
}
#else
static int get_ip6(struct bsd_request *r) { return (void)r, BSD_NO_PROTOCOL_OPTION; }
#endif

#if WEIR_CFG_TCP_INFO
static int get_info(struct bsd_request *r)
{
    r->length = sizeof r->value.info;
    return weir_socket_tcp_info(r->bsd->weir, r->file->socket, &r->value.info);
}
#else
static int get_info(struct bsd_request *r)
{
    (void)r;
    return BSD_NO_PROTOCOL_OPTION;
}
#endif

static int get_tcp(struct bsd_request *r)
{
    if (r->name == WEIR_TCP_INFO)
        return get_info(r);
    if (r->name == WEIR_TCP_REALTIME || r->name == WEIR_TCP_REALTIME_STATS)
        return get_realtime(r);
    const char *name = r->name == WEIR_TCP_CONGESTION ? weir_socket_congestion(r->bsd->weir, r->file->socket) : NULL;
    return name ? get_text(r, name) : BSD_NO_PROTOCOL_OPTION;
}

static int get(struct bsd_request *r)
{
    const struct mapping *mapping = mapping_for(r->level, r->name);
    if (!level_known(r))
        return BSD_NO_PROTOCOL_OPTION;
    if (mapping && mapping->option == WEIR_OPTION_RECEIVE_LOW_WATER)
        return get_plain(r, (int32_t)r->file->receive_low_water);
    if (mapping)
        return bsd_number_get(r, (enum weir_option)mapping->option);
    switch (r->level) {
    case WEIR_SOL_SOCKET: return get_socket(r);
    case WEIR_IPPROTO_IP: return get_ip(r);
    case WEIR_IPPROTO_IPV6: return get_ip6(r);
    case WEIR_IPPROTO_TCP: return get_tcp(r);
    case WEIR_IPPROTO_UDP: return get_udp(r);
    default: return BSD_NO_PROTOCOL_OPTION;
    }
}

// What does not fit is cut off, but for numbers of IP that one byte holds.
static void cut(struct bsd_request *r, weir_socklen room)
{
    const bool number =
        r->length == sizeof r->value.number && r->name != WEIR_IP_OPTIONS && r->name != WEIR_IP_MULTICAST_IF;
    if (number && short_number(r, room) && r->value.number >= 0 && r->value.number <= UINT8_MAX) {
        *(uint8_t *)&r->value = (uint8_t)r->value.number;
        r->length = 1;
    }
    r->length = r->length < room ? r->length : room;
}

int bsd_getsockopt(struct weir_bsd *bsd, int fd, int level, int name, void *value, weir_socklen *length)
{
    struct bsd_request r = {.bsd = bsd, .level = level, .name = name};
    weir_socklen room;
    if (bsd_layers_of(bsd, level))
        return layer_get(bsd, fd, level, name, value, length);
    memset(&r.value, 0, sizeof r.value);
    if (!length || bsd_copy_in(bsd, &room, length, sizeof room))
        return bsd_fail(bsd, WEIR_FAULT);
    r.length = bsd_multicast_asks(level, name) ? room < sizeof r.value ? room : sizeof r.value : 0;
    if (r.length && bsd_copy_in(bsd, &r.value, value, r.length))
        return bsd_fail(bsd, WEIR_FAULT);
    bsd_enter(bsd);
    int error = bsd_socket_pin(bsd, fd, &r.file);
    if (!error) {
        error = get(&r);
        if (error == WEIR_NOT_SUPPORTED)
            error = BSD_NO_PROTOCOL_OPTION;
        bsd_file_unpin(r.file);
    }
    bsd_leave(bsd);
    if (error)
        return bsd_fail(bsd, error);
    cut(&r, room);
    if (bsd_copy_out(bsd, value, &r.value, r.length) || bsd_copy_out(bsd, length, &r.length, sizeof r.length))
        return bsd_fail(bsd, WEIR_FAULT);
    return 0;
}
