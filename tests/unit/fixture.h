// SPDX-License-Identifier: BSD-2-Clause
// A test's world: one instance over malloc, one interface whose driver records what is sent, virtual time.
//
//     struct fixture f;
//     fixture_open(&f, &weir_link_ethernet, weir_ip4(10, 0, 0, 1), 24, 0);
//     fixture_input(&f, bytes, length);          // as if it had arrived
//     fixture_poll(&f, 1000);                    // 1 ms passes: timers fire, frames leave
//     assert_int_equal(fixture_sent_count(&f), 1);
//     const uint8_t *frame = fixture_sent(&f, 0, &length);
//     fixture_close(&f);                         // also checks that every byte went back to the allocator
//
// Driver modes: a test program runs again in another mode with WEIR_TEST_DRIVER=scribble|full|sliced|hold in its
// environment (a test that sets a mode itself keeps it). The clock's low 32 bits wrap six seconds after open.
#ifndef TESTS_FIXTURE_H
#define TESTS_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "faults.h"
#include "weir/instance.h"
#include "weir/netif.h"
#include "weir/socket.h"
#include "weir/stats.h"
#if WEIR_CFG_IP4 || !WEIR_CFG_COMPACT  // of the compact stack of IPv6 these headers know nothing
#include "instance.h"
#endif

enum fixture_mode {
    FIXTURE_FROM_ENVIRONMENT,  // WEIR_TEST_DRIVER, or plain
    FIXTURE_PLAIN,
    FIXTURE_SCRIBBLE,        // overwrites every lent frame as soon as weir_input returns
    FIXTURE_FULL_AT_RANDOM,  // refuses one frame in three, calls weir_tx_ready later
    FIXTURE_SLICED,          // delivers each frame as up to 48 slices, each in memory of its own
    FIXTURE_HOLD,            // answers HELD where it may, checks that held bytes stay, completes late
};

struct fixture_frame {
    uint8_t *data;
    uint32_t length;
    uint64_t sent_us;
    uint16_t header_length, checksum_start, checksum_offset, segment_size;
    uint8_t gso;
};

struct fixture_held {
    struct fixture_held *next;
    uint8_t *copy;  // what the held bytes were
    struct weir_slice slices[WEIR_CFG_TX_SLICES];
    uint16_t count;
    void *owner;
    uint32_t end;
    uint32_t polls;  // completes when 0
};

