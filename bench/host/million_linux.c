// SPDX-License-Identifier: BSD-2-Clause
// Linux's end of very many connections (million_bench.py), of which at most `window` are busy at a time, so that no
// queue between the two stacks overflows. A process has as many as it may have descriptors, and they take turns.
//
//     million_linux open ADDRESS FIRST COUNT WINDOW    connections to ADDRESS's echo service
//     million_linux serve COUNT                        the service, for Linux as the other end, too
//
// `open` binds PORTS connections each to FIRST and the addresses after it, which must be this machine's. It opens all,
// sends a byte on each and waits for it to come back, and closes all; before each stage but the first it waits for a
// line, and after each it prints one of JSON: what every tenth of the connections took, ns.
#define _GNU_SOURCE  // accept4, program_invocation_short_name
#include <errno.h>
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
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/host/linux.h"

enum { ECHO = 7, FIRST_PORT = 1024, PORTS = 62500, EVENTS = 256, TENTHS = 10, PATIENCE_MS = 60000, BACKLOG = 4096 };
enum { DESCRIPTORS = 20, PROCESSES = 1024 };  // of a process beside its connections; of them

static int set;  // of epoll
static int *fds;
static uint32_t connections, window;
static uint32_t from, own, most;           // this process's: its first, how many, how many it may have
static struct sockaddr_in6 server, first;  // IPv4: mapped

static void watch(int fd, uint32_t events, uint32_t number)
{
    struct epoll_event event = {.events = events, .data.u32 = number};
    if (epoll_ctl(set, EPOLL_CTL_ADD, fd, &event) != 0)
        fail("epoll_ctl");
}

// As many descriptors as the system lets a process have.
static void allow_descriptors(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        fail("the limit of descriptors");
    limit.rlim_cur = limit.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_max < 2 * DESCRIPTORS)
        fail("the limit of descriptors");
    most = limit.rlim_max - DESCRIPTORS < connections ? (uint32_t)limit.rlim_max - DESCRIPTORS : connections;
}

// A process that ends with this one.
static pid_t fork_bound(void)
{
    const pid_t child = fork();
    if (child < 0)
        fail("fork");
    if (child == 0 && prctl(PR_SET_PDEATHSIG, SIGKILL) != 0)
        fail("prctl");
    return child;
}

static void make_set(void)
{
    set = epoll_create1(0);
    if (set < 0)
        fail("epoll");
}

// --- the client's stages ---------------------------------------------------------------------------------------------

struct stage {
    const char *name;
    uint32_t events;  // that end a connection's part of the stage
    void (*begin)(uint32_t number);
    void (*finish)(uint32_t number);
};

// What the processes have in common; one of them at a time works.
static struct {
    uint64_t began_ns, tenths[TENTHS + 1];
    uint32_t done;
} * shared;

static void open_begin(uint32_t number)
{
    struct sockaddr_in6 local = first;
    uint32_t last;
    memcpy(&last, &first.sin6_addr.s6_addr[12], sizeof last);
    last = htonl(ntohl(last) + (from + number) / PORTS);
    memcpy(&local.sin6_addr.s6_addr[12], &last, sizeof last);
    local.sin6_port = htons((uint16_t)(FIRST_PORT + (from + number) % PORTS));
    const int on = 1, off = 0;
    const int fd = fds[number] = socket(AF_INET6, SOCK_STREAM | SOCK_NONBLOCK, 0);
    if (fd < 0)
        fail("socket");
    setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (bind(fd, (struct sockaddr *)&local, sizeof local) != 0)
        fail("bind");
    if (connect(fd, (struct sockaddr *)&server, sizeof server) != 0 && errno != EINPROGRESS)
        fail("connect");
}

static void open_finish(uint32_t number)
{
    int error = 0;
    socklen_t length = sizeof error;
    if (getsockopt(fds[number], SOL_SOCKET, SO_ERROR, &error, &length) != 0 || error) {
        errno = error;
        fail("connect");
    }
}

static void send_begin(uint32_t number)
{
    if (write(fds[number], "w", 1) != 1)
        fail("write");
}

static void send_finish(uint32_t number)
{
    char byte;
    if (read(fds[number], &byte, 1) != 1 || byte != 'w')
        fail("an echo");
}

static void close_begin(uint32_t number)
{
    if (shutdown(fds[number], SHUT_WR) != 0)
        fail("shutdown");
}

static void close_finish(uint32_t number)
{
    char byte;
    if (read(fds[number], &byte, 1) != 0)
        fail("the peer's end");
}

static const struct stage stages[] = {{"open", EPOLLOUT, open_begin, open_finish},
                                      {"send", EPOLLIN, send_begin, send_finish},
                                      {"close", EPOLLIN, close_begin, close_finish}};
#define STAGES (sizeof stages / sizeof stages[0])

static void count_done(void)
{
    shared->done++;
    uint64_t *const tenth = &shared->tenths[(uint64_t)shared->done * TENTHS / connections];
    *tenth = *tenth ? *tenth : now_ns() - shared->began_ns;
}

