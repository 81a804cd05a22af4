// SPDX-License-Identifier: BSD-2-Clause
// Frames between a driver's process and the server: a device that is an array, the relay, the rings, and the server's
// interface. And a driver that has gone mad: it writes anything into the memory it shares, at any time.
#include "ports/micro/frames.h"

#include <stdlib.h>

#include "fixture.h"

#define FRAMES (3 * FRAMES_SLOTS)

static struct fixture f;
static struct micro_netif netif;
static struct micro_relay relay;
static struct weir_netif device;
static struct frames *frames;
static uint32_t rung_server, rung_driver, seed;
static uint8_t waiting[FRAMES][FRAMES_BYTES], sent[FRAMES][FRAMES_BYTES];
static uint32_t waiting_length[FRAMES], sent_length[FRAMES], waiting_count, delivered, sent_count, device_room;

static uint32_t random_word(void) { return seed = seed * 1664525u + 1013904223u, seed >> 8 ^ seed << 16; }

static enum weir_tx_verdict device_tx(struct weir_netif *unused, const struct weir_tx *tx)
{
    (void)unused;
    if (!device_room)
        return WEIR_TX_FULL;
    device_room--;
    assert_int_equal(tx->count, 1);
    assert_in_range(tx->length, 1, FRAMES_BYTES);
    memcpy(sent[sent_count % FRAMES], tx->slices[0].data, tx->length);
    sent_length[sent_count++ % FRAMES] = tx->length;
    return WEIR_TX_DONE;
}

static int device_poll(struct weir_netif *own, int budget)
{
    int count = 0;
    for (; count < budget && delivered < waiting_count; count++, delivered++) {
        const struct weir_slice slice = {waiting[delivered], waiting_length[delivered]};
        weir_netif_deliver(own, &(struct weir_frame){.slices = &slice, .length = slice.length, .count = 1});
    }
    if (device_room)
        weir_netif_ready(own);
    return count;
}
static const struct weir_driver device_driver = {.name = "device", .tx = device_tx, .poll = device_poll};

static void ring_server(void *context) { (void)context, rung_server++; }
static void ring_driver(void *context) { (void)context, rung_driver++; }

static int setup(void **state)
{
    static const uint8_t mac[6] = {2, 0, 0, 0, 0, 9};
    (void)state;
    seed = 7;
    rung_server = rung_driver = waiting_count = delivered = sent_count = 0;
    device_room = 1000;
    fixture_open(&f, &weir_link_ethernet, weir_ip4(10, 0, 0, 1), 24, 0);
    frames = calloc(1, sizeof *frames);
    weir_netif_init(&device, "dev", &device_driver, &weir_link_ethernet);
    memcpy(device.mac, mac, 6);
    micro_relay_init(&relay, &device, frames, ring_server, NULL);
    micro_netif_init(&netif, "eth0", ring_driver, NULL);
    micro_netif_attach(&netif, frames);
    assert_memory_equal(netif.netif.mac, mac, 6);
    assert_int_equal(weir_netif_add(f.weir, &netif.netif), WEIR_OK);
    assert_int_equal(weir_netif_set_address(&netif.netif, weir_ip4(10, 7, 0, 1), 24, WEIR_ADDRESS_AT_ONCE), WEIR_OK);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    weir_netif_remove(&netif.netif);
    fixture_close(&f);
    free(frames);
    return 0;
}

// An ARP request of 10.7.0.2 for 10.7.0.1.
static void ask(void)
{
    static const uint8_t request[42] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0, 0,  5, 8, 6,
                                        0,    1,    8,    0,    6,    4,    0, 1, 2, 0, 0,  0, 0, 5,
                                        10,   7,    0,    2,    0,    0,    0, 0, 0, 0, 10, 7, 0, 1};
    memcpy(waiting[waiting_count], request, sizeof request);
    waiting_length[waiting_count++] = sizeof request;
}

static uint32_t answers(void)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < sent_count && i < FRAMES; i++)
        count += sent_length[i] >= 42 && sent[i][12] == 8 && sent[i][13] == 6 && sent[i][21] == 2;
    return count;
}

