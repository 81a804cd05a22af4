// SPDX-License-Identifier: BSD-2-Clause
// Made by tools/options.py from config/options.toml: change that file, then run `make options`.
// What a configuration comes to, told by any compiler's preprocessor:
//     cc -E -P -Iinclude -DWEIR_PROFILE=small -DWEIR_CONFIG_FILE='"my_config.h"' packaging/sources.h
// prints a line weir_option "NAME" value for each option, weir_source "path" for each file to compile, and for each
// library beside the stack
//     weir_part "name" "folder of includes" "hosted, or nothing" "parts it uses" "libraries of the system"
// and its weir_part_sources and weir_part_headers.
#include "weir/options.h"

#if defined(WEIR_PROFILE_TINY)
weir_profile "tiny"
#elif defined(WEIR_PROFILE_SMALL)
weir_profile "small"
#else
weir_profile "full"
#endif

weir_option "COMPACT" WEIR_CFG_COMPACT
weir_option "NETIF_LEAN" WEIR_CFG_NETIF_LEAN
weir_option "ALLOCATOR" WEIR_CFG_ALLOCATOR
weir_option "MEMORY_BUDGET_MB" WEIR_CFG_MEMORY_BUDGET_MB
weir_option "WIDE_DIVISION" WEIR_CFG_WIDE_DIVISION
weir_option "TIMER_WHEEL" WEIR_CFG_TIMER_WHEEL
weir_option "ERROR_NAMES" WEIR_CFG_ERROR_NAMES
weir_option "VLAN" WEIR_CFG_VLAN
weir_option "ARP_CACHE" WEIR_CFG_ARP_CACHE
weir_option "NEIGHBOURS" WEIR_CFG_NEIGHBOURS
weir_option "NEIGHBOUR_STRANGERS" WEIR_CFG_NEIGHBOUR_STRANGERS
weir_option "NEIGHBOUR_STRANGER_RATE" WEIR_CFG_NEIGHBOUR_STRANGER_RATE
weir_option "NEIGHBOUR_QUEUE_BYTES" WEIR_CFG_NEIGHBOUR_QUEUE_BYTES
weir_option "FRAGMENTS" WEIR_CFG_FRAGMENTS
weir_option "REASSEMBLY_BYTES" WEIR_CFG_REASSEMBLY_BYTES
weir_option "REASSEMBLY_MS" WEIR_CFG_REASSEMBLY_MS
weir_option "ROUTES" WEIR_CFG_ROUTES
weir_option "ADDRESSES" WEIR_CFG_ADDRESSES
weir_option "NETIFS" WEIR_CFG_NETIFS
weir_option "LOOPBACK" WEIR_CFG_LOOPBACK
weir_option "LOOPBACK_BYTES" WEIR_CFG_LOOPBACK_BYTES
weir_option "OUTBOX_BYTES" WEIR_CFG_OUTBOX_BYTES
weir_option "ICMP_ERRORS" WEIR_CFG_ICMP_ERRORS
weir_option "IGMP" WEIR_CFG_IGMP
weir_option "IP4" WEIR_CFG_IP4
weir_option "IP6" WEIR_CFG_IP6
weir_option "IP6_START_DELAY_MS" WEIR_CFG_IP6_START_DELAY_MS
weir_option "IP6_TEMPORARY" WEIR_CFG_IP6_TEMPORARY
weir_option "IP6_OPTIMISTIC" WEIR_CFG_IP6_OPTIMISTIC
weir_option "IP6_MULTIHOMED" WEIR_CFG_IP6_MULTIHOMED
weir_option "MULTICAST_GROUPS" WEIR_CFG_MULTICAST_GROUPS
weir_option "MULTICAST_SOURCES" WEIR_CFG_MULTICAST_SOURCES
weir_option "UDP" WEIR_CFG_UDP
weir_option "RAW" WEIR_CFG_RAW
weir_option "IP_OPTIONS" WEIR_CFG_IP_OPTIONS
weir_option "DPLPMTUD" WEIR_CFG_DPLPMTUD
weir_option "TCP_CONNECT" WEIR_CFG_TCP_CONNECT
weir_option "TCP_WINDOW_SCALE" WEIR_CFG_TCP_WINDOW_SCALE
weir_option "TCP_TIMESTAMPS" WEIR_CFG_TCP_TIMESTAMPS
weir_option "TCP_SACK" WEIR_CFG_TCP_SACK
weir_option "TCP_DSACK" WEIR_CFG_TCP_DSACK
weir_option "TCP_LOSS_RECOVERY" WEIR_CFG_TCP_LOSS_RECOVERY
weir_option "TCP_COARSE_CLOCK" WEIR_CFG_TCP_COARSE_CLOCK
weir_option "TCP_PREDICT" WEIR_CFG_TCP_PREDICT
weir_option "SELF_CHECK" WEIR_CFG_SELF_CHECK
weir_option "FAST_PATH" WEIR_CFG_FAST_PATH
weir_option "FLOWS" WEIR_CFG_FLOWS
weir_option "TCP_HELD" WEIR_CFG_TCP_HELD
weir_option "TCP_INTERVALS" WEIR_CFG_TCP_INTERVALS
weir_option "TCP_FLIGHT_RECORDS" WEIR_CFG_TCP_FLIGHT_RECORDS
weir_option "TCP_ECN" WEIR_CFG_TCP_ECN
weir_option "TCP_ECN_MODE" WEIR_CFG_TCP_ECN_MODE
weir_option "TCP_ACCECN" WEIR_CFG_TCP_ACCECN
weir_option "TCP_URGENT" WEIR_CFG_TCP_URGENT
weir_option "REALTIME" WEIR_CFG_REALTIME
weir_option "TCP_KEEPALIVE" WEIR_CFG_TCP_KEEPALIVE
weir_option "TCP_REFINEMENTS" WEIR_CFG_TCP_REFINEMENTS
weir_option "TCP_BLACK_HOLE" WEIR_CFG_TCP_BLACK_HOLE
weir_option "TCP_SYN_COOKIES" WEIR_CFG_TCP_SYN_COOKIES
weir_option "TCP_RATE" WEIR_CFG_TCP_RATE
weir_option "TCP_PACING" WEIR_CFG_TCP_PACING
weir_option "REALTIME_SENDER" WEIR_CFG_REALTIME_SENDER
weir_option "TCP_INFO" WEIR_CFG_TCP_INFO
weir_option "TCP_HALF_OPEN" WEIR_CFG_TCP_HALF_OPEN
weir_option "TCP_TIME_WAIT" WEIR_CFG_TCP_TIME_WAIT
weir_option "TCP_MSL_MS" WEIR_CFG_TCP_MSL_MS
weir_option "TCP_RTO_MIN_MS" WEIR_CFG_TCP_RTO_MIN_MS
weir_option "TCP_RTO_MAX_MS" WEIR_CFG_TCP_RTO_MAX_MS
weir_option "COMPACT_UDP" WEIR_CFG_COMPACT_UDP
weir_option "COMPACT_ADDRESS" WEIR_CFG_COMPACT_ADDRESS
weir_option "COMPACT_MLD1" WEIR_CFG_COMPACT_MLD1
weir_option "TCP_SPLIT" WEIR_CFG_TCP_SPLIT
weir_option "TCP_DELAYED_ACK_MS" WEIR_CFG_TCP_DELAYED_ACK_MS
weir_option "TCP_USER_TIMEOUT_S" WEIR_CFG_TCP_USER_TIMEOUT_S
weir_option "TCP_UTO_LEAST_S" WEIR_CFG_TCP_UTO_LEAST_S
weir_option "TCP_UTO_MOST_S" WEIR_CFG_TCP_UTO_MOST_S
weir_option "TCP_FIN_WAIT_2_S" WEIR_CFG_TCP_FIN_WAIT_2_S
weir_option "TCP_SEND_BYTES" WEIR_CFG_TCP_SEND_BYTES
weir_option "TCP_RECEIVE_BYTES" WEIR_CFG_TCP_RECEIVE_BYTES
weir_option "TCP_MSS_MAX" WEIR_CFG_TCP_MSS_MAX
weir_option "LISTEN_BACKLOG_MAX" WEIR_CFG_LISTEN_BACKLOG_MAX
weir_option "CC_ABE" WEIR_CFG_CC_ABE
weir_option "CC_CUBIC" WEIR_CFG_CC_CUBIC
weir_option "CC_RENO" WEIR_CFG_CC_RENO
weir_option "CC_BIC" WEIR_CFG_CC_BIC
weir_option "CC_HTCP" WEIR_CFG_CC_HTCP
weir_option "CC_VEGAS" WEIR_CFG_CC_VEGAS
weir_option "CC_WESTWOOD" WEIR_CFG_CC_WESTWOOD
weir_option "CC_YEAH" WEIR_CFG_CC_YEAH
weir_option "CC_BBR" WEIR_CFG_CC_BBR
weir_option "CC_BBR3" WEIR_CFG_CC_BBR3
weir_option "CC_REGISTERED" WEIR_CFG_CC_REGISTERED
weir_option "BSD_FAULTS" WEIR_CFG_BSD_FAULTS
weir_option "BSD_POLL" WEIR_CFG_BSD_POLL
weir_option "BSD_LAYERS" WEIR_CFG_BSD_LAYERS
weir_option "SOCKETS" WEIR_CFG_SOCKETS
weir_option "LISTENERS" WEIR_CFG_LISTENERS
weir_option "TCP_CONNECTIONS" WEIR_CFG_TCP_CONNECTIONS
weir_option "SOCKET_INDEX_BITS" WEIR_CFG_SOCKET_INDEX_BITS
weir_option "SOCKET_OPTIONS" WEIR_CFG_SOCKET_OPTIONS
weir_option "STATS" WEIR_CFG_STATS
weir_option "DATAGRAM_SOCKETS" WEIR_CFG_DATAGRAM_SOCKETS
weir_option "DATAGRAM_SEND_BYTES" WEIR_CFG_DATAGRAM_SEND_BYTES
weir_option "DATAGRAM_RECEIVE_BYTES" WEIR_CFG_DATAGRAM_RECEIVE_BYTES
weir_option "QUEUE_CHUNK_BYTES" WEIR_CFG_QUEUE_CHUNK_BYTES
weir_option "POLL_QUANTUM" WEIR_CFG_POLL_QUANTUM
weir_option "TX_OFFLOAD" WEIR_CFG_TX_OFFLOAD
weir_option "TX_SLICES" WEIR_CFG_TX_SLICES
weir_option "COUNTERS" WEIR_CFG_COUNTERS
weir_option "COUNTER_NAMES" WEIR_CFG_COUNTER_NAMES
weir_option "HANDLERS" WEIR_CFG_HANDLERS
weir_option "TABLES" WEIR_CFG_TABLES
weir_option "TRACE" WEIR_CFG_TRACE
weir_option "MICRO_CALLS" WEIR_CFG_MICRO_CALLS
weir_option "MICRO_MEMORY_KB" WEIR_CFG_MICRO_MEMORY_KB
weir_option "MICRO_ORPHAN_S" WEIR_CFG_MICRO_ORPHAN_S

