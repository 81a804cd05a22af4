// SPDX-License-Identifier: BSD-2-Clause
// What all datagram sockets share: two rings of records, the way to the destination used last, errors. A datagram is
// copied and summed once in each direction.
#include "instance.h"

#include "link/ethernet.h"
#include "link/loopback.h"
#include "udp/dplpmtud.h"
#include "wire/ip4.h"
#include "wire/ip6.h"
#include "wire/udp.h"

#define IP_PAYLOAD_MAX (65535u - IP4_BYTES)

size_t udp_bytes(void)
{
    return pool_carve_bytes(sizeof(struct datagram), WEIR_CFG_DATAGRAM_SOCKETS) +
           WEIR_CFG_DATAGRAM_SOCKETS * (records_carve_bytes(WEIR_CFG_DATAGRAM_RECEIVE_BYTES) +
                                        records_carve_bytes(WEIR_CFG_DATAGRAM_SEND_BYTES));
}

int udp_init(struct weir *weir)
{
    struct udp *udp = &weir->udp;
    table_init(&udp->sockets);
    table_init(&udp->raws);
    pool_init(&udp->pool, sizeof(struct datagram), 0);
    if (WEIR_CFG_ALLOCATOR)
        return WEIR_OK;
    // Static builds: each socket's rings are carved once and stay with it, in the pool too (which overwrites a first
    // word only).
    struct sock *taken = NULL;
    int error = pool_carve(&udp->pool, &weir->memory, WEIR_CFG_DATAGRAM_SOCKETS);
    for (struct datagram *d; !error && udp->pool.free;) {
        d = pool_get(&udp->pool, &weir->memory);
        records_init(&d->receive, WEIR_CFG_DATAGRAM_RECEIVE_BYTES);
        records_init(&d->send, WEIR_CFG_DATAGRAM_SEND_BYTES);
        error = records_carve(&d->receive, &weir->memory);
        if (!error)
            error = records_carve(&d->send, &weir->memory);
        d->sock.output_next = taken;
        taken = &d->sock;
    }
    while (taken) {
        struct sock *next = taken->output_next;
        pool_put(&udp->pool, &weir->memory, taken);
        taken = next;
    }
    return error;
}

static void destroy(struct weir *weir, struct datagram *d)
{
    records_clear(&d->receive, &weir->memory);
    records_clear(&d->send, &weir->memory);
    pool_put(&weir->udp.pool, &weir->memory, d);
}

static struct datagram *closed_next(const struct datagram *d)
{
    return d->node.next ? container_of(d->node.next, struct datagram, node) : NULL;
}

void udp_free(struct weir *weir)
{
    // A closed socket may still wait for a neighbour: the neighbours forget it before it goes.
    for (struct weir_netif *netif = weir->netifs; netif && weir->udp.closed; netif = netif->next)
        arp_flush(weir, netif, true);
    for (struct datagram *d = weir->udp.closed, *next; d; d = next) {
        next = closed_next(d);
        destroy(weir, d);
    }
    weir->udp.closed = NULL;
    table_free(&weir->udp.sockets, &weir->memory);
    table_free(&weir->udp.raws, &weir->memory);
    if (!weir->carved_all)
        pool_drain(&weir->udp.pool, &weir->memory);
}

// --- life ------------------------------------------------------------------------------------------------------------

static void rings_init(struct datagram *d, const struct records *receive, const struct records *send)
{
    if (WEIR_CFG_ALLOCATOR) {
        records_init(&d->receive, WEIR_CFG_DATAGRAM_RECEIVE_BYTES);
        records_init(&d->send, WEIR_CFG_DATAGRAM_SEND_BYTES);
    } else {
        d->receive = *receive;
        d->send = *send;
    }
}

