// SPDX-License-Identifier: BSD-2-Clause
// A sum may be gathered in any order and in words of any size, as 2^16 is 1 modulo 65535 (RFC 1071 §2): only the total,
// folded to 16 bits, counts. It is kept exact, so that zero comes out for zeros only, as ones'-complement addition has
// it.
//
// The SSE2 routine reads 16-bit words as signed after flipping their top bits (w ^ 0x8000 is w - 32768), as the CPU
// multiplies and adds pairs of signed words into 32 bits in one instruction; the 32768 for each word are added at the
// end.
#include "cpu.h"

#include <string.h>

// The upper half of x + (x with its halves exchanged) is the sum of the halves with the carry brought round.
static inline __attribute__((always_inline)) uint16_t fold(uint64_t sum)
{
    const uint32_t low = (uint32_t)((sum + (sum << 32 | sum >> 32)) >> 32);
    return (uint16_t)((low + (low << 16 | low >> 16)) >> 16);
}

// The last bytes, fewer than 16.
static inline __attribute__((always_inline)) uint64_t sum_rest(uint8_t *q, const uint8_t *p, size_t bytes, bool copy)
{
    uint64_t sum = 0, word8;
    uint32_t word4;
    uint16_t word2;
    if (bytes & 8) {
        memcpy(&word8, p, 8);
        if (copy)
            memcpy(q, &word8, 8);
        sum = (word8 & 0xffffffff) + (word8 >> 32);
        p += 8;
        q += copy ? 8 : 0;
    }
    if (bytes & 4) {
        memcpy(&word4, p, 4);
        if (copy)
            memcpy(q, &word4, 4);
        sum += word4;
        p += 4;
        q += copy ? 4 : 0;
    }
    if (bytes & 2) {
        memcpy(&word2, p, 2);
        if (copy)
            memcpy(q, &word2, 2);
        sum += word2;
        p += 2;
        q += copy ? 2 : 0;
    }
    if (bytes & 1) {
        const uint8_t padded[2] = {*p, 0};
        memcpy(&word2, padded, 2);
        if (copy)
            *q = *p;
        sum += word2;
    }
    return sum;
}

// --- 64-bit words ----------------------------------------------------------------------------------------------------

static inline __attribute__((always_inline)) uint16_t words(uint8_t *q, const uint8_t *p, size_t bytes, bool copy)
{
    uint64_t sum = 0, carries = 0;
    for (; bytes >= 16; bytes -= 16, p += 16, q += copy ? 16 : 0) {
        uint64_t a, b;
        memcpy(&a, p, 8);
        memcpy(&b, p + 8, 8);
        if (copy) {
            memcpy(q, &a, 8);
            memcpy(q + 8, &b, 8);
        }
        sum += a;
        carries += sum < a;
        sum += b;
        carries += sum < b;
    }
    return fold((sum & 0xffffffff) + (sum >> 32) + carries + sum_rest(q, p, bytes, copy));
}

static uint16_t words_sum(const void *data, size_t bytes) { return words(NULL, data, bytes, false); }
static uint16_t words_copy_sum(void *restrict to, const void *restrict from, size_t bytes)
{
    return words(to, from, bytes, true);
}

// --- x86-64 ----------------------------------------------------------------------------------------------------------
#if defined(__x86_64__)
#include <immintrin.h>

// Bytes summed before the 32-bit lanes are added up: 65536 / 16 additions of at most 2^16 in each stay below 2^29, four
// lanes below 2^31.
#define BLOCK_BYTES ((size_t)65536)
#define TOP_BITS 32768u  // what flipping the top bit takes from each word

static inline __attribute__((always_inline)) int64_t add_lanes(__m128i lanes)
{
    lanes = _mm_add_epi32(lanes, _mm_shuffle_epi32(lanes, 0x4e));
    lanes = _mm_add_epi32(lanes, _mm_shuffle_epi32(lanes, 0xb1));
    return _mm_cvtsi128_si32(lanes);
}

