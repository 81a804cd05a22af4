// SPDX-License-Identifier: BSD-2-Clause
// Made by tools/options.py from config/options.toml: change that file, then run `make options`.
// The configuration: what is built in, and how large. Choose a profile with -DWEIR_PROFILE=tiny, small or full (as
// well: -DWEIR_PROFILE_TINY and so on); the default is full. Change options in a header of your own, which
// -DWEIR_CONFIG_FILE='"my_config.h"' names (it may choose the profile, too), or one by one with -DWEIR_CFG_NAME=value.
// What contradicts itself or lies out of range stops the build. A name that does not exist is beyond the compiler:
// CMake, Meson, make and `tools/options.py --sources` (or --commands, --macros) find it.
#ifndef WEIR_OPTIONS_H
#define WEIR_OPTIONS_H

#ifdef WEIR_CONFIG_FILE
#include WEIR_CONFIG_FILE
#endif

#define WEIR_PROFILE_IS_tiny 1
#define WEIR_PROFILE_IS_small 2
#define WEIR_PROFILE_IS_full 3
#define WEIR_PROFILE_JOIN(a, b) a##b
#define WEIR_PROFILE_IS(name) WEIR_PROFILE_JOIN(WEIR_PROFILE_IS_, name)
#ifdef WEIR_PROFILE
#if WEIR_PROFILE_IS(WEIR_PROFILE) == 0
#error "WEIR_PROFILE must be tiny, small or full"
#endif
#if WEIR_PROFILE_IS(WEIR_PROFILE) == 1 && !defined(WEIR_PROFILE_TINY)
#define WEIR_PROFILE_TINY 1
#elif WEIR_PROFILE_IS(WEIR_PROFILE) == 2 && !defined(WEIR_PROFILE_SMALL)
#define WEIR_PROFILE_SMALL 1
#elif WEIR_PROFILE_IS(WEIR_PROFILE) == 3 && !defined(WEIR_PROFILE_FULL)
#define WEIR_PROFILE_FULL 1
#endif
#endif
#if (defined(WEIR_PROFILE_TINY) && defined(WEIR_PROFILE_SMALL)) || \
    (defined(WEIR_PROFILE_FULL) && (defined(WEIR_PROFILE_TINY) || defined(WEIR_PROFILE_SMALL)))
#error "two profiles are chosen: WEIR_PROFILE must be one of tiny, small and full"
#endif

