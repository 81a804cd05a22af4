// SPDX-License-Identifier: BSD-2-Clause
// not on mips: qemu-mips makes no TAP
// The drivers for Linux's interfaces over each other: a TAP, and a packet socket on it, in a network namespace of this
// program's own. Where no namespace or no TAP may be made the tests are skipped. Through Linux's own stack:
// tests/interop/test_drivers.py.
#define _GNU_SOURCE
#include "drivers/link_ends.h"

#include <errno.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "drivers/af_packet.h"
#include "drivers/af_xdp.h"
#include "drivers/tap.h"
#include "drivers/tun.h"
#include "weir/error.h"

#define WAIT_MS 10000u

static struct af_packet packet;
static struct tap tap;
static bool alone;  // in a namespace

static int open_both(unsigned flags)
{
    ends_open();
    if (!alone || tap_open(&tap, "t0", TAP_NO_VNET | TAP_UP) < 0)
        return -1;
    assert_int_equal(af_packet_open(&packet, "t0", flags), WEIR_OK);
    af_packet_attach(&packet, &ends.netif, "eth0");
    ends_attach(&ends.netif);
    return 0;
}
static void close_both(void)
{
    af_packet_close(&packet);
    tap_close(&tap);
    assert_int_equal(af_packet_fd(&packet), -1);
}
#define OPEN_BOTH(flags) \
    do { \
        if (open_both(flags) < 0) \
            skip(); \
    } while (false)

static bool pause_ms(uint32_t waited)
{
    usleep(1000);
    return waited < WAIT_MS;
}

// The device's next frame that begins with the number; Linux sends frames of its own.
static ssize_t leaves(uint32_t number, uint8_t *frame, size_t room)
{
    for (uint32_t waited = 0;; waited++) {
        const ssize_t got = read(tap_fd(&tap), frame, room);
        uint32_t begins;
        memcpy(&begins, frame, sizeof begins);
        if (got > 0 && begins == number)
            return got;
        if (got < 0 && !pause_ms(waited))
            return -1;
    }
}

// A frame to the number, which the driver then delivers; NULL: it does not.
static const struct ends_frame *arrives(const uint8_t *frame, size_t length)
{
    const uint32_t before = ends.received_count;
    if (write(tap_fd(&tap), frame, length) != (ssize_t)length)
        return NULL;
    for (uint32_t waited = 0; pause_ms(waited); waited++) {
        (void)ends.netif.driver->poll(&ends.netif, 8);
        for (uint32_t i = before; i < ends.received_count; i++)
            if (memcmp(ends.received[i].bytes, frame, 12) == 0)
                return &ends.received[i];
    }
    return NULL;
}

static void interface(const char *name, bool up)
{
    struct ifreq request = {0};
    const int fd = socket(AF_INET, SOCK_DGRAM, 0);
    strcpy(request.ifr_name, name);
    assert_int_equal(ioctl(fd, SIOCGIFFLAGS, &request), 0);
    request.ifr_flags = (short)(up ? request.ifr_flags | IFF_UP : request.ifr_flags & ~IFF_UP);
    assert_int_equal(ioctl(fd, SIOCSIFFLAGS, &request), 0);
    close(fd);
}

// --- frames ----------------------------------------------------------------------------------------------------------

static void frames_go_both_ways(void **state)
{
    static const unsigned flags[] = {0, AF_PACKET_NO_VNET, AF_PACKET_QDISC, AF_PACKET_UP | AF_PACKET_SAME_MAC};
    uint8_t frame[2000];
    (void)state;
    for (uint32_t i = 0; i < 4; i++) {
        OPEN_BOTH(flags[i]);
        for (uint32_t length = 60; length <= 1514; length += 727) {
            assert_int_equal(ends_send(&ends.netif, 0x22000002 + i, length), WEIR_TX_DONE);
            assert_int_equal(leaves(0x22000002 + i, frame, sizeof frame), length);
            for (uint32_t at = 4; at < length; at++)
                assert_int_equal(frame[at], 0);
            for (uint32_t at = 0; at < length; at++)
                frame[at] = (uint8_t)(2 + at * 7);
            const struct ends_frame *const got = arrives(frame, length);
            assert_non_null(got);
            assert_int_equal(got->length, length);
            assert_memory_equal(got->bytes, frame, length < 256 ? length : 256);
        }
        assert_int_equal(packet.counters.tx_refused + packet.counters.rx_bad + packet.counters.rx_too_long, 0);
        assert_int_equal((ends.netif.capabilities & WEIR_NETIF_TSO4) != 0, !(flags[i] & AF_PACKET_NO_VNET));
        close_both();
    }
}

