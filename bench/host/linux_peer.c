// SPDX-License-Identifier: BSD-2-Clause
// Linux's end of the host benchmark: ordinary blocking sockets.
//
//     linux_peer sink|source|echo|connect ADDRESS MILLISECONDS    one test against the services at ADDRESS, one JSON
//                                                                 line
//     linux_peer object ADDRESS BYTES                             so many bytes from chargen: one JSON line
//     linux_peer serve                                            the services: echo (7), discard (9), chargen (19)
// ADDRESS is of IPv4 or IPv6; the services are those of both, where the machine has both.
//
// --cc NAME, before all: the congestion control, where it is not to be the machine's. --member I N ADDRESS, next:
// connections from ADDRESS by ports that drivers/wrap/steer.h gives to the I-th of N members.
//
// sink: bytes to discard; time ends when the peer has closed after all of them. source: bytes from chargen. echo: one
// byte there and back, one at a time. connect: connections to discard, opened, closed here, then closed there, one at a
// time.
#define _GNU_SOURCE  // program_invocation_short_name
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bench/host/linux.h"

enum { ECHO = 7, DISCARD = 9, CHARGEN = 19 };

static char block[256 * 1024];
static const char *congestion;  // NULL: the machine's

static void set_congestion(int fd)
{
    if (congestion != NULL &&
        setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, congestion, (socklen_t)strlen(congestion)) < 0)
        fail(congestion);
}

// --- client ----------------------------------------------------------------------------------------------------------

static struct sockaddr_in server = {.sin_family = AF_INET};
static struct sockaddr_in6 server6 = {.sin6_family = AF_INET6};
static bool version6;

static bool choose_server(const char *text)
{
    version6 = inet_pton(AF_INET6, text, &server6.sin6_addr) == 1;
    return version6 || inet_pton(AF_INET, text, &server.sin_addr) == 1;
}

static uint32_t member, members;  // 0: whoever a connection belongs to
static struct sockaddr_in local = {.sin_family = AF_INET};

// Whose the connection is, as drivers/wrap/steer.c has it.
static bool is_members(const struct sockaddr_in *from, uint16_t port)
{
    const uint32_t addresses = ntohl(from->sin_addr.s_addr) ^ ntohl(server.sin_addr.s_addr);
    const uint32_t mixed = (addresses ^ (uint32_t)(ntohs(from->sin_port) ^ port)) * 0x9e3779b1u;
    return (mixed >> 16) % members == member;
}

static int open_socket(uint16_t port)
{
    for (;;) {
        struct sockaddr_in own;
        socklen_t length = sizeof own;
        const int fd = socket(version6 ? AF_INET6 : AF_INET, SOCK_STREAM, 0);
        if (fd < 0)
            fail("socket");
        if (!members)
            return fd;
        if (bind(fd, (struct sockaddr *)&local, sizeof local) < 0 ||
            getsockname(fd, (struct sockaddr *)&own, &length) < 0)
            fail("bind");
        if (is_members(&own, port))
            return fd;
        close(fd);
    }
}

static int dial(uint16_t port)
{
    const int fd = open_socket(port);
    const int on = 1;
    const struct timeval patience = {.tv_sec = 10};
    server.sin_port = server6.sin6_port = htons(port);
    set_congestion(fd);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    if (version6 ? connect(fd, (struct sockaddr *)&server6, sizeof server6)
                 : connect(fd, (struct sockaddr *)&server, sizeof server))
        fail("connect");
    return fd;
}

static void await_end(int fd)
{
    ssize_t got;
    while ((got = read(fd, block, sizeof block)) > 0)
        ;
    if (got < 0)
        fail("waiting for the peer's end");
}

static uint64_t run_sink(uint64_t until)
{
    const int fd = dial(DISCARD);
    uint64_t bytes = 0;
    while (now_ns() < until) {
        const ssize_t wrote = write(fd, block, sizeof block);
        if (wrote <= 0)
            fail("write");
        bytes += (uint64_t)wrote;
    }
    const struct timeval patience = {.tv_sec = 60};  // what is still under way may take its time on a bad path
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    shutdown(fd, SHUT_WR);
    await_end(fd);
    close(fd);
    return bytes;
}

static uint64_t run_source(uint64_t until)
{
    const int fd = dial(CHARGEN);
    uint64_t bytes = 0;
    while (now_ns() < until) {
        const ssize_t got = read(fd, block, sizeof block);
        if (got <= 0)
            fail("read");
        bytes += (uint64_t)got;
    }
    close(fd);
    return bytes;
}

// `bytes` in place of a time.
static uint64_t run_object(uint64_t bytes)
{
    const int fd = dial(CHARGEN);
    uint64_t had = 0;
    while (had < bytes) {
        const ssize_t got = read(fd, block, bytes - had < sizeof block ? bytes - had : sizeof block);
        if (got <= 0)
            fail("read");
        had += (uint64_t)got;
    }
    close(fd);
    return had;
}

