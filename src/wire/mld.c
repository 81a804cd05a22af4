// SPDX-License-Identifier: BSD-2-Clause
#include "wire/mld.h"

#define V2_QUERY_BYTES 28u

// RFC 9777 §5.1.3: from 32768 up, a number of 12 bits with an exponent of three.
static uint32_t response_ms(uint32_t code)
{
    const uint32_t shift = (code >> 12 & 7) + 3;
    return code < 0x8000 ? code : ((code & 0xfff) | 0x1000) << shift;
}

// §5.1.9: from 128 up, a number of four bits with an exponent of three.
static uint32_t interval_s(uint32_t code)
{
    const uint32_t shift = (code >> 4 & 7) + 3;
    return code < 0x80 ? code : ((code & 0xf) | 0x10) << shift;
}

// §8.1: the version is told by the length. What is between the two is none.
static bool query_parse(const uint8_t *bytes, uint32_t length, struct mld *out)
{
    out->max_response_ms = get16(bytes + 4);
    out->version = 1;
    if (length == MLD_V1_BYTES)
        return true;
    if (length < V2_QUERY_BYTES)
        return false;
    out->version = 2;
    out->max_response_ms = response_ms(get16(bytes + 4));
    out->robustness = bytes[24] & 7;
    out->interval_s = interval_s(bytes[25]);
    out->source_count = get16(bytes + 26);
    out->sources = bytes + V2_QUERY_BYTES;
    return out->source_count <= (length - V2_QUERY_BYTES) / IP6_ADDRESS_BYTES;
}

bool mld_parse(const uint8_t *bytes, uint32_t length, const struct icmp6_arrival *arrival, struct mld *out)
{
    if (length < MLD_V1_BYTES || arrival->hop_limit != MLD_HOP_LIMIT || !arrival->router_alert)
        return false;
    if (!ip6_is_link_local(arrival->source))
        return false;
    *out = (struct mld){.type = bytes[0], .group = bytes + 8};
    if (out->type == ICMP6_MLD_REPORT_V1)
        return ip6_is_multicast(out->group);
    if (out->type != ICMP6_MLD_QUERY || !query_parse(bytes, length, out))
        return false;
    return ip6_is_multicast(out->group) || ip6_is_unspecified(out->group);
}

bool mld_is_reported(const uint8_t *group)
{
    static const uint8_t everybody[IP6_ADDRESS_BYTES] = {0xff, 2, [15] = 1};
    return ip6_is_multicast(group) && (group[1] & 0x0f) >= IP6_SCOPE_LINK && !ip6_equal(group, everybody);
}

void mld_report_begin(struct mld_report *report, uint8_t *bytes, uint32_t room)
{
    *report = (struct mld_report){.bytes = bytes, .room = room, .length = MLD_REPORT_BYTES};
    icmp6_emit(bytes, &(struct icmp6){.type = ICMP6_MLD_REPORT_V2});
}

bool mld_report_add(struct mld_report *report, const struct mld_record *record)
{
    const uint32_t left = report->room - report->length, count = record->source_count;
    uint8_t *at = report->bytes + report->length;
    if (left < MLD_RECORD_BYTES || count > (left - MLD_RECORD_BYTES) / IP6_ADDRESS_BYTES)
        return false;
    put32(at, (uint32_t)record->type << 24 | count);
    memcpy(at + 4, record->group, IP6_ADDRESS_BYTES);
    if (count)
        memcpy(at + MLD_RECORD_BYTES, record->sources, (size_t)count * IP6_ADDRESS_BYTES);
    report->length += MLD_RECORD_BYTES + count * IP6_ADDRESS_BYTES;
    put16(report->bytes + 6, ++report->records);
    return true;
}

void mld_v1_emit(uint8_t bytes[MLD_V1_BYTES], enum icmp6_type type, const uint8_t *group)
{
    icmp6_emit(bytes, &(struct icmp6){.type = (uint8_t)type});
    memcpy(bytes + ICMP6_BYTES, group, IP6_ADDRESS_BYTES);
}

void mld_alert_emit(uint8_t bytes[MLD_ALERT_BYTES])
{
    static const uint8_t header[MLD_ALERT_BYTES] = {IP6_ICMP, 0, 5, 2, 0, 0, 1, 0};
    memcpy(bytes, header, sizeof header);
}
