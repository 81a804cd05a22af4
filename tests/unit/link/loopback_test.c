// SPDX-License-Identifier: BSD-2-Clause
#include "fixture.h"
#include "frames.h"
#include "weir/handler.h"
#include "wire/ip4.h"

#define EXPERIMENTAL 253u  // RFC 3692

static uint32_t seen, seen_bytes;
static struct weir *answering;  // send one more for each that arrives
static uint8_t large[40000];

static enum weir_tx_verdict send_packet(struct weir *weir, uint32_t payload_length);

static void take(struct weir_protocol_handler *self, struct weir_netif *netif, const struct weir_frame *frame,
                 uint32_t offset, struct weir_addr source, struct weir_addr destination)
{
    (void)self, (void)source, (void)destination;
    assert_int_equal(netif->capabilities & WEIR_NETIF_LOOPBACK, WEIR_NETIF_LOOPBACK);
    assert_int_equal(frame->checksum, WEIR_CHECKSUM_VERIFIED);
    seen++;
    seen_bytes += frame->length - offset;
    if (answering)
        send_packet(answering, 10);
}

static struct weir_protocol_handler handler = {.protocol = EXPERIMENTAL, .input = take};

static enum weir_tx_verdict send_packet(struct weir *weir, uint32_t payload_length)
{
    struct path path = {.netif = &weir->loopback.netif, .next_hop = weir_ip4(127, 0, 0, 1)};
    const struct ip4 header = {.source = 0x7f000001,
                               .destination = 0x7f000001,
                               .total_length = (uint16_t)(20 + payload_length),
                               .ttl = 64,
                               .protocol = EXPERIMENTAL};
    struct packet_out out;
    packet_out_init(&out);
    packet_out_payload(&out, large, payload_length);
    ip4_emit(packet_out_header(&out, IP4_BYTES), &header);
    return weir->loopback.netif.link->output(&weir->loopback.netif, &path, ETHERTYPE_IP4, &out, NULL);
}

static void open(struct fixture *f)
{
    frames_open(f);
    assert_int_equal(weir_protocol_register(f->weir, &handler), WEIR_OK);
    seen = seen_bytes = 0;
    answering = NULL;
}

static void it_is_there(void **state)
{
    (void)state;
    struct fixture f;
    open(&f);
    struct weir_netif *netif = weir_netif_find(f.weir, "lo");
    assert_ptr_equal(netif, &f.weir->loopback.netif);
    assert_int_equal(f.netif.index, 1);  // it does not take the first interface's index
    assert_ptr_equal(netif_by_index(f.weir, netif_loopback_index(f.weir)), netif);
    assert_int_equal(weir_addr_to_v4(netif->address.addr), 0x7f000001);
    assert_int_equal(netif->address.state, WEIR_ADDRESS_READY);
    fixture_close(&f);
}

static void packets_come_round_with_the_poll(void **state)
{
    (void)state;
    struct fixture f;
    open(&f);
    assert_int_equal(send_packet(f.weir, 1000), WEIR_TX_DONE);
    memset(large, 1, 1000);
    assert_int_equal(seen, 0);
    assert_true(loopback_pending(f.weir));
    fixture_poll(&f, 0);
    assert_int_equal(seen, 1);
    assert_int_equal(seen_bytes, 1000);
    assert_false(loopback_pending(f.weir));
    assert_int_equal(fixture_sent_count(&f), 0);  // not to the wire
    fixture_close(&f);
}

// A full queue refuses without loss, and lets on when it has been drained.
static void full(void **state)
{
    (void)state;
    struct fixture f;
    uint32_t sent = 0;
    open(&f);
    while (send_packet(f.weir, 40000) == WEIR_TX_DONE)
        assert_in_range(++sent, 1, 100);
    assert_in_range(sent, WEIR_CFG_LOOPBACK_BYTES / 40040 - 2, WEIR_CFG_LOOPBACK_BYTES / 40020);
    assert_true(f.weir->loopback.netif.flags & WEIR_NETIF_TX_BLOCKED);
    fixture_poll(&f, 0);
    assert_int_equal(seen, sent);
    assert_false(f.weir->loopback.netif.flags & WEIR_NETIF_TX_BLOCKED);
    assert_int_equal(send_packet(f.weir, 40000), WEIR_TX_DONE);
    assert_int_equal(fixture_count(&f, WEIR_COUNT_LOOPBACK_FULL), 0);
    fixture_poll(&f, 0);
    fixture_close(&f);
}

// Each poll delivers what was there when it began: a packet that begets a packet does not keep it busy for ever.
static void one_round_a_poll(void **state)
{
    (void)state;
    struct fixture f;
    open(&f);
    answering = f.weir;
    send_packet(f.weir, 10);
    for (uint32_t i = 1; i < 50; i++) {
        assert_true(weir_poll(f.weir, f.now_us) <= f.now_us);  // there is more to do
        assert_int_equal(seen, i);
    }
    answering = NULL;
    fixture_poll(&f, 0);
    assert_int_equal(seen, 50);
    fixture_close(&f);
}

#if WEIR_CFG_ALLOCATOR
// Nothing queued and no memory: waiting would be for ever.
static void no_memory(void **state)
{
    (void)state;
    struct fixture f;
    open(&f);
    f.fail_at = 1;
    f.fail_onwards = true;
    assert_int_equal(send_packet(f.weir, 30000), WEIR_TX_DONE);
    assert_int_equal(fixture_count(&f, WEIR_COUNT_LOOPBACK_FULL), 1);
    assert_int_equal(f.weir->loopback.netif.stats.tx_dropped, 1);
    f.fail_at = 0;
    assert_int_equal(send_packet(f.weir, 30000), WEIR_TX_DONE);
    fixture_poll(&f, 0);
    assert_int_equal(seen, 1);
    fixture_close(&f);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_there),
        cmocka_unit_test(packets_come_round_with_the_poll),
        cmocka_unit_test(full),
        cmocka_unit_test(one_round_a_poll),
#if WEIR_CFG_ALLOCATOR
        cmocka_unit_test(no_memory),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
