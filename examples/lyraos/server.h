// SPDX-License-Identifier: BSD-2-Clause
// The server of LyraOS's evaluation, and an echo server beside it: one thread, which select tells what to do next.
#ifndef EXAMPLES_LYRAOS_SERVER_H
#define EXAMPLES_LYRAOS_SERVER_H

enum {
    LYRAOS_ECHO_PORT = 7,
    LYRAOS_SEND_PORT = 5001,     // who connects is sent LYRAOS_WRITES times LYRAOS_WRITE_BYTES
    LYRAOS_RECEIVE_PORT = 5002,  // takes all that comes, and at its end tells how many bytes and microseconds that were
    LYRAOS_WRITES = 10000,
    LYRAOS_WRITE_BYTES = 1460,
};

// Never returns but with 1, when it cannot listen. `now_us` and `report`, for each transfer's line of text, are the
// system's.
int lyraos_server(unsigned long long (*now_us)(void), void (*report)(const char *line));

#endif
