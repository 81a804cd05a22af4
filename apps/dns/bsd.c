// SPDX-License-Identifier: BSD-2-Clause
#include "dns/bsd.h"

#include "weir/port.h"

struct asking {
    struct dns_both both;
    const struct weir_port *port;
    bool done;
};

static void found(void *context, struct dns_both *both)
{
    struct asking *const asking = context;
    (void)both;
    asking->done = true;
    asking->port->wake(asking->port->context, asking);
}

static int answer_of(const struct dns_both *both, struct weir_addr *out, int most)
{
    switch (both->result) {
    case DNS_FOUND: break;
    case DNS_NO_NAME:
    case DNS_NO_DATA:
    case WEIR_INVALID: return WEIR_EAI_NONAME;
    case WEIR_REFUSED: return WEIR_EAI_FAIL;
    case WEIR_NO_MEMORY: return WEIR_EAI_MEMORY;
    default: return WEIR_EAI_AGAIN;
    }
    int count = 0;
    for (; count < most && (uint32_t)count < both->count; count++)
        out[count] = both->addresses[count];
    return count;
}

int dns_bsd_resolve(void *dns, struct weir_bsd *bsd, const char *name, struct weir_addr *out, int most)
{
    struct weir *const weir = bsd_instance(bsd);
    struct asking asking = {.port = weir_port(weir)};
    const struct weir_port *const port = asking.port;
    if (!port->wait || !port->wake || !port->lock)
        return WEIR_EAI_AGAIN;
    port->lock(port->context);
    weir_clock(weir, port->now_us(port->context));
    dns_both_start(&asking.both, dns, name, found, &asking);
    if (port->kick)
        port->kick(port->context);
    while (!asking.done)
        (void)port->wait(port->context, &asking, WEIR_NEVER);
    port->unlock(port->context);
    return answer_of(&asking.both, out, most);
}
