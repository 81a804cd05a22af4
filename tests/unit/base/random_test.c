// SPDX-License-Identifier: BSD-2-Clause
// profiles: tiny small
#include "base/random.h"

#include "base_test.h"

// Key 00 01 … 0f, as in the paper's appendix A.
static const struct siphash_key key = {0x0706050403020100u, 0x0f0e0d0c0b0a0908u};

// SipHash-2-4 of 00 01 02 … (length - 1), from the reference implementation's vectors; length 15 is the example worked
// in the paper.
static void siphash_2_4_vectors(void **state)
{
    (void)state;
    static const uint64_t want[16] = {
        0x726fdb47dd0e0e31u, 0x74f839c593dc67fdu, 0x0d6c8009d9a94f5au, 0x85676696d7fb7e2du,
        0xcf2794e0277187b7u, 0x18765564cd99a68du, 0xcbc9466e58fee3ceu, 0xab0200f58b01d137u,
        0x93f5f5799a932462u, 0x9e0082df0ba9e4b0u, 0x7a5dbbc594ddb9f3u, 0xf4b32f46226bada7u,
        0x751e8fbc860ee5fbu, 0x14ea5627c0843d90u, 0xf723ca908e7af2eeu, 0xa129ca6149be45e5u,
    };
    uint8_t data[16];
    for (uint8_t i = 0; i < 16; i++)
        data[i] = i;
    for (size_t length = 0; length < 16; length++)
        assert_true(siphash(&key, data, length) == want[length]);
    assert_true(siphash(&key, data + 1, 7) != want[7]);
}

static uint64_t rotate(uint64_t x, int bits) { return x << bits | x >> (64 - bits); }

// SipHash-1-3 of 16 bytes, written down once more, step by step, as the paper has it.
static uint32_t words_by_the_book(uint64_t a, uint64_t b)
{
    uint64_t v[4] = {key.k0 ^ 0x736f6d6570736575u, key.k1 ^ 0x646f72616e646f6du, key.k0 ^ 0x6c7967656e657261u,
                     key.k1 ^ 0x7465646279746573u};
    const uint64_t input[3] = {a, b, (uint64_t)16 << 56};
    for (int round = 0; round < 6; round++) {
        if (round < 3)
            v[3] ^= input[round];
        if (round == 3)
            v[2] ^= 0xff;
        v[0] += v[1];
        v[1] = rotate(v[1], 13);
        v[1] ^= v[0];
        v[0] = rotate(v[0], 32);
        v[2] += v[3];
        v[3] = rotate(v[3], 16);
        v[3] ^= v[2];
        v[0] += v[3];
        v[3] = rotate(v[3], 21);
        v[3] ^= v[0];
        v[2] += v[1];
        v[1] = rotate(v[1], 17);
        v[1] ^= v[2];
        v[2] = rotate(v[2], 32);
        if (round < 3)
            v[0] ^= input[round];
    }
    const uint64_t hash = v[0] ^ v[1] ^ v[2] ^ v[3];
    return (uint32_t)(hash ^ hash >> 32);
}

static void siphash_words_is_siphash_1_3(void **state)
{
    (void)state;
    for (int i = 0; i < 200; i++) {
        uint64_t a, b;
        test_fill(&a, 8);
        test_fill(&b, 8);
        assert_int_equal(siphash_words(&key, a, b), words_by_the_book(a, b));
    }
}

static void siphash_ends_is_siphash_2_4(void **state)
{
    (void)state;
    for (int i = 0; i < 200; i++) {
        uint8_t bytes[12];
        test_fill(bytes, sizeof bytes);
        uint64_t addresses = 0;
        uint32_t ports = 0;
        for (unsigned at = 0; at < 8; at++)
            addresses |= (uint64_t)bytes[at] << 8 * at;
        for (unsigned at = 0; at < 4; at++)
            ports |= (uint32_t)bytes[8 + at] << 8 * at;
        assert_true(siphash_ends(&key, addresses, ports) == siphash(&key, bytes, sizeof bytes));
    }
}

static void the_generator_follows_its_seed(void **state)
{
    (void)state;
    struct random a, b, c;
    uint8_t seed[16] = {1, 2, 3};
    random_seed(&a, seed);
    random_seed(&b, seed);
    seed[15] = 1;
    random_seed(&c, seed);
    int same = 0;
    for (int i = 0; i < 1000; i++) {
        const uint32_t x = random_u32(&a);
        assert_int_equal(x, random_u32(&b));
        same += x == random_u32(&c);
    }
    assert_true(same < 3);
}

