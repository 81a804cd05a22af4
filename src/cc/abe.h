// SPDX-License-Identifier: BSD-2-Clause
// Alternative backoff with ECN (RFC 8511): a mark comes from a queue that is kept short, where a loss comes from one
// that is full, so it costs less of the window. An algorithm whose answer to a loss drains the queue anyhow does not
// ask.
#ifndef CC_ABE_H
#define CC_ABE_H

#include "base/bytes.h"
#include "weir/cc.h"

#define ABE_RENO 819u   // 0.8 (§3.1), 1024ths
#define ABE_CUBIC 870u  // 0.85 (§4.1)

#if WEIR_CFG_CC_ABE
// The window to fall to at this event: `at_loss`, or, at a mark, so many 1024ths of what is in flight.
static inline uint32_t abe_reduced(enum weir_cc_event event, uint32_t flight, uint32_t at_loss, uint32_t at_mark)
{
    return event == WEIR_CC_ECN ? (flight >> 10) * at_mark + ((flight & 1023) * at_mark >> 10) : at_loss;
}
#else
static inline uint32_t abe_reduced(enum weir_cc_event event, uint32_t flight, uint32_t at_loss, uint32_t at_mark)
{
    return (void)event, (void)flight, (void)at_mark, at_loss;
}
#endif

#endif
