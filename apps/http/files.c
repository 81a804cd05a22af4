// SPDX-License-Identifier: BSD-2-Clause
#include "http/files.h"

#include <stddef.h>

void http_file_respond(struct http_connection *c, struct http_request *request, const struct http_file *file)
{
    const bool zipped = file->gzip != NULL && http_accepts(request, "gzip");
    const struct http_field fields[] = {{"Cache-Control", file->cache != NULL ? file->cache : "no-cache"},
                                        {"Vary", "Accept-Encoding"},
                                        {"Content-Encoding", "gzip"}};
    http_respond(c, request,
                 &(struct http_response){.type = file->type,
                                         .data = zipped ? file->gzip : file->data,
                                         .length = zipped ? file->gzip_length : file->length,
                                         .etag = zipped ? file->gzip_etag : file->etag,
                                         .fields = fields,
                                         .field_count = zipped               ? 3
                                                        : file->gzip != NULL ? 2
                                                                             : 1});
}

void http_files_get(struct http_connection *c, struct http_request *request)
{
    const struct http_files *files = c->route->context;
    for (uint32_t i = 0; i < files->count; i++) {
        if (http_path_is(request->path, request->path_length, files->files[i].path)) {
            http_file_respond(c, request, &files->files[i]);
            return;
        }
    }
    http_respond_error(c, 404, 0);
}
