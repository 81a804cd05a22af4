// SPDX-License-Identifier: BSD-2-Clause
// Path MTU discovery by probes of a datagram socket (weir/dplpmtud.h), and what of it the rest of src/udp asks.
#ifndef UDP_DPLPMTUD_H
#define UDP_DPLPMTUD_H

#include "udp/datagram.h"

#if WEIR_CFG_DPLPMTUD
// As weir/dplpmtud.h has them.
int datagram_search_start(struct weir *weir, struct datagram *d, const struct weir_dplpmtud_settings *settings);
int datagram_search_stop(struct weir *weir, struct datagram *d);
void datagram_search_get(struct datagram *d, struct weir_dplpmtud_info *out);
int datagram_search_probe(struct weir *weir, struct datagram *d, const struct weir_slice *slices, int count);
int datagram_search_report(struct weir *weir, struct datagram *d, enum weir_dplpmtud_event event, uint32_t bytes);
// Whether the search is about what goes there.
bool datagram_search_concerns(const struct datagram *d, struct weir_addr destination);
// Whether it lets a datagram go, whose path has just been found: WEIR_TOO_BIG.
int datagram_search_allows(struct weir *weir, struct datagram *d, struct weir_addr destination, uint32_t length);
// A packet-too-big about this socket's datagram. False: it does not search.
bool datagram_search_too_big(struct weir *weir, struct datagram *d, const struct ip_error *error);
// The option WEIR_OPTION_DONT_FRAGMENT is 2: the path MTU is what the interface carries.
void datagram_path_mtu_ignore(struct datagram *d, bool ignore);
void datagram_path_mtu(struct datagram *d);
static inline bool datagram_path_mtu_ignored(const struct datagram *d) { return d->ignores_path_mtu; }
// The longest packet that may go to the peer, as far as the search knows; otherwise `path_mtu`.
uint32_t datagram_search_mtu(const struct datagram *d, uint32_t path_mtu);
static inline bool datagram_search_news(const struct datagram *d) { return d->mtu_search.wanted || d->mtu_search.news; }
void udp_poll(struct weir *weir);  // the searches' timers
#else
static inline int datagram_search_stop(struct weir *weir, struct datagram *d) { return (void)weir, (void)d, WEIR_OK; }
static inline bool datagram_search_concerns(const struct datagram *d, struct weir_addr destination)
{
    return (void)d, (void)destination, false;
}
static inline int datagram_search_allows(struct weir *weir, struct datagram *d, struct weir_addr destination,
                                         uint32_t length)
{
    return (void)weir, (void)d, (void)destination, (void)length, WEIR_OK;
}
static inline bool datagram_search_too_big(struct weir *weir, struct datagram *d, const struct ip_error *error)
{
    return (void)weir, (void)d, (void)error, false;
}
static inline void datagram_path_mtu_ignore(struct datagram *d, bool ignore) { (void)d, (void)ignore; }
static inline void datagram_path_mtu(struct datagram *d) { (void)d; }
static inline bool datagram_path_mtu_ignored(const struct datagram *d) { return (void)d, false; }
static inline uint32_t datagram_search_mtu(const struct datagram *d, uint32_t path_mtu) { return (void)d, path_mtu; }
static inline bool datagram_search_news(const struct datagram *d) { return (void)d, false; }
static inline void udp_poll(struct weir *weir) { (void)weir; }
#endif

#endif
