// SPDX-License-Identifier: BSD-2-Clause
// Socket options of connections and listeners. A listener's are inherited by what it accepts.
#include "tcp/internal.h"

static uint32_t *flags_of(struct sock *sock)
{
    return sock->kind == SOCK_LISTENER ? &((struct tcp_listener *)sock)->flags : &((struct tcp_conn *)sock)->flags;
}

static int set_flag(struct sock *sock, uint32_t flag, int32_t value)
{
    uint32_t *flags = flags_of(sock);
    *flags = value ? *flags | flag : *flags & ~flag;
    return WEIR_OK;
}

// Options that are one bit of the flags.
static uint32_t flag_of(enum weir_option option)
{
    switch (option) {
    case WEIR_OPTION_NO_DELAY: return TCP_NO_DELAY;
    case WEIR_OPTION_CORK: return TCP_CORK;
    case WEIR_OPTION_QUICK_ACK: return TCP_QUICK_ACK;
    case WEIR_OPTION_OOB_INLINE: return TCP_OOB_INLINE;
    case WEIR_OPTION_KEEPALIVE: return WEIR_CFG_TCP_KEEPALIVE ? TCP_KEEPALIVE_ON : 0;
    default: return 0;
    }
}

// Fields that connections and listeners both have, by option: where, and what values are allowed.
struct field {
    uint8_t option;
    uint8_t bytes;
    uint16_t in_conn, in_listener;
    int32_t min, max;
};
#define FIELD(option, member, min, max) \
    { \
        WEIR_OPTION_##option, sizeof(((struct tcp_conn *)0)->member), offsetof(struct tcp_conn, member), \
            offsetof(struct tcp_listener, member), min, max \
    }
static const struct field fields[] = {
    FIELD(SEND_BUFFER, send_limit, 1, 1 << 30),
    FIELD(RECEIVE_BUFFER, receive_limit, 1, 1 << 30),
    FIELD(TTL, ttl, WEIR_CFG_IP6 ? 0 : 1, 255),
    FIELD(TOS, tos, 0, 255),
    FIELD(MAX_SEGMENT, user_mss, 64, 65495),
#if WEIR_CFG_TCP_KEEPALIVE
    FIELD(KEEPALIVE_IDLE_S, keepalive_idle_s, 1, 32767),
    FIELD(KEEPALIVE_INTERVAL_S, keepalive_interval_s, 1, 32767),
    FIELD(KEEPALIVE_COUNT, keepalive_count, 1, 127),
#endif
};

