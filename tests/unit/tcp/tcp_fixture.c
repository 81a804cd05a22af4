// SPDX-License-Identifier: BSD-2-Clause
#include "tcp/tcp_fixture.h"

#include <stdlib.h>
#include <string.h>

#include "wire/icmp4.h"
#include "wire/icmp6.h"
#include "wire/ip4.h"
#include "wire/ip6.h"

#define DEFAULT_IRS 0xfffffff7u

// --- what the peer sends ---------------------------------------------------------------------------------------------

static uint32_t emit_options(struct tcp_fixture *t, const struct peer_segment *in, uint8_t *bytes)
{
    struct tcp_options options = {0};
    if (in->raw_length) {
        memcpy(bytes, in->raw_options, in->raw_length);
        return in->raw_length;
    }
    if (in->options)
        options = *in->options;
    if (t->options.timestamps && !(in->flags & TCP_SYN) && !(options.seen & TCP_SEEN_TIMESTAMPS)) {
        options.seen |= TCP_SEEN_TIMESTAMPS;
        options.ts_value = t->ts_value;
        options.ts_echo = t->ts_echo;
    }
    return options.seen || options.sack_count ? tcp_options_emit(bytes, &options) : 0;
}

// A packet whose header has the peer's options.
static void input_with_options(struct tcp_fixture *t, const uint8_t *transport, uint32_t length)
{
    const uint32_t header = IP4_BYTES + t->ip_options_length;
    uint8_t *const bytes = malloc(header + length);
    const struct ip4 ip = {.source = weir_addr_to_v4(t->remote.addr),
                           .destination = weir_addr_to_v4(t->local.addr),
                           .total_length = (uint16_t)(header + length),
                           .tos = t->tos,
                           .ttl = 64,
                           .protocol = IP_TCP};
    ip4_emit(bytes, &ip);
    memcpy(bytes + IP4_BYTES, t->ip_options, t->ip_options_length);
    bytes[0] = (uint8_t)(0x40 + header / 4);
    put16(bytes + 10, 0);
    checksum_put(bytes + 10, checksum_sum_portable(bytes, header));
    memcpy(bytes + header, transport, length);
    fixture_input(&t->f, bytes, header + length);
    free(bytes);
}

void peer_send_raw(struct tcp_fixture *t, const struct peer_segment *in)
{
    uint8_t *bytes = malloc(TCP_BYTES + TCP_OPTIONS_MAX + in->length);
    const uint32_t header = TCP_BYTES + emit_options(t, in, bytes + TCP_BYTES);
    const uint32_t ace = in->flags & TCP_SYN ? t->options.peer_ace : t->ace;
    const struct tcp_segment segment = {
        .source = t->remote.port,
        .destination = t->local.port,
        .seq = t->theirs + in->seq,
        .ack = in->flags & TCP_ACK ? t->ours + in->ack : 0,
        .flags = (uint8_t)(in->flags | (ace & 3) << 6),
        .accurate = ace >> 2 & 1,
        .window = in->own_window ? in->window : t->window,
        .urgent = in->urgent,
        .header_length = (uint8_t)header,
    };
    tcp_emit(bytes, &segment);
    for (uint32_t i = 0; i < in->length; i++)
        bytes[header + i] = in->data ? in->data[i] : peer_pattern(in->seq + i);
    const uint32_t length = header + in->length;
    uint32_t sum = checksum_add(ip_pseudo_sum(t->remote.addr, t->local.addr, IP_TCP, length),
                                checksum_sum(&t->f.port, bytes, length));
    checksum_put(bytes + 16, (uint16_t)sum);
    bytes[17] ^= in->bad_checksum;
    t->f.input_tos = t->tos;
    if (t->ip_options_length)
        input_with_options(t, bytes, length);
    else
        fixture_input_ip(&t->f, t->remote.addr, t->local.addr, IP_TCP, bytes, length);
    free(bytes);
    if (!in->quiet)
        fixture_poll(&t->f, 0);
}

void peer_send(struct tcp_fixture *t, uint8_t flags, uint32_t seq, uint32_t ack)
{
    peer_send_raw(t, &(struct peer_segment){.flags = flags, .seq = seq, .ack = ack});
}

void peer_data(struct tcp_fixture *t, uint32_t seq, uint32_t length)
{
    peer_send_raw(t, &(struct peer_segment){.flags = TCP_ACK | TCP_PSH, .seq = seq, .length = length});
}

