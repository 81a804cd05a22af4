// SPDX-License-Identifier: BSD-2-Clause
// The addresses of an IPv6 host that only serves: that of the link and one out of a router's prefix (RFC 4862), with
// opaque identifiers (RFC 7217), probed before they are used (also RFC 7527); answers to who asks for them (RFC 4861);
// and reports of the groups that they are asked by (RFC 9777). Routers are asked until one answers (RFC 7559). Since
// every answer goes to the link address that its question came from, there are no neighbours, routers or routes to
// keep. All that is sent from here is due at a time, and is sent by weir_poll, except answers, which wait in the
// outbox.
#include "base/checksum.h"
#include "compact/compact.h"
#include "compact/nd.h"
#include "compact/permute.h"
#include "wire/ethernet.h"
#include "wire/group_record.h"
#include "wire/mld.h"
#include "wire/nd.h"

#define SECOND_US UINT64_C(1000000)
#define RETRANSMIT_US SECOND_US  // RFC 4861 §10: a probe waits so long for an objection
#define IDENTIFIER_RETRIES 3u    // RFC 7217 §6
#define SOLICIT_US 4000000u      // RFC 7559 §2
#define SOLICIT_MOST_US 3600000000u
#define LIFETIME_KEPT_US (7200 * SECOND_US)  // RFC 4862 §5.5.3 (e): what one advertisement cannot shorten
#define ND_NEXT_AND_HOPS (IP6_ICMP << 8 | ICMP6_HOP_LIMIT_ON_LINK)
#define OPTION_BYTES 8u
#define ADVERTISEMENT_BYTES 16u  // of a router's message, and of a neighbour's, without options
#define SOLICITATION_BYTES 24u
#define PREFIX_BYTES 32u
#define PREFIX_AUTONOMOUS 0x40u

#define GROUP_ALL_ROUTERS network32(2)
#define GROUP_REPORTS network32(0x16)

LOCAL void group_put(uint8_t *group, uint32_t tail)
{
    memset(group, 0, IP6_ADDRESS_BYTES);
    put16(group, 0xff02);
    memcpy(group + 12, &tail, sizeof tail);
    group[11] = group[12] & 1;
}

static void group_mac(uint8_t mac[6], uint32_t tail)
{
    put16(mac, IP6_GROUP_MAC);
    memcpy(mac + 2, &tail, sizeof tail);
}

// Up to `most` µs from now.
static uint64_t jitter(const struct weir *weir, uint32_t most_us)
{
    uint32_t word;
    weir->port->entropy(weir->port->context, &word, sizeof word);
    return weir->now_us + ((uint64_t)word * most_us >> 32);
}

// RFC 4862 §5.4.2.
LOCAL uint64_t start_at(const struct weir *weir, unsigned how)
{
    return jitter(weir, how & WEIR_IP6_PROMPT ? 0 : WEIR_CFG_IP6_START_DELAY_MS * 1000u);
}

// --- messages out ----------------------------------------------------------------------------------------------------

// Writes what stands before an ICMPv6 message, of so many bytes and behind an extension header of so many, and its
// sum. To the address that is there already.
static void message_complete(const struct weir *weir, uint8_t *ip, const uint32_t *source, uint32_t next_and_hops,
                             uint32_t extension, uint32_t length)
{
    uint8_t *icmp = ip + IP6_BYTES + extension;
    put32(ip, 6u << 28);
    put32(ip + 4, (extension + length) << 16 | next_and_hops);
    memcpy(ip + 8, source, IP6_ADDRESS_BYTES);
    checksum_put(icmp + 2, checksum_fold_words(plain_addresses(weir->port, ip) + pseudo_word(IP6_ICMP, length) +
                                               checksum_sum(weir->port, icmp, length)));
}

// An option that says a link address, or a nonce.
static COLD void option_put(uint8_t *option, uint32_t type, const uint8_t *bytes)
{
    put16(option, type << 8 | 1);
    memcpy(option + 2, bytes, 6);
}

