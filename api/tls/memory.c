// SPDX-License-Identifier: BSD-2-Clause
// The environment: memory for TLS with a budget of its own, so that certificates cannot starve the stack; randomness
// and clocks.
#include <stdatomic.h>
#include <string.h>

#include "heap.h"
#include "internal.h"

// Before each piece: its size, in memory aligned as malloc aligns.
union head {
    size_t bytes;
    max_align_t align;
};

// Pieces of a caller's block: free ones in a list by address, joined with their neighbours.
struct hole {
    size_t bytes;  // with this head
    struct hole *next;
};
#define GRAIN (sizeof(union head) > sizeof(struct hole) ? sizeof(union head) : sizeof(struct hole))

static struct {
    uint32_t users;
    const struct weir_port *port;
    struct weir_tls_system system;
    struct hole *holes;
    _Atomic size_t used, peak;
    _Atomic uint32_t refused;
} shared;

static size_t rounded(size_t bytes) { return (bytes + GRAIN - 1) / GRAIN * GRAIN; }

static void block_open(void)
{
    uint8_t *const from = shared.system.memory;
    const size_t skip = (GRAIN - (uintptr_t)from % GRAIN) % GRAIN;
    shared.holes = NULL;
    if (!from || shared.system.memory_bytes < skip + 2 * GRAIN)
        return;
    shared.holes = (struct hole *)(void *)(from + skip);
    *shared.holes = (struct hole){.bytes = (shared.system.memory_bytes - skip) / GRAIN * GRAIN};
}

// The first that is large enough; what is over stays.
static void *block_take(size_t bytes)
{
    for (struct hole **at = &shared.holes; *at; at = &(*at)->next) {
        struct hole *const hole = *at;
        if (hole->bytes < bytes)
            continue;
        if (hole->bytes == bytes) {
            *at = hole->next;
        } else {
            struct hole *const rest = (struct hole *)(void *)((uint8_t *)hole + bytes);
            *rest = (struct hole){hole->bytes - bytes, hole->next};
            *at = rest;
        }
        return hole;
    }
    return NULL;
}

static bool touches(const struct hole *a, const struct hole *b)
{
    return (const uint8_t *)a + a->bytes == (const uint8_t *)b;
}

static void block_give(void *memory, size_t bytes)
{
    struct hole *const hole = memory;
    struct hole **at = &shared.holes, *before = NULL;
    while (*at && *at < hole) {
        before = *at;
        at = &before->next;
    }
    *hole = (struct hole){bytes, *at};
    *at = hole;
    if (hole->next && touches(hole, hole->next)) {
        hole->bytes += hole->next->bytes;
        hole->next = hole->next->next;
    }
    if (before && touches(before, hole)) {
        before->bytes += hole->bytes;
        before->next = hole->next;
    }
}

static void *raw_take(size_t bytes)
{
    if (shared.system.memory)
        return block_take(bytes);
    return shared.system.alloc ? shared.system.alloc(shared.system.context, bytes) : heap_take(bytes);
}

static void raw_give(void *memory, size_t bytes)
{
    if (shared.system.memory)
        block_give(memory, bytes);
    else if (shared.system.alloc)
        shared.system.free(shared.system.context, memory, bytes);
    else
        heap_give(memory);
}

static void peak_note(size_t used)
{
    size_t peak = atomic_load(&shared.peak);
    while (used > peak && !atomic_compare_exchange_weak(&shared.peak, &peak, used))
        ;
}

void *tls_alloc(size_t bytes)
{
    const size_t whole = rounded(bytes + sizeof(union head)), budget = shared.system.budget_bytes;
    if (whole < bytes)
        return NULL;
    const size_t used = atomic_fetch_add(&shared.used, whole) + whole;
    union head *const head = budget && used > budget ? NULL : raw_take(whole);
    if (!head) {
        atomic_fetch_sub(&shared.used, whole);
        atomic_fetch_add(&shared.refused, 1);
        return NULL;
    }
    peak_note(used);
    memset(head, 0, whole);
    head->bytes = whole;
    return head + 1;
}

// What TLS kept may be a secret: it is wiped.
void tls_free(void *memory)
{
    if (!memory)
        return;
    union head *const head = (union head *)memory - 1;
    const size_t bytes = head->bytes;
    volatile uint8_t *at = memory;
    for (size_t left = bytes - sizeof *head; left; left--)
        *at++ = 0;
    atomic_fetch_sub(&shared.used, bytes);
    raw_give(head, bytes);
}

uint32_t tls_refused(void) { return atomic_load(&shared.refused); }
int tls_reason(uint32_t refused, int error) { return error < 0 && refused != tls_refused() ? WEIR_NO_MEMORY : error; }
uint64_t tls_now_us(void) { return shared.port->now_us ? shared.port->now_us(shared.port->context) : 0; }

static int entropy(void *out, size_t bytes)
{
    shared.port->entropy(shared.port->context, out, bytes);
    return 0;
}

static int64_t unix_time(void) { return shared.system.unix_time ? shared.system.unix_time(shared.system.context) : -1; }

const struct tls_services tls_services = {tls_alloc, tls_free, tls_refused, entropy, unix_time, tls_now_us};

// A source that gives the same twice is none.
static bool random_enough(const struct weir_port *port)
{
    uint8_t first[16] = {0}, second[16] = {0};
    if (!port->entropy)
        return false;
    port->entropy(port->context, first, sizeof first);
    port->entropy(port->context, second, sizeof second);
    return memcmp(first, second, sizeof first) != 0;
}

static bool same_system(const struct weir_tls_system *a, const struct weir_tls_system *b)
{
    return a->context == b->context && a->memory == b->memory && a->memory_bytes == b->memory_bytes &&
           a->alloc == b->alloc && a->free == b->free && a->budget_bytes == b->budget_bytes &&
           a->unix_time == b->unix_time;
}

int tls_environment_begin(const struct weir_port *port, const struct weir_tls_system *system)
{
    static const struct weir_tls_system none;
    system = system ? system : &none;
    if (shared.users > 0) {
        if (port != shared.port || !same_system(system, &shared.system))
            return WEIR_INVALID;
    } else {
        if (!port || !system->alloc != !system->free)
            return WEIR_INVALID;
        if (!random_enough(port))
            return WEIR_TLS_ENTROPY;
        shared.port = port;
        shared.system = *system;
        atomic_store(&shared.peak, 0);
        block_open();
    }
    shared.users++;
    return WEIR_OK;
}

void tls_environment_end(void) { shared.users--; }

size_t weir_tls_memory(const struct weir_tls *tls) { return (void)tls, atomic_load(&shared.used); }
size_t weir_tls_memory_peak(const struct weir_tls *tls) { return (void)tls, atomic_load(&shared.peak); }
