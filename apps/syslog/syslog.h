// SPDX-License-Identifier: BSD-2-Clause
// A syslog client: RFC 5424 over UDP (RFC 5426), TCP (RFC 6587, counted octets) and TLS (RFC 5425). Messages wait in
// memory of the caller's until the network is there; those that find no room are counted, and the next one that does
// says how many. Messages are cut to SYSLOG_MESSAGE_MAX bytes.
//
//     syslog_start(&log, &loop, &(struct syslog_config){.transport = SYSLOG_UDP, .server = {address, 0}, .app = "pump",
//                                                       .queue = queue, .queue_bytes = sizeof queue});
//     syslog_text(&log, SYSLOG_WARNING, "pressure is low");
//
// Lock held throughout. What it sends causes no messages: log nothing about the link it goes over, or it feeds itself.
#ifndef APPS_SYSLOG_H
#define APPS_SYSLOG_H

#include "../loop.h"
#include "../stream.h"
#include "message.h"
#include "weir/linkage/syslog.h"

WEIR_BEGIN_DECLS

#define SYSLOG_PORT 514u  // UDP, and what most servers have for TCP
#define SYSLOG_PORT_TLS 6514u
#ifndef SYSLOG_MESSAGE_MAX
#define SYSLOG_MESSAGE_MAX 1024u  // RFC 5424 §6.1: every receiver takes 480, and should take 2048
#endif
#define SYSLOG_CONNECT_US 20000000u    // from the SYN to the end of TLS's handshake
#define SYSLOG_RETRY_MIN_US 1000000u   // doubled each time
#define SYSLOG_RETRY_MAX_US 60000000u  // up to this

enum syslog_transport { SYSLOG_UDP, SYSLOG_TCP };
enum syslog_state { SYSLOG_STOPPED, SYSLOG_WAITING, SYSLOG_CONNECTING, SYSLOG_SECURING, SYSLOG_UP };

struct syslog_config {
    enum syslog_transport transport;
    struct weir_endpoint server;  // port 0: SYSLOG_PORT
    // Makes a session of TLS of the connection (tls_stream_open). WEIR_OK, or an error. NULL: plain.
    int (*secure)(struct weir_stream *stream, void *context);
    // The time of day, µs since 1970 (sntp_unix_us); 0: not known now. NULL: never.
    uint64_t (*unix_us)(void *context);
    void *context;
    uint8_t facility;
    const char *host, *app, *process;  // must stay; NULL: none
    uint8_t *queue;                    // messages that are not sent yet
    uint32_t queue_bytes;              // SYSLOG_MESSAGE_MAX and 2 at least
};

struct syslog {
    struct app app;
    struct weir_watch watch;
    struct loop *loop;
    struct syslog_config config;
    uint8_t state;
    struct weir_stream stream;  // of UDP its socket alone
    uint32_t used;              // of the queue
    uint32_t written;           // TCP: of the first message, with its count
    uint64_t due_us;
    uint32_t retry_us;
    uint32_t unsaid;  // messages dropped that no message has told yet
    struct {
        uint32_t sent, dropped, connections, failures;
    } count;
};

// WEIR_INVALID: no queue or one too small, not the address of one host.
int syslog_start(struct syslog *log, struct loop *loop, const struct syslog_config *config);
// What still waits is lost.
void syslog_stop(struct syslog *log);
// `message` has the facility, the host, the application, the process and the time from the configuration.
// WEIR_OK: it waits or is on its way; WEIR_AGAIN: dropped, for there is no room; WEIR_INVALID: it cannot be.
int syslog_write(struct syslog *log, const struct syslog_message *message);
int syslog_text(struct syslog *log, uint8_t severity, const char *text);
// Messages that wait.
bool syslog_pending(const struct syslog *log);

WEIR_END_DECLS

#endif
