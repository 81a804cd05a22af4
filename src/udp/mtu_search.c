// SPDX-License-Identifier: BSD-2-Clause
// DPLPMTUD's state machine (RFC 8899 §5.2). The search (§5.3) tries the longest size first: most paths carry it. After
// that it halves what lies between the longest size that arrived and the shortest that did not. A size is given up
// after MAX_PROBES; the search ends when what is left is not worth a probe.
#include "udp/mtu_search.h"

#define BASE_PLPMTU 1200u      // §5.1.2
#define LEAST_PLPMTU 40u       // of IPv4's 68 bytes, §5.1.2
#define PROBE_TIMER_MS 16000u  // §5.1.1: longer than 15 s
#define PROBE_TIMER_LEAST_MS 1000u
#define RAISE_TIMER_S 600u
#define TIMER_MOST_S 1000000u  // within half the range of milliseconds

bool mtu_search_settings(const struct weir_dplpmtud_settings *given, uint16_t min, struct weir_dplpmtud_settings *out)
{
    *out = *given;
    if (!out->min_plpmtu)
        out->min_plpmtu = min;
    if (!out->base_plpmtu)
        out->base_plpmtu = (uint16_t)max_u32(BASE_PLPMTU, out->min_plpmtu);
    if (!out->max_plpmtu)
        out->max_plpmtu = UINT16_MAX;
    if (!out->probe_timer_ms)
        out->probe_timer_ms = PROBE_TIMER_MS;
    if (!out->raise_timer_s)
        out->raise_timer_s = RAISE_TIMER_S;
    return out->min_plpmtu >= LEAST_PLPMTU && out->min_plpmtu <= out->base_plpmtu &&
           out->base_plpmtu <= out->max_plpmtu && out->probe_timer_ms >= PROBE_TIMER_LEAST_MS &&
           out->probe_timer_ms <= TIMER_MOST_S * 1000 && out->raise_timer_s <= TIMER_MOST_S &&
           out->confirmation_timer_s < out->raise_timer_s;
}

// --- sizes: as set, as far as the path carries them ------------------------------------------------------------------

static uint16_t at_most(const struct mtu_search *s, uint16_t size) { return (uint16_t)min_u32(size, s->limit); }
static uint16_t min_of(const struct mtu_search *s) { return at_most(s, s->settings.min_plpmtu); }
static uint16_t base_of(const struct mtu_search *s) { return at_most(s, s->settings.base_plpmtu); }
static uint16_t max_of(const struct mtu_search *s) { return at_most(s, s->settings.max_plpmtu); }

// --- states ----------------------------------------------------------------------------------------------------------

static void state_set(struct mtu_search *s, enum weir_dplpmtud_state state, uint16_t plpmtu)
{
    s->news = s->news || s->state != state || s->plpmtu != plpmtu;
    s->state = (uint8_t)state;
    s->plpmtu = plpmtu;
}

// Another size is to be probed; `wanted` false: none.
static void probe_next(struct mtu_search *s, uint16_t size, bool wanted)
{
    s->probed = size;
    s->count = 0;
    s->wanted = wanted;
    s->awaited = false;
}

// `high`: a size above which the search need not look.
static void enter_base(struct mtu_search *s, uint32_t high)
{
    state_set(s, WEIR_DPLPMTUD_BASE, base_of(s));
    s->high = (uint16_t)min_u32(high, max_of(s));
    s->halving = false;
    probe_next(s, s->plpmtu, true);
}

static void enter_error(struct mtu_search *s)
{
    state_set(s, WEIR_DPLPMTUD_ERROR, min_of(s));
    s->halving = false;
    probe_next(s, s->plpmtu, true);
}

static void enter_complete(struct mtu_search *s, uint16_t plpmtu, uint32_t now_ms)
{
    state_set(s, WEIR_DPLPMTUD_SEARCH_COMPLETE, plpmtu);
    probe_next(s, plpmtu, false);
    s->raise_ms = now_ms + s->settings.raise_timer_s * 1000;
    s->due_ms = now_ms + s->settings.confirmation_timer_s * 1000;
}

// `plpmtu` passes, and what is longer than `high` does not: the search goes on between them.
static void search_on(struct mtu_search *s, uint16_t plpmtu, uint32_t now_ms)
{
    if (s->high < plpmtu + MTU_SEARCH_STEP) {
        enter_complete(s, plpmtu, now_ms);
        return;
    }
    state_set(s, WEIR_DPLPMTUD_SEARCHING, plpmtu);
    if (s->halving)
        probe_next(s, (uint16_t)((plpmtu + s->high + 1u) / 2), true);
    else
        probe_next(s, plpmtu < base_of(s) ? (uint16_t)min_u32(base_of(s), s->high) : s->high, true);
}

void mtu_search_start(struct mtu_search *s, const struct weir_dplpmtud_settings *settings, uint16_t limit)
{
    *s = (struct mtu_search){.settings = *settings, .limit = limit};
    enter_base(s, UINT16_MAX);
}

void mtu_search_stop(struct mtu_search *s)
{
    state_set(s, WEIR_DPLPMTUD_DISABLED, 0);
    probe_next(s, 0, false);
}