void peer_sack(struct tcp_fixture *t, uint32_t ack, uint32_t count, const uint32_t *edges)
{
    struct tcp_options options = {.sack_count = (uint8_t)count};
    for (uint32_t i = 0; i < count; i++)
        options.sack[i] = (struct tcp_sack_block){t->ours + edges[2 * i], t->ours + edges[2 * i + 1]};
    peer_send_raw(t, &(struct peer_segment){.flags = TCP_ACK, .ack = ack, .options = &options});
}

void batch_begin(struct tcp_fixture *t) { t->f.block_tx = true; }
void batch_end(struct tcp_fixture *t) { fixture_unblock(&t->f, 0); }

#if WEIR_CFG_IP4
void peer_icmp(struct tcp_fixture *t, uint8_t type, uint8_t code, uint16_t mtu, uint32_t seq, uint16_t quoted_length)
{
    uint8_t bytes[ICMP4_BYTES + IP4_BYTES + 8];
    const struct icmp4 header = {.type = type, .code = code, .rest = mtu};
    icmp4_emit(bytes, &header);
    const struct ip4 ip = {.source = weir_addr_to_v4(t->local.addr),
                           .destination = weir_addr_to_v4(t->remote.addr),
                           .total_length = quoted_length,
                           .ttl = 60,
                           .protocol = IP_TCP,
                           .flags = IP4_DONT_FRAGMENT};
    ip4_emit(bytes + ICMP4_BYTES, &ip);
    put16(bytes + ICMP4_BYTES + IP4_BYTES, t->local.port);
    put16(bytes + ICMP4_BYTES + IP4_BYTES + 2, t->remote.port);
    put32(bytes + ICMP4_BYTES + IP4_BYTES + 4, t->ours + seq);
    put16(bytes + 2, 0);
    checksum_put(bytes + 2, checksum_sum(&t->f.port, bytes, sizeof bytes));
    fixture_input_ip4(&t->f, weir_ip4(10, 0, 0, 254), t->local.addr, IP_ICMP, bytes, sizeof bytes);
    fixture_poll(&t->f, 0);
}
#else
// The error of ICMPv6 that says the same (RFC 7915 §4.2); one that none does is of a type for experiments.
static struct icmp6 icmp6_like(uint8_t type, uint8_t code, uint16_t mtu)
{
    static const uint8_t unreachable[] = {[ICMP4_NET] = 0, [ICMP4_HOST] = 3, [ICMP4_PROTOCOL] = 4, [ICMP4_PORT] = 4};
    if (type == ICMP4_UNREACHABLE && code == ICMP4_FRAGMENTATION_NEEDED)
        return (struct icmp6){.type = ICMP6_TOO_BIG, .rest = mtu};
    if (type == ICMP4_UNREACHABLE)
        return (struct icmp6){.type = ICMP6_UNREACHABLE, .code = code < sizeof unreachable ? unreachable[code] : code};
    if (type == ICMP4_TIME_EXCEEDED)
        return (struct icmp6){.type = ICMP6_TIME_EXCEEDED, .code = code};
    return (struct icmp6){.type = type == ICMP4_PARAMETER ? ICMP6_PARAMETER : 100};
}

void peer_icmp(struct tcp_fixture *t, uint8_t type, uint8_t code, uint16_t mtu, uint32_t seq, uint16_t quoted_length)
{
    uint8_t bytes[ICMP6_BYTES + IP6_BYTES + 8], ours[16], theirs[16], router[16];
    const struct icmp6 header = icmp6_like(type, code, mtu);
    weir_addr_to_v6(t->local.addr, ours);
    weir_addr_to_v6(t->remote.addr, theirs);
    weir_addr_to_v6(fixture_address(254), router);
    icmp6_emit(bytes, &header);
    const struct ip6 ip = {.source = ours,
                           .destination = theirs,
                           .payload_length = (uint16_t)(quoted_length - IP4_BYTES),
                           .next_header = IP_TCP,
                           .hop_limit = 60};
    ip6_emit(bytes + ICMP6_BYTES, &ip);
    put16(bytes + ICMP6_BYTES + IP6_BYTES, t->local.port);
    put16(bytes + ICMP6_BYTES + IP6_BYTES + 2, t->remote.port);
    put32(bytes + ICMP6_BYTES + IP6_BYTES + 4, t->ours + seq);
    icmp6_checksum_put(bytes, sizeof bytes, router, ours);
    fixture_input_ip(&t->f, fixture_address(254), t->local.addr, IP6_ICMP, bytes, sizeof bytes);
    fixture_poll(&t->f, 0);
}
#endif

