// SPDX-License-Identifier: BSD-2-Clause
// profiles: small
// Reassembly under every kind of abuse, and fragmentation. Pieces of a UDP datagram to a socket, so that what is
// delivered has passed its checksum.
#include "built.h"
#include "ip/packets.h"

#include <time.h>

#define PORT 7000
#define SECOND_US 1000000u
#define TIME_US (60 * SECOND_US)  // RFC 1122 §3.3.2, RFC 8200 §4.5

struct datagram_made {
    uint32_t length;
    uint8_t bytes[65535];
};

static void make_datagram(struct datagram_made *d, struct weir_addr source, uint32_t payload_length, uint32_t seed)
{
    uint8_t *payload = malloc(payload_length + 1);
    fill(payload, payload_length, seed);
    d->length = make_udp(d->bytes, source, OURS, 9, PORT, payload, payload_length);
    free(payload);
}

static void piece_from(struct fixture *f, struct weir_addr source, const struct datagram_made *d, uint16_t id,
                       uint32_t at, uint32_t length)
{
    input(f, &(struct make){.source = source,
                            .protocol = IP_UDP,
                            .id = id,
                            .offset = (uint16_t)at,
                            .flags = at + length < d->length ? IP4_MORE_FRAGMENTS : 0,
                            .payload = d->bytes + at,
                            .length = length});
}

static void piece(struct fixture *f, const struct datagram_made *d, uint16_t id, uint32_t at, uint32_t length)
{
    piece_from(f, PEER, d, id, at, length);
}

static void expect(struct fixture *f, weir_socket s, const struct datagram_made *d)
{
    uint8_t *got = malloc(65536);
    assert_int_equal(take(f, s, got, 65536, NULL), d->length - UDP_BYTES);
    assert_memory_equal(got, d->bytes + UDP_BYTES, d->length - UDP_BYTES);
    free(got);
}

// Of most datagrams here; a static build has REASSEMBLY_BYTES for all of them, and less for one in a socket.
#define PIECE (WEIR_CFG_ALLOCATOR ? 1480 : 240)

static void expect_nothing(struct fixture *f, weir_socket s)
{
    assert_int_equal(take(f, s, NULL, 0, NULL), WEIR_AGAIN);
}

struct order {
    uint32_t total, piece;
    enum { FORWARD, BACKWARD, SHUFFLED, TWICE } how;
};

static void any_order_is_put_together(void **state)
{
    (void)state;
    static const struct order orders[] = {
        {3000, 1480, FORWARD},   {3000, 1480, BACKWARD}, {3000, 1480, TWICE},    {65507, 1480, SHUFFLED},
        {65507, 1480, BACKWARD}, {65507, 8192, FORWARD}, {4096, 512, SHUFFLED},  {1600, 8, FORWARD},
        {1600, 8, BACKWARD},     {9, 16, FORWARD},       {2040, 1024, SHUFFLED}, {2041, 1024, TWICE},
        {30000, 552, SHUFFLED},
    };
    struct fixture f;
    struct datagram_made *d = malloc(sizeof *d);
    uint32_t random = 99;
    open_raw(&f);
    const weir_socket s = socket_bound(&f, weir_addr_any(), PORT);
    for (unsigned i = 0; i < sizeof orders / sizeof orders[0]; i++) {
        const struct order *o = &orders[i];
        make_datagram(d, PEER, o->total, i);
        const uint32_t pieces = (d->length + o->piece - 1) / o->piece;
        uint32_t sequence[300];
        for (uint32_t j = 0; j < pieces; j++)
            sequence[j] = o->how == BACKWARD ? pieces - 1 - j : j;
        for (uint32_t j = pieces; o->how == SHUFFLED && j-- > 1;) {
            const uint32_t k = (random = random * 1664525u + 1013904223u) % (j + 1), swap = sequence[j];
            sequence[j] = sequence[k];
            sequence[k] = swap;
        }
        for (uint32_t j = 0; j < pieces; j++) {
            const uint32_t at = sequence[j] * o->piece, length = d->length - at < o->piece ? d->length - at : o->piece;
            for (int again = 0; again < (o->how == TWICE && j + 1 < pieces ? 2 : 1); again++)
                piece(&f, d, (uint16_t)(100 + i), at, length);
        }
        expect(&f, s, d);
        assert_int_equal(f.weir->ip.fragments.count, 0);
        assert_int_equal(f.weir->ip.fragments.bytes, 0);
    }
    assert_int_equal(fixture_count(&f, WEIR_COUNT_FRAGMENT_OVERLAP), 0);
    fixture_close(&f);
    free(d);
}