static void server_turn(void)
{
    while (micro_netif_poll(&netif, 8) == 8)
        ;
    (void)fixture_poll(&f, 1000);
}

static void frames_pass_both_ways(void **state)
{
    (void)state;
    ask();
    assert_int_equal(atomic_load(&frames->server_attention), 1);
    (void)micro_relay_turn(&relay, 0);
    assert_int_equal(rung_server, 1);
    assert_true(micro_relay_rest(&relay));
    server_turn();
    assert_true(rung_driver > 0);
    assert_false(micro_relay_rest(&relay));
    (void)micro_relay_turn(&relay, 0);
    assert_int_equal(answers(), 1);
    assert_true(micro_relay_rest(&relay));
    assert_true(micro_netif_rest(&netif));
}

// One notification, however many frames.
static void notifications_are_coalesced(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 10; i++)
        ask();
    while (micro_relay_turn(&relay, 0) == 0)
        ;
    assert_int_equal(rung_server, 1);
    server_turn();
    assert_int_equal(netif.netif.stats.rx_frames, 10);
}

// With the ring full the device keeps what it has, and the driver is rung when the server took some.
static void a_flood_stops_at_the_ring(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < FRAMES; i++)
        ask();
    (void)micro_relay_rest(&relay);
    for (uint32_t i = 0; i < 40; i++)
        (void)micro_relay_turn(&relay, 0);
    assert_int_equal(delivered, FRAMES_SLOTS);
    assert_int_equal(device.stats.rx_dropped, 0);
    assert_int_equal(atomic_load(&frames->stalled), 1);
    assert_true(micro_relay_rest(&relay));
    rung_driver = 0;
    (void)micro_netif_poll(&netif, 8);
    assert_int_equal(rung_driver, 1);
    assert_false(micro_relay_rest(&relay));
    for (uint32_t i = 0; i < 40; i++) {
        (void)micro_relay_turn(&relay, 0);
        server_turn();
    }
    assert_int_equal(delivered, FRAMES);
    assert_int_equal(netif.netif.stats.rx_frames, FRAMES);
}

static void a_full_device_keeps_the_frames_in_order(void **state)
{
    (void)state;
    (void)micro_relay_turn(&relay, 0);
    server_turn();
    (void)micro_relay_turn(&relay, 0);
    device_room = 0;
    const uint32_t before = sent_count;
    for (uint32_t i = 0; i < FRAMES; i++)
        ask();
    for (uint32_t i = 0; i < 40; i++) {
        (void)micro_relay_turn(&relay, 0);
        server_turn();
    }
    assert_int_equal(sent_count, before);
    assert_true(netif.netif.flags & WEIR_NETIF_TX_BLOCKED);
    for (uint32_t i = 0; i < 2 * FRAMES; i++) {
        device_room = 2;
        (void)micro_relay_turn(&relay, 0);
        server_turn();
    }
    assert_true(sent_count > before + FRAMES_SLOTS);
    assert_false(netif.netif.flags & WEIR_NETIF_TX_BLOCKED);
}

// A device that delivers what there is no room for, and what is too long for a slot.
static void what_finds_no_slot_is_dropped(void **state)
{
    (void)state;
    static uint8_t bytes[FRAMES_BYTES + 1];
    struct weir_slice slice = {bytes, FRAMES_BYTES + 1};
    weir_netif_deliver(&device, &(struct weir_frame){.slices = &slice, .length = slice.length, .count = 1});
    assert_int_equal(device.stats.rx_dropped, 1);
    assert_int_equal(atomic_load(&frames->received), 0);
    slice.length = FRAMES_BYTES;
    for (uint32_t i = 0; i <= FRAMES_SLOTS; i++)
        weir_netif_deliver(&device, &(struct weir_frame){.slices = &slice, .length = slice.length, .count = 1});
    assert_int_equal(device.stats.rx_dropped, 2);
    assert_int_equal(atomic_load(&frames->received), FRAMES_SLOTS);
    (void)micro_relay_turn(&relay, 0);  // does not look at the device: the ring is full
    assert_int_equal(atomic_load(&frames->stalled), 1);
    server_turn();
    assert_int_equal(netif.netif.stats.rx_frames, FRAMES_SLOTS);
}

