// SPDX-License-Identifier: BSD-2-Clause
// The thesis's TCP client (figure 4.4): asks a web server for a page, shows what comes, and waits until the server
// closes.
//
// The figure's slips are mended: the socket is looked at and not an unset `n`, the binding's address is set, the socket
// that is closed is the one that was opened, and an end by a reset is told from one that the server meant.
#include "examples/flock/http.h"

#include <string.h>

#include "api/flock/flock.h"
#include "examples/flock/process.h"

enum { OWN_PORT = 34995, HTTP_PORT = 80, READ_BYTES = 1000 };

static int fetch(int s)
{
    static const char request[] = "GET / HTTP/1.1\r\nHost: tu-berlin.de\r\n\r\n";
    char buf[READ_BYTES + 1];
    unsigned bytes = 0;
    int n;
    if (tcpsend(s, request, sizeof request - 1) != sizeof request - 1)
        return 1;
    while ((n = tcprecv(s, buf, READ_BYTES)) > 0) {
        buf[n] = 0;
        print(buf);
        bytes += (unsigned)n;
    }
    print_number("\nthe server closed after ", bytes, n == 0 ? " bytes\n" : " bytes, by a reset\n");
    return n != 0 || bytes == 0;
}

int http_client(void)
{
    const struct sockaddr local = {.addr = 0, .port = OWN_PORT},
                          server = {.addr = pton(130, 149, 17, 21), .port = HTTP_PORT};
    int result = 1;
    const int s = tcpsocket();
    if (s < 0) {
        print("could not create socket\n");
        return 1;
    }
    if (tcpbind(s, &local) != 0)
        print("could not bind to port 34995\n");
    else if (tcpconnect(s, &server) != 0)
        print("connection failed\n");
    else
        result = fetch(s);
    tcpclose(s);
    return result;
}
