// SPDX-License-Identifier: BSD-2-Clause
// weir-run: a program of Linux, unchanged, on Weir (docs/weir-run.md). This process is the server; the program is its
// child, and stays in the namespaces in which weir-run was started.
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run/link.h"
#include "run/options.h"
#include "run/program.h"
#include "run/server.h"
#include "run/shared.h"
#include "status/server.h"
#include "weir/stats.h"

#define READY_US 60000000u    // so long for an address
#define FAREWELL_US 3000000u  // at the end, so long for the peers' last acknowledgements

static struct run_server server;
static struct run_network network;
static struct status_server page;

struct watcher {  // of the program
    struct run_source source;
    struct run_child child;
    int signals;
    bool ended, asked;  // it has, or there is none; we were asked to end after it
    int status;
};
static struct watcher watcher;

static void signal_seen(const struct signalfd_siginfo *seen)
{
    const int number = (int)seen->ssi_signo;
    if (number == SIGCHLD) {
        int status;
        while (waitpid(watcher.child.pid, &status, WNOHANG) == watcher.child.pid) {
            watcher.ended = true;
            watcher.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        }
        return;
    }
    // What a terminal sends has reached the program, too.
    if (watcher.ended)
        watcher.asked = true;
    else if (seen->ssi_code <= 0)
        (void)kill(watcher.child.pid, number);
}

static void signals_event(struct run_source *source, uint32_t events)
{
    struct signalfd_siginfo seen;
    (void)source, (void)events;
    while (read(watcher.signals, &seen, sizeof seen) == (ssize_t)sizeof seen)
        signal_seen(&seen);
}

static bool signals_open(void)
{
    sigset_t set;
    sigemptyset(&set);
    const int numbers[] = {SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGWINCH};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        sigaddset(&set, numbers[i]);
    (void)sigprocmask(SIG_BLOCK, &set, NULL);
    (void)signal(SIGPIPE, SIG_IGN);
    watcher.signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    watcher.source.event = signals_event;
    return run_server_watch(&server, watcher.signals, EPOLLIN, &watcher.source);
}

// --- life --------------------------------------------------------------------------------------------
static bool become_ready(const struct run_options *options)
{
    const uint64_t until_us = posix_now_us() + READY_US;
    const bool *const over = options->server != NULL ? &watcher.asked : &watcher.ended;
    while (!run_network_ready(&network)) {
        const uint64_t now_us = posix_now_us();
        if (now_us > until_us)
            fprintf(stderr, "weir-run: no address within a minute: is there a DHCP server, or a router?\n");
        if (*over || now_us > until_us)
            return false;
        run_server_turn(&server, now_us + 20000);
    }
    return true;
}

// Whether a connection that was closed here still has data or a FIN to be acknowledged.
static bool unsettled(void)
{
    struct weir_socket_info info;
    uint64_t cursor = 0;
    while ((cursor = weir_socket_next(server.weir, cursor, &info)) != 0)
        if (info.type == WEIR_STREAM &&
            (info.tcp_state == WEIR_TCP_FIN_WAIT_1 || info.tcp_state == WEIR_TCP_CLOSING ||
             info.tcp_state == WEIR_TCP_LAST_ACK || (info.send_queue > 0 && info.tcp_state >= WEIR_TCP_ESTABLISHED)))
            return true;
    return false;
}

// Over --delay what peers have under way is answered, too: a SYN, ACK of a connection that was given up gets its RST.
static void farewell(uint32_t delay_us)
{
    const uint64_t now_us = posix_now_us(), round_us = 2u * (uint64_t)delay_us, least_us = now_us + round_us,
                   until_us = now_us + FAREWELL_US + 2 * round_us;
    run_network_farewell(&network);
    do
        run_server_turn(&server, posix_now_us() + 2000);
    while (posix_now_us() < least_us || (unsettled() && posix_now_us() < until_us));
}

static void report(void)
{
    fprintf(stderr, "weir-run: %llu sockets, %llu connections accepted, %llu calls\n",
            (unsigned long long)server.count.sockets, (unsigned long long)server.count.accepted,
            (unsigned long long)server.count.calls);
    for (uint32_t i = 0; i < 64 && server.undone[i][0] != '\0'; i++)
        fprintf(stderr, "weir-run: not done: %s (%llu times)\n", server.undone[i],
                (unsigned long long)server.undone_count[i]);
}

static bool status_serve(uint16_t port)
{
    struct weir_netif *const netifs[2] = {server.netif, weir_netif_find(server.weir, "lo")};
    const bool linked = netifs[0] != NULL;
    if (port == 0)
        return true;
    const int error = status_server_start(&page, &server.loop, port, linked ? netifs : netifs + 1, linked ? 2 : 1);
    if (error != WEIR_OK)
        fprintf(stderr, "weir-run: --status %u: %s\n", port, weir_error_name(error));
    return error == WEIR_OK;
}

// Until the program and the last socket are gone.
static bool program_serve(const char *path)
{
    const int error = run_child_start(&watcher.child);
    if (error != 0) {
        fprintf(stderr, "weir-run: %s: %s\n", path, strerror(error));
        return false;
    }
    while (!watcher.asked && !(watcher.ended && server.open == NULL))
        run_server_turn(&server, WEIR_NEVER);
    return true;
}

// Those that join by the file, until a signal.
static bool joined_serve(const char *file)
{
    if (!run_shared_publish(file, server.token))
        return false;
    while (!watcher.asked)
        run_server_turn(&server, WEIR_NEVER);
    (void)unlink(file);
    return true;
}

static int serve(const struct run_options *options, const char *path)
{
    const struct weir_config config = {.congestion_control = options->congestion,
                                       .memory_budget_bytes = posix_memory_budget()};
    if (!run_server_open(&server, &config))
        return 2;
    watcher.ended = options->server != NULL;
    bool good = run_network_open(&network, &server, options) && signals_open() && status_serve(options->status_port) &&
                become_ready(options);
    if (good) {
        good = options->server != NULL ? joined_serve(options->server) : program_serve(path);
        farewell(options->delay_us);
    } else if (options->server == NULL) {
        run_child_drop(&watcher.child);
    }
    if (good && options->report)
        report();
    if (options->status_port != 0 && page.http.loop != NULL)
        status_server_stop(&page);
    run_network_stop(&network);
    run_server_close(&server);
    run_network_close(&network);
    return good ? watcher.status : 2;
}

static int join(const char *file, char **command, const char *path, const char *library)
{
    uint8_t token[RUN_TOKEN];
    if (!run_shared_find(file, token))
        return 2;
    fprintf(stderr, "weir-run: %s: %s\n", path, strerror(run_program_become(path, command, library, token)));
    return 2;
}

int main(int argc, char **argv)
{
    struct run_options options;
    char path[4096] = "", library[4096];
    const int status = run_options_parse(argc, argv, &options);
    if (status != 0)
        return status == 1 ? 0 : status;
    const bool program = options.server == NULL;
    if (program &&
        (!run_program_find(options.command[0], path, sizeof path) || !run_library_find(library, sizeof library)))
        return 2;
    if (options.join != NULL)
        return join(options.join, options.command, path, library);
    const int error = run_server_listen(&server);
    if (error != 0) {
        fprintf(stderr, "weir-run: the socket for programs: %s\n", strerror(error));
        return 2;
    }
    if (program && !run_child_make(&watcher.child, path, options.command, library, server.token))
        return 2;
    return serve(&options, path);
}
