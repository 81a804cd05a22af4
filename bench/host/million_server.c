// SPDX-License-Identifier: BSD-2-Clause
// Weir as a server of very many connections on a TAP or, by AF_XDP, on an Ethernet interface (million_bench.py): what
// comes goes back (port 7), and connections stay open until the client ends them. Each call of the stack is timed by
// itself, in the thread's own time; what the driver does within weir_poll, which is Linux receiving, does not count.
//
//     million_server tap|xdp IFNAME ADDRESS/PREFIX GATEWAY
//
// SIGUSR1: a line of JSON. `called` tells of each kind of call how often, how long altogether and at the longest, and
// how many took longer than SLOW_NS; `interrupted` the same of an empty loop between the turns, whose longest steps are
// what the machine itself takes away (interrupts count in the thread's time).
#define _GNU_SOURCE  // CLOCK_THREAD_CPUTIME_ID
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <arpa/inet.h>

#include "drivers/af_xdp.h"
#include "drivers/tap.h"
#include "drivers/wrap/wrap.h"
#include "posix/posix.h"
#include "weir/instance.h"
#include "weir/netif.h"
#include "weir/socket.h"
#include "weir/stats.h"

enum { ECHO = 7 };
#define BACKLOG 4096u
#define SLOW_NS 200000u
#define STEP 100000u  // connections that a figure of stack_ns stands for
#define STEPS 11u
#define DISPATCHED 64u

// --- what calls take -------------------------------------------------------------------------------------------------

enum call { CALL_INPUT, CALL_POLL, CALL_ACCEPT, CALL_READ, CALL_WRITE, CALL_CLOSE, INTERRUPTED, KINDS };
static const char *const names[KINDS] = {"input", "poll", "accept", "read", "write", "close", "interrupted"};

static struct {
    uint64_t calls, slow, total_ns, longest_ns;
} kinds[KINDS];
static uint64_t began_ns, driver_ns;  // the call under way; the driver's part of it
static uint64_t stack_ns;             // all calls
static uint64_t stack_ns_at[STEPS];   // when so many STEPs of connections had been accepted
static uint64_t accepted, open_now, echoed;

static uint64_t own_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void count(enum call kind, uint64_t took_ns)
{
    kinds[kind].calls++;
    kinds[kind].slow += took_ns > SLOW_NS;
    kinds[kind].total_ns += took_ns;
    if (took_ns > kinds[kind].longest_ns)
        kinds[kind].longest_ns = took_ns;
}

static void begin(void)
{
    driver_ns = 0;
    began_ns = own_ns();
}

static void end(enum call kind)
{
    const uint64_t took_ns = own_ns() - began_ns - driver_ns;
    stack_ns += took_ns;
    count(kind, took_ns);
}

// An empty loop for an eighth of the time that calls took: what interrupts it would have interrupted them.
static void watch_interruptions(void)
{
    static uint64_t watched_ns;
    for (uint64_t before = own_ns(), now; watched_ns < stack_ns / 8; before = now) {
        now = own_ns();
        watched_ns += now - before;
        count(INTERRUPTED, now - before);
    }
}

// --- between the stack and the driver --------------------------------------------------------------------------------

static struct wrap between;

static enum weir_tx_verdict timed_tx(struct weir_netif *netif, const struct weir_tx *tx)
{
    (void)netif;
    const uint64_t before_ns = own_ns();
    const enum weir_tx_verdict verdict = wrap_tx(&between, tx);
    driver_ns += own_ns() - before_ns;
    return verdict;
}

static void timed_flush(struct weir_netif *netif)
{
    (void)netif;
    const uint64_t before_ns = own_ns();
    wrap_flush(&between);
    driver_ns += own_ns() - before_ns;
}

static int pass_poll(struct weir_netif *netif, int budget) { return (void)netif, wrap_poll(&between, budget); }
static void pass_filter(struct weir_netif *netif, const uint8_t address[6], bool join)
{
    (void)netif;
    wrap_filter(&between, address, join);
}
static uint64_t pass_timer(struct weir_netif *netif, uint64_t now_us)
{
    return (void)netif, wrap_timer(&between, now_us);
}

