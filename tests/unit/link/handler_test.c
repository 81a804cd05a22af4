// SPDX-License-Identifier: BSD-2-Clause
#include "fixture.h"
#include "frames.h"
#include "link/handler.h"
#include "weir/handler.h"

struct seen {
    uint32_t count, length, offset;
    unsigned offload;
    bool outgoing;
    uint64_t now_us;
};

static void take_ethertype(struct weir_ethertype_handler *self, struct weir_netif *netif,
                           const struct weir_frame *frame, uint32_t offset)
{
    struct seen *seen = self->context;
    (void)netif;
    seen->count++;
    seen->length = frame->length;
    seen->offset = offset;
}

static void take_protocol(struct weir_protocol_handler *self, struct weir_netif *netif, const struct weir_frame *frame,
                          uint32_t offset, struct weir_addr source, struct weir_addr destination)
{
    struct seen *seen = self->context;
    (void)netif;
    assert_int_equal(weir_addr_to_v4(source), PEER);
    assert_int_equal(weir_addr_to_v4(destination), OURS);
    seen->count++;
    seen->length = frame->length;
    seen->offset = offset;
}

static void take_frame(struct weir_tap *self, const struct weir_netif *netif, bool outgoing,
                       const struct weir_slice *slices, uint16_t count, uint64_t now_us)
{
    struct seen *seen = self->context;
    (void)netif;
    seen->count++;
    seen->outgoing = outgoing;
    seen->offload = self->offload;
    seen->now_us = now_us;
    seen->length = 0;
    for (uint16_t i = 0; i < count; i++)
        seen->length += slices[i].length;
}

static void ethertypes(void **state)
{
    (void)state;
    struct fixture f;
    struct seen seen = {0}, other_seen = {0};
    struct weir_ethertype_handler handler = {.ethertype = 0x88b5, .input = take_ethertype, .context = &seen};
    struct weir_ethertype_handler other = {.ethertype = 0x88b6, .input = take_ethertype, .context = &other_seen},
                                  again = handler;
    struct weir_ethertype_handler ip = {.ethertype = ETHERTYPE_IP4, .input = take_ethertype},
                                  arp = {.ethertype = ETHERTYPE_ARP, .input = take_ethertype},
                                  nothing = {.ethertype = 0x88b7};
    uint8_t frame[60] = {[12] = 0x88, 0xb5};
    frames_open(&f);
    memcpy(frame, FIXTURE_MAC, 6);
    memcpy(frame + 6, FIXTURE_PEER_MAC, 6);
    assert_int_equal(weir_ethertype_register(f.weir, &handler), WEIR_OK);
    assert_int_equal(weir_ethertype_register(f.weir, &other), WEIR_OK);
    assert_int_equal(weir_ethertype_register(f.weir, &again), WEIR_IN_USE);
    assert_int_equal(weir_ethertype_register(f.weir, &ip), WEIR_IN_USE);
    assert_int_equal(weir_ethertype_register(f.weir, &arp), WEIR_IN_USE);
    assert_int_equal(weir_ethertype_register(f.weir, &nothing), WEIR_INVALID);
    fixture_input(&f, frame, sizeof frame);
    assert_int_equal(seen.count, 1);
    assert_int_equal(seen.offset, 14);
    assert_int_equal(seen.length, 60);
    assert_int_equal(other_seen.count, 0);
    weir_ethertype_unregister(f.weir, &handler);
    weir_ethertype_unregister(f.weir, &handler);
    fixture_input(&f, frame, sizeof frame);
    assert_int_equal(seen.count, 1);
    assert_int_equal(fixture_count(&f, WEIR_COUNT_ETHERNET_UNKNOWN), 1);
    frame[13] = 0xb6;
    fixture_input(&f, frame, sizeof frame);
    assert_int_equal(other_seen.count, 1);
    fixture_close(&f);
}

