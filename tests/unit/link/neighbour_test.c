// SPDX-License-Identifier: BSD-2-Clause
// profiles: small
#include "built.h"
#include "fixture.h"
#include "frames.h"
#include "link/neighbour.h"
#include "weir/socket.h"

#define SECOND 1000000u

static const uint8_t thief[6] = {0x02, 0xbb, 0, 0, 0, 0x66};

static const struct neighbour *lookup(const struct fixture *f, uint32_t address)
{
    for (uint32_t i = 0; i < WEIR_CFG_NEIGHBOURS; i++)
        if (f->weir->arp.table[i].netif == &f->netif && weir_addr_to_v4(f->weir->arp.table[i].address) == address)
            return &f->weir->arp.table[i];
    return NULL;
}

static uint32_t entries(const struct fixture *f)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < WEIR_CFG_NEIGHBOURS; i++)
        count += f->weir->arp.table[i].netif != NULL;
    return count;
}

// The one frame sent since the last look is the test packet with `text`, to `mac`.
static void assert_data(struct fixture *f, const uint8_t mac[6], const char *text)
{
    uint32_t length;
    assert_int_equal(fixture_sent_count(f), 1);
    const uint8_t *frame = fixture_sent(f, 0, &length);
    assert_int_equal(length, 34 + strlen(text));
    assert_memory_equal(frame, mac, 6);
    assert_memory_equal(frame + 6, FIXTURE_MAC, 6);
    assert_int_equal(get16(frame + 12), ETHERTYPE_IP4);
    assert_memory_equal(frame + 14, "network header here.", 20);
    assert_memory_equal(frame + 34, text, strlen(text));
    fixture_clear(f);
}

// Makes the peer known by question and answer.
static void meet(struct fixture *f, struct path *path, uint32_t address, const uint8_t mac[6])
{
    struct sock *const sock = frames_waiter(f);
    assert_int_equal(frames_output(f, path, address, "x", 1, sock), WEIR_TX_UNRESOLVED);
    fixture_poll(f, 0);
    frames_arp(f, FIXTURE_MAC, ARP_REPLY, mac, address, OURS);
    frames_assert_queued(f, sock);
    assert_int_equal(weir_socket_close(f->weir, sock->handle), WEIR_OK);
    fixture_clear(f);
}

static void plain(struct fixture *f)
{
    frames_open(f);
    fixture_set_mode(f, FIXTURE_PLAIN);
}

// --- resolution ------------------------------------------------------------------------------------------------------

static void a_waiter_waits_for_the_answer(void **state)
{
    (void)state;
    struct fixture f;
    struct path path = {0};
    plain(&f);
    struct sock *const first = frames_waiter(&f), *const second = frames_waiter(&f);
    assert_int_equal(frames_output(&f, &path, PEER, "hello", 5, first), WEIR_TX_UNRESOLVED);
    assert_int_equal(frames_output(&f, &path, PEER, "hello", 5, second), WEIR_TX_UNRESOLVED);
    // asked again: it waits once
    assert_int_equal(frames_output(&f, &path, PEER, "hello", 5, first), WEIR_TX_UNRESOLVED);
    assert_true(first->flags & SOCK_WAITS_NEIGHBOUR);
    sock_output(&f.weir->socks, first);  // as a write to the waiting socket would: it stays where it is
    assert_null(sock_output_pop(&f.weir->socks));
    fixture_poll(&f, 0);
    assert_int_equal(fixture_sent_count(&f), 1);
    frames_assert_request(&f, 0, frames_all, OURS, PEER);
    fixture_clear(&f);
    frames_arp(&f, FIXTURE_MAC, ARP_REPLY, FIXTURE_PEER_MAC, PEER, OURS);
    frames_assert_queued(&f, first);
    frames_assert_queued(&f, second);
    assert_int_equal(frames_output(&f, &path, PEER, "hello", 5, first), WEIR_TX_DONE);
    assert_data(&f, FIXTURE_PEER_MAC, "hello");
    fixture_close(&f);
}

static void a_waiterless_datagram_is_kept(void **state)
{
    (void)state;
    struct fixture f;
    struct path path = {0};
    char text[] = "hello";
    plain(&f);
    assert_int_equal(frames_output(&f, &path, PEER, text, 5, NULL), WEIR_TX_DONE);
    memset(text, 'x', 5);  // a copy was kept
    fixture_poll(&f, 0);
    assert_int_equal(fixture_sent_count(&f), 1);
    fixture_clear(&f);
    f.block_tx = true;
    frames_arp(&f, FIXTURE_MAC, ARP_REPLY, FIXTURE_PEER_MAC, PEER, OURS);
    assert_int_equal(fixture_sent_count(&f), 0);  // input never transmits
    fixture_poll(&f, 5000);
    assert_int_equal(fixture_sent_count(&f), 0);
    fixture_unblock(&f, 0);
    assert_data(&f, FIXTURE_PEER_MAC, "hello");
    fixture_poll(&f, 2 * SECOND);
    assert_int_equal(fixture_sent_count(&f), 0);
    fixture_close(&f);
}

