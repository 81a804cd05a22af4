// SPDX-License-Identifier: BSD-2-Clause
// Types and constants of the BSD personality. The numbers are Linux's, so that a program built for either shows the
// same in a trace.
#ifndef WEIR_BSD_TYPES_H
#define WEIR_BSD_TYPES_H

#include <stddef.h>
#include <stdint.h>

#include "weir/language.h"

WEIR_BEGIN_DECLS

typedef uint32_t weir_socklen;
typedef intptr_t weir_ssize;

enum { WEIR_AF_UNSPEC = 0, WEIR_AF_INET = 2, WEIR_AF_INET6 = 10 };  // AF_INET6: with WEIR_CFG_IP6
enum {
    WEIR_SOCK_STREAM = 1,
    WEIR_SOCK_DGRAM = 2,
    WEIR_SOCK_RAW = 3,
    WEIR_SOCK_NONBLOCK = 04000,
    WEIR_SOCK_CLOEXEC = 02000000
};
enum {
    WEIR_IPPROTO_IP = 0,
    WEIR_IPPROTO_ICMP = 1,
    WEIR_IPPROTO_TCP = 6,
    WEIR_IPPROTO_UDP = 17,
    WEIR_IPPROTO_IPV6 = 41,
    WEIR_IPPROTO_ICMPV6 = 58,
    WEIR_IPPROTO_RAW = 255
};
enum { WEIR_SHUT_RD = 0, WEIR_SHUT_WR = 1, WEIR_SHUT_RDWR = 2 };
enum { WEIR_SOMAXCONN = 4096 };

struct weir_sockaddr {
    uint16_t sa_family;
    uint8_t sa_data[14];
};
struct weir_in_addr {
    uint32_t s_addr;  // network byte order
};
struct weir_sockaddr_in {
    uint16_t sin_family;
    uint16_t sin_port;  // network byte order
    struct weir_in_addr sin_addr;
    uint8_t sin_zero[8];
};
struct weir_in6_addr {
    uint8_t s6_bytes[16];
};
struct weir_sockaddr_in6 {
    uint16_t sin6_family;
    uint16_t sin6_port;      // network byte order
    uint32_t sin6_flowinfo;  // 0, and not looked at
    struct weir_in6_addr sin6_addr;
    uint32_t sin6_scope_id;  // the interface of a link-local address; it may be left out (24 bytes)
};
struct weir_sockaddr_storage {
    uint16_t ss_family;
    uint8_t ss_data[126 - sizeof(size_t)];
    size_t ss_align;  // as any socket address is aligned
};
#define WEIR_IN6ADDR_ANY_INIT \
    { \
        { \
            0 \
        } \
    }
#define WEIR_IN6ADDR_LOOPBACK_INIT \
    { \
        { \
            0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1 \
        } \
    }
#define WEIR_INADDR_ANY UINT32_C(0)
#define WEIR_INADDR_LOOPBACK UINT32_C(0x7f000001)
#define WEIR_INADDR_BROADCAST UINT32_C(0xffffffff)
#define WEIR_INADDR_NONE UINT32_C(0xffffffff)
enum { WEIR_IF_NAMESIZE = 16 };
enum { WEIR_INET_ADDRSTRLEN = 16, WEIR_INET6_ADDRSTRLEN = 46 };

// Host and network byte order, without knowing which this machine has.
static inline uint16_t weir_htons(uint16_t host)
{
    const union {
        uint8_t bytes[2];
        uint16_t word;
    } net = {{(uint8_t)(host >> 8), (uint8_t)host}};
    return net.word;
}
static inline uint32_t weir_htonl(uint32_t host)
{
    const union {
        uint8_t bytes[4];
        uint32_t word;
    } net = {{(uint8_t)(host >> 24), (uint8_t)(host >> 16), (uint8_t)(host >> 8), (uint8_t)host}};
    return net.word;
}
static inline uint16_t weir_ntohs(uint16_t net) { return weir_htons(net); }
static inline uint32_t weir_ntohl(uint32_t net) { return weir_htonl(net); }