#undef cmocka_run_group_tests
#define cmocka_run_group_tests(tests, setup, teardown) \
    faults_run_tests(#tests, tests, sizeof(tests) / sizeof((tests)[0]), setup, teardown)

struct fixture {
    struct weir *weir;
    struct weir_netif netif;
    struct weir_port port;
    uint64_t now_us;
    enum fixture_mode mode;
    // allocator
    void *block;               // static builds: all memory
    uint64_t allocated_bytes;  // got and not given back
    uint32_t allocated_count;
    uint64_t limit_bytes;  // an allocation that would take more fails; 0: no limit
    uint32_t allocations;  // calls of alloc so far
    uint32_t fail_at;      // this many calls from now fails: 1 is the next; 0 none
    bool fail_onwards;     // every one after it fails, too
    // driver
    struct fixture_frame *frames;
    uint32_t frame_count, frame_room;
    bool block_tx;    // answer FULL until a test clears it and calls weir_tx_ready
    bool refused;     // answered FULL, or said weir_tx_full, since the last weir_tx_ready
    uint32_t places;  // says weir_tx_full when so many frames came since; 0: never
    uint32_t placed;
    uint32_t full_count;  // times FULL was answered
    uint32_t flushes;
    bool in_input;  // weir_input is running: it must not transmit
    bool in_poll;
    struct fixture_held *held, **held_tail;
    uint32_t held_polls;    // calls of fixture_poll until what is held completes; 0: it completes within one, after one
                            // to four rounds
    uint8_t filter[64][6];  // multicast link addresses joined
    uint32_t filter_count;
    uint64_t random, entropy;
    uint8_t input_tos;  // of what fixture_input_ip4 makes
    struct faults faults;
};

// Everything that can be chosen; zero means the default.
struct fixture_options {
    const struct weir_link *link;  // weir_link_ethernet
    struct weir_addr address;      // any, or of a family that is not built: none is set
    uint8_t prefix_length;         // 24 when an address is given, of IPv6 120
    uint16_t capabilities;         // added to the link's own
    uint16_t mtu;                  // 1500
    uint16_t vlan;                 // not 0: tagged
    const uint8_t *mac;            // FIXTURE_MAC; two fixtures on one link need two
    uint8_t netif_flags;           // more enum weir_netif_flag
    enum fixture_mode mode;
    uint32_t fail_at;  // this allocation fails, weir_create's included; the fixture then has weir NULL or goes on
    bool fail_onwards;
    const struct weir_config *config;
};

// 10.0.0.N; in a build of IPv6 alone the address of that family with the same end, 2001:db8::a00:N. Tests that ask for
// it are of either.
static inline struct weir_addr fixture_address(uint8_t last)
{
#if WEIR_CFG_IP4
    return weir_ip4(10, 0, 0, last);
#else
    return weir_addr_v6((const uint8_t[16]){0x20, 0x01, 0x0d, 0xb8, [12] = 10, [15] = last});
#endif
}

#define FIXTURE_MAC ((const uint8_t[6]){0x02, 0x57, 0x45, 0x49, 0x52, 0x01})       // of the interface
#define FIXTURE_PEER_MAC ((const uint8_t[6]){0x02, 0x50, 0x45, 0x45, 0x52, 0x02})  // what fixture_input_ip4 comes from

void fixture_open(struct fixture *f, const struct weir_link *link, struct weir_addr address, uint8_t prefix_length,
                  uint16_t capabilities);
// false: weir_create failed (only with fail_at); nothing is left to close.
bool fixture_open_with(struct fixture *f, const struct fixture_options *options);
void fixture_close(struct fixture *f);
void fixture_complete(struct fixture *f);  // the driver ends all that it holds
void fixture_set_mode(struct fixture *f, enum fixture_mode mode);

// Hands the bytes up as one frame, in the way of the mode. The bytes are copied into memory of exactly their length
// first.
void fixture_input(struct fixture *f, const void *bytes, uint32_t length);
// with metadata; slices are copied as they are
void fixture_input_frame(struct fixture *f, const struct weir_frame *frame);
// the same, whatever WEIR_TEST_FAULT says
void fixture_input_now(struct fixture *f, const struct weir_frame *frame);
void fixture_input_slices(struct fixture *f, const struct weir_slice *slices, uint16_t count);
// An IPv4 packet (and, on Ethernet, its frame from FIXTURE_PEER_MAC to FIXTURE_MAC) around `payload`; header checksum
// right.
void fixture_input_ip4(struct fixture *f, struct weir_addr source, struct weir_addr destination, uint8_t protocol,
                       const void *payload, uint32_t length);
// The same of the destination's family.
void fixture_input_ip(struct fixture *f, struct weir_addr source, struct weir_addr destination, uint8_t protocol,
                      const void *payload, uint32_t length);
// `address` answers at FIXTURE_PEER_MAC from now on, without ARP (nothing to do on raw IP and without a cache).
void fixture_know_peer(struct fixture *f, struct weir_addr address);

// Lets `advance_us` pass, stopping at every deadline on the way. Returns the next deadline, µs. Fails the test when
// weir_poll says "work left" for ever.
uint64_t fixture_poll(struct fixture *f, uint64_t advance_us);
void fixture_clock(struct fixture *f);  // tells the instance what time it is
// after block_tx: the driver has room again; then the same
void fixture_unblock(struct fixture *f, uint64_t advance_us);

uint32_t fixture_sent_count(const struct fixture *f);
// fails the test when there is none
const uint8_t *fixture_sent(const struct fixture *f, uint32_t index, uint32_t *length);
const struct fixture_frame *fixture_sent_frame(const struct fixture *f, uint32_t index);
// The same, at the network header (skips the link header).
const uint8_t *fixture_sent_packet(const struct fixture *f, uint32_t index, uint32_t *length);
void fixture_clear(struct fixture *f);
// Hands every frame that `from` has sent to `to`, and forgets it. Returns how many.
uint32_t fixture_carry(struct fixture *from, struct fixture *to);
// Both pass `advance_us` in step, frames going both ways as soon as they are sent.
void fixture_run_pair(struct fixture *a, struct fixture *b, uint64_t advance_us);

uint32_t fixture_count(const struct fixture *f, enum weir_counter counter);

#endif