// --- what we sent ----------------------------------------------------------------------------------------------------

bool peer_has_more(const struct tcp_fixture *t) { return t->seen < fixture_sent_count(&t->f); }

#if WEIR_CFG_IP4
// Checks the network header and takes its options; returns its length. `tos`: its type of service.
static uint32_t network_take(struct tcp_fixture *t, const uint8_t *packet, uint32_t length, uint8_t *tos)
{
    struct ip4 ip;
    assert_int_equal(ip4_parse(packet, length, false, &ip), IP4_OK);
    assert_int_equal(ip.protocol, IP_TCP);
    assert_int_equal(ip.source, weir_addr_to_v4(t->local.addr));
    assert_int_equal(ip.destination, weir_addr_to_v4(t->remote.addr));
    assert_int_equal(ip.total_length, length);
    t->got_ip_options = packet + IP4_BYTES;
    t->got_ip_options_length = ip.header_length - IP4_BYTES;
    *tos = ip.tos;
    return ip.header_length;
}
#else
static uint32_t network_take(struct tcp_fixture *t, const uint8_t *packet, uint32_t length, uint8_t *tos)
{
    struct ip6 ip;
    assert_int_equal(ip6_parse(packet, length, &ip), IP6_OK);
    assert_int_equal(ip.next_header, IP_TCP);
    assert_true(weir_addr_equal(weir_addr_v6(ip.source), t->local.addr));
    assert_true(weir_addr_equal(weir_addr_v6(ip.destination), t->remote.addr));
    assert_int_equal(ip.payload_length + IP6_BYTES, length);
    *tos = ip.traffic_class;
    return IP6_BYTES;
}
#endif

void peer_take(struct tcp_fixture *t)
{
    uint32_t length;
    uint8_t tos;
    assert_true(peer_has_more(t));
    const struct fixture_frame *frame = fixture_sent_frame(&t->f, t->seen);
    const uint8_t *packet = fixture_sent_packet(&t->f, t->seen++, &length);
    const uint32_t network_bytes = network_take(t, packet, length, &tos);
    const uint8_t *bytes = packet + network_bytes;
    length -= network_bytes;
    assert_int_equal(checksum_add(ip_pseudo_sum(t->local.addr, t->remote.addr, IP_TCP, length),
                                  checksum_sum(&t->f.port, bytes, length)),
                     0xffff);
    assert_true(tcp_parse(bytes, length, &t->got));
    assert_false(t->got.options.seen & TCP_SEEN_BAD);
    assert_int_equal(t->got.source, t->local.port);
    assert_int_equal(t->got.destination, t->remote.port);
    t->got_tos = tos;
    t->got_ace = (uint8_t)((t->got.accurate ? 4 : 0) | t->got.flags >> 6);
    t->got.flags &= (uint8_t) ~(TCP_ECE | TCP_CWR);
    assert_true(t->options.ecn || !(t->got_ace || tos & 3));
    assert_int_equal(bytes[12] & 0x0e, 0);  // reserved bits
    assert_true(t->got.flags & TCP_SYN ||
                !(t->got.options.seen & (TCP_SEEN_MSS | TCP_SEEN_WINDOW_SCALE | TCP_SEEN_SACK_PERMITTED)));
    t->got_seq = t->got.seq - t->ours;
    t->got_ack = t->got.ack - t->theirs;
    t->got_data = bytes + t->got.header_length;
    t->got_us = frame->sent_us;
    if (t->got.options.seen & TCP_SEEN_TIMESTAMPS)
        t->ts_echo = t->got.options.ts_value;
}

void peer_expect(struct tcp_fixture *t, uint8_t flags, uint32_t seq, uint32_t ack, uint32_t length)
{
    peer_take(t);
    assert_int_equal(t->got.flags & ~TCP_PSH, flags & ~TCP_PSH);
    assert_int_equal(t->got_seq, seq);
    if (flags & TCP_ACK)
        assert_int_equal(t->got_ack, ack);
    else
        assert_int_equal(t->got.ack, 0);
    assert_int_equal(t->got.length, length);
    for (uint32_t i = 0; i < length; i++)
        assert_int_equal(t->got_data[i], peer_pattern(seq + i));
}

void peer_expect_nothing(struct tcp_fixture *t)
{
    if (!peer_has_more(t))
        return;
    peer_take(t);
    fail_msg("sent flags 0x%x seq %d ack %d length %u", t->got.flags, (int)t->got_seq, (int)t->got_ack, t->got.length);
}