#if defined(WEIR_PROFILE_TINY)
#define WEIR_DEFAULT_COMPACT 1
#define WEIR_DEFAULT_NETIF_LEAN 0
#define WEIR_DEFAULT_ALLOCATOR 0
#define WEIR_DEFAULT_MEMORY_BUDGET_MB 0
#define WEIR_DEFAULT_WIDE_DIVISION 0
#define WEIR_DEFAULT_TIMER_WHEEL 0
#define WEIR_DEFAULT_ERROR_NAMES 0
#define WEIR_DEFAULT_VLAN 0
#define WEIR_DEFAULT_ARP_CACHE 0
#define WEIR_DEFAULT_NEIGHBOURS 1
#define WEIR_DEFAULT_NEIGHBOUR_STRANGERS 1
#define WEIR_DEFAULT_NEIGHBOUR_STRANGER_RATE 1
#define WEIR_DEFAULT_NEIGHBOUR_QUEUE_BYTES 0
#define WEIR_DEFAULT_FRAGMENTS 0
#define WEIR_DEFAULT_REASSEMBLY_BYTES 0
#define WEIR_DEFAULT_REASSEMBLY_MS 60000
#define WEIR_DEFAULT_ROUTES 1
#define WEIR_DEFAULT_ADDRESSES 0
#define WEIR_DEFAULT_NETIFS 1
#define WEIR_DEFAULT_LOOPBACK 0
#define WEIR_DEFAULT_LOOPBACK_BYTES 0
#define WEIR_DEFAULT_OUTBOX_BYTES 192
#define WEIR_DEFAULT_ICMP_ERRORS 0
#define WEIR_DEFAULT_IGMP 0
#define WEIR_DEFAULT_IP4 1
#define WEIR_DEFAULT_IP6 0
#define WEIR_DEFAULT_IP6_START_DELAY_MS 100
#define WEIR_DEFAULT_IP6_TEMPORARY 0
#define WEIR_DEFAULT_IP6_OPTIMISTIC 0
#define WEIR_DEFAULT_IP6_MULTIHOMED 0
#define WEIR_DEFAULT_MULTICAST_GROUPS 1
#define WEIR_DEFAULT_MULTICAST_SOURCES 0
#define WEIR_DEFAULT_UDP 0
#define WEIR_DEFAULT_RAW 0
#define WEIR_DEFAULT_IP_OPTIONS 0
#define WEIR_DEFAULT_DPLPMTUD 0
#define WEIR_DEFAULT_TCP_CONNECT 0
#define WEIR_DEFAULT_TCP_WINDOW_SCALE 0
#define WEIR_DEFAULT_TCP_TIMESTAMPS 0
#define WEIR_DEFAULT_TCP_SACK 0
#define WEIR_DEFAULT_TCP_DSACK 0
#define WEIR_DEFAULT_TCP_LOSS_RECOVERY 0
#define WEIR_DEFAULT_TCP_COARSE_CLOCK 0
#define WEIR_DEFAULT_TCP_PREDICT 0
#define WEIR_DEFAULT_SELF_CHECK 0
#define WEIR_DEFAULT_FAST_PATH 0
#define WEIR_DEFAULT_FLOWS 1
#define WEIR_DEFAULT_TCP_HELD 0
#define WEIR_DEFAULT_TCP_INTERVALS 4
#define WEIR_DEFAULT_TCP_FLIGHT_RECORDS 4
#define WEIR_DEFAULT_TCP_ECN 0
#define WEIR_DEFAULT_TCP_ECN_MODE 1
#define WEIR_DEFAULT_TCP_ACCECN 0
#define WEIR_DEFAULT_TCP_URGENT 0
#define WEIR_DEFAULT_REALTIME 0
#define WEIR_DEFAULT_TCP_KEEPALIVE 0
#define WEIR_DEFAULT_TCP_REFINEMENTS 0
#define WEIR_DEFAULT_TCP_BLACK_HOLE 0
#define WEIR_DEFAULT_TCP_SYN_COOKIES 0
#define WEIR_DEFAULT_TCP_RATE 0
#define WEIR_DEFAULT_TCP_PACING 0
#define WEIR_DEFAULT_REALTIME_SENDER 0
#define WEIR_DEFAULT_TCP_INFO 0
#define WEIR_DEFAULT_TCP_HALF_OPEN 2
#define WEIR_DEFAULT_TCP_TIME_WAIT 2
#define WEIR_DEFAULT_TCP_MSL_MS 30000
#define WEIR_DEFAULT_TCP_RTO_MIN_MS 200
#define WEIR_DEFAULT_TCP_RTO_MAX_MS 60000
#define WEIR_DEFAULT_COMPACT_UDP 0
#define WEIR_DEFAULT_COMPACT_ADDRESS 0
#define WEIR_DEFAULT_COMPACT_MLD1 0
#define WEIR_DEFAULT_TCP_SPLIT 0
#define WEIR_DEFAULT_TCP_DELAYED_ACK_MS 40
#define WEIR_DEFAULT_TCP_USER_TIMEOUT_S 120
#define WEIR_DEFAULT_TCP_UTO_LEAST_S 100
#define WEIR_DEFAULT_TCP_UTO_MOST_S 3600
#define WEIR_DEFAULT_TCP_FIN_WAIT_2_S 60
#define WEIR_DEFAULT_TCP_SEND_BYTES 1072
#define WEIR_DEFAULT_TCP_RECEIVE_BYTES 1072
#define WEIR_DEFAULT_TCP_MSS_MAX 536
#define WEIR_DEFAULT_LISTEN_BACKLOG_MAX 1
#define WEIR_DEFAULT_CC_ABE 0
#define WEIR_DEFAULT_CC_CUBIC 0
#define WEIR_DEFAULT_CC_RENO 1
#define WEIR_DEFAULT_CC_BIC 0
#define WEIR_DEFAULT_CC_HTCP 0
#define WEIR_DEFAULT_CC_VEGAS 0
#define WEIR_DEFAULT_CC_WESTWOOD 0
#define WEIR_DEFAULT_CC_YEAH 0
#define WEIR_DEFAULT_CC_BBR 0
#define WEIR_DEFAULT_CC_BBR3 0
#define WEIR_DEFAULT_CC_REGISTERED 0
#define WEIR_DEFAULT_BSD_FAULTS 1
#define WEIR_DEFAULT_BSD_POLL 1
#define WEIR_DEFAULT_BSD_LAYERS 0
#define WEIR_DEFAULT_SOCKETS 2
#define WEIR_DEFAULT_LISTENERS 1
#define WEIR_DEFAULT_TCP_CONNECTIONS 0
#define WEIR_DEFAULT_SOCKET_INDEX_BITS 8
#define WEIR_DEFAULT_SOCKET_OPTIONS 0
#define WEIR_DEFAULT_STATS 0
#define WEIR_DEFAULT_DATAGRAM_SOCKETS 1
#define WEIR_DEFAULT_DATAGRAM_SEND_BYTES 0
#define WEIR_DEFAULT_DATAGRAM_RECEIVE_BYTES 512
#define WEIR_DEFAULT_QUEUE_CHUNK_BYTES 0
#define WEIR_DEFAULT_POLL_QUANTUM 4
#define WEIR_DEFAULT_TX_OFFLOAD 0
#define WEIR_DEFAULT_TX_SLICES 3
#define WEIR_DEFAULT_COUNTERS 1
#define WEIR_DEFAULT_COUNTER_NAMES 0
#define WEIR_DEFAULT_HANDLERS 0
#define WEIR_DEFAULT_TABLES 0
#define WEIR_DEFAULT_TRACE 0
#define WEIR_DEFAULT_MICRO_CALLS 4000
#define WEIR_DEFAULT_MICRO_MEMORY_KB 0
#define WEIR_DEFAULT_MICRO_ORPHAN_S 60
#elif defined(WEIR_PROFILE_SMALL)
#define WEIR_DEFAULT_COMPACT 0
#define WEIR_DEFAULT_NETIF_LEAN 0
#define WEIR_DEFAULT_ALLOCATOR 0
#define WEIR_DEFAULT_MEMORY_BUDGET_MB 0
#define WEIR_DEFAULT_WIDE_DIVISION 0
#define WEIR_DEFAULT_TIMER_WHEEL 0
#define WEIR_DEFAULT_ERROR_NAMES 1
#define WEIR_DEFAULT_VLAN 0
#define WEIR_DEFAULT_ARP_CACHE 1
#define WEIR_DEFAULT_NEIGHBOURS 8
#define WEIR_DEFAULT_NEIGHBOUR_STRANGERS 4
#define WEIR_DEFAULT_NEIGHBOUR_STRANGER_RATE 8
#define WEIR_DEFAULT_NEIGHBOUR_QUEUE_BYTES 600
#define WEIR_DEFAULT_FRAGMENTS 1
#define WEIR_DEFAULT_REASSEMBLY_BYTES 4096
#define WEIR_DEFAULT_REASSEMBLY_MS 60000
#define WEIR_DEFAULT_ROUTES 4
#define WEIR_DEFAULT_ADDRESSES 0
#define WEIR_DEFAULT_NETIFS 2
#define WEIR_DEFAULT_LOOPBACK 0
#define WEIR_DEFAULT_LOOPBACK_BYTES 2048
#define WEIR_DEFAULT_OUTBOX_BYTES 2048
#define WEIR_DEFAULT_ICMP_ERRORS 1
#define WEIR_DEFAULT_IGMP 0
#define WEIR_DEFAULT_IP4 1
#define WEIR_DEFAULT_IP6 0
#define WEIR_DEFAULT_IP6_START_DELAY_MS 100
#define WEIR_DEFAULT_IP6_TEMPORARY 0
#define WEIR_DEFAULT_IP6_OPTIMISTIC 0
#define WEIR_DEFAULT_IP6_MULTIHOMED 0
#define WEIR_DEFAULT_MULTICAST_GROUPS 4
#define WEIR_DEFAULT_MULTICAST_SOURCES 0
#define WEIR_DEFAULT_UDP 1
#define WEIR_DEFAULT_RAW 0
#define WEIR_DEFAULT_IP_OPTIONS 0
#define WEIR_DEFAULT_DPLPMTUD 0
#define WEIR_DEFAULT_TCP_CONNECT 1
#define WEIR_DEFAULT_TCP_WINDOW_SCALE 1
#define WEIR_DEFAULT_TCP_TIMESTAMPS 1
#define WEIR_DEFAULT_TCP_SACK 1
#define WEIR_DEFAULT_TCP_DSACK 1
#define WEIR_DEFAULT_TCP_LOSS_RECOVERY 1
#define WEIR_DEFAULT_TCP_COARSE_CLOCK 0
#define WEIR_DEFAULT_TCP_PREDICT 1
#define WEIR_DEFAULT_SELF_CHECK 0
#define WEIR_DEFAULT_FAST_PATH 0
#define WEIR_DEFAULT_FLOWS 1
#define WEIR_DEFAULT_TCP_HELD 1
#define WEIR_DEFAULT_TCP_INTERVALS 16
#define WEIR_DEFAULT_TCP_FLIGHT_RECORDS 32
#define WEIR_DEFAULT_TCP_ECN 0
#define WEIR_DEFAULT_TCP_ECN_MODE 1
#define WEIR_DEFAULT_TCP_ACCECN 0
#define WEIR_DEFAULT_TCP_URGENT 0
#define WEIR_DEFAULT_REALTIME 1
#define WEIR_DEFAULT_TCP_KEEPALIVE 1
#define WEIR_DEFAULT_TCP_REFINEMENTS 0
#define WEIR_DEFAULT_TCP_BLACK_HOLE 0
#define WEIR_DEFAULT_TCP_SYN_COOKIES 0
#define WEIR_DEFAULT_TCP_RATE 0
#define WEIR_DEFAULT_TCP_PACING 0
#define WEIR_DEFAULT_REALTIME_SENDER 1
#define WEIR_DEFAULT_TCP_INFO 0
#define WEIR_DEFAULT_TCP_HALF_OPEN 8
#define WEIR_DEFAULT_TCP_TIME_WAIT 16
#define WEIR_DEFAULT_TCP_MSL_MS 30000
#define WEIR_DEFAULT_TCP_RTO_MIN_MS 200
#define WEIR_DEFAULT_TCP_RTO_MAX_MS 60000
#define WEIR_DEFAULT_COMPACT_UDP 0
#define WEIR_DEFAULT_COMPACT_ADDRESS 0
#define WEIR_DEFAULT_COMPACT_MLD1 0
#define WEIR_DEFAULT_TCP_SPLIT 0
#define WEIR_DEFAULT_TCP_DELAYED_ACK_MS 40
#define WEIR_DEFAULT_TCP_USER_TIMEOUT_S 900
#define WEIR_DEFAULT_TCP_UTO_LEAST_S 100
#define WEIR_DEFAULT_TCP_UTO_MOST_S 3600
#define WEIR_DEFAULT_TCP_FIN_WAIT_2_S 60
#define WEIR_DEFAULT_TCP_SEND_BYTES 4096
#define WEIR_DEFAULT_TCP_RECEIVE_BYTES 4096
#define WEIR_DEFAULT_TCP_MSS_MAX 1460
#define WEIR_DEFAULT_LISTEN_BACKLOG_MAX 8
#define WEIR_DEFAULT_CC_ABE 0
#define WEIR_DEFAULT_CC_CUBIC 1
#define WEIR_DEFAULT_CC_RENO 1
#define WEIR_DEFAULT_CC_BIC 0
#define WEIR_DEFAULT_CC_HTCP 0
#define WEIR_DEFAULT_CC_VEGAS 0
#define WEIR_DEFAULT_CC_WESTWOOD 0
#define WEIR_DEFAULT_CC_YEAH 0
#define WEIR_DEFAULT_CC_BBR 0
#define WEIR_DEFAULT_CC_BBR3 0
#define WEIR_DEFAULT_CC_REGISTERED 0
#define WEIR_DEFAULT_BSD_FAULTS 1
#define WEIR_DEFAULT_BSD_POLL 1
#define WEIR_DEFAULT_BSD_LAYERS 0
#define WEIR_DEFAULT_SOCKETS 8
#define WEIR_DEFAULT_LISTENERS 4
#define WEIR_DEFAULT_TCP_CONNECTIONS 0
#define WEIR_DEFAULT_SOCKET_INDEX_BITS 8
#define WEIR_DEFAULT_SOCKET_OPTIONS 1
#define WEIR_DEFAULT_STATS 1
#define WEIR_DEFAULT_DATAGRAM_SOCKETS 3
#define WEIR_DEFAULT_DATAGRAM_SEND_BYTES 1600
#define WEIR_DEFAULT_DATAGRAM_RECEIVE_BYTES 1600
#define WEIR_DEFAULT_QUEUE_CHUNK_BYTES 0
#define WEIR_DEFAULT_POLL_QUANTUM 8
#define WEIR_DEFAULT_TX_OFFLOAD 1
#define WEIR_DEFAULT_TX_SLICES 5
#define WEIR_DEFAULT_COUNTERS 1
#define WEIR_DEFAULT_COUNTER_NAMES 0
#define WEIR_DEFAULT_HANDLERS 0
#define WEIR_DEFAULT_TABLES 0
#define WEIR_DEFAULT_TRACE 0
#define WEIR_DEFAULT_MICRO_CALLS 4000
#define WEIR_DEFAULT_MICRO_MEMORY_KB 0
#define WEIR_DEFAULT_MICRO_ORPHAN_S 60
#else
#define WEIR_DEFAULT_COMPACT 0
#define WEIR_DEFAULT_NETIF_LEAN 0
#define WEIR_DEFAULT_ALLOCATOR 1
#define WEIR_DEFAULT_MEMORY_BUDGET_MB 1024
#define WEIR_DEFAULT_WIDE_DIVISION 1
#define WEIR_DEFAULT_TIMER_WHEEL 1
#define WEIR_DEFAULT_ERROR_NAMES 1
#define WEIR_DEFAULT_VLAN 1
#define WEIR_DEFAULT_ARP_CACHE 1
#define WEIR_DEFAULT_NEIGHBOURS 256
#define WEIR_DEFAULT_NEIGHBOUR_STRANGERS 64
#define WEIR_DEFAULT_NEIGHBOUR_STRANGER_RATE 128
#define WEIR_DEFAULT_NEIGHBOUR_QUEUE_BYTES 16384
#define WEIR_DEFAULT_FRAGMENTS 1
#define WEIR_DEFAULT_REASSEMBLY_BYTES 262144
#define WEIR_DEFAULT_REASSEMBLY_MS 60000
#define WEIR_DEFAULT_ROUTES 64
#define WEIR_DEFAULT_ADDRESSES 32
#define WEIR_DEFAULT_NETIFS 32
#define WEIR_DEFAULT_LOOPBACK 1
#define WEIR_DEFAULT_LOOPBACK_BYTES 262144
#define WEIR_DEFAULT_OUTBOX_BYTES 73728
#define WEIR_DEFAULT_ICMP_ERRORS 1
#define WEIR_DEFAULT_IGMP 1
#define WEIR_DEFAULT_IP4 1
#define WEIR_DEFAULT_IP6 0
#define WEIR_DEFAULT_IP6_START_DELAY_MS 100
#define WEIR_DEFAULT_IP6_TEMPORARY 0
#define WEIR_DEFAULT_IP6_OPTIMISTIC 0
#define WEIR_DEFAULT_IP6_MULTIHOMED 0
#define WEIR_DEFAULT_MULTICAST_GROUPS 64
#define WEIR_DEFAULT_MULTICAST_SOURCES 0
#define WEIR_DEFAULT_UDP 1
#define WEIR_DEFAULT_RAW 1
#define WEIR_DEFAULT_IP_OPTIONS 0
#define WEIR_DEFAULT_DPLPMTUD 0
#define WEIR_DEFAULT_TCP_CONNECT 1
#define WEIR_DEFAULT_TCP_WINDOW_SCALE 1
#define WEIR_DEFAULT_TCP_TIMESTAMPS 1
#define WEIR_DEFAULT_TCP_SACK 1
#define WEIR_DEFAULT_TCP_DSACK 1
#define WEIR_DEFAULT_TCP_LOSS_RECOVERY 1
#define WEIR_DEFAULT_TCP_COARSE_CLOCK 1
#define WEIR_DEFAULT_TCP_PREDICT 1
#define WEIR_DEFAULT_SELF_CHECK 0
#define WEIR_DEFAULT_FAST_PATH 1
#define WEIR_DEFAULT_FLOWS 16
#define WEIR_DEFAULT_TCP_HELD 1
#define WEIR_DEFAULT_TCP_INTERVALS 0
#define WEIR_DEFAULT_TCP_FLIGHT_RECORDS 0
#define WEIR_DEFAULT_TCP_ECN 1
#define WEIR_DEFAULT_TCP_ECN_MODE 2
#define WEIR_DEFAULT_TCP_ACCECN 1
#define WEIR_DEFAULT_TCP_URGENT 1
#define WEIR_DEFAULT_REALTIME 1
#define WEIR_DEFAULT_TCP_KEEPALIVE 1
#define WEIR_DEFAULT_TCP_REFINEMENTS 1
#define WEIR_DEFAULT_TCP_BLACK_HOLE 0
#define WEIR_DEFAULT_TCP_SYN_COOKIES 1
#define WEIR_DEFAULT_TCP_RATE 1
#define WEIR_DEFAULT_TCP_PACING 1
#define WEIR_DEFAULT_REALTIME_SENDER 1
#define WEIR_DEFAULT_TCP_INFO 1
#define WEIR_DEFAULT_TCP_HALF_OPEN 1024
#define WEIR_DEFAULT_TCP_TIME_WAIT 65536
#define WEIR_DEFAULT_TCP_MSL_MS 30000
#define WEIR_DEFAULT_TCP_RTO_MIN_MS 200
#define WEIR_DEFAULT_TCP_RTO_MAX_MS 120000
#define WEIR_DEFAULT_COMPACT_UDP 0
#define WEIR_DEFAULT_COMPACT_ADDRESS 0
#define WEIR_DEFAULT_COMPACT_MLD1 0
#define WEIR_DEFAULT_TCP_SPLIT 0
#define WEIR_DEFAULT_TCP_DELAYED_ACK_MS 40
#define WEIR_DEFAULT_TCP_USER_TIMEOUT_S 900
#define WEIR_DEFAULT_TCP_UTO_LEAST_S 100
#define WEIR_DEFAULT_TCP_UTO_MOST_S 3600
#define WEIR_DEFAULT_TCP_FIN_WAIT_2_S 60
#define WEIR_DEFAULT_TCP_SEND_BYTES 4194304
#define WEIR_DEFAULT_TCP_RECEIVE_BYTES 6291456
#define WEIR_DEFAULT_TCP_MSS_MAX 65495
#define WEIR_DEFAULT_LISTEN_BACKLOG_MAX 4096
#define WEIR_DEFAULT_CC_ABE 1
#define WEIR_DEFAULT_CC_CUBIC 1
#define WEIR_DEFAULT_CC_RENO 1
#define WEIR_DEFAULT_CC_BIC 1
#define WEIR_DEFAULT_CC_HTCP 1
#define WEIR_DEFAULT_CC_VEGAS 1
#define WEIR_DEFAULT_CC_WESTWOOD 1
#define WEIR_DEFAULT_CC_YEAH 1
#define WEIR_DEFAULT_CC_BBR 1
#define WEIR_DEFAULT_CC_BBR3 1
#define WEIR_DEFAULT_CC_REGISTERED 4
#define WEIR_DEFAULT_BSD_FAULTS 1
#define WEIR_DEFAULT_BSD_POLL 1
#define WEIR_DEFAULT_BSD_LAYERS 1
#define WEIR_DEFAULT_SOCKETS 1048575
#define WEIR_DEFAULT_LISTENERS 0
#define WEIR_DEFAULT_TCP_CONNECTIONS 0
#define WEIR_DEFAULT_SOCKET_INDEX_BITS 20
#define WEIR_DEFAULT_SOCKET_OPTIONS 1
#define WEIR_DEFAULT_STATS 1
#define WEIR_DEFAULT_DATAGRAM_SOCKETS 0
#define WEIR_DEFAULT_DATAGRAM_SEND_BYTES 262144
#define WEIR_DEFAULT_DATAGRAM_RECEIVE_BYTES 262144
#define WEIR_DEFAULT_QUEUE_CHUNK_BYTES 16384
#define WEIR_DEFAULT_POLL_QUANTUM 32
#define WEIR_DEFAULT_TX_OFFLOAD 1
#define WEIR_DEFAULT_TX_SLICES 24
#define WEIR_DEFAULT_COUNTERS 1
#define WEIR_DEFAULT_COUNTER_NAMES 1
#define WEIR_DEFAULT_HANDLERS 1
#define WEIR_DEFAULT_TABLES 1
#define WEIR_DEFAULT_TRACE 0
#define WEIR_DEFAULT_MICRO_CALLS 4000
#define WEIR_DEFAULT_MICRO_MEMORY_KB 32768
#define WEIR_DEFAULT_MICRO_ORPHAN_S 60
#endif