struct datagram *datagram_open(struct weir *weir, enum weir_socket_type type, uint8_t protocol)
{
    struct datagram *d = pool_get(&weir->udp.pool, &weir->memory);
    if (!d)
        return NULL;
    const struct records receive = d->receive, send = d->send;  // in static builds: the rings it always has
    memset(d, 0, sizeof *d);
    rings_init(d, &receive, &send);
    d->sock.kind = type == WEIR_DATAGRAM ? SOCK_UDP : SOCK_RAW;
    d->type = (uint8_t)type;
    d->protocol = type == WEIR_DATAGRAM ? IP_UDP : type == WEIR_ICMP ? IP_ICMP : protocol;
    d->ttl = IP_TTL_UNASKED;
    d->multicast_ttl = 1;
    d->receive_low_water = 1;
    if (d->sock.kind == SOCK_RAW) {
        table_insert(&weir->udp.raws, &weir->memory, &d->node, d->protocol);
        paths_changed(weir);  // no packet passes it by the flow cache
    }
    return d;
}

static void unhash(struct weir *weir, struct datagram *d)
{
    if (d->sock.kind == SOCK_RAW)
        table_remove(&weir->udp.raws, &weir->memory, &d->node);
    else if (d->local.port)
        table_remove(&weir->udp.sockets, &weir->memory, &d->node);
}

void datagram_close(struct weir *weir, struct datagram *d)
{
    membership_leave_all(weir, d);
    datagram_search_stop(weir, d);
    unhash(weir, d);
    sock_ready_remove(&weir->socks, &d->sock);
    if (!d->send.count && !(d->sock.flags & (SOCK_ON_OUTPUT | SOCK_WAITS_NEIGHBOUR))) {
        destroy(weir, d);
        return;
    }
    d->options |= DATAGRAM_CLOSED;
    d->node.next = weir->udp.closed ? &weir->udp.closed->node : NULL;
    weir->udp.closed = d;
    sock_output(&weir->socks, &d->sock);
}

// A closed socket has nothing left to send, and is on no list.
static void closed_end(struct weir *weir, struct datagram *d)
{
    struct datagram *before = weir->udp.closed;
    if (before == d) {
        weir->udp.closed = closed_next(d);
    } else {
        while (closed_next(before) != d)
            before = closed_next(before);
        before->node.next = d->node.next;
    }
    destroy(weir, d);
}

void datagram_fail(struct weir *weir, struct datagram *d, int error)
{
    if (d->options & DATAGRAM_CLOSED)
        return;
    d->error = (int16_t)error;
    sock_event(&weir->socks, &d->sock, WEIR_ERROR | WEIR_READABLE | WEIR_WRITABLE);
}

int datagram_error_take(struct datagram *d)
{
    const int error = d->error;
    d->error = WEIR_OK;
    return error;
}

// --- names -----------------------------------------------------------------------------------------------------------

static int port_take(struct weir *weir, struct datagram *d, struct weir_addr address, uint16_t wanted)
{
    if (d->type == WEIR_DATAGRAM)
        return udp_port_take(weir, d, address, wanted);
    return d->type == WEIR_ICMP ? raw_port_take(weir, d, wanted) : WEIR_OK;
}

int datagram_bind(struct weir *weir, struct datagram *d, const struct weir_endpoint *local)
{
    if (d->type != WEIR_RAW && d->local.port)
        return WEIR_INVALID;
    const struct weir_addr addr = ip_addr_complete(weir, local->addr, d->sock.netif_bound);
    // A group or a broadcast address may be bound to receive what is sent to it.
    if (!weir_addr_is_any(addr) && !weir_addr_is_multicast(addr) && !ip_is_ours(weir, addr) &&
        !ip_is_broadcast(weir, addr))
        return WEIR_NO_ADDRESS;
    const int error = port_take(weir, d, addr, local->port);
    if (!error)
        d->local.addr = addr;
    return error;
}

