// SPDX-License-Identifier: BSD-2-Clause
#include "examples/lyraos/server.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "apps/text.h"
#include "api/lyraos/lyraos.h"

#define SESSIONS 4  // echoes at once
#define ROOM 2920

struct server {
    int echo, sender, receiver;  // listeners
    fd_set sessions;             // of echo
    char data[ROOM];
    unsigned long long (*now_us)(void);
    void (*report)(const char *line);
};

static int listen_at(uint16_t port)
{
    const struct sockaddr_in local = {.sin_family = AF_INET, .sin_port = htons(port)};
    const int s = socket(AF_INET, SOCK_STREAM, 0);
    if (s < 0 || (bind(s, (const struct sockaddr *)&local, sizeof local) == 0 && listen(s, SESSIONS) == 0))
        return s;
    closesocket(s);
    return -1;
}

static bool send_all(int s, const char *data, int bytes)
{
    int some = 0;
    for (; bytes > 0 && (some = send(s, data, bytes, 0)) > 0; bytes -= some)
        data += some;
    return some >= 0;
}

static void tell(const struct server *server, int s, const char *what, uint64_t bytes, uint64_t us)
{
    char line[96];
    struct text text;
    text_init(&text, line, sizeof line);
    text_put(&text, what);
    text_u64(&text, bytes);
    text_put(&text, " bytes in ");
    text_u64(&text, us);
    text_put(&text, " us\n");
    if (s >= 0)
        (void)send_all(s, line, (int)text.length);
    server->report(line);
}

// The server sends: the time is that of its writes, as in the paper.
static void serve_sender(struct server *server)
{
    const int s = accept(server->sender, NULL, NULL);
    const unsigned long long began = server->now_us();
    int writes = 0;
    if (s < 0)
        return;
    for (size_t i = 0; i < LYRAOS_WRITE_BYTES; i++)
        server->data[i] = (char)('a' + i % 26);
    while (writes < LYRAOS_WRITES && send_all(s, server->data, LYRAOS_WRITE_BYTES))
        writes++;
    tell(server, -1, "sent ", (uint64_t)writes * LYRAOS_WRITE_BYTES, server->now_us() - began);
    closesocket(s);
}

// The server receives.
static void serve_receiver(struct server *server)
{
    const int s = accept(server->receiver, NULL, NULL);
    const unsigned long long began = server->now_us();
    uint64_t bytes = 0;
    int some;
    if (s < 0)
        return;
    while ((some = recv(s, server->data, ROOM, 0)) > 0)
        bytes += (uint64_t)some;
    tell(server, s, "received ", bytes, server->now_us() - began);
    closesocket(s);
}

static void serve_echo(struct server *server, int s)
{
    const int some = recv(s, server->data, ROOM, MSG_DONTWAIT);
    if (some > 0 && send_all(s, server->data, some))
        return;
    FD_CLR(s, &server->sessions);
    closesocket(s);
}

static void one_round(struct server *server)
{
    fd_set ready = server->sessions;
    FD_SET(server->sender, &ready);
    FD_SET(server->receiver, &ready);
    if (server->sessions.nr < SESSIONS)
        FD_SET(server->echo, &ready);
    if (select(0, &ready, NULL, NULL, NULL) < 0)
        return;
    if (FD_ISSET(server->sender, &ready))
        serve_sender(server);
    if (FD_ISSET(server->receiver, &ready))
        serve_receiver(server);
    for (int i = server->sessions.nr - 1; i >= 0; i--)
        if (FD_ISSET(server->sessions.fd[i], &ready))
            serve_echo(server, server->sessions.fd[i]);
    const int s = FD_ISSET(server->echo, &ready) ? accept(server->echo, NULL, NULL) : -1;
    if (s >= 0)
        FD_SET(s, &server->sessions);
}

int lyraos_server(unsigned long long (*now_us)(void), void (*report)(const char *line))
{
    static struct server server;
    server.echo = listen_at(LYRAOS_ECHO_PORT);
    server.sender = listen_at(LYRAOS_SEND_PORT);
    server.receiver = listen_at(LYRAOS_RECEIVE_PORT);
    server.now_us = now_us;
    server.report = report;
    FD_ZERO(&server.sessions);
    if (server.echo < 0 || server.sender < 0 || server.receiver < 0)
        return 1;
    report("weir: the server listens\n");
    for (;;)
        one_round(&server);
}