void assert_block(const struct tcp_fixture *t, uint32_t index, uint32_t left, uint32_t right)
{
    assert_true(index < t->got.options.sack_count);
    assert_int_equal(t->got.options.sack[index].left - t->theirs, left);
    assert_int_equal(t->got.options.sack[index].right - t->theirs, right);
}

uint32_t peer_drain_count(struct tcp_fixture *t)
{
    const uint32_t count = fixture_sent_count(&t->f) - t->seen;
    while (peer_has_more(t))
        peer_take(t);
    fixture_clear(&t->f);
    t->seen = 0;
    return count;
}

void peer_drain(struct tcp_fixture *t) { (void)peer_drain_count(t); }

uint64_t peer_pass(struct tcp_fixture *t, uint64_t us)
{
    t->ts_value += (uint32_t)(us / 1000);
    return fixture_poll(&t->f, us);
}

// --- the connection --------------------------------------------------------------------------------------------------

struct tcp_conn *tcp_fixture_conn(struct tcp_fixture *t)
{
    return tcp_conn_find(t->weir, t->local.addr, t->local.port, t->remote.addr, t->remote.port);
}

enum weir_tcp_state tcp_fixture_state(struct tcp_fixture *t)
{
    const struct tcp_conn *c = tcp_fixture_conn(t);
    struct weir_socket_info info;
    if (c)
        return c->state;
    for (uint64_t cursor = 0; (cursor = weir_socket_next(t->weir, cursor, &info)) != 0;)
        if (info.type == WEIR_STREAM && info.peer.port == t->remote.port && info.local.port == t->local.port)
            return info.tcp_state;
    return WEIR_TCP_CLOSED;
}

int32_t user_error(struct tcp_fixture *t)
{
    int32_t error = 1;
    assert_int_equal(weir_socket_get(t->weir, t->socket, WEIR_OPTION_ERROR, &error), WEIR_OK);
    return error;
}

void user_write(struct tcp_fixture *t, uint32_t from, uint32_t length)
{
    uint8_t *bytes = malloc(length);
    for (uint32_t i = 0; i < length; i++)
        bytes[i] = peer_pattern(from + i);
    assert_int_equal(weir_socket_write(t->weir, t->socket, bytes, length), length);
    free(bytes);
    fixture_poll(&t->f, 0);
}

uint32_t user_read(struct tcp_fixture *t, uint32_t from, uint32_t length)
{
    uint8_t *bytes = malloc(length);
    const int got = weir_socket_read(t->weir, t->socket, bytes, length);
    for (int i = 0; i < got; i++)
        assert_int_equal(bytes[i], peer_pattern(from + (uint32_t)i));
    free(bytes);
    fixture_poll(&t->f, 0);
    return got > 0 ? (uint32_t)got : 0;
}

struct conn_snapshot conn_snapshot(struct tcp_fixture *t)
{
    const struct tcp_conn *c = tcp_fixture_conn(t);
    struct conn_snapshot snapshot = {.state = tcp_fixture_state(t)};
    if (c)
        snapshot = (struct conn_snapshot){c->state,
                                          c->snd.una,
                                          c->snd.nxt,
                                          c->snd.wnd,
                                          c->rcv.nxt,
                                          c->send ? stream_length(c->send) : 0,
                                          c->receive ? stream_length(c->receive) : 0};
    return snapshot;
}

void assert_unchanged(struct tcp_fixture *t, const struct conn_snapshot *before)
{
    const struct conn_snapshot now = conn_snapshot(t);
    assert_int_equal(now.state, before->state);
    assert_int_equal(now.una, before->una);
    assert_int_equal(now.nxt, before->nxt);
    assert_int_equal(now.wnd, before->wnd);
    assert_int_equal(now.rcv_nxt, before->rcv_nxt);
    assert_int_equal(now.send_queue, before->send_queue);
    assert_int_equal(now.receive_queue, before->receive_queue);
}

// --- bringing it into a state ----------------------------------------------------------------------------------------

