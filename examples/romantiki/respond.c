// SPDX-License-Identifier: BSD-2-Clause
// Romantiki responds to UDP: a task takes datagrams on port 5202 and answers each with its text in capitals, another
// answers on port 5203 with how many there were. One source: for the cooperative kernel on a board, where the compact
// stack has WEIR_CFG_COMPACT_UDP, and
// (-DROMANTIKI_BSD) for BSD sockets.
#include "romantiki/romantiki.h"

#define RESPOND_BYTES 512

static DEF_DGRAM_SOCKET(respond_sock);
static DEF_DGRAM_SOCKET(count_sock);
static DEF_TASK(count_task);
static unsigned answered;

static void capitals(unsigned char *text, unsigned length)
{
    for (; length--; text++)
        if (*text >= 'a' && *text <= 'z')
            *text = (unsigned char)(*text - 'a' + 'A');
}

static unsigned decimal(unsigned char *text, unsigned value)
{
    unsigned char digits[10];
    unsigned length = 0, count = 0;
    do
        digits[length++] = (unsigned char)('0' + value % 10);
    while (value /= 10);
    while (length)
        text[count++] = digits[--length];
    return count;
}

static BFD CountTask(void *prm)
{
    AUTO unsigned char text[12];
    AUTO unsigned length;
    AUTO struct weir_endpoint from;
    AUTO int res;
    (void)prm;
    BF_BEGIN
    DGRAM_SOCKET(count_sock, SOCK_MODE(SOCK_BLOCKING), NULL, 0);
    socket_bind(&count_sock, 5203);
    for (;;) {
        socket_recvfrom(&count_sock, text, sizeof text, &length, &from, &res, NULL);
        if (res != EOK)
            continue;
        length = decimal(text, answered);
        socket_sendto(&count_sock, text, length, &from, &res, NULL);
    }
    BF_END
}

static BFD RespondTask(void *prm)
{
    AUTO unsigned char data[RESPOND_BYTES];
    AUTO unsigned length;
    AUTO struct weir_endpoint from;
    AUTO int res;
    (void)prm;
    BF_BEGIN
    TASK_START(count_task, CountTask, NULL, 1);
    DGRAM_SOCKET(respond_sock, SOCK_MODE(SOCK_BLOCKING), NULL, 0);
    socket_bind(&respond_sock, 5202);
    for (;;) {
        socket_recvfrom(&respond_sock, data, sizeof data, &length, &from, &res, NULL);
        if (res != EOK)
            continue;
        capitals(data, length);
        socket_sendto(&respond_sock, data, length, &from, &res, NULL);
        answered += res == EOK;
    }
    BF_END
}

ROMANTIKI_MAIN(RespondTask, 2)