static void disconnect(struct datagram *d)
{
    d->peer = (struct weir_endpoint){0};
    if (d->options & DATAGRAM_ADDRESS_CHOSEN)
        d->local.addr = datagram_unchosen(d);
    d->options &= (uint8_t)~DATAGRAM_ADDRESS_CHOSEN;
}

// The address that packets may be sent from, given the one that was asked for: a bound group or broadcast address is
// none.
static struct weir_addr source_of(const struct weir *weir, struct weir_addr address)
{
    return weir_addr_is_multicast(address) || ip_is_broadcast(weir, address) ? weir_addr_any() : address;
}

// The way to where the message goes. The last one found is kept, and found again only when it has aged or leads
// elsewhere.
int datagram_path(struct weir *weir, struct datagram *d, const struct weir_message *message)
{
    const struct weir_addr destination = message->peer.addr;
    if (weir_addr_is_any(d->local.addr) && !sock_covers(&d->sock, d->local.addr, destination))
        return WEIR_NETWORK_UNREACHABLE;
    const struct weir_addr wanted = source_of(weir, weir_addr_is_any(message->local) ? d->local.addr : message->local);
    if (!weir_addr_is_any(wanted) && weir_addr_is_v4(wanted) != weir_addr_is_v4(destination))
        return WEIR_NETWORK_UNREACHABLE;
    uint8_t netif = message->netif_index ? message->netif_index : d->sock.netif_bound;
    if (!netif && weir_addr_is_multicast(destination))
        netif = d->multicast_netif;
    if (ip_path_valid(weir, &d->path) && weir_addr_equal(destination, d->path_destination) &&
        weir_addr_equal(wanted, d->path_wanted) && netif == d->path_netif)
        return WEIR_OK;
    d->path_destination = destination;
    d->path_wanted = d->path_source = wanted;
    d->path_netif = netif;
    const int error = ip_path_find(weir, &d->path, &d->path_source, destination, netif);
    // RFC 4291 §2.5.2: who asks everybody, and has no address yet, may speak over IPv4 only.
    if (!error && d->type != WEIR_RAW && weir_addr_is_any(d->path_source) && !weir_addr_is_v4(destination)) {
        d->path.netif = NULL;
        return WEIR_NO_ADDRESS;
    }
    if (!error)
        datagram_path_mtu(d);
    return error;
}

int datagram_connect(struct weir *weir, struct datagram *d, const struct weir_endpoint *to)
{
    const struct weir_endpoint completed = {ip_addr_complete(weir, to->addr, d->sock.netif_bound), to->port},
                               *const peer = &completed;
    datagram_search_stop(weir, d);
    disconnect(d);
    if (weir_addr_is_any(peer->addr) && !peer->port)
        return WEIR_OK;
    if (weir_addr_is_any(peer->addr) || (d->type == WEIR_DATAGRAM && !peer->port))
        return WEIR_INVALID;
    if (ip_is_broadcast(weir, peer->addr) && !(d->sock.flags & SOCK_BROADCAST))
        return WEIR_PERMISSION;
    int error = d->local.port || d->type == WEIR_RAW ? WEIR_OK : port_take(weir, d, d->local.addr, 0);
    if (!error)
        error = datagram_path(weir, d, &(struct weir_message){.peer = *peer});
    if (error)
        return error;
    d->peer = *peer;
    if (weir_addr_is_any(d->local.addr)) {
        datagram_choose(d, d->path_source);
        d->options |= DATAGRAM_ADDRESS_CHOSEN;
    }
    return WEIR_OK;
}

int datagram_shutdown(struct weir *weir, struct datagram *d, enum weir_shutdown how)
{
    if (!datagram_connected(d))
        return WEIR_NOT_CONNECTED;
    if (how & WEIR_SHUT_READ)
        d->options |= DATAGRAM_SHUT_READ;
    if (how & WEIR_SHUT_WRITE)
        d->options |= DATAGRAM_SHUT_WRITE;
    sock_event(&weir->socks, &d->sock, datagram_ready(d));
    return WEIR_OK;
}