// Sends the message that stands in the outbox's room to a group; false: the driver is full.
LOCAL bool message_leave(struct weir *weir, const uint32_t *source, uint32_t tail, uint32_t next_and_hops,
                         uint32_t extension, uint32_t length)
{
    uint8_t *frame = weir->outbox + 2, mac[6];
    const struct weir_slice slice = {frame, ETHERNET_BYTES + IP6_BYTES + extension + length};
    group_mac(mac, tail);
    ethernet_header(weir, frame, mac, ETHERTYPE_IP6);
    group_put(frame + ETHERNET_BYTES + 24, tail);
    message_complete(weir, frame + ETHERNET_BYTES, source, next_and_hops, extension, length);
    return frame_send(weir, &slice, 1, slice.length);
}

static COLD uint8_t *message_begin(uint8_t *frame, uint32_t type, uint32_t word)
{
    uint8_t *icmp = frame + ETHERNET_BYTES + IP6_BYTES;
    put32(icmp, type << 24);
    put32(icmp + 4, word);
    return icmp + ICMP6_BYTES;
}

static bool probe_send(struct weir *weir, const struct weir_netif_address *a)
{
    uint8_t *target = message_begin(weir->outbox + 2, ICMP6_NEIGHBOUR_SOLICITATION, 0);
    memcpy(target, a->addr.words, IP6_ADDRESS_BYTES);
    option_put(target + IP6_ADDRESS_BYTES, ND_NONCE, a->nonce);
    return message_leave(weir, nobody, solicited_node(a), ND_NEXT_AND_HOPS, 0, SOLICITATION_BYTES + OPTION_BYTES);
}

// RFC 4861 §4.1: while there is no address yet, from none, and without a link address.
static bool routers_ask(struct weir *weir)
{
    const struct weir_netif_address *link = &weir->netif->address;
    const bool ready = link->state == WEIR_ADDRESS_READY;
    option_put(message_begin(weir->outbox + 2, ICMP6_ROUTER_SOLICITATION, 0), ND_SOURCE_LINK, weir->netif->mac);
    return message_leave(weir, ready ? link->addr.words : nobody, GROUP_ALL_ROUTERS, ND_NEXT_AND_HOPS, 0,
                         ICMP6_BYTES + (ready ? OPTION_BYTES : 0));
}

// An advertisement of ours, to who asked; to all, where that was nobody, a prober.
static void advertise(struct weir *weir, const uint8_t *frame, const struct weir_netif_address *a, bool probed)
{
    uint8_t mac[6];
    group_mac(mac, GROUP_ALL_NODES);
    uint8_t *reply = outbox_frame(weir, probed ? mac : frame + 6, ETHERNET_BYTES + IP6_BYTES + ND_NA_BYTES_MAX);
    if (!reply)
        return;
    uint8_t *target = message_begin(reply, ICMP6_NEIGHBOUR_ADVERTISEMENT,
                                    (uint32_t)(probed ? ND_OVERRIDE : ND_SOLICITED | ND_OVERRIDE) << 24);
    memcpy(target, a->addr.words, IP6_ADDRESS_BYTES);
    option_put(target + IP6_ADDRESS_BYTES, ND_TARGET_LINK, weir->netif->mac);
    memcpy(reply + ETHERNET_BYTES + 24, frame + ETHERNET_BYTES + 8, IP6_ADDRESS_BYTES);
    if (probed)
        group_put(reply + ETHERNET_BYTES + 24, GROUP_ALL_NODES);
    message_complete(weir, reply + ETHERNET_BYTES, a->addr.words, ND_NEXT_AND_HOPS, 0, ND_NA_BYTES_MAX);
}

LOCAL void alert_put(uint8_t *alert)
{
    put32(alert, (uint32_t)IP6_ICMP << 24 | 0x0502u);  // no more than eight bytes; router alert, two bytes of data
    put32(alert + 4, 0x0100u);                         // of MLD; PadN
}

