// SPDX-License-Identifier: BSD-2-Clause
// The instance: its life, and one turn of its wheel (weir_poll). Here alone every layer is in sight: the tables that
// lead a packet upwards, and the dispatch that leads a socket's turn to transmit downwards.
#include "instance.h"

#include "ip/flow.h"
#include "ip/icmp.h"
#include "link/handler.h"
#include "link/trace.h"
#include "socket/socket.h"
#include "udp/dplpmtud.h"
#include "wire/ethernet.h"
#include "wire/ip4.h"
#include "wire/ip6.h"

// What one weir_poll does at the most; what is left makes the next deadline "now". With a million connections none of
// it is in the processor's caches: each of these costs one to five microseconds.
#define TIMERS_PER_POLL 16u
#define TIMERS_SORTED_PER_POLL 256u  // in memory of connections that may be cold, too
#define TURNS_PER_POLL 16u           // sockets that send something, or an ACK alone
#define FRAMES_PER_POLL 256u         // of all of them together; one quantum at the least

static const struct ethertype ethertypes[] = {
#if WEIR_CFG_IP4
    {ETHERTYPE_IP4, ip4_input},
#endif
#if WEIR_CFG_IP6
    {ETHERTYPE_IP6, ip6_input},
#endif
    {0, NULL},
};

static const struct ip_protocol protocols[] = {
    {IP_TCP, IP_VERSIONS, tcp_input, tcp_error},
#if WEIR_CFG_UDP
    {IP_UDP, IP_VERSIONS, udp_input, udp_error},
#endif
#if WEIR_CFG_IP4
    {IP_ICMP, IP_VERSION_4, icmp_input, NULL},
#endif
#if WEIR_CFG_IP6
    {IP6_ICMP, IP_VERSION_6, icmp6_input, NULL},
#endif
#if WEIR_CFG_IGMP && WEIR_CFG_IP4
    {IP_IGMP, IP_VERSION_4, igmp_input, NULL},
#endif
    {0, 0, NULL, NULL},
};

static void random_init(struct weir *weir)
{
    uint8_t seed[16];
    weir->port->entropy(weir->port->context, seed, sizeof seed);
    random_seed(&weir->random, seed);
    random_bytes(&weir->random, &weir->hash_key, sizeof weir->hash_key);
    random_bytes(&weir->random, &weir->isn_key, sizeof weir->isn_key);
    random_bytes(&weir->random, &weir->port_key, sizeof weir->port_key);
}

// Modules start from the bottom up; weir_destroy ends them in reverse, and copes with those that never started.
static int modules_init(struct weir *weir, const struct weir_config *config)
{
    int error = handles_init(weir, config->sockets_max ? config->sockets_max : WEIR_CFG_SOCKETS);
    if (!error)
        error = arp_init(weir);
    if (!error)
        error = ip_init(weir);
    if (!error)
        error = loopback_init(weir);
    if (!error)
        error = udp_init(weir);
    if (!error)
        error = tcp_init(weir, config);
    return error;
}

// Of the memory given to weir_create: the instance, and what modules_init will carve.
static size_t block_bytes(const struct weir_config *config)
{
    return memory_carve_bytes(sizeof(struct weir)) +
           handles_bytes(config->sockets_max ? config->sockets_max : WEIR_CFG_SOCKETS) + arp_bytes() + ip_bytes() +
           loopback_bytes() + udp_bytes() + tcp_bytes(config);
}

static uint64_t budget_bytes(const struct weir_config *config)
{
    const uint64_t chosen = config->memory_budget_bytes, usual = (uint64_t)WEIR_CFG_MEMORY_BUDGET_MB << 20;
    return chosen ? chosen : usual ? usual : UINT64_MAX;
}

size_t weir_size(const struct weir_config *config)
{
    static const struct weir_config defaults = {0};
    return block_bytes(config ? config : &defaults);
}

struct weir *weir_create(void *memory, size_t bytes, const struct weir_port *port, const struct weir_config *config)
{
    static const struct weir_config defaults = {0};
    if (!config)
        config = &defaults;
    if (!port->entropy || (memory ? bytes < block_bytes(config) : !port->alloc))
        return NULL;
    struct weir *weir = memory ? memory : port->alloc(port->context, sizeof *weir);
    if (!weir)
        return NULL;
    memset(weir, 0, sizeof *weir);
    weir->port = port;
    weir->carved_all = memory != NULL;
    weir->memory.port = port;
    memory_budget_set(&weir->memory, budget_bytes(config));
    if (memory) {
        weir->memory.block = (uint8_t *)memory + sizeof *weir;
        weir->memory.block_bytes = bytes - sizeof *weir;
    }
    weir->slow_due_us = WEIR_NEVER;
    weir->ethertypes = ethertypes;
    weir->protocols = protocols;
    random_init(weir);
    wheel_init(&weir->wheel, 0);
    socks_init(&weir->socks);
    if (modules_init(weir, config) != WEIR_OK) {
        if (!memory)  // otherwise nothing was taken that has to be given back
            weir_destroy(weir);
        return NULL;
    }
    return weir;
}

