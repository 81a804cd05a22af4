// SPDX-License-Identifier: BSD-2-Clause
// A host: an instance, its port, its interfaces, and the poller that runs it.
#include "internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "family6.h"
#include "fibre.h"
#include "ports/posix/cpu.h"
#include "weir/cc.h"

#define POLLS_AT_ONCE 100000u  // without time passing: then it spins
#define DISPATCH 4096u
#define FIRST_ADDRESS UINT32_C(0x0a000001)       // 10.0.0.1
#define PREFIX_BITS 8                            // 10.0.0.0/8
#define FIRST_HIGH UINT64_C(0xfd00000000000000)  // fd00::1

static void poll_again(struct sim_host *host)
{
    event_set(&host->node.sim->events, &host->poll, host->node.sim->now_ns);
}

// --- time ------------------------------------------------------------------------------------------------------------

uint64_t host_now_us(const struct sim_host *host)
{
    const uint64_t now_us = host->clock_us + host->node.sim->now_ns / 1000;
    return host->options.granularity_us > 1 ? now_us - now_us % host->options.granularity_us : now_us;
}

void host_clock(struct sim_host *host) { weir_clock(host->weir, host_now_us(host)); }

// When the host's clock will show the deadline, or something later.
uint64_t host_time_ns(const struct sim_host *host, uint64_t deadline_us)
{
    const uint32_t tick_us = host->options.granularity_us;
    if (deadline_us == WEIR_NEVER)
        return SIM_NEVER;
    if (tick_us > 1)
        deadline_us = (deadline_us + tick_us - 1) / tick_us * tick_us;
    const uint64_t ns = deadline_us > host->clock_us ? (deadline_us - host->clock_us) * 1000 : 0;
    return ns > host->node.sim->now_ns ? ns : host->node.sim->now_ns;
}

// --- the port --------------------------------------------------------------------------------------------------------

static void *port_alloc(void *context, size_t bytes)
{
    struct sim_host *host = context;
    if (random_happens(&host->failures, host->options.fail_allocations_ppm))
        return NULL;
    host->memory += bytes;
    if (host->memory > host->memory_peak)
        host->memory_peak = host->memory;
    if (host->options.memory_limit_bytes && host->memory > host->options.memory_limit_bytes)
        sim_fail(host->node.sim, "%s uses %llu bytes, %llu are its limit", host->node.name,
                 (unsigned long long)host->memory, (unsigned long long)host->options.memory_limit_bytes);
    return malloc(bytes);
}

static void port_free(void *context, void *memory, size_t bytes)
{
    struct sim_host *host = context;
    host->memory -= bytes;
    free(memory);
}

static void port_entropy(void *context, void *out, size_t bytes)
{
    struct sim_host *host = context;
    for (size_t at = 0; at < bytes; at++)
        ((uint8_t *)out)[at] = (uint8_t)(random_draw(&host->entropy) >> 32);
}

static uint64_t port_now(void *context) { return host_now_us(context); }
static void port_kick(void *context) { poll_again(context); }

// --- frames ----------------------------------------------------------------------------------------------------------

static enum weir_tx_verdict host_tx(struct weir_netif *netif, const struct weir_tx *tx)
{
    struct sim_host *host = netif->driver_data;
    struct sim *sim = host->node.sim;
    if (sim->closing)
        return WEIR_TX_DONE;
    if (!port_takes(host->node.ports, tx->length))
        return WEIR_TX_FULL;
    struct frame *frame = frame_new(&sim->frames, tx->length);
    uint8_t *out = frame->data;
    for (uint16_t index = 0; index < tx->count; index++) {
        memcpy(out, tx->slices[index].data, tx->slices[index].length);
        out += tx->slices[index].length;
    }
    frame->head = host->node.ports->link->options.raw_ip ? 0 : FRAME_ETHERNET;
    if (sim->check)
        check_sent(sim->check, host->number, frame);
    port_send(host->node.ports, frame);
    return WEIR_TX_DONE;
}

static const struct weir_driver driver = {.name = "sim", .tx = host_tx};

static void host_receive(struct port *port, struct frame *frame)
{
    struct sim_host *host = (struct sim_host *)port->node;
    struct sim *sim = host->node.sim;
    if (sim->check && frame->segment.flow && !frame->damaged)
        check_delivered(sim->check, host->number, frame);
    host_clock(host);
    const struct weir_slice slice = {frame->data, frame->length};
    weir_input(&host->netif, &(struct weir_frame){.slices = &slice, .count = 1, .length = frame->length});
    frame_free(&sim->frames, frame);
    if (!event_is_set(&host->poll) || host->poll.at_ns != sim->now_ns)
        poll_again(host);
}

