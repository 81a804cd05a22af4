// SPDX-License-Identifier: BSD-2-Clause
// What the files of sim/ share.
#ifndef SIM_INTERNAL_H
#define SIM_INTERNAL_H

#include <stddef.h>

#include "address.h"
#include "check.h"
#include "drivers/wrap/pcapng.h"
#include "event.h"
#include "frame.h"
#include "random.h"
#include "sim.h"

struct port {
    struct sim_node *node;
    struct sim_link *link;
    struct port *next;  // of the node
    uint8_t end;        // of the link
    uint16_t index;     // in the node
};

struct sim_node {
    struct sim *sim;
    struct sim_node *next;
    void (*receive)(struct port *port, struct frame *frame);  // takes the frame
    void (*attached)(struct port *port);                      // a link was added
    void (*carrier)(struct port *port, bool up);
    void (*room)(struct port *port);  // the queue behind the port refused a frame and has room now
    struct port *ports;
    uint16_t port_count;
    uint32_t index;  // of all nodes
    char name[16];
    // Which port leads to a host, by its number; made at the first frame after a link came (node.c).
    struct port **towards;
};

// A host's link address ends in its number, a router's in its index of all nodes: its second byte, a host's is 0.
#define NODE_MAC 1

struct sim_router {        // (node.c, family6.c)
    struct sim_node node;  // first
    struct sim_advertisement says;
    struct event advertise;
    bool dead;
};

struct queue {  // of one direction (queue.c)
    struct frame *first, *last;
    uint32_t bytes, frames;
    uint64_t first_above_ns, drop_next_ns;  // RFC 8289's state
    uint32_t drop_count, last_count;
    bool dropping;
};

struct way {  // one direction (link.c)
    struct sim_link *link;
    uint8_t back;
    struct sim_way way;
    struct sim_way_stats stats;
    struct queue queue;
    struct frame *serving;          // in the serialiser
    struct event served;            // it has left
    struct frame *flying, *newest;  // by arrival; the last of them
    struct event arrival;           // of the first
    uint64_t last_due_ns;
    uint64_t loss, damage, twice, wobble, late;  // dice
    bool bad;                                    // Gilbert–Elliott's state
    uint64_t bad_since_ns;                       // since when it is bad
    uint64_t police_ns;                          // when the policer's bucket is full again
    bool refused;                                // a host waits for room
};

struct sim_link {
    struct sim *sim;
    struct sim_link *next;
    struct sim_link_options options;
    char name[40];
    struct port ends[2];
    struct way ways[2];  // 0: from ends[0] to ends[1]
    struct pcapng capture;
    bool cut;
    struct event flap;
    uint64_t flap_down_ns, flap_period_ns;
    uint32_t flaps_left;
};

struct fibre;
struct scheduler;

struct sim_host {
    struct sim_node node;  // first
    uint32_t number;       // of all hosts
    struct sim_host_options options;
    struct weir *weir;
    struct weir_port port;
    struct trace_source *events;  // NULL: not written
    struct weir_addr address;
    uint8_t mac[6];
    struct weir_netif netif;
    struct event poll;
    uint64_t clock_us;  // its clock at virtual time 0
    uint64_t last_poll_ns;
    uint32_t polls_at_once;  // without time passing
    uint32_t ends_unseen;    // connections that were given up after their users had closed them
    uint64_t asked_ns;       // when it last asked all for a neighbour that it does not know
    uint32_t ends_told;      // connections that time ended here and whose users were told
    uint64_t memory, memory_peak;
    uint64_t entropy, failures;  // dice
    struct fibre *fibres;        // that live
    uint16_t next_port;          // for flows' servers
    uint16_t next_client;
};

struct sim {
    struct sim_options options;
    uint64_t now_ns;
    uint64_t happened;
    struct events events;
    struct frames frames;
    struct sim_node *nodes, **last_node;
    struct sim_host **hosts;  // by number
    uint32_t host_count, node_count, link_count;
    struct sim_link *links, **last_link;
    struct sim_flow *flows, **last_flow;
    uint32_t flow_count;
    struct check *check;  // NULL: unchecked
    uint64_t random;
    struct scheduler *scheduler;  // of fibres; NULL: there was none yet
    uint8_t *pattern;             // what users write (flow.c)
    uint8_t *scratch;
    bool closing;
    bool routed;  // `towards` of all nodes is up to date
    char failure[400];
};

// --- node.c
void node_add(struct sim *sim, struct sim_node *node, const char *name);
struct port *node_towards(struct sim_node *node, uint32_t host);
struct sim_host *node_host(struct sim_node *node);                      // NULL: not a host
struct sim_host *host_at(struct sim *sim, struct sim_address address);  // NULL: nobody's

// --- link.c
// A node hands a frame to the link behind its port.
void port_send(struct port *port, struct frame *frame);
// Whether a host's device would take a frame (way.backpressure); if not, node->room tells when it would.
bool port_takes(struct port *port, uint32_t length);
void links_close(struct sim *sim);

// --- queue.c: true: taken. `now` of the network. A frame that is dropped, there or when taken out, is freed and
// counted.
bool queue_put(struct sim *sim, struct way *way, struct frame *frame);
struct frame *queue_take(struct sim *sim, struct way *way);
bool queue_has_room(const struct way *way, uint32_t length);

// --- host.c
void hosts_close(struct sim *sim);
uint64_t host_now_us(const struct sim_host *host);
// tells the observer of connections given up after their users had closed them
void host_unseen_ends(struct sim_host *host);
void host_clock(struct sim_host *host);  // sets the instance's clock
uint64_t host_time_ns(const struct sim_host *host, uint64_t deadline_us);

// --- flow.c
void flows_close(struct sim *sim);
// A host has given up connections whose users had closed them: who may be left at the other end of such a one will find
// out.
void flows_left_alone(struct sim *sim, const struct sim_host *host);
struct sim *sim_of_flow(const struct sim_flow *flow);

// --- fibre.c
void fibres_close(struct sim_host *host);
void scheduler_free(struct sim *sim);

#endif
