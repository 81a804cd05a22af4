// SPDX-License-Identifier: BSD-2-Clause
// Multicast DNS: messages are read the same way twice, and a host that answers and asks stays whole. The input is a row
// of messages, each behind two octets of length; bit 15: from a resolver of old, bit 14: by unicast, bit 13: two
// seconds pass first.
#include "apps/mdns/link.h"
#include "fuzz.h"

static struct link link_;
static struct mdns_service web = {.name = "Web", .type = "_http._tcp", .port = 80};
static struct mdns_browse browse;
static struct mdns_resolve resolve;

static void changed(struct mdns_resolve *self, void *context)
{
    (void)context;
    CHECK(self->text_length <= MDNS_TXT_KEPT && self->lookup.count <= MDNS_LOOKUP_ADDRESSES);
}

static void found(struct mdns_browse *self, const struct mdns_name *instance, bool added, void *context)
{
    char text[64];
    (void)context;
    mdns_name_print(instance, text, sizeof text);
    if (added) {
        mdns_resolve_stop(&resolve);
        mdns_resolve_start(self->query.mdns, &resolve, instance, changed, NULL);
    }
}

// What is valid can be read to its end, and written again.
static void read_all(const uint8_t *bytes, uint32_t length)
{
    struct mdns_reader reader;
    struct mdns_question question;
    struct mdns_record record;
    uint8_t room[MDNS_DATA_ROOM];
    uint32_t data_length;
    if (!mdns_valid(bytes, length))
        return;
    CHECK(mdns_read_begin(&reader, bytes, length));
    while (mdns_read_question(&reader, &question))
        CHECK(mdns_name_equal(&question.name, &question.name));
    while (mdns_read_record(&reader, &record))
        CHECK(mdns_read_data(bytes, length, &record, room, &data_length) != NULL);
    CHECK(reader.left[0] + reader.left[1] + reader.left[2] + reader.left[3] == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bytes in = {data, (uint32_t)size};
    struct message m;
    link_open_bare(&link_, "kitchen");
    memset(&resolve, 0, sizeof resolve);
    CHECK(mdns_publish(&link_.mdns, &web) == WEIR_OK);
    CHECK(mdns_browse_start(&link_.mdns, &browse, "_ipp._tcp", found, NULL) == WEIR_OK);
    bench_run(&link_.b, 300000);
    while (in.left > 2) {
        const uint32_t how = take16(&in);
        uint32_t length = how & 0x1fff;
        const uint8_t *bytes = take(&in, &length);
        uint8_t *message = exact_copy(bytes, length);
        read_all(message, length);
        if (how & 0x2000)
            bench_run(&link_.b, 2 * SECOND);
        if (length > 0 && length <= 1400)
            link_input(&link_, message, length, OTHER, how & 0x4000 ? weir_ip4(10, 0, 0, 1) : GROUP,
                       how & 0x8000 ? 40000 : MDNS_PORT);
        free(message);
        CHECK(link_.mdns.cache_used <= sizeof link_.cache);
        while (link_next(&link_, &m))
            CHECK(m.length <= MDNS_MESSAGE_MAX);
    }
    bench_run(&link_.b, 5 * SECOND);
    mdns_resolve_stop(&resolve);
    mdns_browse_stop(&browse);
    link_close(&link_);
    return 0;
}
