// SPDX-License-Identifier: BSD-2-Clause
// The other end of a modelled machine's cable, in the machine's own time (tools/machines): a host of the simulator that
// moves bytes by the protocol of transfer.elf and flock_transfer.elf, over the simulator's link, --runs times after one
// of 100 KB that counts for nothing.
//
//     weir-machine-peer send|receive [--runs N] [--SETTING VALUE]...        (what the board does, at ports 5001, 5002)
//
// The settings are weir-sim's (bytes, cc, rate, delay, loss, back_loss, seed, pcap …): loss is of what the board sends,
// back_loss of what it receives. `delay`, each way, may not be 0: a frame of the machine's enters the link that much
// after it left, so that the network may be so far ahead of the machine. The rate is of what the machine receives: what
// it sends its MAC has paced.
//
// Standard input and output are the machine's, in turns; numbers are little-endian, times ns.
//     in:  time to run to (8 bytes), frames (4), of each: when it enters the link (8), length (4), bytes
//     out: when something happens next, NEVER included (8), where it has come to (8), whether all is done (4),
//          frames (4), of each: when it arrived (8), length (4), bytes
// It stops behind the moment of the first frame that arrives. Standard error has a line of JSON for each run: from
// connect until the last byte, and the end, have come.
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/bsd/weir_bsd.h"
#include "sim/event.h"
#include "sim/fibre.h"
#include "sim/outside.h"
#include "sim/scenario.h"

#define FRAME_BYTES 2048u
#define FRAMES_MAX 4096u  // on their way from the machine, or of one moment to it
#define BOARD UINT32_C(0x0a000002)
#define SEND_PORT 5001
#define RECEIVE_PORT 5002
#define WARM_BYTES 100000u
#define PIECE 65536u
#define RETRY_NS SIM_MS(20)

struct frame_at {
    uint64_t at_ns;
    uint32_t length;
    uint8_t bytes[FRAME_BYTES];
};

static struct {
    struct sim *sim;
    struct sim_host *host;
    struct sim_node *machine;
    struct weir_bsd *bsd;
    struct scenario scenario;
    uint64_t runs;
    bool sends, done, failed;  // sends: the board does
    struct event enters;       // of the first in `sent`
    struct frame_at *sent, *arrived;
    uint32_t sent_first, sent_count, arrived_count;
} peer;

static int fail(const char *what)
{
    fprintf(stderr, "weir-machine-peer: %s\n", what);
    return 1;
}

// --- the transfers ---------------------------------------------------------------------------------------------------

// A connection, as soon as the board listens.
static int connected(struct sim_host *host)
{
    struct weir_sockaddr_in board = {.sin_family = WEIR_AF_INET,
                                     .sin_port = weir_htons(peer.sends ? SEND_PORT : RECEIVE_PORT),
                                     .sin_addr = {weir_htonl(BOARD)}};
    for (;;) {
        const int fd = bsd_socket(peer.bsd, WEIR_AF_INET, WEIR_SOCK_STREAM, 0);
        if (fd < 0 || bsd_connect(peer.bsd, fd, (struct weir_sockaddr *)(void *)&board, sizeof board) == 0)
            return fd;
        const bool again = errno == ECONNREFUSED || errno == EHOSTUNREACH || errno == ETIMEDOUT;
        bsd_close(peer.bsd, fd);
        if (!again || !sim_fibre_sleep(host, RETRY_NS))
            return -1;
    }
}

static bool give(int fd, uint64_t bytes)
{
    static const uint8_t data[PIECE];
    while (bytes) {
        const weir_ssize now = bsd_write(peer.bsd, fd, data, bytes < PIECE ? (size_t)bytes : PIECE);
        if (now <= 0)
            return false;
        bytes -= (uint64_t)now;
    }
    return bsd_shutdown(peer.bsd, fd, WEIR_SHUT_WR) == 0;
}

