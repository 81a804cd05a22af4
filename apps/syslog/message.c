// SPDX-License-Identifier: BSD-2-Clause
#include "syslog/message.h"

#include <stdbool.h>
#include <stddef.h>

#include "calendar.h"
#include "text.h"

#define FACILITIES 24u

// Printable ASCII without blanks; of a name in structured data (§6.3.3) also not what ends it.
static bool fits(char c, bool name) { return c > ' ' && c <= '~' && (!name || (c != '=' && c != ']' && c != '"')); }

static void put_field(struct text *text, const char *field, uint32_t most, bool name)
{
    if (field == NULL || field[0] == '\0') {
        text_char(text, name ? '?' : '-');
        return;
    }
    for (uint32_t i = 0; i < most && field[i] != '\0'; i++)
        text_char(text, fits(field[i], name) ? field[i] : '?');
}

static void put_time(struct text *text, uint64_t unix_us)
{
    struct calendar time;
    if (!calendar_of(unix_us, &time)) {
        text_char(text, '-');
        return;
    }
    text_padded(text, time.year, 4);
    text_char(text, '-');
    text_padded(text, time.month, 2);
    text_char(text, '-');
    text_padded(text, time.day, 2);
    text_char(text, 'T');
    text_clock(text, time.hour, time.minute, time.second);
    text_char(text, '.');
    text_padded(text, (uint32_t)(unix_us % 1000000), 6);
    text_char(text, 'Z');
}

// §6.3.3: a quote, a backslash and a bracket are escaped.
static void put_value(struct text *text, const char *value)
{
    for (; value != NULL && *value != '\0'; value++) {
        if (*value == '"' || *value == '\\' || *value == ']')
            text_char(text, '\\');
        text_char(text, (uint8_t)*value < ' ' || *value == 0x7f ? ' ' : *value);
    }
}

static void put_data(struct text *text, const struct syslog_message *message)
{
    if (message->data_id == NULL) {
        text_char(text, '-');
        return;
    }
    text_char(text, '[');
    put_field(text, message->data_id, SYSLOG_NAME_MAX, true);
    for (uint32_t i = 0; i < message->parameter_count; i++) {
        text_char(text, ' ');
        put_field(text, message->parameters[i].name, SYSLOG_NAME_MAX, true);
        text_put(text, "=\"");
        put_value(text, message->parameters[i].value);
        text_char(text, '"');
    }
    text_char(text, ']');
}

uint32_t syslog_emit(const struct syslog_message *message, char *out, uint32_t room)
{
    struct text text;
    if (message->facility >= FACILITIES || message->severity > SYSLOG_DEBUG || room == 0)
        return 0;
    text_init(&text, out, room);
    text_char(&text, '<');
    text_u64(&text, message->facility * 8u + message->severity);
    text_put(&text, ">1 ");
    put_time(&text, message->unix_us);
    text_char(&text, ' ');
    put_field(&text, message->host, SYSLOG_HOST_MAX, false);
    text_char(&text, ' ');
    put_field(&text, message->app, SYSLOG_APP_MAX, false);
    text_char(&text, ' ');
    put_field(&text, message->process, SYSLOG_PROCESS_MAX, false);
    text_char(&text, ' ');
    put_field(&text, message->id, SYSLOG_ID_MAX, false);
    text_char(&text, ' ');
    put_data(&text, message);
    if (text.cut)
        return 0;
    if (message->text_bytes > 0)
        text_char(&text, ' ');
    for (uint32_t i = 0; i < message->text_bytes && !text.cut; i++)
        text_char(&text, (uint8_t)message->text[i] < ' ' || message->text[i] == 0x7f ? ' ' : message->text[i]);
    return text.length;
}
