// SPDX-License-Identifier: BSD-2-Clause
// A driver without a stack, for tests/interop/test_drivers.py: says each frame that arrives, sends the frames it is
// told.
//
//     driver_probe tap|tun|packet|xdp IFNAME [FLAGS [CAPTURE]]
//
// FLAGS: v no virtio-net header (xdp: no offload), u raise the interface, g XDP in Linux's general code
//
// On standard input:  send HEX [START OFFSET [TCP|UDP SIZE HEADERS]]   (START, OFFSET: of a checksum to be completed)
//                     pad N: so many bytes of 'x' are added to the next frame sent;  turns;  quit
// On standard output: ready MTU CAPABILITIES;  frame LENGTH CHECKSUM SEGMENTS SIZE HEX (its first 128 bytes);  carrier
// 0|1;
//                     sent VERDICT;  turns COUNT (of the loop);  or, with exit status 1: error SENTENCE
#define _GNU_SOURCE
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "drivers/af_packet.h"
#include "drivers/af_xdp.h"
#include "drivers/tap.h"
#include "drivers/tun.h"
#include "drivers/wrap/pcap.h"
#include "weir/instance.h"

static struct tap tap;
static struct tun tun;
static struct af_packet packet;
static struct af_xdp xdp;
static struct pcap_file capture;
static struct pcap pcap;
static struct weir_netif netif;
static uint32_t pad;

static void *allocate(void *context, size_t bytes)
{
    (void)context;
    return malloc(bytes);
}
static void release(void *context, void *memory, size_t bytes)
{
    (void)context, (void)bytes;
    free(memory);
}
static void entropy(void *context, void *out, size_t bytes)
{
    (void)context;
    memset(out, 1, bytes);
}
static const struct weir_port port = {.alloc = allocate, .free = release, .entropy = entropy};

static uint64_t now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000u + (uint64_t)now.tv_nsec / 1000u;
}

static void say_frame(struct weir_netif *from, const struct weir_frame *frame)
{
    (void)from;
    printf("frame %u %u %u %u ", frame->length, frame->checksum, frame->segments, frame->segment_size);
    for (uint32_t i = 0; i < frame->slices[0].length && i < 128; i++)
        printf("%02x", frame->slices[0].data[i]);
    puts("");
}
static void say_ready(struct weir_netif *from)
{
    (void)from;
    puts("writable");
}
static void say_complete(struct weir_netif *from, void *owner, uint32_t end)
{
    (void)from, (void)owner;
    printf("complete %u\n", end);
}
static void say_carrier(struct weir_netif *from, bool up)
{
    (void)from;
    printf("carrier %d\n", up);
}
static const struct weir_upper upper = {say_frame, say_ready, say_complete, say_carrier};

static void send_frame(struct weir_netif *outer, char *words)
{
    static uint8_t bytes[200000];
    uint32_t length = 0;
    unsigned start = 0, offset = 0, size = 0, headers = 0;
    char kind[8] = "";
    char *hex = strtok(words, " ");
    for (; hex[0] && hex[1]; hex += 2, length++) {
        char pair[3] = {hex[0], hex[1], 0};
        bytes[length] = (uint8_t)strtoul(pair, NULL, 16);
    }
    char *rest = strtok(NULL, "\n");
    if (rest)
        sscanf(rest, "%u %u %7s %u %u", &start, &offset, kind, &size, &headers);
    memset(bytes + length, 'x', pad);
    struct weir_slice slices[2] = {{bytes, length}, {bytes + length, pad}};
    struct weir_tx tx = {.slices = slices, .length = length + pad, .count = pad ? 2 : 1};
    tx.header_length = (uint16_t)(headers ? headers : length);
    tx.checksum_start = (uint16_t)start;
    tx.checksum_offset = (uint16_t)offset;
    tx.segment_size = (uint16_t)size;
    tx.gso = strcmp(kind, "UDP") == 0 ? WEIR_GSO_UDP4 : strcmp(kind, "TCP") == 0 ? WEIR_GSO_TCP4 : WEIR_GSO_NONE;
    pad = 0;
    const enum weir_tx_verdict verdict = outer->driver->tx(outer, &tx);
    if (outer->driver->flush != NULL)
        outer->driver->flush(outer);
    printf("sent %d\n", verdict);
}