void mtu_search_sent(struct mtu_search *s, uint32_t now_ms)
{
    s->wanted = false;
    s->awaited = true;
    s->due_ms = now_ms + s->settings.probe_timer_ms;
}

// --- what becomes of a probe -----------------------------------------------------------------------------------------

static void probe_acked(struct mtu_search *s, uint32_t now_ms)
{
    if (s->state != WEIR_DPLPMTUD_SEARCH_COMPLETE) {
        search_on(s, s->probed, now_ms);
        return;
    }
    probe_next(s, s->plpmtu, false);  // confirmed
    s->due_ms = now_ms + s->settings.confirmation_timer_s * 1000;
}

static void probe_lost(struct mtu_search *s, uint32_t now_ms)
{
    s->awaited = false;
    if (++s->count < MTU_SEARCH_PROBES) {
        s->wanted = true;
        return;
    }
    switch (s->state) {
    case WEIR_DPLPMTUD_BASE: enter_error(s); break;
    case WEIR_DPLPMTUD_SEARCHING:
        s->high = (uint16_t)(s->probed - 1);
        s->halving = true;
        search_on(s, s->plpmtu, now_ms);
        break;
    case WEIR_DPLPMTUD_SEARCH_COMPLETE: enter_base(s, s->plpmtu); break;
    default: mtu_search_stop(s); break;  // not even MIN_PLPMTU passes
    }
}

bool mtu_search_event(struct mtu_search *s, enum weir_dplpmtud_event event, uint32_t bytes, uint32_t now_ms)
{
    if (event == WEIR_DPLPMTUD_BLACK_HOLE) {
        if (bytes || (s->state != WEIR_DPLPMTUD_SEARCHING && s->state != WEIR_DPLPMTUD_SEARCH_COMPLETE))
            return false;
        enter_base(s, s->plpmtu);
        return true;
    }
    // An acknowledgement may come when the timer has counted the probe as lost, and the next of its size is due.
    const bool late = event == WEIR_DPLPMTUD_ACKED && s->count;
    if (!(s->awaited || late) || bytes != s->probed)
        return false;
    if (event == WEIR_DPLPMTUD_ACKED)
        probe_acked(s, now_ms);
    else if (event == WEIR_DPLPMTUD_LOST)
        probe_lost(s, now_ms);
    else
        return false;
    return true;
}

// §4.6.2. What is not between MIN_PLPMTU and the datagram's own length is not to be believed, nor what is about a
// datagram that was never sent. PLPMTU is never what a router says: it is probed first.
bool mtu_search_too_big(struct mtu_search *s, uint32_t ptb, uint32_t bytes, uint32_t now_ms)
{
    const uint32_t longest = s->awaited || s->count ? max_u32(s->plpmtu, s->probed) : s->plpmtu;
    if (s->state == WEIR_DPLPMTUD_DISABLED || ptb < min_of(s) || bytes <= ptb || bytes > longest)
        return false;
    if (ptb >= s->plpmtu) {  // while it is SEARCHING: the longer probe was one of no use
        s->high = (uint16_t)min_u32(ptb, s->high);
        s->halving = false;
        search_on(s, s->plpmtu, now_ms);
    } else if (ptb < base_of(s)) {
        s->high = (uint16_t)ptb;
        enter_error(s);
    } else {
        enter_base(s, ptb);
    }
    return true;
}

// --- path and time ---------------------------------------------------------------------------------------------------

void mtu_search_limit(struct mtu_search *s, uint16_t limit, uint32_t now_ms)
{
    if (s->state == WEIR_DPLPMTUD_DISABLED || limit == s->limit)
        return;
    s->limit = limit;
    s->high = (uint16_t)min_u32(s->high, max_of(s));
    if (s->plpmtu > limit)
        enter_base(s, limit);
    else if (s->state == WEIR_DPLPMTUD_SEARCHING && s->probed > limit)
        search_on(s, s->plpmtu, now_ms);
}

void mtu_search_timer(struct mtu_search *s, uint32_t now_ms)
{
    if (s->awaited) {
        if (seq_le(s->due_ms, now_ms))
            probe_lost(s, now_ms);
    } else if (s->state == WEIR_DPLPMTUD_SEARCH_COMPLETE && seq_le(s->raise_ms, now_ms)) {
        s->high = max_of(s);
        s->halving = false;
        search_on(s, s->plpmtu, now_ms);
    } else if (s->state == WEIR_DPLPMTUD_SEARCH_COMPLETE && s->settings.confirmation_timer_s && !s->wanted &&
               seq_le(s->due_ms, now_ms)) {
        probe_next(s, s->plpmtu, true);
    }
}

bool mtu_search_deadline(const struct mtu_search *s, uint32_t *at_ms)
{
    const bool complete = s->state == WEIR_DPLPMTUD_SEARCH_COMPLETE,
               confirms = complete && s->settings.confirmation_timer_s && !s->wanted;
    *at_ms = s->awaited || (confirms && seq_lt(s->due_ms, s->raise_ms)) ? s->due_ms : s->raise_ms;
    return s->awaited || complete;
}
