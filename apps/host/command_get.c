// SPDX-License-Identifier: BSD-2-Clause
// get: one HTTP resource, wherever redirects lead; or the answer to a POST.
#define _POSIX_C_SOURCE 200809L
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "happy_eyeballs.h"
#include "host/command.h"
#include "host/secure.h"
#include "http/client.h"

#define MEMORY 65536u

static struct get {
    struct happy_eyeballs happy;
    struct http_client client;
    struct http_ask ask;
    struct host *host;
    FILE *out;
    bool said;  // why there is no TLS
    int status;
    uint64_t bytes;
    char memory[MEMORY];
} get;

static void get_end(const char *error)
{
    bool written = get.out == stdout ? fflush(stdout) == 0 : fclose(get.out) == 0;
    if (error == NULL && !written)
        error = "the file cannot be written";
    bool good = error == NULL && get.status / 100 == 2;
    if (error == NULL)
        fprintf(stderr, "HTTP %d, %llu bytes\n", get.status, (unsigned long long)get.bytes);
    else if (!get.said)
        command_wrong("get", error, "");
    host_done(get.host, !good);
}

static void interrupt(struct host *host)
{
    (void)host;
    happy_eyeballs_stop(&get.happy);
    http_client_cancel(&get.client);
    get_end("interrupted");
}

// --- the connection --------------------------------------------------------------------------------------------------

static void connected(void *context, struct happy_eyeballs *happy)
{
    struct http_client *client = context;
    if (happy->socket <= 0 && happy->count == 0) {
        http_client_cancel(client);
        command_name_failed(get.host, client->url.host, happy->result);
        return;
    }
    http_client_connected(client, happy->socket > 0 ? happy->socket : (weir_socket)happy->result);
}

static void locate(struct http_client *client, const struct http_url *url, void *context)
{
    (void)context;
    happy_eyeballs_start(&get.happy, &get.host->dns, url->host, url->port, connected, client);
}

static int secure(struct weir_stream *stream, const struct http_url *url, void *context)
{
    (void)context;
    get.said = !secure_client(get.host, stream, url->host);
    return get.said ? WEIR_NOT_SUPPORTED : WEIR_OK;
}

// --- the answer ------------------------------------------------------------------------------------------------------

static void answer(struct http_client *client, const struct http_answer *said, void *context)
{
    (void)client, (void)context;
    get.status = said->status;
    if (get.out != stdout)
        command_file_begin(get.out);
}

static uint32_t body(struct http_client *client, const uint8_t *piece, uint32_t length, void *context)
{
    (void)context;
    if (fwrite(piece, 1, length, get.out) != length) {
        http_client_cancel(client);
        get_end("the file cannot be written");
        return 0;
    }
    get.bytes += length;
    return length;
}

static void done(struct http_client *client, int result, void *context)
{
    (void)context;
    get_end(result == WEIR_OK                  ? NULL
            : result == WEIR_REFUSED           ? "the server refuses: does anything listen there?"
            : result == HTTP_CLIENT_NO_HTTP    ? "this is not HTTP"
            : result == HTTP_CLIENT_SHORT      ? "the server closed too early"
            : result == HTTP_CLIENT_REDIRECTED ? "it is redirected too often, or to where nobody should go"
            : result == HTTP_CLIENT_RANGE      ? "the server sent another part"
                                               : secure_error(client->ending, result));
}

// --- the command -----------------------------------------------------------------------------------------------------

// FIRST-[LAST]
static bool range_take(const char *words)
{
    const uint32_t length = text_length(words), digits = text_read_u64(words, length, UINT64_MAX - 1, &get.ask.first);
    if (digits == 0 || words[digits] != '-')
        return command_wrong("get", words, "a range is FIRST-LAST or FIRST-");
    const uint32_t rest = length - digits - 1;
    return rest == 0 || text_read_u64(words + digits + 1, rest, UINT64_MAX - 1, &get.ask.last) == rest ||
           command_wrong("get", words, "a range is FIRST-LAST or FIRST-");
}

static bool option_take(int option, const char **file)
{
    switch (option) {
    case 'o': *file = optarg; return true;
    case 'r': return range_take(optarg);
    case 'd':
        get.ask.method = HTTP_POST;
        get.ask.data = optarg;
        get.ask.length = text_length(optarg);
        return true;
    default: return false;
    }
}

bool command_get(struct host *host, int argc, char **argv)
{
    const char *file = NULL;
    int option;
    memset(&get, 0, sizeof get);
    get.host = host;
    const struct http_client_config config = {.locate = locate,
                                              .secure = secure,
                                              .answer = answer,
                                              .body = body,
                                              .done = done,
                                              .memory = get.memory,
                                              .bytes = sizeof get.memory};
    while ((option = getopt(argc, argv, "o:r:d:")) != -1) {
        if (!option_take(option, &file))
            return false;
    }
    struct http_url url;
    if (optind + 1 != argc)
        return false;
    if (!http_url_parse(argv[optind], &url))
        return command_wrong("get", argv[optind], "give a URL that begins with http:// or https://");
    get.out = file != NULL ? command_file_open(file) : stdout;
    if (get.out == NULL)
        return command_wrong("get", file, "cannot be written");
    host->interrupt = interrupt;
    get.ask.url = argv[optind];
    return http_client_start(&get.client, &host->loop, &config) == WEIR_OK &&
           http_client_ask(&get.client, &get.ask) == WEIR_OK;
}
