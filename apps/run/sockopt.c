// SPDX-License-Identifier: BSD-2-Clause
#define _GNU_SOURCE
#include "run/sockopt.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>

#include "weir/stats.h"

#ifndef SO_BUSY_POLL
#define SO_BUSY_POLL 46
#endif
#ifndef TCP_NOTSENT_LOWAT
#define TCP_NOTSENT_LOWAT 25
#endif

// What Linux takes, and Weir has no use for: a hint, a mark for a filter, or what it does anyway.
static const struct {
    int level, name;
    int32_t value;  // as it reads
} ignored[] = {
    {SOL_SOCKET, SO_PRIORITY, 0},
    {SOL_SOCKET, SO_MARK, 0},
    {SOL_SOCKET, SO_BUSY_POLL, 0},
    {SOL_SOCKET, SO_DONTROUTE, 0},
    {SOL_SOCKET, SO_NO_CHECK, 0},
    {SOL_SOCKET, SO_TIMESTAMP, 0},
    {SOL_SOCKET, SO_DEBUG, 0},
    {SOL_SOCKET, SO_INCOMING_CPU, 0},
    {IPPROTO_TCP, TCP_NOTSENT_LOWAT, -1},
    {IPPROTO_TCP, TCP_THIN_LINEAR_TIMEOUTS, 0},
    {IPPROTO_TCP, TCP_SYNCNT, 6},
    {IPPROTO_TCP, TCP_LINGER2, 60},
    {IPPROTO_TCP, TCP_WINDOW_CLAMP, 0},
    {IPPROTO_IP, IP_RECVERR, 0},
    {IPPROTO_IP, IP_FREEBIND, 0},
    {IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, 0},
    {IPPROTO_IP, IP_MULTICAST_ALL, 1},
    {IPPROTO_IPV6, IPV6_RECVERR, 0},
    {IPPROTO_IPV6, IPV6_FREEBIND, 0},
};

static const int32_t *ignored_value(int level, int name)
{
    for (size_t i = 0; i < sizeof ignored / sizeof ignored[0]; i++)
        if (ignored[i].level == level && ignored[i].name == name)
            return &ignored[i].value;
    return NULL;
}

static int get_number(uint32_t *length, void *value, int32_t number)
{
    *length = *length < sizeof number ? *length : (uint32_t)sizeof number;
    memcpy(value, &number, *length);
    return 0;
}

// --- TCP_INFO ----------------------------------------------------------------------------------------
static uint8_t linux_state(uint8_t state)
{
    static const uint8_t states[] = {[WEIR_TCP_CLOSED] = TCP_CLOSE,
                                     [WEIR_TCP_LISTEN] = TCP_LISTEN,
                                     [WEIR_TCP_SYN_SENT] = TCP_SYN_SENT,
                                     [WEIR_TCP_SYN_RECEIVED] = TCP_SYN_RECV,
                                     [WEIR_TCP_ESTABLISHED] = TCP_ESTABLISHED,
                                     [WEIR_TCP_FIN_WAIT_1] = TCP_FIN_WAIT1,
                                     [WEIR_TCP_FIN_WAIT_2] = TCP_FIN_WAIT2,
                                     [WEIR_TCP_CLOSE_WAIT] = TCP_CLOSE_WAIT,
                                     [WEIR_TCP_CLOSING] = TCP_CLOSING,
                                     [WEIR_TCP_LAST_ACK] = TCP_LAST_ACK,
                                     [WEIR_TCP_TIME_WAIT] = TCP_TIME_WAIT};
    return state < sizeof states ? states[state] : (uint8_t)TCP_CLOSE;
}

static uint32_t segments(uint32_t bytes, uint32_t mss) { return mss ? (bytes + mss - 1) / mss : 0; }

// Linux's newer fields stand behind those that the C library's header has: by their places.
static void put64(uint8_t *info, size_t at, uint64_t number) { memcpy(info + at, &number, sizeof number); }
static void put32(uint8_t *info, size_t at, uint32_t number) { memcpy(info + at, &number, sizeof number); }

static int get_info(struct run_socket *socket, void *value, uint32_t *length)
{
    uint8_t out[232] = {0};
    struct weir_tcp_info in = {0};
    struct tcp_info info = {0};
    const int error = weir_socket_tcp_info(socket->server->weir, socket->handle, &in);
    info.tcpi_state = socket->listening ? (uint8_t)TCP_LISTEN : error ? (uint8_t)TCP_CLOSE : linux_state(in.state);
    info.tcpi_ca_state = in.recovery;
    info.tcpi_backoff = in.backoff;
    info.tcpi_probes = in.probes;
    info.tcpi_options = (uint8_t)((in.timestamps ? TCPI_OPT_TIMESTAMPS : 0) | (in.sack ? TCPI_OPT_SACK : 0) |
                                  (in.window_scaling ? TCPI_OPT_WSCALE : 0) | (in.ecn ? TCPI_OPT_ECN : 0));
    info.tcpi_snd_wscale = in.snd_wscale & 0xf;
    info.tcpi_rcv_wscale = in.rcv_wscale & 0xf;
    info.tcpi_rto = in.rto_us;
    info.tcpi_snd_mss = in.snd_mss;
    info.tcpi_rcv_mss = in.rcv_mss;
    info.tcpi_unacked = segments(in.inflight, in.snd_mss);
    info.tcpi_sacked = segments(in.sacked, in.snd_mss);
    info.tcpi_lost = segments(in.lost, in.snd_mss);
    info.tcpi_retrans = segments(in.retrans_out, in.snd_mss);
    info.tcpi_last_data_sent = in.last_sent_us / 1000;
    info.tcpi_last_data_recv = in.last_received_us / 1000;
    info.tcpi_pmtu = in.path_mtu;
    info.tcpi_rtt = in.srtt_us;
    info.tcpi_rttvar = in.rttvar_us;
    info.tcpi_snd_ssthresh = in.ssthresh >= 0x7fffffffu ? 0x7fffffffu : segments(in.ssthresh, in.snd_mss);
    info.tcpi_snd_cwnd = segments(in.cwnd, in.snd_mss);
    info.tcpi_advmss = in.rcv_mss;
    info.tcpi_reordering = in.reordering;
    info.tcpi_rcv_space = in.rcv_wnd;
    info.tcpi_total_retrans = in.total_retrans;
    memcpy(out, &info, sizeof info < 104 ? sizeof info : 104);
    put64(out, 104, in.pacing_rate);
    put64(out, 112, UINT64_MAX);
    put64(out, 120, in.bytes_acked);
    put64(out, 128, in.bytes_received);
    put32(out, 136, in.segs_out);
    put32(out, 140, in.segs_in);
    put32(out, 144, in.unsent);
    put32(out, 148, in.min_rtt_us);
    put64(out, 160, in.delivery_rate);
    put64(out, 200, in.bytes_sent);
    put64(out, 208, in.bytes_retrans);
    put32(out, 228, in.snd_wnd);
    *length = *length < sizeof out ? *length : (uint32_t)sizeof out;
    memcpy(value, out, *length);
    return 0;
}

