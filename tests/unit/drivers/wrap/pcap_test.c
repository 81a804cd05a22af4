// SPDX-License-Identifier: BSD-2-Clause
// Reads the files back block by block. That tshark opens them: tests/interop/test_drivers.py.
#define _GNU_SOURCE
#include "drivers/link_ends.h"

#include <stdlib.h>
#include <unistd.h>

#include "drivers/wrap/impair.h"
#include "drivers/wrap/pcap.h"
#include "weir/error.h"

static char path[64];
static uint8_t content[1 << 20];
static size_t content_bytes;

static struct pcap_file file;

static void open_file(uint32_t snap_bytes, unsigned flags)
{
    strcpy(path, "/tmp/weir-pcap-XXXXXX");
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    ends_open();
    assert_int_equal(pcap_open(&file, path, snap_bytes, flags), WEIR_OK);
}

static void read_back(void)
{
    pcap_close(&file);
    FILE *in = fopen(path, "rb");
    assert_non_null(in);
    content_bytes = fread(content, 1, sizeof content, in);
    fclose(in);
    unlink(path);
}

static uint32_t read32(const uint8_t *at)
{
    uint32_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

static uint16_t linktype(const uint8_t *description)
{
    uint16_t value;
    memcpy(&value, description + 8, sizeof value);
    return value;
}

// The n-th block of `type`; NULL: none. Checks the frame of every block on the way.
static const uint8_t *block(uint32_t type, uint32_t n)
{
    for (size_t at = 0; at < content_bytes;) {
        uint32_t length = read32(content + at + 4);
        assert_true(length >= 12 && length % 4 == 0 && at + length <= content_bytes);
        assert_int_equal(read32(content + at + length - 4), length);
        if (read32(content + at) == type && n-- == 0)
            return content + at;
        at += length;
    }
    return NULL;
}

static const uint8_t *option(const uint8_t *from, const uint8_t *end, uint16_t code, uint16_t *length)
{
    while (from + 4 <= end) {
        uint16_t head[2];
        memcpy(head, from, sizeof head);
        if (head[0] == code) {
            *length = head[1];
            return from + 4;
        }
        if (head[0] == 0)
            return NULL;
        from += 4 + ((head[1] + 3u) & ~3u);
    }
    return NULL;
}

static uint32_t direction(const uint8_t *packet)
{
    uint16_t length = 0;
    const uint8_t *at =
        option(packet + 28 + ((read32(packet + 20) + 3u) & ~3u), packet + read32(packet + 4) - 4, 2, &length);
    assert_int_equal(length, 4);
    return read32(at);
}

static void test_wrapper_writes_both_directions(void **state)
{
    (void)state;
    static struct pcap pcap;
    open_file(0, PCAP_FROM_ZERO);
    struct weir_netif *outer = pcap_wrap(&pcap, &ends.netif, &file);
    ends_attach(outer);
    ends_clock(5000000123u);
    ends_send(outer, 0x11223344, 101);
    ends_clock(ends.now_us + 1);
    ends_arrive(0x55667788, 60);
    assert_int_equal(ends.sent_count, 1);
    assert_int_equal(ends.received_count, 1);
    assert_int_equal(ends.received[0].checksum, WEIR_CHECKSUM_VERIFIED);
    pcap_unwrap(&pcap);
    read_back();

    assert_ptr_equal(block(0x0a0d0d0a, 0), content);
    assert_int_equal(read32(content + 8), 0x1a2b3c4d);
    const uint8_t *description = block(1, 0), *end = description + read32(description + 4) - 4;
    uint16_t length = 0;
    assert_int_equal(linktype(description), PCAPNG_ETHERNET);
    assert_memory_equal(option(description + 16, end, 2, &length), "end0", 4);
    assert_int_equal(length, 4);
    assert_int_equal(*option(description + 16, end, 9, &length), 9);  // nanoseconds

    const uint8_t *out = block(6, 0), *in = block(6, 1);
    assert_null(block(6, 2));
    assert_int_equal(read32(out + 20), 101);
    assert_int_equal(read32(out + 24), 101);
    assert_int_equal(read32(out + 28), 0x11223344);
    assert_int_equal(direction(out), 2);
    assert_int_equal(read32(in + 20), 60);
    assert_int_equal(direction(in), 1 | 1 << 10);  // a device has verified its checksum
    uint64_t time_ns = (uint64_t)read32(out + 12) << 32 | read32(out + 16);
    assert_true(time_ns == 5000000123000u);
    assert_true(((uint64_t)read32(in + 12) << 32 | read32(in + 16)) == time_ns + 1000);
}

static void test_refused_frame_is_written_once(void **state)
{
    (void)state;
    static struct pcap pcap;
    open_file(0, PCAP_FROM_ZERO);
    struct weir_netif *outer = pcap_wrap(&pcap, &ends.netif, &file);
    ends_attach(outer);
    ends.full = true;
    assert_int_equal(ends_send(outer, 1, 100), WEIR_TX_FULL);
    ends.full = false;
    assert_int_equal(ends_send(outer, 1, 100), WEIR_TX_DONE);
    read_back();
    assert_non_null(block(6, 0));
    assert_null(block(6, 1));
}

static void test_snap_length_cuts(void **state)
{
    (void)state;
    static struct pcap pcap;
    open_file(70, PCAP_WALL_CLOCK);
    struct weir_netif *outer = pcap_wrap(&pcap, &ends.netif, &file);
    ends_attach(outer);
    ends_send(outer, 1, 1000);
    ends_send(outer, 2, 60);
    read_back();
    assert_int_equal(read32(block(6, 0) + 20), 70);
    assert_int_equal(read32(block(6, 0) + 24), 1000);
    assert_int_equal(read32(block(6, 1) + 20), 60);
    uint64_t time_ns = (uint64_t)read32(block(6, 0) + 12) << 32 | read32(block(6, 0) + 16);
    assert_true(time_ns > 1600000000u * 1000000000ull);  // after 2020
}

static void test_sees_what_its_place_in_the_stack_shows(void **state)
{
    (void)state;
    static struct pcap below, above;
    static struct impair impair;
    open_file(0, PCAP_FROM_ZERO);
    struct weir_netif *outer = pcap_wrap(&below, &ends.netif, &file);
    outer = impair_wrap(&impair, outer, &(struct impair_config){.out = {.loss_ppm = 1000000}});
    outer = pcap_wrap(&above, outer, &file);
    ends_attach(outer);
    ends_send(outer, 1, 100);
    outer->driver->timer(outer, ends.now_us);
    ends_arrive(2, 60);
    read_back();
    assert_int_equal(ends.sent_count, 0);
    assert_int_equal(ends.received_count, 1);
    assert_int_equal(read32(block(6, 0) + 8), 1);  // sent: seen above the loss only
    assert_int_equal(read32(block(6, 1) + 8), 0);  // received: below, then above
    assert_int_equal(read32(block(6, 2) + 8), 1);
    assert_null(block(6, 3));
    impair_close(&impair);
}

static void test_listener_describes_each_interface_once(void **state)
{
    (void)state;
    static struct pcap_listener listener;
    struct weir_netif raw;
    open_file(0, PCAP_FROM_ZERO);
    weir_netif_init(&raw, "tun0", &ends_driver, &weir_link_rawip);
    raw.index = 251;
    ends.netif.index = 1;
    pcap_listen(&listener, ends.weir, &file);
    uint8_t bytes[40] = {0x45};
    struct weir_slice slice = {bytes, sizeof bytes};
    for (int i = 0; i < 2; i++) {
        listener.tap.frame(&listener.tap, &ends.netif, true, &slice, 1, 1);
        listener.tap.frame(&listener.tap, &raw, false, &slice, 1, 2);
    }
    pcap_unlisten(&listener);
    read_back();
    assert_int_equal(linktype(block(1, 0)), PCAPNG_ETHERNET);
    assert_int_equal(linktype(block(1, 1)), PCAPNG_RAW_IP);
    assert_null(block(1, 2));
    assert_int_equal(read32(block(6, 3) + 8), 1);
    assert_null(block(6, 4));
}

// Frames that show other bytes than the wire will, or did, say so by their flags: both ways of capturing.
static void test_offload_is_flagged(void **state)
{
    (void)state;
    static struct pcap_listener listener;
    static struct pcap pcap;
    const uint8_t bytes[100] = {0x45};
    const struct weir_slice slice = {bytes, sizeof bytes};
    open_file(0, PCAP_FROM_ZERO);
    struct weir_netif *const outer = pcap_wrap(&pcap, &ends.netif, &file);
    ends_attach(outer);
    struct weir_tx tx = {
        .slices = &slice, .length = slice.length, .count = 1, .header_length = 60, .checksum_start = 34};
    assert_int_equal(outer->driver->tx(outer, &tx), WEIR_TX_DONE);
    tx.segment_size = 20;
    assert_int_equal(outer->driver->tx(outer, &tx), WEIR_TX_DONE);
    weir_netif_deliver(&ends.netif,
                       &(struct weir_frame){.slices = &slice, .length = slice.length, .count = 1, .segments = 3});
    pcap_listen(&listener, ends.weir, &file);
    listener.tap.offload = WEIR_TAP_CHECKSUM_OPEN | WEIR_TAP_SEGMENTS;
    listener.tap.frame(&listener.tap, &ends.netif, true, &slice, 1, 1);
    listener.tap.offload = WEIR_TAP_CHECKSUM_VERIFIED;
    listener.tap.frame(&listener.tap, &ends.netif, false, &slice, 1, 2);
    pcap_unlisten(&listener);
    pcap_unwrap(&pcap);
    read_back();
    static const uint32_t expected[] = {2 | 1 << 9, 2 | 1 << 9 | 1 << 11, 1 | 1 << 11, 2 | 1 << 9 | 1 << 11,
                                        1 | 1 << 10};
    for (uint32_t i = 0; i < sizeof expected / sizeof *expected; i++)
        assert_int_equal(direction(block(6, i)), expected[i]);
}

static void test_open_says_what_is_wrong(void **state)
{
    (void)state;
    assert_true(pcap_open(&file, "/no/such/folder/x.pcapng", 0, 0) < 0);
    assert_non_null(strstr(file.pcapng.error, "/no/such/folder"));
    pcap_close(&file);
}

static void test_full_disk_loses_packets_quietly(void **state)
{
    (void)state;
    ends_open();
    if (pcap_open(&file, "/dev/full", 0, PCAP_FROM_ZERO) < 0)
        skip();
    struct weir_slice slice = {content, 60000};
    uint32_t interface = pcapng_interface(&file.pcapng, "x", PCAPNG_ETHERNET, NULL);
    for (int i = 0; i < 4; i++)
        pcapng_packet(&file.pcapng, interface, PCAPNG_OUT, &slice, 1, 0);
    assert_true(file.pcapng.lost > 0);
    pcap_close(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wrapper_writes_both_directions),
        cmocka_unit_test(test_refused_frame_is_written_once),
        cmocka_unit_test(test_snap_length_cuts),
        cmocka_unit_test(test_sees_what_its_place_in_the_stack_shows),
        cmocka_unit_test(test_listener_describes_each_interface_once),
        cmocka_unit_test(test_offload_is_flagged),
        cmocka_unit_test(test_open_says_what_is_wrong),
        cmocka_unit_test(test_full_disk_loses_packets_quietly),
    };
    return cmocka_run_group_tests(tests, NULL, ends_end);
}
