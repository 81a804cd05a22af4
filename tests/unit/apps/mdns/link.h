// SPDX-License-Identifier: BSD-2-Clause
// A host with multicast DNS on a link whose other hosts are the test: it sends what it likes, and reads what was sent.
#ifndef TESTS_MDNS_LINK_H
#define TESTS_MDNS_LINK_H

#include "apps/bench.h"

#include <stdlib.h>

#include "mdns/query.h"

#define SECOND 1000000u
#define GROUP weir_ip4(224, 0, 0, 251)
#define OTHER weir_ip4(10, 0, 0, 2)
#define THIRD weir_ip4(10, 0, 0, 3)

struct link {
    struct bench b;
    struct mdns mdns;
    uint8_t cache[2048];
    uint32_t seen;      // frames looked at
    char names[8][64];  // what `named` said
    uint32_t named_count;
};

// A message that the host sent.
struct message {
    const uint8_t *bytes;
    uint32_t length;
    uint64_t sent_us;
    struct weir_addr to;
    uint16_t port, flags, id;
    uint8_t ttl;
};

static inline struct mdns_name text_name(const char *text)
{
    struct mdns_name name;
    mdns_name_root(&name);
    assert_true(mdns_name_text(&name, text));
    return name;
}

static inline void link_named(struct mdns *mdns, struct mdns_service *service, const char *label, void *context)
{
    struct link *link = context;
    (void)mdns, (void)service;
    if (link->named_count < 8)
        strcpy(link->names[link->named_count], label);
    link->named_count++;
}

static inline void link_open_bare(struct link *link, const char *host)
{
    memset(link, 0, sizeof *link);
    bench_open(&link->b);
    fixture_know_peer(&link->b.f, OTHER);
    const struct mdns_config config = {
        .host = host, .named = link_named, .context = link, .cache = link->cache, .cache_bytes = sizeof link->cache};
    assert_int_equal(mdns_start(&link->mdns, &link->b.loop, &link->b.f.netif, &config), WEIR_OK);
}

static inline void link_forget(struct link *link)
{
    fixture_clear(&link->b.f);
    link->seen = 0;
}

// The next message of multicast DNS that was sent. false: none is left.
static inline bool link_next(struct link *link, struct message *message)
{
    while (link->seen < fixture_sent_count(&link->b.f)) {
        const struct fixture_frame *frame = fixture_sent_frame(&link->b.f, link->seen);
        uint32_t length;
        const uint8_t *packet = fixture_sent_packet(&link->b.f, link->seen++, &length);
        if (packet[0] != 0x45 || packet[9] != 17 || (packet[20] << 8 | packet[21]) != MDNS_PORT)
            continue;
        *message = (struct message){.bytes = packet + 28,
                                    .length = (uint32_t)(packet[24] << 8 | packet[25]) - 8,
                                    .sent_us = frame->sent_us,
                                    .to = weir_ip4(packet[16], packet[17], packet[18], packet[19]),
                                    .port = (uint16_t)(packet[22] << 8 | packet[23]),
                                    .ttl = packet[8]};
        assert_true(mdns_valid(message->bytes, message->length));
        message->flags = mdns_flags(message->bytes);
        message->id = (uint16_t)(message->bytes[0] << 8 | message->bytes[1]);
        assert_int_equal(message->ttl, 255);
        return true;
    }
    return false;
}

// How often a record is in a message: by name, type and section (0: any). *out gets the last one.
static inline uint32_t records_in(const struct message *message, const char *text, uint16_t type, uint32_t section,
                                  struct mdns_record *out)
{
    const struct mdns_name name = text_name(text);
    struct mdns_reader reader;
    struct mdns_record record;
    uint32_t count = 0;
    if (out != NULL)
        memset(out, 0, sizeof *out);
    assert_true(mdns_read_begin(&reader, message->bytes, message->length));
    while (mdns_read_record(&reader, &record)) {
        if (record.type != type || !mdns_name_equal(&record.name, &name) || (section != 0 && record.section != section))
            continue;
        if (out != NULL)
            *out = record;
        count++;
    }
    return count;
}

static inline uint32_t records_of(const struct message *message, uint32_t section)
{
    return (uint32_t)(message->bytes[4 + 2 * section] << 8 | message->bytes[5 + 2 * section]);
}

// --- what others send ------------------------------------------------------------------------------------------------