// Closed connections whose turn on the output list will not come any more.
static void dead_free(struct weir *weir)
{
    struct sock *sock;
    while ((sock = sock_output_pop(&weir->socks)) != NULL)
        if (sock->flags & SOCK_DEAD)
            tcp_destroy(weir, (struct tcp_conn *)sock);
}

void weir_destroy(struct weir *weir)
{
    link_self_check_all(weir);
    sockets_abort_all(weir);
    tcp_abort_all(weir);
    socks_unblock(&weir->socks);  // what ended while its interface was full is freed by the poll
    if (weir->now_us)
        weir_poll(weir, weir->now_us);
    while (weir->now_us && weir->socks.output.head)  // more than one poll serves
        weir_poll(weir, weir->now_us);
    while (weir->netifs)  // first: what waits for a neighbour is let go of here
        weir_netif_remove(weir->netifs);
    dead_free(weir);
    loopback_free(weir);
    tcp_free(weir);
    udp_free(weir);
    ip_free(weir);
    arp_free(weir);
    handles_free(weir);
    if (!weir->carved_all)
        weir->port->free(weir->port->context, weir, sizeof *weir);
}

const struct weir_port *weir_port(const struct weir *weir) { return weir->port; }
uint64_t weir_now_us(const struct weir *weir) { return weir->now_us; }
void weir_random_bytes(struct weir *weir, void *out, size_t bytes) { random_bytes(&weir->random, out, bytes); }
void weir_random_stir(struct weir *weir, const void *seed, size_t bytes) { random_stir(&weir->random, seed, bytes); }
uint32_t weir_counter_get(const struct weir *weir, enum weir_counter counter) { return counted(weir, counter); }
uint64_t weir_memory_used(const struct weir *weir) { return weir->memory.used_bytes; }
uint64_t weir_memory_limit(const struct weir *weir) { return weir->memory.budget_bytes; }

// The millisecond clock is counted up, not divided down: short steps, the usual case, cost a compare.
static void clock_ms(struct weir *weir, uint64_t step_us)
{
    if (step_us > 1000000) {
        weir->now_ms += (uint32_t)(step_us >> 20) * 1048;  // 2^20 µs are 1048 ms and 576 µs
        weir->ms_fraction_us += (uint32_t)(step_us >> 20) * 576;
        step_us &= 0xfffff;
    }
    weir->ms_fraction_us += (uint32_t)step_us;
    if (weir->ms_fraction_us >= 1000) {
        weir->now_ms += weir->ms_fraction_us / 1000;
        weir->ms_fraction_us %= 1000;
    }
}

void weir_clock(struct weir *weir, uint64_t now_us)
{
    if (now_us <= weir->now_us)
        return;
    clock_ms(weir, now_us - weir->now_us);
    weir->now_us = now_us;
    if (weir->now - (uint32_t)now_us >
        weir->port->granularity_us)  // else clock_step was ahead of a clock finer than it says
        weir->now = (uint32_t)now_us;
}

static inline void frame_input(struct weir_netif *netif, const struct weir_frame *frame)
{
    if (!(netif->flags & WEIR_NETIF_UP))
        return;
    trace_frame(netif, "in", frame->length);
    // below, headers are read without asking again
    if (frame->slices[0].length < min_u32(frame->length, WEIR_FRAME_HEAD)) {
        NETIF_COUNT(netif, rx_runt);
        return;
    }
    netif_counted_in(netif, frame);
    taps_show_in(netif, frame);
    const struct flow *const flow = WEIR_CFG_FAST_PATH ? flow_match(netif, frame) : NULL;
    if (!WEIR_CFG_FAST_PATH || !flow)
        netif->link->input(netif, frame);
    else if (!tcp_predict_frame(netif->weir, flow, frame))
        flow_input(netif, frame, flow);
}

void weir_input(struct weir_netif *netif, const struct weir_frame *frame)
{
    frame_input(netif, frame);
    tcp_self_check(netif->weir);
}

void weir_tx_complete(struct weir_netif *netif, void *hold_owner, uint32_t hold_end)
{
    if (netif->weir)
        tcp_held_complete(netif->weir, hold_owner, hold_end);
}

void neighbour_failed(struct weir *weir, struct sock *sock, int error)
{
    if (sock->kind == SOCK_TCP)
        tcp_link_failed(weir, (struct tcp_conn *)sock, error);
    else
        datagram_link_failed(weir, (struct datagram *)sock, error);
}