static void timed_input(struct weir_netif *netif, const struct weir_frame *frame)
{
    (void)netif;
    begin();
    weir_netif_deliver(&between.outer, frame);
    end(CALL_INPUT);
}
static void pass_ready(struct weir_netif *netif) { (void)netif, weir_netif_ready(&between.outer); }
static void pass_complete(struct weir_netif *netif, void *owner, uint32_t hold_end)
{
    (void)netif;
    weir_netif_complete(&between.outer, owner, hold_end);
}
static void pass_carrier(struct weir_netif *netif, bool up) { (void)netif, weir_netif_carrier(&between.outer, up); }

static const struct weir_driver timed_driver = {
    .name = "timed",
    .tx = timed_tx,
    .flush = timed_flush,
    .poll = pass_poll,
    .filter = pass_filter,
    .timer = pass_timer,
};
static const struct weir_upper timed_upper = {timed_input, pass_ready, pass_complete, pass_carrier};

// --- the server ------------------------------------------------------------------------------------------------------

static struct posix_host host;
static struct weir *weir;
static weir_socket listener;
static volatile sig_atomic_t asked;

static void check(int result, const char *what)
{
    if (result < 0) {
        fprintf(stderr, "million_server: %s: %s\n", what, weir_error_name(result));
        exit(1);
    }
}

static void finish(weir_socket socket)
{
    begin();
    weir_socket_close(weir, socket);
    end(CALL_CLOSE);
    open_now--;
}

// What was sent is echoed; the queues are empty but for that, so all of it fits.
static void serve(weir_socket socket, uint32_t events)
{
    uint8_t bytes[512];
    int got;
    for (;;) {
        begin();
        got = weir_socket_read(weir, socket, bytes, sizeof bytes);
        end(CALL_READ);
        if (got <= 0)
            break;
        begin();
        const int wrote = weir_socket_write(weir, socket, bytes, (uint32_t)got);
        end(CALL_WRITE);
        check(wrote < got ? WEIR_NO_MEMORY : wrote, "an echo did not fit");
        echoed += (uint64_t)wrote;
    }
    if (got != WEIR_AGAIN || (events & WEIR_ERROR))
        finish(socket);
}

static void take_connections(void)
{
    for (;;) {
        begin();
        const weir_socket socket = weir_socket_accept(weir, listener);
        end(CALL_ACCEPT);
        if (socket <= 0)
            return;
        open_now++;
        if (accepted % STEP == 0 && accepted / STEP < STEPS)
            stack_ns_at[accepted / STEP] = stack_ns;
        accepted++;
        begin();
        const int ready = weir_socket_ready(weir, socket);
        end(CALL_READ);
        if (ready & (WEIR_READABLE | WEIR_ERROR))
            serve(socket, (uint32_t)ready);
    }
}

static uint64_t turn(void *context, uint64_t now_us)
{
    (void)context;
    uint32_t events;
    weir_socket socket;
    begin();
    uint64_t next_us = weir_poll(weir, now_us);
    end(CALL_POLL);
    for (uint32_t i = 0; i < DISPATCHED && (socket = weir_ready_next(weir, &events)) > 0; i++) {
        if (socket == listener)
            take_connections();
        else
            serve(socket, events);
        next_us = now_us;
    }
    watch_interruptions();
    return weir_output_pending(weir) ? now_us : next_us;
}

static void on_signal(int number) { (void)number, asked = 1; }

static void report(void)
{
    printf("{\"open\": %" PRIu64 ", \"accepted\": %" PRIu64 ", \"echoed\": %" PRIu64 ", \"held_bytes\": %" PRIu64
           ", \"cookies\": %" PRIu32 ", \"called\": {",
           open_now, accepted, echoed, weir_memory_used(weir),
           weir_counter_get(weir, WEIR_COUNT_TCP_SYNCOOKIE_ACCEPTED));
    for (int i = 0; i < KINDS; i++)
        printf("%s\"%s\": {\"calls\": %" PRIu64 ", \"ns\": %" PRIu64 ", \"longest_ns\": %" PRIu64 ", \"slow\": %" PRIu64
               "}",
               i ? ", " : "", names[i], kinds[i].calls, kinds[i].total_ns, kinds[i].longest_ns, kinds[i].slow);
    printf("}, \"stack_ns\": %" PRIu64 ", \"stack_ns_at\": [", stack_ns);
    for (uint32_t i = 0; i < STEPS && i * STEP < accepted; i++)
        printf("%s%" PRIu64, i ? ", " : "", stack_ns_at[i]);
    printf("]}\n");
    fflush(stdout);
}

