// SPDX-License-Identifier: BSD-2-Clause
// The thermostat as a program of this machine, on a TAP at 10.0.0.2, its broker at 10.0.0.1; it takes no firmware.
// As root: build/host/examples/thermostat/thermostat tap0 & ip addr add 10.0.0.1/24 dev tap0
#include <stdio.h>

#include "drivers/tap.h"
#include "examples/thermostat/device.h"
#include "ports/posix/posix.h"

#define BROKER_NAME "10.0.0.1"

static uint64_t turn(void *loop, uint64_t now_us) { return loop_run(loop, now_us); }

static void named(const char *host)
{
    printf("thermostat: https://%s.local/\n", host);
    fflush(stdout);
}

static bool interface_start(struct posix_host *host, struct weir *weir, struct tap *tap, struct weir_netif *netif)
{
    posix_host_attach(host, weir);
    tap_attach(tap, netif, "eth0");
    return weir_netif_add(weir, netif) >= 0 &&
           weir_netif_set_address(netif, weir_ip4(10, 0, 0, 2), 24, WEIR_ADDRESS_AT_ONCE) >= 0 &&
           posix_host_add(host, netif, tap_fd(tap)) == 0;
}

int main(int argc, char **argv)
{
    static struct tap tap;
    static struct posix_host host;
    static struct weir_netif netif;
    static struct loop loop;
    static struct device device;
    const struct device_config config = {
        .netif = &netif, .broker = weir_ip4(10, 0, 0, 1), .broker_name = BROKER_NAME, .named = named};
    int error = WEIR_OK;
    if (argc != 2) {
        fputs("usage: thermostat TAP\n", stderr);
        return 2;
    }
    if (tap_open(&tap, argv[1], TAP_UP) < 0 ||
        posix_host_init(&host, &(struct posix_options){.turn = turn, .context = &loop}) != 0) {
        fprintf(stderr, "thermostat: %s\n", tap_error(&tap));
        return 1;
    }
    struct weir *const weir = weir_create(NULL, 0, &host.port, NULL);
    if (weir == NULL || !interface_start(&host, weir, &tap, &netif)) {
        fputs("thermostat: no memory, or no interface\n", stderr);
        return 1;
    }
    loop_init(&loop, weir);
    const char *const failed = device_start(&device, &loop, &config, &error);
    if (failed != NULL) {
        fprintf(stderr, "thermostat: it cannot start: %s%s\n", failed, weir_tls_error_name(error));
        return 1;
    }
    for (;;)
        posix_host_poll(&host, -1);
}
