// SPDX-License-Identifier: BSD-2-Clause
// Files out of flash: a table made at build time (files.py), each file plain, or gzip, or both. What a browser has
// already is not sent again, and ranges are served.
#ifndef APPS_HTTP_FILES_H
#define APPS_HTTP_FILES_H

#include "server.h"
#include "weir/linkage/http.h"

WEIR_BEGIN_DECLS

struct http_file {
    const char *path, *type;
    const char *etag, *gzip_etag;  // two, since they are different bytes
    const uint8_t *data, *gzip;    // gzip NULL: there is none
    uint32_t length, gzip_length;
    const char *cache;  // Cache-Control; NULL: no-cache, which asks each time whether it is another now
};

struct http_files {
    const struct http_file *files;
    uint32_t count;
};

// A route's `request`; its `context` is a struct http_files.
void http_files_get(struct http_connection *c, struct http_request *request);
// Responds with one file.
void http_file_respond(struct http_connection *c, struct http_request *request, const struct http_file *file);

WEIR_END_DECLS

#endif
