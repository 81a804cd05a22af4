// SPDX-License-Identifier: BSD-2-Clause
// Data beyond a gap in a stream (src/base/stream_ahead.c): what memory it may cost, and that every byte of it is still
// there when the gap is filled, passed over, or never filled; beside a flow whose n-th byte is byte_at(n).
#include "base/intervals.h"
#include "base/stream_ahead.h"

#include "base_test.h"

static struct test_memory t;
static struct {
    struct stream *stream;
    struct intervals *ahead;  // present beyond the data, by number within the flow
    uint32_t out;             // number of the byte at offset 0
} flow;
static _Alignas(8) uint8_t ahead_memory[sizeof(struct intervals) + 8000 * sizeof(struct interval)];

#define LIMIT 6000000u
#define BOOKKEEPING 1024u  // the list of pieces and the directory at their smallest

static uint8_t byte_at(uint32_t number) { return (uint8_t)(number * 167 + (number >> 8) * 13); }

static struct memory *flow_open(void)
{
    struct memory *memory = test_memory_init(&t);
    flow.stream = stream_open(memory, LIMIT);
    assert_non_null(flow.stream);
    flow.ahead = (struct intervals *)(void *)ahead_memory;
    intervals_init(flow.ahead, 8000);
    flow.out = 0;
    return memory;
}

static void flow_close(struct memory *memory)
{
    stream_close(memory, flow.stream);
    test_memory_empty(&t);
}

static void each_byte(uint32_t offset, uint32_t length, bool write)
{
    for (uint32_t done = 0; done < length;) {
        const struct weir_span span = stream_stretch_ahead(flow.stream, offset + done, length - done);
        assert_in_range(span.length, 1, length - done);
        for (uint32_t i = 0; i < span.length; i++)
            if (write)
                span.data[i] = byte_at(flow.out + offset + done + i);
            else
                assert_int_equal(span.data[i], byte_at(flow.out + offset + done + i));
        done += span.length;
    }
}

static void check(void)
{
    assert_int_equal(stream_memory(flow.stream), t.heap.bytes);
    for (uint32_t i = 0; i < flow.ahead->count; i++)
        each_byte(flow.ahead->item[i].start - flow.out, flow.ahead->item[i].end - flow.ahead->item[i].start, false);
}

// Bytes [offset, offset + length) beyond the data arrive. false: refused.
static bool arrive(struct memory *memory, uint32_t offset, uint32_t length)
{
    if (!stream_ensure_ahead(memory, flow.stream, offset, length, flow.ahead->total))
        return false;
    each_byte(offset, length, true);  // what is there already becomes the same again
    assert_true(intervals_add(flow.ahead, flow.out + offset, flow.out + offset + length));
    return true;
}

// The next `length` bytes arrive in order, and join what lies ahead of them: that never fails. false: no memory for
// themselves.
static bool arrive_in_order(struct memory *memory, uint32_t length)
{
    const uint32_t before = stream_length(flow.stream);
    if (stream_ensure(memory, flow.stream, before + length) < before + length)
        return false;
    each_byte(before, length, true);
    const uint32_t end = intervals_advance(flow.ahead, flow.out + before + length) - flow.out;
    assert_int_equal(stream_ensure(memory, flow.stream, end), end);
    stream_commit(flow.stream, end - before);
    if (!flow.ahead->count)
        stream_ahead_end(memory, flow.stream);
    each_byte(0, end, false);
    return true;
}

static void read_some(struct memory *memory, uint32_t bytes)
{
    each_byte(0, bytes, false);
    stream_drop(memory, flow.stream, bytes);
    flow.out += bytes;
}

static void a_byte_costs_the_same_however_far_ahead(void **state)
{
    (void)state;
    for (uint32_t offset = 1000; offset < LIMIT; offset += offset / 2) {
        struct memory *memory = flow_open();
        const size_t before = t.heap.bytes;
        assert_true(arrive(memory, offset, 1));
        assert_true(t.heap.bytes - before <= STREAM_AHEAD_FACTOR + STREAM_CHUNK_SMALL + BOOKKEEPING);
        check();
        assert_false(stream_ensure_ahead(memory, flow.stream, LIMIT, 1, 0));
        assert_false(stream_ensure_ahead(memory, flow.stream, 1, UINT32_MAX, 0));
        flow_close(memory);
    }
}

// Whatever is sent wherever: four times what arrived, and a small chunk.
static void memory_is_paid_for_by_bytes(void **state)
{
    (void)state;
    for (uint32_t most = 1; most < 5000; most *= 4) {
        struct memory *memory = flow_open();
        const size_t before = t.heap.bytes;
        uint32_t refused = 0;
        for (int i = 0; i < 3000; i++) {
            const uint32_t length = 1 + test_random(most);
            refused += !arrive(memory, 1 + test_random(LIMIT - length - 1), length);
            // What overlaps with what is there was sent, too: the last segment pays as a whole.
            const uint64_t pays = (uint64_t)STREAM_AHEAD_FACTOR * (flow.ahead->total + length) + STREAM_CHUNK_SMALL;
            assert_true(t.heap.bytes - before <= pays + BOOKKEEPING);
            assert_true(stream_ahead_bytes(flow.stream) <= pays + BOOKKEEPING);
        }
        assert_true(most > 1000 ? refused < 300 : most > 4 || refused > 2900);
        check();
        stream_ahead_end(memory, flow.stream);
        assert_in_range(t.heap.bytes, before, before + 64 * sizeof(struct stream_piece));  // a small directory stays
        flow_close(memory);
    }
}

