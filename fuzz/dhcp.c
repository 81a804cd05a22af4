// SPDX-License-Identifier: BSD-2-Clause
// The DHCP client's reading of messages. An odd first byte puts the fixed part and the magic cookie in place.
#include "dhcp/message.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!size)
        return 0;
    uint32_t length = (uint32_t)size - 1;
    uint8_t *bytes = exact_copy(data + 1, length);
    if ((data[0] & 1) && length >= 240) {
        memcpy(bytes, (const uint8_t[]){2, 1, 6, 0}, 4);
        memcpy(bytes + 236, (const uint8_t[]){99, 130, 83, 99}, 4);
    }
    struct dhcp_message message;
    memset(&message, 0, sizeof message);
    if (dhcp_parse(bytes, length, &message)) {
        CHECK(memchr(message.domain, 0, sizeof message.domain) != NULL);
        CHECK(message.routers.count <= DHCP_SERVERS && message.dns.count <= DHCP_SERVERS &&
              message.ntp.count <= DHCP_SERVERS);
        CHECK(message.mtu == 0 || message.mtu >= 68);
        (void)dhcp_address_usable(message.yiaddr, message.mask);
        CHECK(dhcp_mask_bits(message.mask) <= 32);
        uint8_t again[DHCP_MESSAGE_MAX];
        CHECK(dhcp_emit(&message, again, sizeof again) >= DHCP_MESSAGE_MIN);
    }
    free(bytes);
    return 0;
}