static void the_interface_is_described(void **state)
{
    uint8_t mac[6];
    (void)state;
    OPEN_BOTH(AF_PACKET_SAME_MAC);
    assert_int_equal(carrier_ethernet(&packet.carrier, mac), 0);
    assert_memory_equal(ends.netif.mac, mac, 6);
    assert_int_equal(ends.netif.mtu, 1500);
    assert_int_equal(af_packet_events(&packet), 1);  // POLLIN
    close_both();
    OPEN_BOTH(0);
    assert_int_equal(carrier_ethernet(&packet.carrier, mac), 0);
    assert_memory_not_equal(ends.netif.mac, mac, 6);  // of its own
    assert_int_equal(ends.netif.mac[0] & 3, 2);
    close_both();
}

// Linux takes the tag out before a packet socket sees the frame.
static void tags_are_put_back(void **state)
{
    static const uint16_t tags[][2] = {{0x8100, 0x6007}, {0x88a8, 0x0fff}};
    (void)state;
    for (uint32_t i = 0; i < 2; i++) {
        uint8_t frame[100] = {2, 9, 9, 9, 9, 9, 2, 8, 8, 8, 8, (uint8_t)i};
        OPEN_BOTH(0);
        const uint8_t tag[6] = {(uint8_t)(tags[i][0] >> 8),
                                (uint8_t)tags[i][0],
                                (uint8_t)(tags[i][1] >> 8),
                                (uint8_t)tags[i][1],
                                0x88,
                                0xb5};
        memcpy(frame + 12, tag, sizeof tag);
        const struct ends_frame *const got = arrives(frame, sizeof frame);
        assert_non_null(got);
        assert_int_equal(got->length, sizeof frame);
        assert_memory_equal(got->bytes, frame, sizeof frame);
        close_both();
    }
}

static void what_linux_refuses_is_counted(void **state)
{
    struct weir_slice slices[1 + 2 * WEIR_FRAME_SLICES + WEIR_CFG_TX_SLICES];
    static const uint8_t bytes[60];
    (void)state;
    OPEN_BOTH(0);
    assert_int_equal(ends_send(&ends.netif, 2, 3000), WEIR_TX_DONE);  // longer than the MTU
    assert_int_equal(packet.counters.tx_refused, 1);
    for (uint32_t i = 0; i < sizeof slices / sizeof slices[0]; i++)
        slices[i] = (struct weir_slice){bytes, 1};
    const struct weir_tx many = {.slices = slices, .length = 60, .count = sizeof slices / sizeof slices[0]};
    assert_int_equal(ends.netif.driver->tx(&ends.netif, &many), WEIR_TX_DONE);
    assert_int_equal(packet.counters.tx_refused, 2);
    assert_int_equal(ends.netif.stats.tx_dropped, 2);
    close_both();
}

static void a_full_ring_misses_and_counts(void **state)
{
    uint8_t frame[60] = {2, 9, 9, 9, 9, 9, 2, 8, 8, 8, 8, 8, 0x88, 0xb5};
    (void)state;
    OPEN_BOTH(0);
    (void)ends.netif.driver->timer(&ends.netif, ends.now_us);
    const uint32_t count = packet.slots + 50;
    for (uint32_t i = 0; i < count; i++)
        assert_int_equal(write(tap_fd(&tap), frame, sizeof frame), sizeof frame);
    const uint64_t due_us = ends.netif.driver->timer(&ends.netif, ends.now_us);
    for (uint32_t waited = 0; packet.counters.rx_missed < 50 && pause_ms(waited); waited++) {
        packet.statistics_due_us = 0;  // not a second later
        (void)ends.netif.driver->timer(&ends.netif, ends.now_us);
    }
    assert_in_range(packet.counters.rx_missed, 50, count);
    assert_int_equal(ends.netif.stats.rx_dropped, packet.counters.rx_missed);
    assert_in_range(due_us, ends.now_us + 1, ends.now_us + 1000000);
    int frames = 0, got;
    while ((got = ends.netif.driver->poll(&ends.netif, 16)) > 0) {
        assert_in_range(got, 1, 16);
        frames += got;
    }
    assert_in_range(frames, 1, packet.slots);
    const struct ends_frame *const one = arrives((frame[5] = 1, frame), sizeof frame);  // and there is room again
    assert_non_null(one);
    close_both();
}

