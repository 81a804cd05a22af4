// SPDX-License-Identifier: BSD-2-Clause
// A process that names in each of its calls memory that it does not have. On each connection to port 8 it sends three
// numbers: of the calls with a bad pointer that it made, how many were refused with the right error, and the first that
// was not.
#include <stdint.h>
#include <string.h>

#include "api/bsd/bsd_errno.h"
#include "api/bsd/posix_calls.h"
#include "api/flock/flock.h"
#include "examples/either/programs.h"
#include "examples/flock/process.h"

#define PORT 8

struct report {
    uint8_t made, refused, first;
};

static const char constant[] = "constant";

static void judge(struct report *report, bool refused)
{
    report->made++;
    report->refused += refused;
    if (!refused && !report->first)
        report->first = report->made;
}
static void bsd(struct report *report, intptr_t result) { judge(report, result == -1 && process_errno() == EFAULT); }
static void flock(struct report *report, int result) { judge(report, result == -1); }
// What is in order, to see that nothing was done before.
static void good(struct report *report, bool happened)
{
    if (!happened && !report->first)
        report->first = 0xff;
}

// A byte waits in the stream.
static void on_stream(struct report *report, int stream, void *bad)
{
    int value = 0;
    weir_socklen length = sizeof value;
    struct weir_pollfd fd = {.fd = stream, .events = WEIR_POLLIN};
    bsd(report, weir_posix_send(stream, bad, 4, 0));
    flock(report, tcpsend(stream, bad, 4));
    bsd(report, weir_posix_poll(bad, 1, 0));
    bsd(report, weir_posix_select(1, bad, NULL, NULL, NULL));
    bsd(report, weir_posix_select(1, NULL, NULL, NULL, bad));
    bsd(report, weir_posix_setsockopt(stream, WEIR_IPPROTO_TCP, WEIR_TCP_NODELAY, bad, sizeof value));
    bsd(report, weir_posix_getsockopt(stream, WEIR_IPPROTO_TCP, WEIR_TCP_NODELAY, bad, &length));
    bsd(report, weir_posix_getsockopt(stream, WEIR_IPPROTO_TCP, WEIR_TCP_NODELAY, &value, bad));
    good(report, weir_posix_poll(&fd, 1, -1) == 1);
    bsd(report, weir_posix_recv(stream, bad, 1, 0));
    flock(report, tcprecv(stream, bad, 1));
}

static void on_datagram(struct report *report, int datagram, void *bad)
{
    const struct weir_sockaddr_in peer = {
        .sin_family = WEIR_AF_INET, .sin_port = weir_htons(9), .sin_addr = {weir_htonl(0x0a000001)}};
    struct weir_sockaddr_in name;
    weir_socklen length = sizeof name;
    bsd(report, weir_posix_bind(datagram, bad, sizeof name));
    bsd(report, weir_posix_connect(datagram, bad, sizeof name));
    bsd(report, weir_posix_sendto(datagram, "x", 1, 0, bad, sizeof name));
    bsd(report, weir_posix_sendto(datagram, bad, 4, 0, (const struct weir_sockaddr *)&peer, sizeof peer));
    bsd(report, weir_posix_getsockname(datagram, bad, &length));
    bsd(report, weir_posix_getsockname(datagram, (struct weir_sockaddr *)&name, bad));
    flock(report, udpbind(datagram, bad));
    flock(report, udpsendto(datagram, bad, "x", 1));
}

static void on_connection(struct report *report, int connection)
{
    char *const bad[] = {foreign_memory(), (char *)UINTPTR_MAX - 2, (char *)0xdeadbee0u};
    char byte = 0;
    const int datagram = weir_posix_socket(WEIR_AF_INET, WEIR_SOCK_DGRAM, 0);
    memset(report, 0, sizeof *report);
    good(report, datagram >= 0);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        on_stream(report, connection, bad[i]);
        on_datagram(report, datagram, bad[i]);
    }
    bsd(report, weir_posix_recv(connection, (void *)(uintptr_t)constant, 1, 0));  // constants are read, not written
    good(report, weir_posix_recv(connection, &byte, 1, 0) == 1 && byte == '?');   // what was refused is still there
    weir_posix_close(datagram);
}

int pointers_server(void)
{
    const struct weir_sockaddr_in local = {.sin_family = WEIR_AF_INET, .sin_port = weir_htons(PORT)};
    struct report report;
    const int listener = weir_posix_socket(WEIR_AF_INET, WEIR_SOCK_STREAM, 0);
    if (listener < 0 || weir_posix_bind(listener, (const struct weir_sockaddr *)&local, sizeof local) < 0 ||
        weir_posix_listen(listener, 1) < 0)
        return process_errno();
    print("pointers on port 8\n");
    for (;;) {
        const int connection = weir_posix_accept(listener, NULL, NULL);
        if (connection < 0)
            continue;
        on_connection(&report, connection);
        (void)weir_posix_send(connection, &report, sizeof report, 0);
        weir_posix_close(connection);
    }
}
