// SPDX-License-Identifier: BSD-2-Clause
// Socket options: one table says for each its range and which sockets have it; what is common to all kinds is done
// here, the rest is handed to the kind with a value that is already in range.
#include "socket/socket.h"

#include "tcp/cc_register.h"
#include "weir/cc.h"

enum { STREAM = 1, DATAGRAM = 2, RAW = 4, READ_ONLY = 8, ANY = STREAM | DATAGRAM | RAW, MESSAGES = DATAGRAM | RAW };

struct rule {
    int32_t min, max;
    uint8_t access;
};

#define BYTES_MAX 0x40000000

static const struct rule rules[WEIR_OPTION_COUNT] = {
    [WEIR_OPTION_ERROR] = {0, 0, ANY | READ_ONLY},
    [WEIR_OPTION_TYPE] = {0, 0, ANY | READ_ONLY},
    [WEIR_OPTION_REUSE_ADDRESS] = {0, 1, ANY},
    [WEIR_OPTION_KEEPALIVE] = {0, 1, STREAM},
    [WEIR_OPTION_KEEPALIVE_IDLE_S] = {1, 32767, STREAM},
    [WEIR_OPTION_KEEPALIVE_INTERVAL_S] = {1, 32767, STREAM},
    [WEIR_OPTION_KEEPALIVE_COUNT] = {1, 127, STREAM},
    [WEIR_OPTION_LINGER_S] = {-1, 32767, STREAM},
    [WEIR_OPTION_SEND_BUFFER] = {1, BYTES_MAX, ANY},
    [WEIR_OPTION_RECEIVE_BUFFER] = {1, BYTES_MAX, ANY},
    [WEIR_OPTION_SEND_LOW_WATER] = {1, BYTES_MAX, ANY},
    [WEIR_OPTION_RECEIVE_LOW_WATER] = {1, BYTES_MAX, ANY},
    [WEIR_OPTION_OOB_INLINE] = {0, 1, STREAM},
    [WEIR_OPTION_BROADCAST] = {0, 1, ANY},
    [WEIR_OPTION_BIND_NETIF] = {0, 255, ANY},
    [WEIR_OPTION_NO_DELAY] = {0, 1, STREAM},
    [WEIR_OPTION_CORK] = {0, 1, STREAM},
    [WEIR_OPTION_QUICK_ACK] = {0, 1, STREAM},
    [WEIR_OPTION_MAX_SEGMENT] = {64, 65495, STREAM},
    [WEIR_OPTION_USER_TIMEOUT_MS] = {0, INT32_MAX, STREAM},
    [WEIR_OPTION_USER_TIMEOUT_OPTION] = {WEIR_UTO_OFF, WEIR_UTO_FOLLOW, STREAM},
    [WEIR_OPTION_DEFER_ACCEPT_S] = {0, 32767, STREAM},
    [WEIR_OPTION_TTL] = {WEIR_CFG_IP6 ? -1 : 1, 255, ANY},
    [WEIR_OPTION_TOS] = {0, 255, ANY},
    [WEIR_OPTION_DONT_FRAGMENT] = {0, WEIR_CFG_DPLPMTUD ? 2 : 1, ANY},
    [WEIR_OPTION_MTU] = {0, 0, ANY | READ_ONLY},
    [WEIR_OPTION_MULTICAST_TTL] = {0, 255, MESSAGES},
    [WEIR_OPTION_MULTICAST_LOOP] = {0, 1, MESSAGES},
    [WEIR_OPTION_MULTICAST_NETIF] = {0, 255, MESSAGES},
    [WEIR_OPTION_HEADER_INCLUDED] = {0, 1, RAW},
    [WEIR_OPTION_ICMP_FILTER] = {INT32_MIN, INT32_MAX, RAW},
    [WEIR_OPTION_READABLE_BYTES] = {0, 0, ANY | READ_ONLY},
    [WEIR_OPTION_UNSENT_BYTES] = {0, 0, ANY | READ_ONLY},
    [WEIR_OPTION_UNACKED_BYTES] = {0, 0, ANY | READ_ONLY},
    [WEIR_OPTION_ECN] = {WEIR_ECN_OFF, WEIR_ECN_ACCURATE, STREAM},
    [WEIR_OPTION_MAX_PACING_RATE] = {0, INT32_MAX, STREAM},
    [WEIR_OPTION_RTO_MIN_US] = {1000, 3000000, STREAM},
    [WEIR_OPTION_SEND_DEADLINE_US] = {0, 10000000, STREAM},
    [WEIR_OPTION_LISTENING] = {0, 0, ANY | READ_ONLY},
#if WEIR_CFG_IP_OPTIONS
    [WEIR_OPTION_RECEIVE_IP_OPTIONS] = {0, 1, ANY},
#endif
#if WEIR_CFG_IP6
    [WEIR_OPTION_FAMILY] = {0, 6, ANY},
#endif
};

