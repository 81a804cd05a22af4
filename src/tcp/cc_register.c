// SPDX-License-Identifier: BSD-2-Clause
// Congestion controls that a program registers at run time. They get the indices after those built in, and keep them:
// nothing is ever taken off the list, so that a connection's index stays good.
#include "tcp/cc_register.h"

void tcp_cc_init(struct weir *weir)
{
    for (uint8_t i = 0; weir_cc_list[i]; i++)
        weir->tcp.cc_list[i] = weir_cc_list[i];
}

int weir_cc_register(struct weir *weir, const struct weir_cc *cc)
{
    if (!cc->name || !cc->name[0] || !cc->ack || !cc->event || cc->state_bytes > WEIR_CC_STATE_MAX)
        return WEIR_INVALID;
    if (cc->wants_rate && !WEIR_CFG_TCP_RATE)
        return WEIR_NOT_SUPPORTED;
    if (weir_cc_find_in(weir->tcp.cc_list, cc->name))
        return WEIR_IN_USE;
    const uint8_t end = tcp_cc_index(weir, NULL);
    if (end == TCP_CC_MOST)
        return WEIR_NO_MEMORY;
    weir->tcp.cc_list[end] = cc;
    return WEIR_OK;
}
