// SPDX-License-Identifier: BSD-2-Clause
// profiles: small_apps small6_apps
// DNS messages, with the inputs of SECURITY.md: Ripple20, AMNESIA:33, NAME:WRECK (RFC 9267), INFRA:HALT.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "dns/message.h"

struct builder {
    uint8_t bytes[66000];
    uint32_t length;
    struct dns_question question;
};

static void put16(struct builder *b, uint32_t value)
{
    b->bytes[b->length++] = (uint8_t)(value >> 8);
    b->bytes[b->length++] = (uint8_t)value;
}

// A response that echoes the question; counts are set by the caller.
static void begin(struct builder *b, const char *name, uint32_t answers)
{
    memset(b, 0, sizeof *b);
    b->question = (struct dns_question){.id = 0x1234, .type = DNS_A};
    strcpy(b->question.name, name);
    b->length = dns_query_emit(&b->question, b->bytes, DNS_UDP_MAX);
    assert_true(b->length > 0);
    b->bytes[2] = 0x81;
    b->bytes[3] = 0x80;
    b->bytes[6] = (uint8_t)(answers >> 8);
    b->bytes[7] = (uint8_t)answers;
}

static void name_pointer(struct builder *b, uint32_t target) { put16(b, 0xc000 | target); }

static void name_plain(struct builder *b, const char *name)
{
    struct dns_question question = {.id = 0};
    uint8_t bytes[DNS_UDP_MAX];
    strcpy(question.name, name);
    uint32_t length = dns_query_emit(&question, bytes, sizeof bytes);
    assert_true(length > 0);
    memcpy(b->bytes + b->length, bytes + 12, length - 16);
    b->length += length - 16;
}

static void record_head(struct builder *b, uint32_t type, uint32_t ttl, uint32_t data_length)
{
    put16(b, type);
    put16(b, 1);
    put16(b, ttl >> 16);
    put16(b, ttl);
    put16(b, data_length);
}

static void record_a(struct builder *b, uint32_t ttl, uint32_t address)
{
    record_head(b, DNS_A, ttl, 4);
    put16(b, address >> 16);
    put16(b, address);
}

// Parses a copy of exactly the message's length, so that a sanitizer sees any step beyond it.
static enum dns_result parse(const struct builder *b, struct dns_answer *answer)
{
    uint8_t *copy = malloc(b->length + 1);
    assert_non_null(copy);
    uint8_t *end = copy + 1;
    memcpy(end, b->bytes, b->length);
    enum dns_result result = dns_answer_parse(end, b->length, &b->question, answer);
    free(copy);
    return result;
}

static void a_question_is_emitted(void **state)
{
    static const uint8_t expected[] = {0xab, 0xcd, 1,   0, 0,   1,   0,   0,   0, 0, 0, 0, 3,
                                       'w',  'W',  'w', 4, 'w', 'e', 'i', 'r', 0, 0, 1, 0, 1};
    struct dns_question question = {.id = 0xabcd, .type = DNS_A, .name = "wWw.weir"};
    uint8_t out[DNS_UDP_MAX];
    char name[DNS_NAME_MAX + 1];
    uint32_t end;
    (void)state;
    assert_int_equal(dns_query_emit(&question, out, sizeof out), sizeof expected);
    assert_memory_equal(out, expected, sizeof expected);
    assert_int_equal(dns_query_emit(&question, out, sizeof expected - 1), 0);
    assert_true(dns_name_read(out, sizeof expected, 12, name, &end));
    assert_string_equal(name, "wWw.weir");
    assert_int_equal(end, 22);
}

// RFC 6891 §6.1.2: the root, type 41, 1232 bytes, version 0.
static void an_extended_question_says_what_we_take(void **state)
{
    static const uint8_t expected[] = {0xab, 0xcd, 1, 0, 0, 1, 0,  0,    0,    0, 0, 1, 1, 'w', 0,
                                       0,    1,    0, 1, 0, 0, 41, 0x04, 0xd0, 0, 0, 0, 0, 0,   0};
    const struct dns_question question = {.id = 0xabcd, .type = DNS_A, .extended = true, .name = "w"};
    uint8_t out[DNS_UDP_MAX];
    (void)state;
    assert_int_equal(dns_query_emit(&question, out, sizeof out), sizeof expected);
    assert_memory_equal(out, expected, sizeof expected);
    assert_int_equal(dns_query_emit(&question, out, sizeof expected - 1), 0);
}