// What only builds with IPv6 have: WEIR_NOT_SUPPORTED of all that is none of it.
#if WEIR_CFG_IP6
static int set6(struct sock *sock, enum weir_option option, int32_t value)
{
    return option == WEIR_OPTION_FAMILY ? socket_family_set(sock, value) : WEIR_NOT_SUPPORTED;
}
// A TTL as sockets keep it, and as users know it: −1 is what nobody asked for.
static int ttl_in(enum weir_option option, int32_t *value)
{
    const bool ttl = option == WEIR_OPTION_TTL;
    if (ttl && !*value)
        return WEIR_INVALID;
    if (ttl && *value < 0)
        *value = IP_TTL_UNASKED;
    return WEIR_OK;
}
static void ttl_out(enum weir_option option, int32_t *value)
{
    if (option == WEIR_OPTION_TTL && !*value)
        *value = IP_TTL_DEFAULT;
}
static int get6(const struct sock *sock, enum weir_option option, int32_t *value)
{
    if (option != WEIR_OPTION_FAMILY)
        return WEIR_NOT_SUPPORTED;
    *value = socket_family(sock);
    return WEIR_OK;
}
#else
static inline int ttl_in(enum weir_option option, int32_t *value) { return (void)option, (void)value, WEIR_OK; }
static inline void ttl_out(enum weir_option option, int32_t *value) { (void)option, (void)value; }
static inline int set6(struct sock *sock, enum weir_option option, int32_t value)
{
    return (void)sock, (void)option, (void)value, WEIR_NOT_SUPPORTED;
}
static inline int get6(const struct sock *sock, enum weir_option option, int32_t *value)
{
    return (void)sock, (void)option, (void)value, WEIR_NOT_SUPPORTED;
}
#endif

static uint8_t access_of(const struct sock *sock)
{
    if (!sock_is_datagram(sock))
        return STREAM;
    return sock->kind == SOCK_RAW ? RAW : DATAGRAM;
}

static const struct rule *rule_for(const struct sock *sock, enum weir_option option)
{
    if ((unsigned)option >= WEIR_OPTION_COUNT || !(rules[option].access & access_of(sock)))
        return NULL;
    return &rules[option];
}

static void set_flag(struct sock *sock, uint8_t flag, int32_t on)
{
    sock->flags = (uint8_t)(on ? sock->flags | flag : sock->flags & ~flag);
}

struct weir_netif *weir_netif_at(struct weir *weir, uint8_t index) { return netif_by_index(weir, index); }

static int bind_netif(struct weir *weir, struct sock *sock, uint8_t index)
{
    if (index && !netif_by_index(weir, index))
        return WEIR_NO_ADDRESS;
    sock->netif_bound = index;
    paths_changed(weir);  // cached ones may lead through another interface
    return WEIR_OK;
}

int weir_socket_set(struct weir *weir, weir_socket socket, enum weir_option option, int32_t value)
{
    struct sock *sock = handle_sock(weir, socket);
    if (!sock)
        return WEIR_BAD_SOCKET;
    const struct rule *rule = rule_for(sock, option);
    if (!rule || rule->access & READ_ONLY)
        return WEIR_NOT_SUPPORTED;
    if (value < rule->min || value > rule->max || ttl_in(option, &value) != WEIR_OK)
        return WEIR_INVALID;
    const int of_ip6 = set6(sock, option, value);
    if (of_ip6 != WEIR_NOT_SUPPORTED)
        return of_ip6;
    switch (option) {
    case WEIR_OPTION_REUSE_ADDRESS: set_flag(sock, SOCK_REUSE_ADDRESS, value); return WEIR_OK;
    case WEIR_OPTION_BROADCAST: set_flag(sock, SOCK_BROADCAST, value); return WEIR_OK;
    case WEIR_OPTION_BIND_NETIF: return bind_netif(weir, sock, (uint8_t)value);
    default:
        return sock_is_datagram(sock) ? datagram_set(weir, sock_datagram(sock), option, value)
                                      : tcp_set(weir, sock, option, value);
    }
}

static int get(struct weir *weir, struct sock *sock, enum weir_option option, int32_t *value)
{
    if (get6(sock, option, value) == WEIR_OK)
        return WEIR_OK;
    switch (option) {
    case WEIR_OPTION_TYPE: *value = sock_is_datagram(sock) ? sock_datagram(sock)->type : WEIR_STREAM; return WEIR_OK;
    case WEIR_OPTION_LISTENING: *value = sock->kind == SOCK_LISTENER; return WEIR_OK;
    case WEIR_OPTION_REUSE_ADDRESS: *value = (sock->flags & SOCK_REUSE_ADDRESS) != 0; return WEIR_OK;
    case WEIR_OPTION_BROADCAST: *value = (sock->flags & SOCK_BROADCAST) != 0; return WEIR_OK;
    case WEIR_OPTION_BIND_NETIF: *value = sock->netif_bound; return WEIR_OK;
    default:
        return sock_is_datagram(sock) ? datagram_get(weir, sock_datagram(sock), option, value)
                                      : tcp_get(weir, sock, option, value);
    }
}

int weir_socket_get(struct weir *weir, weir_socket socket, enum weir_option option, int32_t *value)
{
    struct sock *sock = handle_sock(weir, socket);
    if (!sock)
        return WEIR_BAD_SOCKET;
    if (!rule_for(sock, option))
        return WEIR_NOT_SUPPORTED;
    const int error = get(weir, sock, option, value);
    ttl_out(option, value);
    return error;
}

// The stream or listener behind a handle, or NULL with *error.
static struct sock *stream_of(const struct weir *weir, weir_socket socket, int *error)
{
    struct sock *sock = handle_sock(weir, socket);
    *error = !sock ? WEIR_BAD_SOCKET : sock_is_datagram(sock) ? WEIR_NOT_SUPPORTED : WEIR_OK;
    return *error ? NULL : sock;
}

int weir_socket_set_congestion(struct weir *weir, weir_socket socket, const char *name)
{
    int error;
    struct sock *sock = stream_of(weir, socket, &error);
    if (!sock)
        return error;
    const struct weir_cc *cc = weir_cc_find_in(tcp_cc_list(weir), name);
    return cc ? tcp_set_congestion(weir, sock, cc) : WEIR_INVALID;
}

const char *weir_socket_congestion(struct weir *weir, weir_socket socket)
{
    int error;
    struct sock *sock = stream_of(weir, socket, &error);
    const struct weir_cc *cc = sock ? tcp_congestion(weir, sock) : NULL;
    return cc ? cc->name : NULL;
}
