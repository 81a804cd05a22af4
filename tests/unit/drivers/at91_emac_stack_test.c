// SPDX-License-Identifier: BSD-2-Clause
// Two instances, each over the AT91RM9200's driver and a model of its MAC, on one wire: what they send arrives, woken
// by interrupts alone, also where buffers run out, frames are lost in the transmitter and the bus is late.
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "drivers/at91_emac.h"
#include "drivers/at91_emac_model.h"
#include "weir/instance.h"
#include "weir/socket.h"

#define STEP_US 100u  // a full frame and its gap take 123 µs at 100 Mbit/s
#define BUDGET 4

static struct node {
    struct at91_emac_model chip;
    struct at91_emac device;
    struct at91_emac_ring ring;
    struct at91_emac_board board;
    struct weir_netif netif;
    struct weir *weir;
    bool awake;
    uint64_t deadline_us;
    uint32_t slowness;  // it runs in one step of so many
    uint32_t no_buffer, late, interrupts;
} nodes[2];
static uint64_t now_us;
static uint32_t steps, fail_one_in;  // frames that end badly, on the wire or on the bus

static void *allocate(void *context, size_t bytes) { return (void)context, malloc(bytes); }
static void release(void *context, void *memory, size_t bytes) { (void)context, (void)bytes, free(memory); }
static void entropy(void *context, void *out, size_t bytes)
{
    for (uint8_t *to = out; bytes--; to++)
        *to = (uint8_t)((*(uint32_t *)context = *(uint32_t *)context * 1103515245u + 12345u) >> 16);
}
static uint32_t seed = 1;
static const struct weir_port port = {.context = &seed, .alloc = allocate, .free = release, .entropy = entropy};

#define ADDRESS(i) weir_ip4(10, 0, 0, (uint8_t)((i) + 1))

static int setup(void **state)
{
    static const struct weir_config config;
    (void)state;
    at91_emac_model_close();
    memset(nodes, 0, sizeof nodes);
    now_us = 1000000;
    steps = fail_one_in = 0;
    for (uint32_t i = 0; i < 2; i++) {
        struct node *node = &nodes[i];
        node->board = (struct at91_emac_board){.base = 0xfffbc000u + 0x4000u * i,
                                               .ring = &node->ring,
                                               .mac = {2, 0, 0, 0, 0, (uint8_t)(i + 1)},
                                               .device_address = at91_emac_model_address,
                                               .clean = at91_emac_model_clean,
                                               .invalidate = at91_emac_model_invalidate};
        node->slowness = 1;
        at91_emac_model_open(&node->chip, node->board.base);
        memset(&node->device, 0x5c, sizeof node->device);
        at91_emac_model_share(&node->device, sizeof node->device, true);
        at91_emac_model_share(&node->ring, sizeof node->ring, false);
        node->weir = weir_create(NULL, 0, &port, &config);
        assert_non_null(node->weir);
        weir_clock(node->weir, now_us);
        at91_emac_open(&node->device, &node->board);
        at91_emac_attach(&node->device, &node->netif, "eth0");
        assert_int_equal(weir_netif_add(node->weir, &node->netif), WEIR_OK);
        assert_int_equal(weir_netif_set_address(&node->netif, ADDRESS(i), 24, WEIR_ADDRESS_AT_ONCE), WEIR_OK);
    }
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 2; i++)
        weir_destroy(nodes[i].weir);
    at91_emac_model_close();
    return 0;
}

// As a port does it: nothing but the interrupt line, the deadline or the application makes it run.
static void run(struct node *node)
{
    if (at91_emac_model_line(&node->chip)) {
        at91_emac_interrupt(&node->device);
        assert_false(at91_emac_model_line(&node->chip));
        node->interrupts++;
        node->awake = true;
    }
    if (!node->awake && now_us < node->deadline_us && !weir_output_pending(node->weir))
        return;
    weir_clock(node->weir, now_us);
    if (node->awake)
        node->awake = node->netif.driver->poll(&node->netif, BUDGET) == BUDGET;
    node->deadline_us = weir_poll(node->weir, now_us);
}

static void carry(struct node *from, struct node *to)
{
    const bool bad = fail_one_in && (steps * 2654435761u >> 8) % fail_one_in == 0;
    if (!at91_emac_model_sent(&from->chip, !bad           ? AT91_EMAC_MODEL_OK
                                           : steps & 1024 ? AT91_EMAC_MODEL_UNDERRUN
                                                          : AT91_EMAC_MODEL_RETRY_LIMIT) ||
        bad)
        return;
    enum at91_emac_model_verdict verdict;
    if (fail_one_in && (steps * 2246822519u >> 8) % fail_one_in == 0)
        verdict = at91_emac_model_receive_late(&to->chip, from->chip.wire, from->chip.wire_length);
    else
        verdict = at91_emac_model_receive(&to->chip, from->chip.wire, from->chip.wire_length);
    to->no_buffer += verdict == AT91_EMAC_MODEL_NO_BUFFER;
    to->late += verdict == AT91_EMAC_MODEL_OVERRUN;
}

static void step(void)
{
    for (uint32_t i = 0; i < 2; i++)
        if (steps % nodes[i].slowness == 0)
            run(&nodes[i]);
    carry(&nodes[0], &nodes[1]);
    carry(&nodes[1], &nodes[0]);
    steps++;
    now_us += STEP_US;
}