static inline __attribute__((always_inline)) __m128i step16(uint8_t *q, const uint8_t *p, bool copy)
{
    const __m128i v = _mm_loadu_si128((const void *)p);
    if (copy)
        _mm_storeu_si128((void *)q, v);
    return _mm_madd_epi16(_mm_xor_si128(v, _mm_set1_epi16(INT16_MIN)), _mm_set1_epi16(1));
}

static inline __attribute__((always_inline)) uint16_t sse2(uint8_t *q, const uint8_t *p, size_t bytes, bool copy)
{
    uint64_t sum = (uint64_t)(bytes >> 4) * 8 * TOP_BITS;
    while (bytes >= 16) {
        const size_t block = bytes < BLOCK_BYTES ? bytes & ~(size_t)15 : BLOCK_BYTES;
        const uint8_t *end = p + block;
        __m128i a = _mm_setzero_si128(), b = a;
        for (; end - p >= 64; p += 64, q += copy ? 64 : 0) {
            a = _mm_add_epi32(a, step16(q, p, copy));
            b = _mm_add_epi32(b, step16(copy ? q + 16 : q, p + 16, copy));
            a = _mm_add_epi32(a, step16(copy ? q + 32 : q, p + 32, copy));
            b = _mm_add_epi32(b, step16(copy ? q + 48 : q, p + 48, copy));
        }
        for (; p < end; p += 16, q += copy ? 16 : 0)
            a = _mm_add_epi32(a, step16(q, p, copy));
        sum += (uint64_t)add_lanes(_mm_add_epi32(a, b));
        bytes -= block;
    }
    return fold(sum + sum_rest(q, p, bytes, copy));
}

static uint16_t sse2_sum(const void *data, size_t bytes) { return sse2(NULL, data, bytes, false); }
static uint16_t sse2_copy_sum(void *restrict to, const void *restrict from, size_t bytes)
{
    return sse2(to, from, bytes, true);
}

#define AVX2 __attribute__((target("avx2")))
#define AVX2_STEP static inline __attribute__((always_inline)) AVX2

// Lanes of 64 bits, added up with no thought of carries, tell the sum exactly when each is added twice: once as it
// lies, and once four bytes further on. With L and H the sums of the lower and upper 32-bit words of all lanes, the
// first gives L and, above it, H and the carries out of L; the second gives H and, above it, L (but for the first word,
// and with the one behind the last) and the carries out of H. The difference of what is equal otherwise is the number
// of carries.
struct lanes {
    __m256i here, further;
};

AVX2_STEP struct lanes step32(struct lanes sum, uint8_t *q, const uint8_t *p, bool copy)
{
    const __m256i v = _mm256_loadu_si256((const void *)p);
    if (copy)
        _mm256_storeu_si256((void *)q, v);
    sum.here = _mm256_add_epi64(sum.here, v);
    sum.further = _mm256_add_epi64(sum.further, _mm256_loadu_si256((const void *)(p + 4)));
    // The compiler shall not add in pairs first: that would take a load of its own for every other vector.
    __asm__("" : "+x"(sum.here), "+x"(sum.further));
    return sum;
}

AVX2_STEP struct lanes step64(struct lanes sum, uint8_t *q, const uint8_t *p, bool copy)
{
    return step32(step32(sum, q, p, copy), copy ? q + 32 : q, p + 32, copy);
}

AVX2_STEP struct lanes step128(struct lanes sum, uint8_t *q, const uint8_t *p, bool copy)
{
    return step64(step64(sum, q, p, copy), copy ? q + 64 : q, p + 64, copy);
}

AVX2_STEP struct lanes step256(struct lanes sum, uint8_t *q, const uint8_t *p, bool copy)
{
    return step128(step128(sum, q, p, copy), copy ? q + 128 : q, p + 128, copy);
}