// the compact stack of src/compact: a host that only serves, in place of the layers link, ip, tcp and socket
#ifndef WEIR_CFG_COMPACT
#define WEIR_CFG_COMPACT WEIR_DEFAULT_COMPACT
#endif
#if WEIR_CFG_COMPACT < 0 || WEIR_CFG_COMPACT > 1
#error "WEIR_CFG_COMPACT must be 0 to 1: the compact stack of src/compact: a host that only serves, in place of the\
 layers link, ip, tcp and socket"
#endif
// for the compact stack: interfaces without the fields that only the other stack and wrappers use, and without
// counts of frames
#ifndef WEIR_CFG_NETIF_LEAN
#define WEIR_CFG_NETIF_LEAN WEIR_DEFAULT_NETIF_LEAN
#endif
#if WEIR_CFG_NETIF_LEAN < 0 || WEIR_CFG_NETIF_LEAN > 1
#error "WEIR_CFG_NETIF_LEAN must be 0 to 1: for the compact stack: interfaces without the fields that only the other\
 stack and wrappers use, and without counts of frames"
#endif
// 1: memory comes from port->alloc and queues grow by need; 0: everything is sized at build time
#ifndef WEIR_CFG_ALLOCATOR
#define WEIR_CFG_ALLOCATOR WEIR_DEFAULT_ALLOCATOR
#endif
#if WEIR_CFG_ALLOCATOR < 0 || WEIR_CFG_ALLOCATOR > 1
#error "WEIR_CFG_ALLOCATOR must be 0 to 1: 1: memory comes from port->alloc and queues grow by need; 0: everything is\
 sized at build time"
#endif
// what an instance takes from port->alloc at the most, MB, unless weir_config says otherwise (docs/memory.md); 0: no
// limit. Without an allocator the pools are the limit
#ifndef WEIR_CFG_MEMORY_BUDGET_MB
#define WEIR_CFG_MEMORY_BUDGET_MB WEIR_DEFAULT_MEMORY_BUDGET_MB
#endif
#if WEIR_CFG_MEMORY_BUDGET_MB < 0 || WEIR_CFG_MEMORY_BUDGET_MB > 1048576
#error "WEIR_CFG_MEMORY_BUDGET_MB must be 0 to 1048576: what an instance takes from port->alloc at the most, MB,\
 unless weir_config says otherwise (docs/memory.md); 0: no limit. Without an allocator the pools are the limit"
#endif
// 64-bit divisions are the compiler's; 0: of our own, bit by bit
#ifndef WEIR_CFG_WIDE_DIVISION
#define WEIR_CFG_WIDE_DIVISION WEIR_DEFAULT_WIDE_DIVISION
#endif
#if WEIR_CFG_WIDE_DIVISION < 0 || WEIR_CFG_WIDE_DIVISION > 1
#error "WEIR_CFG_WIDE_DIVISION must be 0 to 1: 64-bit divisions are the compiler's; 0: of our own, bit by bit"
#endif
// timers on a hierarchical wheel, for thousands of connections; 0: a list that is searched
#ifndef WEIR_CFG_TIMER_WHEEL
#define WEIR_CFG_TIMER_WHEEL WEIR_DEFAULT_TIMER_WHEEL
#endif
#if WEIR_CFG_TIMER_WHEEL < 0 || WEIR_CFG_TIMER_WHEEL > 1
#error "WEIR_CFG_TIMER_WHEEL must be 0 to 1: timers on a hierarchical wheel, for thousands of connections; 0: a list\
 that is searched"
#endif
// weir_error_name knows the names; 0: it answers with a question mark
#ifndef WEIR_CFG_ERROR_NAMES
#define WEIR_CFG_ERROR_NAMES WEIR_DEFAULT_ERROR_NAMES
#endif
#if WEIR_CFG_ERROR_NAMES < 0 || WEIR_CFG_ERROR_NAMES > 1
#error "WEIR_CFG_ERROR_NAMES must be 0 to 1: weir_error_name knows the names; 0: it answers with a question mark"
#endif
// 802.1Q tags on interfaces with WEIR_NETIF_VLAN
#ifndef WEIR_CFG_VLAN
#define WEIR_CFG_VLAN WEIR_DEFAULT_VLAN
#endif
#if WEIR_CFG_VLAN < 0 || WEIR_CFG_VLAN > 1
#error "WEIR_CFG_VLAN must be 0 to 1: 802.1Q tags on interfaces with WEIR_NETIF_VLAN"
#endif
// neighbour cache, address probing and conflict detection; 0: ARP requests are answered, replies go to the link
// address the request came from
#ifndef WEIR_CFG_ARP_CACHE
#define WEIR_CFG_ARP_CACHE WEIR_DEFAULT_ARP_CACHE
#endif
#if WEIR_CFG_ARP_CACHE < 0 || WEIR_CFG_ARP_CACHE > 1
#error "WEIR_CFG_ARP_CACHE must be 0 to 1: neighbour cache, address probing and conflict detection; 0: ARP requests\
 are answered, replies go to the link address the request came from"
#endif
// entries in the neighbour cache
#ifndef WEIR_CFG_NEIGHBOURS
#define WEIR_CFG_NEIGHBOURS WEIR_DEFAULT_NEIGHBOURS
#endif
#if WEIR_CFG_NEIGHBOURS < 1 || WEIR_CFG_NEIGHBOURS > 65535
#error "WEIR_CFG_NEIGHBOURS must be 1 to 65535: entries in the neighbour cache"
#endif
// entries of the neighbour cache, at the most, for hosts that only asked something of us: no socket and no route
// needs them
#ifndef WEIR_CFG_NEIGHBOUR_STRANGERS
#define WEIR_CFG_NEIGHBOUR_STRANGERS WEIR_DEFAULT_NEIGHBOUR_STRANGERS
#endif
#if WEIR_CFG_NEIGHBOUR_STRANGERS < 1 || WEIR_CFG_NEIGHBOUR_STRANGERS > 65535
#error "WEIR_CFG_NEIGHBOUR_STRANGERS must be 1 to 65535: entries of the neighbour cache, at the most, for hosts that\
 only asked something of us: no socket and no route needs them"
#endif
// new entries for such hosts, a second; replies to more of them go to the link address that the question came from
#ifndef WEIR_CFG_NEIGHBOUR_STRANGER_RATE
#define WEIR_CFG_NEIGHBOUR_STRANGER_RATE WEIR_DEFAULT_NEIGHBOUR_STRANGER_RATE
#endif
#if WEIR_CFG_NEIGHBOUR_STRANGER_RATE < 1 || WEIR_CFG_NEIGHBOUR_STRANGER_RATE > 65535
#error "WEIR_CFG_NEIGHBOUR_STRANGER_RATE must be 1 to 65535: new entries for such hosts, a second; replies to more of\
 them go to the link address that the question came from"
#endif
// datagrams waiting for link addresses
#ifndef WEIR_CFG_NEIGHBOUR_QUEUE_BYTES
#define WEIR_CFG_NEIGHBOUR_QUEUE_BYTES WEIR_DEFAULT_NEIGHBOUR_QUEUE_BYTES
#endif
#if WEIR_CFG_NEIGHBOUR_QUEUE_BYTES < 0 || WEIR_CFG_NEIGHBOUR_QUEUE_BYTES > 1048576
#error "WEIR_CFG_NEIGHBOUR_QUEUE_BYTES must be 0 to 1048576: datagrams waiting for link addresses"
#endif
// fragmentation and reassembly of IPv4 datagrams
#ifndef WEIR_CFG_FRAGMENTS
#define WEIR_CFG_FRAGMENTS WEIR_DEFAULT_FRAGMENTS
#endif
#if WEIR_CFG_FRAGMENTS < 0 || WEIR_CFG_FRAGMENTS > 1
#error "WEIR_CFG_FRAGMENTS must be 0 to 1: fragmentation and reassembly of IPv4 datagrams"
#endif
// all datagrams under reassembly together
#ifndef WEIR_CFG_REASSEMBLY_BYTES
#define WEIR_CFG_REASSEMBLY_BYTES WEIR_DEFAULT_REASSEMBLY_BYTES
#endif
#if WEIR_CFG_REASSEMBLY_BYTES < 0 || WEIR_CFG_REASSEMBLY_BYTES > 16777216
#error "WEIR_CFG_REASSEMBLY_BYTES must be 0 to 16777216: all datagrams under reassembly together"
#endif
// how long the fragments of a datagram wait for the rest, ms (RFC 1122 §3.3.2 and RFC 8200 §4.5: 60 s)
#ifndef WEIR_CFG_REASSEMBLY_MS
#define WEIR_CFG_REASSEMBLY_MS WEIR_DEFAULT_REASSEMBLY_MS
#endif
#if WEIR_CFG_REASSEMBLY_MS < 1000 || WEIR_CFG_REASSEMBLY_MS > 120000
#error "WEIR_CFG_REASSEMBLY_MS must be 1000 to 120000: how long the fragments of a datagram wait for the rest, ms (RFC\
 1122 §3.3.2 and RFC 8200 §4.5: 60 s)"
#endif
// entries in the routing table
#ifndef WEIR_CFG_ROUTES
#define WEIR_CFG_ROUTES WEIR_DEFAULT_ROUTES
#endif
#if WEIR_CFG_ROUTES < 1 || WEIR_CFG_ROUTES > 4096
#error "WEIR_CFG_ROUTES must be 1 to 4096: entries in the routing table"
#endif
// addresses of all interfaces together, beyond the first of each; 0: one address an interface, without lifetimes
#ifndef WEIR_CFG_ADDRESSES
#define WEIR_CFG_ADDRESSES WEIR_DEFAULT_ADDRESSES
#endif
#if WEIR_CFG_ADDRESSES < 0 || WEIR_CFG_ADDRESSES > 4096
#error "WEIR_CFG_ADDRESSES must be 0 to 4096: addresses of all interfaces together, beyond the first of each; 0: one\
 address an interface, without lifetimes"
#endif
// interfaces at once, without loopback
#ifndef WEIR_CFG_NETIFS
#define WEIR_CFG_NETIFS WEIR_DEFAULT_NETIFS
#endif
#if WEIR_CFG_NETIFS < 1 || WEIR_CFG_NETIFS > 250
#error "WEIR_CFG_NETIFS must be 1 to 250: interfaces at once, without loopback"
#endif
// the loopback interface 127.0.0.1/8 and packets to our own addresses
#ifndef WEIR_CFG_LOOPBACK
#define WEIR_CFG_LOOPBACK WEIR_DEFAULT_LOOPBACK
#endif
#if WEIR_CFG_LOOPBACK < 0 || WEIR_CFG_LOOPBACK > 1
#error "WEIR_CFG_LOOPBACK must be 0 to 1: the loopback interface 127.0.0.1/8 and packets to our own addresses"
#endif
// packets on their way round
#ifndef WEIR_CFG_LOOPBACK_BYTES
#define WEIR_CFG_LOOPBACK_BYTES WEIR_DEFAULT_LOOPBACK_BYTES
#endif
#if WEIR_CFG_LOOPBACK_BYTES < 0 || WEIR_CFG_LOOPBACK_BYTES > 16777216
#error "WEIR_CFG_LOOPBACK_BYTES must be 0 to 16777216: packets on their way round"
#endif
// replies (ICMP, RST, IGMP) waiting for weir_poll
#ifndef WEIR_CFG_OUTBOX_BYTES
#define WEIR_CFG_OUTBOX_BYTES WEIR_DEFAULT_OUTBOX_BYTES
#endif
#if WEIR_CFG_OUTBOX_BYTES < 100 || WEIR_CFG_OUTBOX_BYTES > 262144
#error "WEIR_CFG_OUTBOX_BYTES must be 100 to 262144: replies (ICMP, RST, IGMP) waiting for weir_poll"
#endif
// sending ICMP errors, and taking them in for sockets and path MTU discovery
#ifndef WEIR_CFG_ICMP_ERRORS
#define WEIR_CFG_ICMP_ERRORS WEIR_DEFAULT_ICMP_ERRORS
#endif
#if WEIR_CFG_ICMP_ERRORS < 0 || WEIR_CFG_ICMP_ERRORS > 1
#error "WEIR_CFG_ICMP_ERRORS must be 0 to 1: sending ICMP errors, and taking them in for sockets and path MTU\
 discovery"
