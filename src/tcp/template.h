// SPDX-License-Identifier: BSD-2-Clause
// Segments over the header of the last packet to the same host (ip/flow.h): what was said before need not be written
// again, and link and network layer need not be asked.
#ifndef TCP_TEMPLATE_H
#define TCP_TEMPLATE_H

#include "tcp/plan.h"

#if WEIR_CFG_FAST_PATH
// Sends a planned segment without payload: a pure ACK, or a SYN or FIN alone. Afterwards plan->run tells whether it
// left. false: there is no template, or the segment says more than its header has room for; nothing was done.
bool tcp_template_control(struct weir *weir, struct tcp_conn *c, struct tcp_plan *plan, enum weir_tx_verdict *verdict);
// Sends planned data, a whole run if it is one; `tos`: of the IP header; `holdable`: its bytes may be lent for longer.
// Afterwards the plan says what of it left: plan->run segments, up to plan->end; *verdict is of the last that was
// tried. false: as above, or the data lies in too many pieces.
bool tcp_template_data(struct weir *weir, struct tcp_conn *c, struct tcp_plan *plan, uint8_t tos, bool holdable,
                       enum weir_tx_verdict *verdict);
#else
static inline bool tcp_template_control(struct weir *weir, struct tcp_conn *c, struct tcp_plan *plan,
                                        enum weir_tx_verdict *verdict)
{
    return (void)weir, (void)c, (void)plan, (void)verdict, false;
}
static inline bool tcp_template_data(struct weir *weir, struct tcp_conn *c, struct tcp_plan *plan, uint8_t tos,
                                     bool holdable, enum weir_tx_verdict *verdict)
{
    return (void)weir, (void)c, (void)plan, (void)tos, (void)holdable, (void)verdict, false;
}
#endif

#endif
