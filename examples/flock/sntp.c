// SPDX-License-Identifier: BSD-2-Clause
// The thesis's UDP client (figure 4.3): asks an SNTP server for the time and shows it in seconds since 1970.
//
// The figure's slips are mended: `n` is declared, the binding's address is set (it was whatever lay there), names are
// spelt right, what was received is looked at before it is used, the time is unsigned and is swapped only where the
// machine's byte order is not the network's. And since UDP loses datagrams it asks more than once.
#include "examples/flock/sntp.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "api/flock/flock.h"
#include "examples/flock/process.h"

enum { NTP_PORT = 123, NTP_BYTES = 48, TRANSMIT_TIME = 40, MODE_SERVER = 4 };
#define SECONDS_1900_TO_1970 2208988800u
#define ASK_SO_OFTEN 8
#define ANSWER_WITHIN_MS 2000

static uint32_t from_network(uint32_t value)
{
    const uint32_t one = 1;
    return *(const uint8_t *)&one == 1 ? swapl(value) : value;
}

// From whom it was asked, as long as it shall be, from a server, and with a time in it (RFC 4330, section 5).
static bool is_answer(const struct sockaddr *server, const struct sockaddr *from, const char *buf, int n)
{
    return from->addr == server->addr && from->port == server->port && n == NTP_BYTES && (buf[0] & 7) == MODE_SERVER &&
           buf[1] != 0;
}

static bool ask(int s, const struct sockaddr *server, uint32_t *seconds)
{
    char buf[NTP_BYTES] = {0x1b};  // version 3, a client; all else 0
    struct sockaddr from;
    if (udpsendto(s, server, buf, sizeof buf) != sizeof buf)
        return false;
    const int n = udprecvfrom_for(s, &from, buf, sizeof buf, ANSWER_WITHIN_MS);
    if (!is_answer(server, &from, buf, n))
        return false;
    memcpy(seconds, buf + TRANSMIT_TIME, sizeof *seconds);
    *seconds =
        from_network(*seconds) - SECONDS_1900_TO_1970;  // right until 2106, though NTP's own count begins anew in 2036
    return true;
}

int sntp_client(void)
{
    const struct sockaddr local = {.addr = 0, .port = NTP_PORT},
                          server = {.addr = pton(130, 149, 17, 21), .port = NTP_PORT};
    uint32_t seconds;
    bool answered = false;
    const int s = udpsocket();
    if (s < 0) {
        print("could not create socket\n");
        return 1;
    }
    if (udpbind(s, &local) != 0) {
        print("could not bind to port 123\n");
        udpclose(s);
        return 1;
    }
    for (int i = 0; i < ASK_SO_OFTEN && !answered; i++)
        answered = ask(s, &server, &seconds);
    udpclose(s);
    if (!answered) {
        print("no answer\n");
        return 1;
    }
    print_number("NTP timestamp: ", seconds, "\n");
    return 0;
}
