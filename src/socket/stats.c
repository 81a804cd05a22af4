// SPDX-License-Identifier: BSD-2-Clause
// Looking at sockets, and the names of counters and states.
#include "socket/socket.h"

#if WEIR_CFG_COUNTER_NAMES
static const char *const counter_names[WEIR_COUNT_COUNT] = {
#define ROW(name, text) [WEIR_COUNT_##name] = #name,
    WEIR_COUNTERS(ROW)
#undef ROW
};
static const char *const counter_texts[WEIR_COUNT_COUNT] = {
#define ROW(name, text) [WEIR_COUNT_##name] = text,
    WEIR_COUNTERS(ROW)
#undef ROW
};

const char *weir_counter_name(enum weir_counter counter) { return (unsigned)counter < WEIR_COUNT_COUNT ? counter_names[counter] : "?"; }
const char *weir_counter_text(enum weir_counter counter) { return (unsigned)counter < WEIR_COUNT_COUNT ? counter_texts[counter] : "?"; }
#endif

#if WEIR_CFG_TCP_INFO
int weir_socket_tcp_info(struct weir *weir, weir_socket socket, struct weir_tcp_info *out)
{
    struct tcp_conn *c;
    const int error = socket_conn(weir, socket, &c);
    return error ? error : tcp_info(weir, c, out);
}
#endif

// Cursors of the second walk: the handle table, for what tcp_walk does not show.
#define HANDLE_WALK 0x80000000u

#if WEIR_CFG_UDP
static void describe_datagram(struct weir *weir, struct sock *sock, struct weir_socket_info *out)
{
    struct datagram *datagram = sock_datagram(sock);
    int32_t bytes = 0;
    *out = (struct weir_socket_info){.socket = sock->handle, .type = datagram->type, .local = datagram->local, .peer = datagram->peer};
    if (datagram_get(weir, datagram, WEIR_OPTION_READABLE_BYTES, &bytes) == WEIR_OK)
        out->receive_queue = (uint32_t)bytes;
    if (datagram_get(weir, datagram, WEIR_OPTION_UNSENT_BYTES, &bytes) == WEIR_OK)
        out->send_queue = (uint32_t)bytes;
}
#else
static void describe_datagram(struct weir *weir, struct sock *sock, struct weir_socket_info *out) { (void)weir, (void)sock, (void)out; }
#endif

static uint32_t handle_walk(struct weir *weir, uint32_t index, struct weir_socket_info *out)
{
    for (; index < weir->handles.slots; index++) {
        struct sock *sock = handle_at(weir, index);
        if (sock && sock_is_datagram(sock)) {
            describe_datagram(weir, sock, out);
            return HANDLE_WALK | (index + 1);
        }
    }
    return 0;
}

// First what TCP knows (with and without handles), then the datagram sockets, in the order of their slots.
uint32_t weir_socket_next(struct weir *weir, uint32_t cursor, struct weir_socket_info *out)
{
    if (!(cursor & HANDLE_WALK)) {
        const uint32_t next = tcp_walk(weir, cursor, out);
        if (next)
            return next;
        cursor = HANDLE_WALK;
    }
    return handle_walk(weir, cursor & ~HANDLE_WALK, out);
}