#endif
// multicast receive of sockets, with IGMPv2 and IGMPv3 reports, over IPv6 with MLD (which the stack has for its own
// groups without it, too)
#ifndef WEIR_CFG_IGMP
#define WEIR_CFG_IGMP WEIR_DEFAULT_IGMP
#endif
#if WEIR_CFG_IGMP < 0 || WEIR_CFG_IGMP > 1
#error "WEIR_CFG_IGMP must be 0 to 1: multicast receive of sockets, with IGMPv2 and IGMPv3 reports, over IPv6 with MLD\
 (which the stack has for its own groups without it, too)"
#endif
// IPv4, with ARP and IGMP; 0: IPv6 alone (docs/ipv6.md)
#ifndef WEIR_CFG_IP4
#define WEIR_CFG_IP4 WEIR_DEFAULT_IP4
#endif
#if WEIR_CFG_IP4 < 0 || WEIR_CFG_IP4 > 1
#error "WEIR_CFG_IP4 must be 0 to 1: IPv4, with ARP and IGMP; 0: IPv6 alone (docs/ipv6.md)"
#endif
// IPv6 (RFC 8200), beside IPv4 or alone: addresses of 16 bytes, neighbour discovery, ICMPv6, multicast listeners
#ifndef WEIR_CFG_IP6
#define WEIR_CFG_IP6 WEIR_DEFAULT_IP6
#endif
#if WEIR_CFG_IP6 < 0 || WEIR_CFG_IP6 > 1
#error "WEIR_CFG_IP6 must be 0 to 1: IPv6 (RFC 8200), beside IPv4 or alone: addresses of 16 bytes, neighbour\
 discovery, ICMPv6, multicast listeners"
#endif
// an interface that comes up begins to speak IPv6 after a random part of so long; MAX_RTR_SOLICITATION_DELAY, of RFC
// 4861, is 1000
#ifndef WEIR_CFG_IP6_START_DELAY_MS
#define WEIR_CFG_IP6_START_DELAY_MS WEIR_DEFAULT_IP6_START_DELAY_MS
#endif
#if WEIR_CFG_IP6_START_DELAY_MS < 0 || WEIR_CFG_IP6_START_DELAY_MS > 1000
#error "WEIR_CFG_IP6_START_DELAY_MS must be 0 to 1000: an interface that comes up begins to speak IPv6 after a random\
 part of so long; MAX_RTR_SOLICITATION_DELAY, of RFC 4861, is 1000"
#endif
// temporary addresses for outgoing connections (RFC 8981), on the interfaces that are told to have them
#ifndef WEIR_CFG_IP6_TEMPORARY
#define WEIR_CFG_IP6_TEMPORARY WEIR_DEFAULT_IP6_TEMPORARY
#endif
#if WEIR_CFG_IP6_TEMPORARY < 0 || WEIR_CFG_IP6_TEMPORARY > 1
#error "WEIR_CFG_IP6_TEMPORARY must be 0 to 1: temporary addresses for outgoing connections (RFC 8981), on the\
 interfaces that are told to have them"
#endif
// addresses that are used while they are probed (RFC 4429), on the interfaces that are told so
#ifndef WEIR_CFG_IP6_OPTIMISTIC
#define WEIR_CFG_IP6_OPTIMISTIC WEIR_DEFAULT_IP6_OPTIMISTIC
#endif
#if WEIR_CFG_IP6_OPTIMISTIC < 0 || WEIR_CFG_IP6_OPTIMISTIC > 1
#error "WEIR_CFG_IP6_OPTIMISTIC must be 0 to 1: addresses that are used while they are probed (RFC 4429), on the\
 interfaces that are told so"
#endif
// a packet leaves by a router that advertised the prefix of its source (RFC 8028), a source is of the router's
// prefix (RFC 6724, rule 5.5)
#ifndef WEIR_CFG_IP6_MULTIHOMED
#define WEIR_CFG_IP6_MULTIHOMED WEIR_DEFAULT_IP6_MULTIHOMED
#endif
#if WEIR_CFG_IP6_MULTIHOMED < 0 || WEIR_CFG_IP6_MULTIHOMED > 1
#error "WEIR_CFG_IP6_MULTIHOMED must be 0 to 1: a packet leaves by a router that advertised the prefix of its source\
 (RFC 8028), a source is of the router's prefix (RFC 6724, rule 5.5)"
#endif
// group memberships of all sockets together
#ifndef WEIR_CFG_MULTICAST_GROUPS
#define WEIR_CFG_MULTICAST_GROUPS WEIR_DEFAULT_MULTICAST_GROUPS
#endif
#if WEIR_CFG_MULTICAST_GROUPS < 1 || WEIR_CFG_MULTICAST_GROUPS > 4096
#error "WEIR_CFG_MULTICAST_GROUPS must be 1 to 4096: group memberships of all sockets together"
#endif
// sources that a socket can name in the filter of a group it is a member of (RFC 3678, 9776, 9777): at most so many
// each; 0: none
#ifndef WEIR_CFG_MULTICAST_SOURCES
#define WEIR_CFG_MULTICAST_SOURCES WEIR_DEFAULT_MULTICAST_SOURCES
#endif
#if WEIR_CFG_MULTICAST_SOURCES < 0 || WEIR_CFG_MULTICAST_SOURCES > 32
#error "WEIR_CFG_MULTICAST_SOURCES must be 0 to 32: sources that a socket can name in the filter of a group it is a\
 member of (RFC 3678, 9776, 9777): at most so many each; 0: none"
#endif
// UDP and its sockets
#ifndef WEIR_CFG_UDP
#define WEIR_CFG_UDP WEIR_DEFAULT_UDP
#endif
#if WEIR_CFG_UDP < 0 || WEIR_CFG_UDP > 1
#error "WEIR_CFG_UDP must be 0 to 1: UDP and its sockets"
#endif
// raw and ICMP echo sockets
#ifndef WEIR_CFG_RAW
#define WEIR_CFG_RAW WEIR_DEFAULT_RAW
#endif
#if WEIR_CFG_RAW < 0 || WEIR_CFG_RAW > 1
#error "WEIR_CFG_RAW must be 0 to 1: raw and ICMP echo sockets"
#endif
// options of IPv4 headers on sockets: sent with each packet, and told of those that arrive; no source routes
#ifndef WEIR_CFG_IP_OPTIONS
#define WEIR_CFG_IP_OPTIONS WEIR_DEFAULT_IP_OPTIONS
#endif
#if WEIR_CFG_IP_OPTIONS < 0 || WEIR_CFG_IP_OPTIONS > 1
#error "WEIR_CFG_IP_OPTIONS must be 0 to 1: options of IPv4 headers on sockets: sent with each packet, and told of\
 those that arrive; no source routes"
#endif
// path MTU discovery by probes for connected UDP sockets (RFC 8899, weir/dplpmtud.h), and IP_PMTUDISC_PROBE; probes
// are the program's
#ifndef WEIR_CFG_DPLPMTUD
#define WEIR_CFG_DPLPMTUD WEIR_DEFAULT_DPLPMTUD
#endif
#if WEIR_CFG_DPLPMTUD < 0 || WEIR_CFG_DPLPMTUD > 1
#error "WEIR_CFG_DPLPMTUD must be 0 to 1: path MTU discovery by probes for connected UDP sockets (RFC 8899,\
 weir/dplpmtud.h), and IP_PMTUDISC_PROBE; probes are the program's"
#endif
// active open
#ifndef WEIR_CFG_TCP_CONNECT
#define WEIR_CFG_TCP_CONNECT WEIR_DEFAULT_TCP_CONNECT
#endif
#if WEIR_CFG_TCP_CONNECT < 0 || WEIR_CFG_TCP_CONNECT > 1
#error "WEIR_CFG_TCP_CONNECT must be 0 to 1: active open"
#endif
// window scale option (RFC 7323)
#ifndef WEIR_CFG_TCP_WINDOW_SCALE
#define WEIR_CFG_TCP_WINDOW_SCALE WEIR_DEFAULT_TCP_WINDOW_SCALE
#endif
#if WEIR_CFG_TCP_WINDOW_SCALE < 0 || WEIR_CFG_TCP_WINDOW_SCALE > 1
#error "WEIR_CFG_TCP_WINDOW_SCALE must be 0 to 1: window scale option (RFC 7323)"
#endif
// timestamps and PAWS (RFC 7323)
#ifndef WEIR_CFG_TCP_TIMESTAMPS
#define WEIR_CFG_TCP_TIMESTAMPS WEIR_DEFAULT_TCP_TIMESTAMPS
#endif
#if WEIR_CFG_TCP_TIMESTAMPS < 0 || WEIR_CFG_TCP_TIMESTAMPS > 1
#error "WEIR_CFG_TCP_TIMESTAMPS must be 0 to 1: timestamps and PAWS (RFC 7323)"
#endif
// selective acknowledgements, sent and used (RFC 2018, 6675)
#ifndef WEIR_CFG_TCP_SACK
#define WEIR_CFG_TCP_SACK WEIR_DEFAULT_TCP_SACK
#endif
#if WEIR_CFG_TCP_SACK < 0 || WEIR_CFG_TCP_SACK > 1
#error "WEIR_CFG_TCP_SACK must be 0 to 1: selective acknowledgements, sent and used (RFC 2018, 6675)"
#endif
// duplicates are told to the peer, and what it tells of its own is used (RFC 2883)
#ifndef WEIR_CFG_TCP_DSACK
#define WEIR_CFG_TCP_DSACK WEIR_DEFAULT_TCP_DSACK
#endif
#if WEIR_CFG_TCP_DSACK < 0 || WEIR_CFG_TCP_DSACK > 1
#error "WEIR_CFG_TCP_DSACK must be 0 to 1: duplicates are told to the peer, and what it tells of its own is used (RFC\
 2883)"
#endif
// RACK-TLP (RFC 8985), proportional rate reduction (RFC 9937), spurious timeouts and reductions found and undone
// (RFC 5682, 3708, 3522, 4015). 0: the rules of RFC 6675 and 6582
#ifndef WEIR_CFG_TCP_LOSS_RECOVERY
#define WEIR_CFG_TCP_LOSS_RECOVERY WEIR_DEFAULT_TCP_LOSS_RECOVERY
#endif
#if WEIR_CFG_TCP_LOSS_RECOVERY < 0 || WEIR_CFG_TCP_LOSS_RECOVERY > 1
#error "WEIR_CFG_TCP_LOSS_RECOVERY must be 0 to 1: RACK-TLP (RFC 8985), proportional rate reduction (RFC 9937),\
 spurious timeouts and reductions found and undone (RFC 5682, 3708, 3522, 4015). 0: the rules of RFC 6675 and 6582"
#endif
// clocks coarser than a delayed acknowledgement (a tick of 100 ms): after a hole nothing is acknowledged late, and a
// tail-loss probe of a window of two leaves with it
#ifndef WEIR_CFG_TCP_COARSE_CLOCK
#define WEIR_CFG_TCP_COARSE_CLOCK WEIR_DEFAULT_TCP_COARSE_CLOCK
#endif
#if WEIR_CFG_TCP_COARSE_CLOCK < 0 || WEIR_CFG_TCP_COARSE_CLOCK > 1
#error "WEIR_CFG_TCP_COARSE_CLOCK must be 0 to 1: clocks coarser than a delayed acknowledgement (a tick of 100 ms):\
 after a hole nothing is acknowledged late, and a tail-loss probe of a window of two leaves with it"