// The groups of all our addresses, in one report: that they are joined, or still are (RFC 9777 §5.2).
static bool report_send(struct weir *weir)
{
    const struct weir_netif_address *link = &weir->netif->address;
    uint8_t *alert = weir->outbox + 2 + ETHERNET_BYTES + IP6_BYTES, *icmp = alert + MLD_ALERT_BYTES,
            *record = icmp + MLD_REPORT_BYTES;
    uint32_t groups = 0;
    for (const struct weir_netif_address *a = link; a; a = a->next)
        if (address_live(a)) {
            put32(record, (uint32_t)weir->nd.record << 24);
            group_put(record + 4, solicited_node(a));
            record += MLD_RECORD_BYTES;
            groups++;
        }
    alert_put(alert);
    put32(icmp, (uint32_t)ICMP6_MLD_REPORT_V2 << 24);
    put32(icmp + 4, groups);
    return !groups || message_leave(weir, link->state == WEIR_ADDRESS_READY ? link->addr.words : nobody, GROUP_REPORTS,
                                    IP6_HOP_BY_HOP << 8 | MLD_HOP_LIMIT, MLD_ALERT_BYTES, (uint32_t)(record - icmp));
}

// --- our addresses ---------------------------------------------------------------------------------------------------

LOCAL void group_filter(struct weir_netif *netif, uint32_t tail, bool join)
{
    uint8_t mac[6];
    group_mac(mac, tail);
    if (netif->driver->filter)
        netif->driver->filter(netif, mac, join);
}

// To be probed from `at_us` on. Its group is told before: what comes from there is how others object.
LOCAL void address_probe(struct weir *weir, struct weir_netif_address *a, uint64_t at_us)
{
    a->state = WEIR_ADDRESS_PROBING;
    a->sent = 0;
    a->due_us = weir->nd.report_due_us = at_us;
    weir->nd.due_us = 0;
    weir->nd.record = GROUP_TO_EXCLUDE;
}

// RFC 7217 §5: the prefix, which stands in the address, the interface, and a count of conflicts give the identifier.
static void address_begin(struct weir *weir, struct weir_netif_address *a, uint64_t at_us)
{
    uint32_t v[4];
    memcpy(v, a->addr.words, 8);
    memcpy(v + 2, weir->netif->mac, 6);
    ((uint8_t *)v)[14] = ((uint8_t *)v)[15] = a->conflicts;
    for (uint32_t i = 0; i < 4; i++)
        v[i] ^= weir->nd.secret[i];
    permute(v);
    a->addr.words[2] = v[0] ^ weir->nd.secret[0];
    a->addr.words[3] = v[1] ^ weir->nd.secret[1];
    memcpy(a->nonce, v + 2, sizeof a->nonce);
    a->prefix_length = 64;
    group_filter(weir->netif, solicited_node(a), true);
    address_probe(weir, a, at_us);
}

#if WEIR_CFG_COMPACT_UDP
// Datagrams that came to one of our addresses: an answer would come from another one.
static void datagrams_forget(struct weir *weir, uint32_t own)
{
    for (struct datagram *d = weir->datagrams; d < weir->datagrams + DATAGRAMS; d++) {
        if (d->from.local == own)
            d->waiting = false;
        if (d->seen.local == own)
            memset(d->seen.ports, 0, sizeof d->seen.ports);
    }
}
#else
static inline void datagrams_forget(const struct weir *weir, uint32_t own) { (void)weir, (void)own; }
#endif

// What was spoken from it ends by itself: the peers know nothing of the address that takes its place.
LOCAL void address_leave(struct weir *weir, struct weir_netif_address *a)
{
    datagrams_forget(weir, a == &weir->nd.global ? OWN_GLOBAL : OWN_LINK);
    if (address_live(a))
        group_filter(weir->netif, solicited_node(a), false);
    a->state = WEIR_ADDRESS_NONE;
    a->sent = 0;
}

// It is another host's (RFC 4862 §5.4.5, RFC 7217 §6).
static COLD void address_conflict(struct weir *weir, struct weir_netif_address *a)
{
    address_leave(weir, a);
    if (++a->conflicts > IDENTIFIER_RETRIES)
        a->state = WEIR_ADDRESS_CONFLICT;
    else
        address_begin(weir, a, weir->now_us + SECOND_US);
}