struct other {
    uint8_t bytes[MDNS_PACKET_MAX];
    struct mdns_writer writer;
    struct weir_addr from, to;  // OTHER, to the group
    uint16_t port;              // 5353
};

static inline void other_begin(struct other *other, uint16_t flags)
{
    other->from = OTHER;
    other->to = GROUP;
    other->port = MDNS_PORT;
    mdns_write_begin(&other->writer, other->bytes, sizeof other->bytes, 0, flags);
}

static inline void other_ask(struct other *other, const char *text, uint16_t type, uint16_t class)
{
    const struct mdns_question question = {text_name(text), type, class};
    assert_true(mdns_write_question(&other->writer, &question));
}

static inline void other_record(struct other *other, uint32_t section, const char *text, uint16_t type, uint16_t class,
                                uint32_t ttl_s, const void *data, uint32_t length)
{
    const struct mdns_name name = text_name(text);
    const struct mdns_data bytes = {.head = data, .head_length = length};
    assert_true(mdns_write_record(&other->writer, section, &name, type, class, ttl_s, &bytes));
}

static inline void other_a(struct other *other, uint32_t section, const char *text, uint16_t class, uint32_t ttl_s,
                           uint8_t last)
{
    const uint8_t address[4] = {10, 0, 0, last};
    other_record(other, section, text, MDNS_A, class, ttl_s, address, 4);
}

static inline void other_ptr(struct other *other, uint32_t section, const char *text, uint32_t ttl_s, const char *to)
{
    const struct mdns_name name = text_name(text), target = text_name(to);
    const struct mdns_data data = {.name = &target};
    assert_true(mdns_write_record(&other->writer, section, &name, MDNS_PTR, MDNS_IN, ttl_s, &data));
}

static inline void other_srv(struct other *other, uint32_t section, const char *text, uint16_t class, uint32_t ttl_s,
                             uint16_t port, const char *to)
{
    const struct mdns_name name = text_name(text), target = text_name(to);
    const uint8_t head[6] = {0, 0, 0, 0, (uint8_t)(port >> 8), (uint8_t)port};
    const struct mdns_data data = {.head = head, .head_length = 6, .name = &target};
    assert_true(mdns_write_record(&other->writer, section, &name, MDNS_SRV, class, ttl_s, &data));
}

static inline void link_input(struct link *link, const void *bytes, uint32_t length, struct weir_addr from,
                              struct weir_addr to, uint16_t port)
{
    uint8_t *udp = malloc(length + 8);
    put16(udp, port);
    put16(udp + 2, MDNS_PORT);
    put16(udp + 4, (uint16_t)(length + 8));
    put16(udp + 6, 0);
    memcpy(udp + 8, bytes, length);
    fixture_input_ip4(&link->b.f, from, to, 17, udp, length + 8);
    free(udp);
    bench_run(&link->b, 0);
}

static inline void other_send(struct other *other, struct link *link)
{
    const uint32_t length = mdns_write_end(&other->writer);
    link_input(link, other->bytes, length, other->from, other->to, other->port);
}

// A host that is there, with all announcements over and forgotten, and time enough passed for any limit.
static inline void link_open(struct link *link, const char *host)
{
    link_open_bare(link, host);
    bench_run(&link->b, 10 * SECOND);
    link_forget(link);
}

static inline void link_close(struct link *link)
{
    mdns_stop(&link->mdns);
    bench_run(&link->b, SECOND);
    bench_close(&link->b);
}

// Fills the socket's queue for three seconds, with a datagram to nobody. Skips the test where a queue has the size that
// it was built with.
static inline void link_block(struct link *link)
{
    static const uint8_t bytes[400];
    const struct weir_message nobody = {.peer = {weir_ip4(10, 0, 0, 99), 9}};
    const struct weir_slice slice = {bytes, sizeof bytes};
    struct weir *const weir = link->b.f.weir;
    const int set = weir_socket_set(weir, link->mdns.socket, WEIR_OPTION_SEND_BUFFER, 512);
    if (set == WEIR_NOT_SUPPORTED) {
        link_close(link);
        skip();
    }
    assert_int_equal(set, WEIR_OK);
    assert_int_equal(weir_socket_send_message(weir, link->mdns.socket, &nobody, &slice, 1), sizeof bytes);
}

#endif
