// SPDX-License-Identifier: BSD-2-Clause
// BSD sockets from several threads: each lock, unlock, wait and wake of the port is a place where another thread may go
// on, and the input says which, as it says what the threads call. They are fibers of one thread of the machine, so that
// an input means the same each time. Virtual time passes when nobody can go on. All sockets are on the loopback.
//
// What is checked, besides the sanitizers: that nobody takes the lock twice or leaves one that is not his, that a call
// moves no more than it was given, and that once all descriptors are closed every call under way ends, and all memory
// goes back.
#define _XOPEN_SOURCE 700
#include <errno.h>
#include <stdbool.h>
#include <ucontext.h>

#include "api/bsd/weir_bsd.h"
#include "fuzz.h"
#include "weir/port.h"

#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>

#define FIBERS 4u
#define CLOSER (FIBERS - 1)  // closes all that is open, when the script is over
#define STACK_BYTES 262144u
#define CALLS 120u  // of a fiber
#define DESCRIPTORS 12
#define STEPS_MAX 400000u
#define MINUTE 60000000u

enum state { READY, ASLEEP, ENDED };

static struct fiber {
    ucontext_t context;
    uint8_t *stack;
    void *fake_stack;
    enum state state;
    const void *token;  // what it sleeps on
    uint64_t deadline_us;
    int result;  // of its wait
} fibers[FIBERS];

static ucontext_t main_context;
static void *main_fake_stack;
static const void *main_stack;
static size_t main_stack_bytes;
static struct fiber *running;       // NULL: the scheduler
static const struct fiber *holder;  // of the lock
static bool held;
static struct bytes in, schedule;  // a third of the input
static uint64_t now_us;
static uint64_t allocated;
static uint32_t chance;
static struct weir *weir;
static struct weir_bsd *bsd;

// --- switching -------------------------------------------------------------------------------------------------------

static void to_scheduler(bool for_good)
{
    struct fiber *fiber = running;
    running = NULL;
    __sanitizer_start_switch_fiber(for_good ? NULL : &fiber->fake_stack, main_stack, main_stack_bytes);
    CHECK(swapcontext(&fiber->context, &main_context) == 0);
    __sanitizer_finish_switch_fiber(fiber->fake_stack, &main_stack, &main_stack_bytes);
}

static void to_fiber(struct fiber *fiber)
{
    running = fiber;
    __sanitizer_start_switch_fiber(&main_fake_stack, fiber->stack, STACK_BYTES);
    CHECK(swapcontext(&main_context, &fiber->context) == 0);
    __sanitizer_finish_switch_fiber(main_fake_stack, NULL, NULL);
}

static void maybe_another(void)
{
    if (running && take8(&schedule) & 1)
        to_scheduler(false);
}

// --- the port --------------------------------------------------------------------------------------------------------

static void port_lock(void *context)
{
    (void)context;
    maybe_another();
    CHECK(!held || holder != running);  // it is not recursive
    while (held)
        to_scheduler(false);
    held = true;
    holder = running;
}

static void port_unlock(void *context)
{
    (void)context;
    CHECK(held && holder == running);
    held = false;
    maybe_another();
}

static int port_wait(void *context, const void *token, uint64_t deadline_us)
{
    (void)context;
    CHECK(held && holder == running && running);
    struct fiber *fiber = running;
    held = false;
    fiber->state = ASLEEP;
    fiber->token = token;
    fiber->deadline_us = deadline_us;
    fiber->result = 0;
    to_scheduler(false);
    while (held)
        to_scheduler(false);
    held = true;
    holder = fiber;
    return fiber->result;
}

static void port_wake(void *context, const void *token)
{
    (void)context;
    for (struct fiber *fiber = fibers; fiber < fibers + FIBERS; fiber++)
        if (fiber->state == ASLEEP && fiber->token == token)
            fiber->state = READY;
}

