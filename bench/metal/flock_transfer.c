// SPDX-License-Identifier: BSD-2-Clause
// transfer.elf's protocol by processes with the thesis's calls (api/flock): port 5001 reads four bytes, big-endian, and
// sends so many bytes in pieces of 1460; port 5002 reads in pieces of 1460 until the peer ends. Both then close. Two
// processes stand at each port, so that one listens while the other's connection ends.
#include <stdint.h>

#include "api/flock/flock.h"
#include "examples/flock/process.h"
#include "kernel/preempt/calls.h"

#define PIECE 1460u
#define SENDER_PORT 5001
#define RECEIVER_PORT 5002

static int connection_at(uint16_t port)
{
    const struct sockaddr local = {.addr = 0, .port = port};
    const int socket = tcpsocket();
    while (tcpbind(socket, &local) != 0)  // the other process's, until it listens
        (void)process_sleep_ms(1);
    return tcplisten(socket) == 0 ? socket : -1;
}

static void send_what_is_asked(int socket, char *data)
{
    unsigned char asked[4];
    unsigned got = 0, left;
    int now = 1;
    while (got < 4 && now > 0)
        got += (unsigned)((now = tcprecv(socket, (char *)asked + got, 4 - got)) > 0 ? now : 0);
    left = got < 4 ? 0 : (unsigned)asked[0] << 24 | (unsigned)asked[1] << 16 | (unsigned)asked[2] << 8 | asked[3];
    while (left && (now = tcpsend(socket, data, left < PIECE ? left : PIECE)) > 0)
        left -= (unsigned)now;
}

static int sender(void)
{
    char data[PIECE] = {0};
    int socket;
    while ((socket = connection_at(SENDER_PORT)) >= 0) {
        send_what_is_asked(socket, data);
        tcpclose(socket);
    }
    return 1;
}

static int receiver(void)
{
    char data[PIECE];
    int socket;
    while ((socket = connection_at(RECEIVER_PORT)) >= 0) {
        while (tcprecv(socket, data, PIECE) > 0)
            ;
        tcpclose(socket);
    }
    return 1;
}

const struct program programs[PROGRAMS_MAX] = {
    {"sender", sender}, {"receiver", receiver}, {"sender", sender}, {"receiver", receiver}};