static void waiting_datagrams_are_bounded(void **state)
{
    (void)state;
    struct fixture f;
    struct path path = {0};
    static char large[1400];
    const uint32_t hosts = WEIR_CFG_NEIGHBOUR_STRANGERS - 1;
    plain(&f);
    for (int i = 0; i < 10; i++)
        frames_output(&f, &path, PEER, "abc", 3, NULL);
    assert_int_equal(fixture_count(&f, WEIR_COUNT_ARP_UNRESOLVED), 7);
    for (uint32_t host = 0; host < hosts; host++)  // all neighbours together
        frames_output(&f, &path, PEER + 1 + host, large, sizeof large, NULL);
    assert_in_range(fixture_count(&f, WEIR_COUNT_ARP_UNRESOLVED),
                    7 + hosts - WEIR_CFG_NEIGHBOUR_QUEUE_BYTES / sizeof large, 7 + hosts);
    if (WEIR_CFG_ALLOCATOR)
        assert_in_range(f.weir->arp.queue_bytes, WEIR_CFG_NEIGHBOUR_QUEUE_BYTES - 1500, WEIR_CFG_NEIGHBOUR_QUEUE_BYTES);
    fixture_poll(&f, 10 * SECOND);
    assert_int_equal(f.weir->arp.queue_bytes, 0);
    assert_int_equal(f.weir->arp.queue.count, 0);
    assert_int_equal(fixture_count(&f, WEIR_COUNT_ARP_UNRESOLVED), 10 + hosts);  // every one of them, in the end
    assert_int_equal(entries(&f), 0);
    fixture_close(&f);
}

// RFC 1122 §2.3.2.2, RFC 4861 §7.2.2: the newest stay, and leave in the order in which they came.
static void the_newest_datagrams_wait(void **state)
{
    (void)state;
    static const char *const texts[] = {"one", "two", "three", "four", "five"};
    struct fixture f;
    struct path path = {0};
    uint32_t length;
    plain(&f);
    for (uint32_t i = 0; i < 5; i++)
        frames_output(&f, &path, PEER, texts[i], (uint32_t)strlen(texts[i]), NULL);
    assert_int_equal(fixture_count(&f, WEIR_COUNT_ARP_UNRESOLVED), 2);
    fixture_poll(&f, 0);
    fixture_clear(&f);
    frames_arp(&f, FIXTURE_MAC, ARP_REPLY, FIXTURE_PEER_MAC, PEER, OURS);
    fixture_poll(&f, 0);
    assert_int_equal(fixture_sent_count(&f), 3);
    for (uint32_t i = 0; i < 3; i++) {
        const uint8_t *frame = fixture_sent(&f, i, &length);
        assert_int_equal(length, 34 + strlen(texts[2 + i]));
        assert_memory_equal(frame + 34, texts[2 + i], length - 34);
    }
    fixture_close(&f);
}

// Where memory ends before the number does, the newest still stays; but nobody's packet makes room for another
// neighbour's.
static void the_newest_datagram_waits_when_memory_is_short(void **state)
{
    (void)state;
    static char text[1400];
    const uint32_t length = min_u32(sizeof text, WEIR_CFG_NEIGHBOUR_QUEUE_BYTES / 2 - 60);
    struct fixture f;
    struct path path = {0};
    uint32_t host = PEER, sent;
    plain(&f);
    memset(text, 'a', sizeof text);
    frames_output(&f, &path, host, text, length, NULL);
    while (fixture_count(&f, WEIR_COUNT_ARP_UNRESOLVED) == 0) {
        assert_in_range(++host, PEER, PEER + WEIR_CFG_NEIGHBOUR_QUEUE_BYTES / length);
        frames_output(&f, &path, host, text, length, NULL);
    }
    memset(text, 'b', sizeof text);
    frames_output(&f, &path, PEER, text, length, NULL);
    assert_int_equal(fixture_count(&f, WEIR_COUNT_ARP_UNRESOLVED), 2);
    fixture_poll(&f, 0);
    fixture_clear(&f);
    frames_arp(&f, FIXTURE_MAC, ARP_REPLY, FIXTURE_PEER_MAC, PEER, OURS);
    fixture_poll(&f, 0);
    assert_int_equal(fixture_sent_count(&f), 1);
    assert_int_equal(fixture_sent(&f, 0, &sent)[34], 'b');
    fixture_clear(&f);
    frames_arp(&f, FIXTURE_MAC, ARP_REPLY, FIXTURE_PEER_MAC, host, OURS);
    fixture_poll(&f, 0);
    assert_int_equal(fixture_sent_count(&f), 0);
    fixture_close(&f);
}

static void assert_timers_sorted(const struct fixture *f)
{
    const struct arp *arp = &f->weir->arp;
    uint16_t previous = 0;
    for (uint16_t at = arp->timer_first; at; previous = at, at = arp->table[at - 1].timer_next) {
        assert_int_equal(arp->table[at - 1].timer_previous, previous);
        if (previous)
            assert_true((int32_t)(arp->table[at - 1].due_us - arp->table[previous - 1].due_us) >= 0);
    }
    assert_int_equal(arp->timer_last, previous);
}

// Whatever comes and goes meanwhile: questions, answers, packets to be sent, and deadlines that a full interface left
// behind.
static void deadlines_stay_in_order(void **state)
{
    (void)state;
    struct fixture f;
    struct path path = {0};
    plain(&f);
    for (uint32_t i = 0; i < 400; i++) {
        const uint32_t host = PEER + i * 5 % WEIR_CFG_NEIGHBOUR_STRANGERS % 8;
        f.block_tx = i % 40 >= 30;
        if (i % 40 == 0)
            fixture_unblock(&f, 0);
        frames_output(&f, &path, host, "abc", 3, NULL);
        assert_timers_sorted(&f);
        if (i % 7 == 3)
            frames_arp(&f, FIXTURE_MAC, ARP_REPLY, FIXTURE_PEER_MAC, host, OURS);
        assert_timers_sorted(&f);
        fixture_poll(&f, i % 11 == 0 ? 31 * SECOND : 170000);
        assert_timers_sorted(&f);
    }
    fixture_close(&f);
}