static void port_kick(void *context) { (void)context; }
static uint64_t port_now(void *context) { return (void)context, now_us; }
static void port_entropy(void *context, void *out, size_t bytes)
{
    (void)context;
    memset(out, 0x5a, bytes);
}
static void *port_alloc(void *context, size_t bytes)
{
    (void)context;
    allocated += bytes;
    return malloc(bytes);
}
static void port_free(void *context, void *memory, size_t bytes)
{
    (void)context;
    allocated -= bytes;
    free(memory);
}
static const struct weir_port port = {.alloc = port_alloc,
                                      .free = port_free,
                                      .entropy = port_entropy,
                                      .now_us = port_now,
                                      .lock = port_lock,
                                      .unlock = port_unlock,
                                      .wait = port_wait,
                                      .wake = port_wake,
                                      .kick = port_kick};

// --- calls -----------------------------------------------------------------------------------------------------------

static struct weir_sockaddr_in address_of(uint8_t choice)
{
    const uint16_t number = (uint16_t)(7 + (choice & 3));
    return (struct weir_sockaddr_in){.sin_family = WEIR_AF_INET,
                                     .sin_port = weir_htons(number),
                                     .sin_addr = {weir_htonl(choice & 4 ? WEIR_INADDR_ANY : WEIR_INADDR_LOOPBACK)}};
}
#define ADDRESS(in) ((const struct weir_sockaddr *)(const void *)&(in)), sizeof(in)

static int descriptor(void) { return take8(&in) % DESCRIPTORS; }

static void call_open(uint8_t how)
{
    static const int types[4] = {WEIR_SOCK_STREAM, WEIR_SOCK_STREAM, WEIR_SOCK_STREAM, WEIR_SOCK_DGRAM};
    const struct weir_sockaddr_in local = address_of((uint8_t)(how >> 2 | 4));
    const int fd = bsd_socket(bsd, WEIR_AF_INET, types[how & 3], 0), on = 1;
    CHECK(fd >= -1);
    if (how & 0x10)
        (void)bsd_setsockopt(bsd, fd, WEIR_SOL_SOCKET, WEIR_SO_REUSEADDR, &on, sizeof on);
    if (how & 0x20)
        (void)bsd_bind(bsd, fd, ADDRESS(local));
    if (how & 0x40)
        (void)bsd_listen(bsd, fd, 2);
    if (how & 0x80)
        (void)bsd_fcntl(bsd, fd, WEIR_F_SETFL, WEIR_O_NONBLOCK);
}

static void call_send(int fd, uint8_t how)
{
    const size_t bytes = how & 0x40 ? 20000u : how * 7u;
    const struct weir_sockaddr_in to = address_of(how);
    uint8_t *data = calloc(1, bytes + 1);
    const weir_ssize sent = how & 0x80 ? bsd_sendto(bsd, fd, data, bytes, WEIR_MSG_NOSIGNAL, ADDRESS(to))
                                       : bsd_send(bsd, fd, data, bytes, WEIR_MSG_NOSIGNAL);
    CHECK(sent <= (weir_ssize)bytes);
    free(data);
}

static void call_receive(int fd, uint8_t how)
{
    static const int flags[4] = {0, WEIR_MSG_PEEK, WEIR_MSG_DONTWAIT, WEIR_MSG_WAITALL};
    const size_t bytes = how & 0x40 ? 20000u : how * 7u;
    struct weir_sockaddr_in from;
    weir_socklen length = sizeof from;
    uint8_t *data = malloc(bytes + 1);
    const weir_ssize got =
        bsd_recvfrom(bsd, fd, data, bytes, flags[how & 3], (struct weir_sockaddr *)(void *)&from, &length);
    CHECK(got <= (weir_ssize)bytes || how & 0x20);
    free(data);
}

static void call_poll(uint8_t how)
{
    static const int timeouts[4] = {0, 10, 3000, -1};
    struct weir_pollfd fds[3];
    const uint32_t count = how & 3;
    for (uint32_t i = 0; i < count; i++)
        fds[i] = (struct weir_pollfd){.fd = descriptor(), .events = (short)take8(&in)};
    const int ready = bsd_poll(bsd, fds, count, count ? timeouts[how >> 2 & 3] : 10);
    CHECK(ready <= (int)count);
}

