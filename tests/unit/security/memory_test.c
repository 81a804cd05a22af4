// SPDX-License-Identifier: BSD-2-Clause
// The memory budget under attack (src/tcp/pressure.c): strangers who make an instance hold whatever it will, beside one
// who is honest, was there before, and goes on.
#include "tcp/tcp_fixture.h"

#include "base/checksum.h"
#include "instance.h"
#include "tcp/internal.h"
#include "wire/ip4.h"

#define BUDGET (4u << 20)
#define STRANGERS 200
#define HONEST weir_ip4(10, 0, 0, 2)
#define ATTACKER weir_ip4(10, 0, 0, 66)
#define SECOND_US 1000000u

struct client {
    struct weir_addr address;
    uint16_t port;
    uint32_t seq, ack, window;
    uint8_t flags;  // all that came since it was last asked
    uint32_t refused;
};

struct server {
    struct fixture f;
    weir_socket listener, accepted[STRANGERS + 8];
    uint32_t accepted_count, reset_count;
    bool reads;  // the application does
};

static const uint8_t nothing[1460];

// What we sent to the client.
static void client_look(struct server *s, struct client *c)
{
    for (uint32_t i = 0, length; i < fixture_sent_count(&s->f); i++) {
        const uint8_t *packet = fixture_sent_packet(&s->f, i, &length);
        if (length < 40 || packet[9] != IP_TCP || get32(packet + 16) != weir_addr_to_v4(c->address) ||
            get16(packet + 22) != c->port)
            continue;
        c->flags |= packet[33];
        c->window = (uint32_t)get16(packet + 34) << (packet[33] & TCP_SYN ? 0 : 7);
        if (packet[33] & TCP_SYN)
            c->ack = get32(packet + 24) + 1;
        if (packet[33] & TCP_ACK)
            c->seq = get32(packet + 28);
    }
    fixture_clear(&s->f);
}

static void client_send(struct server *s, struct client *c, uint8_t flags, uint32_t ahead, uint32_t length)
{
    uint8_t bytes[60 + sizeof nothing];
    struct tcp_segment segment = {
        .source = c->port, .destination = 80, .seq = c->seq + ahead, .ack = c->ack, .flags = flags, .window = 65535};
    uint32_t options = 0;
    if (flags & TCP_SYN) {
        segment.ack = 0;
        segment.options.seen = TCP_SEEN_MSS | TCP_SEEN_WINDOW_SCALE | TCP_SEEN_SACK_PERMITTED;
        segment.options.mss = sizeof nothing;
        segment.options.window_scale = 7;
        options = tcp_options_emit(bytes + TCP_BYTES, &segment.options);
    }
    const uint32_t header = TCP_BYTES + options;
    segment.header_length = (uint8_t)header;
    tcp_emit(bytes, &segment);
    memcpy(bytes + header, nothing, length);
    const uint16_t pseudo =
        ip4_pseudo_sum(weir_addr_to_v4(c->address), weir_addr_to_v4(TCP_US), IP_TCP, header + length);
    checksum_put(bytes + 16, checksum_add(pseudo, checksum_sum_portable(bytes, header + length)));
    fixture_input_ip4(&s->f, c->address, TCP_US, IP_TCP, bytes, header + length);
    fixture_poll(&s->f, 0);
    client_look(s, c);
}

// Takes connections, reads where it does, and closes what ended by an error, as a server would.
static void application(struct server *s)
{
    uint8_t bytes[8192];
    weir_socket socket;
    while (s->accepted_count < STRANGERS + 8 && (socket = weir_socket_accept(s->f.weir, s->listener)) > 0)
        s->accepted[s->accepted_count++] = socket;
    for (uint32_t i = 0; i < s->accepted_count; i++) {
        int got = WEIR_AGAIN;
        while (s->reads && (got = weir_socket_read(s->f.weir, s->accepted[i], bytes, sizeof bytes)) > 0)
            ;
        if (!(weir_socket_ready(s->f.weir, s->accepted[i]) & WEIR_ERROR))
            continue;
        s->reset_count++;
        assert_int_equal(weir_socket_abort(s->f.weir, s->accepted[i]), WEIR_OK);
        s->accepted[i--] = s->accepted[--s->accepted_count];
    }
}

static void pass(struct server *s, uint64_t us)
{
    application(s);
    for (uint64_t step = us < 100000 ? us : 100000; us; us -= step, step = us < step ? us : step) {
        fixture_poll(&s->f, step);
        application(s);
    }
}

static bool client_open(struct server *s, struct client *c, struct weir_addr address, uint16_t port)
{
    *c = (struct client){.address = address, .port = port, .seq = 1000};
    client_send(s, c, TCP_SYN, 0, 0);
    if (!(c->flags & TCP_SYN))
        return false;
    c->flags = 0;
    client_send(s, c, TCP_ACK, 0, 0);
    application(s);
    client_send(s, c, TCP_ACK | TCP_PSH, 0, 16);
    return c->flags & TCP_ACK && !(c->flags & TCP_RST);
}