// All that comes until the end is so much.
static bool take(int fd, uint64_t bytes)
{
    static uint8_t data[PIECE];
    weir_ssize now;
    uint64_t got = 0;
    while ((now = bsd_read(peer.bsd, fd, data, sizeof data)) > 0)
        got += (uint64_t)now;
    return now == 0 && got == bytes;
}

static bool transfer(struct sim_host *host, uint64_t bytes, uint64_t *took_ns)
{
    const uint8_t asked[4] = {(uint8_t)(bytes >> 24), (uint8_t)(bytes >> 16), (uint8_t)(bytes >> 8), (uint8_t)bytes};
    uint64_t began_ns = sim_now(peer.sim);
    int fd = connected(host);
    if (fd < 0)
        return false;
    const bool good = peer.sends ? bsd_write(peer.bsd, fd, asked, sizeof asked) == sizeof asked && take(fd, bytes)
                                 : give(fd, bytes) && take(fd, 0);
    *took_ns = sim_now(peer.sim) - began_ns;
    bsd_close(peer.bsd, fd);
    return good;
}

static void program(struct sim_host *host, void *context)
{
    uint64_t took_ns = 0;
    (void)context;
    peer.failed = !transfer(host, WARM_BYTES, &took_ns);
    for (uint64_t run = 0; run < peer.runs && !peer.failed; run++) {
        // A process that has ended a connection listens anew meanwhile, on the slowest machine, too.
        peer.failed = !sim_fibre_sleep(host, SIM_S(1)) || !transfer(host, peer.scenario.bytes, &took_ns);
        if (!peer.failed)
            fprintf(stderr, "{\"bytes\": %llu, \"seconds\": %.6f}\n", (unsigned long long)peer.scenario.bytes,
                    (double)took_ns / 1e9);
    }
    peer.done = true;
}

// --- the machine -----------------------------------------------------------------------------------------------------

static void arrives(void *context, const uint8_t *bytes, uint32_t length)
{
    (void)context;
    if (peer.arrived_count == FRAMES_MAX || length > FRAME_BYTES) {
        sim_fail(peer.sim, "a frame of %u bytes for the machine, with %u waiting", length, peer.arrived_count);
        return;
    }
    struct frame_at *const frame = &peer.arrived[peer.arrived_count++];
    frame->at_ns = sim_now(peer.sim);
    frame->length = length;
    memcpy(frame->bytes, bytes, length);
}

static void enters(void *context)
{
    const struct frame_at *const frame = &peer.sent[peer.sent_first];
    (void)context;
    peer.sent_first = (peer.sent_first + 1) % FRAMES_MAX;
    if (--peer.sent_count)
        sim_event_set(peer.sim, &peer.enters, peer.sent[peer.sent_first].at_ns);
    sim_outside_send(peer.machine, frame->bytes, frame->length);
}

static bool happened(void *context)
{
    (void)context;
    return peer.done || peer.arrived_count;
}

static bool read_frame(void)
{
    struct frame_at *const frame = &peer.sent[(peer.sent_first + peer.sent_count) % FRAMES_MAX];
    if (peer.sent_count == FRAMES_MAX || fread(&frame->at_ns, 8, 1, stdin) != 1 ||
        fread(&frame->length, 4, 1, stdin) != 1 || frame->length > FRAME_BYTES ||
        fread(frame->bytes, 1, frame->length, stdin) != frame->length || frame->at_ns < sim_now(peer.sim))
        return false;
    if (!peer.sent_count++)
        sim_event_set(peer.sim, &peer.enters, frame->at_ns);
    return true;
}

static bool answer(void)
{
    const uint64_t due_ns = sim_due(peer.sim), now_ns = sim_now(peer.sim);
    const uint32_t done = peer.done, count = peer.arrived_count;
    bool good = fwrite(&due_ns, 8, 1, stdout) == 1 && fwrite(&now_ns, 8, 1, stdout) == 1 &&
                fwrite(&done, 4, 1, stdout) == 1 && fwrite(&count, 4, 1, stdout) == 1;
    for (uint32_t i = 0; i < count && good; i++)
        good = fwrite(&peer.arrived[i].at_ns, 8, 1, stdout) == 1 &&
               fwrite(&peer.arrived[i].length, 4, 1, stdout) == 1 &&
               fwrite(peer.arrived[i].bytes, 1, peer.arrived[i].length, stdout) == peer.arrived[i].length;
    peer.arrived_count = 0;
    return fflush(stdout) == 0 && good;
}

