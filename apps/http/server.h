// SPDX-License-Identifier: BSD-2-Clause
// An HTTP/1.1 server (RFC 9110, RFC 9112) on streams that are plain or TLS: handlers by path and method, bodies
// streamed in and out, chunks both ways, ranges, conditions, keep-alive, pipelining; WebSocket (http/websocket.h),
// server-sent events (http/events.h), files out of flash (http/files.h). All memory is the caller's; headers, bodies,
// connections and waiting times are bounded.
//
//     static void hello(struct http_connection *c, struct http_request *request)
//     {
//         http_respond(c, request, &(struct http_response){.type = "text/plain", .data = "hello\n", .length = 6});
//     }
//     static const struct http_route routes[] = {{.path = "/hello", .methods = HTTP_GET, .request = hello}};
//
// Lock held throughout. Handlers may call anything here.
#ifndef APPS_HTTP_SERVER_H
#define APPS_HTTP_SERVER_H

#include "../clients.h"
#include "chunks.h"
#include "request.h"
#include "utf8.h"
#include "../stream.h"
#include "weir/linkage/http.h"

WEIR_BEGIN_DECLS

#define HTTP_BODY_MAX 65536u       // bytes of a request's body, where a route says nothing else; longer ones get 413
#define HTTP_OUT_LEAST 320u        // bytes of a response's header and pieces; an error's longest has 317, with Date
#define HTTP_IN_LEAST 256u         // bytes of a request's header
#define HTTP_IDLE_US 30000000u     // between requests
#define HTTP_HEADER_US 10000000u   // from a header's first byte to its last; for the rest of a body that nobody wants
#define HTTP_BODY_US 20000000u     // for a request's body, and as much more as HTTP_BODY_RATE gives
#define HTTP_BODY_RATE 500u        // bytes/s
#define HTTP_STALL_US 30000000u    // a peer that takes nothing of a response; a handler that does not respond
#define HTTP_LINGER_US 2000000u    // after the last response, until the peer closes
#define HTTP_SECURE_US 15000000u   // until a stream over TLS has made its handshake
#define HTTP_QUIET_US 15000000u    // a stream of events, or a WebSocket: then it is asked whether it is still there
#define HTTP_UNTIL_END UINT64_MAX  // a body's length that is not known: it comes in chunks

enum http_state {
    HTTP_FREE,
    HTTP_SECURING,
    HTTP_READING,
    HTTP_BODY,     // of a request, for its handler
    HTTP_WAITING,  // for the handler's response
    HTTP_SENDING,
    HTTP_SKIPPING,  // the rest of a body that its handler did not want
    HTTP_LINGERING,
    HTTP_UPGRADED  // a WebSocket
};

struct http_connection;
struct http_websocket;
struct http_route {
    const char *path;  // all of it; with '*' at its end: what begins so. The first that fits is taken.
    unsigned methods;  // enum http_method, several; HEAD comes with GET
    // A request's header is there. `request` and what it points to are valid within the call. Either responds at once,
    // or takes the body first, or responds later. May be NULL where `body` responds.
    void (*request)(struct http_connection *c, struct http_request *request);
    // A piece of its body; at its end one of length 0. Returns how many bytes it took; when fewer, http_resume goes on.
    // NULL: bodies are read and forgotten.
    uint32_t (*body)(struct http_connection *c, const uint8_t *piece, uint32_t length);
    // The response has been sent, or (`whole` false) never will be. May be NULL.
    void (*done)(struct http_connection *c, bool whole);
    uint64_t body_max;                       // 0: HTTP_BODY_MAX
    const struct http_websocket *websocket;  // GET upgrades to it
    const void *context;                     // the handlers' own
    bool any_origin;                         // pages of others may change things here, too: else they get 403
};

struct http_response {
    int status;        // 0: 200
    const char *type;  // Content-Type; NULL: none
    uint64_t length;   // or HTTP_UNTIL_END
    const void *data;  // the body, which stays until `done`; NULL: `produce` makes it
    // Writes up to `room` bytes of the body from its byte `at` on. Returns how many; 0: the end, where the length was
    // not known; WEIR_AGAIN: none yet, http_resume goes on; another error breaks the connection off. Where the length
    // is known it may be asked for the same bytes again. NULL, too, with HTTP_UNTIL_END: http_push.
    int (*produce)(struct http_connection *c, uint64_t at, uint8_t *out, uint32_t room);
    const char *etag;  // with its quotes: conditions and ranges are heeded. NULL: none
    const struct http_field *fields;
    uint32_t field_count;
    uint32_t stall_us;  // 0: HTTP_STALL_US
};

