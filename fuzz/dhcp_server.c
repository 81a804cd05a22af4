// SPDX-License-Identifier: BSD-2-Clause
// The DHCP server: messages of clients. The first byte of each chooses the type, the second the client, the third what
// it says of its address; the highest bit of the fourth lets half a minute pass, and its other bits are bytes of a raw
// message that goes before.
#include "apps/bench.h"
#include "dhcp/server.h"
#include "fuzz.h"

#define POOL 4u

static void deliver(struct bench *bench, struct weir_addr from, const void *bytes, uint32_t length)
{
    uint8_t *const udp = malloc(8 + length);
    CHECK(udp != NULL);
    memcpy(udp, (const uint8_t[]){0, DHCP_CLIENT_PORT, 0, DHCP_SERVER_PORT, 0, 0, 0, 0}, 8);
    put16(udp + 4, 8 + length);
    memcpy(udp + 8, bytes, length);
    fixture_input_ip4(&bench->f, from, weir_addr_v4(0xffffffffu), 17, udp, 8 + length);
    free(udp);
    bench_run(bench, DHCP_PING_US + 1000);  // an offer goes out when nobody answers the ping
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bytes in = {data, (uint32_t)size};
    struct bench bench;
    struct dhcp_server server;
    struct dhcp_binding bindings[POOL];
    uint8_t out[DHCP_MESSAGE_MAX];
    bench_open(&bench);
    const struct dhcp_server_config config = {.netif = &bench.f.netif,
                                              .first = weir_ip4(10, 0, 0, 100),
                                              .bindings = bindings,
                                              .count = POOL,
                                              .lease_s = 100,
                                              .router = weir_ip4(10, 0, 0, 1),
                                              .dns = weir_addr_any()};
    CHECK(dhcp_server_start(&server, &bench.loop, &config) == WEIR_OK);
    while (in.left > 0) {
        struct dhcp_message message = {.op = 1, .type = take8(&in) % 8 + 1};
        const uint8_t who = take8(&in), what = take8(&in), how = take8(&in);
        const struct weir_addr address = weir_ip4(10, 0, 0, 98 + (what & 7));
        uint32_t raw = how & 0x7f;
        const uint8_t *const bytes = take(&in, &raw);
        if (raw > 0)
            deliver(&bench, weir_addr_any(), bytes, raw);
        message.mac[5] = who & 7;
        message.id_length = who & 8 ? 2 : 0;
        message.id[1] = who >> 4;
        message.requested = what & 8 ? address : weir_addr_any();
        message.ciaddr = what & 16 ? address : weir_addr_any();
        message.server_id = what & 32 ? weir_ip4(10, 0, 0, 1) : what & 64 ? weir_ip4(10, 0, 0, 9) : weir_addr_any();
        const uint32_t length = dhcp_emit(&message, out, sizeof out);
        deliver(&bench, message.ciaddr, out, length);
        if (how & 0x80)
            bench_run(&bench, 30000000);
        // nobody has two addresses
        for (uint32_t i = 0; i < POOL; i++) {
            for (uint32_t j = 0; j < i; j++)
                CHECK(bindings[i].id_length == 0 || bindings[i].id_length != bindings[j].id_length ||
                      memcmp(bindings[i].id, bindings[j].id, bindings[i].id_length) != 0 ||
                      bindings[i].state == DHCP_DECLINED || bindings[j].state == DHCP_DECLINED);
        }
    }
    dhcp_server_stop(&server);
    bench_close(&bench);
    return 0;
}
