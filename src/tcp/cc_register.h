// SPDX-License-Identifier: BSD-2-Clause
// The congestion controls of an instance, by the index that connections and listeners have: those built in
// (weir_cc_list), then those registered at run time (weir_cc_register). The list ends with NULL.
#ifndef TCP_CC_REGISTER_H
#define TCP_CC_REGISTER_H

#include "instance.h"
#include "weir/cc.h"

#define TCP_CC_MOST (WEIR_CC_COUNT + WEIR_CFG_CC_REGISTERED)
_Static_assert(WEIR_CC_COUNT > 0, "without congestion control there is no TCP");
_Static_assert(TCP_CC_MOST <= 16, "tcp_conn.cc has four bits");

#if WEIR_CFG_CC_REGISTERED
void tcp_cc_init(struct weir *weir);
static inline const struct weir_cc *const *tcp_cc_list(const struct weir *weir) { return weir->tcp.cc_list; }
#else
static inline void tcp_cc_init(struct weir *weir) { (void)weir; }
static inline const struct weir_cc *const *tcp_cc_list(const struct weir *weir) { return (void)weir, weir_cc_list; }
#endif
// in tcp_cc_list; of its end: it has none such (option.c)
uint8_t tcp_cc_index(const struct weir *weir, const struct weir_cc *cc);

#endif