static uint32_t flushes;
static void device_flush(struct weir_netif *unused) { (void)unused, flushes++; }
static uint64_t device_timer(struct weir_netif *unused, uint64_t now_us) { return (void)unused, now_us + 500; }

// What a driver may have beside tx and poll; and a server that has gone mad does not reach it.
static void a_drivers_own_functions_are_called(void **state)
{
    static const struct weir_driver whole = {
        .name = "whole", .tx = device_tx, .poll = device_poll, .flush = device_flush, .timer = device_timer};
    (void)state;
    device.driver = &whole;
    flushes = 0;
    assert_int_equal(micro_relay_turn(&relay, 1000), 1500);
    assert_int_equal(flushes, 0);
    ask();
    while (micro_relay_turn(&relay, 1000) <= 1000)
        ;
    server_turn();
    while (micro_relay_turn(&relay, 1000) <= 1000)
        ;
    assert_int_equal(answers(), 1);
    assert_true(flushes > 0);
    // No frame is that long, or has no length: such slots are passed over.
    const uint32_t before = sent_count, at = atomic_load(&frames->queued);
    frames->out[at % FRAMES_SLOTS].length = FRAMES_BYTES + 1;
    frames->out[(at + 1) % FRAMES_SLOTS].length = 0;
    frames->out[(at + 2) % FRAMES_SLOTS].length = 60;
    atomic_store(&frames->queued, at + 3);
    (void)micro_relay_turn(&relay, 1000);
    assert_int_equal(sent_count, before + 1);
    assert_int_equal(sent_length[before], 60);
    assert_int_equal(atomic_load(&frames->transmitted), at + 3);
    weir_netif_complete(&device, NULL, 0);  // nothing was held
}

// Before it sleeps the server looks once more at all that may have come.
static void nothing_is_slept_over(void **state)
{
    (void)state;
    server_turn();
    assert_true(micro_netif_rest(&netif));
    atomic_store(&frames->carrier, 0);
    assert_false(micro_netif_rest(&netif));
    server_turn();
    assert_true(micro_netif_rest(&netif));
    atomic_store(&frames->carrier, 1);
    server_turn();
    ask();
    (void)micro_relay_turn(&relay, 0);
    assert_false(micro_netif_rest(&netif));
    server_turn();
    device_room = 0;  // the ring to the driver fills
    for (uint32_t i = 0; i < FRAMES_SLOTS + 8; i++) {
        waiting_count = delivered = 0;
        ask();
        (void)micro_relay_turn(&relay, 0);
        server_turn();
    }
    assert_true(netif.netif.flags & WEIR_NETIF_TX_BLOCKED);
    assert_int_equal(atomic_load(&frames->waiting), 1);
    assert_true(micro_netif_rest(&netif));
    device_room = 1000;
    rung_server = 0;
    (void)micro_relay_turn(&relay, 0);  // blocked until the device says that there is room
    (void)micro_relay_turn(&relay, 0);
    assert_int_equal(rung_server, 1);
    assert_false(micro_netif_rest(&netif));
    server_turn();
    assert_false(netif.netif.flags & WEIR_NETIF_TX_BLOCKED);
    micro_netif_attach(&netif, NULL);
    assert_true(micro_netif_rest(&netif));
    (void)fixture_poll(&f, 1000000);  // what is sent goes nowhere
    micro_netif_attach(&netif, frames);
}

// An MTU that cannot be is 1500; a link address is one of a host.
static void what_a_driver_says_of_itself_is_looked_at(void **state)
{
    static const uint32_t said[] = {0, 575, 576, 1499, 1500, 9000, UINT32_MAX};
    static const uint16_t taken[] = {1500, 1500, 576, 1499, 1500, 1500, 1500};
    (void)state;
    for (uint32_t i = 0; i < sizeof said / sizeof said[0]; i++) {
        static struct micro_netif other;
        static struct frames shown;
        shown.mtu = said[i];
        memset(shown.mac, 0xff, sizeof shown.mac);
        micro_netif_init(&other, "eth1", ring_driver, NULL);
        micro_netif_attach(&other, &shown);
        assert_int_equal(other.netif.mtu, taken[i]);
        assert_int_equal(other.netif.mac[0], 0xfe);
    }
}