// --- sending ---------------------------------------------------------------------------------------------------------

static uint32_t header_bytes(const struct datagram *d)
{
    if (d->type == WEIR_DATAGRAM)
        return UDP_BYTES;
    return 0;
}

// Completes the message's names and checks them. What can be known now is told now; the rest becomes a pending error.
static int send_check(struct weir *weir, struct datagram *d, struct weir_message *message, uint32_t length)
{
    uint32_t headers = 0;
    if (d->error)
        return datagram_error_take(d);
    if (d->options & DATAGRAM_SHUT_WRITE)
        return WEIR_SHUT_DOWN;
    if (weir_addr_is_any(message->peer.addr) && !message->peer.port)
        message->peer = d->peer;
    if (weir_addr_is_any(message->peer.addr))
        return WEIR_NOT_CONNECTED;
    message->peer.addr =
        ip_addr_complete(weir, message->peer.addr, message->netif_index ? message->netif_index : d->sock.netif_bound);
    if (d->type == WEIR_DATAGRAM && !message->peer.port)
        return WEIR_INVALID;
    if (!(d->options & DATAGRAM_HEADER_INCLUDED))
        headers =
            ip_header_bytes(message->peer.addr) + header_bytes(d) + datagram_ip_options_bytes(d, message->peer.addr);
    if (length + headers > IP_PAYLOAD_MAX + IP4_BYTES)
        return WEIR_TOO_BIG;
    if (ip_is_broadcast(weir, message->peer.addr) && !(d->sock.flags & SOCK_BROADCAST))
        return WEIR_PERMISSION;
    int error = d->local.port || d->type == WEIR_RAW ? WEIR_OK : port_take(weir, d, d->local.addr, 0);
    if (!error)
        error = datagram_path(weir, d, message);
    if (!error && d->options & (DATAGRAM_DONT_FRAGMENT | DATAGRAM_HEADER_INCLUDED) && length + headers > d->path.mtu)
        error = WEIR_TOO_BIG;
    return error ? error : datagram_search_allows(weir, d, message->peer.addr, length);
}

static struct send_record *gather(struct weir *weir, struct datagram *d, const struct weir_slice *slices,
                                  int slice_count, uint32_t length)
{
    struct send_record *record = records_push(&d->send, &weir->memory, (uint32_t)sizeof *record + length);
    if (!record)
        return NULL;
    uint8_t *bytes = (uint8_t *)(record + 1);
    uint32_t at = 0;
    uint16_t sum = 0;
    for (int i = 0; i < slice_count; at += slices[i++].length)
        if (slices[i].length)
            sum = checksum_add_at(sum, checksum_copy_sum(weir->port, bytes + at, slices[i].data, slices[i].length), at);
    record->sum = sum;
    return record;
}

int datagram_send(struct weir *weir, struct datagram *d, const struct weir_message *message,
                  const struct weir_slice *slices, int count)
{
    struct weir_message whole = *message;
    uint32_t length = 0;
    for (int i = 0; i < count; i++) {
        if (slices[i].length > IP4_BYTES + IP_PAYLOAD_MAX || length + slices[i].length > IP4_BYTES + IP_PAYLOAD_MAX)
            return WEIR_TOO_BIG;
        length += slices[i].length;
    }
    int error = send_check(weir, d, &whole, length);
    if (error)
        return error;
    if (sizeof(struct send_record) + length + 16 > d->send.limit)  // never fits (16: the record's own)
        return WEIR_TOO_BIG;
    struct send_record *record = gather(weir, d, slices, count, length);
    if (!record) {
        d->options |= DATAGRAM_REFUSED;
        return WEIR_AGAIN;
    }
    whole.length = length;
    record->message = whole;
    if (d->type == WEIR_ICMP &&
        raw_echo_prepare(weir, d, weir_addr_is_v4(whole.peer.addr), (uint8_t *)(record + 1), length) != WEIR_OK) {
        records_unpush(&d->send);
        return WEIR_INVALID;
    }
    d->send_bytes += length;
    sock_output(&weir->socks, &d->sock);
    return (int)length;
}