#endif
// header prediction: the next segment of a connection in order without the list of steps
#ifndef WEIR_CFG_TCP_PREDICT
#define WEIR_CFG_TCP_PREDICT WEIR_DEFAULT_TCP_PREDICT
#endif
#if WEIR_CFG_TCP_PREDICT < 0 || WEIR_CFG_TCP_PREDICT > 1
#error "WEIR_CFG_TCP_PREDICT must be 0 to 1: header prediction: the next segment of a connection in order without the\
 list of steps"
#endif
// for tests: after each input and each poll what a connection remembers of itself is computed anew, and the program
// stops where it differs
#ifndef WEIR_CFG_SELF_CHECK
#define WEIR_CFG_SELF_CHECK WEIR_DEFAULT_SELF_CHECK
#endif
#if WEIR_CFG_SELF_CHECK < 0 || WEIR_CFG_SELF_CHECK > 1
#error "WEIR_CFG_SELF_CHECK must be 0 to 1: for tests: after each input and each poll what a connection remembers of\
 itself is computed anew, and the program stops where it differs"
#endif
// flow cache, and in compact builds header prediction: a packet like the last one takes fewer steps; nothing else
// depends on it
#ifndef WEIR_CFG_FAST_PATH
#define WEIR_CFG_FAST_PATH WEIR_DEFAULT_FAST_PATH
#endif
#if WEIR_CFG_FAST_PATH < 0 || WEIR_CFG_FAST_PATH > 1
#error "WEIR_CFG_FAST_PATH must be 0 to 1: flow cache, and in compact builds header prediction: a packet like the last\
 one takes fewer steps; nothing else depends on it"
#endif
// flow cache: peers whose frames are known by how they begin, and answered over the last header; a power of two
#ifndef WEIR_CFG_FLOWS
#define WEIR_CFG_FLOWS WEIR_DEFAULT_FLOWS
#endif
#if WEIR_CFG_FLOWS < 1 || WEIR_CFG_FLOWS > 256
#error "WEIR_CFG_FLOWS must be 1 to 256: flow cache: peers whose frames are known by how they begin, and answered over\
 the last header; a power of two"
#endif
// drivers may answer WEIR_TX_HELD: payload of first transmissions stays in the send queue until their DMA is done
#ifndef WEIR_CFG_TCP_HELD
#define WEIR_CFG_TCP_HELD WEIR_DEFAULT_TCP_HELD
#endif
#if WEIR_CFG_TCP_HELD < 0 || WEIR_CFG_TCP_HELD > 1
#error "WEIR_CFG_TCP_HELD must be 0 to 1: drivers may answer WEIR_TX_HELD: payload of first transmissions stays in the\
 send queue until their DMA is done"
#endif
// holes remembered in a receive queue; 0: by need, at least limit/(2*MSS), in allocator builds
#ifndef WEIR_CFG_TCP_INTERVALS
#define WEIR_CFG_TCP_INTERVALS WEIR_DEFAULT_TCP_INTERVALS
#endif
#if WEIR_CFG_TCP_INTERVALS < 0 || WEIR_CFG_TCP_INTERVALS > 4096
#error "WEIR_CFG_TCP_INTERVALS must be 0 to 4096: holes remembered in a receive queue; 0: by need, at least\
 limit/(2*MSS), in allocator builds"
#endif
// bursts in flight remembered; 0: by need, in allocator builds
#ifndef WEIR_CFG_TCP_FLIGHT_RECORDS
#define WEIR_CFG_TCP_FLIGHT_RECORDS WEIR_DEFAULT_TCP_FLIGHT_RECORDS
#endif
#if WEIR_CFG_TCP_FLIGHT_RECORDS < 0 || WEIR_CFG_TCP_FLIGHT_RECORDS > 65536
#error "WEIR_CFG_TCP_FLIGHT_RECORDS must be 0 to 65536: bursts in flight remembered; 0: by need, in allocator builds"
#endif
// explicit congestion notification (RFC 3168): routers mark segments in place of dropping them
#ifndef WEIR_CFG_TCP_ECN
#define WEIR_CFG_TCP_ECN WEIR_DEFAULT_TCP_ECN
#endif
#if WEIR_CFG_TCP_ECN < 0 || WEIR_CFG_TCP_ECN > 1
#error "WEIR_CFG_TCP_ECN must be 0 to 1: explicit congestion notification (RFC 3168): routers mark segments in place\
 of dropping them"
#endif
// what sockets want of it by default, enum weir_ecn: 1 nothing, 2 agree when the peer asks, 3 ask, 4 ask for
// accurate feedback
#ifndef WEIR_CFG_TCP_ECN_MODE
#define WEIR_CFG_TCP_ECN_MODE WEIR_DEFAULT_TCP_ECN_MODE
#endif
#if WEIR_CFG_TCP_ECN_MODE < 1 || WEIR_CFG_TCP_ECN_MODE > 4
#error "WEIR_CFG_TCP_ECN_MODE must be 1 to 4: what sockets want of it by default, enum weir_ecn: 1 nothing, 2 agree\
 when the peer asks, 3 ask, 4 ask for accurate feedback"
#endif
// accurate ECN feedback (RFC 9768)
#ifndef WEIR_CFG_TCP_ACCECN
#define WEIR_CFG_TCP_ACCECN WEIR_DEFAULT_TCP_ACCECN
#endif
#if WEIR_CFG_TCP_ACCECN < 0 || WEIR_CFG_TCP_ACCECN > 1
#error "WEIR_CFG_TCP_ACCECN must be 0 to 1: accurate ECN feedback (RFC 9768)"
#endif
// urgent data (RFC 6093)
#ifndef WEIR_CFG_TCP_URGENT
#define WEIR_CFG_TCP_URGENT WEIR_DEFAULT_TCP_URGENT
#endif
#if WEIR_CFG_TCP_URGENT < 0 || WEIR_CFG_TCP_URGENT > 1
#error "WEIR_CFG_TCP_URGENT must be 0 to 1: urgent data (RFC 6093)"
#endif
// real-time streams (weir/realtime.h): receivers that pass over late frames; without an allocator, how many at once
#ifndef WEIR_CFG_REALTIME
#define WEIR_CFG_REALTIME WEIR_DEFAULT_REALTIME
#endif
#if WEIR_CFG_REALTIME < 0 || WEIR_CFG_REALTIME > 65535
#error "WEIR_CFG_REALTIME must be 0 to 65535: real-time streams (weir/realtime.h): receivers that pass over late\
 frames; without an allocator, how many at once"
#endif
// keepalive and user timeout (RFC 9293 3.8.4, RFC 5482)
#ifndef WEIR_CFG_TCP_KEEPALIVE
#define WEIR_CFG_TCP_KEEPALIVE WEIR_DEFAULT_TCP_KEEPALIVE
#endif
#if WEIR_CFG_TCP_KEEPALIVE < 0 || WEIR_CFG_TCP_KEEPALIVE > 1
#error "WEIR_CFG_TCP_KEEPALIVE must be 0 to 1: keepalive and user timeout (RFC 9293 3.8.4, RFC 5482)"
#endif
// what a large host has: the user timeout option (RFC 5482), a receive low-water mark, HyStart++ (RFC 9406),
// congestion window validation (RFC 7661)
#ifndef WEIR_CFG_TCP_REFINEMENTS
#define WEIR_CFG_TCP_REFINEMENTS WEIR_DEFAULT_TCP_REFINEMENTS
#endif
#if WEIR_CFG_TCP_REFINEMENTS < 0 || WEIR_CFG_TCP_REFINEMENTS > 1
#error "WEIR_CFG_TCP_REFINEMENTS must be 0 to 1: what a large host has: the user timeout option (RFC 5482), a receive\
 low-water mark, HyStart++ (RFC 9406), congestion window validation (RFC 7661)"
#endif
// path MTU black hole detection (RFC 4821, 7.7): after two timeouts in a row shorter segments are tried, and then
// the longest that passes is searched for, where weir_config says so
#ifndef WEIR_CFG_TCP_BLACK_HOLE
#define WEIR_CFG_TCP_BLACK_HOLE WEIR_DEFAULT_TCP_BLACK_HOLE
#endif
#if WEIR_CFG_TCP_BLACK_HOLE < 0 || WEIR_CFG_TCP_BLACK_HOLE > 1
#error "WEIR_CFG_TCP_BLACK_HOLE must be 0 to 1: path MTU black hole detection (RFC 4821, 7.7): after two timeouts in a\
 row shorter segments are tried, and then the longest that passes is searched for, where weir_config says so"
#endif
// SYN cookies when the half-open table is full (RFC 4987)
#ifndef WEIR_CFG_TCP_SYN_COOKIES
#define WEIR_CFG_TCP_SYN_COOKIES WEIR_DEFAULT_TCP_SYN_COOKIES
#endif
#if WEIR_CFG_TCP_SYN_COOKIES < 0 || WEIR_CFG_TCP_SYN_COOKIES > 1
#error "WEIR_CFG_TCP_SYN_COOKIES must be 0 to 1: SYN cookies when the half-open table is full (RFC 4987)"
#endif
// delivery-rate samples for the algorithms that want them (draft-cheng-iccrg-delivery-rate-estimation)
#ifndef WEIR_CFG_TCP_RATE
#define WEIR_CFG_TCP_RATE WEIR_DEFAULT_TCP_RATE
#endif
#if WEIR_CFG_TCP_RATE < 0 || WEIR_CFG_TCP_RATE > 1
#error "WEIR_CFG_TCP_RATE must be 0 to 1: delivery-rate samples for the algorithms that want them\
 (draft-cheng-iccrg-delivery-rate-estimation)"
#endif
// paced sending: 1 for algorithms that set a rate and sockets that ask for it, 2 for every connection; 0 none
#ifndef WEIR_CFG_TCP_PACING
#define WEIR_CFG_TCP_PACING WEIR_DEFAULT_TCP_PACING
#endif
#if WEIR_CFG_TCP_PACING < 0 || WEIR_CFG_TCP_PACING > 2
#error "WEIR_CFG_TCP_PACING must be 0 to 2: paced sending: 1 for algorithms that set a rate and sockets that ask for\
 it, 2 for every connection; 0 none"
#endif
// WEIR_OPTION_SEND_DEADLINE_US: frames bundled, sent again before their deadline, a low timeout
#ifndef WEIR_CFG_REALTIME_SENDER
#define WEIR_CFG_REALTIME_SENDER WEIR_DEFAULT_REALTIME_SENDER
#endif
#if WEIR_CFG_REALTIME_SENDER < 0 || WEIR_CFG_REALTIME_SENDER > 1
#error "WEIR_CFG_REALTIME_SENDER must be 0 to 1: WEIR_OPTION_SEND_DEADLINE_US: frames bundled, sent again before their\
 deadline, a low timeout"