static const struct field *field_of(enum weir_option option)
{
    for (uint32_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
        if (fields[i].option == option)
            return &fields[i];
    return NULL;
}

static void *place_of(struct sock *sock, const struct field *field)
{
    return (uint8_t *)sock + (sock->kind == SOCK_LISTENER ? field->in_listener : field->in_conn);
}

static int set_field(struct sock *sock, const struct field *field, int32_t value)
{
    if (value < field->min || value > field->max)
        return WEIR_INVALID;
    void *place = place_of(sock, field);
    if (field->bytes == 4)
        *(uint32_t *)place = (uint32_t)value;
    else if (field->bytes == 2)
        *(uint16_t *)place = (uint16_t)value;
    else
        *(uint8_t *)place = (uint8_t)value;
    return WEIR_OK;
}

static int32_t get_field(struct sock *sock, const struct field *field)
{
    const void *place = place_of(sock, field);
    return field->bytes == 4   ? (int32_t) * (const uint32_t *)place
           : field->bytes == 2 ? *(const uint16_t *)place
                               : *(const uint8_t *)place;
}

// The ECN bits are the stack's.
static int32_t tos_set(struct sock *sock, const struct field *field, int32_t value)
{
    return (value & ~(int32_t)TCP_ECN_BITS) | (get_field(sock, field) & (int32_t)TCP_ECN_BITS);
}

// A changed option may let waiting data go, or change what the queues may hold.
static void option_changed(struct weir *weir, struct tcp_conn *c, enum weir_option option)
{
    if (c->send)
        stream_set_limit(c->send, c->send_limit);
    if (c->receive)
        stream_set_limit(c->receive, max_u32(c->receive_limit, c->rcv.edge - c->rcv.nxt + tcp_receive_queued(c)) +
                                         (1u << c->rcv_scale));
    if (c->state == WEIR_TCP_CLOSED)
        return;
    if (option == WEIR_OPTION_RECEIVE_BUFFER)
        tcp_receive_window_opened(weir, c);
    if (option == WEIR_OPTION_NO_DELAY && c->flags & TCP_NO_DELAY && tcp_unsent(c))
        c->flags |= TCP_SEND_SMALL;  // setting it sends what waits, once even past a cork (Linux)
    tcp_timers_state(weir, c);
    tcp_wants_output(weir, c);
}

static int set_user_timeout(struct sock *sock, int32_t value)
{
    if (value < 0 || value > 32767000)
        return WEIR_INVALID;
    const uint16_t seconds = (uint16_t)(((uint32_t)value + 999) / 1000);
    if (sock->kind == SOCK_LISTENER)
        ((struct tcp_listener *)sock)->user_timeout_s = seconds;
    else
        tcp_uto_chosen((struct tcp_conn *)sock, seconds);
    return WEIR_OK;
}

static int set_rto_floor(struct weir *weir, struct sock *sock, int32_t value)
{
    const uint32_t floor_us = rtt_floor((uint32_t)value, weir->port->granularity_us);
    if (value < (int32_t)RTO_FLOOR_LEAST_US || value > (int32_t)RTO_FLOOR_MOST_US)
        return WEIR_INVALID;
    if (sock->kind == SOCK_LISTENER) {
        ((struct tcp_listener *)sock)->rto_floor_us = floor_us;
        return WEIR_OK;
    }
    ((struct tcp_conn *)sock)->rtt.floor_us = floor_us;
    return WEIR_OK;
}

static int set_linger(struct sock *sock, int32_t value)
{
    if (value < -1 || value > 32767)
        return WEIR_INVALID;
    if (sock->kind == SOCK_LISTENER)
        ((struct tcp_listener *)sock)->linger_s = (uint16_t)value;
    else
        ((struct tcp_conn *)sock)->linger_s = (uint16_t)value;
    return WEIR_OK;
}

// What rarer features are asked for: a connection has it in its struct tcp_extra, a listener just the number, for those
// that it accepts. In the order in which these get it.
static const struct rare_option {
    enum weir_option option;
    uint16_t in_listener;
    int (*set)(struct weir *weir, struct tcp_conn *c, uint32_t value);
    int32_t (*get)(const struct tcp_conn *c);
} rare_options[] = {
#if WEIR_CFG_TCP_PACING
    {WEIR_OPTION_MAX_PACING_RATE, offsetof(struct tcp_listener, pacing_limit), tcp_pacing_set, tcp_pacing_limit},
#endif
#if WEIR_CFG_REALTIME_SENDER
    {WEIR_OPTION_SEND_DEADLINE_US, offsetof(struct tcp_listener, deadline_us), tcp_deadline_set, tcp_deadline_get},
#endif
#if WEIR_CFG_TCP_REFINEMENTS
    {WEIR_OPTION_USER_TIMEOUT_OPTION, offsetof(struct tcp_listener, uto), tcp_uto_set, tcp_uto_get},
#endif
#if WEIR_CFG_IP_OPTIONS
    {WEIR_OPTION_RECEIVE_IP_OPTIONS, offsetof(struct tcp_listener, receives_ip_options), tcp_ip_options_receive,
     tcp_ip_options_receives},
#endif
    {(enum weir_option)0, 0, NULL, NULL},
};
#define RARE_OPTIONS_END \
    (rare_options + \
     ((WEIR_CFG_TCP_PACING != 0) + WEIR_CFG_REALTIME_SENDER + WEIR_CFG_TCP_REFINEMENTS + WEIR_CFG_IP_OPTIONS))

static const struct rare_option *rare_option_of(enum weir_option option)
{
    for (const struct rare_option *own = rare_options; own != RARE_OPTIONS_END; own++)
        if (own->option == option)
            return own;
    return NULL;
}

static uint32_t *rare_in(struct tcp_listener *listener, const struct rare_option *own)
{
    return (void *)((uint8_t *)listener + own->in_listener);
}

static int set_rare(struct weir *weir, struct sock *sock, const struct rare_option *own, uint32_t value)
{
    if (sock->kind != SOCK_LISTENER)
        return own->set(weir, (struct tcp_conn *)sock, value);
    *rare_in((struct tcp_listener *)sock, own) = value;
    return WEIR_OK;
}

static int32_t get_rare(struct sock *sock, const struct rare_option *own)
{
    return sock->kind == SOCK_LISTENER ? (int32_t)*rare_in((struct tcp_listener *)sock, own)
                                       : own->get((const struct tcp_conn *)sock);
}

void tcp_rare_options_bequeath(const struct tcp_conn *c, struct tcp_listener *listener)
{
    for (const struct rare_option *own = rare_options; own != RARE_OPTIONS_END; own++)
        *rare_in(listener, own) = (uint32_t)own->get(c);
    tcp_ip_options_bequeath(c, listener);
}

void tcp_rare_options_inherit(struct weir *weir, struct tcp_conn *c, struct tcp_listener *listener)
{
    for (const struct rare_option *own = rare_options; own != RARE_OPTIONS_END; own++)
        if (*rare_in(listener, own))
            (void)own->set(weir, c, *rare_in(listener, own));  // without memory it goes without
    tcp_ip_options_inherit(weir, c, listener);
}

static int set_other(struct weir *weir, struct sock *sock, enum weir_option option, int32_t value)
{
    switch (option) {
    case WEIR_OPTION_USER_TIMEOUT_MS: return set_user_timeout(sock, value);
    case WEIR_OPTION_RECEIVE_LOW_WATER:
        return sock->kind == SOCK_LISTENER ? WEIR_NOT_SUPPORTED
                                           : tcp_low_water_set(weir, (struct tcp_conn *)sock, (uint32_t)value);
    case WEIR_OPTION_LINGER_S: return set_linger(sock, value);
    case WEIR_OPTION_RTO_MIN_US: return set_rto_floor(weir, sock, value);
    case WEIR_OPTION_ECN: return tcp_ecn_set(sock, value);
    case WEIR_OPTION_REUSE_ADDRESS:
        sock->flags = (uint8_t)(value ? sock->flags | SOCK_REUSE_ADDRESS : sock->flags & ~SOCK_REUSE_ADDRESS);
        return WEIR_OK;
    case WEIR_OPTION_BIND_NETIF:
        if (value < 0 || value > 255)
            return WEIR_INVALID;
        sock->netif_bound = (uint8_t)value;
        return WEIR_OK;
    case WEIR_OPTION_DEFER_ACCEPT_S:
        if (sock->kind != SOCK_LISTENER)
            return WEIR_NOT_SUPPORTED;
        if (value < 0 || value > 32767)
            return WEIR_INVALID;
        ((struct tcp_listener *)sock)->defer_accept_s = (uint16_t)value;
        return WEIR_OK;
    default: return WEIR_NOT_SUPPORTED;
    }
}

// A timer that runs keeps the timeout that it began with.
static bool changes_timeout(enum weir_option option)
{
    return option == WEIR_OPTION_RTO_MIN_US || option == WEIR_OPTION_USER_TIMEOUT_MS ||
           option == WEIR_OPTION_USER_TIMEOUT_OPTION || option == WEIR_OPTION_SEND_DEADLINE_US;
}

// Static builds: a limit beyond what the ring holds, with a step of the window's scale, would promise the peer room
// that is not there. Where there is no ring yet it is one of the usual size: a larger one may be another's by then.
static int32_t receive_limit_within(const struct weir *weir, const struct sock *sock, int32_t value)
{
    if (WEIR_CFG_ALLOCATOR || value < 1)
        return value;
    const struct stream *ring = sock->kind == SOCK_LISTENER ? NULL : ((const struct tcp_conn *)sock)->receive;
    const uint32_t usual = weir->tcp.receive_bytes, most = ring ? stream_most(ring) : usual,
                   step = 1u << tcp_scale_for(most);
    return (int32_t)min_u32((uint32_t)value, most > usual + step ? most - step : usual);
}

int tcp_set(struct weir *weir, struct sock *sock, enum weir_option option, int32_t value)
{
    const uint32_t flag = flag_of(option);
    const struct field *field = field_of(option);
    const struct rare_option *rare = rare_option_of(option);
    if (option == WEIR_OPTION_TOS)
        value = tos_set(sock, field, value);
    if (option == WEIR_OPTION_RECEIVE_BUFFER)
        value = receive_limit_within(weir, sock, value);
    if (sock->kind == SOCK_TCP && changes_timeout(option))
        tcp_timers_resolve_deadline(weir, (struct tcp_conn *)sock);
    const int result = flag    ? set_flag(sock, flag, value)
                       : field ? set_field(sock, field, value)
                       : rare  ? set_rare(weir, sock, rare, (uint32_t)value)
                               : set_other(weir, sock, option, value);
    if (result == WEIR_OK && sock->kind == SOCK_TCP)
        option_changed(weir, (struct tcp_conn *)sock, option);
    return result;
}

static int get_conn(struct tcp_conn *c, enum weir_option option, int32_t *value)
{
    switch (option) {
    case WEIR_OPTION_ERROR: *value = tcp_error_take(c); return WEIR_OK;
    case WEIR_OPTION_MTU: *value = c->path.netif ? c->path.mtu : 0; return c->path.netif ? WEIR_OK : WEIR_NOT_CONNECTED;
    case WEIR_OPTION_READABLE_BYTES: *value = (int32_t)tcp_receive_queued(c); return WEIR_OK;
    case WEIR_OPTION_UNACKED_BYTES: *value = (int32_t)tcp_send_queued(c); return WEIR_OK;
    case WEIR_OPTION_UNSENT_BYTES: *value = (int32_t)tcp_unsent(c); return WEIR_OK;
    case WEIR_OPTION_USER_TIMEOUT_MS: *value = c->user_timeout_s * 1000; return WEIR_OK;
    case WEIR_OPTION_RECEIVE_LOW_WATER: *value = tcp_low_water_get(c); return WEIR_OK;
    case WEIR_OPTION_LINGER_S: *value = c->linger_s == 0xffff ? -1 : c->linger_s; return WEIR_OK;
    case WEIR_OPTION_RTO_MIN_US: *value = (int32_t)c->rtt.floor_us; return WEIR_OK;
    default: return WEIR_NOT_SUPPORTED;
    }
}

static int get_listener(struct tcp_listener *listener, enum weir_option option, int32_t *value)
{
    switch (option) {
    case WEIR_OPTION_ERROR:
        *value = listener->error;
        listener->error = WEIR_OK;
        return WEIR_OK;
    case WEIR_OPTION_DEFER_ACCEPT_S: *value = listener->defer_accept_s; return WEIR_OK;
    case WEIR_OPTION_USER_TIMEOUT_MS: *value = listener->user_timeout_s * 1000; return WEIR_OK;
    case WEIR_OPTION_LINGER_S: *value = listener->linger_s == 0xffff ? -1 : listener->linger_s; return WEIR_OK;
    case WEIR_OPTION_RTO_MIN_US: *value = (int32_t)listener->rto_floor_us; return WEIR_OK;
    default: return WEIR_NOT_SUPPORTED;
    }
}

int tcp_get(struct weir *weir, struct sock *sock, enum weir_option option, int32_t *value)
{
    (void)weir;
    const uint32_t flag = flag_of(option);
    const struct field *field = field_of(option);
    const struct rare_option *rare = rare_option_of(option);
    if (flag)
        *value = (*flags_of(sock) & flag) != 0;
    else if (option == WEIR_OPTION_MAX_SEGMENT && sock->kind == SOCK_TCP &&
             ((struct tcp_conn *)sock)->state >= WEIR_TCP_ESTABLISHED)
        *value = ((struct tcp_conn *)sock)->mss;
    else if (option == WEIR_OPTION_TOS)
        *value = get_field(sock, field) & ~(int32_t)TCP_ECN_BITS;
    else if (option == WEIR_OPTION_ECN)
        return tcp_ecn_get(sock, value);
    else if (field)
        *value = get_field(sock, field);
    else if (rare)
        *value = get_rare(sock, rare);
    else if (option == WEIR_OPTION_REUSE_ADDRESS)
        *value = (sock->flags & SOCK_REUSE_ADDRESS) != 0;
    else if (option == WEIR_OPTION_BIND_NETIF)
        *value = sock->netif_bound;
    else if (option == WEIR_OPTION_LISTENING)
        *value = sock->kind == SOCK_LISTENER;
    else
        return sock->kind == SOCK_LISTENER ? get_listener((struct tcp_listener *)sock, option, value)
                                           : get_conn((struct tcp_conn *)sock, option, value);
    return WEIR_OK;
}

uint8_t tcp_cc_index(const struct weir *weir, const struct weir_cc *cc)
{
    uint8_t index = 0;
    while (tcp_cc_list(weir)[index] && tcp_cc_list(weir)[index] != cc)
        index++;
    return index;
}

int tcp_set_congestion(struct weir *weir, struct sock *sock, const struct weir_cc *cc)
{
    const uint8_t index = tcp_cc_index(weir, cc);
    if (!tcp_cc_list(weir)[index])
        return WEIR_INVALID;
    if (sock->kind == SOCK_LISTENER) {
        ((struct tcp_listener *)sock)->cc = index;
        return WEIR_OK;
    }
    struct tcp_conn *c = (struct tcp_conn *)sock;
    c->cc = index;
    if (!c->flow) {
        // what another algorithm remembered may mean something else (BBR's is a bandwidth)
        c->node.spare = WEIR_CC_UNLIMITED;
        return WEIR_OK;
    }
    const struct weir_cc_window before = c->flow->window;  // a live switch keeps what the path taught
    memset(c->flow->cc_state, 0, sizeof c->flow->cc_state);
    c->flow->window.pacing_rate = 0;
    c->flow->window.burst_segments = 0;
    tcp_rate_begin(weir, c);
    tcp_cc_event(weir, c, WEIR_CC_INIT);
    // In the middle of a recovery the new one is told of it: an algorithm that leaves recovery to TCP goes on from its
    // ssthresh.
    if (c->attention & ATTEND_RECOVERY)
        tcp_cc_event(weir, c, c->attention & ATTEND_FAST_RECOVERY ? WEIR_CC_ENTER_RECOVERY : WEIR_CC_RTO);
    c->flow->window.cwnd = before.cwnd;
    c->flow->window.ssthresh = min_u32(before.ssthresh, c->flow->window.ssthresh);
    tcp_wants_output(weir, c);
    return WEIR_OK;
}

const struct weir_cc *tcp_congestion(struct weir *weir, struct sock *sock)
{
    return tcp_cc_list(
        weir)[sock->kind == SOCK_LISTENER ? ((struct tcp_listener *)sock)->cc : ((struct tcp_conn *)sock)->cc];
}

enum weir_tcp_state tcp_state(const struct sock *sock)
{
    return sock->kind == SOCK_LISTENER ? WEIR_TCP_LISTEN : (enum weir_tcp_state)((const struct tcp_conn *)sock)->state;
}

void tcp_endpoints(const struct sock *sock, struct weir_endpoint *local, struct weir_endpoint *remote)
{
    if (sock->kind == SOCK_LISTENER) {
        *local = ((const struct tcp_listener *)sock)->local.endpoint;
        *remote = (struct weir_endpoint){weir_addr_any(), 0};
        return;
    }
    *local = ((const struct tcp_conn *)sock)->local.endpoint;
    *remote = ((const struct tcp_conn *)sock)->remote.endpoint;
}
