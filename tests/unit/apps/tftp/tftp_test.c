// SPDX-License-Identifier: BSD-2-Clause
// profiles: small_apps
#include "apps/tftp/server.h"

static struct play play;

static void oack(const char *options, uint32_t length)
{
    uint8_t bytes[128] = {0, TFTP_OACK};
    memcpy(bytes + 2, options, length);
    play_send(&play, play.speaks, bytes, length + 2);
}
#define OACK(options) oack(options, sizeof options)

// The client's next packet to the transfer's port is this one.
static void expect(uint8_t opcode, uint32_t number)
{
    assert_true(play_take(&play, play.speaks) >= 4);
    assert_int_equal(play.packet[1], opcode);
    assert_int_equal(get16(play.packet + 2), number & 0xffff);
}

static void expect_nothing(void) { assert_int_equal(play_take(&play, play.speaks), 0); }

static void get_open(uint16_t block_bytes, uint16_t window)
{
    play_open(&play);
    play.config.block_bytes = block_bytes;
    play.config.window = window;
    play_start(&play);
}

static void put_open(uint32_t length, uint16_t block_bytes, uint16_t window)
{
    play_open(&play);
    play.config.put = true;
    play.config.block_bytes = block_bytes;
    play.config.window = window;
    play.length = length;
    for (uint32_t i = 0; i < length; i++)
        play.file[i] = (uint8_t)(i * 7);
    play_start(&play);
}

static void ended(int error)
{
    assert_int_equal(play.dones, 1);
    assert_int_equal(play.error, error);
    play_close(&play);
}

static void a_file_is_got_of_a_server_without_options(void **state)
{
    static const char request[] = "\0\1image\0octet\0tsize\0"
                                  "0";
    (void)state;
    get_open(0, 0);
    assert_int_equal(play.packet_length, sizeof request);
    assert_memory_equal(play.packet, request, sizeof request);
    play_block(&play, 1, 512);
    expect(TFTP_ACK, 1);
    play_block(&play, 2, 10);
    expect(TFTP_ACK, 2);
    assert_int_equal(play.length, 522);
    assert_int_equal(play.file[521], 2);
    ended(WEIR_OK);
}

static void a_full_last_block_is_followed_by_an_empty_one(void **state)
{
    (void)state;
    get_open(0, 0);
    play_block(&play, 1, 512);
    expect(TFTP_ACK, 1);
    assert_int_equal(play.dones, 0);
    play_block(&play, 2, 0);
    expect(TFTP_ACK, 2);
    assert_int_equal(play.length, 512);
    ended(WEIR_OK);
    put_open(1024, 0, 0);
    play_number(&play, TFTP_ACK, 0);
    expect(TFTP_DATA, 1);
    play_number(&play, TFTP_ACK, 1);
    expect(TFTP_DATA, 2);
    play_number(&play, TFTP_ACK, 2);
    expect(TFTP_DATA, 3);
    assert_int_equal(play.packet_length, 4);
    play_number(&play, TFTP_ACK, 3);
    ended(WEIR_OK);
}

static void options_are_followed(void **state)
{
    static const char request[] = "\0\1image\0octet\0blksize\0"
                                  "1024\0windowsize\0"
                                  "4\0tsize\0"
                                  "0";
    (void)state;
    get_open(1024, 4);
    assert_int_equal(play.packet_length, sizeof request);
    assert_memory_equal(play.packet, request, sizeof request);
    OACK("BLKSIZE\0"
         "1000\0windowsize\0"
         "2\0tsize\0"
         "2500");
    expect(TFTP_ACK, 0);
    play_block(&play, 1, 1000);
    expect_nothing();
    play_block(&play, 2, 1000);
    expect(TFTP_ACK, 2);
    play_block(&play, 3, 500);
    expect(TFTP_ACK, 3);
    assert_int_equal(play.length, 2500);
    ended(WEIR_OK);
}

static void options_beyond_ours_end_it(void **state)
{
    (void)state;
    get_open(1024, 4);
    OACK("blksize\0"
         "1025");
    expect(TFTP_ERROR, TFTP_CODE_OPTION);
    ended(WEIR_NOT_SUPPORTED);
    get_open(1024, 0);
    OACK("windowsize\0"
         "2");
    expect(TFTP_ERROR, TFTP_CODE_OPTION);
    ended(WEIR_NOT_SUPPORTED);
    put_open(100, 0, 0);
    OACK("tsize\0"
         "100");
    expect(TFTP_ERROR, TFTP_CODE_OPTION);
    ended(WEIR_NOT_SUPPORTED);
}