// RFC 5722: any overlap condemns the whole datagram, and what still comes of it.
static void overlaps_condemn_the_datagram(void **state)
{
    (void)state;
    static const struct {
        uint32_t at, length;
        uint8_t change;  // of its bytes
    } rows[] = {
        {PIECE - 8, PIECE, 0},   // teardrop: begins within the first
        {0, PIECE + 8, 0},       // reaches past the first
        {8, 16, 1},              // inside it, other bytes
        {0, PIECE, 1},           // the same place, other bytes
        {0, 2 * PIECE, 0},       // covers it and more
        {2 * PIECE - 8, 16, 0},  // across the begin of the second
    };
    struct fixture f;
    struct datagram_made *d = malloc(sizeof *d);
    open_raw(&f);
    const weir_socket s = socket_bound(&f, weir_addr_any(), PORT);
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        make_datagram(d, PEER, 4 * PIECE + 80, i);
        piece(&f, d, (uint16_t)i, 0, PIECE);
        piece(&f, d, (uint16_t)i, 2 * PIECE, PIECE);
        const uint32_t held = f.weir->ip.fragments.bytes;
        d->bytes[rows[i].at + 8] ^= rows[i].change;
        piece(&f, d, (uint16_t)i, rows[i].at, rows[i].length);
        d->bytes[rows[i].at + 8] ^= rows[i].change;
        assert_int_equal(fixture_count(&f, WEIR_COUNT_FRAGMENT_OVERLAP), i + 1);
        assert_true(f.weir->ip.fragments.bytes < held);     // its memory is free at once
        for (uint32_t at = 0; at < d->length; at += PIECE)  // even all of it: refused
            piece(&f, d, (uint16_t)i, at, d->length - at < PIECE ? d->length - at : PIECE);
        expect_nothing(&f, s);
    }
    fixture_poll(&f, TIME_US + SECOND_US);
    assert_int_equal(f.weir->ip.fragments.count, 0);
    piece(&f, d, 0, 0, PIECE);  // the identification may be used again then
    assert_int_equal(f.weir->ip.fragments.count, 1);
    fixture_close(&f);
    free(d);
}

static void impossible_fragments_are_dropped(void **state)
{
    (void)state;
    struct fixture f;
    uint8_t bytes[64] = {0};
    open_raw(&f);
    const struct make rows[] = {
        // ping of death
        {.protocol = IP_UDP, .id = 1, .offset = 65528, .payload = bytes, .length = 16},
        {.protocol = IP_UDP,
         .id = 2,
         .offset = 65512,
         .flags = IP4_MORE_FRAGMENTS,
         .payload = bytes,
         .length = 8},  // header and all:
                        // 65,540
        // not a multiple of 8
        {.protocol = IP_UDP, .id = 3, .offset = 8, .flags = IP4_MORE_FRAGMENTS, .payload = bytes, .length = 12},
        // empty
        {.protocol = IP_UDP, .id = 4, .offset = 8, .flags = IP4_MORE_FRAGMENTS, .payload = bytes, .length = 0},
        // empty, last
        {.protocol = IP_UDP, .id = 5, .offset = 16, .payload = bytes, .length = 0},
        {.protocol = IP_TCP,
         .id = 6,
         .offset = 0,
         .flags = IP4_MORE_FRAGMENTS,
         .payload = bytes,
         .length = 16},  // hides TCP's flags (RFC
                         // 1858)
    };
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        input(&f, &rows[i]);
        assert_int_equal(fixture_count(&f, WEIR_COUNT_FRAGMENT_BAD), i + 1);
        assert_int_equal(f.weir->ip.fragments.count, 0);
    }
    fixture_close(&f);
}

