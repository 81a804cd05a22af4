// SPDX-License-Identifier: BSD-2-Clause
// The port to the microkernel (kernel/micro): what a client, the server and a driver each run as a process. A process
// owns its struct, in its own memory.
#ifndef MICRO_PROCESSES_H
#define MICRO_PROCESSES_H

#include "client.h"
#include "frames.h"
#include "server.h"
#include "weir/instance.h"
#include "weir/language.h"

WEIR_BEGIN_DECLS

// --- a client --------------------------------------------------------------------------------------------------------
// `server`: its process number.
void micro_client_init(struct client *client, const uint32_t *server, struct window *window);

// --- the server ------------------------------------------------------------------------------------------------------
struct micro_service_client {
    uint32_t process;
    struct window *window;  // memory that only this process and the server have
    uint32_t channels, ring_bytes;
    const struct micro_quota *quota;  // NULL: micro_quota_default
};
struct micro_service_config {
    uint32_t driver;  // its process
    struct frames *frames;
    const struct micro_service_client *clients;
    uint32_t client_count;
    struct weir_addr address;
    uint8_t prefix_length;
    struct weir_addr gateway;                         // any: none
    uint16_t (*sum)(const void *data, size_t bytes);  // weir_port.sum, or NULL
    void *memory;                                     // for weir_create
    size_t memory_bytes;
};
struct micro_service {
    const struct micro_service_config *config;
    struct weir_port port;
    struct weir *weir;
    struct micro_server server;
    struct micro_netif netif;
    uint32_t turns, messages;
};
WEIR_NORETURN void micro_serve(struct micro_service *service, const struct micro_service_config *config);

// --- a driver --------------------------------------------------------------------------------------------------------
// `netif` has been attached to its driver. `silence` takes back the device's interrupt request, until the driver has
// found the device empty.
WEIR_NORETURN void micro_drive(struct micro_relay *relay, struct weir_netif *netif, struct frames *frames,
                               const uint32_t *server, void (*silence)(void));

WEIR_END_DECLS

#endif
