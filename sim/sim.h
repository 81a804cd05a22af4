// SPDX-License-Identifier: BSD-2-Clause
// A network of Weir hosts in virtual time: seeded, and the same to the byte whenever it runs again. One thread; a
// network knows nothing of another. Times are nanoseconds of virtual time since the start, rates bits a second, chances
// millionths. docs/simulator.md.
//
//     struct sim *sim = sim_open(&(struct sim_options){.seed = 7});
//     struct sim_host *a = sim_host_add(sim, "a", NULL), *b = sim_host_add(sim, "b", NULL);
//     sim_link_add(sim, sim_node_of(a), sim_node_of(b),
//                  &(struct sim_link_options){.there = {.rate = 10000000, .delay_ns = SIM_MS(10)}});
//     struct sim_flow *flow = sim_flow_add(sim, a, b, &(struct sim_flow_options){.congestion_control = "cubic"});
//     if (!sim_run(sim, SIM_S(15)))
//         fprintf(stderr, "%s\n", sim_failure(sim));
//     sim_close(sim);
//
// What goes beyond bulk flows: blocking programs on fibres (sim/fibre.h), timers of one's own (sim/event.h), traces
// (sim/trace.h).
#ifndef SIM_H
#define SIM_H

#include <stdbool.h>
#include <stdint.h>

#include "drivers/wrap/trace.h"
#include "weir/instance.h"
#include "weir/socket.h"
#include "weir/stats.h"

#define SIM_US(us) ((uint64_t)(us)*1000u)
#define SIM_MS(ms) ((uint64_t)(ms)*1000000u)
#define SIM_S(s) ((uint64_t)(s)*1000000000u)
#define SIM_NEVER UINT64_MAX

struct weir_cc;  // weir/cc.h

struct sim;
struct sim_node;  // a host, a switch or a router
struct sim_host;
struct sim_link;
struct sim_flow;

struct sim_options {
    uint64_t seed;
    uint8_t family;  // 6: all hosts speak IPv6 alone; 0 or 4: IPv4
    bool unchecked;  // no observer on the wire and no checks: only for measuring what they cost
    const struct weir_cc *const
        *congestion_controls;   // registered with each host (weir_cc_register); ends with NULL. NULL: none
    struct trace_file *events;  // what all hosts do (drivers/wrap/trace.h), open until sim_close; NULL: not written
};
struct sim *sim_open(const struct sim_options *options);
void sim_close(struct sim *sim);  // blocked fibres are interrupted first; frees everything
// Lets time pass. False: something that must always hold did not (sim_failure); the network then stands still.
bool sim_run(struct sim *sim, uint64_t until_ns);
// As sim_run, until done(context) after some event; true also at the limit: look at sim_now.
bool sim_run_until(struct sim *sim, bool (*done)(void *context), void *context, uint64_t limit_ns);
uint64_t sim_now(const struct sim *sim);
uint64_t sim_events(const struct sim *sim);  // that happened so far
// A broken promise: the first one is kept, and ends the run. NULL: none.
void sim_fail(struct sim *sim, const char *format, ...) __attribute__((format(printf, 2, 3)));
const char *sim_failure(const struct sim *sim);
uint64_t sim_draw(struct sim *sim);  // the network's own dice

