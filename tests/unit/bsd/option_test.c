// SPDX-License-Identifier: BSD-2-Clause
// not lean: of all options
// setsockopt and getsockopt: values that are too short, that cannot be, or that are brought within bounds; IP options.
#include "fixture.h"

#include <errno.h>
#include <string.h>

#include "api/bsd/weir_bsd.h"

static struct fixture f;
static struct weir_bsd *bsd;
static int last_error;
static int stream, datagram;

static void set_error(void *context, int value)
{
    (void)context;
    last_error = value;
}

static void open_bsd(void)
{
    const struct weir_bsd_config config = {.set_errno = set_error};
    fixture_open(&f, &weir_link_rawip, weir_ip4(10, 0, 0, 1), 24, 0);
    f.faults.others = true;
    bsd = bsd_create(f.weir, &config);
    assert_non_null(bsd);
    stream = bsd_socket(bsd, WEIR_AF_INET, WEIR_SOCK_STREAM, 0);
    datagram = bsd_socket(bsd, WEIR_AF_INET, WEIR_SOCK_DGRAM, 0);
    assert_true(stream >= 0 && datagram >= 0);
}

static void close_bsd(void)
{
    bsd_destroy(bsd);
    fixture_close(&f);
}

// The errno of a call; 0: it went well.
static int set(int fd, int level, int name, const void *value, weir_socklen length)
{
    last_error = 0;
    const int result = bsd_setsockopt(bsd, fd, level, name, value, length);
    assert_int_equal(result, last_error ? -1 : 0);
    return last_error;
}

static int set_int(int fd, int level, int name, int value) { return set(fd, level, name, &value, sizeof value); }

static int get(int fd, int level, int name, void *value, weir_socklen *length)
{
    last_error = 0;
    const int result = bsd_getsockopt(bsd, fd, level, name, value, length);
    assert_int_equal(result, last_error ? -1 : 0);
    return last_error;
}

static int get_int(int fd, int level, int name)
{
    int value = -77;
    weir_socklen length = sizeof value;
    assert_int_equal(get(fd, level, name, &value, &length), 0);
    assert_int_equal(length, sizeof value);
    return value;
}

// Of each option the bytes that it takes: one byte less is none of it.
static void values_that_are_too_short_are_refused(void **state)
{
    static const struct {
        int level, name;
        weir_socklen bytes;
        bool byte;  // one byte is enough, as on Linux of the numbers of IP
    } options[] = {
        {WEIR_SOL_SOCKET, WEIR_SO_REUSEADDR, 4, false},
        {WEIR_SOL_SOCKET, WEIR_SO_BROADCAST, 4, false},
        {WEIR_SOL_SOCKET, WEIR_SO_RCVTIMEO, sizeof(struct weir_timeval), false},
        {WEIR_SOL_SOCKET, WEIR_SO_SNDTIMEO, sizeof(struct weir_timeval), false},
        {WEIR_SOL_SOCKET, WEIR_SO_RCVLOWAT, 4, false},
        {WEIR_SOL_SOCKET, WEIR_SO_MAX_PACING_RATE, 4, false},
        {WEIR_IPPROTO_IP, WEIR_IP_TTL, 4, true},
        {WEIR_IPPROTO_IP, WEIR_IP_MTU_DISCOVER, 4, true},
        {WEIR_IPPROTO_IP, WEIR_IP_PKTINFO, 4, true},
        {WEIR_IPPROTO_IP, WEIR_IP_MULTICAST_TTL, 4, true},
        {WEIR_IPPROTO_IP, WEIR_IP_MULTICAST_IF, 4, false},
        {WEIR_IPPROTO_IP, WEIR_IP_ADD_MEMBERSHIP, sizeof(struct weir_ip_mreq), false},
        // RFC 3678's
        {WEIR_IPPROTO_IP, WEIR_MCAST_JOIN_GROUP, sizeof(struct weir_group_req), false},
        {WEIR_IPPROTO_IP, WEIR_MCAST_JOIN_SOURCE_GROUP, sizeof(struct weir_group_source_req), false},
        {WEIR_IPPROTO_IP, WEIR_IP_ADD_SOURCE_MEMBERSHIP, sizeof(struct weir_ip_mreq_source), false},
    };
    const uint32_t count = sizeof options / sizeof options[0] - (WEIR_CFG_MULTICAST_SOURCES ? 0 : 3);
    static const uint8_t ones[600] = {1, 1, 1, 1};
    (void)state;
    open_bsd();
    for (uint32_t i = 0; i < count; i++)
        for (weir_socklen length = 0; length < options[i].bytes; length++) {
            const int error = set(datagram, options[i].level, options[i].name, ones, length);
            if (error != (length && options[i].byte ? 0 : EINVAL))
                fail_msg("%d, %d of %u bytes: errno %d", options[i].level, options[i].name, length, error);
        }
    const struct weir_linger linger = {1, 1};
    assert_int_equal(set(stream, WEIR_SOL_SOCKET, WEIR_SO_LINGER, &linger, sizeof linger - 1), EINVAL);
    close_bsd();
}

