// SPDX-License-Identifier: BSD-2-Clause
// HTTP/1.1 server: keep-alive, pipelining, ranges, clear errors; GET and HEAD. Serves the live status page (/), what it polls (/status.json) and generated
// bytes for tests (/bytes/N: byte i is i mod 251). All memory is in struct http; headers, connections and waiting times are bounded.
#ifndef APPS_HTTP_H
#define APPS_HTTP_H

#include "http/request.h"
#include "http/status.h"

#ifndef HTTP_CONNECTIONS
#define HTTP_CONNECTIONS 32u       // at once; when full, the longest idle one makes room, otherwise newcomers wait in the backlog
#endif
#ifndef HTTP_HEADER_MAX
#define HTTP_HEADER_MAX 4096u      // bytes of a request's header; longer ones get 414 or 431
#endif
#ifndef HTTP_STATUS_BYTES
#define HTTP_STATUS_BYTES 49152u   // of /status.json
#endif
#define HTTP_HEAD_MAX 512u         // bytes of a response's header
#define HTTP_BODY_MAX 65536u       // bytes of a request's body read and forgotten; longer ones get 413
#define HTTP_BYTES_MAX (1ull << 40)  // of /bytes/N
#define HTTP_IDLE_US 30000000u     // between requests
#define HTTP_REST_US 1000000u      // idle for less, a connection is not closed to make room
#define HTTP_HEADER_US 10000000u   // from a header's first byte to its last
#define HTTP_STALL_US 30000000u    // a peer that takes nothing of a response
#define HTTP_STATUS_STALL_US 3000000u  // … of /status.json, whose buffer is shared
#define HTTP_LINGER_US 2000000u    // after the last response, until the peer closes

enum http_state { HTTP_FREE, HTTP_READING, HTTP_WAITING_STATUS, HTTP_SENDING, HTTP_SKIPPING, HTTP_LINGERING };
enum http_body { HTTP_BODY_NONE, HTTP_BODY_PAGE, HTTP_BODY_BYTES, HTTP_BODY_STATUS };

struct http_connection {
    struct weir_watch watch;
    struct http *http;
    weir_socket socket;
    enum http_state state;
    enum http_body body;
    bool keep_alive, head_only, ended;  // ended: the peer sent its last
    uint64_t since_us, due_us;          // the state's beginning; when it is given up
    uint64_t skip;                      // bytes of the request's body still to come
    uint64_t body_at, body_left;
    uint32_t in_length, out_at, out_length;
    char in[HTTP_HEADER_MAX];           // received and not yet understood
    char out[HTTP_HEAD_MAX];            // the response's header, and its body if that is a line of text
};

struct http {
    struct app app;
    struct weir_watch listener;
    struct loop *loop;
    weir_socket listening;
    struct status status;
    struct http_connection connections[HTTP_CONNECTIONS];
    struct http_connection *status_owner;  // whose response `rendered` is
    uint32_t rendered_length;
    char rendered[HTTP_STATUS_BYTES];
    struct { uint32_t requests, errors, given_up; } count;
};

// Serves on `port`. `netifs`: the interfaces that the status page shows. A negative enum weir_error when it cannot listen.
int http_start(struct http *http, struct loop *loop, uint16_t port, struct weir_netif *const *netifs, uint32_t netif_count);
void http_stop(struct http *http);
// Writes bytes `at` and following of /bytes/N.
void http_pattern(uint8_t *out, uint32_t bytes, uint64_t at);

// The status page: page.c, made of page.html by embed.py.
extern const char http_page[];
extern const uint32_t http_page_length;

#endif
