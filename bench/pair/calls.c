// SPDX-License-Identifier: BSD-2-Clause
// The longest single call of each kind beside a million connections: all connect, all write at once, all time out, all
// let their memory go, all are closed. Each call is timed in the thread's own time; the system's interrupts count in
// that, too, up to milliseconds, and so all is done RUNS times over, alike each time, and what counts of a call is the
// shortest that it took.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/pair/pair.h"

#define RUNS 3
#define CALLS_PER_CONNECTION 32u

// Lists of equal blocks, for the longest call: glibc's malloc takes up to a millisecond for one block after a million
// were freed.
#define CLASS_BYTES 16u
#define CLASSES 256u
#define ARENA_BYTES (1u << 24)
static void *freed[CLASSES + 1];
static uint8_t *arena;
static size_t arena_left;
static void *get_at_once(void *context, size_t bytes)
{
    const size_t class = (bytes + CLASS_BYTES - 1) / CLASS_BYTES;
    if (class > CLASSES)
        return (void)context, malloc(bytes);
    void *memory = freed[class];
    if (memory) {
        memcpy(&freed[class], memory, sizeof memory);
        return memory;
    }
    if (arena_left < class * CLASS_BYTES) {
        arena = malloc(ARENA_BYTES);
        arena_left = arena ? ARENA_BYTES : 0;
    }
    if (!arena)
        return NULL;
    arena_left -= class * CLASS_BYTES;
    return arena + arena_left;
}
static void put_at_once(void *context, void *memory, size_t bytes)
{
    (void)context;
    const size_t class = (bytes + CLASS_BYTES - 1) / CLASS_BYTES;
    if (class > CLASSES) {
        free(memory);
        return;
    }
    memcpy(memory, &freed[class], sizeof memory);
    freed[class] = memory;
}
// --- what each call takes --------------------------------------------------------------------------------------------

enum call { CALL_CONNECT, CALL_WRITE, CALL_SEND, CALL_TIMEOUT, CALL_LET_GO, CALL_CLOSE, CALL_KINDS };
static const char *const call_names[CALL_KINDS] = {"connect", "write", "send", "timeout", "let_go", "close"};

// Shared by the runs, each of which is a process.
static struct calls {
    uint64_t most, count, of_first_run;
    struct {
        uint32_t least_ns;
        enum call kind;
    } call[];
} * calls;

static uint64_t call_began_ns;
static void call_begins(void) { call_began_ns = cpu_nanoseconds(); }
static void call_ends(enum call kind)
{
    const uint64_t took_ns = cpu_nanoseconds() - call_began_ns;
    const uint64_t at = calls->count++;
    if (at >= calls->most || (calls->of_first_run && calls->call[at].kind != kind)) {
        fprintf(stderr, "weir_pair: call %llu is another one than in the run before\n", (unsigned long long)at);
        exit(1);
    }
    if (!calls->of_first_run || took_ns < calls->call[at].least_ns)
        calls->call[at].least_ns = (uint32_t)(took_ns < UINT32_MAX ? took_ns : UINT32_MAX);
    calls->call[at].kind = kind;
}

// Polls end 0 until nothing is left for now.
static void poll_out(enum call kind)
{
    uint64_t next_us;
    do {
        call_begins();
        next_us = weir_poll(ends[0].weir, now_us);
        call_ends(kind);
    } while (next_us <= now_us);
}

static void pass(uint64_t us, enum call kind)
{
    for (const uint64_t until_us = now_us + us; now_us < until_us; now_us += 1000)
        poll_out(kind);
}

// An end's turn, each call by itself.
static void turn_timed(struct end *end, enum call kind)
{
    weir_clock(end->weir, now_us);
    while (end->head != end->tail) {
        const struct frame *frame = &end->queue[end->head++ % QUEUE];
        const struct weir_slice slice = {frame->bytes, frame->length};
        const struct weir_frame lent = {.slices = &slice, .count = 1, .length = frame->length};
        call_begins();
        weir_input(&end->netif, &lent);
        call_ends(kind);
    }
    call_begins();
    weir_poll(end->weir, now_us);
    call_ends(kind);
}

