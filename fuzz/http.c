// SPDX-License-Identifier: BSD-2-Clause
// The HTTP server's reading of requests: the same bytes, complete or byte by byte, mean the same.
#include <stdbool.h>

#include "fuzz.h"
#include "http/request.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint32_t length = (uint32_t)size;
    const uint32_t limit = 2048;
    char *bytes = (char *)exact_copy(data, length);
    struct http_request request;
    memset(&request, 0, sizeof request);
    int whole = http_request_parse(bytes, length, limit, &request);
    CHECK(whole <= (int)length);
    if (whole > 0) {
        const bool within = request.path >= bytes && request.path + request.path_length <= bytes + whole;
        // "/" alone may be the parser's own
        CHECK(request.path[0] == '/' && (request.path_length == 1 || (request.path_length > 1 && within)));
        uint64_t first, count;
        int status = http_range_apply(&request, 1000, &first, &count);
        CHECK(status == 200 || status == 206 || status == 416);
        CHECK(status == 416 || (first <= 1000 && count <= 1000 - first));
        char *shorter = (char *)exact_copy(bytes, (uint32_t)whole - 1);
        CHECK(http_request_parse(shorter, (uint32_t)whole - 1, limit, &request) == 0);
        free(shorter);
    }
    free(bytes);
    return 0;
}
