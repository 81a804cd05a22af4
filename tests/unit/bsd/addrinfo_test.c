// SPDX-License-Identifier: BSD-2-Clause
// not on mips: real time, eventfd and ppoll under emulation
#include "world.h"

#include <string.h>

static int resolve(void *context, struct weir_bsd *bsd, const char *name, struct weir_addr *out, int most)
{
    (void)bsd;
    assert_true(most >= 2);
    if (!strcmp(name, "later"))
        return WEIR_EAI_AGAIN;
    if (strcmp(name, "weir.example"))
        return 0;
    out[0] = weir_ip4(192, 0, 2, 1);
    out[1] = weir_ip4(192, 0, 2, 2);
    ++*(int *)context;
    return 2;
}

static uint32_t address_of(const struct weir_addrinfo *info, uint16_t *port)
{
    struct weir_sockaddr_in in;
    memcpy(&in, info->ai_addr, sizeof in);
    *port = weir_ntohs(in.sin_port);
    return weir_ntohl(in.sin_addr.s_addr);
}

static void numeric_names(void **state)
{
    struct world w;
    struct weir_addrinfo *list;
    const struct weir_addrinfo hints = {.ai_flags = WEIR_AI_NUMERICHOST | WEIR_AI_CANONNAME,
                                        .ai_family = WEIR_AF_INET,
                                        .ai_socktype = WEIR_SOCK_STREAM};
    uint16_t port;
    (void)state;
    world_open(&w, false, NULL);
    assert_int_equal(bsd_getaddrinfo(w.bsd, "10.1.2.3", "8080", &hints, &list), 0);
    assert_int_equal(address_of(list, &port), 0x0a010203);
    assert_int_equal(port, 8080);
    assert_int_equal(list->ai_socktype, WEIR_SOCK_STREAM);
    assert_int_equal(list->ai_protocol, WEIR_IPPROTO_TCP);
    assert_int_equal(list->ai_addrlen, sizeof(struct weir_sockaddr_in));
    assert_string_equal(list->ai_canonname, "10.1.2.3");
    assert_null(list->ai_next);
    bsd_freeaddrinfo(w.bsd, list);
    assert_int_equal(bsd_getaddrinfo(w.bsd, "not.numeric", NULL, &hints, &list), WEIR_EAI_NONAME);
    assert_int_equal(bsd_getaddrinfo(w.bsd, "1.2.3.4", NULL, NULL, &list), 0);  // one answer for each kind
    int kinds = 0;
    for (const struct weir_addrinfo *at = list; at; at = at->ai_next)
        kinds++;
    assert_int_equal(kinds, 3);
    bsd_freeaddrinfo(w.bsd, list);
    world_close(&w);
}

static void services_and_passive(void **state)
{
    struct world w;
    struct weir_addrinfo *list;
    struct weir_addrinfo hints = {.ai_flags = WEIR_AI_PASSIVE, .ai_family = WEIR_AF_INET};
    uint16_t port;
    (void)state;
    world_open(&w, false, NULL);
    assert_int_equal(bsd_getaddrinfo(w.bsd, NULL, "http", &hints, &list), 0);
    assert_int_equal(address_of(list, &port), 0);
    assert_int_equal(port, 80);
    assert_int_equal(list->ai_socktype, WEIR_SOCK_STREAM);
    assert_null(list->ai_next);
    bsd_freeaddrinfo(w.bsd, list);
    hints = (struct weir_addrinfo){.ai_family = WEIR_AF_INET, .ai_socktype = WEIR_SOCK_DGRAM};
    assert_int_equal(bsd_getaddrinfo(w.bsd, NULL, "domain", &hints, &list), 0);
    assert_int_equal(address_of(list, &port), LOCALHOST);
    assert_int_equal(port, 53);
    bsd_freeaddrinfo(w.bsd, list);
    assert_int_equal(bsd_getaddrinfo(w.bsd, NULL, "https", &hints, &list), WEIR_EAI_SERVICE);
    assert_int_equal(bsd_getaddrinfo(w.bsd, NULL, "nonesuch", NULL, &list), WEIR_EAI_SERVICE);
    assert_int_equal(bsd_getaddrinfo(w.bsd, NULL, "65536", NULL, &list), WEIR_EAI_SERVICE);
    hints.ai_flags = WEIR_AI_NUMERICSERV;
    assert_int_equal(bsd_getaddrinfo(w.bsd, NULL, "http", &hints, &list), WEIR_EAI_NONAME);
    world_close(&w);
}

