// SPDX-License-Identifier: BSD-2-Clause
// The least program with BSD sockets and the port to POSIX: a listener opens. A function of its own is called
// tcp_close, as in other stacks, and must not meet Weir's.
#include <bsd/weir_bsd.h>
#include <ports/posix/posix.h>
#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
extern "C"
#endif
    int
    tcp_close(int status);
int tcp_close(int status) { return status; }

int main(void)
{
    static struct posix_host host;
    struct weir_sockaddr_in address;
    struct weir_bsd *bsd;
    struct weir *weir;
    int fd, status;
    if (posix_host_init(&host, NULL) < 0 ||
        !(weir = weir_create(malloc(weir_size(NULL)), weir_size(NULL), &host.port, NULL)))
        return 2;
    posix_host_attach(&host, weir);
    bsd = bsd_create(weir, NULL);
    fd = bsd ? bsd_socket(bsd, WEIR_AF_INET, WEIR_SOCK_STREAM, 0) : -1;
    memset(&address, 0, sizeof address);
    address.sin_family = WEIR_AF_INET;
    if (fd < 0 || bsd_bind(bsd, fd, (struct weir_sockaddr *)&address, sizeof address) || bsd_listen(bsd, fd, 1))
        return 1;
    status = bsd_close(bsd, fd);
    return tcp_close(status);
}
