// SPDX-License-Identifier: BSD-2-Clause
// The observer, fed with segments by hand: a lawful conversation passes, and each law, broken once, is named.
#include "sink.h"

#define SYN 2
#define FIN 1
#define RST 4
#define ACK 16

enum { CLIENT, SERVER };  // hosts 0 and 1

static struct sim *sim;
static struct frame *last;                           // that was sent
static const uint32_t isn[2] = {0xffffff00u, 5000};  // the client's numbers wrap
static uint8_t options[40];
static uint32_t option_bytes;

static uint16_t spoil;  // added to the TCP checksum

static void sum_up(struct frame *frame)
{
    uint8_t *ip = frame->data + FRAME_ETHERNET;
    const uint32_t end = get16(ip + 2);
    uint32_t sum = 6 + end - 20;
    frame_ip_sum(ip);
    for (uint32_t at = 12; at < end; at += 2)
        sum += (uint32_t)ip[at] << 8 | (at + 1 < end ? ip[at + 1] : 0);
    while (sum >> 16)
        sum = (sum & 0xffff) + (sum >> 16);
    put16(ip + 36, (uint16_t)(~sum + spoil));
    spoil = 0;
}

// Numbers count from the SYN. Options are those of `options`, once.
static void send(int from, uint8_t flags, uint32_t seq, uint32_t ack, uint32_t length, uint16_t window)
{
    struct frame *frame = frame_new(&sim->frames, FRAME_ETHERNET + 40 + option_bytes + length);
    memset(frame->data, 0, frame->length);
    frame->head = FRAME_ETHERNET;
    put16(frame->data + 12, 0x0800);
    uint8_t *ip = frame->data + FRAME_ETHERNET, *tcp = ip + 20;
    ip[0] = 0x45;
    put16(ip + 2, (uint16_t)(40 + option_bytes + length));
    ip[8] = 64;
    ip[9] = 6;
    put32(ip + 12, 0x0a000001u + (uint32_t)from);
    put32(ip + 16, 0x0a000001u + (uint32_t)!from);
    put16(tcp, from ? 80 : 4000);
    put16(tcp + 2, from ? 4000 : 80);
    put32(tcp + 4, isn[from] + seq);
    put32(tcp + 8, flags & ACK ? isn[!from] + ack : 0);
    tcp[12] = (uint8_t)((5 + option_bytes / 4) << 4);
    tcp[13] = flags;
    put16(tcp + 14, window);
    memcpy(tcp + 20, options, option_bytes);
    option_bytes = 0;
    sum_up(frame);
    check_sent(sim->check, (uint32_t)from, frame);
    if (last)
        frame_free(&sim->frames, last);
    last = frame;
}

static void deliver(void) { check_delivered(sim->check, get32(last->data + FRAME_ETHERNET + 16) - 0x0a000001u, last); }

static void pass(int from, uint8_t flags, uint32_t seq, uint32_t ack, uint32_t length, uint16_t window)
{
    send(from, flags, seq, ack, length, window);
    deliver();
}

static void with_syn_options(uint8_t scale)
{
    static const uint8_t mss[4] = {2, 4, 1000 >> 8, 1000 & 255};
    memcpy(options, mss, 4);
    memcpy(options + 4, (uint8_t[]){1, 3, 3, scale}, 4);
    option_bytes = 8;
}

static void with_sack(uint32_t from, uint32_t to)
{
    memcpy(options, (uint8_t[]){1, 1, 5, 10}, 4);
    put32(options + 4, isn[CLIENT] + from);
    put32(options + 8, isn[CLIENT] + to);
    option_bytes = 12;
}

// Established; the client has been told of a window of 4000 bytes from 1 on. The server's scale is 3.
static void open_talk(void)
{
    sim = sim_open(NULL);
    sim_host_add(sim, "client", NULL);
    sim_host_add(sim, "server", NULL);
    last = NULL;
    with_syn_options(0);
    pass(CLIENT, SYN, 0, 0, 0, 8000);
    with_syn_options(3);
    pass(SERVER, SYN | ACK, 0, 1, 0, 4000);
    pass(CLIENT, ACK, 1, 1, 0, 8000);
}

static void close_talk(void)
{
    if (last)
        frame_free(&sim->frames, last);
    assert_int_equal(sim->frames.under_way, 0);
    sim_close(sim);
}

static void expect(const char *law)
{
    if (!law && sim_failure(sim))
        fail_msg("%s", sim_failure(sim));
    if (law && (!sim_failure(sim) || !strstr(sim_failure(sim), law)))
        fail_msg("expected '%s', found '%s'", law, sim_failure(sim) ? sim_failure(sim) : "nothing");
    close_talk();
}

