// SPDX-License-Identifier: BSD-2-Clause
// only without IPv4
// The resolver in a build of IPv6 alone: it asks for AAAA, and for A where a NAT64 makes use of the answer.
#include "apps/dns/questions.h"

static void open_all(struct bench *bench)
{
    bench_open(bench);
    resolver_open(bench, LOOPBACK6);
}

#define assert_one(both, addr) \
    assert_true((both)->result == DNS_FOUND && (both)->count == 1 && weir_addr_equal((both)->addresses[0], addr))

static void addresses_of_ip4_are_not_asked_for(void **state)
{
    struct bench bench;
    struct dns_both both;
    (void)state;
    open_all(&bench);
    ask(&bench, &both, "both.example", 100000);
    assert_one(&both, NAME_SIX);
    assert_int_equal(name_server.asked, 1);
    ask(&bench, &both, "four.example", 100000);
    assert_int_equal(both.result, DNS_NO_DATA);
    assert_int_equal(name_server.asked, 2);
    ask(&bench, &both, "xyz.example", 100000);
    assert_int_equal(both.result, DNS_NO_NAME);
    assert_int_equal(name_server.asked, 3);
    name_server.silent_type = DNS_AAAA;
    ask(&bench, &both, "six.example", 60000000);
    assert_int_equal(both.result, WEIR_TIMED_OUT);
    close_all(&bench);
}

static void an_address_as_text_is_no_name(void **state)
{
    struct bench bench;
    struct dns_both both;
    (void)state;
    open_all(&bench);
    ask(&bench, &both, "192.0.2.33", 100000);
    assert_int_equal(both.result, DNS_NO_DATA);
    ask(&bench, &both, "2001:db8::9", 100000);
    assert_one(&both, ip6_of(0x20010db8u, 0, 0, 9));
    ask(&bench, &both, "localhost", 100000);
    assert_one(&both, LOOPBACK6);
    assert_int_equal(name_server.asked, 0);
    close_all(&bench);
}

static void a_nat64_leads_to_hosts_of_ip4(void **state)
{
    struct bench bench;
    struct dns_both both;
    (void)state;
    open_all(&bench);
    assert_int_equal(weir_netif_ip6(&bench.f.netif, WEIR_IP6_AUTO, NULL), WEIR_OK);
    say_nat64(&bench);
    ask(&bench, &both, "192.0.2.33", 100000);
    assert_one(&both, ip6_of(0x0064ff9bu, 0, 0, 0xc0000221u));
    assert_int_equal(name_server.asked, 0);
    ask(&bench, &both, "four.example", 100000);
    assert_one(&both, ip6_of(0x0064ff9bu, 0, 0, 0x0a090807u));
    assert_int_equal(name_server.asked, 2);
    ask(&bench, &both, "both.example", 100000);
    assert_one(&both, NAME_SIX);
    assert_int_equal(name_server.asked, 4);
    ask(&bench, &both, "xyz.example", 100000);
    assert_int_equal(both.result, DNS_NO_NAME);
    close_all(&bench);
}

static void answer_done(void *context, int result, const struct dns_answer *answer)
{
    assert_int_equal(result, DNS_FOUND);
    *(struct dns_answer *)context = *answer;
}

// Of programs that ask for one kind.
static void one_kind_is_that_of_ip6(void **state)
{
    struct bench bench;
    struct dns_answer answer, later = {0};
    (void)state;
    open_all(&bench);
    assert_int_equal(dns_resolve(&dns, "both.example", &answer, answer_done, &later), WEIR_IN_PROGRESS);
    bench_run(&bench, 100000);
    assert_int_equal(later.count, 1);
    assert_true(weir_addr_equal(later.addresses[0], NAME_SIX));
    close_all(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_of_ip4_are_not_asked_for),
        cmocka_unit_test(an_address_as_text_is_no_name),
        cmocka_unit_test(a_nat64_leads_to_hosts_of_ip4),
        cmocka_unit_test(one_kind_is_that_of_ip6),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
