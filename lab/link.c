// SPDX-License-Identifier: BSD-2-Clause
// The simulator's link in real time, between two TAP devices: what enters one leaves the other as the simulated link
// would have let it. In place of a TAP an end may be udp:HERE:THERE, two ports of this machine between which each
// datagram is a frame: QEMU's -nic socket,udp=127.0.0.1:HERE,localaddr=127.0.0.1:THERE, which needs no privileges.
//
//     weir-link END END [--rate MBIT] [--queue BYTES] [--delay MS] [--loss PERCENT] [--SETTING VALUE]...
//               [--frames FILE] [--spare_handshake 1]
//
// --spare_handshake: from a SYN, and before the first, until a TCP segment without SYN has entered nothing is impaired
// but delayed. The settings are weir-sim's (weir-sim --help). Prints `ready` when both devices are there (they may then
// be moved to other network namespaces); on SIGTERM or SIGINT what it saw, as JSON. --frames writes a line for each TCP
// segment that enters or leaves. The network's time is the monotonic clock's, so a late wake-up delays frames but does
// not slow the link; none leaves before its time.
#define _GNU_SOURCE  // ppoll, struct ifreq
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <fcntl.h>
#include <arpa/inet.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sim/outside.h"
#include "sim/scenario.h"

#define FRAME_BYTES 9216u
#define LINES_MAX 400000u  // of the file of frames
#define READS_AT_ONCE 256  // frames taken from one device before the other has its turn