static void a_server_that_refuses_options_is_asked_without(void **state)
{
    static const char request[] = "\0\1image\0octet";
    (void)state;
    get_open(1024, 4);
    play_number(&play, TFTP_ERROR, TFTP_CODE_OPTION);
    assert_int_equal(play_take(&play, play.listens), sizeof request);
    assert_memory_equal(play.packet, request, sizeof request);
    play_block(&play, 1, 1);
    expect(TFTP_ACK, 1);
    ended(WEIR_OK);
}

// RFC 1123 §4.2.3.1: the sorcerer's apprentice.
static void a_duplicate_acknowledgement_sends_nothing(void **state)
{
    (void)state;
    put_open(2000, 0, 0);
    play_number(&play, TFTP_ACK, 0);
    expect(TFTP_DATA, 1);
    play_number(&play, TFTP_ACK, 0);
    expect_nothing();
    play_number(&play, TFTP_ACK, 1);
    expect(TFTP_DATA, 2);
    play_number(&play, TFTP_ACK, 1);
    play_number(&play, TFTP_ACK, 3);  // of what was never sent
    expect_nothing();
    assert_int_equal(play.tftp.count.duplicates, 3);
    play_close(&play);
}

static void windows_are_put_and_repeated_from_a_gap(void **state)
{
    (void)state;
    put_open(2000, 512, 3);
    OACK("windowsize\0"
         "3");
    expect(TFTP_DATA, 1);
    expect(TFTP_DATA, 2);
    expect(TFTP_DATA, 3);
    expect_nothing();
    play_number(&play, TFTP_ACK, 1);  // 2 was lost
    expect(TFTP_DATA, 2);
    assert_memory_equal(play.packet + 4, play.file + 512, 512);
    expect(TFTP_DATA, 3);
    expect(TFTP_DATA, 4);
    assert_int_equal(play.packet_length, 4 + 2000 - 3 * 512);
    play_number(&play, TFTP_ACK, 4);
    ended(WEIR_OK);
}

static void a_gap_is_told_once(void **state)
{
    (void)state;
    get_open(512, 4);
    OACK("windowsize\0"
         "4");
    expect(TFTP_ACK, 0);
    play_block(&play, 1, 512);
    play_block(&play, 3, 512);
    expect(TFTP_ACK, 1);
    play_block(&play, 4, 512);
    expect_nothing();
    for (uint32_t number = 2; number <= 5; number++)
        play_block(&play, number, 512);
    expect(TFTP_ACK, 5);
    assert_int_equal(play.tftp.count.gaps, 2);
    play_block(&play, 4, 512);  // of a window that is acknowledged
    expect_nothing();
    play_block(&play, 5, 512);  // its end: the server did not hear it
    expect(TFTP_ACK, 5);
    assert_int_equal(play.length, 5 * 512);
    play_close(&play);
}

static void block_numbers_wrap(void **state)
{
    (void)state;
    get_open(8, 0);
    OACK("blksize\0"
         "8");
    expect(TFTP_ACK, 0);
    for (uint32_t number = 1; number < 65540; number++) {
        play.length = 0;
        play_block(&play, number, 8);
        expect(TFTP_ACK, number);
    }
    play_block(&play, 65540, 0);
    expect(TFTP_ACK, 65540);
    assert_true(play.tftp.bytes == 65539u * 8);
    ended(WEIR_OK);
}

static void packets_from_other_ports_get_an_error_and_end_nothing(void **state)
{
    (void)state;
    get_open(0, 0);
    play_block(&play, 1, 512);
    expect(TFTP_ACK, 1);
    const weir_socket stranger = play_socket(&play, 41000);
    for (uint32_t i = 0; i < TFTP_STRANGERS + 4; i++)
        play_send(&play, stranger, "\0\3\0\2x", 5);
    for (uint32_t i = 0; i < TFTP_STRANGERS; i++) {
        assert_int_equal(play_take(&play, stranger), 5);
        assert_memory_equal(play.packet, "\0\5\0\5", 4);
    }
    assert_int_equal(play_take(&play, stranger), 0);
    play_send(&play, stranger, "\0\5\0\1x", 6);  // an error of a stranger's is none
    assert_int_equal(play_take(&play, stranger), 0);
    assert_int_equal(play.tftp.count.foreign, TFTP_STRANGERS + 5);
    assert_int_equal(weir_socket_close(play.b.f.weir, stranger), WEIR_OK);
    play_block(&play, 2, 1);
    assert_int_equal(play.length, 513);
    ended(WEIR_OK);
}

