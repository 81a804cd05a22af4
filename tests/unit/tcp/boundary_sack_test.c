// SPDX-License-Identifier: BSD-2-Clause
// profiles: small small6
// also without IPv4
// Every pair of edges of a SACK block, and of a block that reports a duplicate, on, beside, and half the number space
// away from each number that matters, whatever is outstanding: what counts is what RFC 2018, 2883 and 3708 say, and no
// more than was sent.
#include "tcp/boundary.h"
#include "tcp/tcp_fixture.h"

static const struct boundary_kind kinds[] = {
    {.name = "sack", .sack = true},
    {.name = "timestamps", .sack = true, .timestamps = true, .irs = BOUNDARY_HALF},
    {.name = "taught", .sack = true, .timestamps = true, .taught = true},
};
#define KINDS (sizeof kinds / sizeof kinds[0])
#define ONLY_SACK 0  // of them

// --- what counts -----------------------------------------------------------------------------------------------------

// Numbers from SND.UNA on; [left, right), where left < right.
struct run {
    int64_t left, right;
};
static const struct run none = {0, 0};

static int64_t length_of(struct run run) { return run.right - run.left; }
static struct run overlap(struct run a, struct run b)
{
    const struct run both = {a.left > b.left ? a.left : b.left, a.right < b.right ? a.right : b.right};
    return both.left < both.right ? both : none;
}
// How many bytes are in any of the three.
static int64_t bytes_in(struct run a, struct run b, struct run c)
{
    const struct run ab = overlap(a, b), bc = overlap(b, c), ac = overlap(a, c);
    return length_of(a) + length_of(b) + length_of(c) - length_of(ab) - length_of(bc) - length_of(ac) +
           length_of(overlap(ab, c));
}

// What the situation has SACKED already.
static struct run sacked_before(const struct boundary *b)
{
    return b->sent == SENT_HOLE ? (struct run){500, 1000} : b->sent == SENT_RECOVERY ? (struct run){500, 2000} : none;
}

static struct run run_of(const struct boundary *b, const uint32_t *edges)
{
    return (struct run){boundary_distance(edges[0], b->una), boundary_distance(edges[1], b->una)};
}

// RFC 2018 §3: a block tells of data that came beyond the cumulative acknowledgement, so of none that was not sent.
static struct run believed(const struct boundary *b, struct run run)
{
    const int64_t outstanding = (int64_t)b->nxt - b->una;
    return run.left >= 0 && run.left < run.right && run.right <= outstanding ? run : none;
}
// One that begins below the acknowledgement: the rest of it may count or not.
static struct run believed_in_part(const struct boundary *b, struct run run)
{
    return believed(b, run.left < 0 && run.right > 0 ? (struct run){0, run.right} : run);
}

static uint32_t sacked(struct boundary *b)
{
    const struct tcp_conn *c = tcp_fixture_conn(&b->t);
    assert_non_null(c);
    return c->flow ? c->flow->flight->sacked : 0;
}

// The edges that are tried: each number that matters of what is sent, and of the other direction, which has no business
// there.
static uint32_t edge_values(const struct boundary_kind *kind, enum boundary_sent sent, uint32_t *values)
{
    struct boundary b;
    boundary_bring(&b, kind, sent, RECEIVED_NOTHING);
    uint32_t count = boundary_add(values, 0, b.una);
    count = boundary_add(values, count, b.nxt);
    if (sent == SENT_HOLE || sent == SENT_RECOVERY || sent == SENT_TIMEOUT) {
        values[count++] = 1000;
        values[count++] = 1001;
        values[count++] = 1500;
        values[count++] = 1499;
        values[count++] = 1000 + 0x80000000u;
    }
    values[count++] = b.t.theirs - b.t.ours + b.rcv_nxt;
    values[count++] = b.t.theirs - b.t.ours + b.edge;
    values[count++] = b.una - 500;
    boundary_close(&b);
    return count;
}

static void name_case(const struct boundary *b, const char *what, const uint32_t *edges, uint32_t count)
{
    const int at = snprintf(boundary_case, sizeof boundary_case, "%s, %s: %s, %u outstanding, from SND.UNA",
                            b->kind->name, boundary_sent_name(b->sent), what, b->nxt - b->una);
    for (uint32_t i = 0, room = (uint32_t)at; i < count && room < sizeof boundary_case; i++)
        room += (uint32_t)snprintf(boundary_case + room, sizeof boundary_case - room, " [%lld, %lld)",
                                   (long long)boundary_distance(edges[2 * i], b->una),
                                   (long long)boundary_distance(edges[2 * i + 1], b->una));
}