void tcp_fixture_open(struct tcp_fixture *t, const struct tcp_fixture_options *options)
{
    static const struct tcp_fixture_options none;
    memset(t, 0, sizeof *t);
    t->options = options ? *options : none;
    struct fixture_options fixture = t->options.fixture;
    const struct weir_config sized = {.tcp_send_buffer_bytes = t->options.send_buffer ? t->options.send_buffer : 65536,
                                      .tcp_receive_buffer_bytes =
                                          t->options.receive_buffer ? t->options.receive_buffer : 65536};
    if (!WEIR_CFG_ALLOCATOR && !fixture.config)  // queues are carved at start there
        fixture.config = &sized;
    fixture.link = fixture.link ? fixture.link : &weir_link_rawip;
    fixture.address = TCP_US;
    if (!WEIR_CFG_IP4 && !fixture.mtu)
        fixture.mtu = 1520;  // so that segments are as long as they are over IPv4
    assert_true(fixture_open_with(&t->f, &fixture));
    t->weir = t->f.weir;
    fixture_know_peer(&t->f, TCP_PEER);
    t->local = (struct weir_endpoint){TCP_US, TCP_OUR_PORT};
    t->remote = (struct weir_endpoint){TCP_PEER, TCP_PEER_PORT};
    t->window = t->options.window ? t->options.window : 65535;
    t->ts_value = 0x7fff0000;
    t->theirs = (t->options.irs ? t->options.irs : DEFAULT_IRS);
}

static weir_socket make_socket(struct tcp_fixture *t)
{
    const weir_socket socket = weir_socket_open(t->weir, WEIR_STREAM, 0);
    assert_true(socket > 0);
    if (WEIR_CFG_ALLOCATOR) {
        assert_int_equal(weir_socket_set(t->weir, socket, WEIR_OPTION_SEND_BUFFER,
                                         t->options.send_buffer ? (int32_t)t->options.send_buffer : 65536),
                         WEIR_OK);
        assert_int_equal(weir_socket_set(t->weir, socket, WEIR_OPTION_RECEIVE_BUFFER,
                                         t->options.receive_buffer ? (int32_t)t->options.receive_buffer : 65536),
                         WEIR_OK);
    }
    assert_int_equal(weir_socket_set(t->weir, socket, WEIR_OPTION_REUSE_ADDRESS, 1), WEIR_OK);
    if (t->options.ecn)
        assert_int_equal(weir_socket_set(t->weir, socket, WEIR_OPTION_ECN, t->options.ecn), WEIR_OK);
    assert_int_equal(weir_socket_bind(t->weir, socket, &(struct weir_endpoint){weir_addr_any(), TCP_OUR_PORT}),
                     WEIR_OK);
    if (t->options.before)
        t->options.before(t->weir, socket);
    return socket;
}

static struct tcp_options syn_options(const struct tcp_fixture *t)
{
    const struct tcp_fixture_options *o = &t->options;
    struct tcp_options options = {
        .mss = o->mss ? o->mss : TCP_PEER_MSS, .window_scale = o->peer_scale, .ts_value = t->ts_value};
    options.seen = (uint8_t)((o->no_mss ? 0 : TCP_SEEN_MSS) | (o->sack ? TCP_SEEN_SACK_PERMITTED : 0) |
                             (o->scale ? TCP_SEEN_WINDOW_SCALE : 0) | (o->timestamps ? TCP_SEEN_TIMESTAMPS : 0));
    return options;
}

static void in_syn(struct tcp_fixture *t, uint8_t flags, uint32_t ack)
{
    struct tcp_options options = syn_options(t);
    options.ts_echo = t->ts_echo;
    peer_send_raw(t, &(struct peer_segment){.flags = flags, .ack = ack, .options = &options});
}

static void take_accepted(struct tcp_fixture *t)
{
    t->socket = weir_socket_accept(t->weir, t->listener);
    assert_true(t->socket > 0);
}

// Numbers from here on count from where the connection stands.
static void settle_numbers(struct tcp_fixture *t)
{
    const struct tcp_conn *c = tcp_fixture_conn(t);
    assert_non_null(c);
    t->ours = c->snd.nxt;
    t->theirs = c->rcv.nxt;
    peer_drain(t);
}

static void open_passive(struct tcp_fixture *t, enum weir_tcp_state state)
{
    t->listener = make_socket(t);
    assert_int_equal(weir_socket_listen(t->weir, t->listener, 4), WEIR_OK);
    if (state == WEIR_TCP_LISTEN)
        return;
    in_syn(t, TCP_SYN, 0);
    peer_take(t);
    assert_int_equal(t->got.flags, TCP_SYN | TCP_ACK);
    assert_int_equal(t->got_ack, 1);
    t->ours = t->got.seq + 1;
    t->theirs++;
    if (state == WEIR_TCP_SYN_RECEIVED)
        return;
    peer_send(t, TCP_ACK, 0, 0);
    take_accepted(t);
}

