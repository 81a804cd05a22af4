// SPDX-License-Identifier: BSD-2-Clause
// ICMP and ICMPv6: what comes, the errors that answer a packet, and the path MTU that the errors of others tell.
#ifndef IP_ICMP_H
#define IP_ICMP_H

#include "ip/ip.h"

#if WEIR_CFG_IP4
void icmp_input(struct weir *weir, struct packet *packet);
#endif
#if WEIR_CFG_IP6
void icmp6_input(struct weir *weir, struct packet *packet);
#endif
#if WEIR_CFG_ICMP_ERRORS
enum icmp_error_kind { ICMP_ERROR_PORT, ICMP_ERROR_PROTOCOL, ICMP_ERROR_REASSEMBLY_TIME, ICMP_ERROR_PARAMETER };
// Answers `packet` (at the transport header) with an ICMP error where RFC 1122 §3.2.2 or RFC 4443 §2.4 allows one;
// rate-limited per destination. ip_error_send is for packets of either family; `parameter` is of ICMP_ERROR_PARAMETER
// (icmp6.c has more kinds of it).
#if WEIR_CFG_IP4
void icmp_error_send(struct weir *weir, const struct packet *packet, enum icmp_error_kind kind, uint8_t parameter);
#else
static inline void icmp_error_send(struct weir *weir, const struct packet *packet, enum icmp_error_kind kind,
                                   uint8_t parameter)
{
    (void)weir, (void)packet, (void)kind, (void)parameter;
}
#endif
#if WEIR_CFG_IP6
void ip_error_send(struct weir *weir, const struct packet *packet, enum icmp_error_kind kind);
#else
static inline void ip_error_send(struct weir *weir, const struct packet *packet, enum icmp_error_kind kind)
{
    icmp_error_send(weir, packet, kind, 0);
}
#endif
// Takes a per-destination token; false: withhold the reply (counted).
bool icmp_limit_take(struct weir *weir, struct weir_addr destination);
#if WEIR_CFG_IP4
void icmp_error_input(struct weir *weir, struct packet *packet);  // at the ICMP header, checksum verified
#endif
uint16_t pmtu_get(const struct weir *weir, struct weir_addr destination, uint16_t interface_mtu);
// lowers; ages out after 10 minutes (RFC 1191 §6.3)
void pmtu_set(struct weir *weir, struct weir_addr destination, uint16_t mtu);
// What was set proved to be less than what arrives.
void pmtu_raise(struct weir *weir, struct weir_addr destination, uint16_t mtu);
// What the path's interface carries, whatever is known of the rest (src/ip/route.c). With WEIR_CFG_DPLPMTUD.
uint16_t ip_path_link_mtu(const struct path *path, struct weir_addr destination);
#else
enum icmp_error_kind { ICMP_ERROR_PORT, ICMP_ERROR_PROTOCOL, ICMP_ERROR_REASSEMBLY_TIME, ICMP_ERROR_PARAMETER };
static inline void icmp_error_send(struct weir *weir, const struct packet *packet, enum icmp_error_kind kind,
                                   uint8_t parameter)
{
    (void)weir, (void)packet, (void)kind, (void)parameter;
}
static inline void ip_error_send(struct weir *weir, const struct packet *packet, enum icmp_error_kind kind)
{
    (void)weir, (void)packet, (void)kind;
}
static inline bool icmp_limit_take(struct weir *weir, struct weir_addr destination)
{
    (void)weir, (void)destination;
    return true;
}
static inline void icmp_error_input(struct weir *weir, struct packet *packet) { (void)weir, (void)packet; }
static inline uint16_t pmtu_get(const struct weir *weir, struct weir_addr destination, uint16_t interface_mtu)
{
    (void)weir;  // RFC 1122 §3.3.3: who does not learn the way's MTU sends no more than every host must take
    return (uint16_t)min_u32(interface_mtu, ip_family_of(destination)->mtu_min);
}
static inline void pmtu_set(struct weir *weir, struct weir_addr destination, uint16_t mtu)
{
    (void)weir, (void)destination, (void)mtu;
}
#endif

#endif