struct weir_iovec {
    void *iov_base;
    size_t iov_len;
};
enum { WEIR_IOV_MAX = 64 };
struct weir_msghdr {
    void *msg_name;
    weir_socklen msg_namelen;
    struct weir_iovec *msg_iov;
    size_t msg_iovlen;
    void *msg_control;
    size_t msg_controllen;
    int msg_flags;
};
enum {
    WEIR_MSG_OOB = 1,
    WEIR_MSG_PEEK = 2,
    WEIR_MSG_CTRUNC = 8,
    WEIR_MSG_TRUNC = 0x20,
    WEIR_MSG_DONTWAIT = 0x40,
    WEIR_MSG_EOR = 0x80,
    WEIR_MSG_WAITALL = 0x100,
    WEIR_MSG_NOSIGNAL = 0x4000,
    WEIR_MSG_MORE = 0x8000  // streams: what fills no segment waits for the next write without it
};

// Ancillary data, each piece aligned to size_t.
struct weir_cmsghdr {
    size_t cmsg_len;  // this header and the data
    int cmsg_level, cmsg_type;
};
static inline size_t weir_cmsg_align(size_t bytes) { return (bytes + sizeof(size_t) - 1) & ~(sizeof(size_t) - 1); }
static inline size_t weir_cmsg_len(size_t bytes) { return weir_cmsg_align(sizeof(struct weir_cmsghdr)) + bytes; }
static inline size_t weir_cmsg_space(size_t bytes) { return weir_cmsg_align(weir_cmsg_len(bytes)); }
static inline void *weir_cmsg_data(struct weir_cmsghdr *cmsg)
{
    return (uint8_t *)cmsg + weir_cmsg_align(sizeof *cmsg);
}
static inline struct weir_cmsghdr *weir_cmsg_first(const struct weir_msghdr *message)
{
    return message->msg_controllen >= sizeof(struct weir_cmsghdr) ? (struct weir_cmsghdr *)message->msg_control : NULL;
}
static inline struct weir_cmsghdr *weir_cmsg_next(const struct weir_msghdr *message, struct weir_cmsghdr *cmsg)
{
    const size_t at = (size_t)((uint8_t *)cmsg - (uint8_t *)message->msg_control);
    const size_t left = message->msg_controllen - at;
    const size_t step = weir_cmsg_align(cmsg->cmsg_len);
    if (cmsg->cmsg_len < sizeof *cmsg || step > left || left - step < sizeof *cmsg)
        return NULL;
    return (struct weir_cmsghdr *)(void *)((uint8_t *)cmsg + step);
}
struct weir_in_pktinfo {
    int ipi_ifindex;
    struct weir_in_addr ipi_spec_dst;  // sending: the source address
    struct weir_in_addr ipi_addr;      // receiving: the destination address
};
struct weir_in6_pktinfo {
    struct weir_in6_addr ipi6_addr;  // sending: the source address; receiving: the destination address
    unsigned ipi6_ifindex;
};

