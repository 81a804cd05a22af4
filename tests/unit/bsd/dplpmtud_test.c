// SPDX-License-Identifier: BSD-2-Clause
// needs IPv6
// not on mips: real time, eventfd and ppoll under emulation
// Path MTU discovery by probes for BSD sockets, of both families.
#include "api/bsd/weir_dplpmtud.h"
#include "world.h"

#include <string.h>

struct ends {
    struct world w;
    int from, to;
};

static void open_ends(struct ends *e, int family)
{
    struct weir_sockaddr_in6 six = {.sin6_family = WEIR_AF_INET6, .sin6_port = weir_htons(5000)};
    const struct weir_sockaddr_in four = world_address(LOCALHOST, 5000);
    world_open(&e->w, false, NULL);
    assert_int_equal(weir_inet_pton(WEIR_AF_INET6, "::1", &six.sin6_addr), 1);
    e->from = bsd_socket(e->w.bsd, family, WEIR_SOCK_DGRAM, 0);
    e->to = bsd_socket(e->w.bsd, family, WEIR_SOCK_DGRAM, 0);
    if (family == WEIR_AF_INET6) {
        assert_int_equal(bsd_bind(e->w.bsd, e->to, ADDRESS(six)), 0);
        assert_int_equal(bsd_connect(e->w.bsd, e->from, ADDRESS(six)), 0);
    } else {
        assert_int_equal(bsd_bind(e->w.bsd, e->to, ADDRESS(four)), 0);
        assert_int_equal(bsd_connect(e->w.bsd, e->from, ADDRESS(four)), 0);
    }
}

static int set_udp(struct ends *e, int name, const void *value, weir_socklen length)
{
    return bsd_setsockopt(e->w.bsd, e->from, WEIR_IPPROTO_UDP, name, value, length);
}

static struct weir_dplpmtud_info info_of(struct ends *e)
{
    struct weir_dplpmtud_info info;
    weir_socklen length = sizeof info;
    assert_int_equal(bsd_getsockopt(e->w.bsd, e->from, WEIR_IPPROTO_UDP, WEIR_UDP_DPLPMTUD, &info, &length), 0);
    assert_int_equal(length, sizeof info);
    return info;
}

// The probe that is due goes, arrives, and is acknowledged.
static void pass(struct ends *e)
{
    static uint8_t bytes[65536];
    const size_t length = info_of(e).probe;
    struct weir_pollfd news = {e->from, WEIR_POLLPRI, 0};
    assert_true(length > 0);
    assert_int_equal(bsd_poll(e->w.bsd, &news, 1, 0), 1);
    assert_int_equal(news.revents, WEIR_POLLPRI);
    assert_int_equal(bsd_send(e->w.bsd, e->from, bytes, length, WEIR_MSG_DPLPMTUD_PROBE), length);
    assert_int_equal(bsd_recv(e->w.bsd, e->to, bytes, sizeof bytes, 0), length);
    const struct weir_dplpmtud_report report = {WEIR_DPLPMTUD_ACKED, (uint32_t)length};
    assert_int_equal(set_udp(e, WEIR_UDP_DPLPMTUD_REPORT, &report, sizeof report), 0);
}

static void a_search_from_its_beginning_to_its_end(void **state)
{
    static const int families[] = {WEIR_AF_INET, WEIR_AF_INET6};
    static uint8_t bytes[2000];
    (void)state;
    for (int i = 0; i < 2; i++) {
        const struct weir_dplpmtud_settings settings = {.max_plpmtu = 1400};
        struct ends e;
        open_ends(&e, families[i]);
        assert_int_equal(info_of(&e).state, WEIR_DPLPMTUD_DISABLED);
        assert_int_equal(bsd_send(e.w.bsd, e.from, bytes, sizeof bytes, 0), sizeof bytes);
        assert_int_equal(bsd_recv(e.w.bsd, e.to, bytes, sizeof bytes, 0), sizeof bytes);
        assert_int_equal(set_udp(&e, WEIR_UDP_DPLPMTUD, &settings, sizeof settings), 0);
        assert_errno(bsd_send(e.w.bsd, e.from, bytes, sizeof bytes, 0), EMSGSIZE);
        pass(&e);
        pass(&e);
        assert_int_equal(info_of(&e).state, WEIR_DPLPMTUD_SEARCH_COMPLETE);
        assert_int_equal(info_of(&e).plpmtu, 1400);
        assert_int_equal(bsd_send(e.w.bsd, e.from, bytes, 1400, 0), 1400);
        assert_errno(bsd_send(e.w.bsd, e.from, bytes, 1401, 0), EMSGSIZE);
        const struct weir_dplpmtud_report black_hole = {WEIR_DPLPMTUD_BLACK_HOLE, 0};
        assert_int_equal(set_udp(&e, WEIR_UDP_DPLPMTUD_REPORT, &black_hole, sizeof black_hole), 0);
        assert_int_equal(info_of(&e).state, WEIR_DPLPMTUD_BASE);
        assert_int_equal(set_udp(&e, WEIR_UDP_DPLPMTUD, NULL, 0), 0);
        assert_int_equal(info_of(&e).state, WEIR_DPLPMTUD_DISABLED);
        assert_int_equal(bsd_send(e.w.bsd, e.from, bytes, sizeof bytes, 0), sizeof bytes);
        world_close(&e.w);
    }
}

