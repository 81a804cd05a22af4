// SPDX-License-Identifier: BSD-2-Clause
// How many frames of 64 bytes a driver receives or sends in a second, without a stack, and at what processor time.
//
//     frames_bench receive tap|packet|xdp|kernel IFNAME MS    kernel: nothing reads; Linux's own count
//     frames_bench send tap|packet|xdp IFNAME MS
//     frames_bench generate IFNAME MS                         64-byte frames into an interface as fast as Linux takes
//     them
//
// Prints {"count": frames, "ns": by the clock, "cpu_ns": of this process}. Nobody knows the frames' ethertype: who
// receives one drops it.
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <sys/socket.h>

#include "drivers/af_packet.h"
#include "drivers/af_xdp.h"
#include "drivers/tap.h"
#include "posix/posix.h"
#include "weir/instance.h"

#define FRAME 64u
#define BATCH 64

static const uint8_t frame_bytes[FRAME] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0, 0, 1, 0x88, 0xb5};
static uint64_t received;

static uint64_t cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static int fail(const char *what)
{
    fprintf(stderr, "frames_bench: %s\n", what);
    return 1;
}

// --- drivers -----------------------------------------------------------------------------------------
static void count_frame(struct weir_netif *netif, const struct weir_frame *frame)
{
    (void)netif;
    received += frame->length == FRAME;
}
static void ignore(struct weir_netif *netif) { (void)netif; }
static void ignore_completion(struct weir_netif *netif, void *owner, uint32_t end)
{
    (void)netif, (void)owner, (void)end;
}
static void ignore_carrier(struct weir_netif *netif, bool up) { (void)netif, (void)up; }
static const struct weir_upper counter = {count_frame, ignore, ignore_completion, ignore_carrier};

static struct tap tap;
static struct af_packet packet;
static struct af_xdp xdp;

// Returns the descriptor, -1 with what was wrong on standard error.
static int open_driver(const char *kind, const char *ifname, struct weir_netif *netif)
{
    if (strcmp(kind, "tap") == 0) {
        if (tap_open(&tap, ifname, TAP_UP) < 0)
            return fail(tap_error(&tap)), -1;
        tap_attach(&tap, netif, "eth0");
        return tap_fd(&tap);
    }
    if (strcmp(kind, "packet") == 0) {
        if (af_packet_open(&packet, ifname, 0) < 0)
            return fail(af_packet_error(&packet)), -1;
        af_packet_attach(&packet, netif, "eth0");
        return af_packet_fd(&packet);
    }
    if (af_xdp_open(&xdp, ifname, 0, 0) < 0)
        return fail(af_xdp_error(&xdp)), -1;
    af_xdp_attach(&xdp, netif, "eth0");
    return af_xdp_fd(&xdp);
}

static uint64_t receive(struct weir_netif *netif, int fd, uint64_t until_us)
{
    uint64_t now_us;
    while ((now_us = posix_now_us()) < until_us) {
        (void)netif->driver->timer(netif, now_us);
        if (netif->driver->poll(netif, BATCH) == 0) {
            struct pollfd wait = {.fd = fd, .events = POLLIN};
            poll(&wait, 1, 1);
        }
    }
    return received;
}

static uint64_t send_frames(struct weir_netif *netif, int fd, uint64_t until_us)
{
    const struct weir_slice slice = {frame_bytes, FRAME};
    const struct weir_tx tx = {.slices = &slice, .length = FRAME, .count = 1, .header_length = 14};
    uint64_t sent = 0, now_us;
    while ((now_us = posix_now_us()) < until_us) {
        bool full = false;
        (void)netif->driver->timer(netif, now_us);
        for (int i = 0; i < BATCH && !full; i++) {
            full = netif->driver->tx(netif, &tx) == WEIR_TX_FULL;
            sent += !full;
        }
        if (netif->driver->flush != NULL)
            netif->driver->flush(netif);
        if (full) {
            struct pollfd wait = {.fd = fd, .events = POLLOUT};
            poll(&wait, 1, 1);
            (void)netif->driver->poll(netif, BATCH);
        }
    }
    return sent - netif->stats.tx_dropped;
}

// --- Linux alone -------------------------------------------------------------------------------------
static uint64_t linux_received(const char *ifname)
{
    char line[512];
    uint64_t frames = 0;
    FILE *const file = fopen("/proc/self/net/dev", "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        const char *const name = line + strspn(line, " ");
        const size_t length = strlen(ifname);
        if (strncmp(name, ifname, length) == 0 && name[length] == ':')
            (void)sscanf(name + length + 1, "%*u %" SCNu64, &frames);
    }
    if (file != NULL)
        fclose(file);
    return frames;
}

static uint64_t generate(const char *ifname, uint64_t until_us)
{
    struct sockaddr_ll to = {.sll_family = AF_PACKET, .sll_ifindex = (int)if_nametoindex(ifname)};
    struct iovec part = {(void *)frame_bytes, FRAME};
    struct mmsghdr batch[BATCH];
    const int fd = socket(AF_PACKET, SOCK_RAW, 0), on = 1;
    uint64_t sent = 0;
    setsockopt(fd, SOL_PACKET, PACKET_QDISC_BYPASS, &on, sizeof on);
    if (fd < 0 || bind(fd, (const struct sockaddr *)&to, sizeof to) < 0)
        return 0;
    memset(batch, 0, sizeof batch);
    for (int i = 0; i < BATCH; i++) {
        batch[i].msg_hdr.msg_iov = &part;
        batch[i].msg_hdr.msg_iovlen = 1;
    }
    while (posix_now_us() < until_us) {
        const int now = sendmmsg(fd, batch, BATCH, 0);
        sent += now > 0 ? (uint64_t)now : 0;
    }
    return sent;
}

int main(int count, char **words)
{
    static struct weir_netif netif;
    static struct posix_host host;
    const char *const task = count > 1 ? words[1] : "";
    const bool alone = strcmp(task, "generate") == 0;
    if (count != (alone ? 4 : 5))
        return fail("see bench/host/frames_bench.c for the arguments");
    const char *const kind = words[2], *const ifname = words[count - 2];
    const bool kernel = !alone && strcmp(kind, "kernel") == 0;
    int fd = -1;
    if (!alone && !kernel) {
        if (posix_host_init(&host, NULL) < 0 || (netif.weir = weir_create(NULL, 0, &host.port, NULL)) == NULL)
            return fail("no instance");
        struct weir *const weir = netif.weir;
        fd = open_driver(kind, ifname, &netif);
        if (fd < 0)
            return 1;
        netif.weir = weir;
        netif.upper = &counter;
    }
    puts("ready");
    fflush(stdout);
    const uint64_t before = kernel ? linux_received(ifname) : 0, begin_us = posix_now_us(), begin_cpu_ns = cpu_ns();
    const uint64_t until_us = begin_us + strtoull(words[count - 1], NULL, 10) * 1000u;
    uint64_t frames;
    if (alone)
        frames = generate(ifname, until_us);
    else if (kernel)
        frames = (poll(NULL, 0, (int)strtol(words[count - 1], NULL, 10)), linux_received(ifname) - before);
    else
        frames = strcmp(task, "send") == 0 ? send_frames(&netif, fd, until_us) : receive(&netif, fd, until_us);
    printf("{\"count\": %" PRIu64 ", \"ns\": %" PRIu64 ", \"cpu_ns\": %" PRIu64 "}\n", frames,
           (posix_now_us() - begin_us) * 1000u, cpu_ns() - begin_cpu_ns);
    return 0;
}
