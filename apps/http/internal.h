// SPDX-License-Identifier: BSD-2-Clause
// What the server's own files share.
#ifndef APPS_HTTP_INTERNAL_H
#define APPS_HTTP_INTERNAL_H

#include "http/server.h"
#include "text.h"

// server.c
void http_enter(struct http_connection *c, enum http_state state, uint32_t wait_us);
void http_end(struct http_connection *c, bool reset);
// Fills c->in. Returns bytes added; 0: the peer ended; WEIR_AGAIN and other errors.
int http_receive(struct http_connection *c);
void http_input_taken(struct http_connection *c, uint32_t bytes);
// The exchange is over: the next request, or the end.
void http_exchange_done(struct http_connection *c);

// exchange.c: each step returns whether the next may follow at once.
bool http_step_reading(struct http_connection *c);
bool http_step_body(struct http_connection *c);
bool http_step_skipping(struct http_connection *c);

// origin.c: 0, or the status that refuses the request.
int http_origin_judge(const struct http_server *server, const struct http_route *route,
                      const struct http_request *request);

// response.c
bool http_step_sending(struct http_connection *c);
// Sends what is in c->out. WEIR_OK: it is empty; WEIR_AGAIN; an error.
int http_flush(struct http_connection *c);
// Room at the end of c->out, once what was sent is gone; where it begins is *at.
uint32_t http_out_room(struct http_connection *c, char **at);
// The handler's last word about a request.
void http_route_done(struct http_connection *c, bool whole);

// websocket.c
void http_websocket_begin(struct http_connection *c, const struct http_request *request);
bool http_step_websocket(struct http_connection *c);
// A deadline passed. Whether the connection stays.
bool http_websocket_quiet(struct http_connection *c);

// events.c: asks whether the peer is still there. false: it takes nothing.
bool http_events_quiet(struct http_connection *c);

#endif