// Who did not ask with EDNS is not told by it that it failed; other codes of the extension are failures.
static void an_extended_code_is_heard(void **state)
{
    struct builder b;
    struct dns_answer answer;
    const struct {
        bool extended;
        uint8_t low, high;
        enum dns_result result;
    } cases[] = {{true, 0, 1, DNS_NOT_EXTENDED},  {true, 1, 0, DNS_NOT_EXTENDED},  {true, 4, 0, DNS_NOT_EXTENDED},
                 {true, 7, 1, DNS_SERVER_FAILED}, {true, 2, 0, DNS_SERVER_FAILED}, {true, 0, 0, DNS_NO_DATA},
                 {false, 0, 1, DNS_NO_DATA},      {false, 1, 0, DNS_SERVER_FAILED}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        begin(&b, "w", 0);
        b.question.extended = cases[i].extended;
        b.bytes[3] |= cases[i].low;
        b.bytes[11] = 1;
        b.bytes[b.length++] = 0;
        put16(&b, DNS_OPT);
        put16(&b, 1232);
        put16(&b, (uint32_t)cases[i].high << 8);
        put16(&b, 0);
        put16(&b, 0);
        assert_int_equal(parse(&b, &answer), cases[i].result);
    }
}

static void names_are_judged(void **state)
{
    char name[300];
    (void)state;
    static const char *const good[] = {"a", "a.b", "a.b.", "_sip._tcp.example", "xn--bcher-kva.example"};
    static const char *const bad[] = {"",
                                      ".",
                                      "..",
                                      "a..b",
                                      ".a",
                                      "a b",
                                      "a\tb",
                                      "b\xc3\xbc"
                                      "cher"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        assert_true(dns_name_valid(good[i]));
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(dns_name_valid(bad[i]));
    memset(name, 'a', sizeof name);
    name[64] = '\0';
    assert_false(dns_name_valid(name));  // a label of 64
    name[63] = '\0';
    assert_true(dns_name_valid(name));
    for (int i = 0; i < 253; i++)
        name[i] = i % 2 ? '.' : 'a';
    name[253] = '\0';
    assert_true(dns_name_valid(name));
    name[253] = '.', name[254] = 'a', name[255] = '\0';
    assert_false(dns_name_valid(name));
}

static void case_follows_the_random_bits(void **state)
{
    uint8_t random[32];
    char out[DNS_NAME_MAX + 1];
    (void)state;
    memset(random, 0x55, sizeof random);
    dns_name_randomise(out, "WWW.example.com.", random);
    assert_string_equal(out, "WwW.ExAmPlE.CoM");
    memset(random, 0, sizeof random);
    dns_name_randomise(out, "WWW.example.com", random);
    assert_string_equal(out, "www.example.com");
    assert_true(dns_name_equal("a.B", "A.b"));
    assert_false(dns_name_equal("a.b", "a.bc"));
    assert_false(dns_name_equal("a[b", "a{b"));  // differ in bit 5, and are no letters
}

static void addresses_are_found(void **state)
{
    struct builder b;
    struct dns_answer answer;
    (void)state;
    begin(&b, "www.example", 2);
    name_pointer(&b, 12);
    record_a(&b, 300, 0x0a000001);
    name_pointer(&b, 12);
    record_a(&b, 60, 0x0a000002);
    assert_int_equal(parse(&b, &answer), DNS_FOUND);
    assert_int_equal(answer.count, 2);
    assert_int_equal(weir_addr_to_v4(answer.addresses[1]), 0x0a000002);
    assert_int_equal(answer.ttl_s, 60);
    for (uint32_t length = 0; length < b.length; length++) {  // every cut is refused and read no further than its end
        struct builder cut = b;
        cut.length = length;
        assert_int_not_equal(parse(&cut, &answer), DNS_FOUND);
    }
}

static void a_chain_of_names_is_followed_in_any_order(void **state)
{
    struct builder b;
    struct dns_answer answer;
    (void)state;
    begin(&b, "a.example", 3);
    name_plain(&b, "c.example");
    record_a(&b, 50, 0x01020304);
    name_plain(&b, "b.example");
    record_head(&b, DNS_CNAME, 40, 11);
    name_plain(&b, "c.example");
    name_pointer(&b, 12);
    record_head(&b, DNS_CNAME, 30, 11);
    name_plain(&b, "B.example");
    assert_int_equal(parse(&b, &answer), DNS_FOUND);
    assert_int_equal(answer.count, 1);
    assert_int_equal(weir_addr_to_v4(answer.addresses[0]), 0x01020304);
    assert_int_equal(answer.ttl_s, 30);
}

static void a_circle_of_names_ends(void **state)
{
    struct builder b;
    struct dns_answer answer;
    (void)state;
    begin(&b, "a.example", 2);
    name_pointer(&b, 12);
    record_head(&b, DNS_CNAME, 40, 11);
    name_plain(&b, "b.example");
    name_plain(&b, "b.example");
    record_head(&b, DNS_CNAME, 40, 11);
    name_plain(&b, "a.example");
    assert_int_equal(parse(&b, &answer), DNS_BAD);
}

static void addresses_of_other_names_are_not_taken(void **state)
{
    struct builder b;
    struct dns_answer answer;
    (void)state;
    begin(&b, "www.example", 1);
    name_plain(&b, "bank.example");
    record_a(&b, 300, 0x0a000001);
    assert_int_equal(parse(&b, &answer), DNS_NO_DATA);
    assert_int_equal(answer.count, 0);
}

// Ripple20, CVE-2020-11901: the name a CNAME record holds is longer than its data.
static void a_name_beyond_its_data_is_refused(void **state)
{
    struct builder b;
    struct dns_answer answer;
    (void)state;
    begin(&b, "a.example", 1);
    name_pointer(&b, 12);
    record_head(&b, DNS_CNAME, 40, 1);  // holds two bytes of pointer
    name_pointer(&b, 12);
    assert_int_equal(parse(&b, &answer), DNS_BAD);
    begin(&b, "a.example", 1);
    name_pointer(&b, 12);
    record_head(&b, DNS_CNAME, 40, 12);  // one more than the name
    name_plain(&b, "b.example");
    b.bytes[b.length++] = 0;
    assert_int_equal(parse(&b, &answer), DNS_BAD);
    begin(&b, "a.example", 1);
    name_pointer(&b, 12);
    record_head(&b, DNS_A, 40, 3);
    b.length += 3;
    assert_int_equal(parse(&b, &answer), DNS_BAD);
    begin(&b, "a.example", 1);
    name_pointer(&b, 12);
    record_head(&b, DNS_A, 40, 0xffff);  // beyond the message
    assert_int_equal(parse(&b, &answer), DNS_BAD);
}

// NAME:WRECK and RFC 9267: pointers to themselves, forward, in a circle.
static void bad_pointers_are_refused(void **state)
{
    struct builder b;
    struct dns_answer answer;
    (void)state;
    for (int offset = -1; offset <= 12; offset++) {
        begin(&b, "a.example", 1);
        uint32_t here = b.length;
        name_pointer(&b, offset < 0 ? 0x3fff : here + (uint32_t)offset);
        record_a(&b, 40, 1);
        assert_int_equal(parse(&b, &answer), DNS_BAD);
    }
    begin(&b, "a.example", 2);  // two that lead to each other: the second leads back, the first must lead forward
    uint32_t first = b.length;
    name_pointer(&b, first + 16);
    record_a(&b, 40, 1);
    name_pointer(&b, first);
    record_a(&b, 40, 1);
    assert_int_equal(parse(&b, &answer), DNS_BAD);
    begin(&b, "a.example", 1);
    name_pointer(&b, 3);  // into the header
    record_a(&b, 40, 1);
    assert_int_equal(parse(&b, &answer), DNS_BAD);
    begin(&b, "a.example", 1);
    b.bytes[b.length++] = 0x80;  // a label type that does not exist
    b.bytes[b.length++] = 0;
    record_a(&b, 40, 1);
    assert_int_equal(parse(&b, &answer), DNS_BAD);
}

// A chain of pointers, each to the one before: bounded; and a name that grows beyond 255 octets by labels between
// pointers.
static void long_chains_end(void **state)
{
    struct builder b;
    struct dns_answer answer;
    char name[DNS_NAME_MAX + 1];
    uint32_t end;
    (void)state;
    for (uint32_t hops = 120; hops <= 200; hops += 80) {
        begin(&b, "a.example", 1);
        uint32_t target = 12;
        uint32_t from = b.length;
        for (uint32_t i = 0; i < hops; i++) {
            uint32_t here = b.length;
            name_pointer(&b, target);
            target = here;
        }
        assert_int_equal(dns_name_read(b.bytes, b.length, b.length - 2, name, &end), hops <= DNS_HOPS_MAX);
        assert_true(from < b.length);
    }
    begin(&b, "a.example", 1);
    uint32_t target = 12;
    for (int i = 0; i < 6; i++) {  // 6 labels of 63 octets
        uint32_t here = b.length;
        b.bytes[b.length++] = 63;
        memset(b.bytes + b.length, 'x', 63);
        b.length += 63;
        name_pointer(&b, target);
        target = here;
    }
    assert_true(dns_name_read(b.bytes, b.length, b.length - 66 * 4, name, &end));
    assert_false(dns_name_read(b.bytes, b.length, b.length - 66, name, &end));
    assert_int_equal(parse(&b, &answer), DNS_BAD);
}

// AMNESIA:33: a label of 63 up to the packet's end, 65535 answers that are not there, wrong id.
static void lies_about_lengths_and_counts_are_refused(void **state)
{
    struct builder b;
    struct dns_answer answer;
    (void)state;
    begin(&b, "a.example", 1);
    b.bytes[b.length++] = 63;
    memset(b.bytes + b.length, 'x', 62);
    b.length += 62;
    assert_int_equal(parse(&b, &answer), DNS_BAD);
    begin(&b, "a.example", 65535);
    name_pointer(&b, 12);
    record_a(&b, 40, 1);
    assert_int_equal(parse(&b, &answer), DNS_BAD);
    begin(&b, "a.example", 2);  // says two, has one
    name_pointer(&b, 12);
    record_a(&b, 40, 1);
    assert_int_equal(parse(&b, &answer), DNS_BAD);
    begin(&b, "a.example", 1);
    b.bytes[1] ^= 1;
    assert_int_equal(parse(&b, &answer), DNS_NOT_OURS);
}

static void only_the_answer_to_the_question_counts(void **state)
{
    struct builder b;
    struct dns_answer answer;
    (void)state;
    begin(&b, "a.example", 0);
    b.bytes[2] &= 0x7f;  // a query
    assert_int_equal(parse(&b, &answer), DNS_NOT_OURS);
    begin(&b, "a.example", 0);
    b.bytes[2] |= 0x28;  // another opcode
    assert_int_equal(parse(&b, &answer), DNS_NOT_OURS);
    begin(&b, "a.example", 0);
    b.bytes[5] = 0;  // no question
    assert_int_equal(parse(&b, &answer), DNS_NOT_OURS);
    begin(&b, "a.example", 0);
    b.bytes[13] = 'b';  // of another name
    assert_int_equal(parse(&b, &answer), DNS_NOT_OURS);
    begin(&b, "a.example", 0);
    b.bytes[13] = 'A';  // in another case
    assert_int_equal(parse(&b, &answer), DNS_WRONG_CASE);
    begin(&b, "a.example", 0);
    b.bytes[b.length - 3] = 28;  // of another type
    assert_int_equal(parse(&b, &answer), DNS_NOT_OURS);
    begin(&b, "a.example", 0);
    b.bytes[2] |= 2;
    assert_int_equal(parse(&b, &answer), DNS_TRUNCATED);
    begin(&b, "a.example", 0);
    b.bytes[3] |= 2;
    assert_int_equal(parse(&b, &answer), DNS_SERVER_FAILED);
}

static void ttls_are_bounded(void **state)
{
    struct builder b;
    struct dns_answer answer;
    (void)state;
    begin(&b, "a.example", 1);
    name_pointer(&b, 12);
    record_a(&b, 0x7fffffff, 1);
    assert_int_equal(parse(&b, &answer), DNS_FOUND);
    assert_int_equal(answer.ttl_s, DNS_TTL_MAX_S);
    begin(&b, "a.example", 1);
    name_pointer(&b, 12);
    record_a(&b, 0x80000000, 1);  // RFC 2181 §8
    assert_int_equal(parse(&b, &answer), DNS_FOUND);
    assert_int_equal(answer.ttl_s, 0);
}

static void a_negative_answer_says_how_long_it_holds(void **state)
{
    struct builder b;
    struct dns_answer answer;
    (void)state;
    begin(&b, "a.example", 0);
    b.bytes[3] |= 3;
    b.bytes[9] = 1;  // authority
    name_pointer(&b, 14);
    record_head(&b, DNS_SOA, 900, 24);
    name_pointer(&b, 14);
    name_pointer(&b, 14);
    for (int i = 0; i < 4; i++)
        put16(&b, 0), put16(&b, 7);
    put16(&b, 0), put16(&b, 600);  // MINIMUM
    assert_int_equal(parse(&b, &answer), DNS_NO_NAME);
    assert_int_equal(answer.ttl_s, 600);
    begin(&b, "a.example", 0);
    b.bytes[3] |= 3;
    assert_int_equal(parse(&b, &answer), DNS_NO_NAME);
    assert_int_equal(answer.ttl_s, 0);
}

// Names that would read alike as text, and bytes nobody may print.
static void odd_labels_are_refused(void **state)
{
    static const uint8_t dotted[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3, 'a', '.', 'b', 0};
    static const uint8_t control[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 'a', 0, 0};
    char name[DNS_NAME_MAX + 1];
    uint32_t end;
    (void)state;
    assert_false(dns_name_read(dotted, sizeof dotted, 12, name, &end));
    assert_false(dns_name_read(control, sizeof control, 12, name, &end));
}

static void noise_is_survived(void **state)
{
    struct builder b;
    struct dns_answer answer;
    uint32_t random = 1;
    (void)state;
    for (int round = 0; round < 20000; round++) {
        begin(&b, "a.example", 3);
        for (int i = 0; i < 60; i++) {
            random = random * 1664525u + 1013904223u;
            b.bytes[b.length++] =
                random >> 31 ? (uint8_t)(random >> 20) : (uint8_t)(0xc0 * (random >> 30 & 1) + (random >> 24 & 15));
        }
        (void)parse(&b, &answer);
        assert_true(answer.count <= DNS_ADDRESSES);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_question_is_emitted),
        cmocka_unit_test(an_extended_question_says_what_we_take),
        cmocka_unit_test(an_extended_code_is_heard),
        cmocka_unit_test(names_are_judged),
        cmocka_unit_test(case_follows_the_random_bits),
        cmocka_unit_test(addresses_are_found),
        cmocka_unit_test(a_chain_of_names_is_followed_in_any_order),
        cmocka_unit_test(a_circle_of_names_ends),
        cmocka_unit_test(addresses_of_other_names_are_not_taken),
        cmocka_unit_test(a_name_beyond_its_data_is_refused),
        cmocka_unit_test(bad_pointers_are_refused),
        cmocka_unit_test(long_chains_end),
        cmocka_unit_test(lies_about_lengths_and_counts_are_refused),
        cmocka_unit_test(only_the_answer_to_the_question_counts),
        cmocka_unit_test(ttls_are_bounded),
        cmocka_unit_test(a_negative_answer_says_how_long_it_holds),
        cmocka_unit_test(odd_labels_are_refused),
        cmocka_unit_test(noise_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
