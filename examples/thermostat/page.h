// SPDX-License-Identifier: BSD-2-Clause
// The thermostat's page over HTTPS. Everybody on the network may look; whoever changes something shows the key
// (Authorization: Bearer KEY), which a foreign page in somebody's browser cannot.
//
//     GET /            the page             GET /state      its figures, JSON
//     PUT /set         a set point, "21.5"
//     PUT /firmware    an image (docs/update.md), in records of at most 4 KB
#ifndef THERMOSTAT_PAGE_H
#define THERMOSTAT_PAGE_H

#include "examples/thermostat/firmware.h"
#include "examples/thermostat/telemetry.h"
#include "http/server.h"
#include "tls/weir_tls.h"

#define PAGE_PORT 443u
#define PAGE_CONNECTIONS 2u
#define PAGE_IN_BYTES 1024u  // of a request's header
#define PAGE_OUT_BYTES 512u
#define PAGE_STATE_BYTES 160u
#define PAGE_IMAGE_MAX 0x400000u  // bytes; what the slot has room for is the update's to say

struct page {
    struct http_server server;
    struct http_connection connections[PAGE_CONNECTIONS];
    char memory[PAGE_CONNECTIONS * (PAGE_IN_BYTES + PAGE_OUT_BYTES)];
    char state[PAGE_CONNECTIONS][PAGE_STATE_BYTES];  // that is being sent
    struct thermostat *thermostat;
    struct telemetry *telemetry;
    struct firmware *firmware;
    const struct http_connection *sender;  // of an image; NULL: nobody
    uint32_t image_bytes;
    int image_result;  // of firmware_take
    const char *key;
    const struct weir_tls *tls;   // whose memory is told
    void (*seen)(void *context);  // the page was sent to somebody; may be NULL
    void *context;
};

// What `page` points to is set already. `maker` makes TLS of connections. An error of http_server_start.
int page_start(struct page *page, struct loop *loop, struct weir_stream_maker *maker);

#endif
