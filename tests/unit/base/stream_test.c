// SPDX-License-Identifier: BSD-2-Clause
// profiles: tiny small
// Both kinds of stream (WEIR_CFG_ALLOCATOR 1: chunks, 0: a flat ring), against a plain array of bytes.
#include "base/stream.h"

#include "base_test.h"

static struct test_memory t;
enum { SPANS = 64 };

static uint8_t byte_at(uint32_t position) { return (uint8_t)(position * 167 + (position >> 8) * 13); }

// Writes or checks [offset, offset + length), whose first byte is number `position` of the whole flow, a few spans at a
// time.
static void each_byte(const struct stream *stream, uint32_t offset, uint32_t length, uint32_t position, bool write)
{
    while (length) {
        struct weir_span spans[SPANS];
        const uint32_t count = stream_spans(stream, offset, length, spans, 1 + test_random(3));
        assert_in_range(count, 1, 3);
        for (uint32_t i = 0; i < count; i++) {
            assert_in_range(spans[i].length, 1, length);
            for (uint32_t k = 0; k < spans[i].length; k++) {
                if (write)
                    spans[i].data[k] = byte_at(position + k);
                else
                    assert_int_equal(spans[i].data[k], byte_at(position + k));
            }
            offset += spans[i].length;
            position += spans[i].length;
            length -= spans[i].length;
        }
    }
}

static void check_memory(const struct stream *stream)
{
    if (WEIR_CFG_ALLOCATOR)
        assert_int_equal(stream_memory(stream), t.heap.bytes);
}

static void a_queue_of_bytes(uint32_t limit, uint32_t most, uint32_t rounds)
{
    struct memory *memory = test_memory_init(&t);
    struct stream *stream = stream_open(memory, limit);
    assert_non_null(stream);
    uint32_t in = 0, out = 0;
    for (uint32_t round = 0; round < rounds; round++) {
        const uint32_t length = stream_length(stream);
        assert_int_equal(length, in - out);
        if (test_random(2)) {
            const uint32_t want = 1 + test_random(most), exists = stream_ensure(memory, stream, length + want);
            assert_int_equal(exists, min_u32(length + want, limit));
            each_byte(stream, length, exists - length, in, true);
            const uint32_t commit = test_random(2) ? exists - length : test_random(exists - length + 1);
            stream_commit(stream, commit);
            in += commit;
            if (test_random(2))
                stream_settle(stream);
            if (test_random(20) == 0)
                stream_trim(memory, stream);
        } else {
            const uint32_t drop = test_random(3) ? min_u32(length, test_random(most + 1)) : length;
            each_byte(stream, 0, drop, out, false);
            stream_drop(memory, stream, drop);
            out += drop;
        }
        if (stream_length(stream)) {
            const uint32_t offset = test_random(stream_length(stream)),
                           span = 1 + test_random(min_u32(stream_length(stream) - offset, 3000));
            each_byte(stream, offset, span, out + offset, false);
        }
        check_memory(stream);
    }
    each_byte(stream, 0, in - out, out, false);
    stream_close(memory, stream);
    test_memory_empty(&t);
}

static void bytes_come_out_as_they_went_in(void **state)
{
    (void)state;
    a_queue_of_bytes(100, 60, 5000);
    a_queue_of_bytes(1072, 1000, 3000);
    a_queue_of_bytes(4097, 1460, 3000);
    a_queue_of_bytes(60000, 9000, 2000);
    if (WEIR_CFG_ALLOCATOR)
        a_queue_of_bytes(400000, 60000, 1000);
}

// Bytes beyond a hole are written at their place before those ahead of them, and must still be there when the hole is
// filled.
static void bytes_out_of_order_stay_where_they_are(void **state)
{
    (void)state;
    enum { LIMIT = 50000, PIECE = 1000 };
    struct memory *memory = test_memory_init(&t);
    struct stream *stream = stream_open(memory, LIMIT);
    uint32_t done = 0;
    for (int round = 0; round < 300; round++) {
        const uint32_t base = stream_length(stream), pieces = (LIMIT - base) / PIECE;
        if (pieces >= 2) {
            const uint32_t far = 1 + test_random(pieces - 1);
            assert_int_equal(stream_ensure(memory, stream, base + (far + 1) * PIECE), base + (far + 1) * PIECE);
            each_byte(stream, base + far * PIECE, PIECE, done + base + far * PIECE, true);
            assert_true(stream_room(stream) > stream_length(stream));
            if (base && test_random(3) == 0) {  // the reader empties the queue meanwhile
                each_byte(stream, 0, base, done, false);
                stream_drop(memory, stream, base);
                done += base;
            }
            const uint32_t at = stream_length(stream);
            for (uint32_t i = far; i-- > 0;) {
                assert_int_equal(stream_ensure(memory, stream, at + (i + 1) * PIECE), at + (i + 1) * PIECE);
                each_byte(stream, at + i * PIECE, PIECE, done + at + i * PIECE, true);
            }
            stream_commit(stream, (far + 1) * PIECE);
        }
        const uint32_t drop = test_random(stream_length(stream) + 1);
        each_byte(stream, 0, drop, done, false);
        stream_drop(memory, stream, drop);
        done += drop;
        check_memory(stream);
    }
    each_byte(stream, 0, stream_length(stream), done, false);
    stream_close(memory, stream);
    test_memory_empty(&t);
}

