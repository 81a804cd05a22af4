// SPDX-License-Identifier: BSD-2-Clause
// get: one HTTP resource. It asks in HTTP/1.0, to which no server answers in chunks.
#define _POSIX_C_SOURCE 200809L
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "happy_eyeballs.h"
#include "host/command.h"
#include "host/secure.h"
#include "service.h"

#define HEADER_MAX 16384u
#define PIECE 65536u

static struct get {
    struct weir_watch watch;
    struct happy_eyeballs happy;
    struct host *host;
    FILE *out;
    struct weir_stream stream;
    uint16_t port;
    bool bracketed;  // the host is an IPv6 address
    bool secure, connected, sent, body;
    int status;
    uint64_t left;  // UINT64_MAX: until the server closes
    uint64_t bytes;
    char name[256], path[512], range[64], header[HEADER_MAX + 1];
    uint32_t header_length;
} get;

static void get_end(const char *error)
{
    weir_stream_close(&get.stream, 0);
    bool written = get.out == stdout ? fflush(stdout) == 0 : fclose(get.out) == 0;
    if (error == NULL && !written)
        error = "the file cannot be written";
    bool good = error == NULL && get.status / 100 == 2;
    if (error != NULL)
        command_wrong("get", error, "");
    else
        fprintf(stderr, "HTTP %d, %llu bytes\n", get.status, (unsigned long long)get.bytes);
    host_done(get.host, !good);
}

static void interrupt(struct host *host)
{
    (void)host;
    happy_eyeballs_stop(&get.happy);
    get_end("interrupted");
}

// The header ends at an empty line. Takes the status and Content-Length out of it.
static const char *header_take(void)
{
    unsigned major, minor;
    if (sscanf(get.header, "HTTP/%u.%u %d", &major, &minor, &get.status) != 3 || get.status < 100 || get.status > 599)
        return "this is not HTTP";
    get.left = UINT64_MAX;
    for (const char *line = strchr(get.header, '\n'); line != NULL && line[1] != '\0'; line = strchr(line + 1, '\n')) {
        uint64_t length;
        const char *value = line + 16;
        if (strlen(line) < 17 || !text_equal_nocase(line + 1, 15, "content-length:"))
            continue;
        while (*value == ' ')
            value++;
        if (text_read_u64(value, text_length(value), UINT64_MAX - 1, &length) > 0)
            get.left = length;
    }
    return NULL;
}

// Bytes of the header, one by one; the rest is the body's. Returns how many it took; *error: what is wrong.
static uint32_t header_read(const uint8_t *data, uint32_t length, const char **error)
{
    for (uint32_t i = 0; i < length; i++) {
        if (get.header_length == HEADER_MAX) {
            *error = "the answer's header is too long";
            return i;
        }
        get.header[get.header_length++] = (char)data[i];
        get.header[get.header_length] = '\0';
        const char *end = get.header + get.header_length;
        bool empty_line = get.header_length >= 2 && end[-1] == '\n' &&
                          (end[-2] == '\n' || (get.header_length >= 3 && end[-2] == '\r' && end[-3] == '\n'));
        if (empty_line) {
            get.body = true;
            *error = header_take();
            return i + 1;
        }
    }
    return length;
}

// Takes a piece of the answer. false: the command has ended.
static bool piece_take(const uint8_t *data, uint32_t length)
{
    const char *error = NULL;
    uint32_t at = get.body ? 0 : header_read(data, length, &error);
    uint32_t body = length - at;
    if (error == NULL && body > get.left)
        error = "the server sent more than it said";
    if (error == NULL && body > 0 && fwrite(data + at, 1, body, get.out) != body)
        error = "the file cannot be written";
    if (error != NULL) {
        get_end(error);
        return false;
    }
    get.bytes += body;
    get.left -= get.left != UINT64_MAX && get.body ? body : 0;
    return true;
}

static void get_read(void)
{
    static uint8_t data[PIECE];
    int there;
    while ((there = weir_stream_read(&get.stream, data, sizeof data)) > 0)
        if (!piece_take(data, (uint32_t)there))
            return;
    if (there == WEIR_AGAIN && !(get.body && get.left == 0))
        return;
    bool whole = get.body && (get.left == 0 || (get.left == UINT64_MAX && there == 0));
    get_end(whole                               ? NULL
            : there == 0 || there == WEIR_AGAIN ? "the server closed too early"
                                                : secure_error(&get.stream, there));
}