static void end_case(struct boundary *b)
{
    boundary_take(b);
    boundary_check(b);
    boundary_finish(b);
    boundary_close(b);
}

// --- one block
// ---------------------------------------------------------------------------------------------------------------------

static void one_block(const struct boundary_kind *kind, enum boundary_sent sent, const uint32_t *edges)
{
    struct boundary b;
    boundary_bring(&b, kind, sent, RECEIVED_NOTHING);
    name_case(&b, "a block", edges, 1);
    boundary_sack(&b, b.una, 1, edges);
    assert_int_equal(sacked(&b), bytes_in(sacked_before(&b), believed(&b, run_of(&b, edges)), none));
    assert_int_equal(tcp_fixture_conn(&b.t)->snd.una - b.t.ours, b.una);
    end_case(&b);
}

// Behind one that reports a duplicate of long ago, which takes the first place (RFC 2883 §4).
static void a_block_behind(const struct boundary_kind *kind, enum boundary_sent sent, const uint32_t *edges)
{
    struct boundary b;
    boundary_bring(&b, kind, sent, RECEIVED_NOTHING);
    const uint32_t both[] = {b.una - 300, b.una - 200, edges[0], edges[1]};
    name_case(&b, "a block behind a duplicate", both, 2);
    boundary_sack(&b, b.una, 2, both);
    const struct run run = run_of(&b, edges), before = sacked_before(&b);
    const uint32_t now = sacked(&b);
    if (now != bytes_in(before, believed(&b, run), none))
        assert_int_equal(now, bytes_in(before, believed_in_part(&b, run), none));
    if (sent != SENT_TIMEOUT ||
        !length_of(
            believed_in_part(&b, run)))  // what comes after a timeout, not sent again, says that it was for nothing
        assert_int_equal(fixture_count(&b.t.f, WEIR_COUNT_TCP_SPURIOUS), 0);
    end_case(&b);
}

static void try_each_pair(void (*try)(const struct boundary_kind *kind, enum boundary_sent sent, const uint32_t *edges))
{
    uint32_t values[BOUNDARY_VALUES];
    for (uint32_t k = boundary_first_kind(KINDS); k < KINDS; k++)
        for (int sent = 0; sent < SENT_COUNT; sent++) {
            const uint32_t count = edge_values(&kinds[k], sent, values);
            for (uint32_t i = 0; i < count * count; i++)
                try(&kinds[k], sent, (uint32_t[]){values[i / count], values[i % count]});
        }
}

static void each_pair_of_edges(void **state)
{
    (void)state;
    try_each_pair(one_block);
}

static void each_pair_of_edges_behind_a_duplicate(void **state)
{
    (void)state;
    try_each_pair(a_block_behind);
}

// --- a duplicate
// ---------------------------------------------------------------------------------------------------------------------

// The second block says whether the first, where it is not below the acknowledgement, is one (RFC 2883 §4).
enum second { SECOND_NONE, SECOND_ALL, SECOND_HALF_ROUND, SECOND_BACKWARDS, SECOND_COUNT };

static uint32_t second_block(const struct boundary *b, enum second second, uint32_t *edges)
{
    const uint32_t una = b->una,
                   blocks[][2] = {{0, 0}, {una + 500, b->nxt}, {una + 1, una + 0x80000000u}, {b->nxt, una + 1}};
    memcpy(edges, blocks[second], sizeof blocks[second]);
    return second != SECOND_NONE;
}

// RFC 3708 §3, RFC 2883 §5: a reduction was for nothing when all that was sent again is reported. [500, 1000) was.
static void expect_undone(struct boundary *b, struct run first, uint32_t ack)
{
    const int64_t window = (int64_t)b->nxt - b->una, end = (int64_t)ack - b->una;
    const bool inside = first.left >= 0 && first.left < first.right && first.right <= window;
    const uint32_t undone = fixture_count(&b->t.f, WEIR_COUNT_TCP_SPURIOUS);
    if (!inside || length_of(first) < 500)
        assert_int_equal(undone, 0);
    else if (WEIR_CFG_TCP_LOSS_RECOVERY && first.left == 0 && first.left < end)
        assert_int_equal(undone, 1);
}