static weir_socket connect_timed(uint16_t number, weir_socket listener, weir_socket *server, enum call kind)
{
    const struct weir_endpoint peer = {address_of(1), number};
    call_begins();
    const weir_socket client = weir_socket_open(ends[0].weir, WEIR_STREAM, 0);
    call_ends(kind);
    call_begins();
    check(weir_socket_connect(ends[0].weir, client, &peer), "connect");
    call_ends(kind);
    for (*server = 0; *server <= 0; now_us++) {
        turn_timed(&ends[0], kind);
        turn_timed(&ends[1], kind);
        *server = weir_socket_accept(ends[1].weir, listener);
    }
    return client;
}

static void run_once(uint64_t count)
{
    weir_socket listener = listen_at(80), server, *clients = malloc(count * sizeof *clients);
    uint8_t bytes[100] = {0};
    for (uint64_t i = 0; i < count; i++) {
        const uint16_t number = (uint16_t)(80 + i / 20000);
        if (i && i % 20000 == 0)
            listener = listen_at(number);
        clients[i] = connect_timed(number, listener, &server, CALL_CONNECT);
        weir_socket_write(ends[0].weir, clients[i], bytes, sizeof bytes);
        settle();
        weir_socket_read(ends[1].weir, server, bytes, sizeof bytes);
        settle();
        drain_ready();
    }
    cable_cut = true;
    pass(10000000, CALL_LET_GO);  // all rest, and let go of queue and flight log
    for (uint64_t i = 0; i < count; i++) {
        call_begins();
        weir_socket_write(ends[0].weir, clients[i], bytes, sizeof bytes);
        call_ends(CALL_WRITE);
    }
    poll_out(CALL_SEND);
    pass(3000000, CALL_TIMEOUT);  // two timeouts of each, at the least
    for (uint64_t i = 0; i < count; i++) {
        call_begins();
        weir_socket_abort(ends[0].weir, clients[i]);
        call_ends(CALL_CLOSE);
    }
    poll_out(CALL_CLOSE);
}

static void report(uint64_t count)
{
    uint32_t longest_ns[CALL_KINDS] = {0};
    for (uint64_t at = 0; at < calls->count; at++) {
        uint32_t *const longest = &longest_ns[calls->call[at].kind];
        if (calls->call[at].least_ns > *longest)
            *longest = calls->call[at].least_ns;
    }
    printf("{\"stack\": \"weir\", \"test\": \"calls\", \"units\": %llu, \"calls\": %llu", (unsigned long long)count,
           (unsigned long long)calls->count);
    for (int kind = 0; kind < CALL_KINDS; kind++)
        printf(", \"%s_ns\": %lu", call_names[kind], (unsigned long)longest_ns[kind]);
    printf("}\n");
}

int run_calls(uint64_t count)
{
    const uint64_t most = CALLS_PER_CONNECTION * count + 100000;
    calls = mmap(NULL, sizeof *calls + most * sizeof calls->call[0], PROT_READ | PROT_WRITE,
                 MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (calls == MAP_FAILED)
        return 1;
    calls->most = most;
    port.alloc = get_at_once;
    port.free = put_at_once;
    for (int run = 0; run < RUNS; run++) {
        int status = 1;
        calls->of_first_run = calls->count;
        calls->count = 0;
        const pid_t child = fork();
        if (child == 0) {
            open_ends(&(struct weir_config){.memory_budget_bytes = UINT64_MAX});
            run_once(count);
            exit(0);
        }
        if (child < 0 || waitpid(child, &status, 0) != child || status)
            return 1;
        if (run && calls->count != calls->of_first_run)
            return 1;
    }
    report(count);
    return 0;
}