enum {
    WEIR_SOL_SOCKET = 1,
    WEIR_SO_REUSEADDR = 2,
    WEIR_SO_TYPE = 3,
    WEIR_SO_ERROR = 4,
    WEIR_SO_BROADCAST = 6,
    WEIR_SO_SNDBUF = 7,
    WEIR_SO_RCVBUF = 8,
    WEIR_SO_KEEPALIVE = 9,
    WEIR_SO_OOBINLINE = 10,
    WEIR_SO_LINGER = 13,
    WEIR_SO_RCVLOWAT = 18,
    WEIR_SO_SNDLOWAT = 19,
    WEIR_SO_RCVTIMEO = 20,
    WEIR_SO_SNDTIMEO = 21,
    WEIR_SO_BINDTODEVICE = 25,
    WEIR_SO_ACCEPTCONN = 30,
    WEIR_SO_PROTOCOL = 38,
    WEIR_SO_DOMAIN = 39,
    WEIR_SO_MAX_PACING_RATE = 47 /* bytes/s, 4 or 8 bytes; 2^32 − 1, or more: no limit, and not paced for it */
};
enum {
    WEIR_TCP_NODELAY = 1,
    WEIR_TCP_MAXSEG = 2,
    WEIR_TCP_CORK = 3,
    WEIR_TCP_KEEPIDLE = 4,
    WEIR_TCP_KEEPINTVL = 5,
    WEIR_TCP_KEEPCNT = 6,
    WEIR_TCP_DEFER_ACCEPT = 9,
    WEIR_TCP_INFO = 11 /* struct weir_tcp_info of weir/stats.h */,
    WEIR_TCP_QUICKACK = 12,
    WEIR_TCP_CONGESTION = 13,
    WEIR_TCP_USER_TIMEOUT = 18,
    WEIR_TCP_RTO_MIN_US = 45,
    WEIR_TCP_ECN = 1000,                /* enum weir_ecn of weir/socket.h; no other system has it by socket */
    WEIR_TCP_SEND_DEADLINE_US = 1001,   /* WEIR_OPTION_SEND_DEADLINE_US; nor this */
    WEIR_TCP_REALTIME = 1002,           /* struct weir_realtime of weir/realtime.h; weir_realtime.h here */
    WEIR_TCP_REALTIME_STATS = 1003,     /* get: struct weir_realtime_stats */
    WEIR_TCP_USER_TIMEOUT_OPTION = 1004 /* enum weir_user_timeout_option of weir/socket.h */
};
enum {
    WEIR_IP_TOS = 1,
    WEIR_IP_TTL = 2,
    WEIR_IP_HDRINCL = 3,
    WEIR_IP_OPTIONS = 4,
    WEIR_IP_RECVOPTS = 6 /* of ancillary data, too: the options that a datagram, or a stream's SYN, came with */,
    WEIR_IP_PKTINFO = 8,
    WEIR_IP_PKTOPTIONS = 9 /* get, of a stream: ancillary data, where IP_RECVOPTS asked for it */,
    WEIR_IP_MTU_DISCOVER = 10,
    WEIR_IP_RECVTTL = 12,
    WEIR_IP_RECVTOS = 13,
    WEIR_IP_MTU = 14,
    WEIR_IP_MULTICAST_IF = 32,
    WEIR_IP_MULTICAST_TTL = 33,
    WEIR_IP_MULTICAST_LOOP = 34,
    WEIR_IP_ADD_MEMBERSHIP = 35,
    WEIR_IP_DROP_MEMBERSHIP = 36,
    WEIR_IP_UNBLOCK_SOURCE = 37,
    WEIR_IP_BLOCK_SOURCE = 38,
    WEIR_IP_ADD_SOURCE_MEMBERSHIP = 39,
    WEIR_IP_DROP_SOURCE_MEMBERSHIP = 40,
    WEIR_IP_MSFILTER = 41
};
// Of either family, at its level (RFC 3678 §5).
enum {
    WEIR_MCAST_JOIN_GROUP = 42,
    WEIR_MCAST_BLOCK_SOURCE = 43,
    WEIR_MCAST_UNBLOCK_SOURCE = 44,
    WEIR_MCAST_LEAVE_GROUP = 45,
    WEIR_MCAST_JOIN_SOURCE_GROUP = 46,
    WEIR_MCAST_LEAVE_SOURCE_GROUP = 47,
    WEIR_MCAST_MSFILTER = 48
};
enum { WEIR_MCAST_EXCLUDE = 0, WEIR_MCAST_INCLUDE = 1 };
enum {
    WEIR_IP_PMTUDISC_DONT = 0,
    WEIR_IP_PMTUDISC_WANT = 1,
    WEIR_IP_PMTUDISC_DO = 2,
    WEIR_IP_PMTUDISC_PROBE = 3 /* with DF, up to the interface's MTU whatever routers said; with WEIR_CFG_DPLPMTUD */
};
enum { WEIR_SOL_RAW = 255, WEIR_ICMP_FILTER = 1 };
enum {
    WEIR_IPV6_UNICAST_HOPS = 16,
    WEIR_IPV6_MULTICAST_IF = 17,
    WEIR_IPV6_MULTICAST_HOPS = 18,
    WEIR_IPV6_MULTICAST_LOOP = 19,
    WEIR_IPV6_JOIN_GROUP = 20,
    WEIR_IPV6_LEAVE_GROUP = 21,
    WEIR_IPV6_MTU_DISCOVER = 23,
    WEIR_IPV6_MTU = 24,
    WEIR_IPV6_V6ONLY = 26,
    WEIR_IPV6_RECVPKTINFO = 49,
    WEIR_IPV6_PKTINFO = 50,
    WEIR_IPV6_RECVHOPLIMIT = 51,
    WEIR_IPV6_HOPLIMIT = 52,
    WEIR_IPV6_RECVTCLASS = 66,
    WEIR_IPV6_TCLASS = 67,
    WEIR_IPV6_ADD_MEMBERSHIP = WEIR_IPV6_JOIN_GROUP,
    WEIR_IPV6_DROP_MEMBERSHIP = WEIR_IPV6_LEAVE_GROUP
};

