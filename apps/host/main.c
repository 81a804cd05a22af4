// SPDX-License-Identifier: BSD-2-Clause
// weir-host: a Weir host on a TAP, a TUN, a packet socket or an AF_XDP socket of this machine.
#define _POSIX_C_SOURCE 200809L
#include <signal.h>
#include <stdio.h>

#include "host/host.h"

static struct host host;  // large: its servers hold all their connections' memory
static volatile sig_atomic_t interrupted, ending;

static void on_signal(int number)
{
    interrupted = number;
    host.hurried = ending;
    posix_host_wake(&host.posix);  // write(2) to an eventfd
}

static void signals_catch(void)
{
    struct sigaction action = {.sa_handler = on_signal};
    sigemptyset(&action.sa_mask);
    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
    action.sa_handler = SIG_IGN;
    (void)sigaction(SIGPIPE, &action, NULL);
}

// Starts the command as soon as there is an address. Returns false when it can no longer begin.
static bool command_begin(const struct host_options *options, bool *begun)
{
    if (*begun || options->run == NULL)
        return true;
    if (host_ready(&host)) {
        *begun = true;
        posix_host_lock(&host.posix);
        weir_clock(host.weir, posix_host_now(&host.posix));
        bool good = command_start(&host, options->run);
        posix_host_unlock(&host.posix);
        return good;
    }
    if (!options->dhcp || posix_now_us() < host.dhcp_deadline_us)
        return true;
    fputs("weir-host: no DHCP server gave an address within a minute: is one on this link?\n", stderr);
    return false;
}

static int serve(const struct host_options *options)
{
    bool begun = false;
    while (!interrupted && !host.done) {
        if (!command_begin(options, &begun))
            return begun ? 2 : 1;
        if (!host.done)
            (void)posix_host_poll(&host.posix, options->run != NULL && !begun ? 100000 : -1);
    }
    if (host.done)
        return host.status;
    posix_host_lock(&host.posix);
    if (host.interrupt != NULL)
        host.interrupt(&host);
    posix_host_unlock(&host.posix);
    return options->run == NULL ? 0 : 128 + interrupted;
}

int main(int argc, char **argv)
{
    struct host_options options;
    int status = host_options_parse(argc, argv, &options);
    if (status != 0)
        return status == 1 ? 0 : status;
    if (!host_open(&host, &options))
        return 1;
    signals_catch();
    if (options.run == NULL) {
        fprintf(stderr, "weir-host: up on %s; Ctrl-C ends it\n", options.ifname);
        fflush(stdout);
    }
    status = serve(&options);
    ending = 1;
    host_close(&host);
    return status;
}
