// SPDX-License-Identifier: BSD-2-Clause
#include "ports/coop/coop_port.h"
#include "internal.h"

const char romantiki_select_token;

BFD romantiki_select(struct romantiki_socket *const *list, unsigned count, unsigned *ready)
{
    *ready = 0;
    for (unsigned i = 0; i < count; i++) {
        const int state = list[i]->handle ? weir_socket_ready(coop_port_weir(), list[i]->handle) : 0;
        *ready |= (unsigned)(state > 0 && state & (WEIR_READABLE | WEIR_HANGUP | WEIR_ERROR)) << i;
        list[i]->selected = true;
    }
    if (!*ready && !coop_expired())
        return coop_block(&romantiki_select_token);
    for (unsigned i = 0; i < count; i++)
        list[i]->selected = false;
    return BF_DONE;
}