// RFC 1122 §2.3.2.1: at most one request a second; three, and it is given up.
static void silence(void **state)
{
    (void)state;
    struct fixture f;
    struct path path = {0};
    plain(&f);
    const uint64_t start = f.now_us;
    frames_output(&f, &path, PEER, "abc", 3, NULL);
    fixture_poll(&f, 10 * SECOND);
    assert_int_equal(fixture_sent_count(&f), 3);
    for (uint32_t i = 0; i < 3; i++) {
        frames_assert_request(&f, i, frames_all, OURS, PEER);
        assert_int_equal(fixture_sent_frame(&f, i)->sent_us, start + i * SECOND);
    }
    assert_int_equal(fixture_count(&f, WEIR_COUNT_ARP_UNRESOLVED), 1);
    assert_null(lookup(&f, PEER));
    // A late answer finds nothing to change.
    frames_arp(&f, FIXTURE_MAC, ARP_REPLY, FIXTURE_PEER_MAC, PEER, OURS);
    assert_null(lookup(&f, PEER));
    fixture_close(&f);
}

#if WEIR_CFG_UDP
static void silence_is_told_to_the_socket(void **state)
{
    (void)state;
    struct fixture f;
    int32_t error = 0;
    plain(&f);
    const struct weir_endpoint peer = {weir_addr_v4(PEER), 9};
    const struct weir_slice slice = {(const uint8_t *)"abc", 3};
    const struct weir_message message = {.peer = peer};
    const weir_socket socket = weir_socket_open(f.weir, WEIR_DATAGRAM, 0);
    assert_true(socket > 0);
    assert_int_equal(weir_socket_connect(f.weir, socket, &peer), WEIR_OK);
    assert_int_equal(weir_socket_send_message(f.weir, socket, &message, &slice, 1), 3);
    fixture_poll(&f, 2900000);
    assert_int_equal(weir_socket_get(f.weir, socket, WEIR_OPTION_ERROR, &error), WEIR_OK);
    assert_int_equal(error, 0);
    fixture_poll(&f, 200000);
    assert_int_equal(fixture_sent_count(&f), 3);
    assert_int_equal(weir_socket_get(f.weir, socket, WEIR_OPTION_ERROR, &error), WEIR_OK);
    assert_int_equal(error, WEIR_HOST_UNREACHABLE);
    assert_int_equal(weir_socket_close(f.weir, socket), WEIR_OK);
    fixture_close(&f);
}

static void a_socket_closed_while_it_waits(void **state)
{
    (void)state;
    struct fixture f;
    plain(&f);
    const struct weir_message message = {.peer = {weir_addr_v4(PEER), 9}};
    const struct weir_slice slice = {(const uint8_t *)"abc", 3};
    const weir_socket socket = weir_socket_open(f.weir, WEIR_DATAGRAM, 0);
    assert_int_equal(weir_socket_send_message(f.weir, socket, &message, &slice, 1), 3);
    fixture_poll(&f, 100000);
    assert_int_equal(fixture_sent_count(&f), 1);
    assert_int_equal(weir_socket_close(f.weir, socket), WEIR_OK);
    fixture_poll(&f, 100000);
    frames_arp(&f, FIXTURE_MAC, ARP_REPLY, FIXTURE_PEER_MAC, PEER, OURS);
    fixture_poll(&f, 10 * SECOND);
    fixture_close(&f);  // and all memory is back
}
#endif

// A device that sums or cuts has to be asked again, by a connection: such packets are not kept.
static void offloaded_packets_are_not_kept(void **state)
{
    (void)state;
    struct fixture f;
    plain(&f);
    struct path path = {.netif = &f.netif, .next_hop = weir_addr_v4(PEER)};
    struct packet_out out;
    packet_out_init(&out);
    memset(packet_out_header(&out, 40), 0, 40);
    out.tx.checksum_start = 20;
    assert_int_equal(f.netif.link->output(&f.netif, &path, ETHERTYPE_IP4, &out, NULL), WEIR_TX_DONE);
    assert_int_equal(fixture_count(&f, WEIR_COUNT_ARP_UNRESOLVED), 1);
    assert_int_equal(f.weir->arp.queue_bytes, 0);
    fixture_close(&f);
}

// --- staying known ---------------------------------------------------------------------------------------------------

static void a_stale_neighbour_is_probed_and_used(void **state)
{
    (void)state;
    struct fixture f;
    struct path path = {0};
    plain(&f);
    meet(&f, &path, PEER, FIXTURE_PEER_MAC);
    fixture_poll(&f, 31 * SECOND);
    assert_int_equal(fixture_sent_count(&f), 0);  // nobody asks for what nobody needs
    assert_int_equal(frames_output(&f, &path, PEER, "one", 3, NULL), WEIR_TX_DONE);
    assert_data(&f, FIXTURE_PEER_MAC, "one");
    fixture_poll(&f, SECOND);
    assert_int_equal(fixture_sent_count(&f), 1);
    frames_assert_request(&f, 0, FIXTURE_PEER_MAC, OURS, PEER);  // asked directly
    fixture_clear(&f);
    // An answer from elsewhere is not believed, one from the address on file is.
    frames_arp(&f, FIXTURE_MAC, ARP_REPLY, thief, PEER, OURS);
    assert_int_equal(lookup(&f, PEER)->state, NEIGHBOUR_PROBE);
    assert_memory_equal(lookup(&f, PEER)->mac, FIXTURE_PEER_MAC, 6);
    frames_arp(&f, FIXTURE_MAC, ARP_REPLY, FIXTURE_PEER_MAC, PEER, OURS);
    assert_int_equal(lookup(&f, PEER)->state, NEIGHBOUR_REACHABLE);
    fixture_poll(&f, 10 * SECOND);
    assert_int_equal(fixture_sent_count(&f), 0);
    fixture_close(&f);
}

