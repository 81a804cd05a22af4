// SPDX-License-Identifier: BSD-2-Clause
// syslog: sends messages to a server.
#define _GNU_SOURCE  // getopt that takes options behind words
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "host/command.h"
#include "host/secure.h"
#include "syslog/syslog.h"

#define LOOK_US 20000u

static struct {
    struct app app;
    struct syslog log;
    struct syslog_config config;
    struct host *host;
    char server[256];
    char **texts;
    uint32_t count, severity;
    bool secure;
    uint8_t queue[65536];
} s;

static uint64_t unix_us(void *context)
{
    struct timespec system;
    (void)context;
    clock_gettime(CLOCK_REALTIME, &system);
    return (uint64_t)system.tv_sec * 1000000 + (uint64_t)system.tv_nsec / 1000;
}

static int secure(struct weir_stream *stream, void *context)
{
    (void)context;
    return secure_client(s.host, stream, s.server) ? WEIR_OK : WEIR_REFUSED;
}

static void end(struct host *host)
{
    const bool pending = syslog_pending(&s.log);
    loop_remove(&host->loop, &s.app);
    if (s.config.transport == SYSLOG_TCP)  // a datagram socket keeps its last message until it is sent
        syslog_stop(&s.log);
    host_done(host, pending);
}

// Ends when everything is on its way.
static uint64_t look(struct app *app, uint64_t now_us)
{
    (void)app;
    if (syslog_pending(&s.log))
        return now_us + LOOK_US;
    end(s.host);
    return WEIR_NEVER;
}

static void found(struct host *host, struct weir_addr addr)
{
    s.config.server.addr = addr;
    int error = syslog_start(&s.log, &host->loop, &s.config);
    for (uint32_t i = 0; i < s.count && error == WEIR_OK; i++)
        error = syslog_text(&s.log, (uint8_t)s.severity, s.texts[i]);
    if (error != WEIR_OK) {
        command_wrong("syslog", s.server, weir_error_name(error));
        host_done(host, 1);
        return;
    }
    host->interrupt = end;
    s.app.poll = look;
    loop_add(&host->loop, &s.app);
}

static bool take(int option, const char *value)
{
    uint64_t number;
    switch (option) {
    case 't': s.config.transport = SYSLOG_TCP; return true;
    case 'S':
        s.config.transport = SYSLOG_TCP;
        s.secure = true;
        return true;
    case 'n': s.config.host = value; return true;
    case 'a': s.config.app = value; return true;
    case 'p':
        if (!host_number(value, 1000, &number) || number > 23 * 8 + SYSLOG_DEBUG)
            return false;
        s.config.facility = (uint8_t)(number / 8);
        s.severity = (uint32_t)(number % 8);
        return true;
    default: return false;
    }
}

bool command_syslog(struct host *host, int argc, char **argv)
{
    int option;
    memset(&s, 0, sizeof s);
    s.host = host;
    s.severity = SYSLOG_NOTICE;
    s.config = (struct syslog_config){.facility = SYSLOG_USER,
                                      .app = "weir-host",
                                      .unix_us = unix_us,
                                      .queue = s.queue,
                                      .queue_bytes = sizeof s.queue};
    while ((option = getopt(argc, argv, "tSn:a:p:")) != -1) {
        if (!take(option, optarg))
            return command_wrong("syslog", optarg != NULL ? optarg : "an option", "not so");
    }
    if (argc - optind < 2)
        return command_wrong("syslog", "give a server and a text", "");
    s.config.server.port = s.secure ? SYSLOG_PORT_TLS : SYSLOG_PORT;
    s.config.secure = s.secure ? secure : NULL;
    s.texts = argv + optind + 1;
    s.count = (uint32_t)(argc - optind - 1);
    return command_server("syslog", argv[optind], s.server, sizeof s.server, &s.config.server.port) &&
           command_host(host, s.server, found);
}
