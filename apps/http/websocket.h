// SPDX-License-Identifier: BSD-2-Clause
// WebSocket (RFC 6455), the server's side: messages in pieces, both ways, however long they are. Pings are answered,
// closing is done, what breaks the protocol closes with the code that says so. No extensions are offered: compression
// needs 32 KB a connection.
#ifndef APPS_HTTP_WEBSOCKET_H
#define APPS_HTTP_WEBSOCKET_H

#include "server.h"
#include "weir/linkage/http.h"

WEIR_BEGIN_DECLS

#define HTTP_WEBSOCKET_CLOSE_US 5000000u  // for the other end's close
#define HTTP_WEBSOCKET_FRAME 4u           // bytes beside a piece's own in `out`

enum http_websocket_type { HTTP_WEBSOCKET_TEXT = 1, HTTP_WEBSOCKET_BINARY = 2 };
enum { HTTP_WEBSOCKET_NORMAL = 1000, HTTP_WEBSOCKET_GOING = 1001 };

struct http_websocket {
    // Whether this one may begin. NULL: when the page that asks is from this host (http_same_origin).
    bool (*open)(struct http_connection *c, const struct http_request *request);
    // It has begun: http_websocket_send may be called from now on. May be NULL.
    void (*opened)(struct http_connection *c);
    // A piece of a message; `last`: the message ends with it. Returns how many bytes it took: what is left is given
    // again; 0 of more than 0: with more, once that has come. WEIR_AGAIN: none now; again when what was sent has gone,
    // or after http_resume.
    int (*message)(struct http_connection *c, enum http_websocket_type type, const uint8_t *piece, uint32_t length,
                   bool last);
    // What was sent has gone: there is room again. May be NULL.
    void (*ready)(struct http_connection *c);
    const char *protocol;  // the subprotocol that is spoken, if the client offers it; NULL: none
    uint64_t message_max;  // bytes of a message; 0: any number
};

// Sends a piece of a message, whole: WEIR_OK; WEIR_AGAIN: no room now; WEIR_TOO_BIG: more than out_bytes -
// HTTP_WEBSOCKET_FRAME; WEIR_NOT_CONNECTED. `type` is that of the message's first piece.
int http_websocket_send(struct http_connection *c, enum http_websocket_type type, const void *piece, uint32_t length,
                        bool last);
// Closes, with a code that says why. The route's `done` follows.
void http_websocket_close(struct http_connection *c, uint16_t code);
// Sec-WebSocket-Accept for a key (RFC 6455 §4.2.2): 28 characters and NUL.
void http_websocket_accept(struct http_line key, char out[29]);

WEIR_END_DECLS

#endif