static void contradicting_totals_condemn(void **state)
{
    (void)state;
    static const uint32_t rows[][3][2] = {
        {{0, PIECE},
         {2 * PIECE, 40},
         {3 * PIECE, 40}},  // two ends (offset, length); the second is marked as last by hand
        {{0, PIECE}, {3 * PIECE, 480}, {2 * PIECE, 40}},  // an end before what is there already
    };
    struct fixture f;
    struct datagram_made *d = malloc(sizeof *d);
    open_raw(&f);
    make_datagram(d, PEER, 4 * PIECE + 80, 1);
    for (unsigned i = 0; i < 2; i++) {
        for (unsigned j = 0; j < 3; j++)
            input(&f, &(struct make){.protocol = IP_UDP,
                                     .id = (uint16_t)i,
                                     .offset = (uint16_t)rows[i][j][0],
                                     .flags = j == 0 || (i == 1 && j == 1) ? IP4_MORE_FRAGMENTS : 0,
                                     .payload = d->bytes,
                                     .length = rows[i][j][1]});
        assert_int_equal(fixture_count(&f, WEIR_COUNT_FRAGMENT_BAD), i + 1);
    }
    // A piece beyond the end.
    input(&f, &(struct make){.protocol = IP_UDP, .id = 9, .offset = 80, .payload = d->bytes, .length = 8});
    input(
        &f,
        &(struct make){
            .protocol = IP_UDP, .id = 9, .offset = 160, .flags = IP4_MORE_FRAGMENTS, .payload = d->bytes, .length = 8});
    assert_int_equal(fixture_count(&f, WEIR_COUNT_FRAGMENT_BAD), 3);
    fixture_close(&f);
    free(d);
}

static void sources_protocols_and_ids_do_not_mix(void **state)
{
    (void)state;
    struct fixture f;
    struct datagram_made *a = malloc(sizeof *a), *b = malloc(sizeof *b), *c = malloc(sizeof *c);
    open_raw(&f);
    const weir_socket s = socket_bound(&f, weir_addr_any(), PORT);
    make_datagram(a, PEER, PIECE + 520, 1);
    make_datagram(b, OTHER, PIECE + 520, 2);
    make_datagram(c, PEER, PIECE + 520, 3);
    piece(&f, a, 5, 0, PIECE);
    piece_from(&f, OTHER, b, 5, 0, PIECE);
    piece(&f, c, 6, 0, PIECE);
    input(&f, &(struct make){.protocol = 200, .id = 5, .offset = PIECE, .payload = a->bytes, .length = 528});
    expect_nothing(&f, s);
    piece(&f, c, 6, PIECE, 528);
    expect(&f, s, c);
    piece_from(&f, OTHER, b, 5, PIECE, 528);
    expect(&f, s, b);
    piece(&f, a, 5, PIECE, 528);
    expect(&f, s, a);
    fixture_close(&f);
    free(a), free(b), free(c);
}

static void time_ends_it_and_the_sender_is_told(void **state)
{
    (void)state;
    struct fixture f;
    struct ip4 ip;
    struct icmp4 icmp;
    uint32_t length;
    struct datagram_made *d = malloc(sizeof *d);
    open_raw(&f);
    const weir_socket s = socket_bound(&f, weir_addr_any(), PORT);
    make_datagram(d, PEER, 2 * PIECE + 1040, 1);
    piece(&f, d, 1, 0, PIECE);
    piece_from(&f, OTHER, d, 2, PIECE, PIECE);  // without the first: nobody can be told
    fixture_poll(&f, TIME_US - SECOND_US);
    piece(&f, d, 1, PIECE, PIECE);  // more of it does not extend its time
    assert_int_equal(f.weir->ip.fragments.count, 2);
    fixture_poll(&f, 2 * SECOND_US);
    assert_int_equal(f.weir->ip.fragments.count, 0);
    assert_int_equal(f.weir->ip.fragments.bytes, 0);
    assert_int_equal(fixture_count(&f, WEIR_COUNT_FRAGMENT_TIMEOUT), 2);
    assert_int_equal(fixture_sent_count(&f), 1);
    const uint8_t *bytes = sent_icmp(&f, 0, &ip, &icmp, &length);
    assert_int_equal(icmp.type, ICMP4_TIME_EXCEEDED);
    assert_int_equal(icmp.code, 1);
    assert_int_equal(length, ICMP4_BYTES + IP4_BYTES + 8);
    assert_memory_equal(bytes + ICMP4_BYTES + IP4_BYTES, d->bytes, 8);
    piece(&f, d, 1, 2 * PIECE, 1048);
    expect_nothing(&f, s);
    fixture_close(&f);
    free(d);
}

