// SPDX-License-Identifier: BSD-2-Clause
// Path MTU discovery by probes for connected UDP sockets: what their searches (mtu_search.c) do with path, clock and
// queue. What a search finds is the socket's own: other flows to the host may take another way, and only a router's
// word or TCP's segments tell for all (ip/pmtu.c). What these have told bounds the search.
#include "udp/dplpmtud.h"

#include "instance.h"
#include "ip/icmp.h"
#include "wire/udp.h"

#define NO_DEADLINE_MS 0x3fffffffu  // from now

static bool searches(const struct datagram *d) { return d->mtu_search.state != WEIR_DPLPMTUD_DISABLED; }

static uint32_t header_bytes(const struct datagram *d)
{
    return ip_header_bytes(d->peer.addr) + UDP_BYTES + datagram_ip_options_bytes(d, d->peer.addr);
}

// What the path to the peer carries, of which d->path is the way.
static uint16_t limit_of(const struct datagram *d)
{
    const uint32_t headers = header_bytes(d);
    return (uint16_t)(d->path.mtu > headers ? d->path.mtu - headers : 0);
}

// --- deadlines -------------------------------------------------------------------------------------------------------

static void due(struct weir *weir, uint32_t at_ms)
{
    if (seq_lt(at_ms, weir->udp.searching_due_ms))
        weir->udp.searching_due_ms = at_ms;
    const uint32_t wait_ms = seq_le(at_ms, weir->now_ms) ? 0 : at_ms - weir->now_ms;
    slow_due(weir, weir->now_us + (uint64_t)wait_ms * 1000);
}

// After anything that may have changed a search: its deadline, and its user.
static void changed(struct weir *weir, struct datagram *d)
{
    uint32_t at_ms;
    if (mtu_search_deadline(&d->mtu_search, &at_ms))
        due(weir, at_ms);
    if (datagram_search_news(d))
        sock_event(&weir->socks, &d->sock, WEIR_URGENT);
}

// Work: all searches, but only when the first of their deadlines comes.
void udp_poll(struct weir *weir)
{
    struct udp *const udp = &weir->udp;
    if (!udp->searching)
        return;
    if (!seq_le(udp->searching_due_ms, weir->now_ms)) {
        due(weir, udp->searching_due_ms);
        return;
    }
    udp->searching_due_ms = weir->now_ms + NO_DEADLINE_MS;
    for (struct datagram *d = udp->searching, *next; d; d = next) {
        next = d->mtu_search_next;
        mtu_search_timer(&d->mtu_search, weir->now_ms);
        changed(weir, d);
    }
}

// --- life ------------------------------------------------------------------------------------------------------------

static void list_remove(struct weir *weir, struct datagram *d)
{
    for (struct datagram **at = &weir->udp.searching; *at; at = &(*at)->mtu_search_next) {
        if (*at != d)
            continue;
        *at = d->mtu_search_next;
        return;
    }
}

static void list_insert(struct weir *weir, struct datagram *d)
{
    if (!weir->udp.searching)
        weir->udp.searching_due_ms = weir->now_ms + NO_DEADLINE_MS;
    d->mtu_search_next = weir->udp.searching;
    weir->udp.searching = d;
}

int datagram_search_start(struct weir *weir, struct datagram *d, const struct weir_dplpmtud_settings *settings)
{
    static const struct weir_dplpmtud_settings defaults = {0};
    struct weir_dplpmtud_settings whole;
    if (d->type != WEIR_DATAGRAM)
        return WEIR_NOT_SUPPORTED;
    if (!datagram_connected(d))
        return WEIR_NOT_CONNECTED;
    if (weir_addr_is_multicast(d->peer.addr) || ip_is_broadcast(weir, d->peer.addr) ||
        !mtu_search_settings(settings ? settings : &defaults,
                             (uint16_t)(ip_family_of(d->peer.addr)->mtu_min - header_bytes(d)), &whole))
        return WEIR_INVALID;
    const int error = datagram_path(weir, d, &(struct weir_message){.peer = d->peer});
    if (error)
        return error;
    list_remove(weir, d);
    list_insert(weir, d);
    mtu_search_start(&d->mtu_search, &whole, limit_of(d));
    changed(weir, d);
    return WEIR_OK;
}

