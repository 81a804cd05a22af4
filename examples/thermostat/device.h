// SPDX-License-Identifier: BSD-2-Clause
// A thermostat, whole: what it measures, its page, its broker, its name and its firmware, over a loop that somebody
// turns (board.c, host.c).
#ifndef THERMOSTAT_DEVICE_H
#define THERMOSTAT_DEVICE_H

#include "examples/thermostat/page.h"
#include "examples/thermostat/secure.h"
#include "mdns/mdns.h"

struct device_config {
    struct weir_netif *netif;
    struct weir_addr broker;
    const char *broker_name;  // what its certificate is for
    void *tls_memory;         // NULL: from the C library
    size_t tls_bytes;
    const struct update_flash *flash;  // NULL: none
    uint32_t board, slot;
    void (*named)(const char *host);  // it has a name on the link: "thermostat", of thermostat.local
};

struct device {
    struct device_config config;
    struct thermostat thermostat;
    struct telemetry telemetry;
    struct firmware firmware;
    struct page page;
    struct secure secure;
    struct mdns mdns;
    struct mdns_service service;
};

// NULL; or what did not work, with *error.
const char *device_start(struct device *device, struct loop *loop, const struct device_config *config, int *error);

#endif