static void call_select(uint8_t how)
{
    struct weir_fd_set read, write;
    struct weir_timeval timeout = {how & 1, 1000};
    weir_fd_zero(&read);
    weir_fd_zero(&write);
    weir_fd_add(descriptor(), &read);
    weir_fd_add(descriptor(), &write);
    CHECK(bsd_select(bsd, DESCRIPTORS, how & 2 ? &read : NULL, how & 4 ? &write : NULL, NULL, &timeout) <= 2);
}

static void call_epoll(int fd, uint8_t how)
{
    struct weir_epoll_event event = {.events = (uint32_t)(how & 7) | (how & 8 ? WEIR_EPOLLET : 0) |
                                               (how & 16 ? WEIR_EPOLLONESHOT : 0)},
                            events[4];
    switch (how >> 5) {
    case 0:
    case 1: (void)bsd_epoll_create(bsd); break;
    case 2:
    case 3: (void)bsd_epoll_ctl(bsd, fd, WEIR_EPOLL_CTL_ADD, descriptor(), &event); break;
    case 4: (void)bsd_epoll_ctl(bsd, fd, WEIR_EPOLL_CTL_MOD, descriptor(), &event); break;
    case 5: (void)bsd_epoll_ctl(bsd, fd, WEIR_EPOLL_CTL_DEL, descriptor(), NULL); break;
    default: CHECK(bsd_epoll_wait(bsd, fd, events, 4, how & 1 ? -1 : how & 2 ? 2000 : 0) <= 4); break;
    }
}

static void call_option(int fd, uint8_t how)
{
    static const int names[8] = {WEIR_SO_RCVTIMEO, WEIR_SO_SNDTIMEO, WEIR_SO_LINGER,    WEIR_SO_RCVBUF,
                                 WEIR_SO_SNDBUF,   WEIR_SO_RCVLOWAT, WEIR_SO_KEEPALIVE, WEIR_SO_ERROR};
    const struct weir_timeval time = {how >> 6, 5000};
    const struct weir_linger linger = {how >> 3 & 1, how >> 4 & 3};
    const int number = (how >> 3) * 1000, name = names[how & 7];
    if (name == WEIR_SO_RCVTIMEO || name == WEIR_SO_SNDTIMEO)
        (void)bsd_setsockopt(bsd, fd, WEIR_SOL_SOCKET, name, &time, sizeof time);
    else if (name == WEIR_SO_LINGER)
        (void)bsd_setsockopt(bsd, fd, WEIR_SOL_SOCKET, name, &linger, sizeof linger);
    else
        (void)bsd_setsockopt(bsd, fd, WEIR_SOL_SOCKET, name, &number, sizeof number);
}

static void call(void)
{
    const uint8_t operation = take8(&in), how = take8(&in);
    const int fd = operation >> 4;
    const struct weir_sockaddr_in peer = address_of(how);
    int number = how & 1;
    switch (operation & 15) {
    case 0:
    case 1: call_open(how); break;
    case 2:
    case 3: (void)bsd_connect(bsd, fd, ADDRESS(peer)); break;
    case 4: (void)bsd_accept(bsd, fd, NULL, NULL); break;
    case 5:
    case 6: call_send(fd, how); break;
    case 7:
    case 8: call_receive(fd, how); break;
    case 9: (void)bsd_close(bsd, fd); break;
    case 10: (void)bsd_shutdown(bsd, fd, how % 3); break;
    case 11: call_poll(how); break;
    case 12: call_epoll(fd, how); break;
    case 13: call_option(fd, how); break;
    case 14: call_select(how); break;
    default: (void)bsd_ioctl(bsd, fd, how & 2 ? WEIR_FIONBIO : WEIR_FIONREAD, &number); break;
    }
}

// --- the fibers ------------------------------------------------------------------------------------------------------