// What is lent stays where it is, and holds what was written, whatever is committed and dropped around it.
static void lent_spans_stay_valid(void **state)
{
    (void)state;
    enum { LIMIT = 60000 };
    struct memory *memory = test_memory_init(&t);
    struct stream *stream = stream_open(memory, LIMIT);
    for (int round = 0; round < 300; round++) {
        struct weir_span before[SPANS], after[SPANS];
        const uint32_t length = stream_length(stream), want = 1 + test_random(5000);
        const uint32_t exists = stream_ensure(memory, stream, length + want);
        const uint32_t count = stream_spans(stream, length, exists - length, before, SPANS);
        // acknowledged while the writer copies
        const uint32_t drop = test_random(3) ? test_random(length + 1) : length;
        stream_drop(memory, stream, drop);
        for (uint32_t i = 0; i < count; i++)
            memset(before[i].data, round, before[i].length);
        assert_int_equal(stream_spans(stream, length - drop, exists - length, after, SPANS), count);
        for (uint32_t i = 0; i < count; i++) {
            assert_ptr_equal(before[i].data, after[i].data);
            assert_int_equal(before[i].length, after[i].length);
        }
        stream_commit(stream, exists - length);
        if (count)
            assert_int_equal(before[count - 1].data[before[count - 1].length - 1], (uint8_t)round);
    }
    stream_close(memory, stream);
    test_memory_empty(&t);
}

static void the_limit_holds_and_may_change(void **state)
{
    (void)state;
    struct memory *memory = test_memory_init(&t);
    struct stream *stream = stream_open(memory, 5000);
    assert_int_equal(stream_limit(stream), 5000);
    assert_int_equal(stream_ensure(memory, stream, 6000), 5000);
    stream_commit(stream, 5000);
    stream_set_limit(stream, 3000);
    assert_int_equal(stream_ensure(memory, stream, 5001), 5000);
    stream_drop(memory, stream, 1999);
    assert_int_equal(stream_ensure(memory, stream, 4000), 3001);
    stream_drop(memory, stream, 1001);
    assert_int_equal(stream_ensure(memory, stream, 4000), 3000);
    stream_set_limit(stream, 4000);
    assert_int_equal(stream_ensure(memory, stream, 9999), 4000);
    stream_set_limit(stream, 100000);
    assert_int_equal(stream_limit(stream), WEIR_CFG_ALLOCATOR ? 100000 : 5000);
    assert_int_equal(stream_ensure(memory, stream, 90000), WEIR_CFG_ALLOCATOR ? 90000 : 5000);
    stream_close(memory, stream);
    test_memory_empty(&t);
}

static void spans_of_nothing(void **state)
{
    (void)state;
    struct memory *memory = test_memory_init(&t);
    struct stream *stream = stream_open(memory, 1000);
    struct weir_span span;
    assert_int_equal(stream_spans(stream, 0, 0, &span, 1), 0);
    stream_ensure(memory, stream, 10);
    stream_commit(stream, 10);
    assert_int_equal(stream_spans(stream, 10, 0, &span, 1), 0);
    assert_int_equal(stream_spans(stream, 0, 10, &span, 0), 0);
    assert_int_equal(stream_spans(stream, 0, 10, &span, 1), 1);
    stream_drop(memory, stream, 0);
    assert_int_equal(stream_length(stream), 10);
    stream_drop(memory, stream, 10);
    stream_drop(memory, stream, 0);
    assert_int_equal(stream_length(stream), 0);
    stream_close(memory, stream);
    test_memory_empty(&t);
}

