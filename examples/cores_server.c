// SPDX-License-Identifier: BSD-2-Clause
// A server on every core: as many instances as are asked for, each with a thread, a queue of one TAP and the flows that
// drivers/wrap/steer.h gives it; all with one address. Echo (7), discard (9) and chargen (19), until interrupted.
//
//     cores_server TAP ADDRESS/PREFIX CORES
//
// At the end it prints for each member its accepted connections, frames received, frames that reached it though they
// were another's, and its processor time, as JSON.
#define _GNU_SOURCE  // CPU_SET
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "chargen.h"
#include "discard.h"
#include "drivers/tap.h"
#include "drivers/wrap/steer.h"
#include "echo.h"
#include "loop.h"
#include "ports/posix/posix.h"
#include "text.h"
#include "weir/instance.h"
#include "weir/stats.h"

struct member {
    pthread_t thread;
    uint32_t index;
    struct posix_host host;
    struct weir *weir;
    struct loop loop;
    struct tap tap;
    struct weir_netif queue;
    struct steer steer;
    struct echo echo;
    struct discard discard;
    struct chargen chargen;
    uint64_t cpu_ns;
};

static struct steer_group group;
static WEIR_ATOMIC(bool) ended;

static int fail(const char *what, const char *why)
{
    fprintf(stderr, "cores_server: %s: %s\n", what, why);
    return -1;
}

static int check(const char *what, int error) { return error < 0 ? fail(what, weir_error_name(error)) : 0; }

static uint64_t member_turn(void *context, uint64_t now_us)
{
    return loop_run(&((struct member *)context)->loop, now_us);
}

static void member_wake(void *context) { posix_host_wake(&((struct member *)context)->host); }

static int member_serve(struct member *member)
{
    struct loop *const loop = &member->loop;
    int error = echo_start(&member->echo, loop, 7);
    if (error == WEIR_OK)
        error = discard_start(&member->discard, loop, 9);
    if (error == WEIR_OK)
        error = chargen_start(&member->chargen, loop, 19);
    return check("a service", error);
}

// All members have the first one's Ethernet address.
static int member_open(struct member *member, const struct member *first, const char *ifname, unsigned flags,
                       struct weir_addr address, uint8_t bits)
{
    // Whoever has nothing to do gives its core to the others at once.
    const struct posix_options options = {.turn = member_turn, .context = member, .sleep_at_once = true};
    const struct weir_config config = {.memory_budget_bytes = posix_memory_budget() / group.count};
    if (posix_host_init(&member->host, &options) != 0)
        return fail("the POSIX port", "no descriptors");
    member->weir = weir_create(NULL, 0, &member->host.port, &config);
    if (member->weir == NULL)
        return fail("instance", "no memory");
    posix_host_attach(&member->host, member->weir);
    weir_clock(member->weir, posix_now_us());
    loop_init(&member->loop, member->weir);
    if (tap_open(&member->tap, ifname, TAP_UP | flags) < 0)
        return fail(ifname, tap_error(&member->tap));
    tap_attach(&member->tap, &member->queue, "eth0");
    memcpy(member->queue.mac, first->queue.mac, sizeof member->queue.mac);
    struct weir_netif *const netif =
        steer_wrap(&member->steer, &member->queue, &group, member->index, member_wake, member);
    int error = weir_netif_add(member->weir, netif);
    if (error == WEIR_OK)
        error = weir_netif_set_address(netif, address, bits, WEIR_ADDRESS_AT_ONCE);
    if (error == WEIR_OK && posix_host_add(&member->host, netif, tap_fd(&member->tap)) != 0)
        error = WEIR_NO_MEMORY;
    return check(ifname, error) < 0 ? -1 : member_serve(member);
}

static void *member_run(void *argument)
{
    struct member *const member = argument;
    struct timespec used;
    cpu_set_t core;
    CPU_ZERO(&core);
    CPU_SET(member->index, &core);
    (void)pthread_setaffinity_np(pthread_self(), sizeof core, &core);  // fewer cores than members: wherever it may run
    while (!ended)
        (void)posix_host_poll(&member->host, -1);
    if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used) == 0)
        member->cpu_ns = (uint64_t)used.tv_sec * 1000000000u + (uint64_t)used.tv_nsec;
    return NULL;
}

static void member_report(const struct member *member)
{
    const struct weir_netif *const netif = &member->steer.wrap.outer;
    printf("%s{\"accepted\": %u, \"frames\": %u, \"handed_over\": %llu, \"lost\": %llu, \"cpu_ns\": %llu}",
           member->index ? ", " : "[", weir_counter_get(member->weir, WEIR_COUNT_TCP_ACCEPTED), netif->stats.rx_frames,
           (unsigned long long)member->steer.count.handed_over, (unsigned long long)member->steer.count.lost,
           (unsigned long long)member->cpu_ns);
}

static bool address_read(const char *text, struct weir_addr *address, uint8_t *bits)
{
    const char *const slash = strchr(text, '/');
    const long number = slash != NULL ? strtol(slash + 1, NULL, 10) : 0;
    *bits = (uint8_t)number;
    return number >= 1 && number <= 32 && text_read_addr(text, (uint32_t)(slash - text), address);
}

// The threads begin when every queue is there, or Linux would give frames to those that are.
static int serve(struct member *members, const char *ifname, struct weir_addr address, uint8_t bits)
{
    sigset_t ending;
    int number;
    sigemptyset(&ending);
    sigaddset(&ending, SIGINT);
    sigaddset(&ending, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &ending, NULL);  // this thread alone waits for them
    const bool several = group.count > 1;
    const int program = several ? steer_program(group.count) : -1;
    // What is handed over is not longer than a frame by itself.
    const unsigned flags = !several ? 0u : program < 0 ? TAP_QUEUES | TAP_NO_VNET : (unsigned)TAP_QUEUES;
    for (uint32_t i = 0; i < group.count; i++) {
        members[i].index = i;
        if (member_open(&members[i], &members[0], ifname, flags, address, bits) < 0)
            return 1;
    }
    if (several && (program < 0 || tap_steer(&members[0].tap, program) < 0))
        fputs("cores_server: Linux takes no program for the queues (as root it does): members hand frames over\n",
              stderr);
    for (uint32_t i = 0; i < group.count; i++)
        if (pthread_create(&members[i].thread, NULL, member_run, &members[i]) != 0) {
            (void)fail("thread", "none to be had");
            exit(1);  // and with it those that run already
        }
    fprintf(stderr, "cores_server: up on %s\n", ifname);
    (void)sigwait(&ending, &number);
    ended = true;
    for (uint32_t i = 0; i < group.count; i++) {
        posix_host_wake(&members[i].host);
        pthread_join(members[i].thread, NULL);
        member_report(&members[i]);
    }
    puts("]");
    return 0;
}

int main(int argc, char **argv)
{
    struct weir_addr address;
    uint8_t bits;
    const long count = argc == 4 ? strtol(argv[3], NULL, 10) : 0;
    if (count < 1 || count > (long)STEER_MEMBERS || !address_read(argv[2], &address, &bits)) {
        fputs("usage: cores_server TAP ADDRESS/PREFIX CORES\n", stderr);
        return 2;
    }
    struct member *const members = calloc((size_t)count, sizeof *members);
    if (members == NULL)
        return fail("members", "no memory"), 1;
    steer_group_init(&group, (uint32_t)count);
    const int status = serve(members, argv[1], address, bits);
    free(members);
    return status;
}