static void progress_confirms_without_arp(void **state)
{
    (void)state;
    struct fixture f;
    struct path path = {0};
    plain(&f);
    meet(&f, &path, PEER, FIXTURE_PEER_MAC);
    for (int i = 0; i < 10; i++) {  // 200 s, five times longer than it would be believed unconfirmed
        fixture_poll(&f, 20 * SECOND);
        f.netif.link->confirm(&f.netif, &path);
        assert_int_equal(frames_output(&f, &path, PEER, "data", 4, NULL), WEIR_TX_DONE);
        assert_data(&f, FIXTURE_PEER_MAC, "data");
    }
    fixture_poll(&f, 31 * SECOND);
    assert_int_equal(frames_output(&f, &path, PEER, "data", 4, NULL), WEIR_TX_DONE);  // starts PROBE
    fixture_clear(&f);
    f.netif.link->confirm(&f.netif, &path);
    fixture_poll(&f, 5 * SECOND);
    assert_int_equal(fixture_sent_count(&f), 0);
    fixture_close(&f);
}

static void a_neighbour_that_moved_is_found_again(void **state)
{
    (void)state;
    struct fixture f;
    struct path path = {0};
    plain(&f);
    meet(&f, &path, PEER, FIXTURE_PEER_MAC);
    fixture_poll(&f, 31 * SECOND);
    frames_output(&f, &path, PEER, "one", 3, NULL);
    fixture_clear(&f);
    fixture_poll(&f, 4 * SECOND);
    assert_int_equal(fixture_sent_count(&f), 4);
    for (uint32_t i = 0; i < 3; i++)
        frames_assert_request(&f, i, FIXTURE_PEER_MAC, OURS, PEER);
    frames_assert_request(&f, 3, frames_all, OURS, PEER);
    frames_arp(&f, FIXTURE_MAC, ARP_REPLY, thief, PEER, OURS);
    assert_memory_equal(lookup(&f, PEER)->mac, thief, 6);
    fixture_close(&f);
}

// --- what strangers may change (SECURITY.md, ARP poisoning) ----------------------------------------------------------

static void unsolicited_replies_change_nothing(void **state)
{
    (void)state;
    struct fixture f;
    struct path path = {0};
    plain(&f);
    meet(&f, &path, PEER, FIXTURE_PEER_MAC);
    assert_int_equal(weir_neighbour_add_static(f.weir, &f.netif, weir_addr_v4(PEER + 1), FIXTURE_PEER_MAC), WEIR_OK);
    const struct arp before = f.weir->arp;
    struct neighbour table[WEIR_CFG_NEIGHBOURS];
    memcpy(table, before.table, sizeof table);
    for (uint32_t i = 0; i < 10000; i++)
        frames_arp(&f, i & 1 ? FIXTURE_MAC : frames_all, ARP_REPLY, thief, 0x0a000002u + i % 254,
                   i & 2 ? OURS : 0x0a000002u + i % 254);
    assert_memory_equal(before.table, table, sizeof table);
    fixture_poll(&f, 5 * SECOND);
    assert_int_equal(fixture_sent_count(&f), 0);
    fixture_close(&f);
}

static void static_entries_stay(void **state)
{
    (void)state;
    struct fixture f;
    struct path path = {0};
    plain(&f);
    assert_int_equal(weir_neighbour_add_static(f.weir, &f.netif, weir_addr_v4(PEER), FIXTURE_PEER_MAC), WEIR_OK);
    frames_arp(&f, frames_all, ARP_REQUEST, thief, PEER, OURS);
    frames_arp(&f, frames_all, ARP_REQUEST, thief, PEER, PEER);
    frames_arp(&f, FIXTURE_MAC, ARP_REPLY, thief, PEER, OURS);
    weir_netif_carrier(&f.netif, false);
    weir_netif_carrier(&f.netif, true);
    fixture_poll(&f, 60 * SECOND);
    fixture_clear(&f);
    assert_int_equal(frames_output(&f, &path, PEER, "abc", 3, NULL), WEIR_TX_DONE);
    assert_data(&f, FIXTURE_PEER_MAC, "abc");
    fixture_poll(&f, 5 * SECOND);
    assert_int_equal(fixture_sent_count(&f), 0);
    assert_int_equal(weir_neighbour_add_static(f.weir, &f.netif, weir_addr_any(), FIXTURE_PEER_MAC), WEIR_INVALID);
    assert_int_equal(weir_neighbour_add_static(f.weir, &f.netif, weir_addr_v4(PEER), frames_all), WEIR_INVALID);
    fixture_close(&f);
}