#if WEIR_CFG_IP6
weir_source "src/base/addr6.c"
weir_source "src/base/addr_text.c"
#endif
weir_source "src/base/checksum.c"
#if WEIR_CFG_FAST_PATH && !WEIR_CFG_COMPACT
weir_source "src/base/checksum_small.c"
#endif
#if !WEIR_CFG_COMPACT && !WEIR_CFG_WIDE_DIVISION
weir_source "src/base/divide.c"
#endif
weir_source "src/base/error.c"
#if WEIR_CFG_IP6
weir_source "src/base/inet6.c"
#endif
#if !WEIR_CFG_COMPACT
weir_source "src/base/intervals.c"
weir_source "src/base/memory.c"
weir_source "src/base/packet.c"
weir_source "src/base/random.c"
weir_source "src/base/records.c"
weir_source "src/base/sock.c"
#endif
#if WEIR_CFG_ALLOCATOR
weir_source "src/base/stream_ahead.c"
weir_source "src/base/stream_chunk.c"
#endif
#if !WEIR_CFG_COMPACT && !WEIR_CFG_ALLOCATOR
weir_source "src/base/stream_flat.c"
#endif
#if WEIR_CFG_ALLOCATOR
weir_source "src/base/table.c"
#endif
weir_source "src/base/version.c"
#if WEIR_CFG_TIMER_WHEEL
weir_source "src/base/wheel.c"
#endif
#if !WEIR_CFG_COMPACT && !WEIR_CFG_TIMER_WHEEL
weir_source "src/base/wheel_list.c"
#endif
#if WEIR_CFG_CC_BBR && !WEIR_CFG_COMPACT
weir_source "src/cc/bbr.c"
#endif
#if WEIR_CFG_CC_BBR3 && !WEIR_CFG_COMPACT
weir_source "src/cc/bbr3.c"
weir_source "src/cc/bbr3_bounds.c"
weir_source "src/cc/bbr3_cycle.c"
#endif
#if WEIR_CFG_CC_BBR && !WEIR_CFG_COMPACT
weir_source "src/cc/bbr_loss.c"
weir_source "src/cc/bbr_modes.c"
#endif
#if (WEIR_CFG_CC_BBR || WEIR_CFG_CC_BBR3) && !WEIR_CFG_COMPACT
weir_source "src/cc/bbr_path.c"
#endif
#if WEIR_CFG_CC_BIC && !WEIR_CFG_COMPACT
weir_source "src/cc/bic.c"
#endif
#if !WEIR_CFG_COMPACT
weir_source "src/cc/common.c"
#endif
#if WEIR_CFG_CC_CUBIC && !WEIR_CFG_COMPACT
weir_source "src/cc/cubic.c"
#endif
#if WEIR_CFG_CC_HTCP && !WEIR_CFG_COMPACT
weir_source "src/cc/htcp.c"
#endif
#if !WEIR_CFG_COMPACT
weir_source "src/cc/list.c"
#endif
#if WEIR_CFG_CC_RENO && !WEIR_CFG_COMPACT
weir_source "src/cc/reno.c"
#endif
#if WEIR_CFG_CC_VEGAS && !WEIR_CFG_COMPACT
weir_source "src/cc/vegas.c"
#endif
#if WEIR_CFG_CC_WESTWOOD && !WEIR_CFG_COMPACT
weir_source "src/cc/westwood.c"
#endif
#if WEIR_CFG_CC_YEAH && !WEIR_CFG_COMPACT
weir_source "src/cc/yeah.c"
#endif
#if WEIR_CFG_COMPACT && WEIR_CFG_COMPACT_ADDRESS
weir_source "src/compact/address.c"
#endif
#if WEIR_CFG_COMPACT
weir_source "src/compact/conn.c"
weir_source "src/compact/entry.c"
weir_source "src/compact/frame.c"
weir_source "src/compact/input.c"
weir_source "src/compact/instance.c"
#endif
#if WEIR_CFG_COMPACT && WEIR_CFG_IP4
weir_source "src/compact/ip4.c"
#endif
#if WEIR_CFG_COMPACT && !WEIR_CFG_IP4
weir_source "src/compact/ip6.c"
#endif
#if WEIR_CFG_COMPACT && WEIR_CFG_COMPACT_MLD1
weir_source "src/compact/mld1.c"
#endif
#if WEIR_CFG_COMPACT && !WEIR_CFG_IP4
weir_source "src/compact/nd.c"
#endif
#if WEIR_CFG_COMPACT
weir_source "src/compact/netif.c"
weir_source "src/compact/output.c"
#endif
#if WEIR_CFG_COMPACT && WEIR_CFG_FAST_PATH
weir_source "src/compact/predict.c"
#endif
#if WEIR_CFG_COMPACT
weir_source "src/compact/socket.c"
#endif
#if WEIR_CFG_COMPACT && WEIR_CFG_COMPACT_UDP
weir_source "src/compact/udp.c"
#endif
#if !WEIR_CFG_COMPACT
weir_source "src/instance.c"
#endif
#if WEIR_CFG_IP6 && !WEIR_CFG_COMPACT
weir_source "src/ip/destinations.c"
#endif
#if WEIR_CFG_IP4 && WEIR_CFG_IP6 && !WEIR_CFG_COMPACT
weir_source "src/ip/families.c"
#endif
#if WEIR_CFG_FAST_PATH && !WEIR_CFG_COMPACT
weir_source "src/ip/flow.c"
#endif
#if WEIR_CFG_FRAGMENTS && !WEIR_CFG_COMPACT
weir_source "src/ip/fragment.c"
#endif
#if (WEIR_CFG_IGMP || WEIR_CFG_IP6) && !WEIR_CFG_COMPACT
weir_source "src/ip/group.c"
#endif
#if WEIR_CFG_IP4 && !WEIR_CFG_COMPACT
weir_source "src/ip/icmp.c"
#endif
#if WEIR_CFG_IP6 && !WEIR_CFG_COMPACT
weir_source "src/ip/icmp6.c"
weir_source "src/ip/icmp6_error.c"
#endif
#if WEIR_CFG_ICMP_ERRORS && WEIR_CFG_IP4 && !WEIR_CFG_COMPACT
weir_source "src/ip/icmp_error.c"
#endif
#if WEIR_CFG_ICMP_ERRORS && !WEIR_CFG_COMPACT
weir_source "src/ip/icmp_limit.c"
#endif
#if WEIR_CFG_IGMP && WEIR_CFG_IP4 && !WEIR_CFG_COMPACT
weir_source "src/ip/igmp.c"
#endif
#if !WEIR_CFG_COMPACT
weir_source "src/ip/ip.c"
#endif
#if WEIR_CFG_IP4 && !WEIR_CFG_COMPACT
weir_source "src/ip/ip4.c"
#endif
#if WEIR_CFG_IP6 && !WEIR_CFG_COMPACT
weir_source "src/ip/ip6.c"
weir_source "src/ip/mld.c"
#endif
#if WEIR_CFG_IP6_MULTIHOMED && !WEIR_CFG_COMPACT
weir_source "src/ip/multihome.c"
#endif
#if WEIR_CFG_IP6 && !WEIR_CFG_COMPACT
weir_source "src/ip/names.c"
weir_source "src/ip/nd.c"
#endif
#if WEIR_CFG_IP_OPTIONS && !WEIR_CFG_COMPACT
weir_source "src/ip/options.c"
#endif
#if !WEIR_CFG_COMPACT
weir_source "src/ip/outbox.c"
#endif
#if WEIR_CFG_ICMP_ERRORS && !WEIR_CFG_COMPACT
weir_source "src/ip/pmtu.c"
#endif
#if !WEIR_CFG_COMPACT
weir_source "src/ip/route.c"
#endif
#if WEIR_CFG_IP6 && !WEIR_CFG_COMPACT
weir_source "src/ip/router.c"
weir_source "src/ip/slaac.c"
#endif
#if WEIR_CFG_MULTICAST_SOURCES && !WEIR_CFG_COMPACT
weir_source "src/ip/sources.c"
#endif
#if WEIR_CFG_TABLES && !WEIR_CFG_COMPACT
weir_source "src/ip/tables.c"
#endif
#if WEIR_CFG_IP6_TEMPORARY && !WEIR_CFG_COMPACT
weir_source "src/ip/temporary.c"
#endif
#if WEIR_CFG_ARP_CACHE && !WEIR_CFG_COMPACT
weir_source "src/link/acd.c"
#endif
#if !WEIR_CFG_COMPACT
weir_source "src/link/address.c"
#endif
#if WEIR_CFG_ADDRESSES && !WEIR_CFG_COMPACT
weir_source "src/link/address_list.c"
#endif
#if WEIR_CFG_IP4 && !WEIR_CFG_COMPACT
weir_source "src/link/arp.c"
#endif
#if !WEIR_CFG_COMPACT
weir_source "src/link/ethernet.c"
#endif
#if WEIR_CFG_HANDLERS && !WEIR_CFG_COMPACT
weir_source "src/link/handler.c"
#endif
#if WEIR_CFG_LOOPBACK && !WEIR_CFG_COMPACT
weir_source "src/link/loopback.c"
#endif
#if WEIR_CFG_IP6 && !WEIR_CFG_COMPACT
weir_source "src/link/nd.c"
#endif
#if WEIR_CFG_ARP_CACHE && !WEIR_CFG_COMPACT
weir_source "src/link/neighbour.c"
#endif
#if WEIR_CFG_ARP_CACHE && WEIR_CFG_IP4 && !WEIR_CFG_COMPACT
weir_source "src/link/neighbour4.c"
#endif
#if WEIR_CFG_IP6 && !WEIR_CFG_COMPACT
weir_source "src/link/neighbour6.c"
#endif
#if WEIR_CFG_ARP_CACHE && !WEIR_CFG_COMPACT
weir_source "src/link/neighbour_packets.c"
#endif
#if !WEIR_CFG_COMPACT
weir_source "src/link/netif.c"
#endif
#if !WEIR_CFG_COMPACT && !WEIR_CFG_IP4
weir_source "src/link/no_arp.c"
#endif
#if WEIR_CFG_IP6_OPTIMISTIC && !WEIR_CFG_COMPACT
weir_source "src/link/optimistic.c"
#endif
#if WEIR_CFG_IP6 && !WEIR_CFG_COMPACT
weir_source "src/link/policy6.c"
#endif
#if !WEIR_CFG_COMPACT
weir_source "src/link/rawip.c"
#endif
#if WEIR_CFG_SELF_CHECK && !WEIR_CFG_COMPACT
weir_source "src/link/self_check.c"
#endif
#if WEIR_CFG_IP6 && !WEIR_CFG_COMPACT
weir_source "src/link/source6.c"
#endif
#if WEIR_CFG_TRACE && !WEIR_CFG_COMPACT
weir_source "src/link/trace.c"
#endif
#if WEIR_CFG_REALTIME
weir_source "src/rt/frame.c"
weir_source "src/rt/need.c"
weir_source "src/rt/path.c"
weir_source "src/rt/skip2009.c"
weir_source "src/rt/weir.c"
#endif
#if WEIR_CFG_DPLPMTUD && !WEIR_CFG_COMPACT
weir_source "src/socket/dplpmtud.c"
#endif
#if WEIR_CFG_IP6 && !WEIR_CFG_COMPACT
weir_source "src/socket/family.c"
#endif
#if !WEIR_CFG_COMPACT
weir_source "src/socket/handle.c"
#endif
#if WEIR_CFG_IP_OPTIONS && !WEIR_CFG_COMPACT
weir_source "src/socket/ip_options.c"
#endif
#if WEIR_CFG_UDP && !WEIR_CFG_COMPACT
weir_source "src/socket/message.c"
#endif
#if WEIR_CFG_SOCKET_OPTIONS && !WEIR_CFG_COMPACT
weir_source "src/socket/option.c"
#endif
#if !WEIR_CFG_COMPACT
weir_source "src/socket/ready.c"
#endif
#if WEIR_CFG_REALTIME && !WEIR_CFG_COMPACT
weir_source "src/socket/realtime.c"
#endif
#if !WEIR_CFG_COMPACT
weir_source "src/socket/socket.c"
#endif
#if WEIR_CFG_MULTICAST_SOURCES && !WEIR_CFG_COMPACT
weir_source "src/socket/sources.c"
#endif
#if WEIR_CFG_STATS && !WEIR_CFG_COMPACT
weir_source "src/socket/stats.c"
#endif
#if WEIR_CFG_TCP_URGENT && !WEIR_CFG_COMPACT
weir_source "src/socket/urgent.c"
#endif
#if WEIR_CFG_TCP_ACCECN && !WEIR_CFG_COMPACT
weir_source "src/tcp/accecn.c"
#endif
#if !WEIR_CFG_COMPACT
weir_source "src/tcp/ack.c"
#endif
#if WEIR_CFG_TCP_BLACK_HOLE && !WEIR_CFG_COMPACT
weir_source "src/tcp/black_hole.c"
#endif
#if WEIR_CFG_CC_REGISTERED && !WEIR_CFG_COMPACT
weir_source "src/tcp/cc_register.c"
#endif
#if !WEIR_CFG_COMPACT
weir_source "src/tcp/close.c"
#endif
#if WEIR_CFG_TCP_COARSE_CLOCK && !WEIR_CFG_COMPACT
weir_source "src/tcp/coarse.c"
#endif
#if !WEIR_CFG_COMPACT
weir_source "src/tcp/congestion.c"
weir_source "src/tcp/conn.c"
#endif
#if WEIR_CFG_TCP_CONNECT && !WEIR_CFG_COMPACT
weir_source "src/tcp/connect.c"
#endif
#if WEIR_CFG_TCP_REFINEMENTS && !WEIR_CFG_COMPACT
weir_source "src/tcp/cwv.c"
#endif
#if WEIR_CFG_REALTIME_SENDER && !WEIR_CFG_COMPACT
weir_source "src/tcp/deadline.c"
#endif
#if WEIR_CFG_TCP_DSACK && !WEIR_CFG_COMPACT
weir_source "src/tcp/dsack.c"
#endif
#if WEIR_CFG_TCP_ECN && !WEIR_CFG_COMPACT
weir_source "src/tcp/ecn.c"
weir_source "src/tcp/ecn_offer.c"
#endif
#if WEIR_CFG_TCP_SACK && !WEIR_CFG_COMPACT
weir_source "src/tcp/flight.c"
#endif
#if !WEIR_CFG_COMPACT && !WEIR_CFG_TCP_SACK
weir_source "src/tcp/flight_simple.c"
#endif
#if WEIR_CFG_TCP_LOSS_RECOVERY && !WEIR_CFG_COMPACT
weir_source "src/tcp/frto.c"
#endif
#if !WEIR_CFG_COMPACT
weir_source "src/tcp/halfopen.c"
#endif
#if WEIR_CFG_TCP_HELD && !WEIR_CFG_COMPACT
weir_source "src/tcp/held.c"
#endif
#if WEIR_CFG_TCP_REFINEMENTS && !WEIR_CFG_COMPACT
weir_source "src/tcp/hystart.c"
#endif
#if WEIR_CFG_TCP_INFO && !WEIR_CFG_COMPACT
weir_source "src/tcp/info.c"
#endif
#if !WEIR_CFG_COMPACT
weir_source "src/tcp/input.c"
#endif
#if WEIR_CFG_IP_OPTIONS && !WEIR_CFG_COMPACT
weir_source "src/tcp/ip_options.c"
#endif
#if !WEIR_CFG_COMPACT
weir_source "src/tcp/isn.c"
#endif
#if WEIR_CFG_TCP_KEEPALIVE && !WEIR_CFG_COMPACT
weir_source "src/tcp/keepalive.c"
#endif
#if !WEIR_CFG_COMPACT
weir_source "src/tcp/listen.c"
#endif
#if WEIR_CFG_TCP_REFINEMENTS && !WEIR_CFG_COMPACT
weir_source "src/tcp/lowwater.c"
#endif
#if !WEIR_CFG_COMPACT
weir_source "src/tcp/option.c"
#endif
#if !WEIR_CFG_COMPACT && !WEIR_CFG_ALLOCATOR
weir_source "src/tcp/orphan.c"
#endif
#if !WEIR_CFG_COMPACT
weir_source "src/tcp/output.c"
#endif
#if WEIR_CFG_TCP_PACING && !WEIR_CFG_COMPACT
weir_source "src/tcp/pacing.c"
#endif
#if !WEIR_CFG_COMPACT
weir_source "src/tcp/plan.c"
#endif
#if WEIR_CFG_TCP_PREDICT && !WEIR_CFG_COMPACT
weir_source "src/tcp/predict.c"
#endif
#if WEIR_CFG_ALLOCATOR && !WEIR_CFG_COMPACT
weir_source "src/tcp/pressure.c"
#endif
#if WEIR_CFG_TCP_LOSS_RECOVERY && !WEIR_CFG_COMPACT
weir_source "src/tcp/prr.c"
weir_source "src/tcp/rack.c"
#endif
#if WEIR_CFG_TCP_RATE && !WEIR_CFG_COMPACT
weir_source "src/tcp/rate.c"
#endif
#if WEIR_CFG_REALTIME && !WEIR_CFG_COMPACT
weir_source "src/tcp/realtime.c"
#endif
#if !WEIR_CFG_COMPACT
weir_source "src/tcp/receive.c"
weir_source "src/tcp/record.c"
weir_source "src/tcp/recovery.c"
weir_source "src/tcp/reply.c"
weir_source "src/tcp/rtt.c"
#endif
#if (WEIR_CFG_CC_BBR || WEIR_CFG_CC_BBR3) && !WEIR_CFG_COMPACT
weir_source "src/tcp/rtx_probe.c"
#endif
#if WEIR_CFG_TCP_SACK && !WEIR_CFG_COMPACT
weir_source "src/tcp/sack.c"
#endif
#if WEIR_CFG_SELF_CHECK && !WEIR_CFG_COMPACT
weir_source "src/tcp/self_check.c"
#endif
#if !WEIR_CFG_COMPACT
weir_source "src/tcp/state.c"
#endif
#if WEIR_CFG_TCP_SYN_COOKIES && !WEIR_CFG_COMPACT
weir_source "src/tcp/syncookie.c"
#endif
#if !WEIR_CFG_COMPACT
weir_source "src/tcp/tcp.c"
#endif
#if WEIR_CFG_FAST_PATH && !WEIR_CFG_COMPACT
weir_source "src/tcp/template.c"
#endif
#if !WEIR_CFG_COMPACT
weir_source "src/tcp/timers.c"
#endif
#if WEIR_CFG_TCP_TIMESTAMPS && !WEIR_CFG_COMPACT
weir_source "src/tcp/timestamps.c"
#endif
#if !WEIR_CFG_COMPACT
weir_source "src/tcp/timewait.c"
#endif
#if WEIR_CFG_TCP_LOSS_RECOVERY && !WEIR_CFG_COMPACT
weir_source "src/tcp/tlp.c"
#endif
#if WEIR_CFG_TRACE && !WEIR_CFG_COMPACT
weir_source "src/tcp/trace.c"
#endif
#if !WEIR_CFG_COMPACT
weir_source "src/tcp/transfer.c"
#endif
#if WEIR_CFG_TCP_LOSS_RECOVERY && !WEIR_CFG_COMPACT
weir_source "src/tcp/undo.c"
#endif
#if WEIR_CFG_TCP_URGENT && !WEIR_CFG_COMPACT
weir_source "src/tcp/urgent.c"
#endif
#if WEIR_CFG_TCP_REFINEMENTS && !WEIR_CFG_COMPACT
weir_source "src/tcp/uto.c"
#endif
#if WEIR_CFG_UDP && !WEIR_CFG_COMPACT
weir_source "src/udp/datagram.c"
#endif
#if WEIR_CFG_DPLPMTUD && !WEIR_CFG_COMPACT
weir_source "src/udp/dplpmtud.c"
#endif
#if WEIR_CFG_IP_OPTIONS && !WEIR_CFG_COMPACT
weir_source "src/udp/ip_options.c"
#endif
#if WEIR_CFG_IGMP && !WEIR_CFG_COMPACT
weir_source "src/udp/membership.c"
#endif
#if WEIR_CFG_DPLPMTUD && !WEIR_CFG_COMPACT
weir_source "src/udp/mtu_search.c"
#endif
#if WEIR_CFG_UDP && !WEIR_CFG_COMPACT
weir_source "src/udp/option.c"
#endif
#if WEIR_CFG_RAW && !WEIR_CFG_COMPACT
weir_source "src/udp/raw.c"
#endif
#if WEIR_CFG_MULTICAST_SOURCES && !WEIR_CFG_COMPACT
weir_source "src/udp/sources.c"
#endif
#if WEIR_CFG_UDP && !WEIR_CFG_COMPACT
weir_source "src/udp/udp.c"
#endif
#if WEIR_CFG_IP4 && !WEIR_CFG_COMPACT
weir_source "src/wire/arp.c"
#endif
#if !WEIR_CFG_COMPACT
weir_source "src/wire/ethernet.c"
#endif
#if WEIR_CFG_IP4 && !WEIR_CFG_COMPACT
weir_source "src/wire/icmp4.c"
#endif
#if WEIR_CFG_IP6 && !WEIR_CFG_COMPACT
weir_source "src/wire/icmp6.c"
#endif
#if WEIR_CFG_IP4 && !WEIR_CFG_COMPACT
weir_source "src/wire/igmp.c"
weir_source "src/wire/ip4.c"
#endif
#if WEIR_CFG_IP6 && !WEIR_CFG_COMPACT
weir_source "src/wire/ip6.c"
weir_source "src/wire/mld.c"
weir_source "src/wire/nd.c"
#endif
#if !WEIR_CFG_COMPACT
weir_source "src/wire/tcp.c"
weir_source "src/wire/udp.c"
#endif

