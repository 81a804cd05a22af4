// SPDX-License-Identifier: BSD-2-Clause
// A link: two ways, each a queue, a serialiser, impairments and a line of frames in the air, in that order.
#include "internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct sim *sim_of(const struct way *way) { return way->link->sim; }

static void drop(struct way *way, struct frame *frame, uint64_t *counter)
{
    ++*counter;
    frame_free(&sim_of(way)->frames, frame);
}

// --- in the air ------------------------------------------------------------------------------------------------------

static void fly(struct way *way, struct frame *frame, uint64_t due_ns)
{
    struct sim *sim = sim_of(way);
    frame->at_ns = due_ns;
    frame->next = NULL;
    if (!way->flying || way->newest->at_ns <= due_ns) {
        if (way->flying)
            way->newest->next = frame;
        else
            way->flying = frame;
        way->newest = frame;
    } else {
        struct frame **at = &way->flying;
        while ((*at)->at_ns <= due_ns)
            at = &(*at)->next;
        frame->next = *at;
        *at = frame;
    }
    if (way->flying == frame)
        event_set(&sim->events, &way->arrival, due_ns);
}

static void arrive(void *context)
{
    struct way *way = context;
    struct sim *sim = sim_of(way);
    struct port *port = &way->link->ends[!way->back];
    while (way->flying && way->flying->at_ns <= sim->now_ns) {
        struct frame *frame = way->flying;
        way->flying = frame->next;
        way->stats.delivered++;
        port->node->receive(port, frame);
    }
    if (way->flying)
        event_set(&sim->events, &way->arrival, way->flying->at_ns);
}

// --- what happens to a frame on the way ------------------------------------------------------------------------------

// Gilbert–Elliott: a frame finds the way good or bad.
static bool is_bad(struct way *way)
{
    const struct sim_way *of = &way->way;
    const uint64_t now_ns = way->link->sim->now_ns;
    const bool was = way->bad && (!of->burst_most_ns || now_ns - way->bad_since_ns <= of->burst_most_ns);
    way->bad = was ? !random_happens(&way->loss, of->burst_end_ppm) : random_happens(&way->loss, of->burst_ppm);
    if (way->bad && !was)
        way->bad_since_ns = now_ns;
    return way->bad;
}

static bool is_lost(struct way *way, struct frame *frame)
{
    const struct sim_way *of = &way->way;
    if (of->loss_spares_arp && frame_resolves(frame))
        return false;
    if (of->burst_ppm && is_bad(way) && random_happens(&way->loss, of->burst_loss_ppm))
        return true;
    return random_happens(&way->loss, of->loss_ppm);
}

// One bit of the IP packet: its sums, or those of what it carries, must find it. (ARP has none, and a flipped MAC is a
// loss. Of IPv6's header a sum covers the addresses alone.)
static void damage(struct way *way, struct frame *frame)
{
    if (!random_happens(&way->damage, way->way.corrupt_ppm) || frame->damaged || !frame_ip(frame))
        return;
    const uint32_t bare = frame->head + (frame->data[frame->head] >> 4 == 6 ? 8u : 0);
    const uint32_t at = bare + random_below(&way->damage, frame->length - bare);
    frame->data[at] ^= (uint8_t)(1u << random_below(&way->damage, 8));
    frame->damaged = true;
    way->stats.corrupted++;
}

static uint64_t due(struct way *way)
{
    const struct sim_way *of = &way->way;
    uint64_t due_ns = sim_of(way)->now_ns + of->delay_ns;
    if (of->jitter_ns)
        due_ns += random_below(&way->wobble, (uint32_t)(of->jitter_ns / 1000 + 1)) * UINT64_C(1000);
    if (due_ns < way->last_due_ns)
        due_ns = way->last_due_ns;
    if (random_happens(&way->late, of->reorder_ppm)) {
        way->stats.reordered++;
        return due_ns + of->reorder_ns;
    }
    way->last_due_ns = due_ns;
    return due_ns;
}