static void host_room(struct port *port)
{
    struct sim_host *host = (struct sim_host *)port->node;
    weir_tx_ready(&host->netif);
    poll_again(host);
}

static void host_carrier(struct port *port, bool up)
{
    struct sim_host *host = (struct sim_host *)port->node;
    host_clock(host);
    weir_link_change(&host->netif, up);
    poll_again(host);
}

// --- the poller ------------------------------------------------------------------------------------------------------

// A connection whose time ran out after its user had closed it ends unseen; that the host counts, less what users were
// told.
void host_unseen_ends(struct sim_host *host)
{
    const uint32_t counted = weir_counter_get(host->weir, WEIR_COUNT_TCP_TIMED_OUT);
    if (counted <= host->ends_told + host->ends_unseen)
        return;
    host->ends_unseen +=
        check_given_up(host->node.sim->check, host->number, counted - host->ends_told - host->ends_unseen);
    flows_left_alone(host->node.sim, host);
}

// Something is outstanding, so something must come when no acknowledgement does. A host whose device is full waits for
// the device.
static void check_deadline(struct sim_host *host, uint64_t deadline_us)
{
    struct check *check = host->node.sim->check;
    if (deadline_us != WEIR_NEVER || host->netif.flags & WEIR_NETIF_TX_BLOCKED ||
        !check_outstanding(check, host->number))
        return;
    host_unseen_ends(host);
    if (check_outstanding(check, host->number))
        sim_fail(host->node.sim, "%s has unacknowledged data and no timer", host->node.name);
}

static void host_poll(void *context)
{
    struct sim_host *host = context;
    struct sim *sim = host->node.sim;
    host->polls_at_once = host->last_poll_ns == sim->now_ns ? host->polls_at_once + 1 : 0;
    host->last_poll_ns = sim->now_ns;
    if (host->polls_at_once > POLLS_AT_ONCE) {
        sim_fail(sim, "%s has work for ever and does none", host->node.name);
        return;
    }
    host_clock(host);
    weir_dispatch(host->weir, DISPATCH);  // what a user answers leaves with the acknowledgement
    const uint64_t now_us = weir_now_us(host->weir);
    const uint64_t deadline_us = weir_poll(host->weir, now_us);
    const uint32_t news = weir_dispatch(host->weir, DISPATCH);
    if (sim->check) {
        check_silence(sim->check);
        check_deadline(host, deadline_us);
    }
    if (deadline_us <= now_us || news >= DISPATCH || weir_output_pending(host->weir))
        poll_again(host);
    else if (deadline_us != WEIR_NEVER && !(event_is_set(&host->poll) && host->poll.at_ns == sim->now_ns))
        event_set(&sim->events, &host->poll, host_time_ns(host, deadline_us));
}

void sim_host_kick(struct sim_host *host) { poll_again(host); }

// --- making one ------------------------------------------------------------------------------------------------------

static void host_attached(struct port *port)
{
    struct sim_host *host = (struct sim_host *)port->node;
    struct weir_netif *netif = &host->netif;
    if (port->index) {
        sim_fail(host->node.sim, "%s has two links: a host has one", host->node.name);
        return;
    }
    weir_netif_init(netif, "sim0", &driver, port->link->options.raw_ip ? &weir_link_rawip : &weir_link_ethernet);
    netif->driver_data = host;
    netif->mtu = host->options.mtu ? host->options.mtu : 1500;
    memcpy(netif->mac, host->mac, sizeof host->mac);
    host_clock(host);
    if (weir_netif_add(host->weir, netif) != WEIR_OK ||
        (host->node.sim->options.family == 6
             ? host6_begin(host)
             : weir_netif_set_address(netif, host->address, PREFIX_BITS, WEIR_ADDRESS_AT_ONCE)) != WEIR_OK)
        sim_fail(host->node.sim, "%s: no interface", host->node.name);
    poll_again(host);
}

