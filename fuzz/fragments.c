// SPDX-License-Identifier: BSD-2-Clause
// Reassembly: an instance gets nothing but fragments of UDP datagrams. Each input record of 6 bytes says which
// datagram, offset, length, whether more follow, and how much time passes. A payload byte is a function of datagram and
// offset, so whatever is delivered can be checked; a record may also lie about its bytes, and then an overlap must have
// ended the datagram, or the datagram is a lie throughout.
#include "fixture.h"

#include "fuzz.h"
#include "weir/socket.h"
#include "wire/ip4.h"
#include "wire/udp.h"

#define PORT 9u
#define DATAGRAM 4000u
#define DATAGRAMS 64u

static const struct weir_addr ours = WEIR_ADDR_V4(0x0a000001), peer = WEIR_ADDR_V4(0x0a000002);

static uint8_t pattern(uint8_t id, uint32_t offset) { return (uint8_t)(id * 31 + offset * 7 + (offset >> 8)); }

// All datagrams as sent: UDP header without checksum, the pattern, and nothing but zeroes for who claims more. They are
// made once: to make one for each fragment took nine tenths of the time.
static uint8_t whole[DATAGRAMS][65536 + DATAGRAM];

static void make_datagrams(void)
{
    for (uint8_t id = 0; id < DATAGRAMS; id++) {
        udp_emit(whole[id],
                 &(struct udp_header){
                     .source = (uint16_t)(1000 + id), .destination = PORT, .length = DATAGRAM, .checksum_present = 0});
        for (uint32_t i = UDP_BYTES; i < DATAGRAM; i++)
            whole[id][i] = pattern(id, i);
    }
}

static void send_fragment(struct fixture *f, uint8_t id, uint32_t offset, uint32_t length, bool more)
{
    uint8_t packet[IP4_BYTES + 2048];
    struct ip4 header = {.source = weir_addr_to_v4(peer),
                         .destination = weir_addr_to_v4(ours),
                         .total_length = (uint16_t)(IP4_BYTES + length),
                         .id = id,
                         .fragment_offset = (uint16_t)offset,
                         .ttl = 64,
                         .protocol = IP_UDP,
                         .flags = more ? IP4_MORE_FRAGMENTS : 0};
    ip4_emit(packet, &header);
    memcpy(packet + IP4_BYTES, whole[id] + offset, length);
    fixture_input(f, packet, IP4_BYTES + length);
}

static void read_all(struct fixture *f, weir_socket socket)
{
    struct weir_message message;
    struct weir_slice slice;
    while (weir_socket_peek_message(f->weir, socket, &message, &slice) >= 0) {
        uint8_t id = (uint8_t)(message.peer.port - 1000);
        CHECK(message.length <= 65507 && id < DATAGRAMS);
        CHECK(memcmp(slice.data, whole[id] + UDP_BYTES, slice.length) == 0);
        CHECK(weir_socket_discard(f->weir, socket) >= 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bytes in = {data, (uint32_t)size};
    struct fixture f;
    if (!whole[0][1])
        make_datagrams();
    const struct fixture_options options = {.link = &weir_link_rawip,
                                            .address = ours,
                                            .prefix_length = 24,
                                            .mode = take8(&in) % 5 ? FIXTURE_PLAIN : FIXTURE_SLICED};
    CHECK(fixture_open_with(&f, &options));
    weir_socket socket = weir_socket_open(f.weir, WEIR_DATAGRAM, 0);
    CHECK(socket > 0 && weir_socket_bind(f.weir, socket, &(struct weir_endpoint){ours, PORT}) == WEIR_OK);
    for (uint32_t n = 0; n < 512 && in.left >= 6; n++) {
        uint8_t id = take8(&in);
        uint32_t offset = (uint32_t)(take16(&in) & 0x1fff) * 8, length = take16(&in) & 0x7ff;
        uint8_t time = take8(&in);
        send_fragment(&f, id % DATAGRAMS, offset, length, id & 0x80);
        read_all(&f, socket);
        if (time & 0x80)
            fixture_poll(&f, (uint64_t)(time & 0x7f) * 1000000);
        fixture_clear(&f);
    }
    fixture_close(&f);
    return 0;
}