struct end {
    int fd, number;
    bool udp;
    struct sockaddr_in peer;  // of a datagram socket
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
    bool spare;              // handshakes are spared
    bool sparing;            // a handshake is not over
    struct sim_way ways[2];  // what comes after it
    sigset_t ending;         // the signals that end it
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

static uint32_t read32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

// The TCP header of a frame of either family without extension headers, and in *bytes how long the segment is with it.
// NULL: it has none.
static const uint8_t *segment_of(const uint8_t *frame, uint32_t length, uint32_t *bytes)
{
    const uint8_t *const ip = frame + 14;
    if (length < 54)
        return NULL;
    const bool version6 = frame[12] == 0x86 && frame[13] == 0xdd;
    if ((!version6 && (frame[12] != 8 || frame[13])) || ip[version6 ? 6 : 9] != 6)
        return NULL;
    const uint32_t header = version6 ? 40 : (ip[0] & 15u) * 4,
                   total = version6 ? 40 + ((uint32_t)ip[4] << 8 | ip[5]) : (uint32_t)ip[2] << 8 | ip[3];
    *bytes = total > header ? total - header : 0;
    return 14 + header + 20 <= length ? ip + header : NULL;
}

// Seconds, the end it entered or left by, ports, sequence number, length, acknowledgement.
static void note(int number, const char *what, const uint8_t *frame, uint32_t length)
{
    uint32_t bytes;
    const uint8_t *const tcp = lab.frames && lab.lines < LINES_MAX ? segment_of(frame, length, &bytes) : NULL;
    if (!tcp)
        return;
    const uint32_t header = (uint32_t)(tcp[12] >> 4) * 4;
    lab.lines++;
    fprintf(lab.frames, "%.6f,%d,%s,%u,%u,%u,%u,%u\n", (double)elapsed_ns() / 1e9, number, what,
            (unsigned)(tcp[0] << 8 | tcp[1]), (unsigned)(tcp[2] << 8 | tcp[3]), read32(tcp + 4),
            bytes > header ? bytes - header : 0, read32(tcp + 8));
}

static void leaves(void *context, const uint8_t *frame, uint32_t length)
{
    struct end *to = context;
    note(to->number, "out", frame, length);
    const struct sockaddr *peer = to->udp ? (const struct sockaddr *)&to->peer : NULL;
    const ssize_t sent = peer ? sendto(to->fd, frame, length, 0, peer, sizeof to->peer) : write(to->fd, frame, length);
    to->refused += sent < 0;
}

static void impair(bool all)
{
    for (int i = 0; i < 2; i++) {
        const struct sim_way calm = {
            .rate = lab.ways[i].rate, .delay_ns = lab.ways[i].delay_ns, .queue_bytes = lab.ways[i].queue_bytes};
        sim_link_set(lab.link, i, all ? &lab.ways[i] : &calm);
    }
}

// A SYN begins a handshake, of which the last segment is the first without.
static bool in_handshake(const uint8_t *frame, uint32_t length)
{
    uint32_t bytes;
    const uint8_t *const tcp = segment_of(frame, length, &bytes);
    return tcp ? (tcp[13] & 2) != 0 : lab.sparing;
}

static void enter(struct end *from, const uint8_t *frame, uint32_t length)
{
    const bool sparing = lab.spare && in_handshake(frame, length);
    if (sparing && !lab.sparing)
        impair(false);
    sim_outside_send(from->node, frame, length);
    if (lab.sparing && !sparing)
        impair(true);
    lab.sparing = sparing;
}

static bool enter_all(struct end *from)
{
    uint8_t frame[FRAME_BYTES];
    for (int i = 0; i < READS_AT_ONCE; i++) {
        const ssize_t length = read(from->fd, frame, sizeof frame);
        if (length < 0)
            return errno == EAGAIN || errno == EINTR || errno == EIO || errno == ECONNREFUSED;
        note(from->number, "in", frame, (uint32_t)length);
        // it enters now: were it when the first of them was read, it would leave too early
        (void)sim_run(lab.sim, elapsed_ns());
        enter(from, frame, (uint32_t)length);
    }
    return true;
}

// Until a frame is there, or so long. Only here a signal is let in: none can fall between the question whether one came
// and the wait.
static bool wait_for_frames(uint64_t most_ns)
{
    struct pollfd fds[2] = {{.fd = lab.ends[0].fd, .events = POLLIN}, {.fd = lab.ends[1].fd, .events = POLLIN}};
    const struct timespec most = {.tv_sec = (time_t)(most_ns / 1000000000u), .tv_nsec = (long)(most_ns % 1000000000u)};
    sigset_t before;
    sigprocmask(SIG_BLOCK, &lab.ending, &before);
    const bool woken = ended || ppoll(fds, 2, most_ns == SIM_NEVER ? NULL : &most, &before) >= 0 || errno == EINTR;
    const int error = errno;
    sigprocmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return woken;
}

static int run(void)
{
    while (!ended) {
        (void)sim_run(lab.sim, elapsed_ns());
        for (int i = 0; i < 2; i++)
            if (!enter_all(&lab.ends[i]))
                return fail("cannot read from", "a device");
        const uint64_t due = sim_due(lab.sim), now = elapsed_ns();
        if (due > now && !wait_for_frames(due == SIM_NEVER ? SIM_NEVER : due - now))
            return fail("cannot wait", "for frames");
    }
    return 0;
}

static void print_stats(void)
{
    for (int i = 0; i < 2; i++) {
        const struct sim_way_stats *seen = sim_link_stats(lab.link, i);
        printf("%s{\"frames\": %llu, \"bytes\": %llu, \"offered\": %llu, \"dropped\": %llu, \"lost\": %llu, "
               "\"marked\": %llu, \"refused\": "
               "%llu, "
               "\"queue_peak\": %u, \"mean_wait_us\": %.1f}%s",
               i ? "" : "[", (unsigned long long)seen->frames, (unsigned long long)seen->bytes,
               (unsigned long long)seen->offered, (unsigned long long)seen->dropped, (unsigned long long)seen->lost,
               (unsigned long long)seen->marked, (unsigned long long)lab.ends[!i].refused, seen->longest_queue_bytes,
               seen->frames ? (double)seen->waited_ns / 1e3 / (double)seen->frames : 0, i ? "]\n" : ", ");
    }
}

static int tap(const char *name)
{
    struct ifreq request = {.ifr_flags = IFF_TAP | IFF_NO_PI};
    const int fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    strncpy(request.ifr_name, name, IFNAMSIZ - 1);
    return fd >= 0 && ioctl(fd, TUNSETIFF, &request) == 0 ? fd : -1;
}

static int udp(struct end *end, uint16_t here, uint16_t there)
{
    const struct sockaddr_in own = {
        .sin_family = AF_INET, .sin_port = htons(here), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    end->udp = true;
    end->peer = own;
    end->peer.sin_port = htons(there);
    return fd >= 0 && bind(fd, (const struct sockaddr *)&own, sizeof own) == 0 ? fd : -1;
}

static int end_open(struct end *end, const char *name)
{
    uint16_t here, there;
    return sscanf(name, "udp:%hu:%hu", &here, &there) == 2 ? udp(end, here, there) : tap(name);
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
        } else if (!strcmp(argv[i], "--spare_handshake")) {
            lab.spare = lab.sparing = argv[i + 1][0] != '0';
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
    struct sim_link_options options;
    if (argc < 3) {
        fputs("usage: weir-link END END [--SETTING VALUE]... [--frames FILE] [--spare_handshake 1]\n"
              "END: a TAP, or udp:HERE:THERE; the settings are those of weir-sim --help\n",
              stderr);
        return 64;
    }
    if (!settings_read(&scenario, argc, argv))
        return 64;
    bulk_ways(&scenario, &lab.ways[0], &lab.ways[1]);
    options = (struct sim_link_options){.there = lab.ways[0], .back = &lab.ways[1]};
    lab.sim = sim_open(&(struct sim_options){.seed = scenario.seed, .unchecked = true});
    for (int i = 0; i < 2; i++) {
        lab.ends[i] = (struct end){.number = i};
        lab.ends[i].fd = end_open(&lab.ends[i], argv[1 + i]);
        lab.ends[i].node = sim_outside_add(lab.sim, argv[1 + i], leaves, &lab.ends[i]);
        if (lab.ends[i].fd < 0)
            return fail("cannot open", argv[1 + i]);
    }
    lab.link = sim_link_add(lab.sim, lab.ends[0].node, lab.ends[1].node, &options);
    if (lab.sparing)
        impair(false);
    prctl(PR_SET_TIMERSLACK, 1);
    sigemptyset(&lab.ending);
    sigaddset(&lab.ending, SIGTERM);
    sigaddset(&lab.ending, SIGINT);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    lab.began_ns = elapsed_ns();
    puts("ready");
    fflush(stdout);
    const int status = run();
    if (!status)
        print_stats();
    sim_close(lab.sim);
    if (lab.frames)
        fclose(lab.frames);
    return status;
}
