// SPDX-License-Identifier: BSD-2-Clause
// iperf3's JSON as a peer sends it.
#include "fuzz.h"
#include "iperf3/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = (char *)exact_copy(data, (uint32_t)size);
    struct json value, member, element;
    if (json_read(text, (uint32_t)size, &value)) {
        CHECK(value.text >= text && value.text + value.length <= text + size);
        if (json_member(value, "streams", &member)) {
            uint32_t cursor = 0;
            for (int n = 0; n < 1000 && json_element(member, &cursor, &element); n++)
                (void)json_get(element, "bytes", 0, 0);
        }
        int64_t number;
        char word[16];
        (void)json_number(value, 6, &number);
        (void)json_get(value, "time", 6, -1);
        (void)json_get_true(value, "udp");
        if (json_string(value, word, sizeof word))
            CHECK(memchr(word, 0, sizeof word) != NULL);
    }
    free(text);
    return 0;
}