static void the_interface_goes_down_and_away(void **state)
{
    uint8_t frame[2000];
    (void)state;
    OPEN_BOTH(0);
    (void)ends.netif.driver->timer(&ends.netif, ends.now_us);
    assert_int_equal(ends.carrier_count, 0);
    interface("t0", false);
    assert_int_equal(ends_send(&ends.netif, 0x22000002, 60), WEIR_TX_DONE);
    assert_int_equal(packet.counters.tx_down, 1);
    (void)ends.netif.driver->poll(&ends.netif, 8);
    (void)ends.netif.driver->timer(&ends.netif, ends.now_us);  // at once: the driver is in doubt
    assert_int_equal(ends.carrier_count, 1);
    assert_false(ends.carrier);
    interface("t0", true);
    for (uint32_t waited = 0; !ends.carrier && pause_ms(waited); waited++)
        (void)ends.netif.driver->timer(&ends.netif, ends.now_us += 100000);
    assert_true(ends.carrier);
    assert_int_equal(ends_send(&ends.netif, 0x22000002, 60), WEIR_TX_DONE);
    assert_int_equal(leaves(0x22000002, frame, sizeof frame), 60);
    tap_close(&tap);  // the interface goes with it
    for (uint32_t waited = 0; ends.carrier && pause_ms(waited); waited++) {
        assert_int_equal(ends_send(&ends.netif, 0x22000002, 60), WEIR_TX_DONE);
        (void)ends.netif.driver->poll(&ends.netif, 8);
        (void)ends.netif.driver->timer(&ends.netif, ends.now_us += 1000);
    }
    assert_false(ends.carrier);
    assert_true(packet.counters.tx_down > 1);
    af_packet_close(&packet);
}

// Where Linux lets nobody load the program, it says so.
static void frames_go_both_ways_by_af_xdp(void **state)
{
    static struct af_xdp xdp;
    uint8_t frame[2000];
    (void)state;
    OPEN_BOTH(0);
    af_packet_close(&packet);
    const int result = af_xdp_open(&xdp, "t0", 0, AF_XDP_GENERIC | AF_XDP_UP);
    if (result == WEIR_OK) {
        af_xdp_attach(&xdp, &ends.netif, "eth0");
        ends_attach(&ends.netif);
        for (uint32_t length = 60; length <= 1514; length += 727) {
            assert_int_equal(ends_send(&ends.netif, 0x22000002, length), WEIR_TX_DONE);
            ends.netif.driver->flush(&ends.netif);
            assert_int_equal(leaves(0x22000002, frame, sizeof frame), length);
            for (uint32_t at = 0; at < length; at++)
                frame[at] = (uint8_t)(2 + at * 7);
            const struct ends_frame *const got = arrives(frame, length);
            assert_non_null(got);
            assert_int_equal(got->length, length);
        }
        static struct af_xdp second;
        assert_int_equal(af_xdp_open(&second, "t0", 0, AF_XDP_GENERIC), WEIR_IN_USE);
        af_xdp_close(&xdp);
        for (uint32_t waited = 0; af_xdp_open(&xdp, "t0", 0, AF_XDP_GENERIC) != WEIR_OK; waited++)
            assert_true(pause_ms(waited));  // nothing stayed behind; Linux gives the queue back a moment later
        af_xdp_close(&xdp);
        assert_int_equal(af_xdp_open(&xdp, "t0", 99, AF_XDP_GENERIC), WEIR_INVALID);  // no such queue
    } else {
        assert_true(result == WEIR_PERMISSION || result == WEIR_NOT_SUPPORTED);
        assert_non_null(strstr(af_xdp_error(&xdp), "t0"));
    }
    assert_int_equal(af_xdp_fd(&xdp), -1);
    assert_int_equal(af_xdp_open(&xdp, "nosuch0", 0, 0), WEIR_INVALID);
    assert_int_equal(af_xdp_open(&xdp, "a-name-that-is-too-long", 0, 0), WEIR_INVALID);
    assert_int_equal(af_xdp_open(&xdp, "lo", 0, AF_XDP_UP), WEIR_INVALID);
    assert_non_null(strstr(af_xdp_error(&xdp), "Ethernet"));
    close_both();
}

