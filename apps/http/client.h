// SPDX-License-Identifier: BSD-2-Clause
// An HTTP/1.1 client, plain or TLS: one request after another, redirects followed, bodies in pieces both ways, ranges.
//
//     http_client_start(&client, &loop, &config);
//     http_client_ask(&client, &(struct http_ask){.url = "http://10.0.0.1/firmware", .first = have});
//
// Where a request says so (`keep`), its connection serves the next one to the same server, too.
//
// Lock held throughout. Callbacks may call anything here.
#ifndef APPS_HTTP_CLIENT_H
#define APPS_HTTP_CLIENT_H

#include "answer.h"
#include "chunks.h"
#include "request.h"
#include "url.h"
#include "../loop.h"
#include "../stream.h"
#include "weir/linkage/http.h"

WEIR_BEGIN_DECLS

#define HTTP_CLIENT_LEAST 1024u           // bytes of a header, ours or the server's
#define HTTP_CLIENT_CONNECT_US 60000000u  // until the connection is there, with what lies between
#define HTTP_CLIENT_STALL_US 30000000u    // a server that says nothing, or takes nothing
#define HTTP_CLIENT_REDIRECTS 5u
#define HTTP_CLIENT_KEPT_US 15000000u  // a connection that waits for the next request

// In place of an enum weir_error.
enum {
    HTTP_CLIENT_NO_HTTP = -1001,     // the answer is none, could be read in two ways, or its header is too long
    HTTP_CLIENT_SHORT = -1002,       // the connection ended before the body did
    HTTP_CLIENT_REDIRECTED = -1003,  // too often, to nowhere, or from https to http
    HTTP_CLIENT_RANGE = -1004,       // what came is another part than was asked for
};

struct http_client;
struct http_client_config {
    // Where a server is: answer by http_client_located with its address, or by http_client_connected with a socket, at
    // once or later, and not any more once the request has ended. `url` stays until the answer. An address as a name
    // need not be asked for; NULL: there are no other names.
    void (*locate)(struct http_client *client, const struct http_url *url, void *context);
    // Makes a session of TLS of the connection to url->host (tls_stream_open). WEIR_OK, or an error. NULL: no https.
    int (*secure)(struct weir_stream *stream, const struct http_url *url, void *context);
    // The answer's header is there; not those of redirects, nor 1xx. May be NULL.
    void (*answer)(struct http_client *client, const struct http_answer *answer, void *context);
    // A piece of its body. Returns how many bytes it took; when fewer, http_client_resume goes on.
    uint32_t (*body)(struct http_client *client, const uint8_t *piece, uint32_t length, void *context);
    // The end: WEIR_OK, the answer is whole, whatever its status; an enum weir_error, one of TLS, or one of the above.
    void (*done)(struct http_client *client, int result, void *context);
    char *memory;  // `bytes` of it: our header, then theirs, then pieces of the body
    uint32_t bytes;
    void *context;
};

struct http_ask {
    const char *url;
    enum http_method method;  // 0: GET
    // Of a request; they stay until the end. Not sent on to another server: Authorization and Cookie.
    const struct http_field *fields;
    uint32_t field_count;
    const void *data;  // the request's body, which stays until the end; NULL: none
    uint32_t length;
    uint64_t first, last;  // the bytes to ask for; last 0: to the end. 206 must be just these
    // For `first`: the entity tag of what is there already, with its quotes: where it is another now the whole comes
    // (200). NULL: none.
    const char *etag;
    bool redirects_not;  // are not followed
    // The connection stays for HTTP_CLIENT_KEPT_US: the next request to this server goes over it. Where the server ends
    // it just then, what may be asked twice is asked again (RFC 9110 §9.2.2); POST and PATCH end with an error.
    bool keep;
};

enum http_client_state {
    HTTP_CLIENT_IDLE,
    HTTP_CLIENT_LOCATING,
    HTTP_CLIENT_CONNECTING,
    HTTP_CLIENT_SECURING,
    HTTP_CLIENT_SENDING,
    HTTP_CLIENT_HEADER,
    HTTP_CLIENT_BODY
};

struct http_client {
    struct app app;
    struct weir_watch watch;
    struct loop *loop;
    struct http_client_config config;
    struct http_ask ask;
    struct http_url url;  // where it has come to
    struct weir_stream stream;
    const struct weir_stream *ending;  // within `done`: the connection, which may know more about its end
    enum http_client_state state;
    enum http_method method;
    uint64_t due_us;
    struct http_body body;           // the answer's
    uint32_t redirects, length, at;  // in memory: `length` bytes from `at`
    uint32_t data_sent;
    bool with_data, away;  // away: from the server that was asked first
    bool paused, resumed, running, again;
    bool reused;   // the connection served another request, and has not answered this one
    bool goes_on;  // the answer leaves the connection open
};

// WEIR_INVALID: too little memory.
int http_client_start(struct http_client *client, struct loop *loop, const struct http_client_config *config);
void http_client_stop(struct http_client *client);
// WEIR_OK: `done` follows, within this call only where the connection cannot be begun. WEIR_INVALID: no URL, a field
// that is none, too much for `bytes`; WEIR_AGAIN: the one before has not ended.
int http_client_ask(struct http_client *client, const struct http_ask *ask);
// Ends what was asked; `done` is not called. Ends a connection that waits for the next request, too.
void http_client_cancel(struct http_client *client);
// The answers to `locate`; an address that is any, a socket <= 0: it is not found (then an enum weir_error).
void http_client_located(struct http_client *client, struct weir_addr address);
void http_client_connected(struct http_client *client, weir_socket socket);
void http_client_resume(struct http_client *client);

WEIR_END_DECLS

#endif