struct http_output {  // what a connection is sending
    const uint8_t *data;
    int (*produce)(struct http_connection *c, uint64_t at, uint8_t *out, uint32_t room);
    uint64_t at, left;  // left: HTTP_UNTIL_END
    uint32_t stall_us;
    bool chunked, pushed, ended;
    bool events, idle;  // server-sent events; nothing to be sent
};

struct http_frames {                   // of a WebSocket: what has come in of a frame and a message, what went out
    uint64_t left, total;              // of the frame; of the message so far
    uint32_t clear, position;          // bytes there without the mask already; where in the mask
    uint8_t mask[4], opcode, message;  // message: its type; 0: none is under way
    struct http_utf8 utf8;
    bool inside, final;    // behind a frame's header; the message's last
    bool sending, filled;  // a message of ours is under way; something was sent
    bool close_sent, close_seen, pinged;
    uint16_t closing;  // the code; 0: no
};

struct http_connection {
    struct weir_watch watch;
    struct client client;
    struct http_server *server;
    struct weir_stream stream;
    const struct http_route *route;  // of this request; NULL: none
    void *user;                      // the handlers' own; NULL at a request's begin
    enum http_state state;
    uint8_t version_minor;
    bool keep_alive, head_only, ended;  // ended: the peer sent its last
    bool answered;                      // a request of it was
    bool responded;                     // this one is
    bool expecting;                     // the client waits for 100 (Continue) with its body
    bool paused, resumed;               // the body's handler took less than there was; http_resume was called
    uint64_t due_us;                    // when the state is given up
    struct http_body body;              // the request's
    uint64_t body_taken, body_us;       // bytes of it; since when it is awaited
    struct http_output output;
    struct http_frames frames;
    uint32_t in_at, in_length, out_at, out_length;
    char *in;   // received and not yet understood: in_length bytes from in_at
    char *out;  // to be sent before anything else: out_length bytes in all, from out_at
};

struct http_server_config {
    uint16_t port;
    const struct http_route *routes;
    uint32_t route_count;
    struct http_connection *connections;  // at once; when full, others make room or newcomers wait (apps/clients.h)
    uint32_t connection_count;
    // Of each connection: what is read (a header longer than that gets 414 or 431), and what is put together to be sent
    // (a response's header must fit).
    char *memory;  // connection_count * (in_bytes + out_bytes)
    uint32_t in_bytes, out_bytes;
    struct weir_stream_maker *maker;  // makes TLS of connections (apps/tls); NULL: plain
    void *context;                    // the handlers' own
    // The time of day, µs since 1970 (sntp_unix_us): each response then says it in Date. 0: not known now. NULL: never.
    uint64_t (*unix_us)(void *context);
    // The names that this host goes by, without ports, ended by a NULL: requests for others get 421, so that no page
    // reads or changes anything here by a name of its own that leads here (DNS rebinding). Addresses, names below
    // .local, localhost and names below it are never refused. NULL: no name is.
    const char *const *hosts;
};

struct http_server {
    struct app app;
    struct weir_watch listener;
    struct loop *loop;
    weir_socket listening;
    struct http_server_config config;
    struct clients clients;
    bool resumed;                     // a connection is
    struct http_connection *running;  // whose steps are being made; NULL: none's
    struct {
        uint32_t requests, errors, given_up, made_room;
    } count;
};

// A negative enum weir_error when it cannot listen; WEIR_INVALID: buffers below the least.
int http_server_start(struct http_server *server, struct loop *loop, const struct http_server_config *config);
void http_server_stop(struct http_server *server);

// Whether a request comes from a page of this host, or of none. What changes something (all but GET, HEAD and OPTIONS)
// is refused without it, unless the route says `any_origin`.
bool http_same_origin(const struct http_request *request);
// Responds. `request`: whose conditions and ranges are to be heeded; NULL: of none, and when it is there no more. A
// header that does not fit, or a field with a line's end in it, becomes 500.
void http_respond(struct http_connection *c, struct http_request *request, const struct http_response *response);
// Responds with a line of text that says what the status means; `size`: of the resource, for 416.
void http_respond_error(struct http_connection *c, int status, uint64_t size);
// Goes on with a body, or a response, whose handler had to wait.
void http_resume(struct http_connection *c);
// Sends a piece of a response that `produce` does not make, whole: WEIR_OK; WEIR_AGAIN: no room now; WEIR_TOO_BIG:
// never; WEIR_NOT_CONNECTED: there is no such response (any more).
int http_push(struct http_connection *c, const void *data, uint32_t length);
// Ends it.
void http_push_end(struct http_connection *c);
static inline struct weir *http_weir(const struct http_connection *c) { return c->server->loop->weir; }

WEIR_END_DECLS

#endif