// FragmentSmack: tiny pieces in random order, never the last, many identifications, many sources. Memory stays within
// the limit, and what one fragment costs does not grow with what came before.
static void flood_is_bounded_and_flat(void **state)
{
    (void)state;
    struct fixture f;
    struct made *packet = malloc(sizeof *packet);
    uint8_t bytes[8] = {0};
    uint32_t random = 7;
    clock_t first = 0, last = 0;
    open_raw(&f);
    fixture_set_mode(&f, FIXTURE_PLAIN);
    const uint64_t before = f.allocated_bytes;
    for (int batch = 0; batch < 20; batch++) {
        const clock_t start = clock();
        for (int i = 0; i < 4000; i++) {
            random = random * 1664525u + 1013904223u;
            make_packet(packet, &(struct make){.source = weir_ip4(10, 0, 0, (uint8_t)(2 + (random >> 8) % 9)),
                                               .protocol = IP_UDP,
                                               .id = (uint16_t)(random >> 13 & 63),
                                               .offset = (uint16_t)((random >> 19) * 8),
                                               .flags = IP4_MORE_FRAGMENTS,
                                               .payload = bytes,
                                               .length = 8});
            fixture_input(&f, packet->bytes, packet->length);
        }
        last = clock() - start;
        if (batch == 1)
            first = last;
        assert_true(f.weir->ip.fragments.bytes <= WEIR_CFG_REASSEMBLY_BYTES);
        assert_true(f.allocated_bytes - before <= WEIR_CFG_REASSEMBLY_BYTES + 65536);
        assert_true(f.weir->ip.fragments.count <= 64);
    }
    assert_true(last < 5 * first + CLOCKS_PER_SEC / 20);
    fixture_poll(&f, TIME_US + SECOND_US);
    assert_int_equal(f.weir->ip.fragments.bytes, 0);
    fixture_close(&f);
    free(packet);
}

// A flood from one source takes its own datagrams down, not another's.
static void one_source_cannot_push_out_another(void **state)
{
    (void)state;
    struct fixture f;
    struct datagram_made *d = malloc(sizeof *d);
    open_raw(&f);
    const weir_socket s = socket_bound(&f, weir_addr_any(), PORT);
    make_datagram(d, PEER, 2 * PIECE + 40, 1);
    piece(&f, d, 1, 0, PIECE);
    uint8_t bytes[PIECE] = {0};
    for (uint32_t id = 0; id < 2000; id++)
        input(&f, &(struct make){.source = OTHER,
                                 .protocol = IP_UDP,
                                 .id = (uint16_t)id,
                                 .offset = PIECE,
                                 .flags = IP4_MORE_FRAGMENTS,
                                 .payload = bytes,
                                 .length = sizeof bytes});
    assert_true(fixture_count(&f, WEIR_COUNT_FRAGMENT_LIMIT) > 1900);
    piece(&f, d, 1, PIECE, d->length - PIECE > PIECE ? PIECE : d->length - PIECE);
    piece(&f, d, 1, 2 * PIECE, d->length - 2 * PIECE);
    expect(&f, s, d);
    fixture_close(&f);
    free(d);
}

static void too_many_pieces_are_refused(void **state)
{
    (void)state;
    struct fixture f;
    uint8_t bytes[8] = {0};
    open_raw(&f);
    for (uint32_t i = 0; i < 257; i++)
        input(&f, &(struct make){.protocol = IP_UDP,
                                 .id = 1,
                                 .offset = (uint16_t)(i * 8),
                                 .flags = IP4_MORE_FRAGMENTS,
                                 .payload = bytes,
                                 .length = 8});
    assert_int_equal(fixture_count(&f, WEIR_COUNT_FRAGMENT_LIMIT), 1);
    for (uint32_t i = 0; i < 65; i++)  // holes
        input(&f, &(struct make){.protocol = IP_UDP,
                                 .id = 2,
                                 .offset = (uint16_t)(i * 16),
                                 .flags = IP4_MORE_FRAGMENTS,
                                 .payload = bytes,
                                 .length = 8});
    assert_int_equal(fixture_count(&f, WEIR_COUNT_FRAGMENT_LIMIT), 2);
    fixture_close(&f);
}

