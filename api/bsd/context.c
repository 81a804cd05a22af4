// SPDX-License-Identifier: BSD-2-Clause
// The context: lock, clock, sleep, memory, and copies between the caller's memory and ours.
#include "internal.h"

void bsd_lock(struct weir_bsd *bsd)
{
    if (bsd->port->lock)
        bsd->port->lock(bsd->port->context);
}

void bsd_clock(struct weir_bsd *bsd)
{
    if (bsd->port->now_us)
        weir_clock(bsd->weir, bsd->port->now_us(bsd->port->context));
}

void bsd_enter(struct weir_bsd *bsd)
{
    bsd_lock(bsd);
    bsd_clock(bsd);
}

static void kick(struct weir_bsd *bsd)
{
    if (bsd->port->kick && weir_output_pending(bsd->weir))
        bsd->port->kick(bsd->port->context);
}

void bsd_leave(struct weir_bsd *bsd)
{
    kick(bsd);
    if (bsd->port->unlock)
        bsd->port->unlock(bsd->port->context);
}

int bsd_sleep(struct weir_bsd *bsd, const void *token, uint64_t deadline_us)
{
    const struct weir_port *port = bsd->port;
    if (!port->wait)
        return WEIR_AGAIN;
    if (deadline_us <= weir_now_us(bsd->weir))
        return WEIR_AGAIN;
    kick(bsd);
    const int answer = port->wait(port->context, token, deadline_us);
    weir_clock(bsd->weir, port->now_us(port->context));
    return answer == 0 ? WEIR_OK : answer == 1 ? WEIR_AGAIN : WEIR_INTERRUPTED;
}

uint64_t bsd_deadline(struct weir_bsd *bsd, uint64_t timeout_us)
{
    return timeout_us ? weir_now_us(bsd->weir) + timeout_us : WEIR_NEVER;
}

void bsd_wake(struct weir_bsd *bsd, const void *token)
{
    if (bsd->port->wake)
        bsd->port->wake(bsd->port->context, token);
}

// Without an allocator: free lists of sizes in steps of 32 bytes, filled from the caller's block. Larger pieces are
// refused; the descriptor table takes its own at creation.
static size_t class_of(size_t bytes) { return bytes ? (bytes - 1) / 32 : 0; }

static void *block_take(struct weir_bsd *bsd, size_t bytes)
{
    bytes = (bytes + 31) / 32 * 32;
    if (bytes > bsd->memory_bytes)
        return NULL;
    void *taken = bsd->memory;
    bsd->memory += bytes;
    bsd->memory_bytes -= bytes;
    return taken;
}

void *bsd_alloc(struct weir_bsd *bsd, size_t bytes)
{
    if (!bsd->config.memory)
        return bsd->port->alloc ? bsd->port->alloc(bsd->port->context, bytes) : NULL;
    const size_t class = class_of(bytes);
    if (class >= BSD_CLASSES)
        return NULL;
    void *piece = bsd->free[class];
    if (!piece)
        return block_take(bsd, bytes);
    memcpy(&bsd->free[class], piece, sizeof piece);
    return piece;
}

void bsd_free(struct weir_bsd *bsd, void *memory, size_t bytes)
{
    if (!bsd->config.memory) {
        bsd->port->free(bsd->port->context, memory, bytes);
        return;
    }
    const size_t class = class_of(bytes);
    if (class >= BSD_CLASSES)
        return;  // never given out
    memcpy(memory, &bsd->free[class], sizeof memory);
    bsd->free[class] = memory;
}

int bsd_copy_in(struct weir_bsd *bsd, void *to, const void *from_caller, size_t bytes)
{
    if (WEIR_CFG_BSD_FAULTS && bsd->port->copy_in)
        return bsd->port->copy_in(bsd->port->context, to, from_caller, bytes) ? WEIR_FAULT : WEIR_OK;
    if (bytes)
        memcpy(to, from_caller, bytes);
    return WEIR_OK;
}

int bsd_copy_out(struct weir_bsd *bsd, void *to_caller, const void *from, size_t bytes)
{
    if (WEIR_CFG_BSD_FAULTS && bsd->port->copy_out)
        return bsd->port->copy_out(bsd->port->context, to_caller, from, bytes) ? WEIR_FAULT : WEIR_OK;
    if (bytes)
        memcpy(to_caller, from, bytes);
    return WEIR_OK;
}

struct weir *bsd_instance(struct weir_bsd *bsd) { return bsd->weir; }

void bsd_set_resolver(struct weir_bsd *bsd, weir_bsd_resolve *resolve, void *context)
{
    bsd_enter(bsd);
    bsd->resolve = resolve;
    bsd->resolve_context = context;
    bsd_leave(bsd);
}

