// SPDX-License-Identifier: BSD-2-Clause
// A crowd of slow clients: each does as little as keeps its place, and comes back when it lost it.
#ifndef TESTS_APPS_SLOW_H
#define TESTS_APPS_SLOW_H

#include "bench.h"

#define SLOW_CLIENTS 1000  // at most

enum slow_habit { SLOW_SILENT, SLOW_SENDS, SLOW_READS };  // nothing; a byte a time; takes ten bytes a time

struct slow {
    uint16_t port;
    uint32_t count;
    enum slow_habit habit;
    const char *opening;  // what each sends at first; NULL: nothing
    weir_socket client[SLOW_CLIENTS];
};

static inline void slow_begin(struct bench *bench, struct slow *slow, weir_socket *client)
{
    struct weir *weir = bench->f.weir;
    const struct weir_endpoint server = bench_here(slow->port);
    *client = weir_socket_open(weir, WEIR_STREAM, 0);
    assert_true(*client > 0);
    (void)weir_socket_set(weir, *client, WEIR_OPTION_RECEIVE_BUFFER, 2048);
    (void)weir_socket_connect(weir, *client, &server);
    if (slow->opening != NULL)
        (void)weir_socket_write(weir, *client, slow->opening, (uint32_t)strlen(slow->opening));
}

static inline void slow_act(struct bench *bench, struct slow *slow)
{
    struct weir *weir = bench->f.weir;
    uint8_t bytes[10];
    for (uint32_t i = 0; i < slow->count; i++) {
        weir_socket *client = &slow->client[i];
        const bool lost = *client && (weir_socket_ready(weir, *client) & (WEIR_HANGUP | WEIR_ERROR | WEIR_READ_CLOSED));
        if (lost)
            (void)weir_socket_abort(weir, *client);
        if (lost || !*client)
            slow_begin(bench, slow, client);
        else if (slow->habit == SLOW_SENDS)
            (void)weir_socket_write(weir, *client, "a", 1);
        else if (slow->habit == SLOW_READS)
            (void)weir_socket_read(weir, *client, bytes, sizeof bytes);
    }
}

static inline void slow_end(struct bench *bench, struct slow *slow)
{
    for (uint32_t i = 0; i < slow->count; i++)
        if (slow->client[i])
            (void)weir_socket_abort(bench->f.weir, slow->client[i]);
    memset(slow->client, 0, sizeof slow->client);
    bench_run(bench, 1000000);
}

// An honest client writes `request` and awaits as many bytes as `answer` has, for three seconds. Whether they came, and
// are these.
static inline bool slow_honest_is_served(struct bench *bench, uint16_t port, const char *request, const char *answer)
{
    const struct weir_endpoint server = bench_here(port);
    struct weir *weir = bench->f.weir;
    char got[200] = "";
    const uint32_t want = (uint32_t)strlen(answer);
    uint32_t length = 0;
    const weir_socket socket = weir_socket_open(weir, WEIR_STREAM, 0);
    (void)weir_socket_connect(weir, socket, &server);
    (void)weir_socket_write(weir, socket, request, (uint32_t)strlen(request));
    for (int tenth = 0; tenth < 30 && length < want; tenth++) {
        bench_run(bench, 100000);
        const int some = weir_socket_read(weir, socket, got + length, want - length);
        length += some > 0 ? (uint32_t)some : 0;
    }
    (void)weir_socket_abort(weir, socket);
    return strcmp(got, answer) == 0;
}

// Seven honest clients, one every three seconds, beside the crowd. How many were served.
static inline uint32_t slow_served(struct bench *bench, struct slow *slow, const char *request, const char *answer)
{
    uint32_t served = 0;
    for (int second = 0; second < 21; second++) {
        slow_act(bench, slow);
        if (second % 3 == 2)
            served += slow_honest_is_served(bench, slow->port, request, answer);
        bench_run(bench, 1000000);
    }
    return served;
}

#endif
