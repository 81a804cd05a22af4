// SPDX-License-Identifier: BSD-2-Clause
// An echo server on port 7 by a process with the thesis's calls (api/flock), for bench/metal/latency.py: beside
// echo.elf it tells what a process adds to a round trip.
#include "api/flock/flock.h"
#include "examples/flock/process.h"

#define ECHO_PORT 7
#define PIECE 1460u

static int echo(void)
{
    static const struct sockaddr local = {.addr = 0, .port = ECHO_PORT};
    char data[PIECE];
    for (;;) {
        const int socket = tcpsocket();
        int bytes;
        if (tcpbind(socket, &local) != 0 || tcplisten(socket) != 0)
            return 1;
        while ((bytes = tcprecv(socket, data, PIECE)) > 0 && tcpsend(socket, data, (unsigned)bytes) == bytes)
            ;
        tcpclose(socket);
    }
}

const struct program programs[PROGRAMS_MAX] = {{"echo", echo}};