static void a_lawful_talk(void **state)
{
    (void)state;
    open_talk();
    assert_int_equal(check_outstanding(sim->check, CLIENT), 0);
    pass(CLIENT, ACK, 1, 1, 1000, 8000);
    assert_int_equal(check_outstanding(sim->check, CLIENT), 1);
    send(CLIENT, ACK, 1001, 1, 1000, 8000);  // lost
    pass(CLIENT, ACK, 2001, 1, 1000, 8000);
    with_sack(2001, 3001);
    pass(SERVER, ACK, 1, 1001, 0, 500);      // to 5001: never to the left
    pass(CLIENT, ACK, 1001, 1, 1000, 8000);  // again
    with_sack(1, 1001);                      // a DSACK: of what came long ago
    pass(SERVER, ACK, 1, 3001, 300, 250);
    assert_int_equal(check_outstanding(sim->check, CLIENT), 0);
    assert_int_equal(check_outstanding(sim->check, SERVER), 1);
    pass(CLIENT, ACK, 3001, 301, 1000, 8000);
    pass(SERVER, ACK, 301, 4001, 0, 125);  // to 5001
    pass(CLIENT, ACK, 4001, 301, 1000, 8000);
    pass(SERVER, ACK, 301, 5001, 0, 0);
    pass(CLIENT, ACK, 5001, 301, 1, 8000);  // probes the closed window
    pass(SERVER, ACK, 301, 5001, 0, 0);
    pass(SERVER, ACK, 301, 5001, 0, 100);
    pass(CLIENT, ACK | FIN, 5001, 301, 100, 8000);
    pass(SERVER, ACK | FIN, 301, 5102, 0, 0);
    pass(CLIENT, ACK, 5102, 302, 0, 8000);
    assert_int_equal(check_outstanding(sim->check, CLIENT), 0);
    assert_int_equal(check_outstanding(sim->check, SERVER), 0);
    expect(NULL);
}

static void a_gap(void **state)
{
    (void)state;
    open_talk();
    pass(CLIENT, ACK, 2, 1, 100, 8000);
    expect("leaves a gap");
}

static void beyond_the_window(void **state)
{
    (void)state;
    open_talk();
    for (uint32_t seq = 1; seq < 4001; seq += 1000)
        pass(CLIENT, ACK, seq, 1, 1000, 8000);
    assert_null(sim_failure(sim));
    pass(CLIENT, ACK, 4001, 1, 2, 8000);
    expect("beyond the window");
}

static void again_although_acknowledged(void **state)
{
    (void)state;
    open_talk();
    pass(CLIENT, ACK, 1, 1, 1000, 8000);
    pass(SERVER, ACK, 1, 1001, 0, 4000);
    pass(CLIENT, ACK, 1, 1, 1000, 8000);
    expect("sends again what was acknowledged");
}

static void after_the_fin(void **state)
{
    (void)state;
    open_talk();
    pass(CLIENT, ACK | FIN, 1, 1, 100, 8000);
    pass(CLIENT, ACK, 102, 1, 10, 8000);
    expect("beyond its FIN");
}

static void a_fin_that_moves(void **state)
{
    (void)state;
    open_talk();
    pass(CLIENT, ACK | FIN, 1, 1, 100, 8000);
    pass(CLIENT, ACK | FIN, 1, 1, 50, 8000);
    expect("moves its FIN");
}

static void an_acknowledgement_of_what_did_not_come(void **state)
{
    (void)state;
    open_talk();
    send(CLIENT, ACK, 1, 1, 1000, 8000);  // lost
    pass(SERVER, ACK, 1, 1001, 0, 4000);
    expect("acknowledges what it did not get");
}

static void an_acknowledgement_across_a_hole(void **state)
{
    (void)state;
    open_talk();
    send(CLIENT, ACK, 1, 1, 1000, 8000);  // lost
    pass(CLIENT, ACK, 1001, 1, 1000, 8000);
    pass(SERVER, ACK, 1, 2001, 0, 4000);
    expect("acknowledges what it did not get");
}

static void an_acknowledgement_backwards(void **state)
{
    (void)state;
    open_talk();
    pass(CLIENT, ACK, 1, 1, 1000, 8000);
    pass(SERVER, ACK, 1, 1001, 0, 4000);
    pass(SERVER, ACK, 1, 501, 0, 4000);
    expect("less than before");
}

static void a_sack_of_what_did_not_come(void **state)
{
    (void)state;
    open_talk();
    send(CLIENT, ACK, 1, 1, 1000, 8000);
    pass(CLIENT, ACK, 1001, 1, 1000, 8000);
    with_sack(1001, 2002);
    pass(SERVER, ACK, 1, 1, 0, 4000);
    expect("SACKs what it did not get");
}

static void a_right_edge_that_moves_left(void **state)
{
    (void)state;
    open_talk();
    pass(CLIENT, ACK, 1, 1, 1000, 8000);
    pass(SERVER, ACK, 1, 1001, 0, 1000);  // to 9001
    pass(CLIENT, ACK, 1001, 1, 5, 8000);
    pass(SERVER, ACK, 1, 1006, 0, 999);  // to 8998: rounded off to the scale's 8
    assert_null(sim_failure(sim));
    pass(SERVER, ACK, 1, 1006, 0, 998);
    expect("moves its right edge left");
}