#endif
// TCP_INFO and its counters
#ifndef WEIR_CFG_TCP_INFO
#define WEIR_CFG_TCP_INFO WEIR_DEFAULT_TCP_INFO
#endif
#if WEIR_CFG_TCP_INFO < 0 || WEIR_CFG_TCP_INFO > 1
#error "WEIR_CFG_TCP_INFO must be 0 to 1: TCP_INFO and its counters"
#endif
// half-open connections of an instance (RFC 4987)
#ifndef WEIR_CFG_TCP_HALF_OPEN
#define WEIR_CFG_TCP_HALF_OPEN WEIR_DEFAULT_TCP_HALF_OPEN
#endif
#if WEIR_CFG_TCP_HALF_OPEN < 1 || WEIR_CFG_TCP_HALF_OPEN > 65536
#error "WEIR_CFG_TCP_HALF_OPEN must be 1 to 65536: half-open connections of an instance (RFC 4987)"
#endif
// connections in TIME-WAIT; when full the oldest is recycled
#ifndef WEIR_CFG_TCP_TIME_WAIT
#define WEIR_CFG_TCP_TIME_WAIT WEIR_DEFAULT_TCP_TIME_WAIT
#endif
#if WEIR_CFG_TCP_TIME_WAIT < 1 || WEIR_CFG_TCP_TIME_WAIT > 4194304
#error "WEIR_CFG_TCP_TIME_WAIT must be 1 to 4194304: connections in TIME-WAIT; when full the oldest is recycled"
#endif
// maximum segment lifetime, ms; TIME-WAIT lasts two (Linux: 30 s)
#ifndef WEIR_CFG_TCP_MSL_MS
#define WEIR_CFG_TCP_MSL_MS WEIR_DEFAULT_TCP_MSL_MS
#endif
#if WEIR_CFG_TCP_MSL_MS < 100 || WEIR_CFG_TCP_MSL_MS > 120000
#error "WEIR_CFG_TCP_MSL_MS must be 100 to 120000: maximum segment lifetime, ms; TIME-WAIT lasts two (Linux: 30 s)"
#endif
// floor of the retransmission timeout, ms, unless the socket has its own (WEIR_OPTION_RTO_MIN_US); Linux 200, RFC
// 6298 1000
#ifndef WEIR_CFG_TCP_RTO_MIN_MS
#define WEIR_CFG_TCP_RTO_MIN_MS WEIR_DEFAULT_TCP_RTO_MIN_MS
#endif
#if WEIR_CFG_TCP_RTO_MIN_MS < 10 || WEIR_CFG_TCP_RTO_MIN_MS > 3000
#error "WEIR_CFG_TCP_RTO_MIN_MS must be 10 to 3000: floor of the retransmission timeout, ms, unless the socket has its\
 own (WEIR_OPTION_RTO_MIN_US); Linux 200, RFC 6298 1000"
#endif
// ceiling of the retransmission timeout, ms (RFC 6298 2.5: at least 60 s)
#ifndef WEIR_CFG_TCP_RTO_MAX_MS
#define WEIR_CFG_TCP_RTO_MAX_MS WEIR_DEFAULT_TCP_RTO_MAX_MS
#endif
#if WEIR_CFG_TCP_RTO_MAX_MS < 1000 || WEIR_CFG_TCP_RTO_MAX_MS > 240000
#error "WEIR_CFG_TCP_RTO_MAX_MS must be 1000 to 240000: ceiling of the retransmission timeout, ms (RFC 6298 2.5: at\
 least 60 s)"
#endif
// compact stack only: datagram sockets that hold one datagram, which is taken and answered
#ifndef WEIR_CFG_COMPACT_UDP
#define WEIR_CFG_COMPACT_UDP WEIR_DEFAULT_COMPACT_UDP
#endif
#if WEIR_CFG_COMPACT_UDP < 0 || WEIR_CFG_COMPACT_UDP > 1
#error "WEIR_CFG_COMPACT_UDP must be 0 to 1: compact stack only: datagram sockets that hold one datagram, which is\
 taken and answered"
#endif
// compact stack over IPv6 only: weir_netif_set_address gives an address by hand, of the link, or in place of one out
// of a router's prefix
#ifndef WEIR_CFG_COMPACT_ADDRESS
#define WEIR_CFG_COMPACT_ADDRESS WEIR_DEFAULT_COMPACT_ADDRESS
#endif
#if WEIR_CFG_COMPACT_ADDRESS < 0 || WEIR_CFG_COMPACT_ADDRESS > 1
#error "WEIR_CFG_COMPACT_ADDRESS must be 0 to 1: compact stack over IPv6 only: weir_netif_set_address gives an address\
 by hand, of the link, or in place of one out of a router's prefix"
#endif
// compact stack over IPv6 only: groups are reported by version 1 of MLD while a querier of that version is there
#ifndef WEIR_CFG_COMPACT_MLD1
#define WEIR_CFG_COMPACT_MLD1 WEIR_DEFAULT_COMPACT_MLD1
#endif
#if WEIR_CFG_COMPACT_MLD1 < 0 || WEIR_CFG_COMPACT_MLD1 > 1
#error "WEIR_CFG_COMPACT_MLD1 must be 0 to 1: compact stack over IPv6 only: groups are reported by version 1 of MLD\
 while a querier of that version is there"
#endif
// compact stack only: what is queued at once leaves in two segments and Nagle's algorithm is off, so that a peer
// that delays its acknowledgements answers at once (Romantiki; uIP's split)
#ifndef WEIR_CFG_TCP_SPLIT
#define WEIR_CFG_TCP_SPLIT WEIR_DEFAULT_TCP_SPLIT
#endif
#if WEIR_CFG_TCP_SPLIT < 0 || WEIR_CFG_TCP_SPLIT > 1
#error "WEIR_CFG_TCP_SPLIT must be 0 to 1: compact stack only: what is queued at once leaves in two segments and\
 Nagle's algorithm is off, so that a peer that delays its acknowledgements answers at once (Romantiki; uIP's split)"
#endif
// delayed acknowledgement, ms (RFC 9293 3.8.6.3: below 500)
#ifndef WEIR_CFG_TCP_DELAYED_ACK_MS
#define WEIR_CFG_TCP_DELAYED_ACK_MS WEIR_DEFAULT_TCP_DELAYED_ACK_MS
#endif
#if WEIR_CFG_TCP_DELAYED_ACK_MS < 0 || WEIR_CFG_TCP_DELAYED_ACK_MS > 500
#error "WEIR_CFG_TCP_DELAYED_ACK_MS must be 0 to 500: delayed acknowledgement, ms (RFC 9293 3.8.6.3: below 500)"
#endif
// unacknowledged data may stay so long before the connection is given up, s (RFC 9293 3.8.3: R2 at least 100 s)
#ifndef WEIR_CFG_TCP_USER_TIMEOUT_S
#define WEIR_CFG_TCP_USER_TIMEOUT_S WEIR_DEFAULT_TCP_USER_TIMEOUT_S
#endif
#if WEIR_CFG_TCP_USER_TIMEOUT_S < 10 || WEIR_CFG_TCP_USER_TIMEOUT_S > 32767
#error "WEIR_CFG_TCP_USER_TIMEOUT_S must be 10 to 32767: unacknowledged data may stay so long before the connection is\
 given up, s (RFC 9293 3.8.3: R2 at least 100 s)"
#endif
// a user timeout told by the peer counts as no less, s (RFC 5482 3.1: 100 s, as RFC 1122 has it for R2)
#ifndef WEIR_CFG_TCP_UTO_LEAST_S
#define WEIR_CFG_TCP_UTO_LEAST_S WEIR_DEFAULT_TCP_UTO_LEAST_S
#endif
#if WEIR_CFG_TCP_UTO_LEAST_S < 1 || WEIR_CFG_TCP_UTO_LEAST_S > 32767
#error "WEIR_CFG_TCP_UTO_LEAST_S must be 1 to 32767: a user timeout told by the peer counts as no less, s (RFC 5482\
 3.1: 100 s, as RFC 1122 has it for R2)"
#endif
// a user timeout told by the peer counts as no more, s (RFC 5482 6: what a stranger may have us keep)
#ifndef WEIR_CFG_TCP_UTO_MOST_S
#define WEIR_CFG_TCP_UTO_MOST_S WEIR_DEFAULT_TCP_UTO_MOST_S
#endif
#if WEIR_CFG_TCP_UTO_MOST_S < 100 || WEIR_CFG_TCP_UTO_MOST_S > 32767
#error "WEIR_CFG_TCP_UTO_MOST_S must be 100 to 32767: a user timeout told by the peer counts as no more, s (RFC 5482\
 6: what a stranger may have us keep)"
#endif
// a closed socket waits so long for the peer's FIN, s
#ifndef WEIR_CFG_TCP_FIN_WAIT_2_S
#define WEIR_CFG_TCP_FIN_WAIT_2_S WEIR_DEFAULT_TCP_FIN_WAIT_2_S
#endif
#if WEIR_CFG_TCP_FIN_WAIT_2_S < 1 || WEIR_CFG_TCP_FIN_WAIT_2_S > 32767
#error "WEIR_CFG_TCP_FIN_WAIT_2_S must be 1 to 32767: a closed socket waits so long for the peer's FIN, s"
#endif
// default send queue
#ifndef WEIR_CFG_TCP_SEND_BYTES
#define WEIR_CFG_TCP_SEND_BYTES WEIR_DEFAULT_TCP_SEND_BYTES
#endif
#if WEIR_CFG_TCP_SEND_BYTES < 536 || WEIR_CFG_TCP_SEND_BYTES > 1073741824
#error "WEIR_CFG_TCP_SEND_BYTES must be 536 to 1073741824: default send queue"
#endif
// default receive queue
#ifndef WEIR_CFG_TCP_RECEIVE_BYTES
#define WEIR_CFG_TCP_RECEIVE_BYTES WEIR_DEFAULT_TCP_RECEIVE_BYTES
#endif
#if WEIR_CFG_TCP_RECEIVE_BYTES < 536 || WEIR_CFG_TCP_RECEIVE_BYTES > 1073741824
#error "WEIR_CFG_TCP_RECEIVE_BYTES must be 536 to 1073741824: default receive queue"
#endif
// largest MSS we announce
#ifndef WEIR_CFG_TCP_MSS_MAX
#define WEIR_CFG_TCP_MSS_MAX WEIR_DEFAULT_TCP_MSS_MAX
#endif
#if WEIR_CFG_TCP_MSS_MAX < 216 || WEIR_CFG_TCP_MSS_MAX > 65495
#error "WEIR_CFG_TCP_MSS_MAX must be 216 to 65495: largest MSS we announce"
#endif
// largest backlog of a listener
#ifndef WEIR_CFG_LISTEN_BACKLOG_MAX
#define WEIR_CFG_LISTEN_BACKLOG_MAX WEIR_DEFAULT_LISTEN_BACKLOG_MAX
#endif
#if WEIR_CFG_LISTEN_BACKLOG_MAX < 1 || WEIR_CFG_LISTEN_BACKLOG_MAX > 65535
#error "WEIR_CFG_LISTEN_BACKLOG_MAX must be 1 to 65535: largest backlog of a listener"
#endif
// a mark costs less of the window than a loss (RFC 8511): it comes from a queue that is kept short
#ifndef WEIR_CFG_CC_ABE
#define WEIR_CFG_CC_ABE WEIR_DEFAULT_CC_ABE
#endif
#if WEIR_CFG_CC_ABE < 0 || WEIR_CFG_CC_ABE > 1
#error "WEIR_CFG_CC_ABE must be 0 to 1: a mark costs less of the window than a loss (RFC 8511): it comes from a queue\
 that is kept short"
#endif
// CUBIC (RFC 9438), the default where built; otherwise Reno
#ifndef WEIR_CFG_CC_CUBIC
#define WEIR_CFG_CC_CUBIC WEIR_DEFAULT_CC_CUBIC
#endif
#if WEIR_CFG_CC_CUBIC < 0 || WEIR_CFG_CC_CUBIC > 1
#error "WEIR_CFG_CC_CUBIC must be 0 to 1: CUBIC (RFC 9438), the default where built; otherwise Reno"
#endif
// Reno (RFC 5681), the default where CUBIC is not built; 0: for builds that have another
#ifndef WEIR_CFG_CC_RENO
#define WEIR_CFG_CC_RENO WEIR_DEFAULT_CC_RENO
#endif
#if WEIR_CFG_CC_RENO < 0 || WEIR_CFG_CC_RENO > 1
#error "WEIR_CFG_CC_RENO must be 0 to 1: Reno (RFC 5681), the default where CUBIC is not built; 0: for builds that\
 have another"