// --- nodes -----------------------------------------------------------------------------------------------------------
struct sim_host_options {           // zero: the defaults
    struct weir_config config;      // of its instance
    uint32_t granularity_us;        // of its clock, and of its timers; 0: 1
    uint64_t memory_limit_bytes;    // more in use at any time is a failure; 0: none
    uint32_t fail_allocations_ppm;  // chance that the port's allocator says no
    uint16_t mtu;                   // 0: 1500
    bool lies;  // what it sends is changed on the way (sim/liar.h): the observer says nothing of its conversations
    uint64_t clock_us;    // what its clock shows at the start; 0: drawn, so that 32-bit times wrap somewhere
    bool autoconfigured;  // of IPv6: its addresses come from routers that advertise
    bool listens;         // of IPv6: it has its own address, and takes what routers advertise besides
};
// The host's address is 10.0.0.1 for the first one, and so on, within one prefix of 8 bits; or fd00::1 and so on within
// one of 64; or the best that a router's prefix gave it.
struct sim_host *sim_host_add(struct sim *sim, const char *name, const struct sim_host_options *options);
struct sim_node *sim_node_of(struct sim_host *host);
struct weir *sim_host_weir(struct sim_host *host);
struct weir_addr sim_host_address(const struct sim_host *host);  // any: it has none yet
const char *sim_node_name(const struct sim_node *node);
// After native calls outside an event of that host: its poller looks at it at once.
void sim_host_kick(struct sim_host *host);
uint64_t sim_host_memory(const struct sim_host *host);       // bytes in use
uint64_t sim_host_memory_peak(const struct sim_host *host);  // the most that was in use so far
// Ethernet between links. It knows where every host is; broadcasts go everywhere, so switches must not form a ring.
struct sim_node *sim_switch_add(struct sim *sim, const char *name);
// IP between links: counts TTL down, says when a packet is too big, answers ARP or neighbour solicitations for all
// hosts that lie elsewhere.
struct sim_node *sim_router_add(struct sim *sim, const char *name);
// What it tells the hosts on its links (RFC 4861 §6.2), when one asks, at once, and again and again. Prefix 0 is
// fd00:0:0:1::/64, and so on. It is then the first hop of all that these hosts send.
struct sim_prefix {
    uint8_t number;
    uint32_t preferred_s, valid_s;
};
struct sim_advertisement {
    uint16_t lifetime_s;  // of the router
    uint16_t mtu;         // 0: none is told
    uint64_t every_ns;    // 0: once
    uint8_t prefix_count;
    struct sim_prefix prefixes[3];
};
void sim_router_advertise(struct sim_node *router, const struct sim_advertisement *what);
void sim_router_kill(struct sim_node *router, bool dead);  // takes nothing, says nothing, while its links stay up

// --- links -----------------------------------------------------------------------------------------------------------
enum sim_queue { SIM_DROP_TAIL, SIM_CODEL };  // RFC 8289

// One direction of a link, in the order a frame meets it: queue, serialiser, loss, corruption, duplication, delay.
// Zero: perfect.
struct sim_way {
    uint64_t rate;                       // bits a second of layer 2, without FCS; 0: no serialiser, and so no queue
    uint32_t queue_bytes, queue_frames;  // waiting at most; 0: no limit
    enum sim_queue queue;
    uint64_t codel_target_ns, codel_interval_ns;  // 0: 5 and 100 ms
    bool codel_marks;                             // marks what can be marked, and drops the rest
    uint32_t mark_bytes;                          // frames that find so many bytes waiting are marked; 0: never
    uint64_t police_rate;   // bits a second, of a token bucket of police_bytes before the queue: frames that find too
    uint32_t police_bytes;  // few tokens are dropped; 0: no policer
    bool backpressure;      // a host's frame that finds no room is refused (WEIR_TX_FULL), not dropped
    uint32_t loss_ppm;      // each frame on its own
    uint32_t burst_ppm, burst_end_ppm, burst_loss_ppm;  // Gilbert–Elliott: chances to go bad, to end it, to lose
    uint64_t burst_most_ns;  // it is over after so long, however few frames met it; 0: frames alone count
    bool loss_spares_arp;    // losses strike IP only, as those of a firewall do
    uint32_t corrupt_ppm;    // one bit of the IP packet
    uint32_t duplicate_ppm;
    uint64_t delay_ns;
    uint64_t jitter_ns;    // added to the delay, evenly from 0; order is kept
    uint32_t reorder_ppm;  // held back by reorder_ns, so that later frames overtake
    uint64_t reorder_ns;
    uint16_t mtu;  // larger IP packets are dropped here; 0: none are
};

