// SPDX-License-Identifier: BSD-2-Clause
// profiles: tiny tiny6 small
#include "base/packet.h"

#include "base_test.h"

static const struct weir_port portable;

// A frame cut at random into slices, each in memory of just its size.
struct cut {
    uint8_t bytes[2000];
    struct weir_slice slices[WEIR_FRAME_SLICES];
    struct weir_frame frame;
};

static void cut_up(struct cut *cut, uint32_t length, uint32_t slices)
{
    uint32_t done = 0;
    test_fill(cut->bytes, length);
    cut->frame = (struct weir_frame){.slices = cut->slices, .length = length};
    while (done < length) {
        uint32_t piece = length - done;
        if (cut->frame.count + 1u < slices && piece > 1)
            piece = 1 + test_random(min_u32(piece - 1, 2 * (length / slices) + 1));
        if (!cut->frame.count)
            piece = max_u32(piece, min_u32(length, WEIR_FRAME_HEAD));
        uint8_t *data = malloc(piece);
        memcpy(data, cut->bytes + done, piece);
        cut->slices[cut->frame.count++] = (struct weir_slice){data, piece};
        done += piece;
    }
}

static void release(struct cut *cut)
{
    for (uint32_t i = 0; i < cut->frame.count; i++)
        free((void *)cut->slices[i].data);
}

static void any_range_of_any_frame(void **state)
{
    (void)state;
    static struct cut cut;
    uint8_t to[2000];
    for (int i = 0; i < 4000; i++) {
        cut_up(&cut, 60 + test_random(1900), 1 + test_random(WEIR_FRAME_SLICES));
        struct packet packet = {.frame = &cut.frame, .head = cut.slices[0].data, .length = cut.frame.length};
        packet_skip(&packet, 14);
        packet_skip(&packet, 20);
        if (test_random(2))
            packet.length -= test_random(packet.length);  // padding cut
        const uint32_t at = test_random(packet.length + 1), length = test_random(packet.length - at + 1);
        const uint8_t *want = cut.bytes + 34 + at;
        const uint16_t sum = checksum_sum_portable(want, length);

        memset(to, 0x5a, sizeof to);
        packet_copy(&packet, at, to, length);
        assert_memory_equal(to, want, length);
        assert_int_equal(to[length], 0x5a);
        assert_int_equal(packet_sum(&portable, &packet, at, length), sum);
        memset(to, 0x5a, sizeof to);
        assert_int_equal(packet_copy_sum(&portable, &packet, at, to, length), sum);
        assert_memory_equal(to, want, length);
        assert_int_equal(to[length], 0x5a);
        release(&cut);
    }
}

static void the_head_room_ends_with_slice_and_packet(void **state)
{
    (void)state;
    uint8_t bytes[100];
    const struct weir_slice slices[2] = {{bytes, 60}, {bytes + 60, 40}};
    const struct weir_frame frame = {.slices = slices, .count = 2, .length = 100};
    struct packet packet = {.frame = &frame, .head = bytes, .length = 100};
    assert_int_equal(packet_head_room(&packet), 60);
    packet_skip(&packet, 14);
    assert_int_equal(packet_head_room(&packet), 46);
    assert_int_equal(packet.length, 86);
    assert_int_equal(packet.offset, 14);
    packet.length = 20;
    assert_int_equal(packet_head_room(&packet), 20);
}

static void headers_grow_downwards(void **state)
{
    (void)state;
    struct packet_out out;
    packet_out_init(&out);
    packet_out_payload(&out, "payload", 7);
    assert_int_equal(packet_out_length(&out), 7);
    uint8_t *tcp = packet_out_header(&out, 60), *ip = packet_out_header(&out, 24), *link = packet_out_header(&out, 18);
    assert_ptr_equal(ip + 24, tcp);
    assert_ptr_equal(link + 18, ip);
    assert_true(link >= out.room);
    assert_int_equal(packet_out_length(&out), 109);
    assert_int_equal(out.tx.count, 2);
    assert_int_equal(out.slices[1].length, 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_range_of_any_frame),
        cmocka_unit_test(the_head_room_ends_with_slice_and_packet),
        cmocka_unit_test(headers_grow_downwards),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