// Until all is done, or the machine has gone.
static int serve(void)
{
    uint64_t until_ns;
    uint32_t count;
    while (!peer.done) {
        if (fread(&until_ns, 8, 1, stdin) != 1)
            return feof(stdin) ? 0 : fail("cannot read");
        bool good = fread(&count, 4, 1, stdin) == 1;
        while (good && count--)
            good = read_frame();
        if (!good)
            return fail("what the machine says is no frame, or comes too late");
        if (!sim_run_until(peer.sim, happened, NULL, until_ns))
            return fail(sim_failure(peer.sim));
        if (!answer())
            return fail("cannot write");
    }
    return peer.failed ? fail("a transfer did not come to its end") : 0;
}

static bool settings_read(int argc, char **argv)
{
    struct scenario *const scenario = &peer.scenario;
    scenario_defaults(scenario);
    scenario->rate = 0;
    for (int i = 2; i < argc; i += 2) {
        if (strncmp(argv[i], "--", 2) != 0 || i + 1 == argc)
            return fail("settings come as --name value"), false;
        if (!strcmp(argv[i], "--runs"))
            peer.runs = strtoull(argv[i + 1], NULL, 10);
        else if (scenario_set(scenario, argv[i] + 2, argv[i + 1]))
            return false;
    }
    if (!(scenario->delay > 0) || !scenario->bytes || scenario->bytes > UINT32_MAX || !peer.runs)
        return fail("delay, bytes (4 GB at the most) and runs are not 0"), false;
    return true;
}

static bool open_network(void)
{
    const struct scenario *const scenario = &peer.scenario;
    struct sim_way there, back;
    char path[SCENARIO_TEXT + 32];
    bulk_ways(scenario, &there, &back);
    there.rate = there.delay_ns = 0;  // both are behind it when it comes here
    if (!scenario_given(scenario, "queue"))
        there.queue_bytes = back.queue_bytes = 0;
    peer.sim = sim_open(&(struct sim_options){.seed = scenario->seed, .unchecked = true});
    peer.host = sim_host_add(peer.sim, "far",
                             &(struct sim_host_options){.config.congestion_control = scenario->cc,
                                                        .granularity_us = (uint32_t)scenario->tick_us});
    peer.machine = sim_outside_add(peer.sim, "machine", arrives, NULL);
    snprintf(path, sizeof path, "%s/machine-far.pcapng", scenario->pcap);
    sim_link_add(peer.sim, peer.machine, sim_node_of(peer.host),
                 &(struct sim_link_options){.there = there, .back = &back, .capture = *scenario->pcap ? path : NULL});
    peer.bsd = bsd_create(sim_host_weir(peer.host), NULL);
    peer.enters = (struct event){.happen = enters};
    peer.sent = calloc(FRAMES_MAX, sizeof *peer.sent);
    peer.arrived = calloc(FRAMES_MAX, sizeof *peer.arrived);
    return peer.bsd && peer.sent && peer.arrived;
}

int main(int argc, char **argv)
{
    peer.runs = 1;
    if (argc < 2 || (strcmp(argv[1], "send") != 0 && strcmp(argv[1], "receive") != 0)) {
        fputs("usage: weir-machine-peer send|receive [--runs N] [--SETTING VALUE]...\n", stderr);
        return 64;
    }
    peer.sends = !strcmp(argv[1], "send");
    if (!settings_read(argc, argv))
        return 64;
    if (!open_network())
        return fail("no memory");
    sim_fibre_start(peer.host, program, NULL);
    const int status = serve();
    if (peer.done) {  // else the program still waits
        bsd_destroy(peer.bsd);
        sim_close(peer.sim);
    }
    free(peer.sent);
    free(peer.arrived);
    return status;
}