static void travel(struct way *way, struct frame *frame)
{
    way->stats.frames++;
    way->stats.bytes += frame->length;
    if (way->link->cut) {
        drop(way, frame, &way->stats.cut);
        return;
    }
    if (is_lost(way, frame)) {
        drop(way, frame, &way->stats.lost);
        return;
    }
    damage(way, frame);
    if (random_happens(&way->twice, way->way.duplicate_ppm)) {
        way->stats.duplicated++;
        fly(way, frame_copy(&sim_of(way)->frames, frame), due(way));
    }
    fly(way, frame, due(way));
}

// --- the serialiser --------------------------------------------------------------------------------------------------

static void tell_of_room(struct way *way)
{
    struct port *port = &way->link->ends[way->back];
    if (!way->refused || !queue_has_room(way, FRAME_POOLED))
        return;
    way->refused = false;
    port->node->room(port);
}

static void serve(struct way *way)
{
    struct sim *sim = sim_of(way);
    struct frame *frame = queue_take(sim, way);
    way->serving = frame;
    if (frame)
        event_set(&sim->events, &way->served,
                  sim->now_ns + (frame->length + way->link->options.overhead) * UINT64_C(8000000000) / way->way.rate);
    tell_of_room(way);
}

static void served(void *context)
{
    struct way *way = context;
    struct frame *frame = way->serving;
    way->serving = NULL;
    travel(way, frame);
    if (way->way.rate) {
        serve(way);
        return;
    }
    while ((frame = queue_take(sim_of(way), way)) != NULL)  // the rate was taken away meanwhile
        travel(way, frame);
}

// A token bucket, by the time at which it is full again: a frame passes if that is no further off than what the bucket
// holds takes to come.
static bool is_policed(struct way *way, uint32_t length)
{
    const struct sim_way *of = &way->way;
    const uint64_t now_ns = way->link->sim->now_ns;
    if (!of->police_rate)
        return false;
    const uint64_t full_ns =
        (way->police_ns > now_ns ? way->police_ns : now_ns) + length * UINT64_C(8000000000) / of->police_rate;
    if (full_ns - now_ns > of->police_bytes * UINT64_C(8000000000) / of->police_rate)
        return true;
    way->police_ns = full_ns;
    return false;
}

bool port_takes(struct port *port, uint32_t length)
{
    struct way *way = &port->link->ways[port->end];
    if (!way->way.backpressure || !way->serving || queue_has_room(way, length))
        return true;
    way->refused = true;
    return false;
}

void port_send(struct port *port, struct frame *frame)
{
    struct sim_link *link = port->link;
    struct way *way = &link->ways[port->end];
    way->stats.offered++;
    if (link->capture.file)
        pcapng_packet(&link->capture, 0, port->end == 0 ? PCAPNG_OUT : PCAPNG_IN,
                      &(struct weir_slice){frame->data, frame->length}, 1, link->sim->now_ns);
    if (link->cut)
        drop(way, frame, &way->stats.cut);
    else if (way->way.mtu && frame->length > way->way.mtu + (uint32_t)frame->head)
        drop(way, frame, &way->stats.dropped);
    else if (is_policed(way, frame->length))
        drop(way, frame, &way->stats.dropped);
    else if (!way->way.rate && !way->serving)
        travel(way, frame);
    else if (!queue_put(link->sim, way, frame))
        drop(way, frame, &way->stats.dropped);
    else if (!way->serving)
        serve(way);
}

// --- the link --------------------------------------------------------------------------------------------------------

static void way_open(struct way *way, struct sim_link *link, uint8_t back, const struct sim_way *of)
{
    const uint64_t use = (link->sim->link_count * 2 + back) * 8 + 1000;
    way->link = link;
    way->back = back;
    way->way = *of;
    way->loss = random_state(link->sim->options.seed, use);
    way->damage = random_state(link->sim->options.seed, use + 1);
    way->twice = random_state(link->sim->options.seed, use + 2);
    way->wobble = random_state(link->sim->options.seed, use + 3);
    way->late = random_state(link->sim->options.seed, use + 4);
    way->arrival = (struct event){.happen = arrive, .context = way};
    way->served = (struct event){.happen = served, .context = way};
}

static void attach(struct sim_link *link, uint8_t end, struct sim_node *node)
{
    struct port *port = &link->ends[end], **at = &node->ports;
    *port = (struct port){.node = node, .link = link, .end = end, .index = node->port_count++};
    while (*at)
        at = &(*at)->next;
    *at = port;
    if (node->attached)
        node->attached(port);
}

