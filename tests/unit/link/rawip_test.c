// SPDX-License-Identifier: BSD-2-Clause
#include "fixture.h"
#include "frames.h"

static void open(struct fixture *f)
{
    fixture_open(f, &weir_link_rawip, weir_addr_v4(OURS), 24, 0);
    fixture_set_mode(f, FIXTURE_PLAIN);
}

static void only_ip_is_known(void **state)
{
    (void)state;
    struct fixture f;
    uint8_t bytes[40] = {0x60, [6] = 59};
    open(&f);
    for (uint32_t version = 0; version < 16; version++) {
        bytes[0] = (uint8_t)(version << 4);
        fixture_input(&f, bytes, sizeof bytes);
    }
    const uint32_t known = WEIR_CFG_IP6 ? 2 : 1;
    assert_int_equal(fixture_count(&f, WEIR_COUNT_ETHERNET_UNKNOWN), 16 - known);
    // these went up, where their headers were found wrong
    assert_int_equal(fixture_count(&f, WEIR_COUNT_IP_BAD_HEADER), known);
    fixture_close(&f);
}

static void runts(void **state)
{
    (void)state;
    struct fixture f;
    const uint8_t bytes[20] = {0x45};
    open(&f);
    for (uint32_t length = 1; length < 20; length++)
        fixture_input(&f, bytes, length);
    assert_int_equal(fixture_count(&f, WEIR_COUNT_IP_BAD_HEADER), 19);
    fixture_close(&f);
}

// There is nothing to resolve and nothing to announce; an address is ready at once, also when probing was asked for.
static void nobody_is_asked(void **state)
{
    (void)state;
    struct fixture f;
    struct path path = {0};
    struct sock sock = {0};
    uint32_t length;
    open(&f);
    assert_int_equal(weir_netif_set_address(&f.netif, weir_addr_v4(OURS), 24, WEIR_ADDRESS_PROBE), WEIR_OK);
    assert_int_equal(f.netif.address.state, WEIR_ADDRESS_READY);
    fixture_poll(&f, 10000000);
    assert_int_equal(fixture_sent_count(&f), 0);
    assert_int_equal(frames_output(&f, &path, PEER, "abc", 3, &sock), WEIR_TX_DONE);
    const uint8_t *frame = fixture_sent(&f, 0, &length);
    assert_int_equal(length, 23);
    assert_memory_equal(frame, "network header here.abc", 23);
    weir_netif_carrier(&f.netif, false);
    assert_int_equal(frames_output(&f, &path, PEER, "abc", 3, &sock), WEIR_TX_FULL);
    weir_netif_carrier(&f.netif, true);
    assert_int_equal(frames_output(&f, &path, PEER, "abc", 3, &sock), WEIR_TX_DONE);
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(only_ip_is_known), cmocka_unit_test(runts),
                                       cmocka_unit_test(nobody_is_asked)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
