// SPDX-License-Identifier: BSD-2-Clause
// The resolver's reading of answers. The first byte chooses whether the question is put in place of the input's first
// bytes, so that the answer's records are reached.
#include "dns/message.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!size)
        return 0;
    struct bytes in = {data, (uint32_t)size};
    uint8_t choice = take8(&in);
    struct dns_question question = {
        .id = 0x1234, .type = choice & 4 ? DNS_AAAA : DNS_A, .extended = choice >> 1 & 1, .name = "wWw.eXample.org"};
    uint8_t asked[DNS_UDP_MAX];
    uint32_t head = choice & 1 ? dns_query_emit(&question, asked, sizeof asked) : 0;
    uint8_t *message = exact_copy(in.at, in.left);
    if (head && in.left >= head) {
        uint8_t counts[6];
        memcpy(counts, message + 6, sizeof counts);  // the input's counts of records stay
        memcpy(message, asked, head);
        message[2] |= 0x80;
        message[3] = (uint8_t)(choice >> 4);
        memcpy(message + 6, counts, sizeof counts);
    }
    struct dns_answer answer = {0};
    if (dns_answer_parse(message, in.left, &question, &answer) == DNS_FOUND)
        CHECK(answer.count >= 1 && answer.count <= DNS_ADDRESSES && answer.ttl_s <= DNS_TTL_MAX_S);
    char name[DNS_NAME_MAX + 1];
    uint32_t end;
    for (uint32_t at = 0; at < in.left && at < 64; at++)
        if (dns_name_read(message, in.left, at, name, &end))
            CHECK(end > at && end <= in.left && strlen(name) <= DNS_NAME_MAX);
    free(message);
    return 0;
}