// Another link address is claimed, as after a fail-over or by a thief: the old owner is asked first, while packets
// still go to it.
static void claims_are_verified(void **state)
{
    (void)state;
    struct fixture f;
    struct path path = {0};
    plain(&f);
    meet(&f, &path, PEER, FIXTURE_PEER_MAC);
    frames_arp(&f, frames_all, ARP_REQUEST, thief, PEER, PEER);  // an announcement
    assert_memory_equal(lookup(&f, PEER)->mac, FIXTURE_PEER_MAC, 6);
    frames_arp(&f, FIXTURE_MAC, ARP_REQUEST, thief, PEER, OURS);  // even a request to us
    assert_memory_equal(lookup(&f, PEER)->mac, FIXTURE_PEER_MAC, 6);
    fixture_poll(&f, 0);
    fixture_clear(&f);  // the answer to that
    assert_int_equal(frames_output(&f, &path, PEER, "abc", 3, NULL), WEIR_TX_DONE);
    assert_data(&f, FIXTURE_PEER_MAC, "abc");
    fixture_poll(&f, SECOND);
    frames_assert_request(&f, 0, FIXTURE_PEER_MAC, OURS, PEER);
    frames_arp(&f, FIXTURE_MAC, ARP_REPLY, FIXTURE_PEER_MAC, PEER, OURS);
    fixture_clear(&f);
    assert_int_equal(lookup(&f, PEER)->state, NEIGHBOUR_REACHABLE);
    // The old owner is gone: two seconds, and the new one is asked for.
    frames_arp(&f, frames_all, ARP_REQUEST, thief, PEER, PEER);
    frames_output(&f, &path, PEER, "abc", 3, NULL);
    fixture_clear(&f);
    fixture_poll(&f, 2 * SECOND);
    assert_int_equal(fixture_sent_count(&f), 2);
    frames_assert_request(&f, 0, FIXTURE_PEER_MAC, OURS, PEER);
    frames_assert_request(&f, 1, frames_all, OURS, PEER);
    frames_arp(&f, FIXTURE_MAC, ARP_REPLY, thief, PEER, OURS);
    assert_memory_equal(lookup(&f, PEER)->mac, thief, 6);
    fixture_close(&f);
}

// A host with a new network card: the old one is asked at once, and a second later all. Not for every claim, though, of
// one that has just been heard of.
static void who_has_a_new_link_address_is_found_in_a_second(void **state)
{
    (void)state;
    struct fixture f;
    struct path path = {0};
    plain(&f);
    for (uint32_t learnt = 0; learnt < 2; learnt++) {
        if (learnt) {  // of a request of its own, and never confirmed
            frames_arp(&f, FIXTURE_MAC, ARP_REQUEST, FIXTURE_PEER_MAC, PEER + 1, OURS);
            assert_int_equal(lookup(&f, PEER + 1)->state, NEIGHBOUR_STALE);
        } else {
            meet(&f, &path, PEER, FIXTURE_PEER_MAC);
        }
        fixture_poll(&f, 2 * SECOND);
        fixture_clear(&f);
        frames_arp(&f, FIXTURE_MAC, ARP_REQUEST, thief, PEER + learnt, OURS);
        fixture_poll(&f, 0);
        assert_int_equal(fixture_sent_count(&f), 2);  // the other is the answer
        frames_assert_request(&f, 1, FIXTURE_PEER_MAC, OURS, PEER + learnt);
        fixture_clear(&f);
        for (uint32_t i = 0; i < 100; i++)
            frames_arp(&f, frames_all, ARP_REQUEST, thief, PEER + learnt, PEER + learnt);
        fixture_poll(&f, SECOND);
        assert_int_equal(fixture_sent_count(&f), 1);
        frames_assert_request(&f, 0, frames_all, OURS, PEER + learnt);
        frames_arp(&f, FIXTURE_MAC, ARP_REPLY, thief, PEER + learnt, OURS);
        assert_memory_equal(lookup(&f, PEER + learnt)->mac, thief, 6);
        assert_int_equal(lookup(&f, PEER + learnt)->state, NEIGHBOUR_REACHABLE);
        fixture_clear(&f);
        frames_arp(&f, frames_all, ARP_REQUEST, FIXTURE_PEER_MAC, PEER + learnt, PEER + learnt);
        fixture_poll(&f, 0);
        assert_int_equal(fixture_sent_count(&f), 0);
        fixture_poll(&f, SECOND);
        frames_assert_request(&f, 0, thief, OURS, PEER + learnt);
        frames_arp(&f, FIXTURE_MAC, ARP_REPLY, thief, PEER + learnt, OURS);
    }
    fixture_close(&f);
}

static void requests_teach(void **state)
{
    (void)state;
    struct fixture f;
    struct path path = {0};
    plain(&f);
    struct sock *const sock = frames_waiter(&f);
    frames_arp(&f, frames_all, ARP_REQUEST, FIXTURE_PEER_MAC, PEER, OURS + 9);    // not to us
    frames_arp(&f, frames_all, ARP_REQUEST, FIXTURE_PEER_MAC, 0x0b000002, OURS);  // not from our subnet
    frames_arp(&f, frames_all, ARP_REQUEST, FIXTURE_PEER_MAC, 0, OURS);           // a probe
    assert_int_equal(entries(&f), 0);
    frames_arp(&f, frames_all, ARP_REQUEST, FIXTURE_PEER_MAC, PEER, OURS);
    assert_int_equal(entries(&f), 1);
    fixture_poll(&f, 0);
    fixture_clear(&f);
    assert_int_equal(frames_output(&f, &path, PEER, "abc", 3, sock), WEIR_TX_DONE);
    assert_data(&f, FIXTURE_PEER_MAC, "abc");
    assert_int_equal(frames_output(&f, &path, PEER + 1, "abc", 3, sock), WEIR_TX_UNRESOLVED);
    // whom we look for asks us: that answers the question
    frames_arp(&f, frames_all, ARP_REQUEST, thief, PEER + 1, OURS);
    frames_assert_queued(&f, sock);
    fixture_close(&f);
}

