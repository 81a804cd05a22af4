// SPDX-License-Identifier: BSD-2-Clause
#include "api/bsd/internal.h"
#include "api/lyraos/internal.h"

struct weir_bsd *lyraos_stack;  // set once, before any call

void lyraos_use(struct weir_bsd *bsd) { lyraos_stack = bsd; }

static bool negative(int length) { return length < 0; }
static int invalid(void) { return bsd_fail(lyraos_stack, WEIR_INVALID); }
// The length of an address or a value comes and goes as an int here.
static weir_socklen *in_out(int *length) { return (weir_socklen *)(void *)length; }

int socket(int domain, int type, int protocol) { return bsd_socket(lyraos_stack, domain, type, protocol); }

int bind(int sockfd, const struct sockaddr *my_addr, int addrlen)
{
    return negative(addrlen) ? invalid() : bsd_bind(lyraos_stack, sockfd, my_addr, (weir_socklen)addrlen);
}

int listen(int s, int backlog) { return bsd_listen(lyraos_stack, s, backlog); }

int connect(int sockfd, const struct sockaddr *serv_addr, int addrlen)
{
    return negative(addrlen) ? invalid() : bsd_connect(lyraos_stack, sockfd, serv_addr, (weir_socklen)addrlen);
}

int accept(int s, struct sockaddr *addr, int *addrlen)
{
    return addrlen && negative(*addrlen) ? invalid() : bsd_accept(lyraos_stack, s, addr, in_out(addrlen));
}

int send(int s, const void *msg, int len, unsigned flags) { return sendto(s, msg, len, flags, NULL, 0); }

int sendto(int s, const void *msg, int len, unsigned flags, const struct sockaddr *to, int tolen)
{
    if (negative(len) || negative(tolen))
        return invalid();
    return (int)bsd_sendto(lyraos_stack, s, msg, (size_t)len, (int)flags, to, (weir_socklen)tolen);
}

int sendmsg(int s, const struct msghdr *msg, unsigned flags)
{
    return (int)bsd_sendmsg(lyraos_stack, s, msg, (int)flags);
}

int recv(int s, void *buf, int len, unsigned flags) { return recvfrom(s, buf, len, flags, NULL, NULL); }

int recvfrom(int s, void *buf, int len, unsigned flags, struct sockaddr *from, int *fromlen)
{
    if (negative(len) || (fromlen && negative(*fromlen)))
        return invalid();
    return (int)bsd_recvfrom(lyraos_stack, s, buf, (size_t)len, (int)flags, from, in_out(fromlen));
}

int recvmsg(int s, struct msghdr *msg, unsigned flags) { return (int)bsd_recvmsg(lyraos_stack, s, msg, (int)flags); }

int getsockopt(int s, int level, int optname, void *optval, int *optlen)
{
    return optlen && negative(*optlen) ? invalid()
                                       : bsd_getsockopt(lyraos_stack, s, level, optname, optval, in_out(optlen));
}

int setsockopt(int s, int level, int optname, const void *optval, int optlen)
{
    return negative(optlen) ? invalid() : bsd_setsockopt(lyraos_stack, s, level, optname, optval, (weir_socklen)optlen);
}

int closesocket(int s) { return bsd_close(lyraos_stack, s); }
