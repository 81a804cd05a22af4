// SPDX-License-Identifier: BSD-2-Clause
// Errors as POSIX names them.
#include "bsd_errno.h"
#include "internal.h"

static const int numbers[] = {
    [-WEIR_AGAIN] = EAGAIN,
    [-WEIR_INVALID] = EINVAL,
    [-WEIR_BAD_SOCKET] = EBADF,
    [-WEIR_NO_MEMORY] = ENOBUFS,
    [-WEIR_IN_USE] = EADDRINUSE,
    [-WEIR_NO_ADDRESS] = EADDRNOTAVAIL,
    [-WEIR_NO_ROUTE] = ENETUNREACH,
    [-WEIR_NOT_CONNECTED] = ENOTCONN,
    [-WEIR_CONNECTED] = EISCONN,
    [-WEIR_IN_PROGRESS] = EINPROGRESS,
    [-WEIR_REFUSED] = ECONNREFUSED,
    [-WEIR_RESET] = ECONNRESET,
    [-WEIR_ABORTED] = ECONNABORTED,
    [-WEIR_TIMED_OUT] = ETIMEDOUT,
    [-WEIR_SHUT_DOWN] = EPIPE,
    [-WEIR_TOO_BIG] = EMSGSIZE,
    [-WEIR_NOT_SUPPORTED] = EOPNOTSUPP,
    [-WEIR_HOST_UNREACHABLE] = EHOSTUNREACH,
    [-WEIR_NETWORK_UNREACHABLE] = ENETUNREACH,
    [-WEIR_PERMISSION] = EACCES,
    [-WEIR_FAULT] = EFAULT,
    [-WEIR_INTERRUPTED] = EINTR,
    [-WEIR_CLOSED] = EBADF,
    [-WEIR_CONFLICT] = EADDRNOTAVAIL,
    [-WEIR_NETIF_DOWN] = ENETDOWN,
    [-WEIR_LISTENING] = EINVAL,
    [-WEIR_SKIPPED] = ETIME,
};

static int own_errno(int error)
{
    switch (error) {
    case BSD_TOO_MANY: return EMFILE;
    case BSD_NO_PROTOCOL_OPTION: return ENOPROTOOPT;
    case BSD_NO_FAMILY: return EAFNOSUPPORT;
    case BSD_NO_PROTOCOL: return EPROTONOSUPPORT;
    case BSD_ALREADY: return EALREADY;
    case BSD_NO_DESTINATION: return EDESTADDRREQ;
    case BSD_EXISTS: return EEXIST;
    case BSD_NOT_THERE: return ENOENT;
    case BSD_NOT_PERMITTED: return EPERM;
    case BSD_NO_DEVICE: return ENODEV;
    case BSD_OUT_OF_MEMORY: return ENOMEM;
    case BSD_NOT_A_TTY: return ENOTTY;
    case BSD_OUT_OF_DOMAIN: return EDOM;
    case BSD_NOT_A_SOCKET: return ENOTSOCK;
    default: return EIO;
    }
}

int weir_bsd_errno(int error)
{
    if (error >= 0)
        return 0;
    if (error > -(int)(sizeof numbers / sizeof *numbers))
        return numbers[-error];
    return own_errno(error);
}

#if __STDC_HOSTED__
static void errno_set(int value) { errno = value; }
#else
static void errno_set(int value) { (void)value; }
#endif

int bsd_fail(struct weir_bsd *bsd, int error)
{
    const int value = weir_bsd_errno(error);
    if (bsd->config.set_errno)
        bsd->config.set_errno(bsd->config.context, value);
    else
        errno_set(value);
    return -1;
}