static bool address_used(const struct weir *weir)
{
    bool used = false;
    for (const struct conn *c = weir->conns; c < weir->conns + CONNS; c++)
        used |= c->socket.state && c->peer.local == OWN_GLOBAL;
    return used;
}

static uint64_t lifetime_end(const struct weir *weir, uint32_t seconds)
{
    return seconds == UINT32_MAX ? WEIR_NEVER : weir->now_us + seconds * SECOND_US;
}

// RFC 4862 §5.5.3. Of several prefixes the first is taken, and another once that is not preferred any more and no
// connection needs it.
static void prefix_input(struct weir *weir, const uint8_t *option)
{
    struct weir_netif_address *a = &weir->nd.global;
    const uint8_t *prefix = option + 16;
    const uint32_t valid_s = get32(option + 4), preferred_s = get32(option + 8);
    if (option[2] != 64 || !(option[3] & PREFIX_AUTONOMOUS) || preferred_s > valid_s || ip6_is_link_local(prefix) ||
        ip6_is_multicast(prefix))
        return;
    if (by_hand(a))
        return;
    const bool known = a->state && memcmp(a->addr.words, prefix, 8) == 0;
    const uint64_t until_us = lifetime_end(weir, valid_s), kept_us = weir->now_us + LIFETIME_KEPT_US;
    if (!known) {
        if (!valid_s || (a->state && (a->preferred_until_us > weir->now_us || address_used(weir))))
            return;
        address_leave(weir, a);
        memcpy(a->addr.words, prefix, 8);
        a->conflicts = 0;
        address_begin(weir, a, start_at(weir, weir->nd.how));
    }
    if (!known || until_us > kept_us || until_us > a->valid_until_us)
        a->valid_until_us = until_us;
    else if (a->valid_until_us > kept_us)
        a->valid_until_us = kept_us;
    a->preferred_until_us = lifetime_end(weir, preferred_s);
}

// --- messages in -----------------------------------------------------------------------------------------------------

// The next option of this type; NULL: none. Each has a length, and lies in the message (options_sound).
static const uint8_t *option_find(const uint8_t *at, const uint8_t *end, uint32_t type)
{
    while (at < end && at[0] != type)
        at += at[1] * 8u;
    return at < end ? at : NULL;
}

static bool options_sound(const uint8_t *at, const uint8_t *end)
{
    while (end - at >= 8 && at[1] && at[1] * 8 <= end - at)
        at += at[1] * 8u;
    return at == end;
}

// RFC 4861 §7.1.1 and §7.2.3, RFC 4862 §5.4.3.
static void solicitation_input(struct weir *weir, const uint8_t *frame, const uint8_t *icmp, const uint8_t *end,
                               struct weir_netif_address *a)
{
    const uint8_t *ip = frame + ETHERNET_BYTES, *options = icmp + SOLICITATION_BYTES;
    const bool probe = !native32(ip + 8);
    if (probe && (option_find(options, end, ND_SOURCE_LINK) || !(ip6_is_multicast(ip + 24) && ip[35])))
        return;
    if (a->state == WEIR_ADDRESS_READY) {
        advertise(weir, frame, a, probe);
    } else if (probe) {
        const uint8_t *nonce = option_find(options, end, ND_NONCE);
        if (!nonce || native32(nonce + 2) != native32(a->nonce))  // else the network echoes ours
            address_conflict(weir, a);
    }
}

static void router_input(struct weir *weir, const uint8_t *icmp, const uint8_t *end)
{
    if (icmp[4])
        weir->nd.hop_limit = icmp[4];
    if (get16(icmp + 6))
        weir->nd.solicit_due_us = WEIR_NEVER;  // the wait for it may still end, for nothing
    const uint8_t *option = icmp + ADVERTISEMENT_BYTES;
    while ((option = option_find(option, end, ND_PREFIX))) {
        if (option[1] * 8u == PREFIX_BYTES)
            prefix_input(weir, option);
        option += option[1] * 8u;
    }
}

