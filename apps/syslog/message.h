// SPDX-License-Identifier: BSD-2-Clause
// Syslog messages (RFC 5424), pure: values in, text out, whatever the values are.
#ifndef APPS_SYSLOG_MESSAGE_H
#define APPS_SYSLOG_MESSAGE_H

#include "weir/linkage/syslog.h"

#include <stdint.h>

WEIR_BEGIN_DECLS

#define SYSLOG_HOST_MAX 255u
#define SYSLOG_APP_MAX 48u
#define SYSLOG_PROCESS_MAX 128u
#define SYSLOG_ID_MAX 32u
#define SYSLOG_NAME_MAX 32u  // of structured data

enum syslog_severity {
    SYSLOG_EMERGENCY,
    SYSLOG_ALERT,
    SYSLOG_CRITICAL,
    SYSLOG_ERROR,
    SYSLOG_WARNING,
    SYSLOG_NOTICE,
    SYSLOG_INFO,
    SYSLOG_DEBUG,
};
enum syslog_facility { SYSLOG_KERNEL, SYSLOG_USER, SYSLOG_DAEMON = 3, SYSLOG_AUTH = 4, SYSLOG_LOCAL0 = 16 };

struct syslog_parameter {
    const char *name, *value;
};

struct syslog_message {
    uint8_t facility;  // 0 to 23: enum syslog_facility names some
    uint8_t severity;  // enum syslog_severity
    uint64_t unix_us;  // 0: not known, and none is told
    // NULL or empty: none is told. Bytes that may not stand in them become question marks; what is too long is cut.
    const char *host, *app, *process, *id;
    // One element of structured data, named by `data_id` ("example@32473", RFC 5424 §7.2.2). NULL: none.
    const char *data_id;
    const struct syslog_parameter *parameters;
    uint32_t parameter_count;
    // Free text. Control characters become blanks: one message stays one line.
    const char *text;
    uint32_t text_bytes;
};

// Writes the message, without a NUL; returns its bytes, at most `room`: the text is cut to what there is room for. 0:
// not even the header and the structured data fit, or facility or severity is none.
uint32_t syslog_emit(const struct syslog_message *message, char *out, uint32_t room);

WEIR_END_DECLS

#endif