// Requests to us from everybody take the strangers' entries, never one in use or one that is waited for.
static void a_flood_of_requests_displaces_nothing_in_use(void **state)
{
    (void)state;
    const struct fixture_options options = {.address = weir_addr_v4(OURS), .prefix_length = 8, .mode = FIXTURE_PLAIN};
    struct fixture f;
    struct path path = {0}, other = {0};
    assert_true(fixture_open_with(&f, &options));
    struct sock *const sock = frames_waiter(&f);
    meet(&f, &path, PEER, FIXTURE_PEER_MAC);
    assert_int_equal(frames_output(&f, &other, PEER + 1, "abc", 3, sock), WEIR_TX_UNRESOLVED);
    for (uint32_t i = 0; i < 10000; i++)
        frames_arp(&f, frames_all, ARP_REQUEST, thief, 0x0a010000u + i, OURS);
    assert_int_equal(f.weir->arp.strangers, min_u32(WEIR_CFG_NEIGHBOUR_STRANGERS, WEIR_CFG_NEIGHBOUR_STRANGER_RATE));
    assert_int_equal(entries(&f), 2u + f.weir->arp.strangers);
    assert_int_equal(fixture_count(&f, WEIR_COUNT_ARP_FULL), 10000 - f.weir->arp.strangers);
    assert_int_equal(frames_output(&f, &path, PEER, "abc", 3, NULL), WEIR_TX_DONE);
    assert_data(&f, FIXTURE_PEER_MAC, "abc");
    frames_arp(&f, FIXTURE_MAC, ARP_REPLY, FIXTURE_PEER_MAC, PEER + 1, OURS);
    assert_null(sock_output_pop(&f.weir->socks));  // nothing was asked yet: no answer counts
    fixture_poll(&f, 0);
    frames_arp(&f, FIXTURE_MAC, ARP_REPLY, FIXTURE_PEER_MAC, PEER + 1, OURS);
    frames_assert_queued(&f, sock);
    fixture_close(&f);
}

static void the_least_recently_used_makes_room(void **state)
{
    (void)state;
    const struct fixture_options options = {.address = weir_addr_v4(OURS), .prefix_length = 8, .mode = FIXTURE_PLAIN};
    struct fixture f;
    struct path first = {0}, path = {0};
    assert_true(fixture_open_with(&f, &options));
    struct sock *const sock = frames_waiter(&f);
    meet(&f, &first, PEER, FIXTURE_PEER_MAC);
    for (uint32_t i = 1; i < WEIR_CFG_NEIGHBOURS; i++) {
        meet(&f, &path, PEER + i, FIXTURE_PEER_MAC);
        fixture_poll(&f, 50000);
    }
    f.netif.link->confirm(&f.netif, &first);
    assert_int_equal(frames_output(&f, &first, PEER, "abc", 3, NULL), WEIR_TX_DONE);  // used just now
    assert_int_equal(frames_output(&f, &path, 0x0a020000, "abc", 3, sock), WEIR_TX_UNRESOLVED);
    assert_null(lookup(&f, PEER + 1));
    assert_non_null(lookup(&f, PEER));
    assert_non_null(lookup(&f, PEER + WEIR_CFG_NEIGHBOURS - 1));
    assert_int_equal(fixture_count(&f, WEIR_COUNT_ARP_FULL), 1);
    // A path that points at a recycled entry is not fooled.
    struct path old = {.netif = &f.netif,
                       .neighbour = neighbour_index_of(&f.weir->arp, lookup(&f, 0x0a020000)),
                       .next_hop = weir_addr_v4(PEER + 1)};
    assert_null(neighbour_known(&f.netif, &old));
    fixture_poll(&f, 0);
    frames_arp(&f, FIXTURE_MAC, ARP_REPLY, FIXTURE_PEER_MAC, 0x0a020000, OURS);
    frames_assert_queued(&f, sock);
    fixture_close(&f);
}

// Replies to sources that do not exist (a SYN flood, pings) ask for them all. What is in use stays, and our own needs
// come before them.
static void a_flood_of_replies_displaces_nothing_in_use(void **state)
{
    (void)state;
    const struct fixture_options options = {.address = weir_addr_v4(OURS), .prefix_length = 8, .mode = FIXTURE_PLAIN};
    struct fixture f;
    struct path path = {0}, other = {0};
    assert_true(fixture_open_with(&f, &options));
    struct sock *const sock = frames_waiter(&f);
    meet(&f, &path, PEER, FIXTURE_PEER_MAC);
    for (uint32_t i = 0; i < 4 * WEIR_CFG_NEIGHBOURS; i++)
        (void)frames_output(&f, &other, 0x0a010000u + i, "reply", 5, NULL);
    assert_int_equal(entries(&f), 1 + WEIR_CFG_NEIGHBOUR_STRANGERS);
    assert_int_equal(lookup(&f, PEER)->state, NEIGHBOUR_REACHABLE);
    assert_int_equal(frames_output(&f, &other, PEER + 1, "abc", 3, sock), WEIR_TX_UNRESOLVED);
    assert_int_equal(lookup(&f, PEER)->state, NEIGHBOUR_REACHABLE);
    fixture_poll(&f, 2 * SECOND);
    assert_int_equal(lookup(&f, PEER)->state, NEIGHBOUR_REACHABLE);
    frames_arp(&f, FIXTURE_MAC, ARP_REPLY, FIXTURE_PEER_MAC, PEER + 1, OURS);
    frames_assert_queued(&f, sock);
    fixture_close(&f);
}

