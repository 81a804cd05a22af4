// SPDX-License-Identifier: BSD-2-Clause
#include "tftp/packet.h"

#include <string.h>

#include "bytes.h"
#include "text.h"

// --- parse -----------------------------------------------------------------------------------------------------------

// A string that ends within the packet: its length without the NUL; UINT32_MAX: it does not end.
static uint32_t string_length(const uint8_t *bytes, uint32_t room)
{
    const uint8_t *end = room > 0 ? memchr(bytes, 0, room) : NULL;
    return end != NULL ? (uint32_t)(end - bytes) : UINT32_MAX;
}

static bool number_take(const char *text, uint32_t length, uint64_t min, uint64_t max, uint64_t *out)
{
    return length > 0 && text_read_u64(text, length, max, out) == length && *out >= min;
}

// One option of an OACK. Names compare without case (RFC 2347).
static bool option_take(const char *name, uint32_t name_length, const char *value, uint32_t value_length,
                        struct tftp_options *options)
{
    uint64_t number;
    if (text_equal_nocase(name, name_length, "blksize") && options->block_bytes == 0 &&
        number_take(value, value_length, TFTP_BLOCK_MIN, TFTP_BLOCK_MAX, &number)) {
        options->block_bytes = (uint16_t)number;
        return true;
    }
    if (text_equal_nocase(name, name_length, "windowsize") && options->window == 0 &&
        number_take(value, value_length, 1, UINT16_MAX, &number)) {
        options->window = (uint16_t)number;
        return true;
    }
    if (text_equal_nocase(name, name_length, "tsize") && !options->has_size &&
        number_take(value, value_length, 0, INT64_MAX, &options->size)) {
        options->has_size = true;
        return true;
    }
    return false;
}

static bool options_parse(const uint8_t *bytes, uint32_t length, struct tftp_options *options)
{
    while (length > 0) {
        const uint32_t name = string_length(bytes, length);
        if (name == UINT32_MAX)
            return false;
        const uint32_t value = string_length(bytes + name + 1, length - name - 1);
        if (value == UINT32_MAX ||
            !option_take((const char *)bytes, name, (const char *)bytes + name + 1, value, options))
            return false;
        bytes += name + value + 2;
        length -= name + value + 2;
    }
    return true;
}

bool tftp_parse(const uint8_t *bytes, uint32_t length, struct tftp_packet *packet)
{
    *packet = (struct tftp_packet){0};
    if (length < 2 || bytes[0] != 0)
        return false;
    packet->opcode = bytes[1];
    if (packet->opcode == TFTP_OACK)
        return options_parse(bytes + 2, length - 2, &packet->options);
    if (packet->opcode < TFTP_DATA || packet->opcode > TFTP_ERROR || length < TFTP_HEADER_BYTES)
        return false;
    packet->number = get16(bytes + 2);
    packet->data = bytes + TFTP_HEADER_BYTES;
    packet->length = length - TFTP_HEADER_BYTES;
    return true;
}

void tftp_error_text(const struct tftp_packet *packet, char out[TFTP_ERROR_TEXT_MAX])
{
    struct text text;
    text_init(&text, out, TFTP_ERROR_TEXT_MAX);
    for (uint32_t i = 0; i < packet->length && packet->data[i] != 0 && !text.cut; i++)
        text_char(&text, packet->data[i] >= ' ' && packet->data[i] <= '~' ? (char)packet->data[i] : '?');
}

// --- emit ------------------------------------------------------------------------------------------------------------

static void emit_option(struct text *text, const char *name, uint64_t value)
{
    text_put(text, name);
    text_char(text, '\0');
    text_u64(text, value);
    text_char(text, '\0');
}

uint32_t tftp_emit_request(uint8_t out[TFTP_REQUEST_MAX], uint8_t opcode, const char *file,
                           const struct tftp_options *options)
{
    struct text text;
    const uint32_t length = text_length(file);
    if (length == 0 || length > TFTP_NAME_MAX)
        return 0;
    text_init(&text, (char *)out, TFTP_REQUEST_MAX);
    text_char(&text, '\0');
    text_char(&text, (char)opcode);
    text_bytes(&text, file, length + 1);
    text_bytes(&text, "octet", 6);
    if (options->block_bytes != 0)
        emit_option(&text, "blksize", options->block_bytes);
    if (options->window != 0)
        emit_option(&text, "windowsize", options->window);
    if (options->has_size)
        emit_option(&text, "tsize", options->size);
    return text.cut ? 0 : text.length;
}
