// SPDX-License-Identifier: BSD-2-Clause
#include "processes.h"

#include "kernel/micro/micro.h"
#include "process_sockets.h"
#include "weir/error.h"

#define BUDGET 16  // frames between two looks at clients

// --- a client --------------------------------------------------------------------------------------------------------
static int call(void *context, struct micro_message *message)
{
    return micro_call(*(const uint32_t *)context, (uint32_t *)(void *)message);
}
static void notify(void *context) { (void)micro_notify(*(const uint32_t *)context); }
static int wait(void *context, uint64_t deadline_us)
{
    struct micro_event event;
    (void)context;
    return micro_receive(&event, 0, deadline_us) == MICRO_TIMEOUT;
}
static uint64_t now_us(void *context)
{
    (void)context;
    return micro_now_us();
}

static int copy_in(void *context, void *to, const void *from_caller, size_t bytes)
{
    (void)context;
    if (micro_owns(from_caller, (uint32_t)bytes, false) != MICRO_OK)
        return WEIR_FAULT;
    memcpy(to, from_caller, bytes);
    return WEIR_OK;
}
static int copy_out(void *context, void *to_caller, const void *from, size_t bytes)
{
    (void)context;
    if (micro_owns(to_caller, (uint32_t)bytes, true) != MICRO_OK)
        return WEIR_FAULT;
    memcpy(to_caller, from, bytes);
    return WEIR_OK;
}

void micro_client_init(struct client *client, const uint32_t *server, struct window *window)
{
    static const struct client_host host = {
        .call = call, .notify = notify, .wait = wait, .now_us = now_us, .copy_in = copy_in, .copy_out = copy_out};
    client_init(client, &host, (void *)(uintptr_t)server, window);
}

struct micro_process *micro_process_self(void) { return micro_self(); }

// --- the server ------------------------------------------------------------------------------------------------------
static void entropy(void *context, void *out, size_t bytes)
{
    (void)context;
    for (uint8_t *to = out; bytes; bytes--)
        *to++ = (uint8_t)micro_random();
}

static void notify_client(void *context, uint32_t session)
{
    const struct micro_service *service = context;
    (void)micro_notify(service->config->clients[session].process);
}

static void reply_client(void *context, uint32_t session, struct micro_message *message)
{
    const struct micro_service *service = context;
    (void)micro_reply(service->config->clients[session].process, (const uint32_t *)(const void *)message);
}

static void notify_driver(void *context)
{
    const struct micro_service *service = context;
    (void)micro_notify(service->config->driver);
}

// The driver has shown its address and notified for the first time.
static void driver_came(struct micro_service *service)
{
    const struct micro_service_config *config = service->config;
    micro_netif_attach(&service->netif, config->frames);
    if (weir_netif_add(service->weir, &service->netif.netif) == WEIR_OK)
        (void)weir_netif_set_address(&service->netif.netif, config->address, config->prefix_length,
                                     WEIR_ADDRESS_AT_ONCE);
    if (!weir_addr_is_any(config->gateway))
        (void)weir_route_add(service->weir, weir_addr_any(), 0, config->gateway, &service->netif.netif, 0);
}

static void notified(struct micro_service *service, uint32_t bits)
{
    const struct micro_service_config *config = service->config;
    if (bits & MICRO_BIT(config->driver) && !service->netif.netif.weir)
        driver_came(service);
    if (bits & MICRO_BIT_DEATH(config->driver))
        micro_netif_attach(&service->netif, NULL);
    for (uint32_t i = 0; i < config->client_count; i++) {
        if (bits & MICRO_BIT(config->clients[i].process))
            micro_server_rung(&service->server, i);
        if (bits & MICRO_BIT_DEATH(config->clients[i].process))
            micro_server_detach(&service->server, i);
    }
}

static void message(struct micro_service *service, struct micro_event *event)
{
    const struct micro_service_config *config = service->config;
    uint32_t session = 0;
    while (session < config->client_count && config->clients[session].process != event->sender)
        session++;
    service->messages++;
    if (session == config->client_count)
        ((struct micro_message *)(void *)event->message)->operation = WEIR_PERMISSION;
    else if (!micro_server_message(&service->server, session, (struct micro_message *)(void *)event->message))
        return;  // it waits until it is answered
    (void)micro_reply(event->sender, event->message);
}

// One turn; returns when the next is due: 0, at once.
static uint64_t turn(struct micro_service *service)
{
    const uint64_t time_us = micro_now_us();
    weir_clock(service->weir, time_us);
    const bool frames = micro_netif_poll(&service->netif, BUDGET) == BUDGET;
    (void)micro_server_turn(&service->server);
    const uint64_t poll_us = weir_poll(service->weir, time_us);
    service->turns++;
    const bool more = micro_server_turn(&service->server) || frames;
    const uint64_t server_us = micro_server_due(&service->server), due_us = poll_us < server_us ? poll_us : server_us;
    const bool at_once =
        more || due_us <= time_us || !micro_server_rest(&service->server) || !micro_netif_rest(&service->netif);
    return at_once ? 0 : due_us;
}

static bool start(struct micro_service *service, const struct micro_service_config *config)
{
    static const struct micro_server_host host = {notify_client, reply_client};
    *service = (struct micro_service){
        .config = config, .port = {.entropy = entropy, .now_us = now_us, .granularity_us = 1, .sum = config->sum}};
    service->weir = weir_create(config->memory, config->memory_bytes, &service->port, NULL);
    if (!service->weir)
        return false;
    micro_server_init(&service->server, service->weir, &host, service);
    micro_netif_init(&service->netif, "eth0", notify_driver, service);
    for (uint32_t i = 0; i < config->client_count; i++) {
        const struct micro_service_client *client = &config->clients[i];
        if (!micro_server_attach(&service->server, i, client->window, client->channels, client->ring_bytes))
            return false;
        if (client->quota)
            micro_server_limit(&service->server, i, client->quota);
    }
    return true;
}

void micro_serve(struct micro_service *service, const struct micro_service_config *config)
{
    static const char failed[] = "weir: no memory\n";
    struct micro_event event;
    uint64_t due_us = 0;
    if (!start(service, config)) {
        (void)micro_print(failed, sizeof failed - 1);
        micro_exit();
    }
    for (;;) {
        int32_t got = micro_receive(&event, 0, due_us);
        for (; got == MICRO_MESSAGE || got == MICRO_NOTIFIED; got = micro_receive(&event, 0, 0)) {
            notified(service, event.bits);
            if (got == MICRO_NOTIFIED)
                break;
            weir_clock(service->weir, micro_now_us());
            message(service, &event);
        }
        due_us = turn(service);
    }
}

// --- a driver --------------------------------------------------------------------------------------------------------
void micro_drive(struct micro_relay *relay, struct weir_netif *netif, struct frames *frames, const uint32_t *server,
                 void (*silence)(void))
{
    uint64_t time_us = micro_now_us(), due_us;
    struct micro_event event;
    micro_relay_init(relay, netif, frames, notify, (void *)(uintptr_t)server);
    (void)micro_notify(*server);
    for (;;) {
        do
            due_us = micro_relay_turn(relay, time_us);
        while (due_us <= time_us || !micro_relay_rest(relay));
        const int32_t got = micro_receive(&event, 0, due_us);
        if (got == MICRO_TIMEOUT)
            time_us = micro_now_us();  // time matters to nothing else
        if (got == MICRO_NOTIFIED && event.bits & MICRO_BIT_INTERRUPT) {
            silence();
            (void)micro_interrupt_on();
        }
    }
}
