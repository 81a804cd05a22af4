// SPDX-License-Identifier: BSD-2-Clause
// Answers each byte that comes with a page, of PAGE_RECORDS records that are made one after another: what a small
// server does whose memory holds no more than one. Where the send queue holds no more either, the next record waits for
// the acknowledgement of the last, and a peer that delays it delays the page; PAGES_MODE is what is to be done about it
// (SOCK_SPLIT). One source: for the cooperative kernel on a board, or (-DROMANTIKI_BSD) BSD sockets.
#include "romantiki/romantiki.h"

#define PORT 5203
#define RECORD_BYTES 536
#define PAGE_RECORDS 2
#ifndef PAGES_MODE
#define PAGES_MODE SOCK_BLOCKING
#endif

DEF_LST_SOCKET(listener, 1);
DEF_STRM_SOCKET(reader);
static unsigned char record[RECORD_BYTES], asked;
static unsigned number;

static void make_record(void)
{
    for (unsigned i = 0; i < RECORD_BYTES; i++)
        record[i] = (unsigned char)(asked + number + i);
}

BFD PagesTask(void *prm)
{
    AUTO unsigned rxed_len, txed_len;
    AUTO int res;
    (void)prm;

    BF_BEGIN
    LST_SOCKET(listener, SOCK_MODE(SOCK_BLOCKING));
    STRM_SOCKET(reader, SOCK_MODE(PAGES_MODE), NULL, 0);
    socket_listen(&listener, PORT, 0);
    for (;;) {
        socket_accept(&listener, &reader, &res);
        if (res != EOK) {
            continue;
        }
        for (;;) {
            socket_recv(&reader, &asked, 1, &rxed_len, &res, NULL);
            if (rxed_len == 0) {
                break;
            }
            for (number = 0; number < PAGE_RECORDS; number++) {
                make_record();
                socket_send(&reader, record, RECORD_BYTES, &txed_len, &res, NULL);
            }
        }
    }
    BF_END
}

ROMANTIKI_MAIN(PagesTask, 1)