#endif
// congestion control bic: BIC (Xu, Harfoush and Rhee 2004)
#ifndef WEIR_CFG_CC_BIC
#define WEIR_CFG_CC_BIC WEIR_DEFAULT_CC_BIC
#endif
#if WEIR_CFG_CC_BIC < 0 || WEIR_CFG_CC_BIC > 1
#error "WEIR_CFG_CC_BIC must be 0 to 1: congestion control bic: BIC (Xu, Harfoush and Rhee 2004)"
#endif
// congestion control htcp: H-TCP (Leith and Shorten 2004)
#ifndef WEIR_CFG_CC_HTCP
#define WEIR_CFG_CC_HTCP WEIR_DEFAULT_CC_HTCP
#endif
#if WEIR_CFG_CC_HTCP < 0 || WEIR_CFG_CC_HTCP > 1
#error "WEIR_CFG_CC_HTCP must be 0 to 1: congestion control htcp: H-TCP (Leith and Shorten 2004)"
#endif
// congestion control vegas: Vegas (Brakmo and Peterson 1995)
#ifndef WEIR_CFG_CC_VEGAS
#define WEIR_CFG_CC_VEGAS WEIR_DEFAULT_CC_VEGAS
#endif
#if WEIR_CFG_CC_VEGAS < 0 || WEIR_CFG_CC_VEGAS > 1
#error "WEIR_CFG_CC_VEGAS must be 0 to 1: congestion control vegas: Vegas (Brakmo and Peterson 1995)"
#endif
// congestion control westwood: Westwood+ (Mascolo and others 2004)
#ifndef WEIR_CFG_CC_WESTWOOD
#define WEIR_CFG_CC_WESTWOOD WEIR_DEFAULT_CC_WESTWOOD
#endif
#if WEIR_CFG_CC_WESTWOOD < 0 || WEIR_CFG_CC_WESTWOOD > 1
#error "WEIR_CFG_CC_WESTWOOD must be 0 to 1: congestion control westwood: Westwood+ (Mascolo and others 2004)"
#endif
// congestion control yeah: YeAH (Baiocchi, Castellani and Vacirca 2007)
#ifndef WEIR_CFG_CC_YEAH
#define WEIR_CFG_CC_YEAH WEIR_DEFAULT_CC_YEAH
#endif
#if WEIR_CFG_CC_YEAH < 0 || WEIR_CFG_CC_YEAH > 1
#error "WEIR_CFG_CC_YEAH must be 0 to 1: congestion control yeah: YeAH (Baiocchi, Castellani and Vacirca 2007)"
#endif
// congestion control bbr: BBR's first model, compensated for loss that is the path's; for paths that lose at random
// or have large queues
#ifndef WEIR_CFG_CC_BBR
#define WEIR_CFG_CC_BBR WEIR_DEFAULT_CC_BBR
#endif
#if WEIR_CFG_CC_BBR < 0 || WEIR_CFG_CC_BBR > 1
#error "WEIR_CFG_CC_BBR must be 0 to 1: congestion control bbr: BBR's first model, compensated for loss that is the\
 path's; for paths that lose at random or have large queues"
#endif
// congestion control bbr3: BBR's third model (draft-ietf-ccwg-bbr); leaves more to others and loses less than bbr,
// but yields to random loss beyond 2 %
#ifndef WEIR_CFG_CC_BBR3
#define WEIR_CFG_CC_BBR3 WEIR_DEFAULT_CC_BBR3
#endif
#if WEIR_CFG_CC_BBR3 < 0 || WEIR_CFG_CC_BBR3 > 1
#error "WEIR_CFG_CC_BBR3 must be 0 to 1: congestion control bbr3: BBR's third model (draft-ietf-ccwg-bbr); leaves more\
 to others and loses less than bbr, but yields to random loss beyond 2 %"
#endif
// congestion controls that a program may register at run time (weir_cc_register), each with at most 64 bytes of
// state, or what the largest that is built in has
#ifndef WEIR_CFG_CC_REGISTERED
#define WEIR_CFG_CC_REGISTERED WEIR_DEFAULT_CC_REGISTERED
#endif
#if WEIR_CFG_CC_REGISTERED < 0 || WEIR_CFG_CC_REGISTERED > 6
#error "WEIR_CFG_CC_REGISTERED must be 0 to 6: congestion controls that a program may register at run time\
 (weir_cc_register), each with at most 64 bytes of state, or what the largest that is built in has"
#endif
// BSD sockets copy without the lock where a port has copy_in and copy_out, or much is to be copied; 0: a stream's
// bytes are moved by the socket itself, under the lock
#ifndef WEIR_CFG_BSD_FAULTS
#define WEIR_CFG_BSD_FAULTS WEIR_DEFAULT_BSD_FAULTS
#endif
#if WEIR_CFG_BSD_FAULTS < 0 || WEIR_CFG_BSD_FAULTS > 1
#error "WEIR_CFG_BSD_FAULTS must be 0 to 1: BSD sockets copy without the lock where a port has copy_in and copy_out,\
 or much is to be copied; 0: a stream's bytes are moved by the socket itself, under the lock"
#endif
// poll, select and epoll over BSD sockets; 0: a program that calls them does not link
#ifndef WEIR_CFG_BSD_POLL
#define WEIR_CFG_BSD_POLL WEIR_DEFAULT_BSD_POLL
#endif
#if WEIR_CFG_BSD_POLL < 0 || WEIR_CFG_BSD_POLL > 1
#error "WEIR_CFG_BSD_POLL must be 0 to 1: poll, select and epoll over BSD sockets; 0: a program that calls them does\
 not link"
#endif
// something may lie between a descriptor and its stream: TLS by socket options (docs/tls.md)
#ifndef WEIR_CFG_BSD_LAYERS
#define WEIR_CFG_BSD_LAYERS WEIR_DEFAULT_BSD_LAYERS
#endif
#if WEIR_CFG_BSD_LAYERS < 0 || WEIR_CFG_BSD_LAYERS > 1
#error "WEIR_CFG_BSD_LAYERS must be 0 to 1: something may lie between a descriptor and its stream: TLS by socket\
 options (docs/tls.md)"
#endif
// sockets of all kinds at once
#ifndef WEIR_CFG_SOCKETS
#define WEIR_CFG_SOCKETS WEIR_DEFAULT_SOCKETS
#endif
#if WEIR_CFG_SOCKETS < 1 || WEIR_CFG_SOCKETS > 1048575
#error "WEIR_CFG_SOCKETS must be 1 to 1048575: sockets of all kinds at once"
#endif
// listeners at once in static builds; in compact builds WEIR_CFG_SOCKETS counts them too
#ifndef WEIR_CFG_LISTENERS
#define WEIR_CFG_LISTENERS WEIR_DEFAULT_LISTENERS
#endif
#if WEIR_CFG_LISTENERS < 0 || WEIR_CFG_LISTENERS > 65535
#error "WEIR_CFG_LISTENERS must be 0 to 65535: listeners at once in static builds; in compact builds WEIR_CFG_SOCKETS\
 counts them too"
#endif
// TCP connections at once in static builds, one for a moment while a socket becomes a listener; 0: as many as
// sockets
#ifndef WEIR_CFG_TCP_CONNECTIONS
#define WEIR_CFG_TCP_CONNECTIONS WEIR_DEFAULT_TCP_CONNECTIONS
#endif
#if WEIR_CFG_TCP_CONNECTIONS < 0 || WEIR_CFG_TCP_CONNECTIONS > 65535
#error "WEIR_CFG_TCP_CONNECTIONS must be 0 to 65535: TCP connections at once in static builds, one for a moment while\
 a socket becomes a listener; 0: as many as sockets"
#endif
// bits of a handle that name the slot; the rest, up to 31, is its generation
#ifndef WEIR_CFG_SOCKET_INDEX_BITS
#define WEIR_CFG_SOCKET_INDEX_BITS WEIR_DEFAULT_SOCKET_INDEX_BITS
#endif
#if WEIR_CFG_SOCKET_INDEX_BITS < 4 || WEIR_CFG_SOCKET_INDEX_BITS > 24
#error "WEIR_CFG_SOCKET_INDEX_BITS must be 4 to 24: bits of a handle that name the slot; the rest, up to 31, is its\
 generation"
#endif
// socket options can be set and read (weir_socket_set, weir_socket_get and their kin)
#ifndef WEIR_CFG_SOCKET_OPTIONS
#define WEIR_CFG_SOCKET_OPTIONS WEIR_DEFAULT_SOCKET_OPTIONS
#endif
#if WEIR_CFG_SOCKET_OPTIONS < 0 || WEIR_CFG_SOCKET_OPTIONS > 1
#error "WEIR_CFG_SOCKET_OPTIONS must be 0 to 1: socket options can be set and read (weir_socket_set, weir_socket_get\
 and their kin)"
#endif
// walking all sockets (weir_socket_next) and names of states
#ifndef WEIR_CFG_STATS
#define WEIR_CFG_STATS WEIR_DEFAULT_STATS
#endif
#if WEIR_CFG_STATS < 0 || WEIR_CFG_STATS > 1
#error "WEIR_CFG_STATS must be 0 to 1: walking all sockets (weir_socket_next) and names of states"
#endif
// datagram sockets at once in static builds (allocator builds: only WEIR_CFG_SOCKETS limits them)
#ifndef WEIR_CFG_DATAGRAM_SOCKETS
#define WEIR_CFG_DATAGRAM_SOCKETS WEIR_DEFAULT_DATAGRAM_SOCKETS
#endif
#if WEIR_CFG_DATAGRAM_SOCKETS < 0 || WEIR_CFG_DATAGRAM_SOCKETS > 65535
#error "WEIR_CFG_DATAGRAM_SOCKETS must be 0 to 65535: datagram sockets at once in static builds (allocator builds:\
 only WEIR_CFG_SOCKETS limits them)"
#endif
// default send queue of a datagram socket
#ifndef WEIR_CFG_DATAGRAM_SEND_BYTES
#define WEIR_CFG_DATAGRAM_SEND_BYTES WEIR_DEFAULT_DATAGRAM_SEND_BYTES
#endif
#if WEIR_CFG_DATAGRAM_SEND_BYTES < 0 || WEIR_CFG_DATAGRAM_SEND_BYTES > 16777216
#error "WEIR_CFG_DATAGRAM_SEND_BYTES must be 0 to 16777216: default send queue of a datagram socket"
#endif
// default receive queue of a datagram socket
#ifndef WEIR_CFG_DATAGRAM_RECEIVE_BYTES
#define WEIR_CFG_DATAGRAM_RECEIVE_BYTES WEIR_DEFAULT_DATAGRAM_RECEIVE_BYTES
#endif
#if WEIR_CFG_DATAGRAM_RECEIVE_BYTES < 0 || WEIR_CFG_DATAGRAM_RECEIVE_BYTES > 16777216
#error "WEIR_CFG_DATAGRAM_RECEIVE_BYTES must be 0 to 16777216: default receive queue of a datagram socket"
#endif
// unit by which stream queues grow in allocator builds
#ifndef WEIR_CFG_QUEUE_CHUNK_BYTES
#define WEIR_CFG_QUEUE_CHUNK_BYTES WEIR_DEFAULT_QUEUE_CHUNK_BYTES
#endif
#if WEIR_CFG_QUEUE_CHUNK_BYTES < 0 || WEIR_CFG_QUEUE_CHUNK_BYTES > 1048576
#error "WEIR_CFG_QUEUE_CHUNK_BYTES must be 0 to 1048576: unit by which stream queues grow in allocator builds"
#endif
// frames a socket may send before the next one's turn
#ifndef WEIR_CFG_POLL_QUANTUM
#define WEIR_CFG_POLL_QUANTUM WEIR_DEFAULT_POLL_QUANTUM
#endif
#if WEIR_CFG_POLL_QUANTUM < 1 || WEIR_CFG_POLL_QUANTUM > 1024
#error "WEIR_CFG_POLL_QUANTUM must be 1 to 1024: frames a socket may send before the next one's turn"
#endif
// devices that compute checksums or cut large segments (WEIR_NETIF_TX_CHECKSUM, WEIR_NETIF_TSO4, WEIR_NETIF_USO4)
// are asked to; 0: nothing is left to them
#ifndef WEIR_CFG_TX_OFFLOAD
#define WEIR_CFG_TX_OFFLOAD WEIR_DEFAULT_TX_OFFLOAD
#endif
#if WEIR_CFG_TX_OFFLOAD < 0 || WEIR_CFG_TX_OFFLOAD > 1
#error "WEIR_CFG_TX_OFFLOAD must be 0 to 1: devices that compute checksums or cut large segments\
 (WEIR_NETIF_TX_CHECKSUM, WEIR_NETIF_TSO4, WEIR_NETIF_USO4) are asked to; 0: nothing is left to them"