static void values_are_brought_within_bounds(void **state)
{
    struct weir_timeval time = {-1, 0};
    struct weir_linger linger = {1, 100000};
    weir_socklen length = sizeof time;
    (void)state;
    open_bsd();
    assert_int_equal(set(stream, WEIR_SOL_SOCKET, WEIR_SO_RCVTIMEO, &time, sizeof time), 0);  // for ever
    assert_int_equal(get(stream, WEIR_SOL_SOCKET, WEIR_SO_RCVTIMEO, &time, &length), 0);
    assert_true(time.tv_sec == 0 && time.tv_usec == 0);
    time = (struct weir_timeval){1000000000, 5};
    assert_int_equal(set(stream, WEIR_SOL_SOCKET, WEIR_SO_SNDTIMEO, &time, sizeof time), 0);
    length = sizeof time;
    assert_int_equal(get(stream, WEIR_SOL_SOCKET, WEIR_SO_SNDTIMEO, &time, &length), 0);
    assert_true(time.tv_sec == 0 && time.tv_usec == 0);
    static const long fractions[] = {-1, 1000000};
    for (uint32_t i = 0; i < 2; i++) {
        time = (struct weir_timeval){1, fractions[i]};
        assert_int_equal(set(stream, WEIR_SOL_SOCKET, WEIR_SO_RCVTIMEO, &time, sizeof time), EDOM);
    }
    assert_int_equal(set(stream, WEIR_SOL_SOCKET, WEIR_SO_LINGER, &linger, sizeof linger), 0);
    length = sizeof linger;
    assert_int_equal(get(stream, WEIR_SOL_SOCKET, WEIR_SO_LINGER, &linger, &length), 0);
    assert_true(linger.l_onoff == 1 && linger.l_linger == 32767);
    linger = (struct weir_linger){1, -5};
    assert_int_equal(set(stream, WEIR_SOL_SOCKET, WEIR_SO_LINGER, &linger, sizeof linger), 0);
    linger = (struct weir_linger){0, 7};
    assert_int_equal(set(stream, WEIR_SOL_SOCKET, WEIR_SO_LINGER, &linger, sizeof linger), 0);
    length = sizeof linger;
    assert_int_equal(get(stream, WEIR_SOL_SOCKET, WEIR_SO_LINGER, &linger, &length), 0);
    assert_true(linger.l_onoff == 0 && linger.l_linger == 0);
    static const int sizes[] = {0, -1, INT32_MAX};
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(set_int(datagram, WEIR_SOL_SOCKET, WEIR_SO_SNDBUF, sizes[i]), 0);
        assert_true(get_int(datagram, WEIR_SOL_SOCKET, WEIR_SO_SNDBUF) > 0);
    }
    // On and off again, by an int and by a byte.
    const uint8_t byte = 1;
    assert_int_equal(set(datagram, WEIR_IPPROTO_IP, WEIR_IP_PKTINFO, &byte, 1), 0);
    assert_int_equal(get_int(datagram, WEIR_IPPROTO_IP, WEIR_IP_PKTINFO), 1);
    assert_int_equal(set_int(datagram, WEIR_IPPROTO_IP, WEIR_IP_PKTINFO, 0), 0);
    assert_int_equal(get_int(datagram, WEIR_IPPROTO_IP, WEIR_IP_PKTINFO), 0);
    assert_int_equal(set_int(stream, WEIR_IPPROTO_IP, WEIR_IP_MTU_DISCOVER, WEIR_IP_PMTUDISC_DONT), ENOPROTOOPT);
    assert_int_equal(set_int(stream, WEIR_IPPROTO_IP, WEIR_IP_MTU_DISCOVER, WEIR_IP_PMTUDISC_DO), 0);
    close_bsd();
}

