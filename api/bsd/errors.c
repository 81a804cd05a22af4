// SPDX-License-Identifier: BSD-2-Clause
// Errors as POSIX names them.
#include "bsd_errno.h"
#include "internal.h"

// Both by bytes: no errno that is used here is larger.
static const uint8_t numbers[] = {
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

static const uint8_t own_numbers[] = {
    [0] = EMFILE,  // BSD_TOO_MANY, the first
    [BSD_NO_PROTOCOL_OPTION - BSD_TOO_MANY] = ENOPROTOOPT,
    [BSD_NO_FAMILY - BSD_TOO_MANY] = EAFNOSUPPORT,
    [BSD_NO_PROTOCOL - BSD_TOO_MANY] = EPROTONOSUPPORT,
    [BSD_ALREADY - BSD_TOO_MANY] = EALREADY,
    [BSD_NO_DESTINATION - BSD_TOO_MANY] = EDESTADDRREQ,
    [BSD_EXISTS - BSD_TOO_MANY] = EEXIST,
    [BSD_NOT_THERE - BSD_TOO_MANY] = ENOENT,
    [BSD_NOT_PERMITTED - BSD_TOO_MANY] = EPERM,
    [BSD_NO_DEVICE - BSD_TOO_MANY] = ENODEV,
    [BSD_OUT_OF_MEMORY - BSD_TOO_MANY] = ENOMEM,
    [BSD_NOT_A_TTY - BSD_TOO_MANY] = ENOTTY,
    [BSD_OUT_OF_DOMAIN - BSD_TOO_MANY] = EDOM,
    [BSD_NOT_A_SOCKET - BSD_TOO_MANY] = ENOTSOCK,
};

int weir_bsd_errno(int error)
{
    const uint32_t plain = 0u - (uint32_t)error, own = (uint32_t)error - (uint32_t)BSD_TOO_MANY;
    if (error >= 0)
        return 0;
    if (plain < sizeof numbers)
        return numbers[plain];
    return own < sizeof own_numbers ? own_numbers[own] : EIO;
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