static void get_send(void)
{
    char request[1200];
    int length = snprintf(
        request, sizeof request,
        "GET %s HTTP/1.0\r\nHost: %s%s%s\r\nUser-Agent: weir\r\nAccept: */*\r\n%s%s%sConnection: close\r\n\r\n",
        get.path, get.bracketed ? "[" : "", get.name, get.bracketed ? "]" : "",
        get.range[0] != '\0' ? "Range: bytes=" : "", get.range, get.range[0] != '\0' ? "\r\n" : "");
    // The first bytes of a connection: any send queue takes them in one piece.
    get.sent = weir_stream_write(&get.stream, request, (uint32_t)length) == length;
    if (!get.sent)
        get_end("the request could not be sent");
}

// The connection is there, or has failed. What TLS lies between is made now.
static void get_begin(uint32_t events)
{
    int32_t error = 0;
    (void)weir_socket_get(get.host->weir, get.stream.socket, WEIR_OPTION_ERROR, &error);
    if (error != 0)
        get_end(error == WEIR_REFUSED ? "the server refuses: does anything listen there?" : weir_error_name(error));
    else if (events & WEIR_WRITABLE && get.secure && !secure_client(get.host, &get.stream, get.name))
        get_end("");
    else
        get.connected = events & WEIR_WRITABLE;
}

static void get_event(struct weir_watch *watch, weir_socket socket, uint32_t events)
{
    int begun = WEIR_IN_PROGRESS;
    (void)watch;
    if (socket != get.stream.socket || get.host->done)
        return;
    if (!get.connected)
        get_begin(events);
    if (!get.connected || get.host->done)
        return;
    while (!get.sent && begun == WEIR_IN_PROGRESS)
        begun = weir_stream_begin(&get.stream);
    if (!get.sent && begun == WEIR_OK)
        get_send();
    else if (!get.sent && begun != WEIR_AGAIN)
        get_end(secure_error(&get.stream, begun));
    if (get.sent && !get.host->done)
        get_read();
}

static void connected(void *context, struct happy_eyeballs *happy)
{
    struct host *host = context;
    if (happy->socket <= 0 && happy->count == 0) {
        weir_stream_close(&get.stream, 0);
        command_name_failed(host, get.name, happy->result);
        return;
    }
    if (happy->socket <= 0) {
        get_end(happy->result == WEIR_REFUSED ? "the server refuses: does anything listen there?"
                                              : weir_error_name(happy->result));
        return;
    }
    get.stream.socket = happy->socket;
    (void)loop_watch(&host->loop, happy->socket, &get.watch);
    get_event(&get.watch, happy->socket, WEIR_WRITABLE);
}

// http[s]://host[:port][/path]
static bool url_take(const char *url)
{
    get.secure = strncmp(url, "https://", 8) == 0;
    if (!get.secure && strncmp(url, "http://", 7) != 0)
        return command_wrong("get", url, "give a URL that begins with http:// or https://");
    const char *name = url + 7 + get.secure, *path = strchr(name, '/');
    size_t length = path != NULL ? (size_t)(path - name) : strlen(name);
    if (length == 0 || length >= sizeof get.name || (path != NULL && strlen(path) >= sizeof get.path))
        return command_wrong("get", url, "its host or path is empty or too long");
    memcpy(get.name, name, length);
    strcpy(get.path, path != NULL ? path : "/");
    for (const char *at = url; *at != '\0'; at++) {
        if ((uint8_t)*at <= ' ' || (uint8_t)*at > '~')
            return command_wrong("get", url, "a URL has no blanks and is ASCII");
    }
    char *const bracket = get.name[0] == '[' ? strchr(get.name, ']') : NULL;
    char *colon = strchr(bracket != NULL ? bracket : get.name, ':');
    get.port = get.secure ? 443 : 80;
    get.bracketed = bracket != NULL;
    if (bracket != NULL) {
        *bracket = '\0';
        memmove(get.name, get.name + 1, strlen(get.name));
    }
    if (colon == NULL)
        return true;
    *colon = '\0';
    return command_port("get", colon + 1, &get.port);
}

bool command_get(struct host *host, int argc, char **argv)
{
    const char *file = NULL;
    int option;
    memset(&get, 0, sizeof get);
    get.watch.event = get_event;
    get.host = host;
    while ((option = getopt(argc, argv, "o:r:")) != -1) {
        if (option == '?' || (option == 'r' && strlen(optarg) >= sizeof get.range))
            return false;
        if (option == 'o')
            file = optarg;
        else
            strcpy(get.range, optarg);
    }
    if (optind + 1 != argc || !url_take(argv[optind]))
        return false;
    get.out = file != NULL ? fopen(file, "wb") : stdout;
    if (get.out == NULL)
        return command_wrong("get", file, "cannot be written");
    host->interrupt = interrupt;
    get.stream.weir = host->weir;
    happy_eyeballs_start(&get.happy, &host->dns, get.name, get.port, connected, host);
    return true;
}