// A caller with less room gets as much as there is room for.
static void answers_are_cut_to_the_room(void **state)
{
    uint8_t bytes[8];
    (void)state;
    open_bsd();
    for (weir_socklen room = 0; room <= 8; room++) {
        weir_socklen length = room;
        memset(bytes, 0xa5, sizeof bytes);
        assert_int_equal(get(datagram, WEIR_SOL_SOCKET, WEIR_SO_TYPE, bytes, &length), 0);
        assert_int_equal(length, room < 4 ? room : 4);
        for (weir_socklen at = length; at < sizeof bytes; at++)
            assert_int_equal(bytes[at], 0xa5);
    }
    weir_socklen length = 3;
    char name[16] = "abcdefgh";
    assert_int_equal(get(stream, WEIR_IPPROTO_TCP, WEIR_TCP_CONGESTION, name, &length), 0);
    assert_int_equal(length, 3);
    assert_memory_equal(name + 3, "defgh", 5);
    last_error = 0;
    assert_int_equal(bsd_getsockopt(bsd, stream, WEIR_SOL_SOCKET, WEIR_SO_TYPE, name, NULL), -1);
    assert_int_equal(last_error, EFAULT);
    length = sizeof name;
    assert_int_equal(get(stream, 4711, 1, name, &length), ENOPROTOOPT);
    assert_int_equal(get(datagram, WEIR_IPPROTO_TCP, WEIR_TCP_CONGESTION, name, &length), ENOPROTOOPT);
    assert_int_equal(get(4711, WEIR_SOL_SOCKET, WEIR_SO_TYPE, name, &length), EBADF);
    assert_int_equal(set_int(stream, 4711, 1, 1), ENOPROTOOPT);
    assert_int_equal(set_int(stream, WEIR_SOL_SOCKET, 4711, 1), ENOPROTOOPT);
    assert_int_equal(set(stream, WEIR_SOL_SOCKET, WEIR_SO_BINDTODEVICE, "nothing", 7), ENODEV);
    assert_int_equal(set(stream, WEIR_SOL_SOCKET, WEIR_SO_BINDTODEVICE, "", 0), 0);
    length = sizeof name;
    assert_int_equal(get(stream, WEIR_SOL_SOCKET, WEIR_SO_BINDTODEVICE, name, &length), 0);
    assert_string_equal(name, "");
    close_bsd();
}

#if WEIR_CFG_IP_OPTIONS
static void ip_options_are_kept_and_looked_at(void **state)
{
    static const uint8_t alert[4] = {148, 4, 0, 0}, broken[4] = {148, 200, 0, 0};
    static const uint8_t much[44];
    uint8_t got[100];
    weir_socklen length = sizeof got;
    (void)state;
    open_bsd();
    for (int i = 0; i < 2; i++) {
        const int fd = i ? stream : datagram;
        length = sizeof got;
        assert_int_equal(get(fd, WEIR_IPPROTO_IP, WEIR_IP_OPTIONS, got, &length), 0);
        assert_int_equal(length, 0);
        assert_int_equal(set(fd, WEIR_IPPROTO_IP, WEIR_IP_OPTIONS, alert, sizeof alert), 0);
        assert_int_equal(set(fd, WEIR_IPPROTO_IP, WEIR_IP_OPTIONS, broken, sizeof broken), EINVAL);
        assert_int_equal(set(fd, WEIR_IPPROTO_IP, WEIR_IP_OPTIONS, much, sizeof much), EINVAL);
        length = sizeof got;
        assert_int_equal(get(fd, WEIR_IPPROTO_IP, WEIR_IP_OPTIONS, got, &length), 0);
        assert_int_equal(length, sizeof alert);  // what was refused changed nothing
        assert_memory_equal(got, alert, sizeof alert);
        length = 2;
        assert_int_equal(get(fd, WEIR_IPPROTO_IP, WEIR_IP_OPTIONS, got, &length), 0);
        assert_int_equal(length, 2);
        assert_int_equal(set(fd, WEIR_IPPROTO_IP, WEIR_IP_OPTIONS, NULL, 0), 0);
        length = sizeof got;
        assert_int_equal(get(fd, WEIR_IPPROTO_IP, WEIR_IP_OPTIONS, got, &length), 0);
        assert_int_equal(length, 0);
    }
    length = sizeof got;
    assert_int_equal(get(stream, WEIR_IPPROTO_IP, WEIR_IP_PKTOPTIONS, got, &length), 0);
    assert_int_equal(length, 0);  // of no peer
    close_bsd();
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_that_are_too_short_are_refused),
        cmocka_unit_test(values_are_brought_within_bounds),
        cmocka_unit_test(answers_are_cut_to_the_room),
#if WEIR_CFG_IP_OPTIONS
        cmocka_unit_test(ip_options_are_kept_and_looked_at),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
