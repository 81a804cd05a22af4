// SPDX-License-Identifier: BSD-2-Clause
// mqtt: publishes, subscribes, prints what arrives.
#define _GNU_SOURCE  // getopt that takes options behind words
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/command.h"
#include "host/secure.h"
#include "mqtt/mqtt.h"
#include "text.h"

#define SUBJECTS 16u

static struct {
    struct mqtt mqtt;
    struct mqtt_config config;
    struct host *host;
    char server[256];
    uint16_t port;
    bool secure, asking, published;
    uint8_t qos;
    unsigned flags;
    char *subjects[SUBJECTS], *filters[SUBJECTS];  // to publish ("topic=payload"); to subscribe to
    uint32_t subject_count, filter_count, open;    // open: not yet acknowledged
    uint64_t wanted, got;                          // messages; wanted 0: no end
    uint8_t out[65536], in[4096];
} m;

static void end(struct host *host)
{
    mqtt_stop(&m.mqtt);
    host_done(host, m.got < m.wanted || m.open > 0);
}

static void end_when_done(void)
{
    if (m.open == 0 && m.published && m.got >= m.wanted && (m.filter_count == 0 || m.wanted > 0))
        end(m.host);
}

// The name is asked for anew with each connection.
static void found(void *context, int result, const struct dns_answer *answer)
{
    struct weir_endpoint server = {weir_addr_any(), m.port};
    (void)context;
    m.asking = false;
    if (result == DNS_FOUND)
        server.addr = answer->addresses[0];
    else
        fprintf(stderr, "weir-host: %s: no address\n", m.server);
    mqtt_located(&m.mqtt, server);
}

static void locate(struct mqtt *mqtt, void *context)
{
    struct dns_answer answer;
    (void)mqtt, (void)context;
    if (m.asking)
        return;  // the answer to the last question will do
    const int result = dns_resolve(&m.host->dns, m.server, &answer, found, m.host);
    m.asking = result == WEIR_IN_PROGRESS;
    if (!m.asking)
        found(m.host, result, &answer);
}

static int secure(struct weir_stream *stream, void *context)
{
    (void)context;
    return secure_client(m.host, stream, m.server) ? WEIR_OK : WEIR_REFUSED;
}

static void begin(void)
{
    for (uint32_t i = 0; i < m.filter_count; i++)
        m.open += mqtt_subscribe(&m.mqtt, m.filters[i], m.qos) > 0;
    for (uint32_t i = 0; i < m.subject_count && !m.published; i++) {
        char topic[256];
        const char *payload = strchr(m.subjects[i], '=') + 1;
        const size_t length = (size_t)(payload - 1 - m.subjects[i]);
        memcpy(topic, m.subjects[i], length);
        topic[length] = '\0';
        const int id = mqtt_publish(&m.mqtt, topic, payload, (uint32_t)strlen(payload), m.qos, m.flags);
        if (id < 0)
            fprintf(stderr, "weir-host: mqtt: %s: %s\n", topic, weir_error_name(id));
        m.open += id > 0;
    }
    m.published = true;
}

static void told(struct mqtt *mqtt, enum mqtt_event event, int reason, void *context)
{
    static const char *const names[] = {"connected", "refused", "disconnected"};
    (void)mqtt, (void)context;
    printf("%s %d%s%s\n", names[event], reason, reason < 0 ? " " : "",
           reason == MQTT_PROTOCOL_ERROR ? "protocol error"
           : reason < 0                  ? weir_error_name(reason)
                                         : "");
    fflush(stdout);
    if (event != MQTT_CONNECTED || (reason == 1 && m.published))
        return;
    begin();  // what was open in a session that is lost stays so: it is sent anew, or told as done
    if (m.qos == 0 && m.filter_count == 0)
        end_when_done();
}

static void message(struct mqtt *mqtt, const struct mqtt_message *said, const uint8_t *piece, uint32_t length,
                    void *context)
{
    (void)mqtt, (void)context;
    if (said->offset == 0)
        printf("%.*s%s ", said->topic_length, (const char *)said->topic, said->retained ? " (retained)" : "");
    fwrite(piece, 1, length, stdout);
    if (said->offset + length < said->length)
        return;
    printf("\n");
    fflush(stdout);
    m.got++;
    end_when_done();
}

static void done(struct mqtt *mqtt, uint16_t id, int reason, void *context)
{
    (void)mqtt, (void)context;
    printf("done %u %d\n", id, reason);
    fflush(stdout);
    m.open -= m.open > 0;
    end_when_done();
}

static bool take(int option, char *value)
{
    uint64_t number = 0;
    switch (option) {
    case '5': m.config.version = 5; return true;
    case 'c': m.config.clean = true; return true;
    case 'r': m.flags = MQTT_RETAIN; return true;
    case 'S': m.secure = true; return true;
    case 'i': m.config.client_id = value; return true;
    case 'u': m.config.user = value; return true;
    case 'P': m.config.password = value; return true;
    case 'w':
        m.config.will_topic = value;
        m.config.will = "gone";
        m.config.will_length = 4;
        return true;
    case 's': m.filters[m.filter_count] = value; return m.filter_count++ < SUBJECTS - 1;
    case 'p': m.subjects[m.subject_count] = value; return strchr(value, '=') && m.subject_count++ < SUBJECTS - 1;
    case '?': return false;
    default: break;
    }
    if (!host_number(value, 1000, &number) || number > 65535 || (option == 'q' && number > 2))
        return false;
    if (option == 'q')
        m.qos = (uint8_t)number;
    else if (option == 'k')
        m.config.keep_alive_s = (uint16_t)number;
    else
        m.wanted = number;
    return true;
}

bool command_mqtt(struct host *host, int argc, char **argv)
{
    int option;
    memset(&m, 0, sizeof m);
    m.host = host;
    m.config = (struct mqtt_config){.locate = locate,
                                    .version = 4,
                                    .client_id = "weir",
                                    .keep_alive_s = 60,
                                    .session_expiry_s = 3600,
                                    .out = m.out,
                                    .out_bytes = sizeof m.out,
                                    .in = m.in,
                                    .in_bytes = sizeof m.in,
                                    .event = told,
                                    .message = message,
                                    .done = done};
    while ((option = getopt(argc, argv, "5crSi:u:P:w:s:p:q:k:n:")) != -1) {
        if (!take(option, optarg))
            return command_wrong("mqtt", optarg != NULL ? optarg : "an option", "not so");
    }
    if (optind + 1 != argc)
        return command_wrong("mqtt", "give one server", "");
    m.port = m.secure ? MQTT_PORT_TLS : MQTT_PORT;
    if (!command_server("mqtt", argv[optind], m.server, sizeof m.server, &m.port))
        return false;
    m.config.secure = m.secure ? secure : NULL;
    host->interrupt = end;
    const int error = mqtt_start(&m.mqtt, &host->loop, &m.config);
    return error == WEIR_OK || command_wrong("mqtt", argv[optind], weir_error_name(error));
}