#define DISPATCH_AT_ONCE 4096u  // more news than that waits for the next turn of the poller

void bsd_dispatch(struct weir_bsd *bsd) { weir_dispatch(bsd->weir, DISPATCH_AT_ONCE); }

static size_t round_up(size_t bytes) { return (bytes + 31) / 32 * 32; }
static uint32_t segments_for(uint32_t descriptors) { return (descriptors + BSD_SEGMENT - 1) / BSD_SEGMENT; }

#define DESCRIPTORS_MAX 65536
#define SPARE_PER_DESCRIPTOR 128u  // wait set items and the like

static uint32_t descriptor_limit(int descriptors)
{
    if (descriptors > 0)
        return (uint32_t)descriptors;
    return WEIR_CFG_SOCKETS < DESCRIPTORS_MAX ? WEIR_CFG_SOCKETS : DESCRIPTORS_MAX;
}

// What descriptors alone take.
static size_t least_bytes(uint32_t limit)
{
    const uint32_t segments = segments_for(limit);
    return round_up(sizeof(struct weir_bsd)) + round_up(segments * sizeof(struct bsd_segment *)) +
           segments * round_up(sizeof(struct bsd_segment)) + limit * round_up(sizeof(struct bsd_file));
}

size_t bsd_memory_bytes(int descriptors)
{
    const uint32_t limit = descriptor_limit(descriptors);
    return least_bytes(limit) + limit * SPARE_PER_DESCRIPTOR;
}

// The directory of segments and, where there is no allocator, the segments themselves.
static bool tables_make(struct weir_bsd *bsd)
{
    const size_t bytes = bsd->segment_count * sizeof *bsd->segments;
    bsd->segments = bsd->config.memory ? block_take(bsd, bytes) : bsd_alloc(bsd, bytes);
    if (!bsd->segments)
        return false;
    memset(bsd->segments, 0, bytes);
    for (uint32_t index = 0; bsd->config.memory && index < bsd->segment_count; index++) {
        bsd->segments[index] = block_take(bsd, sizeof(struct bsd_segment));
        if (!bsd->segments[index])
            return false;
        memset(bsd->segments[index], 0, sizeof(struct bsd_segment));
    }
    return true;
}

static struct weir_bsd *create(struct weir *weir, const struct weir_bsd_config *config)
{
    static const struct weir_bsd_config defaults = {0};
    const struct weir_port *port = weir_port(weir);
    if (!config)
        config = &defaults;
    if (config->memory ? config->memory_bytes < least_bytes(descriptor_limit(config->descriptors)) : !port->alloc)
        return NULL;
    struct weir_bsd *bsd = config->memory ? config->memory : port->alloc(port->context, sizeof *bsd);
    if (!bsd)
        return NULL;
    memset(bsd, 0, sizeof *bsd);
    bsd->weir = weir;
    bsd->port = port;
    bsd->config = *config;
    bsd->limit = descriptor_limit(config->descriptors);
    bsd->segment_count = segments_for(bsd->limit);
    if (config->memory) {
        bsd->memory = (uint8_t *)config->memory + round_up(sizeof *bsd);
        bsd->memory_bytes = config->memory_bytes - round_up(sizeof *bsd);
    }
    if (!tables_make(bsd)) {
        if (!config->memory)
            port->free(port->context, bsd, sizeof *bsd);
        return NULL;
    }
    return bsd;
}

struct weir_bsd *bsd_create(struct weir *weir, const struct weir_bsd_config *config)
{
    const struct weir_port *port = weir_port(weir);
    if (port->lock)
        port->lock(port->context);
    struct weir_bsd *bsd = create(weir, config);
    if (port->unlock)
        port->unlock(port->context);
    return bsd;
}

void bsd_destroy(struct weir_bsd *bsd)
{
    const struct weir_port *port = bsd->port;
    bsd_enter(bsd);
    for (uint32_t fd = 0; fd < bsd->limit; fd++) {
        struct bsd_file *file = bsd_file_remove(bsd, (int)fd + bsd->config.first_descriptor);
        if (file)
            bsd_file_unpin(file);
    }
    if (!bsd->config.memory) {
        for (uint32_t index = 0; index < bsd->segment_count; index++)
            if (bsd->segments[index])
                bsd_free(bsd, bsd->segments[index], sizeof(struct bsd_segment));
        bsd_free(bsd, bsd->segments, bsd->segment_count * sizeof *bsd->segments);
    }
    kick(bsd);
    if (!bsd->config.memory)
        port->free(port->context, bsd, sizeof *bsd);
    if (port->unlock)
        port->unlock(port->context);
}