// `ack` acknowledges what was sent again, and with it all else, or not.
static void a_duplicate(enum boundary_sent sent, const uint32_t *first, enum second second)
{
    struct boundary b;
    uint32_t edges[4] = {first[0], first[1]};
    boundary_bring(&b, &kinds[ONLY_SACK], sent, RECEIVED_NOTHING);
    const uint32_t count = 1 + second_block(&b, second, edges + 2), ack = sent == SENT_RECOVERY ? b.nxt : b.una + 500;
    const struct run run = run_of(&b, first), plain = believed(&b, run);
    name_case(&b, "a duplicate", edges, count);
    boundary_sack(&b, ack, count, edges);
    // After a timeout what was never sent again and came says as much (RFC 5682).
    const bool news = sent == SENT_TIMEOUT && (plain.right > 500 || second == SECOND_ALL);
    if (!news)
        expect_undone(&b, run, ack);
    b.una = ack;
    assert_int_equal(tcp_fixture_conn(&b.t)->snd.una - b.t.ours, b.una);
    assert_true(sacked(&b) <= b.nxt - b.una);
    end_case(&b);
}

static void each_duplicate(void **state)
{
    uint32_t values[BOUNDARY_VALUES];
    (void)state;
    for (int sent = SENT_RECOVERY; sent <= SENT_TIMEOUT; sent += SENT_TIMEOUT - SENT_RECOVERY) {
        const uint32_t count = edge_values(&kinds[ONLY_SACK], sent, values);
        for (uint32_t i = 0; i < count * count * SECOND_COUNT; i++) {
            const uint32_t pair = i / SECOND_COUNT;
            a_duplicate(sent, (uint32_t[]){values[pair / count], values[pair % count]}, i % SECOND_COUNT);
        }
    }
}

#if WEIR_CFG_TCP_INFO
static uint32_t reported(struct boundary *b)
{
    const struct tcp_conn *c = tcp_fixture_conn(&b->t);
    return c->extra ? c->extra->duplicates : 0;
}
// RFC 2883 §4: a first block below the acknowledgement, or inside the second. (Of one without bytes it says nothing.)
static void expect_reported(struct boundary *b, const uint32_t *edges, enum second second, uint32_t outstanding)
{
    const struct run first = run_of(b, edges), whole = second == SECOND_ALL ? run_of(b, edges + 2) : none;
    const bool below = first.left < 0, left_in = first.left >= whole.left && first.left < whole.right;
    const bool right_in = first.right > whole.left && first.right <= whole.right;
    const int64_t most = 1 << 30;  // no window is larger (RFC 7323 §2.3)
    if (first.left == -INT64_C(0x80000000) || second > SECOND_ALL || whole.left > whole.right)
        return;
    if (!below && !(left_in && right_in))
        assert_int_equal(reported(b), 0);
    else if (outstanding && first.left < first.right && first.left >= -most && length_of(first) <= most)
        assert_int_not_equal(reported(b), 0);
}
#else
static void expect_reported(struct boundary *b, const uint32_t *edges, enum second second, uint32_t outstanding)
{
    (void)b, (void)edges, (void)second, (void)outstanding;
}
#endif

// With nothing acknowledged, what is SACKED is what one of the blocks says, the first only where it is no duplicate.
static void each_pair_before_another_block(void **state)
{
    uint32_t values[BOUNDARY_VALUES];
    (void)state;
    for (int sent = 0; sent < SENT_COUNT; sent++) {
        const uint32_t count = edge_values(&kinds[ONLY_SACK], sent, values);
        for (uint32_t i = 0; i < count * count * SECOND_COUNT; i++) {
            struct boundary b;
            uint32_t edges[4] = {values[i / SECOND_COUNT / count], values[i / SECOND_COUNT % count]};
            boundary_bring(&b, &kinds[ONLY_SACK], sent, RECEIVED_NOTHING);
            const uint32_t blocks = 1 + second_block(&b, i % SECOND_COUNT, edges + 2);
            name_case(&b, "a block before another", edges, blocks);
            boundary_sack(&b, b.una, blocks, edges);
            const struct run before = sacked_before(&b), first = believed(&b, run_of(&b, edges));
            const struct run second = blocks > 1 ? believed(&b, run_of(&b, edges + 2)) : none;
            const uint32_t now = sacked(&b);
            if (now != bytes_in(before, first, second))
                assert_int_equal(now, bytes_in(before, none, second));
            expect_reported(&b, edges, i % SECOND_COUNT, b.nxt - b.una);
            end_case(&b);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(each_pair_of_edges, boundary_say),
        cmocka_unit_test_teardown(each_pair_of_edges_behind_a_duplicate, boundary_say),
        cmocka_unit_test_teardown(each_duplicate, boundary_say),
        cmocka_unit_test_teardown(each_pair_before_another_block, boundary_say),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