// The copy of a multicast or broadcast that members on this very host get.
static void loop_back(struct weir *weir, const struct datagram *d, const struct ip_out *ip, const uint8_t *header,
                      uint32_t length, const uint8_t *payload, uint32_t payload_length)
{
    struct path path;
    struct ip_out local = *ip;
    uint32_t progress = 0;
    int error = WEIR_OK;
    const uint8_t loopback = WEIR_CFG_LOOPBACK ? LOOPBACK_INDEX : 0;
    const bool group = weir_addr_is_multicast(ip->destination);
    if (!loopback || weir_addr_is_any(ip->source) || !(group || ip_is_broadcast(weir, ip->destination)))
        return;
    if (group && (d->options & DATAGRAM_NO_MULTICAST_LOOP || !ip_group_member(weir, NULL, ip->destination)))
        return;
    local.ttl = IP_TTL_DEFAULT;
    if (ip_path_find(weir, &path, &local.source, ip->destination, loopback) == WEIR_OK)
        (void)ip_output_datagram(weir, &path, &local, header, length, payload, payload_length, &progress, NULL, &error);
}

static void udp_header_make(const struct datagram *d, const struct ip_out *ip, const struct send_record *record,
                            uint8_t bytes[UDP_BYTES])
{
    const struct udp_header header = {.source = d->local.port,
                                      .destination = record->message.peer.port,
                                      .length = (uint16_t)(UDP_BYTES + record->message.length)};
    udp_emit(bytes, &header);
    uint16_t sum = ip_pseudo_sum(ip->source, ip->destination, IP_UDP, header.length);
    sum = checksum_add(sum, checksum_sum_portable(bytes, UDP_BYTES));
    checksum_put(bytes + 6, checksum_add(sum, record->sum));
    if (get16(bytes + 6) == 0)  // RFC 768: 0 would mean that there is none
        put16(bytes + 6, 0xffff);
}

static enum weir_tx_verdict record_send(struct weir *weir, struct datagram *d, const struct send_record *record,
                                        int *error)
{
    uint8_t header[UDP_BYTES];
    const uint8_t *bytes = (const uint8_t *)(record + 1);
    const struct weir_message *message = &record->message;
    *error = datagram_path(weir, d, message);
    if (*error)
        return WEIR_TX_DONE;
    if (d->options & DATAGRAM_HEADER_INCLUDED)
        return ip_output_header_included(weir, &d->path, d->path_source, bytes, message->length, &d->sock, error);
    const bool group = weir_addr_is_multicast(message->peer.addr), summed6 = raw_summed6(d, message->peer.addr);
    struct ip_out ip = {.source = d->path_source,
                        .destination = message->peer.addr,
                        .protocol = summed6 ? (uint8_t)IP6_ICMP : d->protocol,
                        .ttl = message->ttl ? message->ttl
                               : group      ? d->multicast_ttl
                                            : d->ttl,
                        .tos = message->tos ? message->tos : d->tos,
                        .dont_fragment =
                            d->options & DATAGRAM_DONT_FRAGMENT || datagram_search_concerns(d, message->peer.addr)};
    datagram_ip_options_use(d, &ip);
    if (d->type == WEIR_DATAGRAM)
        udp_header_make(d, &ip, record, header);
    // of the bytes, in the header
    const uint32_t own = summed6 ? raw_header6(weir, &ip, bytes, message->length, header) : 0;
    const uint32_t head = header_bytes(d) + own, rest = message->length - own;
    enum weir_tx_verdict verdict = WEIR_TX_DONE;
    if (!group || ip.ttl)  // a multicast with 0 stays on this host
        verdict = ip_output_datagram(weir, &d->path, &ip, header, head, bytes + own, rest, &d->send_progress, &d->sock,
                                     error);
    if (verdict == WEIR_TX_DONE && !*error)
        loop_back(weir, d, &ip, header, head, bytes + own, rest);
    return verdict;
}