static void protocols(void **state)
{
    (void)state;
    struct fixture f;
    struct seen seen = {0};
    struct weir_protocol_handler handler = {.protocol = 253, .input = take_protocol, .context = &seen}, again = handler;
    struct weir_protocol_handler tcp = {.protocol = 6, .input = take_protocol},
                                 icmp = {.protocol = 1, .input = take_protocol}, nothing = {.protocol = 254};
    frames_open(&f);
    assert_int_equal(weir_protocol_register(f.weir, &handler), WEIR_OK);
    assert_int_equal(weir_protocol_register(f.weir, &again), WEIR_IN_USE);
    assert_int_equal(weir_protocol_register(f.weir, &tcp), WEIR_IN_USE);
    assert_int_equal(weir_protocol_register(f.weir, &icmp), WEIR_IN_USE);
    assert_int_equal(weir_protocol_register(f.weir, &nothing), WEIR_INVALID);
    fixture_input_ip4(&f, weir_addr_v4(PEER), weir_addr_v4(OURS), 253, "payload", 7);
    assert_int_equal(seen.count, 1);
    assert_int_equal(seen.offset, 34);
    assert_int_equal(seen.length, 41);
    weir_protocol_unregister(f.weir, &handler);
    fixture_input_ip4(&f, weir_addr_v4(PEER), weir_addr_v4(OURS), 253, "payload", 7);
    assert_int_equal(seen.count, 1);
    fixture_close(&f);
}

// A tap sees what arrives, also what nobody wants, and what a driver took; not what it refused.
static void taps(void **state)
{
    (void)state;
    struct fixture f;
    struct seen seen = {0}, second = {0};
    struct weir_tap tap = {.frame = take_frame, .context = &seen}, other = {.frame = take_frame, .context = &second};
    frames_open(&f);
    fixture_set_mode(&f, FIXTURE_PLAIN);
    weir_tap_add(f.weir, &tap);
    weir_tap_add(f.weir, &other);
    fixture_input(&f, "short", 5);
    assert_int_equal(seen.count, 1);
    assert_int_equal(seen.length, 5);
    assert_false(seen.outgoing);
    assert_int_equal(seen.now_us, f.now_us);
    frames_arp(&f, frames_all, ARP_REQUEST, FIXTURE_PEER_MAC, PEER, OURS);
    assert_int_equal(seen.count, 2);
    f.block_tx = true;
    fixture_poll(&f, 0);
    assert_int_equal(seen.count, 2);
    fixture_unblock(&f, 0);
    assert_int_equal(seen.count, 3);
    assert_true(seen.outgoing);
    assert_int_equal(seen.length, FRAME_ARP);
    assert_int_equal(second.count, 3);
    weir_tap_remove(f.weir, &tap);
    weir_tap_remove(f.weir, &tap);
    fixture_input(&f, "short", 5);
    assert_int_equal(seen.count, 3);
    assert_int_equal(second.count, 4);
    fixture_close(&f);
}

// What a device is to do of a frame, or has done, is told beside the bytes, which do not show it.
static void offload_is_told(void **state)
{
    struct fixture f;
    struct seen seen = {0};
    struct weir_tap tap = {.frame = take_frame, .context = &seen};
    const uint8_t bytes[120] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, [12] = 0x88, 0xb5};
    const struct weir_slice slice = {bytes, sizeof bytes};
    (void)state;
    frames_open(&f);
    weir_tap_add(f.weir, &tap);
    const struct weir_frame plain = {.slices = &slice, .length = slice.length, .count = 1};
    struct weir_frame merged = plain;
    merged.segments = 2;
    merged.checksum = WEIR_CHECKSUM_VERIFIED;
    weir_input(&f.netif, &merged);
    assert_int_equal(seen.offload, WEIR_TAP_CHECKSUM_VERIFIED | WEIR_TAP_SEGMENTS);
    weir_input(&f.netif, &plain);
    assert_int_equal(seen.offload, 0);
    struct weir_tx tx = {.slices = &slice, .length = slice.length, .count = 1, .header_length = 60};
    fixture_set_mode(&f, FIXTURE_PLAIN);
    f.netif.capabilities |= WEIR_NETIF_TX_CHECKSUM | WEIR_NETIF_TSO4;
    assert_int_equal(netif_hand_over(&f.netif, &tx), WEIR_TX_DONE);
    assert_true(seen.outgoing && seen.offload == 0);
    tx.checksum_start = 34;
    assert_int_equal(netif_hand_over(&f.netif, &tx), WEIR_TX_DONE);
    assert_int_equal(seen.offload, WEIR_TAP_CHECKSUM_OPEN);
    tx.segment_size = 20;
    tx.gso = WEIR_GSO_TCP4;
    assert_int_equal(netif_hand_over(&f.netif, &tx), WEIR_TX_DONE);
    assert_int_equal(seen.offload, WEIR_TAP_CHECKSUM_OPEN | WEIR_TAP_SEGMENTS);
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(ethertypes), cmocka_unit_test(protocols),
                                       cmocka_unit_test(taps), cmocka_unit_test(offload_is_told)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
