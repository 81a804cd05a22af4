// SPDX-License-Identifier: BSD-2-Clause
#include "weir/error.h"
#include "weir/options.h"

#if WEIR_CFG_ERROR_NAMES
// Indexed by the negated error.
static const char *const error_names[] = {
    "WEIR_OK",          "WEIR_AGAIN",      "WEIR_INVALID",       "WEIR_BAD_SOCKET",       "WEIR_NO_MEMORY",
    "WEIR_IN_USE",      "WEIR_NO_ADDRESS", "WEIR_NO_ROUTE",      "WEIR_NOT_CONNECTED",    "WEIR_CONNECTED",
    "WEIR_IN_PROGRESS", "WEIR_REFUSED",    "WEIR_RESET",         "WEIR_ABORTED",          "WEIR_TIMED_OUT",
    "WEIR_SHUT_DOWN",   "WEIR_TOO_BIG",    "WEIR_NOT_SUPPORTED", "WEIR_HOST_UNREACHABLE", "WEIR_NETWORK_UNREACHABLE",
    "WEIR_PERMISSION",  "WEIR_FAULT",      "WEIR_INTERRUPTED",   "WEIR_CLOSED",           "WEIR_CONFLICT",
    "WEIR_NETIF_DOWN",  "WEIR_LISTENING",  "WEIR_SKIPPED",
};
#define ERROR_NAME_COUNT ((int)(sizeof error_names / sizeof error_names[0]))
_Static_assert(ERROR_NAME_COUNT == 1 - WEIR_SKIPPED, "one name for each error");

const char *weir_error_name(int error) { return error <= 0 && error > -ERROR_NAME_COUNT ? error_names[-error] : "?"; }
#else
const char *weir_error_name(int error)
{
    (void)error;
    return "?";
}
#endif