#endif
// slices in a transmitted frame, the header included
#ifndef WEIR_CFG_TX_SLICES
#define WEIR_CFG_TX_SLICES WEIR_DEFAULT_TX_SLICES
#endif
#if WEIR_CFG_TX_SLICES < 3 || WEIR_CFG_TX_SLICES > 64
#error "WEIR_CFG_TX_SLICES must be 3 to 64: slices in a transmitted frame, the header included"
#endif
// what happens is counted (weir_counter_get), and what goes through an interface; 0: every counter reads 0
#ifndef WEIR_CFG_COUNTERS
#define WEIR_CFG_COUNTERS WEIR_DEFAULT_COUNTERS
#endif
#if WEIR_CFG_COUNTERS < 0 || WEIR_CFG_COUNTERS > 1
#error "WEIR_CFG_COUNTERS must be 0 to 1: what happens is counted (weir_counter_get), and what goes through an\
 interface; 0: every counter reads 0"
#endif
// names and explanations of the counters
#ifndef WEIR_CFG_COUNTER_NAMES
#define WEIR_CFG_COUNTER_NAMES WEIR_DEFAULT_COUNTER_NAMES
#endif
#if WEIR_CFG_COUNTER_NAMES < 0 || WEIR_CFG_COUNTER_NAMES > 1
#error "WEIR_CFG_COUNTER_NAMES must be 0 to 1: names and explanations of the counters"
#endif
// registered ethertype and protocol handlers, and packet taps
#ifndef WEIR_CFG_HANDLERS
#define WEIR_CFG_HANDLERS WEIR_DEFAULT_HANDLERS
#endif
#if WEIR_CFG_HANDLERS < 0 || WEIR_CFG_HANDLERS > 1
#error "WEIR_CFG_HANDLERS must be 0 to 1: registered ethertype and protocol handlers, and packet taps"
#endif
// the routing table and the neighbour cache can be looked at (weir/tables.h)
#ifndef WEIR_CFG_TABLES
#define WEIR_CFG_TABLES WEIR_DEFAULT_TABLES
#endif
#if WEIR_CFG_TABLES < 0 || WEIR_CFG_TABLES > 1
#error "WEIR_CFG_TABLES must be 0 to 1: the routing table and the neighbour cache can be looked at (weir/tables.h)"
#endif
// what is told to a tracer (weir/trace.h): 1 states, congestion control and timers of connections, 2 their windows
// at each acknowledgement, too, 3 each frame, too
#ifndef WEIR_CFG_TRACE
#define WEIR_CFG_TRACE WEIR_DEFAULT_TRACE
#endif
#if WEIR_CFG_TRACE < 0 || WEIR_CFG_TRACE > 3
#error "WEIR_CFG_TRACE must be 0 to 3: what is told to a tracer (weir/trace.h): 1 states, congestion control and\
 timers of connections, 2 their windows at each acknowledgement, too, 3 each frame, too"
#endif
// ports/micro: calls a second that a client of the server process may make; who makes more waits for its replies; 0:
// any number
#ifndef WEIR_CFG_MICRO_CALLS
#define WEIR_CFG_MICRO_CALLS WEIR_DEFAULT_MICRO_CALLS
#endif
#if WEIR_CFG_MICRO_CALLS < 0 || WEIR_CFG_MICRO_CALLS > 1000000
#error "WEIR_CFG_MICRO_CALLS must be 0 to 1000000: ports/micro: calls a second that a client of the server process may\
 make; who makes more waits for its replies; 0: any number"
#endif
// ports/micro: KB that the queues of all sockets of a client may come to, divided among them; 0: each has its own
// (static builds)
#ifndef WEIR_CFG_MICRO_MEMORY_KB
#define WEIR_CFG_MICRO_MEMORY_KB WEIR_DEFAULT_MICRO_MEMORY_KB
#endif
#if WEIR_CFG_MICRO_MEMORY_KB < 0 || WEIR_CFG_MICRO_MEMORY_KB > 1048576
#error "WEIR_CFG_MICRO_MEMORY_KB must be 0 to 1048576: ports/micro: KB that the queues of all sockets of a client may\
 come to, divided among them; 0: each has its own (static builds)"
#endif
// ports/micro: a stream that its client closed, or left behind, is reset when the peer has not acknowledged all of
// it so long after, s
#ifndef WEIR_CFG_MICRO_ORPHAN_S
#define WEIR_CFG_MICRO_ORPHAN_S WEIR_DEFAULT_MICRO_ORPHAN_S
#endif
#if WEIR_CFG_MICRO_ORPHAN_S < 1 || WEIR_CFG_MICRO_ORPHAN_S > 32767
#error "WEIR_CFG_MICRO_ORPHAN_S must be 1 to 32767: ports/micro: a stream that its client closed, or left behind, is\
 reset when the peer has not acknowledged all of it so long after, s"
#endif
#if WEIR_CFG_ADDRESSES && !WEIR_CFG_ARP_CACHE && !WEIR_CFG_COMPACT
#error "WEIR_CFG_ADDRESSES needs WEIR_CFG_ARP_CACHE"
#endif
#if !WEIR_CFG_IP4 && !WEIR_CFG_IP6
#error "WEIR_CFG_IP4 and WEIR_CFG_IP6 are both 0: one of them must be built"
#endif
#if WEIR_CFG_IP6 && !WEIR_CFG_ADDRESSES && !WEIR_CFG_COMPACT
#error "WEIR_CFG_IP6 needs WEIR_CFG_ADDRESSES"
#endif
#if WEIR_CFG_IP6 && !WEIR_CFG_ARP_CACHE && !WEIR_CFG_COMPACT
#error "WEIR_CFG_IP6 needs WEIR_CFG_ARP_CACHE"
#endif
#if WEIR_CFG_IP6 && !WEIR_CFG_ICMP_ERRORS && !WEIR_CFG_COMPACT
#error "WEIR_CFG_IP6 needs WEIR_CFG_ICMP_ERRORS"
#endif
#if WEIR_CFG_IP6_TEMPORARY && !WEIR_CFG_IP6 && !WEIR_CFG_COMPACT
#error "WEIR_CFG_IP6_TEMPORARY needs WEIR_CFG_IP6"
#endif
#if WEIR_CFG_IP6_OPTIMISTIC && !WEIR_CFG_IP6 && !WEIR_CFG_COMPACT
#error "WEIR_CFG_IP6_OPTIMISTIC needs WEIR_CFG_IP6"
#endif
#if WEIR_CFG_IP6_MULTIHOMED && !WEIR_CFG_IP6 && !WEIR_CFG_COMPACT
#error "WEIR_CFG_IP6_MULTIHOMED needs WEIR_CFG_IP6"
#endif
#if WEIR_CFG_MULTICAST_SOURCES && !WEIR_CFG_IGMP && !WEIR_CFG_COMPACT
#error "WEIR_CFG_MULTICAST_SOURCES needs WEIR_CFG_IGMP"
#endif
#if WEIR_CFG_MULTICAST_SOURCES && !WEIR_CFG_UDP && !WEIR_CFG_COMPACT
#error "WEIR_CFG_MULTICAST_SOURCES needs WEIR_CFG_UDP"
#endif
#if WEIR_CFG_RAW && !WEIR_CFG_UDP && !WEIR_CFG_COMPACT
#error "WEIR_CFG_RAW needs WEIR_CFG_UDP"
#endif
#if WEIR_CFG_IP_OPTIONS && !WEIR_CFG_IP4 && !WEIR_CFG_COMPACT
#error "WEIR_CFG_IP_OPTIONS needs WEIR_CFG_IP4"
#endif
#if WEIR_CFG_IP_OPTIONS && !WEIR_CFG_UDP && !WEIR_CFG_COMPACT
#error "WEIR_CFG_IP_OPTIONS needs WEIR_CFG_UDP"
#endif
#if WEIR_CFG_DPLPMTUD && !WEIR_CFG_ICMP_ERRORS && !WEIR_CFG_COMPACT
#error "WEIR_CFG_DPLPMTUD needs WEIR_CFG_ICMP_ERRORS"
#endif
#if WEIR_CFG_DPLPMTUD && !WEIR_CFG_UDP && !WEIR_CFG_COMPACT
#error "WEIR_CFG_DPLPMTUD needs WEIR_CFG_UDP"
#endif
#if WEIR_CFG_TCP_DSACK && !WEIR_CFG_TCP_SACK && !WEIR_CFG_COMPACT
#error "WEIR_CFG_TCP_DSACK needs WEIR_CFG_TCP_SACK"
#endif
#if WEIR_CFG_TCP_LOSS_RECOVERY && !WEIR_CFG_TCP_SACK && !WEIR_CFG_COMPACT
#error "WEIR_CFG_TCP_LOSS_RECOVERY needs WEIR_CFG_TCP_SACK"
#endif
#if WEIR_CFG_TCP_COARSE_CLOCK && !WEIR_CFG_TCP_LOSS_RECOVERY && !WEIR_CFG_COMPACT
#error "WEIR_CFG_TCP_COARSE_CLOCK needs WEIR_CFG_TCP_LOSS_RECOVERY"
#endif
#if WEIR_CFG_TCP_PREDICT && !WEIR_CFG_TCP_SACK && !WEIR_CFG_COMPACT
#error "WEIR_CFG_TCP_PREDICT needs WEIR_CFG_TCP_SACK"
#endif
#if WEIR_CFG_FAST_PATH && !WEIR_CFG_TCP_PREDICT && !WEIR_CFG_COMPACT
#error "WEIR_CFG_FAST_PATH needs WEIR_CFG_TCP_PREDICT"
#endif
#if WEIR_CFG_FAST_PATH && !WEIR_CFG_TCP_TIMESTAMPS && !WEIR_CFG_COMPACT
#error "WEIR_CFG_FAST_PATH needs WEIR_CFG_TCP_TIMESTAMPS"
#endif
#if WEIR_CFG_TCP_ACCECN && !WEIR_CFG_TCP_ECN && !WEIR_CFG_COMPACT
#error "WEIR_CFG_TCP_ACCECN needs WEIR_CFG_TCP_ECN"
#endif
#if WEIR_CFG_TCP_BLACK_HOLE && !WEIR_CFG_ICMP_ERRORS && !WEIR_CFG_COMPACT
#error "WEIR_CFG_TCP_BLACK_HOLE needs WEIR_CFG_ICMP_ERRORS"
#endif
#if WEIR_CFG_TCP_RATE && !WEIR_CFG_TCP_SACK && !WEIR_CFG_COMPACT
#error "WEIR_CFG_TCP_RATE needs WEIR_CFG_TCP_SACK"
#endif
#if WEIR_CFG_REALTIME_SENDER && !WEIR_CFG_TCP_SACK && !WEIR_CFG_COMPACT
#error "WEIR_CFG_REALTIME_SENDER needs WEIR_CFG_TCP_SACK"
#endif
#if WEIR_CFG_CC_BBR && !WEIR_CFG_TCP_RATE && !WEIR_CFG_COMPACT
#error "WEIR_CFG_CC_BBR needs WEIR_CFG_TCP_RATE"
#endif
#if WEIR_CFG_CC_BBR && !WEIR_CFG_TCP_PACING && !WEIR_CFG_COMPACT
#error "WEIR_CFG_CC_BBR needs WEIR_CFG_TCP_PACING"
#endif
#if WEIR_CFG_CC_BBR && !WEIR_CFG_TCP_LOSS_RECOVERY && !WEIR_CFG_COMPACT
#error "WEIR_CFG_CC_BBR needs WEIR_CFG_TCP_LOSS_RECOVERY"
#endif
#if WEIR_CFG_CC_BBR3 && !WEIR_CFG_TCP_RATE && !WEIR_CFG_COMPACT
#error "WEIR_CFG_CC_BBR3 needs WEIR_CFG_TCP_RATE"
#endif
#if WEIR_CFG_CC_BBR3 && !WEIR_CFG_TCP_PACING && !WEIR_CFG_COMPACT
#error "WEIR_CFG_CC_BBR3 needs WEIR_CFG_TCP_PACING"
#endif
#if WEIR_CFG_CC_BBR3 && !WEIR_CFG_TCP_LOSS_RECOVERY && !WEIR_CFG_COMPACT
#error "WEIR_CFG_CC_BBR3 needs WEIR_CFG_TCP_LOSS_RECOVERY"
#endif

#endif