#if WEIR_CFG_ALLOCATOR
static void memory_follows_need(void **state)
{
    (void)state;
    struct memory *memory = test_memory_init(&t);
    struct stream *stream = stream_open(memory, 10000000);
    const uint32_t empty = stream_memory(stream);
    assert_true(empty <= 640);
    for (int i = 0; i < 1000; i++) {  // small messages need nothing more
        assert_int_equal(stream_ensure(memory, stream, 200), 200);
        stream_commit(stream, 200);
        stream_drop(memory, stream, 200);
    }
    assert_int_equal(stream_memory(stream), empty);
    stream_ensure(memory, stream, 1460);
    assert_true(stream_memory(stream) <= empty + 2048);
    stream_ensure(memory, stream, 5000000);
    stream_commit(stream, 5000000);
    assert_true(stream_memory(stream) < 5000000 + 5000000 / 50 + 2 * 16384);
    uint32_t memory_before = stream_memory(stream);
    while (stream_length(stream) > 100000) {
        stream_drop(memory, stream, 50000);
        assert_true(stream_memory(stream) < memory_before);
        memory_before = stream_memory(stream);
    }
    stream_drop(memory, stream, stream_length(stream));
    assert_true(stream_memory(stream) <= empty + WEIR_CFG_QUEUE_CHUNK_BYTES);
    stream_close(memory, stream);
    test_memory_empty(&t);
}

// Bulk flow through a queue that never drains, and one that always does: no allocation in the steady state.
static void a_steady_flow_asks_the_allocator_for_nothing(void **state)
{
    (void)state;
    for (uint32_t behind = 0; behind <= 100000; behind += 100000) {
        struct memory *memory = test_memory_init(&t);
        struct stream *stream = stream_open(memory, 1000000);
        long calls = 0;
        for (int i = 0; i < 5000; i++) {
            assert_int_equal(stream_ensure(memory, stream, stream_length(stream) + 1460), stream_length(stream) + 1460);
            stream_commit(stream, 1460);
            if (stream_length(stream) > behind)
                stream_drop(memory, stream, stream_length(stream) - behind);
            if (i == 1000)
                calls = t.heap.calls;
        }
        assert_true(t.heap.calls - calls <= 2);
        stream_close(memory, stream);
        test_memory_empty(&t);
    }
}

static void without_memory_it_tells_how_far_it_got(void **state)
{
    (void)state;
    for (int good = 0; good < 12; good++) {
        struct memory *memory = test_memory_init(&t);
        struct stream *stream = stream_open(memory, 1000000);
        t.heap.fail_after = good;
        const uint32_t exists = stream_ensure(memory, stream, 300000);
        assert_true(exists < 300000);
        assert_true(exists > 0);  // what is part of the stream itself
        each_byte(stream, 0, exists, 0, true);
        stream_commit(stream, exists);
        assert_int_equal(stream_ensure(memory, stream, 300000), exists);
        t.heap.fail_after = -1;
        assert_int_equal(stream_ensure(memory, stream, 300000), 300000);
        each_byte(stream, exists, 300000 - exists, exists, true);
        each_byte(stream, 0, 300000, 0, false);
        check_memory(stream);
        stream_close(memory, stream);
        test_memory_empty(&t);
    }
    struct memory *memory = test_memory_init(&t);
    t.heap.fail_after = 0;
    assert_null(stream_open(memory, 1000));
}

static uint32_t released;
static uint8_t tokens[1001];  // the n-th piece's context is the address of the n-th
static void release(void *context)
{
    assert_ptr_equal(context, &tokens[released]);  // in order, once
    released++;
}

static void foreign_memory_is_queued_and_released_in_order(void **state)
{
    (void)state;
    enum { SIZE = 3000000 };
    static uint8_t flow[SIZE + 100000];
    for (uint32_t i = 0; i < sizeof flow; i++)
        flow[i] = byte_at(i);
    for (int seed = 0; seed < 6; seed++) {
        struct memory *memory = test_memory_init(&t);
        struct stream *stream = stream_open(memory, 500000);
        uint32_t in = 0, out = 0, appended = 0, ends[1000];
        released = 0;
        while (out < SIZE) {
            const uint32_t length = stream_length(stream);
            uint32_t bytes = 1 + test_random(test_random(2) ? 40000 : 500);
            if (test_random(4) == 0)
                bytes = WEIR_CFG_QUEUE_CHUNK_BYTES;
            if (in < SIZE && test_random(3) == 0 && appended < 1000) {
                if (test_random(2))
                    stream_ensure(memory, stream, length + test_random(30000));
                if (test_random(2))
                    stream_trim(memory, stream);
                else
                    stream_settle(stream);
                const int error = stream_append_foreign(memory, stream, flow + in, bytes, release, &tokens[appended]);
                assert_int_equal(error, length + bytes > 500000 ? WEIR_AGAIN : WEIR_OK);
                if (!error) {
                    in += bytes;
                    ends[appended++] = in;
                }
            } else if (in < SIZE && test_random(2)) {
                const uint32_t exists = stream_ensure(memory, stream, length + bytes);
                each_byte(stream, length, exists - length, in, true);
                stream_commit(stream, exists - length);
                in += exists - length;
            } else {
                const uint32_t drop = min_u32(length, bytes * test_random(4));
                each_byte(stream, 0, drop, out, false);
                stream_drop(memory, stream, drop);
                out += drop;
                uint32_t due = 0;
                while (due < appended && ends[due] <= out)
                    due++;
                assert_int_equal(released, due);
            }
            check_memory(stream);
        }
        stream_close(memory, stream);
        assert_int_equal(released, appended);
        test_memory_empty(&t);
    }
}

