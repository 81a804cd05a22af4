// SPDX-License-Identifier: BSD-2-Clause
// The simulator's link in real time, between two TAP devices: what enters one leaves the other as the simulated link would have let it.
//
//     weir-link TAP TAP [--rate MBIT] [--queue BYTES] [--delay MS] [--loss PERCENT] [--SETTING VALUE]... [--frames FILE]
//
// The settings are weir-sim's (weir-sim --help). Prints `ready` when both devices are there (they may then be moved to other network
// namespaces); on SIGTERM or SIGINT what it saw, as JSON. --frames writes a line for each TCP segment that enters or leaves. The
// network's time is the monotonic clock's, so a late wake-up delays frames but does not slow the link.
#define _GNU_SOURCE  // ppoll, struct ifreq
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "sim/outside.h"
#include "sim/scenario.h"

#define FRAME_BYTES 9216u
#define LINES_MAX 400000u  // of the file of frames
#define READS_AT_ONCE 256  // frames taken from one device before the other has its turn

struct end {
    int fd, number;
    struct sim_node *node;
    uint64_t refused;  // by the device: down, or full
};

static struct {
    struct sim *sim;
    struct sim_link *link;
    struct end ends[2];
    uint64_t began_ns;
    FILE *frames;
    uint32_t lines;
} lab;
static volatile sig_atomic_t ended;

static void end(int signal)
{
    (void)signal;
    ended = 1;
}

static int fail(const char *what, const char *name)
{
    fprintf(stderr, "weir-link: %s %s: %s\n", what, name, strerror(errno));
    return 1;
}

static uint64_t elapsed_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec - lab.began_ns;
}

static uint32_t read32(const uint8_t *p) { return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3]; }

// Seconds, the end it entered or left by, ports, sequence number, length, acknowledgement.
static void note(int number, const char *what, const uint8_t *frame, uint32_t length)
{
    const uint8_t *const ip = frame + 14, *const tcp = ip + (ip[0] & 15) * 4;
    if (!lab.frames || lab.lines >= LINES_MAX || length < 54 || frame[12] != 8 || frame[13] || ip[9] != 6 || tcp + 20 > frame + length)
        return;
    const uint32_t total = (uint32_t)ip[2] << 8 | ip[3], begin = (uint32_t)(tcp - ip) + (uint32_t)(tcp[12] >> 4) * 4;
    lab.lines++;
    fprintf(lab.frames, "%.6f,%d,%s,%u,%u,%u,%u,%u\n", (double)elapsed_ns() / 1e9, number, what, (unsigned)(tcp[0] << 8 | tcp[1]),
            (unsigned)(tcp[2] << 8 | tcp[3]), read32(tcp + 4), total > begin ? total - begin : 0, read32(tcp + 8));
}

static void leaves(void *context, const uint8_t *frame, uint32_t length)
{
    struct end *to = context;
    note(to->number, "out", frame, length);
    if (write(to->fd, frame, length) < 0)
        to->refused++;
}

static bool enter_all(struct end *from)
{
    uint8_t frame[FRAME_BYTES];
    for (int i = 0; i < READS_AT_ONCE; i++) {
        const ssize_t length = read(from->fd, frame, sizeof frame);
        if (length < 0)
            return errno == EAGAIN || errno == EINTR || errno == EIO;
        note(from->number, "in", frame, (uint32_t)length);
        sim_outside_send(from->node, frame, (uint32_t)length);
    }
    return true;
}

static int run(void)
{
    while (!ended) {
        for (int i = 0; i < 2; i++) {
            (void)sim_run(lab.sim, elapsed_ns());
            if (!enter_all(&lab.ends[i]))
                return fail("cannot read from", "a device");
        }
        const uint64_t due = sim_due(lab.sim), now = elapsed_ns();
        if (due <= now)
            continue;
        struct pollfd fds[2] = {{.fd = lab.ends[0].fd, .events = POLLIN}, {.fd = lab.ends[1].fd, .events = POLLIN}};
        const struct timespec wait = {.tv_sec = (time_t)((due - now) / 1000000000u), .tv_nsec = (long)((due - now) % 1000000000u)};
        if (ppoll(fds, 2, due == SIM_NEVER ? NULL : &wait, NULL) < 0 && errno != EINTR)
            return fail("cannot wait", "");
    }
    for (int i = 0; i < 2; i++) {
        const struct sim_way_stats *seen = sim_link_stats(lab.link, i);
        printf("%s{\"frames\": %llu, \"bytes\": %llu, \"offered\": %llu, \"dropped\": %llu, \"lost\": %llu, \"marked\": %llu, \"refused\": "
               "%llu, "
               "\"queue_peak\": %u, \"mean_wait_us\": %.1f}%s",
               i ? "" : "[", (unsigned long long)seen->frames, (unsigned long long)seen->bytes, (unsigned long long)seen->offered,
               (unsigned long long)seen->dropped, (unsigned long long)seen->lost, (unsigned long long)seen->marked,
               (unsigned long long)lab.ends[!i].refused, seen->longest_queue_bytes,
               seen->frames ? (double)seen->waited_ns / 1e3 / (double)seen->frames : 0, i ? "]\n" : ", ");
    }
    return 0;
}

static int tap(const char *name)
{
    struct ifreq request = {.ifr_flags = IFF_TAP | IFF_NO_PI};
    const int fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    strncpy(request.ifr_name, name, IFNAMSIZ - 1);
    return fd >= 0 && ioctl(fd, TUNSETIFF, &request) == 0 ? fd : -1;
}

// false: it was said what is wrong.
static bool settings_read(struct scenario *scenario, int argc, char **argv)
{
    scenario_defaults(scenario);
    scenario->rate = scenario->delay = 0;
    for (int i = 3; i < argc; i += 2) {
        if (strncmp(argv[i], "--", 2) != 0 || i + 1 == argc) {
            fprintf(stderr, "weir-link: %s: settings come as --name value\n", argv[i]);
            return false;
        }
        if (!strcmp(argv[i], "--frames")) {
            lab.frames = fopen(argv[i + 1], "w");
            if (!lab.frames)
                return fail("cannot write", argv[i + 1]), false;
        } else if (scenario_set(scenario, argv[i] + 2, argv[i + 1])) {
            return false;
        }
    }
    return true;
}

int main(int argc, char **argv)
{
    static struct scenario scenario;
    const struct sigaction action = {.sa_handler = end};
    struct sim_link_options options = {0};
    struct sim_way back;
    if (argc < 3) {
        fputs("usage: weir-link TAP TAP [--SETTING VALUE]... [--frames FILE]      the settings of weir-sim --help\n", stderr);
        return 64;
    }
    if (!settings_read(&scenario, argc, argv))
        return 64;
    bulk_ways(&scenario, &options.there, &back);
    options.back = &back;
    lab.sim = sim_open(&(struct sim_options){.seed = scenario.seed, .unchecked = true});
    for (int i = 0; i < 2; i++) {
        lab.ends[i] = (struct end){.fd = tap(argv[1 + i]), .number = i};
        lab.ends[i].node = sim_outside_add(lab.sim, argv[1 + i], leaves, &lab.ends[i]);
        if (lab.ends[i].fd < 0)
            return fail("cannot make", argv[1 + i]);
    }
    lab.link = sim_link_add(lab.sim, lab.ends[0].node, lab.ends[1].node, &options);
    prctl(PR_SET_TIMERSLACK, 1);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    lab.began_ns = elapsed_ns();
    puts("ready");
    fflush(stdout);
    const int status = run();
    sim_close(lab.sim);
    if (lab.frames)
        fclose(lab.frames);
    return status;
}
