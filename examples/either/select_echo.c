// SPDX-License-Identifier: BSD-2-Clause
// An echo server as one would write it for any system with BSD sockets.
#include "examples/either/programs.h"
#include "examples/flock/process.h"
#include "api/bsd/process_names.h"

#define PORT 7
#define CONNECTIONS 3

struct state {
    int listener, highest;
    fd_set open;
};

static int listen_at(int port)
{
    const int listener = socket(AF_INET, SOCK_STREAM, 0), on = 1;
    struct sockaddr_in local = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    if (listener < 0 || setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) < 0 ||
        bind(listener, (const struct sockaddr *)&local, sizeof local) < 0 || listen(listener, CONNECTIONS) < 0)
        return -1;
    return listener;
}

static void take(struct state *state)
{
    const int connection = accept(state->listener, NULL, NULL);
    if (connection < 0)
        return;
    FD_SET(connection, &state->open);
    state->highest = connection > state->highest ? connection : state->highest;
}

static void answer(struct state *state, int connection)
{
    char data[512];
    const int got = (int)recv(connection, data, sizeof data, 0);
    if (got > 0 && send(connection, data, (size_t)got, 0) == got)
        return;
    FD_CLR(connection, &state->open);
    close(connection);
}

int select_echo(void)
{
    struct state state = {.listener = listen_at(PORT)};
    if (state.listener < 0)
        return errno;
    FD_ZERO(&state.open);
    FD_SET(state.listener, &state.open);
    state.highest = state.listener;
    print("echo by select on port 7\n");
    for (;;) {
        fd_set ready = state.open;
        if (select(state.highest + 1, &ready, NULL, NULL, NULL) < 0)
            return errno;
        for (int fd = 0; fd <= state.highest; fd++) {
            if (!FD_ISSET(fd, &ready))
                continue;
            if (fd == state.listener)
                take(&state);
            else
                answer(&state, fd);
        }
    }
}