// --- set and get -------------------------------------------------------------------------------------
static bool buffer_option(int level, int name)
{
    return level == SOL_SOCKET &&
           (name == SO_SNDBUF || name == SO_RCVBUF || name == SO_SNDBUFFORCE || name == SO_RCVBUFFORCE);
}

#define BUFFER_MIN 2304
#define STACK_BUFFER_MIN 65536
#define BUFFER_MAX (16 << 20)

// Linux keeps, and tells, twice what is asked for; it never refuses.
static int set_buffer(struct run_socket *socket, int name, const void *value, uint32_t length)
{
    int32_t bytes = 0;
    if (length < sizeof bytes)
        return -EINVAL;
    memcpy(&bytes, value, sizeof bytes);
    bytes = bytes < 0 || bytes > BUFFER_MAX ? BUFFER_MAX : bytes < BUFFER_MIN ? BUFFER_MIN : bytes;
    const bool send = name == SO_SNDBUF || name == SO_SNDBUFFORCE;
    *(send ? &socket->send_buffer : &socket->receive_buffer) = bytes * 2;
    // The pair's buffers are of the size that the program means; the stack's hold a few segments in any case.
    if (!send)
        (void)setsockopt(socket->end, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
    bytes = bytes < STACK_BUFFER_MIN ? STACK_BUFFER_MIN : bytes;
    return bsd_setsockopt(socket->server->bsd, socket->fd, WEIR_SOL_SOCKET, send ? WEIR_SO_SNDBUF : WEIR_SO_RCVBUF,
                          &bytes, sizeof bytes) == 0
               ? 0
               : -errno;
}

static int get_buffer(struct run_socket *socket, int name, void *value, uint32_t *length)
{
    int32_t bytes = name == SO_SNDBUF ? socket->send_buffer : socket->receive_buffer;
    weir_socklen size = sizeof bytes;
    if (bytes == 0)
        (void)bsd_getsockopt(socket->server->bsd, socket->fd, WEIR_SOL_SOCKET,
                             name == SO_SNDBUF ? WEIR_SO_SNDBUF : WEIR_SO_RCVBUF, &bytes, &size);
    return get_number(length, value, bytes);
}

int run_option_set(struct run_socket *socket, int level, int name, const void *value, uint32_t length)
{
    struct weir_bsd *const bsd = socket->server->bsd;
    if (buffer_option(level, name))
        return set_buffer(socket, name, value, length);
    if (level == SOL_SOCKET && name == SO_REUSEPORT) {
        int32_t on = 0;
        if (length < sizeof on)
            return -EINVAL;
        memcpy(&on, value, sizeof on);
        socket->reuse_port = on != 0;
        return 0;
    }
    if (level == SOL_SOCKET && (name == SO_RCVTIMEO || name == SO_SNDTIMEO))
        return 0;  // the pair's
    if (ignored_value(level, name) != NULL)
        return length < sizeof(int32_t) ? -EINVAL : 0;
    return bsd_setsockopt(bsd, socket->fd, level, name, value, length) == 0 ? 0 : -errno;
}

int run_option_get(struct run_socket *socket, int level, int name, void *value, uint32_t *length)
{
    struct weir_bsd *const bsd = socket->server->bsd;
    const int32_t *const known = ignored_value(level, name);
    if (level == SOL_SOCKET && (name == SO_SNDBUF || name == SO_RCVBUF))
        return get_buffer(socket, name, value, length);
    if (level == SOL_SOCKET && name == SO_REUSEPORT)
        return get_number(length, value, socket->reuse_port);
    if (level == SOL_SOCKET && name == SO_ERROR)
        return get_number(length, value, run_socket_error(socket));
    if (level == IPPROTO_TCP && name == TCP_INFO && socket->type == SOCK_STREAM)
        return get_info(socket, value, length);
    if (level == SOL_SOCKET && name == SO_PEERCRED) {
        const int32_t nobody[3] = {0, -1, -1};
        *length = *length < sizeof nobody ? *length : (uint32_t)sizeof nobody;
        memcpy(value, nobody, *length);
        return 0;
    }
    if (known != NULL)
        return get_number(length, value, *known);
    weir_socklen size = *length;
    const int result = bsd_getsockopt(bsd, socket->fd, level, name, value, &size) == 0 ? 0 : -errno;
    *length = size;
    return result;
}