// --- the interface ---------------------------------------------------------------------------------------------------

static int open_link(const char *kind, const char *ifname, struct weir_netif *netif)
{
    static struct tap tap;
    static struct af_xdp xdp;
    const bool is_tap = strcmp(kind, "tap") == 0;
    const int error = is_tap ? tap_open(&tap, ifname, TAP_UP) : af_xdp_open(&xdp, ifname, 0, AF_XDP_UP);
    if (error < 0) {
        fprintf(stderr, "million_server: %s\n", is_tap ? tap_error(&tap) : af_xdp_error(&xdp));
        exit(1);
    }
    if (is_tap)
        tap_attach(&tap, netif, "eth0");
    else
        af_xdp_attach(&xdp, netif, "eth0");
    return is_tap ? tap_fd(&tap) : af_xdp_fd(&xdp);
}

static bool read_address(const char *text, struct weir_addr *out)
{
    struct in_addr v4;
    uint8_t v6[16];
    if (inet_pton(AF_INET, text, &v4) == 1)
        *out = weir_addr_v4(ntohl(v4.s_addr));
    else if (inet_pton(AF_INET6, text, v6) == 1)
        *out = weir_addr_v6(v6);
    else
        return false;
    return true;
}

static void start(const char *kind, const char *ifname, struct weir_addr address, uint8_t bits,
                  struct weir_addr gateway)
{
    static struct weir_netif netif;
    const struct posix_options options = {.turn = turn};
    const struct weir_config config = {.memory_budget_bytes = UINT64_MAX};
    if (posix_host_init(&host, &options) != 0 || !(weir = weir_create(NULL, 0, &host.port, &config)))
        check(WEIR_NO_MEMORY, "the instance");
    posix_host_attach(&host, weir);
    const int fd = open_link(kind, ifname, &netif);
    wrap_init(&between, &netif, &timed_driver, &timed_upper, NULL);
    check(weir_netif_add(weir, &between.outer), "adding the interface");
    check(weir_addr_is_v4(address) ? weir_netif_set_address(&between.outer, address, bits, WEIR_ADDRESS_AT_ONCE)
                                   : weir_netif_address_add(&between.outer, address, bits, WEIR_ADDRESS_AT_ONCE),
          "setting the address");
    const struct weir_addr all = weir_addr_is_v4(gateway) ? weir_addr_v4(0) : weir_addr_any();
    check(weir_route_add(weir, all, 0, gateway, &between.outer, 0), "the gateway");
    check(posix_host_add(&host, &between.outer, fd), "the poller");
    const struct weir_endpoint local = {weir_addr_any(), ECHO};
    listener = weir_socket_open(weir, WEIR_STREAM, 0);
    check(weir_socket_bind(weir, listener, &local), "bind");
    check(weir_socket_listen(weir, listener, BACKLOG), "listen");
}

int main(int argc, char **argv)
{
    struct weir_addr address, gateway;
    char *slash = argc == 5 ? strchr(argv[3], '/') : NULL;
    const int bits = slash ? atoi(slash + 1) : 0;
    if (slash)
        *slash = '\0';
    if (bits < 1 || bits > 128 || (strcmp(argv[1], "tap") != 0 && strcmp(argv[1], "xdp") != 0) ||
        !read_address(argv[3], &address) || !read_address(argv[4], &gateway)) {
        fprintf(stderr, "usage: million_server tap|xdp IFNAME ADDRESS/PREFIX GATEWAY\n");
        return 2;
    }
    signal(SIGUSR1, on_signal);
    start(argv[1], argv[2], address, (uint8_t)bits, gateway);
    puts("ready");
    fflush(stdout);
    for (;;) {
        posix_host_poll(&host, 100000);
        if (asked) {
            asked = 0;
            report();
        }
    }
}