// So many bytes go through; the reader takes them.
static uint32_t client_sends(struct server *s, struct client *c, uint32_t bytes)
{
    const uint32_t before = c->seq;
    for (uint32_t tries = 0;
         c->seq - before < bytes && tries < 2 * bytes / sizeof nothing + 20 && !(c->flags & TCP_RST); tries++) {
        const uint32_t at = c->seq;
        client_send(s, c, TCP_ACK, 0, sizeof nothing);
        pass(s, c->seq == at ? SECOND_US / 5 : 1000);
        client_look(s, c);
    }
    return c->seq - before;
}

static void server_open(struct server *s)
{
    const struct weir_config config = {.memory_budget_bytes = BUDGET, .tcp_receive_buffer_bytes = 1u << 20};
    memset(s, 0, sizeof *s);
    fixture_open_with(&s->f,
                      &(struct fixture_options){
                          .link = &weir_link_ethernet, .address = TCP_US, .config = &config, .mode = FIXTURE_PLAIN});
    fixture_know_peer(&s->f, HONEST);
    fixture_know_peer(&s->f, ATTACKER);
    s->listener = weir_socket_open(s->f.weir, WEIR_STREAM, 0);
    assert_int_equal(weir_socket_bind(s->f.weir, s->listener, &(struct weir_endpoint){weir_addr_any(), 80}), WEIR_OK);
    assert_int_equal(weir_socket_listen(s->f.weir, s->listener, 64), WEIR_OK);
    s->reads = true;
}

static void server_close(struct server *s)
{
    while (s->accepted_count)
        assert_int_equal(weir_socket_abort(s->f.weir, s->accepted[--s->accepted_count]), WEIR_OK);
    assert_int_equal(weir_socket_close(s->f.weir, s->listener), WEIR_OK);
    fixture_close(&s->f);
}

// As much out of order as the window takes and the rule allows: every other segment, from its far edge on.
static void hold_ahead(struct server *s, struct client *c)
{
    for (uint32_t far = c->window; far > 4 * sizeof nothing; far -= 2 * sizeof nothing)
        client_send(s, c, TCP_ACK, far - sizeof nothing, sizeof nothing);
}

// Whoever was there goes on as before, and others are let in.
static void assert_served(struct server *s, struct client *before)
{
    struct client later;
    assert_int_equal(client_sends(s, before, 400 * sizeof nothing), 400 * sizeof nothing);
    assert_false(before->flags & TCP_RST);
    assert_true(client_open(s, &later, HONEST, 50001));
    assert_int_equal(client_sends(s, &later, 400 * sizeof nothing), 400 * sizeof nothing);
    assert_true(weir_memory_used(s->f.weir) <= BUDGET);
}

static void data_out_of_order_is_given_up_first(void **state)
{
    static struct server s;
    struct client honest, stranger;
    (void)state;
    server_open(&s);
    assert_true(client_open(&s, &honest, HONEST, 50000));
    uint32_t opened = 0;
    for (uint16_t i = 0; i < STRANGERS; i++) {
        if (!client_open(&s, &stranger, ATTACKER, (uint16_t)(20000 + i)))
            continue;
        opened++;
        hold_ahead(&s, &stranger);
        pass(&s, 2000);
    }
    assert_int_equal(opened, STRANGERS);
    assert_true(fixture_count(&s.f, WEIR_COUNT_TCP_OUT_OF_ORDER_DROPPED) > 0);
    pass(&s, 5 * SECOND_US);  // nothing comes any more for what they hold
    assert_true(fixture_count(&s.f, WEIR_COUNT_TCP_RENEGED) > 0);
    assert_int_equal(fixture_count(&s.f, WEIR_COUNT_TCP_EVICTED), 0);
    assert_true(weir_memory_used(s.f.weir) <= s.f.weir->memory.mark_bytes[MEMORY_REFUSE]);
    assert_served(&s, &honest);
    server_close(&s);
}

// Its data beyond a hole was SACKed and thrown away: it comes again, and the stream is whole.
static void who_reneged_still_gets_everything(void **state)
{
    static struct server s;
    struct client honest, stranger;
    (void)state;
    server_open(&s);
    assert_true(client_open(&s, &honest, HONEST, 50000));
    // all but the first segment of a window
    for (uint32_t far = honest.window; far > 2 * sizeof nothing; far -= sizeof nothing)
        client_send(&s, &honest, TCP_ACK, far - sizeof nothing, sizeof nothing);
    struct tcp_conn *c = tcp_conn_find(s.f.weir, TCP_US, 80, HONEST, 50000);
    assert_true(tcp_disordered(c));
    for (uint16_t i = 0; i < STRANGERS && tcp_disordered(c); i++) {
        if (client_open(&s, &stranger, ATTACKER, (uint16_t)(20000 + i)))
            hold_ahead(&s, &stranger);
        pass(&s, SECOND_US / 2);
    }
    assert_false(tcp_disordered(c));
    assert_true(fixture_count(&s.f, WEIR_COUNT_TCP_RENEGED) > 0);
    pass(&s, 30 * SECOND_US);
    assert_int_equal(client_sends(&s, &honest, 100 * sizeof nothing) / sizeof nothing, 100);
    server_close(&s);
}