static uint64_t run_echo(uint64_t until)
{
    const int fd = dial(ECHO);
    uint64_t rounds = 0;
    for (; now_ns() < until; rounds++)
        if (write(fd, block, 1) != 1 || read(fd, block, 1) != 1)
            fail("echo");
    shutdown(fd, SHUT_WR);
    await_end(fd);
    close(fd);
    return rounds;
}

static uint64_t run_connect(uint64_t until)
{
    uint64_t connections = 0;
    for (; now_ns() < until; connections++) {
        const int fd = dial(DISCARD);
        shutdown(fd, SHUT_WR);
        await_end(fd);
        close(fd);
    }
    return connections;
}

// --- server ----------------------------------------------------------------------------------------------------------

static void *serve_one(void *argument)
{
    const int fd = (int)((intptr_t)argument >> 16);
    const int service = (int)((intptr_t)argument & 0xffff);
    char *own = malloc(sizeof block);
    ssize_t bytes;
    if (service == CHARGEN) {
        while (write(fd, block, sizeof block) > 0)
            ;
    } else {
        while ((bytes = read(fd, own, sizeof block)) > 0)
            if (service == ECHO && write(fd, own, (size_t)bytes) != bytes)
                break;
    }
    free(own);
    close(fd);
    return NULL;
}

static int listen_at(uint16_t port)
{
    const struct sockaddr_in6 both = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
    const struct sockaddr_in local = {.sin_family = AF_INET, .sin_port = htons(port)};
    const int on = 1, off = 0;
    int listener = socket(AF_INET6, SOCK_STREAM, 0);
    const bool has6 = listener >= 0 && setsockopt(listener, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off) == 0;
    if (!has6)
        listener = socket(AF_INET, SOCK_STREAM, 0);
    set_congestion(listener);
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if ((has6 ? bind(listener, (const struct sockaddr *)&both, sizeof both)
              : bind(listener, (const struct sockaddr *)&local, sizeof local)) < 0 ||
        listen(listener, 1000) < 0)
        fail("listen");
    return listener;
}

// Discarding is done by the listener's own thread, so that a connection does not cost a thread; the others get one.
static void *serve_port(void *argument)
{
    const int service = (int)(intptr_t)argument, on = 1;
    const int listener = listen_at((uint16_t)service);
    for (;;) {
        const int fd = accept(listener, NULL, NULL);
        if (fd < 0)
            continue;
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        void *task = (void *)((intptr_t)fd << 16 | service);
        pthread_t thread;
        if (service == DISCARD)
            serve_one(task);
        else if (pthread_create(&thread, NULL, serve_one, task) == 0)
            pthread_detach(thread);
        else
            close(fd);
    }
    return NULL;
}

static int serve(void)
{
    static const int services[] = {ECHO, DISCARD, CHARGEN};
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        if (pthread_create(&threads[i], NULL, serve_port, (void *)(intptr_t)services[i]) != 0)
            fail("thread");
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return 0;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        uint64_t (*run)(uint64_t until);
        bool bytes;  // it runs for bytes, not for milliseconds
    } tests[] = {{"sink", run_sink, false},
                 {"source", run_source, false},
                 {"echo", run_echo, false},
                 {"connect", run_connect, false},
                 {"object", run_object, true}};
    signal(SIGPIPE, SIG_IGN);
    if (argc > 3 && !strcmp(argv[1], "--cc")) {
        congestion = argv[2];
        argc -= 2;
        argv += 2;
    }
    if (argc > 5 && !strcmp(argv[1], "--member")) {
        member = (uint32_t)strtoul(argv[2], NULL, 10);
        members = (uint32_t)strtoul(argv[3], NULL, 10);
        if (member >= members || inet_pton(AF_INET, argv[4], &local.sin_addr) != 1)
            argc = 0;
        argc -= 4;
        argv += 4;
    }
    if (argc == 2 && !strcmp(argv[1], "serve"))
        return serve();
    for (size_t i = 0; argc == 4 && i < sizeof tests / sizeof tests[0]; i++) {
        if (strcmp(argv[1], tests[i].name) != 0)
            continue;
        if (!choose_server(argv[2]))
            break;
        const uint64_t start = now_ns();
        const uint64_t most = strtoull(argv[3], NULL, 10);
        const uint64_t count = tests[i].run(tests[i].bytes ? most : start + most * 1000000);
        printf("{\"test\": \"%s\", \"count\": %llu, \"ns\": %llu}\n", argv[1], (unsigned long long)count,
               (unsigned long long)(now_ns() - start));
        return 0;
    }
    fprintf(stderr, "usage: linux_peer [--cc NAME] [--member I N ADDRESS] sink|source|echo|connect ADDRESS "
                    "MILLISECONDS\n       linux_peer object ADDRESS "
                    "BYTES\n       linux_peer serve\n");
    return 2;
}
