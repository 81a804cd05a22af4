// SPDX-License-Identifier: BSD-2-Clause
// Segments over the header of the last packet to the same host (ip/flow.h): what was said before need not be written
// again, and link and network layer need not be asked.
#ifndef TCP_TEMPLATE_H
#define TCP_TEMPLATE_H

#include "tcp/plan.h"

// Sends what is planned: data, a whole run if it is one, or a pure ACK, a SYN or a FIN. Afterwards the plan says what
// of it left: plan->run segments, up to plan->end; the verdict is of the last that was tried. WEIR_TX_UNRESOLVED: there
// is no template, or the segment says more than its header has room for, or the data lies in too many pieces; nothing
// was done.
enum weir_tx_verdict tcp_template_data(struct weir *weir, struct tcp_conn *c, struct tcp_plan *plan);
enum weir_tx_verdict tcp_template_control(struct weir *weir, struct tcp_conn *c, struct tcp_plan *plan);

#endif
