// SPDX-License-Identifier: BSD-2-Clause
#include "weir/error.h"
#include "weir/options.h"

#if WEIR_CFG_ERROR_NAMES
// By the negated error, one behind the other: a table of where they begin would cost a word each.
static const char error_names[] =
    "WEIR_OK\0WEIR_AGAIN\0WEIR_INVALID\0WEIR_BAD_SOCKET\0WEIR_NO_MEMORY\0WEIR_IN_USE\0WEIR_NO_ADDRESS\0"
    "WEIR_NO_ROUTE\0WEIR_NOT_CONNECTED\0WEIR_CONNECTED\0WEIR_IN_PROGRESS\0WEIR_REFUSED\0WEIR_RESET\0"
    "WEIR_ABORTED\0WEIR_TIMED_OUT\0WEIR_SHUT_DOWN\0WEIR_TOO_BIG\0WEIR_NOT_SUPPORTED\0"
    "WEIR_HOST_UNREACHABLE\0WEIR_NETWORK_UNREACHABLE\0WEIR_PERMISSION\0WEIR_FAULT\0WEIR_INTERRUPTED\0"
    "WEIR_CLOSED\0WEIR_CONFLICT\0WEIR_NETIF_DOWN\0WEIR_LISTENING\0WEIR_SKIPPED";

const char *weir_error_name(int error)
{
    const char *name = error_names;
    if (error > 0 || error < WEIR_SKIPPED)
        return "?";
    for (; error; error++)
        while (*name++)
            ;
    return name;
}
#else
const char *weir_error_name(int error)
{
    (void)error;
    return "?";
}
#endif