// Ripple20, CVE-2020-11896: a fragmented tunnel packet whose inner length lies is somebody else's business: nobody
// reads inside.
static void tunnelled_lies_are_not_read(void **state)
{
    (void)state;
    struct fixture f;
    struct made *inner = malloc(sizeof *inner);
    uint8_t udp[UDP_BYTES + 32] = {0};
    open_raw(&f);
    make_packet(inner, &(struct make){.protocol = IP_UDP, .payload = udp, .length = sizeof udp});
    put16(inner->bytes + 2, 24);  // shorter than it is
    header_sum(inner->bytes);
    input(&f,
          &(struct make){.protocol = 4, .id = 1, .flags = IP4_MORE_FRAGMENTS, .payload = inner->bytes, .length = 24});
    input(&f, &(struct make){
                  .protocol = 4, .id = 1, .offset = 24, .payload = inner->bytes + 24, .length = inner->length - 24});
    assert_int_equal(fixture_count(&f, WEIR_COUNT_IP_NO_PROTOCOL), 1);
    assert_int_equal(fixture_count(&f, WEIR_COUNT_UDP_NO_SOCKET), 0);
    fixture_close(&f);
    free(inner);
}

static void damaged_datagram_fails_its_checksum(void **state)
{
    (void)state;
    struct fixture f;
    struct datagram_made *d = malloc(sizeof *d);
    open_raw(&f);
    const weir_socket s = socket_bound(&f, weir_addr_any(), PORT);
    make_datagram(d, PEER, 2 * PIECE + 40, 1);
    d->bytes[PIECE + 100] ^= 4;
    piece(&f, d, 1, 0, PIECE);
    // A device that claims to have verified a fragment's checksum is not believed.
    struct made *packet = malloc(sizeof *packet);
    make_packet(
        packet,
        &(struct make){
            .protocol = IP_UDP, .id = 1, .offset = PIECE, .payload = d->bytes + PIECE, .length = d->length - PIECE});
    const struct weir_slice slice = {packet->bytes, packet->length};
    const struct weir_frame frame = {
        .slices = &slice, .count = 1, .length = packet->length, .checksum = WEIR_CHECKSUM_VERIFIED};
    fixture_input_frame(&f, &frame);
    assert_int_equal(fixture_count(&f, WEIR_COUNT_UDP_BAD_CHECKSUM), 1);
    expect_nothing(&f, s);
    fixture_close(&f);
    free(packet);
    free(d);
}

// RFC 3168 §5.3.
static void congestion_marks_are_combined(void **state)
{
    (void)state;
    static const struct {
        uint8_t first, second;
        int tos;  // of the whole; -1: dropped
    } rows[] = {{2, 2, 2}, {2, 3, 3}, {3, 2, 3}, {0, 0, 0}, {0, 3, -1}, {3, 0, -1}, {1, 3, 3}};
    struct fixture f;
    struct datagram_made *d = malloc(sizeof *d);
    open_raw(&f);
    const weir_socket s = socket_bound(&f, weir_addr_any(), PORT);
    make_datagram(d, PEER, PIECE + 520, 1);
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct weir_message message;
        input(&f, &(struct make){.protocol = IP_UDP,
                                 .id = (uint16_t)i,
                                 .tos = rows[i].first,
                                 .flags = IP4_MORE_FRAGMENTS,
                                 .payload = d->bytes,
                                 .length = PIECE});
        input(&f, &(struct make){.protocol = IP_UDP,
                                 .id = (uint16_t)i,
                                 .tos = rows[i].second,
                                 .offset = PIECE,
                                 .payload = d->bytes + PIECE,
                                 .length = d->length - PIECE});
        assert_int_equal(take(&f, s, NULL, 0, &message), rows[i].tos < 0 ? WEIR_AGAIN : PIECE + 520);
        if (rows[i].tos >= 0)
            assert_int_equal(message.tos, rows[i].tos);
    }
    fixture_close(&f);
    free(d);
}

static void allocation_failures_only_drop(void **state)
{
    (void)state;
    struct datagram_made *d = malloc(sizeof *d);
    make_datagram(d, PEER, 9000, 1);
    for (uint32_t fail = 1; fail < 12; fail++) {
        struct fixture f;
        open_raw(&f);
        const weir_socket s = socket_bound(&f, weir_addr_any(), PORT);
        f.fail_at = fail;
        for (uint32_t at = 0; at < d->length; at += 1480)
            piece(&f, d, 1, at, d->length - at < 1480 ? d->length - at : 1480);
        f.fail_at = 0;
        (void)take(&f, s, NULL, 0, NULL);
        piece(&f, d, 2, 0, 1480);
        for (uint32_t at = 1480; at < d->length; at += 1480)
            piece(&f, d, 2, at, d->length - at < 1480 ? d->length - at : 1480);
        expect(&f, s, d);
        fixture_close(&f);
    }
    free(d);
}