static void port_make(struct sim_host *host)
{
    struct weir_port *port = &host->port;
    port->context = host;
    port->alloc = port_alloc;
    port->free = port_free;
    port->entropy = port_entropy;
    port->now_us = port_now;
    port->granularity_us = host->options.granularity_us ? host->options.granularity_us : 1;
    port->wait = fibre_wait;
    port->wake = fibre_wake;
    port->kick = port_kick;
    posix_cpu_select(port);
}

static void register_controls(struct weir *weir, const struct weir_cc *const *controls)
{
    for (; controls && *controls; controls++) {
        const int error = weir_cc_register(weir, *controls);
        if (error) {
            fprintf(stderr, "sim: the congestion control %s cannot be registered: %s\n", (*controls)->name,
                    weir_error_name(error));
            abort();
        }
    }
}

static void events_begin(struct sim_host *host, struct trace_file *file)
{
    host->events = calloc(1, sizeof *host->events);
    if (!host->events)
        abort();
    trace_source_init(host->events, file, host->node.name, host->clock_us);
    (void)weir_trace_set(host->weir, &host->events->tracer);
}

struct sim_host *sim_host_add(struct sim *sim, const char *name, const struct sim_host_options *options)
{
    struct sim_host *host = calloc(1, sizeof *host);
    struct sim_host **hosts = realloc(sim->hosts, (sim->host_count + 1) * sizeof *hosts);
    if (!host || !hosts)
        abort();
    sim->hosts = hosts;
    host->number = sim->host_count++;
    hosts[host->number] = host;
    if (options)
        host->options = *options;
    node_add(sim, &host->node, name);
    host->node.receive = host_receive;
    host->node.attached = host_attached;
    host->node.room = host_room;
    host->node.carrier = host_carrier;
    host->poll = (struct event){.happen = host_poll, .context = host};
    host->address = sim->options.family == 6 ? sim_address_weir((struct sim_address){FIRST_HIGH, host->number + 1})
                                             : weir_addr_v4(FIRST_ADDRESS + host->number);
    host->mac[0] = 2;  // locally administered; then the number, so that a switch can read it
    put32(host->mac + 2, host->number);
    host->entropy = random_state(sim->options.seed, 3 + host->number * UINT64_C(4));
    host->failures = random_state(sim->options.seed, 4 + host->number * UINT64_C(4));
    // 2^33 µs: some clocks wrap at 32 bits while they are looked at.
    host->clock_us = host->options.clock_us ? host->options.clock_us : 1 + (random_draw(&host->entropy) >> 31);
    host->next_port = 5000;
    host->next_client = 20000;
    port_make(host);
    const uint32_t fail_ppm = host->options.fail_allocations_ppm;
    host->options.fail_allocations_ppm = 0;
    host->weir = weir_create(NULL, 0, &host->port, &host->options.config);
    host->options.fail_allocations_ppm = fail_ppm;
    if (!host->weir)
        abort();
    host_clock(host);
    register_controls(host->weir, sim->options.congestion_controls);
    if (sim->options.events)
        events_begin(host, sim->options.events);
    return host;
}

struct sim_node *sim_node_of(struct sim_host *host) { return &host->node; }
struct weir *sim_host_weir(struct sim_host *host) { return host->weir; }
struct weir_addr sim_host_address(const struct sim_host *host)
{
    return host->node.sim->options.family == 6 ? host6_address(host) : host->address;
}
uint64_t sim_host_memory(const struct sim_host *host) { return host->memory; }
uint64_t sim_host_memory_peak(const struct sim_host *host) { return host->memory_peak; }
struct sim_host *node_host(struct sim_node *node)
{
    return node->receive == host_receive ? (struct sim_host *)node : NULL;
}
struct sim_host *host_at(struct sim *sim, struct sim_address address)
{
    if (!sim_address_is_v4(address))
        return host6_at(sim, address);
    const uint32_t number = (uint32_t)address.low - FIRST_ADDRESS;
    return number < sim->host_count ? sim->hosts[number] : NULL;
}

void hosts_close(struct sim *sim)
{
    for (uint32_t number = 0; number < sim->host_count; number++) {
        struct sim_host *host = sim->hosts[number];
        fibres_close(host);
        host->options.fail_allocations_ppm = 0;
        weir_destroy(host->weir);
        free(host->events);
        event_cancel(&sim->events, &host->poll);
        if (host->memory) {
            fprintf(stderr, "sim: %s leaks %llu bytes\n", host->node.name, (unsigned long long)host->memory);
            abort();
        }
    }
}
