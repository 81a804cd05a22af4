// SPDX-License-Identifier: BSD-2-Clause
// Romantiki's echo server, as the paper lists it, with its buffers' size a parameter. One source: for the cooperative
// kernel on a board, and
// (-DROMANTIKI_BSD) for BSD sockets.
#include "romantiki/romantiki.h"

#ifndef ECHO_BYTES
#define ECHO_BYTES 512
#endif

unsigned char echo_data[ECHO_BYTES];
// define listening socket
DEF_LST_SOCKET(echo_listen_sock, 1);
// define connected socket
DEF_STRM_SOCKET(echo_real_sock);

BFD EchoServerTask(void *prm)
{
    AUTO unsigned int txed_len, rxed_len;
    SOCK_BUF(sock_buf, ECHO_BYTES);
    AUTO int res;
    (void)prm;

    BF_BEGIN
    // initialize listening socket
    LST_SOCKET(echo_listen_sock, SOCK_MODE(SOCK_BLOCKING));
    // initialize connected socket
    STRM_SOCKET(echo_real_sock, SOCK_MODE(SOCK_BLOCKING), (unsigned char *)sock_buf, sizeof(sock_buf));
    socket_listen(&echo_listen_sock, 5200, 0);
    for (;;) {
        socket_accept(&echo_listen_sock, &echo_real_sock, &res);
        if (res == EOK) {
            while (1) {
                socket_recv(&echo_real_sock, (unsigned char *)echo_data, ECHO_BYTES, &rxed_len, &res, NULL);
                socket_send(&echo_real_sock, (unsigned char *)echo_data, rxed_len, &txed_len, &res, NULL);
                if ((rxed_len != txed_len) || (rxed_len == 0)) {
                    break;
                }
            }
        }
    }
    BF_END
}

ROMANTIKI_MAIN(EchoServerTask, 1)
