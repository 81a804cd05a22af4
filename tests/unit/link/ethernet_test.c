// SPDX-License-Identifier: BSD-2-Clause
// profiles: small
#include "built.h"
#include "fixture.h"
#include "frames.h"
#include "weir/handler.h"

#define EXPERIMENTAL 0x88b5u  // IEEE 802: local experimental ethertype 1

static uint32_t seen;

static void take(struct weir_ethertype_handler *self, struct weir_netif *netif, const struct weir_frame *frame,
                 uint32_t offset)
{
    (void)self, (void)netif;
    assert_in_range(offset, 14, frame->length);
    seen++;
}

static struct weir_ethertype_handler handler = {.ethertype = EXPERIMENTAL, .input = take};

static void open(struct fixture *f, uint16_t vlan)
{
    const struct fixture_options options = {.address = weir_addr_v4(OURS), .vlan = vlan};
    assert_true(fixture_open_with(f, &options));
    if (WEIR_CFG_HANDLERS)
        assert_int_equal(weir_ethertype_register(f->weir, &handler), WEIR_OK);
    seen = 0;
}

// vlan -1: untagged.
static void send_frame(struct fixture *f, const uint8_t *destination, const uint8_t *source, int vlan, uint16_t type)
{
    uint8_t bytes[64] = {0};
    const struct ethernet header = {.destination = destination,
                                    .source = source,
                                    .type = type,
                                    .vlan = (uint16_t)(vlan < 0 ? 0 : vlan),
                                    .tagged = vlan >= 0};
    uint8_t *head = ethernet_emit(bytes + 18, &header);
    fixture_input(f, head, (uint32_t)(bytes + sizeof bytes - head));
}

static void destinations(void **state)
{
    (void)state;
    static const uint8_t other[6] = {2, 0, 0, 0, 0, 9}, multicast[6] = {1, 0, 0x5e, 0, 0, 1},
                         group[6] = {3, 0, 0, 0, 0, 9};
    struct fixture f;
    open(&f, 0);
    send_frame(&f, FIXTURE_MAC, FIXTURE_PEER_MAC, -1, EXPERIMENTAL);
    assert_int_equal(seen, 1);
    send_frame(&f, frames_all, FIXTURE_PEER_MAC, -1, EXPERIMENTAL);
    assert_int_equal(seen, 2);
    send_frame(&f, multicast, FIXTURE_PEER_MAC, -1, EXPERIMENTAL);
    assert_int_equal(seen, 3);
    send_frame(&f, other, FIXTURE_PEER_MAC, -1, EXPERIMENTAL);
    send_frame(&f, FIXTURE_MAC, group, -1, EXPERIMENTAL);
    send_frame(&f, FIXTURE_MAC, frames_all, -1, EXPERIMENTAL);
    assert_int_equal(seen, 3);
    assert_int_equal(fixture_count(&f, WEIR_COUNT_ETHERNET_OTHER), 3);
    assert_int_equal(f.netif.stats.rx_unknown, 3);
    send_frame(&f, FIXTURE_MAC, FIXTURE_PEER_MAC, -1, EXPERIMENTAL + 1);
    assert_int_equal(fixture_count(&f, WEIR_COUNT_ETHERNET_UNKNOWN), 1);
    weir_netif_set_up(&f.netif, false);
    send_frame(&f, FIXTURE_MAC, FIXTURE_PEER_MAC, -1, EXPERIMENTAL);
    assert_int_equal(seen, 3);
    fixture_close(&f);
}

static void vlans(void **state)
{
    (void)state;
    struct fixture f;
    open(&f, 0);
    send_frame(&f, FIXTURE_MAC, FIXTURE_PEER_MAC, 0, EXPERIMENTAL);  // a priority tag is no VLAN
    assert_int_equal(seen, 1);
    send_frame(&f, FIXTURE_MAC, FIXTURE_PEER_MAC, 5, EXPERIMENTAL);
    assert_int_equal(seen, 1);
    assert_int_equal(fixture_count(&f, WEIR_COUNT_ETHERNET_OTHER), 1);
    fixture_close(&f);
    open(&f, 5);
    send_frame(&f, FIXTURE_MAC, FIXTURE_PEER_MAC, 5, EXPERIMENTAL);
    assert_int_equal(seen, 1);
    send_frame(&f, FIXTURE_MAC, FIXTURE_PEER_MAC, -1, EXPERIMENTAL);
    send_frame(&f, FIXTURE_MAC, FIXTURE_PEER_MAC, 0, EXPERIMENTAL);
    send_frame(&f, FIXTURE_MAC, FIXTURE_PEER_MAC, 6, EXPERIMENTAL);
    send_frame(&f, FIXTURE_MAC, FIXTURE_PEER_MAC, 4095, EXPERIMENTAL);
    assert_int_equal(seen, 1);
    assert_int_equal(fixture_count(&f, WEIR_COUNT_ETHERNET_OTHER), 4);
    fixture_close(&f);
}

