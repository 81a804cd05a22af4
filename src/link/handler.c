// SPDX-License-Identifier: BSD-2-Clause
#include "link/handler.h"

#include "wire/ethernet.h"

// --- ethertypes ------------------------------------------------------------------------------------------------------

static bool handler_ethertype_taken(const struct weir *weir, uint16_t type)
{
    for (const struct ethertype *own = weir->ethertypes; own->type; own++)
        if (own->type == type)
            return true;
    for (const struct weir_ethertype_handler *handler = weir->ethertype_handlers; handler; handler = handler->next)
        if (handler->ethertype == type)
            return true;
    return (WEIR_CFG_IP4 && type == ETHERTYPE_ARP) || (WEIR_CFG_VLAN && type == ETHERTYPE_VLAN);
}

int weir_ethertype_register(struct weir *weir, struct weir_ethertype_handler *handler)
{
    if (!handler->input)
        return WEIR_INVALID;
    if (handler_ethertype_taken(weir, handler->ethertype))
        return WEIR_IN_USE;
    handler->next = weir->ethertype_handlers;
    weir->ethertype_handlers = handler;
    return WEIR_OK;
}

void weir_ethertype_unregister(struct weir *weir, struct weir_ethertype_handler *handler)
{
    struct weir_ethertype_handler **link = &weir->ethertype_handlers;
    while (*link && *link != handler)
        link = &(*link)->next;
    if (*link)
        *link = handler->next;
}

bool handler_ethertype(struct weir_netif *netif, uint16_t type, struct packet *packet)
{
    struct weir_ethertype_handler *handler = netif->weir->ethertype_handlers;
    while (handler && handler->ethertype != type)
        handler = handler->next;
    if (handler)
        handler->input(handler, netif, packet->frame, packet->offset);
    return handler != NULL;
}

// --- IP protocols ----------------------------------------------------------------------------------------------------

static bool handler_protocol_taken(const struct weir *weir, uint8_t number)
{
    for (const struct ip_protocol *own = weir->protocols; own->input; own++)
        if (own->number == number)
            return true;
    for (const struct weir_protocol_handler *handler = weir->protocol_handlers; handler; handler = handler->next)
        if (handler->protocol == number)
            return true;
    return false;
}

int weir_protocol_register(struct weir *weir, struct weir_protocol_handler *handler)
{
    if (!handler->input)
        return WEIR_INVALID;
    if (handler_protocol_taken(weir, handler->protocol))
        return WEIR_IN_USE;
    handler->next = weir->protocol_handlers;
    weir->protocol_handlers = handler;
    return WEIR_OK;
}

void weir_protocol_unregister(struct weir *weir, struct weir_protocol_handler *handler)
{
    struct weir_protocol_handler **link = &weir->protocol_handlers;
    while (*link && *link != handler)
        link = &(*link)->next;
    if (*link)
        *link = handler->next;
}

bool handler_protocol(struct weir *weir, struct packet *packet)
{
    struct weir_protocol_handler *handler = weir->protocol_handlers;
    while (handler && handler->protocol != packet->protocol)
        handler = handler->next;
    if (handler)
        handler->input(handler, packet->netif, packet->frame, packet->offset, packet->source, packet->destination);
    return handler != NULL;
}

// --- taps ------------------------------------------------------------------------------------------------------------

void weir_tap_add(struct weir *weir, struct weir_tap *tap)
{
    tap->next = weir->taps;
    weir->taps = tap;
    paths_changed(weir);  // no frame passes it by the flow cache
}

void weir_tap_remove(struct weir *weir, struct weir_tap *tap)
{
    struct weir_tap **link = &weir->taps;
    while (*link && *link != tap)
        link = &(*link)->next;
    if (*link)
        *link = tap->next;
}

COLD static void taps_show(const struct weir_netif *netif, bool outgoing, const struct weir_slice *slices,
                           uint16_t count, unsigned offload)
{
    const struct weir *weir = netif->weir;
    for (struct weir_tap *tap = weir->taps; tap; tap = tap->next) {
        tap->offload = offload;
        tap->frame(tap, netif, outgoing, slices, count, weir->now_us);
    }
}

COLD void handler_taps_in(const struct weir_netif *netif, const struct weir_frame *frame)
{
    taps_show(netif, false, frame->slices, frame->count, weir_frame_offload(frame));
}

COLD void handler_taps_out(const struct weir_netif *netif, const struct weir_tx *tx)
{
    taps_show(netif, true, tx->slices, tx->count, weir_tx_offload(tx));
}

// --- addresses -------------------------------------------------------------------------------------------------------

void weir_address_watch_add(struct weir *weir, struct weir_address_watch *watch)
{
    watch->next = weir->address_watches;
    weir->address_watches = watch;
}

void weir_address_watch_remove(struct weir *weir, struct weir_address_watch *watch)
{
    struct weir_address_watch **link = &weir->address_watches;
    while (*link && *link != watch)
        link = &(*link)->next;
    if (*link)
        *link = watch->next;
}

COLD void handler_address(const struct weir_netif *netif, struct weir_addr address, enum weir_address_event event)
{
    for (struct weir_address_watch *watch = netif->weir->address_watches; watch; watch = watch->next)
        watch->event(watch, netif, address, event);
}