// Half a window lost, every other segment or in long runs, in order or backwards: nothing that is half a segment or
// more is ever refused.
static void honest_segments_are_never_refused(void **state)
{
    (void)state;
    static const uint32_t sizes[] = {536, 1220, 1448, 8948, 65160};
    for (uint32_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++)
        for (uint32_t step = 2; step < 40; step += 9)
            for (int backwards = 0; backwards < 2; backwards++) {
                struct memory *memory = flow_open();
                const uint32_t places = LIMIT / sizes[s] / step < 3000 ? LIMIT / sizes[s] / step : 3000;
                for (uint32_t i = 1; i < places; i++)
                    assert_true(arrive(memory, (backwards ? places - i : i) * step * sizes[s], sizes[s]));
                check();
                flow_close(memory);
            }
}

// The bytes that paid for a whole chunk were read, all but one segment in it: another one before it pays for itself, a
// single byte does not.
static void what_is_left_of_a_chunk_refuses_nothing(void **state)
{
    (void)state;
    struct memory *memory = flow_open();
    for (uint32_t at = 1; at <= 3; at++)
        assert_true(arrive(memory, at * 1448, 1448));
    assert_true(arrive(memory, 8 * 1448, 1448));
    assert_true(arrive_in_order(memory, 1448));
    read_some(memory, stream_length(flow.stream));
    assert_int_equal(flow.ahead->total, 1448);
    assert_true(stream_ahead_bytes(flow.stream) > STREAM_CHUNK);
    assert_true(arrive(memory, 1448, 1448));
    assert_false(arrive(memory, 40 * 1448, 1));
    check();
    flow_close(memory);
}

// A gap of one segment before a window in order: chunks are whole ones, and few.
static void behind_one_gap_chunks_are_whole(void **state)
{
    (void)state;
    struct memory *memory = flow_open();
    for (uint32_t at = 1448; at + 1448 <= LIMIT; at += 1448)
        assert_true(arrive(memory, at, 1448));
    assert_true(t.heap.bytes < LIMIT + LIMIT / 50 + 2 * STREAM_CHUNK);
    assert_in_range(flow.stream->ahead->count, 1, LIMIT / STREAM_CHUNK + 8);
    const long calls = t.heap.calls;
    assert_true(arrive_in_order(memory, 1448));
    assert_true(t.heap.calls - calls <= 3);  // the entries were set aside
    read_some(memory, stream_length(flow.stream));
    flow_close(memory);
}

static void random_step(struct memory *memory)
{
    const uint32_t length = stream_length(flow.stream), size = 1 + test_random(test_random(3)   ? 3000
                                                                               : test_random(2) ? 70000
                                                                                                : 300);
    const uint32_t beyond = length + 1 + test_random(test_random(4) ? test_random(2) ? 5000 : 400 : 900000);
    t.heap.fail_after = test_random(4) ? -1 : (long)test_random(3);
    switch (test_random(6)) {
    case 0:
    case 1:
    case 2:
        if (beyond < LIMIT && size < LIMIT - beyond)
            arrive(memory, beyond, size);
        break;
    case 3:
        if (length + size < LIMIT)
            arrive_in_order(memory, size);
        break;
    case 4: read_some(memory, test_random(length + 1)); break;
    default: read_some(memory, length); break;
    }
    t.heap.fail_after = -1;
}

static void every_byte_survives(void **state)
{
    (void)state;
    for (int seed = 0; seed < 60; seed++) {
        struct memory *memory = flow_open();
        for (int i = 0; i < 300; i++) {
            random_step(memory);
            if (i % 16 == 0)
                check();
            if (test_random(60) == 0) {  // a receiver may throw it away (RFC 2018 §8)
                stream_ahead_end(memory, flow.stream);
                intervals_init(flow.ahead, flow.ahead->capacity);
                assert_int_equal(stream_ahead_bytes(flow.stream), 0);
            }
        }
        check();
        flow_close(memory);
    }
}

// A reader that does without what is missing: it passes over the gap, into what lies ahead, between two pieces or
// beyond them all.
static void a_gap_is_passed_over(void **state)
{
    (void)state;
    for (int seed = 0; seed < 200; seed++) {
        struct memory *memory = flow_open();
        if (seed % 2)
            assert_true(arrive_in_order(memory, 1 + test_random(5000)));
        for (int i = 0; i < 4; i++)
            arrive(memory, stream_length(flow.stream) + 2000 + test_random(200000), 2000 + test_random(20000));
        for (int i = 0; i < 8; i++) {
            const uint32_t length = stream_length(flow.stream), bytes = 1 + test_random(60000);
            t.heap.fail_after = 0;  // it needs no memory
            const uint32_t end = intervals_advance(flow.ahead, flow.out + length + bytes) - flow.out;
            const uint32_t behind = end - length - bytes;
            stream_skip(memory, flow.stream, bytes, behind);
            const uint32_t there = stream_length(flow.stream) - behind;
            assert_true(there == length + bytes || (!flow.ahead->count && !behind));
            t.heap.fail_after = -1;
            stream_drop(memory, flow.stream, there);
            flow.out += length + bytes;
            check();
            read_some(memory, stream_length(flow.stream));
        }
        assert_true(arrive_in_order(memory, 1000));
        flow_close(memory);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_byte_costs_the_same_however_far_ahead),
        cmocka_unit_test(memory_is_paid_for_by_bytes),
        cmocka_unit_test(honest_segments_are_never_refused),
        cmocka_unit_test(what_is_left_of_a_chunk_refuses_nothing),
        cmocka_unit_test(behind_one_gap_chunks_are_whole),
        cmocka_unit_test(every_byte_survives),
        cmocka_unit_test(a_gap_is_passed_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