static void what_is_wrong_is_refused(void **state)
{
    static uint8_t bytes[1200];
    const struct weir_dplpmtud_settings settings = {0}, bad = {.probe_timer_ms = 3};
    const struct weir_dplpmtud_report report = {WEIR_DPLPMTUD_ACKED, 1200};
    const struct weir_sockaddr_in to = world_address(LOCALHOST, 5000);
    struct ends e;
    (void)state;
    open_ends(&e, WEIR_AF_INET);
    assert_errno(set_udp(&e, WEIR_UDP_DPLPMTUD, &settings, sizeof settings - 1), EINVAL);
    assert_errno(set_udp(&e, WEIR_UDP_DPLPMTUD, &bad, sizeof bad), EINVAL);
    assert_errno(set_udp(&e, WEIR_UDP_DPLPMTUD_REPORT, &report, 2), EINVAL);
    assert_errno(set_udp(&e, WEIR_UDP_DPLPMTUD_REPORT, &report, sizeof report), EINVAL);
    assert_errno(set_udp(&e, 1, &report, sizeof report), ENOPROTOOPT);
    assert_errno(bsd_send(e.w.bsd, e.from, bytes, 1200, WEIR_MSG_DPLPMTUD_PROBE), EINVAL);
    assert_int_equal(set_udp(&e, WEIR_UDP_DPLPMTUD, &settings, sizeof settings), 0);
    assert_errno(bsd_send(e.w.bsd, e.from, bytes, 1100, WEIR_MSG_DPLPMTUD_PROBE), EINVAL);
    // a probe goes to the peer
    assert_errno(bsd_sendto(e.w.bsd, e.from, bytes, 1200, WEIR_MSG_DPLPMTUD_PROBE, ADDRESS(to)), EINVAL);
    const int open = bsd_socket(e.w.bsd, WEIR_AF_INET, WEIR_SOCK_DGRAM, 0),
              stream = bsd_socket(e.w.bsd, WEIR_AF_INET, WEIR_SOCK_STREAM, 0);
    assert_errno(bsd_setsockopt(e.w.bsd, open, WEIR_IPPROTO_UDP, WEIR_UDP_DPLPMTUD, &settings, sizeof settings),
                 ENOTCONN);
    assert_errno(bsd_setsockopt(e.w.bsd, stream, WEIR_IPPROTO_UDP, WEIR_UDP_DPLPMTUD, &settings, sizeof settings),
                 ENOPROTOOPT);
    world_close(&e.w);
}

static void the_mode_of_probes_is_an_option_of_both_families(void **state)
{
    static const struct {
        int family, level, name;
    } rows[] = {{WEIR_AF_INET, WEIR_IPPROTO_IP, WEIR_IP_MTU_DISCOVER},
                {WEIR_AF_INET6, WEIR_IPPROTO_IPV6, WEIR_IPV6_MTU_DISCOVER}};
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct ends e;
        open_ends(&e, rows[i].family);
        const int modes[] = {WEIR_IP_PMTUDISC_PROBE, WEIR_IP_PMTUDISC_DO, WEIR_IP_PMTUDISC_DONT};
        for (int k = 0; k < 3; k++) {
            int got = -1;
            weir_socklen length = sizeof got;
            assert_int_equal(bsd_setsockopt(e.w.bsd, e.from, rows[i].level, rows[i].name, &modes[k], sizeof modes[k]),
                             0);
            assert_int_equal(bsd_getsockopt(e.w.bsd, e.from, rows[i].level, rows[i].name, &got, &length), 0);
            assert_int_equal(got, modes[k]);
        }
        world_close(&e.w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_search_from_its_beginning_to_its_end),
        cmocka_unit_test(what_is_wrong_is_refused),
        cmocka_unit_test(the_mode_of_probes_is_an_option_of_both_families),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