static void the_link_goes_and_comes(void **state)
{
    (void)state;
    weir_netif_carrier(&device, false);
    (void)micro_relay_turn(&relay, 0);
    server_turn();
    assert_false(netif.netif.flags & WEIR_NETIF_LINK);
    weir_netif_carrier(&device, true);
    (void)micro_relay_turn(&relay, 0);
    server_turn();
    assert_true(netif.netif.flags & WEIR_NETIF_LINK);
    // The driver dies, and another comes.
    micro_netif_attach(&netif, NULL);
    memset(frames, 0xa5, sizeof *frames);
    server_turn();
    assert_false(netif.netif.flags & WEIR_NETIF_LINK);
    memset(frames, 0, sizeof *frames);
    micro_relay_init(&relay, &device, frames, ring_server, NULL);
    micro_netif_attach(&netif, frames);
    waiting_count = delivered = sent_count = 0;
    ask();
    (void)micro_relay_turn(&relay, 0);
    server_turn();
    (void)micro_relay_turn(&relay, 0);
    assert_int_equal(answers(), 1);
}

static void a_mad_driver_reaches_nothing(void **state)
{
    (void)state;
    for (uint32_t round = 0; round < 20000; round++) {
        uint32_t *const words = (uint32_t *)(void *)frames;
        const uint32_t bytes = random_word() % 64;
        const size_t at = random_word() % (sizeof *frames - 64);
        switch (random_word() % 4) {
        case 0: words[random_word() % 12] = random_word() % 2 ? random_word() : random_word() % 40; break;
        case 1:
            frames->in[random_word() % FRAMES_SLOTS].length = random_word() % 2 ? random_word() : random_word() % 1600;
            break;
        case 2:
            for (uint32_t i = 0; i < bytes; i++)
                ((uint8_t *)frames)[at + i] = (uint8_t)random_word();
            break;
        default: {  // a frame that begins well
            struct frames_slot *slot = &frames->in[random_word() % FRAMES_SLOTS];
            static const uint8_t begin[15] = {2, 0, 0, 0, 0, 9, 2, 0, 0, 0, 0, 5, 8, 0, 0x45};
            memcpy(slot->frame, begin, sizeof begin);
            slot->length = 20 + random_word() % 1500;
            atomic_store(&frames->received, atomic_load(&frames->received) + 1);
        }
        }
        assert_in_range(micro_netif_poll(&netif, 8), 0, 8);
        if (round % 16 == 0)
            (void)fixture_poll(&f, 100);
        (void)micro_netif_rest(&netif);
    }
    memset(frames, 0, sizeof *frames);
    micro_relay_init(&relay, &device, frames, ring_server, NULL);
    micro_netif_attach(&netif, frames);
    sent_count = 0;
    ask();
    (void)micro_relay_turn(&relay, 0);
    server_turn();
    (void)micro_relay_turn(&relay, 0);
    assert_true(answers() > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(frames_pass_both_ways, setup, teardown),
        cmocka_unit_test_setup_teardown(notifications_are_coalesced, setup, teardown),
        cmocka_unit_test_setup_teardown(a_flood_stops_at_the_ring, setup, teardown),
        cmocka_unit_test_setup_teardown(a_full_device_keeps_the_frames_in_order, setup, teardown),
        cmocka_unit_test_setup_teardown(what_finds_no_slot_is_dropped, setup, teardown),
        cmocka_unit_test_setup_teardown(a_drivers_own_functions_are_called, setup, teardown),
        cmocka_unit_test_setup_teardown(nothing_is_slept_over, setup, teardown),
        cmocka_unit_test_setup_teardown(what_a_driver_says_of_itself_is_looked_at, setup, teardown),
        cmocka_unit_test_setup_teardown(the_link_goes_and_comes, setup, teardown),
        cmocka_unit_test_setup_teardown(a_mad_driver_reaches_nothing, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