static int open_driver(const char *kind, const char *ifname, const char *flags)
{
    bool plain = strchr(flags, 'v'), raise = strchr(flags, 'u');
    int error;
    if (strcmp(kind, "tap") == 0) {
        error = tap_open(&tap, ifname, (plain ? TAP_NO_VNET : 0u) | (raise ? TAP_UP : 0u));
        if (error == 0)
            tap_attach(&tap, &netif, "eth0");
        else
            printf("error %d %s\n", error, tap_error(&tap));
        return error ? -1 : tap_fd(&tap);
    }
    if (strcmp(kind, "tun") == 0) {
        error = tun_open(&tun, ifname, (plain ? TUN_NO_VNET : 0u) | (raise ? TUN_UP : 0u));
        if (error == 0)
            tun_attach(&tun, &netif, "tun0");
        else
            printf("error %d %s\n", error, tun_error(&tun));
        return error ? -1 : tun_fd(&tun);
    }
    if (strcmp(kind, "xdp") == 0) {
        const unsigned generic = strchr(flags, 'g') ? AF_XDP_GENERIC : 0u;
        error = af_xdp_open(&xdp, ifname, 0, generic | (plain ? AF_XDP_NO_OFFLOAD : 0u) | (raise ? AF_XDP_UP : 0u));
        if (error == 0)
            af_xdp_attach(&xdp, &netif, "eth0");
        else
            printf("error %d %s\n", error, af_xdp_error(&xdp));
        return error ? -1 : af_xdp_fd(&xdp);
    }
    error = af_packet_open(&packet, ifname, (plain ? AF_PACKET_NO_VNET : 0u) | (raise ? AF_PACKET_UP : 0u));
    if (error == 0)
        af_packet_attach(&packet, &netif, "eth0");
    else
        printf("error %d %s\n", error, af_packet_error(&packet));
    return error ? -1 : af_packet_fd(&packet);
}

int main(int count, char **words)
{
    static char line[400000];
    if (count < 3)
        return 2;
    setvbuf(stdout, NULL, _IOLBF, 0);
    setvbuf(stdin, NULL, _IONBF, 0);  // poll sees what stdio would have taken
    int fd = open_driver(words[1], words[2], count > 3 ? words[3] : "");
    if (fd < 0)
        return 1;
    struct weir_netif *outer = &netif;
    if (count > 4 && pcap_open(&capture, words[4], 0, PCAP_WALL_CLOCK) == 0)
        outer = pcap_wrap(&pcap, outer, &capture);
    struct weir *weir = weir_create(NULL, 0, &port, NULL);
    outer->weir = weir;
    outer->upper = &upper;
    printf("ready %u %u\n", outer->mtu, outer->capabilities);
    unsigned turns = 0;
    for (bool quit = false; !quit;) {
        weir_clock(weir, now_us());
        uint64_t due_us = outer->driver->timer(outer, now_us());
        struct pollfd wait[2] = {{.fd = fd, .events = POLLIN}, {.fd = 0, .events = POLLIN}};
        turns++;
        poll(wait, 2, due_us > now_us() + 100000 ? 100 : (int)((due_us - now_us()) / 1000 + 1));
        while (outer->driver->poll(outer, 64) > 0)
            continue;
        if (!(wait[1].revents & (POLLIN | POLLHUP)))
            continue;
        if (!fgets(line, sizeof line, stdin) || strncmp(line, "quit", 4) == 0)
            quit = true;
        else if (strncmp(line, "turns", 5) == 0)
            printf("turns %u\n", turns);
        else if (strncmp(line, "pad ", 4) == 0)
            pad = (uint32_t)strtoul(line + 4, NULL, 10);
        else if (strncmp(line, "send ", 5) == 0)
            send_frame(outer, line + 5);
    }
    if (outer != &netif)
        pcap_close(&capture);
    weir_destroy(weir);
    if (strcmp(words[1], "tap") == 0)
        tap_close(&tap);
    else if (strcmp(words[1], "tun") == 0)
        tun_close(&tun);
    else if (strcmp(words[1], "xdp") == 0)
        af_xdp_close(&xdp);
    else
        af_packet_close(&packet);
    return 0;
}