// SECURITY.md, runt frames: shorter than the link header; 14+1 bytes of IPv6 and of IPv4.
static void runts(void **state)
{
    (void)state;
    struct fixture f;
    uint8_t bytes[19] = {0};
    open(&f, 0);
    memcpy(bytes, FIXTURE_MAC, 6);
    memcpy(bytes + 6, FIXTURE_PEER_MAC, 6);
    for (uint32_t length = 1; length < 14; length++)
        fixture_input(&f, bytes, length);
    assert_int_equal(fixture_count(&f, WEIR_COUNT_ETHERNET_RUNT), 13);
    put16(bytes + 12, ETHERTYPE_VLAN);
    for (uint32_t length = 14; length < 18; length++)
        fixture_input(&f, bytes, length);
    const uint32_t runts = WEIR_CFG_VLAN ? 17 : 13;
    assert_int_equal(fixture_count(&f, WEIR_COUNT_ETHERNET_RUNT), runts);
    assert_int_equal(f.netif.stats.rx_runt, runts);
    put16(bytes + 12, 0x88b6);  // for local experiments (IEEE 802)
    fixture_input(&f, bytes, 15);
    assert_int_equal(fixture_count(&f, WEIR_COUNT_ETHERNET_UNKNOWN), 1 + 17 - runts);
    put16(bytes + 12, ETHERTYPE_IP4);
    fixture_input(&f, bytes, 14);
    fixture_input(&f, bytes, 15);
    assert_int_equal(fixture_count(&f, WEIR_COUNT_IP_BAD_HEADER), 2);
    fixture_close(&f);
}

static void assert_sent_to(struct fixture *f, const uint8_t mac[6])
{
    uint32_t length;
    assert_int_equal(fixture_sent_count(f), 1);
    const uint8_t *frame = fixture_sent(f, 0, &length);
    assert_int_equal(length, 14 + 20 + 5);
    assert_memory_equal(frame, mac, 6);
    assert_memory_equal(frame + 6, FIXTURE_MAC, 6);
    assert_int_equal(get16(frame + 12), ETHERTYPE_IP4);
    assert_memory_equal(frame + 14, "network header here.hello", 25);
    assert_int_equal(fixture_sent_frame(f, 0)->header_length, 14 + 20);
    fixture_clear(f);
}

// RFC 1112 §6.4, RFC 1122 §3.3.6.
static void groups_need_no_resolution(void **state)
{
    (void)state;
    struct fixture f;
    struct path path = {0};
    fixture_open(&f, &weir_link_ethernet, weir_addr_v4(OURS), 24, 0);
    fixture_set_mode(&f, FIXTURE_PLAIN);
    assert_int_equal(frames_output(&f, &path, 0xffffffff, "hello", 5, NULL), WEIR_TX_DONE);
    assert_sent_to(&f, frames_all);
    assert_int_equal(frames_output(&f, &path, 0xe0000001, "hello", 5, NULL), WEIR_TX_DONE);
    assert_sent_to(&f, (const uint8_t[6]){1, 0, 0x5e, 0, 0, 1});
    assert_int_equal(frames_output(&f, &path, 0xefffffff, "hello", 5, NULL), WEIR_TX_DONE);
    assert_sent_to(&f, (const uint8_t[6]){1, 0, 0x5e, 0x7f, 0xff, 0xff});
    fixture_know_peer(&f, weir_addr_v4(PEER));
    assert_int_equal(frames_output(&f, &path, PEER, "hello", 5, NULL), WEIR_TX_DONE);
    assert_sent_to(&f, FIXTURE_PEER_MAC);
    fixture_close(&f);
}

// A tag moves everything behind it, also where the device begins to sum.
static void tagged_output(void **state)
{
    (void)state;
    const struct fixture_options options = {
        .address = weir_addr_v4(OURS), .vlan = 0x123, .mode = FIXTURE_PLAIN, .capabilities = WEIR_NETIF_TX_CHECKSUM};
    struct fixture f;
    uint32_t length;
    assert_true(fixture_open_with(&f, &options));
    fixture_know_peer(&f, weir_addr_v4(PEER));
    struct path path = {.netif = &f.netif, .next_hop = weir_addr_v4(PEER)};
    struct packet_out out;
    packet_out_init(&out);
    memset(packet_out_header(&out, 40), 7, 40);
    out.tx.checksum_start = 20;
    out.tx.checksum_offset = 16;
    assert_int_equal(f.netif.link->output(&f.netif, &path, ETHERTYPE_IP4, &out, NULL), WEIR_TX_DONE);
    const uint8_t *frame = fixture_sent(&f, 0, &length);
    assert_int_equal(length, 18 + 40);
    assert_int_equal(get16(frame + 12), ETHERTYPE_VLAN);
    assert_int_equal(get16(frame + 14), 0x123);
    assert_int_equal(get16(frame + 16), ETHERTYPE_IP4);
    assert_int_equal(fixture_sent_frame(&f, 0)->checksum_start, 38);
    assert_int_equal(fixture_sent_frame(&f, 0)->checksum_offset, 16);
    fixture_close(&f);
}

static void receive_filter(void **state)
{
    (void)state;
    struct fixture f;
    frames_open(&f);
    const uint32_t before = f.filter_count;
    f.netif.link->multicast(&f.netif, weir_ip4(239, 129, 2, 3), true);
    assert_int_equal(f.filter_count, before + 1);
    assert_memory_equal(f.filter[before], ((const uint8_t[6]){1, 0, 0x5e, 1, 2, 3}), 6);
    f.netif.link->multicast(&f.netif, weir_ip4(239, 129, 2, 3), false);
    assert_int_equal(f.filter_count, before);
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with(WEIR_CFG_HANDLERS, destinations),
        test_with(WEIR_CFG_HANDLERS && WEIR_CFG_VLAN, vlans),
        cmocka_unit_test(runts),
        cmocka_unit_test(groups_need_no_resolution),
        test_with(WEIR_CFG_VLAN, tagged_output),
        test_with(WEIR_CFG_IGMP, receive_filter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