// One hole, much behind it that pays for chunks far away, each for one byte; then the hole is filled and everything
// read. The chunks are not kept for what is left, and who sends that again gets it through.
static void single_bytes_do_not_keep_their_chunks(void **state)
{
    static struct server s;
    struct client honest;
    (void)state;
    server_open(&s);
    assert_true(client_open(&s, &honest, HONEST, 50000));
    const struct tcp_conn *c = tcp_conn_find(s.f.weir, TCP_US, 80, HONEST, 50000);
    uint32_t near = sizeof nothing, bytes = 0;
    for (; near < 200 * sizeof nothing; near += sizeof nothing)
        client_send(&s, &honest, TCP_ACK, near, sizeof nothing);
    for (uint32_t far = near + STREAM_CHUNK; far < honest.window; far += STREAM_CHUNK, bytes++)
        client_send(&s, &honest, TCP_ACK, far, 1);
    assert_true(bytes > 4);
    assert_true(stream_ahead_bytes(c->receive) > 8 * STREAM_CHUNK);
    client_send(&s, &honest, TCP_ACK, 0, sizeof nothing);
    pass(&s, 2 * SECOND_US);
    assert_int_equal(honest.seq, c->rcv.nxt);
    assert_true(!c->receive || stream_memory(c->receive) < 2 * STREAM_CHUNK);
    assert_int_equal(fixture_count(&s.f, WEIR_COUNT_TCP_RENEGED), 1);
    assert_int_equal(client_sends(&s, &honest, 400 * sizeof nothing), 400 * sizeof nothing);
    server_close(&s);
}

// In order, and nobody reads it: those who have gone silent are reset, largest first, and only as many as must be.
static void the_idle_are_reset(void **state)
{
    static struct server s;
    struct client honest, stranger;
    (void)state;
    server_open(&s);
    s.reads = false;
    for (uint16_t i = 0; i < 40; i++) {
        if (client_open(&s, &stranger, ATTACKER, (uint16_t)(20000 + i)))
            for (int n = 0;
                 n < 400 && stranger.window > sizeof nothing && !memory_beyond(&s.f.weir->memory, MEMORY_IDLE); n++)
                client_send(&s, &stranger, TCP_ACK, 0, sizeof nothing);
    }
    pass(&s, 20 * SECOND_US);
    assert_true(client_open(&s, &honest, HONEST, 50000));
    for (int n = 0; n < 60; n++)
        client_send(&s, &honest, TCP_ACK, 0, sizeof nothing);
    for (int i = 0; i < 200 && memory_beyond(&s.f.weir->memory, MEMORY_IDLE); i++)
        pass(&s, SECOND_US / 10);
    const uint32_t evicted = fixture_count(&s.f, WEIR_COUNT_TCP_EVICTED);
    assert_in_range(evicted, 1, 5);
    assert_int_equal(s.reset_count, evicted);
    assert_false(memory_beyond(&s.f.weir->memory, MEMORY_IDLE));
    client_look(&s, &honest);
    assert_false(honest.flags & TCP_RST);
    s.reads = true;
    assert_served(&s, &honest);
    server_close(&s);
}

// None is idle: of the address that holds most the largest goes, though another's one connection is larger than any of
// them.
static void the_largest_of_the_greediest_address_is_reset(void **state)
{
    static struct server s;
    struct client large, stranger[24];
    (void)state;
    server_open(&s);
    s.reads = false;
    assert_true(client_open(&s, &large, HONEST, 50000));
    for (int n = 0; n < 220; n++)
        client_send(&s, &large, TCP_ACK, 0, sizeof nothing);
    for (uint16_t i = 0; i < 24; i++)
        assert_true(client_open(&s, &stranger[i], ATTACKER, (uint16_t)(20000 + i)));
    for (int n = 0; n < 400 && !fixture_count(&s.f, WEIR_COUNT_TCP_EVICTED); n++) {
        for (uint16_t i = 0; i < 24; i++)
            client_send(&s, &stranger[i], TCP_ACK, 0, stranger[i].window > sizeof nothing ? sizeof nothing : 1);
        client_send(&s, &large, TCP_ACK, 0, 1);
        pass(&s, 30000);
    }
    assert_true(fixture_count(&s.f, WEIR_COUNT_TCP_EVICTED) > 0);
    assert_false(large.flags & TCP_RST);
    assert_non_null(tcp_conn_find(s.f.weir, TCP_US, 80, HONEST, 50000));
    server_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(data_out_of_order_is_given_up_first),
        cmocka_unit_test(who_reneged_still_gets_everything),
        cmocka_unit_test(single_bytes_do_not_keep_their_chunks),
        cmocka_unit_test(the_idle_are_reset),
        cmocka_unit_test(the_largest_of_the_greediest_address_is_reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