// The first datagram is gone, one way or another.
static void record_end(struct weir *weir, struct datagram *d)
{
    uint32_t length;
    const struct send_record *record = records_front(&d->send, &length);
    const bool was_full = d->send.used > d->send.limit / 2;
    d->send_bytes -= record->message.length;
    d->send_progress = 0;
    records_pop(&d->send, &weir->memory);
    if (d->send.used <= d->send.limit / 2 && (was_full || d->options & DATAGRAM_REFUSED) &&
        !(d->options & DATAGRAM_CLOSED)) {
        d->options &= (uint8_t)~DATAGRAM_REFUSED;
        sock_event(&weir->socks, &d->sock, WEIR_WRITABLE);
    }
}

// It stays a call: taken into the loop over all sockets it would cost TCP, beside it there, its registers.
__attribute__((noinline)) enum weir_tx_verdict datagram_output(struct weir *weir, struct datagram *d, uint32_t *quantum,
                                                               bool *more)
{
    uint32_t length;
    for (const struct send_record *record; (record = records_front(&d->send, &length));) {
        if (!*quantum) {
            *more = true;
            return WEIR_TX_FULL;
        }
        int error = WEIR_OK;
        const uint32_t bytes = record->message.length;
        const enum weir_tx_verdict verdict = record_send(weir, d, record, &error);
        if (verdict == WEIR_TX_FULL || verdict == WEIR_TX_UNRESOLVED)
            return verdict;
        if (error)
            datagram_fail(weir, d, error);
        else if (d->type == WEIR_DATAGRAM)
            count(weir, WEIR_COUNT_UDP_SENT);
        *quantum -= min_u32(*quantum, 1 + (d->path.mtu ? bytes / d->path.mtu : 0));
        record_end(weir, d);
    }
    if (d->options & DATAGRAM_CLOSED)
        closed_end(weir, d);
    return WEIR_TX_DONE;
}

// RFC 1122 §4.1.3.3: the user of a connected socket learns of it; another could not tell whom it is about.
void datagram_link_failed(struct weir *weir, struct datagram *d, int error)
{
    uint32_t length;
    const struct send_record *record = records_front(&d->send, &length);
    if (record) {
        if (datagram_connected(d) && weir_addr_equal(record->message.peer.addr, d->peer.addr))
            datagram_fail(weir, d, error);
        record_end(weir, d);
    }
    // The link puts the sock back on the output list: there what is left is sent, and a closed socket ends.
}

// --- receiving -------------------------------------------------------------------------------------------------------

uint32_t datagram_match(const struct datagram *d, const struct packet *packet)
{
    uint32_t score = 1;
    if (d->sock.netif_bound) {
        if (d->sock.netif_bound != packet->netif->index)
            return 0;
        score += 1;
    }
    if (packet->flags & PACKET_IP_MULTICAST && !membership_has(d, packet))
        return 0;
    if (weir_addr_is_any(d->local.addr)) {
        if (!sock_covers(&d->sock, d->local.addr, packet->destination))
            return 0;
    } else {
        // A broadcast is for everybody on the subnet, so also for who is bound to an address.
        if (!weir_addr_equal(d->local.addr, packet->destination) && !(packet->flags & PACKET_IP_BROADCAST))
            return 0;
        score += 2;
    }
    if (datagram_connected(d)) {
        if (!weir_addr_equal(d->peer.addr, packet->source))
            return 0;
        score += 4;
    }
    return score;
}

