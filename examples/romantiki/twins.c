// SPDX-License-Identifier: BSD-2-Clause
// Two callers at once, each served by a task; both tasks are of one function, whose AUTO variables each has for itself.
// What comes in is answered with the number of answers so far on this connection. One source: for the cooperative
// kernel on a board, or
// (-DROMANTIKI_BSD) for BSD sockets.
#define COOP_FRAMES 64  // bytes of AUTO variables, with what the kernel keeps of each function
#include "romantiki/romantiki.h"

#define PORT 5206
#define TWINS 2
#define ASKED_BYTES 64

DEF_LST_SOCKET(listener, TWINS);
static DEF_TASK(tasks[TWINS]);
static struct twin {
    DEF_STRM_SOCKET(stream);
    unsigned char asked[ASKED_BYTES];
} twins[TWINS];

// A digit for each: after nine it begins anew.
static BFD Answer(struct twin *own, unsigned *answers)
{
    AUTO unsigned char digit[2];
    AUTO unsigned txed_len;
    AUTO int res;

    BF_BEGIN
    *answers = *answers % 9 + 1;
    digit[0] = (unsigned char)('0' + *answers);
    digit[1] = '\n';
    socket_send(&own->stream, digit, sizeof digit, &txed_len, &res, NULL);
    BF_END
}

static BFD TwinTask(void *prm)
{
    AUTO unsigned answers, rxed_len;
    AUTO int res;
    struct twin *own = prm;

    BF_BEGIN
    STRM_SOCKET(own->stream, SOCK_MODE(SOCK_BLOCKING), NULL, 0);
    for (;;) {
        socket_accept(&listener, &own->stream, &res);
        answers = 0;
        while (res == EOK) {
            socket_recv(&own->stream, own->asked, ASKED_BYTES, &rxed_len, &res, NULL);
            if (rxed_len == 0) {
                break;
            }
            BF_CALL(Answer(own, &answers));
        }
    }
    BF_END
}

static BFD FirstTask(void *prm)
{
    AUTO unsigned i;
    (void)prm;

    BF_BEGIN
    LST_SOCKET(listener, SOCK_MODE(SOCK_BLOCKING));
    socket_listen(&listener, PORT, 0);
    for (i = 0; i < TWINS; i++) {
        (void)TASK_START(tasks[i], TwinTask, &twins[i], 1);
    }
    for (;;) {
        SLEEP_MS(1000);
    }
    BF_END
}

ROMANTIKI_MAIN(FirstTask, 1)