static void what_is_lost_is_sent_again_ever_more_rarely(void **state)
{
    (void)state;
    get_open(0, 0);
    bench_run(&play.b, 3 * SECOND + 1000);  // at 1 and 3 s
    assert_true(play_take(&play, play.listens) > 0 && play_take(&play, play.listens) > 0);
    assert_int_equal(play_take(&play, play.listens), 0);
    play_block(&play, 1, 512);
    expect(TFTP_ACK, 1);
    bench_run(&play.b, 62 * SECOND);
    for (uint32_t i = 1; i < TFTP_TRIES; i++)
        expect(TFTP_ACK, 1);
    expect_nothing();
    assert_int_equal(play.dones, 0);
    bench_run(&play.b, 2 * SECOND);
    ended(WEIR_TIMED_OUT);
    put_open(600, 0, 0);
    play_number(&play, TFTP_ACK, 0);
    expect(TFTP_DATA, 1);
    bench_run(&play.b, SECOND);
    expect(TFTP_DATA, 1);
    play_close(&play);
}

static void the_last_acknowledgement_is_repeated(void **state)
{
    (void)state;
    get_open(0, 0);
    play_block(&play, 1, 3);
    expect(TFTP_ACK, 1);
    play_block(&play, 1, 3);
    expect(TFTP_ACK, 1);
    assert_int_equal(play.length, 3);
    bench_run(&play.b, TFTP_LINGER_US);
    assert_int_equal(play.tftp.state, TFTP_STOPPED);
    assert_int_equal(play.tftp.socket, 0);
    ended(WEIR_OK);
}

static void the_servers_error_is_told(void **state)
{
    (void)state;
    get_open(0, 0);
    play_send(&play, play.speaks, "\0\5\0\1no\nfile", 12);
    assert_int_equal(play.tftp.code, TFTP_CODE_NOT_FOUND);
    assert_string_equal(play.tftp.text, "no?file");
    ended(WEIR_REFUSED);
}

static void a_file_that_is_too_large_is_refused(void **state)
{
    (void)state;
    play_open(&play);
    play.config.size = 600;
    play_start(&play);
    OACK("tsize\0"
         "601");
    expect(TFTP_ERROR, TFTP_CODE_FULL);
    ended(WEIR_TOO_BIG);
    play_open(&play);
    play.config.size = 600;
    play_start(&play);
    play_block(&play, 1, 512);
    expect(TFTP_ACK, 1);
    play_block(&play, 2, 89);
    expect(TFTP_ERROR, TFTP_CODE_FULL);
    assert_int_equal(play.length, 512);
    ended(WEIR_TOO_BIG);
}

static void a_caller_that_refuses_or_stops_ends_it(void **state)
{
    (void)state;
    play_open(&play);
    play.refuse = WEIR_NO_MEMORY;
    play_start(&play);
    play_block(&play, 1, 512);
    expect(TFTP_ERROR, TFTP_CODE_OTHER);
    ended(WEIR_NO_MEMORY);
    play_open(&play);
    play.stop = true;
    play_start(&play);
    play_block(&play, 1, 512);
    expect_nothing();
    assert_int_equal(play.tftp.state, TFTP_STOPPED);
    assert_int_equal(play.dones, 0);
    play_close(&play);
    put_open(10, 0, 0);
    play.refuse = WEIR_INVALID;
    play_number(&play, TFTP_ACK, 0);
    expect(TFTP_ERROR, TFTP_CODE_OTHER);
    ended(WEIR_INVALID);
}

static void malformed_packets_are_dropped(void **state)
{
    struct tftp_packet packet;
    (void)state;
    assert_false(tftp_parse((const uint8_t *)"\0\6blksize\0007", 12, &packet));  // without its NUL
    assert_false(tftp_parse((const uint8_t *)"\0\6blksize\0007", 13, &packet));  // 7 bytes
    assert_false(tftp_parse((const uint8_t *)"\0\6blksize\000600\0blksize\000600", 26, &packet));
    assert_false(tftp_parse((const uint8_t *)"\0\6timeout\0001", 13, &packet));
    assert_false(tftp_parse((const uint8_t *)"\0\6tsize\000x", 10, &packet));
    assert_false(tftp_parse((const uint8_t *)"\0\6tsize\0", 9, &packet));
    assert_false(tftp_parse((const uint8_t *)"\0\1image\0octet", 14, &packet));  // a client's
    assert_false(tftp_parse((const uint8_t *)"\1\3\0\1", 4, &packet));
    assert_true(tftp_parse((const uint8_t *)"\0\6", 2, &packet));
    get_open(0, 0);
    play_send(&play, play.speaks, "\0\3\0", 3);
    play_send(&play, play.speaks, "\0", 1);
    play_block(&play, 1, 513);
    assert_int_equal(play.tftp.count.malformed, 3);
    expect_nothing();
    play_number(&play, TFTP_ACK, 1);  // nonsense, and ignored
    expect_nothing();
    play_close(&play);
}

