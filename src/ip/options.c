// SPDX-License-Identifier: BSD-2-Clause
#include "ip/options.h"

#include "instance.h"
#include "link/address.h"

#define OPTION_COPIED 0x80u    // RFC 791 §3.1: also in the fragments after the first
#define OPTION_ROUTE 7u        // record route: length, pointer, addresses
#define OPTION_TIMES 68u       // internet timestamp: length, pointer, overflow and flag, times
#define OTHER_TIME (1u << 31)  // of a time that is not of the day: any may stand there (RFC 791 §3.1)
#define OVERFLOW_ONE 0x10u     // in the upper half of the byte: hosts that found no room
enum times_flag { TIMES_ALONE = 0, TIMES_WITH_ADDRESSES = 1, TIMES_OF_GIVEN = 3 };

static uint32_t option_bytes(const uint8_t *option) { return *option == IP4_OPTION_NOP ? 1 : option[1]; }

// --- records of the way and of times (RFC 791 §3.1) ------------------------------------------------------------------

// Bytes of one entry of a record; 0: it is none, or no sound one. A pointer counts from 1, and is past the end of a
// record that is full.
static uint32_t entry_bytes(const uint8_t *option)
{
    const bool route = option[0] == OPTION_ROUTE;
    const uint32_t length = option[1], head = route ? 3 : 4;
    if ((!route && option[0] != OPTION_TIMES) || length < head || option[2] <= head)
        return 0;
    const uint32_t flag = route ? TIMES_ALONE : option[3] & 15u,
                   bytes = flag == TIMES_ALONE                                      ? 4
                           : flag == TIMES_WITH_ADDRESSES || flag == TIMES_OF_GIVEN ? 8
                                                                                    : 0;
    return option[2] > length || option[2] - 1u + bytes <= length ? bytes : 0;
}

static void entry_write(const struct weir *weir, uint8_t *option, uint32_t bytes, uint32_t address)
{
    uint8_t *const entry = option + option[2] - 1;
    const bool given = option[0] == OPTION_TIMES && (option[3] & 15u) == TIMES_OF_GIVEN;
    if (given && !ip_is_ours(weir, weir_addr_v4(get32(entry))))
        return;  // it is another host's turn
    if (option[0] == OPTION_ROUTE || (bytes == 8 && !given))
        put32(entry, address);
    if (option[0] == OPTION_TIMES)
        put32(entry + bytes - 4, weir->now_ms | OTHER_TIME);
    option[2] = (uint8_t)(option[2] + bytes);
}

// A packet is at this host: what records that, does.
static void record(const struct weir *weir, uint8_t *options, uint32_t length, uint32_t address)
{
    for (uint32_t at = 0; at < length && options[at] != IP4_OPTION_END; at += option_bytes(options + at)) {
        uint8_t *const option = options + at;
        const uint32_t bytes = *option == IP4_OPTION_NOP ? 0 : entry_bytes(option);
        if (!bytes)
            continue;
        if (option[2] <= option[1])
            entry_write(weir, option, bytes, address);
        else if (option[0] == OPTION_TIMES && option[3] < 15 * OVERFLOW_ONE)
            option[3] = (uint8_t)(option[3] + OVERFLOW_ONE);
    }
}

// --- from programs, and for them -------------------------------------------------------------------------------------

static bool records_sound(const uint8_t *options, uint32_t length)
{
    for (uint32_t at = 0; at < length && options[at] != IP4_OPTION_END; at += option_bytes(options + at))
        if ((options[at] == OPTION_ROUTE || options[at] == OPTION_TIMES) && !entry_bytes(options + at))
            return false;
    return true;
}

int ip4_options_take(struct weir_ip_options *options, const uint8_t *bytes, uint32_t length)
{
    if (length > WEIR_IP_OPTIONS_MAX || !ip4_options_acceptable(bytes, length) || !records_sound(bytes, length))
        return WEIR_INVALID;
    struct weir_ip_options padded = {.length = (uint8_t)((length + 3) & ~3u)};
    if (length)
        memcpy(padded.bytes, bytes, length);
    *options = padded;
    return WEIR_OK;
}

void ip4_options_note(struct weir_ip_options *options, const struct packet *packet)
{
    options->length = 0;
    if (!weir_addr_is_v4(packet->source) || packet->network_length <= IP4_BYTES)
        return;
    options->length = (uint8_t)min_u32(packet->network_length - IP4_BYTES, WEIR_IP_OPTIONS_MAX);
    memcpy(options->bytes, packet->network + IP4_BYTES, options->length);
    record(packet->netif->weir, options->bytes, options->length, weir_addr_to_v4(packet->destination));
}

// --- in headers ------------------------------------------------------------------------------------------------------

// What is not copied gives way to options that say nothing, so that all headers of a datagram are of one length.
static void uncopied_clear(uint8_t *options, uint32_t length)
{
    for (uint32_t at = 0; at < length && options[at] != IP4_OPTION_END;) {
        const uint32_t bytes = option_bytes(options + at);
        if (!(options[at] & OPTION_COPIED))
            memset(options + at, IP4_OPTION_NOP, bytes);
        at += bytes;
    }
}

void ip4_options_emit(const struct weir_netif *netif, uint8_t *bytes, const struct ip_out *ip, bool later)
{
    const uint32_t length = ip->options->length;
    memcpy(bytes + IP4_BYTES, ip->options->bytes, length);
    if (later)
        uncopied_clear(bytes + IP4_BYTES, length);
    else
        record(netif->weir, bytes + IP4_BYTES, length, weir_addr_to_v4(ip->source));
    bytes[0] = (uint8_t)(0x40 + (IP4_BYTES + length) / 4);
    put16(bytes + 10, 0);
    checksum_put(bytes + 10, checksum_sum_portable(bytes, IP4_BYTES + length));
}
