// SPDX-License-Identifier: BSD-2-Clause
// The resolver under getaddrinfo of api/bsd: bsd_set_resolver(bsd, dns_bsd_resolve, &dns). A task that asks for a name
// sleeps until the resolver, which runs in the poller's loop, has its addresses. It needs a port that can wait;
// without, the answer is WEIR_EAI_AGAIN.
#ifndef APPS_DNS_BSD_H
#define APPS_DNS_BSD_H

#include "../../api/bsd/weir_bsd.h"
#include "both.h"
#include "weir/linkage/apps.h"

WEIR_BEGIN_DECLS

// Blocks; any task but the poller's, without the lock held. `dns`: a struct dns that has been started.
int dns_bsd_resolve(void *dns, struct weir_bsd *bsd, const char *name, struct weir_addr *out, int most);

WEIR_END_DECLS

#endif
