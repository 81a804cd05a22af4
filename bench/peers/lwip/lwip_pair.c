// SPDX-License-Identifier: BSD-2-Clause
// Two lwIPs back to back in memory, one thread, virtual time, as bench/pair/weir_pair.c does it with Weir: batches of
// three frames, one real copy on the link, checksums made and verified. Functions measured_… are what callgrind
// collects.
//
//     lwip_pair bulk SEGMENTS         tcp_write without a copy, received data taken where it lies
//     lwip_pair copy SEGMENTS         tcp_write with a copy, received data copied out
//     lwip_pair echo ROUNDS
//     lwip_pair connect COUNT OPEN    COUNT connections opened and closed beside OPEN others
//     lwip_pair idle COUNT            size of a connection's control block
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lwip_end.h"

#define MSS 1460u
#define BATCH 3u

static const struct lwip_end *const client_end = &lwip_end_0, *const server_end = &lwip_end_1;
static uint64_t now_us = 1000000;

static void turns(void)
{
    now_us++;
    client_end->turn(now_us, BATCH);
    server_end->turn(now_us, BATCH);
}

static void settle(void)
{
    do
        turns();
    while (client_end->waiting() || server_end->waiting());
}

static void *connect_to(uint16_t port, void **server)
{
    void *client = client_end->connect(port);
    for (int tries = 0; tries < 100; tries++) {
        turns();
        *server = server_end->accept();
        if (*server)
            return client;
    }
    fprintf(stderr, "lwip_pair: no connection\n");
    exit(1);
}

__attribute__((noinline)) void measured_bulk(void *from, void *to, uint64_t bytes, int copying)
{
    uint64_t left = bytes;
    const uint64_t goal = server_end->received(to) + bytes;
    while (server_end->received(to) < goal) {
        left -= client_end->fill(from, left, copying);
        turns();
    }
}

static void await_byte(const struct lwip_end *end, void *connection)
{
    const uint64_t before = end->received(connection);
    do
        end->turn(++now_us, BATCH);
    while (end->received(connection) == before);
}

__attribute__((noinline)) void measured_echo(void *client, void *server, uint64_t rounds)
{
    for (uint64_t i = 0; i < rounds; i++) {
        client_end->write_byte(client);
        await_byte(server_end, server);
        server_end->write_byte(server);
        await_byte(client_end, client);
    }
}

__attribute__((noinline)) void measured_connect(uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        void *server, *client = connect_to(80, &server);
        client_end->close(client);
        turns();
        turns();
        server_end->close(server);
        settle();
    }
}

static uint64_t nanoseconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static uint64_t frames(void) { return client_end->frames() + server_end->frames(); }

static void result(const char *what, uint64_t units, uint64_t frames_before, uint64_t started)
{
    const uint64_t ns = nanoseconds() - started;
    printf("{\"stack\": \"lwip\", \"test\": \"%s\", \"units\": %llu, \"frames\": %llu, \"ns\": %llu}\n", what,
           (unsigned long long)units, (unsigned long long)(frames() - frames_before), (unsigned long long)ns);
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: lwip_pair bulk|copy|echo|connect|idle COUNT [OPEN]\n");
        return 2;
    }
    const char *what = argv[1];
    const uint64_t count = strtoull(argv[2], NULL, 10), open = argc > 3 ? strtoull(argv[3], NULL, 10) : 0;
    if (!strcmp(what, "idle")) {
        printf("{\"stack\": \"lwip\", \"test\": \"idle\", \"bytes\": %u}\n", client_end->connection_bytes);
        return 0;
    }
    client_end->open(0, server_end);
    server_end->open(1, client_end);
    server_end->listen(80);
    settle();
    uint64_t start, before;
    void *server;
    if (!strcmp(what, "connect")) {
        for (uint64_t i = 0; i < open; i++) {
            connect_to(80, &server);
            settle();
        }
        measured_connect(100);
        before = frames(), start = nanoseconds();
        measured_connect(count);
    } else if (!strcmp(what, "echo")) {
        void *client = connect_to(80, &server);
        measured_echo(client, server, 100);
        before = frames(), start = nanoseconds();
        measured_echo(client, server, count);
    } else {
        const int copying = what[0] == 'c';
        void *client = connect_to(80, &server);
        server_end->keep(copying);
        measured_bulk(client, server, 2000 * MSS, copying);
        before = frames(), start = nanoseconds();
        measured_bulk(client, server, count * MSS, copying);
    }
    result(what, count, before, start);
    return 0;
}