// One sock's turn; one that is dead has at the most its last words to say. Returns whether it stopped only because its
// quantum was used up. Takes from *frames what it sent.
static bool sock_turn(struct weir *weir, struct sock *sock, uint32_t *frames)
{
    const uint8_t flags = sock->flags;
    const uint32_t quantum = min_u32(*frames, WEIR_CFG_POLL_QUANTUM);
    uint32_t left = quantum;
    bool more = false;
    enum weir_tx_verdict verdict;
    if (sock->kind == SOCK_TCP)
        verdict = tcp_output(weir, (struct tcp_conn *)sock, &left, &more);
    else
        verdict = datagram_output(weir, (struct datagram *)sock, &left, &more);
    *frames -= quantum - left;
    if (more)
        sock_output(&weir->socks, sock);
    else if (verdict == WEIR_TX_FULL)
        sock_blocked(&weir->socks, sock);
    else if (flags & SOCK_DEAD && verdict != WEIR_TX_UNRESOLVED)
        tcp_destroy(weir, (struct tcp_conn *)sock);
    return more;
}

// One round over the socks that were on the output list when it began, or as many of them as one poll serves: the
// others stay first. Returns whether any wants another turn.
static bool output_round(struct weir *weir)
{
    struct sock **const end = weir->socks.output.tail;
    struct sock *next = socks_output_all(&weir->socks);
    uint32_t frames = max_u32(FRAMES_PER_POLL, WEIR_CFG_POLL_QUANTUM);
    bool more = false;
    for (uint32_t turns = 0; next && frames && turns < TURNS_PER_POLL; turns++) {
        struct sock *sock = next;
        next = sock_output_take(sock);
        more |= sock_turn(weir, sock, &frames);
    }
    if (next)
        socks_output_before(&weir->socks, next, end);
    return more;
}

// Returns whether there may be more than one poll fires.
static __attribute__((noinline)) bool timers_round(struct weir *weir)
{
    uint32_t left = TIMERS_SORTED_PER_POLL;
    for (uint32_t fired = 0; fired < TIMERS_PER_POLL; fired++) {
        struct wheel_node *node = wheel_pop_within(&weir->wheel, weir->now, &left);
        if (!node)
            return false;
        tcp_timer(weir, node);
    }
    return true;
}

void slow_due(struct weir *weir, uint64_t at_us)
{
    if (at_us < weir->slow_due_us)
        weir->slow_due_us = at_us;
}

static __attribute__((noinline)) void slow_work(struct weir *weir)
{
    weir->slow_due_us = WEIR_NEVER;
    slow_due(weir, tcp_poll(weir, weir->now_us));
    slow_due(weir, ip_poll(weir, weir->now_us));
    slow_due(weir, arp_poll(weir, weir->now_us));
    udp_poll(weir);
}

// Replies come with nearly every connection that opens or closes: the outbox alone is looked at for them, not every
// module. A full interface makes it wait for its deadline.
static inline void slow_round(struct weir *weir)
{
    if (weir->now_us >= weir->slow_due_us)
        slow_work(weir);
    if (weir->ip.outbox_due)
        slow_due(weir, outbox_poll(weir, weir->now_us));
}

static void flush_netifs(struct weir *weir)
{
    for (struct weir_netif *netif = weir->netifs; netif; netif = netif->next)
        if (netif->driver->flush)
            netif->driver->flush(netif);
}

static inline uint64_t next_deadline(const struct weir *weir)
{
    uint32_t in_us;
    uint64_t deadline = weir->slow_due_us;
    if (wheel_next(&weir->wheel, weir->now, &in_us) && weir->now_us + in_us < deadline)
        deadline = weir->now_us + in_us;
    return deadline;
}

static uint64_t work(struct weir *weir)
{
    bool more = loopback_pending(weir) && loopback_poll(weir);
    more |= wheel_due(&weir->wheel, weir->now) && timers_round(weir);
    if (memory_beyond(&weir->memory, MEMORY_REFUSE))
        slow_due(weir, tcp_relieve(weir));
    slow_round(weir);
    if (weir->socks.output.head) {
        more |= output_round(weir);
        slow_round(weir);  // replies and ARP requests that this very round made due
    }
    if (weir->flush_count)
        flush_netifs(weir);
    return more || loopback_pending(weir) || weir->socks.output.head ? weir->now_us : next_deadline(weir);
}

uint64_t weir_poll(struct weir *weir, uint64_t now_us)
{
    weir_clock(weir, now_us);
    const uint64_t next_us = work(weir);
    tcp_self_check(weir);
    link_self_check(weir);
    return next_us;
}