static void open_active(struct tcp_fixture *t, enum weir_tcp_state state)
{
    t->socket = make_socket(t);
    assert_int_equal(weir_socket_connect(t->weir, t->socket, &t->remote), WEIR_IN_PROGRESS);
    fixture_poll(&t->f, 0);
    peer_take(t);
    assert_int_equal(t->got.flags, TCP_SYN);
    assert_int_equal(t->got.ack, 0);
    t->ours = t->got.seq + 1;
    if (state == WEIR_TCP_SYN_SENT)
        return;
    in_syn(t, TCP_SYN | TCP_ACK, 0);
    t->theirs++;
    peer_expect(t, TCP_ACK, 0, 0, 0);
}

static void open_simultaneous(struct tcp_fixture *t, enum weir_tcp_state state)
{
    open_active(t, WEIR_TCP_SYN_SENT);
    if (state == WEIR_TCP_SYN_SENT)
        return;
    in_syn(t, TCP_SYN, 0);
    t->theirs++;
    peer_expect(t, TCP_SYN | TCP_ACK, UINT32_MAX, 0, 0);
    if (state == WEIR_TCP_SYN_RECEIVED)
        return;
    t->theirs--;
    in_syn(t, TCP_SYN | TCP_ACK, 0);  // the peer did as we did
    t->theirs++;
}

static void open_as(struct tcp_fixture *t, enum weir_tcp_state state)
{
    static void (*const how[])(struct tcp_fixture *, enum weir_tcp_state) = {
        [TCP_PASSIVE] = open_passive, [TCP_ACTIVE] = open_active, [TCP_SIMULTANEOUS] = open_simultaneous};
    if (state == WEIR_TCP_SYN_SENT && t->options.open == TCP_PASSIVE)
        t->options.open = TCP_ACTIVE;
    how[t->options.open](t, state);
}

void tcp_fixture_continue(struct tcp_fixture *t, enum weir_tcp_state state)
{
    open_as(t, state);
    if (state == WEIR_TCP_LISTEN)
        return;
    if (state < WEIR_TCP_ESTABLISHED) {
        assert_state(t, state);
        return;
    }
    settle_numbers(t);
    const bool we_close_first = state == WEIR_TCP_FIN_WAIT_1 || state == WEIR_TCP_FIN_WAIT_2 ||
                                state == WEIR_TCP_CLOSING || state == WEIR_TCP_TIME_WAIT;
    if (we_close_first) {
        assert_int_equal(weir_socket_shutdown(t->weir, t->socket, WEIR_SHUT_WRITE), WEIR_OK);
        fixture_poll(&t->f, 0);
        peer_expect(t, TCP_FIN | TCP_ACK, 0, 0, 0);
    }
    if (state == WEIR_TCP_FIN_WAIT_2 || state == WEIR_TCP_TIME_WAIT)
        peer_send(t, TCP_ACK, 0, 1);
    if (state == WEIR_TCP_CLOSING || state == WEIR_TCP_CLOSE_WAIT || state == WEIR_TCP_LAST_ACK)
        peer_send(t, TCP_FIN | TCP_ACK, 0, 0);
    if (state == WEIR_TCP_LAST_ACK) {
        assert_int_equal(weir_socket_shutdown(t->weir, t->socket, WEIR_SHUT_WRITE), WEIR_OK);
        fixture_poll(&t->f, 0);
    }
    assert_true(state == WEIR_TCP_TIME_WAIT || tcp_fixture_state(t) == state);
    if (state != WEIR_TCP_TIME_WAIT) {
        settle_numbers(t);
        return;
    }
    peer_send(t, TCP_FIN | TCP_ACK, 0, 1);
    assert_state(t, state);
    peer_drain(t);
    t->ours++;
    t->theirs++;
}

void tcp_fixture_bring(struct tcp_fixture *t, enum weir_tcp_state state, const struct tcp_fixture_options *options)
{
    tcp_fixture_open(t, options);
    tcp_fixture_continue(t, state);
}

void tcp_fixture_close(struct tcp_fixture *t)
{
    if (t->socket > 0)
        assert_int_equal(weir_socket_close(t->weir, t->socket), WEIR_OK);
    if (t->listener > 0)
        assert_int_equal(weir_socket_close(t->weir, t->listener), WEIR_OK);
    fixture_close(&t->f);
}
