// SPDX-License-Identifier: BSD-2-Clause
// URLs of http and https, and what a reference means in one (RFC 3986), pure.
#ifndef APPS_HTTP_URL_H
#define APPS_HTTP_URL_H

#include "weir/linkage/http.h"

#include <stdbool.h>
#include <stdint.h>

WEIR_BEGIN_DECLS

#define HTTP_HOST_MAX 254u
#define HTTP_PATH_MAX 512u

struct http_url {
    bool secure, bracketed;  // bracketed: the host is an IPv6 address, here without its brackets
    uint16_t port;
    char host[HTTP_HOST_MAX], path[HTTP_PATH_MAX];  // with the query; a fragment is left out
};

// false: it is no such URL, has a user name, a blank or a control byte in it, or is too long.
bool http_url_parse(const char *text, struct http_url *url);
// What `reference` means in `base`: an URL, or a part of one. false: as above.
bool http_url_resolve(const struct http_url *base, const char *reference, uint32_t length, struct http_url *url);
bool http_url_same_server(const struct http_url *a, const struct http_url *b);

WEIR_END_DECLS

#endif
