// SPDX-License-Identifier: BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "weir/options.h"
#include "wire/ethernet.h"

static const uint8_t destination[6] = {1, 2, 3, 4, 5, 6}, source[6] = {7, 8, 9, 10, 11, 12};

static void emitted_is_parsed(void **state)
{
    (void)state;
    uint8_t bytes[ETHERNET_BYTES + VLAN_BYTES];
    for (int tagged = 0; tagged <= (WEIR_CFG_VLAN ? 1 : 0); tagged++) {
        const struct ethernet header = {
            .destination = destination, .source = source, .type = 0x86dd, .vlan = tagged ? 4094 : 0, .tagged = tagged};
        const uint32_t length = tagged ? 18 : 14;
        uint8_t *head = ethernet_emit(bytes + sizeof bytes, &header);
        assert_ptr_equal(head, bytes + sizeof bytes - length);
        struct ethernet out;
        assert_int_equal(ethernet_parse(head, length, &out), length);
        assert_memory_equal(out.destination, destination, 6);
        assert_memory_equal(out.source, source, 6);
        assert_int_equal(out.type, 0x86dd);
        assert_int_equal(out.vlan, header.vlan);
        assert_int_equal(out.tagged, tagged);
    }
}

static void bytes_are_where_the_standard_says(void **state)
{
    (void)state;
    static const uint8_t expected[14] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 0x08, 0x06};
    uint8_t bytes[14];
    const struct ethernet header = {.destination = destination, .source = source, .type = ETHERTYPE_ARP};
    assert_ptr_equal(ethernet_emit(bytes + 14, &header), bytes);
    assert_memory_equal(bytes, expected, 14);
}

static void runts(void **state)
{
    (void)state;
    struct ethernet out;
    for (uint32_t length = 0; length < 14; length++) {
        uint8_t *bytes = calloc(1, length + 1);
        assert_int_equal(ethernet_parse(bytes, length, &out), 0);
        free(bytes);
    }
#if WEIR_CFG_VLAN
    // A tag announced, and cut anywhere.
    for (uint32_t length = 14; length < 18; length++) {
        uint8_t *bytes = calloc(1, length);
        bytes[12] = 0x81;
        assert_int_equal(ethernet_parse(bytes, length, &out), 0);
        free(bytes);
    }
#endif
}

static void priority_is_not_part_of_the_vlan(void **state)
{
    (void)state;
    const uint8_t bytes[18] = {[12] = 0x81, 0x00, 0xe0, 0x05, 0x08, 0x00};
    struct ethernet out;
    if (WEIR_CFG_VLAN) {
        assert_int_equal(ethernet_parse(bytes, 18, &out), 18);
        assert_true(out.tagged);
        assert_int_equal(out.vlan, 5);
        assert_int_equal(out.type, ETHERTYPE_IP4);
    } else {
        assert_int_equal(ethernet_parse(bytes, 18, &out), 14);
        assert_int_equal(out.type, ETHERTYPE_VLAN);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(emitted_is_parsed),
                                       cmocka_unit_test(bytes_are_where_the_standard_says), cmocka_unit_test(runts),
                                       cmocka_unit_test(priority_is_not_part_of_the_vlan)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