// RFC 9777 §6.2. Whatever is asked for, all groups are told.
static void query_input(struct weir *weir, const uint8_t *ip, const uint8_t *icmp, uint32_t length)
{
    const uint64_t at_us = jitter(weir, get16(icmp + 4) * 1000u);
    if (ip[7] == MLD_HOP_LIMIT)
        mld1_heard(weir, length);
    if (ip[7] == MLD_HOP_LIMIT && at_us < weir->nd.report_due_us) {
        weir->nd.report_due_us = at_us;
        weir->nd.due_us = 0;
    }
}

LOCAL COLD void nd_input(struct weir *weir, const uint8_t *frame, const uint8_t *icmp, uint32_t length)
{
    const uint8_t *ip = frame + ETHERNET_BYTES, *end = icmp + length;
    const uint32_t type = icmp[0],
                   fixed = type == ICMP6_ROUTER_ADVERTISEMENT ? ADVERTISEMENT_BYTES : SOLICITATION_BYTES;
    if (icmp[1] || length < fixed)
        return;
    const bool by_router = ip6_is_link_local(ip + 8);
    if (type == ICMP6_MLD_QUERY && by_router)
        query_input(weir, ip, icmp, length);
    if (ip[7] != ICMP6_HOP_LIMIT_ON_LINK || !options_sound(icmp + fixed, end))
        return;
    if (type == ICMP6_ROUTER_ADVERTISEMENT && by_router)
        router_input(weir, icmp, end);
    if (type != ICMP6_NEIGHBOUR_SOLICITATION && type != ICMP6_NEIGHBOUR_ADVERTISEMENT)
        return;
    for (struct weir_netif_address *a = &weir->netif->address; a; a = a->next) {
        if (!address_live(a) || !address_same(icmp + 8, a->addr.words))
            continue;
        if (type == ICMP6_NEIGHBOUR_SOLICITATION)
            solicitation_input(weir, frame, icmp, end, a);
        // RFC 4861 §7.1.2: to a group it is not solicited
        else if (a->state == WEIR_ADDRESS_PROBING && !(icmp[4] & ND_SOLICITED && ip6_is_multicast(ip + 24)))
            address_conflict(weir, a);
    }
}

// --- time ------------------------------------------------------------------------------------------------------------

LOCAL void routers_begin(struct weir *weir)
{
    weir->nd.solicit_interval_us = SOLICIT_US;
    weir->nd.solicit_due_us = weir->now_us;
}

// µs until then. What is further away than that can say is not waited for: whatever needs it comes with a frame.
static COLD uint32_t until_due(const struct weir *weir, uint64_t due_us)
{
    const uint64_t left_us = due_us - weir->now_us;
    return due_us <= weir->now_us ? 0 : left_us < WAIT_FOREVER ? (uint32_t)left_us : WAIT_FOREVER;
}

static uint32_t address_turn(struct weir *weir, struct weir_netif_address *a)
{
    if (!a->state)
        return WAIT_FOREVER;
    if (!until_due(weir, a->valid_until_us)) {
        address_leave(weir, a);
    } else if (a->state == WEIR_ADDRESS_PROBING && !until_due(weir, a->due_us)) {
        if (!a->sent) {
            a->sent = probe_send(weir, a);
            a->due_us += a->sent ? RETRANSMIT_US : 0;
        } else {
            a->state = WEIR_ADDRESS_READY;
            weir->nd.report_due_us = 0;  // once more, from an address
        }
    }
    return until_due(weir, a->state == WEIR_ADDRESS_PROBING ? a->due_us : a->valid_until_us);
}