// Strangers displace the one of them that came first, however often it asks again; one that answered, and is used,
// stays.
static void strangers_displace_the_oldest_stranger(void **state)
{
    (void)state;
    const struct fixture_options options = {.address = weir_addr_v4(OURS), .prefix_length = 8, .mode = FIXTURE_PLAIN};
    const uint32_t first = 0x0a010000u, late = first + WEIR_CFG_NEIGHBOUR_STRANGERS;
    struct fixture f;
    struct path path = {0};
    assert_true(fixture_open_with(&f, &options));
    for (uint32_t i = 0; i < WEIR_CFG_NEIGHBOUR_STRANGERS; i++) {
        frames_output(&f, &path, first + i, "reply", 5, NULL);
        fixture_poll(&f, 2 * SECOND / WEIR_CFG_NEIGHBOUR_STRANGERS);
    }
    frames_arp(&f, FIXTURE_MAC, ARP_REPLY, FIXTURE_PEER_MAC, first, OURS);
    frames_output(&f, &path, first + 1, "again", 5, NULL);
    frames_output(&f, &path, late, "reply", 5, NULL);
    assert_non_null(lookup(&f, first));
    assert_null(lookup(&f, first + 1));
    assert_non_null(lookup(&f, late));
    assert_int_equal(f.weir->arp.strangers, WEIR_CFG_NEIGHBOUR_STRANGERS);
    // One whom a socket needs is a stranger no more.
    struct sock *const sock = frames_waiter(&f);
    assert_int_equal(frames_output(&f, &path, late, "abc", 3, sock), WEIR_TX_UNRESOLVED);
    assert_int_equal(f.weir->arp.strangers, WEIR_CFG_NEIGHBOUR_STRANGERS - 1);
    weir_netif_carrier(&f.netif, false);
    assert_int_equal(f.weir->arp.strangers, 0);
    frames_assert_queued(&f, sock);
    fixture_close(&f);
}

// A gateway is used for longer than anybody hears from it: neither strangers nor our own needs displace it.
static void gateways_stay(void **state)
{
    (void)state;
    const struct fixture_options options = {.address = weir_addr_v4(OURS), .prefix_length = 8, .mode = FIXTURE_PLAIN};
    struct fixture f;
    struct path path = {0}, other = {0};
    assert_true(fixture_open_with(&f, &options));
    struct sock *const sock = frames_waiter(&f);
    assert_int_equal(weir_route_add(f.weir, weir_addr_any(), 0, weir_addr_v4(PEER), &f.netif, 0), WEIR_OK);
    frames_output(&f, &path, PEER, "reply", 5, NULL);  // a reply alone asks for it: it is no stranger
    assert_int_equal(f.weir->arp.strangers, 0);
    fixture_poll(&f, 0);
    frames_arp(&f, FIXTURE_MAC, ARP_REPLY, FIXTURE_PEER_MAC, PEER, OURS);
    fixture_poll(&f, 40 * SECOND);
    for (uint32_t i = 0; i < 4 * WEIR_CFG_NEIGHBOURS; i++) {
        frames_output(&f, &other, 0x0a010000u + i, "reply", 5, NULL);
        meet(&f, &other, 0x0a020000u + i, FIXTURE_PEER_MAC);
    }
    assert_non_null(lookup(&f, PEER));
    fixture_clear(&f);
    assert_int_equal(frames_output(&f, &path, PEER, "abc", 3, sock), WEIR_TX_DONE);
    assert_data(&f, FIXTURE_PEER_MAC, "abc");
    fixture_close(&f);
}

// Nothing may make room: what is to be sent is lost, and counted.
static void a_table_full_of_waiters(void **state)
{
    (void)state;
    static struct sock socks[WEIR_CFG_NEIGHBOURS];
    const struct fixture_options options = {.address = weir_addr_v4(OURS), .prefix_length = 8, .mode = FIXTURE_PLAIN};
    struct fixture f;
    struct path path = {0};
    memset(socks, 0, sizeof socks);
    assert_true(fixture_open_with(&f, &options));
    f.faults.others = true;  // more than there are sockets in small: none of them is one, and no poll comes
    for (uint32_t i = 0; i < WEIR_CFG_NEIGHBOURS; i++)
        assert_int_equal(frames_output(&f, &path, 0x0a020000u + i, "abc", 3, &socks[i]), WEIR_TX_UNRESOLVED);
    struct sock late = {0};
    assert_int_equal(frames_output(&f, &path, PEER, "abc", 3, &late), WEIR_TX_DONE);
    assert_int_equal(late.flags, 0);
    assert_int_equal(f.netif.stats.tx_dropped, 1);
    assert_int_equal(fixture_count(&f, WEIR_COUNT_ARP_FULL), 1);
    weir_netif_carrier(&f.netif, false);  // all of them go back to the output list
    for (uint32_t i = 0; i < WEIR_CFG_NEIGHBOURS; i++)
        assert_non_null(sock_output_pop(&f.weir->socks));
    fixture_close(&f);
}

// --- carrier ---------------------------------------------------------------------------------------------------------

static void carrier(void **state)
{
    (void)state;
    struct fixture f;
    struct path path = {0}, known = {0};
    plain(&f);
    struct sock *const sock = frames_waiter(&f);
    meet(&f, &known, PEER + 1, FIXTURE_PEER_MAC);
    assert_int_equal(frames_output(&f, &path, PEER, "abc", 3, sock), WEIR_TX_UNRESOLVED);
    assert_int_equal(frames_output(&f, &path, PEER, "abc", 3, NULL), WEIR_TX_DONE);
    weir_netif_carrier(&f.netif, false);
    frames_assert_queued(&f, sock);
    assert_int_equal(entries(&f), 0);
    assert_int_equal(f.weir->arp.queue_bytes, 0);
    // and nobody waits for a neighbour
    assert_int_equal(frames_output(&f, &path, PEER, "abc", 3, sock), WEIR_TX_FULL);
    weir_tx_ready(&f.netif);  // room in the driver is no carrier
    assert_int_equal(frames_output(&f, &path, PEER, "abc", 3, sock), WEIR_TX_FULL);
    fixture_poll(&f, 10 * SECOND);
    assert_int_equal(fixture_sent_count(&f), 0);
    weir_netif_carrier(&f.netif, true);
    fixture_poll(&f, 0);
    assert_int_equal(fixture_sent_count(&f), 1);
    frames_assert_request(&f, 0, frames_all, OURS, OURS);  // announced again
    assert_int_equal(frames_output(&f, &path, PEER, "abc", 3, sock), WEIR_TX_UNRESOLVED);
    weir_netif_remove(&f.netif);
    frames_assert_queued(&f, sock);
    fixture_close(&f);
}