// --- opening ---------------------------------------------------------------------------------------------------------

static void what_cannot_be_opened_says_why(void **state)
{
    static struct tap second;
    static struct tun tun;
    (void)state;
    OPEN_BOTH(0);
    assert_int_equal(af_packet_open(&packet, "a-name-that-is-too-long", 0), WEIR_INVALID);
    assert_non_null(strstr(af_packet_error(&packet), "ip link add"));
    assert_int_equal(af_packet_open(&packet, "nosuch0", 0), WEIR_INVALID);
    assert_non_null(strstr(af_packet_error(&packet), "nosuch0"));
    assert_int_equal(af_packet_open(&packet, "lo", AF_PACKET_UP), WEIR_INVALID);
    assert_non_null(strstr(af_packet_error(&packet), "Ethernet"));
    assert_int_equal(af_packet_open(&packet, "nosuch0", AF_PACKET_UP), WEIR_INVALID);
    assert_int_equal(tap_open(&second, "a-name-that-is-too-long", 0), WEIR_INVALID);
    assert_true(strlen(tap_error(&second)) > 10);
    assert_int_equal(tap_open(&second, "t0", 0), WEIR_IN_USE);
    assert_int_equal(tap_fd(&second), -1);
    assert_int_equal(tap_open(&second, "lo", 0), WEIR_INVALID);
    assert_int_equal(tun_open(&tun, "t0", 0), WEIR_INVALID);  // it is a TAP
    tap_close(&tap);
    assert_int_equal(tun_open(&tun, "t1", TUN_UP), WEIR_OK);
    assert_int_equal(af_packet_open(&packet, "t1", 0), WEIR_INVALID);  // no Ethernet
    tun_attach(&tun, &ends.netif, "tun0");
    assert_ptr_equal(ends.netif.link, &weir_link_rawip);
    tun_close(&tun);
    close_both();
}

// Where the namespace is another user's.
static void without_permission(void **state)
{
    int status;
    (void)state;
    if (!alone)
        skip();
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        static struct tap other;
        int wrong = 0;
        if (unshare(CLONE_NEWUSER) < 0)
            exit(77);
        wrong += af_packet_open(&packet, "lo", 0) != WEIR_PERMISSION || !strstr(af_packet_error(&packet), "unshare");
        wrong += tap_open(&other, "t9", 0) != WEIR_PERMISSION || strlen(tap_error(&other)) < 10;
        exit(wrong);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == 77)
        skip();
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void write_file(const char *name, const char *text)
{
    FILE *const out = fopen(name, "w");
    if (!out)
        return;
    fputs(text, out);
    fclose(out);
}

int main(void)
{
    char map[2][32];
    snprintf(map[0], sizeof map[0], "0 %u 1", (unsigned)getuid());
    snprintf(map[1], sizeof map[1], "0 %u 1", (unsigned)getgid());
    alone = unshare(CLONE_NEWNET) == 0;  // as root; programs of XDP are for root alone
    if (!alone && unshare(CLONE_NEWUSER | CLONE_NEWNET) == 0) {
        alone = true;
        write_file("/proc/self/setgroups", "deny");
        write_file("/proc/self/uid_map", map[0]);
        write_file("/proc/self/gid_map", map[1]);
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_go_both_ways),
        cmocka_unit_test(the_interface_is_described),
        cmocka_unit_test(tags_are_put_back),
        cmocka_unit_test(what_linux_refuses_is_counted),
        cmocka_unit_test(a_full_ring_misses_and_counts),
        cmocka_unit_test(the_interface_goes_down_and_away),
        cmocka_unit_test(frames_go_both_ways_by_af_xdp),
        cmocka_unit_test(what_cannot_be_opened_says_why),
        cmocka_unit_test(without_permission),
    };
    return cmocka_run_group_tests_name("drivers/linux", tests, NULL, ends_end);
}
