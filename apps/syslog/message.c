// SPDX-License-Identifier: BSD-2-Clause
#include "syslog/message.h"

#include <stdbool.h>
#include <stddef.h>

#include "text.h"

#define FACILITIES 24u
#define DAY_S 86400u

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

// At most eight digits, with zeros in front.
static void put_padded(struct text *text, uint32_t value, uint32_t digits)
{
    char out[8];
    for (uint32_t i = digits; i > 0; value /= 10)
        out[--i] = (char)('0' + value % 10);
    text_bytes(text, out, digits);
}

// The day of the Gregorian calendar, counted from March of the year 0: so a leap day ends its year.
static void put_date(struct text *text, uint32_t days_since_1970)
{
    const uint32_t days = days_since_1970 + 719468, era = days / 146097, day_of_era = days % 146097;
    const uint32_t year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    const uint32_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    const uint32_t march_month = (5 * day_of_year + 2) / 153,
                   month = march_month < 10 ? march_month + 3 : march_month - 9;
    put_padded(text, era * 400 + year_of_era + (month <= 2), 4);
    text_char(text, '-');
    put_padded(text, month, 2);
    text_char(text, '-');
    put_padded(text, day_of_year - (153 * march_month + 2) / 5 + 1, 2);
}

static void put_time(struct text *text, uint64_t unix_us)
{
    const uint64_t seconds = unix_us / 1000000;
    const uint32_t of_day = (uint32_t)(seconds % DAY_S);
    if (unix_us == 0 || seconds / DAY_S > 2932896) {  // the year 9999 ends
        text_char(text, '-');
        return;
    }
    put_date(text, (uint32_t)(seconds / DAY_S));
    text_char(text, 'T');
    put_padded(text, of_day / 3600, 2);
    text_char(text, ':');
    put_padded(text, of_day / 60 % 60, 2);
    text_char(text, ':');
    put_padded(text, of_day % 60, 2);
    text_char(text, '.');
    put_padded(text, (uint32_t)(unix_us % 1000000), 6);
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