int datagram_search_stop(struct weir *weir, struct datagram *d)
{
    list_remove(weir, d);
    mtu_search_stop(&d->mtu_search);
    changed(weir, d);
    return WEIR_OK;
}

void datagram_search_get(struct datagram *d, struct weir_dplpmtud_info *out)
{
    struct mtu_search *const s = &d->mtu_search;
    s->news = false;
    *out = (struct weir_dplpmtud_info){.state = (enum weir_dplpmtud_state)s->state,
                                       .plpmtu = s->plpmtu,
                                       .probe = s->wanted ? s->probed : 0,
                                       .awaited = s->awaited ? s->probed : 0,
                                       .probes = s->count};
}

// --- datagrams -------------------------------------------------------------------------------------------------------

bool datagram_search_concerns(const struct datagram *d, struct weir_addr destination)
{
    return searches(d) && weir_addr_equal(destination, d->peer.addr);
}

static void path_refresh(struct weir *weir, struct datagram *d)
{
    const uint16_t limit = limit_of(d);
    if (limit == d->mtu_search.limit)
        return;
    mtu_search_limit(&d->mtu_search, limit, weir->now_ms);
    changed(weir, d);
}

int datagram_search_allows(struct weir *weir, struct datagram *d, struct weir_addr destination, uint32_t length)
{
    if (!datagram_search_concerns(d, destination))
        return d->probing ? WEIR_INVALID : WEIR_OK;
    path_refresh(weir, d);
    if (d->probing)
        return d->mtu_search.wanted && length == d->mtu_search.probed ? WEIR_OK : WEIR_INVALID;
    return length > d->mtu_search.plpmtu ? WEIR_TOO_BIG : WEIR_OK;
}

int datagram_search_probe(struct weir *weir, struct datagram *d, const struct weir_slice *slices, int count)
{
    d->probing = true;
    const int result = datagram_send(weir, d, &(struct weir_message){0}, slices, count);
    d->probing = false;
    if (result >= 0) {
        mtu_search_sent(&d->mtu_search, weir->now_ms);
        changed(weir, d);
    }
    return result;
}

int datagram_search_report(struct weir *weir, struct datagram *d, enum weir_dplpmtud_event event, uint32_t bytes)
{
    if (!mtu_search_event(&d->mtu_search, event, bytes, weir->now_ms))
        return WEIR_INVALID;
    changed(weir, d);
    return WEIR_OK;
}

// RFC 8899 §4.6.1: udp_error has compared addresses and ports; how long the datagram was is one more thing that a
// stranger does not know.
bool datagram_search_too_big(struct weir *weir, struct datagram *d, const struct ip_error *error)
{
    if (!searches(d))
        return false;
    const uint32_t headers = header_bytes(d), length = get16(error->transport + 4);
    const uint32_t ptb = error->mtu > headers ? error->mtu - headers : 0, bytes = length - min_u32(length, UDP_BYTES);
    if (mtu_search_too_big(&d->mtu_search, ptb, bytes, weir->now_ms))
        changed(weir, d);
    else
        count(weir, WEIR_COUNT_ICMP_IGNORED);
    return true;
}

uint32_t datagram_search_mtu(const struct datagram *d, uint32_t path_mtu)
{
    return searches(d) ? d->mtu_search.plpmtu + header_bytes(d) : path_mtu;
}

// --- IP_PMTUDISC_PROBE -----------------------------------------------------------------------------------------------

void datagram_path_mtu_ignore(struct datagram *d, bool ignore)
{
    d->ignores_path_mtu = ignore;
    d->path_destination = weir_addr_any();  // it is looked up anew
}

void datagram_path_mtu(struct datagram *d)
{
    if (d->ignores_path_mtu)
        d->path.mtu = ip_path_link_mtu(&d->path, d->path_destination);
}
