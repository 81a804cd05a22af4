// SPDX-License-Identifier: BSD-2-Clause
// The plain POSIX names, on request: include this instead of <sys/socket.h> and its kin, and call weir_posix_use once.
// Every name is an object-like macro for a Weir name, so it must come after the C library's headers (whose own
// declarations of the same names it would rename) and after Weir's. One context serves the whole program.
#ifndef WEIR_POSIX_NAMES_H
#define WEIR_POSIX_NAMES_H

#include "bsd_errno.h"
#include "posix_calls.h"

#undef socket
#define socket weir_posix_socket
#undef bind
#define bind weir_posix_bind
#undef listen
#define listen weir_posix_listen
#undef accept
#define accept weir_posix_accept
#undef accept4
#define accept4 weir_posix_accept4
#undef connect
#define connect weir_posix_connect
#undef shutdown
#define shutdown weir_posix_shutdown
#undef close
#define close weir_posix_close
#undef getsockname
#define getsockname weir_posix_getsockname
#undef getpeername
#define getpeername weir_posix_getpeername
#undef send
#define send weir_posix_send
#undef sendto
#define sendto weir_posix_sendto
#undef sendmsg
#define sendmsg weir_posix_sendmsg
#undef write
#define write weir_posix_write
#undef writev
#define writev weir_posix_writev
#undef recv
#define recv weir_posix_recv
#undef recvfrom
#define recvfrom weir_posix_recvfrom
#undef recvmsg
#define recvmsg weir_posix_recvmsg
#undef read
#define read weir_posix_read
#undef readv
#define readv weir_posix_readv
#undef getsockopt
#define getsockopt weir_posix_getsockopt
#undef setsockopt
#define setsockopt weir_posix_setsockopt
#undef fcntl
#define fcntl weir_posix_fcntl
#undef ioctl
#define ioctl weir_posix_ioctl
#undef sockatmark
#define sockatmark weir_posix_sockatmark
#undef poll
#define poll weir_posix_poll
#undef select
#define select weir_posix_select
#undef epoll_create1
#define epoll_create1 weir_posix_epoll_create1
#undef epoll_ctl
#define epoll_ctl weir_posix_epoll_ctl
#undef epoll_wait
#define epoll_wait weir_posix_epoll_wait
#undef getaddrinfo
#define getaddrinfo weir_posix_getaddrinfo
#undef freeaddrinfo
#define freeaddrinfo weir_posix_freeaddrinfo
#undef gai_strerror
#define gai_strerror bsd_gai_strerror
#undef if_nametoindex
#define if_nametoindex weir_posix_if_nametoindex
#undef if_indextoname
#define if_indextoname weir_posix_if_indextoname
#undef inet_pton
#define inet_pton weir_inet_pton
#undef inet_ntop
#define inet_ntop weir_inet_ntop
#undef htons
#define htons weir_htons
#undef htonl
#define htonl weir_htonl
#undef ntohs
#define ntohs weir_ntohs
#undef ntohl
#define ntohl weir_ntohl
#undef sockaddr
#define sockaddr weir_sockaddr
#undef sockaddr_in
#define sockaddr_in weir_sockaddr_in
#undef sockaddr_in6
#define sockaddr_in6 weir_sockaddr_in6
#undef sockaddr_storage
#define sockaddr_storage weir_sockaddr_storage
#undef in_addr
#define in_addr weir_in_addr
#undef in6_addr
#define in6_addr weir_in6_addr
#undef s6_addr
#define s6_addr s6_bytes
#undef iovec
#define iovec weir_iovec
#undef msghdr
#define msghdr weir_msghdr
#undef cmsghdr
#define cmsghdr weir_cmsghdr
#undef in_pktinfo
#define in_pktinfo weir_in_pktinfo
#undef in6_pktinfo
#define in6_pktinfo weir_in6_pktinfo
#undef linger
#define linger weir_linger
#undef timeval
#define timeval weir_timeval
#undef ip_mreq
#define ip_mreq weir_ip_mreq
#undef ip_mreqn
#define ip_mreqn weir_ip_mreqn
#undef ipv6_mreq
#define ipv6_mreq weir_ipv6_mreq
#undef icmp_filter
#define icmp_filter weir_icmp_filter
#undef pollfd
#define pollfd weir_pollfd
#undef epoll_event
#define epoll_event weir_epoll_event
#undef addrinfo
#define addrinfo weir_addrinfo
#undef socklen_t
#define socklen_t weir_socklen
#undef ssize_t
#define ssize_t weir_ssize
#undef in_addr_t
#define in_addr_t uint32_t
#undef in_port_t
#define in_port_t uint16_t
#undef sa_family_t
#define sa_family_t uint16_t
#undef nfds_t
#define nfds_t unsigned long
#undef fd_set
#define fd_set struct weir_fd_set
#undef epoll_data_t
#define epoll_data_t union weir_epoll_data
#undef AF_UNSPEC
#define AF_UNSPEC WEIR_AF_UNSPEC
#undef AF_INET
#define AF_INET WEIR_AF_INET
#undef AF_INET6
#define AF_INET6 WEIR_AF_INET6
#undef SOCK_STREAM
#define SOCK_STREAM WEIR_SOCK_STREAM
#undef SOCK_DGRAM
#define SOCK_DGRAM WEIR_SOCK_DGRAM
#undef SOCK_RAW
#define SOCK_RAW WEIR_SOCK_RAW
#undef SOCK_NONBLOCK
#define SOCK_NONBLOCK WEIR_SOCK_NONBLOCK
#undef SOCK_CLOEXEC
#define SOCK_CLOEXEC WEIR_SOCK_CLOEXEC
#undef IPPROTO_IP
#define IPPROTO_IP WEIR_IPPROTO_IP
#undef IPPROTO_ICMP
#define IPPROTO_ICMP WEIR_IPPROTO_ICMP
#undef IPPROTO_TCP
#define IPPROTO_TCP WEIR_IPPROTO_TCP
#undef IPPROTO_UDP
#define IPPROTO_UDP WEIR_IPPROTO_UDP
#undef IPPROTO_IPV6
#define IPPROTO_IPV6 WEIR_IPPROTO_IPV6
#undef IPPROTO_ICMPV6
#define IPPROTO_ICMPV6 WEIR_IPPROTO_ICMPV6
#undef IPPROTO_RAW
#define IPPROTO_RAW WEIR_IPPROTO_RAW
#undef SHUT_RD
#define SHUT_RD WEIR_SHUT_RD
#undef SHUT_WR
#define SHUT_WR WEIR_SHUT_WR
#undef SHUT_RDWR
#define SHUT_RDWR WEIR_SHUT_RDWR
#undef SOMAXCONN
#define SOMAXCONN WEIR_SOMAXCONN
#undef INADDR_ANY
#define INADDR_ANY WEIR_INADDR_ANY
#undef INADDR_LOOPBACK
#define INADDR_LOOPBACK WEIR_INADDR_LOOPBACK
#undef INADDR_BROADCAST
#define INADDR_BROADCAST WEIR_INADDR_BROADCAST
#undef INADDR_NONE
#define INADDR_NONE WEIR_INADDR_NONE
#undef INET_ADDRSTRLEN
#define INET_ADDRSTRLEN WEIR_INET_ADDRSTRLEN
#undef INET6_ADDRSTRLEN
#define INET6_ADDRSTRLEN WEIR_INET6_ADDRSTRLEN
#undef IF_NAMESIZE
#define IF_NAMESIZE WEIR_IF_NAMESIZE
#undef IN6ADDR_ANY_INIT
#define IN6ADDR_ANY_INIT WEIR_IN6ADDR_ANY_INIT
#undef IN6ADDR_LOOPBACK_INIT
#define IN6ADDR_LOOPBACK_INIT WEIR_IN6ADDR_LOOPBACK_INIT
#undef IOV_MAX
#define IOV_MAX WEIR_IOV_MAX
#undef MSG_OOB
#define MSG_OOB WEIR_MSG_OOB
#undef MSG_PEEK
#define MSG_PEEK WEIR_MSG_PEEK
#undef MSG_CTRUNC
#define MSG_CTRUNC WEIR_MSG_CTRUNC
#undef MSG_TRUNC
#define MSG_TRUNC WEIR_MSG_TRUNC
#undef MSG_DONTWAIT
#define MSG_DONTWAIT WEIR_MSG_DONTWAIT
#undef MSG_EOR
#define MSG_EOR WEIR_MSG_EOR
#undef MSG_WAITALL
#define MSG_WAITALL WEIR_MSG_WAITALL
#undef MSG_NOSIGNAL
#define MSG_NOSIGNAL WEIR_MSG_NOSIGNAL
#undef MSG_MORE
#define MSG_MORE WEIR_MSG_MORE
#undef SOL_SOCKET
#define SOL_SOCKET WEIR_SOL_SOCKET
#undef SO_REUSEADDR
#define SO_REUSEADDR WEIR_SO_REUSEADDR
#undef SO_TYPE
#define SO_TYPE WEIR_SO_TYPE
#undef SO_ERROR
#define SO_ERROR WEIR_SO_ERROR
#undef SO_BROADCAST
#define SO_BROADCAST WEIR_SO_BROADCAST
#undef SO_SNDBUF
#define SO_SNDBUF WEIR_SO_SNDBUF
#undef SO_RCVBUF
#define SO_RCVBUF WEIR_SO_RCVBUF
#undef SO_KEEPALIVE
#define SO_KEEPALIVE WEIR_SO_KEEPALIVE
#undef SO_OOBINLINE
#define SO_OOBINLINE WEIR_SO_OOBINLINE
#undef SO_LINGER
#define SO_LINGER WEIR_SO_LINGER
#undef SO_RCVLOWAT
#define SO_RCVLOWAT WEIR_SO_RCVLOWAT
#undef SO_SNDLOWAT
#define SO_SNDLOWAT WEIR_SO_SNDLOWAT
#undef SO_RCVTIMEO
#define SO_RCVTIMEO WEIR_SO_RCVTIMEO
#undef SO_SNDTIMEO
#define SO_SNDTIMEO WEIR_SO_SNDTIMEO
#undef SO_BINDTODEVICE
#define SO_BINDTODEVICE WEIR_SO_BINDTODEVICE
#undef SO_ACCEPTCONN
#define SO_ACCEPTCONN WEIR_SO_ACCEPTCONN
#undef SO_PROTOCOL
#define SO_PROTOCOL WEIR_SO_PROTOCOL
#undef SO_DOMAIN
#define SO_DOMAIN WEIR_SO_DOMAIN
#undef SO_MAX_PACING_RATE
#define SO_MAX_PACING_RATE WEIR_SO_MAX_PACING_RATE
#undef TCP_NODELAY
#define TCP_NODELAY WEIR_TCP_NODELAY
#undef TCP_MAXSEG
#define TCP_MAXSEG WEIR_TCP_MAXSEG
#undef TCP_CORK
#define TCP_CORK WEIR_TCP_CORK
#undef TCP_KEEPIDLE
#define TCP_KEEPIDLE WEIR_TCP_KEEPIDLE
#undef TCP_KEEPINTVL
#define TCP_KEEPINTVL WEIR_TCP_KEEPINTVL
#undef TCP_KEEPCNT
#define TCP_KEEPCNT WEIR_TCP_KEEPCNT
#undef TCP_DEFER_ACCEPT
#define TCP_DEFER_ACCEPT WEIR_TCP_DEFER_ACCEPT
#undef TCP_INFO
#define TCP_INFO WEIR_TCP_INFO
#undef TCP_QUICKACK
#define TCP_QUICKACK WEIR_TCP_QUICKACK
#undef TCP_CONGESTION
#define TCP_CONGESTION WEIR_TCP_CONGESTION
#undef TCP_USER_TIMEOUT
#define TCP_USER_TIMEOUT WEIR_TCP_USER_TIMEOUT
#undef TCP_RTO_MIN_US
#define TCP_RTO_MIN_US WEIR_TCP_RTO_MIN_US
#undef IP_TOS
#define IP_TOS WEIR_IP_TOS
#undef IP_TTL
#define IP_TTL WEIR_IP_TTL
#undef IP_HDRINCL
#define IP_HDRINCL WEIR_IP_HDRINCL
#undef IP_OPTIONS
#define IP_OPTIONS WEIR_IP_OPTIONS
#undef IP_RECVOPTS
#define IP_RECVOPTS WEIR_IP_RECVOPTS
#undef IP_PKTINFO
#define IP_PKTINFO WEIR_IP_PKTINFO
#undef IP_PKTOPTIONS
#define IP_PKTOPTIONS WEIR_IP_PKTOPTIONS
#undef IP_MTU_DISCOVER
#define IP_MTU_DISCOVER WEIR_IP_MTU_DISCOVER
#undef IP_RECVTTL
#define IP_RECVTTL WEIR_IP_RECVTTL
#undef IP_RECVTOS
#define IP_RECVTOS WEIR_IP_RECVTOS
#undef IP_MTU
#define IP_MTU WEIR_IP_MTU
#undef IP_MULTICAST_IF
#define IP_MULTICAST_IF WEIR_IP_MULTICAST_IF
#undef IP_MULTICAST_TTL
#define IP_MULTICAST_TTL WEIR_IP_MULTICAST_TTL
#undef IP_MULTICAST_LOOP
#define IP_MULTICAST_LOOP WEIR_IP_MULTICAST_LOOP
#undef IP_ADD_MEMBERSHIP
#define IP_ADD_MEMBERSHIP WEIR_IP_ADD_MEMBERSHIP
#undef IP_DROP_MEMBERSHIP
#define IP_DROP_MEMBERSHIP WEIR_IP_DROP_MEMBERSHIP
#undef IP_UNBLOCK_SOURCE
#define IP_UNBLOCK_SOURCE WEIR_IP_UNBLOCK_SOURCE
#undef IP_BLOCK_SOURCE
#define IP_BLOCK_SOURCE WEIR_IP_BLOCK_SOURCE
#undef IP_ADD_SOURCE_MEMBERSHIP
#define IP_ADD_SOURCE_MEMBERSHIP WEIR_IP_ADD_SOURCE_MEMBERSHIP
#undef IP_DROP_SOURCE_MEMBERSHIP
#define IP_DROP_SOURCE_MEMBERSHIP WEIR_IP_DROP_SOURCE_MEMBERSHIP
#undef IP_MSFILTER
#define IP_MSFILTER WEIR_IP_MSFILTER
#undef MCAST_JOIN_GROUP
#define MCAST_JOIN_GROUP WEIR_MCAST_JOIN_GROUP
#undef MCAST_BLOCK_SOURCE
#define MCAST_BLOCK_SOURCE WEIR_MCAST_BLOCK_SOURCE
#undef MCAST_UNBLOCK_SOURCE
#define MCAST_UNBLOCK_SOURCE WEIR_MCAST_UNBLOCK_SOURCE
#undef MCAST_LEAVE_GROUP
#define MCAST_LEAVE_GROUP WEIR_MCAST_LEAVE_GROUP
#undef MCAST_JOIN_SOURCE_GROUP
#define MCAST_JOIN_SOURCE_GROUP WEIR_MCAST_JOIN_SOURCE_GROUP
#undef MCAST_LEAVE_SOURCE_GROUP
#define MCAST_LEAVE_SOURCE_GROUP WEIR_MCAST_LEAVE_SOURCE_GROUP
#undef MCAST_MSFILTER
#define MCAST_MSFILTER WEIR_MCAST_MSFILTER
#undef MCAST_EXCLUDE
#define MCAST_EXCLUDE WEIR_MCAST_EXCLUDE
#undef MCAST_INCLUDE
#define MCAST_INCLUDE WEIR_MCAST_INCLUDE
#undef IPV6_UNICAST_HOPS
#define IPV6_UNICAST_HOPS WEIR_IPV6_UNICAST_HOPS
#undef IPV6_MULTICAST_IF
#define IPV6_MULTICAST_IF WEIR_IPV6_MULTICAST_IF
#undef IPV6_MULTICAST_HOPS
#define IPV6_MULTICAST_HOPS WEIR_IPV6_MULTICAST_HOPS
#undef IPV6_MULTICAST_LOOP
#define IPV6_MULTICAST_LOOP WEIR_IPV6_MULTICAST_LOOP
#undef IPV6_JOIN_GROUP
#define IPV6_JOIN_GROUP WEIR_IPV6_JOIN_GROUP
#undef IPV6_LEAVE_GROUP
#define IPV6_LEAVE_GROUP WEIR_IPV6_LEAVE_GROUP
#undef IPV6_ADD_MEMBERSHIP
#define IPV6_ADD_MEMBERSHIP WEIR_IPV6_ADD_MEMBERSHIP
#undef IPV6_DROP_MEMBERSHIP
#define IPV6_DROP_MEMBERSHIP WEIR_IPV6_DROP_MEMBERSHIP
#undef IPV6_MTU_DISCOVER
#define IPV6_MTU_DISCOVER WEIR_IPV6_MTU_DISCOVER
#undef IPV6_MTU
#define IPV6_MTU WEIR_IPV6_MTU
#undef IPV6_V6ONLY
#define IPV6_V6ONLY WEIR_IPV6_V6ONLY
#undef IPV6_RECVPKTINFO
#define IPV6_RECVPKTINFO WEIR_IPV6_RECVPKTINFO
#undef IPV6_PKTINFO
#define IPV6_PKTINFO WEIR_IPV6_PKTINFO
#undef IPV6_RECVHOPLIMIT
#define IPV6_RECVHOPLIMIT WEIR_IPV6_RECVHOPLIMIT
#undef IPV6_HOPLIMIT
#define IPV6_HOPLIMIT WEIR_IPV6_HOPLIMIT
#undef IPV6_RECVTCLASS
#define IPV6_RECVTCLASS WEIR_IPV6_RECVTCLASS
#undef IPV6_TCLASS
#define IPV6_TCLASS WEIR_IPV6_TCLASS
#undef IP_PMTUDISC_DONT
#define IP_PMTUDISC_DONT WEIR_IP_PMTUDISC_DONT
#undef IP_PMTUDISC_WANT
#define IP_PMTUDISC_WANT WEIR_IP_PMTUDISC_WANT
#undef IP_PMTUDISC_DO
#define IP_PMTUDISC_DO WEIR_IP_PMTUDISC_DO
#undef IP_PMTUDISC_PROBE
#define IP_PMTUDISC_PROBE WEIR_IP_PMTUDISC_PROBE
#undef SOL_RAW
#define SOL_RAW WEIR_SOL_RAW
#undef ICMP_FILTER
#define ICMP_FILTER WEIR_ICMP_FILTER
#undef F_GETFD
#define F_GETFD WEIR_F_GETFD
#undef F_SETFD
#define F_SETFD WEIR_F_SETFD
#undef F_GETFL
#define F_GETFL WEIR_F_GETFL
#undef F_SETFL
#define F_SETFL WEIR_F_SETFL
#undef O_RDWR
#define O_RDWR WEIR_O_RDWR
#undef O_NONBLOCK
#define O_NONBLOCK WEIR_O_NONBLOCK
#undef FIONREAD
#define FIONREAD WEIR_FIONREAD
#undef FIONBIO
#define FIONBIO WEIR_FIONBIO
#undef SIOCATMARK
#define SIOCATMARK WEIR_SIOCATMARK
#undef SIOCOUTQ
#define SIOCOUTQ WEIR_SIOCOUTQ
#undef SIOCOUTQNSD
#define SIOCOUTQNSD WEIR_SIOCOUTQNSD
#undef POLLIN
#define POLLIN WEIR_POLLIN
#undef POLLPRI
#define POLLPRI WEIR_POLLPRI
#undef POLLOUT
#define POLLOUT WEIR_POLLOUT
#undef POLLERR
#define POLLERR WEIR_POLLERR
#undef POLLHUP
#define POLLHUP WEIR_POLLHUP
#undef POLLNVAL
#define POLLNVAL WEIR_POLLNVAL
#undef POLLRDNORM
#define POLLRDNORM WEIR_POLLRDNORM
#undef POLLRDBAND
#define POLLRDBAND WEIR_POLLRDBAND
#undef POLLWRNORM
#define POLLWRNORM WEIR_POLLWRNORM
#undef POLLWRBAND
#define POLLWRBAND WEIR_POLLWRBAND
#undef POLLRDHUP
#define POLLRDHUP WEIR_POLLRDHUP
#undef FD_SETSIZE
#define FD_SETSIZE WEIR_FD_SETSIZE
#undef EPOLL_CTL_ADD
#define EPOLL_CTL_ADD WEIR_EPOLL_CTL_ADD
#undef EPOLL_CTL_DEL
#define EPOLL_CTL_DEL WEIR_EPOLL_CTL_DEL
#undef EPOLL_CTL_MOD
#define EPOLL_CTL_MOD WEIR_EPOLL_CTL_MOD
#undef EPOLLIN
#define EPOLLIN WEIR_EPOLLIN
#undef EPOLLPRI
#define EPOLLPRI WEIR_EPOLLPRI
#undef EPOLLOUT
#define EPOLLOUT WEIR_EPOLLOUT
#undef EPOLLERR
#define EPOLLERR WEIR_EPOLLERR
#undef EPOLLHUP
#define EPOLLHUP WEIR_EPOLLHUP
#undef EPOLLRDHUP
#define EPOLLRDHUP WEIR_EPOLLRDHUP
#undef EPOLLONESHOT
#define EPOLLONESHOT WEIR_EPOLLONESHOT
#undef EPOLLET
#define EPOLLET WEIR_EPOLLET
#undef AI_PASSIVE
#define AI_PASSIVE WEIR_AI_PASSIVE
#undef AI_CANONNAME
#define AI_CANONNAME WEIR_AI_CANONNAME
#undef AI_NUMERICHOST
#define AI_NUMERICHOST WEIR_AI_NUMERICHOST
#undef AI_V4MAPPED
#define AI_V4MAPPED WEIR_AI_V4MAPPED
#undef AI_ALL
#define AI_ALL WEIR_AI_ALL
#undef AI_ADDRCONFIG
#define AI_ADDRCONFIG WEIR_AI_ADDRCONFIG
#undef AI_NUMERICSERV
#define AI_NUMERICSERV WEIR_AI_NUMERICSERV
#undef EAI_BADFLAGS
#define EAI_BADFLAGS WEIR_EAI_BADFLAGS
#undef EAI_NONAME
#define EAI_NONAME WEIR_EAI_NONAME
#undef EAI_AGAIN
#define EAI_AGAIN WEIR_EAI_AGAIN
#undef EAI_FAIL
#define EAI_FAIL WEIR_EAI_FAIL
#undef EAI_FAMILY
#define EAI_FAMILY WEIR_EAI_FAMILY
#undef EAI_SOCKTYPE
#define EAI_SOCKTYPE WEIR_EAI_SOCKTYPE
#undef EAI_SERVICE
#define EAI_SERVICE WEIR_EAI_SERVICE
#undef EAI_MEMORY
#define EAI_MEMORY WEIR_EAI_MEMORY
#undef EAI_SYSTEM
#define EAI_SYSTEM WEIR_EAI_SYSTEM
#undef EAI_OVERFLOW
#define EAI_OVERFLOW WEIR_EAI_OVERFLOW
#undef PF_INET
#define PF_INET WEIR_AF_INET
#undef PF_INET6
#define PF_INET6 WEIR_AF_INET6
#undef PF_UNSPEC
#define PF_UNSPEC WEIR_AF_UNSPEC
#undef SOL_IP
#define SOL_IP WEIR_IPPROTO_IP
#undef SOL_IPV6
#define SOL_IPV6 WEIR_IPPROTO_IPV6
#undef SOL_TCP
#define SOL_TCP WEIR_IPPROTO_TCP
#undef FD_ZERO
#define FD_ZERO(set) weir_fd_zero(set)
#undef FD_SET
#define FD_SET(fd, set) weir_fd_add(fd, set)
#undef FD_CLR
#define FD_CLR(fd, set) weir_fd_clear(fd, set)
#undef FD_ISSET
#define FD_ISSET(fd, set) weir_fd_isset(fd, set)
#undef CMSG_FIRSTHDR
#define CMSG_FIRSTHDR(message) weir_cmsg_first(message)
#undef CMSG_NXTHDR
#define CMSG_NXTHDR(message, cmsg) weir_cmsg_next(message, cmsg)
#undef CMSG_DATA
#define CMSG_DATA(cmsg) ((unsigned char *)weir_cmsg_data(cmsg))
#undef CMSG_LEN
#define CMSG_LEN(bytes) weir_cmsg_len(bytes)
#undef CMSG_SPACE
#define CMSG_SPACE(bytes) weir_cmsg_space(bytes)

#endif
