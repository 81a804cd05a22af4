// SPDX-License-Identifier: BSD-2-Clause
// Addresses of names for programs, asked of name servers over the stack.
#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "dns/both.h"
#include "run/server.h"
#include "weir/names.h"

struct resolution {
    struct run_source source;  // for its burial alone
    struct dns_both both;
    struct run_call *call;
};

static void answer(struct run_call *call, int result, const struct weir_addr *addresses, uint32_t count)
{
    uint8_t bytes[DNS_BOTH_ADDRESSES][16];
    if (result != DNS_FOUND) {
        const bool none = result == DNS_NO_NAME || result == DNS_NO_DATA || result == WEIR_INVALID;
        run_call_answer(call, none ? -ENOENT : -EAGAIN, NULL, 0);
        return;
    }
    for (uint32_t i = 0; i < count; i++)
        weir_addr_to_v6(addresses[i], bytes[i]);
    run_call_answer(call, (int)count, bytes, count * 16u);
}

static void one_resolved(void *context, int result, const struct dns_answer *found)
{
    answer(context, result, found->addresses, found->count);
}

// The resolver may still look at `both` when this returns.
static void both_resolved(void *context, struct dns_both *both)
{
    struct resolution *const resolution = context;
    struct run_server *const server = resolution->call->server;
    resolution->call->both = NULL;
    answer(resolution->call, both->result, both->addresses, both->count);
    run_server_bury(server, &resolution->source);
}

bool run_name_resolve(struct run_call *call, const char *name, int family)
{
    struct run_server *const server = call->server;
    struct dns_answer known = {0};
    if (family == AF_UNSPEC && weir_family_configured(server->weir, true)) {
        struct resolution *const resolution = calloc(1, sizeof *resolution);
        if (resolution == NULL)
            return false;
        resolution->call = call;
        call->both = resolution;
        call->resolves = true;
        dns_both_start(&resolution->both, &server->dns, name, both_resolved, resolution);
        return true;
    }
    const uint16_t type = family == AF_INET6 ? DNS_AAAA : DNS_A;
    const int result = dns_resolve_type(&server->dns, name, type, &known, one_resolved, call);
    call->resolves = result == WEIR_IN_PROGRESS;
    if (!call->resolves)
        one_resolved(call, result, &known);
    return true;
}

void run_name_forget(struct run_call *call)
{
    if (call->both != NULL) {
        dns_both_stop(&call->both->both);
        run_server_bury(call->server, &call->both->source);
        call->both = NULL;
    } else if (call->resolves) {
        dns_cancel(&call->server->dns, call);
    }
}