static void names_go_to_the_resolver(void **state)
{
    struct world w;
    struct weir_addrinfo *list;
    const struct weir_addrinfo hints = {.ai_family = WEIR_AF_INET, .ai_socktype = WEIR_SOCK_STREAM};
    int asked = 0;
    uint16_t port;
    (void)state;
    world_open(&w, false, NULL);
    assert_int_equal(bsd_getaddrinfo(w.bsd, "weir.example", "80", &hints, &list), WEIR_EAI_NONAME);
    bsd_set_resolver(w.bsd, resolve, &asked);
    assert_int_equal(bsd_getaddrinfo(w.bsd, "weir.example", "80", &hints, &list), 0);
    assert_int_equal(address_of(list, &port), 0xc0000201);
    assert_int_equal(address_of(list->ai_next, &port), 0xc0000202);
    assert_null(list->ai_next->ai_next);
    bsd_freeaddrinfo(w.bsd, list);
    assert_int_equal(bsd_getaddrinfo(w.bsd, "later", "80", &hints, &list), WEIR_EAI_AGAIN);
    assert_int_equal(bsd_getaddrinfo(w.bsd, "nobody", "80", &hints, &list), WEIR_EAI_NONAME);
    assert_int_equal(bsd_getaddrinfo(w.bsd, "localhost", "80", &hints, &list), 0);
    assert_int_equal(address_of(list, &port), LOCALHOST);
    bsd_freeaddrinfo(w.bsd, list);
    assert_int_equal(asked, 1);
    world_close(&w);
}

static void wrong_hints(void **state)
{
    struct world w;
    struct weir_addrinfo *list, hints = {0};
    char name[400];
    (void)state;
    world_open(&w, false, NULL);
    assert_int_equal(bsd_getaddrinfo(w.bsd, NULL, NULL, NULL, &list), WEIR_EAI_NONAME);
    hints.ai_family = WEIR_AF_INET6;
    assert_int_equal(bsd_getaddrinfo(w.bsd, "1.2.3.4", NULL, &hints, &list),
                     WEIR_CFG_IP6 ? WEIR_EAI_NONAME : WEIR_EAI_FAMILY);
    hints.ai_family = 11;
    assert_int_equal(bsd_getaddrinfo(w.bsd, "1.2.3.4", NULL, &hints, &list), WEIR_EAI_FAMILY);
    hints = (struct weir_addrinfo){.ai_socktype = 9};
    assert_int_equal(bsd_getaddrinfo(w.bsd, "1.2.3.4", NULL, &hints, &list), WEIR_EAI_SOCKTYPE);
    hints = (struct weir_addrinfo){.ai_flags = 1 << 20};
    assert_int_equal(bsd_getaddrinfo(w.bsd, "1.2.3.4", NULL, &hints, &list), WEIR_EAI_BADFLAGS);
    hints = (struct weir_addrinfo){.ai_flags = WEIR_AI_CANONNAME};
    assert_int_equal(bsd_getaddrinfo(w.bsd, NULL, "80", &hints, &list), WEIR_EAI_BADFLAGS);
    memset(name, 'a', sizeof name);
    name[sizeof name - 1] = '\0';
    assert_int_equal(bsd_getaddrinfo(w.bsd, name, NULL, NULL, &list), WEIR_EAI_OVERFLOW);
    for (int error = -13; error <= 0; error++)
        assert_non_null(bsd_gai_strerror(error));
    assert_string_equal(bsd_gai_strerror(WEIR_EAI_NONAME), "name or service not known");
    world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(numeric_names), cmocka_unit_test(services_and_passive),
                                       cmocka_unit_test(names_go_to_the_resolver), cmocka_unit_test(wrong_hints)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