// A refused request is not lost: it leaves when there is room, and what it asks for is not given up meanwhile.
static void a_full_interface_delays_questions(void **state)
{
    (void)state;
    struct fixture f;
    struct path path = {0};
    plain(&f);
    struct sock *const sock = frames_waiter(&f);
    assert_int_equal(frames_output(&f, &path, PEER, "abc", 3, sock), WEIR_TX_UNRESOLVED);
    f.block_tx = true;
    fixture_poll(&f, 10 * SECOND);
    assert_int_equal(f.full_count, 1);
    assert_true(sock->flags & SOCK_WAITS_NEIGHBOUR);
    fixture_unblock(&f, 0);
    assert_int_equal(fixture_sent_count(&f), 1);
    frames_arp(&f, FIXTURE_MAC, ARP_REPLY, FIXTURE_PEER_MAC, PEER, OURS);
    frames_assert_queued(&f, sock);
    fixture_close(&f);
}

#if WEIR_CFG_ALLOCATOR
static void the_nth_allocation_fails(void **state)
{
    (void)state;
    for (uint32_t n = 1; n < 64; n++) {
        const struct fixture_options options = {.address = weir_addr_v4(OURS), .fail_at = n, .mode = FIXTURE_PLAIN};
        struct fixture f;
        struct path path = {0};
        if (!fixture_open_with(&f, &options))
            continue;
        frames_output(&f, &path, PEER, "abc", 3, NULL);
        fixture_poll(&f, 0);
        const bool failed = f.fail_at == 0;
        fixture_close(&f);
        if (!failed)  // so many are not needed
            return;
    }
    fail_msg("weir_create allocates without end");
}

static void a_copy_that_cannot_be_kept_is_counted(void **state)
{
    (void)state;
    struct fixture f;
    struct path path = {0};
    plain(&f);
    f.fail_at = 1;
    assert_int_equal(frames_output(&f, &path, PEER, "abc", 3, NULL), WEIR_TX_DONE);
    assert_int_equal(fixture_count(&f, WEIR_COUNT_ARP_UNRESOLVED), 1);
    fixture_close(&f);
}
#endif

// What the self-check of test builds looks at: each bound and each list, by itself.
static void a_table_that_contradicts_itself_is_noticed(void **state)
{
    (void)state;
    struct fixture f;
    struct path path = {0};
    plain(&f);
    meet(&f, &path, PEER, FIXTURE_PEER_MAC);
    struct arp *const arp = &f.weir->arp;
    const uint16_t free = arp->free;
    assert_true(neighbours_sound(f.weir));
    arp->strangers++;
    assert_false(neighbours_sound(f.weir));
    arp->strangers--;
    arp->free = arp->table[free - 1].next;  // an entry is lost
    assert_false(neighbours_sound(f.weir));
    arp->free = free;
    arp->table[free - 1].next = free;  // the list has no end
    assert_false(neighbours_sound(f.weir));
    arp->table[free - 1].next = (uint16_t)(free + 1);
    struct neighbour *const n = neighbour_of_path(&f.netif, &path);
    n->address = weir_addr_v4(PEER + 1);  // it is not found where it belongs
    assert_false(neighbours_sound(f.weir));
    n->address = weir_addr_v4(PEER);
    assert_true(neighbours_sound(f.weir));
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with(WEIR_CFG_SELF_CHECK, a_table_that_contradicts_itself_is_noticed),
        cmocka_unit_test(a_waiter_waits_for_the_answer),
        cmocka_unit_test(a_waiterless_datagram_is_kept),
        cmocka_unit_test(waiting_datagrams_are_bounded),
        cmocka_unit_test(the_newest_datagrams_wait),
        cmocka_unit_test(the_newest_datagram_waits_when_memory_is_short),
        cmocka_unit_test(deadlines_stay_in_order),
        cmocka_unit_test(silence),
        cmocka_unit_test(offloaded_packets_are_not_kept),
        cmocka_unit_test(a_stale_neighbour_is_probed_and_used),
        cmocka_unit_test(progress_confirms_without_arp),
        cmocka_unit_test(a_neighbour_that_moved_is_found_again),
        cmocka_unit_test(unsolicited_replies_change_nothing),
        cmocka_unit_test(static_entries_stay),
        cmocka_unit_test(claims_are_verified),
        cmocka_unit_test(who_has_a_new_link_address_is_found_in_a_second),
        cmocka_unit_test(requests_teach),
        cmocka_unit_test(a_flood_of_requests_displaces_nothing_in_use),
        cmocka_unit_test(a_flood_of_replies_displaces_nothing_in_use),
        cmocka_unit_test(strangers_displace_the_oldest_stranger),
        cmocka_unit_test(gateways_stay),
        cmocka_unit_test(the_least_recently_used_makes_room),
        cmocka_unit_test(a_table_full_of_waiters),
        cmocka_unit_test(carrier),
        cmocka_unit_test(a_full_interface_delays_questions),
#if WEIR_CFG_UDP
        cmocka_unit_test(silence_is_told_to_the_socket),
        cmocka_unit_test(a_socket_closed_while_it_waits),
#endif
#if WEIR_CFG_ALLOCATOR
        cmocka_unit_test(the_nth_allocation_fails),
        cmocka_unit_test(a_copy_that_cannot_be_kept_is_counted),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