struct weir_linger {
    int l_onoff, l_linger;  // l_linger: seconds
};
struct weir_timeval {
    long tv_sec, tv_usec;
};
struct weir_ip_mreq {
    struct weir_in_addr imr_multiaddr, imr_interface;
};
struct weir_ip_mreqn {
    struct weir_in_addr imr_multiaddr, imr_address;
    int imr_ifindex;
};
struct weir_ipv6_mreq {
    struct weir_in6_addr ipv6mr_multiaddr;
    unsigned ipv6mr_interface;  // 0: by route
};
struct weir_ip_mreq_source {
    struct weir_in_addr imr_multiaddr, imr_interface, imr_sourceaddr;
};
struct weir_group_req {
    uint32_t gr_interface;  // 0: by route
    struct weir_sockaddr_storage gr_group;
};
struct weir_group_source_req {
    uint32_t gsr_interface;
    struct weir_sockaddr_storage gsr_group, gsr_source;
};
struct weir_ip_msfilter {
    struct weir_in_addr imsf_multiaddr, imsf_interface;
    uint32_t imsf_fmode;   // WEIR_MCAST_INCLUDE or EXCLUDE
    uint32_t imsf_numsrc;  // get: room for so many; then how many there are
    struct weir_in_addr imsf_slist[1];
};
struct weir_group_filter {
    uint32_t gf_interface;
    struct weir_sockaddr_storage gf_group;
    uint32_t gf_fmode, gf_numsrc;
    struct weir_sockaddr_storage gf_slist[1];
};
#define WEIR_IP_MSFILTER_SIZE(count) \
    (sizeof(struct weir_ip_msfilter) - sizeof(struct weir_in_addr) + (size_t)(count) * sizeof(struct weir_in_addr))
#define WEIR_GROUP_FILTER_SIZE(count) \
    (sizeof(struct weir_group_filter) - sizeof(struct weir_sockaddr_storage) + \
     (size_t)(count) * sizeof(struct weir_sockaddr_storage))
struct weir_icmp_filter {
    uint32_t data;  // a bit for each ICMP type that is not wanted
};

enum {
    WEIR_F_GETFD = 1,
    WEIR_F_SETFD = 2,
    WEIR_F_GETFL = 3,
    WEIR_F_SETFL = 4,
    WEIR_O_RDWR = 2,
    WEIR_O_NONBLOCK = 04000
};
enum {
    WEIR_FIONREAD = 0x541b,
    WEIR_FIONBIO = 0x5421,
    WEIR_SIOCATMARK = 0x8905,
    WEIR_SIOCOUTQ = 0x5411,
    WEIR_SIOCOUTQNSD = 0x894b
};