// --- output ----------------------------------------------------------------------------------------------------------

static uint32_t collect(struct fixture *f, uint8_t *out, uint32_t mtu)
{
    struct ip4 ip;
    uint32_t length, got = 0, end = 0;
    uint16_t id = 0;
    for (uint32_t i = 0; i < fixture_sent_count(f); i++) {
        const uint8_t *bytes = sent_packet(f, i, &ip, &length);
        assert_true(length + IP4_BYTES <= mtu);
        id = i ? id : ip.id;
        assert_int_equal(ip.id, id);
        memcpy(out + ip.fragment_offset, bytes, length);
        got += length;
        if (!(ip.flags & IP4_MORE_FRAGMENTS))
            end = ip.fragment_offset + length;
    }
    assert_int_equal(got, end);
    return end;
}

static void large_datagrams_leave_in_fragments(void **state)
{
    (void)state;
    static const uint32_t lengths[] = {1472, 1473, 1480, 2952, 2953, 20000, 65507};
    uint8_t *payload = malloc(65536), *back = malloc(65536 + 64);
    struct fixture f;
    open_raw(&f);
    const weir_socket s = socket_bound(&f, weir_addr_any(), PORT);
    for (unsigned i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        fill(payload, lengths[i], i);
        assert_int_equal(send_to(&f, s, PEER, 9, payload, lengths[i]), lengths[i]);
        fixture_poll(&f, 100000);
        assert_int_equal(collect(&f, back, 1500), lengths[i] + UDP_BYTES);
        assert_int_equal(fixture_sent_count(&f), (lengths[i] + UDP_BYTES + 1479) / 1480);
        assert_int_equal(
            checksum_add(ip4_pseudo_sum(weir_addr_to_v4(OURS), weir_addr_to_v4(PEER), IP_UDP, lengths[i] + UDP_BYTES),
                         checksum_sum_portable(back, lengths[i] + UDP_BYTES)),
            0xffff);
        assert_memory_equal(back + UDP_BYTES, payload, lengths[i]);
        fixture_clear(&f);
    }
    assert_int_equal(send_to(&f, s, PEER, 9, payload, 65508), WEIR_TOO_BIG);
    fixture_close(&f);
    free(payload);
    free(back);
}

// Refused in the middle: what was sent is not sent again, and the rest carries the same identification.
static void refusal_in_the_middle_resumes(void **state)
{
    (void)state;
    uint8_t *payload = malloc(20000), *back = malloc(65536);
    struct fixture f;
    open_raw(&f);
    fixture_set_mode(&f, FIXTURE_FULL_AT_RANDOM);
    const weir_socket s = socket_bound(&f, weir_addr_any(), PORT);
    fill(payload, 20000, 5);
    assert_int_equal(send_to(&f, s, PEER, 9, payload, 20000), 20000);
    fixture_poll(&f, 1000000);
    assert_true(f.full_count > 0);
    assert_int_equal(fixture_sent_count(&f), 14);
    assert_int_equal(collect(&f, back, 1500), 20008);
    assert_memory_equal(back + UDP_BYTES, payload, 20000);
    fixture_close(&f);
    free(payload);
    free(back);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with(WEIR_CFG_ALLOCATOR, any_order_is_put_together),
        cmocka_unit_test(overlaps_condemn_the_datagram),
        cmocka_unit_test(impossible_fragments_are_dropped),
        cmocka_unit_test(contradicting_totals_condemn),
        test_with(WEIR_CFG_ALLOCATOR, sources_protocols_and_ids_do_not_mix),
        cmocka_unit_test(time_ends_it_and_the_sender_is_told),
        cmocka_unit_test(flood_is_bounded_and_flat),
        cmocka_unit_test(one_source_cannot_push_out_another),
        test_with(WEIR_CFG_ALLOCATOR, too_many_pieces_are_refused),
        cmocka_unit_test(tunnelled_lies_are_not_read),
        cmocka_unit_test(damaged_datagram_fails_its_checksum),
        cmocka_unit_test(congestion_marks_are_combined),
        test_with(WEIR_CFG_ALLOCATOR, allocation_failures_only_drop),
        test_with(WEIR_CFG_ALLOCATOR, large_datagrams_leave_in_fragments),
        test_with(WEIR_CFG_ALLOCATOR, refusal_in_the_middle_resumes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