static uint32_t routers_turn(struct weir *weir)
{
    struct nd_state *nd = &weir->nd;
    if (!weir->netif->address.sent)  // the link-local address's probe, which has waited for a random time
        return WAIT_FOREVER;
    if (!until_due(weir, nd->solicit_due_us) && routers_ask(weir)) {
        // RFC 7559: twice as long each time, and up to a tenth more or less
        nd->solicit_due_us =
            jitter(weir, nd->solicit_interval_us >> 3) + nd->solicit_interval_us - (nd->solicit_interval_us >> 4);
        nd->solicit_interval_us = min_u32(nd->solicit_interval_us, SOLICIT_MOST_US / 2) * 2;
    }
    return until_due(weir, nd->solicit_due_us);
}

LOCAL uint32_t nd_turn(struct weir *weir)
{
    struct nd_state *nd = &weir->nd;
    if (nd->due_us > weir->now_us)
        return (uint32_t)(nd->due_us - weir->now_us);
    if (!nd->how || !frame_may_send(weir))
        return WAIT_FOREVER;  // or until the driver takes frames again
    if (!until_due(weir, nd->report_due_us) && (mld1_spoken(weir) ? mld1_report(weir) : report_send(weir))) {
        nd->report_due_us = WEIR_NEVER;
        nd->record = GROUP_IS_EXCLUDE;
    }
    struct weir_netif_address *a = &weir->netif->address;
    uint32_t wait_us = WAIT_FOREVER;
    do
        wait_us = min_u32(wait_us, address_turn(weir, a));
    while ((a = a->next));
    wait_us = min_u32(wait_us, routers_turn(weir));
    wait_us = min_u32(wait_us, until_due(weir, nd->report_due_us));
    nd->due_us = weir->now_us + wait_us;
    return wait_us;
}

// The link may be another one: addresses are probed anew, routers asked.
LOCAL void nd_link_up(struct weir_netif *netif)
{
    struct weir *weir = netif->weir;
    if (!weir || !weir->nd.how)
        return;
    for (struct weir_netif_address *a = &netif->address; a; a = a->next)
        if (a->state == WEIR_ADDRESS_READY) {
            address_probe(weir, a, start_at(weir, weir->nd.how));
            address_unprobed(a);
        }
    routers_begin(weir);
}

LOCAL void nd_stop(struct weir_netif *netif)
{
    struct weir *weir = netif->weir;
    for (struct weir_netif_address *a = &netif->address; a; a = a->next) {
        address_leave(weir, a);
        a->conflicts = 0;
    }
    if (weir->nd.how)
        group_filter(netif, GROUP_ALL_NODES, false);
    weir->nd.how = 0;
}

int weir_netif_ip6(struct weir_netif *netif, unsigned how, const uint8_t secret[16])
{
    struct weir *weir = netif->weir;
    struct weir_netif_address *link = &netif->address;
    if (!weir)
        return WEIR_INVALID;
    if ((how | WEIR_IP6_LINK_LOCAL | WEIR_IP6_PROMPT) != (WEIR_IP6_LINK_LOCAL | WEIR_IP6_PROMPT | WEIR_IP6_AUTO))
        return WEIR_NOT_SUPPORTED;
    if (weir->nd.how)
        return WEIR_IN_USE;
    weir->nd.how = (uint8_t)how;
    weir->nd.hop_limit = HOP_LIMIT;
    link->next = &weir->nd.global;
    memcpy(weir->nd.secret, secret ? (const void *)secret : weir->secret, sizeof weir->nd.secret);
    group_filter(netif, GROUP_ALL_NODES, true);
    link->addr.words[0] = weir_addr_word_of(0xfe800000u);
    link->valid_until_us = WEIR_NEVER;
    address_begin(weir, link, start_at(weir, how));
    routers_begin(weir);
    return WEIR_OK;
}

#if !WEIR_CFG_COMPACT_ADDRESS
// Addresses are made here: there is one of the link, and one that a router gives the prefix of.
int weir_netif_set_address(struct weir_netif *netif, struct weir_addr address, uint8_t prefix_length,
                           enum weir_address_mode mode)
{
    (void)netif, (void)address, (void)prefix_length, (void)mode;
    return WEIR_NOT_SUPPORTED;
}
#endif