static void what_cannot_be_is_refused(void **state)
{
    char name[TFTP_NAME_MAX + 2];
    (void)state;
    play_open(&play);
    memset(name, 'a', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    struct tftp_config bad[13];
    for (uint32_t i = 0; i < 13; i++)
        bad[i] = play.config;
    bad[0].file = "";
    bad[1].file = name;
    bad[2].block_bytes = 7;
    bad[3].window = TFTP_WINDOW_MAX + 1;
    bad[4].data = NULL;
    bad[5].server.addr = weir_ip4(255, 255, 255, 255);
    bad[6].file = NULL;
    bad[7].done = NULL;
    bad[8].server.addr = weir_addr_any();
    bad[9].server.addr = weir_ip4(224, 0, 0, 1);
    bad[10].put = bad[11].put = true;
    bad[10].read = NULL;
    bad[11].block = NULL;
    bad[12].block_bytes = TFTP_BLOCK_MAX + 1;
    for (uint32_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(tftp_start(&play.tftp, &play.b.loop, &bad[i]), WEIR_INVALID);
    play.config.file = name + 1;
    play_start(&play);
    play_close(&play);
}

// Whichever allocation fails, nothing begins; or what began goes on, or ends with a word.
static void no_memory_ends_it(void **state)
{
    static const uint8_t refuses[] = {0, TFTP_ERROR, 0, TFTP_CODE_OPTION, 0};
    const struct weir_slice slice = {refuses, sizeof refuses};
    uint32_t not_begun = 0, broken_off = 0;
    bool failed = true;
    (void)state;
    for (uint32_t at = 1; failed; at++) {
        play_open(&play);
        play.b.f.fail_at = at;
        const int error = tftp_start(&play.tftp, &play.b.loop, &play.config);
        failed = play.b.f.fail_at == 0;
        play.b.f.fail_at = 0;
        assert_true(error == WEIR_OK || (error == WEIR_NO_MEMORY && play.tftp.socket == 0));
        not_begun += error != WEIR_OK;
        play_close(&play);
    }
    failed = true;
    for (uint32_t at = 1; failed; at++) {
        get_open(1024, 4);
        const struct weir_message message = {.peer = play.client};
        play.b.f.fail_at = at;
        (void)weir_socket_send_message(play.b.f.weir, play.speaks, &message, &slice, 1);
        bench_run(&play.b, 1000);
        failed = play.b.f.fail_at == 0;
        play.b.f.fail_at = 0;
        broken_off += play.dones;
        if (play.dones)
            ended(WEIR_NO_MEMORY);
        else
            play_close(&play);
    }
    // Where sockets are static nothing is asked for.
    assert_true(WEIR_CFG_DATAGRAM_SOCKETS != 0 || (not_begun > 0 && broken_off > 0));
}

// What a peer says out of its turn changes nothing.
static void packets_out_of_turn_are_passed_over(void **state)
{
    (void)state;
    get_open(1024, 0);
    OACK("blksize\0"
         "600");
    expect(TFTP_ACK, 0);
    OACK("blksize\0"
         "600");  // it did not hear our acknowledgement
    expect(TFTP_ACK, 0);
    play_block(&play, 1, 600);
    expect(TFTP_ACK, 1);
    OACK("blksize\0"
         "8");  // long after
    expect_nothing();
    assert_int_equal(play.tftp.block_bytes, 600);
    play_block(&play, 2, 5);
    expect(TFTP_ACK, 2);
    play_block(&play, 1, 600);  // while it lingers only the last block is of interest
    play_number(&play, TFTP_ACK, 2);
    OACK("tsize\0"
         "605");
    expect_nothing();
    ended(WEIR_OK);
    put_open(600, 0, 0);
    play_number(&play, TFTP_ACK, 7);  // before it began
    play_block(&play, 1, 10);
    expect_nothing();
    play_number(&play, TFTP_ACK, 0);
    expect(TFTP_DATA, 1);
    play_block(&play, 1, 10);
    OACK("blksize\0"
         "8");
    expect_nothing();
    play_number(&play, TFTP_ACK, 1);
    expect(TFTP_DATA, 2);
    play_number(&play, TFTP_ACK, 2);
    ended(WEIR_OK);
    // Options are refused once; a second time, and in the middle of a transfer, that is an error.
    get_open(1024, 0);
    play_number(&play, TFTP_ERROR, TFTP_CODE_OPTION);
    assert_true(play_take(&play, play.listens) > 0);
    play_number(&play, TFTP_ERROR, TFTP_CODE_OPTION);
    ended(WEIR_REFUSED);
    get_open(1024, 0);
    OACK("blksize\0"
         "600");
    play_number(&play, TFTP_ERROR, TFTP_CODE_OPTION);
    ended(WEIR_REFUSED);
}

static bool asked_to_stop;
static int read_badly(struct tftp *tftp, uint64_t offset, uint8_t *out, uint32_t room, void *context)
{
    (void)offset, (void)out, (void)context;
    if (asked_to_stop)
        tftp_stop(tftp);
    return (int)room + !asked_to_stop;
}

static void a_reader_that_lies_or_stops_ends_it(void **state)
{
    (void)state;
    for (uint32_t stops = 0; stops < 2; stops++) {
        asked_to_stop = stops;
        play_open(&play);
        play.config.put = true;
        play.config.read = read_badly;
        play_start(&play);
        play_number(&play, TFTP_ACK, 0);
        if (stops) {
            expect_nothing();
            assert_int_equal(play.dones, 0);
            assert_int_equal(play.tftp.state, TFTP_STOPPED);
            play_close(&play);
        } else {
            expect(TFTP_ERROR, TFTP_CODE_OTHER);
            ended(WEIR_INVALID);
        }
    }
}

// A size that is told is held to; one that is not the file's is refused.
static void sizes_are_those_of_the_file(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 2; i++) {
        play_open(&play);
        play.config.put = true;
        play.length = play.config.size = 100;
        play_start(&play);
        if (i == 0) {
            OACK("tsize\0"
                 "100");
            expect(TFTP_DATA, 1);
            play_number(&play, TFTP_ACK, 1);
            ended(WEIR_OK);
        } else {
            OACK("tsize\0"
                 "99");
            expect(TFTP_ERROR, TFTP_CODE_OPTION);
            ended(WEIR_NOT_SUPPORTED);
        }
    }
    play_open(&play);
    play.config.size = 600;
    play_start(&play);
    OACK("tsize\0"
         "600");
    expect(TFTP_ACK, 0);
    play_close(&play);
}

static void a_failure_to_send_hides_no_block(void **state)
{
    static const uint8_t block[TFTP_HEADER_BYTES + 10] = {0, TFTP_DATA, 0, 1};
    (void)state;
    get_open(0, 0);
    bench_send_behind_failure(&play.b, play.speaks, &play.client, play.tftp.socket, block, sizeof block);
    expect(TFTP_ACK, 1);
    ended(WEIR_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_is_got_of_a_server_without_options),
        cmocka_unit_test(a_full_last_block_is_followed_by_an_empty_one),
        cmocka_unit_test(options_are_followed),
        cmocka_unit_test(options_beyond_ours_end_it),
        cmocka_unit_test(a_server_that_refuses_options_is_asked_without),
        cmocka_unit_test(a_duplicate_acknowledgement_sends_nothing),
        cmocka_unit_test(windows_are_put_and_repeated_from_a_gap),
        cmocka_unit_test(a_gap_is_told_once),
        cmocka_unit_test(block_numbers_wrap),
        cmocka_unit_test(packets_from_other_ports_get_an_error_and_end_nothing),
        cmocka_unit_test(what_is_lost_is_sent_again_ever_more_rarely),
        cmocka_unit_test(the_last_acknowledgement_is_repeated),
        cmocka_unit_test(the_servers_error_is_told),
        cmocka_unit_test(a_file_that_is_too_large_is_refused),
        cmocka_unit_test(a_caller_that_refuses_or_stops_ends_it),
        cmocka_unit_test(malformed_packets_are_dropped),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(no_memory_ends_it),
        cmocka_unit_test(packets_out_of_turn_are_passed_over),
        cmocka_unit_test(a_reader_that_lies_or_stops_ends_it),
        cmocka_unit_test(sizes_are_those_of_the_file),
        cmocka_unit_test(a_failure_to_send_hides_no_block),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