struct weir_pollfd {
    int fd;
    short events, revents;
};
enum {
    WEIR_POLLIN = 1,
    WEIR_POLLPRI = 2,
    WEIR_POLLOUT = 4,
    WEIR_POLLERR = 8,
    WEIR_POLLHUP = 0x10,
    WEIR_POLLNVAL = 0x20,
    WEIR_POLLRDNORM = 0x40,
    WEIR_POLLRDBAND = 0x80,
    WEIR_POLLWRNORM = 0x100,
    WEIR_POLLWRBAND = 0x200,
    WEIR_POLLRDHUP = 0x2000
};

#define WEIR_FD_SETSIZE 1024
struct weir_fd_set {
    uint32_t bits[WEIR_FD_SETSIZE / 32];
};
static inline void weir_fd_zero(struct weir_fd_set *set)
{
    for (size_t index = 0; index < WEIR_FD_SETSIZE / 32; index++)
        set->bits[index] = 0;
}
static inline void weir_fd_add(int fd, struct weir_fd_set *set)
{
    if (fd >= 0 && fd < WEIR_FD_SETSIZE)
        set->bits[fd / 32] |= UINT32_C(1) << fd % 32;
}
static inline void weir_fd_clear(int fd, struct weir_fd_set *set)
{
    if (fd >= 0 && fd < WEIR_FD_SETSIZE)
        set->bits[fd / 32] &= ~(UINT32_C(1) << fd % 32);
}
static inline int weir_fd_isset(int fd, const struct weir_fd_set *set)
{
    return fd >= 0 && fd < WEIR_FD_SETSIZE && (set->bits[fd / 32] >> fd % 32 & 1);
}

union weir_epoll_data {
    void *ptr;
    int fd;
    uint32_t u32;
    uint64_t u64;
};
struct weir_epoll_event {
    uint32_t events;
    union weir_epoll_data data;
};
enum { WEIR_EPOLL_CTL_ADD = 1, WEIR_EPOLL_CTL_DEL = 2, WEIR_EPOLL_CTL_MOD = 3 };
#define WEIR_EPOLLIN UINT32_C(1)
#define WEIR_EPOLLPRI UINT32_C(2)
#define WEIR_EPOLLOUT UINT32_C(4)
#define WEIR_EPOLLERR UINT32_C(8)
#define WEIR_EPOLLHUP UINT32_C(0x10)
#define WEIR_EPOLLRDHUP UINT32_C(0x2000)
#define WEIR_EPOLLONESHOT (UINT32_C(1) << 30)
#define WEIR_EPOLLET (UINT32_C(1) << 31)

struct weir_addrinfo {
    int ai_flags, ai_family, ai_socktype, ai_protocol;
    weir_socklen ai_addrlen;
    struct weir_sockaddr *ai_addr;
    char *ai_canonname;
    struct weir_addrinfo *ai_next;
};
enum {
    WEIR_AI_PASSIVE = 1,
    WEIR_AI_CANONNAME = 2,
    WEIR_AI_NUMERICHOST = 4,
    WEIR_AI_V4MAPPED = 8,
    WEIR_AI_ALL = 0x10,
    WEIR_AI_ADDRCONFIG = 0x20,
    WEIR_AI_NUMERICSERV = 0x400
};
enum {
    WEIR_EAI_BADFLAGS = -1,
    WEIR_EAI_NONAME = -2,
    WEIR_EAI_AGAIN = -3,
    WEIR_EAI_FAIL = -4,
    WEIR_EAI_FAMILY = -6,
    WEIR_EAI_SOCKTYPE = -7,
    WEIR_EAI_SERVICE = -8,
    WEIR_EAI_MEMORY = -10,
    WEIR_EAI_SYSTEM = -11,
    WEIR_EAI_OVERFLOW = -12
};

WEIR_END_DECLS

#endif