static void keys_are_forgotten(void **state)
{
    (void)state;
    struct random random;
    const uint8_t seed[16] = {9};
    random_seed(&random, seed);
    const struct siphash_key first = random.key;
    assert_true(first.k0 != 9);
    for (int i = 0; i < 17; i++)
        random_u32(&random);
    assert_true(random.key.k0 != first.k0 && random.key.k1 != first.k1);
    const struct siphash_key second = random.key;
    uint8_t out[3];
    random_bytes(&random, out, 3);
    assert_true(random.key.k0 != second.k0);
}

static void stirring_changes_what_follows(void **state)
{
    (void)state;
    struct random a, b;
    const uint8_t seed[16] = {0};
    random_seed(&a, seed);
    random_seed(&b, seed);
    random_stir(&a, "x", 1);
    random_stir(&b, "y", 1);
    assert_true(random_u32(&a) != random_u32(&b));
    random_seed(&a, seed);
    random_seed(&b, seed);
    random_stir(&a, "", 0);
    assert_true(random_u32(&a) != random_u32(&b));
}

static void few_bits_are_uniform_and_stirring_forgets_them(void **state)
{
    (void)state;
    struct random random, other;
    const uint8_t seed[16] = {8};
    random_seed(&random, seed);
    uint32_t seen[8] = {0};
    for (int i = 0; i < 16000; i++)
        seen[random_bits(&random, 3)]++;
    for (int i = 0; i < 8; i++)
        assert_in_range(seen[i], 1800, 2200);  // standard deviation 42
    assert_true(random_bits(&random, 16) <= 0xffff);
    random_bits(&random, 1);
    other = random;
    random_stir(&random, "news", 4);
    uint32_t same = 0;
    for (int i = 0; i < 32; i++)
        same += random_bits(&random, 8) == random_bits(&other, 8);
    assert_true(same < 8);
}

static void below_is_uniform_and_below(void **state)
{
    (void)state;
    struct random random;
    const uint8_t seed[16] = {7};
    random_seed(&random, seed);
    assert_int_equal(random_below(&random, 0), 0);
    assert_int_equal(random_below(&random, 1), 0);
    uint32_t seen[10] = {0};
    for (int i = 0; i < 20000; i++)
        seen[random_below(&random, 10)]++;
    for (int i = 0; i < 10; i++)
        assert_in_range(seen[i], 1800, 2200);  // standard deviation 42
    uint32_t low = 0;  // a bound where a plain modulo or product would favour one third two to one
    for (int i = 0; i < 9000; i++) {
        const uint32_t x = random_below(&random, 0xc0000000u);
        assert_true(x < 0xc0000000u);
        low += x < 0x40000000u;
    }
    assert_in_range(low, 2800, 3200);
}

static void bytes_of_any_length_and_no_more(void **state)
{
    (void)state;
    struct random random;
    const uint8_t seed[16] = {3};
    random_seed(&random, seed);
    uint8_t out[40];
    uint32_t ones = 0;
    for (size_t length = 0; length <= 32; length++) {
        memset(out, 0x5a, sizeof out);
        random_bytes(&random, out, length);
        for (size_t i = length; i < sizeof out; i++)
            assert_int_equal(out[i], 0x5a);
    }
    for (int i = 0; i < 500; i++) {
        random_bytes(&random, out, 20);
        for (int k = 0; k < 20; k++)
            ones += (uint32_t)__builtin_popcount(out[k]);
    }
    assert_in_range(ones, 39400, 40600);  // of 80,000 bits; standard deviation 141
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(siphash_2_4_vectors),
        cmocka_unit_test(siphash_words_is_siphash_1_3),
        cmocka_unit_test(siphash_ends_is_siphash_2_4),
        cmocka_unit_test(the_generator_follows_its_seed),
        cmocka_unit_test(keys_are_forgotten),
        cmocka_unit_test(stirring_changes_what_follows),
        cmocka_unit_test(few_bits_are_uniform_and_stirring_forgets_them),
        cmocka_unit_test(below_is_uniform_and_below),
        cmocka_unit_test(bytes_of_any_length_and_no_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
