// SPDX-License-Identifier: BSD-2-Clause
// profiles: small
#include "fixture.h"
#include "frames.h"

static void request_is_answered_by_poll(void **state)
{
    (void)state;
    struct fixture f;
    uint8_t destination[6];
    frames_open(&f);
    frames_arp(&f, frames_all, ARP_REQUEST, FIXTURE_PEER_MAC, PEER, OURS);
    assert_int_equal(fixture_sent_count(&f), 0);
    fixture_poll(&f, 0);
    assert_int_equal(fixture_sent_count(&f), 1);
    const struct arp_packet arp = frames_sent_arp(&f, 0, destination);
    assert_memory_equal(destination, FIXTURE_PEER_MAC, 6);
    assert_int_equal(arp.operation, ARP_REPLY);
    assert_memory_equal(arp.sender_mac, FIXTURE_MAC, 6);
    assert_memory_equal(arp.target_mac, FIXTURE_PEER_MAC, 6);
    assert_int_equal(arp.sender, OURS);
    assert_int_equal(arp.target, PEER);
    fixture_close(&f);
}

// RFC 5227 §2.1.1: somebody probes for our address; the answer is its defence.
static void probe_is_answered(void **state)
{
    (void)state;
    struct fixture f;
    uint8_t destination[6];
    frames_open(&f);
    frames_arp(&f, frames_all, ARP_REQUEST, FIXTURE_PEER_MAC, 0, OURS);
    fixture_poll(&f, 0);
    assert_int_equal(fixture_sent_count(&f), 1);
    const struct arp_packet arp = frames_sent_arp(&f, 0, destination);
    assert_int_equal(arp.operation, ARP_REPLY);
    assert_int_equal(arp.sender, OURS);
    assert_int_equal(arp.target, 0);
    fixture_close(&f);
}

static void what_is_not_answered(void **state)
{
    (void)state;
    struct fixture f;
    frames_open(&f);
    static const uint8_t group[6] = {3, 0, 0, 0, 0, 9};
    frames_arp(&f, frames_all, ARP_REQUEST, FIXTURE_PEER_MAC, PEER, OURS + 7);  // for another
    frames_arp(&f, FIXTURE_MAC, ARP_REPLY, FIXTURE_PEER_MAC, PEER, OURS);       // an answer
    frames_arp(&f, frames_all, ARP_REQUEST, FIXTURE_MAC, OURS, OURS);           // our own, reflected
    frames_arp(&f, frames_all, ARP_REQUEST, FIXTURE_MAC, 0, OURS);
    assert_int_equal(fixture_count(&f, WEIR_COUNT_ARP_BAD), 0);
    frames_arp(&f, frames_all, 3, FIXTURE_PEER_MAC, PEER, OURS);  // reverse ARP
    frames_arp(&f, frames_all, 0, FIXTURE_PEER_MAC, PEER, OURS);
    frames_arp(&f, frames_all, ARP_REQUEST, FIXTURE_PEER_MAC, 0xe0000001, OURS);  // from a multicast address
    frames_arp(&f, frames_all, ARP_REQUEST, FIXTURE_PEER_MAC, 0xffffffff, OURS);
    assert_int_equal(fixture_count(&f, WEIR_COUNT_ARP_BAD), 4);
    frames_arp(&f, frames_all, ARP_REQUEST, group, PEER, OURS);  // from a group of stations: the link itself refuses it
    assert_int_equal(fixture_count(&f, WEIR_COUNT_ETHERNET_OTHER), 1);
    fixture_poll(&f, 100000);
    assert_int_equal(fixture_sent_count(&f), 0);
    fixture_close(&f);
}

// SECURITY.md, runt frames (CVE-2020-11913/-11914): 14+8 bytes of ARP, and every other length that is too short.
static void runts(void **state)
{
    (void)state;
    struct fixture f;
    frames_open(&f);
    uint8_t bytes[FRAME_ARP];
    struct arp_packet arp = {.operation = ARP_REQUEST, .sender = PEER, .target = OURS};
    memcpy(arp.sender_mac, FIXTURE_PEER_MAC, 6);
    arp_emit(bytes + ETHERNET_BYTES, &arp);
    const struct ethernet header = {.destination = frames_all, .source = FIXTURE_PEER_MAC, .type = ETHERTYPE_ARP};
    ethernet_emit(bytes + ETHERNET_BYTES, &header);
    for (uint32_t length = ETHERNET_BYTES; length < FRAME_ARP; length++)
        fixture_input(&f, bytes, length);
    assert_int_equal(fixture_count(&f, WEIR_COUNT_ARP_BAD), ARP_BYTES);
    assert_int_equal(f.netif.stats.rx_runt, ARP_BYTES);
    fixture_poll(&f, 0);
    assert_int_equal(fixture_sent_count(&f), 0);
    fixture_input(&f, bytes, FRAME_ARP);
    fixture_poll(&f, 0);
    assert_int_equal(fixture_sent_count(&f), 1);
    fixture_close(&f);
}

static void without_an_address_nothing_is_answered(void **state)
{
    (void)state;
    struct fixture f;
    fixture_open(&f, &weir_link_ethernet, weir_addr_any(), 0, 0);
    frames_arp(&f, frames_all, ARP_REQUEST, FIXTURE_PEER_MAC, PEER, 0);
    frames_arp(&f, frames_all, ARP_REQUEST, FIXTURE_PEER_MAC, PEER, OURS);
    fixture_poll(&f, 0);
    assert_int_equal(fixture_sent_count(&f), 0);
    fixture_close(&f);
}

// More questions than one batch keeps answers for: dropped, counted, and no harm done.
static void answers_are_bounded(void **state)
{
    (void)state;
    struct fixture f;
    frames_open(&f);
    for (uint32_t i = 0; i < 1000; i++)
        frames_arp(&f, frames_all, ARP_REQUEST, FIXTURE_PEER_MAC, PEER, OURS);
    assert_int_equal(fixture_count(&f, WEIR_COUNT_OUTBOX_FULL), 1000 - ARP_REPLIES);
    fixture_poll(&f, 0);
    assert_int_equal(fixture_sent_count(&f), ARP_REPLIES);
    fixture_close(&f);
}

static void a_full_interface_answers_later(void **state)
{
    (void)state;
    struct fixture f;
    frames_open(&f);
    f.block_tx = true;
    frames_arp(&f, frames_all, ARP_REQUEST, FIXTURE_PEER_MAC, PEER, OURS);
    fixture_poll(&f, 10000);
    assert_int_equal(fixture_sent_count(&f), 0);
    assert_int_equal(f.full_count, 1);  // it was asked once, and then left alone
    fixture_unblock(&f, 0);
    assert_int_equal(fixture_sent_count(&f), 1);
    fixture_close(&f);
}

static void answers_go_with_their_interface(void **state)
{
    (void)state;
    struct fixture f;
    frames_open(&f);
    frames_arp(&f, frames_all, ARP_REQUEST, FIXTURE_PEER_MAC, PEER, OURS);
    weir_netif_remove(&f.netif);
    fixture_poll(&f, 1000);
    assert_int_equal(fixture_sent_count(&f), 0);
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(request_is_answered_by_poll),
                                       cmocka_unit_test(probe_is_answered),
                                       cmocka_unit_test(what_is_not_answered),
                                       cmocka_unit_test(runts),
                                       cmocka_unit_test(without_an_address_nothing_is_answered),
                                       cmocka_unit_test(answers_are_bounded),
                                       cmocka_unit_test(a_full_interface_answers_later),
                                       cmocka_unit_test(answers_go_with_their_interface)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