static void requests_are_answered(void **state)
{
    uint8_t request[8 + 1400] = {8};
    struct weir_message message = {.peer = {ADDRESS(1), 0}};
    struct weir_slice answer = {NULL, 0};
    (void)state;
    const weir_socket s = weir_socket_open(nodes[0].weir, WEIR_ICMP, 0);
    assert_true(s > 0);
    for (uint32_t i = 0; i < 1400; i++)
        request[8 + i] = (uint8_t)(i * 13);
    for (uint32_t bytes = 0; bytes <= 1400; bytes += 35) {
        const struct weir_slice slice = {request, 8 + bytes};
        request[7] = (uint8_t)(bytes / 35);
        assert_int_equal(weir_socket_send_message(nodes[0].weir, s, &message, &slice, 1), 8 + bytes);
        int got = WEIR_AGAIN;
        for (uint32_t i = 0; i < 100 && got == WEIR_AGAIN; i++) {
            step();
            got = weir_socket_peek_message(nodes[0].weir, s, &message, &answer);
        }
        assert_int_equal(got, 8 + bytes);  // the padding of short frames is cut by the IP length
        assert_int_equal(answer.data[0], 0);
        assert_int_equal(answer.data[7], request[7]);
        assert_memory_equal(answer.data + 8, request + 8, bytes);
        assert_int_equal(weir_socket_discard(nodes[0].weir, s), WEIR_OK);
        message = (struct weir_message){.peer = {ADDRESS(1), 0}};
    }
    assert_int_equal(nodes[0].netif.stats.rx_dropped + nodes[1].netif.stats.rx_dropped, 0);
}

#define STREAM_BYTES 1000000u

// From node 0 to node 1; gives the time it took.
static uint64_t transfer(void)
{
    uint8_t bytes[4096];
    uint32_t written = 0, read = 0;
    const struct weir_endpoint local = {weir_addr_any(), 7}, peer = {ADDRESS(1), 7};
    const weir_socket listener = weir_socket_open(nodes[1].weir, WEIR_STREAM, 0);
    assert_int_equal(weir_socket_bind(nodes[1].weir, listener, &local), WEIR_OK);
    assert_int_equal(weir_socket_listen(nodes[1].weir, listener, 1), WEIR_OK);
    const weir_socket client = weir_socket_open(nodes[0].weir, WEIR_STREAM, 0);
    assert_int_equal(weir_socket_connect(nodes[0].weir, client, &peer), WEIR_IN_PROGRESS);
    weir_socket server = WEIR_AGAIN;
    const uint64_t began_us = now_us;
    while (read < STREAM_BYTES) {
        step();
        assert_true(now_us - began_us < 120000000u);
        if (server == WEIR_AGAIN)
            server = weir_socket_accept(nodes[1].weir, listener);
        uint32_t want = STREAM_BYTES - written < sizeof bytes ? STREAM_BYTES - written : (uint32_t)sizeof bytes;
        for (uint32_t i = 0; i < want; i++)
            bytes[i] = (uint8_t)((written + i) * 2654435761u >> 13);
        int moved = want ? weir_socket_write(nodes[0].weir, client, bytes, want) : 0;
        if (moved > 0)
            written += (uint32_t)moved;
        moved = server > 0 ? weir_socket_read(nodes[1].weir, server, bytes, sizeof bytes) : 0;
        for (int i = 0; i < moved; i++)
            assert_int_equal(bytes[i], (uint8_t)((read + (uint32_t)i) * 2654435761u >> 13));
        if (moved > 0)
            read += (uint32_t)moved;
    }
    assert_int_equal(read, written);
    return now_us - began_us;
}

static void a_stream_goes_through(void **state)
{
    (void)state;
    (void)transfer();
    assert_int_equal(nodes[0].device.counters.tx_errors + nodes[1].device.counters.tx_errors, 0);
    assert_int_equal(nodes[1].no_buffer, 0);
    assert_true(nodes[1].interrupts > 0 && nodes[0].interrupts > 0);
}

// The receiver runs so seldom that its buffers run out, frames die in the transmitter and on the bus, and the part
// behaves in the worst of the ways it might.
static void a_stream_goes_through_a_bad_part(void **state)
{
    (void)state;
    fail_one_in = 50;
    nodes[1].slowness = 20;
    for (uint32_t i = 0; i < 2; i++)
        nodes[i].chip.quirks = (struct at91_emac_model_quirks){true, i != 0, true};
    (void)transfer();
    assert_true(nodes[1].no_buffer > 0);
    assert_true(nodes[1].late > 0);
    assert_true(nodes[1].device.counters.no_buffer > 0 && nodes[1].device.counters.no_buffer <= nodes[1].no_buffer);
    assert_true(nodes[1].device.counters.overruns > 0 && nodes[1].device.counters.overruns <= nodes[1].late);
    // All but what is still in the transmitter's status.
    assert_in_range(nodes[0].chip.transmit_errors - nodes[0].device.counters.tx_errors, 0, 1);
    assert_true(nodes[0].device.counters.tx_errors > 0);
    assert_int_equal(nodes[1].device.counters.rx_bad, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(requests_are_answered, setup, teardown),
        cmocka_unit_test_setup_teardown(a_stream_goes_through, setup, teardown),
        cmocka_unit_test_setup_teardown(a_stream_goes_through_a_bad_part, setup, teardown),
    };
    return cmocka_run_group_tests_name("drivers/at91_emac_stack", tests, NULL, NULL);
}
