// SPDX-License-Identifier: BSD-2-Clause
#include "tcp/internal.h"

#define UTO_MINUTES 0x8000u  // the field's first bit: the rest is minutes, not seconds (RFC 5482 §3.3)
#define UTO_MOST 0x7fffu     // the rest; more seconds than a socket can ask for, so ours are always told in seconds

// Nobody asked the application: what it chose itself stands, unless it allows otherwise (§3.1, CHANGEABLE).
static bool follows(const struct tcp_uto *uto) { return uto->mode == WEIR_UTO_FOLLOW || (uto->mode && !uto->own_s); }

// §3.1: USER_TIMEOUT = min(U_LIMIT, max(ADV_UTO, REMOTE_UTO, L_LIMIT)). The limits bound what a stranger can do: hold
// our memory for years, or have us give up at the first short pause (§6).
static void settle(struct tcp_conn *c)
{
    struct tcp_uto *uto = &c->extra->uto;
    uto->adopted = uto->peer_s && follows(uto);
    const uint32_t longest = max_u32(max_u32(tcp_uto_told_s(uto->own_s), uto->peer_s), WEIR_CFG_TCP_UTO_LEAST_S);
    c->user_timeout_s = uto->adopted ? (uint16_t)min_u32(longest, WEIR_CFG_TCP_UTO_MOST_S) : uto->own_s;
}

int tcp_uto_set(struct weir *weir, struct tcp_conn *c, uint32_t mode)
{
    if (!c->extra && !mode)
        return WEIR_OK;
    struct tcp_extra *extra = tcp_conn_extra(weir, c);
    if (!extra)
        return WEIR_NO_MEMORY;
    if (!extra->uto.mode)
        extra->uto = (struct tcp_uto){.own_s = c->user_timeout_s, .owed = mode != WEIR_UTO_OFF};
    extra->uto.mode = (uint8_t)mode;
    extra->uto.owed = extra->uto.owed && mode;
    tcp_attend(c, ATTEND_USER_TIMEOUT, extra->uto.owed);
    settle(c);
    return WEIR_OK;
}

int32_t tcp_uto_get(const struct tcp_conn *c) { return c->extra ? c->extra->uto.mode : WEIR_UTO_OFF; }

void tcp_uto_chosen(struct tcp_conn *c, uint16_t seconds)
{
    c->user_timeout_s = seconds;
    if (!tcp_uto_get(c))
        return;
    c->extra->uto.own_s = seconds;
    c->extra->uto.owed = true;
    tcp_attend(c, ATTEND_USER_TIMEOUT, true);
    settle(c);
}

uint32_t tcp_uto_fill(const struct tcp_conn *c, bool syn, struct tcp_options *options)
{
    return tcp_uto_get(c) && (syn || c->extra->uto.owed) ? tcp_uto_tell(c->extra->uto.own_s, options) : 0;
}

void tcp_uto_left(struct tcp_conn *c, const struct tcp_segment *segment)
{
    if (segment->options.seen & TCP_SEEN_USER_TIMEOUT && !(segment->flags & TCP_SYN)) {
        c->extra->uto.owed = false;
        tcp_attend(c, ATTEND_USER_TIMEOUT, false);
    }
}

void tcp_uto_heard(struct tcp_conn *c, uint16_t field)
{
    const uint32_t value = field & UTO_MOST, seconds = field & UTO_MINUTES ? value * 60 : value;
    if (!tcp_uto_get(c) || !value)  // §3.4: reserved
        return;
    c->extra->uto.peer_s = (uint16_t)min_u32(seconds, UTO_MOST);
    settle(c);
}

bool tcp_uto_keeps_extra(const struct tcp_conn *c) { return tcp_uto_get(c) != WEIR_UTO_OFF; }
bool tcp_uto_adopted(const struct tcp_conn *c) { return c->extra && c->extra->uto.adopted; }
