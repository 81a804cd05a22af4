// SPDX-License-Identifier: BSD-2-Clause
#include "examples/thermostat/device.h"

#include "examples/thermostat/keys.h"
#include "weir/instance.h"

static void told(struct thermostat *thermostat, void *context)
{
    (void)thermostat;
    telemetry_tell(&((struct device *)context)->telemetry);
}

// Firmware works when somebody outside has seen that it does.
static void works(void *context) { firmware_confirm(&((struct device *)context)->firmware); }

static int broker_secure(struct weir_stream *stream, void *context)
{
    struct device *const device = context;
    return secure_client(&device->secure, stream, device->config.broker_name);
}

static void named(struct mdns *mdns, struct mdns_service *service, const char *label, void *context)
{
    const struct device *const device = context;
    (void)mdns;
    if (!service && device->config.named)
        device->config.named(label);
}

static int name_start(struct device *device, struct loop *loop)
{
    device->service = (struct mdns_service){.name = "Thermostat", .type = "_https._tcp", .port = PAGE_PORT};
    const struct mdns_config config = {.host = "thermostat", .named = named, .context = device};
    const int error = mdns_start(&device->mdns, loop, device->config.netif, &config);
    return error == WEIR_OK ? mdns_publish(&device->mdns, &device->service) : error;
}

static int page_begin(struct device *device, struct loop *loop)
{
    struct page *const page = &device->page;
    page->thermostat = &device->thermostat;
    page->telemetry = &device->telemetry;
    page->firmware = &device->firmware;
    page->key = keys_password;
    page->tls = device->secure.tls;
    page->seen = works;
    page->context = device;
    return page_start(page, loop, &device->secure.maker.maker);
}

const char *device_start(struct device *device, struct loop *loop, const struct device_config *config, int *error)
{
    device->config = *config;
    const struct telemetry_config telemetry = {
        .broker = {config->broker, MQTT_PORT_TLS}, .secure = broker_secure, .connected = works, .context = device};
    device->telemetry.thermostat = &device->thermostat;
    device->telemetry.firmware = &device->firmware;
    firmware_init(&device->firmware, config->flash, config->board, config->slot);
    if ((*error = secure_start(&device->secure, weir_port(loop->weir), config->tls_memory, config->tls_bytes)) != 0)
        return "TLS: ";
    if ((*error = page_begin(device, loop)) != WEIR_OK)
        return "HTTP: ";
    if ((*error = telemetry_start(&device->telemetry, loop, &telemetry)) != WEIR_OK)
        return "MQTT: ";
    if ((*error = name_start(device, loop)) != WEIR_OK)
        return "mDNS: ";
    device->thermostat.told = told;
    device->thermostat.context = device;
    thermostat_start(&device->thermostat, loop);
    return NULL;
}