static void live(void)
{
    __sanitizer_finish_switch_fiber(NULL, &main_stack, &main_stack_bytes);
    struct fiber *fiber = running;
    if (fiber == &fibers[CLOSER]) {
        for (int fd = 0; fd < 64; fd++)
            (void)bsd_close(bsd, fd);
    } else {
        for (uint32_t n = 0; n < CALLS && in.left; n++)
            call();
    }
    CHECK(!held || holder != fiber);
    fiber->state = ENDED;
    to_scheduler(true);
}

static void begin(struct fiber *fiber)
{
    if (!fiber->stack)
        fiber->stack = malloc(STACK_BYTES);
    CHECK(fiber->stack != NULL && getcontext(&fiber->context) == 0);
    __asan_unpoison_memory_region(fiber->stack, STACK_BYTES);
    fiber->context.uc_stack.ss_sp = fiber->stack;
    fiber->context.uc_stack.ss_size = STACK_BYTES;
    fiber->context.uc_link = NULL;
    fiber->fake_stack = NULL;
    fiber->state = READY;
    makecontext(&fiber->context, live, 0);
}

static void poll(void)
{
    if (held)
        return;
    held = true;
    holder = NULL;
    weir_clock(weir, now_us);
    (void)weir_poll(weir, now_us);
    (void)weir_dispatch(weir, 1000);
    held = false;
}

// Nobody can go on: time passes until somebody's deadline, in steps in which the stack has its own.
static void pass_time(void)
{
    uint64_t next_us = now_us + 20000;
    for (uint32_t i = 0; i < FIBERS; i++)
        if (fibers[i].state == ASLEEP && fibers[i].deadline_us < next_us)
            next_us = fibers[i].deadline_us;
    now_us = next_us > now_us ? next_us : now_us + 1;
    for (uint32_t i = 0; i < FIBERS; i++)
        if (fibers[i].state == ASLEEP && fibers[i].deadline_us <= now_us) {
            fibers[i].state = READY;
            fibers[i].result = 1;
        }
    poll();
}

// One of those who can go on, or the poller.
static void step(uint32_t count)
{
    struct fiber *ready[FIBERS];
    uint32_t n = 0;
    for (uint32_t i = 0; i < count; i++)
        if (fibers[i].state == READY)
            ready[n++] = &fibers[i];
    if (!n) {
        pass_time();
        return;
    }
    chance = chance * 1664525u + 1013904223u;  // decides when the schedule is over
    const uint32_t choice = schedule.left ? take8(&schedule) : chance >> 16;
    if (choice % (n + 1) == n)
        poll();
    else
        to_fiber(ready[choice % (n + 1)]);
}

static bool any_left(uint32_t count)
{
    bool left = false;
    for (uint32_t i = 0; i < count; i++)
        left |= fibers[i].state != ENDED;
    return left;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct weir_config config = {
        .tcp_send_buffer_bytes = 8192, .tcp_receive_buffer_bytes = 8192, .sockets_max = 64};
    const uint64_t before = allocated;
    schedule = (struct bytes){data, (uint32_t)size / 3};
    in = (struct bytes){data + size / 3, (uint32_t)(size - size / 3)};
    now_us = 1000000;
    held = false;
    chance = 1;
    weir = weir_create(NULL, 0, &port, &config);
    CHECK(weir != NULL);
    weir_clock(weir, now_us);
    bsd = bsd_create(weir, &(struct weir_bsd_config){.descriptors = 32});
    CHECK(bsd != NULL);
    for (uint32_t i = 0; i < CLOSER; i++)
        begin(&fibers[i]);
    fibers[CLOSER].state = ENDED;
    const uint64_t end_us = now_us + MINUTE;
    while (any_left(CLOSER) && in.left && now_us < end_us)
        step(CLOSER);
    in.left = 0;
    begin(&fibers[CLOSER]);
    for (uint32_t steps = 0; any_left(FIBERS); steps++) {
        CHECK(steps < STEPS_MAX);
        step(FIBERS);
    }
    bsd_destroy(bsd);
    weir_destroy(weir);
    CHECK(allocated == before);
    return 0;
}