static void more_than_the_mss(void **state)
{
    (void)state;
    open_talk();
    pass(CLIENT, ACK, 1, 1, 1001, 8000);
    expect("more than the peer's MSS");
}

static void wrong_sums(void **state)
{
    (void)state;
    open_talk();
    spoil = 1;
    pass(CLIENT, ACK, 1, 1, 1000, 8000);
    expect("a wrong TCP checksum");
    open_talk();
    pass(CLIENT, ACK, 1, 1, 999, 8000);
    assert_null(sim_failure(sim));
    last->data[FRAME_ETHERNET + 1] ^= 1;
    check_sent(sim->check, CLIENT, last);
    expect("a wrong IPv4 checksum");
}

// What was damaged on the way counts as not delivered by whoever delivers; a reset ends what is expected.
static void a_reset_ends_it(void **state)
{
    (void)state;
    open_talk();
    pass(CLIENT, ACK, 1, 1, 1000, 8000);
    assert_int_equal(check_outstanding(sim->check, CLIENT), 1);
    pass(SERVER, RST | ACK, 1, 1, 0, 0);
    assert_int_equal(check_outstanding(sim->check, CLIENT), 0);
    pass(CLIENT, SYN, 77, 0, 0, 8000);  // the same names, a new conversation
    assert_int_equal(check_outstanding(sim->check, CLIENT), 1);
    expect(NULL);
}

// Who has something unacknowledged may wait for as long as the longest timeouts take, and then not for ever.
static void silence(void **state)
{
    (void)state;
    for (uint32_t again = 0; again < 3; again++) {
        open_talk();
        pass(CLIENT, ACK, 1, 1, 1000, 8000);
        pass(CLIENT, ACK, 1001, 1, 1000, 8000);
        pass(SERVER, ACK, 1, 1001, 0, 500);
        for (uint64_t s = 20; s <= 500; s += 20) {
            sim->now_ns = SIM_S(s);
            if (s == 240 && again)  // the next byte that is awaited, or what comes after it, which does not count
                send(CLIENT, ACK, again == 1 ? 1001 : 1501, 1, 500, 8000);
            check_silence(sim->check);
            assert_int_equal(sim_failure(sim) != NULL, s >= (again == 1 ? 500 : 260));
        }
        expect("client:4000 has not tried for 260 s");
    }
}

static void who_gave_up_is_not_waited_for(void **state)
{
    (void)state;
    open_talk();
    pass(CLIENT, ACK, 1, 1, 1000, 8000);
    check_forget(sim->check, sim_address_v4(0x0a000001), 4000, sim_address_v4(0x0a000002), 80);
    assert_int_equal(check_outstanding(sim->check, CLIENT), 0);
    expect(NULL);
}

// A host that is polled says when it wants to be polled again: never, while something that it sent is not acknowledged,
// is a promise broken at once. The instances here know nothing of the talk, and have no timer.
static void no_timer(void **state)
{
    (void)state;
    open_talk();
    pass(CLIENT, ACK, 1, 1, 1000, 8000);
    struct sim_host *client = sim->hosts[CLIENT];
    sim_host_kick(sim->hosts[SERVER]);  // all of its is acknowledged
    run(sim, SIM_MS(1));
    client->netif.flags |= WEIR_NETIF_TX_BLOCKED;  // its driver will call
    sim_host_kick(client);
    run(sim, SIM_MS(2));
    client->netif.flags &= (uint8_t)~WEIR_NETIF_TX_BLOCKED;
    sim_host_kick(client);
    assert_false(sim_run(sim, SIM_MS(3)));
    expect("client has unacknowledged data and no timer");
    open_talk();
    pass(CLIENT, ACK, 1, 1, 1000, 8000);
    pass(SERVER, ACK, 1, 1001, 0, 4000);
    sim_host_kick(sim->hosts[CLIENT]);
    run(sim, SIM_MS(1));
    expect(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lawful_talk),
        cmocka_unit_test(a_gap),
        cmocka_unit_test(beyond_the_window),
        cmocka_unit_test(again_although_acknowledged),
        cmocka_unit_test(after_the_fin),
        cmocka_unit_test(a_fin_that_moves),
        cmocka_unit_test(an_acknowledgement_of_what_did_not_come),
        cmocka_unit_test(an_acknowledgement_across_a_hole),
        cmocka_unit_test(an_acknowledgement_backwards),
        cmocka_unit_test(a_sack_of_what_did_not_come),
        cmocka_unit_test(a_right_edge_that_moves_left),
        cmocka_unit_test(more_than_the_mss),
        cmocka_unit_test(wrong_sums),
        cmocka_unit_test(a_reset_ends_it),
        cmocka_unit_test(silence),
        cmocka_unit_test(who_gave_up_is_not_waited_for),
        cmocka_unit_test(no_timer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