static void run(const struct stage *stage)
{
    struct epoll_event events[EVENTS];
    for (uint32_t begun = 0, done = 0; done < own;) {
        for (; begun < own && begun - done < window; begun++) {
            stage->begin(begun);
            watch(fds[begun], stage->events, begun);
        }
        const int count = epoll_wait(set, events, EVENTS, PATIENCE_MS);
        if (count <= 0) {
            fprintf(stderr, "million_linux: %s: nothing happened for a minute after %u of %u\n", stage->name,
                    shared->done, connections);
            exit(1);
        }
        for (int i = 0; i < count; i++, done++) {
            const uint32_t number = events[i].data.u32;
            stage->finish(number);
            if (epoll_ctl(set, EPOLL_CTL_DEL, fds[number], NULL) != 0)
                fail("epoll_ctl");
            count_done();
        }
    }
}

// A process: a byte at its descriptor says that a stage is its own, and it answers when it has done it.
static int client_part(int turns)
{
    char byte;
    make_set();
    fds = malloc(own * sizeof *fds);
    if (!fds)
        fail("memory");
    for (size_t i = 0; i < STAGES; i++) {
        if (read(turns, &byte, 1) != 1)
            return 1;
        run(&stages[i]);
        if (write(turns, "d", 1) != 1)
            return 1;
    }
    for (uint32_t i = 0; i < own; i++)
        close(fds[i]);
    return 0;
}

static uint32_t start_parts(int turns[PROCESSES])
{
    uint32_t count = 0;
    for (; from < connections; from += own, count++) {
        int pair[2];
        own = connections - from < most ? connections - from : most;
        if (count == PROCESSES || socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0)
            fail("processes");
        if (fork_bound() == 0) {
            for (uint32_t i = 0; i < count; i++)
                close(turns[i]);
            exit(client_part(pair[1]));
        }
        close(pair[1]);
        turns[count] = pair[0];
    }
    return count;
}

static int client(void)
{
    static int turns[PROCESSES];
    char byte;
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        fail("memory");
    allow_descriptors();
    const uint32_t parts = start_parts(turns);
    for (size_t i = 0; i < STAGES; i++) {
        if (i && getchar() == EOF)
            return 1;
        memset(shared, 0, sizeof *shared);
        shared->began_ns = now_ns();
        for (uint32_t part = 0; part < parts; part++)
            if (write(turns[part], "t", 1) != 1 || read(turns[part], &byte, 1) != 1)
                return 1;
        printf("{\"stage\": \"%s\", \"connections\": %u, \"ns\": [", stages[i].name, shared->done);
        for (int at = 1; at <= TENTHS; at++)
            printf("%s%llu", at > 1 ? ", " : "", (unsigned long long)(shared->tenths[at] - shared->tenths[at - 1]));
        puts("]}");
        fflush(stdout);
    }
    while (wait(NULL) > 0)
        ;
    return 0;
}

// --- the server ------------------------------------------------------------------------------------------------------

static void accept_all(int listener)
{
    const int on = 1;
    while (own < most) {
        const int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
        if (fd < 0 && (errno == EAGAIN || errno == ECONNABORTED))
            return;
        if (fd < 0)
            fail("accept");
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        watch(fd, EPOLLIN, (uint32_t)fd);
        own++;
    }
    if (epoll_ctl(set, EPOLL_CTL_DEL, listener, NULL) != 0)  // the others' turn
        fail("epoll_ctl");
}

static void echo(int fd)
{
    char bytes[512];
    const ssize_t got = read(fd, bytes, sizeof bytes);
    if (got <= 0 || write(fd, bytes, (size_t)got) != got)
        close(fd);
}

_Noreturn static void serve_part(int listener)
{
    struct epoll_event events[EVENTS];
    make_set();
    watch(listener, EPOLLIN, (uint32_t)listener);
    for (;;) {
        const int count = epoll_wait(set, events, EVENTS, -1);
        for (int i = 0; i < count; i++)
            if ((int)events[i].data.u32 == listener)
                accept_all(listener);
            else
                echo((int)events[i].data.u32);
    }
}

static int serve(void)
{
    const struct sockaddr_in6 local = {.sin6_family = AF_INET6, .sin6_port = htons(ECHO)};
    const int listener = socket(AF_INET6, SOCK_STREAM | SOCK_NONBLOCK, 0);
    allow_descriptors();
    if (bind(listener, (const struct sockaddr *)&local, sizeof local) != 0 || listen(listener, BACKLOG) != 0)
        fail("listen");
    for (uint32_t started = 0; started < connections; started += most)
        if (fork_bound() == 0)
            serve_part(listener);
    puts("ready");
    fflush(stdout);
    while (wait(NULL) > 0)
        ;
    return 1;
}

static bool read_address(const char *text, struct sockaddr_in6 *out)
{
    char mapped[64];
    snprintf(mapped, sizeof mapped, "%s%s", strchr(text, ':') ? "" : "::ffff:", text);
    *out = (struct sockaddr_in6){.sin6_family = AF_INET6, .sin6_port = htons(ECHO)};
    return inet_pton(AF_INET6, mapped, &out->sin6_addr) == 1;
}

int main(int argc, char **argv)
{
    if (argc == 3 && !strcmp(argv[1], "serve") && (connections = (uint32_t)strtoul(argv[2], NULL, 10)) != 0)
        return serve();
    if (argc == 6 && !strcmp(argv[1], "open") && read_address(argv[2], &server) && read_address(argv[3], &first)) {
        connections = (uint32_t)strtoul(argv[4], NULL, 10);
        window = (uint32_t)strtoul(argv[5], NULL, 10);
        if (connections && window)
            return client();
    }
    fprintf(stderr, "usage: million_linux open ADDRESS FIRST COUNT WINDOW\n       million_linux serve COUNT\n");
    return 2;
}
