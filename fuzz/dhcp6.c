// SPDX-License-Identifier: BSD-2-Clause
// The DHCPv6 client's reading of messages. The first byte chooses whether the input's identity of an IA is the one that
// is asked for.
#include "dhcp6/message.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!size)
        return 0;
    const uint32_t length = (uint32_t)size - 1, iaid = data[0] & 1 ? 0x01020304u : 0;
    uint8_t *bytes = exact_copy(data + 1, length);
    struct dhcp6_message message;
    if (dhcp6_parse(bytes, length, iaid, &message)) {
        CHECK(memchr(message.domain, 0, sizeof message.domain) != NULL);
        CHECK(message.client.length <= DHCP6_DUID_MAX && message.server.length <= DHCP6_DUID_MAX);
        CHECK(message.dns_count <= DHCP6_SERVERS && message.address_count <= DHCP6_ADDRESSES);
        CHECK(!message.t2_s || message.t1_s <= message.t2_s);
        CHECK(!message.sol_max_rt_s || (message.sol_max_rt_s >= 60 && message.sol_max_rt_s <= 86400));
        for (uint32_t i = 0; i < message.address_count; i++)
            CHECK(message.addresses[i].preferred_s <= message.addresses[i].valid_s);
        uint8_t again[DHCP6_MESSAGE_MAX];
        const uint32_t again_length = dhcp6_emit(&message, again, sizeof again);
        CHECK(again_length > 0);
        struct dhcp6_message same;
        CHECK(dhcp6_parse(again, again_length, iaid, &same));
        CHECK(same.address_count == (message.ia ? message.address_count : 0));
    }
    free(bytes);
    return 0;
}
