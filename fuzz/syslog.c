// SPDX-License-Identifier: BSD-2-Clause
// Syslog messages made of anything: each field is the bytes up to the next NUL. Whatever they are the message has its
// seven fields, no control characters and no more bytes than there is room for.
#include "fuzz.h"
#include "syslog/message.h"

#define ROOM 1024u

static const char *string(const char **at, const char *end)
{
    const char *const found = *at;
    *at = memchr(found, 0, (size_t)(end - found));
    *at = *at != NULL ? *at + 1 : end;
    return found < end ? found : NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bytes in = {data, (uint32_t)size};
    const uint8_t facility = take8(&in), severity = take8(&in);
    const uint32_t room = take16(&in) % ROOM + 1;
    const uint64_t unix_us = (uint64_t)take16(&in) << 48 | (uint64_t)take16(&in) << 32 | take16(&in);
    char *const text = (char *)malloc(in.left + 1u);
    CHECK(text != NULL);
    memcpy(text, in.at, in.left);
    text[in.left] = '\0';
    const char *at = text, *const end = text + in.left;
    struct syslog_message message = {.facility = facility, .severity = severity, .unix_us = unix_us};
    message.host = string(&at, end);
    message.app = string(&at, end);
    message.process = string(&at, end);
    message.id = string(&at, end);
    message.data_id = string(&at, end);
    const struct syslog_parameter parameter = {string(&at, end), string(&at, end)};
    message.parameters = &parameter;
    message.parameter_count = 1;
    message.text = at;
    message.text_bytes = (uint32_t)(end - at);
    char *const out = (char *)malloc(room);
    CHECK(out != NULL);
    const uint32_t length = syslog_emit(&message, out, room);
    CHECK(length < room + (length == 0));
    uint32_t blanks = 0;
    for (uint32_t i = 0; i < length; i++) {
        CHECK((uint8_t)out[i] >= ' ' && out[i] != 0x7f);
        blanks += out[i] == ' ';
    }
    CHECK(length == 0 || (out[0] == '<' && blanks >= 6));
    free(out);
    free(text);
    return 0;
}