// The sum of all that was added, given the first 32-bit word and the one behind the last.
AVX2_STEP uint64_t lanes_sum(struct lanes sum, uint32_t first, uint32_t behind)
{
    const __m256i none = _mm256_setzero_si256();
    const __m256i lower =
        _mm256_add_epi64(_mm256_blend_epi32(sum.here, none, 0xaa), _mm256_blend_epi32(sum.further, none, 0xaa));
    const __m256i upper = _mm256_add_epi64(_mm256_srli_epi64(sum.here, 32), _mm256_srli_epi64(sum.further, 32));
    const __m256i both = _mm256_add_epi64(_mm256_unpacklo_epi64(lower, upper), _mm256_unpackhi_epi64(lower, upper));
    const __m128i lu = _mm_add_epi64(_mm256_castsi256_si128(both), _mm256_extracti128_si256(both, 1));
    const uint64_t total = (uint64_t)_mm_cvtsi128_si64(lu);
    return total + ((uint32_t)_mm_extract_epi64(lu, 1) - (uint32_t)total + first - behind);
}

static inline __attribute__((always_inline)) uint32_t word_at(const uint8_t *p)
{
    uint32_t word;
    memcpy(&word, p, 4);
    return word;
}

// Read from [n] on, it keeps the last n of 32 bytes.
static const uint8_t keep_last[64] = {[32] = 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
                                      255,        255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
                                      255,        255, 255, 255, 255, 255, 255, 255, 255, 255};

// The last 32 bytes before q and p, of which `fresh` were not added yet (nor, perhaps, copied): the others are masked
// out. With the halves of each lane exchanged they are what `further` is to see.
AVX2_STEP struct lanes step_last(struct lanes sum, uint8_t *q, const uint8_t *p, size_t fresh, bool copy)
{
    const __m256i all = _mm256_loadu_si256((const void *)(p - 32));
    if (copy)
        _mm256_storeu_si256((void *)(q - 32), all);
    const __m256i v = _mm256_and_si256(all, _mm256_loadu_si256((const void *)(keep_last + fresh)));
    sum.here = _mm256_add_epi64(sum.here, v);
    sum.further = _mm256_add_epi64(sum.further, _mm256_shuffle_epi32(v, 0xb1));
    return sum;
}

// 37 bytes or more. The last four, and the last of an odd number, are added by themselves; so that many remain behind
// all whole vectors for `further` to see.
AVX2_STEP uint64_t avx2_block(uint8_t *q, const uint8_t *p, size_t bytes, bool copy)
{
    uint64_t rest = 0;
    if (bytes & 1) {
        bytes--;
        rest = p[bytes];  // followed by a zero; a little-endian CPU
        if (copy)
            q[bytes] = p[bytes];
    }
    const size_t before = bytes - 4;
    const uint32_t first = word_at(p), last = word_at(p + before);
    if (copy)
        memcpy(q + before, &last, 4);
    struct lanes sum = {_mm256_setzero_si256(), _mm256_setzero_si256()};
    for (const uint8_t *const end = p + (before & ~(size_t)511); p != end; p += 512, q += copy ? 512 : 0)
        sum = step256(step256(sum, q, p, copy), copy ? q + 256 : q, p + 256, copy);
    if (before & 256) {
        sum = step256(sum, q, p, copy);
        p += 256;
        q += copy ? 256 : 0;
    }
    if (before & 128) {
        sum = step128(sum, q, p, copy);
        p += 128;
        q += copy ? 128 : 0;
    }
    if (before & 64) {
        sum = step64(sum, q, p, copy);
        p += 64;
        q += copy ? 64 : 0;
    }
    if (before & 32) {
        sum = step32(sum, q, p, copy);
        p += 32;
        q += copy ? 32 : 0;
    }
    const size_t fresh = before & 31;
    const uint32_t behind = word_at(p);
    sum = step_last(sum, copy ? q + fresh : q, p + fresh, fresh, copy);
    return lanes_sum(sum, first, behind) + rest + last;
}