struct sim_way_stats {
    uint64_t frames, bytes;  // that left the serialiser
    uint64_t offered, delivered, lost, dropped, marked, corrupted, duplicated, reordered, cut;
    uint64_t waited_ns;  // all frames together, in the queue
    uint32_t longest_queue_bytes;
};

struct sim_link_options {
    const char *name;      // NULL: the names of its ends
    struct sim_way there;  // a to b, and back unless …
    const struct sim_way *back;
    bool raw_ip;          // no Ethernet between two hosts; `overhead` then counts as layer 2
    uint16_t overhead;    // bytes added to each frame at the serialiser
    bool hide_carrier;    // hosts do not see when the link is cut
    const char *capture;  // a pcapng file with all frames as they are sent, lost ones too
};
// A host takes one link: its interface, with its address.
struct sim_link *sim_link_add(struct sim *sim, struct sim_node *a, struct sim_node *b,
                              const struct sim_link_options *options);
void sim_link_set(struct sim_link *link, bool back, const struct sim_way *way);  // while it runs
void sim_link_cut(struct sim_link *link, bool cut);  // a cut loses what enters it and what is under way
// Down for down_ns, `count` times, `period_ns` apart, first at first_ns.
void sim_link_flap(struct sim_link *link, uint64_t first_ns, uint64_t down_ns, uint64_t period_ns, uint32_t count);
const struct sim_way_stats *sim_link_stats(const struct sim_link *link, bool back);
uint32_t sim_link_queue(const struct sim_link *link, bool back);  // bytes that wait now
struct sim_link *sim_link_next(struct sim *sim, const struct sim_link *after);

// --- flows -----------------------------------------------------------------------------------------------------------
// A connection between two hosts whose users write and check a pattern that depends on the position in the stream.
struct sim_user {        // zero: writes and reads as fast as it can
    uint64_t bytes;      // that it sends
    uint32_t greeting;   // of these: the first, the rest only so long after the other has read them: when its answer
    uint64_t answer_ns;  // to them may have come
    uint32_t write_most, read_most;  // at once
    uint64_t write_every_ns;         // after each write it pauses so long
    uint64_t read_every_ns;
    uint64_t read_from_ns;  // after the connection is there
    uint32_t send_buffer, receive_buffer;
    bool no_delay, quick_ack, in_place;  // in_place: reserve/commit, peek/consume
    bool close_at_once;    // close, not shutdown, after the last byte (only where the other sends nothing)
    uint64_t abort_after;  // RST after so many bytes sent; 0: never
};

struct sim_flow_options {
    const char *congestion_control;  // a name, also of those registered; NULL: the instance's
    uint64_t start_ns;
    // the client connects; client.bytes 0 and server.bytes 0: the client sends until it is stopped
    struct sim_user client, server;
    bool may_fail;  // the network is such that the connection may time out
};

struct sim_flow_stats {
    bool connected, finished, failed;
    int error;                      // of the connection: enum weir_error
    uint64_t sent[2], received[2];  // 0: client to server, 1: back. received: read by the user, checked
    // first_ns, last_ns: of data at the server (at the client, if only it reads)
    uint64_t connected_ns, first_ns, last_ns, finished_ns;
    uint32_t tries;  // to connect
};
struct sim_flow *sim_flow_add(struct sim *sim, struct sim_host *client, struct sim_host *server,
                              const struct sim_flow_options *options);
void sim_flow_stop(struct sim_flow *flow);  // the client writes no more, and closes
const struct sim_flow_stats *sim_flow_stats(const struct sim_flow *flow);
// TCP_INFO of the client (server: of the server); false: it has no connection now.
bool sim_flow_info(const struct sim_flow *flow, bool server, struct weir_tcp_info *info);
struct sim_flow *sim_flow_next(struct sim *sim, const struct sim_flow *after);

#endif