static void foreign_memory_is_refused_where_it_cannot_go(void **state)
{
    (void)state;
    struct memory *memory = test_memory_init(&t);
    struct stream *stream = stream_open(memory, 1000);
    released = 0;
    stream_ensure(memory, stream, 10);
    assert_int_equal(stream_append_foreign(memory, stream, "x", 1, release, tokens), WEIR_INVALID);
    stream_settle(stream);
    assert_int_equal(stream_append_foreign(memory, stream, "x", 0, release, tokens), WEIR_INVALID);
    assert_int_equal(stream_append_foreign(memory, stream, "x", 1001, release, tokens), WEIR_AGAIN);
    assert_int_equal(stream_append_foreign(memory, stream, "x", 0xffffffff, release, tokens), WEIR_AGAIN);
    assert_int_equal(stream_append_foreign(memory, stream, "a", 1, NULL, NULL), WEIR_OK);
    assert_int_equal(stream_append_foreign(memory, stream, "b", 1, NULL, NULL), WEIR_OK);
    t.heap.fail_after = 0;
    assert_int_equal(stream_append_foreign(memory, stream, "c", 1, release, tokens), WEIR_NO_MEMORY);
    t.heap.fail_after = -1;
    assert_int_equal(stream_append_foreign(memory, stream, "c", 1, release, tokens), WEIR_OK);
    struct weir_span spans[4] = {{0}};
    assert_int_equal(stream_spans(stream, 0, 3, spans, 4), 3);
    assert_memory_equal(spans[2].data, "c", 1);
    assert_int_equal(released, 0);
    stream_close(memory, stream);  // also releases
    assert_int_equal(released, 1);
    test_memory_empty(&t);
}
#else
static void streams_are_set_aside_and_used_again(void **state)
{
    (void)state;
    struct memory *memory = test_memory_init(&t);
    memory->block_bytes = 3 * (sizeof(struct stream) + 8) + 1000 + 2 * 500;
    assert_int_equal(stream_carve(memory, 2, 500), WEIR_OK);
    assert_int_equal(stream_carve(memory, 1, 1000), WEIR_OK);
    assert_int_equal(stream_carve(memory, 1, 1000), WEIR_NO_MEMORY);
    struct stream *a = stream_open(memory, 400), *b = stream_open(memory, 900), *c = stream_open(memory, 5000);
    assert_int_equal(stream_limit(a), 400);
    assert_int_equal(stream_limit(b), 900);
    assert_int_equal(stream_limit(c), 500);  // the largest that is left
    assert_null(stream_open(memory, 1));
    stream_ensure(memory, b, 900);
    stream_commit(b, 900);
    stream_close(memory, b);
    b = stream_open(memory, 1000);
    assert_int_equal(stream_limit(b), 1000);
    assert_int_equal(stream_length(b), 0);
    assert_int_equal(stream_room(b), 0);
    assert_int_equal(stream_append_foreign(memory, b, "x", 1, NULL, NULL), WEIR_NOT_SUPPORTED);
    stream_close(memory, a);
    stream_close(memory, b);
    stream_close(memory, c);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_come_out_as_they_went_in),
        cmocka_unit_test(bytes_out_of_order_stay_where_they_are),
        cmocka_unit_test(lent_spans_stay_valid),
        cmocka_unit_test(the_limit_holds_and_may_change),
        cmocka_unit_test(spans_of_nothing),
#if WEIR_CFG_ALLOCATOR
        cmocka_unit_test(memory_follows_need),
        cmocka_unit_test(a_steady_flow_asks_the_allocator_for_nothing),
        cmocka_unit_test(without_memory_it_tells_how_far_it_got),
        cmocka_unit_test(foreign_memory_is_queued_and_released_in_order),
        cmocka_unit_test(foreign_memory_is_refused_where_it_cannot_go),
#else
        cmocka_unit_test(streams_are_set_aside_and_used_again),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