static void flap(void *context)
{
    struct sim_link *link = context;
    const uint64_t now_ns = link->sim->now_ns;
    sim_link_cut(link, !link->cut);
    if (link->cut)
        event_set(&link->sim->events, &link->flap, now_ns + link->flap_down_ns);
    else if (--link->flaps_left)
        event_set(&link->sim->events, &link->flap, now_ns + link->flap_period_ns - link->flap_down_ns);
}

struct sim_link *sim_link_add(struct sim *sim, struct sim_node *a, struct sim_node *b,
                              const struct sim_link_options *options)
{
    static const struct sim_link_options perfect = {0};
    struct sim_link *link = calloc(1, sizeof *link);
    if (!link)
        abort();
    link->sim = sim;
    link->options = options ? *options : perfect;
    snprintf(link->name, sizeof link->name, "%s-%s", a->name, b->name);
    if (link->options.name)
        snprintf(link->name, sizeof link->name, "%s", link->options.name);
    way_open(&link->ways[0], link, 0, &link->options.there);
    way_open(&link->ways[1], link, 1, link->options.back ? link->options.back : &link->options.there);
    link->options.back = NULL;
    link->flap = (struct event){.happen = flap, .context = link};
    if (link->options.capture) {
        if (pcapng_open(&link->capture, link->options.capture, 0) != WEIR_OK)
            sim_fail(sim, "%s", link->capture.error);
        else
            pcapng_interface(&link->capture, link->name, link->options.raw_ip ? PCAPNG_RAW_IP : PCAPNG_ETHERNET, NULL);
    }
    *sim->last_link = link;
    sim->last_link = &link->next;
    sim->link_count++;
    sim->routed = false;
    attach(link, 0, a);
    attach(link, 1, b);
    return link;
}

void sim_link_set(struct sim_link *link, bool back, const struct sim_way *way)
{
    link->ways[back].way = *way;
    tell_of_room(&link->ways[back]);
}

static void lose_what_flies(struct way *way)
{
    struct sim *sim = sim_of(way);
    while (way->flying) {
        struct frame *frame = way->flying;
        way->flying = frame->next;
        drop(way, frame, &way->stats.cut);
    }
    event_cancel(&sim->events, &way->arrival);
}

void sim_link_cut(struct sim_link *link, bool cut)
{
    if (link->cut == cut)
        return;
    link->cut = cut;
    for (int end = 0; end < 2; end++) {
        struct port *port = &link->ends[end];
        if (cut)
            lose_what_flies(&link->ways[end]);
        if (port->node->carrier && !link->options.hide_carrier)
            port->node->carrier(port, !cut);
    }
}

void sim_link_flap(struct sim_link *link, uint64_t first_ns, uint64_t down_ns, uint64_t period_ns, uint32_t count)
{
    link->flap_down_ns = down_ns;
    link->flap_period_ns = period_ns > down_ns ? period_ns : down_ns + 1;
    link->flaps_left = count;
    if (count)
        event_set(&link->sim->events, &link->flap, first_ns);
}

const struct sim_way_stats *sim_link_stats(const struct sim_link *link, bool back) { return &link->ways[back].stats; }
uint32_t sim_link_queue(const struct sim_link *link, bool back) { return link->ways[back].queue.bytes; }
struct sim_link *sim_link_next(struct sim *sim, const struct sim_link *after)
{
    return after ? after->next : sim->links;
}

void links_close(struct sim *sim)
{
    while (sim->links) {
        struct sim_link *link = sim->links;
        sim->links = link->next;
        for (int back = 0; back < 2; back++) {
            struct way *way = &link->ways[back];
            lose_what_flies(way);
            event_cancel(&sim->events, &way->served);
            if (way->serving)
                frame_free(&sim->frames, way->serving);
            while (way->queue.first) {
                struct frame *frame = way->queue.first;
                way->queue.first = frame->next;
                frame_free(&sim->frames, frame);
            }
        }
        event_cancel(&sim->events, &link->flap);
        if (link->capture.file)
            pcapng_close(&link->capture);
        free(link);
    }
}