// The libraries beside it (config/parts.toml).
#if !WEIR_CFG_COMPACT
weir_part "bsd" "api" "" "" ""
weir_part_about "bsd" "BSD sockets over the stack, safe from any thread (weir_bsd.h)"
weir_part_sources "bsd" "api/bsd/address.c"
weir_part_sources "bsd" "api/bsd/addrinfo.c"
weir_part_sources "bsd" "api/bsd/calls.c"
weir_part_sources "bsd" "api/bsd/connect_name.c"
weir_part_sources "bsd" "api/bsd/context.c"
weir_part_sources "bsd" "api/bsd/control.c"
weir_part_sources "bsd" "api/bsd/epoll.c"
weir_part_sources "bsd" "api/bsd/errors.c"
weir_part_sources "bsd" "api/bsd/family.c"
weir_part_sources "bsd" "api/bsd/file.c"
weir_part_sources "bsd" "api/bsd/message.c"
weir_part_sources "bsd" "api/bsd/multicast.c"
weir_part_sources "bsd" "api/bsd/option.c"
weir_part_sources "bsd" "api/bsd/poll.c"
weir_part_sources "bsd" "api/bsd/posix_calls.c"
weir_part_sources "bsd" "api/bsd/realtime.c"
weir_part_sources "bsd" "api/bsd/stream.c"
weir_part_sources "bsd" "api/bsd/transfer.c"
weir_part_headers "bsd" "api/bsd/bsd_errno.h"
weir_part_headers "bsd" "api/bsd/posix_calls.h"
weir_part_headers "bsd" "api/bsd/posix_names.h"
weir_part_headers "bsd" "api/bsd/weir_bsd.h"
weir_part_headers "bsd" "api/bsd/weir_bsd_types.h"
weir_part_headers "bsd" "api/bsd/weir_dplpmtud.h"
weir_part_headers "bsd" "api/bsd/weir_realtime.h"
#endif
weir_part "posix" "." "hosted" "" "-pthread"
weir_part_about "posix" "the port to POSIX threads, drivers for Linux (TAP, TUN, AF_PACKET, AF_XDP, SLIP) and wrappers (pcap, impairments, shaper)"
weir_part_sources "posix" "ports/posix/cpu.c"
weir_part_sources "posix" "ports/posix/poller.c"
weir_part_sources "posix" "ports/posix/pool.c"
weir_part_sources "posix" "ports/posix/posix.c"
weir_part_sources "posix" "drivers/af_packet.c"
weir_part_sources "posix" "drivers/af_xdp.c"
weir_part_sources "posix" "drivers/carrier.c"
weir_part_sources "posix" "drivers/slip.c"
weir_part_sources "posix" "drivers/tap.c"
weir_part_sources "posix" "drivers/tun.c"
weir_part_sources "posix" "drivers/tuntap.c"
weir_part_sources "posix" "drivers/uring.c"
weir_part_sources "posix" "drivers/vnet.c"
weir_part_sources "posix" "drivers/xsk.c"
weir_part_sources "posix" "drivers/wrap/impair.c"
weir_part_sources "posix" "drivers/wrap/line.c"
weir_part_sources "posix" "drivers/wrap/pcap.c"
weir_part_sources "posix" "drivers/wrap/pcapng.c"
weir_part_sources "posix" "drivers/wrap/shaper.c"
weir_part_sources "posix" "drivers/wrap/steer.c"
weir_part_sources "posix" "drivers/wrap/steer_program.c"
weir_part_sources "posix" "drivers/wrap/trace.c"
weir_part_sources "posix" "drivers/wrap/wrap.c"
weir_part_headers "posix" "ports/posix/cpu.h"
weir_part_headers "posix" "ports/posix/poller.h"
weir_part_headers "posix" "ports/posix/pool.h"
weir_part_headers "posix" "ports/posix/posix.h"
weir_part_headers "posix" "drivers/af_packet.h"
weir_part_headers "posix" "drivers/af_xdp.h"
weir_part_headers "posix" "drivers/carrier.h"
weir_part_headers "posix" "drivers/slip.h"
weir_part_headers "posix" "drivers/tap.h"
weir_part_headers "posix" "drivers/tun.h"
weir_part_headers "posix" "drivers/tuntap.h"
weir_part_headers "posix" "drivers/uring.h"
weir_part_headers "posix" "drivers/vnet.h"
weir_part_headers "posix" "drivers/xsk.h"
weir_part_headers "posix" "drivers/wrap/impair.h"
weir_part_headers "posix" "drivers/wrap/line.h"
weir_part_headers "posix" "drivers/wrap/pcap.h"
weir_part_headers "posix" "drivers/wrap/pcapng.h"
weir_part_headers "posix" "drivers/wrap/shaper.h"
weir_part_headers "posix" "drivers/wrap/steer.h"
weir_part_headers "posix" "drivers/wrap/trace.h"
weir_part_headers "posix" "drivers/wrap/wrap.h"
weir_part "superloop" "." "" "" ""
weir_part_about "superloop" "the port to no kernel at all: one loop (superloop.h)"
weir_part_sources "superloop" "ports/superloop/superloop.c"
weir_part_sources "superloop" "ports/common/core.c"
weir_part_headers "superloop" "ports/superloop/superloop.h"
weir_part_headers "superloop" "ports/common/core.h"
#if !WEIR_CFG_COMPACT
weir_part "loop" "apps" "" "" ""
weir_part_about "loop" "what services share: the dispatcher of events and timers, listeners, who makes room, text (loop.h)"
weir_part_sources "loop" "apps/clients.c"
weir_part_sources "loop" "apps/loop.c"
weir_part_sources "loop" "apps/service.c"
weir_part_sources "loop" "apps/text.c"
weir_part_headers "loop" "apps/clients.h"
weir_part_headers "loop" "apps/loop.h"
weir_part_headers "loop" "apps/service.h"
weir_part_headers "loop" "apps/stream.h"
weir_part_headers "loop" "apps/text.h"
#endif
#if !WEIR_CFG_COMPACT && WEIR_CFG_IP4
weir_part "dhcp" "apps" "" "loop" ""
weir_part_about "dhcp" "DHCP: a client and a server (dhcp/client.h, dhcp/server.h)"
weir_part_sources "dhcp" "apps/dhcp/client.c"
weir_part_sources "dhcp" "apps/dhcp/message.c"
weir_part_sources "dhcp" "apps/dhcp/server.c"
weir_part_sources "dhcp" "apps/dhcp/socket.c"
weir_part_headers "dhcp" "apps/dhcp/client.h"
weir_part_headers "dhcp" "apps/dhcp/message.h"
weir_part_headers "dhcp" "apps/dhcp/server.h"
#endif
#if !WEIR_CFG_COMPACT
weir_part "apps" "apps" "hosted" "loop bsd http" ""
weir_part_about "apps" "echo, discard, chargen, the status page, iperf3, ping, DHCPv6, DNS, SNTP, real-time source and player"
weir_part_sources "apps" "apps/capture.c"
weir_part_sources "apps" "apps/capture_file.c"
weir_part_sources "apps" "apps/chargen.c"
weir_part_sources "apps" "apps/counters.c"
weir_part_sources "apps" "apps/crowd.c"
weir_part_sources "apps" "apps/discard.c"
weir_part_sources "apps" "apps/echo.c"
weir_part_sources "apps" "apps/happy_eyeballs.c"
weir_part_sources "apps" "apps/ping.c"
weir_part_sources "apps" "apps/sntp.c"
weir_part_sources "apps" "apps/sntp_servers.c"
weir_part_sources "apps" "apps/trace_text.c"
weir_part_sources "apps" "apps/unix_clock.c"
weir_part_sources "apps" "apps/dhcp6/client.c"
weir_part_sources "apps" "apps/dhcp6/lease.c"
weir_part_sources "apps" "apps/dhcp6/message.c"
weir_part_sources "apps" "apps/dns/both.c"
weir_part_sources "apps" "apps/dns/bsd.c"
weir_part_sources "apps" "apps/dns/message.c"
weir_part_sources "apps" "apps/dns/pair.c"
weir_part_sources "apps" "apps/dns/resolver.c"
weir_part_sources "apps" "apps/iperf3/client.c"
weir_part_sources "apps" "apps/iperf3/json.c"
weir_part_sources "apps" "apps/iperf3/report.c"
weir_part_sources "apps" "apps/iperf3/server.c"
weir_part_sources "apps" "apps/iperf3/test.c"
weir_part_sources "apps" "apps/rtstream/player.c"
weir_part_sources "apps" "apps/rtstream/rtp.c"
weir_part_sources "apps" "apps/rtstream/source.c"
weir_part_sources "apps" "apps/status/capture.c"
weir_part_sources "apps" "apps/status/metrics.c"
weir_part_sources "apps" "apps/status/page.c"
weir_part_sources "apps" "apps/status/server.c"
weir_part_sources "apps" "apps/status/status.c"
weir_part_headers "apps" "apps/bytes.h"
weir_part_headers "apps" "apps/calendar.h"
weir_part_headers "apps" "apps/capture.h"
weir_part_headers "apps" "apps/capture_file.h"
weir_part_headers "apps" "apps/chargen.h"
weir_part_headers "apps" "apps/counters.h"
weir_part_headers "apps" "apps/crowd.h"
weir_part_headers "apps" "apps/discard.h"
weir_part_headers "apps" "apps/echo.h"
weir_part_headers "apps" "apps/happy_eyeballs.h"
weir_part_headers "apps" "apps/ping.h"
weir_part_headers "apps" "apps/sntp.h"
weir_part_headers "apps" "apps/sntp_servers.h"
weir_part_headers "apps" "apps/trace_text.h"
weir_part_headers "apps" "apps/unix_clock.h"
weir_part_headers "apps" "apps/dhcp6/client.h"
weir_part_headers "apps" "apps/dhcp6/lease.h"
weir_part_headers "apps" "apps/dhcp6/message.h"
weir_part_headers "apps" "apps/dns/both.h"
weir_part_headers "apps" "apps/dns/bsd.h"
weir_part_headers "apps" "apps/dns/family.h"
weir_part_headers "apps" "apps/dns/message.h"
weir_part_headers "apps" "apps/dns/pair.h"
weir_part_headers "apps" "apps/dns/resolver.h"
weir_part_headers "apps" "apps/iperf3/client.h"
weir_part_headers "apps" "apps/iperf3/json.h"
weir_part_headers "apps" "apps/iperf3/server.h"
weir_part_headers "apps" "apps/iperf3/test.h"
weir_part_headers "apps" "apps/rtstream/player.h"
weir_part_headers "apps" "apps/rtstream/rtp.h"
weir_part_headers "apps" "apps/rtstream/source.h"
weir_part_headers "apps" "apps/status/capture.h"
weir_part_headers "apps" "apps/status/metrics.h"
weir_part_headers "apps" "apps/status/server.h"
weir_part_headers "apps" "apps/status/status.h"
#endif
#if !WEIR_CFG_COMPACT
weir_part "http" "apps" "" "loop" ""
weir_part_about "http" "an HTTP/1.1 server and client, with WebSocket and server-sent events, on streams that are plain or TLS (http/server.h, http/client.h)"
weir_part_sources "http" "apps/http/accept.c"
weir_part_sources "http" "apps/http/answer.c"
weir_part_sources "http" "apps/http/chunks.c"
weir_part_sources "http" "apps/http/client.c"
weir_part_sources "http" "apps/http/events.c"
weir_part_sources "http" "apps/http/exchange.c"
weir_part_sources "http" "apps/http/files.c"
weir_part_sources "http" "apps/http/message.c"
weir_part_sources "http" "apps/http/origin.c"
weir_part_sources "http" "apps/http/request.c"
weir_part_sources "http" "apps/http/response.c"
weir_part_sources "http" "apps/http/select.c"
weir_part_sources "http" "apps/http/server.c"
weir_part_sources "http" "apps/http/url.c"
weir_part_sources "http" "apps/http/websocket.c"
weir_part_headers "http" "apps/http/answer.h"
weir_part_headers "http" "apps/http/chunks.h"
weir_part_headers "http" "apps/http/client.h"
weir_part_headers "http" "apps/http/events.h"
weir_part_headers "http" "apps/http/files.h"
weir_part_headers "http" "apps/http/message.h"
weir_part_headers "http" "apps/http/request.h"
weir_part_headers "http" "apps/http/server.h"
weir_part_headers "http" "apps/http/url.h"
weir_part_headers "http" "apps/http/utf8.h"
weir_part_headers "http" "apps/http/websocket.h"
#endif
#if !WEIR_CFG_COMPACT && WEIR_CFG_IGMP
weir_part "mdns" "apps" "" "loop" ""
weir_part_about "mdns" "multicast DNS and service discovery: names, services, browsing (mdns/mdns.h, mdns/query.h)"
weir_part_sources "mdns" "apps/mdns/discover.c"
weir_part_sources "mdns" "apps/mdns/mdns.c"
weir_part_sources "mdns" "apps/mdns/probe.c"
weir_part_sources "mdns" "apps/mdns/query.c"
weir_part_sources "mdns" "apps/mdns/records.c"
weir_part_sources "mdns" "apps/mdns/respond.c"
weir_part_sources "mdns" "apps/mdns/wire.c"
weir_part_headers "mdns" "apps/mdns/mdns.h"
weir_part_headers "mdns" "apps/mdns/query.h"
weir_part_headers "mdns" "apps/mdns/wire.h"
#endif
#if !WEIR_CFG_COMPACT
weir_part "mqtt" "apps" "" "loop" ""
weir_part_about "mqtt" "an MQTT client, versions 3.1.1 and 5, on streams that are plain or TLS (mqtt/mqtt.h)"
weir_part_sources "mqtt" "apps/mqtt/input.c"
weir_part_sources "mqtt" "apps/mqtt/mqtt.c"
weir_part_sources "mqtt" "apps/mqtt/output.c"
weir_part_sources "mqtt" "apps/mqtt/packet.c"
weir_part_headers "mqtt" "apps/mqtt/mqtt.h"
weir_part_headers "mqtt" "apps/mqtt/packet.h"
#endif
#if !WEIR_CFG_COMPACT
weir_part "tftp" "apps" "" "loop" ""
weir_part_about "tftp" "a TFTP client, with block sizes and windows (tftp/tftp.h)"
weir_part_sources "tftp" "apps/tftp/packet.c"
weir_part_sources "tftp" "apps/tftp/tftp.c"
weir_part_headers "tftp" "apps/tftp/packet.h"
weir_part_headers "tftp" "apps/tftp/tftp.h"
#endif
weir_part "update" "apps" "" "" ""
weir_part_about "update" "firmware in two slots of flash: taking a new image, choosing which to start, going back (update/update.h, update/slots.h)"
weir_part_sources "update" "apps/update/slots.c"
weir_part_sources "update" "apps/update/update.c"
weir_part_headers "update" "apps/update/slots.h"
weir_part_headers "update" "apps/update/update.h"
#if !WEIR_CFG_COMPACT
weir_part "syslog" "apps" "" "loop" ""
weir_part_about "syslog" "a syslog client over UDP, TCP and TLS (syslog/syslog.h)"
weir_part_sources "syslog" "apps/syslog/message.c"
weir_part_sources "syslog" "apps/syslog/syslog.c"
weir_part_headers "syslog" "apps/syslog/message.h"
weir_part_headers "syslog" "apps/syslog/syslog.h"
#endif
#if !WEIR_CFG_COMPACT && WEIR_CFG_ARP_CACHE && WEIR_CFG_IP4
weir_part "autoip" "apps" "" "loop" ""
weir_part_about "autoip" "a link-local IPv4 address where nobody gives one (autoip/autoip.h)"
weir_part_sources "autoip" "apps/autoip/autoip.c"
weir_part_headers "autoip" "apps/autoip/autoip.h"
#endif
#if !WEIR_CFG_COMPACT
weir_part "shell" "apps" "hosted" "loop apps" ""
weir_part_about "shell" "a shell on a TCP port or a serial line: ifconfig, netstat, route, neigh, ping, tcpdump, stats (shell/shell.h)"
weir_part_sources "shell" "apps/shell/commands.c"
weir_part_sources "shell" "apps/shell/iperf.c"
weir_part_sources "shell" "apps/shell/shell.c"
weir_part_sources "shell" "apps/shell/tcpdump.c"
weir_part_sources "shell" "apps/shell/tools.c"
weir_part_headers "shell" "apps/shell/shell.h"
#endif