#define AVX2_LEAST 37u

static __attribute__((noinline)) uint16_t short_sum(const void *data, size_t bytes) { return words_sum(data, bytes); }
static __attribute__((noinline)) uint16_t short_copy_sum(void *restrict to, const void *restrict from, size_t bytes)
{
    return words_copy_sum(to, from, bytes);
}

static AVX2 uint16_t avx2_sum(const void *data, size_t bytes)
{
    return bytes >= AVX2_LEAST ? fold(avx2_block(NULL, data, bytes, false)) : short_sum(data, bytes);
}

static AVX2 uint16_t avx2_copy_sum(void *restrict to, const void *restrict from, size_t bytes)
{
    return bytes >= AVX2_LEAST ? fold(avx2_block(to, from, bytes, true)) : short_copy_sum(to, from, bytes);
}

AVX2_STEP void copy128(uint8_t *q, const uint8_t *p)
{
    const __m256i a = _mm256_loadu_si256((const void *)p), b = _mm256_loadu_si256((const void *)(p + 32));
    const __m256i c = _mm256_loadu_si256((const void *)(p + 64)), d = _mm256_loadu_si256((const void *)(p + 96));
    _mm256_storeu_si256((void *)q, a);
    _mm256_storeu_si256((void *)(q + 32), b);
    _mm256_storeu_si256((void *)(q + 64), c);
    _mm256_storeu_si256((void *)(q + 96), d);
}

// libc's memcpy leaves several KB to the CPU's string instruction. Vectors take no longer, and less when the ends are
// not aligned alike.
static AVX2 void avx2_copy(void *restrict to, const void *restrict from, size_t bytes)
{
    uint8_t *q = to;
    const uint8_t *p = from;
    if (bytes < 128) {
        memcpy(to, from, bytes);
        return;
    }
    for (const uint8_t *const end = p + (bytes & ~(size_t)511); p != end; p += 512, q += 512) {
        copy128(q, p);
        copy128(q + 128, p + 128);
        copy128(q + 256, p + 256);
        copy128(q + 384, p + 384);
    }
    bytes &= 511;
    for (; bytes >= 128; bytes -= 128, p += 128, q += 128)
        copy128(q, p);
    // The last few together with some before them, once more. Without any, it is all of them.
    copy128(q + bytes - 128, p + bytes - 128);
}

static bool has(enum posix_cpu_level level) { return level != POSIX_CPU_AVX2 || __builtin_cpu_supports("avx2"); }
#define SSE2_ROUTINES \
    { \
        sse2_sum, sse2_copy_sum, NULL \
    }
#define AVX2_ROUTINES \
    { \
        avx2_sum, avx2_copy_sum, avx2_copy \
    }
#else
static bool has(enum posix_cpu_level level) { return level == POSIX_CPU_WORDS; }
#define SSE2_ROUTINES \
    { \
        NULL, NULL, NULL \
    }
#define AVX2_ROUTINES \
    { \
        NULL, NULL, NULL \
    }
#endif

static const struct {
    uint16_t (*sum)(const void *data, size_t bytes);
    uint16_t (*copy_sum)(void *restrict to, const void *restrict from, size_t bytes);
    void (*copy)(void *restrict to, const void *restrict from, size_t bytes);
} routines[POSIX_CPU_LEVELS] = {{words_sum, words_copy_sum, NULL}, SSE2_ROUTINES, AVX2_ROUTINES};

bool posix_cpu_use(struct weir_port *port, enum posix_cpu_level level)
{
    if (!has(level))
        return false;
    port->sum = routines[level].sum;
    port->copy_sum = routines[level].copy_sum;
    port->copy = routines[level].copy;
    return true;
}

void posix_cpu_select(struct weir_port *port)
{
    int level = POSIX_CPU_LEVELS - 1;
    while (!posix_cpu_use(port, (enum posix_cpu_level)level))
        level--;
}