static uint8_t *record_new(struct weir *weir, struct datagram *d, const struct packet *packet, uint16_t port,
                           uint32_t length)
{
    struct weir_message *message = records_push(&d->receive, &weir->memory, (uint32_t)sizeof *message + length);
    if (!message) {
        count(weir, WEIR_COUNT_UDP_QUEUE_FULL);
        return NULL;
    }
    *message = (struct weir_message){.peer = {packet->source, port},
                                     .local = packet->destination,
                                     .netif_index = packet->netif->index,
                                     .ttl = packet->ttl,
                                     .tos = packet->tos,
                                     .length = length};
    datagram_ip_options_note(d, packet, message);
    return (uint8_t *)(message + 1);
}

static void record_seen(struct weir *weir, struct datagram *d, uint32_t length)
{
    d->receive_bytes += length;
    if (d->receive_bytes >= d->receive_low_water || length == 0)
        sock_event(&weir->socks, &d->sock, WEIR_READABLE);
}

bool datagram_receive(struct weir *weir, struct datagram *d, const struct packet *packet, uint32_t at, uint32_t length,
                      uint16_t port, const uint16_t *sum)
{
    if (d->options & DATAGRAM_SHUT_READ)
        return true;
    uint8_t *bytes = record_new(weir, d, packet, port, length);
    if (!bytes)
        return true;
    if (!sum) {
        packet_copy(packet, at, bytes, length);
    } else if (checksum_add_at(*sum, packet_copy_sum(weir->port, packet, at, bytes, length), at) != 0xffff) {
        records_unpush(&d->receive);
        return false;
    }
    record_seen(weir, d, length);
    return true;
}

void datagram_receive_whole(struct weir *weir, struct datagram *d, const struct packet *packet)
{
    if (d->options & DATAGRAM_SHUT_READ)
        return;
    // RFC 3542 §3: none of IPv6
    const uint32_t header_length = weir_addr_is_v4(packet->destination) ? packet->network_length : 0;
    uint8_t *bytes = record_new(weir, d, packet, 0, header_length + packet->length);
    if (!bytes)
        return;
    memcpy(bytes, packet->network, header_length);
    packet_copy(packet, 0, bytes + header_length, packet->length);
    record_seen(weir, d, header_length + packet->length);
}

int datagram_peek(struct weir *weir, struct datagram *d, struct weir_message *message, struct weir_slice *slice)
{
    uint32_t length;
    (void)weir;
    if (d->error)
        return datagram_error_take(d);
    const struct weir_message *record = records_front(&d->receive, &length);
    if (!record)
        return d->options & DATAGRAM_SHUT_READ ? WEIR_SHUT_DOWN : WEIR_AGAIN;
    *message = *record;
    *slice = (struct weir_slice){(const uint8_t *)(record + 1), record->length};
    return (int)record->length;
}

int datagram_discard(struct weir *weir, struct datagram *d)
{
    uint32_t length;
    const struct weir_message *record = records_front(&d->receive, &length);
    if (!record)
        return WEIR_AGAIN;
    d->receive_bytes -= record->length;
    records_pop(&d->receive, &weir->memory);
    return WEIR_OK;
}

uint8_t datagram_ready(const struct datagram *d)
{
    uint32_t length;
    uint8_t ready = 0;
    const struct weir_message *record = records_front(&d->receive, &length);
    if (record && (d->receive_bytes >= d->receive_low_water || record->length == 0))
        ready |= WEIR_READABLE;
    if (d->send.used <= d->send.limit / 2 || d->options & DATAGRAM_SHUT_WRITE)
        ready |= WEIR_WRITABLE;
    if (d->options & DATAGRAM_SHUT_READ)
        ready |= WEIR_READABLE | WEIR_READ_CLOSED | (d->options & DATAGRAM_SHUT_WRITE ? WEIR_HANGUP : 0);
    if (datagram_search_news(d))
        ready |= WEIR_URGENT;
    if (d->error)
        ready |= WEIR_ERROR | WEIR_READABLE | WEIR_WRITABLE;
    return ready;
}
